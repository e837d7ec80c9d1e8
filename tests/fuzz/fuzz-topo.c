/* A topology from the wire is refused with a sentence, or comes back from its own form the same,
 * and tasks can be placed on it and drawn. */
#include <stdlib.h>
#include <string.h>

#include "affinity/layout/layout.h"
#include "affinity/picture/picture.h"
#include "affinity/picture/svg.h"
#include "tests/fuzz/fuzz.h"

static void check_round_trip(const struct topo *topo)
{
    json_t *value = topo_to_json(topo);
    struct topo *again = topo_from_json(value, NULL);
    json_decref(value);
    if (!again)
        abort();
    char *a = topo_digest(topo), *b = topo_digest(again);
    if (strcmp(a, b) != 0)
        abort();
    free(a);
    free(b);
    topo_free(again);
}

/* Its GPUs, if it has any, are given out. */
static void place_gpus(const struct topo *topo, const struct idset *cores)
{
    static const struct layout_part parts[] = {{.ntasks = 3, .gpus_per_task = 1},
                                               {.ntasks = 1, .gpus_per_task = 2, .map = "numa"},
                                               {.per = "2:gpu"},
                                               {.ntasks = 2, .gpu_bind = "closest"}};
    struct idset *gpus = idset_new();
    for (size_t i = 0; i < topo->ngpus; i++)
        idset_add(gpus, topo->gpus[i].id);
    struct layout_node node = {"a", 0, topo, cores, gpus, 0};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct layout_request request = {
            .nodes = &node, .nnodes = 1, .parts = &parts[i], .nparts = 1};
        layout_free(layout_make(&request, NULL));
    }
    idset_free(gpus);
}

static void place(const struct topo *topo)
{
    static const char *const maps[] = {"numa", "hcsL1L2L3Nbn", "cNsnh", "L3L2bnh"};
    struct idset *cores = topo_cores(topo);
    struct layout_node node = {"a", 0, topo, cores, NULL, 0};
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        struct layout_part part = {.ntasks = 7, .map = maps[i], .mppr = "2:N,3:c", .bind = "2L2"};
        struct layout_request request = {.nodes = &node, .nnodes = 1, .parts = &part, .nparts = 1};
        struct layout *layout = layout_make(&request, NULL);
        if (layout) {
            free(picture_text(layout, &request, LAYOUT_SHOW_MAP | LAYOUT_SHOW_TOPO));
            free(picture_svg(layout, &request));
        }
        layout_free(layout);
    }
    place_gpus(topo, cores);
    idset_free(cores);
}

/* Small numbers behind each other, as a list of JSON; the next byte says how many. */
static json_t *numbers(const uint8_t **at, const uint8_t *end)
{
    json_t *list = json_array();
    size_t count = *at < end ? *(*at)++ % 8u : 0;
    for (; count && *at < end; count--)
        json_array_append_new(list, json_integer((int8_t) * (*at)++));
    return list;
}

/* Bytes that are no JSON become the members of a topology, so that its rules are reached. */
static json_t *topology_of(const uint8_t *at, const uint8_t *end)
{
    static const char *const levels[] = {"board",   "numa",    "socket", "l3cache",
                                         "l2cache", "l1cache", "core"};
    json_t *os = json_array(), *all = json_object();
    size_t blocks = at < end ? *at++ % 4u : 0;
    for (; blocks; blocks--)
        json_array_append_new(os, numbers(&at, end));
    while (at < end) {
        const char *name = levels[*at++ % 7u];
        json_object_set_new(all, name, numbers(&at, end));
    }
    return json_pack("{s:i, s:o, s:o}", "version", 1, "os", os, "levels", all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    json_t *value = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL);
    if (!value)
        value = topology_of(data, data + size);
    struct topo *topo = topo_from_json(value, &err);
    if (topo) {
        check_round_trip(topo);
        if (topo->npus <= 256)
            place(topo);
    } else if (!err.text) {
        abort();
    }
    topo_free(topo);
    error_clear(&err);
    json_decref(value);
    return 0;
}
