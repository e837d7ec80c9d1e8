/* Layouts from slots, each task bound to its own. */
#include "affinity/picture/picture.h"
#include "tests/unit/world.h"

#define BIG "package:2 core:4 pu:2"
#define MAX_SLOTS 8
#define COUNT(cases) (sizeof(cases) / sizeof((cases)[0]))

/* Slots as text, "NODE:CORES[+GPUS] ...", and GPUs of each node as "GPUS|GPUS". */
struct slots {
    struct layout_slot list[MAX_SLOTS];
    uint32_t count;
};

static struct idset *read_set(const char *text)
{
    struct error err = ERROR_INIT;
    struct idset *set = idset_decode(text, &err);
    if (!set)
        fail_msg("%s: %s", text, error_text(&err));
    return set;
}

static struct slots read_slots(const char *text)
{
    struct slots slots = {.count = 0};
    char *copy = mem_copy_text(text), *rest = copy, *word;
    while ((word = strsep(&rest, " "))) {
        char *cores = strchr(word, ':') + 1, *gpus = strchr(cores, '+');
        if (gpus)
            *gpus++ = '\0';
        slots.list[slots.count++] =
            (struct layout_slot){(uint32_t)atoi(word), read_set(cores), read_set(gpus ? gpus : "")};
    }
    free(copy);
    return slots;
}

static void free_slots(struct slots *slots)
{
    for (uint32_t i = 0; i < slots->count; i++) {
        idset_free((struct idset *)(uintptr_t)slots->list[i].cores);
        idset_free((struct idset *)(uintptr_t)slots->list[i].gpus);
    }
}

static struct layout *make_slots(struct world *world, const struct slots *slots,
                                 struct layout_part part, struct error *err)
{
    world->parts[0] = part;
    world->parts[0].shape = "slot/core";
    world->parts[0].slots = slots->list;
    world->parts[0].nslots = slots->count;
    world->request.claim_all = true;
    return layout_make(&world->request, err);
}

static char *describe_gpus(const struct layout *layout)
{
    struct buf out = BUF_INIT;
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        uint32_t set = layout->tasks[rank].gpus;
        char *gpus =
            set == LAYOUT_NO_GPUS ? mem_copy_text("none") : idset_encode(layout->gpu_sets[set]);
        buf_printf(&out, "%s%s", rank ? " " : "", gpus);
        free(gpus);
    }
    return buf_take_text(&out);
}

