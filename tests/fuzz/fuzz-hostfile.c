/* A hostfile, and its text as --hosts. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/source/hostfile.h"
#include "tests/fuzz/fuzz.h"

static void fuzz_check(struct hostfile *file, struct error *err)
{
    if (!file && !err->text)
        abort();
    for (size_t i = 0; file && i < file->count; i++)
        if (!file->entries[i].login[0] || file->entries[i].login[0] == '-')
            abort();
    hostfile_free(file);
    error_clear(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    char *text = mem_copy_text_n((const char *)data, size);
    fuzz_check(hostfile_parse("f", text, size, &err), &err);
    fuzz_check(hostfile_from_hostlist(text, &err), &err);
    free(text);
    return 0;
}
