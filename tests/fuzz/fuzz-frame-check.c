/* A frame of an agent, as the manager checks it: what is taken has no number that is beyond its
 * limits, looked at in another way; what is refused has a sentence. */
#include <string.h>

#include "affinity/sets/idset.h"
#include "launcher/protocol/frame_check.h"
#include "tests/fuzz/fuzz.h"

static void check_set(const json_t *value, uint32_t limit)
{
    const char *text = json_string_value(value);
    struct idset *set = text ? idset_decode(text, NULL) : NULL;
    check(set && idset_count(set) <= limit);
    for (uint32_t id = idset_first(set); id != IDSET_NONE; id = idset_next(set, id))
        check(id < limit);
    idset_free(set);
}

static void check_sets(const json_t *list, size_t place, uint32_t limit)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        check_set(json_array_get(json_array_get(list, i), place), limit);
}

static void check_value(const struct frame *frame, const struct frame_check_limits *limits,
                        const json_t *value)
{
    if (frame->type == FRAME_UNREACHED || frame->type == FRAME_LOST || frame->type == FRAME_DONE)
        check_set(json_object_get(value, "nodes"), limits->nnodes);
    if (frame->type == FRAME_ENDED)
        check_set(json_object_get(value, "ranks"), limits->nranks);
    if (frame->type == FRAME_DONE)
        check_sets(json_object_get(value, "ends"), 2, limits->nranks);
    if (frame->type == FRAME_PREPARED)
        check_sets(json_object_get(value, "failed"), 2, limits->nranks);
    if (frame->type == FRAME_STARTED) {
        check_sets(json_object_get(value, "failed"), 2, limits->nranks);
        check_sets(json_object_get(value, "bindings"), 1, limits->nranks);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    json_t *value;
    if (size < 4)
        return 0;
    const struct frame_check_limits limits = {4, 8, data[3] & 1, 3, 2};
    struct frame frame = {.type = data[0] % FRAME_NTYPES,
                          .node = data[1] % 8,
                          .rank = data[2],
                          .bytes = data + 4,
                          .len = size - 4};
    int rc = frame_check_read(&frame, &limits, &value, &err);
    check(rc == 0 ? frame.node < limits.nnodes && !err.text : err.text && !value);
    if (value)
        check_value(&frame, &limits, value);
    json_decref(value);
    error_clear(&err);
    return 0;
}
