/* Tasks and GPUs: who gets which, where, and what is refused. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/layout.h"
#include "base/buf.h"
#include "base/mem.h"

#define MAX_NODES 8

struct world {
    struct topo *topos[MAX_NODES];
    struct idset *sets[2 * MAX_NODES];
    struct layout_node nodes[MAX_NODES];
    uint32_t nnodes;
    struct layout_part parts[3];
    struct layout_request request;
};

/* "nvidia", "amd", "intel": the file of such a machine; else a synthetic description. */
static struct topo *load(const char *machine)
{
    struct error err = ERROR_INIT;
    char *path = mem_format("%s/topology-gpu-%s.xml", TEST_DATA_DIR, machine);
    bool synthetic = strpbrk(machine, ": ");
    struct topo *topo = synthetic ? topo_load_synthetic(machine, &err) : topo_load_xml(path, &err);
    if (!topo)
        fail_msg("%s", error_text(&err));
    free(path);
    return topo;
}

static struct idset *all_gpus(const struct topo *topo)
{
    struct idset *gpus = idset_new();
    for (size_t i = 0; i < topo->ngpus; i++)
        idset_add(gpus, topo->gpus[i].id);
    return gpus;
}

static void world_add(struct world *world, struct topo *topo, const char *cores, const char *gpus)
{
    static const char *const hosts[MAX_NODES] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};
    uint32_t i = world->nnodes++;
    world->topos[i] = topo;
    world->sets[2 * i] = cores ? idset_decode(cores, NULL) : topo_cores(topo);
    world->sets[2 * i + 1] = gpus ? idset_decode(gpus, NULL) : all_gpus(topo);
    world->nodes[i] = (struct layout_node){.host = hosts[i],
                                           .target = i,
                                           .topo = topo,
                                           .cores = world->sets[2 * i],
                                           .gpus = world->sets[2 * i + 1]};
}

/* Nodes parted by "|": "[TIMES*]MACHINE[@CORES][/GPUS]". */
static void world_make(struct world *world, const char *machines)
{
    char *text = mem_copy_text(machines), *rest = text, *machine;
    *world = (struct world){.nnodes = 0};
    while ((machine = strsep(&rest, "|"))) {
        char *star = strchr(machine, '*'), *gpus = strchr(machine, '/');
        if (gpus)
            *gpus++ = '\0';
        char *cores = strchr(machine, '@');
        if (cores)
            *cores++ = '\0';
        struct topo *topo = load(star ? star + 1 : machine);
        for (int i = 0; i < (star ? atoi(machine) : 1); i++)
            world_add(world, i ? topo_ref(topo) : topo, cores, gpus);
    }
    free(text);
    world->request = (struct layout_request){
        .nodes = world->nodes, .nnodes = world->nnodes, .parts = world->parts, .nparts = 1};
}

static void world_free(struct world *world)
{
    for (uint32_t i = 0; i < world->nnodes; i++) {
        topo_free(world->topos[i]);
        idset_free(world->sets[2 * i]);
        idset_free(world->sets[2 * i + 1]);
    }
}

/* "0:4/2-3 ...": node of the request, logical cores and GPUs of each rank; "-" for none. */
static char *describe(const struct layout *layout)
{
    struct buf out = BUF_INIT;
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        char *cores = idset_encode(layout->bindings[task->binding].cores);
        char *gpus = task->gpus == LAYOUT_NO_GPUS ? mem_copy_text("-")
                                                  : idset_encode(layout->gpu_sets[task->gpus]);
        buf_printf(&out, "%s%u:%s/%s", rank ? " " : "", layout->nodes[task->node].source, cores,
                   gpus);
        free(cores);
        free(gpus);
    }
    return buf_take_text(&out);
}

/* "0:0-3/0-1 ...": what the program claims of each node. */
static char *describe_claims(const struct layout *layout)
{
    struct buf out = BUF_INIT;
    for (uint32_t i = 0; i < layout->nnodes; i++) {
        const struct layout_used_node *node = &layout->nodes[i];
        char *cores = idset_encode(node->claim);
        char *gpus = node->gpus ? idset_encode(node->gpus) : mem_copy_text("-");
        buf_printf(&out, "%s%u:%s/%s", i ? " " : "", node->source, cores, gpus);
        free(cores);
        free(gpus);
    }
    return buf_take_text(&out);
}

