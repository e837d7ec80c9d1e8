/* A spawn request of PMI-2, out of its frame: a table of fields, which are taken in order. */
#include "pmi-server/pmi/pmi2_spawn.h"

#include <string.h>

#include "base/number.h"

struct parse {
    struct spawn_request *spawn;
    struct spawn_request_block *block; /* the last one; NULL before the first */
    const char *key;                   /* of a pair whose value has to come */
    int argc, infos;                   /* what the last block says it has, or -1 */
    int commands, preputs;             /* the same of the whole */
};

static int take_program(struct parse *parse, const char *value)
{
    parse->block = spawn_request_add(parse->spawn, value);
    parse->argc = parse->infos = -1;
    return *value ? 0 : -1;
}

static int take_maxprocs(struct parse *parse, const char *value)
{
    int number;
    if (!parse->block || !number_parse_int(value, &number) || number < 1)
        return -1;
    parse->block->maxprocs = (uint32_t)number;
    return 0;
}

static int take_count(int *count, const char *value)
{
    return number_parse_int(value, count) && *count >= 0 ? 0 : -1;
}

static int take_argc(struct parse *parse, const char *value)
{
    return take_count(&parse->argc, value);
}

static int take_infos(struct parse *parse, const char *value)
{
    return take_count(&parse->infos, value);
}

static int take_commands(struct parse *parse, const char *value)
{
    return take_count(&parse->commands, value);
}

static int take_preputs(struct parse *parse, const char *value)
{
    return take_count(&parse->preputs, value);
}

static int take_key(struct parse *parse, const char *value)
{
    bool twice = parse->key;
    parse->key = value;
    return twice ? -1 : 0;
}

static int take_pair(struct parse *parse, struct pmi_pairs *pairs, const char *value)
{
    if (!parse->key)
        return -1;
    pmi_pairs_add(pairs, parse->key, value);
    parse->key = NULL;
    return 0;
}

static int take_preput(struct parse *parse, const char *value)
{
    return take_pair(parse, &parse->spawn->preputs, value);
}

static int take_info(struct parse *parse, const char *value)
{
    return parse->block ? take_pair(parse, &parse->block->infos, value) : -1;
}

static int take_arg(struct parse *parse, const char *value)
{
    if (!parse->block)
        return -1;
    spawn_request_arg(parse->spawn, value);
    return 0;
}

/* Fields, and prefixes of those with a number; others are skipped. */
static const struct {
    const char *name;
    bool numbered;
    int (*take)(struct parse *parse, const char *value);
} fields[] = {
    {"argv", true, take_arg},
    {"infokey", true, take_key},
    {"infoval", true, take_info},
    {"ppkey", true, take_key},
    {"ppval", true, take_preput},
    {"subcmd", false, take_program},
    {"maxprocs", false, take_maxprocs},
    {"argc", false, take_argc},
    {"infokeycount", false, take_infos},
    {"ncmds", false, take_commands},
    {"preputcount", false, take_preputs},
};

static int take_field(struct parse *parse, const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        size_t len = strlen(fields[i].name);
        if (strncmp(name, fields[i].name, len) != 0)
            continue;
        const char *rest = name + len;
        if (fields[i].numbered ? *rest && strspn(rest, "0123456789") == strlen(rest) : !*rest)
            return fields[i].take(parse, value);
    }
    return 0;
}

/* What the block says it has is what it has. */
static bool block_is_whole(const struct parse *parse)
{
    const struct spawn_request_block *block = parse->block;
    return !parse->key &&
           (!block || ((parse->argc < 0 || (size_t)parse->argc + 1 == block->argc) &&
                       (parse->infos < 0 || (size_t)parse->infos == block->infos.count)));
}

static int take_all(struct parse *parse, const struct pmi2_frame *frame, struct error *err)
{
    const char *at = frame->fields, *name, *value;
    for (size_t i = 0; i < frame->count; i++) {
        pmi2_field_next(&at, &name, &value);
        if (!strcmp(name, "subcmd") && !block_is_whole(parse))
            return error_set(err, "argc or infokeycount is wrong");
        if (take_field(parse, name, value) < 0)
            return error_set(err, "a bad %s in a spawn request", name);
    }
    if (!block_is_whole(parse))
        return error_set(err, "argc or infokeycount is wrong");
    if (!parse->block || (parse->commands >= 0 && (size_t)parse->commands != parse->spawn->nblocks))
        return error_set(err, "ncmds is wrong");
    if (parse->preputs >= 0 && (size_t)parse->preputs != parse->spawn->preputs.count)
        return error_set(err, "preputcount is wrong");
    return 0;
}

struct spawn_request *pmi2_spawn_parse(const struct pmi2_frame *frame, struct error *err)
{
    struct parse parse = {.spawn = spawn_request_new(), .commands = -1, .preputs = -1};
    if (take_all(&parse, frame, err) == 0)
        return parse.spawn;
    spawn_request_free(parse.spawn);
    return NULL;
}
