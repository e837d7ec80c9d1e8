#include "pmi-server/pmi1/spawn.h"

#include <string.h>

#include "pmi-server/pmi1/wire.h"
#include "pmi-server/server/quote.h"

enum { NPROCS, TOTSPAWNS, SPAWNSSOFAR, ARGCNT, PREPUT_NUM, INFO_NUM };

static const struct {
    const char *name;
    int min;
    bool required;
} numbers[PMI1_SPAWN_NUMBERS] = {
    [NPROCS] = {"nprocs", 1, true},           [TOTSPAWNS] = {"totspawns", 1, true},
    [SPAWNSSOFAR] = {"spawnssofar", 1, true}, [ARGCNT] = {"argcnt", 0, false},
    [PREPUT_NUM] = {"preput_num", 0, false},  [INFO_NUM] = {"info_num", 0, false},
};

/* Clients number arguments from 1 and the others from 0; only how many there are is checked. */
static const struct {
    const char *prefix;
    int count; /* the number that says how many */
} lists[PMI1_SPAWN_LISTS] = {
    {"arg", ARGCNT},         {"preput_key_", PREPUT_NUM}, {"preput_val_", PREPUT_NUM},
    {"info_key_", INFO_NUM}, {"info_val_", INFO_NUM},
};

bool pmi1_spawn_open(const struct pmi1_spawn *spawn)
{
    return spawn->in_block || spawn->block;
}

static int spawn_fail(const char *text, const char *what, struct error *err)
{
    char quote[QUOTE_SIZE];
    return error_set(err, "%s in a spawn request: \"%s\"", what,
                     quote_text(quote, text, strlen(text)));
}

static int spawn_begin(struct pmi1_spawn *spawn, const char *text, struct error *err)
{
    if (strcmp(text, "mcmd=spawn") != 0)
        return spawn_fail(text, "mcmd=spawn is missing", err);
    spawn->in_block = true;
    spawn->has_execname = false;
    memset(spawn->numbers, 0xff, sizeof(spawn->numbers));
    memset(spawn->counts, 0, sizeof(spawn->counts));
    return 0;
}

/* A list's field is its prefix and a number. */
static bool is_list_field(const char *text, size_t name_len, const char *prefix)
{
    size_t len = strlen(prefix);
    if (name_len <= len || strncmp(text, prefix, len) != 0)
        return false;
    return strspn(text + len, "0123456789") == name_len - len;
}

static int spawn_field(struct pmi1_spawn *spawn, const char *text, struct error *err)
{
    const char *equals = strchr(text, '=');
    if (!equals)
        return spawn_fail(text, "a line without '='", err);
    size_t len = (size_t)(equals - text);
    if (len == 3 && !strncmp(text, "cmd", len))
        return spawn_fail(text, "another command", err);
    if (len == 8 && !strncmp(text, "execname", len))
        spawn->has_execname = equals[1] != '\0';
    for (size_t i = 0; i < PMI1_SPAWN_LISTS; i++)
        if (is_list_field(text, len, lists[i].prefix))
            spawn->counts[i]++;
    for (size_t i = 0; i < PMI1_SPAWN_NUMBERS; i++) {
        if (strlen(numbers[i].name) != len || strncmp(text, numbers[i].name, len) != 0)
            continue;
        if (!pmi1_parse_int(equals + 1, &spawn->numbers[i]) || spawn->numbers[i] < numbers[i].min)
            return spawn_fail(text, "a bad number", err);
    }
    return 0;
}

static int spawn_check(const struct pmi1_spawn *spawn, struct error *err)
{
    if (!spawn->has_execname)
        return error_set(err, "no execname in a spawn request");
    for (size_t i = 0; i < PMI1_SPAWN_NUMBERS; i++)
        if (numbers[i].required && spawn->numbers[i] < 0)
            return error_set(err, "no %s in a spawn request", numbers[i].name);
    for (size_t i = 0; i < PMI1_SPAWN_LISTS; i++) {
        int said = spawn->numbers[lists[i].count];
        if (said >= 0 && said != spawn->counts[i])
            return error_set(err, "a spawn request says %s=%d, but has %d lines of %s*",
                             numbers[lists[i].count].name, said, spawn->counts[i], lists[i].prefix);
    }
    int total = spawn->numbers[TOTSPAWNS], sofar = spawn->numbers[SPAWNSSOFAR];
    if (sofar != spawn->block + 1 || (spawn->block && total != spawn->total))
        return error_set(err,
                         "block %d of a spawn request says totspawns=%d spawnssofar=%d, which is "
                         "out of order",
                         spawn->block + 1, total, sofar);
    return 0;
}

int pmi1_spawn_line(struct pmi1_spawn *spawn, const char *text, struct error *err)
{
    if (!spawn->in_block)
        return spawn_begin(spawn, text, err);
    if (strcmp(text, "endcmd") != 0)
        return spawn_field(spawn, text, err);
    if (spawn_check(spawn, err) < 0)
        return -1;
    spawn->in_block = false;
    spawn->total = spawn->numbers[TOTSPAWNS];
    if (++spawn->block < spawn->total)
        return 0;
    *spawn = (struct pmi1_spawn){0};
    return 1;
}
