/*
 * ledger_entry_private - a program in the ledger, for the files of the ledger.
 */
#ifndef LAUNCHER_LEDGER_LEDGER_ENTRY_PRIVATE_H
#define LAUNCHER_LEDGER_LEDGER_ENTRY_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/ledger/ledger_entry.h"

struct ledger_entry {
    struct instance *instance;
    uint64_t number;
    char id[24];
    char *path;
    char *name;
    int dir;
    int alive;         /* the open file description that has locked byte `number` of `alive` */
    double lasts;      /* s from its claim to its end; INFINITY: not known */
    double expiration; /* s of the epoch; 0: none */
    uint64_t until;    /* its end, once it holds something; 0: not known */
    bool waits;        /* in line */
};

/* Make those that wait and watch the instance look again. */
void entry_poke(struct ledger_entry *entry);

#endif
