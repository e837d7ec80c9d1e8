/* main() of a program with methods: one of them is run, and what it says is printed. */
#include "launcher/command/method.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/stdio/terminal.h"

static int method_refuse(const struct method_call *call, struct error *err, int status)
{
    const char *name = call->program->name;
    if (err->text)
        terminal_complain(name, error_text(err), strlen(error_text(err)));
    if (status == 2) {
        char *hint = call->method ? mem_format("'%s %s --help' says more", name, call->method->name)
                                  : mem_format("'%s --help' lists the methods", name);
        terminal_complain(name, hint, strlen(hint));
        free(hint);
    }
    error_clear(err);
    return status;
}

static int method_print_and_free(char *text)
{
    int failed = text ? terminal_print(STDOUT_FILENO, text, strlen(text)) : ENOMEM;
    free(text);
    return failed != 0;
}

static int method_run(struct method_call *call)
{
    struct error err = ERROR_INIT;
    call->out = terminal_stream(STDOUT_FILENO);
    if (!call->out) {
        error_set(&err, "out of memory");
        return method_refuse(call, &err, 1);
    }
    int status = call->method->run(call, &err);
    if (status < 0)
        status = err.kind == ERROR_USAGE ? 2 : 1;
    errno = 0;
    bool lost = fflush(call->out) != 0 || ferror(call->out);
    const char *reason = errno ? strerror(errno) : "an earlier write failed";
    lost = fclose(call->out) != 0 || lost;
    if (status == 0 && lost) {
        status = 1;
        error_set(&err, "stdout: cannot write: %s", reason);
    }
    return status ? method_refuse(call, &err, status) : 0;
}

int method_main(const struct method_program *program, char *const *words)
{
    struct error err = ERROR_INIT;
    struct method_call call = {0};
    int status;
    if (words[0] && strcmp(words[0], "--version") == 0)
        return method_print_and_free(program->version());
    if (method_scan(program, words, &call, &err) < 0)
        status = method_refuse(&call, &err, 2);
    else if (method_value(&call, program->help))
        status = method_print_and_free(method_help(program, call.method));
    else
        status = method_run(&call);
    method_call_clear(&call);
    return status;
}
