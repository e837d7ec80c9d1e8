#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/program/program_hooks.h"
#include "launcher/protocol/hook_message.h"
#include "tests/unit/unit.h"

/* ---- a tree without agents, in place of launcher/tree/tree.c ---- */

struct tree {
    struct buf log;          /* "prolog@0" for each order, with a blank between two */
    struct hook_order order; /* the last one */
    bool deaf;               /* it drops what it is given */
};

static struct tree tree;

void tree_send_node(struct tree *to, uint32_t node, const struct frame *frame)
{
    if (to->deaf)
        return;
    json_t *value = frame_json(frame, NULL);
    assert_int_equal(frame->type, FRAME_HOOK);
    assert_int_equal(frame->node, node);
    hook_order_clear(&to->order);
    assert_int_equal(hook_order_from_json(&to->order, value, NULL), 0);
    assert_int_equal(frame->flags, to->order.kind == STAGE_EPILOG ? FRAME_HOOK_EPILOG : 0);
    buf_printf(&to->log, "%s%s@%u", to->log.len ? " " : "", stage_kind_word(to->order.kind), node);
    json_decref(value);
}

static void assert_ordered(const char *want)
{
    if (strcmp(buf_text(&tree.log), want) != 0)
        fail_msg("ordered \"%s\", expected \"%s\"", buf_text(&tree.log), want);
    buf_free(&tree.log);
}

/* The last order has this variable. */
static void assert_variable(const char *want)
{
    char **entry = tree.order.environment;
    while (*entry && strcmp(*entry, want) != 0)
        entry++;
    if (!*entry)
        fail_msg("no %s", want);
}

/* ---- the owner ---- */

static struct program_hooks *hooks;
static struct spec *spec;
static char *begun; /* what the prolog's end was: "": well; NULL: it has not ended */
static char *note;
static json_t *event; /* the last one's context */
static unsigned nevents, nended;

static const char *host(void *owner, uint32_t node)
{
    static const char *const names[] = {"a0", "a1", "a2", "a3"};
    (void)owner;
    return node < 4 ? names[node] : NULL;
}

static void on_event(void *owner, const char *name, json_t *context)
{
    (void)owner;
    assert_true(strcmp(name, "prolog") == 0 || strcmp(name, "epilog") == 0);
    json_decref(event);
    event = context;
    nevents++;
}

static void on_note(void *owner, const char *text)
{
    (void)owner;
    free(note);
    note = mem_copy_text(text);
}

static void on_begun(void *arg, const struct error *err)
{
    assert_ptr_equal(arg, &begun);
    assert_null(begun);
    begun = mem_copy_text(err ? error_text(err) : "");
}

static void on_ended(void *arg)
{
    assert_ptr_equal(arg, &nended);
    nended++;
}

static const struct program_hooks_ops ops = {host, on_event, on_note};

static int open_hooks(void **state)
{
    (void)state;
    tree = (struct tree){0};
    nevents = nended = 0;
    spec = spec_new();
    spec->prolog = mem_copy_text("p");
    spec->epilog = mem_copy_text("e");
    hooks = program_hooks_new(EV_DEFAULT, spec, &tree, &ops, NULL);
    return 0;
}

static int close_hooks(void **state)
{
    (void)state;
    program_hooks_free(hooks);
    spec_free(spec);
    buf_free(&tree.log);
    hook_order_clear(&tree.order);
    json_decref(event);
    free(begun);
    free(note);
    begun = note = NULL;
    event = NULL;
    return 0;
}

static void order(const char *nodes, void (*call)(struct program_hooks *hooks,
                                                  const struct program_hooks_source *source,
                                                  hooks_begun *done, void *arg))
{
    static const char R_text[] = "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-3\","
                                 "\"children\":{\"core\":\"0-1\"}}],"
                                 "\"nodelist\":[\"a[0-3]\"]}}";
    struct idset *set = idset_decode(nodes, NULL);
    struct rset *R = rset_decode(R_text, strlen(R_text), NULL);
    const struct program_hooks_source source = {set, R, "17", "/i/this", "0f"};
    assert_non_null(R);
    call(hooks, &source, on_begun, &begun);
    rset_free(R);
    idset_free(set);
}

static void begin(const char *nodes)
{
    order(nodes, program_hooks_prolog);
}

static void come(const char *nodes)
{
    order(nodes, program_hooks_late);
}

static void assert_begun(const char *want)
{
    if (!begun || strcmp(begun, want) != 0)
        fail_msg("begun \"%s\", expected \"%s\"", begun ? begun : "not", want);
    free(begun);
    begun = NULL;
}

static void assert_lack(uint32_t node, const char *want)
{
    const char *lack = program_hooks_lack(hooks, node);
    if (!lack != !want || (lack && !strstr(lack, want)))
        fail_msg("lacks \"%s\", expected \"%s\"", lack ? lack : "nothing", want ? want : "nothing");
}

static void end(void)
{
    program_hooks_epilog(hooks, 0, on_ended, &nended);
}

