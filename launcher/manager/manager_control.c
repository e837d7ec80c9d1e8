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
    struct manager_control_config config;
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

/* The asker of a new call. */
static const struct program_asker *call_asker(struct control_peer *peer)
{
    struct manager_call *call = mem_alloc(sizeof(*call));
    *call = (struct manager_call){{call_on_answered, call}, peer};
    return &call->asker;
}

static void run_signal(struct manager_control *control, struct control_peer *peer,
                       const struct control_request *request, const char *who)
{
    program_control_signal(control->config.program, request->number, request->ranks, who,
                           call_asker(peer));
}

static void run_terminate(struct manager_control *control, struct control_peer *peer,
                          const struct control_request *request, const char *who)
{
    program_control_terminate(control->config.program, request->grace, who, call_asker(peer));
}

static void run_ps(struct manager_control *control, struct control_peer *peer,
                   const struct control_request *request, const char *who)
{
    (void)request, (void)who;
    program_control_ps(control->config.program, call_asker(peer));
}

static void run_save(struct manager_control *control, struct control_peer *peer,
                     const struct control_request *request, const char *who)
{
    struct control_answer answer = {0};
    (void)request, (void)who;
    control->config.save(control->config.owner, &answer);
    control_peer_answer(peer, &answer);
    control_answer_clear(&answer);
}

static void run_input(struct manager_control *control, struct control_peer *peer,
                      const struct control_request *request, const char *who)
{
    input_sender_ask(control->config.input, peer, request->ranks, who);
}

static void (*const methods[CONTROL_NMETHODS])(struct manager_control *control,
                                               struct control_peer *peer,
                                               const struct control_request *request,
                                               const char *who) = {
    [CONTROL_METHOD_SIGNAL] = run_signal, [CONTROL_METHOD_TERMINATE] = run_terminate,
    [CONTROL_METHOD_PS] = run_ps,         [CONTROL_METHOD_SAVE] = run_save,
    [CONTROL_METHOD_INPUT] = run_input,
};

static void control_on_request(void *owner, struct control_peer *peer,
                               const struct control_request *request, const char *who)
{
    methods[request->method](owner, peer, request, who);
}

static void control_on_input(void *owner, struct control_peer *peer, const struct frame *frame)
{
    input_sender_take(((struct manager_control *)owner)->config.input, peer, frame);
}

static void control_on_left(void *owner, struct control_peer *peer)
{
    input_sender_left(((struct manager_control *)owner)->config.input, peer);
}

static const struct control_socket_ops socket_ops = {control_on_request, control_on_input,
                                                     control_on_left};

/* ---- the socket ---- */

static void control_set_due(struct manager_control *control, double seconds)
{
    ev_timer_stop(control->config.loop, &control->due);
    ev_timer_set(&control->due, seconds, 0);
    ev_timer_start(control->config.loop, &control->due);
}

/* A program that is not in the ledger yet can be spoken to later. */
static void control_on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager_control *control = timer->data;
    struct error err = ERROR_INIT;
    int dir = program_directory(control->config.program);
    (void)events;
    if (dir < 0) {
        control_set_due(control, WHILE_PENDING);
        return;
    }
    control->socket = control_socket_open(loop, dir, &socket_ops, control, &err);
    if (!control->socket)
        control->config.note(control->config.owner, error_text(&err));
    error_clear(&err);
}

void manager_control_launched(struct manager_control *control)
{
    if (!control->socket && !control->over)
        control_set_due(control, AFTER_LAUNCH);
}

/* ---- life ---- */

struct manager_control *manager_control_new(const struct manager_control_config *config)
{
    struct manager_control *control = mem_alloc(sizeof(*control));
    *control = (struct manager_control){.config = *config};
    ev_timer_init(&control->due, control_on_due, 0, 0);
    control->due.data = control;
    control_set_due(control, WHILE_PENDING);
    return control;
}

void manager_control_shut(struct manager_control *control)
{
    control->over = true;
    ev_timer_stop(control->config.loop, &control->due);
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
