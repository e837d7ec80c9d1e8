/*
 * saver - what a front end shows, kept in the program's directory (launcher/saved): what tasks write that does not
 * go to files of -o and -e, what tprun says of the program, and how it ended.
 */
#ifndef LAUNCHER_FRONTEND_SAVER_H
#define LAUNCHER_FRONTEND_SAVER_H

#include "base/error.h"
#include "launcher/spec/spec.h"
#include "launcher/tree/frame.h"

struct saver;

/* The spec is borrowed. What comes before saver_open() is kept until then. */
struct saver *saver_new(const struct spec *spec);
void saver_free(struct saver *saver); /* NULL is fine */

/* Into the program's directory. 0, or -1 with a sentence: nothing is saved then. */
int saver_open(struct saver *saver, const char *path, struct error *err);
/* A frame of the manager; those that nobody wants to see later are passed over. 0, or -1 with a sentence where saving
 * stops: once. */
int saver_take(struct saver *saver, const struct frame *frame, struct error *err);
/* The last word. */
void saver_end(struct saver *saver, int status, const char *messages);

#endif
