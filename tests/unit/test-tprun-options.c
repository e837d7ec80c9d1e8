#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "launcher/cli/tprun_options.h"
#include "launcher/options/option.h"
#include "launcher/options/option_help.h"
#include "launcher/spec/spec_build.h"
#include "tests/unit/unit.h"

#define WORDS(...) ((const char *const[]){"tprun", __VA_ARGS__, NULL})

/* Every key of `want` is in `have` with that value; null: the key is not there. */
static void assert_holds(const json_t *have, const json_t *want, const char *where)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_object(want)) {
        json_object_foreach((json_t *)want, key, value)
        {
            const json_t *member = json_object_get(have, key);
            if (json_is_null(value) && member)
                fail_msg("%s: %s is there", where, key);
            if (!json_is_null(value) && !member)
                fail_msg("%s: %s is missing", where, key);
            if (member)
                assert_holds(member, value, where);
        }
    } else if (json_is_array(want)) {
        if (json_array_size(want) != json_array_size(have))
            fail_msg("%s: %zu elements, not %zu", where, json_array_size(have),
                     json_array_size(want));
        json_array_foreach(want, i, value) assert_holds(json_array_get(have, i), value, where);
    } else if (!json_equal(have, want)) {
        char *text = json_dumps(have, JSON_ENCODE_ANY);
        fail_msg("%s: got %s", where, text);
    }
}

static int count_words(const char *const *words)
{
    int count = 0;
    while (words[count])
        count++;
    return count;
}

