/* The command line of mpiexec; words end at newlines. What it becomes, tprun reads or refuses. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/cli/tprun_options.h"
#include "launcher/mpiexec/mpiexec.h"
#include "tests/fuzz/fuzz.h"

static void fuzz_native(char **words)
{
    struct error err = ERROR_INIT;
    struct spec *spec = spec_new();
    int count = 0;
    while (words[count])
        count++;
    int action = options_parse(count, words, spec, &err);
    if (action < 0 && !err.text)
        abort();
    if (action >= 0)
        mpiexec_adapt(spec);
    error_clear(&err);
    spec_free(spec);
}

/* "-f FILE" and the like */
static bool names_file(const char *word)
{
    static const char *const options[] = {"f", "tune", "am", "app"};
    const char *name = word + strspn(word, "-");
    for (size_t i = 0; name > word && i < sizeof(options) / sizeof(options[0]); i++)
        if (strcspn(name, "=") == strlen(options[i]) &&
            strncasecmp(name, options[i], strlen(options[i])) == 0)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_copy_text_n((const char *)data, size), *rest = text;
    char *words[64] = {(char *)(uintptr_t) "mpiexec"};
    int count = 1;
    struct error err = ERROR_INIT;
    for (char *word; count < 63 && (word = strsep(&rest, "\n"));)
        words[count++] = word;
    for (int i = 1; i < count; i++) /* no files are read */
        if (strstr(words[i], "file") || strstr(words[i], "rf") || strstr(words[i], "spec") ||
            names_file(words[i]))
            count = i;
    words[count] = NULL;
    char **native = mpiexec_translate(words, &err);
    if (!native && (!err.text || err.kind != ERROR_USAGE))
        abort();
    if (native)
        fuzz_native(native);
    string_list_free(native);
    error_clear(&err);
    free(text);
    return 0;
}
