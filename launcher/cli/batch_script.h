/*
 * batch_script - what tpbatch is to run: a script with options in it, any other program, or a
 * shell.
 *
 *     #!/bin/sh
 *     #TPRUN: -N 2 -n 8
 *     #TPRUN: --time-limit 10m
 *     tprun ./app
 *
 * Lines that begin with "#TPRUN:" hold options as the command line has them, which wins. They stand
 * before the first line that is no comment (as RFC 36 has it); one behind it is refused, since
 * nobody would look at it. So is a comment that was meant to be one, such as "#TPRUN -N 2".
 */
#ifndef LAUNCHER_CLI_BATCH_SCRIPT_H
#define LAUNCHER_CLI_BATCH_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "launcher/options/option_defaults.h"

bool batch_script_is_name(const char *program); /* of this program: "tpbatch", with any path */
char *batch_script_help(void);                  /* caller frees */

/* The words that run it: a script that may not be executed itself, by the interpreter that its
 * first line names; without any word $SHELL. Its lines of options are added to those that come
 * before the command line. NULL with a sentence that names file and line. Caller frees with
 * string_list_free(). */
char **batch_script_words(char *const *words, size_t nwords, struct option_defaults *before,
                          struct error *err);

#endif