struct placed {
    const char *machines;
    uint32_t node_count;
    struct layout_part parts[3]; /* those with something in them */
    const char *expect;          /* as describe() */
    const char *claims;          /* as describe_claims(), or NULL */
};

static bool part_is_given(const struct layout_part *part)
{
    static const struct layout_part none;
    return memcmp(part, &none, sizeof(none)) != 0;
}

static void world_ask(struct world *world, const struct layout_part *parts, uint32_t node_count)
{
    world->request.node_count = node_count;
    world->request.nparts = 0;
    for (uint32_t i = 0; i < 3 && part_is_given(&parts[i]); i++)
        world->parts[world->request.nparts++] = parts[i];
}

static void check_placed(const struct placed *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct error err = ERROR_INIT;
        struct world world;
        world_make(&world, cases[i].machines);
        world_ask(&world, cases[i].parts, cases[i].node_count);
        struct layout *layout = layout_make(&world.request, &err);
        if (!layout)
            fail_msg("case %zu refused: %s", i, error_text(&err));
        char *text = describe(layout), *claims = describe_claims(layout);
        if (strcmp(text, cases[i].expect) != 0)
            fail_msg("case %zu (%s):\n     %s\nnot  %s", i, cases[i].machines, text,
                     cases[i].expect);
        if (cases[i].claims && strcmp(claims, cases[i].claims) != 0)
            fail_msg("case %zu: claims %s, not %s", i, claims, cases[i].claims);
        free(text);
        free(claims);
        layout_free(layout);
        world_free(&world);
    }
}

#define CHECK_PLACED(cases) check_placed(cases, sizeof(cases) / sizeof(cases[0]))

/* ---- machines ---- */

/* NUMA domains 0-7 of 16 cores, four a socket; GPUs 2,3 at domain 1, 0,1 at 3, 6,7 at 5, 4,5 at 7. */
static void test_tasks_on_two_sockets_with_eight_nvidia_gpus_get_the_nearest(void **state)
{
    static const struct placed cases[] = {
        {"nvidia",
         0,
         {{.ntasks = 8, .gpus_per_task = 1}},
         "0:16/2 0:17/3 0:48/0 0:49/1 0:80/6 0:81/7 0:112/4 0:113/5",
         "0:16-17,48-49,80-81,112-113/0-7"},
        {"nvidia",
         0,
         {{.ntasks = 4, .gpus_per_task = 2, .cores_per_task = 16}},
         "0:16-31/2-3 0:48-63/0-1 0:80-95/6-7 0:112-127/4-5",
         NULL},
        /* a domain has two: the third comes from the other domain of the socket */
        {"nvidia",
         0,
         {{.ntasks = 2, .gpus_per_task = 3}},
         "0:16/0,2-3 0:80/4,6-7",
         "0:16,80/0,2-4,6-7"},
        {"nvidia", 0, {{.ntasks = 1, .gpus_per_task = 8}}, "0:16/0-7", NULL},
        /* 32 cores are more than a domain: slots 0-31 and 32-63 of the socket */
        {"nvidia",
         0,
         {{.ntasks = 4, .gpus_per_task = 2, .cores_per_task = 32}},
         "0:0-31/2-3 0:32-63/0-1 0:64-95/6-7 0:96-127/4-5",
         NULL},
        {"nvidia", 0, {{.per = "1:gpu", .ntasks = 3}}, "0:16-31/2 0:16-31/3 0:48-63/0", NULL},
        {"nvidia",
         0,
         {{.gpus_per_task = 1, .ntasks = 4, .map = "socket"}},
         "0:0-63/2 0:64-127/6 0:0-63/3 0:64-127/7",
         NULL},
        /* domains 0 and 2 have none: theirs are those of the socket */
        {"nvidia",
         0,
         {{.gpu_bind = "closest", .ntasks = 5, .map = "numa"}},
         "0:0-15/0-3 0:16-31/2-3 0:32-47/0-3 0:48-63/0-1 0:64-79/4-7",
         "0:0-79/0-7"},
    };
    (void)state;
    CHECK_PLACED(cases);
}

