#include "pmi-server/pmix/spawn_directives.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

struct reading {
    struct pmi_pairs *pairs; /* of the block */
    const pmix_info_t *info;
    const char *word;
};

/* ---- words ---- */

/* An app's own in place of the job's. */
static void spawn_directives_put(struct pmi_pairs *pairs, const char *word, const char *value)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (!strcmp(pairs->list[i].key, word)) {
            free(pairs->list[i].value);
            pairs->list[i].value = mem_copy_text(value);
            return;
        }
    pmi_pairs_add(pairs, word, value);
}

static void put_part(struct pmi_pairs *pairs, const char *word, const char *value, size_t len)
{
    char *part = mem_copy_text_n(value, len);
    spawn_directives_put(pairs, word, part);
    free(part);
}

/* ---- values: -1 where it is of another type ---- */

static const char *spawn_directives_text_of(const pmix_info_t *info)
{
    return info->value.type == PMIX_STRING ? info->value.data.string : NULL;
}

static int take_text(struct reading *reading)
{
    const char *text = spawn_directives_text_of(reading->info);
    if (text)
        spawn_directives_put(reading->pairs, reading->word, text);
    return text ? 0 : -1;
}

/* "a:2,b" names the hosts a and b: where how many go is the mapping's. */
static int take_hosts(struct reading *reading)
{
    struct buf hosts = BUF_INIT;
    const char *text = spawn_directives_text_of(reading->info);
    for (const char *at = text; at && *at; at += strcspn(at, ",")) {
        at += *at == ',';
        buf_add(&hosts, at == text ? "" : ",", at != text);
        buf_add(&hosts, at, strcspn(at, ":,"));
    }
    if (text)
        spawn_directives_put(reading->pairs, reading->word, buf_text(&hosts));
    buf_free(&hosts);
    return text ? 0 : -1;
}

/* Where hosts are named as well, these are hosts of the run like any others. */
static int take_added(struct reading *reading)
{
    bool named =
        pmi_pairs_value(reading->pairs, "host") || pmi_pairs_value(reading->pairs, "hostfile");
    return named && spawn_directives_text_of(reading->info) ? 0 : take_hosts(reading);
}

/* Open MPI's way to write it: "ppr:2:node", "slot:PE=2", "core:OVERSUBSCRIBE". */
static int take_map(struct reading *reading)
{
    static const char cores[] = ":PE=", ppr[] = "ppr:";
    const char *text = spawn_directives_text_of(reading->info);
    if (!text)
        return -1;
    if (!strncmp(text, ppr, sizeof(ppr) - 1)) {
        const char *level = text + sizeof(ppr) - 1 + strcspn(text + sizeof(ppr) - 1, ":");
        size_t len = *level ? 1 + strcspn(level + 1, ":") : 0;
        put_part(reading->pairs, "per", text + sizeof(ppr) - 1,
                 (size_t)(level - text) - (sizeof(ppr) - 1) + len);
        return 0;
    }
    const char *pe = strstr(text, cores);
    if (pe)
        put_part(reading->pairs, "cores", pe + sizeof(cores) - 1,
                 strcspn(pe + sizeof(cores) - 1, ":,"));
    if (*text != ':')
        put_part(reading->pairs, reading->word, text, strcspn(text, ":"));
    return 0;
}

/* Without modifiers: "core:overload-allowed". */
static int take_policy(struct reading *reading)
{
    const char *text = spawn_directives_text_of(reading->info);
    if (text)
        put_part(reading->pairs, reading->word, text, strcspn(text, ":"));
    return text ? 0 : -1;
}

static int take_number(struct reading *reading)
{
    const pmix_value_t *value = &reading->info->value;
    char text[24];
    int64_t number = value->type == PMIX_UINT32   ? (int64_t)value->data.uint32
                     : value->type == PMIX_UINT16 ? (int64_t)value->data.uint16
                     : value->type == PMIX_INT    ? (int64_t)value->data.integer
                                                  : -1;
    if (number < 0)
        return -1;
    snprintf(text, sizeof(text), "%" PRId64, number);
    spawn_directives_put(reading->pairs, reading->word, text);
    return 0;
}

static int take_variable(struct reading *reading)
{
    const pmix_envar_t *envar = &reading->info->value.data.envar;
    bool joins = !strcmp(reading->word, "env_prepend") || !strcmp(reading->word, "env_append");
    char separator[2] = {joins ? (envar->separator ? envar->separator : ':') : '\0'};
    if (reading->info->value.type != PMIX_ENVAR || !envar->envar)
        return -1;
    char *text = mem_format("%s=%s%s", envar->envar, separator, envar->value ? envar->value : "");
    pmi_pairs_add(reading->pairs, reading->word, text);
    free(text);
    return 0;
}

static int take_name(struct reading *reading)
{
    const char *text = spawn_directives_text_of(reading->info);
    if (text)
        pmi_pairs_add(reading->pairs, reading->word, text);
    return text ? 0 : -1;
}

/* Where another installation's programs and libraries are. */
static int take_prefix(struct reading *reading)
{
    const char *text = spawn_directives_text_of(reading->info);
    if (!text)
        return -1;
    char *path = mem_format("PATH=:%s/bin", text);
    char *libraries = mem_format("LD_LIBRARY_PATH=:%s/lib", text);
    pmi_pairs_add(reading->pairs, "env_prepend", path);
    pmi_pairs_add(reading->pairs, "env_prepend", libraries);
    free(libraries);
    free(path);
    return 0;
}

/* It is so, or openpmix does it itself. */
static int take_nothing(struct reading *reading)
{
    (void)reading;
    return 0;
}

