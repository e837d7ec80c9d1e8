/* A description of a job, written by the service and read by hosts. */
#include "pmi-server/protocol/namespace_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/message.h"

/* ---- written ---- */

static void namespace_info_put_app(struct buf *out, const struct namespace_app *app)
{
    uint32_t argc = 0;
    while (app->argv && app->argv[argc])
        argc++;
    pack_put_u32(out, app->first_rank);
    pack_put_u32(out, app->ntasks);
    pack_put_text(out, app->directory);
    pack_put_text(out, app->pset);
    pack_put_u32(out, argc);
    for (uint32_t i = 0; i < argc; i++)
        pack_put_text(out, app->argv[i]);
}

void namespace_info_put(struct buf *out, const struct namespace_facts *job)
{
    pack_put_text(out, job->name);
    pack_put_text(out, job->spawner);
    pack_put_u32(out, job->spawner_rank);
    pack_put_u32(out, job->session);
    pack_put_u32(out, (uint32_t)job->universe_size);
    pack_put_text(out, job->map_by);
    pack_put_text(out, job->rank_by);
    pack_put_text(out, job->bind_to);
    pack_put_u32(out, (uint32_t)job->map->nblocks);
    for (size_t i = 0; i < job->map->nblocks; i++) {
        const struct taskmap_block *block = &job->map->blocks[i];
        pack_put_u32(out, block->node);
        pack_put_u32(out, block->nnodes);
        pack_put_u32(out, block->ppn);
        pack_put_u32(out, block->repeat);
    }
    pack_put_u32(out, job->map->nnodes);
    for (uint32_t i = 0; i < job->map->nnodes; i++)
        pack_put_text(out, job->hosts[i]);
    pack_put_u32(out, job->napps);
    for (uint32_t i = 0; i < job->napps; i++)
        namespace_info_put_app(out, &job->apps[i]);
}

/* ---- read ---- */

/* NULL for "". */
static const char *text_or_null(struct pack *in)
{
    char *text = pack_get_text(in);
    if (text[0])
        return text;
    free(text);
    return NULL;
}

static struct taskmap *read_map(struct pack *in)
{
    struct taskmap *map = taskmap_new();
    uint32_t count = pack_count(in, sizeof(struct taskmap_block));
    for (uint32_t i = 0; i < count && !in->bad; i++) {
        struct taskmap_block block;
        block.node = pack_u32(in);
        block.nnodes = pack_u32(in);
        block.ppn = pack_u32(in);
        block.repeat = pack_u32(in);
        if (taskmap_append_block(map, block, NULL) < 0)
            in->bad = true;
    }
    if (!map->ntasks)
        in->bad = true;
    return map;
}

/* So many texts, and a NULL. */
static char **read_texts(struct pack *in, uint32_t *count)
{
    *count = pack_count(in, 4);
    char **texts = mem_array((size_t)*count + 1, sizeof(*texts));
    for (uint32_t i = 0; i < *count; i++)
        texts[i] = pack_get_text(in);
    return texts;
}

static void read_apps(struct pack *in, struct namespace_facts *job)
{
    uint32_t argc;
    job->napps = pack_count(in, 20);
    struct namespace_app *apps = mem_array(job->napps, sizeof(*apps));
    for (uint32_t i = 0; i < job->napps; i++) {
        apps[i].first_rank = pack_u32(in);
        apps[i].ntasks = pack_u32(in);
        apps[i].directory = pack_get_text(in);
        apps[i].pset = text_or_null(in);
        apps[i].argv = read_texts(in, &argc);
    }
    job->apps = apps;
}

struct namespace_info *namespace_info_read(struct pack *in)
{
    struct namespace_info *description = mem_alloc(sizeof(*description));
    struct namespace_facts *job = &description->job;
    uint32_t nhosts;
    job->name = pack_get_text(in);
    job->spawner = text_or_null(in);
    job->spawner_rank = pack_u32(in);
    job->session = pack_u32(in);
    job->universe_size = (int)pack_u32(in);
    job->map_by = text_or_null(in);
    job->rank_by = text_or_null(in);
    job->bind_to = text_or_null(in);
    job->map = read_map(in);
    job->hosts = (const char *const *)read_texts(in, &nhosts);
    if (nhosts != job->map->nnodes || !job->name[0] || strlen(job->name) > SERVICE_NAME_MAX)
        in->bad = true;
    read_apps(in, job);
    if (!in->bad)
        return description;
    namespace_info_free(description);
    return NULL;
}

/* ---- freed ---- */

static void free_texts(char *const *texts)
{
    for (char *const *at = texts; at && *at; at++)
        free(*at);
    free((void *)(uintptr_t)texts);
}

void namespace_info_free(struct namespace_info *description)
{
    if (!description)
        return;
    struct namespace_facts *job = &description->job;
    for (uint32_t i = 0; i < job->napps; i++) {
        free((char *)(uintptr_t)job->apps[i].directory);
        free((char *)(uintptr_t)job->apps[i].pset);
        free_texts(job->apps[i].argv);
    }
    free((void *)(uintptr_t)job->apps);
    free_texts((char *const *)(uintptr_t)job->hosts);
    taskmap_free((struct taskmap *)(uintptr_t)job->map);
    const char *const texts[] = {job->name, job->spawner, job->map_by, job->rank_by, job->bind_to};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        free((char *)(uintptr_t)texts[i]);
    free(description);
}
