/* What a task asks, from another machine: what is taken is written again as the same, and makes a
 * spec or a sentence. */
#include <stdlib.h>
#include <string.h>

#include "launcher/plan/spawn_spec.h"
#include "launcher/protocol/task_request.h"
#include "launcher/spec/spec_build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct ask *ask)
{
    struct ask again;
    json_t *value = ask_to_json(ask);
    if (ask_from_json(&again, value, NULL) < 0)
        abort();
    json_t *twice = ask_to_json(&again);
    if (!json_equal(value, twice))
        abort();
    json_decref(twice);
    json_decref(value);
    ask_clear(&again);
}

static void check_spec(const struct ask *ask)
{
    struct error err = ERROR_INIT;
    struct blocks blocks;
    struct spec *base = spec_new();
    struct spec_part *part = spec_add_part(base);
    part->argv = calloc(2, sizeof(char *));
    part->argv[0] = strdup("a");
    if (blocks_make(&blocks, base, ask, &err) == 0) {
        if (blocks.spec->nparts != ask->nblocks)
            abort();
        blocks_clear(&blocks);
    } else if (!err.text) {
        abort();
    }
    error_clear(&err);
    spec_free(base);
}

static void check_answer(const json_t *value)
{
    struct error err = ERROR_INIT;
    struct answer answer;
    if (answer_from_json(&answer, value, &err) == 0)
        answer_clear(&answer);
    else if (!err.text)
        abort();
    error_clear(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct ask ask;
    json_t *value = json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL);
    if (value)
        check_answer(value);
    if (value && ask_from_json(&ask, value, &err) == 0) {
        check_again(&ask);
        if (ask.kind == ASK_SPAWN)
            check_spec(&ask);
        ask_clear(&ask);
    } else if (value && !err.text) {
        abort();
    }
    error_clear(&err);
    json_decref(value);
    return 0;
}
