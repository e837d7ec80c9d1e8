/* Who it is that a program waits for, in words; and who else has processors of a register. */
#include "launcher/ledger/claim_queue.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "launcher/ledger/claim_private.h"
#include "launcher/ledger/claims_file.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/ledger_entry_private.h"

#define HOLDERS_SHOWN 3
#define HOLDERS_COMMAND 60 /* bytes of a command */
#define HOLDERS_ASKED                                                                              \
    32 /* of those that wait; of more the dead are counted, too, until they are cleared away */

struct holders {
    struct buf text;
    size_t shown, more, before;
    const char *sets; /* of the last one that waits, */
    bool wants;       /* and whether it waits for some of ours */
};

/* The time of day, and the day where that is not today. */
static void holders_add_time(struct buf *text, uint64_t since)
{
    time_t then = (time_t)since, now = (time_t)ledger_now();
    struct tm at, today;
    char words[64];
    if (!localtime_r(&then, &at) || !localtime_r(&now, &today))
        return;
    bool same = at.tm_yday == today.tm_yday && at.tm_year == today.tm_year;
    if (strftime(words, sizeof(words), same ? "%H:%M" : "%b %e %H:%M", &at))
        buf_printf(text, ", since %s", words);
}

/* "for 3h12m" */
static void holders_add_duration(struct buf *text, uint64_t since)
{
    uint64_t now = ledger_now(), s = now > since ? now - since : 0;
    static const struct {
        uint64_t seconds, part;
        const char *unit, *part_unit;
    } units[] = {{86400, 3600, "d", "h"}, {3600, 60, "h", "m"}, {60, 1, "m", "s"}, {1, 1, "s", ""}};
    size_t i = 0;
    while (i < 3 && s < units[i].seconds)
        i++;
    buf_printf(text, ", for %llu%s", (unsigned long long)(s / units[i].seconds), units[i].unit);
    uint64_t rest = s % units[i].seconds / units[i].part;
    if (i < 3 && rest)
        buf_printf(text, "%llu%s", (unsigned long long)rest, units[i].part_unit);
}

/* "program 17 (./app, since 12:03, for 2m)"; of the command as much as tells it from others. */
static void holders_add_program(struct buf *text, const struct claims_row *row)
{
    size_t len = strlen(row->name), shown = len;
    if (len > HOLDERS_COMMAND)
        for (shown = HOLDERS_COMMAND; shown && ((unsigned char)row->name[shown] & 0xc0) == 0x80;
             shown--)
            continue; /* not in the middle of a UTF-8 character */
    buf_printf(text, "program %llu (%.*s%s", (unsigned long long)row->number, (int)shown, row->name,
               shown < len ? "..." : "");
    holders_add_time(text, row->since);
    holders_add_duration(text, row->since);
    buf_add_char(text, ')');
}

/* Takes the common sets. */
static void holders_add_holder(struct holders *holders, const struct claims_row *row,
                               const char *host, const struct rset_children *common)
{
    char *what = ledger_name_common(common);
    if (holders->shown++ < HOLDERS_SHOWN) {
        buf_add_text(&holders->text, holders->text.len ? ", " : "");
        holders_add_program(&holders->text, row);
        buf_printf(&holders->text, " holds %s of %s", what, host);
    } else {
        holders->more++;
    }
    free(what);
}

/* Most wait for just the same as the one before. */
static bool holders_wait(struct holders *holders, struct instance *instance,
                         const struct claims_probe *probe, const struct claims_row *row)
{
    const char *host;
    if (!holders->sets || strcmp(holders->sets, row->sets) != 0) {
        holders->sets = row->sets;
        holders->wants = claims_probe_row(probe, row, &host, NULL, NULL) == 0 && host;
    }
    return holders->wants && (holders->before >= HOLDERS_ASKED || ledger_counts(instance, row));
}

char *instance_holders(struct instance *instance, const struct ledger_entry *entry,
                       const struct rset *wanted)
{
    struct claims *claims = ledger_read(instance, NULL);
    struct claims_probe *probe = claims_probe_new(wanted);
    const struct ledger_entry last = {.instance = instance, .number = UINT64_MAX};
    struct holders holders = {0};
    for (size_t i = 0; claims && i < claims->count; i++) {
        const struct claims_row *row = &claims->rows[i];
        struct rset_children common;
        const char *host;
        if (!entry_yields(entry ? entry : &last, row))
            continue;
        if (row->state == CLAIMS_WAITS)
            holders.before += holders_wait(&holders, instance, probe, row);
        else if (ledger_counts(instance, row) &&
                 claims_probe_row(probe, row, &host, &common, NULL) == 0 && host)
            holders_add_holder(&holders, row, host, &common);
    }
    claims_probe_free(probe);
    claims_free(claims);
    struct buf *text = &holders.text;
    if (holders.more)
        buf_printf(text, " and %zu other%s", holders.more, holders.more > 1 ? "s" : "");
    if (holders.before)
        buf_printf(text, "%s%zu program%s before this one", text->len ? "; " : "", holders.before,
                   holders.before > 1 ? "s are" : " is");
    return buf_take_text(text);
}

