/* The methods of a control socket, by a table. */
#include "launcher/manager/manager_control.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "launcher/control/control_socket.h"
#include "launcher/program/program_control.h"
#include "launcher/protocol/control_answer.h"

#define AFTER_LAUNCH                                                                               \
    0.05 /* s: programs that end sooner have no socket, and start no slower for it */
#define WHILE_PENDING 0.5 /* s that a program has waited by the time it can be spoken to */

struct manager_control {
    struct ev_loop *loop;
    struct program *program;
    void (*note)(void *owner, const char *text);
    void *owner;
    struct control_socket *socket; /* NULL: none yet */
    bool over;
    ev_timer due;
};

/* ---- methods ---- */

struct manager_call { /* freed once it is answered */
    struct program_asker asker;
    struct control_peer *peer;
};

static void call_on_answered(void *owner, const struct control_answer *answer)
{
    struct manager_call *call = owner;
    control_peer_answer(call->peer, answer);
    free(call);
}

static void run_signal(struct program *program, const struct control_request *request,
                       const char *who, const struct program_asker *asker)
{
    program_control_signal(program, request->number, request->ranks, who, asker);
}

static void run_terminate(struct program *program, const struct control_request *request,
                          const char *who, const struct program_asker *asker)
{
    program_control_terminate(program, request->grace, who, asker);
}

static void run_ps(struct program *program, const struct control_request *request, const char *who,
                   const struct program_asker *asker)
{
    (void)request, (void)who;
    program_control_ps(program, asker);
}

static void (*const methods[CONTROL_NMETHODS])(struct program *program,
                                               const struct control_request *request,
                                               const char *who,
                                               const struct program_asker *asker) = {
    [CONTROL_METHOD_SIGNAL] = run_signal,
    [CONTROL_METHOD_TERMINATE] = run_terminate,
    [CONTROL_METHOD_PS] = run_ps,
};

static void control_on_request(void *owner, struct control_peer *peer,
                               const struct control_request *request, const char *who)
{
    struct manager_control *control = owner;
    if (!methods[request->method]) {
        struct control_answer answer = {0};
        control_answer_refuse(&answer, CONTROL_REFUSED, "its manager has no method %s",
                              control_method_name(request->method));
        control_peer_answer(peer, &answer);
        control_answer_clear(&answer);
        return;
    }
    struct manager_call *call = mem_alloc(sizeof(*call));
    *call = (struct manager_call){{call_on_answered, call}, peer};
    methods[request->method](control->program, request, who, &call->asker);
}

static const struct control_socket_ops socket_ops = {control_on_request};

/* ---- the socket ---- */

static void control_set_due(struct manager_control *control, double seconds)
{
    ev_timer_stop(control->loop, &control->due);
    ev_timer_set(&control->due, seconds, 0);
    ev_timer_start(control->loop, &control->due);
}

/* A program that is not in the ledger yet can be spoken to later. */
static void control_on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager_control *control = timer->data;
    struct error err = ERROR_INIT;
    int dir = program_directory(control->program);
    (void)events;
    if (dir < 0) {
        control_set_due(control, WHILE_PENDING);
        return;
    }
    control->socket = control_socket_open(loop, dir, &socket_ops, control, &err);
    if (!control->socket)
        control->note(control->owner, error_text(&err));
    error_clear(&err);
}

void manager_control_launched(struct manager_control *control)
{
    if (!control->socket && !control->over)
        control_set_due(control, AFTER_LAUNCH);
}

/* ---- life ---- */

struct manager_control *manager_control_new(struct ev_loop *loop, struct program *program,
                                            void (*note)(void *owner, const char *text),
                                            void *owner)
{
    struct manager_control *control = mem_alloc(sizeof(*control));
    *control =
        (struct manager_control){.loop = loop, .program = program, .note = note, .owner = owner};
    ev_timer_init(&control->due, control_on_due, 0, 0);
    control->due.data = control;
    control_set_due(control, WHILE_PENDING);
    return control;
}

void manager_control_shut(struct manager_control *control)
{
    control->over = true;
    ev_timer_stop(control->loop, &control->due);
    if (control->socket)
        control_socket_shut(control->socket);
}

void manager_control_free(struct manager_control *control)
{
    if (!control)
        return;
    manager_control_shut(control);
    control_socket_free(control->socket);
    free(control);
}

void manager_control_disown(struct manager_control *control)
{
    control_socket_disown(control->socket);
}
