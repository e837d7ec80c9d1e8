#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/cli/tprun_options.h"
#include "launcher/mpiexec/mpiexec.h"
#include "launcher/mpiexec/mpiexec_private.h"
#include "launcher/options/option.h"
#include "launcher/spec/spec.h"
#include "tests/unit/unit.h"

/* Words of a command line: between blanks. */
static void split(const char *name, const char *line, char text[1024], char *words[64])
{
    int count = 1;
    words[0] = (char *)(uintptr_t)name;
    snprintf(text, 1024, "%s", line);
    for (char *word; (word = strsep(&text, " "));)
        if (word[0])
            words[count++] = word;
}

static char **translate_as(const char *name, const char *line, struct error *err)
{
    char text[1024], *words[64] = {NULL};
    split(name, line, text, words);
    return mpiexec_translate(words, err);
}

static char **translate(const char *line, struct error *err)
{
    return translate_as("mpiexec", line, err);
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
    {"-n 1 a : -n 2 b :", "--ntasks=1 --oversubscribe a : --ntasks=2 --oversubscribe b"},
    {": -n 1 a : : b", "--ntasks=1 --oversubscribe a : --oversubscribe b"},
    {"-n 1 -- -a", "--ntasks=1 --oversubscribe -- -a"},
    {"a \\: \\\\: \\x", "--oversubscribe a \\\\: \\\\\\: \\x"},

    /* how many where */
    {"-n 4 -ppn 2 a", "--taskmap=cyclic:2 --ntasks=4 --oversubscribe a"},
    {"-ppn 2 a", "--per=2:node --order=sequential --oversubscribe a"},
    {"-npernode 2 a", "--per=2:node --order=sequential --oversubscribe a"},
    {"-N 2 -n 3 a", "--map-by=slot --mppr=2:n --ntasks=3 a"},
    {"-n 3 --map-by ppr:1:node a", "--map-by=slot --mppr=1:n --ntasks=3 a"},
    {"-n 3 --oversubscribe -npernode 1 a", "--map-by=slot --mppr=1:n --ntasks=3 --oversubscribe a"},
    {"-ppn 2 -npernode 2 -n 3 a", "--map-by=slot --mppr=2:n --ntasks=3 --oversubscribe a"},
    {"-n 3 -npersocket 2 a", "--map-by=slot --mppr=2:s --ntasks=3 --bind-to=core a"},
    {"-npernode 2 --use-hwthread-cpus a",
     "--per=2:node --order=sequential --bind-to=hwthread --oversubscribe a"},
    {"-n 3 --map-by ppr:2:node --use-hwthread-cpus a",
     "--map-by=slot --mppr=2:n --map-by=hwthread --ntasks=3 a"},
    {"--map-by ppr:2:socket --rank-by slot a",
     "--per=2:socket --order=sequential --order=sequential --oversubscribe a"},
    {"-np 2 -np 3 a", "--ntasks=3 --oversubscribe a"},
    {"-npernode 2 -N 2 --map-by ppr:2:node a", "--per=2:node --order=sequential --oversubscribe a"},
    {"-npersocket 2 --map-by ppr:2:package -n 3 a",
     "--map-by=slot --mppr=2:s --ntasks=3 --bind-to=core a"},
    {"-pernode -N 1 a : -N 2 b", "--per=1:node --order=sequential --oversubscribe a : --per=2:node "
                                 "--order=sequential --oversubscribe b"},
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
    {"-host a -n 1 a : -host a -n 2 b",
     "--hosts=a --ntasks=1 --oversubscribe a : --ntasks=2 --oversubscribe b"},
    {"-hosts a:2,b --ntasks 4 a",
     "--hosts=a,b --ntasks=4 --taskmap=[[0,1,2,1],[1,1,1,1],[0,1,1,1]] --oversubscribe a"},
    {"-hosts a:2,b --ntasks all a", "--hosts=a,b --ntasks=all --ntasks=3 "
                                    "--taskmap=[[0,1,2,1],[1,1,1,1]] --oversubscribe a"},
    {"-host a -host b,a a",
     "--hosts=a,b --ntasks=3 --taskmap=[[0,1,2,1],[1,1,1,1]] --oversubscribe a"},
    {"-host a:2,b a : b", "--hosts=a,b --taskmap=[[0,1,1,1]] --oversubscribe a : "
                          "--taskmap=[[0,1,1,1]] --oversubscribe b"},
    {"-hosts a:2,b -n 3 a : -n 1 b : -n 3 c",
     "--hosts=a,b --taskmap=[[0,1,2,1],[1,1,1,1]] --ntasks=3 --oversubscribe a : "
     "--taskmap=[[0,1,1,1]] --ntasks=1 --oversubscribe b : "
     "--taskmap=[[0,1,1,1],[1,1,1,1],[0,1,1,1]] --ntasks=3 --oversubscribe c"},
    {"-hosts a:2,b --map-by node a", "--hosts=a,b --map-by=node --ntasks=3 --oversubscribe a"},
    {"-host a -hostfile h -n 2 a", "--hosts=a --ntasks=2 --oversubscribe a"},
    {"-hosts a,b -n 1 a : -n 1 b", "--hosts=a,b --taskmap=cyclic:1 --ntasks=1 --oversubscribe a : "
                                   "--ntasks=1 --oversubscribe b"},
    {"-hosts a:2,b -ppn 1 -n 2 a", "--hosts=a,b --taskmap=cyclic:1 --ntasks=2 --oversubscribe a"},
    {"-hosts a,b --map-by node -n 2 a", "--hosts=a,b --map-by=node --ntasks=2 --oversubscribe a"},
    {"-hosts a,b --per 2:node a", "--hosts=a,b --per=2:node --oversubscribe a"},
    {"-hostfile h -n 2 a", "--hostfile=h --ntasks=2 --oversubscribe a"},
    {"--machinefile h a", "--hostfile=h --ntasks=all --oversubscribe a"},
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
    {"--rank-by slot a", "--order=sequential --ntasks=all --oversubscribe a"},
    {"-gpus-per-proc 2 a", "--gpus-per-task=2 --oversubscribe a"},
    {"-membind bind:numa a", "--mem-bind=local --oversubscribe a"},
    {"-membind firsttouch a", "--mem-bind=none --oversubscribe a"},

    /* environment: that of the whole before that of a part, what is taken away before what is set */
    {"-env A 1 -genv A 2 a", "--env=A=2 --env=A=1 --oversubscribe a"},
    {"-genv A 1 a : -env A 2 b", "--env=A=1 --oversubscribe a : --env=A=1 --env=A=2 "
                                 "--oversubscribe b"},
    {"a : -genv A 1 b", "--env=A=1 --oversubscribe a : --env=A=1 --oversubscribe b"},
    {"-genv A 1 -genvnone a", "--env-remove=* --env=PATH --env=A=1 --oversubscribe a"},
    {"-genvlist FOO,NOT_SET,,BAR a",
     "--env-remove=* --env=PATH --env=FOO --env=BAR --oversubscribe a"},
    {"-genvnone -envall a : b", "--oversubscribe a : --env-remove=* --env=PATH --oversubscribe b"},
    {"-envlist FOO a : -envnone b",
     "--env-remove=* --env=PATH --env=FOO --oversubscribe a : --env-remove=* --env=PATH "
     "--oversubscribe b"},
    {"-genvnone -genvall a", "--oversubscribe a"},
    {"-x FOO -x A=b=c a", "--env=FOO --env=A=b=c --ntasks=all --oversubscribe a"},
    {"-x NOT_SET a", "--ntasks=all --oversubscribe a"},
    {"-genv FOO=5 a", "--env=FOO=5 --oversubscribe a"},
    {"-env FOO=5=6 -env B= a", "--env=FOO=5=6 --env=B= --oversubscribe a"},
    {"-genv=FOO=5 a", "--env=FOO=5 --oversubscribe a"},
    {"-genv=FOO 5 a", "--env=FOO=5 --oversubscribe a"},
    {"--mca btl self,tcp a", "--env=OMPI_MCA_btl=self,tcp --ntasks=all --oversubscribe a"},
    {"--mca no_such thing a", "--env=OMPI_MCA_no_such=thing --ntasks=all --oversubscribe a"},
    {"--mca plm_rsh_agent rsh a",
     "--ssh=rsh --env=OMPI_MCA_plm_rsh_agent=rsh --ntasks=all --oversubscribe a"},
    {"--mca hwloc_base_binding_policy none a",
     "--env=OMPI_MCA_hwloc_base_binding_policy=none --bind-to=none --ntasks=all --oversubscribe a"},
    {"-genv A 1 -debug a", "--verbose --env=A=1 --oversubscribe a"},
    {"-debug -genv A 1 a", "--verbose --env=A=1 --oversubscribe a"},
    {"a : -debug -genv A 1 b",
     "--verbose --env=A=1 --oversubscribe a : --env=A=1 --oversubscribe b"},
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
    {"-timeout 0 a", "--ntasks=all --oversubscribe a"},
    {"-disable-auto-cleanup a", "--on-failure=continue --oversubscribe a"},
    {"-dac a", "--on-failure=continue --oversubscribe a"},
    {"-launcher ssh -launcher-exec x a", "--bootstrap=auto --ssh=x --oversubscribe a"},
    {"-bootstrap rsh a", "--bootstrap=auto --ssh=rsh --oversubscribe a"},
    {"-launcher fork a", "--bootstrap=local --oversubscribe a"},
    {"-launcher slurm a", "--bootstrap=slurm --oversubscribe a"},
    {"-launcher lsf a", "--bootstrap=lsf --oversubscribe a"},
    {"-launcher sge a", "--bootstrap=sge --oversubscribe a"},
    {"-launcher pbs a", "--bootstrap=pbs --oversubscribe a"},
    {"--bootstrap flux a", "--bootstrap=flux --oversubscribe a"},
    {"--bootstrap auto a", "--bootstrap=auto --oversubscribe a"},
    {"--bootstrap kubernetes a", "--bootstrap=kubernetes --oversubscribe a"},
    {"--bootstrap {agent} a", "--bootstrap={agent} --oversubscribe a"},
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
        string_list_free(words);
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
        string_list_free(words);
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
    {"-frob a", "unknown option \"-frob\" (long options of tprun itself need two dashes)"},
    {"--frob=1 a", "unknown option \"--frob\" (long options of tprun itself need two dashes)"},
    {"-dry-run a", "unknown option \"-dry-run\" (long options of tprun itself need two dashes)"},
    {"--time-limit", "--time-limit: needs FSD"},
    {"-hosts a a : -hosts b b",
     "-hosts: hosts are for the whole program: name them once, and place ranks with --taskmap or "
     "--rankfile"},
    {"-hosts , a", "-host names no host"},
    {"-ppn 2 -npernode 3 a",
     "-ppn 2 and -npernode 3 both say how many ranks go where: write one of them"},
    {"-ppn 2 -map-by ppr:2:numa a",
     "-ppn 2 and ppr:2:numa both say how many ranks go where: write one of them"},
    {"-ppn 2 --per 3:node a",
     "-ppn 2 and --per 3:node both say how many ranks go where: write one of them"},
    {"-npernode 2 -npernode 3 a",
     "-npernode 2 and -npernode 3 both say how many ranks go where: write one of them"},
    {"-npernode 2 --map-by ppr:3:socket a",
     "-npernode 2 and ppr:3:socket both say how many ranks go where: write one of them"},
    {"--pernode -N=2 -n 4 a",
     "--pernode and -N 2 both say how many ranks go where: write one of them"},
    {"-npernode 1 -npersocket 1 a",
     "-npernode 1 and -npersocket 1 both say how many ranks go where: write one of them"},
    {"a : -ppr 1:core -pernode b",
     "ppr:1:core and -pernode both say how many ranks go where: write one of them"},
    {"-debug a", "-debug: not supported: write the debugger in front of the program's name"},
    {"-debug -x A=1 a", "-debug: not supported: write the debugger in front of the program's name"},
    {"-hosts a:2,b -n 1000000 a",
     "-host: these counts put 1000000 ranks into more than 65536 blocks: write -ppn"},
    {"-bind-to user:0+2,1 a", "-bind-to: \"user\" is not supported: write --rankfile FILE with "
                              "the processors of each rank"},
    {"-bind-to core:0 a", "-bind-to: \"0\" is not a number from 1 to 16777216"},
    {"-bind-to foo a", "-bind-to: unknown value \"foo\" (expected none, hwthread, core, l1cache, "
                       "l2cache, l3cache, numa, socket, board or node)"},
    {"-bind-to core:x a", "-bind-to: unknown value \"x\" (expected a count of objects, "
                          "overload-allowed, no-overload or if-supported)"},
    {"-bind-to none:2 a", "-bind-to: unknown value \"2\" (expected a count of objects, "
                          "overload-allowed, no-overload or if-supported)"},
    {"-map-by foo a", "-map-by: unknown value \"foo\" (expected ppr:N:LEVEL, slot, hwthread, core, "
                      "l1cache, l2cache, l3cache, numa, socket, board or node)"},
    {"-map-by core:foo a", "-map-by: unknown value \"foo\" (expected PE=N, span, oversubscribe or "
                           "nooversubscribe)"},
    {"-map-by numa:2 a",
     "-map-by: a count after the level is not supported: write tprun --map-by with a map string "
     "(see tprun --help layout)"},
    {"-map-by seq a",
     "-map-by: \"seq\" is not supported: write --rankfile FILE with the host of each rank"},
    {"-map-by ppr:0:node a", "-map-by: ppr: \"0\" is not a number from 1 to 16777216"},
    {"-map-by ppr:2 a", "-map-by: unknown value \"\" (expected hwthread, core, l1cache, l2cache, "
                        "l3cache, numa, socket, board or node)"},
    {"-map-by core:nolocal a", "-map-by: \"nolocal\" is not supported: write --exclude with the "
                               "name of this machine"},
    {"-map-by rankfile a", "-map-by: rankfile: no file is named: write rankfile:file=FILE"},
    {"-launcher manual a",
     "-launcher: unknown value \"manual\" (expected auto, local, ssh, slurm, pals, pbs, flux, lsf, "
     "sge or kubernetes, or a command template such as \"lxc exec {host} -- {agent}\")"},
    {"--bootstrap x,{host},{hosts} a",
     "--bootstrap: \"x,{host},{hosts}\" has {host}, for one host at a time, and {hosts} or "
     "{ranks}, for many: leave one of them out"},
    {"-membind interleave a",
     "-membind: \"interleave\" is not supported (expected bind, for the NUMA "
     "nodes next to a task, none or firsttouch)"},
    {"-outfile-pattern %g a",
     "-outfile-pattern: %g, the process group, is not supported: leave it out"},
    {"-tv a", "-tv: not supported: write the debugger in front of the program's name"},
    {"-configfile f a", "-configfile: f says what to run: leave out \"a\""},
    {"-configfile /nonexistent/f",
     "-configfile: /nonexistent/f: cannot be opened: No such file or directory"},
};

