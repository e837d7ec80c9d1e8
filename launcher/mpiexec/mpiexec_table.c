/* The options of MPICH's mpiexec (hydra) and of Open MPI's, and what they are here. */
#include <string.h>
#include <strings.h>

#include "launcher/mpiexec/mpiexec_private.h"

#define MAX_SHOWN_VALUE 64 /* letters: longer values are not repeated */

/* clang-format off: a row an option */
#define BOTH MPIEXEC_EITHER
#define HYDRA MPIEXEC_HYDRA
#define OPENMPI MPIEXEC_OPENMPI
const struct mpiexec_option mpiexec_table[] = {
    {"n np", "N", BOTH, MPIEXEC_READ, "-n N", mpiexec_read_ntasks},
    {"c", "N", OPENMPI, MPIEXEC_READ, "-n N (not the cores of a task)", mpiexec_read_ntasks},
    {"ppn perhost", "N", HYDRA, MPIEXEC_READ, "--taskmap=cyclic:N; without -n --per=N:node",
     mpiexec_read_ppn},
    {"npernode N", "N", OPENMPI, MPIEXEC_READ, "--per=N:node --order=sequential",
     mpiexec_read_npernode},
    {"pernode", NULL, OPENMPI, MPIEXEC_READ, "--per=1:node --order=sequential",
     mpiexec_read_pernode},
    {"npersocket", "N", OPENMPI, MPIEXEC_READ, "--per=N:socket --order=sequential",
     mpiexec_read_npersocket},
    {"ppr", "N:LEVEL", OPENMPI, MPIEXEC_READ, "--per=N:LEVEL --order=sequential", mpiexec_read_ppr},
    {"host", "A:2,B", BOTH, MPIEXEC_READ, "--hosts=A,B, in rounds of these counts",
     mpiexec_read_hosts},
    {"H", "A:2,B", OPENMPI, MPIEXEC_READ, "--hosts=A,B, in rounds of these counts",
     mpiexec_read_hosts},
    {"hosts hostlist machine machines machinelist", "A:2,B", HYDRA, MPIEXEC_READ,
     "--hosts=A,B, in rounds of these counts", mpiexec_read_hosts},
    {"hostfile machinefile", "FILE", BOTH, MPIEXEC_READ, "--hostfile=FILE", mpiexec_read_hostfile},
    {"f", "FILE", HYDRA, MPIEXEC_READ, "--hostfile=FILE", mpiexec_read_hostfile},
    {"default-hostfile", "FILE", OPENMPI, MPIEXEC_READ, "--hostfile=FILE", mpiexec_read_hostfile},
    {"configfile", "FILE", HYDRA, MPIEXEC_READ, "a part in each line of the file"},
    {"app", "FILE", OPENMPI, MPIEXEC_READ, "a part in each line of the file"},

    {"bind-to", "WHAT", BOTH, MPIEXEC_READ, "--bind-to=WHAT; core:2 is -c 2", mpiexec_read_bind},
    {"binding", "WHAT", HYDRA, MPIEXEC_READ, "--bind-to=WHAT", mpiexec_read_bind},
    {"bindto", "WHAT", OPENMPI, MPIEXEC_READ, "--bind-to=WHAT", mpiexec_read_bind},
    {"bind-to-core", NULL, OPENMPI, MPIEXEC_PART, "--bind-to=core"},
    {"bind-to-socket", NULL, OPENMPI, MPIEXEC_PART, "--bind-to=socket"},
    {"map-by", "WHAT", BOTH, MPIEXEC_READ, "--map-by=WHAT; ppr:N:L is --per, PE=N is -c",
     mpiexec_read_map},
    {"mapby", "WHAT", OPENMPI, MPIEXEC_READ, "--map-by=WHAT", mpiexec_read_map},
    {"bynode", NULL, OPENMPI, MPIEXEC_READ, "--map-by=node", mpiexec_read_bynode},
    {"bycore", NULL, OPENMPI, MPIEXEC_READ, "--map-by=core", mpiexec_read_bycore},
    {"byslot", NULL, OPENMPI, MPIEXEC_READ, "--map-by=slot", mpiexec_read_byslot},
    {"use-hwthread-cpus", NULL, OPENMPI, MPIEXEC_READ,
     "--map-by=hwthread; with -map-by --bind-to=hwthread", mpiexec_read_hwthreads},
    {"rank-by rankby", "WORD", OPENMPI, MPIEXEC_READ, "--rank-by=slot (also fill) or node (span)",
     mpiexec_read_rank_by},
    {"rankmap", "0,0,1", HYDRA, MPIEXEC_READ, "--taskmap=[[NODE,NODES,RANKS,1],...]",
     mpiexec_read_rankmap},
    {"rankfile rf", "FILE", OPENMPI, MPIEXEC_READ, "--rankfile=FILE", mpiexec_read_rankfile},
    {"cpus-per-proc cpus-per-rank", "N", OPENMPI, MPIEXEC_PART, "--cores-per-task={}"},
    {"gpus-per-proc g", "N", HYDRA, MPIEXEC_PART, "--gpus-per-task={}"},
    {"membind", "WHAT", HYDRA, MPIEXEC_READ, "--mem-bind=local or none", mpiexec_read_membind},
    {"nooversubscribe", NULL, OPENMPI, MPIEXEC_READ, "no --oversubscribe, which is given otherwise",
     mpiexec_read_strict},
    {"report-bindings", NULL, BOTH, MPIEXEC_WHOLE, "--display=bind"},
    {"display-map display-devel-map display-diffable-map", NULL, OPENMPI, MPIEXEC_WHOLE,
     "--display=map"},
    {"display-allocation display-devel-allocation", NULL, OPENMPI, MPIEXEC_WHOLE,
     "--display=alloc"},
    {"display", "WHAT,...", OPENMPI, MPIEXEC_READ, "--display=alloc,map,bind or topo",
     mpiexec_read_display, .shared = true},
    {"do-not-launch", NULL, OPENMPI, MPIEXEC_WHOLE, "--dry-run"},

    {"genv", "NAME VALUE", HYDRA, MPIEXEC_EVERY, "--env={}={}"},
    {"genvlist", "A,B", HYDRA, MPIEXEC_READ, "--env-remove=* --env=A --env=B",
     mpiexec_read_genvlist},
    {"genvnone", NULL, HYDRA, MPIEXEC_READ, "--env-remove=*", mpiexec_read_genvnone},
    {"genvall", NULL, HYDRA, MPIEXEC_READ, "this is the default", mpiexec_read_genvall},
    {"env", "NAME VALUE", HYDRA, MPIEXEC_SET, "--env={}={} for one part"},
    {"envlist", "A,B", HYDRA, MPIEXEC_READ, "as -genvlist, for one part", mpiexec_read_envlist},
    {"envnone", NULL, HYDRA, MPIEXEC_READ, "as -genvnone, for one part", mpiexec_read_envnone},
    {"envall", NULL, HYDRA, MPIEXEC_READ, "as -genvall, for one part", mpiexec_read_envall},
    {"x set-env", "NAME[=VALUE]", OPENMPI, MPIEXEC_READ, "--env=NAME[=VALUE]",
     mpiexec_read_variable},
    {"unset-env", "NAME", OPENMPI, MPIEXEC_PART, "--env-remove={}"},
    {"prepend-env", "NAME VALUE", OPENMPI, MPIEXEC_READ, "--env=NAME=VALUE:$NAME",
     mpiexec_read_prepend},
    {"append-env", "NAME VALUE", OPENMPI, MPIEXEC_READ, "--env=NAME=$NAME:VALUE",
     mpiexec_read_append},
    {"memory-alloc-kinds", "LIST", BOTH, MPIEXEC_WHOLE, "--memory-alloc-kinds={}"},
    {"mca gmca omca gomca", "NAME VALUE", OPENMPI, MPIEXEC_READ, "--env=OMPI_MCA_NAME=VALUE",
     mpiexec_read_mca},
    {"pmixmca", "NAME VALUE", OPENMPI, MPIEXEC_EVERY, "--env=PMIX_MCA_{}={}"},
    {"tune am", "FILE,...", OPENMPI, MPIEXEC_READ,
     "--env=OMPI_MCA_NAME=VALUE for each line NAME = VALUE", mpiexec_read_tune},
    {"initial-errhandler", "NAME", OPENMPI, MPIEXEC_EVERY,
     "--env=OMPI_MCA_mpi_initial_errhandler={}"},
    {"display-comm", NULL, OPENMPI, MPIEXEC_EVERY, "--env=OMPI_MCA_ompi_display_comm=mpi_init"},
    {"display-comm-finalize", NULL, OPENMPI, MPIEXEC_EVERY,
     "--env=OMPI_MCA_ompi_display_comm=mpi_finalize"},
    {"prefix", "DIR", OPENMPI, MPIEXEC_READ, "DIR/bin before PATH, DIR/lib before LD_LIBRARY_PATH",
     mpiexec_read_prefix},
    {"wdir", "DIR", BOTH, MPIEXEC_PART, "--chdir={}"},
    {"wd", "DIR", OPENMPI, MPIEXEC_PART, "--chdir={}"},
    {"pset", "NAME", OPENMPI, MPIEXEC_PART, "--pset={}"},

    {"l prepend-rank", NULL, HYDRA, MPIEXEC_WHOLE, "--label-io"},
    {"tag-output", NULL, OPENMPI, MPIEXEC_WHOLE, "--label-io"},
    {"timestamp-output", NULL, OPENMPI, MPIEXEC_WHOLE, "--timestamp-io"},
    {"merge-stderr-to-stdout", NULL, OPENMPI, MPIEXEC_WHOLE, "--merge-io"},
    {"prepend-pattern", "TEXT", HYDRA, MPIEXEC_READ, "--label-io for \"%r: \" and the like",
     mpiexec_read_pattern},
    {"outfile-pattern outfile", "TEXT", HYDRA, MPIEXEC_READ, "--output=TEXT, with %n for %p",
     mpiexec_read_outfile},
    {"errfile-pattern errfile", "TEXT", HYDRA, MPIEXEC_READ, "--error=TEXT, with %n for %p",
     mpiexec_read_errfile},
    {"output-filename", "DIR", OPENMPI, MPIEXEC_READ,
     "--output=DIR/1/rank.%R/stdout --error=.../stderr --make-dirs --tee", mpiexec_read_filename},
    {"output-directory", "DIR", OPENMPI, MPIEXEC_READ,
     "--output=DIR/%p/rank.%R/stdout and the like", mpiexec_read_directory},
    {"output", "WHAT,...", OPENMPI, MPIEXEC_READ,
     "--label-io for tag, --timestamp-io, --merge-io, --output for dir=DIR and file=NAME, --tee "
     "without :nocopy, --unbuffered for :raw",
     mpiexec_read_output, .shared = true},
    {"stream-buffering", "MODE", OPENMPI, MPIEXEC_READ, "0 is --unbuffered",
     mpiexec_read_buffering},
    {"stdin", "WHAT", OPENMPI, MPIEXEC_WHOLE, "--input={}"},
    {"timeout", "SECONDS", OPENMPI, MPIEXEC_READ, "--time-limit=SECONDS; 0: no limit",
     mpiexec_read_timeout},
    {"spawn-timeout", "SECONDS", OPENMPI, MPIEXEC_WHOLE, "--start-timeout={}"},
    {"disable-auto-cleanup dac", NULL, HYDRA, MPIEXEC_WHOLE, "--on-failure=continue"},
    {"enable-recovery", NULL, OPENMPI, MPIEXEC_WHOLE, "--on-failure=continue"},
    {"with-ft", "WHAT", OPENMPI, MPIEXEC_READ,
     "--on-failure=continue --env=OMPI_MCA_mpi_ft_enable=1", mpiexec_read_recovery},
    {"runtime-options rtos", "WHAT,...", OPENMPI, MPIEXEC_READ,
     "--on-failure=continue for recoverable, --dry-run for donotlaunch, --time-limit=S for "
     "timeout=S",
     mpiexec_read_runtime},
    {"forward-signals", "LIST", OPENMPI, MPIEXEC_READ, "nothing: signals reach all tasks",
     mpiexec_read_signals},
    {"launcher bootstrap", "NAME", HYDRA, MPIEXEC_READ,
     "--bootstrap=auto, local (fork), lsf, ... or --ssh=rsh", mpiexec_read_launcher},
    {"launcher-exec bootstrap-exec", "CMD", HYDRA, MPIEXEC_WHOLE, "--ssh={}"},
    {"v verbose", NULL, BOTH, MPIEXEC_WHOLE, "--verbose"},
    {"debug", NULL, HYDRA, MPIEXEC_WHOLE, "--verbose"},
    {"d debug-devel debug-daemons", NULL, OPENMPI, MPIEXEC_WHOLE, "--verbose"},
    {"version", NULL, BOTH, MPIEXEC_WHOLE, "--version"},
    {"info", NULL, HYDRA, MPIEXEC_WHOLE, "--version"},
    {"V", NULL, OPENMPI, MPIEXEC_WHOLE, "--version"},
    {"help h", "[WHAT]", BOTH, MPIEXEC_WHOLE, "--help=mpiexec"},

    {"iface", "NAME", HYDRA, MPIEXEC_IDLE, "no node connects back"},
    {"print-all-exitcodes", NULL, HYDRA, MPIEXEC_IDLE, "tprun always says why tasks failed"},
    {"usize", "N", HYDRA, MPIEXEC_IDLE, "tasks get no limit"},
    {"rmk", "NAME", HYDRA, MPIEXEC_IDLE, "batch systems are recognised"},
    {"demux", "NAME", HYDRA, MPIEXEC_IDLE, "tprun has only one way"},
    {"topolib", "NAME", HYDRA, MPIEXEC_IDLE, "tprun uses hwloc"},
    {"localhost", "NAME", HYDRA, MPIEXEC_IDLE, "this machine is known by all its names"},
    {"disable-hostname-propagation enable-hostname-propagation", NULL, HYDRA, MPIEXEC_IDLE,
     "libraries find the names themselves"},
    {"enable-auto-cleanup disable-x", NULL, HYDRA, MPIEXEC_IDLE, "this is the default"},
    {"oversubscribe", NULL, OPENMPI, MPIEXEC_READ, "--oversubscribe, also past -npernode",
     mpiexec_read_oversubscribe},
    {"allow-run-as-root", NULL, OPENMPI, MPIEXEC_IDLE, "tprun does not ask"},
    {"personality", "NAME", OPENMPI, MPIEXEC_IDLE, "all MPIs are served"},
    {"prtemca", "NAME VALUE", OPENMPI, MPIEXEC_IDLE, "parameters of PRRTE itself"},
    {"gpu-support", "FLAG", OPENMPI, MPIEXEC_IDLE, "GPUs are found where there are some"},
    {"q quiet no-aggregate-help", NULL, OPENMPI, MPIEXEC_IDLE, "tprun prints little anyway"},
    {"disable-recovery", NULL, OPENMPI, MPIEXEC_IDLE, "this is the default"},
    {"fwd-environment", "[FLAG]", OPENMPI, MPIEXEC_IDLE, "this is the default"},
    {"noprefix no-app-prefix", NULL, OPENMPI, MPIEXEC_IDLE, "this is the default"},
    {"pmix-prefix app-pmix-prefix", "DIR", OPENMPI, MPIEXEC_IDLE,
     "the program's own library is used"},
    {"tmpdir", "DIR", OPENMPI, MPIEXEC_IDLE, "no session directories are made"},
    {"leave-session-attached set-sid debug-daemons-file", NULL, OPENMPI, MPIEXEC_IDLE,
     "agents end with the program"},
    {"novm enable-instant-on-support fwd-mpirun-port do-not-resolve use-regexp hetero-nodes "
     "uniform-nodes",
     NULL, OPENMPI, MPIEXEC_IDLE, "tprun does not need it"},
    {"cartofile cf", "FILE", OPENMPI, MPIEXEC_IDLE, "hwloc knows the hardware"},
    {"show-progress report-state-on-timeout get-stack-traces", NULL, OPENMPI, MPIEXEC_IDLE,
     "-v shows more; at a timeout tprun names the tasks that run"},
    {"report-child-jobs-separately", NULL, OPENMPI, MPIEXEC_IDLE, "spawned tasks count too"},
    {"p parsable parseable", NULL, OPENMPI, MPIEXEC_IDLE, "--format json is for programs"},
    {"soft", NULL, OPENMPI, MPIEXEC_IDLE, "Open MPI ignores it, too"},
    {"arch file", "TEXT", OPENMPI, MPIEXEC_IDLE, "Open MPI ignores it, too"},

    {"pmi-port", NULL, HYDRA, MPIEXEC_NONE, "--pmi pmi1: tasks get an open descriptor"},
    {"nameserver", "HOST:PORT", HYDRA, MPIEXEC_NONE,
     "the parts on one line: names are known in one program"},
    {"order-nodes", "HOW", HYDRA, MPIEXEC_NONE, "-hosts with the nodes in that order"},
    {"skip-launch-node", NULL, HYDRA, MPIEXEC_NONE, "--exclude with the name of this machine"},
    {"nolocal", NULL, OPENMPI, MPIEXEC_NONE, "--exclude with the name of this machine"},
    {"profile", NULL, HYDRA, MPIEXEC_NONE, "the profiler in front of the program's name"},
    {"output-from", "RANK", HYDRA, MPIEXEC_NONE,
     "-outfile-pattern FILE.%r, and read the file of that rank"},
    {"enable-x", NULL, HYDRA, MPIEXEC_NONE, "-launcher-exec \"ssh -X\""},
    {"hybrid-hosts", NULL, HYDRA, MPIEXEC_NONE, "-wdir with a directory that every node has"},
    {"gpu-subdevs-per-proc", "N", HYDRA, MPIEXEC_NONE,
     "-gpus-per-proc N; a script in front of the program may set ZE_AFFINITY_MASK"},
    {"debug tv", NULL, OPENMPI, MPIEXEC_NONE, "the debugger in front of the program's name"},
    {"debugger", "NAME", OPENMPI, MPIEXEC_NONE, "the debugger in front of the program's name"},
    {"stop-on-exec stop-in-init stop-in-app", NULL, OPENMPI, MPIEXEC_NONE,
     "the debugger in front of the program's name"},
    {"xterm", "RANKS", OPENMPI, MPIEXEC_NONE, "xterm -hold -e in front of the program's name"},
    {"output-proctable", "[WHERE]", OPENMPI, MPIEXEC_NONE,
     "--display map for nodes and cores; the program can say its process id"},
    {"xml", NULL, OPENMPI, MPIEXEC_NONE, "--display map --format json"},
    {"xml-file", "FILE", OPENMPI, MPIEXEC_NONE, "--display map --format json"},
    {"display-topo", NULL, OPENMPI, MPIEXEC_NONE, "--display topo"},
    {"cpu-set cpu-list", "LIST", OPENMPI, MPIEXEC_NONE,
     "taskset -c LIST in front of mpirun, or -rankfile with the processors of each rank"},
    {"path", "DIR", OPENMPI, MPIEXEC_NONE, "-x PATH=..., or the program's whole path"},
    {"s preload-binary", NULL, OPENMPI, MPIEXEC_NONE, "--stage PROGRAM"},
    {"preload-files", "LIST", OPENMPI, MPIEXEC_NONE, "--stage FILE for each file"},
    {"set-cwd-to-session-dir", NULL, OPENMPI, MPIEXEC_NONE, "-wdir DIR"},
    {"index-argv-by-rank", NULL, OPENMPI, MPIEXEC_NONE, "bash -c 'exec -a name-$TPRUN_RANK ...'"},
    {"amca", "FILE TEXT", OPENMPI, MPIEXEC_NONE, "-tune FILE"},
    {"launch-agent", "CMD", OPENMPI, MPIEXEC_NONE, "--agent PATH where tpagent is elsewhere"},
    {"max-vm-size", "N", OPENMPI, MPIEXEC_NONE, "--nodes N"},
    {"max-restarts", "N", OPENMPI, MPIEXEC_NONE,
     "a loop in front of the program: nothing is started again"},
    {"continuous", NULL, OPENMPI, MPIEXEC_NONE, "--on-failure continue"},
    {"report-pid", "WHERE", OPENMPI, MPIEXEC_NONE,
     "sh -c 'echo $$ >FILE; exec mpirun ...': tprun is that process"},
    {"report-uri report-events ompi-server hnp", "URI", OPENMPI, MPIEXEC_NONE,
     "the parts on one line: names are known in one program"},
    {"dvm", "URI", OPENMPI, MPIEXEC_NONE, "nothing: tprun needs no daemons"},
    {"system-server", NULL, OPENMPI, MPIEXEC_NONE, "nothing: tprun needs no daemons"},
    {"keepalive", "FILE", OPENMPI, MPIEXEC_NONE, "nothing: tprun has no daemons"},
    {"add-host", "A:2,B", OPENMPI, MPIEXEC_NONE, "-host with all hosts"},
    {"add-hostfile", "FILE", OPENMPI, MPIEXEC_NONE, "-hostfile with all hosts"},
    {"activate alloc-id alloc-refid session-id", "ID", OPENMPI, MPIEXEC_NONE,
     "-host or -hostfile with the hosts"},
    {NULL},
};
#undef BOTH
#undef HYDRA
#undef OPENMPI
/* clang-format on */

