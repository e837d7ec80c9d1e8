/* Which hosts of a large R are wanted for a program. */
#include "tests/unit/instance-world.h"

#include "launcher/ledger/ledger_entry.h"
#include "launcher/plan/host_choice.h"

static void assert_wanted(const struct host_choice *choice, const char *want, const char *what)
{
    struct idset *wanted = host_choice_wanted(choice);
    char *text = idset_encode(wanted);
    if (strcmp(text, want) != 0)
        fail_msg("%s: wants %s, expected %s", what, text, want);
    free(text);
    idset_free(wanted);
}

/* On eight hosts of four cores. */
static const struct {
    const char *spec;   /* of the program */
    const char *wanted; /* at first */
    bool spare;         /* the others may be wanted as well */
} cases[] = {
    {"{'parts':[{'argv':['a'],'ntasks':3}]}", "0", true},
    {"{'parts':[{'argv':['a']}]}", "0", true},
    {"{'parts':[{'argv':['a'],'ntasks':5}]}", "0-1", true},
    {"{'parts':[{'argv':['a'],'ntasks':3,'cores_per_task':4}]}", "0-2", true},
    {"{'parts':[{'argv':['a'],'ntasks':4},{'argv':['b'],'ntasks':4}]}", "0-1", true},
    {"{'parts':[{'argv':['a'],'ntasks':2,'map':'core'}]}", "0", true},
    {"{'parts':[{'argv':['a'],'ntasks':99}]}", "0-7", false},
    /* what goes round the nodes needs all, and so does what cannot be told */
    {"{'parts':[{'argv':['a'],'ntasks':2,'map':'node'}]}", "0-7", false},
    {"{'parts':[{'argv':['a'],'per':'1:node'}]}", "0-7", false},
    {"{'nnodes':3,'parts':[{'argv':['a'],'ntasks':3}]}", "0-2", true},
    {"{'nnodes':3,'parts':[{'argv':['a'],'ntasks':3,'map':'node'}]}", "0-2", true},
    /* ranks that go round once, two at a time, where every host takes two */
    {"{'overlap':true,'parts':[{'argv':['a'],'ntasks':5,'taskmap':'cyclic:2',"
     "'oversubscribe':true}]}",
     "0-2", true},
    {"{'parts':[{'argv':['a'],'ntasks':5,'taskmap':'cyclic:2','oversubscribe':true}]}", "0-7",
     false},
    {"{'overlap':true,'parts':[{'argv':['a'],'ntasks':5,'taskmap':'cyclic:2'}]}", "0-7", false},
};

static void test_the_first_hosts_with_enough_cores_are_wanted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct spec *spec = spec_on(8, cases[i].spec);
        spec->dry_run = true;
        struct resources *resources = open_resources(spec);
        struct host_choice *choice =
            host_choice_new(spec, resources, resources_hosts(resources), &err);
        assert_non_null(choice);
        host_choice_make(choice);
        assert_false(host_choice_is_by_name(choice));
        assert_wanted(choice, cases[i].wanted, cases[i].spec);
        assert_int_equal(host_choice_add_spare(choice), cases[i].spare);
        assert_wanted(choice, "0-7", cases[i].spec);
        assert_false(host_choice_add_spare(choice));
        host_choice_free(choice);
        resources_free(resources);
        spec_free(spec);
    }
}

static struct host_choice *make_choice(const struct spec *spec, struct resources *resources)
{
    struct host_choice *choice = host_choice_new(spec, resources, resources_hosts(resources), NULL);
    assert_non_null(choice);
    host_choice_make(choice);
    return choice;
}

