/* What a user may have meant by a name that is not an option here. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/cli/option.h"

#define HINT_MAX_NAME 64

/* Options of mpiexec, mpirun and srun that users bring along. */
static const struct option_hint {
    const char *name, *here;
} option_hints[] = {
    {"H", "--hosts"},
    {"host", "--hosts"},
    {"hostlist", "--hosts"},
    {"nodelist", "--hosts"},
    {"w", "--hosts"},
    {"f", "--hostfile"},
    {"machinefile", "--hostfile"},
    {"ppn", "--mppr N:n"},
    {"npernode", "--mppr N:n"},
    {"ntasks-per-node", "--mppr N:n"},
    {"cpus-per-task", "-c"},
    {"cpu-bind", "--bind-to"},
    {"distribution", "--map-by"},
    {"overcommit", "--oversubscribe"},
    {"report-bindings", "--display bind"},
    {"genv", "-x NAME=VALUE"},
    {"genvlist", "-x NAME"},
    {"genvall", "nothing: it is so by default"},
    {"envlist", "-x NAME"},
    {"envall", "nothing: it is so by default"},
    {"wdir", "--chdir"},
    {"wd", "--chdir"},
    {"label", "--label-io"},
    {"prepend-rank", "--label-io"},
    {"tag-output", "--label-io"},
    {"outfile-pattern", "--output"},
    {"output-filename", "--output"},
    {"errfile-pattern", "--error"},
    {"stdin", "--input"},
    {"timeout", "--time-limit"},
    {"launcher", "--bootstrap"},
    {"launcher-exec", "--ssh"},
    {"configfile", "the parts here, with a : between them"},
    {"app", "the parts here, with a : between them"},
    {"V", "--version"},
};

const char *option_elsewhere(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(option_hints) / sizeof(option_hints[0]); i++)
        if (strlen(option_hints[i].name) == len && memcmp(option_hints[i].name, name, len) == 0)
            return option_hints[i].here;
    return NULL;
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* How many letters to insert, remove or change [Levenshtein 1966], one row of the table at a
 * time. */
static size_t hint_distance(const char *a, size_t alen, const char *b, size_t blen)
{
    size_t row[HINT_MAX_NAME + 1];
    for (size_t j = 0; j <= blen; j++)
        row[j] = j;
    for (size_t i = 1; i <= alen; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= blen; j++) {
            size_t above = row[j];
            row[j] = min3(above + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1]));
            corner = above;
        }
    }
    return row[blen];
}

const struct option *option_nearest(const char *name, size_t len)
{
    const struct option *nearest = NULL;
    size_t least = len / 3 + 1; /* further off it is another word */
    if (!len || len > HINT_MAX_NAME)
        return NULL;
    for (const struct option *option = option_table; option->name; option++) {
        size_t own = strlen(option->name);
        if (option->flags & OPTION_LATER)
            continue;
        if (len > 2 && own > len && memcmp(option->name, name, len) == 0)
            return option;
        size_t distance = hint_distance(name, len, option->name, own);
        if (distance < least || (distance == least && !nearest)) {
            nearest = option;
            least = distance;
        }
    }
    return nearest;
}
