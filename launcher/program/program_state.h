/*
 * program_state - the states of a program, and what each event does in each of them. A table, and
 * nothing else: program.c acts by it.
 *
 * States have the words of RFC 8, and "ending" for a program that runs and was told to end.
 */
#ifndef LAUNCHER_PROGRAM_PROGRAM_STATE_H
#define LAUNCHER_PROGRAM_PROGRAM_STATE_H

enum program_state {
    PROGRAM_EMPTY,    /* nothing was asked for */
    PROGRAM_PENDING,  /* hosts and resources are waited for */
    PROGRAM_STARTING, /* its first tasks are launched, and not all of them started */
    PROGRAM_RUNNING,
    PROGRAM_ENDING,   /* its tasks were told to end */
    PROGRAM_COMPLETE, /* no task is left, or none is waited for; agents go */
    PROGRAM_NSTATES
};

enum program_event {
    PROGRAM_ASKED,     /* its resources are asked for */
    PROGRAM_SHOWN,     /* a dry run: the plan was shown */
    PROGRAM_PLANNED,   /* the plan stands: its first tasks can be launched */
    PROGRAM_REFUSED,   /* it cannot be made */
    PROGRAM_STARTED,   /* its first tasks are all started, or have failed to */
    PROGRAM_TERMINATE, /* its tasks are to end, within a time */
    PROGRAM_OVER,      /* no task group is left */
    PROGRAM_SILENT,    /* agents did not report the end of their tasks in time */
    PROGRAM_NEVENTS
};

enum program_action {
    PROGRAM_NOTHING,   /* the event makes no difference but for the state */
    PROGRAM_ASK,       /* ask for resources */
    PROGRAM_LAUNCH,    /* launch the first tasks */
    PROGRAM_END_TASKS, /* tell the tasks to end, perhaps once more with less time */
    PROGRAM_FINISH,    /* nothing is waited for any more: agents go */
    PROGRAM_UNEXPECTED /* an event that cannot be in this state */
};

struct program_transition {
    enum program_action action;
    enum program_state next;
};

/* Its name in the program's log; NULL: it is not written, as those from before the program has
 * one. */
const char *program_event_name(enum program_event event);

struct program_transition program_transition(enum program_state state, enum program_event event);

#endif
