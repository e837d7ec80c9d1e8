/* What the hub shows of the program, and how a host reads it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/message.h"
#include "pmi-server/protocol/program_info.h"
#include "pmi-server/service/service.h"
#include "tests/unit/unit.h"

/* What the hub has said: the last answer to node 9, and which nodes were asked for tasks of what. */
static struct {
    unsigned answers;
    enum hub_status status;
    uint64_t token;
    struct buf rest;
    unsigned orders;
    uint32_t nodes[8];
    char *jobs[8];
    uint64_t number;
} said;

static void forget(void)
{
    buf_free(&said.rest);
    for (unsigned i = 0; i < said.orders; i++)
        free(said.jobs[i]);
    memset(&said, 0, sizeof(said));
}

static void tell(void *arg, uint32_t node, const void *bytes, size_t len)
{
    struct talk_down talk;
    (void)arg;
    assert_int_equal(talk_read_down(&talk, bytes, len), 0);
    if (talk.kind == ORDER_ANSWER) {
        assert_int_equal(node, 9);
        buf_free(&said.rest);
        buf_add(&said.rest, talk.rest.at, talk.rest.left);
        said.status = talk.status;
        said.token = talk.token;
        said.answers++;
        return;
    }
    assert_uint_in_range(said.orders, 0, 7);
    said.nodes[said.orders] = node;
    assert_true(tasks_wanted(bytes, len, &said.number, &said.jobs[said.orders]));
    said.orders++;
}

static void facts(void *arg, struct hub_facts *facts)
{
    (void)arg;
    facts->slots = 12;
    facts->left = 90.5;
    facts->hosts = mem_copy_text("na,nb");
}

static const struct hub_ops ops = {.tell = tell, .facts = facts};

/* Ranks 0 and 1 on the node `first` of the tree, 2 on the next. */
static void add_job(struct hub *hub, const char *name, uint32_t first, const char *spawner)
{
    static char *argv[] = {(char *)"program", (char *)"argument", NULL};
    static const char *const hosts[] = {"na", "nb"};
    const struct hub_app apps[] = {{0, 1, argv, "/", NULL}, {1, 2, argv + 1, "/tmp", "set"}};
    const uint32_t nodes[] = {first, first + 1};
    struct taskmap *map = taskmap_new();
    taskmap_append(map, 0, 2);
    taskmap_append(map, 1, 1);
    hub_add(hub, &(struct hub_job){.name = name,
                                   .map = map,
                                   .node = nodes,
                                   .hosts = hosts,
                                   .spawner = spawner,
                                   .universe_size = -1,
                                   .apps = apps,
                                   .napps = 2});
    taskmap_free(map);
}

static struct hub *two_jobs(void)
{
    struct hub *hub = hub_new(&ops, NULL);
    add_job(hub, "one", 4, NULL);
    add_job(hub, "two", 6, "one");
    return hub;
}

static int ask(struct hub *hub, uint64_t token, const char *const *names, uint32_t count)
{
    struct buf message = BUF_INIT;
    talk_put_up(&message, HUB_QUERY, token, "server", 0);
    packet_put_u32(&message, count);
    for (uint32_t i = 0; i < count; i++)
        packet_put_text(&message, names[i]);
    int rc = hub_take(hub, 9, buf_bytes(&message), message.len, NULL);
    buf_free(&message);
    return rc;
}

static int tell_tasks(struct hub *hub, uint32_t node, uint64_t number, const char *job,
                      const struct hub_task *tasks, uint32_t count)
{
    struct buf message = BUF_INIT;
    tasks_put_answer(&message, number, job, tasks, count);
    int rc = hub_take(hub, node, buf_bytes(&message), message.len, NULL);
    buf_free(&message);
    return rc;
}

static struct view *read_said(void)
{
    struct packet in = packet_of(buf_bytes(&said.rest), said.rest.len);
    return view_read(&in);
}

