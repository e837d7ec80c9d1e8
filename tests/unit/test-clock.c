#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "tests/unit/unit.h"

static void test_the_monotonic_clock_is_the_kernels_and_never_goes_back(void **state)
{
    struct timespec before, after;
    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &before);
    uint64_t first = clock_monotonic_ns(), then = clock_monotonic_ns();
    double seconds = clock_monotonic_seconds();
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(first >= (uint64_t)before.tv_sec * 1000000000u + (uint64_t)before.tv_nsec);
    assert_true(then >= first);
    assert_true(seconds >= (double)then * 1e-9);
    assert_true(seconds <= (double)after.tv_sec + (double)after.tv_nsec * 1e-9 + 1e-6);
}

static void test_the_wall_clock_counts_from_1970(void **state)
{
    (void)state;
    assert_true(clock_wall_ns() / 1000000000u + 2 > (uint64_t)time(NULL));
    assert_true(fabs(clock_wall_seconds() - (double)time(NULL)) < 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_monotonic_clock_is_the_kernels_and_never_goes_back),
        cmocka_unit_test(test_the_wall_clock_counts_from_1970),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
