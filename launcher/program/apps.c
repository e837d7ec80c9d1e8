#include "launcher/program/apps.h"

#include "base/mem.h"

struct hub_app *apps_of_spec(const struct spec *spec, uint32_t ntasks)
{
    struct hub_app *apps = mem_array(spec->nparts, sizeof(*apps));
    uint32_t first = 0;
    for (size_t i = 0; i < spec->nparts; i++) {
        const struct spec_part *part = &spec->parts[i];
        uint32_t count = spec->nparts == 1 ? ntasks : part->ntasks;
        apps[i] =
            (struct hub_app){first, count, part->argv, part->chdir ?: spec->directory, part->pset};
        first += count;
    }
    return apps;
}
