/* What a user may have meant by a name that is not an option here. */
#include <fnmatch.h>
#include <string.h>

#include "base/buf.h"
#include "base/edit_distance.h"
#include "launcher/mpiexec/mpiexec_table.h"
#include "launcher/cli/option_hints.h"

/* Options of mpirun, mpiexec, srun, flux, aprun and jsrun that users bring along, and what to write
 * here. Of those with values the first row that matches holds. */
#define HINT_MEMORY "tprun shares out no memory; --rlimit as=SIZE limits each task's"

/* clang-format off: a row an option */
static const struct option_hint {
    const char *names;     /* without dashes, blanks between */
    const char *arguments; /* names of its values, blanks between; NULL: none */
    const char *when;      /* a pattern of the first value; NULL: any */
    const char *write;     /* {} for a value; NULL: nothing, */
    const char *leave;     /* and why */
} option_hints[] = {
    {"H host hostlist nodelist w", "HOSTLIST", "*:[0-9]*",
     "--hostfile FILE, with a line such as node0:2 for each host"},
    {"H host hostlist nodelist w L node-list", "HOSTLIST", NULL, "--hosts {}"},
    {"F access-mode", "MODE", "exclusive", NULL, "two runs never share a core"},
    {"F access-mode", "MODE", "share", NULL, "a run claims only what it uses"},
    {"f F machinefile default-hostfile nodefile node-list-file", "FILE", NULL, "--hostfile {}"},
    {"E", "NAME=VALUE", "*=*", "-x {}"},
    {"E exclude-node-list", "HOSTLIST", NULL, "--exclude {}"},
    {"relative", "N", NULL, "--hosts HOSTLIST, with the nodes to use"},
    {"r", "N", NULL, "--mppr {}:n for tasks on a node, or --hosts for the nodes to use"},
    {"C constraint", "WHAT", NULL, "--requires {}"},
    {"ppn perhost npernode ntasks-per-node tasks-per-node rs_per_host pes-per-node", "N", NULL,
     "--per {}:node --order sequential"},
    {"pernode", NULL, NULL, "--per 1:node --order sequential"},
    {"npersocket", "N", NULL, "--per {}:socket --order sequential"},
    {"ntasks-per-socket rs_per_socket", "N", NULL, "--per {}:socket"},
    {"S setattr", "NAME=VALUE", "*=*", NULL, "attributes belong to a job of Flux"},
    {"S pes-per-numa-node", "N", NULL, "--per {}:numa --order sequential"},
    {"ntasks-per-core tasks-per-core", "N", NULL, "--per {}:core"},
    {"ppr", "N:LEVEL", NULL, "--per {} --order sequential"},
    {"ntasks-per-gpu tasks-per-gpu", "N", NULL, "--per {}:gpu"},
    {"nrs pes", "N", NULL, "-n {}"},
    {"a tasks_per_rs", "N", "1", NULL, "-n counts tasks, and -c and -g say what each has"},
    {"a tasks_per_rs", "N", NULL, "-n N for all tasks; -c and -g say what each of them has"},
    {"cores", "N", NULL, "-n N for the tasks, and -c N for the cores of each"},
    {"d depth cpus-per-pe", "N", "[0-9]*", "-c {}"},
    {"cpus-per-task cpus-per-proc cpus-per-rank cpu_per_rs depth", "N", NULL, "-c {}"},
    {"cpus-per-gpu", "N", NULL, "--per 1:gpu -c {}"},
    {"gpus-per-proc gpu_per_rs", "N", NULL, "-g {}"},
    {"gpus gpus-per-node gpus-per-socket gres G", "N", NULL,
     "-g N, the GPUs of each task, or --per 1:gpu"},
    {"threads-per-core j CPUs", "N", "1", "--map-by core"},
    {"threads-per-core smt j CPUs", "N", NULL,
     "--map-by hwthread, for a task on each hardware thread"},
    {"hint", "HINT", "multithread", "--map-by hwthread, for a task on each hardware thread"},
    {"hint", "HINT", "memory_bound", "--map-by socket"},
    {"hint", "HINT", NULL, "--map-by core, for a task on each core"},
    {"cpu-bind cpu_bind", "HOW", "*no", "--bind-to none"},
    {"cpu-bind cpu_bind", "HOW", "*none", "--bind-to none"},
    {"cpu-bind cpu_bind", "HOW", "*cores", "--bind-to core"},
    {"cpu-bind cpu_bind", "HOW", "*threads", "--bind-to hwthread"},
    {"cpu-bind cpu_bind", "HOW", "*sockets", "--bind-to socket"},
    {"cpu-bind cpu_bind", "HOW", "*ldoms", "--bind-to numa"},
    {"cpu-bind cpu_bind", "HOW", "*:*", "--rankfile FILE, with the processors of each rank"},
    {"cpu-bind cpu_bind", "HOW", NULL, "--bind-to WIDTH"},
    {"cc cpu-binding", "HOW", "none", "--bind-to none"},
    {"cc cpu-binding", "HOW", "cpu", "--bind-to core"},
    {"cc cpu-binding", "HOW", "depth", "-c N, for N cores to which each task is bound"},
    {"cc cpu-binding", "HOW", "numa_node", "--map-by numa"},
    {"cc cp cpu-binding cpu-binding-file sl sn numa-node-list numa-nodes-per-node", "HOW", NULL,
     "--rankfile FILE, with the processors of each rank"},
    {"cpu-set cpu-list erf_input U", "HOW", NULL,
     "--rankfile FILE, with the processors of each rank"},
    {"b bind", "HOW", "*packed:*", "-c N, for N cores to which each task is bound"},
    {"b bind", "HOW", "none", "--bind-to none"},
    {"b bind", "HOW", "rs", "--per N:LEVEL, for N tasks that share an object of that level"},
    {"bind", "HOW", NULL, "--bind-to WIDTH"},
    {"ss strict-memory-containment", NULL, NULL, "--mem-bind local"},
    {"latency_priority", NULL, NULL, NULL, "a task's GPUs and cores are always near each other"},
    {"bind-to-core", NULL, NULL, "--bind-to core"},
    {"bind-to-socket", NULL, NULL, "--bind-to socket"},
    {"bind-to-none", NULL, NULL, "--bind-to none"},
    {"launch_distribution d", "HOW", "packed", NULL, "ranks that follow each other are close"},
    {"launch_distribution d", "HOW", "cyclic", "--taskmap cyclic"},
    {"launch_distribution d", "HOW", "plane:*", "--taskmap cyclic:N"},
    {"m", "SIZE", "[0-9]*", NULL, HINT_MEMORY},
    {"distribution m", "HOW", "block*", "--taskmap block"},
    {"distribution m", "HOW", "cyclic*", "--taskmap cyclic"},
    {"distribution m", "HOW", "plane=*", "--taskmap cyclic:N"},
    {"distribution m", "HOW", NULL, "--map-by POLICY or --taskmap MAP"},
    {"byslot bycore", NULL, NULL, "--map-by core"},
    {"bysocket", NULL, NULL, "--map-by socket"},
    {"bynode", NULL, NULL, "--map-by node"},
    {"overcommit O", NULL, NULL, "--oversubscribe"},
    {"nooversubscribe no-oversubscribe", NULL, NULL, NULL, "it is so by default"},
    {"env", "NAME VALUE", NULL, "-x {}={}"},
    {"genvlist envlist", "NAMES", NULL, "--env-remove '*', and -x NAME for each variable"},
    {"genvall envall", NULL, NULL, NULL, "tasks get the caller's environment"},
    {"genvnone envnone", NULL, NULL, "--env-remove '*'"},
    {"export", "WHAT", "ALL", NULL, "tasks get the caller's environment"},
    {"export", "WHAT", "ALL,*", "-x NAME=VALUE for each variable"},
    {"export", "WHAT", "NONE", "--env-remove '*'"},
    {"export", "WHAT", NULL, "--env-remove '*', and -x NAME[=VALUE] for each variable"},
    {"mca gmca omca gomca", "NAME VALUE", NULL, "-x OMPI_MCA_{}={}"},
    {"tune am", "FILE", NULL, "-x OMPI_MCA_NAME=VALUE for each parameter in it"},
    {"smpiargs M", "ARGS", NULL, "-x OMPI_MCA_NAME=VALUE for each parameter"},
    {"environment-override", "NAME=VALUE", NULL, "-x {}"},
    {"x11", NULL, NULL, "-x DISPLAY, or nothing in a job of salloc --x11"},
    {"xterm", "RANKS", NULL, "xterm -e in front of the program's name, with -x DISPLAY"},
    {"pmixmca gpmixmca", "NAME VALUE", NULL, "-x PMIX_MCA_{}={}"},
    {"prtemca gprtemca", "NAME VALUE", NULL, NULL, "nothing of PRRTE runs here"},
    {"mem mem-per-cpu mem-per-gpu memory_per_rs memory-per-pe", "SIZE", NULL, NULL, HINT_MEMORY},
    {"wd wdir workdir cwd D", "DIR", NULL, "--chdir {}"},
    {"label prepend-rank tag-output", NULL, NULL, "--label-io"},
    {"outfile-pattern", "TEMPLATE", NULL, "--output TEMPLATE, such as out.%r"},
    {"output-filename", "DIR", NULL, "--output {}/%r --merge-io --make-dirs --tee"},
    {"errfile-pattern", "TEMPLATE", NULL, "--error TEMPLATE, such as err.%r"},
    {"stdio_stdout", "FILE", NULL, "--output {}"},
    {"stdio_stderr k", "FILE", NULL, "--error {}"},
    {"stdin stdio_input", "WHAT", NULL, "--input {}"},
    {"merge-stderr-to-stdout", NULL, NULL, "--merge-io"},
    {"timestamp-output", NULL, NULL, "--timestamp-io"},
    {"open-mode", "MODE", NULL, ">>FILE at the end of the line, in place of --output"},
    {"sync-output T", NULL, NULL, NULL, "output is written line by line"},
    {"t time", "TIME", NULL, "--time-limit FSD, such as 90s, 10m or 1.5h"},
    {"cpu-time-limit", "SECONDS", NULL, "--rlimit cpu={}"},
    {"test-only", NULL, NULL, "--dry-run"},
    {"W", "SECONDS", NULL, NULL, "a task that ends with 0 ends no others"},
    {"X exit_on_error", "N", "0", "--on-failure continue"},
    {"X exit_on_error", "N", "1", NULL, "it is so by default"},
    {"X disable-status quit-on-interrupt", NULL, NULL, NULL,
     "SIGINT goes to the tasks, and a second one within a second ends the program"},
    {"forward-signals", "SIGNALS", NULL, NULL, "signals reach every task"},
    {"continuous", NULL, NULL, "--on-failure continue"},
    {"disable-recovery noprefix", NULL, NULL, NULL, "it is so by default"},
    {"dvm no-daemonize leave-session-attached", NULL, NULL, NULL, "there is no daemon"},
    {"kill-on-bad-exit K", "0", "0", "--on-failure continue"},
    {"kill-on-bad-exit K", NULL, NULL, NULL, "it is so by default"},
    {"immediate I", NULL, NULL, "--no-wait to fail at once, or --detach to return at once"},
    {"dependency d", "TYPE:ID", "afterok:*", "--after ID:ok, with the id of a program of tprun"},
    {"dependency d", "TYPE:ID", "after*:*", "--after ID, with the id of a program of tprun"},
    {"launcher", "NAME", NULL, "--bootstrap NAME"},
    {"launch-agent", "PATH", NULL, "--agent {}"},
    {"configfile app multi-prog het-group", "FILE", NULL, "the parts here, with a : between them"},
    {"task-prolog task-epilog", "PROGRAM", NULL,
     "a script in place of the program, which starts it"},
    {"bcast", "FILE", NULL, "--stage PROGRAM"},
    {"add-file preload-files", "FILE", NULL, "--stage {}"},
    {"setopt", "NAME=VALUE", NULL, "--bind-to, --gpu-bind or another option of tprun"},
    {"jobid", "ID", NULL, NULL, "tprun uses the job that it is started in"},
    {"B batch-args", NULL, NULL, NULL, "the nodes are those of the job"},
    {"J job-name", "NAME", NULL, NULL, "programs have no names here"},
    {"allow-run-as-root", NULL, NULL, NULL, "root may run programs"},
    {"propagate", NULL, NULL, NULL, "tasks get the caller's soft limits"},
    {"exclusive", NULL, NULL, NULL, "two runs never share a core unless --overlap is given"},
    {"exact", NULL, NULL, NULL, "a run claims only what it uses"},
    {"A account p partition reservation qos queue bank urgency priority dependency begin "
     "begin-time licenses wckey comment mail-type mail-user deadline switches",
     "NAME", NULL, NULL, "it belongs to the batch job"},
    {"V", NULL, NULL, "--version"},
};