/* NUMA domains 0-3 of 16 cores and two L3; GPUs 4,5 at domain 0, 2,3 at 1, 6,7 at 2, 0,1 at 3. */
static void test_tasks_get_the_nearest_of_amd_gpus_that_are_numbered_oddly(void **state)
{
    static const struct placed cases[] = {
        {"amd",
         0,
         {{.ntasks = 8, .gpus_per_task = 1, .cores_per_task = 8}},
         "0:0-7/4 0:8-15/5 0:16-23/2 0:24-31/3 0:32-39/6 0:40-47/7 0:48-55/0 0:56-63/1",
         "0:0-63/0-7"},
        {"amd",
         0,
         {{.ntasks = 8, .gpus_per_task = 1}},
         "0:0/4 0:1/5 0:16/2 0:17/3 0:32/6 0:33/7 0:48/0 0:49/1",
         NULL},
        {"amd", 0, {{.ntasks = 4, .gpus_per_task = 2}}, "0:0/4-5 0:16/2-3 0:32/6-7 0:48/0-1", NULL},
        {"amd", 0, {{.ntasks = 2, .gpus_per_task = 4}}, "0:0/2-5 0:32/0-1,6-7", NULL},
        {"amd",
         0,
         {{.per = "1:gpu"}},
         "0:0-15/4 0:0-15/5 0:16-31/2 0:16-31/3 0:32-47/6 0:32-47/7 0:48-63/0 0:48-63/1",
         NULL},
        {"amd",
         0,
         {{.per = "2:gpu", .cores_per_task = 3, .ntasks = 10}},
         "0:0-2/4 0:3-5/5 0:16-18/2 0:19-21/3 0:32-34/6 0:35-37/7 0:48-50/0 0:51-53/1 0:8-10/4 "
         "0:11-13/5",
         NULL},
        {"amd",
         0,
         {{.gpus_per_task = 1, .ntasks = 4, .map = "numa"}},
         "0:0-15/4 0:16-31/2 0:32-47/6 0:48-63/0",
         "0:0-63/0,2,4,6"},
        {"amd",
         0,
         {{.gpus_per_task = 1, .ntasks = 3, .map = "l3cache"}},
         "0:0-7/4 0:16-23/2 0:32-39/6",
         NULL},
        {"amd", 0, {{.gpus_per_task = 1, .ntasks = 2, .bind = "hwthread"}}, "0:0/4 0:1/5", NULL},
        {"amd",
         0,
         {{.gpus_per_task = 1, .ntasks = 3, .bind = "2c"}},
         "0:0-1/4 0:2-3/5 0:16-17/2",
         NULL},
        {"amd",
         0,
         {{.gpus_per_task = 1, .ntasks = 4, .gpu_bind = "closest", .map = "core"}},
         "0:0/4-5 0:1/4-5 0:16/2-3 0:17/2-3",
         "0:0-1,16-17/2-5"},
        /* only what was given to the program is shared */
        {"amd",
         0,
         {{.gpus_per_task = 1, .ntasks = 3, .gpu_bind = "closest", .map = "core"}},
         "0:0/4-5 0:1/4-5 0:16/2",
         "0:0-1,16/2,4-5"},
        {"amd",
         0,
         {{.gpu_bind = "closest", .ntasks = 3, .map = "core"}},
         "0:0/4-5 0:1/4-5 0:2/4-5",
         "0:0-2/4-5"},
        {"amd", 0, {{.gpu_bind = "closest", .ntasks = 1, .bind = "none"}}, "0:0-63/0-7", NULL},
        {"amd", 0, {{.gpu_bind = "none", .ntasks = 1}}, "0:0/-", "0:0/-"},
        {"amd", 0, {{.gpu_bind = "none", .ntasks = 1, .gpus_per_task = 2}}, "0:0/4-5", NULL},
        {"amd", 0, {{.ntasks = 2}}, "0:0-1/- 0:0-1/-", "0:0-1/-"},
        {"amd",
         0,
         {{.gpus_per_task = 4, .ntasks = 3, .oversubscribe = true}},
         "0:0/2-5 0:32/0-1,6-7 0:0/2-5",
         NULL},
    };
    (void)state;
    CHECK_PLACED(cases);
}

