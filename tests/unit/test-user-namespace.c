#include "launcher/process/user_namespace.h"
#include "tests/unit/unit.h"

static void test_a_uid_is_ambiguous_where_unmapped_users_have_it(void **state)
{
    static const struct {
        const char *map;
        uid_t own;
        bool ambiguous;
    } cases[] = {
        {"         0          0 4294967295\n", 65534, false}, /* the first namespace */
        {"         0     100000      65536\n", 65534, true},
        {"         0     100000      65536\n", 1000, false},
        {"     65534       1000          1\n", 65534, true},
        {"      1000       1000          1\n", 1000, false},
        {"", 65534, true}, /* nothing is mapped yet */
        {"0 0 1000\n1000 1000 4294966295\n", 65534, false},
        {"0 0 1000\n1001 1001 4294966294\n", 65534, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(user_namespace_is_ambiguous(cases[i].map, 65534, cases[i].own),
                         cases[i].ambiguous);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_uid_is_ambiguous_where_unmapped_users_have_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
