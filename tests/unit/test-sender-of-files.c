/* Files that are sent to nodes of a tree that takes nothing, and whose nodes the test speaks for. */
#include <ev.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/program/stage_sender.h"
#include "tests/unit/unit.h"

struct tree {
    size_t room;
};

size_t tree_room(const struct tree *tree, const struct idset *nodes)
{
    (void)nodes;
    return tree->room;
}

void tree_send_nodes(struct tree *tree, const struct idset *nodes, const struct frame *frame)
{
    (void)tree, (void)nodes, (void)frame;
}

static ev_timer *patience; /* the last timer that was begun anew */

void __real_ev_timer_again(struct ev_loop *loop, ev_timer *timer);
void __wrap_ev_timer_again(struct ev_loop *loop, ev_timer *timer);

void __wrap_ev_timer_again(struct ev_loop *loop, ev_timer *timer)
{
    patience = timer;
    __real_ev_timer_again(loop, timer);
}

static const char *name_of(void *owner, uint32_t node)
{
    static const char *const names[] = {"n0", "n1", "n2"};
    (void)owner;
    return names[node];
}

static void keep_sentence(void *arg, const struct error *err)
{
    *(char **)arg = mem_copy_text(err ? err->text : "");
}

static void answer(struct stage_sender *sender, uint32_t node, const char *key)
{
    json_t *value = json_pack("{s:b}", key, 1);
    stage_sender_answer(sender, node, value);
    json_decref(value);
}

/* One file of five bytes. */
static struct stage_source *a_source(void)
{
    char path[] = "/tmp/test-sender-of-files.XXXXXX";
    struct error err = ERROR_INIT;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "bytes", 5), 5);
    close(fd);
    struct spec *spec = spec_new();
    spec->stage = mem_array(2, sizeof(char *));
    spec->stage[0] = mem_copy_text(path);
    struct stage_source *source = stage_source_open(spec, &err);
    if (!source)
        fail_msg("%s", error_text(&err));
    unlink(path);
    spec_free(spec);
    return source;
}

/* The sentence when nothing has happened for too long after these have answered that they have room. Caller frees. */
static char *sentence_after(const char *ready, size_t room)
{
    struct tree tree = {.room = room};
    char *sentence = NULL;
    struct ev_loop *loop = ev_loop_new(0);
    struct idset *nodes = idset_decode("0-2", NULL), *answered = idset_decode(ready, NULL);
    struct stage_sender *sender = stage_sender_new(loop, &tree, name_of, NULL);
    stage_sender_set(sender, a_source());
    stage_sender_send(sender, nodes, keep_sentence, &sentence);
    IDSET_FOREACH(node, answered)
    {
        answer(sender, node, "ready");
    }
    assert_null(sentence);
    patience->cb(loop, patience, EV_TIMER);
    assert_non_null(sentence);
    stage_sender_free(sender);
    idset_free(answered);
    idset_free(nodes);
    ev_loop_destroy(loop);
    return sentence;
}

static void assert_named(const char *ready, size_t room, const char *hosts)
{
    char *sentence = sentence_after(ready, room);
    char *want = mem_format("%s: no answer for ", hosts);
    if (strncmp(sentence, want, strlen(want)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", sentence, want);
    free(want);
    free(sentence);
}

static void test_hosts_that_do_not_answer_are_named_in_each_step(void **state)
{
    (void)state;
    assert_named("0", 0, "n[1-2]");
    assert_named("0-2", 0, "n[0-2]"); /* no byte is taken */
    assert_named("0-2", SIZE_MAX, "n[0-2]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts_that_do_not_answer_are_named_in_each_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
