#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/cli/mpiexec.h"
#include "launcher/cli/mpiexec_private.h"
#include "launcher/cli/option.h"
#include "launcher/cli/options.h"
#include "launcher/program/spec.h"

/* Words of a command line: between blanks. */
static char **translate(const char *line, struct error *err)
{
    char text[1024], *rest = text, *words[64] = {(char *)(uintptr_t) "mpiexec"};
    int count = 1;
    snprintf(text, sizeof(text), "%s", line);
    for (char *word; (word = strsep(&rest, " "));)
        if (word[0])
            words[count++] = word;
    return mpiexec_translate(words, err);
}

static void join(char *text, size_t size, char **words)
{
    text[0] = '\0';
    for (size_t i = 1; words[i]; i++)
        snprintf(text + strlen(text), size - strlen(text), "%s%s", i > 1 ? " " : "", words[i]);
}

static const struct {
    const char *foreign, *native;
} good[] = {
    {"a", "--oversubscribe a"},
    {"-n 4 a -n x", "--ntasks=4 --oversubscribe a -n x"},
    {"-np 4 a", "--ntasks=4 --oversubscribe a"},
    {"--np=4 a", "--ntasks=4 --oversubscribe a"},
    {"-n 1 a b : -n 2 c", "--ntasks=1 --oversubscribe a b : --ntasks=2 --oversubscribe c"},
    {"-n 1 -- -a", "--ntasks=1 --oversubscribe -- -a"},
    {"a \\: \\\\: \\x", "--oversubscribe a \\\\: \\\\\\: \\x"},

    /* how many where */
    {"-n 4 -ppn 2 a", "--taskmap=cyclic:2 --ntasks=4 --oversubscribe a"},
    {"-ppn 2 a", "--per=2:node --order=sequential --oversubscribe a"},
    {"-npernode 2 a", "--per=2:node --order=sequential --oversubscribe a"},
    {"-N 2 -n 3 a", "--per=2:node --order=sequential --ntasks=3 --oversubscribe a"},
    {"-pernode a", "--per=1:node --order=sequential --oversubscribe a"},
    {"--npersocket 3 a", "--per=3:socket --order=sequential --oversubscribe a"},
    {"-host a a", "--hosts=a --ntasks=1 --oversubscribe a"},
    {"-host a:3 a", "--hosts=a --ntasks=3 --oversubscribe a"},
    {"-hosts a,b -n 5 a", "--hosts=a,b --taskmap=cyclic:1 --ntasks=5 --oversubscribe a"},
    {"-hosts a:2,b:2 -n 5 a", "--hosts=a,b --taskmap=cyclic:2 --ntasks=5 --oversubscribe a"},
    {"-hosts n[0-1,4] a", "--hosts=n[0-1,4] --ntasks=3 --taskmap=cyclic:1 --oversubscribe a"},
    {"-hosts a:2,b a", "--hosts=a,b --ntasks=3 --taskmap=[[0,1,2,1],[1,1,1,1]] --oversubscribe a"},
    {"-hosts a:2,b -n 4 a",
     "--hosts=a,b --taskmap=[[0,1,2,1],[1,1,1,1],[0,1,1,1]] --ntasks=4 --oversubscribe a"},
    {"-host a -host b,a a",
     "--hosts=a,b --ntasks=3 --taskmap=[[0,1,2,1],[1,1,1,1]] --oversubscribe a"},
    {"-hosts a,b -n 1 a : -n 1 b", "--hosts=a,b --taskmap=cyclic:1 --ntasks=1 --oversubscribe a : "
                                   "--ntasks=1 --oversubscribe b"},
    {"-hosts a:2,b -ppn 1 -n 2 a", "--hosts=a,b --taskmap=cyclic:1 --ntasks=2 --oversubscribe a"},
    {"-hosts a,b --map-by node -n 2 a", "--hosts=a,b --map-by=node --ntasks=2 --oversubscribe a"},
    {"-hosts a,b --per 2:node a", "--hosts=a,b --per=2:node --oversubscribe a"},
    {"-f h a", "--hostfile=h --oversubscribe a"},
    {"--machinefile h a", "--hostfile=h --oversubscribe a"},
    {"-n 2 --nooversubscribe a", "--ntasks=2 a"},
    {"--oversubscribe --allow-run-as-root -iface eth0 -usize 4 a", "--oversubscribe a"},

    /* binding */
    {"-bind-to none a", "--bind-to=none --oversubscribe a"},
    {"-bind-to core a", "--bind-to=core --oversubscribe a"},
    {"--bind-to=core:4 a", "--cores-per-task=4 --oversubscribe a"},
    {"-bind-to hwthread:2 a", "--bind-to=2h --oversubscribe a"},
    {"-bind-to numa:2 a", "--bind-to=2N --oversubscribe a"},
    {"-bind-to L2dcache a", "--bind-to=l2cache --oversubscribe a"},
    {"-bind-to l3ucache:3 a", "--bind-to=3L3 --oversubscribe a"},
    {"-bind-to machine a", "--bind-to=node --oversubscribe a"},
    {"--bind-to package:overload-allowed a", "--bind-to=socket --oversubscribe a"},
    {"--bind-to core:if-supported:no-overload a", "--bind-to=core a"},
    {"-map-by numa -bind-to core a", "--map-by=numa --bind-to=core --oversubscribe a"},
    {"--map-by slot:PE=4 a", "--cores-per-task=4 --map-by=slot --oversubscribe a"},
    {"--map-by socket:SPAN,pe=2 a", "--cores-per-task=2 --map-by=socket:span --oversubscribe a"},
    {"--map-by node:NOOVERSUBSCRIBE a", "--map-by=node a"},
    {"--map-by ppr:2:node a", "--per=2:node --order=sequential --oversubscribe a"},
    {"--map-by ppr:1:numa:PE=2 a",
     "--per=1:numa --order=sequential --cores-per-task=2 --oversubscribe a"},
    {"--map-by rankfile:file=x:y a", "--rankfile=x:y --oversubscribe a"},
    {"--rankfile r a", "--rankfile=r --oversubscribe a"},
    {"--rank-by slot a", "--rank-by=slot --oversubscribe a"},
    {"-gpus-per-proc 2 a", "--gpus-per-task=2 --oversubscribe a"},
    {"-membind bind:numa a", "--mem-bind=local --oversubscribe a"},
    {"-membind firsttouch a", "--mem-bind=none --oversubscribe a"},

    /* environment: that of the whole before that of a part, what is taken away before what is set */
    {"-env A 1 -genv A 2 a", "--env=A=2 --env=A=1 --oversubscribe a"},
    {"-genv A 1 a : -env A 2 b", "--env=A=1 --oversubscribe a : --env=A=1 --env=A=2 "
                                 "--oversubscribe b"},
    {"a : -genv A 1 b", "--env=A=1 --oversubscribe a : --env=A=1 --oversubscribe b"},
    {"-genv A 1 -genvnone a", "--env-remove=* --env=A=1 --oversubscribe a"},
    {"-genvlist FOO,NOT_SET,,BAR a", "--env-remove=* --env=FOO --env=BAR --oversubscribe a"},
    {"-genvnone -envall a : b", "--oversubscribe a : --env-remove=* --oversubscribe b"},
    {"-envlist FOO a : -envnone b", "--env-remove=* --env=FOO --oversubscribe a : --env-remove=* "
                                    "--oversubscribe b"},
    {"-genvnone -genvall a", "--oversubscribe a"},
    {"-x FOO -x A=b=c a", "--env=FOO --env=A=b=c --oversubscribe a"},
    {"--mca btl self,tcp a", "--env=OMPI_MCA_btl=self,tcp --oversubscribe a"},
    {"-genv A --b a", "--env=A=--b --oversubscribe a"},
    {"-wdir /tmp a", "--chdir=/tmp --oversubscribe a"},
    {"-n 1 --pset left a : -n 2 -pset right b",
     "--pset=left --ntasks=1 --oversubscribe a : --pset=right --ntasks=2 --oversubscribe b"},

    /* the rest */
    {"-l a", "--label-io --oversubscribe a"},
    {"a : --tag-output b", "--label-io --oversubscribe a : --oversubscribe b"},
    {"-outfile-pattern o.%r.%p.%h.%% -errfile-pattern e a",
     "--output=o.%r.%n.%h.%% --error=e --oversubscribe a"},
    {"-timeout 5 -v -print-all-exitcodes a", "--time-limit=5 --verbose --oversubscribe a"},
    {"-disable-auto-cleanup a", "--disable-auto-cleanup --oversubscribe a"},
    {"-launcher ssh -launcher-exec x a", "--bootstrap=ssh --ssh=x --oversubscribe a"},
    {"-bootstrap rsh a", "--bootstrap=ssh --ssh=rsh --oversubscribe a"},
    {"-launcher fork a", "--bootstrap=local --oversubscribe a"},
    {"-info", "--version --oversubscribe"},
    {"--help", "--help=mpiexec --oversubscribe"},
    {"--dry-run --time-limit=4s --display map a",
     "--dry-run --time-limit=4s --display=map --oversubscribe a"},
    {"--wait -n 1 a", "--wait --ntasks=1 --oversubscribe a"},
};

