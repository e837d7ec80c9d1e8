/* A spawn request of PMI-1, put together line by line and checked at the end of each block. */
#include "pmi-server/pmi/pmi1_spawn.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "pmi-server/pmi/quote.h"
#include "pmi-server/wire/pmi1_line.h"

enum { NPROCS, TOTSPAWNS, SPAWNSSOFAR, ARGCNT, PREPUT_NUM, INFO_NUM };
enum { ARGS, PREPUT_KEYS, PREPUT_VALS, INFO_KEYS, INFO_VALS };

static const struct {
    const char *name;
    int min;
    bool required;
} numbers[PMI1_SPAWN_NUMBERS] = {
    [NPROCS] = {"nprocs", 1, true},           [TOTSPAWNS] = {"totspawns", 1, true},
    [SPAWNSSOFAR] = {"spawnssofar", 1, true}, [ARGCNT] = {"argcnt", 0, false},
    [PREPUT_NUM] = {"preput_num", 0, false},  [INFO_NUM] = {"info_num", 0, false},
};

/* Clients number arguments from 1 and the others from 0, and send them in order: that is kept, and
 * how many there are is checked. */
static const struct {
    const char *prefix;
    int count; /* the number that says how many */
} lists[PMI1_SPAWN_LISTS] = {
    [ARGS] = {"arg", ARGCNT},
    [PREPUT_KEYS] = {"preput_key_", PREPUT_NUM},
    [PREPUT_VALS] = {"preput_val_", PREPUT_NUM},
    [INFO_KEYS] = {"info_key_", INFO_NUM},
    [INFO_VALS] = {"info_val_", INFO_NUM},
};

bool pmi1_spawn_open(const struct pmi1_spawn *spawn)
{
    return spawn->in_block || spawn->block;
}

static void pmi1_spawn_block_free(struct pmi1_spawn *spawn)
{
    for (size_t i = 0; i < PMI1_SPAWN_LISTS; i++) {
        for (int k = 0; k < spawn->texts[i].count; k++)
            free(spawn->texts[i].list[k]);
        free(spawn->texts[i].list);
        spawn->texts[i] = (struct pmi1_texts){0};
    }
    free(spawn->execname);
    spawn->execname = NULL;
}

void pmi1_spawn_free(struct pmi1_spawn *spawn)
{
    pmi1_spawn_block_free(spawn);
    spawn_request_free(spawn->built);
    *spawn = (struct pmi1_spawn){0};
}

static int spawn_fail(const char *text, const char *what, struct error *err)
{
    char quote[QUOTE_SIZE];
    return error_set(err, "%s in a spawn request: \"%s\"", what,
                     quote_text(quote, text, strlen(text)));
}

static int spawn_field(struct pmi1_spawn *spawn, const char *text, struct error *err)
{
    const char *equals = strchr(text, '=');
    if (!equals)
        return spawn_fail(text, "a line without '='", err);
    size_t len = (size_t)(equals - text);
    if (len == 3 && !strncmp(text, "cmd", len))
        return spawn_fail(text, "another command", err);
    if (len == 8 && !strncmp(text, "execname", len)) {
        free(spawn->execname);
        spawn->execname = mem_copy_text(equals + 1);
    }
    /* A list's field is its prefix and a number. */
    for (size_t i = 0; i < PMI1_SPAWN_LISTS; i++) {
        struct pmi1_texts *texts = &spawn->texts[i];
        size_t prefix = strlen(lists[i].prefix);
        if (len <= prefix || strncmp(text, lists[i].prefix, prefix) != 0 ||
            strspn(text + prefix, "0123456789") != len - prefix)
            continue;
        if ((texts->count & (texts->count - 1)) == 0)
            texts->list = mem_resize(texts->list, texts->count ? 2 * (size_t)texts->count : 1,
                                     sizeof(char *));
        texts->list[texts->count++] = mem_copy_text(equals + 1);
    }
    for (size_t i = 0; i < PMI1_SPAWN_NUMBERS; i++) {
        if (strlen(numbers[i].name) != len || strncmp(text, numbers[i].name, len) != 0)
            continue;
        if (!number_parse_int(equals + 1, &spawn->numbers[i]) || spawn->numbers[i] < numbers[i].min)
            return spawn_fail(text, "a bad number", err);
    }
    return 0;
}

