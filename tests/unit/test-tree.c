#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/process/exec.h"
#include "launcher/tree/agent_broker.h"
#include "launcher/tree/tree.h"
#include "tests/unit/unit.h"

/* ---- targets ---- */

static void test_targets_come_back_from_json(void **state)
{
    struct tree_target targets[] = {
        {3, (char *)"node3", (char *)"me@node3", (char *)"0-3,7", (char *)"0123456789abcdef", false,
         true},
        {0, (char *)"a", (char *)"a", NULL, NULL, false, false},
        {2147483647, (char *)"\xc3\xa9", (char *)"\"b\"", (char *)"", NULL, false, false},
    };
    struct error err = ERROR_INIT;
    size_t count;
    (void)state;
    json_t *value = tree_targets_to_json(targets, 3);
    struct tree_target *again = tree_targets_from_json(value, &count, &err);
    if (!again)
        fail_msg("%s", error_text(&err));
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(again[i].node, targets[i].node);
        assert_string_equal(again[i].host, targets[i].host);
        assert_string_equal(again[i].login, targets[i].login);
        assert_true(!again[i].cores == !targets[i].cores);
        if (again[i].cores)
            assert_string_equal(again[i].cores, targets[i].cores);
        assert_true(!again[i].digest == !targets[i].digest);
        if (again[i].digest)
            assert_string_equal(again[i].digest, targets[i].digest);
        assert_false(again[i].here);
        assert_int_equal(again[i].together, targets[i].together);
    }
    json_decref(value);
    tree_targets_free(again, count);
}

static void test_no_targets_are_no_targets(void **state)
{
    size_t count = 7;
    json_t *value = tree_targets_to_json(NULL, 0);
    struct tree_target *again = tree_targets_from_json(value, &count, NULL);
    (void)state;
    assert_non_null(again);
    assert_int_equal(count, 0);
    tree_targets_free(again, 0);
    tree_targets_free(NULL, 0);
    json_decref(value);
}

#define GOOD "[0,\"a\",\"a\",null,null]"

static void test_malformed_targets_are_refused(void **state)
{
    static const char *const cases[] = {
        "null",
        "{}",
        "7",
        "\"a\"",
        "[[]]",
        "[7]",
        "[null]",
        "[{}]",
        "[[\"0\",\"a\",\"a\",null,null]]",
        "[[1.5,\"a\",\"a\",null,null]]",
        "[[0,null,\"a\",null,null]]",
        "[[0,\"a\",null,null,null]]",
        "[[0,\"a\"]]",
        "[[-1,\"a\",\"a\",null,null]]",
        "[[2147483648,\"a\",\"a\",null,null]]",
        "[[4294967296,\"a\",\"a\",null,null]]",
        "[[0,\"a\",\"a\",7,null]]",
        "[[0,\"a\",\"a\",null,7]]",
        "[" GOOD ",[1,\"b\",7,null,null]]",
    };
    size_t taken = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        size_t count;
        json_t *value = json_loads(cases[i], JSON_DECODE_ANY, NULL);
        assert_non_null(value);
        struct tree_target *targets = tree_targets_from_json(value, &count, &err);
        if (targets) {
            print_error("taken: %s\n", cases[i]);
            tree_targets_free(targets, count);
            taken++;
        } else if (!err.text) {
            fail_msg("without a sentence: %s", cases[i]);
        }
        error_clear(&err);
        json_decref(value);
    }
    assert_int_equal(taken, 0);
}

/* ---- children that are here ---- */

struct world {
    struct ev_loop *loop;
    struct bootstrap boot;
    struct tree *tree;
    struct buf log; /* one word a thing that happened, each with a blank behind it */
    unsigned nframes, nhello, nunreached, nlost, nempty;
    struct tree_unreached unreached; /* the last */
    char *text;                      /* of it, or why it was lost */
    char *nodes;
    size_t bulk;
    uint32_t child; /* of the last frame */
    pid_t forked_by;
    size_t nuntried;
    size_t most; /* processes of children when one was unreached */
};

/* An agent: what it does is its host's name. */
struct agent {
    struct ev_loop *loop;
    struct link *link;
    char *role;
    uint32_t node;
    int status;
};

