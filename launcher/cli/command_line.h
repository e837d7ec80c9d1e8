/*
 * command_line - words of a command line, sorted into parts, each with its options and its program.
 *
 * Only the form is looked at: which option, which value, which part. Values are read when they are
 * applied to a spec (tprun_options.c). Words and values are borrowed from the caller's array.
 */
#ifndef LAUNCHER_CLI_COMMAND_LINE_H
#define LAUNCHER_CLI_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "launcher/options/option.h"

struct command_option {
    const struct option *option;
    char *spelling;    /* as it was written: "-np", "--map-by" */
    const char *value; /* NULL where it takes none */
};

struct command_part {
    struct command_option *options;
    size_t noptions;
    char *const *words; /* the program and its arguments */
    size_t nwords;      /* 0: no program */
};

struct command {
    struct command_part *parts; /* at least one */
    size_t nparts;
    int action; /* what an option with OPTION_STOPS asks for, as soon as one is met, else
                   OPTIONS_RUN */
};

/* words[] ends at a NULL. `typed`: the command line itself; else defaults, which are
 * options only. 0, or -1 with a sentence; the caller frees either way. */
int command_scan(char *const *words, bool typed, struct command *command, struct error *err);
void command_free(struct command *command);

#endif