static void test_foreign_words_become_native_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct error err = ERROR_INIT;
        char have[2048], **words = translate(good[i].foreign, &err);
        if (!words)
            fail_msg("%s: %s", good[i].foreign, error_text(&err));
        join(have, sizeof(have), words);
        if (strcmp(have, good[i].native) != 0)
            fail_msg("%s:\n  %s, not\n  %s", good[i].foreign, have, good[i].native);
        spec_free_words(words);
    }
}

/* Those that name a file are read from there, and not here. */
static void test_tprun_takes_the_native_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct error err = ERROR_INIT;
        char **words = translate(good[i].foreign, &err);
        struct spec *spec = spec_new();
        int count = 0;
        while (words[count])
            count++;
        if (!strstr(good[i].foreign, "rankfile") && options_parse(count, words, spec, &err) < 0)
            fail_msg("%s: %s", good[i].foreign, error_text(&err));
        spec_free(spec);
        spec_free_words(words);
    }
}

static const struct {
    const char *foreign, *sentence;
} bad[] = {
    {"-n", "-n: needs N"},
    {"-n 0 a", "-n: \"0\" is not a number from 1 to 16777216"},
    {"-n : a", "-n: needs N"},
    {"-genv A : a", "-genv: needs NAME VALUE"},
    {"-ppn x a", "-ppn: \"x\" is not a number from 1 to 16777216"},
    {"-l=1 a", "-l: takes no value: write it without =1"},
    {"-frob a", "there is no option \"-frob\": mpiexec --help lists those of other launchers that "
                "are taken, tprun --help its own"},
    {"--frob=1 a", "there is no option \"--frob\": mpiexec --help lists those of other launchers "
                   "that are taken, tprun --help its own"},
    {"-dry-run a", "there is no option \"-dry-run\": mpiexec --help lists those of other launchers "
                   "that are taken, tprun --help its own"},
    {"--time-limit", "--time-limit: needs FSD"},
    {"-hosts a a : -hosts b b",
     "-hosts: the hosts are of the whole program: name them once, and write --taskmap or "
     "--rankfile for what has to be where"},
    {"-hosts , a", "-host names no host"},
    {"-hosts a:2,b a : b", "-host: counts that differ are of a program of one part: write -ppn"},
    {"-hosts a:2,b -n 1000000 a",
     "-host: more than 65536 turns to deal out 1000000 ranks by these counts: write -ppn"},
    {"-bind-to user:0+2,1 a", "-bind-to: \"user\" has no equal here: write --rankfile FILE with "
                              "the processors of each rank"},
    {"-bind-to rr a",
     "-bind-to: \"rr\" has no equal here: write --bind-to core or --bind-to hwthread"},
    {"-bind-to core:0 a", "-bind-to: \"0\" is not a number from 1 to 16777216"},
    {"-bind-to core:x a", "-bind-to: \"x\" is not known: hwthread, core, l1cache, l2cache, "
                          "l3cache, numa, socket, board and node are"},
    {"-bind-to none:2 a", "-bind-to: \"2\" is not known: hwthread, core, l1cache, l2cache, "
                          "l3cache, numa, socket, board and node are"},
    {"-map-by numa:2 a",
     "-map-by: a count behind the level has no equal here: tprun --map-by with a map string says "
     "any order, see tprun --help layout"},
    {"-map-by seq a",
     "-map-by: \"seq\" has no equal here: write --rankfile FILE with the host of each rank"},
    {"-map-by ppr:0:node a", "-map-by: ppr: \"0\" is not a number from 1 to 16777216"},
    {"-map-by ppr:2 a", "-map-by: \"\" is not known: hwthread, core, l1cache, l2cache, l3cache, "
                        "numa, socket, board and node are"},
    {"-map-by core:nolocal a", "-map-by: \"nolocal\" has no equal here: write --exclude with the "
                               "name of this machine"},
    {"-map-by rankfile a", "-map-by: rankfile: no file is named: write rankfile:file=FILE"},
    {"-launcher slurm a",
     "-launcher: \"slurm\" is none of ssh, rsh, fork: write --bootstrap with a command template, "
     "such as \"lxc exec {host} -- {agent}\""},
    {"-membind interleave a", "-membind: \"interleave\" is not offered: bind (to the NUMA nodes "
                              "next to a task), none and firsttouch are"},
    {"-outfile-pattern %g a", "-outfile-pattern: %g, a number of the process group, is not known "
                              "here: leave it out"},
    {"-gdb a", "-gdb: not offered: write the debugger in front of the program's name"},
    {"-configfile f a", "-configfile: f says what to run: leave out \"a\""},
    {"-configfile /nonexistent/f",
     "-configfile: /nonexistent/f: cannot be opened: No such file or directory"},
};

