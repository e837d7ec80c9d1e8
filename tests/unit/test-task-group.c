/* Task groups of a program, on a tree without agents: launched, checked, started, over. */
#include "tests/unit/false-tree.h"

#include "launcher/plan/candidates.h"
#include "launcher/program/task_group.h"
#include "launcher/protocol/task_report.h"

#define NHOSTS 3

struct scene { /* groups on hosts of four cores; the tree's log has "added" and the like, too */
    struct ev_loop *loop;
    struct tree *tree;
    struct task_groups *groups;
    struct topo *topo;
    struct layout_node nodes[NHOSTS];
    struct spec *spec;
    struct rset *claim;
};

static const char *const names[NHOSTS] = {"n0", "n1", "n2"};

static void on_added(void *owner, struct task_group *group, const struct task_group_source *from)
{
    (void)from;
    false_tree_log(((struct scene *)owner)->tree, "added.%u", task_group_number(group));
}

static void on_mapped(void *owner, const json_t *table)
{
    false_tree_log(((struct scene *)owner)->tree, "mapped.%d",
                   (int)json_integer_value(json_object_get(table, "ntasks")));
}

static void on_refused(void *owner, struct task_group *group, uint64_t time, int status,
                       const char *text, const struct idset *ranks)
{
    char *which = idset_encode(ranks);
    (void)time;
    false_tree_log(((struct scene *)owner)->tree, "refused.%u:%s:%d:%s", task_group_number(group),
                   which, status, text);
    free(which);
}

static void on_unstartable(void *owner, struct task_group *group)
{
    false_tree_log(((struct scene *)owner)->tree, "unstartable.%u", task_group_number(group));
}

static void on_launched(void *owner, struct task_group *group, const json_t *launch)
{
    (void)owner;
    assert_non_null(group);
    assert_true(json_is_object(launch));
}

static const struct task_groups_ops ops = {on_added, on_launched, on_mapped, on_refused,
                                           on_unstartable};

static struct spec *spec_of(const char *json)
{
    struct error err = ERROR_INIT;
    json_t *value = json_loads(json, 0, NULL);
    assert_non_null(value);
    struct spec *spec = spec_from_json(value, &err);
    if (!spec)
        fail_msg("%s: %s", json, error_text(&err));
    json_decref(value);
    return spec;
}

static void scene_open(struct scene *scene)
{
    *scene = (struct scene){.loop = ev_loop_new(0), .claim = rset_new()};
    scene->tree = tree_new(scene->loop, NULL, NULL, NULL);
    scene->groups = task_groups_new(scene->tree, &ops, scene);
    scene->topo = topo_load_synthetic("core:4 pu:1", NULL);
    scene->spec = spec_of("{\"version\":1,\"parts\":[{\"argv\":[\"./mine\"]}]}");
    for (uint32_t i = 0; i < NHOSTS; i++) {
        scene->nodes[i] = (struct layout_node){.host = names[i],
                                               .target = i,
                                               .topo = scene->topo,
                                               .cores = topo_allowed_cores(scene->topo)};
        idset_add(scene->tree->up, i);
        if (i < 2)
            rset_append(scene->claim, i, names[i], scene->nodes[i].cores, NULL);
    }
    task_groups_set_claim(scene->groups, scene->claim);
}

static void scene_close(struct scene *scene)
{
    task_groups_free(scene->groups);
    tree_free(scene->tree);
    for (uint32_t i = 0; i < NHOSTS; i++)
        idset_free((struct idset *)(uintptr_t)scene->nodes[i].cores);
    topo_free(scene->topo);
    spec_free(scene->spec);
    rset_free(scene->claim);
    ev_loop_destroy(scene->loop);
}