/* How the hook of a node ended; fault NULL: well. */
static void report(uint32_t node, enum stage_kind kind, const char *fault, const char *output)
{
    const struct hook_report what = {kind, true, 0.5, (char *)(uintptr_t)fault,
                                     (char *)(uintptr_t)output};
    json_t *value = hook_report_to_json(&what);
    program_hooks_ended(hooks, node, value);
    json_decref(value);
}

/* Where each prolog ends well. */
static void begin_well(const char *nodes)
{
    struct idset *set = idset_decode(nodes, NULL);
    begin(nodes);
    IDSET_FOREACH(node, set)
    {
        report(node, STAGE_PROLOG, NULL, NULL);
    }
    assert_begun("");
    idset_free(set);
}

static void lose(const char *nodes)
{
    struct idset *set = idset_decode(nodes, NULL);
    program_hooks_lost(hooks, set);
    idset_free(set);
}

static void assert_awaited(const char *want)
{
    char *text = program_hooks_describe(hooks);
    if (!text != !want || (text && strcmp(text, want) != 0))
        fail_msg("awaited \"%s\", expected \"%s\"", text ? text : "none", want ? want : "none");
    free(text);
}

/* ---- ---- */

static void test_a_hook_is_told_where_it_is_and_of_what(void **state)
{
    char own[] = "OWN=x", *inherited[] = {own, NULL};
    (void)state;
    spec->environment = inherited;
    spec->directory = mem_copy_text("/home/a");
    spec->hook_timeout = 7;
    begin("1,3");
    spec->environment = NULL;
    assert_ordered("prolog@1 prolog@3");
    assert_string_equal(tree.order.directory, "/home/a");
    assert_true(tree.order.timeout == 7);
    static const char *const variables[] = {
        "OWN=x",         "TPRUN_PROGRAM=17", "TPRUN_INSTANCE=/i/this", "TPRUN_INSTANCE_ID=0f",
        "TPRUN_NODE=a3", "TPRUN_NODE_ID=1",  "TPRUN_NNODES=2"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        assert_variable(variables[i]);
    char **entry = tree.order.environment;
    while (strncmp(*entry, "TPRUN_NODE_R=", 13) != 0)
        entry++;
    struct rset *R = rset_decode(*entry + 13, strlen(*entry) - 13, NULL);
    assert_int_equal(R->nnodes, 1);
    assert_string_equal(R->nodes[0].host, "a3");
    rset_free(R);
}

static void test_the_program_begins_once_each_prolog_has_ended_well(void **state)
{
    (void)state;
    begin("0-2");
    assert_awaited("the prolog on a[0-2]");
    report(1, STAGE_PROLOG, NULL, "text");
    assert_string_equal(json_string_value(json_object_get(event, "host")), "a1");
    assert_string_equal(json_string_value(json_object_get(event, "output")), "text");
    assert_null(json_object_get(event, "fault"));
    report(1, STAGE_PROLOG, "again", NULL); /* it has said so */
    report(3, STAGE_PROLOG, "not asked", NULL);
    report(2, STAGE_PROLOG, NULL, NULL);
    report(0, STAGE_EPILOG, NULL, NULL);
    assert_null(begun);
    assert_awaited("the prolog on a0");
    report(0, STAGE_PROLOG, NULL, NULL);
    assert_string_equal(begun, "");
    assert_awaited(NULL);
    assert_int_equal(nevents, 6);
}

static void test_prologs_that_fail_alike_make_one_sentence_once_all_have_ended(void **state)
{
    (void)state;
    begin("0-2");
    report(0, STAGE_PROLOG, "it ended with exit status 3", "1\n2\n3\n4\n5\n6\n\n");
    assert_string_equal(json_string_value(json_object_get(event, "fault")),
                        "it ended with exit status 3");
    report(2, STAGE_PROLOG, "it ended with exit status 3", "1\n2\n3\n4\n5\n6\n\n");
    assert_null(begun);
    report(1, STAGE_PROLOG, NULL, NULL);
    assert_string_equal(begun, "a[0,2]: the prolog failed: it ended with exit status 3; it wrote:\n"
                               "  2\n  3\n  4\n  5\n  6");
}

static void test_a_prolog_of_which_nothing_is_heard_has_failed(void **state)
{
    (void)state;
    tree.deaf = true;
    spec->hook_timeout = 0.05 - 15; /* an answer may take 15 s longer */
    begin("0");
    ev_run(EV_DEFAULT, EVRUN_ONCE);
    assert_string_equal(begun, "a0: the prolog: its agent did not say within 0.05 s how it ended");
    assert_awaited(NULL);
}

static void test_an_epilog_is_run_where_the_prolog_was_begun_and_the_node_is_not_lost(void **state)
{
    (void)state;
    begin_well("0-3");
    lose("1");
    assert_ordered("prolog@0 prolog@1 prolog@2 prolog@3");
    end();
    assert_ordered("epilog@0 epilog@2 epilog@3");
    assert_variable("TPRUN_NODE_ID=3");
    assert_awaited("the epilog on a[0,2-3]");
    report(3, STAGE_EPILOG, "it ended with exit status 1", "oh\n");
    report(0, STAGE_EPILOG, NULL, NULL);
    assert_int_equal(nended, 0);
    lose("2");
    assert_int_equal(nended, 1);
    assert_string_equal(note,
                        "a3: the epilog failed: it ended with exit status 1; it wrote:\n  oh");
}

static void test_an_epilog_does_not_wait_for_a_prolog_that_nobody_waits_for(void **state)
{
    (void)state;
    begin("0-1");
    report(0, STAGE_PROLOG, "it ended with exit status 1", NULL);
    end();
    report(1, STAGE_PROLOG, "it was killed", NULL);
    assert_awaited("the epilog on a[0-1]");
    report(0, STAGE_EPILOG, NULL, NULL);
    report(1, STAGE_EPILOG, NULL, NULL);
    assert_int_equal(nended, 1);
    assert_null(begun);
    assert_null(note);
}

static void test_a_node_that_answers_again_is_prepared_anew_with_its_number_of_before(void **state)
{
    (void)state;
    begin("0-1");
    assert_lack(1, "has not ended");
    report(0, STAGE_PROLOG, NULL, NULL);
    report(1, STAGE_PROLOG, NULL, NULL);
    assert_begun("");
    assert_lack(1, NULL);
    assert_lack(2, "has not ended");
    assert_ordered("prolog@0 prolog@1");
    lose("1");
    assert_lack(1, "has not ended");
    come("1");
    assert_ordered("prolog@1");
    assert_variable("TPRUN_NODE_ID=1");
    assert_variable("TPRUN_NNODES=2");
    report(1, STAGE_PROLOG, NULL, NULL);
    assert_begun("");
    assert_lack(1, NULL);
    come("3");
    assert_variable("TPRUN_NODE_ID=2");
    assert_variable("TPRUN_NNODES=3");
    end();
    assert_ordered("prolog@3 epilog@0 epilog@1 epilog@3");
}

static void test_nodes_that_come_while_a_prolog_runs_have_theirs_at_once_then(void **state)
{
    (void)state;
    begin_well("0-3");
    lose("1-3");
    come("1");
    come("2");
    come("3");
    assert_ordered("prolog@0 prolog@1 prolog@2 prolog@3 prolog@1");
    report(1, STAGE_PROLOG, "it ended with exit status 9", NULL);
    assert_begun("a1: the prolog failed: it ended with exit status 9");
    assert_lack(1, "failed there");
    assert_ordered("prolog@2 prolog@3");
    report(3, STAGE_PROLOG, NULL, NULL);
    assert_null(begun);
    lose("2"); /* nobody waits for it, and there it owes nothing */
    assert_begun("");
    assert_lack(2, "has not ended");
    end();
    assert_ordered("epilog@0 epilog@1 epilog@3");
}

static void test_a_prolog_that_would_come_after_the_epilog_is_not_run(void **state)
{
    (void)state;
    begin_well("0-2");
    lose("1-2");
    come("1");
    come("2");
    assert_ordered("prolog@0 prolog@1 prolog@2 prolog@1");
    end();
    assert_ordered("epilog@0 epilog@1");
    report(1, STAGE_PROLOG, "it was broken off", NULL);
    report(1, STAGE_EPILOG, NULL, NULL);
    report(0, STAGE_EPILOG, NULL, NULL);
    assert_int_equal(nended, 1);
    come("2");
    assert_ordered("");
    assert_null(begun);
}

static void test_without_epilog_or_prolog_the_end_is_at_once(void **state)
{
    (void)state;
    end();
    assert_int_equal(nended, 1);
    free(spec->epilog);
    spec->epilog = NULL;
    begin("0");
    end();
    assert_int_equal(nended, 2);
    assert_ordered("prolog@0");
    report(0, STAGE_PROLOG, NULL, NULL);
    assert_null(begun);
}

#define WITH_HOOKS(test) cmocka_unit_test_setup_teardown(test, open_hooks, close_hooks)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_HOOKS(test_a_hook_is_told_where_it_is_and_of_what),
        WITH_HOOKS(test_the_program_begins_once_each_prolog_has_ended_well),
        WITH_HOOKS(test_prologs_that_fail_alike_make_one_sentence_once_all_have_ended),
        WITH_HOOKS(test_a_prolog_of_which_nothing_is_heard_has_failed),
        WITH_HOOKS(test_an_epilog_is_run_where_the_prolog_was_begun_and_the_node_is_not_lost),
        WITH_HOOKS(test_an_epilog_does_not_wait_for_a_prolog_that_nobody_waits_for),
        WITH_HOOKS(test_a_node_that_answers_again_is_prepared_anew_with_its_number_of_before),
        WITH_HOOKS(test_nodes_that_come_while_a_prolog_runs_have_theirs_at_once_then),
        WITH_HOOKS(test_a_prolog_that_would_come_after_the_epilog_is_not_run),
        WITH_HOOKS(test_without_epilog_or_prolog_the_end_is_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