static void test_hosts_that_others_hold_are_not_wanted(void **state)
{
    struct spec *spec = spec_on(8, "{'parts':[{'argv':['a'],'ntasks':6}]}");
    (void)state;
    struct resources *resources = open_resources(spec);
    struct ledger_entry *other = hold(resources, 0, 2, "0-3");
    struct ledger_entry *half = hold(resources, 3, 3, "0-1");
    assert_int_equal(resources_refresh(resources, NULL), 0);
    assert_int_equal(resources_held_cores(resources), 14);
    struct host_choice *choice = make_choice(spec, resources);
    assert_wanted(choice, "3-4", "six tasks");
    assert_true(host_choice_add_spare(choice));
    assert_wanted(choice, "3-7", "and the spare ones");

    /* read again: what is full now is not wanted any more */
    struct ledger_entry *late = hold(resources, 4, 5, "0-3");
    assert_int_equal(resources_refresh(resources, NULL), 0);
    host_choice_drop_full(choice);
    assert_wanted(choice, "3,6-7", "after a lost race");

    /* and nothing is held in a trial */
    resources_begin_trial(resources, NULL);
    assert_null(resources_held(resources));
    assert_int_equal(idset_count(resources_free_of_R(resources, 0)), 4);
    resources_end_trial(resources);
    assert_true(idset_empty(resources_free_of_R(resources, 0)));
    entry_end(late);
    entry_end(half);
    entry_end(other);
    host_choice_free(choice);
    resources_free(resources);
    spec_free(spec);
}

