#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "affinity/policy/rankfile.h"
#include "base/buf.h"
#include "base/mem.h"
#include "tests/unit/unit.h"

static struct rankfile *parse(const char *text, struct error *err)
{
    return rankfile_parse("ranks", text, strlen(text), err);
}

/* "0:a/s/0-3/1 ..." rank, host, form, list and line. */
static char *describe(const struct rankfile *file)
{
    struct buf out = BUF_INIT;
    for (uint32_t rank = 0; rank < file->nranks; rank++) {
        const struct rankfile_rank *r = &file->ranks[rank];
        buf_printf(&out, "%s%u:%s/%s/%.*s/%u", rank ? " " : "", rank, file->hosts[r->host].name,
                   r->form == RANKFILE_SLOTS ? "s" : "c", (int)r->len, r->list, r->line);
    }
    return buf_take_text(&out);
}

static void test_both_forms_are_read(void **state)
{
    static const char *const cases[][2] = {
        {"rank 0=a slot=0:1-2\n", "0:a/s/0:1-2/1"},
        {"rank 0=a slot=1", "0:a/s/1/1"},
        {"rank 0=a slot=0-3,6\n", "0:a/s/0-3,6/1"},
        {"rank 0=a slot=1:*\n", "0:a/s/1:*/1"},
        {"rank 0=a slot=*\n", "0:a/s/*/1"},
        {"rank 0=a slot=0:0-4,1:0-3,7\n", "0:a/s/0:0-4,1:0-3,7/1"},
        {"rank 0=a slot=0:1;5;*:0,2\n", "0:a/s/0:1;5;*:0,2/1"},
        {"rank 0=a slot=p3,8-9\n", "0:a/s/p3,8-9/1"},
        {"rank 0=+n3 slots=2\n", "0:+n3/s/2/1"},
        {"rank 0 = a slot = 2\n", "0:a/s/2/1"},
        {"\trank 0=me@host.org slot=2\r\n", "0:host.org/s/2/1"},
        {"0 a 0-3\n", "0:a/c/0-3/1"},
        {"  0\ta  [0-3,7]  # all of it\n", "0:a/c/[0-3,7]/1"},
        {"rank 0 a 5\n", "0:a/c/5/1"},
        {"# one\n\n  # two\n1 b 1\nrank 0=a slot=0\n2 b 0#x\n", "0:a/s/0/5 1:b/c/1/4 2:b/c/0/6"},
        {"0 fe80::1 0\n1 10.0.0.7 0", "0:fe80::1/c/0/1 1:10.0.0.7/c/0/2"},
        {"00 a 0\n001 a 1", "0:a/c/0/1 1:a/c/1/2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct rankfile *file = parse(cases[i][0], &err);
        if (!file)
            fail_msg("%s: %s", cases[i][0], error_text(&err));
        char *text = describe(file);
        assert_string_equal(text, cases[i][1]);
        free(text);
        rankfile_free(file);
    }
}

static void test_what_is_wrong_is_named_by_line_and_place(void **state)
{
    static const char *const cases[][2] = {
        {"", "ranks: no rank is placed"},
        {"# nothing\n\n", "ranks: no rank is placed"},
        {"rank\n", "ranks:1: missing rank, a number from 0 up"},
        {"\nrank =a slot=0\n", "ranks:2: missing rank, a number"},
        {"rank0=a slot=0\n", "CPUS\"\n  rank0=a slot=0\n  ^"},
        {"RANK 0=a slot=0\n", "ranks:1: missing rank, a number"},
        {"slot=0 rank 0=a\n", "ranks:1: missing rank, a number"},
        {"-1 a 0\n", "ranks:1: missing rank, a number"},
        {"rank 4194304=a slot=0\n",
         "ranks:1: the rank is larger than any program has\n  rank 4194304=a"},
        {"99999999999999999999999 a 0\n", "the rank is larger than any program has"},
        {"0=a slot=0\n", "unexpected text after the rank"},
        {"0x a 0\n", "unexpected text after the rank"},
        {"rank 0\n", "ranks:1: unexpected text after the rank"},
        {"0\n", "ranks:1: unexpected text after the rank"},
        {"rank 0=\n", "missing host"},
        {"rank 0= # slot=0\n", "missing host"},
        {"rank 0=me@ slot=0\n", "missing host"},
        {"rank 0=a\n", "missing slot=LIST"},
        {"rank 0=a slto=1\n", "missing slot=LIST; expected \"rank N=HOST slot=LIST\" or "
                              "\"RANK HOST CPUS\"\n  rank 0=a slto=1\n           ^"},
        {"rank 0=a slot 1\n", "missing slot=LIST"},
        {"rank 0=a slot=\n", "missing list of cores"},
        {"rank 0=a slot=1 2\n", "unexpected text after the list"},
        {"rank 0=a slot=1, 2\n", "unexpected text after the list"},
        {"rank 0=a slot=0 username=b\n", "unexpected text after the list"},
        {"0 a\n", "missing OS indexes of processors"},
        {"0 a 1 2\n", "unexpected text after the list"},
        {"0 a 3-1\n", "ranks:1: idset \"3-1\""},
        {"0 a x\n", "ranks:1: idset \"x\""},
        {"0 a []\n", "no processor is named"},
        {"0 a 0-4294967295\n", "ranks:1: idset"},
        {"rank 0=a slot=x\n", "missing number; expected cores such as 0-3,6 or *"},
        {"rank 0=a slot=,1\n", "missing number"},
        {"rank 0=a slot=1,\n", "missing number"},
        {"rank 0=a slot=1,,2\n", "missing number"},
        {"rank 0=a slot=1-\n", "missing number"},
        {"rank 0=a slot=-1\n", "missing number"},
        {"rank 0=a slot=3-1\n", "the range is descending"},
        {"rank 0=a slot=0:3-1\n", "the range is descending"},
        {"rank 0=a slot=1:\n", "missing number"},
        {"rank 0=a slot=:1\n", "missing number"},
        {"rank 0=a slot=0:1:2\n", "expected a comma"},
        {"rank 0=a slot=0+1\n", "expected a comma"},
        {"rank 0=a slot=**\n", "expected a comma"},
        {"rank 0=a slot=1-2-3\n", "expected a comma"},
        {"rank 0=a slot=65536\n", "larger than any machine has"},
        {"rank 0=a slot=0:99999999999999999999\n", "larger than any machine has"},
        {"rank 0=a slot=p\n", "missing number"},
        {"rank 0=a slot=pp1\n", "missing number"},
        {"rank 0=a slot=p*\n", "missing number"},
        {"rank 0=a slot=p0:1\n", "a list of OS indexes (p) cannot name sockets"},
        {"rank 0=a slot=1,p2\n", "missing number"},
        {"0 a 0\n0 b 1\n", "ranks:2: rank 0 is already placed in line 1"},
        {"1 a 0\n\n1 b 1\n0 a 5\n", "ranks:3: rank 1 is already placed in line 1"},
        {"0 a 0\n2 b 1\n", "ranks: rank 1 is missing: ranks go from 0 on without gaps, and rank 2 "
                           "follows in line 2"},
        {"4194303 a 0\n", "ranks: rank 0 is missing"},
        {"1 a 0\n", "ranks: rank 0 is missing"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        if (parse(cases[i][0], &err))
            fail_msg("taken: %s", cases[i][0]);
        if (!strstr(error_text(&err), cases[i][1]))
            fail_msg("%s says '%s', not '%s'", cases[i][0], error_text(&err), cases[i][1]);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_null(parse(cases[i][0], NULL));
        error_clear(&err);
    }
}

static void test_a_zero_byte_and_a_huge_file_are_refused(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    assert_null(rankfile_parse("f", "0 a 0\n\0", 7, &err));
    assert_string_equal(error_text(&err), "f: not a text file: it contains a zero byte");
    char *text = mem_alloc(RANKFILE_MAX_TEXT + 1ul);
    memset(text, '\n', RANKFILE_MAX_TEXT + 1ul);
    assert_null(rankfile_parse("f", text, RANKFILE_MAX_TEXT + 1ul, &err));
    assert_string_equal(error_text(&err), "f: larger than 16 MiB, the limit of a rank file");
    assert_null(rankfile_parse("f", text, RANKFILE_MAX_TEXT, &err));
    assert_non_null(strstr(error_text(&err), "no rank is placed"));
    free(text);
    error_clear(&err);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* As many lines as fit, of as many hosts, in falling order; and one endless line. */
static void test_megabytes_take_seconds_at_most(void **state)
{
    struct buf text = BUF_INIT;
    struct error err = ERROR_INIT;
    uint32_t n = 1000000;
    (void)state;
    for (uint32_t rank = n; rank-- > 0 && text.len < RANKFILE_MAX_TEXT - 32;)
        buf_printf(&text, "%u %x 1\n", rank, rank);
    assert_true(text.len < RANKFILE_MAX_TEXT);
    double start = seconds();
    struct rankfile *file = rankfile_parse("f", buf_text(&text), text.len, &err);
    assert_non_null(file);
    assert_int_equal(file->nranks, n);
    assert_int_equal(file->nhosts, n);
    assert_int_equal(file->ranks[0].line, n);
    rankfile_free(file);
    buf_clear(&text);
    buf_add_text(&text, "rank 0=a slot=0");
    while (text.len < RANKFILE_MAX_TEXT - 1)
        buf_add_text(&text, ",1");
    file = rankfile_parse("f", buf_text(&text), text.len, &err);
    assert_non_null(file);
    rankfile_free(file);
    buf_add_text(&text, "x");
    assert_null(rankfile_parse("f", buf_text(&text), text.len, &err));
    assert_true(strlen(error_text(&err)) < 400);
    assert_true(seconds() - start < 20);
    error_clear(&err);
    buf_free(&text);
}

static void test_slot_lists_are_read_element_by_element(void **state)
{
    static const char *const cases[][2] = {
        {"3", "3-3"},
        {"0-3,6", "0-3 6-6"},
        {"1:0-2", "1-1:0-2"},
        {"1:0,2;4", "1-1:0-0 1-1:2-2 4-4"},
        {"0:1,1:2,3", "0-0:1-1 1-1:2-2 1-1:3-3"},
        {"0-1:0", "0-1:0-0"},
        {"*", "0-*"},
        {"1:*", "1-1:0-*"},
        {"*:2", "0-*:2-2"},
        {"p8,9", "p8-8 p9-9"},
        {"P2147483647", "p2147483647-2147483647"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slot_reader reader = {.list = cases[i][0], .len = (uint32_t)strlen(cases[i][0])};
        struct slot_item item;
        struct buf out = BUF_INIT;
        const char *why = NULL;
        while (slot_next(&reader, &item, &why) > 0) {
            buf_printf(&out, "%s%s", out.len ? " " : "", reader.physical ? "p" : "");
            if (item.in_socket && item.socket_last == SLOT_LAST)
                buf_printf(&out, "%u-*:", item.socket_first);
            else if (item.in_socket)
                buf_printf(&out, "%u-%u:", item.socket_first, item.socket_last);
            buf_printf(&out, item.last == SLOT_LAST ? "%u-*" : "%u-%u", item.first, item.last);
        }
        assert_null(why);
        assert_string_equal(buf_text(&out), cases[i][1]);
        buf_free(&out);
    }
}

static void test_hosts_are_found_by_name_short_name_and_place(void **state)
{
    static const char *const nodes[] = {"a", "b.x.org", "c.x", "c.y", "10.0.0.7", "d"};
    static const struct {
        const char *name;
        uint32_t node;
    } cases[] = {
        {"a", 0},
        {"a.x.org", 0},
        {"b", 1},
        {"b.x.org", 1},
        {"b.y.org", RANKFILE_NO_NODE},
        {"c", RANKFILE_NO_NODE},
        {"c.x", 2},
        {"c.y", 3},
        {"10.0.0.7", 4},
        {"10", RANKFILE_NO_NODE},
        {"10.0.0.8", RANKFILE_NO_NODE},
        {"+n0", 0},
        {"+N5", 5},
        {"+n6", RANKFILE_NO_NODE},
        {"+n", RANKFILE_NO_NODE},
        {"+n1x", RANKFILE_NO_NODE},
        {"+n99999999999", RANKFILE_NO_NODE},
        {"A", RANKFILE_NO_NODE},
        {"e", RANKFILE_NO_NODE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];
        uint32_t node[1];
        snprintf(text, sizeof(text), "rank 0=%s slot=0", cases[i].name);
        struct rankfile *file = parse(text, NULL);
        assert_int_equal(rankfile_find_nodes(file, 0, nodes, 6, node, NULL), 0);
        if (node[0] != cases[i].node)
            fail_msg("%s is node %u", cases[i].name, node[0]);
        assert_int_equal(rankfile_find_nodes(file, 1, nodes, 6, node, NULL),
                         node[0] == RANKFILE_NO_NODE ? -1 : 0);
        file->hosts[0].alias = mem_copy_text("d");
        rankfile_find_nodes(file, 0, nodes, 6, node, NULL);
        assert_int_equal(node[0], 5);
        rankfile_free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_forms_are_read),
        cmocka_unit_test(test_what_is_wrong_is_named_by_line_and_place),
        cmocka_unit_test(test_a_zero_byte_and_a_huge_file_are_refused),
        cmocka_unit_test(test_megabytes_take_seconds_at_most),
        cmocka_unit_test(test_slot_lists_are_read_element_by_element),
        cmocka_unit_test(test_hosts_are_found_by_name_short_name_and_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
