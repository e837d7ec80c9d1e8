/* tpres - resource sets: find, make, look at, cut and join them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/cli/options.h"
#include "launcher/cli/tpres.h"

static void complain(const char *text)
{
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        fprintf(stderr, "tpres: %.*s\n", (int)len, line);
        line += len + (line[len] == '\n');
    }
}

static int refuse(const struct tpres_call *call, struct error *err, int status)
{
    complain(error_text(err));
    if (status == 2 && call->method)
        fprintf(stderr, "tpres: 'tpres %s --help' says more\n", call->method->name);
    else if (status == 2)
        fprintf(stderr, "tpres: 'tpres --help' lists the methods\n");
    error_clear(err);
    return status;
}

static int print_and_free(char *text)
{
    int rc = text ? fputs(text, stdout) : EOF;
    free(text);
    return rc < 0 || fflush(stdout) < 0 ? 1 : 0;
}

static int run(struct tpres_call *call)
{
    struct error err = ERROR_INIT;
    int status = call->method->run(call, &err);
    if (status < 0)
        status = err.kind == ERROR_USAGE ? 2 : 1;
    if (status == 0 && (fflush(stdout) < 0 || ferror(stdout)))
        status = 1, error_set(&err, "stdout: what was to be printed cannot be written");
    return status ? refuse(call, &err, status) : 0;
}

int main(int argc, char *argv[])
{
    struct error err = ERROR_INIT;
    struct tpres_call call = {.out = stdout};
    int status;
    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        return print_and_free(options_version());
    if (tpres_scan(argv + 1, &call, &err) < 0)
        status = refuse(&call, &err, 2);
    else if (tpres_value(&call, TPRES_HELP))
        status = print_and_free(tpres_help(call.method));
    else
        status = run(&call);
    tpres_call_clear(&call);
    return status;
}