static void the_program_and_its_jobs_are_shown_at_once(void **state)
{
    struct hub *hub = two_jobs();
    (void)state;
    assert_int_equal(ask(hub, 7, NULL, 0), 0);
    assert_int_equal(said.answers, 1);
    assert_int_equal(said.token, 7);
    assert_int_equal(said.status, HUB_OK);
    struct view *view = read_said();
    assert_non_null(view);
    assert_int_equal(view->slots, 12);
    assert_int_equal(view->left, 90);
    assert_string_equal(view->hosts, "na,nb");
    assert_int_equal(view->njobs, 2);
    assert_null(view_job(view, ""));
    assert_null(view_job(view, "three"));
    const struct view_job *two = view_job(view, "two");
    assert_false(two->told);
    const struct hub_job *job = &two->description->job;
    assert_string_equal(job->spawner, "one");
    assert_string_equal(job->hosts[1], "nb");
    assert_int_equal(job->map->ntasks, 3);
    assert_null(view_app(job, 0)->pset);
    assert_string_equal(view_app(job, 2)->pset, "set");
    assert_string_equal(view_app(job, 2)->argv[0], "argument");
    assert_null(view_app(job, 3));
    view_free(view);
    hub_free(hub);
    forget();
}

static const struct hub_task first[] = {{1, 101, HUB_TASK_SPEAKS, 0}, {0, 0, HUB_TASK_ENDED, 256}};
static const struct hub_task second[] = {{2, 103, HUB_TASK_RUNS, 0}};

static void the_hosts_of_a_job_are_asked_for_its_tasks(void **state)
{
    static const char *const names[] = {"two", "nobody", "two"};
    struct hub *hub = two_jobs();
    (void)state;
    assert_int_equal(ask(hub, 8, names, 3), 0);
    assert_int_equal(said.answers, 0);
    assert_int_equal(said.orders, 2);
    assert_int_equal(said.nodes[0], 6);
    assert_int_equal(said.nodes[1], 7);
    assert_string_equal(said.jobs[0], "two");
    assert_int_equal(tell_tasks(hub, 6, said.number, "two", first, 2), 0);
    assert_int_equal(tell_tasks(hub, 6, said.number, "two", first, 2), 0); /* once is enough */
    assert_int_equal(tell_tasks(hub, 6, said.number + 1, "two", first, 2), 0);
    assert_int_equal(tell_tasks(hub, 4, said.number, "one", first, 2), 0);
    assert_int_equal(said.answers, 0);
    assert_int_equal(tell_tasks(hub, 7, said.number, "two", second, 1), 0);
    assert_int_equal(said.answers, 1);
    assert_int_equal(said.token, 8);
    struct view *view = read_said();
    assert_non_null(view);
    const struct view_job *two = view_job(view, "two");
    assert_true(two->told);
    assert_int_equal(two->ntasks, 3);
    assert_int_equal(two->tasks[0].status, 256); /* by rank */
    assert_int_equal(two->tasks[0].state, HUB_TASK_ENDED);
    assert_int_equal(two->tasks[1].pid, 101);
    assert_int_equal(two->tasks[2].pid, 103);
    assert_false(view_job(view, "one")->told);
    view_free(view);
    hub_free(hub);
    forget();
}

static void a_job_without_a_name_is_the_only_one(void **state)
{
    static const char *const names[] = {""};
    struct hub *hub = two_jobs();
    (void)state;
    assert_int_equal(ask(hub, 1, names, 1), 0);
    assert_int_equal(said.orders, 0);
    assert_int_equal(said.answers, 1);
    hub_remove(hub, "two");
    assert_int_equal(ask(hub, 2, names, 1), 0);
    assert_int_equal(said.orders, 2);
    assert_string_equal(said.jobs[0], "one");
    hub_free(hub);
    forget();
}

static void a_job_that_ends_meanwhile_is_not_waited_for(void **state)
{
    static const char *const names[] = {"one", "two"};
    struct hub *hub = two_jobs();
    (void)state;
    assert_int_equal(ask(hub, 3, names, 2), 0);
    assert_int_equal(tell_tasks(hub, 4, said.number, "one", first, 2), 0);
    assert_int_equal(tell_tasks(hub, 5, said.number, "one", second, 1), 0);
    assert_int_equal(said.answers, 0);
    hub_remove(hub, "two");
    assert_int_equal(said.answers, 1);
    struct view *view = read_said();
    assert_non_null(view);
    assert_int_equal(view->njobs, 1);
    assert_int_equal(view_job(view, "")->ntasks, 3);
    view_free(view);
    assert_int_equal(tell_tasks(hub, 6, said.number, "two", first, 2), 0); /* too late */
    hub_free(hub);
    forget();
}