/* Sockets of 52 cores, GPUs 0-2 at the first, 3-5 at the second. */
static void test_tasks_get_the_nearest_of_six_intel_gpus(void **state)
{
    static const struct placed cases[] = {
        {"intel",
         0,
         {{.ntasks = 6, .gpus_per_task = 1}},
         "0:0/0 0:1/1 0:2/2 0:52/3 0:53/4 0:54/5",
         NULL},
        {"intel", 0, {{.ntasks = 2, .gpus_per_task = 3}}, "0:0/0-2 0:52/3-5", NULL},
        /* pairs within a socket come before the one that is left over */
        {"intel", 0, {{.ntasks = 2, .gpus_per_task = 2}}, "0:0/0-1 0:52/3-4", NULL},
        {"intel", 0, {{.ntasks = 3, .gpus_per_task = 2}}, "0:0/0-1 0:52/3-4 0:1/2,5", NULL},
        {"2*intel",
         0,
         {{.ntasks = 4, .gpus_per_task = 2}},
         "0:0/0-1 0:52/3-4 0:1/2,5 1:0/0-1",
         NULL},
        {"2*intel",
         0,
         {{.ntasks = 5, .gpus_per_task = 2, .map = "node", .bind = "core"}},
         "0:0/0-1 1:0/0-1 0:52/3-4 1:52/3-4 0:1/2,5",
         NULL},
        {"intel",
         0,
         {{.ntasks = 6, .gpus_per_task = 1, .cores_per_task = 17}},
         "0:0-16/0 0:17-33/1 0:34-50/2 0:52-68/3 0:69-85/4 0:86-102/5",
         NULL},
        {"intel",
         0,
         {{.ntasks = 4, .gpus_per_task = 1, .order = "s", .map = "socket", .bind = "core"}},
         "0:0/0 0:1/1 0:52/3 0:53/4",
         NULL},
    };
    (void)state;
    CHECK_PLACED(cases);
}

/* ---- what is allocated ---- */

static void test_gpus_stay_with_the_cores_that_were_allocated(void **state)
{
    static const struct placed cases[] = {
        /* two slots of [core=8;gpu=1] that an allocator took from domains 0 and 3 */
        {"amd@8-15,48-55/1,5",
         0,
         {{.ntasks = 2, .gpus_per_task = 1, .cores_per_task = 8}},
         "0:8-15/5 0:48-55/1",
         NULL},
        {"amd@8-15,48-55/1,5", 0, {{.per = "1:gpu"}}, "0:8-15/5 0:48-55/1", NULL},
        /* a GPU whose domain has no allocated core goes to what is left */
        {"amd@0-3,16-17/4,7", 0, {{.ntasks = 2, .gpus_per_task = 1}}, "0:0/4 0:1/7", NULL},
        {"amd@0-3/0-1", 0, {{.per = "1:gpu"}}, "0:0-3/0 0:0-3/1", NULL},
        {"amd@0-3/6", 0, {{.gpu_bind = "closest", .ntasks = 1, .map = "core"}}, "0:0/6", NULL},
        /* more GPUs than cores: what the limits allow to share a core does */
        {"amd@0-1/4-6",
         0,
         {{.ntasks = 3, .gpus_per_task = 1, .mppr = "2:c"}},
         "0:0/4 0:1/5 0:0/6",
         NULL},
        {"core:2 pu:1/0-3",
         0,
         {{.ntasks = 6, .gpus_per_task = 1, .oversubscribe = true}},
         "0:0/0 0:1/1 0:0/2 0:1/3 0:0/0 0:1/1",
         NULL},
        /* tasks of one domain share it */
        {"amd@0/4-5", 0, {{.per = "1:gpu"}}, "0:0/4 0:0/5", NULL},
        {"amd@0,16/2,4-5", 0, {{.ntasks = 2, .gpus_per_task = 1}}, "0:0/4 0:16/2", NULL},
    };
    (void)state;
    CHECK_PLACED(cases);
}

static void test_gpus_that_no_topology_shows_belong_to_the_whole_node(void **state)
{
    static const struct placed cases[] = {
        {"package:2 core:4 pu:1/0-3",
         0,
         {{.ntasks = 4, .gpus_per_task = 1}},
         "0:0/0 0:1/1 0:2/2 0:3/3",
         "0:0-3/0-3"},
        {"package:2 core:4 pu:1/5,7,900",
         0,
         {{.ntasks = 1, .gpus_per_task = 3}},
         "0:0/5,7,900",
         NULL},
        {"package:2 core:2 pu:1/0-1", 0, {{.per = "1:gpu"}}, "0:0-3/0 0:0-3/1", NULL},
        {"2*package:2 core:2 pu:1/0-1",
         0,
         {{.ntasks = 3, .gpus_per_task = 1, .map = "socket"}},
         "0:0-1/0 0:0-1/1 1:0-1/0",
         NULL},
        {"package:2 core:2 pu:1/0-1",
         0,
         {{.gpu_bind = "closest", .ntasks = 2, .map = "core"}},
         "0:0/0-1 0:1/0-1",
         NULL},
    };
    (void)state;
    CHECK_PLACED(cases);
}

