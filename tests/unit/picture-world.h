/* Cases of pictures: what is asked for, and the picture of it. A file of tests/data/pictures:
 *
 *     nodes: HOSTLIST=SYNTHETIC or =@FILE.xml (from there), then " @ CORES" where not all are
 *            allocated
 *     gpu: ID NAME CPUS        of the nodes before it (OS indexes)
 *     granted: IDS             GPUs that are allocated there
 *     part: [-n N] [-c N] [-g N] [--map-by X] [--bind-to X] [--order X] [--mppr X] [--per X]
 *           [--gpu-bind X] [--mem-bind local] [--oversubscribe] [NAME]
 *     show: any of alloc, topo, map, bind
 *
 * and behind a blank line the text. */
#ifndef TESTS_UNIT_PICTURE_WORLD_H
#define TESTS_UNIT_PICTURE_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/layout/layout.h"
#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "tests/unit/unit.h"

#define PICTURE_DIR TEST_DATA_DIR "/pictures/"

struct picture_world {
    char *text; /* of the case; parts point into it */
    const char *expected;
    struct hostlist *hosts;
    struct layout_node *nodes;
    struct layout_part parts[8];
    struct layout_request request;
    struct topo *topos[16]; /* one for each line of nodes */
    struct idset *sets[64]; /* to be freed */
    size_t ntopos, nsets;
    uint32_t latest; /* first node of the latest line */
    unsigned show;
};

static inline struct idset *world_set(struct picture_world *world, struct idset *set)
{
    return world->sets[world->nsets++] = set;
}

static inline struct topo *world_topo(const char *text)
{
    struct error err = ERROR_INIT;
    char *path = text[0] == '@' ? mem_format("%s%s", PICTURE_DIR, text + 1) : NULL;
    struct topo *topo = path ? topo_load_xml(path, &err) : topo_load_synthetic(text, &err);
    if (!topo)
        fail_msg("%s", error_text(&err));
    free(path);
    return topo;
}

/* Nodes of one kind; hosts are taken as they are where `plain`. */
static inline void world_add(struct picture_world *world, const char *hosts, struct topo *topo,
                             const char *cores)
{
    size_t first = hostlist_count(world->hosts);
    assert_int_equal(hostlist_append_text(world->hosts, hosts, NULL), 0);
    size_t count = hostlist_count(world->hosts);
    struct idset *set = world_set(world, cores ? idset_decode(cores, NULL) : topo_cores(topo));
    world->topos[world->ntopos++] = topo;
    world->nodes = mem_resize(world->nodes, count, sizeof(*world->nodes));
    for (size_t i = first; i < count; i++)
        world->nodes[i] = (struct layout_node){.host = hostlist_nth(world->hosts, i),
                                               .target = (uint32_t)i,
                                               .topo = topo,
                                               .cores = set};
    world->latest = (uint32_t)first;
    world->request.nodes = world->nodes;
    world->request.nnodes = (uint32_t)count;
}

static inline void world_nodes(struct picture_world *world, char *value)
{
    char *machine = strchr(value, '='), *cores = strstr(value, " @ ");
    *machine++ = '\0';
    if (cores)
        *cores = '\0';
    world_add(world, value, world_topo(machine), cores ? cores + 3 : NULL);
}

static inline void world_gpu(struct picture_world *world, char *value)
{
    struct topo *topo = world->topos[world->ntopos - 1];
    char *id = strsep(&value, " "), *name = strsep(&value, " ");
    topo->gpus = mem_resize(topo->gpus, topo->ngpus + 1, sizeof(*topo->gpus));
    topo->gpus[topo->ngpus++] = (struct topo_gpu){
        .id = (uint32_t)atoi(id), .name = mem_copy_text(name), .cpus = idset_decode(value, NULL)};
}

static inline void world_granted(struct picture_world *world, char *value)
{
    struct idset *set = world_set(world, idset_decode(value, NULL));
    for (uint32_t i = world->latest; i < world->request.nnodes; i++)
        world->nodes[i].gpus = set;
}

static inline void world_part(struct picture_world *world, char *value)
{
    struct layout_part *part = &world->parts[world->request.nparts++];
    for (char *word; (word = strsep(&value, " "));) {
        const char **text = strcmp(word, "--map-by") == 0     ? &part->map
                            : strcmp(word, "--bind-to") == 0  ? &part->bind
                            : strcmp(word, "--order") == 0    ? &part->order
                            : strcmp(word, "--mppr") == 0     ? &part->mppr
                            : strcmp(word, "--per") == 0      ? &part->per
                            : strcmp(word, "--gpu-bind") == 0 ? &part->gpu_bind
                                                              : NULL;
        if (text)
            *text = strsep(&value, " ");
        else if (strcmp(word, "-n") == 0)
            part->ntasks = (uint32_t)atoi(strsep(&value, " "));
        else if (strcmp(word, "-c") == 0)
            part->cores_per_task = (uint32_t)atoi(strsep(&value, " "));
        else if (strcmp(word, "-g") == 0)
            part->gpus_per_task = (uint32_t)atoi(strsep(&value, " "));
        else if (strcmp(word, "--mem-bind") == 0)
            part->local_memory = strcmp(strsep(&value, " "), "local") == 0;
        else if (strcmp(word, "--oversubscribe") == 0)
            part->oversubscribe = true;
        else
            part->program = word;
    }
}

static inline void world_show(struct picture_world *world, char *value)
{
    static const char *const words[] = {"alloc", "topo", "map", "bind"};
    for (unsigned i = 0; i < 4; i++)
        if (strstr(value, words[i]))
            world->show |= 1u << i;
}

static inline void world_start(struct picture_world *world)
{
    *world = (struct picture_world){.hosts = hostlist_new()};
    world->request.parts = world->parts;
}

static inline void world_line(struct picture_world *world, const char *name, char *line)
{
    static const struct {
        const char *key;
        void (*take)(struct picture_world *world, char *value);
    } keys[] = {{"nodes", world_nodes},
                {"gpu", world_gpu},
                {"granted", world_granted},
                {"part", world_part},
                {"show", world_show}};
    char *value = strstr(line, ": ");
    for (size_t i = 0; value && i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strncmp(line, keys[i].key, (size_t)(value - line)) == 0) {
            keys[i].take(world, value + 2);
            return;
        }
    fail_msg("%s: no such line: %s", name, line);
}

static inline char *world_read(const char *name)
{
    char *path = mem_format("%s%s", PICTURE_DIR, name), *text = mem_alloc(1 << 20);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s cannot be read", path);
    text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
    fclose(file);
    free(path);
    return text;
}

static inline void world_load(struct picture_world *world, const char *name)
{
    world_start(world);
    world->text = world_read(name);
    char *rest = strstr(world->text, "\n\n");
    if (!rest)
        fail_msg("%s: no blank line", name);
    *rest = '\0';
    world->expected = rest + 2;
    for (char *lines = world->text, *line; (line = strsep(&lines, "\n"));)
        world_line(world, name, line);
}

static inline struct layout *world_layout(const struct picture_world *world)
{
    struct error err = ERROR_INIT;
    struct layout *layout = layout_make(&world->request, &err);
    if (!layout)
        fail_msg("refused: %s", error_text(&err));
    return layout;
}

static inline void world_end(struct picture_world *world)
{
    for (size_t i = 0; i < world->ntopos; i++)
        topo_free(world->topos[i]);
    for (size_t i = 0; i < world->nsets; i++)
        idset_free(world->sets[i]);
    hostlist_free(world->hosts);
    free(world->nodes);
    free(world->text);
}

#endif
