/* Sets in a topology's wire form. */
#include <stdlib.h>

#include "affinity/topology/topo.h"
#include "affinity/topology/topo_build.h"

json_t *topo_set_to_json(const struct idset *set)
{
    char *text = idset_encode(set);
    json_t *value = json_string(text);
    free(text);
    return value;
}

struct idset *topo_cpus_from_json(const json_t *value, const struct topo *topo)
{
    const char *text = json_string_value(value);
    struct idset *set = text ? idset_decode(text, NULL) : NULL;
    size_t found = 0;
    for (uint32_t row = 0; set && row < topo->npus; row++)
        found += idset_has(set, topo->os[row]);
    if (set && found == idset_count(set))
        return set;
    idset_free(set);
    return NULL;
}
