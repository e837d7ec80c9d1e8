/* A program on hosts of an R file, with a tree without agents: the test says what agents say. */
#include "tests/unit/false-tree.h"
#include "tests/unit/instance-world.h"

#include "launcher/instance/agents.h"
#include "launcher/program/program.h"
#include "launcher/protocol/hello.h"
#include "launcher/protocol/task_report.h"
#include "launcher/protocol/task_request.h"

/* ---- the table ---- */

/* By state, then by event: asked, shown, planned, refused, started, terminate, over, silent. */
static const char *const table[PROGRAM_NSTATES] = {
    [PROGRAM_EMPTY] = "ask:pending - - - - finish:complete - -",
    [PROGRAM_PENDING] = "- finish:complete launch:starting finish:complete - finish:complete - -",
    [PROGRAM_STARTING] = "- - - - nothing:running end:ending finish:complete -",
    [PROGRAM_RUNNING] = "- - - - - end:ending finish:complete -",
    [PROGRAM_ENDING] = "- - - - nothing:ending end:ending finish:complete finish:complete",
    [PROGRAM_COMPLETE] = "- - - nothing:complete nothing:complete nothing:complete - -",
};

static const char *const state_words[PROGRAM_NSTATES] = {"empty",   "pending", "starting",
                                                         "running", "ending",  "complete"};

static void test_each_event_does_in_each_state_what_the_table_says(void **state)
{
    static const char *const actions[] = {"nothing", "ask", "launch", "end", "finish"};
    (void)state;
    for (int from = 0; from < PROGRAM_NSTATES; from++) {
        struct buf row = BUF_INIT;
        for (int event = 0; event < PROGRAM_NEVENTS; event++) {
            struct program_transition change =
                program_transition((enum program_state)from, (enum program_event)event);
            buf_add_text(&row, event ? " " : "");
            if (change.action == PROGRAM_UNEXPECTED)
                buf_add_text(&row, "-");
            else
                buf_printf(&row, "%s:%s", actions[change.action], state_words[change.next]);
        }
        if (strcmp(buf_text(&row), table[from]) != 0)
            fail_msg("%s: %s, expected %s", state_words[from], buf_text(&row), table[from]);
        buf_free(&row);
    }
}

/* ---- a program ---- */

struct scene {
    struct ev_loop *loop;
    struct spec *spec;
    struct tree *tree;
    struct host_bootstrap *bootstrap;
    struct local_topology *local;
    struct program *program;
    struct topo *topo;
};

static void on_note(void *owner, const char *text)
{
    struct scene *scene = owner;
    false_tree_log(scene->tree, "note:%s", text);
}

static void on_say(void *owner, const char *text)
{
    (void)owner, (void)text;
}

static void on_show(void *owner, const char *text, bool error)
{
    (void)owner, (void)text, (void)error;
}

static bool on_progress(void *owner, const json_t *progress)
{
    (void)owner, (void)progress;
    return false;
}

static void on_launched(void *owner, const json_t *launch)
{
    struct scene *scene = owner;
    false_tree_log(scene->tree, "launched:%s",
                   json_string_value(json_object_get(launch, "program")));
}

static void on_mapped(void *owner, const json_t *value)
{
    (void)owner, (void)value;
}

static void on_say_args(void *owner, const char *fmt, va_list args)
{
    (void)owner, (void)fmt, (void)args;
}

static bool needs_pmix(const struct spec *spec)
{
    (void)spec;
    return false;
}

static void on_finishing(void *owner)
{
    (void)owner;
}

static void on_runs(void *owner)
{
    (void)owner;
}

static double inner_epilogs(void *owner)
{
    (void)owner;
    return 0;
}

static void on_input_gone(void *owner, const struct idset *ranks)
{
    (void)owner, (void)ranks;
}

static int on_result(void *owner, enum frame_result which, const char *text, struct error *err)
{
    (void)owner, (void)which, (void)text, (void)err;
    return 0;
}

static const struct program_ops program_ops = {
    on_note,   on_say,       on_show, on_result,     on_progress,  on_launched,
    on_mapped, on_finishing, on_runs, inner_epilogs, on_input_gone};
static const struct host_bootstrap_ops bootstrap_ops = {on_say_args, needs_pmix};