static void say(struct agent *agent, enum frame_type type, const char *text)
{
    struct frame frame = {.type = type, .node = agent->node, .bytes = text, .len = strlen(text)};
    link_send(agent->link, &frame);
}

static void agent_begin(struct agent *agent, const struct frame *frame)
{
    json_t *welcome = frame_json(frame, NULL);
    agent->role = mem_copy_text(json_string_value(json_object_get(welcome, "host")));
    agent->node = (uint32_t)json_integer_value(json_object_get(welcome, "node"));
    json_decref(welcome);
    if (strcmp(agent->role, "quits") == 0)
        _exit(9);
    if (strcmp(agent->role, "crashes") == 0)
        raise(SIGKILL);
    if (strcmp(agent->role, "mute") == 0)
        return;
    if (strcmp(agent->role, "impostor") == 0)
        agent->node++;
    say(agent, FRAME_HELLO, "{}");
    if (strcmp(agent->role, "leaves") == 0) {
        link_flush(agent->link, 5);
        _exit(0);
    }
    if (strcmp(agent->role, "frozen") == 0) {
        link_flush(agent->link, 5);
        raise(SIGSTOP);
    }
}

static void agent_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct agent *agent = arg;
    if (frame->type == FRAME_WELCOME) {
        agent_begin(agent, frame);
        return;
    }
    if (strcmp(agent->role, "finishes") == 0) {
        say(agent, FRAME_NOTE, "over");
        link_shutdown(link);
        return;
    }
    if (frame_is_bulk(frame->type))
        link_consumed(link, link_weight(frame));
    struct frame back = *frame; /* an echo */
    back.type = frame_is_bulk(frame->type) ? FRAME_OUTPUT : FRAME_NOTE;
    back.node = agent->node;
    link_send(link, &back);
}

static void agent_closed(struct link *link, void *arg, const struct error *why)
{
    (void)link;
    (void)why;
    if (strcmp(((struct agent *)arg)->role, "stays") == 0)
        for (;;)
            pause();
    _exit(0);
}

static const struct link_ops agent_ops = {agent_frame, NULL, agent_closed, NULL, NULL};

static int be_agent(void *arg, int fd)
{
    struct world *world = arg;
    struct agent agent = {.loop = ev_loop_new(EVFLAG_AUTO)};
    assert_int_equal(getppid(), world->forked_by);
    tree_disown(world->tree);
    agent.link = link_new(agent.loop, fd, fd, &agent_ops, &agent);
    link_greet(agent.link);
    ev_run(agent.loop, 0);
    return 0;
}

static void on_frame(void *arg, uint32_t child, const struct frame *frame)
{
    struct world *world = arg;
    world->child = child;
    world->nframes++;
    if (frame->type == FRAME_HELLO) {
        world->nhello++;
        buf_printf(&world->log, "hello:%u:%u ", child, frame->node);
    } else if (frame->type == FRAME_NOTE) {
        buf_printf(&world->log, "note:%u:%.*s ", child, (int)frame->len,
                   (const char *)frame->bytes);
        if (frame->len == 4 && memcmp(frame->bytes, "over", 4) == 0)
            tree_end(world->tree, 5);
    } else if (frame_is_bulk(frame->type)) {
        world->bulk += frame->len;
        tree_consumed(world->tree, child, link_weight(frame));
    }
}

static void on_unreached(void *arg, const struct tree_unreached *what)
{
    struct world *world = arg;
    size_t count, running = 0;
    const pid_t *pids = tree_pids(world->tree, &count);
    for (size_t i = 0; i < count; i++)
        running += pids[i] > 0;
    if (running > world->most)
        world->most = running;
    world->nunreached++;
    world->nuntried += strcmp(what->text, "not tried, since no host has answered for 0.3 s") == 0;
    world->unreached = *what;
    free(world->text);
    free(world->nodes);
    world->text = mem_copy_text(what->text);
    world->nodes = idset_encode(what->nodes);
    buf_printf(&world->log, "unreached:%u:%s %s ", what->node, what->host, world->nodes);
}

static void on_lost(void *arg, const char *host, const struct idset *nodes, const char *why)
{
    struct world *world = arg;
    world->nlost++;
    free(world->text);
    free(world->nodes);
    world->text = mem_copy_text(why);
    world->nodes = idset_encode(nodes);
    buf_printf(&world->log, "lost:%s ", host);
}