static void test_nodes_may_differ(void **state)
{
    static const struct placed cases[] = {
        {"core:4 pu:1|intel|core:4 pu:1/0-1",
         0,
         {{.ntasks = 8, .gpus_per_task = 1}},
         "1:0/0 1:1/1 1:2/2 1:52/3 1:53/4 1:54/5 2:0/0 2:1/1",
         NULL},
        {"core:4 pu:1|2*core:4 pu:1/0-1",
         2,
         {{.ntasks = 4, .gpus_per_task = 1}},
         "1:0/0 1:1/1 2:0/0 2:1/1",
         NULL},
        {"core:4 pu:1|core:4 pu:1/0-3|core:4 pu:1/0-1|core:4 pu:1/0",
         2,
         {{.per = "1:gpu", .cores_per_task = 1}},
         "1:0/0 1:1/1 1:2/2 1:3/3 2:0/0 2:1/1",
         NULL},
        {"core:4 pu:1|core:4 pu:1/0",
         0,
         {{.gpu_bind = "closest", .ntasks = 5, .map = "core"}},
         "0:0/- 0:1/- 0:2/- 0:3/- 1:0/0",
         "0:0-3/- 1:0/0"},
    };
    (void)state;
    CHECK_PLACED(cases);
}

/* ---- parts ---- */

static void test_parts_never_share_what_they_were_given(void **state)
{
    static const struct placed cases[] = {
        /* the second goes on with the first's GPUs, as one program */
        {"core:8 pu:1/0-3",
         0,
         {{.ntasks = 1, .gpus_per_task = 1}, {.ntasks = 2}},
         "0:0/0 0:1/1 0:2/2",
         NULL},
        {"core:8 pu:1/0-3",
         0,
         {{.ntasks = 1, .gpus_per_task = 1}, {.ntasks = 1, .gpus_per_task = 2}},
         "0:0/0 0:1/1-2",
         "0:0-1/0-2"},
        /* cores of a part without GPUs are occupied for one that has some */
        {"amd",
         0,
         {{.ntasks = 3, .map = "core"}, {.ntasks = 2, .gpus_per_task = 1}},
         "0:0/- 0:1/- 0:2/- 0:3/4 0:4/5",
         NULL},
        {"amd",
         0,
         {{.ntasks = 1, .cores_per_task = 16, .bind = "numa"}, {.ntasks = 2, .gpus_per_task = 1}},
         "0:0-15/- 0:1/4 0:2/5",
         NULL},
        {"amd",
         0,
         {{.ntasks = 2, .gpus_per_task = 1}, {.ntasks = 1, .gpu_bind = "closest", .map = "core"}},
         "0:0/4 0:1/5 0:2/0-3,6-7",
         "0:0-2/0-7"},
        {"2*core:2 pu:1/0-1",
         0,
         {{.ntasks = 3, .gpus_per_task = 1}, {.ntasks = 1, .gpus_per_task = 1, .map = "core"}},
         "0:0/0 0:1/1 1:0/0 1:1/1",
         NULL},
        {"core:4 pu:1/0-1",
         0,
         {{.per = "1:gpu"}, {.ntasks = 2, .map = "core"}},
         "0:0-3/0 0:0-3/1 0:2/- 0:3/-",
         NULL},
    };
    (void)state;
    CHECK_PLACED(cases);
}

/* ---- --per of other levels ---- */

