/* The options of tprun, in the order of --help. */
#include <string.h>

#include "launcher/options/option.h"

#define PART(member) offsetof(struct spec_part, member)
#define SPEC(member) offsetof(struct spec, member)

const char *const option_group_titles[OPTION_NGROUPS] = {
    [OPTION_NODES] = "How many and on what",
    [OPTION_LAYOUT] = "Where (shown by tprun --help layout)",
    [OPTION_TASKS] = "What tasks read, write and inherit",
    [OPTION_LIFE] = "How it ends",
    [OPTION_REACH] = "How nodes are reached",
    [OPTION_OTHER] = "Other (TPRUN_OPTIONS holds options that are read first)",
};

/* A row of an option that this version does not offer: no group, no reader. */
#define LATER(name_, letter_, hint_)                                                               \
    {                                                                                              \
        .name = name_, .letter = letter_, .flags = OPTION_LATER, .help = hint_                     \
    }

/* clang-format off: a row an option */
const struct option option_table[] = {
    {"ntasks", 'n', "np", "N", OPTION_NODES, 0, "tasks (1; one a node with -N), or all",
     option_set_ntasks, PART(ntasks)},
    {"nodes", 'N', NULL, "N", OPTION_NODES, OPTION_WHOLE, "exactly N nodes, tasks spread evenly",
     option_set_member, SPEC(nnodes)},
    {"cores-per-task", 'c', NULL, "N", OPTION_NODES, 0, "whole cores for each task",
     option_set_member, PART(cores_per_task)},
    {"gpus-per-task", 'g', NULL, "N", OPTION_NODES, 0, "GPUs for each task, near its cores",
     option_set_member, PART(gpus_per_task)},
    {"per", 0, NULL, "N:LEVEL", OPTION_NODES, 0, "tasks each: 2:numa; slots: slot=4/core",
     option_set_member, PART(per)},
    {"shape", 0, NULL, "SHAPE", OPTION_NODES, 0, NULL, option_set_member, PART(shape)},
    {"resources", 'R', NULL, "FILE", OPTION_NODES, OPTION_WHOLE | OPTION_SOURCE,
     "a resource set (R) to use; - is stdin", option_set_member, SPEC(resources)},
    {"hosts", 0, NULL, "HOSTLIST", OPTION_NODES, OPTION_WHOLE | OPTION_SOURCE,
     "nodes, if not from R: node[0-3],me@box", option_set_member, SPEC(hosts)},
    {"hostfile", 0, NULL, "FILE", OPTION_NODES, OPTION_WHOLE | OPTION_SOURCE, NULL,
     option_set_member, SPEC(hostfile)},
    {"exclude", 0, NULL, "HOSTLIST", OPTION_NODES, OPTION_WHOLE,
     "nodes to leave out; to use: ssd and ^old", option_set_member, SPEC(exclude)},
    {"requires", 0, NULL, "WHAT", OPTION_NODES, OPTION_WHOLE, NULL, option_set_member,
     SPEC(requires)},
    {"on", 0, NULL, "FILE", OPTION_NODES, OPTION_WHOLE, "use all of this R; share others' cores",
     option_set_member, SPEC(on)},
    {"overlap", 0, NULL, NULL, OPTION_NODES, OPTION_WHOLE, NULL, option_set_member, SPEC(overlap)},
    {"wait", 0, NULL, "FSD", OPTION_NODES, OPTION_WHOLE | OPTION_MAYBE,
     "wait for held cores (default), or fail", option_set_wait, SPEC(wait)},
    {"no-wait", 0, NULL, NULL, OPTION_NODES, OPTION_WHOLE, NULL, option_set_wait, SPEC(wait), 1},
    {"after", 0, NULL, "ID[:ok]", OPTION_NODES, OPTION_WHOLE, "begin when that program is complete",
     option_add_after, SPEC(after)},

    {"map-by", 0, NULL, "POLICY", OPTION_LAYOUT, 0, "slot, core, numa, socket, node, ...",
     option_set_member, PART(map)},
    {"bind-to", 0, NULL, "WIDTH", OPTION_LAYOUT, 0, "none, a level; per-task, closest, none",
     option_set_member, PART(bind)},
    {"gpu-bind", 0, NULL, "WHAT", OPTION_LAYOUT, 0, NULL, option_set_member, PART(gpu_bind)},
    {"order", 0, NULL, "ORDER", OPTION_LAYOUT, 0, "natural or sequential; slot or level",
     option_set_member, PART(order)},
    {"rank-by", 0, NULL, "WORD", OPTION_LAYOUT, 0, NULL, option_set_rank_by, PART(order)},
    {"mppr", 0, NULL, "LIMITS", OPTION_LAYOUT, 0, "most tasks on each: 1:c (core); or more",
     option_set_member, PART(mppr)},
    {"oversubscribe", 0, NULL, NULL, OPTION_LAYOUT, 0, NULL, option_set_member,
     PART(oversubscribe)},
    {"rankfile", 0, "rf", "FILE", OPTION_LAYOUT, 0, "a line for each rank; block, cyclic:N",
     option_set_rankfile, PART(rankfile)},
    {"taskmap", 0, NULL, "MAP", OPTION_LAYOUT, 0, NULL, option_set_member, PART(taskmap)},
    {"mem-bind", 0, NULL, "local|none", OPTION_LAYOUT, 0, "memory near the cores; no OMP_* with -c",
     option_set_member, PART(memory)},
    {"no-omp", 0, NULL, NULL, OPTION_LAYOUT, 0, NULL, option_set_member, PART(no_omp)},
    {"dry-run", 0, NULL, NULL, OPTION_LAYOUT, OPTION_WHOLE,
     "run nothing; alloc,topo,map,bind or all", option_set_member, SPEC(dry_run)},
    {"display", 0, NULL, "WHAT", OPTION_LAYOUT, OPTION_WHOLE, NULL, option_set_member,
     SPEC(display)},
    {"draw", 0, NULL, "FILE.svg", OPTION_LAYOUT, OPTION_WHOLE, "the map as a picture; - is stdout",
     option_set_member, SPEC(draw)},
    {"format", 0, NULL, "text|json", OPTION_LAYOUT, OPTION_WHOLE, NULL, option_set_member,
     SPEC(format)},
    {"topology", 0, NULL, "HOSTLIST=WHAT", OPTION_LAYOUT, OPTION_WHOLE,
     "with --dry-run: hwloc text, @FILE.xml", option_add_topology},

    {"label-io", 'l', NULL, NULL, OPTION_TASKS, OPTION_WHOLE,
     "\"RANK: \" before each line; as it comes", option_set_member, SPEC(label)},
    {"unbuffered", 'u', NULL, NULL, OPTION_TASKS, OPTION_WHOLE, NULL, option_set_member,
     SPEC(unbuffered)},
    {"timestamp-io", 0, NULL, NULL, OPTION_TASKS, OPTION_WHOLE,
     "the time; stderr where stdout goes", option_set_member, SPEC(timestamp)},
    {"merge-io", 0, NULL, NULL, OPTION_TASKS, OPTION_WHOLE, NULL, option_set_member, SPEC(merge)},
    {"output", 'o', NULL, "TEMPLATE", OPTION_TASKS, OPTION_WHOLE,
     "files: %r %R rank, %h host, %n node", option_set_member, SPEC(output)},
    {"error", 'e', NULL, "TEMPLATE", OPTION_TASKS, OPTION_WHOLE, NULL, option_set_member,
     SPEC(error)},
    {"make-dirs", 0, NULL, NULL, OPTION_TASKS, OPTION_WHOLE, "make directories of -o; show it, too",
     option_set_member, SPEC(make_dirs)},
    {"tee", 0, NULL, NULL, OPTION_TASKS, OPTION_WHOLE, NULL, option_set_member, SPEC(tee)},
    {"input", 'i', NULL, "WHAT", OPTION_TASKS, OPTION_WHOLE,
     "stdin to ranks, all, FILE; terminal on 0", option_set_input},
    {"pty", 0, NULL, NULL, OPTION_TASKS, OPTION_WHOLE, NULL, option_set_member, SPEC(pty)},
    {"env", 'x', NULL, "VAR[=VALUE]", OPTION_TASKS, 0, "set, or pass on, a variable",
     option_add_env},
    {"env-remove", 0, NULL, "GLOB", OPTION_TASKS, 0, "take variables away; octal mask",
     option_remove_env},
    {"umask", 0, NULL, "MASK", OPTION_TASKS, 0, NULL, option_set_member, PART(umask)},
    {"chdir", 0, NULL, "DIR", OPTION_TASKS, 0, "where tasks start; soft limits: core=0",
     option_set_member, PART(chdir)},
    {"rlimit", 0, NULL, "NAME=SOFT", OPTION_TASKS, 0, NULL, option_add_rlimit},
    {"stage", 0, NULL, "FILE[:NAME]", OPTION_TASKS, OPTION_WHOLE,
     "copied to each node: $TPRUN_STAGE_DIR", option_add_stage, SPEC(stage)},

    {"time-limit", 0, NULL, "FSD", OPTION_LIFE, OPTION_WHOLE,
     "end after 10m; warn before: USR1@60s", option_set_duration, SPEC(time_limit), 1},
    {"signal", 0, NULL, "SIG@FSD", OPTION_LIFE, OPTION_WHOLE, NULL, option_set_signal},
    {"on-failure", 0, NULL, "kill|continue", OPTION_LIFE, OPTION_WHOLE | OPTION_INSIDE,
     "when a task fails (default kill)", option_set_member, SPEC(on_failure)},
    {"kill-grace", 0, NULL, "FSD", OPTION_LIFE, OPTION_WHOLE | OPTION_INSIDE,
     "TERM to KILL (5s); of a prolog (60s)", option_set_kill_grace, SPEC(kill_grace), 0},
    {"hook-timeout", 0, NULL, "FSD", OPTION_LIFE, OPTION_WHOLE, NULL, option_set_duration,
     SPEC(hook_timeout), 1},
    {"detach", 'd', NULL, NULL, OPTION_LIFE, OPTION_WHOLE, "print its id and return; keep so much",
     option_set_member, SPEC(detach)},
    {"save-limit", 0, NULL, "SIZE", OPTION_LIFE, OPTION_WHOLE | OPTION_INSIDE, NULL,
     option_set_member, SPEC(save_limit)},
    {"on-disconnect", 0, NULL, "WHAT", OPTION_LIFE, OPTION_WHOLE,
     "terminal lost: terminate or continue", option_set_member, SPEC(on_disconnect)},
    {"prolog", 0, NULL, "FILE", OPTION_LIFE, OPTION_WHOLE, "run on each node first, and last",
     option_set_member, SPEC(prolog)},
    {"epilog", 0, NULL, "FILE", OPTION_LIFE, OPTION_WHOLE, NULL, option_set_member, SPEC(epilog)},
    {"disable-auto-cleanup", 0, NULL, NULL, OPTION_LIFE, OPTION_WHOLE | OPTION_INSIDE | OPTION_DASH,
     "as --on-failure continue", option_disable_cleanup, SPEC(on_failure)},

    {"pmi", 0, NULL, "LIST", OPTION_REACH, OPTION_WHOLE, "pmi1,pmi2,pmix,none; a set; PMIx tools",
     option_set_pmi, SPEC(pmi)},
    {"pset", 0, NULL, "NAME", OPTION_REACH, 0, NULL, option_set_member, PART(pset)},
    {"tools", 0, NULL, NULL, OPTION_REACH, OPTION_WHOLE, NULL, option_set_member, SPEC(tools)},
    {"memory-alloc-kinds", 0, NULL, "LIST", OPTION_REACH, OPTION_WHOLE | OPTION_INSIDE,
     "asked of MPI: system,mpi,cuda:device", option_set_member, SPEC(memory_kinds)},
    {"bootstrap", 0, NULL, "NAME", OPTION_REACH, OPTION_WHOLE,
     "auto, ssh, slurm, pbs, ..., \"CMD {host}\"", option_set_bootstrap, SPEC(bootstrap)},
    {"ssh", 0, NULL, "CMD", OPTION_REACH, OPTION_WHOLE, "ssh; tpagent there; hosts from each (32)",
     option_set_member, SPEC(ssh)},
    {"agent", 0, NULL, "PATH", OPTION_REACH, OPTION_WHOLE, NULL, option_set_member, SPEC(agent)},
    {"fanout", 0, NULL, "K", OPTION_REACH, OPTION_WHOLE, NULL, option_set_member, SPEC(fanout)},
    {"start-timeout", 0, NULL, "FSD", OPTION_REACH, OPTION_WHOLE,
     "of a host: to start (30s), later (10s)", option_set_duration, SPEC(start_timeout), 1},
    {"node-timeout", 0, NULL, "FSD", OPTION_REACH, OPTION_WHOLE | OPTION_INSIDE, NULL,
     option_set_duration, SPEC(node_timeout), 1},
    {"keep-agents", 0, NULL, "FSD", OPTION_REACH, OPTION_WHOLE,
     "so long after this run, for others", option_set_member, SPEC(keep_agents)},

    {"spec", 0, NULL, "FILE", OPTION_OTHER, OPTION_WHOLE | OPTION_TYPED,
     "run a spec; show it as JSON", option_set_spec_file},
    {"print-spec", 0, NULL, NULL, OPTION_OTHER, OPTION_WHOLE | OPTION_TYPED, NULL,
     option_set_action, 0, OPTIONS_PRINT_SPEC},
    {"check", 0, NULL, "PROGRAM", OPTION_OTHER, OPTION_TYPED,
     "say which MPI it uses; choose it (ABI)", option_set_check},
    {"mpi", 0, NULL, "NAME|DIR", OPTION_OTHER, OPTION_WHOLE | OPTION_INSIDE, NULL, option_set_mpi,
     SPEC(mpi)},
    {"report", 0, NULL, "FILE.json", OPTION_OTHER, OPTION_WHOLE,
     "what happened, as JSON; where time went", option_set_member, SPEC(report)},
    {"timing", 0, NULL, NULL, OPTION_OTHER, OPTION_WHOLE, NULL, option_set_member, SPEC(timing)},
    {"verbose", 'v', NULL, NULL, OPTION_OTHER, OPTION_WHOLE, "say more; this text; versions",
     option_count, SPEC(verbose)},
    {"help", 'h', NULL, NULL, OPTION_OTHER, OPTION_TYPED | OPTION_STOPS | OPTION_TOPIC, NULL,
     option_set_action, 0, OPTIONS_HELP},
    {"version", 0, NULL, NULL, OPTION_OTHER, OPTION_TYPED | OPTION_STOPS, NULL, option_set_action,
     0, OPTIONS_VERSION},

    LATER("env-file", 0, "-x VAR=VALUE"),
    LATER("exit-timeout", 0, NULL),
    LATER("progress", 0, "-v"),
    {NULL},
};
/* clang-format on */

static bool option_is(const char *own, const char *name, size_t len)
{
    return own && strlen(own) == len && memcmp(own, name, len) == 0;
}

const struct option *option_find(const char *name, size_t len)
{
    for (const struct option *option = option_table; option->name; option++)
        if (option_is(option->name, name, len) || option_is(option->alias, name, len))
            return option;
    return NULL;
}

const struct option *option_find_letter(char letter)
{
    for (const struct option *option = option_table; option->name; option++)
        if (option->letter && option->letter == letter)
            return option;
    return NULL;
}
