/* What agents say is checked before anything is done with it: every index and every count. */
#include <string.h>

#include "launcher/protocol/frame_check.h"
#include "tests/unit/unit.h"

/* Four nodes, eight ranks; the group has ranks 0 to 2 on two nodes. */
static const struct frame_check_limits known = {4, 8, true, 3, 2}, unknown = {4, 8, false, 0, 0};

#define TIME "\0\0\0\0\0\0\0\1"
#define UNREACHED(node, stage, nodes)                                                              \
    "{\"node\":" node ",\"host\":\"h\",\"stage\":" stage                                           \
    ",\"text\":\"t\",\"elapsed\":0.5,\"nodes\":\"" nodes "\"}"
#define LOST(nodes) "{\"host\":\"h\",\"text\":\"t\",\"nodes\":\"" nodes "\"}"
#define ENDED(ranks) TIME "{\"why\":\"exit\",\"status\":256,\"ranks\":\"" ranks "\"}"
#define DONE(nodes, ranks, silent)                                                                 \
    "{\"nodes\":\"" nodes "\",\"ends\":[[0,false,\"" ranks "\"]],\"silent\":\"" silent "\"}"

static const struct {
    enum frame_type type;
    uint32_t node, rank;
    const char *bytes;
    size_t len;        /* 0: of a text */
    const char *error; /* part of the sentence; NULL: it is good */
    bool lone;         /* the group is not known */
} cases[] = {
    /* the header */
    {FRAME_NOTE, 3, 99, "note", 0, NULL, false},
    {FRAME_NOTE, 4, 0, "note", 0, "node 4 of 4", false},
    {FRAME_HELLO, UINT32_MAX, 0, "{}", 0, "node 4294967295 of 4", false},
    {FRAME_SERVICE, 7, 0, "", 0, "node 7 of 4", false},
    {FRAME_OUTPUT, 0, 7, "x", 0, NULL, false},
    {FRAME_OUTPUT, 0, 8, "x", 0, "rank 8 of 8", false},
    {FRAME_OUTPUT, 0, UINT32_MAX, "x", 0, "rank 4294967295 of 8", true},
    {FRAME_RUNNING, 0, 8, "", 0, NULL, false},
    {FRAME_RUNNING, 0, 9, "", 0, "9 tasks of 8", false},
    {FRAME_MISSING, 0, 2, TIME, 8, NULL, false},
    {FRAME_MISSING, 0, 3, TIME, 8, "rank 3 of 3", false},
    {FRAME_MISSING, 0, 3, TIME, 8, NULL, true},
    {FRAME_MISSING, 0, 2, TIME, 7, "7 bytes", false},
    {FRAME_POST, 3, 1, "x", 0, NULL, false},
    {FRAME_POST, 4, 1, "x", 0, "node 4 of 4", false},
    {FRAME_POST, 3, 2, "x", 0, "node 2 of 2", false},
    {FRAME_FENCE_UP, 0, UINT32_MAX, TIME, 8, NULL, false}, /* the exchange counts weights */
    {FRAME_FENCE_UP, 0, 1, TIME, 5, "5 bytes", false},
    /* hosts that did not start */
    {FRAME_UNREACHED, 1, 0, UNREACHED("3", "0", "1-3"), 0, NULL, false},
    {FRAME_UNREACHED, 1, 0, UNREACHED("4", "0", "1-3"), 0, "node 4 of 4", false},
    {FRAME_UNREACHED, 1, 0, UNREACHED("-1", "0", "1-3"), 0, "node -1 of 4", false},
    {FRAME_UNREACHED, 1, 0, UNREACHED("4294967297", "0", "1"), 0, "node 4294967297 of 4", false},
    {FRAME_UNREACHED, 1, 0, UNREACHED("3", "99", "1-3"), 0, "stage 99", false},
    {FRAME_UNREACHED, 1, 0, UNREACHED("3", "0", "1-4"), 0, "nodes 4 of 4", false},
    {FRAME_UNREACHED, 1, 0, UNREACHED("3", "0", "0-2147483647"), 0, "nodes 2147483647", false},
    {FRAME_UNREACHED, 1, 0, UNREACHED("3", "0", "x"), 0, "\"x\"", false},
    {FRAME_UNREACHED, 1, 0, "{\"node\":1}", 0, "node, stage or elapsed is missing", false},
    {FRAME_UNREACHED, 1, 0, "[]", 0, "it is not an object", false},
    {FRAME_UNREACHED, 1, 0, "{", 0, "malformed message", false},
    {FRAME_LOST, 1, 0, LOST("0-3"), 0, NULL, false},
    {FRAME_LOST, 1, 0, LOST("0-4"), 0, "nodes 4 of 4", false},
    {FRAME_LOST, 1, 0, "{\"nodes\":\"0\",\"host\":\"h\"}", 0, "text is missing", false},
    {FRAME_LOST, 1, 0, "{\"text\":\"0\",\"host\":\"h\"}", 0, "nodes are missing", false},
    /* tasks */
    {FRAME_ENDED, 1, 0, ENDED("7"), sizeof(ENDED("7")) - 1, NULL, false},
    {FRAME_ENDED, 1, 0, ENDED(""), sizeof(ENDED("")) - 1, NULL, false},
    {FRAME_ENDED, 1, 0, ENDED("8"), sizeof(ENDED("8")) - 1, "ranks 8 of 8", false},
    {FRAME_ENDED, 1, 0, ENDED("0-2147483647"), sizeof(ENDED("0-2147483647")) - 1,
     "ranks 2147483647 of 8", true},
    {FRAME_ENDED, 1, 0, TIME, 7, "7 bytes", false},
    {FRAME_ENDED, 1, 0, TIME "{}", 10, "status is missing", false},
    {FRAME_DONE, 1, 0, DONE("0-3", "0-7", "1"), 0, NULL, false},
    {FRAME_DONE, 1, 0, DONE("0-4", "0-7", "1"), 0, "nodes 4 of 4", false},
    {FRAME_DONE, 1, 0, DONE("0", "0-8", "1"), 0, "ranks 8 of 8", false},
    {FRAME_DONE, 1, 0, DONE("0", "0-7", "8"), 0, "silent ranks 8 of 8", false},
    {FRAME_DONE, 1, 0, "{\"nodes\":\"0\",\"ends\":{}}", 0, "ranks are not in a list", false},
    {FRAME_DONE, 1, 0, "{\"nodes\":\"0\",\"ends\":[1]}", 0, "ranks are missing", false},
    {FRAME_INQUIRY_ANSWER, 1, 99, "{\"ranks\":\"0-7\",\"waiting\":\"\"}", 0, NULL, false},
    {FRAME_INQUIRY_ANSWER, 1, 0, "{\"ranks\":\"\",\"reading\":\"7\",\"lagging\":\"7\"}", 0, NULL,
     false},
    {FRAME_INQUIRY_ANSWER, 1, 0, "{\"ranks\":\"\",\"reading\":\"8\"}", 0, "reading ranks 8 of 8",
     false},
    {FRAME_INQUIRY_ANSWER, 1, 0, "{\"ranks\":\"\",\"lagging\":\"8\"}", 0, "lagging ranks 8 of 8",
     false},
    {FRAME_INQUIRY_ANSWER, 1, 0, "{\"ranks\":\"\",\"waiting\":\"8\"}", 0, "waiting ranks 8 of 8",
     false},
    {FRAME_STDIN_GONE, 1, 99, "{\"ranks\":\"0-7\"}", 0, NULL, false},
    {FRAME_STDIN_GONE, 1, 0, "{\"ranks\":\"8\"}", 0, "ranks 8 of 8", false},
    {FRAME_STDIN_GONE, 1, 0, "{}", 0, "ranks are missing", false},
    {FRAME_PREPARED, 1, 0, "{\"failed\":[[256,\"t\",\"7\"]],\"mpis\":[[1,0]]}", 0, NULL, false},
    {FRAME_PREPARED, 1, 0, "{\"failed\":[[256,\"t\",\"8\"]]}", 0, "ranks 8 of 8", false},
    {FRAME_STARTED, 1, 0, "", 0, NULL, false},
    {FRAME_STARTED, 1, 0, "{}", 0, NULL, false},
    {FRAME_STARTED, 1, 0, "{\"failed\":[[256,\"t\",\"0-7\"]],\"bindings\":[[\"0-3\",\"0-7\"]]}", 0,
     NULL, false},
    {FRAME_STARTED, 1, 0, "{\"failed\":[[256,\"t\",\"8\"]]}", 0, "ranks 8 of 8", false},
    {FRAME_STARTED, 1, 0, "{\"bindings\":[[\"0-3\",\"8\"]]}", 0, "ranks 8 of 8", false},
    {FRAME_STARTED, 1, 0, "{\"bindings\":[[\"0-2147483647\",\"0\"]]}", 0, "processors 2147483647",
     false},
    {FRAME_ASK, 1, 0, "{\"rank\":2}", 0, NULL, false},
    {FRAME_ASK, 1, 0, "{\"rank\":3}", 0, "rank 3 of 3", false},
    {FRAME_ASK, 1, 0, "{\"rank\":3}", 0, NULL, true},
    {FRAME_ASK, 1, 0, "?", 0, "malformed message", false},
};

static void test_every_number_is_checked(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct error err = ERROR_INIT;
        json_t *value;
        struct frame frame = {.type = cases[c].type,
                              .node = cases[c].node,
                              .rank = cases[c].rank,
                              .bytes = cases[c].bytes,
                              .len = cases[c].len ? cases[c].len : strlen(cases[c].bytes)};
        int rc = frame_check_read(&frame, cases[c].lone ? &unknown : &known, &value, &err);
        if (rc != (cases[c].error ? -1 : 0))
            fail_msg("case %zu: %d, %s", c, rc, error_text(&err));
        if (rc < 0 && (value || !strstr(error_text(&err), "its agent sent a malformed message") ||
                       !strstr(error_text(&err), cases[c].error)))
            fail_msg("case %zu: \"%s\" is not in: %s", c, cases[c].error, error_text(&err));
        json_decref(value);
        error_clear(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_number_is_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
