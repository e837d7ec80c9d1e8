/* The events of programs, as they are written, and how long the log of a very large one is. */
#include "tests/unit/instance-world.h"

#include <sys/stat.h>
#include <unistd.h>

#include "launcher/ledger/pid_list.h"
#include "launcher/ledger/program_record.h"
#include "launcher/program/program_log.h"

enum { NODES = 16384, EACH = 64 };

struct scene {
    struct instance *instance;
    struct ledger_entry *entry;
    struct program_log *log;
    struct spec *spec;
    size_t notes;
};

static void count_note(void *owner, const char *text)
{
    struct scene *scene = owner;
    assert_non_null(text);
    scene->notes++;
}

static void open_scene(struct scene *scene)
{
    struct error err = ERROR_INIT;
    *scene = (struct scene){.instance = instance_open("test", &err)};
    assert_non_null(scene->instance);
    scene->entry = entry_new(scene->instance, "test", &err);
    assert_non_null(scene->entry);
    scene->spec = spec_on(1, "{'parts':[{'argv':['./app','\xc3\xa4']}]}");
    scene->log = program_log_new(count_note, scene);
    program_log_event(scene->log, "early", NULL); /* there is no log yet */
    program_log_attach(scene->log, scene->entry, scene->spec);
    program_log_attach(scene->log, scene->entry, scene->spec);
}

static void close_scene(struct scene *scene)
{
    program_log_free(scene->log);
    entry_end(scene->entry);
    instance_close(scene->instance);
    spec_free(scene->spec);
}

