/* mpiexec --help: both columns of the table. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "launcher/cli/mpiexec.h"
#include "launcher/cli/mpiexec_private.h"

#define HELP_LEFT 34
#define HELP_WIDTH 79

/* "-host, -hosts A:2,B". */
static char *help_names(const struct mpiexec_option *option)
{
    struct buf text = BUF_INIT;
    for (const char *at = option->names; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        buf_printf(&text, "%s-%.*s", at == option->names ? "" : ", ", (int)len, at);
        at += len;
    }
    if (option->arguments)
        buf_printf(&text, " %s", option->arguments);
    return buf_take_text(&text);
}

/* The native words with the names of the values in the places of {}. */
static char *help_native(const struct mpiexec_option *option)
{
    struct buf text = BUF_INIT;
    const char *name = option->arguments ? option->arguments : "";
    for (const char *at = option->native; *at; at++) {
        if (strncmp(at, "{}", 2) != 0) {
            buf_add_char(&text, *at);
            continue;
        }
        size_t len = strcspn(name, " ");
        buf_add(&text, name, len);
        name += len + (name[len] == ' ');
        at++;
    }
    return buf_take_text(&text);
}

static void help_row(struct buf *help, const struct mpiexec_option *option)
{
    char *left = help_names(option), *right = help_native(option);
    buf_printf(help, "  %-*s%s%s\n", HELP_LEFT, left,
               strlen(left) < HELP_LEFT ? "" : "\n                                    ", right);
    free(left);
    free(right);
}

/* All names of a kind, as many on a line as there is room for. */
static void help_list(struct buf *help, const char *title, enum mpiexec_place place)
{
    size_t column = strlen(title);
    buf_add_text(help, title);
    for (const struct mpiexec_option *option = mpiexec_table; option->names; option++) {
        size_t len = strcspn(option->names, " ");
        if (option->place != place)
            continue;
        if (column + len + 2 > HELP_WIDTH) {
            buf_add_text(help, "\n ");
            column = 1;
        }
        buf_printf(help, " -%.*s", (int)len, option->names);
        column += len + 2;
    }
    buf_add_char(help, '\n');
}

char *mpiexec_help(void)
{
    struct buf help = BUF_INIT;
    buf_add_text(&help, "Usage: mpiexec [OPTIONS] PROGRAM [ARG...] [ : [OPTIONS] PROGRAM "
                        "[ARG...] ]...\n"
                        "tprun by the name of mpiexec. One dash or two, and what tprun has for "
                        "it:\n");
    for (const struct mpiexec_option *option = mpiexec_table; option->names; option++)
        if (option->place != MPIEXEC_IDLE && option->place != MPIEXEC_NONE)
            help_row(&help, option);
    help_list(&help, "Taken, and not needed:", MPIEXEC_IDLE);
    help_list(&help, "Refused, with what to write instead:", MPIEXEC_NONE);
    buf_add_text(&help, "Also tprun's own long options, such as --dry-run: see tprun --help.\n");
    return buf_take_text(&help);
}