/* So many tasks on hosts from this one on, filled one after the other. */
static struct task_group *launch(struct scene *scene, uint32_t ntasks, uint32_t first)
{
    struct error err = ERROR_INIT;
    struct layout_part *parts = mem_array(1, sizeof(*parts));
    struct candidates candidates = {.nodes = mem_array(NHOSTS, sizeof(*candidates.nodes)),
                                    .hosts = mem_array(NHOSTS, sizeof(*candidates.hosts)),
                                    .count = NHOSTS - first};
    for (uint32_t i = 0; i < candidates.count; i++) {
        candidates.nodes[i] = scene->nodes[first + i];
        candidates.nodes[i].cores = idset_copy(scene->nodes[first + i].cores);
        candidates.hosts[i] = first + i;
    }
    parts->ntasks = ntasks;
    struct layout_request request = {.parts = parts,
                                     .nparts = 1,
                                     .hosts = names,
                                     .nhosts = NHOSTS,
                                     .positions = candidates.hosts};
    struct plan *plan = plan_make(&candidates, &request, &err);
    if (!plan)
        fail_msg("%s", error_text(&err));
    struct task_group_source source = {.spec = scene->spec, .plan = plan};
    struct task_group_origin origin = {
        .program = "7", .instance = "/run/i", .instance_id = "id", .hosts = names};
    struct task_group *group = task_group_start(scene->groups, &source, &origin);
    plan_free(plan);
    return group;
}

static void prepared(struct task_group *group, uint32_t node, const char *why, uint32_t rank)
{
    struct prepared_report report = {0};
    if (why)
        start_failures_add(&report.failed, rank, 127 << 8, mem_copy_text(why));
    json_t *value = prepared_report_to_json(&report);
    task_group_prepared(group, node, value);
    json_decref(value);
    prepared_report_clear(&report);
}

static void done(struct task_group *group, const char *nodes)
{
    struct idset *set = idset_decode(nodes, NULL);
    task_group_nodes_done(group, set);
    idset_free(set);
}

static void assert_ids(const struct idset *set, const char *want)
{
    char *text = idset_encode(set);
    assert_string_equal(text, want);
    free(text);
}

static void test_every_agent_hears_of_the_first_group_and_its_own_of_a_later_one(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    struct task_group *first = launch(&scene, 4, 0);
    assert_log(scene.tree, "added.0 mapped.4 LAUNCH.0@0-2");
    assert_ids(task_group_pending(first), "0-2");
    struct task_group *second = launch(&scene, 3, 1);
    assert_log(scene.tree, "added.1 mapped.3 LAUNCH.1@1");
    assert_ids(task_group_nodes(second), "1");
    assert_int_equal(task_group_first_rank(second), 4);
    assert_int_equal(task_groups_ranks(scene.groups), 7);
    assert_ptr_equal(task_groups_find(scene.groups, 1), second);
    assert_ptr_equal(task_group_next(first), second);
    uint32_t *tasks = task_groups_tasks(scene.groups, NHOSTS);
    assert_int_equal(tasks[0], 4);
    assert_int_equal(tasks[1], 3);
    assert_int_equal(tasks[2], 0);
    free(tasks);
    scene_close(&scene);
}

static void test_several_nodes_are_told_to_go_when_all_of_them_are_prepared(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    struct task_group *group = launch(&scene, 8, 0);
    assert_log(scene.tree, "added.0 mapped.8 LAUNCH.0@0-2");
    prepared(group, 1, NULL, 0);
    assert_log(scene.tree, "");
    prepared(group, 0, NULL, 0);
    assert_log(scene.tree, "GO.0@0-2");
    prepared(group, 0, NULL, 0); /* a word that comes late changes nothing */
    assert_log(scene.tree, "");
    scene_close(&scene);
}

static void test_one_node_that_cannot_start_its_tasks_holds_back_all(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    struct task_group *group = launch(&scene, 8, 0);
    assert_log(scene.tree, "added.0 mapped.8 LAUNCH.0@0-2");
    prepared(group, 1, "./mine: not found", 5);
    assert_log(scene.tree, "refused.0:5:32512:./mine: not found");
    prepared(group, 0, NULL, 0);
    assert_log(scene.tree, "unstartable.0");
    scene_close(&scene);
}

static void test_a_group_of_one_node_is_not_asked_whether_it_can_start(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    struct task_group *group = launch(&scene, 2, 0);
    assert_log(scene.tree, "added.0 mapped.2 LAUNCH.0@0-2");
    prepared(group, 0, "./mine: not found", 0);
    assert_log(scene.tree, "");
    scene_close(&scene);
}

