/*
 * claims_table - who holds what in an instance, and who waits for what, as one text.
 *
 *     tprun-claims 2 19
 *     17 h 1795255380 1795258980 -\t./app\tnode[0-1] 0-3 -\tnode2 0 0-1
 *     18 w 1795255391 0 3,7\tother\tnode[0-2] 0-3 -
 *     end
 *
 * The first line has the next program number. A row is a program: number; n (nothing), h (holds) or
 * w (waits); since when, in seconds of the epoch; a second time; the programs that it is a task of,
 * as an idset; its name; and sets of hosts, each with their cores and GPUs. Rows ascend by number,
 * which is the order of arrival. The last line tells that nothing is missing.
 *
 * Of who holds, the second time is the end by its time limit, and the sets are what it holds. Of
 * who waits they are the earliest start, and what it keeps (affinity/queue/reservation.h). 0: not
 * known.
 *
 * Sets are read only where they are looked at: a table of a thousand rows is taken in and put out
 * again in a fraction of a millisecond.
 */
#ifndef LAUNCHER_LEDGER_CLAIMS_TABLE_H
#define LAUNCHER_LEDGER_CLAIMS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/resource/rset.h"
#include "base/error.h"

#define CLAIMS_MAX_TEXT (64u << 20)
#define CLAIMS_MAX_NAME 256 /* bytes of a program's name that are kept */

enum claims_state { CLAIMS_NOTHING = 'n', CLAIMS_HOLDS = 'h', CLAIMS_WAITS = 'w' };

struct claims_row { /* texts are borrowed from the claims */
    uint64_t number;
    uint64_t since;
    uint64_t until;     /* its end, or its earliest start */
    const char *within; /* "-": none */
    const char *name;
    const char *sets; /* "": none */
    char *own;        /* bytes of the texts above where they are not part of what was read */
    enum claims_state state;
    uint32_t line, len; /* where it stood in what was read; len 0: it is new */
};

struct claims {
    uint64_t next; /* program number */
    struct claims_row *rows;
    size_t count;
    char *text; /* what was read, its fields cut apart */
};

struct claims *claims_new(void);
/* Takes the text, which has a NUL at `len` and came from malloc, also where it fails: NULL with a
 * sentence. Sets are not looked into. */
struct claims *claims_decode(char *text, size_t len, struct error *err);
char *claims_encode(const struct claims *claims, size_t *len); /* caller frees */
void claims_free(struct claims *claims);                       /* NULL is fine */

struct claims_row *claims_find(const struct claims *claims, uint64_t number); /* or NULL */
/* A row that holds nothing, in its place by number, which has none yet. Pointers to rows do not
 * outlive it. `name` is cut, and what would not stay on its line replaced. */
struct claims_row *claims_add(struct claims *claims, uint64_t number, uint64_t since,
                              const char *within, const char *name);
void claims_drop(struct claims *claims, uint64_t number); /* also where there is none */
/* An empty set means that it holds nothing. */
void claims_put(struct claims_row *row, enum claims_state state, const struct rset *set,
                uint64_t until);

/* The sets of a row as one; NULL with a sentence. Ranks are positions. Caller frees. */
struct rset *claims_set(const struct claims_row *row, struct error *err);

/* What one program wants, made ready to be compared with many rows. */
struct claims_probe;
struct claims_probe *claims_probe_new(const struct rset *set); /* borrowed */
void claims_probe_free(struct claims_probe *probe);
/* The first host (borrowed from the probe's set) on which the row has a core or a GPU of it, with
 * these in *common (the caller frees both sets) where that is not NULL; *host is NULL where it has
 * none. 0, or -1 with a sentence for sets that cannot be read. */
int claims_probe_row(const struct claims_probe *probe, const struct claims_row *row,
                     const char **host, struct rset_children *common, struct error *err);

#endif
