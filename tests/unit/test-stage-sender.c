#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/program/stage_sender.h"
#include "launcher/spec/spec_build.h"
#include "tests/unit/scratch-root.h"
#include "tests/unit/unit.h"

/* ---- a tree without agents, in place of launcher/tree/tree.c ---- */

/* It keeps a log: "STAGE.1@0-1" for a frame of the first staging to nodes 0 and 1. */
struct tree {
    struct buf log;   /* words, with a blank between two */
    struct buf bytes; /* of all files, since the last FRAME_STAGE */
    struct buf end;   /* the last FRAME_STAGE_END */
    size_t room;      /* frames that it takes before it is full */
};

static struct tree tree;

void tree_send_nodes(struct tree *to, const struct idset *nodes, const struct frame *frame)
{
    char *text = idset_encode(nodes);
    if (to->log.len)
        buf_add_char(&to->log, ' ');
    if (frame->type == FRAME_STAGE)
        buf_printf(&to->log, "STAGE.%u@%s", frame->rank, text);
    else
        buf_printf(&to->log, "%s@%s", frame->type == FRAME_STAGE_DATA ? "DATA" : "END", text);
    if (frame->type == FRAME_STAGE) {
        buf_clear(&to->bytes);
    } else if (frame->type == FRAME_STAGE_DATA) {
        buf_add(&to->bytes, frame->bytes, frame->len);
        to->room--;
    } else {
        buf_clear(&to->end);
        buf_add(&to->end, frame->bytes, frame->len);
    }
    free(text);
}

size_t tree_room(const struct tree *to, const struct idset *nodes)
{
    (void)nodes;
    return to->room;
}

/* What was sent since the last call. */
static void assert_sent(const char *want)
{
    if (strcmp(buf_text(&tree.log), want) != 0)
        fail_msg("sent \"%s\", expected \"%s\"", buf_text(&tree.log), want);
    buf_free(&tree.log);
}

static ev_timer *patience; /* the last timer that was begun anew */

void __real_ev_timer_again(struct ev_loop *loop, ev_timer *timer);
void __wrap_ev_timer_again(struct ev_loop *loop, ev_timer *timer);

void __wrap_ev_timer_again(struct ev_loop *loop, ev_timer *timer)
{
    patience = timer;
    __real_ev_timer_again(loop, timer);
}

/* ---- a sender ---- */

static struct stage_sender *sender;

static const char *host(void *owner, uint32_t node)
{
    static const char *const names[] = {"a0", "a1", "a2", "a3"};
    (void)owner;
    return node < 4 ? names[node] : NULL;
}

/* How a call was answered: NULL: not yet; "": they are there. */
static void on_done(void *arg, const struct error *err)
{
    char **said = arg;
    assert_null(*said);
    *said = mem_copy_text(err ? error_text(err) : "");
}

static void assert_said(char **said, const char *want)
{
    if (!*said || strcmp(*said, want) != 0)
        fail_msg("said \"%s\", expected \"%s\"", *said ? *said : "nothing", want);
    free(*said);
    *said = NULL;
}

