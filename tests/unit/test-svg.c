/* The picture as SVG: well-formed whatever the names, all ranks in it, bounded in size and time. */
#include <ctype.h>
#include <time.h>

#include "affinity/picture/svg.h"
#include "affinity/picture/svg_element.h"
#include "affinity/topology/topo_private.h"
#include "base/buf.h"
#include "tests/unit/picture-world.h"

#define MAX_BYTES 2000000
#if defined(__SANITIZE_ADDRESS__)
#define MAX_SECONDS 8.0
#else
#define MAX_SECONDS 1.0
#endif

/* ---- is it XML? ---- */

#define MAX_DEPTH 16

struct xml {
    const char *at;
    char open[MAX_DEPTH][16];
    size_t depth;
};

static void bad_xml(const struct xml *xml, const char *why)
{
    fail_msg("%s at: %.60s", why, xml->at);
}

static void take_entity(struct xml *xml)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < 5; i++)
        if (strncmp(xml->at, known[i], strlen(known[i])) == 0) {
            xml->at += strlen(known[i]);
            return;
        }
    bad_xml(xml, "an ampersand that is no entity");
}

/* A character as XML may hold it. */
static void take_character(struct xml *xml)
{
    const unsigned char *at = (const unsigned char *)xml->at;
    size_t more = at[0] < 0x80 ? 0 : at[0] < 0xc2 ? 9 : at[0] < 0xe0 ? 1 : at[0] < 0xf0 ? 2 : 3;
    if (at[0] == '&') {
        take_entity(xml);
        return;
    }
    if ((at[0] < 0x20 && at[0] != '\n') || more == 9 || at[0] > 0xf4)
        bad_xml(xml, "a byte that is no text");
    for (size_t i = 1; i <= more; i++)
        if ((at[i] & 0xc0) != 0x80)
            bad_xml(xml, "broken UTF-8");
    xml->at += 1 + more;
}

static size_t name_length(const char *at)
{
    size_t len = 0;
    while (isalnum((unsigned char)at[len]) || strchr(":_-", at[len] ? at[len] : ' '))
        len++;
    return len;
}

static void take_attributes(struct xml *xml)
{
    while (*xml->at == ' ') {
        xml->at++;
        size_t len = name_length(xml->at);
        if (!len || xml->at[len] != '=' || xml->at[len + 1] != '"')
            bad_xml(xml, "no attribute");
        for (xml->at += len + 2; *xml->at != '"';) {
            if (*xml->at == '<' || !*xml->at)
                bad_xml(xml, "an attribute that is not closed");
            take_character(xml);
        }
        xml->at++;
    }
}

static void take_tag(struct xml *xml)
{
    bool closes = xml->at[1] == '/';
    xml->at += closes ? 2 : 1;
    size_t len = name_length(xml->at);
    if (!len || len >= sizeof(xml->open[0]))
        bad_xml(xml, "no name");
    if (closes) {
        if (!xml->depth || strlen(xml->open[xml->depth - 1]) != len ||
            memcmp(xml->open[xml->depth - 1], xml->at, len) != 0)
            bad_xml(xml, "closed, but not open");
        xml->depth--;
    } else {
        assert_true(xml->depth < MAX_DEPTH);
        memcpy(xml->open[xml->depth], xml->at, len);
        xml->open[xml->depth++][len] = '\0';
    }
    xml->at += len;
    if (!closes)
        take_attributes(xml);
    if (*xml->at == '/' && !closes) {
        xml->depth--;
        xml->at++;
    }
    if (*xml->at != '>')
        bad_xml(xml, "a tag that is not closed");
    xml->at++;
}

