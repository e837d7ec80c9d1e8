/* The ledger's queue: waiting in order of arrival, and who may pass whom. */
#include "launcher/ledger/claim_queue.h"

#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/ledger/claim_bell.h"
#include "launcher/ledger/claim_private.h"
#include "launcher/ledger/claims_file.h"
#include "launcher/ledger/instance_lock_private.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/ledger_entry_private.h"

int entry_queue(struct ledger_entry *entry, const struct rset *kept, uint64_t start,
                struct error *err)
{
    return entry_put(entry, CLAIMS_WAITS, kept, start, NULL, err);
}

/* Many that wait keep just the same, which is added up once. */
static bool barred_is_seen(const char *const *seen, size_t count, const struct claims_row *row)
{
    bool is_seen = row->state != CLAIMS_WAITS;
    for (size_t i = 0; i < count && !is_seen; i++)
        is_seen = strcmp(seen[i], row->sets) == 0;
    return is_seen;
}

static struct rset *claims_barred(struct ledger_entry *entry, const struct claims *claims)
{
    struct rset **sets = mem_array(claims->count, sizeof(*sets)), *sum;
    const char **seen = mem_array(claims->count, sizeof(*seen));
    size_t count = 0;
    for (size_t i = 0; i < claims->count && claims->rows[i].number < entry->number; i++) {
        const struct claims_row *row = &claims->rows[i];
        if (barred_is_seen(seen, count, row) || !entry_is_barred_by(entry, claims, row))
            continue;
        seen[count] = row->sets;
        sets[count] = claims_set(row, NULL);
        count += sets[count] != NULL;
    }
    sum = rset_union_hosts((const struct rset *const *)sets, count);
    for (size_t i = 0; i < count; i++)
        rset_free(sets[i]);
    free(seen);
    free(sets);
    return sum;
}

struct rset *entry_held(struct ledger_entry *entry, struct rset **barred, struct error *err)
{
    struct claims *claims = ledger_read(entry->instance, err);
    struct rset *held = claims ? claims_held(entry->instance, claims, err) : NULL;
    *barred = held ? claims_barred(entry, claims) : NULL;
    claims_free(claims);
    return held;
}

unsigned entry_place(struct ledger_entry *entry)
{
    struct claims *claims = ledger_read(entry->instance, NULL);
    const struct claims_row *own = claims ? claims_find(claims, entry->number) : NULL;
    bool waits = own && own->state == CLAIMS_WAITS;
    unsigned place = 0;
    for (size_t i = 0; waits && place < CLAIM_BELL_TURNS && &claims->rows[i] != own; i++)
        place += strcmp(claims->rows[i].sets, own->sets) == 0 &&
                 entry_is_barred_by(entry, claims, &claims->rows[i]);
    claims_free(claims);
    return place;
}

int entry_bell(struct ledger_entry *entry)
{
    return claim_bell_open(entry->dir);
}

/* ---- what a reservation is made of ---- */

void entry_holds_clear(struct entry_holds *holds)
{
    for (size_t i = 0; i < holds->count; i++)
        rset_free(holds->list[i].set);
    free(holds->list);
    *holds = (struct entry_holds){0};
}

/* Takes the set. */
static void entry_holds_add(struct entry_holds *holds, const struct claims_row *row,
                            struct rset *set, uint64_t until, struct buf *state)
{
    bool is_known = until > holds->now;
    holds->list[holds->count++] = (struct reservation_hold){set, is_known ? until : holds->now,
                                                            is_known && row->state == CLAIMS_HOLDS};
    holds->is_first = holds->is_first && row->state == CLAIMS_HOLDS;
    buf_printf(state, "%llu %c %llu %s\n", (unsigned long long)row->number, row->state,
               is_known ? (unsigned long long)until : 0, row->sets);
}

int entry_holds_read(struct ledger_entry *entry, const struct rset *scope,
                     struct entry_holds *holds, struct error *err)
{
    struct claims *claims = ledger_read(entry->instance, err);
    struct buf state = BUF_INIT;
    *holds = (struct entry_holds){.now = ledger_now(), .is_first = true};
    if (!claims)
        return -1;
    holds->list = mem_array(claims->count, sizeof(*holds->list));
    for (size_t i = 0; i < claims->count; i++) {
        const struct claims_row *row = &claims->rows[i];
        if (!entry_yields(entry, row) || !ledger_counts(entry->instance, row))
            continue;
        struct rset *set = claims_set(row, NULL);
        if (!set || !rset_overlap(scope, set, NULL)) {
            rset_free(set);
        } else if (entry_passes(entry, claims, row)) {
            holds->is_first = false;
            rset_free(set);
        } else {
            uint64_t until =
                row->state == CLAIMS_WAITS ? entry_start_of(entry, claims, row) : row->until;
            entry_holds_add(holds, row, set, until, &state);
        }
    }
    holds->state = ledger_hash(buf_text(&state)) + holds->is_first;
    buf_free(&state);
    claims_free(claims);
    return 0;
}

/* ---- when to look again ---- */

/* The end of a program, however it comes, closes a file that was open for writing; one that has its
 * claim, or is over, touches it. */
int instance_watch(struct instance *instance)
{
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    char *path = mem_format("%s/alive", instance->path);
    if (fd >= 0 && inotify_add_watch(fd, path, IN_CLOSE_WRITE | IN_ATTRIB) < 0) {
        close(fd);
        fd = -1;
    }
    free(path);
    return fd;
}
