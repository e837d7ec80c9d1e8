/*
 * saver - what is shown of a program, kept in its directory (launcher/saved): what tasks write that
 * does not go to files of -o and -e, what tprun says of the program, and how it ended.
 *
 * The manager writes it, and viewers read the files: so what is saved does not pass through a
 * further process, and costs no more than to send it to one. A disk that hangs holds up the
 * manager, as it does for the log of events, which is beside these files.
 */
#ifndef LAUNCHER_MANAGER_SAVER_H
#define LAUNCHER_MANAGER_SAVER_H

#include <ev.h>
#include <stdbool.h>

#include "base/error.h"
#include "launcher/spec/spec.h"
#include "launcher/tree/frame.h"

struct saver;

struct saver_ops { /* from the loop, or from inside saver_take() */
    /* Saving stops: the sentence says why. Once. */
    void (*stopped)(void *owner, const struct error *why);
    /* After that: a frame that was taken and could not be written, in their order. */
    void (*unsaved)(void *owner, const struct frame *frame);
};

/* The spec is borrowed. What comes before saver_open() is kept until then. */
struct saver *saver_new(struct ev_loop *loop, const struct spec *spec, const struct saver_ops *ops,
                        void *owner);
void saver_free(struct saver *saver); /* NULL is fine */
/* In a forked child: close this copy of its files. NULL is fine. */
void saver_disown(struct saver *saver);

/* Into the program's directory. 0, or -1 with a sentence: nothing is saved then. */
int saver_open(struct saver *saver, const char *path, struct error *err);
bool saver_is_stopped(const struct saver *saver); /* nothing is saved any more */
/* Remove its files: another one begins anew, before this one is freed. NULL is fine. */
void saver_remove(struct saver *saver);
/* Write now what waits to be written. NULL is fine. */
void saver_flush(struct saver *saver);
/* A frame of what is shown. True: it is saved, and whoever shows it reads it there. False: it is to
 * be sent, too, for it is not saved, or goes to a file besides. NULL saves nothing. */
bool saver_take(struct saver *saver, const struct frame *frame);
/* Nobody writes the files of -o and -e any more: what would go there is saved, too. NULL is
 * fine. */
void saver_keep_all(struct saver *saver);
/* The last word. NULL is fine; so is a second call, which does nothing. */
void saver_end(struct saver *saver, int status, const char *messages);

#endif