static const char *joined(const char *const *words)
{
    static char text[1024];
    text[0] = '\0';
    for (; *words; words++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", *words);
    return text;
}

/* Parse; the spec as JSON where it succeeds, with the action; else NULL and the sentence. */
static json_t *parse(const char *const *words, int *action, struct error *err)
{
    struct spec *spec = spec_new();
    json_t *value = NULL;
    *action = options_parse(count_words(words), (char *const *)words, spec, err);
    if (*action >= 0)
        value = spec_to_json(spec);
    spec_free(spec);
    return value;
}

static void assert_parses(const char *const *words, const char *want_text)
{
    struct error err = ERROR_INIT;
    json_error_t where;
    int action;
    json_t *want = json_loads(want_text, 0, &where);
    if (!want)
        fail_msg("%s: %s", want_text, where.text);
    json_t *have = parse(words, &action, &err);
    if (!have)
        fail_msg("%s: %s", joined(words), error_text(&err));
    assert_holds(have, want, joined(words));
    json_decref(have);
    json_decref(want);
}

static void assert_refused(const char *const *words, const char *sentence)
{
    struct error err = ERROR_INIT;
    int action;
    json_t *have = parse(words, &action, &err);
    if (have)
        fail_msg("%s: is not refused", joined(words));
    assert_int_equal(err.kind, err.unreadable ? ERROR_REFUSED : ERROR_USAGE);
    if (strcmp(error_text(&err), sentence) != 0)
        fail_msg("%s:\n  %s, not\n  %s", joined(words), error_text(&err), sentence);
    error_clear(&err);
}

static int forget_environment(void **state)
{
    (void)state;
    setenv("TPRUN_CONFIG", "", 1);
    unsetenv("TPRUN_OPTIONS");
    unsetenv("TPRUN_R");
    unsetenv("MPIEXEC_TIMEOUT");
    setenv("FOO", "bar", 1);
    unsetenv("NOT_SET");
    return 0;
}

static const struct {
    const char *const *words;
    const char *spec;
} good[] = {
    {WORDS("a"), "{'version':1,'parts':[{'argv':['a'],'ntasks':null,'umask':null,'env':null}],"
                 "'input':'ranks','input_arg':'0','time_limit':'inf','kill_grace':'5s',"
                 "'start_timeout':'30s','node_timeout':'10s','on_failure':'kill','pmi':['auto'],"
                 "'bootstrap':'auto','ssh':'ssh','fanout':32,'display':[],'format':'text',"
                 "'nnodes':null,'label':null,'environment':null,'rlimits':null}"},
    {WORDS("-n", "4", "a", "-n", "5", "--hosts"),
     "{'parts':[{'argv':['a','-n','5','--hosts'],'ntasks':4}],'hosts':null}"},
    {WORDS("-n4", "a"), "{'parts':[{'ntasks':4}]}"},
    {WORDS("-np", "4", "a"), "{'parts':[{'ntasks':4}]}"},
    {WORDS("--np=4", "a"), "{'parts':[{'ntasks':4}]}"},
    {WORDS("--ntasks", "4", "a"), "{'parts':[{'ntasks':4}]}"},
    {WORDS("--ntasks=4194304", "a"), "{'parts':[{'ntasks':4194304}]}"},
    {WORDS("-n", "4", "-n", "2", "a"), "{'parts':[{'ntasks':2}]}"},
    {WORDS("-n", "all", "a"), "{'parts':[{'ntasks':null,'fill':true}]}"},
    {WORDS("-n", "4", "-n", "all", "a"), "{'parts':[{'ntasks':null,'fill':true}]}"},
    {WORDS("-n", "all", "-n4", "a"), "{'parts':[{'ntasks':4,'fill':null}]}"},
    {WORDS("-N", "3", "-c2", "a"), "{'nnodes':3,'parts':[{'cores_per_task':2}]}"},
    {WORDS("-g2", "--gpu-bind", "none", "a"), "{'parts':[{'gpus_per_task':2,'gpu_bind':'none'}]}"},
    {WORDS("--gpus-per-task=2", "a"), "{'parts':[{'gpus_per_task':2}]}"},
    {WORDS("--per", "8:node", "--gpu-bind=closest", "a", ":", "--per", "1:gpu", "b"),
     "{'parts':[{'per':'8:node','gpu_bind':'closest'},{'per':'1:gpu','gpu_bind':null}]}"},
    {WORDS("--tools", "a"), "{'tools':true}"},
    {WORDS("-i", "tools", "a"), "{'tools':true,'input':'tools'}"},
    {WORDS("--pty", "-i0", "a"), "{'pty':true,'input_arg':'0'}"},
    {WORDS("--pty", "-i", "./f", "a"), "{'pty':true,'input':'file'}"},
    {WORDS("-lu", "a"), "{'label':true,'unbuffered':true}"},
    {WORDS("-lun3", "a"), "{'label':true,'unbuffered':true,'parts':[{'ntasks':3}]}"},
    {WORDS("-vv", "--verbose", "a"), "{'verbose':3}"},
    {WORDS("--", "-a", "b"), "{'parts':[{'argv':['-a','b']}]}"},
    {WORDS("-n", "1", "a", "\\:", "\\\\:", "x:", ":", "-n2", "b"),
     "{'parts':[{'argv':['a',':','\\\\:','x:'],'ntasks':1},{'argv':['b'],'ntasks':2}]}"},
    {WORDS("--map-by", "numa", "--bind-to", "core", "--order", "s", "--mppr", "2:s", "-c", "2",
           "--oversubscribe", "-x", "A=1", "a", ":", "b"),
     "{'parts':[{'map':'numa','bind':'core','order':'s','mppr':'2:s','cores_per_task':2,"
     "'oversubscribe':true,'env':[{'set':'A','value':'1'}]},"
     "{'argv':['b'],'map':null,'bind':null,'order':null,'mppr':null,'cores_per_task':null,"
     "'oversubscribe':null,'env':null}]}"},
    {WORDS("--mem-bind", "local", "--no-omp", "a", ":", "--mem-bind=none", "b"),
     "{'parts':[{'mem_bind':'local','no_omp':true},{'mem_bind':null,'no_omp':null}]}"},
    {WORDS("--taskmap", "cyclic:2", "a", ":", "--taskmap=0-3;4-7", "b"),
     "{'parts':[{'taskmap':'cyclic:2'},{'taskmap':'0-3;4-7'}]}"},
    {WORDS("--rank-by", "slot", "a"), "{'parts':[{'order':'sequential'}]}"},
    {WORDS("--rank-by", "numa", "a"), "{'parts':[{'order':'natural'}]}"},
    {WORDS("-R", "-", "a"), "{'resources':'-'}"},
    {WORDS("--wait=90s", "--on", "R", "a"), "{'wait':'90s','on':'R'}"},
    {WORDS("--no-wait", "a"), "{'wait':'0s'}"},
    {WORDS("--no-wait", "--wait", "a"), "{'wait':'inf'}"},
    {WORDS("--hosts", "me@n[0-3]", "--exclude=n2", "--overlap", "a"),
     "{'hosts':'me@n[0-3]','exclude':'n2','overlap':true}"},
    {WORDS("--hostfile", "f", "a"), "{'hostfile':'f'}"},
    {WORDS("--requires", "ssd and not host:n7", "--shape", "slot/core=2", "a", ":",
           "--shape=slot=3/numa{x}", "-n2", "b"),
     "{'requires':'ssd and not host:n7','parts':[{'shape':'slot/core=2'},"
     "{'shape':'slot=3/numa{x}','ntasks':2}]}"},
    {WORDS("--dry-run", "--format=json", "-n", "64", "--map-by", "numa", "--topology",
           "n[0-1]=package:2 numa:4 core:4 pu:2", "--topology", "m=@x.xml"),
     "{'dry_run':true,'format':'json','parts':[{'argv':[],'ntasks':64,'map':'numa'}],"
     "'topologies':['n[0-1]=package:2 numa:4 core:4 pu:2','m=@x.xml']}"},
    {WORDS("--display", "map,bind", "a"), "{'display':['map','bind']}"},
    {WORDS("--display", "all", "a"), "{'display':['alloc','topo','map','bind']}"},
    {WORDS("-o", "out.%r", "-e", "err.%R", "a"), "{'output':'out.%r','error':'err.%R'}"},
    {WORDS("-o", "tags/%r", "a"), "{'output':'tags/%r'}"},
    {WORDS("-i", "0-3,7", "a"), "{'input':'ranks','input_arg':'0-3,7'}"},
    {WORDS("-i", "all", "a"), "{'input':'all'}"},
    {WORDS("-i", "none", "a"), "{'input':'none'}"},
    {WORDS("-i", "./0", "a"), "{'input':'file','input_arg':'./0'}"},
    {WORDS("-x", "FOO", "-x", "B=", "--env-remove", "OMP_*", "--env=C=d=e", "a"),
     "{'parts':[{'env':[{'set':'FOO','value':'bar'},{'set':'B','value':''},{'remove':'OMP_*'},"
     "{'set':'C','value':'d=e'}]}]}"},
    {WORDS("--chdir", "/tmp", "--umask", "27", "--rlimit", "core=unlimited", "--rlimit",
           "nofile=4K", "--rlimit", "nofile=100", "a"),
     "{'parts':[{'chdir':'/tmp','umask':'0027','rlimits':{'core':'unlimited','nofile':100}}]}"},
    {WORDS("--memory-alloc-kinds", "mpi:alloc_mem,cuda:device", "a"),
     "{'memory_kinds':'mpi:alloc_mem,cuda:device'}"},
    {WORDS("--pset", "left", "a", ":", "b", ":", "--pset=right.2", "c"),
     "{'parts':[{'pset':'left'},{},{'pset':'right.2'}]}"},
    {WORDS("--time-limit", "90m", "--kill-grace", "0", "--start-timeout", "inf", "--node-timeout",
           "500ms", "--on-failure=continue", "a"),
     "{'time_limit':'90m','kill_grace':'0s','start_timeout':'inf','node_timeout':'500ms',"
     "'on_failure':'continue'}"},
    {WORDS("--pmi", "none", "a"), "{'pmi':[]}"},
    {WORDS("--pmi", "pmi1", "a"), "{'pmi':['pmi1']}"},
    {WORDS("--pmi", "pmi2", "a"), "{'pmi':['pmi2']}"},
    {WORDS("--pmi", "pmi1,pmi2", "a"), "{'pmi':['pmi1','pmi2']}"},
    {WORDS("--pmi", "pmi1", "--pmi", "auto", "a"), "{'pmi':['auto']}"},
#ifdef HAVE_PMIX
    {WORDS("--pmi", "pmi1,pmix", "a"), "{'pmi':['pmi1','pmix']}"},
#endif
    {WORDS("--bootstrap", "lsf", "a"), "{'bootstrap':'lsf','parts':[{'argv':['a']}]}"},
    {WORDS("--bootstrap", "{agent}", "a"), "{'bootstrap':'{agent}','parts':[{'argv':['a']}]}"},
    {WORDS("--bootstrap", "lxc exec {host} -- {agent}", "--ssh", "ssh -p 22", "--fanout", "8",
           "--agent", "/opt/tpagent", "a"),
     "{'bootstrap':'lxc exec {host} -- {agent}','ssh':'ssh -p 22','fanout':8,"
     "'agent':'/opt/tpagent'}"},
    {WORDS("-disable-auto-cleanup", "a"), "{'on_failure':'continue','parts':[{'argv':['a']}]}"},
    {WORDS("--hosts=--odd", "a"), "{'hosts':'--odd'}"},
};

static const char *with_quotes(const char *text)
{
    static char quoted[2048];
    size_t i = 0;
    for (; text[i] && i < sizeof(quoted) - 1; i++)
        quoted[i] = text[i] == '\'' ? '"' : text[i];
    quoted[i] = '\0';
    return quoted;
}

static void test_a_command_line_becomes_a_spec(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_parses(good[i].words, with_quotes(good[i].spec));
}

#define NO_PROGRAM "no program to run: write it after the options, as in \"tprun -n 4 ./app\""

#define TAKEN " (libexec/tprun/mpiexec takes it as it is)"

static const struct {
    const char *const *words;
    const char *sentence;
} bad[] = {
    {(const char *const[]){"tprun", NULL}, NO_PROGRAM},
    {WORDS("-n", "3"), NO_PROGRAM},
    {WORDS("--print-spec"), NO_PROGRAM},
    {WORDS("--check", "a", "b"), "--check: checks a and runs nothing: leave out b"},
    {WORDS("--check", "a", "--check", "b"), "--check: checks b and runs nothing: leave out a"},
    {WORDS("--check="), "--check needs a value: --check PROGRAM, not an empty text"},
    {WORDS("-n", "3", "--"), NO_PROGRAM},
    {WORDS(""), "no program to run: its name is empty"},
    {WORDS("--pty", "-i", "all", "a"),
     "--pty: --input all: with a terminal on rank 0 that rank reads, and no other: leave out "
     "--input, or name a file"},
    {WORDS("--pty", "-i", "0-1", "a"),
     "--pty: --input 0-1: with a terminal on rank 0 that rank reads, and no other: leave out "
     "--input, or name a file"},
    {WORDS("a", ":", "--pty", "b"),
     "--pty is of the whole program: write it before the first program, not after a \":\""},
    {WORDS("a", ":"), "no program to run in part 2: write one on each side of a \":\""},
    {WORDS(":", "a"), "no program to run in part 1: write one on each side of a \":\""},
    {WORDS("-n"), "-n needs a value: -n N"},
    {WORDS("-n", ":", "b"), "-n needs a value: -n N"},
    {WORDS("--hosts=", "b"), "--hosts needs a value: --hosts HOSTLIST, not an empty text"},
    {WORDS("--hosts", "--map-by", "b"),
     "--hosts needs a value, but --map-by follows: write --hosts=--map-by if that is meant"},
    {WORDS("-n", "0", "a"), "-n: \"0\" is not a number from 1 to 16777216"},
    {WORDS("-n", "-1", "a"), "-n: \"-1\" is not a number from 1 to 16777216"},
    {WORDS("-n", "+1", "a"), "-n: \"+1\" is not a number from 1 to 16777216"},
    {WORDS("-np", "4x", "a"), "-np: \"4x\" is not a number from 1 to 16777216"},
    {WORDS("-n", " 4", "a"), "-n: \" 4\" is not a number from 1 to 16777216"},
    {WORDS("-n16777217", "a"), "-n: \"16777217\" is not a number from 1 to 16777216"},
    {WORDS("--nodes=18446744073709551617", "a"),
     "--nodes: \"18446744073709551617\" is not a number from 1 to 16777216"},
    {WORDS("-n", "4194305", "a"),
     "-n: 4194305 tasks are more than the 4194304 that one program may have"},
    {WORDS("-n", "4194304", "a", ":", "-n1", "b"),
     "-n: 4194305 tasks are more than the 4194304 that one program may have"},
    {WORDS("--rankfile", "/nonexistent/f", "a"),
     "--rankfile: /nonexistent/f: cannot be opened: No such file or directory"},
    {WORDS("--taskmap", "block", "--rank-by", "slot", "a"),
     "--taskmap says how ranks are numbered: leave out --order (or --rank-by)"},
    {WORDS("-hosts", "x", "a"), "-hosts: write --hosts"},
    {WORDS("-oversubscribe", "a"), "-oversubscribe: write --oversubscribe"},
    {WORDS("-version"), "-version: write --version"},
    {WORDS("-ppn", "2", "a"), "-ppn: write --per 2:node --order sequential" TAKEN},
    {WORDS("--ntasks-per-node=4", "a"), "--ntasks-per-node: write --per 4:node --order sequential"},
    {WORDS("--ntasks-per-node", "4", "a"),
     "--ntasks-per-node: write --per 4:node --order sequential"},
    {WORDS("--ntasks-per-node", "a"), "--ntasks-per-node: write --per N:node --order sequential"},
    {WORDS("--ntasks-per-node"), "--ntasks-per-node: write --per N:node --order sequential"},
    {WORDS("-npersocket", "2", "a"), "-npersocket: write --per 2:socket --order sequential" TAKEN},
    {WORDS("--map-by", "ppr:2:socket", "a"),
     "--map-by \"ppr:2:socket\": unknown word; write --per 2:socket --order sequential" TAKEN
     "\n  ppr:2:socket\n  ^"},
    {WORDS("--map-by", "ppr:1:numa:pe=4", "a"),
     "--map-by \"ppr:1:numa:pe=4\": unknown word; write --per 1:numa --order sequential -c 4" TAKEN
     "\n  ppr:1:numa:pe=4\n  ^"},
    {WORDS("--map-by", "ppr:2", "a"),
     "--map-by \"ppr:2\": unknown word; write --per N:LEVEL, such as --per 2:socket" TAKEN
     "\n  ppr:2\n  ^"},
    {WORDS("--map-by", "core:PE=2", "a"),
     "--map-by \"core:PE=2\": unknown word; write --map-by core -c 2" TAKEN "\n  core:PE=2\n  ^"},
    {WORDS("-genv", "A", "b", "a"), "-genv: write --env=A=b" TAKEN},
    {WORDS("-env", "A", "b", "a"), "-env: write -x A=b" TAKEN},
    {WORDS("--mca", "btl", "tcp", "a"), "--mca: write -x OMPI_MCA_btl=tcp" TAKEN},
    {WORDS("--mca"), "--mca: write -x OMPI_MCA_NAME=VALUE" TAKEN},
    {WORDS("--pmixmca", "x", "1", "a"),
     "--pmixmca: write -x PMIX_MCA_x=1 (libexec/tprun/mpiexec takes it as it is)"},
    {WORDS("--host", "x", "a"), "--host: write --hosts x" TAKEN},
    {WORDS("-H", "x:2,y", "a"),
     "-H: write --hostfile FILE, with a line such as node0:2 for each host" TAKEN},
    {WORDS("-f", "x", "a"), "-f: write --hostfile x" TAKEN},
    {WORDS("--mpi=pmix", "a"), "--mpi \"pmix\": write --pmi pmix"},
    {WORDS("--mpi=list", "a"), "--mpi \"list\": write --check PROGRAM"},
    {WORDS("--mpi=a:b", "a"), "--mpi: \"a:b\" is not the name of an MPI, such as mpich or openmpi, "
                              "or an absolute path"},
    {WORDS("--mpi=mpich", "a", ":", "--mpi=openmpi", "b"),
     "--mpi is of the whole program: write it before the first program, not after a \":\" (tasks "
     "of "
     "one program use one MPI)"},
    {WORDS("--mem=4G", "a"), "--mem: leave it out: tprun shares out no memory; --rlimit as=SIZE "
                             "limits each task's"},
    {WORDS("-J", "name", "a"), "-J: leave it out: programs have no names here"},
    {WORDS("--job-name=x", "a"), "--job-name: leave it out: programs have no names here"},
    {WORDS("--allow-run-as-root", "a"), "--allow-run-as-root: leave it out: root may run programs"},
    {WORDS("--export=ALL", "a"), "--export: leave it out: tasks get the caller's environment"},
    {WORDS("--export=NONE", "a"), "--export: write --env-remove '*'"},
    {WORDS("--smt", "a"), "--smt: write --map-by hwthread, for a task on each hardware thread"},
    {WORDS("--hint=nomultithread", "a"), "--hint: write --map-by core, for a task on each core"},
    {WORDS("--cpu-bind=verbose,cores", "a"), "--cpu-bind: write --bind-to core"},
    {WORDS("--cpu-bind", "map_cpu:0,1", "a"),
     "--cpu-bind: write --rankfile FILE, with the processors of each rank"},
    {WORDS("--display-map", "a"), "--display-map: write --display=map" TAKEN},
    {WORDS("-iface", "eth0", "a"), "-iface: leave it out: it has no meaning here"},
    {WORDS("-t", "5", "a"), "-t: write --time-limit FSD, such as 90s, 10m or 1.5h"},
    {WORDS("--time=3", "a"), "--time: write --time-limit FSD, such as 90s, 10m or 1.5h"},
    {WORDS("-cc", "depth", "a"), "-cc: write -c N, for N cores to which each task is bound"},
    {WORDS("-cc", "0,1:2,3", "a"), "-cc: write --rankfile FILE, with the processors of each rank"},
    {WORDS("-d", "2", "a"), "-d: write -c 2 (or ./2 for a program of that name)"},
    {WORDS("-d", "packed", "a"),
     "-d: leave it out: ranks that follow each other are close (or ./packed for a program of that "
     "name)"},
    {WORDS("-d", "afterok:17", "a"),
     "-d: write --after ID:ok, with the id of a program of tprun (or ./afterok:17 for a program of "
     "that name)"},
    {WORDS("--dependency=afterany:17", "a"),
     "--dependency: write --after ID, with the id of a program of tprun"},
    {WORDS("-j2", "a"), "-j: write --map-by hwthread, for a task on each hardware thread"},
    {WORDS("-S", "2", "a"), "-S: write --per 2:numa --order sequential"},
    {WORDS("-ss", "a"), "-ss: write --mem-bind local"},
    {WORDS("-E", "A=1", "a"), "-E: write -x A=1"},
    {WORDS("-E", "nid1", "a"), "-E: write --exclude nid1"},
    {WORDS("-a1", "a"), "-a: leave it out: -n counts tasks, and -c and -g say what each has"},
    {WORDS("-bpacked:4", "a"), "-b: write -c N, for N cores to which each task is bound"},
    {WORDS("-b", "rs", "a"),
     "-b: write --per N:LEVEL, for N tasks that share an object of that level"},
    {WORDS("-machinfile", "x", "a"), "unknown option -machinfile"},
    {WORDS("-K1", "a"), "-K: leave it out: it is so by default"},
    {WORDS("--erf_input", "f", "a"),
     "--erf_input: write --rankfile FILE, with the processors of each rank"},
    {WORDS("--cwd=/x", "a"), "--cwd: write --chdir /x"},
    {WORDS("--exact", "a"), "--exact: leave it out: a run claims only what it uses"},
    {WORDS("--queue=q", "a"), "--queue: leave it out: it belongs to the batch job"},
    {WORDS("-o", "cpu-affinity=off", "a"),
     "-o \"cpu-affinity=off\": write --bind-to none; ./ in front makes it a file's name"},
    {WORDS("--output=tag", "a"),
     "--output \"tag\": write --label-io; ./ in front makes it a file's name"},
    {WORDS("--output=tag,timestamp", "a"),
     "--output \"tag,timestamp\": write --label-io; ./ in front makes it a file's name"},
    {WORDS("-e", "A=1", "a"),
     "-e \"A=1\": write -x NAME=VALUE; ./ in front makes it a file's name"},
    {WORDS("-eA=1", "a"), "-e \"A=1\": write -x NAME=VALUE; ./ in front makes it a file's name"},
    {WORDS("--env=-A*", "a"), "--env \"-A*\": write --env-remove GLOB"},
    {WORDS("--gpu-bind=single:1", "a"),
     "--gpu-bind \"single:1\": write --per N:gpu, for N tasks on each GPU"},
    {WORDS("--map-by", "slot:OVERSUBSCRIBE", "a"),
     "--map-by \"slot:OVERSUBSCRIBE\": write the word before the colon, and --oversubscribe"},
    {WORDS("-x", "node3", "a"),
     "-x: node3 is not set: write node3=VALUE, or --exclude node3 to leave out a node"},
    {WORDS("-bind-to", "core", "a"), "-bind-to: write --bind-to"},
    {WORDS("-x", "node[1-2]", "a"),
     "-x: \"node[1-2]\" is not a variable; to leave out nodes write --exclude"},
    {WORDS("-x", "NO,SUCH", "a"), "-x: \"NO,SUCH\" is not one variable: write -x for each"},
    {WORDS("--hosts", "node0:2", "a"),
     "--hosts: \"node0:2\": a count belongs in a hostfile (--hostfile FILE, with a line such as "
     "node0:2), a port in ssh's configuration"},
    {WORDS("--hosts", "a,me@b:22,c", "a"),
     "--hosts: \"me@b:22\": a count belongs in a hostfile (--hostfile FILE, with a line such as "
     "node0:2), a port in ssh's configuration"},
    {WORDS("--hosts", "::1,me@fe80::1%eth0,a:4:8", "a"),
     "--hosts: \"a:4:8\": a count belongs in a hostfile (--hostfile FILE, with a line such as "
     "node0:2), a port in ssh's configuration"},
    {WORDS("--help", "bogus"),
     "--help: unknown topic \"bogus\" (expected layout, mpiexec or options)"},
    {WORDS("--help=bogus"),
     "--help: unknown topic \"bogus\" (expected layout, mpiexec or options)"},
    {WORDS("--map-bye", "x", "a"), "unknown option --map-bye: the nearest is --map-by"},
    {WORDS("--oversubcribe", "a"), "unknown option --oversubcribe: the nearest is --oversubscribe"},
    {WORDS("--time-limt=3", "a"), "unknown option --time-limt: the nearest is --time-limit"},
    {WORDS("--quux", "a"), "unknown option --quux"},
    {WORDS("--foo", "a"), "unknown option --foo"},
    {WORDS("-lz", "a"), "-lz: unknown option -z"},
    {WORDS("-hostz", "a"), "unknown option -hostz: the nearest is --hosts"},
    {WORDS("--label-io=yes", "a"), "--label-io takes no value: write it without =yes"},
    {WORDS("a", ":", "--hosts", "x", "b"),
     "--hosts is of the whole program: write it before the first program, not after a \":\""},
    {WORDS("a", ":", "-l", "b"),
     "-l is of the whole program: write it before the first program, not after a \":\""},
    {WORDS("-g", "0", "a"), "-g: \"0\" is not a number from 1 to 16777216"},
    {WORDS("-g", "1025", "a"), "-g 1025: no node has more than 1024 GPUs"},
    {WORDS("--per", "numa", "a"),
     "--per \"numa\": expected N:LEVEL, such as 2:numa, with N from 1 to 65536 and LEVEL "
     "hwthread, core, l1cache, l2cache, l3cache, numa, socket, package, board, node or gpu"},
    {WORDS("--per", "1:gpu", "--map-by", "core", "a"),
     "--per \"1:gpu\" and --map-by: --per already says how tasks are mapped and limited; leave one "
     "of them out"},
    {WORDS("--gpu-bind", "near", "a"),
     "--gpu-bind: unknown value \"near\" (expected per-task, closest or none)"},
    {WORDS("-d", "--dry-run", "a"), "--detach: --dry-run starts nothing that could go on"},
    {WORDS("--wait=x", "a"),
     "--wait: \"x\" is not a duration (expected a number with ms, s, m, h or d, or inf)"},
    {WORDS("--wait=", "a"), "--wait needs a value: --wait FSD, not an empty text"},
    {WORDS("--no-wait=1", "a"), "--no-wait takes no value: write it without =1"},
    {WORDS("--dry-run", "--topology", "n=core:2", "--on", "R", "a"),
     "--topology tells of nodes that need not exist: leave out --on, whose resources have to"},
    {WORDS("--hosts", "x", "-R", "y", "a"),
     "--hosts and -R both say which nodes to use: give one of them"},
    {WORDS("--rank-by", "foo", "a"),
     "--rank-by: unknown value \"foo\" (expected slot, hwthread, core, l1cache, "
     "l2cache, l3cache, numa, socket, package, board or node)"},
    {WORDS("--display", "map,,bind", "a"),
     "--display: unknown value \"\" (expected alloc, topo, map, bind or all)"},
    {WORDS("--format", "xml", "a"), "--format: unknown value \"xml\" (expected text or json)"},
    {WORDS("--topology", "n=core:2", "a"),
     "--topology is for --dry-run: nodes that need not exist run nothing"},
    {WORDS("--dry-run", "--topology", "n=core:2", "--hosts", "n"),
     "--topology names the nodes itself: leave --hosts out"},
    {WORDS("--dry-run", "--topology", "n"),
     "--topology: \"n\" is not HOSTLIST=DESCRIPTION or HOSTLIST=@FILE.xml, such as "
     "\"n[0-1]=package:2 core:4 pu:2\""},
    {WORDS("-x", "NOT_SET", "a"), "-x: NOT_SET is not set: write NOT_SET=VALUE"},
    {WORDS("-x", "=1", "a"), "-x: \"=1\" has no name: write VAR or VAR=VALUE"},
    {WORDS("--env-remove", "A=b", "a"),
     "--env-remove: \"A=b\" contains '=': expected a pattern of names"},
    {WORDS("--umask", "8", "a"), "--umask: \"8\" is not an octal number from 0 to 0777"},
    {WORDS("--umask", "1000", "a"), "--umask: \"1000\" is not an octal number from 0 to 0777"},
    {WORDS("--memory-alloc-kinds", "a b", "a"),
     "--memory-alloc-kinds: \"a b\" is not a list of memory kinds (expected words separated by "
     "commas, "
     "without blanks, up to 1023 bytes, such as system,cuda:device)"},
    {WORDS("--memory-alloc-kinds", "a,,b", "a"),
     "--memory-alloc-kinds: \"a,,b\" is not a list of memory kinds (expected words separated by "
     "commas, "
     "without blanks, up to 1023 bytes, such as system,cuda:device)"},
    {WORDS("--memory-alloc-kinds", "a,", "a"),
     "--memory-alloc-kinds: \"a,\" is not a list of memory kinds (expected words separated by "
     "commas, "
     "without blanks, up to 1023 bytes, such as system,cuda:device)"},
    {WORDS("--memory-alloc-kinds", ",a", "a"),
     "--memory-alloc-kinds: \",a\" is not a list of memory kinds (expected words separated by "
     "commas, "
     "without blanks, up to 1023 bytes, such as system,cuda:device)"},
    {WORDS("--bootstrap", "x {host} {hosts}", "a"),
     "--bootstrap: \"x {host} {hosts}\" has {host}, for one host at a time, and {hosts} or "
     "{ranks}, for many: leave one of them out"},
    {WORDS("--bootstrap", "x {agent} {call}", "a"),
     "--bootstrap: \"x {agent} {call}\" has {call}, which needs {hosts} or {ranks} beside it"},
    {WORDS("--pset", "a,b", "a"), "--pset: \"a,b\" is not the name of a set (expected 1 to 255 "
                                  "bytes without blanks and commas)"},
    {WORDS("--pset=a b", "a"), "--pset: \"a b\" is not the name of a set (expected 1 to 255 bytes "
                               "without blanks and commas)"},
    {WORDS("--rlimit", "core", "a"),
     "--rlimit: expected NAME=SOFT, such as core=unlimited, got \"core\""},
    {WORDS("--rlimit", "core=99999999999999T", "a"),
     "--rlimit: \"99999999999999T\" is not a limit (expected a number, with K, M, G or T for "
     "powers of "
     "1024, or unlimited)"},
    {WORDS("--rlimit", "fd=3", "a"), "--rlimit: unknown value \"fd\" (expected as, core, cpu, "
                                     "data, fsize, locks, memlock, msgqueue, nice, "
                                     "nofile, nproc, rss, rtprio, rttime, sigpending or stack)"},
    {WORDS("--time-limit", "5x", "a"),
     "--time-limit: \"5x\" is not a duration (expected a number with ms, s, m, h or d, or inf)"},
    {WORDS("--signal", "USR1", "a"),
     "--signal: \"USR1\" is not SIGNAL@DURATION, such as USR1@60s for a minute before the limit"},
    {WORDS("--signal", "NONE@5s", "a"),
     "--signal: \"NONE@5s\": expected the name or number of a signal before the @"},
    {WORDS("--signal", "TERM@0", "a"),
     "--signal: \"0\" must be more than 0s and less than the limit"},
    {WORDS("--time-limit", "0", "a"),
     "--time-limit: \"0\" must be more than 0; write inf for no limit"},
    {WORDS("--mem-bind", "closest", "a"),
     "--mem-bind: unknown value \"closest\" (expected none or local)"},
    {WORDS("--on-failure", "stop", "a"),
     "--on-failure: unknown value \"stop\" (expected kill or continue)"},
#ifndef HAVE_PMIX
    {WORDS("--pmi", "pmix", "a"),
     "--pmi: this build has no PMIx (expected auto, pmi1, pmi2 or none)"},
    {WORDS("--pmi", "pmi1,pmix", "a"),
     "--pmi: this build has no PMIx (expected auto, pmi1, pmi2 or none)"},
#endif
    {WORDS("--pmi", "auto,pmi1", "a"), "--pmi: auto cannot stand beside other values"},
    {WORDS("--pmi", "auto,none", "a"),
     "--pmi: unknown value \"auto,none\" (expected auto, none, or a list of pmi1, pmi2 and pmix)"},
    {WORDS("--bootstrap", "rsh '{host}", "a"),
     "--bootstrap: \"rsh '{host}\": the quote at '{host} is not closed"},
    {WORDS("--bootstrap", "rsh host", "a"),
     "--bootstrap: unknown value \"rsh host\" (expected auto, local, ssh, slurm, pals, pbs, "
     "flux, lsf, sge or kubernetes, or a command template such as \"lxc exec {host} -- {agent}\")"},
    {WORDS("--spec", "/does/not/exist"),
     "--spec: cannot open /does/not/exist: No such file or directory"},
    {WORDS("--spec", "f", "a"), "--spec f says what to run: leave out a"},
    {WORDS("--spec", "f", "-n", "3"), "--spec f has the options of its parts: leave out -n"},
};

static void test_a_wrong_command_line_is_refused_in_one_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_refused(bad[i].words, bad[i].sentence);
}

