/*
 * info - a list of keys and values as openpmix takes it.
 *
 * Filled by hand, not with PMIx_Info_load(): that copies arrays, and needs a type for every value.
 */
#ifndef PMI_SERVER_PMIX_INFO_H
#define PMI_SERVER_PMIX_INFO_H

#include "base/buf.h"
#include "base/pack.h"
#include "pmi-server/pmix/library.h"

struct info_list { /* zeroed: empty */
    pmix_info_t *at;
    size_t count, room;
};

void info_text(struct info_list *infos, const char *key, const char *text); /* NULL: not added */
void info_u16(struct info_list *infos, const char *key, uint32_t value);
void info_u32(struct info_list *infos, const char *key, uint32_t value);
void info_int(struct info_list *infos, const char *key, int value);
void info_rank(struct info_list *infos, const char *key, uint32_t rank);
void info_bool(struct info_list *infos, const char *key, bool value);
void info_size(struct info_list *infos, const char *key, size_t value);
void info_status(struct info_list *infos, const char *key, pmix_status_t value);
void info_proc(struct info_list *infos, const char *key, const char *name, uint32_t rank);
void info_topology(struct info_list *infos, pmix_topology_t *topology); /* borrowed */
/* What PMIx_generate_regex() and PMIx_generate_ppn() give; copied. */
void info_regex(struct info_list *infos, const char *key, const char *regex,
                const struct pmix_library *library);
void info_procs(struct info_list *infos, const char *key, const pmix_proc_t *procs, size_t nprocs);
void info_bytes(struct info_list *infos, const char *key, const void *bytes, size_t len);
/* So many of a type, malloc()ed as openpmix has them; taken. */
void info_data(struct info_list *infos, const char *key, pmix_data_type_t type, void *array,
               size_t count);
void info_array(struct info_list *infos, const char *key, struct info_list *array); /* taken */
void info_append(struct info_list *infos, struct info_list *more);                  /* taken */
void info_free(struct info_list *infos, const struct pmix_library *library);

/* What openpmix passes. */
const pmix_value_t *info_find(const pmix_info_t info[], size_t ninfo, const char *key);
bool info_true(const pmix_info_t info[], size_t ninfo, const char *key);
double info_timeout(const pmix_info_t info[], size_t ninfo); /* seconds; 0: none is given */

/*
 * value - what a task gave a key: as a number, and as bytes on its way to other hosts.
 */

/* Of any type of number, or a truth; false: it is none. */
bool info_value_number(const pmix_value_t *value, int64_t *number);

/* Whether it is a text (u8), and bytes: the text, or as openpmix packs it. Any thread. */
pmix_status_t info_value_put(struct buf *out, const pmix_value_t *value,
                             const struct pmix_library *library);
/* Zeroed where it fails; else value_destruct() is the caller's. */
pmix_status_t info_value_get(struct pack *in, pmix_value_t *value,
                             const struct pmix_library *library);

/* Infos as bytes that any server of this program can read; caller frees. Any thread. NULL: openpmix
 * cannot. */
char *pack_infos(const struct pmix_library *library, const pmix_info_t *infos, size_t count,
                 size_t *len);
/* -1: malformed. */
int pack_read_infos(const struct pmix_library *library, const void *bytes, size_t len,
                    struct info_list *infos);

#endif
