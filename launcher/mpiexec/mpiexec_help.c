/* mpiexec --help: the table, by dialect. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "launcher/mpiexec/mpiexec.h"
#include "launcher/mpiexec/mpiexec_private.h"

#define HELP_LEFT 30
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
    if (option->arguments && option->arguments[0] == '[')
        buf_printf(&text, "[=%s", option->arguments + 1);
    else if (option->arguments)
        buf_printf(&text, " %s", option->arguments);
    return buf_take_text(&text);
}

/* The text from this column on, broken at blanks where the line would be too long. */
static void help_wrap(struct buf *help, const char *text, size_t indent, size_t column)
{
    while (*text) {
        size_t len = strcspn(text, " ");
        if (column > indent && column + 1 + len > HELP_WIDTH) {
            buf_printf(help, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            buf_add_char(help, ' ');
            column++;
        }
        buf_add(help, text, len);
        column += len;
        text += len + (text[len] == ' ');
    }
    buf_add_char(help, '\n');
}

static void help_row(struct buf *help, const struct mpiexec_option *option)
{
    struct buf right = BUF_INIT;
    char *left = help_names(option);
    size_t indent = HELP_LEFT + 2;
    buf_add_text(help, "  ");
    if (strlen(left) + 1 < HELP_LEFT) {
        buf_printf(help, "%-*s", HELP_LEFT, left);
    } else {
        help_wrap(help, left, 4, 2);
        buf_printf(help, "%*s", (int)indent, "");
    }
    mpiexec_fill(&right, option->native, option->arguments, NULL);
    help_wrap(help, buf_text(&right), indent, indent);
    buf_free(&right);
    free(left);
}

char *mpiexec_help(void)
{
    static const struct {
        const char *title;
        enum mpiexec_dialect dialect;
        enum mpiexec_place place; /* WHOLE: all that have a meaning */
    } sections[] = {
        {"Options of MPICH and Open MPI with one meaning, and what tprun does", MPIEXEC_EITHER,
         MPIEXEC_WHOLE},
        {"Options of MPICH, and what tprun does", MPIEXEC_HYDRA, MPIEXEC_WHOLE},
        {"Options of Open MPI, and what tprun does", MPIEXEC_OPENMPI, MPIEXEC_WHOLE},
        {"Ignored options of both, and why", MPIEXEC_EITHER, MPIEXEC_IDLE},
        {"Ignored options of MPICH, and why", MPIEXEC_HYDRA, MPIEXEC_IDLE},
        {"Ignored options of Open MPI, and why", MPIEXEC_OPENMPI, MPIEXEC_IDLE},
        {"Refused options of MPICH, and what to write instead", MPIEXEC_HYDRA, MPIEXEC_NONE},
        {"Refused options of Open MPI, and what to write instead", MPIEXEC_OPENMPI, MPIEXEC_NONE},
    };
    struct buf help = BUF_INIT;
    buf_add_text(&help,
                 "Usage: mpiexec [OPTIONS] PROGRAM [ARG...] [ : [OPTIONS] PROGRAM "
                 "[ARG...] ]...\n"
                 "tprun, run by the name of another launcher. Options have one dash or two.\n"
                 "Long options of tprun itself, such as --dry-run, need two: see tprun --help.\n");
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        bool titled = false;
        for (const struct mpiexec_option *option = mpiexec_table; option->names; option++) {
            bool means = option->place != MPIEXEC_IDLE && option->place != MPIEXEC_NONE;
            if (option->dialect != sections[i].dialect ||
                (sections[i].place == MPIEXEC_WHOLE ? !means : option->place != sections[i].place))
                continue;
            if (!titled)
                buf_printf(&help, "\n%s:\n", sections[i].title);
            titled = true;
            help_row(&help, option);
        }
    }
    return buf_take_text(&help);
}