/* Values that tprun's own options have elsewhere, and that would silently mean something else here. */
static const struct value_hint {
    const char *option;
    const char *value; /* a pattern */
    const char *say;
} value_hints[] = {
    {"output", "cpu-affinity=off", "write --bind-to none"},
    {"output", "cpu-affinity=*", "write -c N, for N cores to which each task is bound"},
    {"output", "gpu-affinity=*", "write -g N, for N GPUs of each task"},
    {"output", "exit-timeout=*", "leave it out: a task that ends with 0 ends no others"},
    {"output", "pmi=*", "write --pmi LIST"},
    {"output", "mpi=*", "leave it out: the program's libraries are looked at"},
    {"mpi", "pmix*", "write --pmi pmix"},
    {"mpi", "pmi2", "write --pmi pmi2"},
    {"mpi", "pmi1", "write --pmi pmi1"},
    {"mpi", "none", "write --pmi none"},
    {"mpi", "list", "write --check PROGRAM"},
    {"mpi", "cray_shasta", "write --pmi LIST"},
    {"mpi", "openmpi_*", "write --pmi pmix"},
    {"output", "tag", "write --label-io"},
    {"output", "tag[,:]*", "write --label-io"},
    {"output", "tag-detailed", "write --label-io"},
    {"output", "tag-fullname", "write --label-io"},
    {"output", "dir=*", "write --output DIR/%r --make-dirs"},
    {"output", "file=*", "write --output NAME.%r"},
    {"error", "[A-Z]*=*", "write -x NAME=VALUE"},
    {"env", "-*", "write --env-remove GLOB"},
    {"env", "^*", "write -x NAME=VALUE for each line of the file"},
    {"map-by", "pe-list=*", "write --rankfile FILE, with the processors of each rank"},
    {"map-by", "*:oversubscribe", "write the word before the colon, and --oversubscribe"},
    {"map-by", "*:OVERSUBSCRIBE", "write the word before the colon, and --oversubscribe"},
    {"bind-to", "*:overload-allowed", "write the word before the colon, and --oversubscribe"},
    {"bind-to", "*:if-supported", "write the word before the colon"},
    {"rank-by", "fill", "write --order sequential"},
    {"rank-by", "span", "write --map-by LEVEL:span"},
    {"gpu-bind", "*single:*", "write --per N:gpu, for N tasks on each GPU"},
    {"gpu-bind", "*per_task:*", "write -g N, for N GPUs of each task"},
    {"gpu-bind", "*_gpu:*", "write -g N: the nearest N that are free"},
    {"taskmap", "hostfile:*", "write --rankfile FILE, with the node of each rank"},
};
/* clang-format on */

