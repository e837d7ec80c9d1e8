/* What every unit test includes, in the order that cmocka needs. */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifndef assert_uint_in_range /* cmocka 1 has one for all integers, which cmocka 2 deprecates */
#define assert_uint_in_range assert_in_range
#endif

#endif