static int spawn_check(const struct pmi1_spawn *spawn, struct error *err)
{
    if (!spawn->execname || !*spawn->execname)
        return error_set(err, "no execname in a spawn request");
    for (size_t i = 0; i < PMI1_SPAWN_NUMBERS; i++)
        if (numbers[i].required && spawn->numbers[i] < 0)
            return error_set(err, "no %s in a spawn request", numbers[i].name);
    for (size_t i = 0; i < PMI1_SPAWN_LISTS; i++) {
        int said = spawn->numbers[lists[i].count];
        if (said >= 0 && said != spawn->texts[i].count)
            return error_set(err, "a spawn request says %s=%d, but has %d lines of %s*",
                             numbers[lists[i].count].name, said, spawn->texts[i].count,
                             lists[i].prefix);
    }
    if (spawn->texts[PREPUT_KEYS].count != spawn->texts[PREPUT_VALS].count ||
        spawn->texts[INFO_KEYS].count != spawn->texts[INFO_VALS].count)
        return error_set(err, "a spawn request has keys without values, or values without keys");
    int total = spawn->numbers[TOTSPAWNS], sofar = spawn->numbers[SPAWNSSOFAR];
    if (sofar != spawn->block + 1 || (spawn->block && total != spawn->total))
        return error_set(err,
                         "block %d of a spawn request says totspawns=%d spawnssofar=%d, which is "
                         "out of order",
                         spawn->block + 1, total, sofar);
    return 0;
}

/* The block is whole: it goes to the others. 1: it was the last. */
static int spawn_end_block(struct pmi1_spawn *spawn, struct spawn_request **built,
                           struct error *err)
{
    if (spawn_check(spawn, err) < 0)
        return -1;
    const struct pmi1_texts *texts = spawn->texts;
    struct spawn_request_block *block = spawn_request_add(spawn->built, spawn->execname);
    struct pmi_pairs *preputs = &spawn->built->preputs;
    block->maxprocs = (uint32_t)spawn->numbers[NPROCS];
    for (int i = 0; i < texts[ARGS].count; i++)
        spawn_request_arg(spawn->built, texts[ARGS].list[i]);
    for (int i = 0; i < texts[INFO_KEYS].count; i++)
        pmi_pairs_add(&block->infos, texts[INFO_KEYS].list[i], texts[INFO_VALS].list[i]);
    for (int i = 0; i < texts[PREPUT_KEYS].count; i++)
        if (!pmi_pairs_value(preputs, texts[PREPUT_KEYS].list[i]))
            pmi_pairs_add(preputs, texts[PREPUT_KEYS].list[i], texts[PREPUT_VALS].list[i]);
    pmi1_spawn_block_free(spawn);
    spawn->in_block = false;
    spawn->total = spawn->numbers[TOTSPAWNS];
    if (++spawn->block < spawn->total)
        return 0;
    *built = spawn->built;
    *spawn = (struct pmi1_spawn){0};
    return 1;
}

int pmi1_spawn_line(struct pmi1_spawn *spawn, const char *text, struct spawn_request **built,
                    struct error *err)
{
    spawn->bytes += strlen(text) + 1;
    if (spawn->bytes > PMI1_MAX_SPAWN)
        return error_set(err, "a spawn request of more than %d bytes", PMI1_MAX_SPAWN);
    if (spawn->in_block)
        return strcmp(text, "endcmd") != 0 ? spawn_field(spawn, text, err)
                                           : spawn_end_block(spawn, built, err);
    if (strcmp(text, "mcmd=spawn") != 0)
        return spawn_fail(text, "mcmd=spawn is missing", err);
    spawn->in_block = true;
    memset(spawn->numbers, 0xff, sizeof(spawn->numbers));
    if (!spawn->built)
        spawn->built = spawn_request_new();
    return 0;
}
