/* What the service shows of the program, and how a host reads it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/message.h"
#include "pmi-server/protocol/program_info.h"
#include "pmi-server/service/service.h"
#include "tests/unit/unit.h"

/* What the service has said: the last answer to node 9, and which nodes were asked for tasks of what. */
static struct {
    unsigned answers;
    enum reply_status status;
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
    struct message_down talk;
    (void)arg;
    assert_int_equal(message_read_down(&talk, bytes, len), 0);
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
    assert_true(task_states_wanted(bytes, len, &said.number, &said.jobs[said.orders]));
    said.orders++;
}

static void facts(void *arg, struct program_facts *facts)
{
    (void)arg;
    facts->slots = 12;
    facts->left = 90.5;
    facts->hosts = mem_copy_text("na,nb");
}

static const struct pmi_service_ops ops = {.tell = tell, .facts = facts};

/* Ranks 0 and 1 on the node `first` of the tree, 2 on the next. */
static void add_job(struct pmi_service *service, const char *name, uint32_t first,
                    const char *spawner)
{
    static char *argv[] = {(char *)"program", (char *)"argument", NULL};
    static const char *const hosts[] = {"na", "nb"};
    const struct namespace_app apps[] = {{0, 1, argv, "/", NULL}, {1, 2, argv + 1, "/tmp", "set"}};
    const uint32_t nodes[] = {first, first + 1};
    struct taskmap *map = taskmap_new();
    taskmap_append(map, 0, 2);
    taskmap_append(map, 1, 1);
    pmi_service_add(service, &(struct namespace_facts){.name = name,
                                                       .map = map,
                                                       .node = nodes,
                                                       .hosts = hosts,
                                                       .spawner = spawner,
                                                       .universe_size = -1,
                                                       .apps = apps,
                                                       .napps = 2});
    taskmap_free(map);
}

static struct pmi_service *two_jobs(void)
{
    struct pmi_service *service = pmi_service_new(&ops, NULL);
    add_job(service, "one", 4, NULL);
    add_job(service, "two", 6, "one");
    return service;
}

static int ask(struct pmi_service *service, uint64_t token, const char *const *names,
               uint32_t count)
{
    struct buf message = BUF_INIT;
    message_put_up(&message, REQUEST_QUERY, token, "server", 0);
    pack_put_u32(&message, count);
    for (uint32_t i = 0; i < count; i++)
        pack_put_text(&message, names[i]);
    int rc = pmi_service_take(service, 9, buf_bytes(&message), message.len, NULL);
    buf_free(&message);
    return rc;
}

static int tell_tasks(struct pmi_service *service, uint32_t node, uint64_t number, const char *job,
                      const struct task_info *tasks, uint32_t count)
{
    struct buf message = BUF_INIT;
    task_states_put_answer(&message, number, job, tasks, count);
    int rc = pmi_service_take(service, node, buf_bytes(&message), message.len, NULL);
    buf_free(&message);
    return rc;
}

static struct program_info *read_said(void)
{
    struct pack in = pack_of(buf_bytes(&said.rest), said.rest.len);
    return program_info_read(&in);
}

static void the_program_and_its_jobs_are_shown_at_once(void **state)
{
    struct pmi_service *service = two_jobs();
    (void)state;
    assert_int_equal(ask(service, 7, NULL, 0), 0);
    assert_int_equal(said.answers, 1);
    assert_int_equal(said.token, 7);
    assert_int_equal(said.status, REPLY_OK);
    struct program_info *view = read_said();
    assert_non_null(view);
    assert_int_equal(view->slots, 12);
    assert_int_equal(view->left, 90);
    assert_string_equal(view->hosts, "na,nb");
    assert_int_equal(view->njobs, 2);
    assert_null(program_info_job(view, ""));
    assert_null(program_info_job(view, "three"));
    const struct program_info_job *two = program_info_job(view, "two");
    assert_false(two->told);
    const struct namespace_facts *job = &two->description->job;
    assert_string_equal(job->spawner, "one");
    assert_string_equal(job->hosts[1], "nb");
    assert_int_equal(job->map->ntasks, 3);
    assert_null(program_info_app(job, 0)->pset);
    assert_string_equal(program_info_app(job, 2)->pset, "set");
    assert_string_equal(program_info_app(job, 2)->argv[0], "argument");
    assert_null(program_info_app(job, 3));
    program_info_free(view);
    pmi_service_free(service);
    forget();
}

static const struct task_info first[] = {{1, 101, TASK_SPEAKS, 0}, {0, 0, TASK_ENDED, 256}};
static const struct task_info second[] = {{2, 103, TASK_RUNS, 0}};

static void the_hosts_of_a_job_are_asked_for_its_tasks(void **state)
{
    static const char *const names[] = {"two", "nobody", "two"};
    struct pmi_service *service = two_jobs();
    (void)state;
    assert_int_equal(ask(service, 8, names, 3), 0);
    assert_int_equal(said.answers, 0);
    assert_int_equal(said.orders, 2);
    assert_int_equal(said.nodes[0], 6);
    assert_int_equal(said.nodes[1], 7);
    assert_string_equal(said.jobs[0], "two");
    assert_int_equal(tell_tasks(service, 6, said.number, "two", first, 2), 0);
    assert_int_equal(tell_tasks(service, 6, said.number, "two", first, 2), 0); /* once is enough */
    assert_int_equal(tell_tasks(service, 6, said.number + 1, "two", first, 2), 0);
    assert_int_equal(tell_tasks(service, 4, said.number, "one", first, 2), 0);
    assert_int_equal(said.answers, 0);
    assert_int_equal(tell_tasks(service, 7, said.number, "two", second, 1), 0);
    assert_int_equal(said.answers, 1);
    assert_int_equal(said.token, 8);
    struct program_info *view = read_said();
    assert_non_null(view);
    const struct program_info_job *two = program_info_job(view, "two");
    assert_true(two->told);
    assert_int_equal(two->ntasks, 3);
    assert_int_equal(two->tasks[0].status, 256); /* by rank */
    assert_int_equal(two->tasks[0].state, TASK_ENDED);
    assert_int_equal(two->tasks[1].pid, 101);
    assert_int_equal(two->tasks[2].pid, 103);
    assert_false(program_info_job(view, "one")->told);
    program_info_free(view);
    pmi_service_free(service);
    forget();
}