static void on_room(void *arg)
{
    (void)arg;
}

static void on_note(void *arg, const char *text)
{
    buf_printf(&((struct world *)arg)->log, "words:%s ", text);
}

static void on_empty(void *arg)
{
    struct world *world = arg;
    world->nempty++;
    buf_add_text(&world->log, "empty ");
}

static const struct tree_ops ops = {on_frame, on_unreached, on_lost, on_room,
                                    on_note,  on_empty,     be_agent};

static int setup(void **state)
{
    struct world *world = mem_alloc(sizeof(*world));
    world->loop = ev_default_loop(EVFLAG_AUTO);
    world->boot = (struct bootstrap){.method = mem_copy_text("local"),
                                     .ssh = mem_copy_text("ssh"),
                                     .agent = mem_copy_text("/nosuch/tpagent"),
                                     .fanout = 32,
                                     .start_timeout = 20,
                                     .node_timeout = 20};
    world->tree = tree_new(world->loop, &world->boot, &ops, world);
    world->forked_by = getpid();
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    tree_free(world->tree);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    bootstrap_clear(&world->boot);
    buf_free(&world->log);
    free(world->text);
    free(world->nodes);
    free(world);
    return 0;
}

static void wake(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
}

/* Until `count` is at least `least`; ten seconds are a failure. */
static void run_until(struct world *world, const unsigned *count, unsigned least)
{
    ev_timer timer;
    double end = ev_time() + 10;
    ev_timer_init(&timer, wake, 0.01, 0.01);
    ev_timer_start(world->loop, &timer);
    while (*count < least && ev_time() < end)
        ev_run(world->loop, EVRUN_ONCE);
    ev_timer_stop(world->loop, &timer);
    if (*count < least)
        fail_msg("waited in vain; so far: %s", buf_text(&world->log));
}

static void run_for(struct world *world, double seconds)
{
    ev_timer timer;
    double end = ev_time() + seconds;
    ev_now_update(world->loop);
    ev_timer_init(&timer, wake, 0.01, 0.01);
    ev_timer_start(world->loop, &timer);
    while (ev_time() < end)
        ev_run(world->loop, EVRUN_ONCE);
    ev_timer_stop(world->loop, &timer);
}

/* Roles parted by blanks, nodes from 10 on. */
static void start(struct world *world, const char *roles)
{
    struct tree_target targets[8];
    size_t count = 0;
    char *text = mem_copy_text(roles), *rest = text, *role;
    while ((role = strsep(&rest, " "))) {
        targets[count] = (struct tree_target){10 + (uint32_t)count, role, role, NULL, NULL, true};
        count++;
    }
    tree_start(world->tree, targets, count, TREE_FIRST);
    free(text);
}

/* A process whose exec failed may still be on its way out after this. */
static void finish(struct world *world)
{
    tree_end(world->tree, 5);
    run_until(world, &world->nempty, 1);
    assert_int_equal(world->nempty, 1);
}

static void end(struct world *world)
{
    finish(world);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* all were reaped */
}

static void test_three_children_say_hello_and_end(void **state)
{
    struct world *world = *state;
    size_t count;
    start(world, "good good good");
    const pid_t *pids = tree_pids(world->tree, &count);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(kill(pids[i], 0), 0);
    run_until(world, &world->nhello, 3);
    assert_non_null(strstr(buf_text(&world->log), "hello:0:10 "));
    assert_non_null(strstr(buf_text(&world->log), "hello:1:11 "));
    assert_non_null(strstr(buf_text(&world->log), "hello:2:12 "));
    struct idset *nodes = idset_new();
    tree_add_nodes(world->tree, nodes);
    char *text = idset_encode(nodes);
    assert_string_equal(text, "10-12");
    free(text);
    idset_free(nodes);
    end(world);
    assert_int_equal(world->nlost + world->nunreached, 0);
    pids = tree_pids(world->tree, &count);
    for (size_t i = 0; i < count; i++)
        assert_true(pids[i] <= 0); /* nobody else's process by now */
}

