#include <string.h>

#include "base/edit_distance.h"
#include "tests/unit/unit.h"

static void test_distance_counts_letters_inserted_removed_changed_and_swapped(void **state)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {{"", "", 0},         {"", "abc", 3},          {"abc", "", 3},
                 {"numa", "numa", 0}, {"nuna", "numa", 1},     {"numaa", "numa", 1},
                 {"nma", "numa", 1},  {"nmua", "numa", 1},     {"ab", "ba", 1},
                 {"core", "node", 2}, {"kitten", "sitting", 3}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *a = cases[i].a, *b = cases[i].b;
        assert_int_equal(edit_distance_distance(a, strlen(a), b, strlen(b)), cases[i].distance);
        assert_int_equal(edit_distance_distance(b, strlen(b), a, strlen(a)), cases[i].distance);
    }
}

static void test_a_word_is_near_to_one_it_begins_or_misspells(void **state)
{
    static const char *const words[] = {"slot", "core", "node", "socket", "sequential", NULL};
    static const char *const cases[][2] = {{"sokcet", "socket"},
                                           {"coer", "core"},
                                           {"nod", "node"},
                                           {"se", "sequential"},
                                           {"cores", "core"},
                                           {"xode", "node"},
                                           {"sequental", "sequential"},
                                           {"s", NULL},
                                           {"", NULL},
                                           {"house", NULL},
                                           {"xx", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found = edit_distance_word(words, cases[i][0], strlen(cases[i][0]));
        if (!found != !cases[i][1] || (found && strcmp(found, cases[i][1]) != 0))
            fail_msg("\"%s\" is near to %s", cases[i][0], found ? found : "none");
    }
}

static void test_long_words_are_near_to_none(void **state)
{
    static const char *const words[] = {"slot", NULL};
    char text[65536];
    (void)state;
    memset(text, 's', sizeof(text));
    assert_null(edit_distance_word(words, text, sizeof(text)));
    assert_true(edit_distance_distance(text, EDIT_DISTANCE_MAX + 1, "slot", 4) == SIZE_MAX);
    assert_int_equal(edit_distance_distance(text, EDIT_DISTANCE_MAX, "slot", 4),
                     EDIT_DISTANCE_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance_counts_letters_inserted_removed_changed_and_swapped),
        cmocka_unit_test(test_a_word_is_near_to_one_it_begins_or_misspells),
        cmocka_unit_test(test_long_words_are_near_to_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
