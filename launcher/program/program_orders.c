/* What a program is ordered: signals for its tasks, and its end. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/process/signal_name.h"
#include "launcher/program/program_private.h"

/* Where no task has been started there is nothing that they could mean but the end. */
static bool ends_start(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* A signal that is not always the end is passed on without a word. */
static void stop_program(struct program *program, int number, const char *sender)
{
    bool end = ends_start(number);
    char *before = !end               ? NULL
                   : *sender          ? mem_format("told to end by %s: ", sender)
                   : number == SIGINT ? mem_copy_text("") /* whoever sits there knows */
                                      : mem_copy_text("told to end: ");
    if (end)
        outcome_signal_sent(program->outcome, number);
    graceful_stop_signal(program->stop, number, before,
                         number == SIGINT    ? "; Ctrl-C again within 1 s ends them"
                         : number == SIGTERM ? "; SIGTERM again within 1 s ends them"
                                             : "");
}

void program_signal(struct program *program, int number, const char *sender)
{
    struct frame frame = {.type = FRAME_SIGNAL, .flags = (uint16_t)number};
    if (program_is_live(program) && program->spec->agents_only) {
        if (ends_start(number))
            program_terminate(program, 0, number);
    } else if (program_is_live(program)) {
        if (signal_asks_for_end(number))
            stop_program(program, number, sender);
        else
            tree_send(program->tree, &frame);
    } else if (program_is_pending(program) && ends_start(number)) {
        char *doing = program_start_describe(program->start);
        char *line = mem_format("ended by %s%s%s %s", signal_name(number), *sender ? " from " : "",
                                sender, doing);
        program_fail(program, 128 + number, line, 0);
        free(line);
        free(doing);
    }
}

void program_terminate(struct program *program, double grace, int number)
{
    if (number) {
        char *line = mem_format("ended by signal %d (%s)", number, strsignal(number));
        outcome_other(program->outcome, clock_monotonic_ns(), 128 + number, line);
        free(line);
    }
    program_event(program, PROGRAM_TERMINATE, grace);
}

void program_instance_over(struct program *program, double grace)
{
    program_fail(program, ERROR_REFUSED, "the instance that this program was in has ended", grace);
}
