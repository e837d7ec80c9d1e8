#include "launcher/protocol/allowed_cores.h"

#include <stdlib.h>

static int beyond(const struct idset *want, const struct idset *have, const char *what,
                  struct error *err)
{
    if (idset_within(want, have))
        return 0;
    char *want_text = idset_encode(want), *have_text = idset_encode(have);
    error_set(err,
              "R gives it cores %s, but this node%s only cores %s (logical numbers); give an R "
              "that says no more",
              want_text, what, have_text);
    free(want_text);
    free(have_text);
    return -1;
}

int allowed_cores_check(const struct topo *topo, const char *cores, struct error *err)
{
    struct idset *want = idset_decode(cores, err);
    if (!want)
        return -1;
    struct idset *all = topo_cores(topo), *allowed = topo_allowed_cores(topo);
    int result = beyond(want, all, " has", err);
    if (result == 0)
        result = beyond(want, allowed, "'s cgroup and inherited mask allow", err);
    idset_free(all);
    idset_free(allowed);
    idset_free(want);
    return result;
}
