/* The claim of cores and GPUs: what programs hold, and how one claims what nobody else has or waits for. */
#include "launcher/ledger/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/queue/reservation.h"
#include "base/buf.h"
#include "base/directory.h"
#include "base/mem.h"
#include "launcher/ledger/claim_bell.h"
#include "launcher/ledger/claim_private.h"
#include "launcher/ledger/claims_file.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/ledger/ledger_entry_private.h"
#include "launcher/ledger/private_directory.h"

#define CLAIM_LOOKS 8       /* rows at each look */
#define CLAIM_MAX_TIME 1e15 /* s of the epoch; what is later is not known */

/* Those that hold nothing are asked after in turn: each look at thousands would take as long as all else. Who is gone is
 * cleared away all the same, soon. */
static void claim_look_around(struct instance *instance, const struct claims *claims)
{
    size_t first = instance->looks++ * CLAIM_LOOKS + (size_t)getpid();
    for (size_t i = 0; i < claims->count && i < CLAIM_LOOKS; i++) {
        const struct claims_row *row = &claims->rows[(first + i) % claims->count];
        if (row->state != CLAIMS_HOLDS)
            ledger_counts(instance, row);
    }
}

struct rset *claims_held(struct instance *instance, const struct claims *claims, struct error *err)
{
    struct rset **sets = mem_array(claims->count, sizeof(*sets)), *sum = NULL;
    size_t count = 0;
    bool good = true;
    claim_look_around(instance, claims);
    for (size_t i = 0; good && i < claims->count; i++) {
        const struct claims_row *row = &claims->rows[i];
        if (row->state != CLAIMS_HOLDS || !ledger_counts(instance, row))
            continue;
        sets[count] = claims_set(row, err);
        good = sets[count] != NULL;
        count += good;
    }
    if (good)
        sum = rset_union_hosts((const struct rset *const *)sets, count);
    else
        error_prefix(err, "%s/claims", instance->path);
    for (size_t i = 0; i < count; i++)
        rset_free(sets[i]);
    free(sets);
    return sum;
}

struct rset *instance_held(struct instance *instance, struct error *err)
{
    struct claims *claims = ledger_read(instance, err);
    struct rset *held = claims ? claims_held(instance, claims, err) : NULL;
    claims_free(claims);
    return held;
}

static void entry_name_set(struct buf *out, const char *what, const struct idset *set)
{
    char *text = idset_encode(set);
    if (*text)
        buf_printf(out, "%s%s%s %s", out->len ? " and " : "", what, idset_count(set) > 1 ? "s" : "",
                   text);
    free(text);
}

char *ledger_name_common(const struct rset_children *common)
{
    struct buf out = BUF_INIT;
    entry_name_set(&out, "core", common->cores);
    entry_name_set(&out, "GPU", common->gpus);
    idset_free(common->cores);
    idset_free(common->gpus);
    return buf_take_text(&out);
}

/* Takes the common sets. */
static void entry_refuse(const struct claims_row *row, const char *host,
                         const struct rset_children *common, struct error *err)
{
    char *text = ledger_name_common(common);
    if (row->state == CLAIMS_HOLDS)
        error_set(err, "program %llu holds %s of %s: wait until it ends, or ask for others",
                  (unsigned long long)row->number, text, host);
    else
        error_set(err, "program %llu waits for %s of %s, and came first",
                  (unsigned long long)row->number, text, host);
    free(text);
}

bool entry_yields(const struct ledger_entry *entry, const struct claims_row *row)
{
    const struct instance *instance = entry->instance;
    if (row->number == entry->number || row->state == CLAIMS_NOTHING)
        return false;
    if (row->state == CLAIMS_WAITS)
        return row->number < entry->number && strcmp(row->within, instance_within(instance)) == 0;
    return !(instance->enclosing && row->number < IDSET_MAX &&
             idset_has(instance->enclosing, (uint32_t)row->number));
}

/* When the program ends at the latest, if it begins now; 0: not known. */
static uint64_t entry_end_time(const struct ledger_entry *entry)
{
    if (entry->until)
        return entry->until;
    double end = (double)ledger_now() + ceil(entry->lasts);
    if (entry->expiration > 0 && entry->expiration < end)
        end = ceil(entry->expiration);
    return end < CLAIM_MAX_TIME ? (uint64_t)end : 0;
}

uint64_t entry_start_of(const struct ledger_entry *entry, const struct claims *claims,
                        const struct claims_row *row)
{
    if (row->until)
        return row->until;
    for (const struct claims_row *other = claims->rows; other < row; other++)
        if (other->state == CLAIMS_WAITS && strcmp(other->sets, row->sets) == 0 &&
            strcmp(other->within, row->within) == 0 &&
            ledger_is_alive(entry->instance, other->number))
            return other->until;
    return 0;
}

bool entry_passes(const struct ledger_entry *entry, const struct claims *claims,
                  const struct claims_row *row)
{
    uint64_t end = row->state == CLAIMS_WAITS ? entry_end_time(entry) : 0;
    return end && reservation_lets_pass(end, entry_start_of(entry, claims, row));
}

