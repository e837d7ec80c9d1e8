#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/process/localhost.h"
#include "affinity/sets/host_index.h"
#include "launcher/source/node_list.h"
#include "launcher/source/nodes_from_options.h"
#include "launcher/spec/spec_build.h"
#include "tests/unit/unit.h"

#define NOW 1000.0

static char path[] = "/tmp/test-node-list.XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(path);
    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return remove(path);
}

static const char *file_with(const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    return path;
}

/* "host:target/limit=cores" a node; '*' behind this machine's. */
static char *shown(const struct node_list *nodes)
{
    struct buf text = BUF_INIT;
    const struct node *here = NULL;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct node *node = &nodes->list[i];
        char *cores = node->cores ? idset_encode(node->cores) : mem_copy_text("all");
        buf_printf(&text, "%s%s%s:%u/%u=%s", i ? " " : "", node->login, node->here ? "*" : "",
                   node->target, node->limit, cores);
        here = node->here ? node : here;
        free(cores);
    }
    assert_ptr_equal(node_list_this_machine(nodes), here);
    return buf_take_text(&text);
}

static void assert_nodes(struct spec *spec, const char *want, const char *source)
{
    struct error err = ERROR_INIT;
    struct node_list *nodes = node_list_from_spec(spec, NULL, NOW, &err);
    if (!nodes)
        fail_msg("%s", error_text(&err));
    char *text = shown(nodes);
    assert_string_equal(text, want);
    assert_string_equal(nodes->source, source);
    free(text);
    node_list_free(nodes);
    spec_free(spec);
}

static void assert_refused(struct spec *spec, enum error_kind kind, const char *begins)
{
    struct error err = ERROR_INIT;
    assert_null(node_list_from_spec(spec, NULL, NOW, &err));
    if (strncmp(error_text(&err), begins, strlen(begins)) != 0)
        fail_msg("%s", error_text(&err));
    assert_int_equal(err.kind, kind);
    error_clear(&err);
    spec_free(spec);
}

static struct spec *hosts(const char *list, const char *exclude)
{
    struct spec *spec = spec_new();
    spec->hosts = mem_copy_text(list);
    spec->exclude = mem_copy_text(exclude);
    return spec;
}

static struct spec *hostfile(const char *text, const char *exclude)
{
    struct spec *spec = spec_new();
    spec->hostfile = mem_copy_text(file_with(text));
    spec->exclude = mem_copy_text(exclude);
    return spec;
}

static struct spec *resources(const char *text, const char *exclude)
{
    struct spec *spec = spec_new();
    spec->resources = mem_copy_text(file_with(text));
    spec->exclude = mem_copy_text(exclude);
    return spec;
}

/* Names under .invalid never resolve (RFC 6761). */
static void test_hosts_are_nodes_in_the_order_given(void **state)
{
    (void)state;
    assert_nodes(hosts("b.invalid,me@a.invalid", NULL), "b.invalid:0/0=all me@a.invalid:1/0=all",
                 "--hosts");
    assert_nodes(hosts("n[2,0].invalid", NULL), "n2.invalid:0/0=all n0.invalid:1/0=all", "--hosts");
}

static void test_a_host_named_twice_is_one_node(void **state)
{
    (void)state;
    assert_nodes(hosts("a.invalid,b.invalid,a.invalid", NULL),
                 "a.invalid:0/0=all b.invalid:1/0=all", "--hosts");
    char *source = mem_format("hostfile %s", path);
    assert_nodes(hostfile("a.invalid:2\nb.invalid\nme@a.invalid slots=3\nb.invalid:1\n", NULL),
                 "a.invalid:0/5=all b.invalid:1/0=all", source);
    free(source);
}

static void test_names_of_this_machine_are_one_node(void **state)
{
    char *own = localhost_name();
    char *text = mem_format("x.invalid\n%s:2\nlocalhost:3\n127.0.0.1:1\n::1 slots=1\n", own);
    char *want = mem_format("x.invalid:0/0=all %s*:1/7=all", own);
    char *source = mem_format("hostfile %s", path);
    (void)state;
    assert_nodes(hostfile(text, NULL), want, source);
    free(own);
    free(text);
    free(want);
    free(source);
}