static const struct option_hint *hint_find(const char *name, size_t len, const char *value)
{
    for (size_t i = 0; i < sizeof(option_hints) / sizeof(option_hints[0]); i++) {
        const struct option_hint *hint = &option_hints[i];
        if (mpiexec_names_have(hint->names, name, len, false) &&
            (!hint->when || (value && fnmatch(hint->when, value, 0) == 0)))
            return hint;
    }
    return NULL;
}

char *option_elsewhere(const char *name, size_t len, const char *const values[2])
{
    struct buf out = BUF_INIT;
    const struct option_hint *hint = hint_find(name, len, values[0]);
    const struct mpiexec_option *taken = mpiexec_find(name, len, MPIEXEC_EITHER);
    if (!hint && (option_find(name, len) || (len == 1 && option_find_letter(*name))))
        return NULL;
    if (hint && !hint->write) {
        buf_printf(&out, "leave it out: %s", hint->leave);
        return buf_take_text(&out);
    }
    if (hint) {
        buf_add_text(&out, "write ");
        mpiexec_fill(&out, hint->write, hint->arguments, values);
    } else if (!taken) {
        return NULL;
    } else if (taken->place == MPIEXEC_IDLE) {
        buf_add_text(&out, "leave it out: it has no meaning here");
    } else {
        buf_add_text(&out, "write ");
        mpiexec_fill(&out, taken->native, taken->arguments, values);
    }
    /* One takes a value and the other does not: they only share a letter. */
    bool same = taken && (!hint || !hint->arguments == !mpiexec_takes_value(taken));
    if (same && taken->place != MPIEXEC_NONE && taken->place != MPIEXEC_IDLE)
        buf_add_text(&out, " (libexec/tprun/mpiexec takes it as it is)");
    return buf_take_text(&out);
}

