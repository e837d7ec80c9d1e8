/* The texts of --help, --help layout, --help options and --version. */
#include <ev.h>
#include <hwloc.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/options/option.h"
#include "launcher/options/option_help.h"
#include "pmi-server/pmix/server.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(unversioned)"
#endif

static bool help_shares(const struct option *option)
{
    return option->name && !option->help && !(option->flags & OPTION_LATER);
}

/* "-n, -np, --ntasks N". Of options on one line with one argument, the last shows it. */
static void help_spelling(struct buf *line, const struct option *option)
{
    const struct option *next = option + 1;
    bool again = help_shares(next) && option->argument && next->argument &&
                 strcmp(option->argument, next->argument) == 0;
    if (option->letter)
        buf_printf(line, "-%c, ", option->letter);
    if (option->alias)
        buf_printf(line, "-%s, ", option->alias);
    buf_printf(line, "%s%s", option->flags & OPTION_DASH ? "-" : "--", option->name);
    if (option->argument && !again)
        buf_printf(line, option->flags & OPTION_MAYBE ? "[=%s]" : " %s", option->argument);
}

/* The left half of a line: an option and those that share its line. */
static char *help_left(const struct option *option)
{
    struct buf line = BUF_INIT;
    help_spelling(&line, option);
    while (help_shares(++option)) {
        buf_add_text(&line, ", ");
        help_spelling(&line, option);
    }
    return buf_take_text(&line);
}

static bool help_has_line(const struct option *option)
{
    return option->help && !(option->flags & OPTION_LATER);
}

char *options_help(void)
{
    struct buf help = BUF_INIT;
    size_t width = 0; /* of the widest left half */
    for (const struct option *option = option_table; option->name; option++) {
        char *left = help_has_line(option) ? help_left(option) : NULL;
        width = left && strlen(left) > width ? strlen(left) : width;
        free(left);
    }
    buf_add_text(&help,
                 "Usage: tprun [OPTIONS] PROGRAM [ARG...] [ : [OPTIONS] PROGRAM [ARG...] ]...\n");
    for (int group = 0; group < OPTION_NGROUPS; group++) {
        buf_printf(&help, "%s:\n", option_group_titles[group]);
        for (const struct option *option = option_table; option->name; option++) {
            if (!help_has_line(option) || (int)option->group != group)
                continue;
            char *left = help_left(option);
            buf_printf(&help, "  %-*s  %s\n", (int)width, left, option->help);
            free(left);
        }
    }
    buf_add_text(&help, "An FSD is a duration: 90s, 10m, 1.5h or inf. "
                        "A HOSTLIST: node[0-3,7],login.\n"
                        "Many runs in one allocation: man tpbatch. "
                        "To list, watch or end runs: man tpctl.\n"
                        "More: man tprun. "
                        "From mpirun, srun, flux, aprun, jsrun: man tprun-migrate.\n");
    return buf_take_text(&help);
}

/* What its pictures show, tprun prints: a command test holds them to it. */
/* clang-format off: a line a line of the screen */
static const char layout_help[] =
    "tprun places one task after the other. On a node of two sockets with four cores\n"
    "(each shows the rank that has it, ~ if several share it, . if it is idle):\n"
    "\n"
    "  tprun -n 6 --map-by core                        [ 0 1 2 3 ]  [ 4 5 . . ]\n"
    "  tprun -n 6 --map-by socket                      [ 0 2 4 ~ ]  [ 1 3 5 ~ ]\n"
    "  tprun -n 6 --map-by socket --order sequential   [ 0 1 2 ~ ]  [ 3 4 5 ~ ]\n"
    "  tprun -n 4 --map-by socket -c 2                 [ 0 0 2 2 ]  [ 1 1 3 3 ]\n"
    "\n"
    "--map-by LEVEL   each LEVEL in turn gets a task; one node is filled before the\n"
    "                 next, unless LEVEL is node, or :span is behind it (socket:span)\n"
    "--bind-to LEVEL  a task may use the LEVEL around its place; without this, that\n"
    "                 of --map-by; 2c is two cores; with none it is not bound\n"
    "--order WHICH    natural ranks follow the placing, sequential ones the hardware\n"
    "-c N             N cores next to each other for each task; OpenMP is told so\n"
    "--per N:LEVEL    N tasks on each LEVEL that there is: 1:numa, 8:node, 1:gpu\n"
    "--mppr LIMITS    2:s,1:c: at most two a socket and one a core (default 1:c)\n"
    "--oversubscribe  more than that\n"
    "\n"
    "LEVEL: hwthread, core, l1cache, l2cache, l3cache, numa, socket, board or node.\n"
    "Their letters h c L1 L2 L3 N s b n say any order of loops: --map-by scnh.\n"
    "\n"
    "  tprun --dry-run -n 6 --map-by socket --topology 'n[0-1]=package:2 core:4 pu:2'\n"
    "\n"
    "shows it first; without --topology, on your own nodes. See man tprun-layout.\n";
/* clang-format on */

char *options_help_layout(void)
{
    return mem_copy_text(layout_help);
}

char *options_help_list(void)
{
    struct buf list = BUF_INIT;
    for (const struct option *option = option_table; option->name; option++) {
        bool maybe = option->flags & OPTION_MAYBE;
        if (option->flags & OPTION_LATER)
            continue;
        if (option->letter)
            buf_printf(&list, "-%c ", option->letter);
        if (option->alias)
            buf_printf(&list, "-%s ", option->alias);
        buf_printf(&list, "%s%s", option->flags & OPTION_DASH ? "-" : "--", option->name);
        if (option->argument)
            buf_printf(&list, maybe ? " [%s]" : " %s", option->argument);
        buf_add_text(&list, "\n");
    }
    return buf_take_text(&list);
}

int help_topic(const char *word)
{
    return strcmp(word, "layout") == 0    ? OPTIONS_HELP_LAYOUT
           : strcmp(word, "mpiexec") == 0 ? OPTIONS_HELP_MPIEXEC
           : strcmp(word, "options") == 0 ? OPTIONS_HELP_LIST
                                          : OPTIONS_RUN;
}

char *options_version(void)
{
    struct buf text = BUF_INIT;
    struct error err = ERROR_INIT;
    const char *pmix = pmix_server_version(&err);
    buf_printf(&text, "tprun %s\nhwloc %s, jansson %s, libev %d.%d; ", PACKAGE_VERSION,
               HWLOC_VERSION, JANSSON_VERSION, EV_VERSION_MAJOR, EV_VERSION_MINOR);
    if (pmix)
        buf_printf(&text, "PMIx %s\n", pmix);
    else if (spec_pmi_served & SPEC_PMI_X)
        buf_printf(&text, "built with PMIx, but %s\n", error_text(&err));
    else
        buf_add_text(&text, "built without PMIx\n");
    error_clear(&err);
    return buf_take_text(&text);
}