static void test_an_option_without_an_equal_is_refused_with_what_to_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;
        char **words = translate(bad[i].foreign, &err);
        if (words)
            fail_msg("%s: is not refused", bad[i].foreign);
        assert_int_equal(err.kind, err.unreadable ? ERROR_REFUSED : ERROR_USAGE);
        if (strcmp(error_text(&err), bad[i].sentence) != 0)
            fail_msg("%s:\n  %s, not\n  %s", bad[i].foreign, error_text(&err), bad[i].sentence);
        error_clear(&err);
    }
}

/* ---- the dialects ---- */

/* PATH holds this directory alone: which launchers this machine has makes no difference. */
static char programs[] = "/tmp/test-mpiexec-programs-XXXXXX";

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Files that the cases name, and a program that only this directory has. */
static char *enter_directory(void)
{
    static char path[] = "/tmp/test-mpiexec-XXXXXX";
    strcpy(path + strlen(path) - 6, "XXXXXX");
    char *directory = mkdtemp(path);
    assert_non_null(directory);
    assert_int_equal(chdir(directory), 0);
    write_file("plain", "n1\nn2\nn3\n");
    write_file("counts", "n1:4\nn2:2\n");
    write_file("slots", "n1 slots=2\nn2 slots=3\n");
    write_file("twice", "n1\nn1\nn2\n");
    write_file("wrong", "n1 n2\n");
    write_file("here", "#!/bin/sh\n");
    write_file("unfit", "#!/bin/sh\n");
    write_file("sh", "#!/bin/sh\n");
    assert_int_equal(chmod("here", 0755) | chmod("sh", 0755), 0);
    return directory;
}

