#include <stdint.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "config.h"
#include "tests/unit/unit.h"

#define PIECES 4000
#define SIZES 1500 /* bytes, and larger ones now and then */

static void *pieces[PIECES];

/* Every second piece stays, so that no two free ones become one. */
static void make_holes(void)
{
    for (size_t i = 0; i < PIECES; i++)
        pieces[i] = mem_alloc(i % 97 ? i * 7 % SIZES : 40000);
    for (size_t i = 0; i < PIECES; i += 2) {
        free(pieces[i]);
        pieces[i] = NULL;
    }
}

static void free_pieces(void)
{
    for (size_t i = 0; i < PIECES; i++)
        free(pieces[i]);
}

#ifdef UNIT_KNOWS_HEAP
static void test_what_is_allocated_lies_together_once_holes_are_filled(void **state)
{
    static const size_t sizes[] = {24, 1000, 500, 100, 24};
    uintptr_t first = UINTPTR_MAX, last = 0;
    (void)state;
    make_holes();
    assert_true(unit_heap_pieces() > PIECES * SIZES / 8);
    mem_fill_holes();
    assert_true(unit_heap_pieces() < 4096);
    uintptr_t top = (uintptr_t)sbrk(0) - mallinfo2().keepcost;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uintptr_t at = (uintptr_t)malloc(sizes[i]); /* it goes with the process */
        first = at < first ? at : first;
        last = at > last ? at : last;
    }
    assert_true(first >= top);
    assert_true(last - first < 2048);
    free_pieces();
    mem_fill_holes();
    assert_true(unit_heap_pieces() < 4096);
}
#else
static void test_what_is_allocated_lies_together_once_holes_are_filled(void **state)
{
    (void)state; /* of another allocator it is only known that it goes on */
    make_holes();
    mem_fill_holes();
    free_pieces();
}
#endif

/* Pieces from outside of the heap lie below it where the stack has no limit (ulimit -s unlimited). */
static void test_filling_ends_wherever_pieces_come_from(void **state)
{
    int status = -1;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit most = {1u << 30, 1u << 30};
        personality(ADDR_COMPAT_LAYOUT);
#ifndef UNIT_SANITIZED /* which takes more for itself */
        setrlimit(RLIMIT_AS, &most);
#endif
        (void)most;
        setenv("MALLOC_MMAP_THRESHOLD_", "100", 1);
        execl("/proc/self/exe", "test-mem", "fill", NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_a_copy_of_text_is_another_text(void **state)
{
    const char *text = "a text";
    (void)state;
    char *copy = mem_copy_text(text), *part = mem_copy_text_n(text, 3);
    assert_ptr_not_equal(copy, text);
    assert_string_equal(copy, text);
    assert_string_equal(part, "a t");
    assert_null(mem_copy_text(NULL));
    free(copy);
    free(part);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        mem_fill_holes();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_allocated_lies_together_once_holes_are_filled),
        cmocka_unit_test(test_filling_ends_wherever_pieces_come_from),
        cmocka_unit_test(test_a_copy_of_text_is_another_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