/* On so many hosts of four cores, none of which is this machine. */
static void scene_open(struct scene *scene, unsigned hosts, const char *spec)
{
    *scene = (struct scene){.loop = ev_default_loop(0), .spec = spec_on(hosts, spec)};
    free(scene->spec->bootstrap);
    scene->spec->bootstrap = mem_copy_text("false {host}");
    scene->tree = tree_new(scene->loop, NULL, NULL, NULL);
    scene->bootstrap = host_bootstrap_new(scene->spec, "tpagent", &bootstrap_ops, scene);
    scene->local = local_topology_new(NULL, NULL, NULL);
    scene->topo = topo_load_synthetic("core:4 pu:1", NULL);
    scene->program = program_new(scene->loop, scene->spec, scene->tree, scene->bootstrap,
                                 scene->local, 2, &program_ops, scene);
    program_begin(scene->program);
}

static void scene_close(struct scene *scene)
{
    if (program_state(scene->program) == PROGRAM_COMPLETE)
        program_complete(scene->program);
    program_leave(scene->program);
    tree_free(scene->tree);
    program_free(scene->program);
    host_bootstrap_free(scene->bootstrap);
    local_topology_free(scene->local);
    topo_free(scene->topo);
    spec_free(scene->spec);
}

static void assert_state(const struct scene *scene, enum program_state want)
{
    assert_string_equal(state_words[program_state(scene->program)], state_words[want]);
}

/* Takes the value. */
static void hears(struct scene *scene, enum frame_type type, uint32_t node, uint32_t group,
                  json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    struct frame frame = {
        .type = type, .node = node, .group = group, .bytes = text, .len = text ? strlen(text) : 0};
    json_t *read;
    if (program_check_frame(scene->program, &frame, &read) == 0)
        program_frame(scene->program, node, &frame, read);
    json_decref(read);
    json_decref(value);
    free(text);
}

static void hello(struct scene *scene, uint32_t node)
{
    char machine[16];
    snprintf(machine, sizeof(machine), "m%u", node);
    struct hello word = {.topo = scene->topo, .machine = machine};
    hears(scene, FRAME_HELLO, node, 0, hello_to_json(&word));
}

static void prepared(struct scene *scene, uint32_t node, uint32_t group)
{
    hears(scene, FRAME_PREPARED, node, group, json_pack("{s:[]}", "failed"));
}

static void done(struct scene *scene, const char *nodes, uint32_t group)
{
    struct done_report report = {.nodes = idset_decode(nodes, NULL)};
    hears(scene, FRAME_DONE, 0, group, done_report_to_json(&report));
    done_report_clear(&report);
}

static void ended(struct scene *scene, uint32_t group, uint32_t rank)
{
    struct ended_report report = {.why = "exit", .status = 3 << 8, .ranks = idset_new()};
    struct buf bytes = BUF_INIT;
    idset_add(report.ranks, rank);
    ended_report_pack(&bytes, 1, &report);
    struct frame frame = {
        .type = FRAME_ENDED, .group = group, .bytes = buf_bytes(&bytes), .len = bytes.len};
    json_t *read;
    assert_int_equal(program_check_frame(scene->program, &frame, &read), 0);
    program_frame(scene->program, 0, &frame, read);
    json_decref(read);
    buf_free(&bytes);
    ended_report_clear(&report);
}

/* Rank 0 asks for so many others. */
static void spawn(struct scene *scene, uint32_t ntasks)
{
    char *argv[] = {(char *)"./more", NULL};
    struct task_request_block block = {.argv = argv, .ntasks = ntasks};
    struct task_request request = {.kind = TASK_REQUEST_SPAWN, .blocks = &block, .nblocks = 1};
    hears(scene, FRAME_ASK, 0, 0, task_request_to_json(&request));
}

/* The status, and "" or the first line. */
static int outcome(const struct scene *scene, char *line, size_t size)
{
    struct buf lines = BUF_INIT;
    int status = program_outcome(scene->program, &lines);
    snprintf(line, size, "%.*s", (int)strcspn(buf_text(&lines), "\n"), buf_text(&lines));
    buf_free(&lines);
    return status;
}

static const char six[] = "{'parts':[{'argv':['./mine'],'ntasks':6}]}";
static const char two[] = "{'parts':[{'argv':['./mine'],'ntasks':2}]}";

