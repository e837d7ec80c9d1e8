/* Any text is refused with a sentence, or is a shape that its text and its JSON give again, and
 * that can be asked of a pool or is refused with a sentence. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/treepool/request.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

static void expect_same(struct shape *shape, const char *text, json_t *value)
{
    if (!shape)
        abort();
    char *again = shape_encode(shape);
    json_t *other = shape_to_json(shape);
    if (strcmp(text, again) != 0 || !json_equal(value, other))
        abort();
    json_decref(other);
    free(again);
    shape_free(shape);
}

static void check_request(const struct shape *shape)
{
    struct error err = ERROR_INIT;
    struct request *request = request_from_shape(shape, &err);
    if (!request == !err.text)
        abort();
    if (request && (!request->slots.max || request->slot.count.max != 1))
        abort();
    request_free(request);
    error_clear(&err);
}

static void check_shape(const struct shape *shape)
{
    char *text = shape_encode(shape);
    json_t *value = shape_to_json(shape);
    if (strlen(text) <= SHAPE_MAX_TEXT) /* numbers may be longer than they were written */
        expect_same(shape_decode(text, NULL), text, value);
    expect_same(shape_from_json(value, NULL), text, value);
    json_decref(value);
    free(text);
    check_request(shape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    char *text = mem_copy_text_n((const char *)data, size);
    struct shape *shape = shape_decode(text, &err);
    if (shape)
        check_shape(shape);
    else if (!err.text)
        abort();
    shape_free(shape);
    error_clear(&err);
    json_t *value = json_loadb((const char *)data, size, 0, NULL);
    shape = shape_from_json(value, NULL);
    if (shape)
        check_shape(shape);
    shape_free(shape);
    json_decref(value);
    free(text);
    return 0;
}