bool mpiexec_names_have(const char *names, const char *name, size_t len, bool any_case)
{
    for (const char *at = names; *at; at += strspn(at, " ")) {
        size_t own = strcspn(at, " ");
        if (own == len && (any_case ? strncasecmp(at, name, len) : memcmp(at, name, len)) == 0)
            return true;
        at += own;
    }
    return false;
}

static const struct mpiexec_option *option_of(enum mpiexec_dialect dialect, const char *name,
                                              size_t len, bool any_case)
{
    for (const struct mpiexec_option *option = mpiexec_table; option->names; option++)
        if ((option->dialect == dialect || option->dialect == MPIEXEC_EITHER) &&
            mpiexec_names_have(option->names, name, len, any_case))
            return option;
    return NULL;
}

const struct mpiexec_option *mpiexec_find(const char *name, size_t len,
                                          enum mpiexec_dialect dialect)
{
    const struct mpiexec_option *found = NULL;
    if (dialect != MPIEXEC_HYDRA)
        found = option_of(MPIEXEC_OPENMPI, name, len, false);
    if (dialect != MPIEXEC_OPENMPI && !found)
        found = option_of(MPIEXEC_HYDRA, name, len, dialect == MPIEXEC_HYDRA);
    return found;
}

size_t mpiexec_nvalues(const struct mpiexec_option *option)
{
    if (!option->arguments || option->arguments[0] == '[')
        return 0;
    return strchr(option->arguments, ' ') ? 2 : 1;
}

bool mpiexec_takes_value(const struct mpiexec_option *option)
{
    return option->arguments != NULL;
}

/* Whether this word can be the value of that argument. N is a number. */
static bool is_value(const char *value, const char *argument)
{
    if (!value || !*value || *value == '-' || strlen(value) > MAX_SHOWN_VALUE)
        return false;
    return strcmp(argument, "N") != 0 || !value[strspn(value, "0123456789")];
}

void mpiexec_fill(struct buf *out, const char *text, const char *arguments,
                  const char *const values[MPIEXEC_MAX_VALUES])
{
    size_t filled = 0;
    for (const char *name = arguments ? arguments : ""; *text; text++) {
        if (strncmp(text, "{}", 2) != 0) {
            buf_add_char(out, *text);
            continue;
        }
        size_t len = strcspn(name, " ");
        if (values && filled < MPIEXEC_MAX_VALUES && is_value(values[filled], name))
            buf_add_text(out, values[filled]);
        else
            buf_add(out, name, len);
        filled++;
        name += len + strspn(name + len, " ");
        text++;
    }
}
