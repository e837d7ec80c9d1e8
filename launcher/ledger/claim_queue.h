/*
 * claim_queue - waiting in order of arrival, who may start before whom, and for whom one waits.
 *
 * The queue: programs are numbered in order of arrival. One that waits says what it keeps, and when
 * it can start at the earliest (affinity/queue/reservation.h), and no later program gets any of
 * that unless it is over by then, until the earlier one has its claim or is gone. So nobody
 * starves, a later one that delays no earlier one does not wait for it, and programs on other hosts
 * do not wait for each other. There is no other record of the queue than the rows of those that
 * wait: whoever claims looks at them, under the ledger's lock, and a row counts while its program
 * lives.
 *
 * Programs that are tasks of others (instance_draw_from) queue with those of the same task only:
 * what they share is held already, and whoever waits outside could not get it before they end.
 */
#ifndef LAUNCHER_LEDGER_CLAIM_QUEUE_H
#define LAUNCHER_LEDGER_CLAIM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/queue/reservation.h"
#include "affinity/resource/rset.h"
#include "affinity/sets/idset.h"
#include "base/error.h"
#include "launcher/ledger/ledger_entry.h"

/* Wait in line from now on, keep these resources, and start at this time (s of the epoch) at the
 * earliest, 0: at that of an earlier one that keeps the same, if there is one. What was held is
 * given back. An empty set leaves the line. 0 or -1. */
int entry_queue(struct ledger_entry *entry, const struct rset *kept, uint64_t start,
                struct error *err);
/* What others hold, as instance_held() has it, and in *barred what earlier programs that wait keep:
 * none of it can be claimed. Caller frees both; NULL with a sentence: there is neither. */
struct rset *entry_held(struct ledger_entry *entry, struct rset **barred, struct error *err);
/* How many earlier programs wait for just the same, up to CLAIM_BELL_TURNS: unless that is none
 * there is no use in looking further. */
unsigned entry_place(struct ledger_entry *entry);
/* Before it waits: a descriptor that is readable once its place may be another (claim_bell.h);
 * closing it is the caller's. -1: this cannot be told here. */
int entry_bell(struct ledger_entry *entry);

struct entry_holds { /* of others, as a reservation is made of them */
    struct reservation_hold *list;
    size_t count;
    bool is_first; /* no earlier program waits for any of the scope */
    uint64_t now;
    uint64_t state; /* another number when any of the above but `now` is another */
};

/* What others hold of the scope, and what earlier ones that wait keep of it. 0, or -1 with a
 * sentence. */
int entry_holds_read(struct ledger_entry *entry, const struct rset *scope,
                     struct entry_holds *holds, struct error *err);
void entry_holds_clear(struct entry_holds *holds);

/* A descriptor that is readable when something of the instance may have become free; closing it is
 * the caller's. -1: this cannot be told here. */
int instance_watch(struct instance *instance);

/* Who holds of these resources, and how many wait for some of them and came before `entry` (NULL:
 * all that wait): "program 17 (./app, since 12:03, for 2m) holds cores 0-3 of node0; 2 programs are
 * before this one". Caller frees; "" where it is nobody. */
char *instance_holders(struct instance *instance, const struct ledger_entry *entry,
                       const struct rset *wanted);
/* The first of the programs that wait and do not let this one have `wanted`: "program 17 (./app,
 * since 12:03, for 2m)", and when one of them can start at the earliest (0: not known). Caller
 * frees; "" where it is nobody. */
char *entry_delayed(struct ledger_entry *entry, const struct rset *wanted, uint64_t *start);

struct waiter { /* a program in line */
    struct idset
        *holders;  /* numbers of programs that hold what it waits for; the caller frees it */
    size_t before; /* that wait for some of it and came first */
};
/* False: that program does not wait, and there is nothing to free. */
bool instance_find_waiter(struct instance *instance, uint64_t number, struct waiter *waiter);

/* For a register, in which a program's name is "FAMILY WORDS" and ids are processors: who of
 * another family has some of these, "processors 0-1 are also bound by program 17 (WORDS, since
 * 12:03)". Caller frees; "" where it is nobody. */
char *instance_strangers(struct instance *instance, const struct ledger_entry *entry,
                         const struct rset *wanted, const char *family);

#endif
