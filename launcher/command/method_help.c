/* The texts of --help of a program with methods. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/command/method.h"

#define HELP_COLUMNS 24 /* at most, in front of what an option does */

static char *help_of_method(const struct method_program *program, const struct method *method)
{
    struct buf help = BUF_INIT;
    buf_printf(&help, "Usage: %s %s%s%s\n%s.\n", program->name, method->name,
               *method->usage ? " " : "", method->usage, method->about);
    if (method->help)
        buf_printf(&help, "\n%s", method->help);
    if (method->offers->help)
        buf_add_text(&help, "\n");
    for (const struct method_offer *offer = method->offers; offer->help; offer++) {
        const struct method_option *row = &program->options[offer->option];
        char letter[8] = "";
        if (row->letter)
            snprintf(letter, sizeof(letter), "-%c, ", row->letter);
        char *left = mem_format("%s--%s%s%s", letter, row->name, row->argument ? " " : "",
                                row->argument ? row->argument : "");
        buf_printf(&help, "  %-*s %s\n", HELP_COLUMNS, left, offer->help);
        free(left);
    }
    return buf_take_text(&help);
}

char *method_help(const struct method_program *program, const struct method *method)
{
    struct buf help = BUF_INIT;
    if (method)
        return help_of_method(program, method);
    buf_printf(&help, "Usage: %s %s\n%s\n\n", program->name, program->usage, program->about);
    for (const struct method *each = program->methods; each->name; each++)
        buf_printf(&help, "  %-10s %s\n", each->name, each->about);
    buf_printf(&help, "\n%s\n'%s METHOD --help' says more; %s(1) all.\n", program->closing,
               program->name, program->name);
    return buf_take_text(&help);
}
