#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/linkage/shared_libraries.h"
#include "tests/unit/elf-file.h"
#include "tests/unit/scratch-root.h"
#include "tests/unit/unit.h"

static int make_root(void **state)
{
    (void)state;
    return root_make((const char *const[]){"lib", NULL});
}

/* The bytes of a system call, as they occur by chance: "int 0x80", "syscall", "svc #0". */
#define CALLS "..\xcd\x80..\x0f\x05.\x01\x00\x00\xd4"
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#define PLAIN .needs = {"libc.so.6"}, .interpreter = LOADER
#define CODE .code = "...."

static const struct {
    const char *what;
    struct elf_file file;
    bool closed;
} programs[] = {
    {"a plain program", {PLAIN, CODE, .imports = "malloc"}, true},
    {"one of C++",
     {.needs = {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6"},
      .interpreter = LOADER,
      CODE},
     true},
    {"one whose code has the bytes of a system call",
     {PLAIN, .code = CALLS, .ncode = sizeof(CALLS) - 1},
     true},
    {"one without code", {PLAIN}, true},
    {"one of 32 bits", {.bits = 32, PLAIN, CODE}, true},
    {"one whose names begin as those of the list do", {PLAIN, CODE, .imports = "syscon"}, true},
    {"it opens libraries", {PLAIN, CODE, .imports = "dlopen"}, false},
    {"it finds what is there already", {PLAIN, CODE, .imports = "dlsym"}, false},
    {"it starts programs", {PLAIN, CODE, .imports = "execvp"}, false},
    {"it starts programs through a shell", {PLAIN, CODE, .imports = "popen"}, false},
    {"it starts programs in a way of later days", {PLAIN, CODE, .imports = "pidfd_spawnp"}, false},
    {"it has them started by a runtime",
     {PLAIN, CODE, .imports = "_gfortran_execute_command_line_i4"},
     false},
    {"it calls the kernel through the C library", {PLAIN, CODE, .imports = "syscall"}, false},
    {"it reads variables", {PLAIN, CODE, .imports = "secure_getenv"}, false},
    {"it reads all variables", {PLAIN, CODE, .imports = "environ"}, false},
    {"it has a client built in", {PLAIN, .code = "....PMIX_RANK..."}, false},
    {"another library", {.needs = {"libc.so.6", "libx.so"}, .interpreter = LOADER, CODE}, false},
    {"a runtime that opens others",
     {.needs = {"libomp.so.5", "libc.so.6"}, .interpreter = LOADER, CODE},
     false},
    {"a library that stands in for another", {PLAIN, CODE, .helper = DT_FILTER}, false},
    {"an auditor", {PLAIN, CODE, .helper = DT_AUDIT}, false},
    {"a loader of its own",
     {.needs = {"libc.so.6"}, .interpreter = "/opt/wrap/loader", CODE},
     false},
    {"names that the file does not have all of", {PLAIN, .missing = 1}, false},
    {"no libraries", {.interpreter = LOADER, CODE}, false},
};

static struct shared_libraries *link_of(bool preloaded)
{
    struct shared_libraries_source source = {"program", root, "lib", "/dev/null", NULL, preloaded};
    struct shared_libraries *linkage = shared_libraries_read(&source, NULL);
    assert_non_null(linkage);
    return linkage;
}

static bool is_closed(bool preloaded)
{
    struct shared_libraries *linkage = link_of(preloaded);
    bool closed = linkage->closed;
    shared_libraries_free(linkage);
    return closed;
}

/* Where something is loaded into every program, none is closed. */
static void need_no_preloads(void)
{
    struct stat status;
    if (stat("/etc/ld.so.preload", &status) == 0 && status.st_size > 0)
        skip();
}

static void test_a_program_is_closed_where_nothing_leads_out_of_it(void **state)
{
    (void)state;
    need_no_preloads();
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        elf_file_write("program", &programs[i].file);
        bool closed = programs[i].closed;
        if (is_closed(false) != closed)
            fail_msg("%s: %s", programs[i].what, closed ? "not closed" : "closed");
    }
}

static void test_a_program_is_not_closed_where_the_environment_loads_others(void **state)
{
    static const struct elf_file plain = {PLAIN, CODE};
    (void)state;
    elf_file_write("program", &plain);
    assert_false(is_closed(true));
}

static void test_a_program_is_closed_only_if_its_libraries_need_nothing_else(void **state)
{
    static const struct elf_file program = {
        .needs = {"libgomp.so.1", "libc.so.6"}, .interpreter = LOADER, CODE};
    static const struct elf_file good = {.needs = {"libc.so.6"}}, bad = {.needs = {"libx.so"}};
    (void)state;
    need_no_preloads();
    elf_file_write("program", &program);
    elf_file_write("lib/libgomp.so.1", &good);
    assert_true(is_closed(false));
    elf_file_write("lib/libgomp.so.1", &bad);
    assert_false(is_closed(false));
}

static void test_a_large_program_is_not_looked_at(void **state)
{
    static const struct elf_file plain = {PLAIN, CODE};
    (void)state;
    need_no_preloads();
    elf_file_write("program", &plain);
    assert_int_equal(truncate("program", SHARED_LIBRARIES_MAX_CLOSED), 0);
    assert_true(is_closed(false));
    assert_int_equal(truncate("program", SHARED_LIBRARIES_MAX_CLOSED + 1), 0);
    assert_false(is_closed(false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_program_is_closed_where_nothing_leads_out_of_it),
        cmocka_unit_test(test_a_program_is_not_closed_where_the_environment_loads_others),
        cmocka_unit_test(test_a_program_is_closed_only_if_its_libraries_need_nothing_else),
        cmocka_unit_test(test_a_large_program_is_not_looked_at),
    };
    return cmocka_run_group_tests(tests, make_root, root_remove);
}