static void test_per_maps_by_its_level_with_so_many(void **state)
{
    static const struct placed cases[] = {
        {"numa:2 core:2 pu:1", 0, {{.per = "2:numa"}}, "0:0-1/- 0:2-3/- 0:0-1/- 0:2-3/-", NULL},
        {"2*numa:2 core:2 pu:1", 0, {{.per = "1:numa"}}, "0:0-1/- 0:2-3/- 1:0-1/- 1:2-3/-", NULL},
        {"2*numa:2 core:2 pu:1", 0, {{.per = "1:N", .ntasks = 3}}, "0:0-1/- 0:2-3/- 1:0-1/-", NULL},
        {"2*core:4 pu:1", 0, {{.per = "2:node"}}, "0:0-1/- 1:0-1/- 0:0-1/- 1:0-1/-", NULL},
        {"3*core:4 pu:1", 2, {{.per = "2:node"}}, "0:0-1/- 1:0-1/- 0:0-1/- 1:0-1/-", NULL},
        {"3*numa:2 core:2 pu:1",
         2,
         {{.per = "2:numa", .bind = "core"}},
         "0:0/- 0:2/- 0:1/- 0:3/- 1:0/- 1:2/- 1:1/- 1:3/-",
         NULL},
        /* a slot holds one task, whatever the level would take */
        {"numa:2 core:4 pu:1",
         0,
         {{.per = "3:numa", .cores_per_task = 2}},
         "0:0-1/- 0:4-5/- 0:2-3/- 0:6-7/-",
         NULL},
        {"core:2 pu:2", 0, {{.per = "1:hwthread"}}, "0:0/- 0:0/- 0:1/- 0:1/-", NULL},
        {"amd",
         0,
         {{.per = "1:numa", .gpus_per_task = 2}},
         "0:0-15/4-5 0:16-31/2-3 0:32-47/6-7 0:48-63/0-1",
         NULL},
        {"numa:2 core:2 pu:1",
         0,
         {{.per = "1:numa", .ntasks = 3, .oversubscribe = true}},
         "0:0-1/- 0:2-3/- 0:0-1/-",
         NULL},
    };
    (void)state;
    CHECK_PLACED(cases);
}

/* ---- refusals ---- */

static const struct {
    const char *machines;
    uint32_t node_count;
    struct layout_part parts[3];
    enum error_kind kind;
    const char *says;
} refused[] = {
    {"amd",
     0,
     {{.ntasks = 9, .gpus_per_task = 1}},
     ERROR_REFUSED,
     "asked for 9 tasks, 8 fit with 1 GPU for each task under the limit of 1 task for each core: 8 "
     "on n0 (8 GPUs; 64 cores); -n 8 would run, --oversubscribe runs them all, sharing cores or "
     "GPUs"},
    {"2*core:4 pu:1/0-2|core:4 pu:1/0",
     0,
     {{.ntasks = 4, .gpus_per_task = 2}},
     ERROR_REFUSED,
     "asked for 4 tasks, 2 fit with 2 GPUs for each task under the limit of 1 task for each core: "
     "1 on each of n[0-1] (3 GPUs; 4 cores), none on n2 (1 GPU; 4 cores); -n 2 would "
     "run, --oversubscribe runs them all, sharing cores or GPUs"},
    {"amd",
     0,
     {{.ntasks = 9, .per = "1:gpu"}},
     ERROR_REFUSED,
     "asked for 9 tasks, 8 fit with 1 task for each GPU: 8 on n0 (8 GPUs); -n 8 would run, "
     "--oversubscribe "
     "runs them all, sharing cores or GPUs"},
    {"core:4 pu:1/0-1|core:4 pu:1/0-2",
     0,
     {{.gpus_per_task = 4}},
     ERROR_REFUSED,
     "-g 4: no node has so many GPUs; the largest, n1, has 3; -g 3 would run"},
    {"core:4 pu:1",
     0,
     {{.gpus_per_task = 1}},
     ERROR_REFUSED,
     "-g 1: n0 has no GPU; without -g 1 tasks run on its cores alone"},
    {"3*core:4 pu:1",
     0,
     {{.per = "2:gpu"}},
     ERROR_REFUSED,
     "--per 2:gpu: none of the 3 nodes has a GPU; without --per 2:gpu tasks run on cores alone"},
    {"core:4 pu:1/0-1",
     0,
     {{.ntasks = 2, .gpus_per_task = 1}, {.ntasks = 1, .gpus_per_task = 1}},
     ERROR_REFUSED,
     "-g 1: n0 has no GPU left by the parts before; without -g 1 tasks run on its cores alone"},
    {"core:2 pu:1/0-1",
     0,
     {{.ntasks = 2, .map = "core"}, {.ntasks = 1, .gpus_per_task = 1}},
     ERROR_REFUSED,
     "part 2 of the command line: asked for 1 task, none fits with 1 GPU for each task under the "
     "limit of 1 task for each core beside the parts before: none on n0 (2 GPUs; 2 cores); "
     "--oversubscribe runs "
     "it anyway, sharing cores or GPUs"},
    {"core:4 pu:1/0-1|core:4 pu:1",
     2,
     {{.gpus_per_task = 1}},
     ERROR_REFUSED,
     "-N 2: 2 tasks make 1 on a node, and only 1 of 2 nodes has room for so many with 1 GPU for "
     "each task under the limit of 1 task for each core: 1 on n0 (2 GPUs; 4 cores), none on n1 (0 "
     "GPUs; 4 cores); without -N they would fit, --oversubscribe runs them all, sharing "
     "cores or GPUs"},
    {"core:4 pu:1/0-1|core:4 pu:1",
     2,
     {{.per = "1:gpu"}},
     ERROR_REFUSED,
     "-N 2: 2 tasks make 1 on a node, and only 1 of 2 nodes has room for so many with 1 task for "
     "each GPU: 1 on n0 (2 GPUs), none on n1 (0 GPUs); --oversubscribe runs them all, sharing "
     "cores "
     "or GPUs"},
    {"amd/8",
     0,
     {{.gpus_per_task = 1}},
     ERROR_REFUSED,
     "n0: GPUs 8 were allocated, but this machine has only GPUs 0-7"},
    {"core:4 pu:1/0-1024",
     0,
     {{.gpus_per_task = 1}},
     ERROR_REFUSED,
     "n0: 1025 GPUs were allocated; 1024 are the most that a node may have"},
    {"core:4 pu:1",
     0,
     {{.per = "1:l3cache"}},
     ERROR_REFUSED,
     "--per l3cache: no allocated node has that level; node, numa, core, hwthread would do"},
    {"core:4 pu:1/0",
     0,
     {{.per = "1:core"}, {.ntasks = 1}},
     ERROR_USAGE,
     "part 1: --per without -n takes all that fits, so nothing is left for part 2, which goes on "
     "behind it; give it a -n"},
    {"core:4 pu:1/0",
     0,
     {{.fill = true}, {.ntasks = 1}},
     ERROR_USAGE,
     "part 1: -n all takes all that fits, so nothing is left for part 2, which goes on behind it; "
     "give it a -n"},
    {"core:4 pu:1/0", 0, {{.gpus_per_task = 1025}}, ERROR_USAGE, "no node has more than 1024 GPUs"},
    {"core:4 pu:1/0", 0, {{.gpu_bind = "per-task"}}, ERROR_USAGE, "add -g N or --per 1:gpu"},
};

