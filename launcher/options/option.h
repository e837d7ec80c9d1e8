/*
 * option - one row of tprun's table of options.
 *
 * The table drives parsing and --help. Rows stand in the order of --help; a row without help text
 * shares the line of the row before it. The functions that read a value give a sentence about the
 * value only: who calls them puts the option's name in front.
 */
#ifndef LAUNCHER_OPTIONS_OPTION_H
#define LAUNCHER_OPTIONS_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "launcher/spec/spec.h"

enum option_group {
    OPTION_NODES,
    OPTION_LAYOUT,
    OPTION_TASKS,
    OPTION_LIFE,
    OPTION_REACH,
    OPTION_OTHER,
    OPTION_NGROUPS
};

enum {
    OPTION_WHOLE = 1,    /* of the whole program, not of a part: before the first program only */
    OPTION_LATER = 2,    /* the name is taken, this version does not offer it */
    OPTION_TYPED = 4,    /* only on the command line itself, not among the defaults */
    OPTION_DASH = 8,     /* also written with one dash, as other launchers' users do */
    OPTION_SOURCE = 16,  /* names the nodes: one such option stands in place of the others */
    OPTION_STOPS = 32,   /* nothing behind it is looked at; `detail` is the action */
    OPTION_MAYBE = 128,  /* its value may be left out; it stands behind "=" */
    OPTION_INSIDE = 256, /* of tpbatch: it holds for programs inside, too */
    OPTION_TOPIC = 64    /* a topic of help_topic() may follow, which says the action */
};

/* What a command line asks for. */
enum options_action {
    OPTIONS_RUN,        /* run (or show) the spec */
    OPTIONS_PRINT_SPEC, /* print the spec as JSON, start nothing */
    OPTIONS_CHECK,      /* look at the programs of the parts, start nothing */
    OPTIONS_HELP,       /* options_help() was asked for */
    OPTIONS_HELP_LAYOUT,
    OPTIONS_HELP_LIST,
    OPTIONS_HELP_MPIEXEC,
    OPTIONS_VERSION,
};

/* What an option is applied to. */
struct option_target {
    struct spec *spec;
    struct spec_part *part;
    int action;       /* enum options_action */
    const char *file; /* of --spec, borrowed; or NULL */
};

struct option {
    const char *name;
    char letter;          /* 0: none */
    const char *alias;    /* another long name; NULL: none */
    const char *argument; /* NULL: takes none */
    enum option_group group;
    unsigned flags;
    const char *help; /* in --help; of a LATER row: what to write instead, or NULL */
    int (*apply)(const struct option *option, const char *value, struct option_target *target,
                 struct error *err);
    size_t offset; /* of the member that apply() fills, in the spec (WHOLE) or in the part */
    int detail;    /* of apply() */
};

extern const struct option option_table[]; /* ends at a row without a name */
extern const char *const option_group_titles[OPTION_NGROUPS];

/* By exact name or alias; NULL when there is none. */
const struct option *option_find(const char *name, size_t len);
const struct option *option_find_letter(char letter);

/* Readers of values (option_values.c). The first reads as the row of that member in spec_fields.c
 * says: its type, its words, its check. The others are for values that say more, or something
 * else. */
int option_set_member(const struct option *option, const char *value, struct option_target *target,
                      struct error *err);
int option_count(const struct option *option, const char *value, struct option_target *target,
                 struct error *err);
int option_set_action(const struct option *option, const char *value, struct option_target *target,
                      struct error *err);
/* A number, or all. */
int option_set_ntasks(const struct option *option, const char *value, struct option_target *target,
                      struct error *err);
int option_set_duration(const struct option *option, const char *value,
                        struct option_target *target, struct error *err);
int option_set_kill_grace(const struct option *option, const char *value,
                          struct option_target *target, struct error *err);
int option_set_signal(const struct option *option, const char *value, struct option_target *target,
                      struct error *err);
/* For others' resources: how long, for ever without a value; detail 1: not at all. */
int option_set_wait(const struct option *option, const char *value, struct option_target *target,
                    struct error *err);
int option_set_rankfile(const struct option *option, const char *value,
                        struct option_target *target, struct error *err);
int option_set_rank_by(const struct option *option, const char *value, struct option_target *target,
                       struct error *err);
int option_add_after(const struct option *option, const char *value, struct option_target *target,
                     struct error *err);
int option_add_stage(const struct option *option, const char *value, struct option_target *target,
                     struct error *err);
int option_add_topology(const struct option *option, const char *value,
                        struct option_target *target, struct error *err);
int option_set_input(const struct option *option, const char *value, struct option_target *target,
                     struct error *err);
int option_add_env(const struct option *option, const char *value, struct option_target *target,
                   struct error *err);
int option_remove_env(const struct option *option, const char *value, struct option_target *target,
                      struct error *err);
int option_add_rlimit(const struct option *option, const char *value, struct option_target *target,
                      struct error *err);
int option_disable_cleanup(const struct option *option, const char *value,
                           struct option_target *target, struct error *err);
int option_set_pmi(const struct option *option, const char *value, struct option_target *target,
                   struct error *err);
int option_set_mpi(const struct option *option, const char *value, struct option_target *target,
                   struct error *err);
int option_set_bootstrap(const struct option *option, const char *value,
                         struct option_target *target, struct error *err);
int option_set_check(const struct option *option, const char *value, struct option_target *target,
                     struct error *err);
int option_set_spec_file(const struct option *option, const char *value,
                         struct option_target *target, struct error *err);

#endif