/* It waits for just the same, and bars what that one bars. */
static bool is_as_before(const struct claims_row *seen, const struct claims_row *row)
{
    return seen && seen->state == row->state && seen->until == row->until &&
           strcmp(seen->sets, row->sets) == 0 && strcmp(seen->within, row->within) == 0;
}

char *entry_delayed(struct ledger_entry *entry, const struct rset *wanted, uint64_t *start)
{
    struct claims *claims = ledger_read(entry->instance, NULL);
    struct claims_probe *probe = claims_probe_new(wanted);
    const struct claims_row *seen = NULL;
    struct buf text = BUF_INIT;
    *start = UINT64_MAX;
    for (size_t i = 0; claims && i < claims->count; i++) {
        const struct claims_row *row = &claims->rows[i];
        const char *host;
        if (is_as_before(seen, row) || !entry_is_barred_by(entry, claims, row) ||
            claims_probe_row(probe, row, &host, NULL, NULL) < 0 || !host)
            continue;
        uint64_t at = entry_start_of(entry, claims, row);
        *start = at < *start ? at : *start;
        if (!text.len)
            holders_add_program(&text, row);
        seen = row;
    }
    claims_probe_free(probe);
    claims_free(claims);
    return buf_take_text(&text);
}

/* ---- the place in line ---- */

/* Of an earlier one that waits, or of one that holds something; those that it is a task of are neither. */
static bool waiter_minds(const struct claims_row *own, const struct idset *within,
                         const struct claims_row *row)
{
    if (row->state == CLAIMS_WAITS)
        return row->number < own->number && strcmp(row->within, own->within) == 0;
    return row->state == CLAIMS_HOLDS &&
           !(within && row->number < IDSET_MAX && idset_has(within, (uint32_t)row->number));
}

bool instance_find_waiter(struct instance *instance, uint64_t number, struct waiter *waiter)
{
    struct claims *claims = ledger_read(instance, NULL);
    const struct claims_row *own = claims ? claims_find(claims, number) : NULL;
    struct rset *wanted = own && own->state == CLAIMS_WAITS ? claims_set(own, NULL) : NULL;
    if (!wanted) {
        claims_free(claims);
        return false;
    }
    struct claims_probe *probe = claims_probe_new(wanted);
    struct idset *within = idset_decode(own->within, NULL); /* NULL: "-" */
    *waiter = (struct waiter){.holders = idset_new()};
    for (size_t i = 0; i < claims->count; i++) {
        const struct claims_row *row = &claims->rows[i];
        const char *host;
        if (!waiter_minds(own, within, row) || !ledger_counts(instance, row) ||
            claims_probe_row(probe, row, &host, NULL, NULL) < 0 || !host)
            continue;
        if (row->state == CLAIMS_WAITS)
            waiter->before++;
        else if (row->number < IDSET_MAX)
            idset_add(waiter->holders, (uint32_t)row->number);
    }
    idset_free(within);
    claims_probe_free(probe);
    rset_free(wanted);
    claims_free(claims);
    return true;
}

/* ---- strangers ---- */

char *instance_strangers(struct instance *instance, const struct ledger_entry *entry,
                         const struct rset *wanted, const char *family)
{
    struct claims *claims = ledger_read(instance, NULL);
    struct claims_probe *probe = claims_probe_new(wanted);
    struct buf text = BUF_INIT;
    size_t len = strlen(family);
    for (size_t i = 0; claims && i < claims->count && !text.len; i++) {
        const struct claims_row *row = &claims->rows[i];
        const char *words = strchr(row->name, ' ');
        struct rset_children common;
        const char *host;
        bool same_family = strncmp(row->name, family, len) == 0 && row->name[len] == ' ';
        if (row->number == entry->number || same_family ||
            claims_probe_row(probe, row, &host, &common, NULL) < 0 || !host)
            continue;
        if (ledger_counts(instance, row)) {
            char *ids = idset_encode(common.cores);
            bool several = idset_count(common.cores) > 1;
            buf_printf(&text, "processor%s %s %s also bound by a run of %s", several ? "s" : "",
                       ids, several ? "are" : "is", words ? words + 1 : row->name);
            holders_add_time(&text, row->since);
            free(ids);
        }
        idset_free(common.cores);
        idset_free(common.gpus);
    }
    claims_probe_free(probe);
    claims_free(claims);
    return buf_take_text(&text);
}
