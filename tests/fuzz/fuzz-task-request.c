/* What a task asks, from another machine: what is taken is written again as the same, and makes a
 * spec or a sentence. */
#include <stdlib.h>
#include <string.h>

#include "launcher/plan/spawn_spec.h"
#include "launcher/protocol/task_request.h"
#include "launcher/spec/spec_build.h"
#include "tests/fuzz/fuzz.h"

static void check_again(const struct task_request *ask)
{
    struct task_request again;
    json_t *value = task_request_to_json(ask);
    if (task_request_from_json(&again, value, NULL) < 0)
        abort();
    json_t *twice = task_request_to_json(&again);
    if (!json_equal(value, twice))
        abort();
    json_decref(twice);
    json_decref(value);
    task_request_clear(&again);
}

static void check_spec(const struct task_request *ask)
{
    struct error err = ERROR_INIT;
    struct spawn_spec blocks;
    struct spec *base = spec_new();
    struct spec_part *part = spec_add_part(base);
    part->argv = calloc(2, sizeof(char *));
    part->argv[0] = strdup("a");
    if (spawn_spec_make(&blocks, base, ask, &err) == 0) {
        if (blocks.spec->nparts != ask->nblocks)
            abort();
        spawn_spec_clear(&blocks);
    } else if (!err.text) {
        abort();
    }
    error_clear(&err);
    spec_free(base);
}

static void check_answer(const json_t *value)
{
    struct error err = ERROR_INIT;
    struct task_answer answer;
    if (task_answer_from_json(&answer, value, &err) == 0)
        task_answer_clear(&answer);
    else if (!err.text)
        abort();
    error_clear(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct task_request ask;
    json_t *value = json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL);
    if (value)
        check_answer(value);
    if (value && task_request_from_json(&ask, value, &err) == 0) {
        check_again(&ask);
        if (ask.kind == TASK_REQUEST_SPAWN)
            check_spec(&ask);
        task_request_clear(&ask);
    } else if (value && !err.text) {
        abort();
    }
    error_clear(&err);
    json_decref(value);
    return 0;
}
