/*
 * publish_options - what a task wants of names, among what it gives openpmix.
 */
#ifndef PMI_SERVER_PMIX_PUBLISH_OPTIONS_H
#define PMI_SERVER_PMIX_PUBLISH_OPTIONS_H

#include "pmi-server/pmix/library.h"
#include "pmi-server/protocol/published_name.h"

struct publish_options {
    enum publish_range range;
    enum publish_persistence until;
    bool ranged; /* a range was given */
    bool looks;  /* names are looked up */
    bool waits;
    uint32_t wanted; /* keys that are waited for; 0: all */
    double timeout;
};

bool publish_is_option(const pmix_info_t *info);
/* `looks` alone is read; the others are set. */
pmix_status_t publish_options(struct publish_options *options, const pmix_info_t info[],
                              size_t ninfo);

#endif
