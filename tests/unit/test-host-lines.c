#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/instance/host_lines.h"

struct added {
    const char *host, *text;
    double elapsed;
};

static const struct {
    struct added added[5];
    const char *lines[4];
} cases[] = {
    {{{"a", "is down", -1}}, {"a: is down"}},
    {{{"a", "is down", 1.04}}, {"a: is down (after 1.0 s)"}},
    {{{"n1", "is down", 1}, {"n2", "is down", 3}, {"n3", "is down", 2}},
     {"n[1-3]: is down (after up to 3.0 s)"}},
    /* a line is where its first host was */
    {{{"n1", "x", -1}, {"n2", "y", -1}, {"n3", "x", -1}, {"n4", "z", -1}},
     {"n[1,3]: x", "n2: y", "n4: z"}},
    /* a host's own name is no difference */
    {{{"n1", "cannot reach n1", -1}, {"n2", "cannot reach n2", -1}},
     {"n[1-2]: cannot reach n[1-2]"}},
    {{{"n1", "cannot reach n1.", -1}, {"n2", "cannot reach n2.", -1}},
     {"n[1-2]: cannot reach n[1-2]."}},
    {{{"n1", "me@n1: n1 port 22", -1}, {"n2", "me@n2: n2 port 22", -1}},
     {"n[1-2]: me@n[1-2]: n[1-2] port 22"}},
    /* part of a longer name is another name */
    {{{"n1", "n10 n1.site an1 n1-x", -1}}, {"n1: n10 n1.site an1 n1-x"}},
    {{{"n1", "n1.site", -1}, {"n2", "n2.site", -1}}, {"n1: n1.site", "n2: n2.site"}},
    /* one text is one line, whomever it names */
    {{{"n1", "as n2 says", -1}, {"n2", "as n2 says", -1}, {"n3", "as n1 says", -1}},
     {"n[1-2]: as n2 says", "n3: as n1 says"}},
    {{{"n1", "n1 ended", -1}, {"n2", "n1 ended", -1}, {"n3", "n1 ended", -1}},
     {"n[1-3]: n1 ended"}},
    /* a line is of one text, or of texts that each name their host: never of both */
    {{{"n1", "n1 ended", -1},
      {"n2", "n2 ended", -1},
      {"n3", "n1 ended", -1},
      {"n4", "n1 ended", -1}},
     {"n[1-2]: n[1-2] ended", "n[3-4]: n1 ended"}},
    {{{"n1", "n1 ended", -1},
      {"n2", "n1 ended", -1},
      {"n3", "n3 ended", -1},
      {"n4", "n4 ended", -1}},
     {"n[1-2]: n1 ended", "n[3-4]: n[3-4] ended"}},
    {{{"", "x", -1}}, {": x"}},
};

static void test_hosts_of_one_text_share_a_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct host_lines *lines = host_lines_new();
        size_t count = 0;
        for (const struct added *added = cases[i].added; added->host; added++)
            host_lines_add(lines, added->host, added->text, added->elapsed);
        while (cases[i].lines[count])
            count++;
        assert_int_equal(host_lines_count(lines), count);
        for (size_t j = 0; j < count; j++) {
            char *line = host_lines_nth(lines, j);
            assert_string_equal(line, cases[i].lines[j]);
            free(line);
        }
        host_lines_free(lines);
    }
}

static void test_a_long_list_is_told_once(void **state)
{
    static const char *const hosts[] = {"ant",  "bee", "cat",  "dog",  "eel",  "fox",  "gnu", "hen",
                                        "ibis", "jay", "kite", "lion", "mole", "newt", "owl"};
    struct host_lines *lines = host_lines_new();
    (void)state;
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        char text[32];
        snprintf(text, sizeof(text), "host %s is down", hosts[i]);
        host_lines_add(lines, hosts[i], text, -1);
    }
    assert_int_equal(host_lines_count(lines), 1);
    char *line = host_lines_nth(lines, 0);
    assert_string_equal(
        line,
        "ant,bee,cat,dog,eel,fox,gnu,hen,ibis,jay,kite,lion,mole,newt,owl: host HOST is down");
    free(line);
    host_lines_free(lines);
    host_lines_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts_of_one_text_share_a_line),
        cmocka_unit_test(test_a_long_list_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
