/* The cases of tests/data/pmi-wire.txt, spoken to a server in this process. */
#include "tests/unit/pmi-node.h"

#include <malloc.h>

#include "tests/programs/pmi-script.h"

#define NTASKS 3

/* How requests are cut: in bytes, or not at all; and whether all of them come first. */
enum how { WHOLE, BYTES, AHEAD };

static void feed(struct node *node, int client, const char *bytes, size_t len, enum how how)
{
    struct error err = ERROR_INIT;
    size_t step = how == BYTES ? 1 : len;
    for (size_t at = 0; at < len; at += step)
        if (pmi_connection_input(node->clients[client], bytes + at, step, &err) < 0)
            fail_msg("%s", error_text(&err));
}

static void greet(struct node *node, const struct script *script)
{
    static const char fullinit[] = "cmd=fullinit;pmirank=0;threaded=FALSE;";
    for (int i = 0; i < NTASKS; i++) {
        say(node, i,
            script->frames  ? "cmd=init pmi_version=2 pmi_subversion=0\n"
            : script->later ? INIT12
                            : INIT);
        if (script->frames) {
            char frame[80];
            snprintf(frame, sizeof(frame), "%6zu%s", strlen(fullinit), fullinit);
            say(node, i, frame);
        }
        buf_clear(pmi_connection_output(node->clients[i]));
    }
}

/* The next reply, without its frame or newline. */
static char *next_reply(struct buf *output, bool frame)
{
    size_t head = frame ? 6 : 0, len;
    if (frame)
        len = output->len < 6 ? 0 : strtoul(buf_text(output), NULL, 10);
    else
        len = strcspn(buf_text(output), "\n");
    if (head + len >= output->len + frame)
        return strdup("(nothing)");
    char *text = strndup(buf_bytes(output) + head, len);
    buf_consume(output, head + len + !frame);
    return text;
}

static void expect(struct node *node, const struct script *script, int step, int client)
{
    struct script_self self = {.rank = client, .size = NTASKS, .space = "kvs_7"};
    char expected[2048];
    script_expand(&self, script->steps[step].text, expected);
    char *reply = next_reply(pmi_connection_output(node->clients[client]), script->frames);
    if (!script_matches(script, expected, reply, false))
        fail_msg("case %s: expected\n%s\nbut heard\n%s", script->name, expected, reply);
    free(reply);
}

/* All clients say a request before any looks for its reply. */
static void speak(struct node *node, const struct script *script, enum how how)
{
    static char bytes[2 * SCRIPT_TEXT];
    for (int pass = how == AHEAD ? 0 : 1; pass < 2; pass++) {
        for (int i = 0; i < script->count; i++) {
            const struct script_step *step = &script->steps[i];
            for (int client = 0; client < NTASKS; client++) {
                struct script_self self = {.rank = client, .size = NTASKS, .space = "kvs_7"};
                if (step->kind == '>' && (how != AHEAD || pass == 0))
                    feed(node, client, bytes, script_request(script, step, &self, bytes), how);
                else if (step->kind == '<' && pass == 1)
                    expect(node, script, i, client);
            }
        }
    }
}

static void end(struct node *node, const struct script *script)
{
    for (int i = 0; i < NTASKS; i++) {
        assert_int_equal(pmi_connection_output(node->clients[i])->len, 0);
        say(node, i, script->frames ? "    13cmd=finalize;" : "cmd=finalize\n");
        hear(node, i, script->frames ? "    27cmd=finalize-response;rc=0;" : "cmd=finalize_ack\n");
        assert_int_equal(pmi_connection_state(node->clients[i]), PMI_FINALIZED);
    }
    assert_int_equal(node->nstuck + node->nbroken, 0);
}

static int speak_all(enum how how)
{
    struct script script = {.count = 0};
    char ahead[256] = "";
    int count = 0;
    FILE *file = fopen(TEST_DATA_DIR "/pmi-wire.txt", "r");
    assert_non_null(file);
    for (; script_read(file, ahead, &script); count++) {
        struct node *node = node_new_of(0, NTASKS, NTASKS, 0);
        node->direct = true;
        greet(node, &script);
        speak(node, &script, how);
        end(node, &script);
        node_free(node);
    }
    fclose(file);
    return count;
}

static void test_each_case_is_answered(void **state)
{
    (void)state;
    assert_true(speak_all(WHOLE) > 25);
}

static void test_each_case_is_answered_byte_by_byte(void **state)
{
    (void)state;
    speak_all(BYTES);
}

static void test_each_case_is_answered_when_all_is_sent_ahead(void **state)
{
    (void)state;
    speak_all(AHEAD);
}

static void test_replies_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        bool frames, loose;
        const char *expected, *got;
        bool matches;
    } pairs[] = {
        {false, false, "cmd=a rc=0", "cmd=a rc=0", true},
        {false, false, "cmd=a rc=0", "cmd=a rc=1", false},
        {false, false, "cmd=a size=*", "cmd=a size=-1", true},
        {false, false, "cmd=a size=*", "cmd=b size=-1", false},
        {false, true, "cmd=a rc=-1 msg=x", "cmd=a msg=y rc=3", true},
        {false, true, "cmd=a rc=-1 msg=x", "cmd=a msg=y rc=0", false},
        {false, true, "cmd=a rc=0 value=x y", "cmd=a rc=0 value=x", false},
        {true, true, "cmd=a;value=b c;rc=0;", "cmd=a;rc=0;value=b c;", true},
        {true, true, "cmd=a;value=b c;rc=0;", "cmd=a;rc=0;value=b;", false},
        {true, true, "cmd=a;found=FALSE;rc=0;", "cmd=a;rc=0;found=TRUE;value=x;", false},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct script script = {.frames = pairs[i].frames};
        if (script_matches(&script, pairs[i].expected, pairs[i].got, pairs[i].loose) !=
            pairs[i].matches)
            fail_msg("pair %zu", i);
    }
}

/* What the allocator gave out and has not got back; 0 under a sanitizer, whose own it is not. */
static size_t allocated(void)
{
    return mallinfo2().uordblks;
}

static void put_card(struct pmi_client *client, uint32_t rank)
{
    char line[160];
    int len =
        snprintf(line, sizeof(line), INIT "cmd=put key=P%u-card value=0123456789abcdef\n", rank);
    assert_int_equal(pmi_connection_input(client, line, (size_t)len, NULL), 0);
    buf_clear(pmi_connection_output(client));
}

static void test_a_task_costs_less_than_2_kib_of_memory(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    struct node node = {.kvs = kvs_new("kvs_7"), .direct = true};
    size_t before = allocated();
    struct pmi_config config = {
        .size = MANY, .nlocal = MANY, .kvs = node.kvs, .dialects = dialects_of(true, true)};
    node.server = pmi_server_new(&config, &ops, &node);
    for (uint32_t i = 0; i < MANY; i++)
        put_card(pmi_connection_new(node.server, i, 0, &node), i);
    size_t each = (allocated() - before) / MANY;
    if (each >= 2048)
        fail_msg("a task costs %zu bytes", each);
    pmi_server_free(node.server);
    kvs_free(node.kvs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_case_is_answered),
        cmocka_unit_test(test_each_case_is_answered_byte_by_byte),
        cmocka_unit_test(test_each_case_is_answered_when_all_is_sent_ahead),
        cmocka_unit_test(test_replies_are_told_apart),
        cmocka_unit_test(test_a_task_costs_less_than_2_kib_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
