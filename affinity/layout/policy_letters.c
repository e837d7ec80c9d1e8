#include <string.h>

#include "affinity/layout/policy.h"

static const char *const letters[TOPO_NLEVELS] = {"n", "b", "N", "s", "L3", "L2", "L1", "c", "h"};

const char *policy_letter(enum topo_level level)
{
    return letters[level];
}

enum topo_level policy_take_letter(const char *text, size_t *len)
{
    for (enum topo_level level = TOPO_NODE; level < TOPO_NLEVELS; level++) {
        *len = strlen(letters[level]);
        if (strncmp(text, letters[level], *len) == 0)
            return level;
    }
    *len = 0;
    return TOPO_NLEVELS;
}
