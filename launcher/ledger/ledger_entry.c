/* A program in the ledger: its number, its directory, and its end. */
#include "launcher/ledger/ledger_entry.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/ledger/claim_bell.h"
#include "launcher/ledger/claims_file.h"
#include "launcher/ledger/context_directory.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/ledger_entry_private.h"
#include "launcher/ledger/private_directory.h"

#define PROGRAM_TIDIES 64 /* every so many programs what others left is looked for */
#define PROGRAM_LOOKS 4   /* rows that each new program looks at, so that those of the dead go */

/* ---- a new program ---- */

/* Its byte is locked before anybody can know of it. Under the ledger's lock a byte that another has
 * is passed over: that one was stopped on its way, or comes too late. 1: it was quicker. */
static int entry_lock_number(struct ledger_entry *entry, const struct ledger_change *change,
                             uint64_t *number, struct error *err)
{
    while (private_directory_lock_byte(entry->alive, *number) < 0) {
        if (errno != EAGAIN)
            return error_set(err, "cannot lock %s/alive: %s", entry->instance->path,
                             strerror(errno));
        if (!change->locked)
            return 1;
        ++*number;
    }
    return 0;
}

/* 1: another was quicker. */
static int entry_try_number(struct ledger_entry *entry, int tries, struct error *err)
{
    struct ledger_change change;
    if (ledger_begin(entry->instance, tries, &change, err) < 0)
        return -1;
    struct claims *claims = change.claims;
    uint64_t number = claims->next;
    /* A few rows in turn: what the dead left in the table stays a fraction of it, whoever looks. */
    for (uint64_t i = 0; i < PROGRAM_LOOKS && claims->count; i++) {
        uint64_t other = claims->rows[(number * PROGRAM_LOOKS + i) % claims->count].number;
        if (ledger_is_alive(change.instance, other))
            continue;
        ledger_bury(change.instance, other);
        claims_drop(claims, other);
    }
    int rc = entry_lock_number(entry, &change, &number, err);
    if (rc == 0) {
        snprintf(entry->id, sizeof(entry->id), "%llu", (unsigned long long)number);
        claims_add(claims, number, ledger_now(), instance_within(entry->instance), entry->name);
        rc = ledger_commit(&change, err);
        if (rc == 0)
            entry->number = number;
        else
            private_directory_unlock_byte(entry->alive, number);
    }
    ledger_end(&change);
    return rc;
}

struct ledger_entry *entry_new(struct instance *instance, const char *name, struct error *err)
{
    struct ledger_entry *entry = mem_alloc(sizeof(*entry));
    entry->instance = instance;
    entry->name = mem_copy_text(name);
    entry->dir = -1;
    entry->lasts = INFINITY;
    entry->alive = openat(instance->dir, "alive", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    int rc = 1;
    if (entry->alive < 0)
        rc = error_set(err, "cannot open %s/alive: %s", instance->path, strerror(errno));
    for (int tries = 0; rc == 1; tries++)
        rc = entry_try_number(entry, tries, err);
    if (rc == 0) {
        if (entry->number % PROGRAM_TIDIES == 0)
            ledger_finish_contexts(instance, NULL, NULL);
        entry->path = mem_format("%s/programs/%s", instance->path, entry->id);
        if (ledger_make_context(instance, entry->id) < 0)
            rc = error_set(err, "cannot make %s: %s", entry->path, strerror(errno));
    }
    if (rc == 0)
        entry->dir =
            private_directory_open_private(instance->programs, entry->id, entry->path, err);
    if (entry->dir >= 0)
        return entry;
    entry_end(entry);
    return NULL;
}

void entry_set_limit(struct ledger_entry *entry, double lasts, double expiration)
{
    entry->lasts = lasts;
    entry->expiration = expiration;
    entry->until = 0;
}

const char *entry_id(const struct ledger_entry *entry)
{
    return entry->id;
}

const char *entry_path(const struct ledger_entry *entry)
{
    return entry->path;
}

int entry_dir(const struct ledger_entry *entry)
{
    return entry->dir;
}

int entry_write(struct ledger_entry *entry, const char *name, const json_t *json, struct error *err)
{
    char *text = json_dumps(json, JSON_COMPACT);
    int rc = -1;
    if (!text || !*name || *name == '.' || strchr(name, '/'))
        errno = EINVAL;
    else
        rc = private_directory_write_new(entry->dir, name, text, strlen(text));
    free(text);
    if (rc < 0)
        return error_set(err, "cannot write %s/%s: %s", entry->path, name, strerror(errno));
    return 0;
}

struct event_log *entry_new_events(const struct ledger_entry *entry)
{
    return event_log_new(ENTRY_EVENTS, entry->path);
}

/* The file is one of an earlier program, if there is one. */
int entry_begin_events(struct ledger_entry *entry, struct event_log *log, struct error *err)
{
    return event_log_begin(log, entry->dir, ENTRY_EVENTS, PRIVATE_DIRECTORY_DRAFT(ENTRY_EVENTS),
                           err);
}

/* ---- the end ---- */

void entry_leave(struct ledger_entry *entry)
{
    if (!entry)
        return;
    if (entry->alive >= 0)
        close(entry->alive);
    if (entry->dir >= 0)
        close(entry->dir);
    free(entry->path);
    free(entry->name);
    free(entry);
}

void entry_poke(struct ledger_entry *entry)
{
    futimens(entry->alive, NULL);
}

/* It has left the line, or gives back what it held. */
static void ring_for_next(struct ledger_entry *entry)
{
    struct claims *claims = ledger_read(entry->instance, NULL);
    if (claims)
        claim_bell_ring(entry->instance, claims, entry->waits ? CLAIM_BELL_TURNS : 1,
                        entry->number);
    claims_free(claims);
}

/* Without the lock: its row does not count once its byte is free, and goes with a later change. */
void entry_end(struct ledger_entry *entry)
{
    if (!entry)
        return;
    if (entry->number) {
        private_directory_unlock_byte(entry->alive, entry->number);
        ledger_bury(entry->instance, entry->number);
        entry_poke(entry);
        ring_for_next(entry);
    }
    entry_leave(entry);
}
