/* The ledger's queue: waiting in order of arrival, and for whom. */
#include "launcher/ledger/claim_queue.h"

#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/ledger/claim_private.h"
#include "launcher/ledger/claims_file.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/ledger_entry_private.h"

#define RIVALS_SHOWN 3
#define RIVALS_COMMAND 60 /* bytes of a command */

int entry_queue(struct ledger_entry *entry, const struct rset *scope, struct error *err)
{
    return entry_put(entry, CLAIMS_WAITS, scope, NULL, err);
}

/* A waiter that this program has to let go first. */
static bool entry_is_before(struct ledger_entry *entry, const struct claims_row *row)
{
    return row->state == CLAIMS_WAITS && entry_yields(entry, row) &&
           ledger_counts(entry->instance, row);
}

struct rset *entry_barred(struct ledger_entry *entry, struct error *err)
{
    struct claims *claims = ledger_read(entry->instance, err);
    if (!claims)
        return NULL;
    struct rset **sets = mem_array(claims->count, sizeof(*sets)), *sum;
    size_t count = 0;
    for (size_t i = 0; i < claims->count && claims->rows[i].number < entry->number; i++) {
        if (entry_is_before(entry, &claims->rows[i]))
            sets[count] = claims_set(&claims->rows[i], NULL);
        count += sets[count] != NULL;
    }
    sum = rset_union_hosts((const struct rset *const *)sets, count);
    for (size_t i = 0; i < count; i++)
        rset_free(sets[i]);
    free(sets);
    claims_free(claims);
    return sum;
}

bool entry_is_behind(struct ledger_entry *entry)
{
    struct claims *claims = ledger_read(entry->instance, NULL);
    const struct claims_row *own = claims ? claims_find(claims, entry->number) : NULL;
    bool behind = false;
    for (size_t i = 0; own && own->state == CLAIMS_WAITS && !behind && &claims->rows[i] != own; i++)
        behind = strcmp(claims->rows[i].sets, own->sets) == 0 &&
                 entry_is_before(entry, &claims->rows[i]);
    claims_free(claims);
    return behind;
}

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

/* ---- who it is that one waits for ---- */

struct rivals {
    struct buf text;
    size_t shown, more, before;
};

/* The time of day, and the day where that is not today. */
static void rivals_add_time(struct buf *text, uint64_t since)
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
static void rivals_add_duration(struct buf *text, uint64_t since)
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

/* Of the command as much as tells it from others. Takes the common sets. */
static void rivals_add_holder(struct rivals *rivals, const struct claims_row *row, const char *host,
                              const struct rset_children *common)
{
    char *what = ledger_name_common(common);
    size_t len = strlen(row->name), shown = len;
    if (len > RIVALS_COMMAND)
        for (shown = RIVALS_COMMAND; shown && ((unsigned char)row->name[shown] & 0xc0) == 0x80;
             shown--)
            continue; /* not in the middle of a UTF-8 character */
    if (rivals->shown++ < RIVALS_SHOWN) {
        buf_printf(&rivals->text, "%sprogram %llu (%.*s%s", rivals->text.len ? ", " : "",
                   (unsigned long long)row->number, (int)shown, row->name,
                   shown < len ? "..." : "");
        rivals_add_time(&rivals->text, row->since);
        rivals_add_duration(&rivals->text, row->since);
        buf_printf(&rivals->text, ") holds %s of %s", what, host);
    } else {
        rivals->more++;
    }
    free(what);
}

char *instance_rivals(struct instance *instance, const struct ledger_entry *entry,
                      const struct rset *wanted)
{
    struct claims *claims = ledger_read(instance, NULL);
    struct claims_probe *probe = claims_probe_new(wanted);
    const struct ledger_entry last = {.instance = instance, .number = UINT64_MAX};
    struct rivals rivals = {0};
    for (size_t i = 0; claims && i < claims->count; i++) {
        const struct claims_row *row = &claims->rows[i];
        struct rset_children common;
        const char *host;
        if (!entry_yields(entry ? entry : &last, row) || !ledger_counts(instance, row) ||
            claims_probe_row(probe, row, &host, &common, NULL) < 0 || !host)
            continue;
        if (row->state == CLAIMS_HOLDS) {
            rivals_add_holder(&rivals, row, host, &common);
        } else {
            rivals.before += row->state == CLAIMS_WAITS;
            idset_free(common.cores);
            idset_free(common.gpus);
        }
    }
    claims_probe_free(probe);
    claims_free(claims);
    struct buf *text = &rivals.text;
    if (rivals.more)
        buf_printf(text, " and %zu other%s", rivals.more, rivals.more > 1 ? "s" : "");
    if (rivals.before)
        buf_printf(text, "%s%zu run%s wait%s before this one", text->len ? "; " : "", rivals.before,
                   rivals.before > 1 ? "s" : "", rivals.before > 1 ? "" : "s");
    return buf_take_text(text);
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
            rivals_add_time(&text, row->since);
            free(ids);
        }
        idset_free(common.cores);
        idset_free(common.gpus);
    }
    claims_probe_free(probe);
    claims_free(claims);
    return buf_take_text(&text);
}