/* Six tasks on n0 and n1, running. */
static void scene_run(struct scene *scene)
{
    scene_open(scene, 2, six);
    hello(scene, 0);
    hello(scene, 1);
    prepared(scene, 0, 0);
    prepared(scene, 1, 0);
    hears(scene, FRAME_STARTED, 0, 0, NULL);
    hears(scene, FRAME_STARTED, 1, 0, NULL);
    assert_state(scene, PROGRAM_RUNNING);
    buf_free(&scene->tree->log);
}

static void test_tasks_are_launched_when_all_hosts_that_are_wanted_are_up(void **state)
{
    struct scene scene;
    char line[256];
    (void)state;
    scene_open(&scene, 2, six);
    assert_log(scene.tree, "start@0 start@1");
    assert_state(&scene, PROGRAM_PENDING);
    hello(&scene, 1);
    assert_log(scene.tree, "");
    hello(&scene, 0);
    assert_log(scene.tree, "launched:1 LAUNCH.0@0-1");
    assert_state(&scene, PROGRAM_STARTING);
    prepared(&scene, 0, 0);
    prepared(&scene, 1, 0);
    assert_log(scene.tree, "GO.0@0-1");
    hears(&scene, FRAME_STARTED, 1, 0, NULL);
    assert_state(&scene, PROGRAM_STARTING);
    hears(&scene, FRAME_STARTED, 0, 0, NULL);
    assert_state(&scene, PROGRAM_RUNNING);
    done(&scene, "0", 0);
    assert_log(scene.tree, "");
    done(&scene, "1", 0);
    assert_log(scene.tree, "end");
    assert_state(&scene, PROGRAM_COMPLETE);
    assert_int_equal(outcome(&scene, line, sizeof(line)), 0);
    assert_string_equal(line, "");
    scene_close(&scene);
}

static void test_no_more_hosts_are_started_than_are_needed(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, 8, two);
    assert_log(scene.tree, "start@0");
    scene_close(&scene);
}

static void test_a_host_that_is_not_reached_is_replaced_by_a_spare_one(void **state)
{
    struct scene scene;
    struct idset *nodes = idset_decode("0", NULL);
    struct tree_unreached what = {.node = 0, .host = "n0", .text = "no", .nodes = nodes};
    (void)state;
    scene_open(&scene, 2, two);
    assert_log(scene.tree, "start@0");
    program_host_unreached(scene.program, &what, true);
    assert_log(scene.tree, "start@1");
    hello(&scene, 1);
    assert_state(&scene, PROGRAM_STARTING);
    idset_free(nodes);
    scene_close(&scene);
}

static void test_a_program_is_refused_when_no_host_is_reached(void **state)
{
    struct scene scene;
    struct idset *nodes = idset_decode("0", NULL);
    struct tree_unreached what = {.node = 0, .host = "n0", .text = "no", .nodes = nodes};
    char line[256];
    (void)state;
    scene_open(&scene, 1, two);
    assert_log(scene.tree, "start@0");
    program_host_unreached(scene.program, &what, true);
    assert_log(scene.tree, "end");
    assert_state(&scene, PROGRAM_COMPLETE);
    assert_int_not_equal(outcome(&scene, line, sizeof(line)), 0);
    assert_non_null(strstr(line, "n0: "));
    idset_free(nodes);
    scene_close(&scene);
}

static void test_a_task_that_fails_ends_the_others(void **state)
{
    struct scene scene;
    char line[256];
    (void)state;
    scene_run(&scene);
    ended(&scene, 0, 2);
    char want[32];
    snprintf(want, sizeof(want), "TERMINATE:%u", frame_grace(scene.spec->kill_grace));
    assert_log(scene.tree, want);
    assert_state(&scene, PROGRAM_ENDING);
    done(&scene, "0-1", 0);
    assert_log(scene.tree, "end");
    assert_int_equal(outcome(&scene, line, sizeof(line)), 3);
    assert_non_null(strstr(line, "rank 2"));
    scene_close(&scene);
}

static void test_a_node_that_is_lost_ends_the_program(void **state)
{
    struct scene scene;
    struct idset *nodes = idset_decode("1", NULL);
    (void)state;
    scene_run(&scene);
    program_nodes_lost(scene.program, "n1", nodes, "its link is gone", true, 1);
    assert_log(scene.tree, "TERMINATE:1000");
    assert_state(&scene, PROGRAM_ENDING);
    done(&scene, "0", 0); /* nobody waits for the other */
    assert_log(scene.tree, "end");
    assert_state(&scene, PROGRAM_COMPLETE);
    idset_free(nodes);
    scene_close(&scene);
}