static void test_frames_go_to_those_that_are_meant(void **state)
{
    struct world *world = *state;
    struct frame frame = {.type = FRAME_NOTE, .bytes = "all", .len = 3};
    start(world, "good good good");
    tree_send(world->tree, &frame); /* nobody is up */
    run_until(world, &world->nhello, 3);
    assert_int_equal(world->nframes, 3);
    tree_send(world->tree, &frame);
    run_until(world, &world->nframes, 6);
    frame.bytes = "one";
    tree_send_node(world->tree, 11, &frame);
    run_until(world, &world->nframes, 7);
    frame.bytes = "two";
    struct idset *nodes = idset_decode("10,12,99", NULL);
    tree_send_nodes(world->tree, nodes, &frame);
    run_until(world, &world->nframes, 9);
    idset_free(nodes);
    tree_send_node(world->tree, 99, &frame);
    run_for(world, 0.05);
    assert_int_equal(world->nframes, 9);
    const char *log = buf_text(&world->log);
    assert_non_null(strstr(log, "note:0:all "));
    assert_non_null(strstr(log, "note:1:all "));
    assert_non_null(strstr(log, "note:2:all "));
    assert_non_null(strstr(log, "note:1:one "));
    assert_null(strstr(log, "note:0:one "));
    assert_non_null(strstr(log, "note:0:two "));
    assert_non_null(strstr(log, "note:2:two "));
    assert_null(strstr(log, "note:1:two "));
    assert_true(llabs((long long)tree_clock_offset(world->tree, 1)) < 500000000);
    end(world);
}

static void test_room_is_that_of_the_slowest(void **state)
{
    struct world *world = *state;
    struct idset *both = idset_decode("10-11", NULL), *one = idset_decode("11", NULL);
    char bytes[1000] = {0};
    struct frame frame = {.type = FRAME_STDIN, .bytes = bytes, .len = sizeof(bytes)};
    start(world, "good good");
    assert_int_equal(tree_room(world->tree, both), LINK_WINDOW); /* nobody holds it up */
    run_until(world, &world->nhello, 2);
    tree_send_node(world->tree, 10, &frame);
    assert_int_equal(tree_room(world->tree, both), LINK_WINDOW - 1000 - FRAME_HEADER);
    assert_int_equal(tree_room(world->tree, one), LINK_WINDOW);
    idset_free(both);
    idset_free(one);
    end(world);
}

/* More than a window there and back: only credit that comes back lets it through. */
static void test_bulk_flows_as_it_is_consumed(void **state)
{
    struct world *world = *state;
    size_t sent = 0, most = 4 * LINK_WINDOW;
    char *bytes = mem_alloc(10000);
    struct idset *nodes = idset_decode("10", NULL);
    start(world, "good");
    run_until(world, &world->nhello, 1);
    for (double until = ev_time() + 10; world->bulk < most && ev_time() < until;) {
        while (sent < most && tree_room(world->tree, nodes) > 10000 + FRAME_HEADER) {
            struct frame frame = {.type = FRAME_STDIN, .bytes = bytes, .len = 10000};
            tree_send_node(world->tree, 10, &frame);
            sent += 10000;
        }
        run_for(world, 0.01);
    }
    assert_true(world->bulk >= most);
    free(bytes);
    idset_free(nodes);
    end(world);
}

static void test_a_child_that_exits_is_lost(void **state)
{
    struct world *world = *state;
    start(world, "good leaves good");
    run_until(world, &world->nlost, 1);
    run_until(world, &world->nhello, 3);
    run_for(world, 0.1);
    assert_int_equal(world->nlost, 1);
    assert_int_equal(world->nunreached, 0);
    assert_string_equal(world->nodes, "11");
    assert_non_null(strstr(buf_text(&world->log), "lost:leaves "));
    assert_non_null(
        strstr(world->text, "connection ")); /* closed, or reset: a ping was under way */
    end(world);
    assert_int_equal(world->nlost, 1);
}

static void test_a_child_that_is_killed_is_lost_once(void **state)
{
    struct world *world = *state;
    size_t count;
    start(world, "good good");
    run_until(world, &world->nhello, 2);
    kill(tree_pids(world->tree, &count)[0], SIGKILL);
    run_until(world, &world->nlost, 1);
    run_for(world, 0.1);
    assert_int_equal(world->nlost, 1);
    assert_string_equal(world->nodes, "10");
    end(world);
}

