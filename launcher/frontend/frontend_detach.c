/*
 * Ctrl-C Ctrl-Z in a run that was not started to go on. The manager saves output from then on; once all that was sent
 * before has come this process forks. The child sees to the program from the background, and this one ends, for the
 * shell waits for it.
 *
 * The loop, the link to the manager and files are used on in the child: nothing of it has threads. What waits for the
 * terminal is written here, what waits for files there.
 */
#include "launcher/frontend/frontend_private.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

bool frontend_can_detach(const struct frontend *front)
{
    return front->role == FRONTEND_ATTACHED && task_table_ntasks(front->mapped) && front->manager &&
           !front->spec->pty && !front->over && !front->dropping && !front->err.text;
}

/* In the child. */
static void go_to_background(struct frontend *front)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    ev_loop_fork(front->loop);
    setsid();
    signal(SIGHUP, SIG_IGN);
    for (int fd = 0; fd <= 2; fd++)
        dup2(null, fd);
    close(null);
    if (front->on_guard)
        front->on_guard(front->lost_arg);
    front->role = FRONTEND_BACKGROUND;
    front->runs = true;
    front->interrupter = 0;
    front->interrupted = -INFINITY;
    output_keep_files(front->output);
    if (frontend_reads_input(front))
        return;
    stdin_reader_free(front->input);
    front->input = NULL;
    if (!front->input_over)
        frontend_end_input(front); /* nobody types any more */
}

static void leave_terminal(struct frontend *front)
{
    stdin_reader_free(front->input);
    front->input = NULL;
    link_free(front->manager); /* what waits there is sent by the other */
    front->manager = NULL;
    output_keep_descriptors(front->output);
    frontend_leave(front, 0);
}

/* Where there can be no further process this one goes on: output is saved, and not shown any more. */
static void detach(struct frontend *front)
{
    pid_t pid = fork();
    if (pid == 0) {
        go_to_background(front);
    } else if (pid > 0) {
        leave_terminal(front);
    } else {
        const char *id = task_table_program(front->mapped);
        char *line =
            mem_format("cannot leave program %s to itself: %s; \"tpctl attach %s\" shows it", id,
                       strerror(errno), id);
        frontend_say(front, line, strlen(line));
        free(line);
        front->role = FRONTEND_BACKGROUND;
        front->runs = true;
    }
}

void frontend_take_detaching(struct frontend *front, const struct frame *frame)
{
    static const char refused[] = "cannot leave this program to itself: its output cannot be saved";
    frontend_take(front, frame);
    if (frame->type == FRAME_SAVE && !frame->len) {
        front->detaches = false;
        frontend_say(front, refused, strlen(refused));
    } else if (frame->type == FRAME_SENT) {
        bool ends =
            front->dropping || front->over || front->err.text; /* it was told to meanwhile */
        front->detaches = false;
        front->unpaid += link_weight(frame);
        if (!ends)
            detach(front);
    }
}

void frontend_detach(struct frontend *front)
{
    struct frame wish = {.type = FRAME_SAVE};
    front->detaches = true;
    link_send(front->manager, &wish);
}