static void test_a_program_waits_for_what_others_hold(void **state)
{
    struct scene scene, other;
    (void)state;
    scene_run(&scene);
    scene_open(&other, 2, "{'parts':[{'argv':['./mine'],'ntasks':3}]}");
    buf_free(&other.tree->log);
    hello(&other, 1);
    hello(&other, 0);
    assert_state(&other, PROGRAM_PENDING);
    assert_log(other.tree, "");
    scene_close(&other);
    done(&scene, "0-1", 0);
    scene_close(&scene);
}

/* Another program of the instance; ended by entry_end() and resources_free(). */
static struct ledger_entry *other_holds(struct scene *scene, struct resources **resources,
                                        unsigned first, unsigned last, const char *cores)
{
    *resources = open_resources(scene->spec);
    return hold(*resources, first, last, cores);
}

static void test_who_is_second_to_claim_plans_again_on_what_is_left(void **state)
{
    struct scene scene;
    struct resources *resources;
    (void)state;
    scene_open(&scene, 1, two);
    struct ledger_entry *other = other_holds(&scene, &resources, 0, 0, "0-1");
    hello(&scene, 0); /* what is free was read before */
    assert_state(&scene, PROGRAM_STARTING);
    struct rset *held = instance_held(resources_instance(resources), NULL);
    char *cores = idset_encode(rset_find_host(held, "n0")->children->cores);
    assert_string_equal(cores, "0-3");
    free(cores);
    rset_free(held);
    scene_close(&scene);
    entry_end(other);
    resources_free(resources);
}

static void test_a_spawn_never_gets_what_another_program_holds(void **state)
{
    struct scene scene;
    struct resources *resources;
    (void)state;
    scene_run(&scene);
    struct ledger_entry *other = other_holds(&scene, &resources, 1, 1, "2-3");
    spawn(&scene, 2);
    assert_log(scene.tree, "LAUNCH.1@0"); /* beside tasks of its own */
    scene_close(&scene);
    entry_end(other);
    resources_free(resources);
}

/* ---- a launch before the hello ---- */

/* The hardware of n0 is known from a program before, and agents take frames early. */
static void early_open(struct scene *scene, unsigned hosts, const char *spec)
{
    struct scene before;
    scene_open(&before, hosts, two);
    hello(&before, 0);
    done(&before, "0", 0);
    scene_close(&before);
    false_tree_takes_early = true;
    scene_open(scene, hosts, spec);
}

/* n0 is what its welcome said, but for this. */
static void hello_as_known(struct scene *scene, const char *gpus_refusal)
{
    const struct hello word = {
        .topo = scene->topo, .is_known = true, .machine = "m0", .gpus_refusal = gpus_refusal};
    hears(scene, FRAME_HELLO, 0, 0, hello_to_json(&word));
}

static void early_close(struct scene *scene)
{
    scene_close(scene);
    false_tree_takes_early = false;
}

static void assert_held(const struct scene *scene, const char *host, const char *want)
{
    struct resources *resources = open_resources(scene->spec);
    struct rset *held = instance_held(resources_instance(resources), NULL);
    const struct rset_node *node = rset_find_host(held, host);
    char *cores = node ? idset_encode(node->children->cores) : mem_copy_text("");
    assert_string_equal(cores, want);
    free(cores);
    rset_free(held);
    resources_free(resources);
}

static void test_a_host_that_is_known_is_sent_its_launch_before_it_answers(void **state)
{
    struct scene scene;
    (void)state;
    early_open(&scene, 2, two);
    assert_log(scene.tree, "start@0 early LAUNCH.0@0");
    assert_held(&scene, "n0", "0-1");
    assert_state(&scene, PROGRAM_PENDING);
    hello_as_known(&scene, NULL);
    assert_log(scene.tree, "launched:2");
    assert_state(&scene, PROGRAM_STARTING);
    hears(&scene, FRAME_STARTED, 0, 0, NULL);
    spawn(&scene, 2);
    assert_log(scene.tree, "LAUNCH.1@0");
    done(&scene, "0", 1);
    done(&scene, "0", 0);
    assert_log(scene.tree, "end");
    early_close(&scene);
}