static void test_a_child_that_falls_silent_is_lost(void **state)
{
    struct world *world = *state;
    world->boot.node_timeout = 0.3;
    start(world, "good frozen");
    run_until(world, &world->nlost, 1);
    assert_string_equal(world->nodes, "11");
    assert_non_null(strstr(world->text, "no sign of life"));
    run_for(world, 0.5);
    assert_int_equal(world->nlost, 1);
    end(world);
}

static const struct {
    const char *role;
    const char *words;
} early_ends[] = {
    {"quits", "exited with status 9"},
    {"crashes", "killed by signal 9 (Killed)"},
};

static void test_a_child_that_ends_before_its_hello_is_unreached(void **state)
{
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(early_ends) / sizeof(early_ends[0]); i++) {
        start(world, early_ends[i].role);
        run_until(world, &world->nunreached, (unsigned)i + 1);
        assert_int_equal(world->unreached.node, 10);
        assert_int_equal(world->unreached.stage, STAGE_HELLO);
        assert_string_equal(world->nodes, "10");
        if (!strstr(world->text, early_ends[i].words))
            fail_msg("%s", world->text);
        run_for(world, 0.6); /* also past the wait for last words */
        assert_int_equal(world->nunreached, i + 1);
    }
    assert_int_equal(world->nlost + world->nhello, 0);
    end(world);
}

static void test_a_child_that_says_nothing_has_a_deadline(void **state)
{
    struct world *world = *state;
    world->boot.start_timeout = 0.3;
    start(world, "good mute impostor");
    run_until(world, &world->nunreached, 2);
    assert_non_null(strstr(buf_text(&world->log), "unreached:11:mute "));
    assert_non_null(strstr(buf_text(&world->log), "unreached:12:impostor "));
    assert_string_equal(world->text, "no answer within 0.3 s");
    assert_true(world->unreached.elapsed >= 0.25);
    assert_true(world->unreached.elapsed < 5);
    assert_int_equal(world->unreached.stage, STAGE_HELLO);
    run_for(world, 0.5); /* the good one has no deadline any more */
    assert_int_equal(world->nunreached, 2);
    assert_int_equal(world->nlost, 0);
    end(world);
}

static void test_patience_that_is_endless_is_so(void **state)
{
    struct world *world = *state;
    world->boot.start_timeout = world->boot.node_timeout = INFINITY;
    start(world, "mute good");
    run_until(world, &world->nhello, 1);
    run_for(world, 0.3);
    assert_int_equal(world->nunreached + world->nlost, 0);
    end(world);
}

static void test_an_empty_tree_ends_at_once_and_once(void **state)
{
    struct world *world = *state;
    tree_end(world->tree, 5);
    assert_int_equal(world->nempty, 1);
    tree_end(world->tree, 5);
    run_for(world, 0.05);
    assert_int_equal(world->nempty, 1);
}

static void test_the_end_comes_while_children_are_starting(void **state)
{
    struct world *world = *state;
    start(world, "good mute quits");
    end(world);
    run_for(world, 0.1);
    assert_int_equal(world->nempty, 1);
    assert_int_equal(world->nlost + world->nunreached, 0); /* it was told to go */
}

static void test_what_stays_is_killed_after_the_patience(void **state)
{
    struct world *world = *state;
    double before = ev_time();
    start(world, "stays good");
    run_until(world, &world->nhello, 2);
    tree_end(world->tree, 0.3);
    run_until(world, &world->nempty, 1);
    assert_true(ev_time() - before >= 0.3);
    assert_int_equal(world->nempty, 1);
    assert_int_equal(world->nlost, 0);
}

static void test_the_end_after_losses_is_empty_at_once(void **state)
{
    struct world *world = *state;
    start(world, "leaves quits");
    run_until(world, &world->nlost, 1);
    run_until(world, &world->nunreached, 1);
    run_for(world, 0.2);
    tree_end(world->tree, 5);
    assert_int_equal(world->nempty, 1);
}

static void test_more_can_be_started_later(void **state)
{
    struct world *world = *state;
    struct tree_target more = {42, (char *)"good", (char *)"good", NULL, NULL, true};
    start(world, "good");
    run_until(world, &world->nhello, 1);
    tree_start(world->tree, &more, 1, TREE_FIRST);
    run_until(world, &world->nhello, 2);
    assert_non_null(strstr(buf_text(&world->log), "hello:1:42 "));
    end(world);
}

/* ---- groups and commands ---- */