static void test_each_task_is_bound_to_the_threads_of_its_slot(void **state)
{
    static const struct {
        const char *machines, *slots;
        uint32_t ntasks;
        const char *expect, *claims;
    } cases[] = {
        {BIG, "0:0 0:1", 0, "0:0-1 0:2-3", "0:0-7"},
        {BIG, "0:4-7 0:0-3", 0, "0:8-15 0:0-7", "0:0-7"},
        {BIG, "0:0,2,5-6 0:1", 0, "0:0-1,4-5,10-13 0:2-3", "0:0-7"},
        /* rank 0 need not be on the first node */
        {"3*" BIG, "2:7 0:0 0:1", 0, "2:14-15 0:0-1 0:2-3", "0:0-7 2:0-7"},
        /* only what was allocated is claimed, but all of that */
        {BIG "@1-2,5", "0:1 0:5", 0, "0:2-3 0:10-11", "0:1-2,5"},
        {BIG "@1-2,5", "0:1 0:5", 1, "0:2-3", "0:1-2,5"},
        {BIG "@1-2,5|" BIG "@0", "0:1-2 1:0", 0, "0:2-5 1:0-1", "0:1-2,5 1:0"},
        {"core:4 pu:1", "0:3 0:0-2", 2, "0:3 0:0-2", "0:0-3"},
        {BIG "#2", "0:3 0:0-2", 0, "0:6-7 0:0-5", "0:0-7"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct world world;
        struct error err = ERROR_INIT;
        struct slots slots = read_slots(cases[i].slots);
        world_make(&world, cases[i].machines);
        struct layout *layout =
            make_slots(&world, &slots, (struct layout_part){.ntasks = cases[i].ntasks}, &err);
        if (!layout)
            fail_msg("case %zu: %s", i, error_text(&err));
        char *text = describe(layout), *claims = describe_claims(layout);
        assert_string_equal(text, cases[i].expect);
        assert_string_equal(claims, cases[i].claims);
        assert_true(layout->bound);
        assert_false(layout->gpus_assigned);
        for (uint32_t rank = 0; rank < layout->ntasks; rank++)
            assert_int_equal(taskmap_node(layout->map, rank), layout->tasks[rank].node);
        free(text);
        free(claims);
        layout_free(layout);
        free_slots(&slots);
        world_free(&world);
    }
}

static void test_a_task_sees_the_gpus_of_its_slot_and_no_others(void **state)
{
    struct world world;
    struct error err = ERROR_INIT;
    struct slots slots = read_slots("0:0-1+1 0:4-5+0 0:2");
    struct idset *gpus = read_set("0-3");
    (void)state;
    world_make(&world, BIG);
    world.nodes[0].gpus = gpus;
    struct layout *layout = make_slots(&world, &slots, (struct layout_part){.ntasks = 0}, &err);
    if (!layout)
        fail_msg("%s", error_text(&err));
    char *text = describe_gpus(layout);
    assert_string_equal(text, "1 0 none");
    assert_true(layout->gpus_assigned);
    assert_true(idset_equal(layout->nodes[0].gpus, gpus)); /* all of it is claimed */
    free(text);
    layout_free(layout);
    idset_free(gpus);
    free_slots(&slots);
    world_free(&world);
}

static void test_a_slot_may_have_any_number_of_gpus(void **state)
{
    struct world world;
    struct error err = ERROR_INIT;
    struct slots slots = read_slots("0:0+0-4999");
    struct idset *gpus = read_set("0-4999");
    (void)state;
    world_make(&world, BIG);
    world.nodes[0].gpus = gpus;
    struct layout *layout = make_slots(&world, &slots, (struct layout_part){.ntasks = 0}, &err);
    if (!layout)
        fail_msg("%s", error_text(&err));
    char *text = describe_gpus(layout);
    assert_string_equal(text, "0-4999");
    free(text);
    layout_free(layout);
    idset_free(gpus);
    free_slots(&slots);
    world_free(&world);
}

static void test_parts_have_slots_of_their_own(void **state)
{
    struct world world;
    struct error err = ERROR_INIT;
    struct slots first = read_slots("1:0-3 0:0-3"), second = read_slots("0:4 1:4-7+0");
    struct idset *gpus = read_set("0");
    (void)state;
    world_make(&world, "2*" BIG);
    world.nodes[1].gpus = gpus;
    world.request.nparts = 2;
    world.parts[1] =
        (struct layout_part){.shape = "slot/core", .slots = second.list, .nslots = second.count};
    struct layout *layout = make_slots(&world, &first, (struct layout_part){.ntasks = 0}, &err);
    if (!layout)
        fail_msg("%s", error_text(&err));
    char *text = describe(layout), *sets = describe_gpus(layout);
    assert_string_equal(text, "1:0-7 0:0-7 0:8-9 1:8-15");
    assert_string_equal(sets, "none none none 0");
    assert_int_equal(layout->tasks[2].app, 1);
    free(text);
    free(sets);
    layout_free(layout);
    idset_free(gpus);
    free_slots(&first);
    free_slots(&second);
    world_free(&world);
}

static void test_a_mapped_part_is_placed_over_what_was_allocated(void **state)
{
    static const struct {
        struct layout_part part;
        const char *expect;
    } cases[] = {
        {{.map = "socket"}, "0:2-3 0:8-13"},
        {{.map = "core"}, "0:2-3 0:8-9"},
        {{.bind = "none"}, "0:2-3,8-13 0:2-3,8-13"},
        {{.map = "hwthread", .order = "sequential"}, "0:2 0:3"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct world world;
        struct error err = ERROR_INIT;
        world_make(&world, BIG "@1,4-6");
        world.parts[0] = cases[i].part;
        world.parts[0].shape = "slot=2/core=2";
        world.parts[0].nslots = 2;
        world.request.claim_all = true;
        struct layout *layout = layout_make(&world.request, &err);
        if (!layout)
            fail_msg("case %zu: %s", i, error_text(&err));
        char *text = describe(layout), *claims = describe_claims(layout);
        assert_string_equal(text, cases[i].expect);
        assert_string_equal(claims, "0:1,4-6");
        free(text);
        free(claims);
        layout_free(layout);
        world_free(&world);
    }
}

static void test_what_does_not_go_with_slots_is_said(void **state)
{
    static const struct {
        const char *machines, *slots;
        struct layout_part part;
        const char *expect;
    } cases[] = {
        {BIG,
         "0:0 0:1",
         {.ntasks = 3},
         "-n 3: --shape gives 2 slots, and each takes one task; ask for fewer tasks, or for more "
         "slots"},
        {BIG,
         "0:0 0:",
         {0},
         "slot 1: it has no core to run a task on: ask for one as well, as in slot/core or "
         "slot/[core=1;gpu=1]"},
        {BIG "@0-3",
         "0:0-4",
         {0},
         "slot 0: its cores 0-4 are not all among those of node0 that were allocated (0-3)"},
        {BIG "#1",
         "0:0 0:1",
         {0},
         "slot 1: node0 has 1 slot in the host file, and no more tasks may run there; "
         "--oversubscribe permits more"},
        {BIG, "0:0", {.cores_per_task = 2}, "--shape says what each task gets: leave out -c"},
        {BIG, "0:0", {.gpus_per_task = 2}, "--shape says what each task gets: leave out -g"},
        {BIG, "0:0", {.per = "1:core"}, "--shape says what each task gets: leave out --per"},
        {BIG,
         "0:0",
         {.taskmap = "cyclic"},
         "--shape says what each task gets: leave out --taskmap"},
        {BIG,
         "0:0",
         {.order = "sequential"},
         "--shape binds each task to a slot of its own: leave out --order (or --rank-by), or have "
         "tasks placed over what is allocated, by --map-by or --bind-to"},
        {BIG,
         "0:0",
         {.mppr = "1:c"},
         "--shape binds each task to a slot of its own: leave out --mppr, or have "
         "tasks placed over what is allocated, by --map-by or --bind-to"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct world world;
        struct error err = ERROR_INIT;
        struct slots slots = read_slots(cases[i].slots);
        world_make(&world, cases[i].machines);
        if (make_slots(&world, &slots, cases[i].part, &err))
            fail_msg("case %zu was placed", i);
        assert_string_equal(error_text(&err), cases[i].expect);
        error_clear(&err);
        free_slots(&slots);
        world_free(&world);
    }
}

static void test_a_picture_names_the_shape(void **state)
{
    static const struct {
        const char *map, *line;
    } cases[] = {
        {NULL, "Map: 2 tasks on 1 node, each bound to its slot of slot/core\n"},
        {"core", "Map: 2 tasks on 1 node, by core, each bound to a core, over what slot/core "
                 "gives\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct world world;
        struct error err = ERROR_INIT;
        struct slots slots = read_slots("0:0 0:1");
        world_make(&world, BIG);
        struct layout *layout =
            make_slots(&world, &slots, (struct layout_part){.map = cases[i].map}, &err);
        if (cases[i].map) {
            layout_free(layout);
            world.parts[0].slots = NULL;
            layout = layout_make(&world.request, &err);
        }
        char *text = picture_text(layout, &world.request, LAYOUT_SHOW_MAP);
        if (strncmp(text, cases[i].line, strlen(cases[i].line)) != 0)
            fail_msg("%s", text);
        free(text);
        layout_free(layout);
        free_slots(&slots);
        world_free(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_task_is_bound_to_the_threads_of_its_slot),
        cmocka_unit_test(test_a_task_sees_the_gpus_of_its_slot_and_no_others),
        cmocka_unit_test(test_a_slot_may_have_any_number_of_gpus),
        cmocka_unit_test(test_parts_have_slots_of_their_own),
        cmocka_unit_test(test_a_mapped_part_is_placed_over_what_was_allocated),
        cmocka_unit_test(test_what_does_not_go_with_slots_is_said),
        cmocka_unit_test(test_a_picture_names_the_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
