/* The spec of a group that is spawned, for program/spawn.c: that of the group that asks, and what the request
 * says. Info keys by a table. */
#include "launcher/plan/spawn_spec.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/plan/spawn_environment.h"
#include "launcher/spec/field.h"

/* What is being made: the part of one block. */
struct making {
    struct spawn_spec *blocks;
    const struct spec *base;
    json_t *part;
    const struct task_request_block *block;
    struct block_place *place;
};

static int set_text(struct making *making, const char *key, const char *text, struct error *err)
{
    if (!*text)
        return error_set(err, "must not be empty");
    json_object_set_new(making->part, key, text_to_json(text));
    return 0;
}

static int take_path(struct making *making, const char *value, struct error *err)
{
    const char *name = making->block->argv[0];
    (void)err;
    if (!*value || *name == '/')
        return 0;
    char *path = mem_format("%s/%s", value, name);
    json_array_set_new(json_object_get(making->part, "argv"), 0, text_to_json(path));
    free(path);
    return 0;
}

static int take_wdir(struct making *making, const char *value, struct error *err)
{
    const char *base = making->base->directory ? making->base->directory : "/";
    char *path = *value == '/' ? mem_copy_text(value) : mem_format("%s/%s", base, value);
    int rc = set_text(making, "chdir", *value ? path : "", err);
    free(path);
    return rc;
}

static int take_map(struct making *making, const char *value, struct error *err)
{
    json_object_del(making->part, "order");
    return set_text(making, "map", value, err);
}

/* As --rank-by: by slot they run along the hardware, by a level they follow the placement. */
static int take_rank_by(struct making *making, const char *value, struct error *err)
{
    bool slot = strcmp(value, "slot") == 0;
    return set_text(making, "order", !*value ? "" : slot ? "sequential" : "natural", err);
}

static int take_per(struct making *making, const char *value, struct error *err)
{
    json_object_del(making->part, "map");
    json_object_del(making->part, "order");
    return set_text(making, "per", value, err);
}

static int take_cores(struct making *making, const char *value, struct error *err)
{
    char *end;
    long cores = strtol(value, &end, 10);
    if (end == value || *end || cores < 1 || cores > INT32_MAX)
        return error_set(err, "\"%s\" is not a number of cores", value);
    json_object_set_new(making->part, "cores_per_task", json_integer(cores));
    return 0;
}

static int take_pset(struct making *making, const char *value, struct error *err)
{
    return set_text(making, "pset", value, err);
}

static int take_bind(struct making *making, const char *value, struct error *err)
{
    return set_text(making, "bind", value, err);
}

/* Lines of them. */
static int take_env(struct making *making, const char *value, struct error *err)
{
    for (const char *at = value; *at; at += at[0] == '\n') {
        size_t len = strcspn(at, "\n");
        char *line = mem_copy_text_n(at, len);
        int rc = len ? spawn_environment_change(making->part, making->base, SPAWN_ENVIRONMENT_SET,
                                                line, err)
                     : 0;
        free(line);
        if (rc < 0)
            return -1;
        at += len;
    }
    return 0;
}

#define TAKE_ENV(name, change)                                                                     \
    static int name(struct making *making, const char *value, struct error *err)                   \
    {                                                                                              \
        return spawn_environment_change(making->part, making->base, change, value, err);           \
    }
TAKE_ENV(take_set, SPAWN_ENVIRONMENT_SET)
TAKE_ENV(take_default, SPAWN_ENVIRONMENT_DEFAULT)
TAKE_ENV(take_unset, SPAWN_ENVIRONMENT_UNSET)
TAKE_ENV(take_prepend, SPAWN_ENVIRONMENT_PREPEND)
TAKE_ENV(take_append, SPAWN_ENVIRONMENT_APPEND)
#undef TAKE_ENV

static int take_where(char **where, const char *value, struct error *err)
{
    if (!*value)
        return error_set(err, "must not be empty");
    if (*where && strcmp(*where, value) != 0)
        return error_set(err,
                         "one block cannot name different hosts (%s and %s): put them into one "
                         "list",
                         *where, value);
    free(*where);
    *where = mem_copy_text(value);
    return 0;
}

