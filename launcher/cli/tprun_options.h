/*
 * options - the command line of tprun becomes a spec.
 *
 * One table holds every option: name, argument, group, help, handler. --help is printed from the
 * same table. Options of TPRUN_OPTIONS come first; options end at the program's name; parts of an
 * MPMD program are separated by a lone ":".
 */
#ifndef LAUNCHER_CLI_TPRUN_OPTIONS_H
#define LAUNCHER_CLI_TPRUN_OPTIONS_H

#include "base/error.h"
#include "launcher/spec/spec.h"

enum options_action {
    OPTIONS_RUN,        /* run (or show) the spec */
    OPTIONS_PRINT_SPEC, /* print the spec as JSON, start nothing */
    OPTIONS_CHECK,      /* look at the programs of the parts, start nothing */
    OPTIONS_HELP,       /* options_help() was asked for */
    OPTIONS_HELP_LAYOUT,
    OPTIONS_HELP_MPIEXEC,
    OPTIONS_VERSION,
};

/* Fills *spec (from spec_new(); the caller frees it whatever happens). Returns an action, or -1
 * with a sentence of kind ERROR_USAGE that names the option and what would be right. */
int options_parse(int argc, char *const argv[], struct spec *spec, struct error *err);

/* The help text, grouped, at most 24 lines a group page and 80 columns wide; caller frees. */
char *options_help(void);
char *options_help_layout(void); /* --help layout: a screen of 24 lines; caller frees */
char *options_version(void);     /* name, version, libraries and what was left out; caller frees */

#endif