static void assert_usage(const char *const *words, const char *begins)
{
    struct error err = ERROR_INIT;
    int action;
    assert_null(parse(words, &action, &err));
    assert_int_equal(err.kind, ERROR_USAGE);
    if (strncmp(error_text(&err), begins, strlen(begins)) != 0)
        fail_msg("%s: %s", joined(words), error_text(&err));
    error_clear(&err);
}

static void test_a_value_that_another_parser_refuses_is_named_with_its_option(void **state)
{
    (void)state;
    assert_usage(WORDS("--hosts", "a[1-", "p"), "--hosts: ");
    assert_usage(WORDS("--exclude", "a b", "p"), "--exclude: ");
    assert_usage(WORDS("--requires", "(ssd", "p"), "--requires: ");
    assert_usage(WORDS("--shape", "slot=0/core", "p"), "--shape: ");
    assert_usage(WORDS("--shape", "slot/node=2/core", "p"), "--shape: ");
    assert_usage(WORDS("--shape", "slot/core", "-c", "2", "p"), "--shape says");
    assert_usage(WORDS("-N", "2", "--shape", "slot/core", "p"), "-N 2: --shape says");
    assert_usage(WORDS("--shape", "slot/core", "p", ":", "p"),
                 "--shape says what part 1 gets, and part 2 has none");
    assert_usage(WORDS("p", ":", "--shape", "slot/core", "p"),
                 "--shape says what part 2 gets, and part 1 has none");
    assert_usage(
        WORDS("--shape", "slot/core", "p", ":", "--shape", "slot/core", "--bind-to", "none", "p"),
        "part 2: --bind-to beside --shape");
    assert_usage(WORDS("-i", "3-1", "p"), "-i: ");
    assert_usage(WORDS("--map-by", "nmua", "p"), "--map-by");
    assert_usage(WORDS("--bind-to", "0c", "p"), "--bind-to");
    assert_usage(WORDS("--order", "x", "p"), "--order");
    assert_usage(WORDS("--mppr", "1", "p"), "--mppr");
    assert_usage(WORDS("p", ":", "--map-by", "nmua", "p"), "part 2: --map-by");
}