static void a_job_without_a_name_is_the_only_one(void **state)
{
    static const char *const names[] = {""};
    struct pmi_service *service = two_jobs();
    (void)state;
    assert_int_equal(ask(service, 1, names, 1), 0);
    assert_int_equal(said.orders, 0);
    assert_int_equal(said.answers, 1);
    pmi_service_remove(service, "two");
    assert_int_equal(ask(service, 2, names, 1), 0);
    assert_int_equal(said.orders, 2);
    assert_string_equal(said.jobs[0], "one");
    pmi_service_free(service);
    forget();
}

static void a_job_that_ends_meanwhile_is_not_waited_for(void **state)
{
    static const char *const names[] = {"one", "two"};
    struct pmi_service *service = two_jobs();
    (void)state;
    assert_int_equal(ask(service, 3, names, 2), 0);
    assert_int_equal(tell_tasks(service, 4, said.number, "one", first, 2), 0);
    assert_int_equal(tell_tasks(service, 5, said.number, "one", second, 1), 0);
    assert_int_equal(said.answers, 0);
    pmi_service_remove(service, "two");
    assert_int_equal(said.answers, 1);
    struct program_info *view = read_said();
    assert_non_null(view);
    assert_int_equal(view->njobs, 1);
    assert_int_equal(program_info_job(view, "")->ntasks, 3);
    program_info_free(view);
    assert_int_equal(tell_tasks(service, 6, said.number, "two", first, 2), 0); /* too late */
    pmi_service_free(service);
    forget();
}

static void one_who_waits_no_longer_is_not_answered(void **state)
{
    static const char *const names[] = {"one"};
    struct pmi_service *service = two_jobs();
    struct buf message = BUF_INIT;
    (void)state;
    assert_int_equal(ask(service, 3, names, 1), 0);
    message_put_up(&message, REQUEST_FORGET, 3, "server", 0);
    assert_int_equal(pmi_service_take(service, 9, buf_bytes(&message), message.len, NULL), 0);
    assert_int_equal(tell_tasks(service, 4, said.number, "one", first, 2), 0);
    assert_int_equal(tell_tasks(service, 5, said.number, "one", second, 1), 0);
    assert_int_equal(said.answers, 0);
    buf_free(&message);
    pmi_service_free(service);
    forget();
}

static void a_host_waits_for_so_many_answers_and_no_more(void **state)
{
    static const char *const names[] = {"one"};
    struct pmi_service *service = two_jobs();
    (void)state;
    for (uint64_t i = 1; i <= SERVICE_QUERIES_MAX + 1; i++) {
        assert_int_equal(ask(service, i, names, 1), 0);
        assert_int_equal(said.answers, i > SERVICE_QUERIES_MAX);
        if (i <= SERVICE_QUERIES_MAX)
            forget();
    }
    assert_int_equal(said.status, REPLY_FULL);
    pmi_service_free(service);
    forget();
}

static void tasks_that_a_node_does_not_have_are_malformed(void **state)
{
    static const char *const names[] = {"one"};
    const struct task_info odd = {0, 1, TASK_NSTATES, 0}, none = {3, 1, TASK_RUNS, 0};
    struct pmi_service *service = two_jobs();
    (void)state;
    assert_int_equal(ask(service, 3, names, 1), 0);
    assert_int_equal(tell_tasks(service, 5, said.number, "one", first, 2), -1);
    assert_int_equal(tell_tasks(service, 4, said.number, "one", &odd, 1), -1);
    assert_int_equal(tell_tasks(service, 4, said.number, "one", &none, 1), -1);
    assert_int_equal(said.answers, 0);
    pmi_service_free(service);
    forget();
}

/* Cut anywhere, or with a byte more, it is not taken; nor with a byte that says what cannot be. */
static void a_view_is_read_as_a_whole_or_not_at_all(void **state)
{
    static const char *const names[] = {"one"};
    struct pmi_service *service = two_jobs();
    struct pack in;
    (void)state;
    assert_int_equal(ask(service, 3, names, 1), 0);
    tell_tasks(service, 4, said.number, "one", first, 2);
    tell_tasks(service, 5, said.number, "one", second, 1);
    assert_int_equal(said.answers, 1);
    for (size_t len = 0; len < said.rest.len; len++) {
        in = pack_of(buf_bytes(&said.rest), len);
        assert_null(program_info_read(&in));
    }
    buf_add_char(&said.rest, 'x');
    in = pack_of(buf_bytes(&said.rest), said.rest.len);
    assert_null(program_info_read(&in));
    char *bytes = memcpy(mem_alloc(said.rest.len), buf_bytes(&said.rest), said.rest.len);
    bytes[said.rest.len - 1 - 3 * SERVICE_TASK_BYTES] = 7; /* a rank that there is not */
    in = pack_of(bytes, said.rest.len - 1);
    assert_null(program_info_read(&in));
    free(bytes);
    pmi_service_free(service);
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