/* Seven that no command reaches, in groups of two, two and three. */
static void test_the_first_of_a_group_takes_its_group_along(void **state)
{
    struct world *world = *state;
    struct tree_target targets[7];
    char *hosts[7];
    size_t count;
    free(world->boot.method);
    world->boot.method = mem_copy_text("/nosuch/command {host}");
    world->boot.fanout = 3;
    for (uint32_t i = 0; i < 7; i++) {
        hosts[i] = mem_format("n%u", i);
        targets[i] = (struct tree_target){i, hosts[i], hosts[i], NULL, NULL, false};
    }
    tree_start(world->tree, targets, 7, TREE_BELOW);
    tree_pids(world->tree, &count);
    assert_int_equal(count, 3);
    run_until(world, &world->nunreached, 3);
    assert_non_null(strstr(buf_text(&world->log), "unreached:0:n0 0-1 "));
    assert_non_null(strstr(buf_text(&world->log), "unreached:2:n2 2-3 "));
    assert_non_null(strstr(buf_text(&world->log), "unreached:4:n4 4-6 "));
    assert_int_equal(world->unreached.stage, STAGE_EXEC);
    assert_non_null(strstr(world->text, "cannot run /nosuch/command: No such file or directory"));
    for (uint32_t i = 0; i < 7; i++)
        free(hosts[i]);
    finish(world);
}

/* As many as there are, reached by this command. */
static void start_many(struct world *world, const char *method, uint32_t count, enum tree_try how)
{
    struct tree_target *targets = mem_array(count, sizeof(*targets));
    free(world->boot.method);
    world->boot.method = mem_copy_text(method);
    for (uint32_t i = 0; i < count; i++)
        targets[i] = (struct tree_target){
            i, (char *)(uintptr_t) "h", (char *)(uintptr_t) "h", NULL, NULL, 0};
    tree_start(world->tree, targets, count, how);
    free(targets);
}

/* The first of each group, and the next in its place, one by one. */
static void test_hosts_that_fail_at_once_are_tried_no_more_than_the_fan_out_at_a_time(void **state)
{
    struct world *world = *state;
    size_t count;
    world->boot.fanout = 4;
    start_many(world, "false {host}", 96, TREE_FIRST);
    run_until(world, &world->nunreached, 96);
    assert_int_equal(world->nunreached, 96);
    assert_int_equal(world->most, 4);
    tree_pids(world->tree, &count);
    assert_int_equal(count, 96); /* each was tried */
    finish(world);
}

static void test_hosts_that_are_reached_directly_have_the_same_limit(void **state)
{
    struct world *world = *state;
    world->boot.fanout = 4;
    start_many(world, "false {host}", 96, TREE_AGAIN);
    run_until(world, &world->nunreached, 96);
    assert_int_equal(world->nunreached, 96);
    assert_int_equal(world->most, 4);
    finish(world);
}

static void test_where_no_host_answers_the_last_are_not_tried(void **state)
{
    struct world *world = *state;
    size_t count;
    world->boot.fanout = 2;
    world->boot.start_timeout = 0.3;
    start_many(world, "sh -c 'exec sleep 1000' {host}", 40, TREE_AGAIN);
    run_until(world, &world->nunreached, 40);
    assert_int_equal(world->nunreached, 40);
    assert_int_equal(world->most, 2);
    tree_pids(world->tree, &count);
    assert_uint_in_range(count, 2, 12);
    assert_int_equal(world->nuntried + count, 40);
    finish(world);
}

static void test_forgotten_nodes_are_nobodys(void **state)
{
    struct world *world = *state;
    struct idset *left = idset_new(), *gone = idset_decode("11-12", NULL);
    start(world, "good good good");
    run_until(world, &world->nhello, 3);
    tree_forget(world->tree, gone);
    tree_add_nodes(world->tree, left);
    char *text = idset_encode(left);
    assert_string_equal(text, "10");
    free(text);
    struct frame frame = {.type = FRAME_NOTE, .bytes = "x", .len = 1};
    tree_send_node(world->tree, 12, &frame);
    run_for(world, 0.05);
    assert_int_equal(world->nframes, 3);
    idset_free(left);
    idset_free(gone);
    end(world);
}