static void leave_directory(const char *directory)
{
    static const char *const files[] = {"plain", "counts", "slots", "twice",
                                        "wrong", "here",   "unfit", "sh"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        unlink(files[i]);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(directory), 0);
}

static const struct dialect_case {
    const char *name, *foreign, *native;
} dialects[] = {
    /* no -n */
    {"mpiexec", "a", "--oversubscribe a"},
    {"mpiexec.hydra", "a", "--oversubscribe a"},
    {"mpirun.openmpi", "a", "--ntasks=all --oversubscribe a"},
    {"mpirun", "--mca btl self a", "--env=OMPI_MCA_btl=self --ntasks=all --oversubscribe a"},
    {"mpirun", "-genv A 1 a", "--env=A=1 --oversubscribe a"},
    {"mpirun", "-genv A 1 --mca btl self a", "--env=A=1 --env=OMPI_MCA_btl=self --oversubscribe a"},
    {"orterun", "a : b", "--oversubscribe a : --oversubscribe b"},
    {"prterun", "--map-by node a", "--map-by=node --ntasks=all --oversubscribe a"},
    {"mpirun.openmpi", "--per 2:node a", "--per=2:node --oversubscribe a"},
    {"mpirun.openmpi", "-N 2 a", "--per=2:node --order=sequential --oversubscribe a"},
    {"mpirun.openmpi", "--rankfile slots a", "--rankfile=slots --oversubscribe a"},
    {"mpirun.openmpi", "-np 2 a : b", "--ntasks=2 --oversubscribe a : --oversubscribe b"},
    {"mpiexec", "-R r a", NULL},
    {"mpiexec", "--resources r a", "--resources=r --ntasks=all --oversubscribe a"},

    /* hostfiles */
    {"mpiexec.hydra", "-f plain a",
     "--hostfile=plain --ntasks=3 --taskmap=cyclic:1 --oversubscribe a"},
    {"mpiexec", "-f plain -n 3 a",
     "--hostfile=plain --taskmap=cyclic:1 --ntasks=3 --oversubscribe a"},
    {"mpiexec.mpich", "-hostfile counts -n 9 a",
     "--hostfile=counts --taskmap=[[0,1,4,1],[1,1,2,1],[0,1,3,1]] --ntasks=9 --oversubscribe a"},
    {"mpiexec.mpich", "-hostfile counts a",
     "--hostfile=counts --ntasks=6 --taskmap=[[0,1,4,1],[1,1,2,1]] --oversubscribe a"},
    {"mpiexec.hydra", "-f counts -ppn 1 a",
     "--hostfile=counts --per=1:node --order=sequential --oversubscribe a"},
    {"mpiexec.hydra", "-f twice -n 5 a",
     "--hostfile=twice --taskmap=[[0,1,2,1],[1,1,1,1],[0,1,2,1]] --ntasks=5 --oversubscribe a"},
    {"mpiexec.hydra", "-f plain a : -n 2 b",
     "--hostfile=plain --ntasks=3 --taskmap=cyclic:1 --oversubscribe a : --ntasks=2 "
     "--oversubscribe b"},
    {"mpiexec.hydra", "-f slots -n 2 a",
     "--hostfile=slots --taskmap=[[0,1,2,1]] --ntasks=2 --oversubscribe a"},
    {"mpirun.openmpi", "-hostfile plain -n 3 a", "--hostfile=plain --ntasks=3 --oversubscribe a"},
    {"mpirun.openmpi", "-hostfile plain a", "--hostfile=plain --ntasks=all --oversubscribe a"},
    {"mpirun.openmpi", "-hostfile slots a", "--hostfile=slots --ntasks=all --oversubscribe a"},
    {"mpirun.openmpi", "-hostfile counts a", "--hostfile=counts --ntasks=all --oversubscribe a"},
    {"mpirun.openmpi", "-hostfile slots -n 5 a", "--hostfile=slots --ntasks=5 --oversubscribe a"},
    {"mpirun.openmpi", "-hostfile slots -n 8 a",
     "--hostfile=slots --taskmap=cyclic:4 --ntasks=8 --oversubscribe a"},
    {"mpirun.openmpi", "-hostfile slots -n 9 --map-by node a",
     "--hostfile=slots --map-by=node --ntasks=9 --oversubscribe a"},
    {"mpirun.openmpi", "-hostfile plain -n 9 a", "--hostfile=plain --ntasks=9 --oversubscribe a"},
    {"mpirun.openmpi", "-host a,b -n 4 a",
     "--hosts=a,b --taskmap=cyclic:2 --ntasks=4 --oversubscribe a"},
    {"mpirun.openmpi", "-host a,b -n 3 a",
     "--hosts=a,b --taskmap=[[0,1,2,1],[1,1,1,1]] --ntasks=3 --oversubscribe a"},
    {"mpirun.openmpi", "-host a:2,b -n 7 a",
     "--hosts=a,b --taskmap=[[0,1,4,1],[1,1,3,1]] --ntasks=7 --oversubscribe a"},
    {"mpirun.openmpi", "-host a:2,b -n 2 a",
     "--hosts=a,b --taskmap=[[0,1,2,1]] --ntasks=2 --oversubscribe a"},
    {"mpirun.openmpi", "-host a,b -n 1 a : -n 3 b",
     "--hosts=a,b --taskmap=cyclic:2 --ntasks=1 --oversubscribe a : --ntasks=3 --oversubscribe b"},
    {"mpiexec.hydra", "-hosts a,b -n 4 a",
     "--hosts=a,b --taskmap=cyclic:1 --ntasks=4 --oversubscribe a"},
    {"mpirun.openmpi", "-hostfile slots -npernode 1 a",
     "--hostfile=slots --per=1:node --order=sequential --oversubscribe a"},
    {"mpirun.openmpi", "-hostfile twice a",
     "--hostfile=twice --ntasks=3 --taskmap=[[0,1,2,1],[1,1,1,1]] --oversubscribe a"},
    {"mpirun", "-hostfile twice a",
     "--hostfile=twice --ntasks=3 --taskmap=[[0,1,2,1],[1,1,1,1]] --oversubscribe a"},
    {"mpirun", "-hostfile plain a", "--hostfile=plain --ntasks=all --oversubscribe a"},
    {"mpirun", "-hostfile plain -n 2 a", "--hostfile=plain --ntasks=2 --oversubscribe a"},
    {"mpirun", "-hostfile wrong -n 2 a", "--hostfile=wrong --ntasks=2 --oversubscribe a"},
    {"mpirun", "-hostfile - -n 2 a", "--hostfile=- --ntasks=2 --oversubscribe a"},

    /* what is bound */
    {"mpirun.openmpi", "-N 2 -bind-to socket a",
     "--per=2:node --order=sequential --bind-to=socket --oversubscribe a"},
    {"mpirun.openmpi", "-n 3 -N 2 -bind-to socket a",
     "--map-by=slot --mppr=2:n --bind-to=socket --map-by=socket --order=sequential --ntasks=3 a"},
    {"mpirun.openmpi", "-n 3 --map-by ppr:2:node -bind-to socket a",
     "--map-by=slot --mppr=2:n --bind-to=socket --map-by=socket --order=sequential --ntasks=3 a"},
    {"mpirun.openmpi", "-n 3 -npersocket 2 -bind-to socket a",
     "--map-by=slot --mppr=2:s --bind-to=socket --ntasks=3 a"},
    {"mpirun.openmpi", "--per 2:node -bind-to socket a",
     "--per=2:node --bind-to=socket --oversubscribe a"},
    {"mpiexec.hydra", "-ppn 2 -bind-to socket a",
     "--bind-to=socket --per=2:node --order=sequential --oversubscribe a"},
    {"mpiexec.hydra", "-n 4 -ppn 2 -bind-to socket a",
     "--bind-to=socket --map-by=socket --taskmap=cyclic:2 --ntasks=4 --oversubscribe a"},

    /* contradictions */
    {"mpiexec.hydra", "-n 2 -n 2 a", "--ntasks=2 --oversubscribe a"},
    {"mpiexec.hydra", "-n 2 -n 3 a", NULL},
    {"mpirun.openmpi", "-n 2 -np 3 a", "--ntasks=3 --oversubscribe a"},
    {"mpiexec.hydra", "-f plain -hosts a -n 1 a", NULL},
    {"mpirun.openmpi", "-n 3 -N 2 --per 1:gpu --order sequential a",
     "--map-by=slot --mppr=2:n --per=1:gpu --order=sequential --ntasks=3 a"},
    {"mpirun.openmpi", "-n 3 -N 2 --per 4 --order sequential a",
     "--map-by=slot --mppr=2:n --per=4 --order=sequential --ntasks=3 a"},
    {"mpirun.openmpi", "-hostfile plain -host a -n 1 a", "--hosts=a --ntasks=1 --oversubscribe a"},

    /* programs */
    {"mpiexec", "-n 1 here", "--ntasks=1 --oversubscribe ./here"},
    {"mpirun.openmpi", "-n 1 here x", "--ntasks=1 --oversubscribe ./here x"},
    {"mpiexec.hydra", "-n 1 here", "--ntasks=1 --oversubscribe here"},
    {"mpiexec", "-genvnone -n 1 here", "--env-remove=* --env=PATH --ntasks=1 --oversubscribe here"},
    {"mpiexec", "-n 1 unfit", "--ntasks=1 --oversubscribe unfit"},
    {"mpiexec", "-n 1 sh", "--ntasks=1 --oversubscribe sh"},
    {"mpiexec", "-x PATH=/nowhere -n 1 sh", "--env=PATH=/nowhere --ntasks=1 --oversubscribe ./sh"},
    {"mpiexec", "-n 1 -wdir / here", "--chdir=/ --ntasks=1 --oversubscribe here"},
};

