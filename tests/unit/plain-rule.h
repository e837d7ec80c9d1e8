/*
 * plain-rule - the policy strings of a part taken apart, for lama-plain. They have to be right.
 */
#ifndef TESTS_UNIT_PLAIN_RULE_H
#define TESTS_UNIT_PLAIN_RULE_H

#include "affinity/layout/layout.h"

struct plain_rule {
    enum topo_level loops[TOPO_NLEVELS];
    uint32_t nloops;
    bool bound, together;
    uint32_t bind_count;
    enum topo_level bind_level;
    struct {
        uint32_t most;
        enum topo_level level;
    } limits[TOPO_NLEVELS];
    uint32_t nlimits;
    uint32_t slot; /* -c, 0 without */
};

void plain_rule_read(struct plain_rule *rule, const struct layout_part *part);

#endif
