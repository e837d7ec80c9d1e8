/*
 * options - what a command line of tprun asks for, and the texts of --help and --version.
 */
#ifndef LAUNCHER_OPTIONS_OPTIONS_H
#define LAUNCHER_OPTIONS_OPTIONS_H

enum options_action {
    OPTIONS_RUN,        /* run (or show) the spec */
    OPTIONS_PRINT_SPEC, /* print the spec as JSON, start nothing */
    OPTIONS_CHECK,      /* look at the programs of the parts, start nothing */
    OPTIONS_HELP,       /* options_help() was asked for */
    OPTIONS_HELP_LAYOUT,
    OPTIONS_HELP_MPIEXEC,
    OPTIONS_VERSION,
};

/* The help text, grouped, at most 24 lines a group page and 80 columns wide; caller frees. */
char *options_help(void);
char *options_help_layout(void); /* --help layout: a screen of 24 lines; caller frees */
char *options_version(void);     /* name, version, libraries and what was left out; caller frees */

#endif