static void check_dialects(const struct dialect_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct error err = ERROR_INIT;
        char have[2048], **words = translate_as(cases[i].name, cases[i].foreign, &err);
        if (!words != !cases[i].native)
            fail_msg("%s %s: %s", cases[i].name, cases[i].foreign, error_text(&err));
        if (words)
            join(have, sizeof(have), words);
        if (words && strcmp(have, cases[i].native) != 0)
            fail_msg("%s %s:\n  %s, not\n  %s", cases[i].name, cases[i].foreign, have,
                     cases[i].native);
        string_list_free(words);
        error_clear(&err);
    }
}

static void test_each_dialect_has_its_own_defaults(void **state)
{
    (void)state;
    char *directory = enter_directory();
    check_dialects(dialects, sizeof(dialects) / sizeof(dialects[0]));
    leave_directory(directory);
}

/* Where neither name, options nor program tell, who starts one task for each core is the launcher
 * that the user has without tprun. */
static void test_the_next_launcher_tells_how_many_are_started(void **state)
{
    static const struct dialect_case cases[] = {
        {"mpirun", "a", "--ntasks=all --oversubscribe a"},
        {"mpirun", "sh -c x", "--ntasks=all --oversubscribe sh -c x"},
        {"mpirun", "-hostfile slots a", "--hostfile=slots --ntasks=all --oversubscribe a"},
        {"mpirun", "-n 1 a", "--ntasks=1 --oversubscribe a"},
        {"mpirun", "a : b", "--oversubscribe a : --oversubscribe b"},
        {"mpirun", "-host a,b -n 4 a",
         "--hosts=a,b --taskmap=cyclic:2 --ntasks=4 --oversubscribe a"},
        {"mpiexec", "-host a,b -n 4 a",
         "--hosts=a,b --taskmap=cyclic:1 --ntasks=4 --oversubscribe a"},
        {"mpirun", "-genv A 1 a", "--env=A=1 --oversubscribe a"},
        {"mpirun", "here", "--ntasks=all --oversubscribe here"},
        {"mpiexec", "a", "--oversubscribe a"},
        {"mpirun.mpich", "a", "--oversubscribe a"},
    };
    (void)state;
    char *directory = enter_directory(), *search = mem_format("%s:%s", programs, directory);
    write_file("mpirun.openmpi", "");
    write_file("mpiexec.hydra", "");
    assert_int_equal(chmod("mpirun.openmpi", 0755) | chmod("mpiexec.hydra", 0755), 0);
    assert_int_equal(symlink("mpirun.openmpi", "mpirun"), 0);
    assert_int_equal(symlink("mpiexec.hydra", "mpiexec"), 0);
    setenv("PATH", search, 1);
    check_dialects(cases, sizeof(cases) / sizeof(cases[0]));
    setenv("PATH", programs, 1);
    static const char *const files[] = {"mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.hydra"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        unlink(files[i]);
    free(search);
    leave_directory(directory);
}

static void test_variables_that_a_login_sets_stay(void **state)
{
    static const struct dialect_case lists[] = {
        {"mpiexec", "-genvlist FOO,HOME a",
         "--env-remove=* --env=HOME --env=PATH --env=USER --env=FOO --env=HOME --oversubscribe a"},
        {"mpiexec", "-envnone a",
         "--env-remove=* --env=HOME --env=PATH --env=USER --oversubscribe a"},
    };
    (void)state;
    setenv("HOME", "/home/ann", 1);
    setenv("USER", "ann", 1);
    check_dialects(lists, sizeof(lists) / sizeof(lists[0]));
    unsetenv("HOME");
    unsetenv("USER");
}

/* The words of all cases with the one variable; what is given on the command line says more. */
static void test_variables_of_the_launchers_stand_for_options(void **state)
{
    static const struct {
        const char *variable, *value;
        struct dialect_case wanted;
    } cases[] = {
        {"HYDRA_HOST_FILE",
         "plain",
         {"mpiexec.hydra", "a",
          "--hostfile=plain --ntasks=3 --taskmap=cyclic:1 --oversubscribe a"}},
        {"HYDRA_HOST_FILE",
         "plain",
         {"mpiexec", "-n 2 a", "--hostfile=plain --ntasks=2 --oversubscribe a"}},
        {"HYDRA_HOST_FILE", "plain", {"mpirun.openmpi", "-n 2 a", "--ntasks=2 --oversubscribe a"}},
        {"HYDRA_HOST_FILE",
         "plain",
         {"mpiexec.hydra", "-hosts x -n 1 a", "--hosts=x --ntasks=1 --oversubscribe a"}},
        {"HYDRA_LAUNCHER_EXEC", "oarsh", {"mpiexec.hydra", "a", "--ssh=oarsh --oversubscribe a"}},
        {"HYDRA_BINDING",
         "socket",
         {"mpiexec.hydra", "a : -bind-to none b",
          "--bind-to=socket --map-by=socket --oversubscribe a : --bind-to=none --oversubscribe "
          "b"}},
        {"HYDRA_MAPPING", "numa", {"mpiexec.hydra", "a", "--map-by=numa --oversubscribe a"}},
        {"HYDRA_MAPPING", "numa", {"mpirun.openmpi", "-n 1 a", "--ntasks=1 --oversubscribe a"}},
        {"OMPI_MCA_orte_default_hostfile",
         "plain",
         {"mpirun.openmpi", "a", "--hostfile=plain --ntasks=all --oversubscribe a"}},
        {"OMPI_MCA_orte_default_hostfile",
         "none",
         {"mpirun.openmpi", "-n 1 a", "--ntasks=1 --oversubscribe a"}},
        {"OMPI_MCA_plm_rsh_agent",
         "ssh -q : rsh",
         {"mpirun.openmpi", "-n 1 a", "--ssh=ssh -q --ntasks=1 --oversubscribe a"}},
        {"OMPI_MCA_hwloc_base_binding_policy",
         "core",
         {"mpirun.openmpi", "-n 1 a : -bind-to none -n 1 b",
          "--bind-to=core --ntasks=1 --oversubscribe a : --bind-to=none --ntasks=1 "
          "--oversubscribe b"}},
        {"OMPI_MCA_hwloc_base_binding_policy",
         "core",
         {"mpiexec.hydra", "-n 1 a", "--ntasks=1 --oversubscribe a"}},
        {"PRTE_MCA_rmaps_default_mapping_policy",
         ":oversubscribe",
         {"mpirun", "-n 1 a", "--ntasks=1 --oversubscribe a"}},
        {"PRTE_MCA_hwloc_default_binding_policy",
         "none",
         {"prterun", "-n 1 a", "--bind-to=none --ntasks=1 --oversubscribe a"}},
        {"HYDRA_BINDING", "nonsense", {"mpiexec.hydra", "a", NULL}},
    };
    (void)state;
    char *directory = enter_directory();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        setenv(cases[i].variable, cases[i].value, 1);
        check_dialects(&cases[i].wanted, 1);
        unsetenv(cases[i].variable);
    }
    leave_directory(directory);
}

