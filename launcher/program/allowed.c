#include "launcher/program/allowed.h"

#include <stdlib.h>

int allowed_check(const struct topo *topo, const char *cores, struct error *err)
{
    struct idset *want = idset_decode(cores, err);
    if (!want)
        return -1;
    struct idset *allowed = topo_allowed_cores(topo);
    int result = 0;
    if (!idset_within(want, allowed)) {
        char *have = idset_encode(allowed);
        result = error_set(err,
                           "R gives it cores %s, but this node's cgroup and inherited mask "
                           "allow only cores %s (logical numbers); give an R that says no "
                           "more",
                           cores, have);
        free(have);
    }
    idset_free(allowed);
    idset_free(want);
    return result;
}
