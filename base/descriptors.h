/*
 * descriptors - all open descriptors from a number on: marked to be closed by exec, or closed; and
 * how many there may be.
 *
 * close_range(2) does that at once. It cannot mark before Linux 5.11 and is not there before 5.9:
 * then each is done by itself, as /proc lists them. System calls only: fit for a child that shares
 * its parent's memory.
 */
#ifndef BASE_DESCRIPTORS_H
#define BASE_DESCRIPTORS_H

void descriptors_close_on_exec(unsigned first);
void descriptors_close(unsigned first);
/* This process may have as many as its hard limit allows. */
void descriptors_raise_limit(void);

#endif
