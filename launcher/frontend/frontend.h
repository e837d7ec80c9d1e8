/*
 * frontend - tprun as the user sees it: output, input, signals, and the exit status of one run.
 *
 * A program that may outlive its terminal has two: one in the background, which guards the manager
 * and writes files of -o and -e, and the process at the terminal, which reads what the manager
 * saves (launcher/saved) and gives orders to the other.
 */
#ifndef LAUNCHER_FRONTEND_FRONTEND_H
#define LAUNCHER_FRONTEND_FRONTEND_H

#include <stdbool.h>

#include "launcher/saved/saved_output.h"
#include "launcher/spec/spec.h"

struct frontend_result {
    int status;       /* what tprun exits with */
    bool quiet;       /* the reader of our output left: end as SIGPIPE would */
    bool interrupted; /* this process and its program had SIGINT, and end by it */
    bool goes_on;     /* the program does, without this process */
};

enum frontend_role {
    FRONTEND_ATTACHED,   /* it shows what the manager sends */
    FRONTEND_BACKGROUND, /* it writes files, and shows nothing */
    FRONTEND_STARTER,    /* prints the program's id once its tasks run; the program goes on */
    FRONTEND_VIEWER      /* shows what is saved */
};

struct frontend_config { /* all is borrowed but for descriptors */
    const struct spec *spec;
    enum frontend_role role;
    /* The manager; of a starter and a viewer, the front end in the background. */
    int fd;
    int foreground; /* of FRONTEND_BACKGROUND: the process at the terminal */
    /* Of FRONTEND_BACKGROUND: the manager has another guard, and the program goes on when this
     * process is told to end. */
    bool guarded;
    bool shows; /* of FRONTEND_BACKGROUND: that process cannot read what is saved, and is sent it */
    /* The manager was lost: end what is left, and say in lines what could not be ended (NULL:
     * nothing; freed here). Of a starter and a viewer NULL: that is the other's work. */
    char *(*lost)(void *arg);
    void (*on_guard)(void *lost_arg); /* of FRONTEND_ATTACHED, in a fork that takes its place */
    void *lost_arg;
    /* Of FRONTEND_VIEWER: a file of what is saved of the program whose directory is or was at this
     * path, for reading. The descriptor, or -1 with errno. */
    int (*open_saved)(const char *path, const char *file);
    /* Of a viewer that was not there from the beginning; fd is -1 where there is nobody to give
     * orders to. */
    const char
        *id; /* of the program; NULL: who started it. Its spec says whether stdin is sent, and its
               end */
    struct saved_reader *reader; /* taken; NULL: that is told later */
    bool follows;                /* to the end of the program, and with its exit status */
    bool (*wants)(void *arg, const struct frame *frame); /* to be shown; NULL: all */
    void *wants_arg;
};

/* View the run until it ends, and say what there is to say of it, to the last word: nothing here
 * waits for a reader but the loop, which hears signals. */
struct frontend_result frontend_run(const struct frontend_config *config);

/* What to exit with. It does not return where this process has to die of a signal itself: Ctrl-C
 * ends a loop of bash only if the command in it was killed by SIGINT. */
int frontend_status(const struct frontend_result *result);

#endif