char *option_misread(const struct option *option, const char *value)
{
    struct buf out = BUF_INIT;
    const struct value_hint *hint = NULL;
    for (size_t i = 0; !hint && i < sizeof(value_hints) / sizeof(value_hints[0]); i++)
        if (strcmp(value_hints[i].option, option->name) == 0 &&
            fnmatch(value_hints[i].value, value, 0) == 0)
            hint = &value_hints[i];
    if (!hint)
        return NULL;
    buf_add_text(&out, hint->say);
    if (strcmp(option->name, "output") == 0 || strcmp(option->name, "error") == 0)
        buf_add_text(&out, "; ./ in front makes it a file's name");
    return buf_take_text(&out);
}

const struct option *option_nearest(const char *name, size_t len)
{
    const struct option *nearest = NULL, *begun = NULL; /* the shortest that begins so */
    size_t least = edit_distance_bound(len);
    if (!len || len > EDIT_DISTANCE_MAX)
        return NULL;
    for (const struct option *option = option_table; option->name; option++) {
        size_t own = strlen(option->name);
        if (option->flags & OPTION_LATER)
            continue;
        if (len > 2 && own > len && memcmp(option->name, name, len) == 0 &&
            (!begun || own < strlen(begun->name)))
            begun = option;
        size_t distance = edit_distance_distance(name, len, option->name, own);
        if (distance < least) {
            nearest = option;
            least = distance;
        }
    }
    return begun ? begun : nearest;
}
