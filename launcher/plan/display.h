/*
 * display - what the user sees of a plan: --display, --draw, --format, and notes about what may
 * surprise.
 *
 * Of a real run bindings are shown when they are a fact: agents read each back before the program
 * is executed, and what they read is shown in place of what was planned.
 */
#ifndef LAUNCHER_PLAN_DISPLAY_H
#define LAUNCHER_PLAN_DISPLAY_H

#include <jansson.h>

#include "launcher/plan/plan.h"

struct display_ops { /* `owner` is what display_new() was given */
    void (*show)(void *owner, const char *text, bool error); /* on stdout, or on stderr */
    void (*note)(void *owner, const char *text);
    /* The file of --draw. 0, or -1 with a sentence. */
    int (*draw)(void *owner, const char *text, struct error *err);
};

struct display;

/* All is borrowed. */
struct display *display_new(const struct spec *spec, const struct resources *resources,
                            const struct display_ops *ops, void *owner);
void display_free(struct display *display); /* NULL is fine */

/* What is planned, which is borrowed from now on; and --draw. -1 with a sentence where the picture
 * cannot be written. */
int display_plan(struct display *display, const struct plan *plan, struct error *err);

/* From now on agents say how tasks are bound. */
void display_expect_bindings(struct display *display);
/* What one says by FRAME_STARTED. Shown once all have said so. -1 with a sentence where the kernel
 * has something else than was planned. */
int display_bindings(struct display *display, const json_t *started, struct error *err);

#endif
