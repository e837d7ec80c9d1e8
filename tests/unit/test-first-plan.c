/* The plan of a program's first tasks, on hosts that exist in an R file only. */
#include "tests/unit/instance-world.h"

#include "launcher/instance/agents.h"
#include "launcher/ledger/claim.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/plan/first_plan.h"

struct scene { /* a program on two hosts of four cores */
    struct ev_loop *loop;
    struct spec *spec;
    struct resources *resources;
    struct host_table *hosts;
    struct agents *agents;
    struct host_choice *choice;
    struct first_plan *first;
    struct plan *plan;
    struct error err;
};

static void scene_open(struct scene *scene, const char *spec, uint32_t known)
{
    *scene = (struct scene){.loop = ev_loop_new(0), .spec = spec_on(2, spec)};
    scene->resources = open_resources(scene->spec);
    scene->hosts = resources_hosts(scene->resources);
    struct topo *topo = topo_load_synthetic("core:4 pu:1", NULL);
    for (uint32_t i = 0; i < known; i++)
        host_known(scene->hosts, i, topo);
    topo_free(topo);
    scene->agents =
        agents_new(scene->loop, scene->spec, scene->hosts, NULL, NULL, NULL, NULL, NULL, NULL);
    scene->choice = host_choice_new(scene->spec, scene->resources, scene->hosts, NULL);
    host_choice_take_all(scene->choice);
    scene->first =
        first_plan_new(scene->spec, scene->resources, scene->agents, scene->choice, NULL);
}

static void scene_close(struct scene *scene)
{
    plan_free(scene->plan);
    first_plan_free(scene->first);
    host_choice_free(scene->choice);
    agents_free(scene->agents);
    resources_free(scene->resources);
    spec_free(scene->spec);
    ev_loop_destroy(scene->loop);
    error_clear(&scene->err);
}

/* "n0:0-3 n1:0"; caller frees. */
static char *shown(const struct rset *set)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < set->nnodes; i++) {
        char *cores = idset_encode(set->nodes[i].children->cores);
        buf_printf(&text, "%s%s:%s", i ? " " : "", set->nodes[i].host, cores);
        free(cores);
    }
    return buf_take_text(&text);
}

static void assert_set(const struct rset *set, const char *want)
{
    assert_non_null(set);
    char *text = shown(set);
    assert_string_equal(text, want);
    free(text);
}

static void make_plan(struct scene *scene)
{
    plan_free(scene->plan);
    scene->plan = first_plan_make(scene->first, &scene->err);
    if (!scene->plan)
        fail_msg("%s", error_text(&scene->err));
}

static void test_what_the_layout_uses_is_to_be_claimed(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, "{'parts':[{'argv':['./mine'],'ntasks':6}]}", 2);
    assert_null(plan_layout(scene.plan));
    assert_null(plan_claim(scene.plan));
    make_plan(&scene);
    assert_int_equal(plan_layout(scene.plan)->ntasks, 6);
    assert_set(plan_claim(scene.plan), "n0:0-3 n1:0-1");
    struct rset *used = plan_used(scene.plan);
    assert_set(used, "n0:0-3 n1:0-1");
    rset_free(used);
    for (uint32_t i = 0; i < plan_candidates(scene.plan)->count; i++)
        assert_int_equal(plan_candidates(scene.plan)->hosts[i], i);
    struct rset *held = instance_held(resources_instance(scene.resources), NULL);
    assert_int_equal(held->nnodes, 0); /* a plan is a value */
    rset_free(held);
    scene_close(&scene);
}

static void test_what_others_hold_is_left_out_once_it_is_known(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, "{'parts':[{'argv':['./mine'],'ntasks':4}]}", 2);
    struct ledger_entry *other = hold(scene.resources, 0, 0, "0-1");
    make_plan(&scene);
    assert_set(plan_claim(scene.plan), "n0:0-3");
    assert_int_equal(resources_claim(scene.resources, plan_claim(scene.plan), &scene.err), 1);
    assert_int_equal(resources_refresh(scene.resources, &scene.err), 0);
    make_plan(&scene);
    assert_set(plan_claim(scene.plan), "n0:2-3 n1:0-1");
    assert_int_equal(resources_held_cores(scene.resources), 2);
    assert_int_equal(resources_claim(scene.resources, plan_claim(scene.plan), &scene.err), 0);
    entry_end(other);
    scene_close(&scene);
}

static void test_what_is_held_is_a_reason_to_wait_and_what_is_too_large_is_not(void **state)
{
    static const struct {
        const char *spec;
        uint32_t known;      /* hosts */
        const char *refused; /* begins, with all that there is held */
        const char *ever;    /* what would be claimed; NULL: never */
        bool is_known;
    } cases[] = {
        {"{'parts':[{'argv':['./mine'],'ntasks':6}]}", 2,
         "every core is held by other running programs (8 cores)", "n0:0-3 n1:0-1", true},
        {"{'parts':[{'argv':['./mine'],'ntasks':9}]}", 2,
         "every core is held by other running programs (8 cores)", NULL, true},
        {"{'parts':[{'argv':['./mine'],'ntasks':6}]}", 1,
         "every core is held by other running programs (8 cores)", NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene;
        bool known;
        scene_open(&scene, cases[i].spec, cases[i].known);
        struct ledger_entry *other = hold(scene.resources, 0, 1, "0-3");
        assert_int_equal(resources_refresh(scene.resources, NULL), 0);
        assert_null(first_plan_make(scene.first, &scene.err));
        assert_int_equal(
            strncmp(error_text(&scene.err), cases[i].refused, strlen(cases[i].refused)), 0);
        error_clear(&scene.err);
        struct rset *ever = first_plan_try(scene.first, NULL, &known, &scene.err);
        assert_int_equal(known, cases[i].is_known);
        if (cases[i].ever)
            assert_set(ever, cases[i].ever);
        else
            assert_null(ever);
        rset_free(ever);

        struct rset *held = rset_new();
        struct idset *cores = idset_decode("2-3", NULL);
        rset_append(held, 0, "n0", cores, NULL);
        ever = first_plan_try(scene.first, held, &known, NULL);
        if (cases[i].ever)
            assert_set(ever, "n0:0-1 n1:0-3");
        else
            assert_null(ever);
        rset_free(ever);
        idset_free(cores);
        rset_free(held);

        /* and the trials have changed nothing */
        assert_set(resources_held(scene.resources), "n0:0-3 n1:0-3");
        assert_null(cases[i].known < 2 ? host_at(scene.hosts, 1)->topo : NULL);
        entry_end(other);
        scene_close(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_the_layout_uses_is_to_be_claimed),
        cmocka_unit_test(test_what_others_hold_is_left_out_once_it_is_known),
        cmocka_unit_test(test_what_is_held_is_a_reason_to_wait_and_what_is_too_large_is_not),
    };
    return cmocka_run_group_tests(tests, make_world, end_world);
}