static struct program_record *read_log(const struct scene *scene, size_t *len)
{
    struct buf text = BUF_INIT;
    char bytes[65536];
    ssize_t n;
    int fd = openat(entry_dir(scene->entry), ENTRY_EVENTS, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        buf_add(&text, bytes, (size_t)n);
    close(fd);
    *len = text.len;
    struct program_record *record = program_record_read(buf_bytes(&text), text.len, true);
    if (record->problem)
        fail_msg("%s", record->problem);
    buf_free(&text);
    return record;
}

/* A launch of nodes that are alike, with so many tasks each. */
static void launch(struct scene *scene, uint32_t nnodes, uint32_t each)
{
    uint32_t *tree_node = mem_array(nnodes, sizeof(*tree_node));
    struct buf runs = BUF_INIT;
    json_t *cpus = json_object();
    char text[32], key[16];
    for (uint32_t i = 0; i < nnodes; i++)
        tree_node[i] = i + 1;
    for (uint32_t i = 0; i < each; i++) {
        snprintf(key, sizeof(key), "%u", i);
        snprintf(text, sizeof(text), "%u-%u", 2 * i, 2 * i + 1);
        buf_printf(&runs, "%s%u:1", i ? "," : "", i);
        json_object_set_new(cpus, key, json_string(text));
    }
    char *nodes = mem_format("0-%u", nnodes - 1), *hosts = mem_format("n[0-%u]", nnodes - 1);
    json_t *value =
        json_pack("{s:{s:i, s:[[i, i, i, i]]}, s:s, s:[{s:s, s:s, s:o}], s:s}", "taskmap",
                  "version", 1, "map", 0, nnodes, each, 1, "hosts", hosts, "kinds", "nodes", nodes,
                  "tasks", buf_text(&runs), "cpus", cpus, "program", "not to be written");
    assert_non_null(value);
    program_log_launch(scene->log, 0, value, tree_node, nnodes);
    json_decref(value);
    free(hosts);
    free(nodes);
    buf_free(&runs);
    free(tree_node);
}

static void start_on(struct scene *scene, uint32_t tree_node, const char *pids)
{
    json_t *value = json_pack("{s:s}", "pids", pids);
    program_log_started(scene->log, 0, tree_node, value);
    json_decref(value);
}

static void
test_the_first_events_are_written_at_once_and_later_ones_when_it_is_asked_for(void **state)
{
    struct scene scene;
    size_t len, before;
    (void)state;
    open_scene(&scene);
    struct program_record *record = read_log(&scene, &before);
    assert_int_equal(record->state, RECORD_PENDING);
    program_record_free(record);
    program_log_event(scene.log, "starting", NULL);
    program_record_free(read_log(&scene, &len));
    assert_int_equal(len, before);
    program_log_write(scene.log);
    record = read_log(&scene, &len);
    assert_int_equal(record->state, RECORD_STARTING);
    assert_string_equal(record->id, entry_id(scene.entry));
    assert_int_equal(json_array_size(record->command), 2);
    program_record_free(record);
    close_scene(&scene);
    assert_int_equal(scene.notes, 0);
}

static void
test_tasks_that_end_before_all_nodes_have_started_are_told_after_their_start(void **state)
{
    struct scene scene;
    size_t len;
    struct done_report report = {0};
    struct task_usages usages = {0};
    struct task_usage one = {2,
                             {[USAGE_RAN] = 1500000, [USAGE_USER] = 250000, [USAGE_MEMORY] = 77}};
    (void)state;
    open_scene(&scene);
    launch(&scene, 2, 2);
    start_on(&scene, 2, "11,0");
    start_on(&scene, 2, "99");
    start_on(&scene, 7, "99");
    done_report_add_rank(&report, 9, true, 2);
    task_usages_add(&usages, &one);
    done_report_add_usage(&report, 9, true, &usages);
    program_log_ended(scene.log, 0, &report);
    start_on(&scene, 1, "20-21");
    program_log_write(scene.log);
    struct program_record *record = read_log(&scene, &len);
    assert_int_equal(record->tasks[2].pid, 11);
    assert_int_equal(record->tasks[2].state, RECORD_TASK_ENDED);
    assert_int_equal(record->tasks[2].maxrss_kib, 77);
    assert_true(record->tasks[2].by_tprun && record->tasks[2].is_exact);
    assert_int_equal(record->tasks[3].pid, 0);
    assert_int_equal(record->tasks[3].state, RECORD_TASK_WAITS);
    assert_int_equal(record->tasks[1].pid, 21);
    program_record_free(record);
    done_report_clear(&report);
    task_usages_clear(&usages);
    close_scene(&scene);
}

/* Process ids of tasks that were started in turn with others' on each node. */
static void start_everywhere(struct scene *scene, bool in_turn)
{
    for (uint32_t node = 0; node < NODES; node++) {
        struct buf text = BUF_INIT;
        uint32_t pids[EACH];
        for (uint32_t i = 0; i < EACH; i++)
            pids[i] = 1000000 + node % 977 + (in_turn ? 3 * i : i);
        struct started_report report = {0};
        pid_list_encode(&text, pids, EACH);
        report.pids = buf_take_text(&text);
        json_t *value = started_report_to_json(&report);
        program_log_started(scene->log, 0, node + 1, value);
        json_decref(value);
        started_report_clear(&report);
    }
}

static void end_everywhere(struct scene *scene)
{
    struct done_report report = {0};
    struct idset *all = idset_new();
    struct task_usages usages = {0};
    idset_add_range(all, 0, NODES * EACH - 1);
    for (uint32_t rank = 0; rank < NODES * EACH; rank++) {
        struct task_usage one = {
            rank, {1000000 + rank, 2000 + rank, rank % 5000, rank % 11, 4000 + rank}};
        task_usages_add(&usages, &one);
    }
    done_report_add(&report, 0, false, all);
    done_report_add_usage(&report, 0, false, &usages);
    json_t *value = done_report_to_json(&report); /* as it arrives */
    done_report_clear(&report);
    report = (struct done_report){0};
    done_report_from_json(&report, value);
    program_log_ended(scene->log, 0, &report);
    done_report_clear(&report);
    task_usages_clear(&usages);
    json_decref(value);
    idset_free(all);
}

static void test_the_log_of_a_million_tasks_is_small(void **state)
{
    static const size_t most[] = {400 << 10, 9u << 20}; /* bytes: alone on each node, and not */
    (void)state;
    for (int in_turn = 0; in_turn < 2; in_turn++) {
        struct scene scene;
        size_t len;
        open_scene(&scene);
        program_log_event(scene.log, "starting", NULL);
        launch(&scene, NODES, EACH);
        start_everywhere(&scene, in_turn);
        program_log_event(scene.log, "running", NULL);
        end_everywhere(&scene);
        program_log_event(scene.log, "complete",
                          json_pack("{s:i, s:s}", "status", 0, "reason", ""));
        program_log_write(scene.log);
        struct program_record *record = read_log(&scene, &len);
        print_message("%d tasks on %d nodes: a log of %zu bytes\n", NODES * EACH, NODES, len);
        assert_true(len <= most[in_turn]);
        assert_int_equal(record->ntasks, NODES * EACH);
        assert_int_equal(record->state, RECORD_COMPLETE);
        const struct task_record *task = &record->tasks[NODES * EACH - 1];
        assert_string_equal(program_record_host(record, NODES * EACH - 1), "n16383");
        assert_int_equal(task->pid, 1000000 + (NODES - 1) % 977 + (in_turn ? 3 : 1) * (EACH - 1));
        assert_string_equal(task->cpus, "126-127");
        assert_false(task->is_exact);
        assert_int_equal(task->maxrss_kib, 4000 + NODES * EACH - 1);
        program_record_free(record);
        close_scene(&scene);
        assert_int_equal(scene.notes, 0);
    }
}

static void test_a_log_that_cannot_be_opened_is_a_note(void **state)
{
    struct scene scene;
    (void)state;
    open_scene(&scene);
    program_log_free(scene.log);
    unlinkat(entry_dir(scene.entry), ENTRY_EVENTS, 0);
    mkdirat(entry_dir(scene.entry), ENTRY_EVENTS, 0700);
    scene.log = program_log_new(count_note, &scene);
    program_log_attach(scene.log, scene.entry, scene.spec);
    program_log_event(scene.log, "starting", json_object());
    launch(&scene, 1, 1);
    start_on(&scene, 1, "5");
    program_log_write(scene.log);
    close_scene(&scene);
    assert_int_equal(scene.notes, 1);
}

static void test_a_log_that_is_full_takes_states_only(void **state)
{
    struct scene scene;
    struct done_report report = {0};
    struct stat st;
    static char text[1u << 20];
    (void)state;
    open_scene(&scene);
    int fd = openat(entry_dir(scene.entry), ENTRY_EVENTS, O_WRONLY | O_CLOEXEC);
    memset(text, 'x', sizeof(text) - 1);
    for (size_t i = 0; i <= PROGRAM_LOG_MAX / sizeof(text); i++) {
        program_log_event(scene.log, "long", json_pack("{s:s}", "text", text));
        program_log_write(scene.log);
    }
    assert_int_equal(fstat(fd, &st), 0);
    assert_true(st.st_size > PROGRAM_LOG_MAX);
    off_t before = st.st_size;
    launch(&scene, 1, 1);
    start_on(&scene, 1, "5");
    done_report_add_rank(&report, 0, false, 0);
    program_log_ended(scene.log, 0, &report);
    program_log_write(scene.log);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, before);
    program_log_event(scene.log, "complete", NULL);
    program_log_write(scene.log);
    assert_int_equal(fstat(fd, &st), 0);
    assert_true(st.st_size > before);
    assert_int_equal(scene.notes, 1);
    assert_int_equal(ftruncate(fd, 0), 0); /* not to be kept */
    close(fd);
    done_report_clear(&report);
    close_scene(&scene);
}

#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, end_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_WORLD(test_the_first_events_are_written_at_once_and_later_ones_when_it_is_asked_for),
        IN_A_WORLD(test_tasks_that_end_before_all_nodes_have_started_are_told_after_their_start),
        IN_A_WORLD(test_the_log_of_a_million_tasks_is_small),
        IN_A_WORLD(test_a_log_that_cannot_be_opened_is_a_note),
        IN_A_WORLD(test_a_log_that_is_full_takes_states_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
