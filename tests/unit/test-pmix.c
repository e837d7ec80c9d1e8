/* The host side of openpmix, with real hosts and real clients. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "config.h"
#include "pmi-server/pmix/direct_modex_request.h"
#include "pmi-server/pmix/fence.h"
#include "pmi-server/pmix/namespace.h"
#include "pmi-server/pmix/server.h"
#include "pmi-server/protocol/message.h"
#include "tests/unit/pmix-leaks.h"
#include "tests/unit/pmix-node.h"
#include "tests/unit/unit.h"

#ifdef HAVE_PMIX
#include <pmix_version.h>

#include "pmi-server/pmix/context.h"
#include "pmi-server/pmix/fence_private.h"
#include "pmi-server/pmix/info.h"
#include "pmi-server/pmix/job_control.h"
#include "pmi-server/pmix/module.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/upcall_queue.h"
#include "tests/programs/pmix-versions.h"

/* What stands in front and behind in PMIx_Get_version()'s text is not the version. */
static void a_version_is_read_from_its_text(void **state)
{
    static const struct {
        const char *text, *version;
        unsigned major, minor, release;
        bool candidate, known;
    } cases[] = {
        {"OpenPMIx 4.2.2 (PMIx Standard: 4.1, Stable ABI: 0.0)", "4.2.2", 4, 2, 2, false, true},
        {"OpenPMIx 4.2.2rc2 (PMIx Standard: 4.1)", "4.2.2rc2", 4, 2, 2, true, true},
        {"OpenPMIx 5.0.11, repo rev: v5.0.11 (PMIx Standard: 4.2)", "5.0.11", 5, 0, 11, false,
         true},
        {"OpenPMIx 7.0.0rc1 (PMIx Standard: 5.0)", "7.0.0rc1", 7, 0, 0, true, true},
        {"OpenPMIx 7.255.300 (PMIx Standard: 5.0)", "7.255.300", 7, 255, 255, false, true},
        {"OpenPMIx 8.0.0 (PMIx Standard: 6.0)", "8.0.0", 8, 0, 0, false, false},
        {"OpenPMIx 99999999999999999999 (PMIx Standard)", "99999999999999999999", 255, 0, 0, false,
         false},
        {"OpenPMIx 4.1.3 (PMIx Standard: 4.0)", "4.1.3", 4, 1, 3, false, false},
        {"3", "3", 3, 0, 0, false, false},
        {"OpenPMIx none (PMIx Standard: 5.0)", "", 0, 0, 0, false, false},
        {"", "", 0, 0, 0, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pmix_version version = pmix_version_of(cases[i].text);
        assert_string_equal(version.text, cases[i].version);
        assert_int_equal(version.major, cases[i].major);
        assert_int_equal(version.minor, cases[i].minor);
        assert_int_equal(version.release, cases[i].release);
        assert_int_equal(version.candidate, cases[i].candidate);
        assert_int_equal(pmix_version_known(&version), cases[i].known);
    }
}

/* As the headers of these versions have it; where it is not known, nothing but what all have. */
static void each_version_is_given_the_upcalls_that_it_reads_where_it_reads_them(void **state)
{
    static const struct {
        const char *version;
        size_t count, tool_connected2, log2, session_control;
    } cases[] = {
        {"4.2.0", 28, 0, 0, 0},       {"4.2.2rc2", 28, 0, 0, 0},  {"4.2.3rc1", 64, 0, 0, 0},
        {"4.2.9", 28, 0, 0, 0},       {"4.3.0", 64, 0, 0, 0},     {"5.0.0", 29, 0, 0, 28},
        {"5.0.7", 29, 0, 0, 28},      {"5.0.10rc1", 64, 0, 0, 0}, {"5.0.11", 29, 0, 0, 28},
        {"5.0.12", 64, 0, 0, 0},      {"6.0.0", 30, 0, 0, 28},    {"6.1.0", 32, 28, 29, 30},
        {"6.1.1rc2", 32, 28, 29, 30}, {"6.2.0", 64, 0, 0, 0},     {"7.0.0rc1", 32, 28, 29, 30},
        {"7.0.0", 32, 28, 29, 30},    {"7.0.1", 64, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pmix_version version = pmix_version_of(cases[i].version);
        struct module_slots slots = module_make(&version);
        assert_int_equal(slots.count, cases[i].count);
        assert_memory_equal(slots.at, &pmix_upcalls, 28 * sizeof(*slots.at));
        for (size_t at = 28; at < slots.count; at++)
            assert_ptr_equal(slots.at[at],
                             at == cases[i].tool_connected2   ? (void *)tool_connected2_upcall
                             : at == cases[i].log2            ? (void *)log2_upcall
                             : at == cases[i].session_control ? (void *)job_control_session_upcall
                                                              : NULL);
        free(slots.at);
    }
}

/* The headers of the build tell where its own version has them. */
static void what_the_headers_have_is_where_the_table_has_it(void **state)
{
    struct pmix_version version = pmix_version_of(pmix_server_version(NULL));
    struct module_slots slots = module_make(&version);
    (void)state;
    if (version.major != PMIX_VERSION_MAJOR || version.minor != PMIX_VERSION_MINOR ||
        version.release != PMIX_VERSION_RELEASE)
        skip(); /* another one is loaded */
    assert_int_equal(slots.count * sizeof(*slots.at), sizeof(pmix_server_module_t));
#if PMIX_VERSION_MAJOR >= 5
    const pmix_server_module_t *module = (const pmix_server_module_t *)slots.at;
    assert_ptr_equal(module->session_control, job_control_session_upcall);
#endif
#if PMIX_NUMERIC_VERSION >= 0x00060100
    assert_ptr_equal(module->tool_connected2, tool_connected2_upcall);
    assert_ptr_equal(module->log2, log2_upcall);
#endif
    free(slots.at);
}

/* Everybody came to a good end, and the host saw it. */
static void check_good(const struct pmix_outcome *outcomes, uint32_t nnodes)
{
    for (uint32_t rank = 0; rank < TASKS; rank++) {
        const struct pmix_outcome *o = &outcomes[rank / (TASKS / nnodes)];
        assert_string_equal(o->error, "");
        assert_false(o->stuck);
        assert_int_equal(o->exits[rank], 0);
        assert_int_equal(o->states[rank], PMI_FINALIZED);
    }
}

static struct pmix_outcome *run_good(uint32_t nnodes, const char *scenario)
{
    struct pmix_outcome *outcomes = pmix_nodes_run(nnodes, scenario);
    check_good(outcomes, nnodes);
    return outcomes;
}

static void tasks_of_one_node_exchange_and_fence(void **state)
{
    (void)state;
    struct pmix_outcome *o = run_good(1, "everybody");
    printf("host %.1f ms, %ld KiB; job %.1f ms, %ld KiB; end %.1f ms\n", o->host_ms, o->host_kib,
           o->job_ms, o->job_kib, o->free_ms);
    assert_int_equal(o->rounds, 0);
    pmix_nodes_free(o, 1);
}

static void tasks_of_two_nodes_exchange_and_fence(void **state)
{
    (void)state;
    struct pmix_outcome *o = run_good(2, "everybody");
    assert_int_equal(o[0].rounds, 21);
    assert_int_equal(o[1].rounds, 21);
    pmix_nodes_free(o, 2);
}

/* From here on nodes are forked from a process that has done it; no server has begun in it. */
static void what_openpmix_does_first_is_done_once_for_what_is_forked(void **state)
{
    (void)state;
    pmix_server_watch_forks();
    assert_false(pmix_server_warm_for_forks());
    struct pmix_outcome *o = run_good(1, "everybody");
    assert_false(o->aside);
    pmix_nodes_free(o, 1);
    assert_true(pmix_server_warm_for_forks());
    assert_null(getenv("PMIX_MCA_gds"));
    assert_null(getenv("PMIX_OUTPUT_STDERR_FD"));
    o = run_good(2, "everybody");
    assert_true(o[0].aside && o[1].aside);
    pmix_nodes_free(o, 2);
}

static void fences_of_some_ranks_are_rounds_of_their_nodes(void **state)
{
    (void)state;
    struct pmix_outcome *o = run_good(2, "some");
    assert_int_equal(o[0].parts, 2);
    assert_int_equal(o[1].parts, 2);
    assert_int_equal(o[0].rounds, 1);
    pmix_nodes_free(o, 2);
}

static void what_was_not_collected_is_fetched_from_its_node(void **state)
{
    (void)state;
    struct pmix_outcome *o = run_good(2, "modex");
    assert_true(o[0].posts >= 2 + 2); /* asked for two ranks, answered for two */
    assert_true(o[1].posts >= 2 + 2);
    pmix_nodes_free(o, 2);
}

static void what_is_put_after_it_was_asked_for_is_waited_for(void **state)
{
    (void)state;
    pmix_nodes_free(run_good(2, "modex-late"), 2);
}

static void what_is_not_for_other_nodes_or_not_there_is_not_found(void **state)
{
    (void)state;
    pmix_nodes_free(run_good(2, "modex-not-there"), 2);
}

static void who_asks_for_what_never_comes_is_told_in_time(void **state)
{
    (void)state;
    pmix_nodes_free(run_good(2, "modex-never-int"), 2);
    pmix_nodes_free(run_good(2, "modex-never-uint32"), 2);
}

static void tasks_are_told_about_their_job(void **state)
{
    (void)state;
    for (uint32_t nnodes = 1; nnodes <= 2; nnodes++)
        pmix_nodes_free(run_good(nnodes, "facts"), nnodes);
}

static void a_text_that_is_logged_comes_in_lines(void **state)
{
    (void)state;
    struct pmix_outcome *o = run_good(2, "say");
    assert_string_equal(o[0].out, "to stdout\n");
    assert_string_equal(o[0].err, "to stderr\na message\nin two parts\n");
    pmix_nodes_free(o, 2);
}

/* ---- two jobs ---- */

static uint32_t node_of(enum pmix_jobs jobs, uint32_t task)
{
    if (jobs == PMIX_TWO_PARTLY && task >= TASKS / 2)
        return 0;
    return jobs == PMIX_TWO_APART ? task / 2 : task % 2;
}

static void run_jobs(enum pmix_jobs jobs, const char *scenario)
{
    struct pmix_outcome *outcomes = pmix_jobs_run(jobs, scenario);
    for (uint32_t i = 0; i < TASKS; i++) {
        const struct pmix_outcome *o = &outcomes[node_of(jobs, i)];
        assert_string_equal(o->error, "");
        assert_false(o->stuck);
        assert_int_equal(o->exits[i], 0);
        assert_int_equal(o->states[i], PMI_FINALIZED);
    }
    pmix_nodes_free(outcomes, 2);
}

static void run_layouts(const char *scenario)
{
    run_jobs(PMIX_TWO_APART, scenario);
    run_jobs(PMIX_TWO_MIXED, scenario);
}

static void who_is_connected_knows_of_the_other_job(void **state)
{
    (void)state;
    run_layouts("connect");
    run_layouts("connect-some");
}

static void tasks_of_two_jobs_exchange_and_fence(void **state)
{
    (void)state;
    run_layouts("fences");
    run_layouts("fence-nb");
}

static void what_a_task_of_another_job_has_put_is_fetched(void **state)
{
    (void)state;
    run_layouts("modex");
    run_layouts("modex-never");
}

static void who_waits_for_what_does_not_come_is_told(void **state)
{
    (void)state;
    run_layouts("too-late");
    run_layouts("nobody");
    run_jobs(PMIX_TWO_APART, "left"); /* of one on the same node openpmix itself waits */
}

static void who_waits_for_one_that_was_killed_is_told(void **state)
{
    (void)state;
    for (enum pmix_jobs jobs = PMIX_TWO_APART; jobs <= PMIX_TWO_MIXED; jobs++) {
        struct pmix_outcome *o = pmix_jobs_run(jobs, "killed");
        for (uint32_t i = 0; i < TASKS; i++) {
            int status = o[0].exits[i] | o[1].exits[i];
            assert_int_equal(status, i == 2 ? SIGKILL : 0);
        }
        assert_false(o[0].stuck || o[1].stuck);
        pmix_nodes_free(o, 2);
    }
}

static void a_group_of_tasks_of_two_jobs_has_a_number_of_its_own(void **state)
{
    (void)state;
    run_jobs(PMIX_TWO_MIXED, "group");
}

static void a_group_of_jobs_on_different_nodes_has_a_number_of_its_own(void **state)
{
    (void)state;
    run_jobs(PMIX_TWO_APART, "group");
}

/* openpmix 5.0 takes the end of a group for local where each of its jobs has a task on the node,
 * here on the first node, and not on the second. */
static void a_group_ends_on_nodes_that_have_tasks_of_some_of_its_jobs(void **state)
{
    (void)state;
    run_jobs(PMIX_TWO_PARTLY, "group");
}

static void who_leads_a_group_brings_others_along(void **state)
{
    (void)state;
    if (!group_has_followers())
        skip();
    run_jobs(PMIX_TWO_APART, "followers");
    run_jobs(PMIX_TWO_MIXED, "followers");
    run_jobs(PMIX_TWO_PARTLY, "followers");
}

/* The server of openpmix 6.0 to 7.0.0rc1 takes a leader for one more follower where a follower of the
 * same node was faster, and waits for ever (get_tracker() in its pmix_server_group.c): here they
 * are on different nodes. */
static void leaders_that_know_each_other_bring_others_along(void **state)
{
    (void)state;
    if (!group_has_followers())
        skip();
    run_jobs(PMIX_TWO_MIXED, "added");
}

static void a_thousand_fences_of_two_jobs_end(void **state)
{
    (void)state;
    run_layouts("speed");
}

static void an_abort_is_told_with_rank_status_and_text(void **state)
{
    (void)state;
    struct pmix_outcome *o = pmix_nodes_run(1, "give-up");
    assert_string_equal(o->error, "");
    assert_false(o->stuck);
    assert_int_equal(o->aborted, 7);
    assert_int_equal(o->abort_rank, 1);
    assert_string_equal(o->abort_message, "enough");
    pmix_nodes_free(o, 1);
}

static void a_spawn_is_told_to_the_owner_and_answered(void **state)
{
    (void)state;
    struct pmix_outcome *o = run_good(1, "spawn");
    assert_int_equal(o->spawns, 2);
    assert_string_equal(o->err, "tprun: spawn refused: \"pmix.nobody\" is required, and means "
                                "nothing here\n");
    pmix_nodes_free(o, 1);
}

static void tasks_find_out_about_their_job_and_each_other(void **state)
{
    (void)state;
    for (uint32_t nnodes = 1; nnodes <= 2; nnodes++)
        pmix_nodes_free(run_good(nnodes, "queries"), nnodes);
}

/* The owner ends the others; nothing hangs, and the server can be taken down. */
static void a_task_that_is_killed_in_a_fence_leaves_a_host_that_ends(void **state)
{
    (void)state;
    struct pmix_outcome *o = pmix_nodes_run(1, "die");
    assert_string_equal(o->error, "");
    assert_false(o->stuck);
    assert_true(WIFSIGNALED(o->exits[1]));
    assert_int_equal(o->states[1], PMI_RUNNING);
    assert_true(o->free_ms < 4000);
    pmix_nodes_free(o, 1);
}

static void one_who_never_connects_stays_silent(void **state)
{
    (void)state;
    struct pmix_outcome *o = pmix_nodes_run(1, "silent");
    for (uint32_t rank = 0; rank < TASKS; rank++)
        assert_int_equal(o->states[rank], PMI_SILENT);
    assert_false(o->made);
    pmix_nodes_free(o, 1);
}

static void a_directory_is_made_for_those_who_connect(void **state)
{
    (void)state;
    struct pmix_outcome *o = pmix_nodes_run(1, "everybody");
    assert_true(o->made);
    pmix_nodes_free(o, 1);
}

/* Every node that has somebody waiting says so. */
static void check_missing(const char *scenario)
{
    for (uint32_t nnodes = 1; nnodes <= 2; nnodes++) {
        struct pmix_outcome *outcomes = pmix_nodes_run(nnodes, scenario);
        for (uint32_t i = 0; i < nnodes; i++) {
            assert_string_equal(outcomes[i].error, "");
            assert_false(outcomes[i].stuck);
            assert_true(outcomes[i].told);
            assert_int_equal(outcomes[i].missing, 1);
            assert_int_not_equal(outcomes[i].waiting, 1);
            assert_int_equal(outcomes[i].waiting / (TASKS / nnodes), i);
        }
        pmix_nodes_free(outcomes, nnodes);
    }
}

static void who_left_without_connecting_is_missing_from_a_fence(void **state)
{
    (void)state;
    check_missing("leave");
}

static void who_leaves_when_others_wait_is_missing_from_their_fence(void **state)
{
    (void)state;
    check_missing("leave-late");
}

static void who_left_after_a_finalize_is_missing_from_later_fences(void **state)
{
    (void)state;
    check_missing("finish-early");
}

static void who_left_is_not_missing_where_nobody_waits_for_it(void **state)
{
    static const char *const scenarios[] = {"leave-others", "finish-in-turn"};
    (void)state;
    for (uint32_t nnodes = 1; nnodes <= 2; nnodes++)
        for (size_t i = 0; i < 2; i++) {
            struct pmix_outcome *outcomes = pmix_nodes_run(nnodes, scenarios[i]);
            for (uint32_t rank = 0; rank < TASKS; rank++) {
                const struct pmix_outcome *o = &outcomes[rank / (TASKS / nnodes)];
                assert_false(o->stuck);
                assert_false(o->told);
                assert_int_equal(o->exits[rank], 0);
            }
            pmix_nodes_free(outcomes, nnodes);
        }
}

/* On one node, and on two. */
static void run_both(const char *scenario)
{
    for (uint32_t nnodes = 1; nnodes <= 2; nnodes++)
        pmix_nodes_free(run_good(nnodes, scenario), nnodes);
}

static void what_a_task_publishes_others_look_up_and_only_it_withdraws(void **state)
{
    (void)state;
    run_both("names");
}

static void a_name_is_found_in_its_range(void **state)
{
    (void)state;
    run_both("names-ranges");
}

static void a_lookup_waits_for_what_is_published_later_and_not_for_ever(void **state)
{
    (void)state;
    run_both("names-wait");
}

static void a_name_to_be_read_once_is_found_by_one(void **state)
{
    (void)state;
    run_both("names-once");
}

static void a_name_of_a_task_ends_with_it(void **state)
{
    (void)state;
    run_both("names-end");
}

static void an_event_of_a_task_reaches_those_of_other_nodes_once(void **state)
{
    (void)state;
    for (uint32_t nnodes = 1; nnodes <= 2; nnodes++)
        pmix_nodes_free(run_good(nnodes, "event"), nnodes);
}

/* All but rank 1, which was killed. */
static void check_bereaved(uint32_t nnodes, const char *scenario)
{
    struct pmix_outcome *outcomes = pmix_nodes_run(nnodes, scenario);
    for (uint32_t rank = 0; rank < TASKS; rank++) {
        const struct pmix_outcome *o = &outcomes[rank / (TASKS / nnodes)];
        assert_string_equal(o->error, "");
        assert_false(o->stuck);
        assert_int_equal(o->aborted, 0);
        assert_int_equal(o->exits[rank], rank == 1 ? SIGKILL : 0);
        assert_int_equal(o->states[rank], rank == 1 ? PMI_RUNNING : PMI_FINALIZED);
    }
    pmix_nodes_free(outcomes, nnodes);
}

static void a_death_is_told_to_all_and_fences_do_not_wait_for_the_dead(void **state)
{
    (void)state;
    for (uint32_t nnodes = 1; nnodes <= 2; nnodes++)
        check_bereaved(nnodes, "without-one");
}

static void an_abort_of_some_tasks_leaves_the_others(void **state)
{
    (void)state;
    for (uint32_t nnodes = 1; nnodes <= 2; nnodes++)
        check_bereaved(nnodes, "without-aborted");
}

static void a_task_has_a_signal_sent_to_another_one(void **state)
{
    (void)state;
    for (uint32_t nnodes = 1; nnodes <= 2; nnodes++)
        pmix_nodes_free(run_good(nnodes, "control"), nnodes);
}

/* ---- a host in this process: no tasks ---- */

static unsigned nposts;
static char answer[64];

static void count_wake(void *arg)
{
    (void)arg;
}

static void count_post(void *arg, struct pmix_job *job, uint32_t node, const void *bytes,
                       size_t len)
{
    (void)arg, (void)job;
    assert_int_equal(node, 1);
    assert_uint_in_range(len, 1, sizeof(answer));
    memcpy(answer, bytes, len);
    nposts++;
}

static void count_control(void *arg, struct pmix_job *job, const struct pmix_control *control);
static void keep_exchange(void *arg, struct pmix_job *job, uint64_t id, uint32_t nnodes,
                          const void *bytes, size_t len);

static unsigned ndirectories;

static int count_directory(void *arg)
{
    (void)arg;
    ndirectories++;
    return 0;
}

static const struct pmix_server_ops quiet = {.wake = count_wake,
                                             .make_directory = count_directory,
                                             .exchange = keep_exchange,
                                             .post = count_post,
                                             .control = count_control};

static double ms(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static char tmpdir[] = "/tmp/test-pmix.XXXXXX";

static struct pmix_host *host_start(hwloc_topology_t *topology)
{
    struct pmix_server_config config = {.program = "test-pmix", .hostname = "n0", .tmpdir = tmpdir};
    struct error err = ERROR_INIT;
    hwloc_topology_init(topology);
    hwloc_topology_load(*topology);
    config.topology = *topology;
    assert_non_null(mkdtemp(tmpdir));
    double at = ms();
    struct pmix_host *host = pmix_server_new(&config, &quiet, NULL, &err);
    print_message("host: %.1f ms\n", ms() - at);
    assert_non_null(host);
    assert_null(pmix_server_new(&config, &quiet, NULL, &err)); /* one in a process */
    error_clear(&err);
    return host;
}

/* The first of so many nodes. */
static struct pmix_job *job_start(struct pmix_host *host, const char *name, uint32_t nnodes,
                                  uint32_t per, struct error *err)
{
    struct taskmap *map = taskmap_new();
    struct pmix_local *locals = mem_array(per, sizeof(*locals));
    const char **hosts = mem_array(nnodes, sizeof(*hosts));
    struct namespace_app app = {0, nnodes * per, NULL, "/", "set"};
    for (uint32_t i = 0; i < nnodes; i++) {
        taskmap_append(map, i, per);
        hosts[i] = mem_format("n%u", i);
    }
    for (uint32_t i = 0; i < per; i++)
        locals[i].rank = i;
    const struct pmix_namespace_config config = {.name = name,
                                                 .universe_size = -1,
                                                 .map = map,
                                                 .hosts = hosts,
                                                 .locals = locals,
                                                 .nlocals = per,
                                                 .apps = &app,
                                                 .napps = 1};
    double at = ms();
    struct pmix_job *job = pmix_namespace_new(host, &config, NULL, err);
    print_message("job %s, %u nodes of %u tasks: %.1f ms\n", name, nnodes, per, ms() - at);
    for (uint32_t i = 0; i < nnodes; i++)
        free((char *)hosts[i]);
    free(hosts);
    free(locals);
    taskmap_free(map);
    return job;
}

static void check_posts(struct pmix_job *job)
{
    static const struct {
        uint32_t from;
        const char *bytes;
        size_t len;
        const char *error;
    } cases[] = {
        {1, "", 0, "malformed"},
        {1, "A12345678", 9, "malformed"},                         /* cut */
        {2, "A12345678\0\0\0\0wait\0\0\0\0", 21, "malformed"},    /* of no node */
        {1, "A12345678\10\0\0\0wait\0\0\0\0", 21, "not on this"}, /* a rank of the other node */
        {1, "A12345678\0\0\0\1wait\0\0\0\0", 21, "not on this"},  /* no rank */
        {1, "A12345678\377\377\377\377wait\0\0\0\0", 21, "not on this"},
        {1, "R12345678\0\0\0\0x", 14, NULL}, /* to a question that was given up */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        int rc = pmix_namespace_posted(job, cases[i].from, cases[i].bytes, cases[i].len, &err);
        assert_int_equal(rc, cases[i].error ? -1 : 0);
        if (cases[i].error)
            assert_non_null(strstr(err.text, cases[i].error));
        error_clear(&err);
    }
    assert_int_equal(nposts, 0);
}

/* ---- fences ---- */

static struct {
    uint64_t id;
    struct buf bytes;
    unsigned count;
} exchanged;

static void keep_exchange(void *arg, struct pmix_job *job, uint64_t id, uint32_t nnodes,
                          const void *bytes, size_t len)
{
    (void)arg, (void)job;
    assert_int_equal(nnodes, 2);
    exchanged.id = id;
    exchanged.count++;
    buf_clear(&exchanged.bytes);
    buf_add(&exchanged.bytes, bytes, len);
}

static char fenced[64];

static void keep_fenced(pmix_status_t status, const char *bytes, size_t len, void *cbdata,
                        pmix_release_cbfunc_t release, void *arg)
{
    assert_int_equal(status, PMIX_SUCCESS);
    assert_null(cbdata);
    snprintf(fenced, sizeof(fenced), "%.*s", (int)len, bytes);
    release(arg);
}

/* Of these two ranks of the job. */
static void enter_fence(struct pmix_host *host, uint32_t one, uint32_t other)
{
    pmix_proc_t procs[] = {{"two", one}, {"two", other}};
    fence_upcall(procs, 2, NULL, 0, mem_copy_text("here;"), 5, keep_fenced, NULL);
    pmix_server_run(host);
}

static void check_refused(struct pmix_job *job, const struct buf *said, const char *why)
{
    struct error err = ERROR_INIT;
    assert_int_equal(pmix_namespace_exchanged(job, exchanged.id, buf_bytes(said), said->len, &err),
                     -1);
    assert_string_equal(err.text, why);
    assert_string_equal(fenced, "");
    error_clear(&err);
}

/* What comes for a fence of some is of the same ones, also where another set has the same number. */
static void check_fences(struct pmix_host *host, struct pmix_job *job)
{
    struct buf said = BUF_INIT;
    enter_fence(host, 0, 8);
    enter_fence(host, 8, 0); /* it waits for the first one */
    assert_int_equal(exchanged.count, 1);
    buf_add(&said, buf_bytes(&exchanged.bytes), exchanged.bytes.len);
    pack_put_text(&said, "0,9");
    pack_put_bytes(&said, "there", 5);
    check_refused(job, &said, "two PMIx fences go by one number: of ranks 0,8 and of 0,9");
    said.len--;
    check_refused(job, &said, "what the nodes said of a PMIx fence is malformed");
    buf_clear(&said);
    buf_add(&said, buf_bytes(&exchanged.bytes), exchanged.bytes.len);
    pack_put_text(&said, "0,8");
    pack_put_bytes(&said, "there", 5);
    for (unsigned count = 2; count <= 3; count++) {
        fenced[0] = '\0';
        assert_int_equal(
            pmix_namespace_exchanged(job, exchanged.id, buf_bytes(&said), said.len, NULL), 0);
        assert_string_equal(fenced, "here;there");
        assert_int_equal(exchanged.count, 2);
    }
    buf_free(&said);
    buf_free(&exchanged.bytes);
}

/* ---- orders ---- */

static unsigned ncontrols;

static void count_control(void *arg, struct pmix_job *job, const struct pmix_control *control)
{
    (void)arg, (void)job;
    assert_int_equal(control->action, CONTROL_RESUME);
    assert_int_equal(control->number, 3);
    assert_int_equal(control->rank, 7);
    assert_string_equal(control->job, "other");
    assert_int_equal(idset_count(control->ranks), 2);
    ncontrols++;
}

static void put_control(struct buf *out, const char *job, const char *ranks, uint8_t action)
{
    message_put_down(out, ORDER_CONTROL, 0, REPLY_OK);
    message_put_proc(out, "other", 7);
    pack_put_text(out, job);
    pack_put_text(out, ranks);
    pack_put_u8(out, action);
    pack_put_u32(out, 3);
}

static void put_death(struct buf *out, const char *job, const char *ranks, uint8_t how)
{
    struct termination death = {.how = how, .goes_on = true};
    message_put_down(out, ORDER_DIED, 0, REPLY_OK);
    pack_put_text(out, job);
    message_put_death(out, &death);
    pack_put_text(out, ranks);
    pack_put_u32(out, 1);
    pack_put_text(out, job);
}

/* An event without infos: how openpmix packs that they are none. */
static void put_event(struct buf *out, const char *infos, size_t len)
{
    struct buf event = BUF_INIT;
    message_put_down(out, ORDER_NOTIFY, 0, REPLY_OK);
    message_put_proc(out, "other", 7);
    pack_put_u32(&event, 1);
    pack_put_u8(&event, 5);
    pack_put_bytes(&event, infos, len);
    pack_put_bytes(out, buf_bytes(&event), event.len);
    buf_free(&event);
}

static void check_order(struct pmix_host *host, struct buf *order, int rc)
{
    struct error err = ERROR_INIT;
    for (size_t len = 0; len < order->len; len++) /* cut short */
        assert_int_equal(pmix_server_told(host, buf_bytes(order), len, NULL), -1);
    assert_int_equal(pmix_server_told(host, buf_bytes(order), order->len, &err), rc);
    if (rc)
        assert_string_equal(error_text(&err), "a malformed message of the program's hub");
    buf_add_char(order, 0); /* something behind it */
    assert_int_equal(pmix_server_told(host, buf_bytes(order), order->len, NULL), -1);
    buf_clear(order);
    error_clear(&err);
}

static void check_orders(struct pmix_host *host)
{
    struct buf order = BUF_INIT;
    put_control(&order, "two", "0-1", CONTROL_RESUME);
    check_order(host, &order, 0);
    put_control(&order, "none", "0-1", CONTROL_RESUME);
    check_order(host, &order, 0);
    put_control(&order, "two", "0-1", CONTROL_NACTIONS);
    check_order(host, &order, -1);
    put_control(&order, "two", "x", CONTROL_RESUME);
    check_order(host, &order, -1);
    put_control(&order, "two", "", CONTROL_RESUME);
    check_order(host, &order, -1);
    assert_int_equal(ncontrols, 1);
    put_death(&order, "none", "1", ENDED_SIGNALED);
    check_order(host, &order, 0);
    put_death(&order, "none", "1", ENDED_NENDS);
    check_order(host, &order, -1);
    put_death(&order, "none", "", ENDED_SIGNALED);
    check_order(host, &order, -1);
    put_event(&order, "", 0);
    check_order(host, &order, -1);
    put_event(&order, "\377\377\377\377", 4);
    check_order(host, &order, -1);
    buf_free(&order);
}

/* ---- openpmix keeps what it was told of until it calls back: 6.0 and later copies nothing ---- */

static struct {
    const pmix_proc_t *source;
    const pmix_info_t *info;
    size_t ninfo;
    pmix_op_cbfunc_t done;
    void *cbdata;
} kept;

static pmix_status_t keep(pmix_status_t status, const pmix_proc_t *source, pmix_data_range_t range,
                          const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t done,
                          void *cbdata)
{
    (void)status, (void)range;
    kept.source = source;
    kept.info = info;
    kept.ninfo = ninfo;
    kept.done = done;
    kept.cbdata = cbdata;
    return PMIX_SUCCESS;
}

static void check_kept(struct pmix_host *host, struct buf *order, const char *job, uint32_t rank)
{
    char over[4096];
    assert_int_equal(pmix_server_told(host, buf_bytes(order), order->len, NULL), 0);
    explicit_bzero(over, sizeof(over)); /* what was on the stack */
    assert_non_null(kept.done);
    assert_string_equal(kept.source->nspace, job);
    assert_int_equal(kept.source->rank, rank);
    buf_clear(order);
}

static void check_notices(struct pmix_host *host)
{
    size_t len;
    const struct pmix_library *real = host->library;
    struct pmix_library keeping = *real;
    struct buf order = BUF_INIT;
    char *none = pack_infos(real, NULL, 0, &len);
    keeping.notify_event = keep;
    host->library = &keeping;
    put_event(&order, none, len);
    check_kept(host, &order, "other", 7);
    assert_int_equal(kept.ninfo, 0);
    kept.done(PMIX_SUCCESS, kept.cbdata);
    put_death(&order, "two", "1", ENDED_SIGNALED);
    check_kept(host, &order, "two", 1);
    const pmix_value_t *dead = info_find(kept.info, kept.ninfo, PMIX_EVENT_AFFECTED_PROC);
    assert_non_null(dead);
    assert_int_equal(dead->data.proc->rank, 1);
    kept.done(PMIX_SUCCESS, kept.cbdata);
    host->library = real;
    free(none);
    buf_free(&order);
}

/* ---- openpmix's thread may hang when a job is freed ---- */

static unsigned ndeleted;

static pmix_status_t count_deleted(char *name)
{
    assert_string_equal(name, "set");
    ndeleted++;
    return PMIX_SUCCESS;
}

/* What waits for the thread is called once it has answered. */
static void check_freeing(struct pmix_host *host, struct pmix_job *job)
{
    const struct pmix_library *real = host->library;
    struct pmix_library counting = *real;
    struct timespec end;
    counting.delete_process_set = count_deleted;
    host->library = &counting;
    pmix_namespace_free(job);
    assert_int_equal(ndeleted, 0);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 10;
    while (!ndeleted && upcall_queue_await(&end))
        pmix_server_run(host);
    assert_int_equal(ndeleted, 1);
    host->library = real;
}

/* What openpmix's thread does when the first task of a namespace connects. */
static void connect_first(struct pmix_host *host)
{
    struct pmix_job job = {.host = host};
    struct client client = {.job = &job};
    pmix_proc_t proc = {"late", 0};
    assert_int_equal(pmix_upcalls.client_connected2(&proc, &client, NULL, 0, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    assert_int_equal(client.state, PMI_RUNNING);
}

/* What the owner has is freed then. */
static void check_end(struct pmix_host *host)
{
    connect_first(host);
    assert_int_equal(ndirectories, 1);
    pmix_server_free(host, 5);
    connect_first(host);
    assert_int_equal(ndirectories, 1);
}

static void servers_that_were_there_before_their_program_serve_it(void **state)
{
    const char *const scenarios[] = {"everybody", "modex", "queries", "spawn", "event", "control"};
    (void)state;
    pmix_nodes_ahead = true;
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
        pmix_nodes_free(run_good(2, scenarios[i]), 2);
    run_jobs(PMIX_TWO_MIXED, "connect");
    pmix_nodes_ahead = false;
}

static void what_other_nodes_say_is_checked(void **state)
{
    struct error err = ERROR_INIT;
    static hwloc_topology_t topology; /* openpmix has it until the process ends */
    (void)state;
    struct pmix_host *host = host_start(&topology);
    struct pmix_job *job = job_start(host, "two", 2, 8, &err);
    assert_non_null(job);
    assert_null(job_start(host, "two", 2, 8, &err));
    assert_non_null(strstr(err.text, "already"));
    check_posts(job);
    check_fences(host, job);
    check_orders(host);
    assert_int_equal(pmix_namespace_exchanged(job, PMIX_SERVER_ROUND | 1, "x", 1, &err), -1);
    assert_non_null(strstr(err.text, "no fence"));
    assert_int_equal(
        pmix_namespace_exchanged(job, PMIX_SERVER_ROUND | 1ull << 60 | 1, "x", 1, &err), 0);
    assert_true(pmix_server_deadline(host) < 0);
    struct pmix_job *wide = job_start(host, "one", 1, 16, &err);
    struct pmix_job *far = job_start(host, "far", 64, 64, &err);
    assert_non_null(wide);
    assert_non_null(far);
    assert_string_equal(strchr(pmix_namespace_environment(wide, 3)[0], '=') ? "set" : "", "set");
    check_notices(host);
    check_freeing(host, wide);
    pmix_namespace_free(far);
    pmix_namespace_free(job);
    pmix_server_run(host);
    check_end(host);
    rmdir(tmpdir);
    error_clear(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_of_one_node_exchange_and_fence),
        cmocka_unit_test(tasks_of_two_nodes_exchange_and_fence),
        cmocka_unit_test(fences_of_some_ranks_are_rounds_of_their_nodes),
        cmocka_unit_test(what_was_not_collected_is_fetched_from_its_node),
        cmocka_unit_test(what_is_put_after_it_was_asked_for_is_waited_for),
        cmocka_unit_test(what_is_not_for_other_nodes_or_not_there_is_not_found),
        cmocka_unit_test(who_asks_for_what_never_comes_is_told_in_time),
        cmocka_unit_test(tasks_are_told_about_their_job),
        cmocka_unit_test(a_text_that_is_logged_comes_in_lines),
        cmocka_unit_test(who_is_connected_knows_of_the_other_job),
        cmocka_unit_test(tasks_of_two_jobs_exchange_and_fence),
        cmocka_unit_test(what_a_task_of_another_job_has_put_is_fetched),
        cmocka_unit_test(who_waits_for_what_does_not_come_is_told),
        cmocka_unit_test(who_waits_for_one_that_was_killed_is_told),
        cmocka_unit_test(a_group_of_tasks_of_two_jobs_has_a_number_of_its_own),
        cmocka_unit_test(a_group_of_jobs_on_different_nodes_has_a_number_of_its_own),
        cmocka_unit_test(a_group_ends_on_nodes_that_have_tasks_of_some_of_its_jobs),
        cmocka_unit_test(who_leads_a_group_brings_others_along),
        cmocka_unit_test(leaders_that_know_each_other_bring_others_along),
        cmocka_unit_test(a_thousand_fences_of_two_jobs_end),
        cmocka_unit_test(a_version_is_read_from_its_text),
        cmocka_unit_test(each_version_is_given_the_upcalls_that_it_reads_where_it_reads_them),
        cmocka_unit_test(what_the_headers_have_is_where_the_table_has_it),
        cmocka_unit_test(an_abort_is_told_with_rank_status_and_text),
        cmocka_unit_test(a_task_that_is_killed_in_a_fence_leaves_a_host_that_ends),
        cmocka_unit_test(a_spawn_is_told_to_the_owner_and_answered),
        cmocka_unit_test(tasks_find_out_about_their_job_and_each_other),
        cmocka_unit_test(one_who_never_connects_stays_silent),
        cmocka_unit_test(who_left_without_connecting_is_missing_from_a_fence),
        cmocka_unit_test(who_leaves_when_others_wait_is_missing_from_their_fence),
        cmocka_unit_test(who_left_after_a_finalize_is_missing_from_later_fences),
        cmocka_unit_test(who_left_is_not_missing_where_nobody_waits_for_it),
        cmocka_unit_test(a_directory_is_made_for_those_who_connect),
        cmocka_unit_test(what_a_task_publishes_others_look_up_and_only_it_withdraws),
        cmocka_unit_test(a_name_is_found_in_its_range),
        cmocka_unit_test(a_lookup_waits_for_what_is_published_later_and_not_for_ever),
        cmocka_unit_test(a_name_to_be_read_once_is_found_by_one),
        cmocka_unit_test(a_name_of_a_task_ends_with_it),
        cmocka_unit_test(an_event_of_a_task_reaches_those_of_other_nodes_once),
        cmocka_unit_test(a_death_is_told_to_all_and_fences_do_not_wait_for_the_dead),
        cmocka_unit_test(an_abort_of_some_tasks_leaves_the_others),
        cmocka_unit_test(a_task_has_a_signal_sent_to_another_one),
        cmocka_unit_test(servers_that_were_there_before_their_program_serve_it),
        cmocka_unit_test(what_openpmix_does_first_is_done_once_for_what_is_forked),
        cmocka_unit_test(what_other_nodes_say_is_checked),
    };
    signal(SIGPIPE, SIG_IGN); /* as in an agent */
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void built_without_pmix_there_is_no_host(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    assert_null(pmix_server_version(&err));
    assert_string_equal(err.text, "this tprun was built without PMIx");
    assert_null(pmix_server_new(NULL, NULL, NULL, &err));
    assert_string_equal(err.text, "this tprun was built without PMIx");
    error_clear(&err);
}

static void hosts_and_clients_exchange(void **state)
{
    (void)state;
    print_message("skipped: built without PMIx\n");
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_without_pmix_there_is_no_host),
        cmocka_unit_test(hosts_and_clients_exchange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
