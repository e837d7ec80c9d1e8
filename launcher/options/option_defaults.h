/*
 * option_defaults - options that are read before those of the command line: of configuration files,
 * and of TPRUN_OPTIONS.
 *
 *     SYSCONFDIR/tprun.conf
 *     $XDG_CONFIG_HOME/tprun/tprun.conf, else ~/.config/tprun/tprun.conf
 *     $TPRUN_OPTIONS
 *     in an instance, what tpbatch was given that holds for programs inside, too (OPTION_INSIDE)
 *
 * later ones win. $TPRUN_CONFIG lists files, with colons between them, that are read in place of
 * these two. A line of a file holds options as the command line has them; one that begins with # is
 * a comment. A file that is not there is no failure. One that another user may have written is
 * refused, since options name commands.
 */
#ifndef LAUNCHER_OPTIONS_OPTION_DEFAULTS_H
#define LAUNCHER_OPTIONS_OPTION_DEFAULTS_H

#include <stddef.h>

#include "base/error.h"

#define OPTION_FILE_MAX (1u << 20) /* bytes of a configuration file */

struct option_default {
    char *origin; /* for people: "/etc/tprun.conf, line 3", "TPRUN_OPTIONS" */
    char **words; /* ends at a NULL */
};

struct option_defaults {
    struct option_default *lines; /* in the order in which they are applied */
    size_t count;
    size_t ndefaults; /* the first of them that are of files and of TPRUN_OPTIONS */
};

/* In tasks of an instance: what tpbatch hands down, as TPRUN_OPTIONS has options. It counts where
 * TPRUN_BATCH is set. */
#define OPTION_INSIDE_VARIABLE "TPRUN_BATCH_OPTIONS"

/* 0, or -1 with a sentence. option_defaults_clear() either way. */
int option_defaults_read(struct option_defaults *defaults, struct error *err);
/* One line more, from this place (taken). 0, or -1 with a sentence. */
int option_defaults_add(struct option_defaults *defaults, char *origin, const char *text,
                        struct error *err);
void option_defaults_clear(struct option_defaults *defaults);

#endif