static void test_this_machine_is_found_where_others_are_left_out(void **state)
{
    char *source = mem_format("hostfile %s", path);
    (void)state;
    assert_nodes(hostfile("a.invalid\nb.invalid\nlocalhost\nc.invalid\n", "a.invalid"),
                 "b.invalid:0/0=all localhost*:1/0=all c.invalid:2/0=all", source);
    assert_nodes(hostfile("localhost\na.invalid\n", "localhost"), "a.invalid:0/0=all", source);
    free(source);
}

static void test_this_machine_is_known_by_its_names_and_addresses(void **state)
{
    char *own = localhost_name();
    char *label = mem_copy_text_n(own, strcspn(own, "."));
    const char *const ours[] = {own,         label,       "localhost", "LocalHost",
                                "127.0.0.1", "127.3.2.1", "::1",       "0:0:0:0:0:0:0:1"};
    const char *const others[] = {"x.invalid",           "192.0.2.1",           "2001:db8::1",
                                  "localhost.x.invalid", "127.0.0.1.x.invalid", "128.0.0.1"};
    (void)state;
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (!node_list_is_here(ours[i]))
            fail_msg("%s is not here", ours[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (node_list_is_here(others[i]))
            fail_msg("%s is here", others[i]);
    free(own);
    free(label);
}

#define R_OF(execution, times) "{\"version\":1,\"execution\":{" times "\"R_lite\":" execution "}}"
#define R_THREE                                                                                    \
    "[{\"rank\":\"3,5\",\"children\":{\"core\":\"0-3\"}},"                                         \
    "{\"rank\":\"7\",\"children\":{\"core\":\"2\",\"gpu\":\"0\"}}],"                               \
    "\"nodelist\":[\"a.invalid,b.invalid,c.invalid\"]"
#define TIMES(start, end) "\"starttime\":" #start ",\"expiration\":" #end ","

static void test_R_gives_targets_and_cores(void **state)
{
    char *source = mem_format("R file %s", path);
    (void)state;
    assert_nodes(resources(R_OF(R_THREE, ""), NULL),
                 "a.invalid:3/0=0-3 b.invalid:5/0=0-3 c.invalid:7/0=2", source);
    assert_nodes(resources(R_OF(R_THREE, TIMES(0, 0)), "b.invalid"),
                 "a.invalid:3/0=0-3 c.invalid:7/0=2", source);
    free(source);
}

/* Its sets are those of R, which stay as they are. */
static void test_a_host_that_R_names_twice_has_the_cores_of_both(void **state)
{
    char *source = mem_format("R file %s", path);
    (void)state;
    assert_nodes(resources(R_OF("[{\"rank\":\"0,2\",\"children\":{\"core\":\"0-1\"}},"
                                "{\"rank\":\"1\",\"children\":{\"core\":\"4\"}}],"
                                "\"nodelist\":[\"a.invalid,a.invalid,b.invalid\"]",
                                ""),
                           NULL),
                 "a.invalid:0/0=0-1,4 b.invalid:2/0=0-1", source);
    free(source);
}

static void test_R_loses_what_is_excluded(void **state)
{
    struct error err = ERROR_INIT;
    struct spec *spec = resources(R_OF(R_THREE, ""), "a.invalid,c.invalid");
    struct node_list *nodes = node_list_from_spec(spec, NULL, NOW, &err);
    (void)state;
    assert_non_null(nodes);
    assert_int_equal(nodes->R->nnodes, 1);
    assert_int_equal(nodes->R->nodes[0].rank, 5);
    node_list_free(nodes);
    spec_free(spec);
}

static void test_an_R_out_of_its_time_is_refused_by_name(void **state)
{
    char *begins = mem_format("R file %s: ", path);
    (void)state;
    assert_refused(resources(R_OF(R_THREE, TIMES(1, 1000)), NULL), ERROR_REFUSED, begins);
    assert_refused(resources(R_OF(R_THREE, TIMES(1001, 2000)), NULL), ERROR_REFUSED, begins);
    assert_refused(resources("{}", NULL), ERROR_REFUSED, begins);
    free(begins);
}

static void test_what_cannot_be_read_is_refused_with_the_reason(void **state)
{
    struct spec *spec = spec_new();
    (void)state;
    spec->resources = mem_copy_text("/does/not/exist");
    assert_refused(spec, ERROR_REFUSED,
                   "R file /does/not/exist: cannot be opened: No such file or directory");
    spec = spec_new();
    spec->hostfile = mem_copy_text("/");
    assert_refused(spec, ERROR_REFUSED, "hostfile /: cannot be read: Is a directory");
    char *empty = mem_format("hostfile %s names no host", path);
    assert_refused(hostfile("# nothing\n", NULL), ERROR_REFUSED, empty);
    char *bad = mem_format("hostfile %s:2: ", path);
    assert_refused(hostfile("a\nb c\n", NULL), ERROR_REFUSED, bad);
    assert_refused(hosts("a[", NULL), ERROR_USAGE, "--hosts: ");
    assert_refused(hosts("-a", NULL), ERROR_USAGE, "--hosts: \"-a\" is not the name of a host");
    free(empty);
    free(bad);
}

/* x0 ... x19, of which each has the cores 0 up to its number. */
static struct rset *outer_set(void)
{
    struct rset *set = rset_new();
    for (unsigned i = 0; i < 20; i++) {
        char *host = mem_format("x%u.invalid", i);
        struct idset *cores = idset_new();
        idset_add_range(cores, 0, i);
        rset_append(set, i, host, cores, NULL);
        idset_free(cores);
        free(host);
    }
    return set;
}

static void test_few_and_many_nodes_are_bound_by_what_a_set_has_of_them(void **state)
{
    static const struct {
        const char *hosts, *others; /* these are not in the set */
        size_t count;
    } cases[] = {
        {"x19.invalid,x0.invalid,x7.invalid", "x0.invalid,x20.invalid", 3},
        {"x[2-19].invalid", "x[2-20].invalid", 18},
    };
    struct rset *set = outer_set();
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct spec *spec = hosts(cases[i].hosts, NULL), *wrong = hosts(cases[i].others, NULL);
        struct node_list *nodes = node_list_from_spec(spec, NULL, NOW, &err);
        assert_non_null(nodes);
        assert_int_equal(node_list_bound(nodes, set, "the program", &err), 0);
        assert_int_equal(nodes->count, cases[i].count);
        for (size_t j = 0; j < nodes->count; j++)
            assert_int_equal(idset_count(nodes->list[j].cores),
                             strtoul(nodes->list[j].host + 1, NULL, 10) + 1);
        node_list_free(nodes);
        nodes = node_list_from_spec(wrong, NULL, NOW, &err);
        assert_int_equal(node_list_bound(nodes, set, "the program", &err), -1);
        assert_ptr_equal(strstr(error_text(&err), "--hosts names x20.invalid, but the program has "
                                                  "only x0.invalid,x1.invalid"),
                         error_text(&err));
        error_clear(&err);
        node_list_free(nodes);
        spec_free(spec);
        spec_free(wrong);
    }
    rset_free(set);
}

static void test_excluded_hosts_must_be_there_and_leave_some(void **state)
{
    (void)state;
    assert_nodes(hosts("n[0-3].invalid", "n[0,2].invalid"), "n1.invalid:0/0=all n3.invalid:1/0=all",
                 "--hosts");
    assert_refused(hosts("a.invalid", "b.invalid"), ERROR_USAGE,
                   "--exclude: b.invalid is not among the nodes of --hosts");
    assert_refused(hosts("a.invalid,b.invalid", "b.invalid,a.invalid"), ERROR_USAGE,
                   "--exclude leaves no node of --hosts");
    assert_nodes(hosts("a.invalid,127.0.0.1", "localhost"), "a.invalid:0/0=all", "--hosts");
    assert_refused(hosts("a.invalid", "localhost"), ERROR_USAGE,
                   "--exclude: localhost is not among the nodes of --hosts");
}

static struct node_list *topologies(struct spec *spec, char ***descriptions, struct error *err)
{
    struct node_list *nodes = node_list_from_topologies(spec, NOW, descriptions, err);
    spec_free(spec);
    return nodes;
}

static void test_topologies_name_nodes_with_their_descriptions(void **state)
{
    struct error err = ERROR_INIT;
    struct spec *spec = spec_new();
    char **descriptions;
    (void)state;
    spec_add_topology(spec, "m=@/x=y.xml");
    spec_add_topology(spec, "n[0-2]=core:4 pu:2");
    spec->exclude = mem_copy_text("n1");
    struct node_list *nodes = topologies(spec, &descriptions, &err);
    assert_non_null(nodes);
    char *text = shown(nodes);
    assert_string_equal(text, "m:0/0=all n0:1/0=all n2:3/0=all");
    assert_string_equal(descriptions[0], "@/x=y.xml");
    assert_string_equal(descriptions[1], "core:4 pu:2");
    assert_string_equal(descriptions[2], "core:4 pu:2");
    assert_null(descriptions[3]);
    free(text);
    string_list_free(descriptions);
    node_list_free(nodes);
}

static void test_topologies_of_an_R_have_its_cores_only(void **state)
{
    struct error err = ERROR_INIT;
    struct spec *spec = resources(R_OF(R_THREE, ""), NULL);
    char **descriptions;
    (void)state;
    spec_add_topology(spec, "c.invalid,a.invalid=core:4");
    struct node_list *nodes = topologies(spec, &descriptions, &err);
    assert_non_null(nodes);
    char *text = shown(nodes);
    assert_string_equal(text, "c.invalid:7/0=2 a.invalid:3/0=0-3");
    assert_int_equal(nodes->R->nnodes, 2);
    free(text);
    string_list_free(descriptions);
    node_list_free(nodes);
}

static void test_topologies_that_contradict_are_refused(void **state)
{
    struct error err = ERROR_INIT;
    char **descriptions;
    struct spec *spec = spec_new();
    (void)state;
    spec_add_topology(spec, "n[0-2]=core:4");
    spec_add_topology(spec, "n1=core:2");
    assert_null(topologies(spec, &descriptions, &err));
    assert_string_equal(error_text(&err), "--topology: n1 is described twice");
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_null(descriptions);
    spec = resources(R_OF(R_THREE, ""), NULL);
    spec_add_topology(spec, "n=core:4");
    assert_null(topologies(spec, &descriptions, &err));
    assert_memory_equal(error_text(&err), "--topology: n is not in R file ", 31);
    error_clear(&err);
}

static void test_many_hosts_are_told_apart_quickly(void **state)
{
    struct error err = ERROR_INIT;
    struct spec *spec = hosts("n[0-99999],n[0-99999]", "n[1-99999]");
    struct node_list *nodes = node_list_from_spec(spec, NULL, NOW, &err);
    (void)state;
    assert_non_null(nodes);
    assert_int_equal(nodes->count, 1);
    node_list_free(nodes);
    spec_free(spec);
}

static void test_an_index_finds_what_was_added_first(void **state)
{
    struct host_index *index = host_index_new(2);
    (void)state;
    assert_true(host_index_add(index, "a", 5) == HOST_INDEX_NONE);
    assert_true(host_index_add(index, "b", 6) == HOST_INDEX_NONE);
    assert_int_equal(host_index_add(index, "a", 7), 5);
    assert_int_equal(host_index_find(index, "b"), 6);
    assert_true(host_index_find(index, "c") == HOST_INDEX_NONE);
    host_index_free(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts_are_nodes_in_the_order_given),
        cmocka_unit_test(test_a_host_named_twice_is_one_node),
        cmocka_unit_test(test_names_of_this_machine_are_one_node),
        cmocka_unit_test(test_this_machine_is_found_where_others_are_left_out),
        cmocka_unit_test(test_this_machine_is_known_by_its_names_and_addresses),
        cmocka_unit_test(test_R_gives_targets_and_cores),
        cmocka_unit_test(test_a_host_that_R_names_twice_has_the_cores_of_both),
        cmocka_unit_test(test_R_loses_what_is_excluded),
        cmocka_unit_test(test_an_R_out_of_its_time_is_refused_by_name),
        cmocka_unit_test(test_what_cannot_be_read_is_refused_with_the_reason),
        cmocka_unit_test(test_few_and_many_nodes_are_bound_by_what_a_set_has_of_them),
        cmocka_unit_test(test_excluded_hosts_must_be_there_and_leave_some),
        cmocka_unit_test(test_topologies_name_nodes_with_their_descriptions),
        cmocka_unit_test(test_topologies_of_an_R_have_its_cores_only),
        cmocka_unit_test(test_topologies_that_contradict_are_refused),
        cmocka_unit_test(test_many_hosts_are_told_apart_quickly),
        cmocka_unit_test(test_an_index_finds_what_was_added_first),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
