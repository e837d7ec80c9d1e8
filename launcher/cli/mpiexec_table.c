/* The options of MPICH's mpiexec (hydra) and of Open MPI's, and what they are here. */
#include <string.h>

#include "launcher/cli/mpiexec_private.h"

/* clang-format off: a row an option */
const struct mpiexec_option mpiexec_table[] = {
    {"n np ntasks", "N", MPIEXEC_READ, "-n N", mpiexec_read_ntasks},
    {"ppn perhost", "N", MPIEXEC_READ, "--taskmap=cyclic:N; without -n as -npernode",
     mpiexec_read_ppn},
    {"npernode N", "N", MPIEXEC_READ, "--per=N:node --order=sequential", mpiexec_read_npernode},
    {"pernode", NULL, MPIEXEC_READ, "--per=1:node --order=sequential", mpiexec_read_pernode},
    {"npersocket", "N", MPIEXEC_READ, "--per=N:socket --order=sequential", mpiexec_read_npersocket},
    {"host hosts hostlist H", "A:2,B", MPIEXEC_READ, "--hosts=A,B, in rounds of these counts",
     mpiexec_read_hosts},
    {"f hostfile machinefile", "FILE", MPIEXEC_WHOLE, "--hostfile={}"},
    {"configfile", "FILE", MPIEXEC_READ, "a part in each line of the file"},

    {"bind-to", "WHAT", MPIEXEC_READ, "--bind-to=WHAT; core:2 is -c 2", mpiexec_read_bind},
    {"map-by", "WHAT", MPIEXEC_READ, "--map-by=WHAT; ppr:N:L is --per, PE=N is -c",
     mpiexec_read_map},
    {"rank-by", "WORD", MPIEXEC_READ, "--rank-by=WORD", mpiexec_read_rank_by},
    {"rankfile rf", "FILE", MPIEXEC_READ, "--rankfile=FILE", mpiexec_read_rankfile},
    {"cpus-per-proc cpus-per-rank", "N", MPIEXEC_PART, "--cores-per-task={}"},
    {"gpus-per-proc", "N", MPIEXEC_PART, "--gpus-per-task={}"},
    {"membind", "WHAT", MPIEXEC_READ, "--mem-bind=local or none", mpiexec_read_membind},
    {"nooversubscribe", NULL, MPIEXEC_READ, "else --oversubscribe is given", mpiexec_read_strict},
    {"report-bindings", NULL, MPIEXEC_WHOLE, "--display=bind"},
    {"display-map", NULL, MPIEXEC_WHOLE, "--display=map"},
    {"display-allocation", NULL, MPIEXEC_WHOLE, "--display=alloc"},
    {"do-not-launch", NULL, MPIEXEC_WHOLE, "--dry-run"},

    {"genv", "NAME VALUE", MPIEXEC_EVERY, "--env={}={}"},
    {"genvlist", "A,B", MPIEXEC_READ, "--env-remove=* --env=A --env=B", mpiexec_read_genvlist},
    {"genvnone", NULL, MPIEXEC_READ, "--env-remove=*", mpiexec_read_genvnone},
    {"genvall", NULL, MPIEXEC_READ, "so it is by default", mpiexec_read_genvall},
    {"env", "NAME VALUE", MPIEXEC_SET, "--env={}={} of one part"},
    {"envlist", "A,B", MPIEXEC_READ, "as -genvlist, of one part", mpiexec_read_envlist},
    {"envnone", NULL, MPIEXEC_READ, "as -genvnone, of one part", mpiexec_read_envnone},
    {"envall", NULL, MPIEXEC_READ, "as -genvall, of one part", mpiexec_read_envall},
    {"x", "NAME[=VALUE]", MPIEXEC_SET, "--env={}"},
    {"mca gmca", "NAME VALUE", MPIEXEC_EVERY, "--env=OMPI_MCA_{}={}"},
    {"wdir wd", "DIR", MPIEXEC_PART, "--chdir={}"},
    {"pset", "NAME", MPIEXEC_PART, "--pset={}"},

    {"l prepend-rank tag-output", NULL, MPIEXEC_WHOLE, "--label-io"},
    {"outfile-pattern", "TEXT", MPIEXEC_READ, "--output=TEXT, with %n for %p", mpiexec_read_output},
    {"errfile-pattern", "TEXT", MPIEXEC_READ, "--error=TEXT, with %n for %p", mpiexec_read_error},
    {"outfile", "FILE", MPIEXEC_WHOLE, "--output={}"},
    {"errfile", "FILE", MPIEXEC_WHOLE, "--error={}"},
    {"stdin", "WHAT", MPIEXEC_WHOLE, "--input={}"},
    {"timeout", "SECONDS", MPIEXEC_WHOLE, "--time-limit={}"},
    {"disable-auto-cleanup", NULL, MPIEXEC_WHOLE, "--disable-auto-cleanup"},
    {"enable-recovery", NULL, MPIEXEC_WHOLE, "--on-failure=continue"},
    {"launcher bootstrap", "NAME", MPIEXEC_READ, "--bootstrap=ssh, local (fork) or --ssh=rsh",
     mpiexec_read_launcher},
    {"launcher-exec bootstrap-exec", "CMD", MPIEXEC_WHOLE, "--ssh={}"},
    {"v verbose", NULL, MPIEXEC_WHOLE, "--verbose"},
    {"info version V", NULL, MPIEXEC_WHOLE, "--version"},
    {"help h", NULL, MPIEXEC_WHOLE, "--help=mpiexec"},

    {"iface", "NAME", MPIEXEC_IDLE, ""},
    {"oversubscribe", NULL, MPIEXEC_IDLE, ""},
    {"allow-run-as-root", NULL, MPIEXEC_IDLE, ""},
    {"print-all-exitcodes", NULL, MPIEXEC_IDLE, ""},
    {"usize", "N", MPIEXEC_IDLE, ""},
    {"rmk", "NAME", MPIEXEC_IDLE, ""},
    {"demux", "NAME", MPIEXEC_IDLE, ""},
    {"topolib", "NAME", MPIEXEC_IDLE, ""},
    {"localhost", "NAME", MPIEXEC_IDLE, ""},
    {"disable-hostname-propagation", NULL, MPIEXEC_IDLE, ""},
    {"personality", "NAME", MPIEXEC_IDLE, ""},
    {"q quiet", NULL, MPIEXEC_IDLE, ""},

    {"prepend-pattern", "TEXT", MPIEXEC_NONE, "-l"},
    {"timestamp-output", NULL, MPIEXEC_NONE, "-l, and let the program tell the time"},
    {"output-filename", "DIR", MPIEXEC_NONE, "--output DIR/rank.%r"},
    {"xml", NULL, MPIEXEC_NONE, "--display map --format json"},
    {"pmi-port", NULL, MPIEXEC_NONE, "--pmi pmi1: tasks get an open descriptor"},
    {"nameserver", "HOST:PORT", MPIEXEC_NONE,
     "the parts on one line: names are known in one program"},
    {"order-nodes", "HOW", MPIEXEC_NONE, "-hosts with the nodes in that order"},
    {"skip-launch-node", NULL, MPIEXEC_NONE, "--exclude with the name of this machine"},
    {"nolocal", NULL, MPIEXEC_NONE, "--exclude with the name of this machine"},
    {"use-hwthread-cpus", NULL, MPIEXEC_NONE, "--map-by hwthread"},
    {"profile", NULL, MPIEXEC_NONE, "the profiler in front of the program's name"},
    {"gdb tv debug", NULL, MPIEXEC_NONE, "the debugger in front of the program's name"},
    {"prefix", "DIR", MPIEXEC_NONE,
     "--agent PATH where tprun is elsewhere on the nodes, and -x "
     "LD_LIBRARY_PATH=... for the program"},
    {"path", "DIR", MPIEXEC_NONE, "-x PATH=..., or the program's whole path"},
    {"app", "FILE", MPIEXEC_NONE, "-configfile FILE"},
    {"s preload-binary", NULL, MPIEXEC_NONE, "the path of a copy that every node has"},
    {"c", "N", MPIEXEC_NONE, "-n N for tasks, --cores-per-task N for the cores of each"},
    {NULL},
};
/* clang-format on */

const struct mpiexec_option *mpiexec_find(const char *name, size_t len)
{
    for (const struct mpiexec_option *option = mpiexec_table; option->names; option++)
        for (const char *at = option->names; *at; at += strspn(at, " ")) {
            size_t own = strcspn(at, " ");
            if (own == len && memcmp(at, name, len) == 0)
                return option;
            at += own;
        }
    return NULL;
}

size_t mpiexec_nvalues(const struct mpiexec_option *option)
{
    if (!option->arguments)
        return 0;
    return strchr(option->arguments, ' ') ? 2 : 1;
}