static void test_a_host_that_is_another_than_was_known_is_sent_its_launch_again(void **state)
{
    struct scene scene;
    (void)state;
    early_open(&scene, 1, "{'parts':[{'argv':['./mine'],'ntasks':6,'oversubscribe':true}]}");
    assert_log(scene.tree, "start@0 early LAUNCH.0@0");
    assert_held(&scene, "n0", "0-3");
    topo_free(scene.topo);
    scene.topo = topo_load_synthetic("core:8 pu:1", NULL);
    hello(&scene, 0);
    assert_log(scene.tree, "launched:2 LAUNCH.0@0");
    hears(&scene, FRAME_STARTED, 0, 0, NULL);
    spawn(&scene, 2);
    assert_int_equal(json_integer_value(json_object_get(scene.tree->launch, "first_rank")), 6);
    early_close(&scene);
}

/* What the agent does with its launch, it does by hello_is_as_known(). */
static void test_manager_and_agent_agree_by_the_hello_whether_the_launch_counts(void **state)
{
    struct idset *gpus = idset_decode("0", NULL);
    struct topo *other = topo_load_synthetic("core:8 pu:1", NULL);
    const struct hello hellos[] = {{.is_known = true},
                                   {.is_known = true, .machine = "m7"},
                                   {.is_known = true, .gpus = gpus},
                                   {.is_known = true, .gpus_refusal = "they have other names"},
                                   {.is_known = true, .refusal = "it has only cores 0-1"},
                                   {.is_known = false},
                                   {.is_known = false, .topo = other}};
    (void)state;
    for (size_t i = 0; i < sizeof(hellos) / sizeof(hellos[0]); i++) {
        struct scene scene;
        struct hello word = hellos[i];
        early_open(&scene, 1, two);
        buf_free(&scene.tree->log);
        word.topo = word.topo ? word.topo : scene.topo;
        hears(&scene, FRAME_HELLO, 0, 0, hello_to_json(&word));
        const char *log =
            buf_text(&scene.tree->log); /* "launched:N", and LAUNCH where it is sent */
        bool counts = strstr(log, "launched:") && !strstr(log, "LAUNCH");
        if (counts != hello_is_as_known(&word))
            fail_msg("hello %zu: %s", i, buf_text(&scene.tree->log));
        if (counts)
            done(&scene, "0", 0);
        early_close(&scene);
    }
    topo_free(other);
    idset_free(gpus);
}

static void test_an_early_launch_to_a_host_that_is_not_reached_goes_to_another(void **state)
{
    struct scene scene;
    struct idset *nodes = idset_decode("0", NULL);
    struct tree_unreached what = {.node = 0, .host = "n0", .text = "no", .nodes = nodes};
    (void)state;
    early_open(&scene, 2, two);
    buf_free(&scene.tree->log);
    program_host_unreached(scene.program, &what, true);
    assert_log(scene.tree, "start@1");
    assert_held(&scene, "n0", "");
    idset_remove(scene.tree->up, 0);
    hello(&scene, 1);
    assert_log(scene.tree, "note:n0: not started: resolve: no (after 0.0 s); left out, since the "
                           "other hosts suffice launched:2 LAUNCH.0@1");
    assert_held(&scene, "n0", "");
    assert_held(&scene, "n1", "0-1");
    hears(&scene, FRAME_STARTED, 1, 0, NULL);
    assert_state(&scene, PROGRAM_RUNNING);
    idset_free(nodes);
    early_close(&scene);
}

static void test_what_others_hold_is_not_launched_early(void **state)
{
    struct scene scene, other;
    (void)state;
    scene_open(&other, 1, "{'parts':[{'argv':['./mine'],'ntasks':3}]}");
    hello(&other, 0);
    false_tree_takes_early = true;
    scene_open(&scene, 1, two);
    assert_log(scene.tree, "start@0");
    assert_held(&scene, "n0", "0-2");
    early_close(&scene);
    done(&other, "0", 0);
    scene_close(&other);
}

