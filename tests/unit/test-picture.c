/* The text picture: whole pictures beside what was asked for, and what holds for all of them. */
#include <dirent.h>

#include "affinity/picture/node_groups.h"
#include "affinity/picture/picture.h"
#include "affinity/sets/short_text.h"
#include "tests/unit/picture-world.h"

static char *draw(const struct picture_world *world, unsigned show)
{
    struct layout *layout = world_layout(world);
    char *text = picture_text(layout, &world->request, show);
    layout_free(layout);
    return text;
}

static void check_width(const char *name, const char *text)
{
    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        if (end - line > 100)
            fail_msg("%s: longer than 100 columns: %.*s", name, (int)(end - line), line);
        if (end > line && end[-1] == ' ')
            fail_msg("%s: ends with a blank: %.*s", name, (int)(end - line), line);
    }
}

static void check_picture(const char *name)
{
    struct picture_world world;
    world_load(&world, name);
    char *text = draw(&world, world.show);
    if (strcmp(text, world.expected) != 0)
        fail_msg("%s: expected\n%s\ngot\n%s", name, world.expected, text);
    check_width(name, text);
    free(text);
    world_end(&world);
}

static void test_every_case_gives_its_picture(void **state)
{
    DIR *dir = opendir(PICTURE_DIR);
    size_t n = 0;
    (void)state;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strstr(entry->d_name, ".txt")) {
            check_picture(entry->d_name);
            n++;
        }
    closedir(dir);
    assert_true(n >= 22);
}

static void test_a_picture_is_the_same_every_time(void **state)
{
    struct picture_world world;
    (void)state;
    world_load(&world, "unlike-nodes.txt");
    char *one = draw(&world, 15), *two = draw(&world, 15);
    assert_string_equal(one, two);
    free(one);
    free(two);
    world_end(&world);
}

static void test_nodes_whose_tasks_have_other_gpus_are_not_folded(void **state)
{
    struct picture_world world;
    (void)state;
    world_start(&world);
    world_add(&world, "n[0-2]", world_topo("core:2 pu:1"), NULL);
    world_granted(&world, (char[]){"0-1"});
    struct idset *core = world_set(&world, idset_decode("0", NULL));
    struct idset *one = world_set(&world, idset_decode("0", NULL));
    struct idset *other = world_set(&world, idset_decode("1", NULL));
    struct layout_slot slots[] = {{0, core, one}, {1, core, other}, {2, core, other}};
    world.parts[0] = (struct layout_part){.ntasks = 3, .slots = slots, .nslots = 3, .shape = "s"};
    world.request.nparts = 1;
    char *text = draw(&world, LAYOUT_SHOW_BIND);
    assert_string_equal(text, "Bindings: where each rank may run\n"
                              "  n0:\n"
                              "    rank  cpus (OS)  cores (logical)  gpus\n"
                              "    0     0          0                0\n"
                              "  n1:\n"
                              "    rank  cpus (OS)  cores (logical)  gpus\n"
                              "    1     0          0                1\n"
                              "  n2: as n1, ranks 1 higher\n");
    free(text);
    world_end(&world);
}

/* Nodes with ever other cores: no two alike. */
static void make_unlike(struct picture_world *world, uint32_t n)
{
    world_start(world);
    struct topo *topo = world_topo("package:2 numa:2 core:4 pu:1");
    char *hosts = mem_format("n[0-%u]", n - 1);
    world_add(world, hosts, topo, NULL);
    free(hosts);
    for (uint32_t i = 0; i < n; i++) {
        struct idset *cores = idset_new();
        for (uint32_t bit = 0; bit < 16; bit++)
            if ((i + 1) >> bit & 1)
                idset_add(cores, bit);
        world->nodes[i].cores = cores;
    }
    world->parts[0] = (struct layout_part){.ntasks = 2 * n, .map = "core"};
    world->request.nparts = 1;
}

static void free_unlike(struct picture_world *world)
{
    for (uint32_t i = 0; i < world->request.nnodes; i++)
        idset_free((struct idset *)(uintptr_t)world->nodes[i].cores);
    world_end(world);
}

static void test_thousands_of_unlike_nodes_are_counted_where_they_are_not_shown(void **state)
{
    struct picture_world world;
    (void)state;
    make_unlike(&world, 5000);
    char *text =
        draw(&world, LAYOUT_SHOW_ALLOC | LAYOUT_SHOW_TOPO | LAYOUT_SHOW_MAP | LAYOUT_SHOW_BIND);
    check_width("unlike", text);
    assert_non_null(strstr(text, "  and 4936 more nodes, of 4936 other kinds\n"));
    assert_non_null(strstr(text, "other kinds; --format=json has all\n"));
    assert_true(strlen(text) < 100000);
    free(text);
    free_unlike(&world);
}

