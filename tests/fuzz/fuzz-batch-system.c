/* What batch systems say of a job. The first byte says which text it is. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/source/batch_nodelist.h"
#include "launcher/source/slurm_nodelist.h"
#include "tests/fuzz/fuzz.h"

#define FUZZ_MAX_TEXT 4096
#define FUZZ_HOSTS "a,b[0-2],r[0-1]n[0-1]"

static void fuzz_check(struct hostfile *file, struct error *err)
{
    if (!file && !err->text)
        abort();
    if (file && !file->count)
        abort();
    for (size_t i = 0; file && i < file->count; i++)
        if (!file->entries[i].login[0] || file->entries[i].login[0] == '-')
            abort();
    hostfile_free(file);
    error_clear(err);
}

static struct hostfile *fuzz_counts(const char *text, struct error *err)
{
    struct hostfile *file = slurm_nodelist_hosts(FUZZ_HOSTS, err);
    if (!file)
        abort();
    if (slurm_nodelist_counts(file, text, err) == 0) {
        for (size_t i = 0; i < file->count; i++)
            if (!file->entries[i].limit)
                abort();
        return file;
    }
    hostfile_free(file);
    return NULL;
}

/* Many digits in many brackets make lists that are right, long and slow. */
static int fuzz_is_long(const char *text)
{
    size_t digits = 0, longest = 0, brackets = 0;
    for (; *text; text++) {
        digits = *text >= '0' && *text <= '9' ? digits + 1 : 0;
        longest = digits > longest ? digits : longest;
        brackets += *text == '[';
    }
    return longest * longest * brackets > 9;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    if (!size || size > FUZZ_MAX_TEXT)
        return 0;
    char *text = mem_copy_text_n((const char *)data + 1, size - 1);
    switch (data[0] % 5) {
    case 0:
        if (!fuzz_is_long(text))
            fuzz_check(slurm_nodelist_hosts(text, &err), &err);
        break;
    case 1:
        fuzz_check(fuzz_counts(text, &err), &err);
        break;
    case 2:
        fuzz_check(batch_slots(text, size - 1, &err), &err);
        break;
    case 3:
        fuzz_check(batch_table(text, size - 1, &err), &err);
        break;
    default:
        fuzz_check(batch_pairs(text, &err), &err);
        break;
    }
    free(text);
    return 0;
}