static const struct directive {
    const char *key;
    int (*take)(struct reading *reading);
    const char *word;
} directives[] = {
    {PMIX_WDIR, take_text, "wdir"},
    {PMIX_HOST, take_hosts, "host"},
    {PMIX_HOSTFILE, take_text, "hostfile"},
    {PMIX_ADD_HOST, take_added, "host"},
    {PMIX_MAPBY, take_map, "map_by"},
    {PMIX_RANKBY, take_policy, "rank_by"},
    {PMIX_BINDTO, take_policy, "bind_to"},
    {PMIX_PPR, take_text, "per"},
    {PMIX_CPUS_PER_PROC, take_number, "cores"},
    {PMIX_PREFIX, take_prefix, NULL},
    {PMIX_SET_ENVAR, take_variable, "env_set"},
    {PMIX_ADD_ENVAR, take_variable, "env_default"},
    {PMIX_UNSET_ENVAR, take_name, "env_unset"},
    {PMIX_PREPEND_ENVAR, take_variable, "env_prepend"},
    {PMIX_APPEND_ENVAR, take_variable, "env_append"},
    {PMIX_PSET_NAME, take_text, "pset"},
    {PMIX_WDIR_USER_SPECIFIED, take_nothing, NULL},
    {PMIX_PERSONALITY, take_nothing, NULL},
    {PMIX_NON_PMI, take_nothing, NULL},
    {PMIX_FWD_STDOUT, take_nothing, NULL},
    {PMIX_FWD_STDERR, take_nothing, NULL},
    {PMIX_SETUP_APP_ENVARS, take_nothing, NULL},
    {PMIX_ENVARS_HARVESTED, take_nothing, NULL},
};

char *spawn_directives_known(void)
{
    struct buf names = BUF_INIT;
    for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++)
        buf_printf(&names, "%s%s", i ? "," : "", directives[i].key);
    return buf_take_text(&names);
}

/* ---- a request ---- */

static int fail(pmix_status_t *status, pmix_status_t what)
{
    *status = what;
    return -1;
}

static int read_info(struct pmi_pairs *pairs, const pmix_info_t *info, pmix_status_t *status,
                     struct error *err)
{
    const struct directive *directive = NULL;
    for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]) && !directive; i++)
        if (!strcmp(directives[i].key, info->key))
            directive = &directives[i];
    if (!directive && (info->flags & PMIX_INFO_REQD)) {
        error_set(err, "\"%s\" is required, and means nothing here", info->key);
        return fail(status, PMIX_ERR_NOT_SUPPORTED);
    }
    if (!directive) {
        pmi_pairs_add(pairs, info->key, "");
        return 0;
    }
    struct reading reading = {pairs, info, directive->word};
    if (directive->take(&reading) == 0)
        return 0;
    error_set(err, "\"%s\" has a value of another type", info->key);
    return fail(status, PMIX_ERR_BAD_PARAM);
}

static int spawn_directives_read_infos(struct pmi_pairs *pairs, const pmix_info_t infos[],
                                       size_t count, pmix_status_t *status, struct error *err)
{
    for (size_t i = 0; i < count && infos; i++)
        if (read_info(pairs, &infos[i], status, err) < 0)
            return -1;
    return 0;
}

static int read_app(struct spawn_request *spawn, const pmix_info_t job[], size_t njob,
                    const pmix_app_t *app, pmix_status_t *status, struct error *err)
{
    if (!app->cmd && (!app->argv || !app->argv[0])) {
        error_set(err, "it names no program");
        return fail(status, PMIX_ERR_BAD_PARAM);
    }
    struct spawn_request_block *block =
        spawn_request_add(spawn, app->cmd ? app->cmd : app->argv[0]);
    struct pmi_pairs *pairs = &block->infos;
    block->maxprocs = app->maxprocs > 0 ? (uint32_t)app->maxprocs : 1;
    for (size_t i = 1; app->argv && app->argv[0] && app->argv[i]; i++) /* [0] is the name again */
        spawn_request_arg(spawn, app->argv[i]);
    if (app->cwd)
        pmi_pairs_add(pairs, "wdir", app->cwd);
    if (spawn_directives_read_infos(pairs, job, njob, status, err) < 0)
        return -1;
    for (char **at = app->env; at && *at; at++)
        if (strchr(*at, '='))
            pmi_pairs_add(pairs, "env_set", *at);
    return spawn_directives_read_infos(pairs, app->info, app->ninfo, status, err);
}

int spawn_directives_read(struct spawn_request *spawn, const pmix_info_t job[], size_t njob,
                          const pmix_app_t apps[], size_t napps, pmix_status_t *status,
                          struct error *err)
{
    size_t bytes = 0;
    for (size_t i = 0; i < napps && bytes <= SPAWN_DIRECTIVES_MAX; i++) {
        if (read_app(spawn, job, njob, &apps[i], status, err) < 0)
            return -1;
        const struct spawn_request_block *block = &spawn->blocks[i];
        for (size_t k = 0; k < block->argc; k++)
            bytes += strlen(block->argv[k]) + 1;
        for (size_t k = 0; k < block->infos.count; k++)
            bytes += strlen(block->infos.list[k].key) + strlen(block->infos.list[k].value) + 2;
    }
    if (spawn->nblocks && bytes <= SPAWN_DIRECTIVES_MAX)
        return 0;
    error_set(err, napps ? "a request of more than %d bytes" : "no program", SPAWN_DIRECTIVES_MAX);
    return fail(status, PMIX_ERR_BAD_PARAM);
}