static void test_counts_are_refused_with_what_there_is_and_what_would_run(void **state)
{
    size_t bad = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct error err = ERROR_INIT;
        struct world world;
        world_make(&world, refused[i].machines);
        world_ask(&world, refused[i].parts, refused[i].node_count);
        struct layout *layout = layout_make(&world.request, &err);
        if (layout)
            fail_msg("case %zu was placed: %s", i, describe(layout));
        if (!strstr(error_text(&err), refused[i].says))
            print_error("case %zu:\n     %s\nnot  %s\n", i, error_text(&err), refused[i].says),
                bad++;
        assert_int_equal(err.kind, refused[i].kind);
        error_clear(&err);
        world_free(&world);
    }
    assert_int_equal(bad, 0);
}

/* Nobody asked for GPUs: what R says of them does not matter, not even when it is wrong. */
static void test_gpus_do_not_matter_until_they_are_asked_for(void **state)
{
    static const struct placed cases[] = {
        {"amd/8", 0, {{.ntasks = 1}}, "0:0/-", "0:0/-"},
        {"core:4 pu:1/0-1024", 0, {{.ntasks = 1, .gpu_bind = "none"}}, "0:0/-", "0:0/-"},
    };
    (void)state;
    CHECK_PLACED(cases);
}

/* ---- any request ---- */

