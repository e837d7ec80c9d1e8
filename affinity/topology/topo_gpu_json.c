/* The key "gpus" of a topology's wire form. */
#include <string.h>

#include "affinity/topology/topo.h"
#include "affinity/topology/topo_build.h"
#include "base/mem.h"

json_t *topo_gpus_to_json(const struct topo *topo)
{
    json_t *gpus = json_array();
    for (size_t i = 0; i < topo->ngpus; i++) {
        const struct topo_gpu *gpu = &topo->gpus[i];
        json_t *item = json_pack("{s:I,s:s,s:o}", "id", (json_int_t)gpu->id, "name", gpu->name,
                                 "cpus", topo_set_to_json(gpu->cpus));
        if (gpu->pci[0])
            json_object_set_new(item, "pci", json_string(gpu->pci));
        if (gpu->vendor != TOPO_VENDOR_UNKNOWN)
            json_object_set_new(item, "vendor", json_string(topo_vendor_name(gpu->vendor)));
        if (gpu->tiles != 1)
            json_object_set_new(item, "tiles", json_integer(gpu->tiles));
        json_array_append_new(gpus, item);
    }
    return gpus;
}

/* A short text of an object, `missing` where it has none; NULL for anything else. */
static const char *text_of(const json_t *object, const char *key, const char *missing)
{
    const json_t *value = json_object_get(object, key);
    const char *text = value ? json_string_value(value) : missing;
    return text && strlen(text) <= 64 ? text : NULL;
}

/* False when something is missing or out of bounds; ids ascend from `least`. */
static bool gpu_from_json(const struct topo *topo, const json_t *item, int64_t least,
                          struct topo_gpu *gpu)
{
    const char *name = text_of(item, "name", NULL), *pci = text_of(item, "pci", "");
    const char *vendor = text_of(item, "vendor", "");
    const json_t *id = json_object_get(item, "id"), *tiles = json_object_get(item, "tiles");
    *gpu = (struct topo_gpu){.tiles = tiles ? (uint32_t)json_integer_value(tiles) : 1,
                             .vendor = vendor ? topo_vendor_decode(vendor) : TOPO_NVENDORS};
    if (!json_is_integer(id) || json_integer_value(id) < least ||
        json_integer_value(id) > IDSET_MAX || !name || !pci || gpu->vendor == TOPO_NVENDORS ||
        (tiles && (json_integer_value(tiles) < 1 || json_integer_value(tiles) > TOPO_MAX_GPUS)))
        return false;
    gpu->id = (uint32_t)json_integer_value(id);
    gpu->cpus = topo_cpus_from_json(json_object_get(item, "cpus"), topo);
    if (!gpu->cpus || idset_empty(gpu->cpus)) {
        idset_free(gpu->cpus);
        return false;
    }
    gpu->name = mem_copy_text(name);
    gpu->pci = mem_copy_text(pci);
    return true;
}

int topo_gpus_from_json(struct topo *topo, const json_t *value, struct error *err)
{
    size_t count = json_array_size(value);
    int64_t least = 0;
    if (value && (!json_is_array(value) || count > TOPO_MAX_GPUS))
        return error_set(err, "topology: 'gpus' has to be a list of at most %d", TOPO_MAX_GPUS);
    topo->gpus = mem_array(count, sizeof(*topo->gpus));
    for (; topo->ngpus < count; topo->ngpus++) {
        struct topo_gpu *gpu = &topo->gpus[topo->ngpus];
        if (!gpu_from_json(topo, json_array_get(value, topo->ngpus), least, gpu))
            return error_set(err,
                             "topology: entry %zu of 'gpus' needs an id above the one before, "
                             "name and cpus, and may have pci, vendor and tiles",
                             topo->ngpus);
        least = (int64_t)gpu->id + 1;
    }
    return 0;
}