static void test_a_machine_with_too_many_cores_is_described_not_drawn(void **state)
{
    struct picture_world world;
    (void)state;
    world_start(&world);
    world_add(&world, "smp", world_topo("package:32 core:129 pu:1"), NULL);
    world.parts[0] = (struct layout_part){.ntasks = 4128, .map = "core"};
    world.request.nparts = 1;
    char *text = draw(&world, LAYOUT_SHOW_TOPO | LAYOUT_SHOW_MAP | LAYOUT_SHOW_BIND);
    assert_non_null(strstr(text, "32 sockets, 4128 cores"));
    assert_non_null(strstr(text, "more than 4096 cores are not drawn"));
    assert_non_null(strstr(text, "ranks 0-4127"));
    assert_true(strlen(text) < 20000);
    free(text);
    world_end(&world);
}

struct set_case {
    const char *ids;
    size_t max;
    const char *expect;
};

static void test_too_many_tasks_of_a_node_are_counted_not_drawn(void **state)
{
    struct picture_world world;
    (void)state;
    world_start(&world);
    world_add(&world, "n0", world_topo("core:4 pu:1"), NULL);
    world.parts[0] =
        (struct layout_part){.ntasks = PICTURE_MAX_TASKS + 1, .map = "core", .oversubscribe = true};
    world.request.nparts = 1;
    char *text = draw(&world, LAYOUT_SHOW_MAP | LAYOUT_SHOW_BIND);
    check_width("tasks", text);
    assert_non_null(strstr(text, "n0: 65537 tasks, ranks 0-65536\n"
                                 "    more than 65536 tasks are not drawn\n"));
    assert_non_null(strstr(text, "  n0:\n    more than 65536 tasks are not listed; --format=json "
                                 "has all\n"));
    free(text);
    world.parts[0].ntasks = PICTURE_MAX_TASKS;
    text = draw(&world, LAYOUT_SHOW_MAP | LAYOUT_SHOW_BIND);
    assert_null(strstr(text, "more than"));
    assert_non_null(strstr(text, "0,4..65532"));
    free(text);
    world_end(&world);
}

static void test_long_sets_are_told_by_their_step_or_their_number(void **state)
{
    static const struct set_case cases[] = {
        {"", 4, ""},
        {"0-3,8", 5, "0-3,8"},
        {"0-3,8", 4, "0..8 (5)"},
        {"0,2,4,6,8", 5, "0,2..8"},
        {"100-200", 3, "100-200"},
        {"1,2,4,5,7,8", 5, "1..8 (6)"},
        {"1000,2000", 3, "1000,2000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct idset *set = idset_decode(cases[i].ids, NULL);
        char *text = idset_encode_short(set, cases[i].max);
        assert_string_equal(text, cases[i].expect);
        free(text);
        idset_free(set);
    }
}

static void test_long_lists_of_hosts_are_cut_at_a_comma(void **state)
{
    static const struct set_case cases[] = {
        {"a[0-3],b", 8, "a[0-3],b"},
        {"a[0-3],b,c", 8, "a[0-3],... (6 nodes)"},
        {"a[0-3,5,7,9]", 11, "a[0-3,5,7,...] (7 nodes)"},
        {"a[0-3]", 2, "a[0-3]"},
        {"abcdefgh1.x,abcdefgh2.x", 4, "abcdefgh1.x and 1 other"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hostlist *hosts = hostlist_decode(cases[i].ids, NULL);
        char *text = hostlist_encode_short(hosts, cases[i].max);
        assert_string_equal(text, cases[i].expect);
        free(text);
        hostlist_free(hosts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_case_gives_its_picture),
        cmocka_unit_test(test_a_picture_is_the_same_every_time),
        cmocka_unit_test(test_nodes_whose_tasks_have_other_gpus_are_not_folded),
        cmocka_unit_test(test_thousands_of_unlike_nodes_are_counted_where_they_are_not_shown),
        cmocka_unit_test(test_a_machine_with_too_many_cores_is_described_not_drawn),
        cmocka_unit_test(test_too_many_tasks_of_a_node_are_counted_not_drawn),
        cmocka_unit_test(test_long_sets_are_told_by_their_step_or_their_number),
        cmocka_unit_test(test_long_lists_of_hosts_are_cut_at_a_comma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