/* It stands in line, which is not over before its host is there. */
static void test_who_has_waited_for_a_host_is_not_launched_early(void **state)
{
    struct scene scene, other;
    (void)state;
    scene_open(&other, 1, "{'parts':[{'argv':['./mine'],'ntasks':4}]}");
    hello(&other, 0);
    false_tree_takes_early = true;
    scene_open(&scene, 1, two);
    assert_log(scene.tree, "");
    done(&other, "0", 0);
    scene_close(&other);
    for (int turns = 0; turns < 1000 && !scene.tree->log.len; turns++)
        ev_run(scene.loop, EVRUN_ONCE);
    assert_log(scene.tree, "start@0");
    hello_as_known(&scene, NULL);
    assert_log(scene.tree, "launched:2 LAUNCH.0@0");
    early_close(&scene);
}

static void test_what_is_shown_first_and_what_is_on_two_hosts_is_not_launched_early(void **state)
{
    static const char *const later[] = {
        "{'parts':[{'argv':['./mine'],'ntasks':2}],'display':['map']}",
        "{'parts':[{'argv':['./mine'],'ntasks':6,'oversubscribe':true}]}",
        "{'parts':[{'argv':['./mine'],'shape':'slot=2/core'}]}"};
    (void)state;
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        struct scene scene;
        early_open(&scene, 2, later[i]);
        if (strstr(buf_text(&scene.tree->log), "early"))
            fail_msg("%s: \"%s\"", later[i], buf_text(&scene.tree->log));
        early_close(&scene);
    }
}

static void test_an_early_launch_is_of_no_program_that_was_ended(void **state)
{
    struct scene scene;
    (void)state;
    early_open(&scene, 1, two);
    buf_free(&scene.tree->log);
    program_terminate(scene.program, 1, 0);
    assert_log(scene.tree, "end");
    assert_held(&scene, "n0", "0-1"); /* until its agent is gone */
    hello_as_known(&scene, NULL);
    hears(&scene, FRAME_STARTED, 0, 0, NULL);
    assert_log(scene.tree, "");
    assert_state(&scene, PROGRAM_COMPLETE);
    early_close(&scene);
}

/* ---- what tasks ask for ---- */

static void assert_answer(struct scene *scene, const char *refusal)
{
    struct task_answer answer = {0};
    struct error err = ERROR_INIT;
    assert_non_null(scene->tree->answer);
    if (task_answer_from_json(&answer, scene->tree->answer, &err) < 0)
        fail_msg("%s", error_text(&err));
    if (!refusal)
        assert_null(answer.refusal);
    else if (!answer.refusal || !strstr(answer.refusal, refusal))
        fail_msg("refusal \"%s\", expected \"%s\"", answer.refusal ? answer.refusal : "none",
                 refusal);
    task_answer_clear(&answer);
}

static void test_spawned_tasks_get_what_is_free_and_the_answer_when_they_run(void **state)
{
    struct scene scene;
    (void)state;
    scene_run(&scene);
    spawn(&scene, 2);
    assert_log(scene.tree, "LAUNCH.1@1");
    hears(&scene, FRAME_STARTED, 1, 1, NULL);
    assert_log(scene.tree, "ANSWER.0@0");
    assert_answer(&scene, NULL);
    done(&scene, "1", 1);
    done(&scene, "0-1", 0);
    assert_log(scene.tree, "end");
    scene_close(&scene);
}

static void test_spawned_tasks_that_find_nothing_free_share_with_their_program(void **state)
{
    struct scene scene;
    (void)state;
    scene_run(&scene);
    spawn(&scene, 3);
    assert_log(scene.tree, "LAUNCH.1@0");
    scene_close(&scene);
}

static void test_a_host_is_started_for_spawned_tasks_that_do_not_fit(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, 2, two);
    hello(&scene, 0);
    hears(&scene, FRAME_STARTED, 0, 0, NULL);
    assert_log(scene.tree, "start@0 launched:1 LAUNCH.0@0");
    spawn(&scene, 4);
    assert_log(scene.tree, "late@1");
    hello(&scene, 1);
    assert_log(scene.tree, "LAUNCH.1@0-1");
    scene_close(&scene);
}

static void test_spawned_tasks_do_without_a_host_that_fails(void **state)
{
    struct scene scene;
    struct idset *nodes = idset_decode("1", NULL);
    struct tree_unreached what = {.node = 1, .host = "n1", .text = "no", .nodes = nodes};
    (void)state;
    scene_open(&scene, 2, two);
    hello(&scene, 0);
    hears(&scene, FRAME_STARTED, 0, 0, NULL);
    spawn(&scene, 4);
    buf_free(&scene.tree->log);
    program_host_unreached(scene.program, &what, true);
    assert_log(scene.tree, "LAUNCH.1@0"); /* beside the two that are there */
    idset_free(nodes);
    scene_close(&scene);
}