static void test_what_a_group_uses_is_held_until_it_is_dropped(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    launch(&scene, 2, 0);
    struct task_group *second = launch(&scene, 3, 2);
    struct rset *used = task_groups_used(scene.groups), *held = task_groups_held(scene.groups);
    assert_int_equal(used->nnodes, 2); /* n0, n2 */
    assert_ids(rset_find_host(used, "n0")->children->cores, "0-1");
    assert_ids(rset_find_host(used, "n2")->children->cores, "0-2");
    assert_int_equal(held->nnodes, 3); /* the claim is of n0 and n1 */
    assert_ids(rset_find_host(held, "n0")->children->cores, "0-3");
    rset_free(used);
    rset_free(held);
    struct idset *lost = idset_decode("2", NULL);
    assert_true(task_groups_use(scene.groups, lost));
    task_group_drop(second);
    held = task_groups_held(scene.groups);
    assert_null(rset_find_host(held, "n2"));
    assert_false(!task_groups_use(scene.groups, lost));   /* every agent heard of the first */
    assert_int_equal(task_groups_ranks(scene.groups), 5); /* ranks are not given again */
    assert_null(task_groups_find(scene.groups, 1));
    rset_free(held);
    idset_free(lost);
    scene_close(&scene);
}

static void test_tasks_are_told_all_that_their_program_holds_their_own_included(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    launch(&scene, 2, 0);
    launch(&scene, 3, 2);
    json_t *R =
        json_loads(json_string_value(json_object_get(scene.tree->launch, "resources")), 0, NULL);
    struct rset *told = rset_from_json(R, NULL);
    assert_non_null(told);
    assert_ids(rset_find_host(told, "n0")->children->cores, "0-3"); /* claimed */
    assert_non_null(rset_find_host(told, "n2"));
    assert_ids(rset_find_host(told, "n2")->children->cores, "0-2");
    rset_free(told);
    json_decref(R);
    scene_close(&scene);
}

static void test_a_group_waits_for_nodes_until_they_are_done_or_lost(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    struct task_group *first = launch(&scene, 8, 0), *second = launch(&scene, 1, 1);
    done(second, "0"); /* is not one of its nodes */
    assert_ids(task_group_pending(second), "1");
    done(first, "0,2");
    assert_ids(task_group_pending(first), "1");
    struct idset *pending = task_groups_pending(scene.groups);
    assert_ids(pending, "1");
    idset_free(pending);
    assert_int_equal(task_groups_pending_on(scene.groups, 0), 0);
    assert_int_equal(task_groups_pending_on(scene.groups, 1), 5);
    done(first, "1"); /* lost */
    assert_true(idset_empty(task_group_pending(first)));
    assert_false(idset_empty(task_group_pending(second)));
    scene_close(&scene);
}

static void test_ranks_of_the_program_are_found_in_their_group(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    struct task_group *first = launch(&scene, 3, 0), *second = launch(&scene, 5, 1);
    struct idset *ranks = idset_decode("2-4,7,9", NULL);
    struct idset *own = task_group_own_ranks(second, ranks),
                 *nodes = task_group_nodes_of(second, ranks);
    assert_ids(own, "0-1,4");
    assert_ids(nodes, "1-2");
    idset_free(own);
    idset_free(nodes);
    own = task_group_own_ranks(first, ranks);
    assert_ids(own, "2");
    idset_free(own);
    idset_free(ranks);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_agent_hears_of_the_first_group_and_its_own_of_a_later_one),
        cmocka_unit_test(test_several_nodes_are_told_to_go_when_all_of_them_are_prepared),
        cmocka_unit_test(test_one_node_that_cannot_start_its_tasks_holds_back_all),
        cmocka_unit_test(test_a_group_of_one_node_is_not_asked_whether_it_can_start),
        cmocka_unit_test(test_what_a_group_uses_is_held_until_it_is_dropped),
        cmocka_unit_test(test_tasks_are_told_all_that_their_program_holds_their_own_included),
        cmocka_unit_test(test_a_group_waits_for_nodes_until_they_are_done_or_lost),
        cmocka_unit_test(test_ranks_of_the_program_are_found_in_their_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