static void check_xml(const char *text)
{
    static const char first[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    struct xml xml = {.at = text + strlen(first)};
    assert_int_equal(strncmp(text, first, strlen(first)), 0);
    while (*xml.at) {
        if (!xml.depth && *xml.at != '<' && *xml.at != '\n')
            bad_xml(&xml, "text outside of all");
        if (*xml.at == '<')
            take_tag(&xml);
        else
            take_character(&xml);
    }
    assert_int_equal(xml.depth, 0);
    assert_non_null(strstr(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" width="));
}

/* ---- pictures ---- */

static char *draw(const struct picture_world *world)
{
    struct layout *layout = world_layout(world);
    clock_t from = clock();
    char *text = picture_svg(layout, &world->request);
    double took = (double)(clock() - from) / CLOCKS_PER_SEC;
    layout_free(layout);
    check_xml(text);
    if (strlen(text) > MAX_BYTES)
        fail_msg("%zu bytes", strlen(text));
    if (took > MAX_SECONDS)
        fail_msg("%.2f s", took);
    return text;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

static void check_holds(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("no '%s' in\n%.3000s", what, text);
}

static void make(struct picture_world *world, const char *hosts, const char *machine,
                 struct layout_part part)
{
    world_start(world);
    world_add(world, hosts, world_topo(machine), NULL);
    world->parts[0] = part;
    world->request.nparts = 1;
}

static void test_every_case_gives_a_picture_that_names_its_hosts(void **state)
{
    static const char *const cases[] = {"one-core.txt",     "folded.txt",        "l3.txt",
                                        "slots.txt",        "unbound.txt",       "parts.txt",
                                        "threads.txt",      "tiles.txt",         "holes.txt",
                                        "gpus.txt",         "gpus-no-place.txt", "crowded.txt",
                                        "unlike-cores.txt", "unbound.txt",       "unlike-nodes.txt",
                                        "gpu-tasks.txt",    "gpu-domains.txt",   "gpu-sharing.txt",
                                        "gpu-closest.txt"};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct picture_world world;
        world_load(&world, cases[i]);
        char *text = draw(&world), *host = mem_format(">%s</text>", world.nodes[0].host);
        check_holds(text, host);
        free(host);
        free(text);
        world_end(&world);
    }
}

static void test_a_few_nodes_are_drawn_each_with_every_rank(void **state)
{
    struct picture_world world;
    (void)state;
    make(&world, "n[0-3]", "package:2 core:8 pu:2", (struct layout_part){64, .map = "core"});
    char *text = draw(&world);
    for (unsigned rank = 0; rank < 64; rank++) {
        char *cell = mem_format(">%u</text>", rank);
        assert_int_equal(count(text, cell), rank == 3 ? 2 : 1); /* 3 is in the legend, too */
        free(cell);
    }
    check_holds(text, ">n3</text>");
    check_holds(text, "64 tasks on 4 nodes");
    check_holds(text, "mapped by core, each bound to a core, in natural order");
    check_holds(text, "cores 8-15 (logical)");
    check_holds(text, "cpus 16-31 (OS)");
    check_holds(text, "<title>rank 9: core 9 (logical), cpus 18-19 (OS)</title>");
    free(text);
    world_end(&world);
}

static void test_many_equal_nodes_are_one_panel_with_their_numbers(void **state)
{
    struct picture_world world;
    (void)state;
    make(&world, "n[0-99]", "package:2 core:4 pu:1", (struct layout_part){800, .map = "core"});
    char *text = draw(&world);
    assert_int_equal(count(text, "class=\"frame\""), 1);
    check_holds(text, ">n[0-99]</text>");
    check_holds(text, "100 nodes, 8 tasks on each, ranks 0-799");
    check_holds(text, ">7</text>");
    assert_null(strstr(text, ">8</text>"));
    free(text);
    world_end(&world);
}

static void test_groups_of_nodes_have_a_colour_each_in_a_strip(void **state)
{
    struct picture_world world;
    (void)state;
    make(&world, "a[0-9]", "core:4 pu:1", (struct layout_part){70, .map = "core"});
    world_add(&world, "b[0-9]", world_topo("package:2 core:2 pu:1"), NULL);
    char *text = draw(&world);
    assert_int_equal(count(text, "class=\"frame\""), 3);
    check_holds(text, "The 18 nodes in their order, a square each:");
    check_holds(text, "<title>a[0-9]</title><path fill=\"#0072b2\"");
    check_holds(text, "<title>b[0-6]</title><path fill=\"#e69f00\"");
    check_holds(text, "<title>b7</title><path fill=\"#009e73\"");
    free(text);
    world_end(&world);
}

/* Wherever ranks are dealt to, those of a node differ in colour, and nodes alike look alike. */
static void test_ranks_of_a_node_have_a_colour_each(void **state)
{
    struct picture_world world;
    (void)state;
    make(&world, "n[0-6]", "core:4 pu:1", (struct layout_part){21, .map = "node", .bind = "core"});
    char *text = draw(&world);
    check_holds(text, "<title>rank 0: core 0 (logical), cpu 0 (OS)</title><rect");
    assert_int_equal(count(text, "fill=\"#0072b2\""), 7);
    assert_int_equal(count(text, "fill=\"#e69f00\""), 7);
    assert_int_equal(count(text, "fill=\"#009e73\""), 7);
    check_holds(text, "Colours tell the ranks of a node apart.");
    free(text);
    world_end(&world);
}

/* The outline of cores 0-3 and that of 4-7, with what it means; none where each has its own. */
static void test_what_ranks_are_bound_to_together_has_an_outline(void **state)
{
    struct picture_world world;
    (void)state;
    make(&world, "n0", "package:2 numa:1 core:4 pu:2",
         (struct layout_part){6, .map = "socket", .bind = "socket"});
    char *text = draw(&world);
    assert_int_equal(count(text, "<path class=\"bound\""), 2);
    check_holds(text, "<title>ranks 0,2,4 may run on cpus 0-7 (OS)</title><path class=\"bound\"");
    check_holds(text, "<title>ranks 1,3,5 may run on cpus 8-15 (OS)</title><path class=\"bound\"");
    check_holds(text, "the ranks inside may run on all of it");
    free(text);
    world_end(&world);
    make(&world, "n0", "package:2 core:4 pu:2", (struct layout_part){8, .map = "core"});
    text = draw(&world);
    assert_int_equal(count(text, "class=\"bound\""), 0);
    free(text);
    world_end(&world);
}

/* What is bound to two sockets is outlined in both. */
static void test_an_outline_goes_around_the_cores_of_every_box(void **state)
{
    struct picture_world world;
    (void)state;
    make(&world, "n0", "package:2 core:4 pu:1",
         (struct layout_part){2, .map = "core", .bind = "node"});
    char *text = draw(&world);
    assert_int_equal(count(text, "<title>ranks 0-1 may run on cpus 0-7 (OS)</title>"), 2);
    assert_int_equal(count(text, "<path class=\"bound part\""), 2); /* not as where two are bound */
    check_holds(text, "part of what the ranks inside may run on");
    assert_null(strstr(text, "may run on all of it"));
    free(text);
    world_end(&world);
}

static uint32_t width_of(const char *text)
{
    return (uint32_t)atoi(strstr(text, " width=\"") + strlen(" width=\""));
}

static void test_a_picture_is_as_wide_as_what_is_in_it(void **state)
{
    struct picture_world world;
    (void)state;
    make(&world, "n0", "core:2 pu:1", (struct layout_part){2, .map = "core"});
    char *small = draw(&world);
    world_end(&world);
    make(&world, "n[0-7]", "package:2 numa:2 core:4 pu:1",
         (struct layout_part){128, .map = "core"});
    char *large = draw(&world);
    world_end(&world);
    assert_true(width_of(small) < 800);
    assert_true(width_of(large) > width_of(small) && width_of(large) <= 1200);
    free(small);
    free(large);
}

static void test_parts_have_a_colour_each(void **state)
{
    struct picture_world world;
    (void)state;
    make(&world, "n[0-1]", "core:4 pu:1", (struct layout_part){3, .map = "core", .program = "./a"});
    world.parts[1] = (struct layout_part){2, .program = "./b"};
    world.request.nparts = 2;
    char *text = draw(&world);
    check_holds(text, "part 1, ./a: ranks 0-2; mapped by core");
    check_holds(text, "part 2, ./b: ranks 3-4; mapped by core");
    assert_int_equal(count(text, "fill=\"#0072b2\""), 3 + 1);
    assert_int_equal(count(text, "fill=\"#e69f00\""), 2 + 1);
    free(text);
    world_end(&world);
}

static void test_a_ranks_cores_are_one_bar(void **state)
{
    struct picture_world world;
    (void)state;
    make(&world, "n0", "package:1 core:8 pu:1", (struct layout_part){2, .cores_per_task = 3});
    char *text = draw(&world);
    check_holds(text, "rank 0: cores 0-2 (logical), cpus 0-2 (OS)");
    assert_int_equal(count(text, ">0</text>"), 1);
    assert_int_equal(count(text, "<title>idle: "), 2);
    free(text);
    world_end(&world);
}

/* Cores of two rows are one path, with one number. */
static void test_a_rank_with_cores_in_two_rows_is_one_shape(void **state)
{
    struct picture_world world;
    (void)state;
    make(&world, "n0", "package:1 core:24 pu:1", (struct layout_part){3, .cores_per_task = 7});
    char *text = draw(&world);
    check_holds(text, "<title>rank 1: cores 7-13 (logical), cpus 7-13 (OS)</title><path fill=");
    for (unsigned rank = 0; rank < 3; rank++) {
        char *cell = mem_format(">%u</text>", rank);
        assert_int_equal(count(text, cell), 1);
        free(cell);
    }
    free(text);
    world_end(&world);
}

static void test_gpus_stand_in_the_boxes_that_they_belong_to(void **state)
{
    struct picture_world world;
    (void)state;
    world_load(&world, "gpus.txt");
    char *text = draw(&world);
    for (unsigned gpu = 0; gpu < 4; gpu++) {
        char *name = mem_format("gpu %u<", gpu);
        check_holds(text, name);
        free(name);
    }
    check_holds(text, "<title>GPU 3 (cuda3), not allocated</title>");
    assert_true(strstr(text, "gpu 0<") < strstr(text, "numa 1<"));
    assert_true(strstr(text, "gpu 1<") > strstr(text, "numa 1<"));
    assert_true(strstr(text, "gpu 2<") > strstr(text, "numa 3<"));
    free(text);
    world_end(&world);
}

static void test_a_gpu_says_which_ranks_have_it_in_their_colour(void **state)
{
    struct picture_world world;
    (void)state;
    world_load(&world, "gpu-tasks.txt");
    char *text = draw(&world);
    check_holds(text, "<title>GPU 0 (cuda0) of rank 0</title><rect");
    assert_int_equal(count(text, ">gpu 1: rank 0<"), 1);
    assert_int_equal(count(text, ">gpu 3: rank 1<"), 1);
    assert_int_equal(count(text, ">gpu 2: rank 5<"), 1);
    assert_int_equal(count(text, "fill=\"#0072b2\""), 6 + 12 + 1); /* bars, chips, part 1 */
    free(text);
    world_end(&world);
    world_load(&world, "gpu-domains.txt");
    text = draw(&world);
    check_holds(text, "<title>GPU 3 (cuda3) of ranks 7,19</title>");
    check_holds(text, ">gpu 3: ranks 7,19<");
    free(text);
    world_end(&world);
}

static void test_gpus_that_were_not_given_out_stand_alone(void **state)
{
    struct picture_world world;
    (void)state;
    world_load(&world, "gpus.txt");
    world.parts[0].gpus_per_task = 1;
    world.parts[0].ntasks = 1;
    char *text = draw(&world);
    check_holds(text, ">gpu 0: rank 0<");
    check_holds(text, "<title>GPU 1 (cuda1)</title>");
    check_holds(text, ">gpu 1<");
    free(text);
    world_end(&world);
}

static void test_gpus_that_only_r_knows_belong_to_the_machine(void **state)
{
    struct picture_world world;
    (void)state;
    make(&world, "n0", "package:2 core:4 pu:1", (struct layout_part){2, .gpus_per_task = 1});
    world_granted(&world, (char[]){"3,5,7"});
    char *text = draw(&world);
    check_holds(text, "<title>GPU 3 of rank 0</title>");
    check_holds(text, "<title>GPU 5 of rank 1</title>");
    check_holds(text, "<title>GPU 7</title>");
    assert_true(strstr(text, "gpu 3: ") > strstr(text, "socket 1<"));
    free(text);
    world_end(&world);
}

static void test_names_of_any_bytes_give_well_formed_text(void **state)
{
    static const struct {
        const char *name, *expect;
    } cases[] = {
        {"a<b>&\"'c", ">a&lt;b&gt;&amp;&quot;&#39;c</text>"},
        {"]]>", ">]]&gt;</text>"},
        {"tab\there\x7f", ">tab\\x09here\\u007f</text>"},
        {"caf\xc3\xa9", ">caf\xc3\xa9</text>"},
        {"\xff\xc3(", ">\\xff\\xc3(</text>"},
        {"cut\xf0\x9f\x98", ">cut\\xf0\\x9f\\x98</text>"},
        {"\xed\xa0\x80", ">\\xed\\xa0\\x80</text>"},
        {"\xc0\xaf\xef\xbf\xbe", ">\\xc0\\xaf\\ufffe<"},
        {"\xf0\x9f\x98\x80", ">\xf0\x9f\x98\x80</text>"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct picture_world world;
        make(&world, "n0", "core:2 pu:1", (struct layout_part){2, .program = cases[i].name});
        world.nodes[0].host = cases[i].name;
        char *text = draw(&world);
        check_holds(text, cases[i].expect);
        free(text);
        world_end(&world);
    }
}

static void test_a_long_path_is_told_by_its_end(void **state)
{
    struct picture_world world;
    char program[5000];
    (void)state;
    memset(program, 'x', sizeof(program));
    memcpy(program + 4990, "/ocean.exe", 10);
    program[4999] = '\0';
    make(&world, "n0", "core:2 pu:1", (struct layout_part){1, .program = program});
    char *text = draw(&world);
    check_holds(text, ">ocean.ex: mapped by slot");
    free(text);
    world_end(&world);
}

/* ---- bounds ---- */

static void test_a_million_tasks_fold(void **state)
{
    static const char *const maps[] = {"core", "node", "numa:span"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct picture_world world;
        make(&world, "n[0-16383]", "package:2 numa:8 core:4 pu:1",
             (struct layout_part){1 << 20, .map = maps[i]});
        char *text = draw(&world);
        check_holds(text, "16384 nodes, 64 tasks on each, ranks 0-1048575");
        assert_true(strlen(text) < 50000);
        free(text);
        world_end(&world);
    }
}

static void test_thousands_of_unlike_nodes_are_bounded(void **state)
{
    struct picture_world world;
    uint32_t n = 16384;
    (void)state;
    make(&world, "n[0-16383]", "package:2 numa:2 core:4 pu:4",
         (struct layout_part){3 * n, .map = "hwthread"});
    for (uint32_t i = 0; i < n; i++) {
        struct idset *cores = idset_new();
        for (uint32_t bit = 0; bit < 16; bit++)
            if ((i + 1) >> bit & 1)
                idset_add(cores, bit);
        world.nodes[i].cores = cores;
    }
    char *text = draw(&world);
    check_holds(text, "Not drawn:");
    check_holds(text, "more nodes, of");
    check_holds(text, "(grey: not drawn below)");
    for (uint32_t i = 0; i < n; i++)
        idset_free((struct idset *)(uintptr_t)world.nodes[i].cores);
    free(text);
    world_end(&world);
}

/* 65536 hardware threads, made by hand: hwloc would take a minute for as many. */
static struct topo *large_machine(uint32_t l3)
{
    struct topo *topo = topo_new(TOPO_MAX_PUS);
    for (uint32_t row = 0; row < topo->npus; row++) {
        topo->os[row] = row;
        topo->allowed[row] = true;
        topo->object[TOPO_CORE][row] = row;
        topo->object[TOPO_L3][row] = l3 ? row / (TOPO_MAX_PUS / l3) : TOPO_ABSENT;
    }
    topo->count[TOPO_CORE] = topo->npus;
    topo->count[TOPO_L3] = l3;
    return topo;
}

static void test_a_machine_of_any_size_is_bounded(void **state)
{
    static const struct {
        uint32_t l3;
        const char *holds;
    } cases[] = {{0, "ranks 0-65535"}, {256, "ranks 65280-65535"}, {16384, "ranks 0-65535"}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct picture_world world;
        world_start(&world);
        world_add(&world, "smp[0-1]", large_machine(cases[i].l3), NULL);
        world.parts[0] = (struct layout_part){2 * TOPO_MAX_PUS, .map = "core"};
        world.request.nparts = 1;
        char *text = draw(&world);
        check_holds(text, cases[i].holds);
        free(text);
        world_end(&world);
    }
}

static void test_as_many_threads_as_are_drawn_one_by_one_are_bounded(void **state)
{
    struct picture_world world;
    (void)state;
    make(&world, "a[0-8]", "package:2 core:83 pu:4",
         (struct layout_part){9 * 664, .map = "hwthread"});
    char *one = draw(&world);
    free(one);
    world_end(&world);
    make(&world, "smp", "package:6 core:1000 pu:1", (struct layout_part){6000, .map = "core"});
    char *text = draw(&world);
    check_holds(text, ">5999</text>");
    free(text);
    world_end(&world);
}

static void test_words_are_broken_where_they_do_not_fit(void **state)
{
    (void)state;
    assert_int_equal(svg_fits(SVG_TEXT, "one two three", 1000), 13);
    assert_int_equal(svg_fits(SVG_TEXT, "one two three", 60), 7);
    assert_int_equal(svg_fits(SVG_TEXT, "one two three", 1), 3);
    assert_int_equal(svg_fits(SVG_TEXT, "unbreakable", 1), 11);
    assert_int_equal(svg_wrapped(NULL, SVG_TEXT, 0, 0, 1, "one two"), 2 * 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_case_gives_a_picture_that_names_its_hosts),
        cmocka_unit_test(test_a_few_nodes_are_drawn_each_with_every_rank),
        cmocka_unit_test(test_many_equal_nodes_are_one_panel_with_their_numbers),
        cmocka_unit_test(test_groups_of_nodes_have_a_colour_each_in_a_strip),
        cmocka_unit_test(test_ranks_of_a_node_have_a_colour_each),
        cmocka_unit_test(test_what_ranks_are_bound_to_together_has_an_outline),
        cmocka_unit_test(test_an_outline_goes_around_the_cores_of_every_box),
        cmocka_unit_test(test_a_rank_with_cores_in_two_rows_is_one_shape),
        cmocka_unit_test(test_a_picture_is_as_wide_as_what_is_in_it),
        cmocka_unit_test(test_parts_have_a_colour_each),
        cmocka_unit_test(test_a_ranks_cores_are_one_bar),
        cmocka_unit_test(test_gpus_stand_in_the_boxes_that_they_belong_to),
        cmocka_unit_test(test_a_gpu_says_which_ranks_have_it_in_their_colour),
        cmocka_unit_test(test_gpus_that_were_not_given_out_stand_alone),
        cmocka_unit_test(test_gpus_that_only_r_knows_belong_to_the_machine),
        cmocka_unit_test(test_names_of_any_bytes_give_well_formed_text),
        cmocka_unit_test(test_a_long_path_is_told_by_its_end),
        cmocka_unit_test(test_a_million_tasks_fold),
        cmocka_unit_test(test_thousands_of_unlike_nodes_are_bounded),
        cmocka_unit_test(test_a_machine_of_any_size_is_bounded),
        cmocka_unit_test(test_as_many_threads_as_are_drawn_one_by_one_are_bounded),
        cmocka_unit_test(test_words_are_broken_where_they_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
