/* What the programs of an instance read of it, read before they are forked. */
#include "tests/unit/instance-world.h"

#include "launcher/instance/resources_private.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/process/localhost.h"

#define R_OF(cores)                                                                                \
    "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"3-6\",\"children\":{\"core\":\"" cores  \
    "\"}}],\"nodelist\":[\"n[0-3]\"]}}"

static const char one_task[] = "{'parts':[{'argv':['./mine'],'ntasks':1}]}";

static struct instance *instance;
static struct ledger_entry *entry; /* of the program that this process is a task of */

/* The program holds this. */
static void be_a_task(const char *R)
{
    instance = instance_open("this machine", NULL);
    entry = entry_new(instance, "outer", NULL);
    assert_non_null(entry);
    setenv("TPRUN_PROGRAM", entry_id(entry), 1);
    setenv("TPRUN_ENCLOSING", entry_id(entry), 1);
    setenv("TPRUN_INSTANCE", instance_path(instance), 1);
    setenv("TPRUN_INSTANCE_ID", instance_id(instance), 1);
    setenv("TPRUN_ENCLOSING_R", R, 1);
}

static struct spec *spec_of_task(const char *json)
{
    struct spec *spec = spec_on(1, json);
    free(spec->resources);
    spec->resources = NULL;
    return spec;
}

/* "n0:0=0-3 n1:1=0-3"; with "* " before it where these were read ahead. */
static char *opened(const struct spec *spec)
{
    struct error err = ERROR_INIT;
    struct local_topology *local = local_topology_new(NULL, NULL, NULL);
    struct resources *resources = resources_open(spec, local, &err);
    if (!resources || resources_refresh(resources, &err) < 0)
        fail_msg("%s", error_text(&err));
    const struct host_table *hosts = resources_hosts(resources);
    char *text = mem_copy_text(resources->keeps_hosts ? "*" : "");
    for (uint32_t i = 0; i < host_count(hosts); i++) {
        const struct node *node = host_at(hosts, i)->node;
        char *cores = idset_encode(node->cores), *before = text;
        text = mem_format("%s%s%s:%u=%s", before,
                          *before && !i ? " "
                          : i           ? " "
                                        : "",
                          node->host, node->target, cores);
        assert_string_equal(host_names(hosts)[i], node->host);
        free(before);
        free(cores);
    }
    resources_leave(resources);
    resources_free(resources);
    local_topology_free(local);
    return text;
}

static void assert_opened(const struct spec *spec, const char *want)
{
    char *text = opened(spec);
    assert_string_equal(text, want);
    free(text);
}

static void test_a_program_on_all_nodes_has_them_read_once(void **state)
{
    struct spec *spec = spec_of_task(one_task);
    (void)state;
    be_a_task(R_OF("0-1"));
    assert_opened(spec, "n0:0=0-1 n1:1=0-1 n2:2=0-1 n3:3=0-1");
    resources_read_ahead();

    setenv("TPRUN_ENCLOSING_R", R_OF("2"), 1); /* it is a task of another now */
    assert_opened(spec, "n0:0=2 n1:1=2 n2:2=2 n3:3=2");
    setenv("TPRUN_ENCLOSING_R", R_OF("0-1"), 1);

    spec->hosts = mem_copy_text("n2");
    assert_opened(spec, "n2:0=0-1");
    free(spec->hosts);
    spec->hosts = NULL;
    spec->exclude = mem_copy_text("n[0-1]");
    assert_opened(spec, "n2:2=0-1 n3:3=0-1");
    free(spec->exclude);
    spec->exclude = NULL;

    assert_opened(spec, "* n0:0=0-1 n1:1=0-1 n2:2=0-1 n3:3=0-1");
    assert_opened(spec,
                  "n0:0=0-1 n1:1=0-1 n2:2=0-1 n3:3=0-1"); /* the first may have changed them */
    spec_free(spec);
    entry_end(entry);
    instance_close(instance);
}

/* In an instance within the first, its nodes replace those of the first. One of them is this machine:
 * a task may use there only the cores that its mask allows, so the list of nodes is changed. */
static void test_nodes_of_another_program_take_their_place(void **state)
{
    struct spec *spec = spec_of_task(one_task);
    char *here = localhost_name();
    char *R = mem_format("{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-1\",\"children\":"
                         "{\"core\":\"0,9999\"}}],\"nodelist\":[\"%s,n7\"]}}",
                         here);
    char *want = mem_format("%s:0=0 n7:1=0,9999", here), *ahead = mem_format("* %s", want);
    (void)state;
    be_a_task(R_OF("0-1"));
    resources_read_ahead();
    assert_opened(spec, "* n0:0=0-1 n1:1=0-1 n2:2=0-1 n3:3=0-1");
    setenv("TPRUN_ENCLOSING_R", R, 1);
    resources_read_ahead();
    assert_opened(spec, ahead);
    assert_opened(spec, want);

    spec->dry_run = true;
    resources_read_ahead();
    assert_opened(spec, ahead);
    spec->requires = mem_copy_text("^none");
    resources_read_ahead();
    assert_opened(spec, want);
    free(ahead);
    free(want);
    free(R);
    free(here);
    spec_free(spec);
    entry_end(entry);
    instance_close(instance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_program_on_all_nodes_has_them_read_once, make_world,
                                        end_world),
        cmocka_unit_test_setup_teardown(test_nodes_of_another_program_take_their_place, make_world,
                                        end_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