static const struct {
    const char *command; /* {host} is "h" */
    const char *words;
} failing[] = {
    {"sh {host}", "h"}, /* no such script: the shell says so */
    {"false {host} {agent}", "the command that reaches it exited with status 1"},
    {"echo {host} {agent}", "; the login printed \"h /nosuch/tpagent\""},
    {"printf '\\n\\r\\n%s is up\\r\\n\\n  as %s\\n' {host} {agent}",
     "; the login printed \"h is up; as /nosuch/tpagent\""},
    {"/etc/passwd {host}", "cannot run /etc/passwd: Permission denied"},
    {"no-such-command {host}", "No such file or directory"},
};

static void test_a_command_that_fails_is_explained(void **state)
{
    struct world *world = *state;
    struct tree_target target = {5, (char *)"h", (char *)"h", NULL, NULL, false};
    for (size_t i = 0; i < sizeof(failing) / sizeof(failing[0]); i++) {
        free(world->boot.method);
        world->boot.method = mem_copy_text(failing[i].command);
        tree_start(world->tree, &target, 1, TREE_FIRST);
        run_until(world, &world->nunreached, (unsigned)i + 1);
        assert_int_equal(world->unreached.stage, STAGE_EXEC);
        if (!strstr(world->text, failing[i].words))
            fail_msg("%s: %s", failing[i].command, world->text);
    }
    run_for(world, 0.1);
    assert_int_equal(world->nunreached, sizeof(failing) / sizeof(failing[0]));
    finish(world);
}

/* As an ssh to a host that is off. */
static void test_a_command_that_reaches_nobody_does_not_keep_the_end_waiting(void **state)
{
    struct world *world = *state;
    struct tree_target target = {5, (char *)"h", (char *)"h", NULL, NULL, false};
    free(world->boot.method);
    world->boot.method = mem_copy_text("sh -c 'exec sleep 100' {host}");
    tree_start(world->tree, &target, 1, TREE_FIRST);
    run_for(world, 0.1);
    assert_int_equal(world->nunreached, 0);
    tree_end(world->tree, 100);
    run_until(world, &world->nempty, 1);
    assert_int_equal(world->nempty, 1);
}

/* Enough descriptors for the link of a child, and none for the pipe of its words. */
static void test_a_command_whose_pipe_cannot_be_made_is_explained(void **state)
{
    struct world *world = *state;
    struct tree_target target = {5, (char *)"h", (char *)"h", NULL, NULL, false};
    struct rlimit before, few;
    int first = dup(0), second = dup(0);
    close(first);
    close(second);
    free(world->boot.method);
    world->boot.method = mem_copy_text("echo {host}");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){(rlim_t)second + 1, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    tree_start(world->tree, &target, 1, TREE_FIRST);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    run_until(world, &world->nunreached, 1);
    if (!strstr(world->text, "cannot make a pipe: Too many open files"))
        fail_msg("%s", world->text);
    finish(world);
}

/* ---- before the hello ---- */

static void test_a_frame_that_is_sent_early_comes_behind_the_welcome(void **state)
{
    struct world *world = *state;
    struct frame frame = {.type = FRAME_NOTE, .bytes = "early", .len = 5};
    start(world, "good good");
    assert_true(tree_takes_early(world->tree, 10));
    tree_send_early(world->tree, 11, &frame);
    run_until(world, &world->nframes, 3);
    char *said = strstr(buf_text(&world->log), "hello:1:11 "); /* and then the echo */
    assert_non_null(said);
    assert_non_null(strstr(said, "note:1:early "));
    assert_false(tree_takes_early(world->tree, 10));
    assert_false(tree_takes_early(world->tree, 12));
    end(world);
}

/* As an agent does with a program that was launched early. */
static void test_a_child_that_ends_behind_its_last_word_is_not_lost(void **state)
{
    struct world *world = *state;
    struct frame frame = {.type = FRAME_NOTE, .bytes = "early", .len = 5};
    start(world, "finishes");
    tree_send_early(world->tree, 10, &frame);
    run_until(world, &world->nempty, 1);
    assert_string_equal(buf_text(&world->log), "hello:0:10 note:0:over empty ");
}