bool entry_is_barred_by(struct ledger_entry *entry, const struct claims *claims,
                        const struct claims_row *row)
{
    return row->state == CLAIMS_WAITS && entry_yields(entry, row) &&
           ledger_counts(entry->instance, row) && !entry_passes(entry, claims, row);
}

/* 1 with a sentence where another live program has some of the claim, or comes first. A row that is as it
 * was when it was looked at `before` (or NULL) is not looked at again. */
static int entry_check_others(struct ledger_entry *entry, struct claims *claims,
                              const struct claims *before, const struct claims_probe *probe,
                              struct error *err)
{
    for (size_t i = 0; i < claims->count;) {
        struct claims_row *row = &claims->rows[i++];
        const struct claims_row *old = before ? claims_find(before, row->number) : NULL;
        struct rset_children common;
        const char *host;
        bool as_before = old && old->state == row->state && old->until == row->until &&
                         strcmp(old->sets, row->sets) == 0;
        if (as_before || !entry_yields(entry, row) || entry_passes(entry, claims, row))
            continue;
        if (claims_probe_row(probe, row, &host, &common, err) < 0)
            return error_prefix(err, "%s/claims: program %llu", entry->instance->path,
                                (unsigned long long)row->number);
        if (!host)
            continue;
        if (ledger_is_alive(entry->instance, row->number)) {
            entry_refuse(row, host, &common, err);
            return 1;
        }
        idset_free(common.cores);
        idset_free(common.gpus);
        ledger_bury(entry->instance, row->number);
        claims_drop(claims, row->number);
        i--;
    }
    return 0;
}

/* The claim as a file of the program, for those who look at it. */
static int entry_tell(struct ledger_entry *entry, const struct rset *claim, struct error *err)
{
    if (!claim->nnodes) {
        if (directory_remove(entry->dir, "R.json") == 0)
            return 0;
        return error_set(err, "cannot remove %s/R.json: %s", entry->path, strerror(errno));
    }
    json_t *R = rset_to_json(claim);
    int rc = entry_write(entry, "R.json", R, err);
    json_decref(R);
    return rc;
}

/* 2: others were quicker, try again. */
static int entry_try_put(struct ledger_entry *entry, enum claims_state state,
                         const struct rset *set, uint64_t start, const struct claims_probe *probe,
                         struct claims **before, int tries, struct error *err)
{
    struct ledger_change change;
    if (ledger_begin(entry->instance, tries, &change, err) < 0)
        return -1;
    int rc = probe ? entry_check_others(entry, change.claims, *before, probe, err) : 0;
    if (rc == 0) {
        struct claims_row *row = claims_find(change.claims, entry->number);
        if (!row)
            row = claims_add(change.claims, entry->number, ledger_now(),
                             instance_within(entry->instance), entry->name);
        bool had = row->state != CLAIMS_NOTHING, waited = row->state == CLAIMS_WAITS;
        uint64_t end = state == CLAIMS_HOLDS ? entry_end_time(entry) : 0;
        claims_put(row, state, set, state == CLAIMS_HOLDS ? end : start);
        rc = ledger_commit(&change, err);
        if (rc == 0 && set->nnodes)
            entry->until = end;
        if (rc == 0 && had)
            entry_poke(entry);
        if (rc == 0)
            entry->waits = state == CLAIMS_WAITS && set->nnodes;
        if (rc == 0 && had)
            claim_bell_ring(entry->instance, change.claims, waited ? CLAIM_BELL_TURNS : 1,
                            entry->number);
        rc = rc == 1 ? 2 : rc;
    }
    if (rc == 2) { /* what was looked at need not be again */
        claims_free(*before);
        *before = change.claims;
        change.claims = NULL;
    }
    ledger_end(&change);
    return rc;
}

int entry_put(struct ledger_entry *entry, enum claims_state state, const struct rset *set,
              uint64_t start, const struct claims_probe *probe, struct error *err)
{
    struct claims *before = NULL;
    int rc = 2;
    for (int tries = 0; rc == 2; tries++)
        rc = entry_try_put(entry, state, set, start, probe, &before, tries, err);
    claims_free(before);
    return rc;
}

/* It is told before it stands, so that claims that are made anew have it, and untold where it does
 * not come to stand. */
static int entry_hold(struct ledger_entry *entry, const struct rset *claim,
                      const struct claims_probe *probe, struct error *err)
{
    bool told = faccessat(entry->dir, "R.json", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (claim->nnodes && entry_tell(entry, claim, err) < 0)
        return -1;
    int rc = entry_put(entry, CLAIMS_HOLDS, claim, 0, probe, err);
    if (claim->nnodes && rc)
        private_directory_undo(entry->dir, "R.json", told);
    else if (!claim->nnodes && rc == 0 && told)
        rc = entry_tell(entry, claim, err);
    return rc;
}

int entry_claim(struct ledger_entry *entry, const struct rset *claim, struct error *err)
{
    struct claims_probe *probe = claims_probe_new(claim);
    int rc = entry_hold(entry, claim, probe, err);
    claims_probe_free(probe);
    return rc;
}

int entry_share(struct ledger_entry *entry, const struct rset *claim, struct error *err)
{
    return entry_hold(entry, claim, NULL, err);
}
