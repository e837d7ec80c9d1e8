#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/string_list.h"
#include "launcher/cli/batch_script.h"
#include "tests/unit/scratch-root.h"
#include "tests/unit/unit.h"

static void write_file(const char *name, mode_t mode, const void *bytes, size_t len)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(name, mode), 0);
}

static void add_words(struct buf *text, char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        buf_printf(text, "%s[%s]", i ? " " : "", words[i]);
}

/* All that is known of a script, as a text: the words that run it; a line for each line of options. Or the sentence. */
static char *reading(const char *const *words, size_t nwords)
{
    struct option_defaults before = {0};
    struct error err = ERROR_INIT;
    struct buf text = BUF_INIT;
    char **made = batch_script_words((char *const *)(uintptr_t)words, nwords, &before, &err);
    if (made) {
        add_words(&text, made);
        for (size_t i = 0; i < before.count; i++) {
            buf_printf(&text, "\n%s: ", before.lines[i].origin);
            add_words(&text, before.lines[i].words);
        }
    } else {
        assert_non_null(err.text);
        buf_add_text(&text, err.text);
    }
    string_list_free(made);
    option_defaults_clear(&before);
    error_clear(&err);
    return buf_take_text(&text);
}

static void assert_reading(const char *const *words, size_t nwords, const char *want)
{
    char *have = reading(words, nwords);
    assert_string_equal(have, want);
    free(have);
}

#define LATE                                                                                       \
    "options must stand before the first command of the script (a line that begins with "          \
    "\"#TPRUN:\" holds options)"
#define ALMOST                                                                                     \
    "options stand behind \"#TPRUN:\", written just so; begin the line with \"##\" if it is a "    \
    "comment"
#define NO_INTERPRETER                                                                             \
    " cannot be executed, and its first line names no interpreter (\"#!/bin/sh\"): write one, or " \
    "\"chmod +x\" it"

static const struct script {
    const char *text;
    mode_t mode;
    const char *want;
} scripts[] = {
    {"#!/bin/sh\ntrue\n", 0755, "[./s]"},
    {"#!/bin/sh\n#TPRUN: -N 2 -n 8\ntrue\n", 0755, "[./s]\n./s, line 2: [-N] [2] [-n] [8]"},
    {"#!/bin/sh\n# a comment\n\n#TPRUN: -N 2\n  \t\n#TPRUN:--map-by 'a b'\ntrue\n", 0755,
     "[./s]\n./s, line 4: [-N] [2]\n./s, line 6: [--map-by] [a b]"},
    /* none in them */
    {"#!/bin/sh\n#TPRUN:\n#TPRUN:   \ntrue\n", 0755, "[./s]\n./s, line 2: \n./s, line 3: "},
    {"#!/bin/sh\n# tprun -N 2 ./app\n#TPRUN\n#tprun\n# TPRUN: none\n", 0755, "[./s]"},
    {"#!/bin/sh\n##TPRUN: -N 2\n# #TPRUN: -N 2\n#TPRUNS -N 2\n#TPRUN-s\n#T\n", 0755, "[./s]"},
    {"#!/bin/sh\n: '#TPRUN: -N 2'\n", 0755, "[./s]"},
    {"", 0755, "[./s]"},
    {"", 0644, "[./s]"},
    /* no end of the last line, and ends as of other systems */
    {"#!/bin/sh\n#TPRUN: -N 2", 0755, "[./s]\n./s, line 2: [-N] [2]"},
    {"#!/bin/sh\r\n#TPRUN: -N 2\r\n\r\n#TPRUN: -n 3\r\ntrue\r\n", 0755,
     "[./s]\n./s, line 2: [-N] [2]\n./s, line 4: [-n] [3]"},
    {"#!/bin/sh\r\ntrue\r\n", 0644, "[/bin/sh] [./s]"},
    /* behind the first command */
    {"#!/bin/sh\ntrue\n#TPRUN: -N 2\n", 0755, "./s, line 3: " LATE},
    {"#!/bin/sh\n#TPRUN: -N 2\n\n x=1\n\n#TPRUN: -n 2\n", 0755, "./s, line 6: " LATE},
    {"true\n#TPRUN: -N 2\n", 0755, "./s, line 2: " LATE},
    /* meant, and not written so */
    {"#!/bin/sh\n#TPRUN -N 2\n", 0755, "./s, line 2: " ALMOST},
    {"#!/bin/sh\n#\n# TPRUN: -N 2\n", 0755, "./s, line 3: " ALMOST},
    {"#!/bin/sh\n#tprun: -N 2\n", 0755, "./s, line 2: " ALMOST},
    {"#!/bin/sh\ntrue\n#TPRUN\t--nodes 2\n", 0755, "./s, line 3: " ALMOST},
    /* quotes that do not end are known by their line, too */
    {"#!/bin/sh\n\n#TPRUN: --map-by 'core\n", 0755, "./s, line 3: *"},
    /* who runs it */
    {"#!/bin/sh\ntrue\n", 0644, "[/bin/sh] [./s]"},
    {"#! \t /usr/bin/env  -S sh -e \t\n", 0644, "[/usr/bin/env] [-S sh -e] [./s]"},
    {"#!/bin/sh -e", 0644, "[/bin/sh] [-e] [./s]"},
    {"true\n", 0755, "[./s]"},
    {"true\n", 0644, "./s" NO_INTERPRETER},
    {"#!\ntrue\n", 0644, "./s" NO_INTERPRETER},
    {"#! \t\r\ntrue\n", 0644, "./s" NO_INTERPRETER},
    {" #!/bin/sh\n", 0644, "./s" NO_INTERPRETER},
};