static void one_who_waits_no_longer_is_not_answered(void **state)
{
    static const char *const names[] = {"one"};
    struct hub *hub = two_jobs();
    struct buf message = BUF_INIT;
    (void)state;
    assert_int_equal(ask(hub, 3, names, 1), 0);
    talk_put_up(&message, HUB_FORGET, 3, "server", 0);
    assert_int_equal(hub_take(hub, 9, buf_bytes(&message), message.len, NULL), 0);
    assert_int_equal(tell_tasks(hub, 4, said.number, "one", first, 2), 0);
    assert_int_equal(tell_tasks(hub, 5, said.number, "one", second, 1), 0);
    assert_int_equal(said.answers, 0);
    buf_free(&message);
    hub_free(hub);
    forget();
}

static void a_host_waits_for_so_many_answers_and_no_more(void **state)
{
    static const char *const names[] = {"one"};
    struct hub *hub = two_jobs();
    (void)state;
    for (uint64_t i = 1; i <= HUB_QUERIES_MAX + 1; i++) {
        assert_int_equal(ask(hub, i, names, 1), 0);
        assert_int_equal(said.answers, i > HUB_QUERIES_MAX);
        if (i <= HUB_QUERIES_MAX)
            forget();
    }
    assert_int_equal(said.status, HUB_FULL);
    hub_free(hub);
    forget();
}

static void tasks_that_a_node_does_not_have_are_malformed(void **state)
{
    static const char *const names[] = {"one"};
    const struct hub_task odd = {0, 1, HUB_TASK_NSTATES, 0}, none = {3, 1, HUB_TASK_RUNS, 0};
    struct hub *hub = two_jobs();
    (void)state;
    assert_int_equal(ask(hub, 3, names, 1), 0);
    assert_int_equal(tell_tasks(hub, 5, said.number, "one", first, 2), -1);
    assert_int_equal(tell_tasks(hub, 4, said.number, "one", &odd, 1), -1);
    assert_int_equal(tell_tasks(hub, 4, said.number, "one", &none, 1), -1);
    assert_int_equal(said.answers, 0);
    hub_free(hub);
    forget();
}

/* Cut anywhere, or with a byte more, it is not taken; nor with a byte that says what cannot be. */
static void a_view_is_read_as_a_whole_or_not_at_all(void **state)
{
    static const char *const names[] = {"one"};
    struct hub *hub = two_jobs();
    struct packet in;
    (void)state;
    assert_int_equal(ask(hub, 3, names, 1), 0);
    tell_tasks(hub, 4, said.number, "one", first, 2);
    tell_tasks(hub, 5, said.number, "one", second, 1);
    assert_int_equal(said.answers, 1);
    for (size_t len = 0; len < said.rest.len; len++) {
        in = packet_of(buf_bytes(&said.rest), len);
        assert_null(view_read(&in));
    }
    buf_add_char(&said.rest, 'x');
    in = packet_of(buf_bytes(&said.rest), said.rest.len);
    assert_null(view_read(&in));
    char *bytes = memcpy(mem_alloc(said.rest.len), buf_bytes(&said.rest), said.rest.len);
    bytes[said.rest.len - 1 - 3 * HUB_TASK_BYTES] = 7; /* a rank that there is not */
    in = packet_of(bytes, said.rest.len - 1);
    assert_null(view_read(&in));
    free(bytes);
    hub_free(hub);
    forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_and_its_jobs_are_shown_at_once),
        cmocka_unit_test(the_hosts_of_a_job_are_asked_for_its_tasks),
        cmocka_unit_test(a_job_without_a_name_is_the_only_one),
        cmocka_unit_test(a_job_that_ends_meanwhile_is_not_waited_for),
        cmocka_unit_test(one_who_waits_no_longer_is_not_answered),
        cmocka_unit_test(a_host_waits_for_so_many_answers_and_no_more),
        cmocka_unit_test(tasks_that_a_node_does_not_have_are_malformed),
        cmocka_unit_test(a_view_is_read_as_a_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