static void test_what_has_no_equal_is_refused_with_what_to_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;
        char **words = translate(bad[i].foreign, &err);
        if (words)
            fail_msg("%s: is not refused", bad[i].foreign);
        assert_int_equal(err.kind, ERROR_USAGE);
        if (strcmp(error_text(&err), bad[i].sentence) != 0)
            fail_msg("%s:\n  %s, not\n  %s", bad[i].foreign, error_text(&err), bad[i].sentence);
        error_clear(&err);
    }
}

static const struct {
    const char *text, *native; /* native NULL: refused with the sentence */
    const char *sentence;
} files[] = {
    {"# all\n-n 1 a 'b c'\n\n \t-n 2 -env A \"x y\" d\n  # end",
     "-l --ntasks=1 --oversubscribe a b c : --env=A=x y --ntasks=2 --oversubscribe d", NULL},
    {"-n 3 a", "-l --ntasks=3 --oversubscribe a", NULL},
    {"-n 1 a : -n 2 b\n", "-l --ntasks=1 --oversubscribe a : --ntasks=2 --oversubscribe b", NULL},
    {"\n# nothing\n", NULL, "is empty: a line is a part, such as \"-n 4 ./app\""},
    {"a\nb 'c\n", NULL, "line 2: the quote at 'c is not closed"},
    {"-configfile x", NULL, "one file cannot name another"},
};

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_the_lines_of_a_file_are_parts(void **state)
{
    (void)state;
    char path[] = "/tmp/test-mpiexec-XXXXXX", line[128];
    close(mkstemp(path));
    snprintf(line, sizeof(line), "-l -configfile %s", path);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct error err = ERROR_INIT;
        char have[1024];
        write_file(path, files[i].text);
        char **words = translate(line, &err);
        if (words)
            join(have, sizeof(have), words);
        if (!words == !!files[i].native)
            fail_msg("file %zu: %s", i, words ? have : error_text(&err));
        if (words)
            assert_string_equal(have + strlen("--label-io "), files[i].native + 3);
        else if (!strstr(error_text(&err), files[i].sentence))
            fail_msg("file %zu: %s", i, error_text(&err));
        spec_free_words(words);
        error_clear(&err);
    }
    unlink(path);
}

