#include "launcher/protocol/namespace_apps.h"

#include "base/mem.h"

struct namespace_app *namespace_apps_of_spec(const struct spec *spec, const uint32_t *sizes)
{
    struct namespace_app *apps = mem_array(spec->nparts, sizeof(*apps));
    uint32_t first = 0;
    for (size_t i = 0; i < spec->nparts; i++) {
        const struct spec_part *part = &spec->parts[i];
        apps[i] = (struct namespace_app){first, sizes[i], part->argv,
                                         part->chdir ?: spec->directory, part->pset};
        first += sizes[i];
    }
    return apps;
}
