/*
 * tprun_options - the command line of tprun becomes a spec.
 *
 * One table holds every option: name, argument, group, help, handler. --help is printed from the
 * same table. Options of configuration files and of TPRUN_OPTIONS come first (option_defaults.h);
 * options end at the program's name; parts of an MPMD program are separated by a lone ":".
 */
#ifndef LAUNCHER_CLI_TPRUN_OPTIONS_H
#define LAUNCHER_CLI_TPRUN_OPTIONS_H

#include "base/error.h"
#include "launcher/options/option.h"
#include "launcher/spec/spec.h"

/* Fills *spec (from spec_new(); the caller frees it whatever happens). Returns an action, or -1
 * with a sentence of kind ERROR_USAGE that names the option and what would be right. */
int options_parse(int argc, char *const argv[], struct spec *spec, struct error *err);
/* The same for tpbatch, whose program is an instance's initial one: see batch_script.h. */
int options_parse_batch(int argc, char *const argv[], struct spec *spec, struct error *err);
/* Options of an empty program, which is given one to run later: tpctl new. 0, or -1 with a sentence
 * of the same kind. */
int options_parse_empty(char *const words[], struct spec *spec, struct error *err);

#endif
