/*
 * pmi1_reply - what a PMI-1 client can be told.
 *
 * Values come from tasks that speak any dialect, and from other programs. A newline in one would be
 * the end of a reply and the beginning of another, white space in some is the end of a value, and
 * what is longer than a client's buffer is read as two lines. So each is checked where it leaves.
 */
#ifndef PMI_SERVER_PMI_PMI1_REPLY_H
#define PMI_SERVER_PMI_PMI1_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#define PMI1_CLIENT_LINE 1024 /* a client's buffer for a line, with its newline and a NUL */

/* Why a client cannot be told this text of `len` bytes, as one word for msg=; NULL: it can. `room` is
 * what it has for it, with the NUL. A text that is not the last of its line has to be one word. */
const char *pmi1_unsayable(const char *text, size_t len, size_t room, bool word);

#endif