static void test_ends_of_spawned_tasks_are_kept_until_all_of_them_run(void **state)
{
    struct scene scene;
    (void)state;
    scene_run(&scene);
    spawn(&scene, 2);
    buf_free(&scene.tree->log);
    ended(&scene, 1, 7);
    assert_log(scene.tree, "");
    assert_state(&scene, PROGRAM_RUNNING);
    hears(&scene, FRAME_STARTED, 1, 1, NULL);
    char want[64];
    snprintf(want, sizeof(want), "ANSWER.0@0 TERMINATE:%u", frame_grace(scene.spec->kill_grace));
    assert_log(scene.tree, want);
    assert_state(&scene, PROGRAM_ENDING);
    scene_close(&scene);
}

static void test_a_spawn_of_which_a_task_does_not_start_is_given_up(void **state)
{
    struct scene scene;
    struct started_report report = {0};
    (void)state;
    scene_run(&scene);
    spawn(&scene, 2);
    buf_free(&scene.tree->log);
    start_failures_add(&report.failed, 6, 127 << 8, mem_copy_text("./more: not found"));
    hears(&scene, FRAME_STARTED, 1, 1, started_report_to_json(&report));
    start_failures_clear(&report.failed);
    assert_log(scene.tree, "ANSWER.0@0 TERMINATE.1@1");
    assert_answer(&scene, "./more: not found");
    assert_state(&scene, PROGRAM_RUNNING);
    scene_close(&scene);
}

static void test_nothing_is_spawned_once_the_program_ends(void **state)
{
    struct scene scene;
    (void)state;
    scene_run(&scene);
    program_terminate(scene.program, 1, 0);
    buf_free(&scene.tree->log);
    spawn(&scene, 2);
    assert_log(scene.tree, "ANSWER.0@0");
    assert_answer(&scene, "the program is ending");
    scene_close(&scene);
}

int main(void)
{
#define ON_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, end_world)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_event_does_in_each_state_what_the_table_says),
        ON_WORLD(test_tasks_are_launched_when_all_hosts_that_are_wanted_are_up),
        ON_WORLD(test_no_more_hosts_are_started_than_are_needed),
        ON_WORLD(test_a_host_that_is_not_reached_is_replaced_by_a_spare_one),
        ON_WORLD(test_a_program_is_refused_when_no_host_is_reached),
        ON_WORLD(test_a_task_that_fails_ends_the_others),
        ON_WORLD(test_a_node_that_is_lost_ends_the_program),
        ON_WORLD(test_a_program_waits_for_what_others_hold),
        ON_WORLD(test_who_is_second_to_claim_plans_again_on_what_is_left),
        ON_WORLD(test_a_spawn_never_gets_what_another_program_holds),
        ON_WORLD(test_a_host_that_is_known_is_sent_its_launch_before_it_answers),
        ON_WORLD(test_a_host_that_is_another_than_was_known_is_sent_its_launch_again),
        ON_WORLD(test_manager_and_agent_agree_by_the_hello_whether_the_launch_counts),
        ON_WORLD(test_an_early_launch_to_a_host_that_is_not_reached_goes_to_another),
        ON_WORLD(test_what_others_hold_is_not_launched_early),
        ON_WORLD(test_who_has_waited_for_a_host_is_not_launched_early),
        ON_WORLD(test_what_is_shown_first_and_what_is_on_two_hosts_is_not_launched_early),
        ON_WORLD(test_an_early_launch_is_of_no_program_that_was_ended),
        ON_WORLD(test_spawned_tasks_get_what_is_free_and_the_answer_when_they_run),
        ON_WORLD(test_spawned_tasks_that_find_nothing_free_share_with_their_program),
        ON_WORLD(test_a_host_is_started_for_spawned_tasks_that_do_not_fit),
        ON_WORLD(test_spawned_tasks_do_without_a_host_that_fails),
        ON_WORLD(test_ends_of_spawned_tasks_are_kept_until_all_of_them_run),
        ON_WORLD(test_a_spawn_of_which_a_task_does_not_start_is_given_up),
        ON_WORLD(test_nothing_is_spawned_once_the_program_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