static void test_every_option_that_is_not_offered_says_so(void **state)
{
    struct error err = ERROR_INIT;
    size_t count = 0;
    int action;
    (void)state;
    for (const struct option *option = option_table; option->name; option++) {
        char word[64];
        if (!(option->flags & OPTION_LATER))
            continue;
        snprintf(word, sizeof(word), "--%s", option->name);
        assert_null(parse(WORDS(word, "a"), &action, &err));
        assert_non_null(strstr(error_text(&err), "is not offered in this version"));
        error_clear(&err);
        count++;
    }
    assert_uint_in_range(count, 3, 40);
}

static void test_options_of_the_environment_come_first_and_reach_every_part(void **state)
{
    (void)state;
    setenv("TPRUN_OPTIONS", " --oversubscribe -n 3 --hosts 'x[1-2]'  -x \"A=b \\\"c\" -l ", 1);
    assert_parses(WORDS("a", ":", "-n2", "b"), "{\"hosts\":\"x[1-2]\",\"label\":true,\"parts\":["
                                               "{\"ntasks\":3,\"oversubscribe\":true,"
                                               "\"env\":[{\"set\":\"A\",\"value\":\"b \\\"c\"}]},"
                                               "{\"ntasks\":2,\"oversubscribe\":true}]}");
    assert_parses(WORDS("-R", "f", "a"), "{\"hosts\":null,\"resources\":\"f\"}");
    forget_environment(NULL);
}

