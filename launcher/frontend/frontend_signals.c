/* What the user means by signals and keys. */
#include "launcher/frontend/frontend_private.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define TWICE 1.0     /* s within which a second SIGINT or SIGTERM ends it all at once */
#define CHOICE 0.5    /* s that the SIGINT of Ctrl-C is held back for the Ctrl-Z that may follow */
#define TOGETHER 0.02 /* s between keys that the terminal shows before anything is written */
#define HANG_UP_GRACE 1.0 /* s that tasks have when the terminal of rank 0 was closed, at most */

/* What reaches every task; a signal that was ignored when tprun started stays so. */
static const int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};
enum { NSIGNALS = sizeof(passed_on) / sizeof(passed_on[0]) };

/* The last one came within a second. */
static bool is_recent(const struct frontend *front)
{
    return clock_monotonic_seconds() - front->interrupted < TWICE;
}

/* Ctrl-Z that leaves the program to itself, and that the terminal shows on a line of its own. */
static bool is_leaving_alone(const struct frontend *front, int number)
{
    return number == SIGTSTP && front->interrupter == SIGINT && is_recent(front) &&
           clock_monotonic_seconds() - front->interrupted > TOGETHER;
}

/* True when it is the second of its kind within a second: the end, at once. */
static bool is_repeated(struct frontend *front, int number)
{
    double now = clock_monotonic_seconds();
    bool again = is_recent(front);
    if (number != SIGINT && number != SIGTERM)
        return false;
    front->interrupted = now;
    front->interrupter = number;
    if (!again)
        return false;
    front->dropping = true;
    frontend_pay(front);
    frontend_order_end(front, 0, number);
    return true;
}

/* From now on the manager has to answer: one that was stopped would keep this process for ever. */
static void watch_manager(struct frontend *front, int ender)
{
    front->ender = ender;
    if (front->manager && !front->watched)
        link_watch(front->manager, frontend_patience(front));
    front->watched = true;
}

static void on_terminal_end(void *arg)
{
    struct frontend *front = arg;
    double grace = front->spec->kill_grace;
    if (front->over)
        frontend_drop_rest(front, SIGHUP);
    watch_manager(front, SIGHUP);
    user_terminal_hang_up(&front->terminal);
    frontend_order_end(front, grace < HANG_UP_GRACE ? grace : HANG_UP_GRACE, SIGHUP);
}

const struct user_terminal_ops frontend_terminal_ops = {frontend_send_input, on_terminal_end};

static void on_interrupt_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct frontend *front = timer->data;
    struct frame frame = {.type = FRAME_SIGNAL, .flags = SIGINT};
    (void)loop, (void)events;
    if (front->role == FRONTEND_ATTACHED) {
        front->interrupted = clock_monotonic_seconds();
        watch_manager(front, SIGINT);
    }
    if (front->manager)
        link_send(front->manager, &frame);
}

static void hold_interrupt(struct frontend *front, double seconds)
{
    front->interrupted = clock_monotonic_seconds();
    front->interrupter = SIGINT;
    ev_timer_set(&front->interrupt_due, seconds, 0);
    ev_timer_start(front->loop, &front->interrupt_due);
}

/* Of a program that was not started to go on: after half a second Ctrl-C alone does what it always does. */
static bool take_keys_attached(struct frontend *front, int number)
{
    bool recent = is_recent(front);
    if (number != SIGINT && number != SIGTSTP)
        return false;
    ev_timer_stop(front->loop, &front->interrupt_due);
    if (number == SIGTSTP && recent && front->interrupter == SIGINT)
        frontend_detach(front);
    else if (number == SIGINT && !recent)
        hold_interrupt(front, CHOICE);
    else
        return false;
    return true;
}

/* Ctrl-C then Ctrl-Z: this process goes, and the program stays. Where that is possible, Ctrl-C is held back
 * until it is clear which key follows. True: the signal is dealt with. */
static bool take_keys(struct frontend *front, int number, bool from_terminal)
{
    bool waits = ev_is_active(&front->interrupt_due);
    if (front->over)
        return false;
    if (frontend_can_detach(front))
        return from_terminal && take_keys_attached(front, number);
    if (front->role != FRONTEND_VIEWER || !(front->replay || task_table_ntasks(front->mapped)))
        return false;
    bool ends = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    if (front->id && ends && (!front->manager || number == SIGTERM)) { /* it only looks */
        frontend_leave(front, number);
        return true;
    }
    ev_timer_stop(front->loop, &front->interrupt_due);
    if (number == SIGHUP || (waits && number == SIGTSTP)) {
        frontend_leave(front, number == SIGHUP ? SIGHUP : 0);
        return true;
    }
    if (number != SIGINT || !from_terminal || waits)
        return false;
    static const char choice[] =
        "Ctrl-C again within 1 s ends the program, Ctrl-Z leaves it to itself";
    frontend_say(front, choice, strlen(choice));
    hold_interrupt(front, TWICE);
    return true;
}

static void on_signal(void *arg, int number, const char *sender, bool from_terminal)
{
    struct frontend *front = arg;
    struct frame frame = {
        .type = FRAME_SIGNAL, .flags = (uint16_t)number, .bytes = sender, .len = strlen(sender)};
    bool ends = number != SIGTSTP && number != SIGCONT && number != SIGWINCH;
    bool shown = ends || is_leaving_alone(front, number);
    front->result.interrupted |= number == SIGINT;
    if (from_terminal && shown && isatty(STDERR_FILENO))
        output_break(front->output); /* the terminal's ^C or ^Z stands there */
    if (front->guarded && front->runs && !front->over && ends) { /* with the task that it is of */
        frontend_leave(front, number);
        return;
    }
    if (take_keys(front, number, from_terminal))
        return;
    if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT)
        watch_manager(front, number);
    if (is_repeated(front, number) && !front->over)
        return;
    if (front->over && ends)
        frontend_drop_rest(front, number);
    bool ours = user_terminal_signal(&front->terminal, number);
    if (front->manager && !ours)
        link_send(front->manager, &frame);
    if (number == SIGTSTP) {
        if (front->manager)
            link_flush(front->manager, 1.0);
        raise(SIGSTOP);
    } else if (number == SIGCONT && front->input) {
        stdin_reader_resume(front->input);
    }
}

int frontend_signals_init(struct frontend *front)
{
    ev_timer_init(&front->interrupt_due, on_interrupt_due, 0, 0);
    front->interrupt_due.data = front;
    front->interrupted = -INFINITY;
    front->signals = signal_source_new(front->loop, passed_on, NSIGNALS, on_signal, front);
    return front->signals ? 0 : -1;
}
