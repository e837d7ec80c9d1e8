/* What is wrong with the native command line, said in the options that the user typed. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/mpiexec/mpiexec.h"
#include "launcher/mpiexec/mpiexec_table.h"

/* Length of the native option at the beginning of the text; 0: it begins with none. */
static size_t native_length(const char *text)
{
    return strncmp(text, "--", 2) == 0 ? 2 + strcspn(text + 2, " =:,;.\")") : 0;
}

/* The row's text is made of native options, and this is one of them. */
static bool stands_for(const struct mpiexec_option *row, const char *native, size_t len)
{
    if (row->place == MPIEXEC_IDLE || row->place == MPIEXEC_NONE || !native_length(row->native))
        return false;
    for (const char *at = row->native; at; at = strchr(at, ' ')) {
        at += strspn(at, " ");
        if (native_length(at) == len && memcmp(at, native, len) == 0)
            return true;
    }
    return false;
}

static bool is_typed(char *const words[], const char *native, size_t len)
{
    for (; *words; words++)
        if (strncmp(*words, native, len) == 0 && strchr("=", (*words)[len]))
            return true;
    return false;
}

/* The word of an option that this native one was made of, *count words with its values; NULL: none is. */
static char *const *find_typed(char *const argv[], const char *native, size_t len, size_t *count)
{
    for (char *const *at = argv + 1; *at; at += *count) {
        const char *name = *at + strspn(*at, "-");
        size_t letters = strcspn(name, "=");
        *count = 1;
        if (**at != '-' || !letters) { /* the program: options go on in the next part */
            while (at[*count] && strcmp(at[*count - 1], ":") != 0)
                ++*count;
            continue;
        }
        const struct mpiexec_option *row =
            mpiexec_find(name, letters, mpiexec_name_dialect(argv[0]));
        if (!row)
            row = mpiexec_find(name, letters, MPIEXEC_EITHER);
        for (size_t i = 0; row && !name[letters] && i < mpiexec_nvalues(row) && at[*count]; i++)
            ++*count;
        if (row && stands_for(row, native, len))
            return at;
    }
    return NULL;
}

/* In place of a native option with its value in quotes: all that was typed; of its name alone: the name. Returns where
 * the text goes on. */
static const char *add_typed(struct buf *out, char *const *typed, size_t count, const char *rest)
{
    const char *end = strncmp(rest, " \"", 2) == 0 ? strchr(rest + 2, '"') : NULL;
    if (!end) {
        buf_add(out, *typed, strcspn(*typed, "="));
        return rest;
    }
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s%s", i ? " " : "", typed[i]);
    return end + 1;
}

void mpiexec_name_typed(char *const argv[], struct error *err)
{
    struct buf out = BUF_INIT;
    const char *text = error_text(err);
    for (const char *at = text; *at;) {
        bool begins = at == text || strchr(" (\"", at[-1]);
        size_t len = begins ? native_length(at) : 0, count;
        char *const *typed =
            len && !is_typed(argv, at, len) ? find_typed(argv, at, len, &count) : NULL;
        if (typed)
            at = add_typed(&out, typed, count, at + len);
        else
            buf_add_char(&out, *at++);
    }
    free(err->text);
    err->text = buf_take_text(&out);
}