static uint32_t next_random(uint32_t below)
{
    static uint64_t seed = 1;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static const char *choose(const char *const *from, size_t n)
{
    return from[next_random((uint32_t)n)];
}

static struct layout_part random_part(void)
{
    static const char *const maps[] = {NULL,        NULL,       "numa", "node",
                                       "core:span", "hwthread", "scnh", "l3cache"};
    static const char *const binds[] = {NULL, NULL, NULL, "core", "numa", "2c", "none", "hwthread"};
    static const char *const pers[] = {NULL, NULL, NULL, "1:gpu", "3:gpu", "2:numa"};
    static const char *const shares[] = {NULL, NULL, "closest", "none"};
    struct layout_part part = {.ntasks = next_random(12)};
    part.per = choose(pers, 6);
    part.map = part.per ? NULL : choose(maps, 8);
    part.bind = choose(binds, 8);
    part.gpu_bind = choose(shares, 4);
    part.gpus_per_task = part.per ? 0 : next_random(4);
    part.cores_per_task = next_random(3) ? 0 : 1 + next_random(9);
    part.order = next_random(3) ? NULL : "s";
    part.oversubscribe = !next_random(4);
    return part;
}

/* The part whose options count for this one: a part without any goes on as the one before. */
static const struct layout_part *leader(const struct world *world, uint32_t app)
{
    while (app > 0) {
        struct layout_part part = world->parts[app];
        part.ntasks = 0;
        part.oversubscribe = false;
        if (part_is_given(&part))
            break;
        app--;
    }
    return &world->parts[app];
}

/* How often each GPU of each node was given to a task. */
static void check_shares(const struct world *world, const struct layout *layout)
{
    uint32_t uses[MAX_NODES][16] = {{0}};
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        const struct layout_part *part = leader(world, task->app);
        uint32_t source = layout->nodes[task->node].source;
        bool shared = part->gpu_bind && strcmp(part->gpu_bind, "closest") == 0;
        if (task->gpus == LAYOUT_NO_GPUS) {
            assert_true(!part->gpus_per_task || shared);
            continue;
        }
        const struct idset *gpus = layout->gpu_sets[task->gpus];
        assert_true(idset_within(gpus, world->nodes[source].gpus));
        assert_true(idset_within(gpus, layout->nodes[task->node].gpus));
        uint32_t most = part->per ? (uint32_t)atoi(part->per) : 1;
        if (shared || layout->oversubscribed)
            continue;
        if (part->gpus_per_task)
            assert_int_equal(idset_count(gpus), part->gpus_per_task);
        IDSET_FOREACH(id, gpus)
        assert_true(++uses[source][id] <= most);
    }
}

static void test_no_gpu_has_more_tasks_than_were_asked_for(void **state)
{
    uint32_t placed = 0, with_gpus = 0;
    struct world world;
    (void)state;
    world_make(&world, "amd|core:6 pu:2/0-3|2*intel|amd@0-9,40-63/0,3-6|nvidia@16-20/0-3");
    for (int round = 0; round < 4000; round++) {
        struct error err = ERROR_INIT;
        world.request.nparts = 1 + next_random(3);
        world.request.node_count = next_random(4) ? 0 : 1 + next_random(4);
        for (uint32_t i = 0; i < world.request.nparts; i++)
            world.parts[i] = random_part();
        struct layout *layout = layout_make(&world.request, &err);
        if (!layout) {
            assert_non_null(err.text);
            error_clear(&err);
            continue;
        }
        check_shares(&world, layout);
        struct layout *again = layout_make(&world.request, &err);
        char *a = describe(layout), *b = describe(again);
        assert_string_equal(a, b);
        placed++;
        with_gpus += layout->gpus_assigned;
        free(a);
        free(b);
        layout_free(layout);
        layout_free(again);
    }
    assert_true(placed > 1000 && with_gpus > 500);
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tasks_on_two_sockets_with_eight_nvidia_gpus_get_the_nearest),
        cmocka_unit_test(test_tasks_get_the_nearest_of_amd_gpus_that_are_numbered_oddly),
        cmocka_unit_test(test_tasks_get_the_nearest_of_six_intel_gpus),
        cmocka_unit_test(test_gpus_stay_with_the_cores_that_were_allocated),
        cmocka_unit_test(test_gpus_that_no_topology_shows_belong_to_the_whole_node),
        cmocka_unit_test(test_nodes_may_differ),
        cmocka_unit_test(test_parts_never_share_what_they_were_given),
        cmocka_unit_test(test_per_maps_by_its_level_with_so_many),
        cmocka_unit_test(test_counts_are_refused_with_what_there_is_and_what_would_run),
        cmocka_unit_test(test_gpus_do_not_matter_until_they_are_asked_for),
        cmocka_unit_test(test_no_gpu_has_more_tasks_than_were_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
