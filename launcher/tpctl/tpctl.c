/* tpctl - look at programs of tprun, and say what is to happen to them. */
#include "launcher/tpctl/tpctl.h"

#include "launcher/options/option_help.h"
#include "launcher/tpctl/remote_command_ask.h"

/* ---- the methods and their options, in the order of --help ---- */

#define END                                                                                        \
    {                                                                                              \
        TPCTL_NOPTIONS, 0                                                                          \
    }
#define INSTANCE                                                                                   \
    {                                                                                              \
        TPCTL_INSTANCE, "look in this instance alone: its path or its name"                        \
    }
#define PARENT                                                                                     \
    {                                                                                              \
        TPCTL_PARENT, "@ is the program that encloses the caller's; may be repeated"               \
    }

static const struct method_offer current_offers[] = {PARENT, END};
static const struct method_offer new_offers[] = {END};
static const struct method_offer list_offers[] = {{TPCTL_ALL, "those that are complete, too"},
                                                  {TPCTL_FORMAT, "json: the same as JSON"},
                                                  INSTANCE,
                                                  PARENT,
                                                  END};
static const struct method_offer info_offers[] = {
    {TPCTL_FORMAT, "json: all of it, with each task"},
    {TPCTL_WHY, "where this option of tprun was given"},
    INSTANCE,
    PARENT,
    END};
static const struct method_offer wait_offers[] = {
    {TPCTL_FOR, "until this state or event (complete)"},
    {TPCTL_TIMEOUT_AFTER, "give up after so long: 90s, 10m; exit status 124"},
    {TPCTL_STATUS, "exit as the last of the programs did"},
    INSTANCE,
    PARENT,
    END};
static const struct method_offer signal_offers[] = {
    {TPCTL_RANKS, "only to these: 0-3,7"}, INSTANCE, PARENT, END};
static const struct method_offer terminate_offers[] = {
    {TPCTL_KILL_GRACE, "time from SIGTERM to SIGKILL (as tprun was given)"},
    {TPCTL_NO_WAIT, "return when the tasks have SIGTERM, not at the end"},
    INSTANCE,
    PARENT,
    END};
static const struct method_offer ps_offers[] = {
    {TPCTL_FORMAT, "json: the same as JSON"}, INSTANCE, PARENT, END};
static const struct method_offer top_offers[] = {
    {TPCTL_DELAY, "look again after so long (2s)"}, INSTANCE, PARENT, END};
static const struct method_offer reap_offers[] = {
    {TPCTL_ALL, "every complete program"},
    {TPCTL_OLDER, "with --all: only those that ended so long ago: 7d"},
    {TPCTL_ARCHIVE, "write what is removed into a new archive first"},
    INSTANCE,
    PARENT,
    END};

static const struct method_offer logs_offers[] = {
    {TPCTL_FOLLOW, "go on until the program is complete"},
    {TPCTL_RANKS, "output of these ranks alone: 0,4-7"},
    {TPCTL_STDOUT, "stdout alone"},
    {TPCTL_STDERR, "stderr alone"},
    {TPCTL_LABEL, "\"RANK: \" before each line"},
    INSTANCE,
    PARENT,
    END};

static const struct method_offer attach_offers[] = {
    {TPCTL_INPUT, "send stdin to these ranks: 0-3, all or none (none)"},
    {TPCTL_EOF, "with --input: send the end of stdin, too"},
    {TPCTL_LABEL, "\"RANK: \" before each line"},
    INSTANCE,
    PARENT,
    END};

static const struct method tpctl_methods[] = {
    {"list", "[OPTION...]", "Programs that are not complete; all with -a", NULL, 0, 0, list_offers,
     tpctl_list},
    {"new", "[OPTION OF TPRUN...]", "Make an empty program, and print its id",
     "Its options are kept for the tasks that it gets later ('tprun --help' lists\n"
     "them). Until then it holds nothing, and no process of it lives.\n",
     0, METHOD_ALL, new_offers, tpctl_new},
    {"info", "[OPTION...] ID", "What is known of a program and its tasks", NULL, 1, 1, info_offers,
     tpctl_info},
    {"wait", "[OPTION...] ID...", "Wait until programs are complete, or for a state or an event",
     "States: empty, pending, starting, running, complete. tprun-events(7) has the events.\n", 1,
     METHOD_ANY, wait_offers, tpctl_wait},
    {"ps", "[OPTION...] ID", "Tasks of a program that runs, and what they use now", NULL, 1, 1,
     ps_offers, tpctl_ps},
    {"top", "[OPTION...] [ID]", "The table of ps, again and again, until q is typed",
     "Without ID it shows all programs that run.\n", 0, 1, top_offers, tpctl_top},
    {"signal", "[OPTION...] ID SIGNAL", "Send a signal to the tasks of a program",
     "By name (TERM, SIGUSR1) or number, to the process group of each task.\n", 2, 2, signal_offers,
     tpctl_signal},
    {"terminate", "[OPTION...] ID...", "End programs, and wait until nothing is left", NULL, 1,
     METHOD_ANY, terminate_offers, tpctl_terminate},
    {"attach", "[OPTION...] ID",
     "Show the output of a program to its end; send it input and signals",
     "Ctrl-C sends SIGINT. Ctrl-C twice within a second ends the program, and\n"
     "Ctrl-C Ctrl-Z leaves it to itself. The exit status is the program's.\n",
     1, 1, attach_offers, tpctl_attach},
    {"logs", "[OPTION...] ID", "Show what was saved of the output of a program",
     "Without --ranks, --stdout and --stderr also the messages of tprun.\n", 1, 1, logs_offers,
     tpctl_logs},
    {"reap", "[OPTION...] (ID... | --all)", "Remove what is kept of complete programs", NULL, 0,
     METHOD_ANY, reap_offers, tpctl_reap},
    {"current", "[OPTION...]", "Print the id of the program that the caller is a task of",
     "Outside of a program it prints nothing and exits with 3.\n", 0, 0, current_offers,
     tpctl_current},
    {0},
};

/* What Flux, Slurm, docker and the shell call them. */
static const struct method_hint tpctl_hints[] = {{"ls", "list"},
                                                 {"jobs", "list"},
                                                 {"queue", "list"},
                                                 {"status", "info"},
                                                 {"show", "info"},
                                                 {"stat", "ps"},
                                                 {"kill", "terminate, or signal"},
                                                 {"cancel", "terminate"},
                                                 {"stop", "terminate"},
                                                 {"end", "terminate"},
                                                 {"output", "logs"},
                                                 {"log", "logs"},
                                                 {"rm", "reap"},
                                                 {"remove", "reap"},
                                                 {"purge", "reap"},
                                                 {NULL, NULL}};

static const struct method_program tpctl = {
    .name = "tpctl",
    .methods = tpctl_methods,
    .options = tpctl_options,
    .noptions = TPCTL_NOPTIONS,
    .help = TPCTL_HELP,
    .hints = tpctl_hints,
    .usage = "METHOD [OPTION...] [ID...]",
    .about = "Look at programs of tprun, wait for them, send them input or signals, end them.",
    .closing = "An ID is a number as list prints it, or @ for the caller's own program.",
    .version = options_version,
};

int main(int argc, char *argv[])
{
    int status;
    (void)argc;
    return remote_command_ask(&tpctl, argv + 1, &status) ? status : method_main(&tpctl, argv + 1);
}