static void test_hosts_that_failed_are_spared_where_no_option_names_any(void **state)
{
    static const struct {
        const char *spec;
        bool unreached, elsewhere, can;
    } tries[] = {
        {"{'parts':[{'argv':['a'],'ntasks':3}]}", true, false, true},
        {"{'parts':[{'argv':['a'],'ntasks':3}]}", false, false, false}, /* its agent said so */
        {"{'parts':[{'argv':['a'],'ntasks':3,'map':'node'}]}", true, false, false},
        {"{'parts':[{'argv':['a'],'ntasks':3,'map':'node'}]}", true, true, true},
        {"{'nnodes':2,'parts':[{'argv':['a'],'ntasks':3,'map':'node'}]}", true, false, true},
        {"{'parts':[{'argv':['a'],'shape':'slot=2/core'}]}", true, false, false},
        {"{'parts':[{'argv':['a'],'shape':'slot=2/core'}]}", true, true, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        struct spec *spec = spec_on(8, tries[i].spec);
        struct resources *resources = open_resources(spec);
        struct host_table *hosts = resources_hosts(resources);
        struct host_choice *choice = make_choice(spec, resources);
        struct topo *topo = topo_load_synthetic("core:4 pu:1", NULL);
        host_known(hosts, 7, topo);
        topo_free(topo);
        host_starting(hosts, 0);
        host_failed(hosts, 0, mem_copy_text("is down"), -1, tries[i].unreached);
        if (host_choice_can_spare_failed(choice, tries[i].elsewhere) != tries[i].can)
            fail_msg("%s", tries[i].spec);
        host_choice_free(choice);
        resources_free(resources);
        spec_free(spec);
    }
}

/* One task on the first of many: the others are not looked at before they may be needed. */
static void test_hosts_beyond_those_that_are_enough_are_spare_by_what_is_free_then(void **state)
{
    struct spec *spec = spec_on(8, "{'parts':[{'argv':['a'],'ntasks':1}]}");
    (void)state;
    struct resources *resources = open_resources(spec);
    struct host_table *hosts = resources_hosts(resources);
    struct host_choice *choice = make_choice(spec, resources);
    host_starting(hosts, 0);
    host_failed(hosts, 0, mem_copy_text("is down"), -1, true);
    assert_true(host_choice_wants(choice, 0));
    assert_false(host_choice_wants(choice, 1));
    assert_false(host_choice_wants(choice, 7));
    assert_true(host_choice_can_spare_failed(choice, false));
    struct ledger_entry *other = hold(resources, 1, 6, "0-3");
    assert_int_equal(resources_refresh(resources, NULL), 0);
    assert_true(host_choice_can_spare_failed(choice, false));
    struct ledger_entry *last = hold(resources, 7, 7, "0-3");
    assert_int_equal(resources_refresh(resources, NULL), 0);
    assert_false(host_choice_can_spare_failed(choice, false));
    entry_end(last);
    assert_int_equal(resources_refresh(resources, NULL), 0);
    host_choice_drop_full(choice);
    assert_true(host_choice_add_spare(choice));
    assert_wanted(choice, "0,7", "all but those that are full now");
    entry_end(other);
    assert_int_equal(resources_refresh(resources, NULL), 0);
    assert_false(host_choice_add_spare(choice));
    host_choice_free(choice);
    resources_free(resources);
    spec_free(spec);
}

static void test_hosts_of_which_nothing_is_known_are_all_asked(void **state)
{
    struct spec *spec =
        spec_on(1, "{'nnodes':1,'parts':[{'argv':['a'],'ntasks':1,'oversubscribe':true}]}");
    (void)state;
    free(spec->resources);
    spec->resources = NULL;
    spec->hosts = mem_copy_text("a.invalid,b.invalid,c.invalid");
    struct resources *resources = open_resources(spec);
    struct host_choice *choice = make_choice(spec, resources);
    assert_wanted(choice, "0-2", "those with room are better");
    assert_false(host_choice_add_spare(choice));
    host_choice_free(choice);
    resources_free(resources);
    spec_free(spec);
}

static void test_a_rank_file_names_its_hosts(void **state)
{
    struct spec *spec = spec_on(8, "{'parts':[{'argv':['a']}]}");
    struct spec_part *part = &spec->parts[0];
    (void)state;
    part->rankfile = mem_copy_text("rank 0=n5 slot=0\nrank 1=n2 slot=1\nrank 2=n5 slot=1\n");
    part->rankfile_name = mem_copy_text("ranks");
    struct resources *resources = open_resources(spec);
    struct ledger_entry *other = hold(resources, 2, 2, "0-3");
    struct host_choice *choice = make_choice(spec, resources);
    assert_true(host_choice_is_by_name(choice));
    assert_non_null(host_choice_rankfile(choice, 0));
    assert_wanted(choice, "2,5", "by rank file");
    assert_false(host_choice_add_spare(choice));
    assert_int_equal(resources_refresh(resources, NULL), 0);
    host_choice_make(choice);
    assert_wanted(choice, "5", "where nothing of the other is free");
    entry_end(other);
    host_choice_free(choice);

    free(part->rankfile);
    part->rankfile = mem_copy_text("rank 0=n9 slot=0\n");
    struct error err = ERROR_INIT;
    assert_null(host_choice_new(spec, resources, resources_hosts(resources), &err));
    assert_non_null(strstr(error_text(&err), "n9"));
    error_clear(&err);
    resources_free(resources);
    spec_free(spec);
}

static void test_a_shape_takes_the_hosts_of_its_allocation(void **state)
{
    struct spec *spec = spec_on(4, "{'parts':[{'argv':['a'],'ntasks':1}]}");
    (void)state;
    struct resources *resources = open_resources(spec);
    struct host_choice *choice = make_choice(spec, resources);
    struct rset *given = rset_new();
    struct idset *cores = idset_decode("0", NULL);
    rset_append(given, 3, "n3", cores, NULL);
    host_choice_take_only(choice, given);
    assert_wanted(choice, "3", "what was given");
    host_choice_take_all(choice);
    assert_wanted(choice, "0-3", "all");
    assert_false(host_choice_add_spare(choice));
    idset_free(cores);
    rset_free(given);
    host_choice_free(choice);
    resources_free(resources);
    spec_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_hosts_with_enough_cores_are_wanted),
        cmocka_unit_test(test_hosts_that_others_hold_are_not_wanted),
        cmocka_unit_test(test_hosts_that_failed_are_spared_where_no_option_names_any),
        cmocka_unit_test(test_hosts_beyond_those_that_are_enough_are_spare_by_what_is_free_then),
        cmocka_unit_test(test_hosts_of_which_nothing_is_known_are_all_asked),
        cmocka_unit_test(test_a_rank_file_names_its_hosts),
        cmocka_unit_test(test_a_shape_takes_the_hosts_of_its_allocation),
    };
    return cmocka_run_group_tests(tests, make_world, end_world);
}
