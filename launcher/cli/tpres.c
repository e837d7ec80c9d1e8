/* tpres - resource sets: find, make, look at, cut and join them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/cli/options.h"
#include "launcher/cli/tpres.h"
#include "launcher/stdio/terminal.h"

static void complain(const char *text)
{
    terminal_complain("tpres", text, strlen(text));
}

static int refuse(const struct tpres_call *call, struct error *err, int status)
{
    complain(error_text(err));
    if (status == 2) {
        char *hint = call->method ? mem_format("'tpres %s --help' says more", call->method->name)
                                  : mem_copy_text("'tpres --help' lists the methods");
        complain(hint);
        free(hint);
    }
    error_clear(err);
    return status;
}

static int print_and_free(char *text)
{
    int failed = text ? terminal_print(STDOUT_FILENO, text, strlen(text)) : ENOMEM;
    free(text);
    return failed != 0;
}

static int run(struct tpres_call *call)
{
    struct error err = ERROR_INIT;
    call->out = terminal_stream(STDOUT_FILENO);
    if (!call->out)
        return error_set(&err, "out of memory"), refuse(call, &err, 1);
    int status = call->method->run(call, &err);
    if (status < 0)
        status = err.kind == ERROR_USAGE ? 2 : 1;
    errno = 0;
    bool lost = fflush(call->out) != 0 || ferror(call->out);
    const char *reason = errno ? strerror(errno) : "an earlier write failed";
    lost = fclose(call->out) != 0 || lost;
    if (status == 0 && lost)
        status = 1, error_set(&err, "stdout: cannot write: %s", reason);
    return status ? refuse(call, &err, status) : 0;
}

int main(int argc, char *argv[])
{
    struct error err = ERROR_INIT;
    struct tpres_call call = {0};
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