static void test_a_batch_job_says_how_many_tasks_are_started(void **state)
{
    static const struct dialect_case alike[] = {
        {"mpiexec", "a", "--ntasks=4 --taskmap=cyclic:2 --oversubscribe a"},
        {"mpirun.openmpi", "-n 3 a", "--taskmap=cyclic:2 --ntasks=3 --oversubscribe a"},
        {"mpiexec.hydra", "-ppn 1 a", "--per=1:node --order=sequential --oversubscribe a"},
        {"mpiexec", "-host n1 a", "--hosts=n1 --ntasks=1 --oversubscribe a"},
        {"mpiexec", "--exclude n1 a", "--exclude=n1 --ntasks=all --oversubscribe a"},
    };
    static const struct dialect_case mixed[] = {
        {"mpiexec.hydra", "a", "--ntasks=3 --taskmap=[[0,1,2,1],[1,1,1,1]] --oversubscribe a"},
        {"mpiexec.hydra", "-n 5 a",
         "--taskmap=[[0,1,2,1],[1,1,1,1],[0,1,2,1]] --ntasks=5 --oversubscribe a"},
    };
    static const struct dialect_case others[] = {
        {"mpiexec", "a", "--ntasks=all --oversubscribe a"},
        {"mpiexec.hydra", "a", "--ntasks=all --oversubscribe a"},
        {"mpiexec", "-n 2 a", "--ntasks=2 --oversubscribe a"},
    };
    (void)state;
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
    setenv("SLURM_TASKS_PER_NODE", "2(x2)", 1);
    check_dialects(alike, sizeof(alike) / sizeof(alike[0]));
    setenv("SLURM_TASKS_PER_NODE", "2,1", 1);
    check_dialects(mixed, sizeof(mixed) / sizeof(mixed[0]));
    unsetenv("SLURM_TASKS_PER_NODE");
    check_dialects(others, sizeof(others) / sizeof(others[0]));
    unsetenv("SLURM_JOB_NODELIST");
    unsetenv("SLURM_JOB_ID");
    setenv("PBS_JOBID", "7", 1);
    check_dialects(others, sizeof(others) / sizeof(others[0]));
    unsetenv("PBS_JOBID");
}

