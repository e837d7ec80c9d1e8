/* --help and --version. */
#include <ev.h>
#include <hwloc.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "base/buf.h"
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

static int help_width(void)
{
    size_t width = 0;
    for (const struct option *option = option_table; option->name; option++) {
        if (!help_has_line(option))
            continue;
        char *left = help_left(option);
        width = strlen(left) > width ? strlen(left) : width;
        free(left);
    }
    return (int)width;
}

static void help_group(struct buf *help, int group, int width)
{
    buf_printf(help, "%s:\n", option_group_titles[group]);
    for (const struct option *option = option_table; option->name; option++) {
        if (!help_has_line(option) || (int)option->group != group)
            continue;
        char *left = help_left(option);
        buf_printf(help, "  %-*s  %s\n", width, left, option->help);
        free(left);
    }
}

char *options_help(void)
{
    struct buf help = BUF_INIT;
    int width = help_width();
    buf_add_text(&help,
                 "Usage: tprun [OPTIONS] PROGRAM [ARG...] [ : [OPTIONS] PROGRAM [ARG...] ]...\n");
    for (int group = 0; group < OPTION_NGROUPS; group++)
        help_group(&help, group, width);
    buf_add_text(&help, "See man tprun; "
                        "who knows mpirun, srun, flux, aprun or jsrun: man tprun-migrate.\n");
    return buf_take_text(&help);
}

int help_topic(const char *word)
{
    return strcmp(word, "layout") == 0    ? OPTIONS_HELP_LAYOUT
           : strcmp(word, "mpiexec") == 0 ? OPTIONS_HELP_MPIEXEC
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
