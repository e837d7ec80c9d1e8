/* tpctl attach: what was saved of a program's output and what comes, to its end; signals of the terminal go to its
 * tasks. */
#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/stdio/terminal.h"
#include "launcher/tpctl/ask_manager.h"
#include "launcher/tpctl/tpctl_view.h"
#include "launcher/tree/link.h"

/* ---- a process that has orders carried out: an answer may take seconds, and output goes on meanwhile ---- */

static void attach_on_frame(struct link *link, void *arg, const struct frame *frame)
{
    const struct found_program *program = arg;
    struct control_request request = {.method = CONTROL_METHOD_SIGNAL, .number = frame->flags};
    struct control_answer answer = {0};
    struct error err = ERROR_INIT;
    (void)link;
    if (frame->type == FRAME_TERMINATE) {
        request.method = CONTROL_METHOD_TERMINATE;
        request.grace = frame->rank / 1000.0;
    }
    int number = frame->flags;
    bool order = frame->type == FRAME_TERMINATE;
    if (frame->type == FRAME_SIGNAL) /* others are about this terminal */
        order = number == SIGINT || number == SIGQUIT || number == SIGUSR1 || number == SIGUSR2;
    int status = order ? ask_manager(program, &request, &answer, &err) : 0;
    if (status && status != TPCTL_WRONG_STATE) /* it may end by itself */
        terminal_complain("tpctl", error_text(&err), strlen(error_text(&err)));
    control_answer_clear(&answer);
    error_clear(&err);
}

static void attach_on_closed(struct link *link, void *arg, const struct error *why)
{
    (void)arg, (void)why;
    link_free(link);
    ev_break(ev_default_loop(0), EVBREAK_ALL);
}

static const struct link_ops attach_link_ops = {attach_on_frame, NULL, attach_on_closed, NULL,
                                                NULL};

/* The descriptor to it, or -1 with a sentence. */
static int start_orders(const struct found_program *program, struct error *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return error_set(err, "cannot make a socket pair: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        setsid(); /* the terminal's signals are the other's */
        link_new(ev_default_loop(0), pair[1], pair[1], &attach_link_ops,
                 (void *)(uintptr_t)program);
        ev_run(ev_default_loop(0), 0);
        _exit(0);
    }
    close(pair[1]);
    if (pid > 0)
        return pair[0];
    close(pair[0]);
    return error_set(err, "cannot start a process: %s", strerror(errno));
}

/* ---- the method ---- */

static int attach(const struct method_call *call, const struct found_program *program,
                  struct error *err)
{
    struct saved_reader *reader = tpctl_view_reader(program, err);
    bool lives = found_program_lives(program);
    int orders = reader && lives ? start_orders(program, err) : -1;
    if (!reader || (lives && orders < 0)) {
        saved_reader_free(reader);
        return -1;
    }
    struct spec *spec = tpctl_view_spec(call, program);
    struct frontend_config config = {.spec = spec,
                                     .role = FRONTEND_VIEWER,
                                     .fd = orders,
                                     .foreground = -1,
                                     .id = found_program_id(program),
                                     .reader = reader,
                                     .follows = true};
    struct frontend_result result = frontend_run(&config);
    spec_free(spec);
    return result.status;
}

int tpctl_attach(struct method_call *call, struct error *err)
{
    const struct found_program *program;
    struct program_search *search = tpctl_search(call, err);
    int status = search ? tpctl_find(call, search, call->words[0], &program, err) : -1;
    if (status == 0)
        status = attach(call, program, err);
    program_search_free(search);
    return status;
}
