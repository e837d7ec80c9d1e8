#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/source/batch_nodelist.h"
#include "launcher/source/slurm_nodelist.h"
#include "tests/unit/unit.h"

/* "host=count host=count"; takes the file. */
static char *shown(struct hostfile *file)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < file->count; i++)
        buf_printf(&text, "%s%s=%u", i ? " " : "", file->entries[i].login, file->entries[i].limit);
    hostfile_free(file);
    return buf_take_text(&text);
}

static void assert_shown(struct hostfile *file, const char *want, struct error *err)
{
    if (!file)
        fail_msg("%s", error_text(err));
    char *text = shown(file);
    assert_string_equal(text, want);
    free(text);
}

static void assert_refused(struct hostfile *file, const char *text, const char *why,
                           struct error *err)
{
    if (file)
        fail_msg("\"%s\" was taken", text);
    if (!strstr(error_text(err), why))
        fail_msg("\"%s\": %s", text, error_text(err));
    error_clear(err);
}

static void test_node_lists_of_Slurm_are_read(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"tux", "tux=0"},
        {"tux0,login", "tux0=0 login=0"},
        {"tux[08-10,12]", "tux08=0 tux09=0 tux10=0 tux12=0"},
        {"b[2-3],a1,c[1]", "b2=0 b3=0 a1=0 c1=0"},
        {"node[0-1]-ib", "node0-ib=0 node1-ib=0"},
        /* each range has a width of its own */
        {"n[1,01,001-002]", "n1=0 n01=0 n001=0 n002=0"},
        {"rack[0-1]node[2-3]", "rack0node2=0 rack0node3=0 rack1node2=0 rack1node3=0"},
        {"r[0,2]n[1-2]x,z", "r0n1x=0 r0n2x=0 r2n1x=0 r2n2x=0 z=0"},
        {"a[0-1]b[0]c[5,7]", "a0b0c5=0 a0b0c7=0 a1b0c5=0 a1b0c7=0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        assert_shown(slurm_nodelist_hosts(cases[i].text, &err), cases[i].want, &err);
    }
}

static void test_bad_node_lists_of_Slurm_are_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "names no host"},
        {",", "missing name before"},
        {"a,", "missing name before"},
        {"a,,b", "missing name before"},
        {"a[0-3", "no closing bracket"},
        {"a[]", "hostlist: "},
        {"a[1-]", "hostlist: "},
        {"a[3-1]", "not an ascending range"},
        {"a[0-3]]", "hostlist: "},
        {"a b", "hostlist: "},
        {"-x", "is not the name of a host"},
        {"a;b", "is not the name of a host"},
        {"(null)", "is not the name of a host"},
        {"[0-1]b[]", "hostlist: "},
        {"a[0-99999999]", "is a range of more than"},
        {"a[0-1]b[0-1]c[0-1]d[0-1]e[0-1]", "at most 4 pairs of brackets"},
        {"a[0-1000000]b[0-1000000]", "one host too many"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        assert_refused(slurm_nodelist_hosts(cases[i].text, &err), cases[i].text, cases[i].why,
                       &err);
    }
}

static struct hostfile *counted(const char *counts, struct error *err)
{
    struct hostfile *file = slurm_nodelist_hosts("a,b,c", err);
    assert_non_null(file);
    if (slurm_nodelist_counts(file, counts, err) == 0)
        return file;
    hostfile_free(file);
    return NULL;
}

static void test_counts_of_Slurm_are_read(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    assert_shown(counted("16(x2),8", &err), "a=16 b=16 c=8", &err);
    assert_shown(counted("4(x3)", &err), "a=4 b=4 c=4", &err);
    assert_shown(counted("1,2,3", &err), "a=1 b=2 c=3", &err);
    assert_shown(counted("1,2(x1),3", &err), "a=1 b=2 c=3", &err);
}

