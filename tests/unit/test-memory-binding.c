#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "launcher/task/memory_binding.h"
#include "tests/unit/unit.h"

/* Two bindings, those of two domains; part 0 leaves memory alone and has both, part 1 has the
 * second; so has the third task. */
struct world {
    struct spec_part parts[2];
    struct spec spec;
    struct launch_task tasks[3];
    struct idset *cpus[2];
    struct launch launch;
    struct topo *topo;
};

static void world_open(struct world *world, const char *machine, enum spec_memory second)
{
    *world = (struct world){.parts = {{.memory = SPEC_MEMORY_NONE}, {.memory = second}},
                            .tasks = {{0, 0, 0, 0}, {1, 1, 0, 1}, {2, 2, 1, 1}},
                            .cpus = {idset_decode("0-1", NULL), idset_decode("2-3", NULL)}};
    world->spec.parts = world->parts;
    world->spec.nparts = 2;
    world->launch = (struct launch){
        .spec = &world->spec, .tasks = world->tasks, .nlocal = 3, .cpus = world->cpus, .ncpus = 2};
    world->topo = topo_load_synthetic(machine, NULL);
}

static void world_close(struct world *world)
{
    idset_free(world->cpus[0]);
    idset_free(world->cpus[1]);
    topo_free(world->topo);
}

/* A NUMA node that is there, and one that is not; false where the kernel does not say. */
static bool find_nodes(uint32_t *there, uint32_t *gone)
{
    struct exec_memory allowed;
    if (exec_memory_allowed(&allowed) < 0)
        return false;
    for (uint32_t node = 0; node < EXEC_MAX_MEMORIES; node++)
        *(exec_memory_has(&allowed, node) ? there : gone) = node;
    return true;
}

static char *machine_of(uint32_t first, uint32_t second)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "numa:2(indexes=%u,%u) core:2 pu:1", first, second);
    return buf_take_text(&text);
}

static void test_memory_is_left_alone_unless_a_part_asks(void **state)
{
    struct world world;
    struct exec_memory *sets;
    (void)state;
    world_open(&world, "numa:2 core:2 pu:1", SPEC_MEMORY_NONE);
    assert_int_equal(memory_binding_open(&world.launch, world.topo, &sets, NULL), 0);
    assert_null(sets);
    assert_null(memory_binding_of(&world.launch, sets, &world.tasks[2]));
    world_close(&world);
}

static void test_local_memory_is_that_of_the_binding_s_domain(void **state)
{
    uint32_t there, gone;
    struct world world;
    struct exec_memory *sets, expect = {{0}};
    struct error err = ERROR_INIT;
    (void)state;
    if (!find_nodes(&there, &gone))
        skip();
    char *machine = machine_of(gone, there); /* what no task of the part has does not matter */
    world_open(&world, machine, SPEC_MEMORY_LOCAL);
    if (memory_binding_open(&world.launch, world.topo, &sets, &err) < 0)
        fail_msg("%s", error_text(&err));
    exec_memory_add(&expect, there);
    assert_memory_equal(memory_binding_of(&world.launch, sets, &world.tasks[2]), &expect,
                        sizeof(expect));
    assert_null(memory_binding_of(&world.launch, sets, &world.tasks[0]));
    assert_null(memory_binding_of(&world.launch, sets, &world.tasks[1]));
    free(sets);
    world_close(&world);
    free(machine);
}

static void check_refusal(const char *machine, const char *words)
{
    struct world world;
    struct exec_memory *sets;
    struct error err = ERROR_INIT;
    world_open(&world, machine, SPEC_MEMORY_LOCAL);
    assert_int_equal(memory_binding_open(&world.launch, world.topo, &sets, &err), -1);
    assert_null(sets);
    if (strncmp(error_text(&err), words, strlen(words)) != 0)
        fail_msg("%s", error_text(&err));
    error_clear(&err);
    world_close(&world);
}

static void test_memory_that_is_not_there_is_refused_in_a_sentence(void **state)
{
    uint32_t there, gone;
    (void)state;
    if (!find_nodes(&there, &gone))
        skip();
    char *machine = machine_of(there, gone);
    struct buf words = BUF_INIT;
    buf_printf(&words,
               "--mem-bind local: next to OS processors 2-3 is the memory of NUMA node %u, and "
               "this machine or cgroup allows that of ",
               gone);
    check_refusal(machine, buf_text(&words));
    buf_free(&words);
    free(machine);
    check_refusal("numa:2(indexes=0,2000) core:2 pu:1",
                  "--mem-bind local: no memory is next to OS processors 2-3; leave it out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_left_alone_unless_a_part_asks),
        cmocka_unit_test(test_local_memory_is_that_of_the_binding_s_domain),
        cmocka_unit_test(test_memory_that_is_not_there_is_refused_in_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