static void write_file(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void set_files(const char *const *names)
{
    struct spec *spec = spec_new();
    struct error err = ERROR_INIT;
    for (; *names; names++)
        spec_add_stage(spec, *names);
    struct stage_source *source = stage_source_open(spec, &err);
    if (!source)
        fail_msg("%s", error_text(&err));
    stage_sender_set(sender, source);
    spec_free(spec);
}

static int open_sender(void **state)
{
    (void)state;
    tree = (struct tree){.room = SIZE_MAX};
    sender = stage_sender_new(EV_DEFAULT, &tree, host, NULL);
    write_file("one", "first");
    write_file("two", "second");
    write_file("none", "");
    return 0;
}

static int close_sender(void **state)
{
    (void)state;
    stage_sender_free(sender);
    buf_free(&tree.log);
    buf_free(&tree.bytes);
    buf_free(&tree.end);
    return 0;
}

static void send_to(const char *nodes, char **said)
{
    struct idset *set = idset_decode(nodes, NULL);
    *said = NULL;
    stage_sender_send(sender, set, on_done, said);
    idset_free(set);
}

static bool has(const char *nodes)
{
    struct idset *set = idset_decode(nodes, NULL);
    bool is = stage_sender_has(sender, set);
    idset_free(set);
    return is;
}

static void lose(const char *nodes)
{
    struct idset *set = idset_decode(nodes, NULL);
    stage_sender_lost(sender, set);
    idset_free(set);
}

/* The answer of a node to a staging: "ready", "done", or why it has failed. */
static void answer(uint32_t number, uint32_t node, const char *what)
{
    const struct frame frame = {.type = FRAME_STAGED, .node = node, .rank = number};
    bool good = strcmp(what, "ready") == 0 || strcmp(what, "done") == 0;
    json_t *value = good ? json_pack("{s:b}", what, 1) : json_pack("{s:s}", "failed", what);
    stage_sender_answer(sender, &frame, value);
    json_decref(value);
}

/* The same of several nodes. */
static void answer_all(uint32_t number, const char *nodes, const char *what)
{
    struct idset *set = idset_decode(nodes, NULL);
    IDSET_FOREACH(node, set)
    {
        answer(number, node, what);
    }
    idset_free(set);
}

/* ---- the way of one staging ---- */

static void
test_all_have_room_before_the_first_byte_is_sent_and_have_the_files_at_the_end(void **state)
{
    char *said;
    (void)state;
    set_files((const char *const[]){"one", "none", "two", NULL});
    send_to("0,2", &said);
    assert_sent("STAGE.1@0,2");
    answer(1, 2, "ready");
    assert_sent("");
    answer(1, 0, "ready");
    assert_sent("DATA@0,2 DATA@0,2 END@0,2");
    assert_string_equal(buf_text(&tree.bytes), "firstsecond");
    /* sums of xxhsum -H1 */
    assert_string_equal(
        buf_text(&tree.end),
        "{\"sums\":[\"cc98257fe4be8f5a\",\"ef46db3751d8e999\",\"ca7ffbd94d5e0037\"]}");
    answer(1, 0, "done");
    assert_null(said);
    assert_true(has("0"));
    assert_false(has("2"));
    answer(1, 2, "done");
    assert_said(&said, "");
    assert_true(has("0,2"));
    assert_false(has("0-2"));
}

/* There is no room for the second file. */
static void send_first_of_two(const char *nodes, char **said)
{
    set_files((const char *const[]){"one", "two", NULL});
    tree.room = 1;
    send_to(nodes, said);
    answer_all(1, nodes, "ready");
}

static void test_no_more_is_sent_than_there_is_room_for(void **state)
{
    char *said;
    (void)state;
    send_first_of_two("1", &said);
    assert_sent("STAGE.1@1 DATA@1");
    stage_sender_room(sender);
    assert_sent("");
    char *text = stage_sender_describe(sender);
    assert_string_equal(text, "to a1 (5 bytes of 11 bytes)");
    free(text);
    tree.room = 5;
    stage_sender_room(sender);
    assert_sent("DATA@1 END@1");
    stage_sender_room(sender);
    assert_sent("");
    answer(1, 1, "done");
    assert_said(&said, "");
    assert_null(stage_sender_describe(sender));
}

static void test_without_files_all_is_there_at_once(void **state)
{
    char *said;
    (void)state;
    set_files((const char *const[]){NULL});
    assert_true(has("0-3"));
    send_to("0-3", &said);
    assert_said(&said, "");
    assert_sent("");
}

static void test_nodes_that_have_them_are_not_sent_them_again(void **state)
{
    char *first, *second, *third;
    (void)state;
    set_files((const char *const[]){"none", NULL});
    send_to("0-1", &first);
    send_to("1-2", &second); /* in line behind it */
    send_to("0-1", &third);
    assert_sent("STAGE.1@0-1");
    answer_all(1, "0-1", "ready");
    answer_all(1, "0-1", "done");
    assert_said(&first, "");
    assert_sent("END@0-1 STAGE.2@2");
    assert_null(third);
    answer(2, 2, "ready");
    answer(2, 2, "done");
    assert_said(&second, "");
    assert_said(&third, "");
    assert_sent("END@2");
}

/* ---- what fails ---- */

static void test_where_one_has_no_room_nothing_is_sent(void **state)
{
    char *said;
    (void)state;
    set_files((const char *const[]){"one", NULL});
    send_to("0-3", &said);
    answer(1, 1, "no room");
    answer(1, 0, "ready");
    answer(1, 3, "no room");
    assert_null(said);
    answer(1, 2, "ready");
    assert_said(&said, "a[1,3]: no room");
    assert_sent("STAGE.1@0-3 END@0-3"); /* those that have room give it back */
    assert_string_equal(buf_text(&tree.end), "{\"failed\":\"a[1,3]: no room\"}");
    assert_false(has("0"));
}

/* When nothing has happened for too long after these have answered that they have room. */
static void assert_waited_for(const char *ready, size_t room, const char *hosts)
{
    char *said, *want = mem_format("%s: no answer for ", hosts);
    open_sender(NULL);
    set_files((const char *const[]){"one", NULL});
    tree.room = room;
    send_to("0-2", &said);
    answer_all(1, ready, "ready");
    assert_null(said);
    patience->cb(EV_DEFAULT, patience, EV_TIMER);
    if (!said || strncmp(said, want, strlen(want)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", said ? said : "", want);
    free(want);
    free(said);
    close_sender(NULL);
}

static void test_hosts_that_do_not_answer_are_named_in_each_step(void **state)
{
    (void)state;
    assert_waited_for("0", 0, "a[1-2]");
    assert_waited_for("0-2", 0, "a[0-2]"); /* no byte is taken */
    assert_waited_for("0-2", SIZE_MAX, "a[0-2]");
}

static void test_one_that_fails_while_bytes_are_sent_is_the_end_of_it(void **state)
{
    char *said;
    (void)state;
    send_first_of_two("0-1", &said);
    answer(1, 1, "disk full");
    assert_said(&said, "a1: disk full");
    assert_sent("STAGE.1@0-1 DATA@0-1 END@0-1");
    assert_string_equal(buf_text(&tree.end), "{\"failed\":\"a1: disk full\"}");
}

static void test_nodes_that_have_them_keep_them_where_another_failed_at_the_end(void **state)
{
    char *said;
    (void)state;
    set_files((const char *const[]){"none", NULL});
    send_to("0-2", &said);
    answer_all(1, "0-2", "ready");
    assert_sent("STAGE.1@0-2 END@0-2");
    answer(1, 0, "done");
    answer(1, 1, "wrong bytes");
    answer(1, 2, "done");
    assert_said(&said, "a1: wrong bytes");
    assert_sent("");
    assert_true(has("0,2"));
    assert_false(has("1"));
    send_to("0-2", &said);
    assert_sent("STAGE.2@1");
}

static void test_a_file_that_cannot_be_read_is_told_once_and_all_nodes_know(void **state)
{
    char *said;
    (void)state;
    set_files((const char *const[]){"one", NULL});
    assert_int_equal(truncate("one", 0), 0);
    send_to("0-1", &said);
    answer_all(1, "0-1", "ready");
    assert_sent("STAGE.1@0-1 END@0-1");
    assert_non_null(strstr(buf_text(&tree.end), "{\"failed\":\""));
    assert_non_null(strstr(said, "/one: cannot stage it: it has become shorter"));
    free(said);
}

static void test_a_lost_node_is_the_end_of_it_and_has_nothing_when_it_comes_back(void **state)
{
    char *said;
    (void)state;
    set_files((const char *const[]){"none", NULL});
    send_to("0-1", &said);
    lose("2");
    assert_null(said);
    lose("1-2");
    assert_said(&said, "a1: lost while files were copied to it");
    send_to("0", &said);
    answer(2, 0, "ready");
    answer(2, 0, "done");
    assert_said(&said, "");
    assert_true(has("0"));
    lose("0");
    assert_false(has("0"));
}

static void test_one_in_line_whose_node_is_lost_is_told_at_once(void **state)
{
    char *first, *second, *third;
    (void)state;
    set_files((const char *const[]){"none", NULL});
    send_to("0", &first);
    send_to("1-2", &second);
    send_to("3", &third);
    lose("1");
    assert_said(&second, "a1: lost while files were copied to it");
    answer(1, 0, "ready");
    answer(1, 0, "done");
    assert_said(&first, "");
    assert_sent("STAGE.1@0 END@0 STAGE.2@3");
    assert_null(third);
}

static void test_a_late_answer_to_a_staging_that_failed_is_none_to_the_next(void **state)
{
    char *first, *second;
    (void)state;
    set_files((const char *const[]){"one", NULL});
    tree.room = 0;
    send_to("0-1", &first);
    send_to("0", &second);
    answer_all(1, "0-1", "ready");
    answer(1, 1, "disk full");
    assert_said(&first, "a1: disk full");
    answer(1, 0, "broken off"); /* both were on their way then */
    answer(1, 0, "done");
    assert_null(second);
    answer(2, 0, "ready");
    answer(1, 0, "late");
    tree.room = 5;
    stage_sender_room(sender);
    answer(1, 0, "late");
    assert_null(second);
    answer(2, 0, "done");
    assert_said(&second, "");
}

static void test_once_it_is_stopped_nobody_is_called(void **state)
{
    char *said;
    (void)state;
    set_files((const char *const[]){"one", NULL});
    send_to("0", &said);
    assert_sent("STAGE.1@0");
    stage_sender_stop(sender);
    answer(1, 0, "ready");
    lose("0");
    stage_sender_room(sender);
    assert_sent("");
    assert_null(said);
}

static int open_root(void **state)
{
    (void)state;
    return root_make((const char *const[]){NULL});
}

#define WITH_SENDER(test) cmocka_unit_test_setup_teardown(test, open_sender, close_sender)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SENDER(test_all_have_room_before_the_first_byte_is_sent_and_have_the_files_at_the_end),
        WITH_SENDER(test_no_more_is_sent_than_there_is_room_for),
        WITH_SENDER(test_without_files_all_is_there_at_once),
        WITH_SENDER(test_nodes_that_have_them_are_not_sent_them_again),
        WITH_SENDER(test_where_one_has_no_room_nothing_is_sent),
        WITH_SENDER(test_one_that_fails_while_bytes_are_sent_is_the_end_of_it),
        WITH_SENDER(test_nodes_that_have_them_keep_them_where_another_failed_at_the_end),
        WITH_SENDER(test_a_file_that_cannot_be_read_is_told_once_and_all_nodes_know),
        WITH_SENDER(test_a_lost_node_is_the_end_of_it_and_has_nothing_when_it_comes_back),
        WITH_SENDER(test_one_in_line_whose_node_is_lost_is_told_at_once),
        WITH_SENDER(test_a_late_answer_to_a_staging_that_failed_is_none_to_the_next),
        cmocka_unit_test(test_hosts_that_do_not_answer_are_named_in_each_step),
        WITH_SENDER(test_once_it_is_stopped_nobody_is_called),
    };
    return cmocka_run_group_tests(tests, open_root, root_remove);
}
