/*
 * spec - everything about a run, as one value.
 *
 * The command line becomes a spec; nothing is known about a run that is not in it. Its JSON form
 * (spec_to_json) is what --print-spec shows, --spec reads and the program's context keeps.
 * All text is owned by the spec.
 */
#ifndef LAUNCHER_SPEC_SPEC_H
#define LAUNCHER_SPEC_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/error.h"
#include "launcher/environment/environment.h"
#include "launcher/environment/pmi_environment.h"

struct spec_rlimit {
    int resource;  /* RLIMIT_* */
    uint64_t soft; /* RLIM_INFINITY for "unlimited" */
};

enum spec_memory { SPEC_MEMORY_NONE, SPEC_MEMORY_LOCAL };

#define SPEC_MEMORY_KINDS_MAX 1023 /* bytes, as a value of PMI has */
#define SPEC_PSET_MAX 255          /* bytes of a process set's name */

struct spec_part {
    char **argv;                     /* NULL-terminated, argv[0] is the program */
    uint32_t ntasks;                 /* 0: not given */
    bool fill;                       /* -n all: as many as fit */
    uint32_t cores_per_task;         /* 0: not given */
    uint32_t gpus_per_task;          /* 0: not given */
    char *map, *bind, *order, *mppr; /* NULL: not given */
    char *per, *gpu_bind;            /* NULL: not given */
    char *taskmap;                   /* NULL: not given */
    char *shape;                     /* RFC 46; NULL: not given */
    char *rankfile;                  /* the text of the file; NULL: not given */
    char *rankfile_name;             /* for messages */
    bool oversubscribe;
    enum spec_memory memory;
    bool no_omp; /* OpenMP is not told of the task's cores */
    char *pset;  /* the PMIx process set that its tasks are in; NULL: none */
    char *chdir; /* NULL: the caller's directory */
    int umask;   /* -1: the caller's */
    struct env *env;
    size_t nenv;
    struct spec_rlimit *rlimits;
    size_t nrlimits;
};

enum spec_show { SPEC_SHOW_TEXT, SPEC_SHOW_JSON };
enum spec_input {
    SPEC_INPUT_RANKS,
    SPEC_INPUT_ALL,
    SPEC_INPUT_NONE,
    SPEC_INPUT_FILE,
    SPEC_INPUT_TOOLS
};
enum spec_failure { SPEC_FAILURE_KILL, SPEC_FAILURE_CONTINUE };
enum spec_disconnect { SPEC_DISCONNECT_TERMINATE, SPEC_DISCONNECT_CONTINUE };
#define SPEC_HOOK_TIMEOUT 60.0                /* s */
#define SPEC_SAVE_LIMIT ((uint64_t)256 << 20) /* bytes */
extern const unsigned spec_pmi_served;        /* set of them: what there is in this build */

/* A file that an option names, see spec_file.h. */
struct spec_file {
    char *path, *text;
};

struct spec {
    struct spec_part *parts;
    size_t nparts;

    /* on what */
    uint32_t nnodes; /* -N; 0: as many as needed */
    char *resources; /* -R: a file name or "-"; NULL */
    char *hosts;     /* --hosts: hostlist text; NULL */
    char *hostfile;  /* --hostfile; NULL */
    char *exclude;   /* --exclude: hostlist text; NULL */
    char *requires;  /* --requires: a constraint as text or RFC 31 JSON; NULL */
    bool overlap;    /* neither claim nor avoid what is claimed */
    char *on;        /* --on: a file name or "-"; NULL */
    char **after;    /* --after: ids, each with ":ok" or ":any" or nothing behind it; NULL: none */
    double wait;     /* seconds for what others hold; INFINITY, and 0: not at all */

    /* seen */
    bool dry_run;
    unsigned display; /* LAYOUT_SHOW_* of affinity/layout/layout.h */
    char *draw;       /* --draw: a file, or "-" with dry_run; NULL */
    enum spec_show format;
    char **topologies; /* each HOSTLIST=DESCRIPTION or HOSTLIST=@FILE */
    size_t ntopologies;

    /* input and output */
    bool label;
    bool timestamp; /* the time before each line */
    bool unbuffered;
    bool merge;     /* stderr goes where stdout goes */
    bool tee;       /* what goes into files is shown, too */
    bool make_dirs; /* directories of the templates that are not there are made */
    char *output;   /* template or NULL */
    char *error;    /* template or NULL */
    double
        output_idle; /* s that an unfinished line of stdout waits for its end; INFINITY: as long */
    double error_idle; /* as it takes. The same of stderr. 0: what they are written to says */
    bool pty;          /* rank 0 has a terminal of its own, which is typed on by what reads stdin */
    char *terminal;    /* what it is like at first, see terminal_modes.h; NULL: as the kernel makes
                     one */
    enum spec_input input;
    bool input_stays; /* of a program that may outlive its terminal: tasks' stdin stays open when
                        nobody sends any more */
    char *prolog, *epilog; /* files that are run on each node before and after; NULL: none */
    double hook_timeout;
    char **stage;    /* --stage: files that are copied to each node, "FILE[:NAME]"; NULL: none */
    char *input_arg; /* idset text of SPEC_INPUT_RANKS ("0" by default), file of SPEC_INPUT_FILE */