static void test_bad_options_of_the_environment_are_refused_by_name(void **state)
{
    static const char *const cases[][2] = {
        {"-n x", "TPRUN_OPTIONS: -n: \"x\" is not a number from 1 to 16777216"},
        {"-n 3 a", "TPRUN_OPTIONS: \"a\" is not an option: programs stand on the command line"},
        {"-l :", "TPRUN_OPTIONS: \":\" is not an option: programs stand on the command line"},
        {"--help", "TPRUN_OPTIONS: --help belongs on the command line itself"},
        {"--spec x", "TPRUN_OPTIONS: --spec belongs on the command line itself"},
        {"-x 'A", "TPRUN_OPTIONS: the quote at 'A is not closed"},
        {"-l \\", "TPRUN_OPTIONS: a lone backslash stands at the end: write \\\\ for one"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        setenv("TPRUN_OPTIONS", cases[i][0], 1);
        assert_refused(WORDS("a"), cases[i][1]);
    }
    forget_environment(NULL);
}

static void test_mpiexec_timeout_is_a_time_limit_unless_one_is_given(void **state)
{
    (void)state;
    setenv("MPIEXEC_TIMEOUT", "600", 1);
    assert_parses(WORDS("a"), "{\"time_limit\":\"10m\"}");
    assert_parses(WORDS("--time-limit", "5s", "a"), "{\"time_limit\":\"5s\"}");
    assert_parses(WORDS("--time-limit", "inf", "a"), "{\"time_limit\":\"inf\"}");
    setenv("MPIEXEC_TIMEOUT", "", 1);
    assert_parses(WORDS("a"), "{\"time_limit\":\"inf\"}");
    setenv("MPIEXEC_TIMEOUT", "5m", 1);
    assert_refused(WORDS("a"), "MPIEXEC_TIMEOUT in the environment (seconds): \"5m\" is not a "
                               "number from 1 to 2147483647");
    forget_environment(NULL);
}

static int action_of(const char *const *words)
{
    struct error err = ERROR_INIT;
    int action;
    json_decref(parse(words, &action, &err));
    error_clear(&err);
    return action;
}

static void test_help_version_and_print_spec_are_returned_as_actions(void **state)
{
    (void)state;
    assert_int_equal(action_of(WORDS("--help")), OPTIONS_HELP);
    assert_int_equal(action_of(WORDS("-n", "2", "-h", "--nonsense")), OPTIONS_HELP);
    assert_int_equal(action_of(WORDS("--help", "layout")), OPTIONS_HELP_LAYOUT);
    assert_int_equal(action_of(WORDS("-h", "layout", "more")), OPTIONS_HELP_LAYOUT);
    assert_int_equal(action_of(WORDS("--help=layout", "--nonsense")), OPTIONS_HELP_LAYOUT);
    assert_int_equal(action_of(WORDS("--help", "options")), OPTIONS_HELP_LIST);
    assert_int_equal(action_of(WORDS("--help", "layouts")), -1);
    assert_int_equal(action_of(WORDS("--help", "-n")), OPTIONS_HELP);
    assert_int_equal(action_of(WORDS("--version", "layout")), OPTIONS_VERSION);
    assert_int_equal(action_of(WORDS("--version")), OPTIONS_VERSION);
    assert_int_equal(action_of(WORDS("--print-spec", "a")), OPTIONS_PRINT_SPEC);
    assert_int_equal(action_of(WORDS("--check", "a")), OPTIONS_CHECK);
    assert_int_equal(action_of(WORDS("--check", "a", "-n2", ":", "--check=b")), OPTIONS_CHECK);
    assert_int_equal(action_of(WORDS("a", "--check")), OPTIONS_RUN);
    assert_int_equal(action_of(WORDS("a", "--help")), OPTIONS_RUN);
    setenv("TPRUN_OPTIONS", "--nonsense", 1);
    assert_int_equal(action_of(WORDS("--help")), OPTIONS_HELP);
    forget_environment(NULL);
}

static void test_a_spec_file_runs_as_if_it_had_been_typed(void **state)
{
    char path[] = "/tmp/test-tprun-options.XXXXXX";
    int action, fd = mkstemp(path);
    struct error err = ERROR_INIT;
    (void)state;
    assert_true(fd >= 0);
    json_t *typed =
        parse(WORDS("-n3", "--hosts", "x", "--time-limit", "5s", "a", ":", "b"), &action, &err);
    assert_int_equal(json_dumpfd(typed, fd, 0), 0);
    setenv("TPRUN_OPTIONS", "-n 9 --label-io", 1);
    json_t *read = parse(WORDS("--spec", path), &action, &err);
    assert_true(json_equal(typed, read));
    assert_parses(WORDS("--spec", path, "--dry-run", "-R", "f"),
                  "{\"hosts\":null,\"resources\":\"f\",\"dry_run\":true,\"time_limit\":\"5s\"}");
    json_decref(typed);
    json_decref(read);
    remove(path);
    close(fd);
    forget_environment(NULL);
}

static void test_help_fits_a_screen_and_names_every_option(void **state)
{
    char *help = options_help();
    size_t lines = 0;
    (void)state;
    for (const struct option *option = option_table; option->name; option++) {
        char name[64];
        snprintf(name, sizeof(name), "-%s", option->name);
        if (!(option->flags & OPTION_LATER) && !strstr(help, name))
            fail_msg("%s is missing", name);
    }
    for (char *line = help; *line; line += strcspn(line, "\n") + 1, lines++)
        if (strcspn(line, "\n") > 80)
            fail_msg("too wide: %.100s", line);
    assert_uint_in_range(lines, 30, 56);
    free(help);
}

static void test_help_on_layout_fits_a_terminal_and_shows_no_option_that_is_not_there(void **state)
{
    char *help = options_help_layout();
    size_t lines = 0;
    (void)state;
    for (const char *at = help; (at = strstr(at, "--")); at += strcspn(at, " \n")) {
        size_t len = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
        const struct option *option = option_find(at + 2, len);
        if (!option || option->flags & OPTION_LATER)
            fail_msg("there is no %.*s", (int)len + 2, at);
    }
    for (char *line = help; *line; line += strcspn(line, "\n") + 1, lines++)
        assert_true(strcspn(line, "\n") <= 80);
    assert_uint_in_range(lines, 10, 24);
    free(help);
}

static void test_the_version_names_its_libraries(void **state)
{
    char *version = options_version();
    (void)state;
    assert_memory_equal(version, "tprun ", 6);
    assert_non_null(strstr(version, "hwloc 2."));
    assert_non_null(strstr(version, "jansson 2."));
    assert_non_null(strstr(version, "libev 4."));
    assert_non_null(
        strstr(version, spec_pmi_served & SPEC_PMI_X ? "; PMIx " : "built without PMIx"));
    free(version);
}

/* An option whose text is read as its parameter's row says has such a row. */
static void test_options_of_a_plain_member_have_a_row(void **state)
{
    size_t seen = 0;
    (void)state;
    for (const struct option *option = option_table; option->name; option++) {
        struct error err = ERROR_INIT;
        struct spec *spec = spec_new();
        struct spec_part *part = spec_add_part(spec);
        struct option_target target = {.spec = spec, .part = part};
        if (option->apply == option_set_member) {
            seen++;
            if (option->apply(option, "1", &target, &err) < 0)
                assert_null(strstr(error_text(&err), "is not read from text"));
        }
        error_clear(&err);
        spec_free(spec);
    }
    assert_true(seen > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_of_a_plain_member_have_a_row),
        cmocka_unit_test(test_a_command_line_becomes_a_spec),
        cmocka_unit_test(test_a_wrong_command_line_is_refused_in_one_sentence),
        cmocka_unit_test(test_a_value_that_another_parser_refuses_is_named_with_its_option),
        cmocka_unit_test(test_every_option_that_is_not_offered_says_so),
        cmocka_unit_test(test_options_of_the_environment_come_first_and_reach_every_part),
        cmocka_unit_test(test_bad_options_of_the_environment_are_refused_by_name),
        cmocka_unit_test(test_mpiexec_timeout_is_a_time_limit_unless_one_is_given),
        cmocka_unit_test(test_help_version_and_print_spec_are_returned_as_actions),
        cmocka_unit_test(test_a_spec_file_runs_as_if_it_had_been_typed),
        cmocka_unit_test(test_help_fits_a_screen_and_names_every_option),
        cmocka_unit_test(test_help_on_layout_fits_a_terminal_and_shows_no_option_that_is_not_there),
        cmocka_unit_test(test_the_version_names_its_libraries),
    };
    return cmocka_run_group_tests(tests, forget_environment, NULL);
}