static void test_bad_counts_of_Slurm_are_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "\"\" is not a count (expected N or N(xTIMES))"},
        {"x", "\"x\" is not a count (expected N or N(xTIMES))"},
        {"1,x(x2)", "\"x(x2)\" is not a count (expected N or N(xTIMES))"},
        {"1(xx)", "\"1(xx)\" is not a count (expected N or N(xTIMES))"},
        {"1,2", "has counts for 2 of the 3 nodes"},
        {"1(x4)", "more than the 3 nodes"},
        {"1,2,3,4", "more than the 3 nodes"},
        {"1(x16000000)", "more than the 3 nodes"},
        {"0(x3)", "is not a number from 1"},
        {"1(x0)", "is not a number from 1"},
        {"1(x3", "a bracket is not closed"},
        {"1(3)", "is not a count (expected N or N(xTIMES))"},
        {"1(x3)x", "is not a count (expected N or N(xTIMES))"},
        {"1, 2,3", "\" 2,3\" is not a count"},
        {"-1(x3)", "\"-1(x3)\" is not a count"},
        {"99999999999999999999(x3)", "is not a number"},
        {"1,2,", "\"\" is not a count"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        assert_refused(counted(cases[i].text, &err), cases[i].text, cases[i].why, &err);
    }
}

static void test_a_file_with_a_line_for_each_slot_is_read(void **state)
{
    static const char good[] = "node1\nnode1\r\n\nnode2.x.org\n  node1", zero[] = "a\0b\n";
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "names no host"},
        {"\n \n", "names no host"},
        {"a\nb 2\n", "line 2: unexpected \"2\" after the host"},
        {"a\n-b\n", "line 2: \"-b\" is not the name of a host"},
    };
    struct error err = ERROR_INIT;
    (void)state;
    assert_shown(batch_slots(good, strlen(good), &err), "node1=1 node1=1 node2.x.org=1 node1=1",
                 &err);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_refused(batch_slots(bad[i].text, strlen(bad[i].text), &err), bad[i].text, bad[i].why,
                       &err);
    assert_refused(batch_slots(zero, sizeof(zero) - 1, &err), "zero",
                   "line 1: contains a zero byte", &err);
}

static void test_a_table_of_Grid_Engine_is_read(void **state)
{
    static const char good[] = "exec-3.x.org 32 all.q@exec-3.x.org UNDEFINED\n"
                               "exec-1 4 all.q@exec-1 0,0:0,1\nexec-1 2 other.q@exec-1 <NULL>\n"
                               "exec-2\t1\n";
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "names no host"},
        {"a\n", "line 1: missing count of slots"},
        {"a all.q\n", "line 1: \"all.q\" is not a number"},
        {"a 1\nb 0 q x\n", "line 2: \"0\" is not a number from 1"},
        {"a 99999999999 q x\n", "is not a number"},
        {"$(x) 1 q x\n", "is not the name of a host"},
    };
    struct error err = ERROR_INIT;
    (void)state;
    assert_shown(batch_table(good, strlen(good), &err),
                 "exec-3.x.org=32 exec-1=4 exec-1=2 exec-2=1", &err);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_refused(batch_table(bad[i].text, strlen(bad[i].text), &err), bad[i].text, bad[i].why,
                       &err);
}

static void test_pairs_of_LSF_are_read(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "names no host"},
        {"  ", "names no host"},
        {"a", "missing count after \"a\""},
        {"a 1 b", "missing count after \"b\""},
        {"1 a", "is not a number"},
        {"a 1,b 2", "is not a number"},
        {"a 0", "is not a number"},
        {"-a 1", "is not the name of a host"},
    };
    struct error err = ERROR_INIT;
    (void)state;
    assert_shown(batch_pairs("hostA 4 hostB  5 ", &err), "hostA=4 hostB=5", &err);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_refused(batch_pairs(bad[i].text, &err), bad[i].text, bad[i].why, &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_lists_of_Slurm_are_read),
        cmocka_unit_test(test_bad_node_lists_of_Slurm_are_refused),
        cmocka_unit_test(test_counts_of_Slurm_are_read),
        cmocka_unit_test(test_bad_counts_of_Slurm_are_refused),
        cmocka_unit_test(test_a_file_with_a_line_for_each_slot_is_read),
        cmocka_unit_test(test_a_table_of_Grid_Engine_is_read),
        cmocka_unit_test(test_pairs_of_LSF_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