    /* life; seconds, INFINITY for none */
    double time_limit;
    double kill_grace;    /* 5 */
    double stop_grace;    /* 30, or kill_grace where that was given: after a signal of the user's */
    int warn_signal;      /* --signal; 0: none */
    double warn_before;   /* the limit */
    double start_timeout; /* 30 */
    double node_timeout;  /* 10 */
    enum spec_failure on_failure;
    char *report; /* --report: a file, relative to the caller's directory; NULL: not given */
    bool timing;
    /* An abort with code 0 gives the exit status 0, not 1. */
    bool abort_may_succeed;
    /* The only part says what an instance is made of; its program, the instance's initial one, is
     * run once, on the first node, unbound, and the instance ends with it. */
    bool initial_program;
    bool detach; /* the front end is a process in the background, which saves output */
    enum spec_disconnect on_disconnect; /* when the front end, or its terminal, is gone */
    uint64_t save_limit;                /* bytes of saved output; RLIM_INFINITY: any */
    char *mpi; /* whose library of the MPI ABI tasks load, see mpi_abi.h; NULL: not given */
    bool mpi_is_default; /* of TPRUN_OPTIONS: for programs of the MPI ABI alone */
    unsigned pmi;        /* set of enum spec_pmi */
    bool tools;          /* PMIx tools may connect */
    char *memory_kinds;  /* that MPI is asked for, "system,cuda:device"; NULL: none */

    /* reaching the nodes */
    char *bootstrap;    /* "auto", "local", "ssh", "slurm", or a command template */
    char *ssh;          /* words of the ssh command, "ssh" */
    uint32_t fanout;    /* 32 */
    char *agent;        /* path of tpagent on the nodes, or NULL: as installed */
    double keep_agents; /* seconds that agents are kept after the run, for others; 0: not */
    /* Of no JSON: there are no tasks, but agents that runs are lent until none was for
     * keep_agents. */
    bool agents_only;
    int verbose;

    /* what tasks inherit from the caller, before the parts' own changes */
    char **environment; /* NULL-terminated NAME=VALUE, already scrubbed */
    /* The machine (localhost.h) whose tasks alone inherit DISPLAY and XAUTHORITY; NULL: any. */
    char *screen_machine;
    char *directory;
    int umask;
    struct rlimit rlimits[RLIM_NLIMITS]; /* soft limits are what is passed on */

    /* Which options were given, and where, as spec_add_origin() has it; NULL: none. It is kept with
     * the program, and is no part of what --print-spec shows. */
    json_t *origins;

    /* Of the process that has the spec, and no part of its JSON: files that options name are those
     * of the front end, and what is in them came along. */
    bool is_sent;
    struct spec_file *files;
    size_t nfiles;
};

struct spec *spec_new(void); /* defaults; no parts */
void spec_free(struct spec *spec);
/* Its output is saved from the first byte. */
static inline bool spec_saves(const struct spec *spec)
{
    return spec->detach || spec->on_disconnect == SPEC_DISCONNECT_CONTINUE;
}

/* Take environment, directory, umask and soft limits from this process; scrub what belongs to the
 * caller's own place (CLI: --env). */
int spec_inherit(struct spec *spec, struct error *err);
/* Of what tasks inherit from the caller. */
void spec_set_variable(struct spec *spec, const char *name, const char *value);
/* False until spec_inherit() or a JSON form said what the soft limit is. */
bool spec_has_rlimit(const struct spec *spec, int resource);

/* {"option": "map-by", "value": "numa", "part": 0, "from": "TPRUN_OPTIONS"}, which is taken;
 * without "part" the option is of the whole program. In the order in which they hold: a later one
 * replaces. */
void spec_add_origin(struct spec *spec, json_t *origin);

json_t *spec_to_json(const struct spec *spec); /* new reference */
/* The same spec less its environment, all borrowed, for messages that have it as bytes behind them
 * (environment_block.h). */
struct spec spec_bare(const struct spec *spec);
void spec_take_environment(struct spec *spec, char **environment); /* in place of what it has */
struct spec *spec_from_json(const json_t *value, struct error *err);

/* The member at this offset in the part, or in the spec where part is NULL, becomes what an
 * option's text says of it, as its row in spec_fields.c has it. A flag needs no text. 0, or -1 with
 * a sentence about the text. */
int spec_read_member(struct spec *spec, struct spec_part *part, size_t offset, const char *text,
                     struct error *err);

/* `with` (taken, and freed) takes the place of all that spec says, but for what tasks inherit:
 * that stays where `with` says nothing about it. */
void spec_replace(struct spec *spec, struct spec *with);

/* The environment of one part's tasks on this machine, NULL-terminated, without the variables that
 * each task is given.
 * Caller frees with string_list_free(). */
char **spec_part_environment(const struct spec *spec, const struct spec_part *part);

#endif
