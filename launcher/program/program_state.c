/* The table of a program's states and events, for program.c. */
#include "launcher/program/program_state.h"

#define TO(action, state)                                                                          \
    {                                                                                              \
        PROGRAM_##action, PROGRAM_##state                                                          \
    }
#define NEVER                                                                                      \
    {                                                                                              \
        PROGRAM_UNEXPECTED, PROGRAM_NSTATES                                                        \
    }

static const struct program_transition transitions[PROGRAM_NSTATES][PROGRAM_NEVENTS] = {
    [PROGRAM_EMPTY] = {[PROGRAM_ASKED] = TO(ASK, PENDING),
                       [PROGRAM_SHOWN] = NEVER,
                       [PROGRAM_PLANNED] = NEVER,
                       [PROGRAM_REFUSED] = NEVER,
                       [PROGRAM_STARTED] = NEVER,
                       [PROGRAM_TERMINATE] = TO(FINISH, COMPLETE),
                       [PROGRAM_OVER] = NEVER,
                       [PROGRAM_SILENT] = NEVER},
    [PROGRAM_PENDING] = {[PROGRAM_ASKED] = NEVER,
                         [PROGRAM_SHOWN] = TO(FINISH, COMPLETE),
                         [PROGRAM_PLANNED] = TO(LAUNCH, STARTING),
                         [PROGRAM_REFUSED] = TO(FINISH, COMPLETE),
                         [PROGRAM_STARTED] = NEVER,
                         [PROGRAM_TERMINATE] = TO(FINISH, COMPLETE),
                         [PROGRAM_OVER] = NEVER,
                         [PROGRAM_SILENT] = NEVER},
    [PROGRAM_STARTING] = {[PROGRAM_ASKED] = NEVER,
                          [PROGRAM_SHOWN] = NEVER,
                          [PROGRAM_PLANNED] = NEVER,
                          [PROGRAM_REFUSED] = NEVER,
                          [PROGRAM_STARTED] = TO(NOTHING, RUNNING),
                          [PROGRAM_TERMINATE] = TO(END_TASKS, ENDING),
                          [PROGRAM_OVER] = TO(FINISH, COMPLETE),
                          [PROGRAM_SILENT] = NEVER},
    [PROGRAM_RUNNING] = {[PROGRAM_ASKED] = NEVER,
                         [PROGRAM_SHOWN] = NEVER,
                         [PROGRAM_PLANNED] = NEVER,
                         [PROGRAM_REFUSED] = NEVER,
                         [PROGRAM_STARTED] = NEVER,
                         [PROGRAM_TERMINATE] = TO(END_TASKS, ENDING),
                         [PROGRAM_OVER] = TO(FINISH, COMPLETE),
                         [PROGRAM_SILENT] = NEVER},
    [PROGRAM_ENDING] = {[PROGRAM_ASKED] = NEVER,
                        [PROGRAM_SHOWN] = NEVER,
                        [PROGRAM_PLANNED] = NEVER,
                        [PROGRAM_REFUSED] = NEVER,
                        [PROGRAM_STARTED] = TO(NOTHING, ENDING),
                        [PROGRAM_TERMINATE] = TO(END_TASKS, ENDING),
                        [PROGRAM_OVER] = TO(FINISH, COMPLETE),
                        [PROGRAM_SILENT] = TO(FINISH, COMPLETE)},
    [PROGRAM_COMPLETE] = {[PROGRAM_ASKED] = NEVER,
                          [PROGRAM_SHOWN] = NEVER,
                          [PROGRAM_PLANNED] = NEVER,
                          [PROGRAM_REFUSED] = TO(NOTHING, COMPLETE),
                          [PROGRAM_STARTED] = TO(NOTHING, COMPLETE),
                          [PROGRAM_TERMINATE] = TO(NOTHING, COMPLETE),
                          [PROGRAM_OVER] = NEVER,
                          [PROGRAM_SILENT] = NEVER},
};

const char *program_event_name(enum program_event event)
{
    static const char *const names[PROGRAM_NEVENTS] = {
        [PROGRAM_PLANNED] = "starting", [PROGRAM_REFUSED] = "finish",
        [PROGRAM_STARTED] = "running",  [PROGRAM_TERMINATE] = "terminate",
        [PROGRAM_OVER] = "finish",      [PROGRAM_SILENT] = "finish"};
    return names[event];
}

struct program_transition program_transition(enum program_state state, enum program_event event)
{
    return transitions[state][event];
}