static void reads_options_and_interpreters(void **state)
{
    const char *word = "./s";
    (void)state;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        const struct script *script = &scripts[i];
        size_t len = strlen(script->want);
        write_file("s", script->mode, script->text, strlen(script->text));
        char *have = reading(&word, 1);
        bool right = script->want[len - 1] == '*' ? strncmp(have, script->want, len - 1) == 0
                                                  : strcmp(have, script->want) == 0;
        if (!right)
            fail_msg("script %zu: expected\n%s\ngot\n%s", i, script->want, have);
        free(have);
    }
}

static void passes_arguments_on_as_they_are(void **state)
{
    const char *const words[] = {"./s", "-N", "a b", ""};
    (void)state;
    write_file("s", 0644, "#!/bin/sh -e\n", 13);
    assert_reading(words, 4, "[/bin/sh] [-e] [./s] [-N] [a b] []");
}

static void a_name_is_a_file_of_this_directory_or_one_of_PATH(void **state)
{
    (void)state;
    write_file("here", 0755, "#!/bin/sh\n#TPRUN: -n 2\n", 23);
    assert_reading((const char *const[]){"here"}, 1, "[./here]\n./here, line 2: [-n] [2]");
    assert_reading((const char *const[]){"elsewhere"}, 1, "[elsewhere]");
    assert_int_equal(mkdir("sh", 0700), 0); /* no program is meant by that */
    assert_reading((const char *const[]){"sh"}, 1, "[sh]");
}

static void other_files_are_programs_that_are_run_as_they_are(void **state)
{
    (void)state;
    write_file("binary", 0755, "\177ELF\0\n#TPRUN: -n 2\n", 20);
    assert_reading((const char *const[]){"./binary"}, 1, "[./binary]");
    write_file("binary", 0644, "\177ELF\0\n#TPRUN: -n 2\n", 20);
    assert_reading((const char *const[]){"./binary"}, 1, "[./binary]");
    assert_int_equal(mkdir("directory", 0700), 0);
    assert_reading((const char *const[]){"./directory"}, 1, "[./directory]");
    assert_reading((const char *const[]){"./none"}, 1, "[./none]");
    assert_reading((const char *const[]){"./binary/none"}, 1, "[./binary/none]");
    assert_int_equal(mkfifo("fifo", 0700), 0); /* nobody waits for its other end */
    assert_reading((const char *const[]){"./fifo"}, 1, "[./fifo]");
}

static void one_that_may_be_run_and_not_read_is_run(void **state)
{
    (void)state;
    if (geteuid() == 0)
        skip();
    write_file("secret", 0111, "#!/bin/sh\n#TPRUN: -n 2\n", 23);
    assert_reading((const char *const[]){"./secret"}, 1, "[./secret]");
}

static void long_lines_and_files_are_read(void **state)
{
    struct buf text = BUF_INIT, want = BUF_INIT;
    (void)state;
    buf_add_text(&text, "#!/bin/sh\n#TPRUN: ");
    buf_add_text(&want, "[./long]\n./long, line 2: ");
    for (int i = 0; i < 20000; i++) {
        buf_printf(&text, "-x V%d ", i);
        buf_printf(&want, "%s[-x] [V%d]", i ? " " : "", i);
    }
    buf_add_text(&text, "\n");
    while (text.len < 3u << 20) /* more than is looked at */
        buf_add_text(&text, "echo some more and more of it\n");
    write_file("long", 0755, buf_bytes(&text), text.len);
    assert_reading((const char *const[]){"./long"}, 1, buf_text(&want));
    buf_free(&text);
    buf_free(&want);
}

static void without_any_word_it_is_a_shell(void **state)
{
    (void)state;
    setenv("SHELL", "/bin/mysh", 1);
    assert_reading(NULL, 0, "[/bin/mysh]");
    setenv("SHELL", "", 1);
    assert_reading(NULL, 0, "[/bin/sh]");
    unsetenv("SHELL");
    assert_reading(NULL, 0, "[/bin/sh]");
}

static void knows_its_own_name(void **state)
{
    (void)state;
    assert_true(batch_script_is_name("tpbatch"));
    assert_true(batch_script_is_name("/usr/bin/tpbatch"));
    assert_false(batch_script_is_name("tprun"));
    assert_false(batch_script_is_name("tpbatch/tprun"));
    assert_false(batch_script_is_name("mytpbatch"));
    assert_false(batch_script_is_name(""));
    assert_false(batch_script_is_name(NULL));
}

static int setup(void **state)
{
    static const char *const none[] = {NULL};
    (void)state;
    return root_make(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_options_and_interpreters),
        cmocka_unit_test(passes_arguments_on_as_they_are),
        cmocka_unit_test(a_name_is_a_file_of_this_directory_or_one_of_PATH),
        cmocka_unit_test(other_files_are_programs_that_are_run_as_they_are),
        cmocka_unit_test(one_that_may_be_run_and_not_read_is_run),
        cmocka_unit_test(long_lines_and_files_are_read),
        cmocka_unit_test(without_any_word_it_is_a_shell),
        cmocka_unit_test(knows_its_own_name),
    };
    return cmocka_run_group_tests(tests, setup, root_remove);
}