/* ---- what becomes of the spec ---- */

static void test_cores_are_shared_and_bound_only_where_asked(void **state)
{
    static const struct {
        const char *foreign, *binds[3]; /* of each part */
    } cases[] = {
        {"-n 2 a", {"none"}},
        {"-n 2 -bind-to core a", {"core"}},
        {"-n 2 -map-by socket a", {NULL}},
        {"-n 2 -map-by slot a", {"none"}},
        {"-n 2 --map-by slot:PE=2 a", {NULL}},
        {"-N 2 a", {"none"}},
        {"--npersocket 2 a", {NULL}},
        {"-hosts a,b -n 1 a : -n 1 b", {"none", NULL}},
        {"-n 1 a : -n 1 --map-by numa b : -ppn 1 c", {"none", NULL, "none"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct spec *spec = spec_new();
        char **words = translate(cases[i].foreign, &err);
        int count = 0;
        while (words[count])
            count++;
        assert_int_equal(options_parse(count, words, spec, &err), OPTIONS_RUN);
        mpiexec_adapt(spec);
        assert_true(spec->overlap);
        for (size_t part = 0; part < spec->nparts; part++)
            if (cases[i].binds[part])
                assert_string_equal(spec->parts[part].bind, cases[i].binds[part]);
            else if (spec->parts[part].bind)
                fail_msg("%s: part %zu is bound to %s", cases[i].foreign, part,
                         spec->parts[part].bind);
        spec_free(spec);
        string_list_free(words);
    }
}

static void test_parameters_of_another_launcher_are_named(void **state)
{
    static const struct {
        const char *foreign, *names;
    } cases[] = {
        {"--mca btl self -mca rmaps_x 1 --mca orte_default_hostfile h a : -gmca plm_y 2 b",
         "rmaps_x, plm_y"},
        {"--mca btl self a -mca rmaps_x 1", NULL},
        {"-- -a -mca rmaps_x 1", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        char **words = translate(cases[i].foreign, &err);
        char *sentence = mpiexec_ignored(words);
        assert_int_equal(!sentence, !cases[i].names);
        if (sentence)
            assert_string_equal(strstr(sentence, "launcher: ") + strlen("launcher: "),
                                cases[i].names);
        free(sentence);
        string_list_free(words);
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
    {"\n# nothing\n", NULL, "is empty: expected a part in each line, such as \"-n 4 ./app\""},
    {"a\nb 'c\n", NULL, "line 2: the quote at 'c is not closed"},
    {"-configfile x", NULL, "a file cannot name another file"},
};

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
        string_list_free(words);
        error_clear(&err);
    }
    unlink(path);
}

/* The first dashes of a row's native words are an option that tprun has. */
static void test_every_row_names_options_that_tprun_has(void **state)
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
            if (mpiexec_find(at, len, row->dialect) != row)
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
    assert_non_null(mkdtemp(programs));
    setenv("PATH", programs, 1);
    char *shell = mem_format("%s/sh", programs);
    assert_int_equal(symlink("/bin/sh", shell), 0);
    free(shell);
    unsetenv("TPRUN_OPTIONS");
    unsetenv("MPIEXEC_TIMEOUT");
    static const char *const jobs[] = {
        "SLURM_JOB_ID", "SLURM_JOBID", "PBS_JOBID", "LSB_JOBID",     "FLUX_JOB_ID",
        "FLUX_URI",     "PE_HOSTFILE", "TPRUN_R",   "TPRUN_PROGRAM", "SLURM_TASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        unsetenv(jobs[i]);
    static const char *const login[] = {"HOME", "LOGNAME", "SHELL", "USER"};
    for (size_t i = 0; i < sizeof(login) / sizeof(login[0]); i++)
        unsetenv(login[i]);
    unsetenv("NOT_SET");
    setenv("FOO", "1", 1);
    return setenv("BAR", "2", 1);
}

static int remove_programs(void **state)
{
    char *shell = mem_format("%s/sh", programs);
    (void)state;
    unlink(shell);
    free(shell);
    return rmdir(programs);
}

static void test_a_spec_has_the_options_of_its_parts(void **state)
{
    char text[64];
    (void)state;
    char **words = translate("--spec f", NULL);
    join(text, sizeof(text), words);
    assert_string_equal(text, "--spec=f");
    string_list_free(words);
}

static void test_what_is_wrong_is_said_of_what_was_typed(void **state)
{
    static const struct {
        const char *name, *line, *said, *want;
    } cases[] = {
        {"mpirun", "--timeout x a", "--time-limit: \"x\" is", "--timeout: \"x\" is"},
        {"mpiexec.hydra", "-ppn 2 -map-by socket a", "--per \"2:node\" and --map-by: --per already",
         "-ppn 2 and -map-by: -ppn already"},
        {"mpirun", "-n 1 a : -wd=d b", "--chdir \"d\": none", "-wd=d: none"},
        {"mpirun", "-x A=B a", "leave out --env, or (--env)", "leave out -x, or (-x)"},
        {"mpirun", "-npernode 2 --per=1:node a", "--per: no", "--per: no"}, /* typed as well */
        {"mpirun", "a -timeout x", "--time-limit: no", "--time-limit: no"}, /* the program's */
        {"mpirun", "-wd d a", "--chdirs and x--chdir", "--chdirs and x--chdir"},
        {"mpirun", "-q a", "--display: no", "--display: no"},
        {"mpirun", "-wd", "--chdir \"", "-wd \""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        char text[1024], *words[64] = {NULL};
        split(cases[i].name, cases[i].line, text, words);
        error_usage(&err, "%s", cases[i].said);
        mpiexec_name_typed(words, &err);
        assert_string_equal(error_text(&err), cases[i].want);
        assert_int_equal(err.kind, ERROR_USAGE);
        error_clear(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign_words_become_native_ones),
        cmocka_unit_test(test_tprun_takes_the_native_words),
        cmocka_unit_test(test_an_option_without_an_equal_is_refused_with_what_to_write),
        cmocka_unit_test(test_each_dialect_has_its_own_defaults),
        cmocka_unit_test(test_the_next_launcher_tells_how_many_are_started),
        cmocka_unit_test(test_variables_that_a_login_sets_stay),
        cmocka_unit_test(test_variables_of_the_launchers_stand_for_options),
        cmocka_unit_test(test_a_batch_job_says_how_many_tasks_are_started),
        cmocka_unit_test(test_cores_are_shared_and_bound_only_where_asked),
        cmocka_unit_test(test_parameters_of_another_launcher_are_named),
        cmocka_unit_test(test_the_lines_of_a_file_are_parts),
        cmocka_unit_test(test_a_spec_has_the_options_of_its_parts),
        cmocka_unit_test(test_what_is_wrong_is_said_of_what_was_typed),
        cmocka_unit_test(test_every_row_names_options_that_tprun_has),
        cmocka_unit_test(test_no_name_stands_in_two_rows),
        cmocka_unit_test(test_help_is_80_columns_wide),
    };
    return cmocka_run_group_tests(tests, set_environment, remove_programs);
}