static void test_what_a_command_starts_takes_no_frame_early(void **state)
{
    struct world *world = *state;
    struct tree_target target = {5, (char *)"h", (char *)"h", NULL, NULL, false};
    free(world->boot.method);
    world->boot.method = mem_copy_text("sh -c 'exec sleep 100' {host}");
    tree_start(world->tree, &target, 1, TREE_FIRST);
    assert_false(tree_takes_early(world->tree, 5));
    tree_end(world->tree, 0);
    run_until(world, &world->nempty, 1);
}

/* The agent was asked of an instance, and never answers. */
static void test_who_was_sent_work_early_has_its_whole_time_at_the_end(void **state)
{
    struct world *world = *state;
    struct tree_target target = {5, (char *)"h", (char *)"h", NULL, NULL, false};
    struct frame launch = {.type = FRAME_LAUNCH, .flags = FRAME_LAUNCH_EARLY}, frame;
    struct agent_wish wish;
    struct buf in = BUF_INIT;
    char bytes[4096];
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    world->boot.broker = pair[0];
    tree_start(world->tree, &target, 1, TREE_FIRST);
    assert_int_equal(agent_broker_take(pair[1], &wish), 1);
    tree_send_early(world->tree, 5, &launch);
    tree_end(world->tree, 100);
    run_for(world, 1.3);
    assert_int_equal(world->nempty, 0);
    static const enum frame_type want[] = {FRAME_WELCOME, FRAME_PING, FRAME_LAUNCH};
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        while (frame_decode(&in, &frame, NULL) == 0) {
            ssize_t got = read(wish.link, bytes, sizeof(bytes));
            assert_true(got > 0);
            buf_add(&in, bytes, (size_t)got);
        }
        assert_int_equal(frame.type, want[i]);
        buf_consume(&in, FRAME_HEADER + frame.len);
    }
    assert_int_equal(frame.flags, FRAME_LAUNCH_EARLY);
    close(wish.link);
    close(wish.words);
    run_until(world, &world->nempty, 1);
    assert_int_equal(world->nempty, 1);
    buf_free(&in);
    close(pair[0]);
    close(pair[1]);
}

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets_come_back_from_json),
        cmocka_unit_test(test_no_targets_are_no_targets),
        cmocka_unit_test(test_malformed_targets_are_refused),
        TREE_TEST(test_three_children_say_hello_and_end),
        TREE_TEST(test_frames_go_to_those_that_are_meant),
        TREE_TEST(test_room_is_that_of_the_slowest),
        TREE_TEST(test_bulk_flows_as_it_is_consumed),
        TREE_TEST(test_a_child_that_exits_is_lost),
        TREE_TEST(test_a_child_that_is_killed_is_lost_once),
        TREE_TEST(test_a_child_that_falls_silent_is_lost),
        TREE_TEST(test_a_child_that_ends_before_its_hello_is_unreached),
        TREE_TEST(test_a_child_that_says_nothing_has_a_deadline),
        TREE_TEST(test_patience_that_is_endless_is_so),
        TREE_TEST(test_an_empty_tree_ends_at_once_and_once),
        TREE_TEST(test_the_end_comes_while_children_are_starting),
        TREE_TEST(test_what_stays_is_killed_after_the_patience),
        TREE_TEST(test_the_end_after_losses_is_empty_at_once),
        TREE_TEST(test_more_can_be_started_later),
        TREE_TEST(test_the_first_of_a_group_takes_its_group_along),
        TREE_TEST(test_hosts_that_fail_at_once_are_tried_no_more_than_the_fan_out_at_a_time),
        TREE_TEST(test_hosts_that_are_reached_directly_have_the_same_limit),
        TREE_TEST(test_where_no_host_answers_the_last_are_not_tried),
        TREE_TEST(test_forgotten_nodes_are_nobodys),
        TREE_TEST(test_a_command_that_fails_is_explained),
        TREE_TEST(test_a_command_that_reaches_nobody_does_not_keep_the_end_waiting),
        TREE_TEST(test_a_command_whose_pipe_cannot_be_made_is_explained),
        TREE_TEST(test_a_frame_that_is_sent_early_comes_behind_the_welcome),
        TREE_TEST(test_a_child_that_ends_behind_its_last_word_is_not_lost),
        TREE_TEST(test_what_a_command_starts_takes_no_frame_early),
        TREE_TEST(test_who_was_sent_work_early_has_its_whole_time_at_the_end),
    };
    exec_reserve();
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
