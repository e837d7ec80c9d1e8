/*
 * infos - a list of keys and values as openpmix takes it.
 *
 * Filled by hand, not with PMIx_Info_load(): that copies arrays, and needs a type for every value.
 */
#ifndef PMI_SERVER_PMIX_INFOS_H
#define PMI_SERVER_PMIX_INFOS_H

#include "pmi-server/pmix/library.h"

struct infos { /* zeroed: empty */
    pmix_info_t *at;
    size_t count, room;
};

void infos_text(struct infos *infos, const char *key, const char *text); /* NULL: not added */
void infos_u16(struct infos *infos, const char *key, uint32_t value);
void infos_u32(struct infos *infos, const char *key, uint32_t value);
void infos_rank(struct infos *infos, const char *key, uint32_t rank);
void infos_bool(struct infos *infos, const char *key, bool value);
void infos_proc(struct infos *infos, const char *key, const char *name, uint32_t rank);
void infos_topology(struct infos *infos, pmix_topology_t *topology); /* borrowed */
/* What PMIx_generate_regex() and PMIx_generate_ppn() give; copied. */
void infos_regex(struct infos *infos, const char *key, const char *regex,
                 const struct pmix_library *library);
void infos_array(struct infos *infos, const char *key, struct infos *array); /* taken */
void infos_free(struct infos *infos, const struct pmix_library *library);

#endif