static int take_hosts(struct making *making, const char *value, struct error *err)
{
    return take_where(&making->place->hosts, value, err);
}

static int take_hostfile(struct making *making, const char *value, struct error *err)
{
    const char *base = making->base->directory ? making->base->directory : "/";
    char *path = *value == '/' || !*value ? mem_copy_text(value) : mem_format("%s/%s", base, value);
    int rc = take_where(&making->place->hostfile, path, err);
    free(path);
    return rc;
}

static const struct {
    const char *key;
    int (*take)(struct making *making, const char *value, struct error *err);
} keys[] = {
    {"path", take_path},           {"wdir", take_wdir},           {"host", take_hosts},
    {"hosts", take_hosts},         {"hostfile", take_hostfile},   {"map_by", take_map},
    {"rank_by", take_rank_by},     {"bind_to", take_bind},        {"per", take_per},
    {"cores", take_cores},         {"pset", take_pset},           {"env", take_env},
    {"env_set", take_set},         {"env_default", take_default}, {"env_unset", take_unset},
    {"env_prepend", take_prepend}, {"env_append", take_append},
};

static int take_info(struct making *making, const struct pair *info, struct error *err)
{
    struct buf *unknown = &making->blocks->unknown;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(keys[i].key, info->key) == 0)
            return keys[i].take(making, info->value, err) < 0
                       ? error_prefix(err, "info key %s", info->key)
                       : 0;
    buf_printf(unknown, "%s%s", unknown->len ? ", " : "", info->key);
    return 0;
}

/* Of what the asking part has (`from`), what other tasks can have, too; and what the block says. */
static json_t *make_part(struct making *making, const json_t *from, struct error *err)
{
    static const char *const own[] = {"taskmap", "rankfile", "rankfile_name", "mppr",
                                      "per",     "shape",    "pset"};
    const struct task_request_block *block = making->block;
    json_t *part = making->part = json_deep_copy(from), *argv = json_array();
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        json_object_del(part, own[i]);
    for (char **word = block->argv; *word; word++)
        json_array_append_new(argv, text_to_json(*word));
    json_object_set_new(part, "argv", argv);
    json_object_set_new(part, "ntasks", json_integer(block->ntasks));
    for (size_t i = 0; i < block->ninfo; i++)
        if (take_info(making, &block->info[i], err) < 0) {
            json_decref(part);
            return NULL;
        }
    return part;
}

int spawn_spec_make(struct spawn_spec *blocks, const struct spec *base,
                    const struct task_request *ask, struct error *err)
{
    json_t *value = spec_to_json(base), *parts = json_array();
    json_t *from = json_array_get(json_object_get(value, "parts"), ask->app);
    *blocks = (struct spawn_spec){.places = mem_array(ask->nblocks, sizeof(*blocks->places)),
                                  .nplaces = ask->nblocks};
    int rc = from ? 0 : error_set(err, "no part %u, which asks for the spawn", ask->app);
    for (size_t i = 0; i < ask->nblocks && rc == 0; i++) {
        struct making making = {
            .blocks = blocks, .base = base, .block = &ask->blocks[i], .place = &blocks->places[i]};
        json_t *part = make_part(&making, from, err);
        rc = part ? json_array_append_new(parts, part) : -1;
    }
    json_object_set_new(value, "parts", parts);
    json_object_del(value, "display");
    blocks->spec = rc == 0 ? spec_from_json(value, err) : NULL;
    json_decref(value);
    if (blocks->spec)
        return 0;
    spawn_spec_clear(blocks);
    return -1;
}

void spawn_spec_clear(struct spawn_spec *blocks)
{
    spec_free(blocks->spec);
    for (size_t i = 0; i < blocks->nplaces; i++) {
        free(blocks->places[i].hosts);
        free(blocks->places[i].hostfile);
    }
    free(blocks->places);
    buf_free(&blocks->unknown);
    *blocks = (struct spawn_spec){0};
}
