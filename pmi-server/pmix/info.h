/*
 * infos - a list of keys and values as openpmix takes it.
 *
 * Filled by hand, not with PMIx_Info_load(): that copies arrays, and needs a type for every value.
 */
#ifndef PMI_SERVER_PMIX_INFO_H
#define PMI_SERVER_PMIX_INFO_H

#include "base/buf.h"
#include "base/pack.h"
#include "pmi-server/pmix/library.h"

struct infos { /* zeroed: empty */
    pmix_info_t *at;
    size_t count, room;
};

void infos_text(struct infos *infos, const char *key, const char *text); /* NULL: not added */
void infos_u16(struct infos *infos, const char *key, uint32_t value);
void infos_u32(struct infos *infos, const char *key, uint32_t value);
void infos_int(struct infos *infos, const char *key, int value);
void infos_rank(struct infos *infos, const char *key, uint32_t rank);
void infos_bool(struct infos *infos, const char *key, bool value);
void infos_size(struct infos *infos, const char *key, size_t value);
void infos_status(struct infos *infos, const char *key, pmix_status_t value);
void infos_proc(struct infos *infos, const char *key, const char *name, uint32_t rank);
void infos_topology(struct infos *infos, pmix_topology_t *topology); /* borrowed */
/* What PMIx_generate_regex() and PMIx_generate_ppn() give; copied. */
void infos_regex(struct infos *infos, const char *key, const char *regex,
                 const struct pmix_library *library);
void infos_procs(struct infos *infos, const char *key, const pmix_proc_t *procs, size_t nprocs);
void infos_bytes(struct infos *infos, const char *key, const void *bytes, size_t len);
/* So many of a type, malloc()ed as openpmix has them; taken. */
void infos_data(struct infos *infos, const char *key, pmix_data_type_t type, void *array,
                size_t count);
void infos_array(struct infos *infos, const char *key, struct infos *array); /* taken */
void infos_append(struct infos *infos, struct infos *more);                  /* taken */
void infos_free(struct infos *infos, const struct pmix_library *library);

/* What openpmix passes. */
const pmix_value_t *infos_find(const pmix_info_t info[], size_t ninfo, const char *key);
bool infos_true(const pmix_info_t info[], size_t ninfo, const char *key);
double infos_timeout(const pmix_info_t info[], size_t ninfo); /* seconds; 0: none is given */

/*
 * value - what a task gave a key: as a number, and as bytes on its way to other hosts.
 */

/* Of any type of number, or a truth; false: it is none. */
bool value_number(const pmix_value_t *value, int64_t *number);

/* Whether it is a text (u8), and bytes: the text, or as openpmix packs it. Any thread. */
pmix_status_t value_put(struct buf *out, const pmix_value_t *value,
                        const struct pmix_library *library);
/* Zeroed where it fails; else value_destruct() is the caller's. */
pmix_status_t value_get(struct packet *in, pmix_value_t *value, const struct pmix_library *library);

#endif
