/* The command line, TPRUN_OPTIONS and the JSON form of a spec. The first byte says which; words of
 * a command line end at newlines. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/cli/tprun_options.h"
#include "tests/fuzz/fuzz.h"

/* What was read can be written and read again. */
static void fuzz_round(const struct spec *spec)
{
    json_t *value = spec_to_json(spec);
    struct error err = ERROR_INIT;
    struct spec *again = spec_from_json(value, &err);
    json_t *second = again ? spec_to_json(again) : NULL;
    if (!second || json_object_size(second) != json_object_size(value))
        abort();
    json_decref(value);
    json_decref(second);
    spec_free(again);
}

static void fuzz_words(char *text)
{
    char *words[64] = {(char *)(uintptr_t) "tprun"};
    int count = 1;
    struct error err = ERROR_INIT;
    struct spec *spec = spec_new();
    for (char *word; count < 63 && (word = strsep(&text, "\n"));)
        words[count++] = word;
    int action = options_parse(count, words, spec, &err);
    if (action < 0 && (!err.text || err.kind != ERROR_USAGE))
        abort();
    if (action == OPTIONS_RUN)
        fuzz_round(spec);
    error_clear(&err);
    spec_free(spec);
}

static void fuzz_environment(const char *text)
{
    char program[] = "a", *words[] = {program, program, NULL};
    struct error err = ERROR_INIT;
    struct spec *spec = spec_new();
    setenv("TPRUN_OPTIONS", text, 1);
    if (options_parse(2, words, spec, &err) < 0 && !err.text)
        abort();
    unsetenv("TPRUN_OPTIONS");
    error_clear(&err);
    spec_free(spec);
}

static void fuzz_json(const char *text)
{
    struct error err = ERROR_INIT;
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    struct spec *spec = value ? spec_from_json(value, &err) : NULL;
    if (value && !spec && !err.text)
        abort();
    if (spec)
        fuzz_round(spec);
    json_decref(value);
    error_clear(&err);
    spec_free(spec);
}

static bool reads_files(const char *text)
{
    return strstr(text, "--spec") || strstr(text, "rankfile") || strstr(text, "-rf");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    char *text = mem_copy_text_n((const char *)data + 1, size - 1);
    if (data[0] % 3 == 0 && !reads_files(text))
        fuzz_words(text);
    else if (data[0] % 3 == 1 && !reads_files(text))
        fuzz_environment(text);
    else if (data[0] % 3 == 2)
        fuzz_json(text);
    free(text);
    return 0;
}
