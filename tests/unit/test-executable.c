#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/linkage/executable.h"
#include "tests/unit/scratch-root.h"
#include "tests/unit/unit.h"

static void put(const char *name, const void *bytes, size_t len)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
    assert_int_equal(chmod(name, 0755), 0);
}

static int make_root(void **state)
{
    (void)state;
    return root_make((const char *const[]){"handlers", NULL});
}

static int check(const char *name, struct error *err)
{
    struct executable_source source = {
        .name = name, .search = "/bin:/usr/bin", .directory = root, .handlers = "handlers"};
    char *path;
    error_clear(err);
    int status = executable_check(&source, &path, err);
    free(path);
    return status;
}

/* ---- handlers of binfmt_misc ---- */

static const struct {
    const char *text; /* as the kernel shows it */
    const char *path;
    const char *bytes;
    size_t len;
    bool takes;
} handlers[] = {
    {"enabled\ninterpreter /usr/bin/x\nflags: \noffset 0\nmagic 4d5a\n", "a", "MZ", 2, true},
    {"disabled\ninterpreter /usr/bin/x\nflags: \noffset 0\nmagic 4d5a\n", "a", "MZ", 2, false},
    {"enabled\ninterpreter /usr/bin/x\nflags: \noffset 0\nmagic 4d5a\n", "a", "MY", 2, false},
    {"enabled\ninterpreter /usr/bin/x\nflags: \noffset 0\nmagic 4d5a\n", "a", "M", 1, false},
    {"enabled\ninterpreter /usr/bin/x\nflags: \noffset 2\nmagic 4d5a\n", "a", "xxMZ", 4, true},
    {"enabled\ninterpreter /usr/bin/x\nflags: \noffset 0\nmagic 4d5a\nmask ff0f\n", "a", "MJ", 2,
     true},
    {"enabled\ninterpreter /usr/bin/x\nflags: \noffset 0\nmagic 4d5a\nmask ffff\n", "a", "MJ", 2,
     false},
    {"enabled\ninterpreter /usr/bin/x\nflags: \nextension .jar\n", "dir.d/a.jar", "PK", 2, true},
    {"enabled\ninterpreter /usr/bin/x\nflags: \nextension .jar\n", "a.jars", "PK", 2, false},
    {"enabled\ninterpreter /usr/bin/x\nflags: \nextension .jar\n", "jar", "PK", 2, false},
    {"", "a", "MZ", 2, false},
    {"enabled\nmagic", "a", "MZ", 2, false},
};

static void test_a_handler_is_read_as_the_kernel_shows_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
        put("handlers/one", handlers[i].text, strlen(handlers[i].text));
        if (executable_has_handler("handlers", handlers[i].path, handlers[i].bytes,
                                   handlers[i].len) != handlers[i].takes)
            fail_msg("case %zu", i);
    }
    unlink("handlers/one");
    assert_false(executable_has_handler("no-handlers", "a", "MZ", 2));
}

static void test_what_a_handler_takes_can_be_executed(void **state)
{
    static const char text[] = "enabled\ninterpreter /usr/bin/x\nflags: \noffset 0\nmagic 7f454c46";
    struct error err = ERROR_INIT;
    unsigned char head[64] = ELFMAG;
    (void)state;
    head[EI_CLASS] = ELFCLASS64;
    head[EI_DATA] = ELFDATA2MSB;
    head[EI_NIDENT + 1] = ET_EXEC;
    head[EI_NIDENT + 3] = EM_S390;
    put("big", head, sizeof(head));
    assert_int_equal(check("./big", &err), 126);
    assert_non_null(strstr(error_text(&err), "cannot run ./big: it is built for s390x, this host"));
    put("handlers/one", text, strlen(text));
    assert_int_equal(check("./big", &err), 0);
    unlink("handlers/one");
    error_clear(&err);
}

/* ---- "#!" ---- */

static const struct {
    const char *text;
    int status;
    const char *words; /* NULL: it runs */
} scripts[] = {
    {"#!/bin/sh\n", 0, NULL},
    {"#! \t/bin/sh -e\n", 0, NULL},
    {"#!/bin/sh", 0, NULL},
    {"#!\n", 0, NULL}, /* text for a shell */
    {"#!", 0, NULL},
    {"", 0, NULL},
    {"echo\n", 0, NULL},
    {"\n\0\1", 0, NULL},
    {"#!/bin/sh\r\n", 127, "first line \"#!/bin/sh\" ends with a carriage return"},
    {"#!/usr/bin/env sh\r\n", 127, "first line \"#!/usr/bin/env sh\" ends with a carriage"},
    {"#!/bin/sh -e\r\n", 0, NULL}, /* the shell's to say */
    {"#!/nosuch\n", 127, "its interpreter /nosuch is not there"},
    {"#!nosuch -x\n", 127, "its interpreter nosuch is not there"},
    {"#!/\n", 126, "its interpreter / cannot be used: Permission denied"},
    {"#!./script\n", 0, NULL}, /* the kernel's to say */
};

static void test_the_first_line_of_a_script_names_its_interpreter(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        bool binary = scripts[i].text[0] == '\n';
        put("script", scripts[i].text, binary ? 3 : strlen(scripts[i].text));
        int status = check("./script", &err);
        if (status != scripts[i].status ||
            (scripts[i].words && !strstr(error_text(&err), scripts[i].words)))
            fail_msg("case %zu: %d %s", i, status, error_text(&err));
    }
    error_clear(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_handler_is_read_as_the_kernel_shows_it),
        cmocka_unit_test(test_what_a_handler_takes_can_be_executed),
        cmocka_unit_test(test_the_first_line_of_a_script_names_its_interpreter),
    };
    return cmocka_run_group_tests(tests, make_root, root_remove);
}