static void test_links_by_these_names_are_meant(void **state)
{
    (void)state;
    assert_true(mpiexec_is_name("mpiexec"));
    assert_true(mpiexec_is_name("/usr/libexec/tprun/mpiexec"));
    assert_true(mpiexec_is_name("./mpirun"));
    assert_false(mpiexec_is_name("tprun"));
    assert_false(mpiexec_is_name("/mpiexec/tprun"));
    assert_false(mpiexec_is_name(NULL));
}

/* The first dashes of a row's native words are an option that tprun has. */
static void test_every_row_names_options_that_there_are(void **state)
{
    (void)state;
    for (const struct mpiexec_option *row = mpiexec_table; row->names; row++) {
        const char *at = strstr(row->native, "--");
        assert_true(mpiexec_nvalues(row) <= MPIEXEC_MAX_VALUES);
        if (!at)
            continue;
        size_t len = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
        if (!option_find(at + 2, len) || option_find(at + 2, len)->flags & OPTION_LATER)
            fail_msg("-%s: there is no %s", row->names, at);
    }
}

static void test_no_name_stands_in_two_rows(void **state)
{
    (void)state;
    for (const struct mpiexec_option *row = mpiexec_table; row->names; row++)
        for (const char *at = row->names; *at; at += strspn(at, " ")) {
            size_t len = strcspn(at, " ");
            if (mpiexec_find(at, len) != row)
                fail_msg("%.*s is not found in its row", (int)len, at);
            at += len;
        }
}

static void test_help_is_80_columns_wide(void **state)
{
    (void)state;
    char *help = mpiexec_help();
    for (const char *line = help; *line;) {
        size_t len = strcspn(line, "\n");
        if (len > 80)
            fail_msg("%.*s: %zu columns", (int)len, line, len);
        line += len + 1;
    }
    assert_non_null(strstr(help, "-genv NAME VALUE"));
    free(help);
}

static int set_environment(void **state)
{
    (void)state;
    unsetenv("TPRUN_OPTIONS");
    unsetenv("MPIEXEC_TIMEOUT");
    unsetenv("NOT_SET");
    setenv("FOO", "1", 1);
    return setenv("BAR", "2", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign_words_become_native_ones),
        cmocka_unit_test(test_tprun_takes_the_native_words),
        cmocka_unit_test(test_what_has_no_equal_is_refused_with_what_to_write),
        cmocka_unit_test(test_the_lines_of_a_file_are_parts),
        cmocka_unit_test(test_links_by_these_names_are_meant),
        cmocka_unit_test(test_every_row_names_options_that_there_are),
        cmocka_unit_test(test_no_name_stands_in_two_rows),
        cmocka_unit_test(test_help_is_80_columns_wide),
    };
    return cmocka_run_group_tests(tests, set_environment, NULL);
}
