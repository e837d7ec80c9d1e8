/* The ledger's claims: read, changed under the lock, made anew; and who is alive. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/program/ledger_private.h"
#include "launcher/program/store.h"

#define LEDGER_CLAIMS "claims"
#define LEDGER_DRAFT_AGE 60 /* seconds after which a draft is nobody's */

uint64_t ledger_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec > 0 ? (uint64_t)now.tv_sec : 0;
}

const char *ledger_within(const struct instance *instance)
{
    return instance->within ? instance->within : "-";
}

/* ---- who is alive ---- */

/* Opened for reading: closing it wakes nobody who watches for writers that are gone. */
static bool ledger_is_locked(struct instance *instance, const char *name)
{
    int fd = openat(instance->alive, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno != ENOENT;
    bool locked = store_locked(fd);
    close(fd);
    return locked;
}

bool ledger_is_alive(struct instance *instance, uint64_t number)
{
    char name[LEDGER_NUMBER];
    if (number < IDSET_MAX && idset_has(instance->gone, (uint32_t)number))
        return false;
    snprintf(name, sizeof(name), "%llu", (unsigned long long)number);
    return ledger_is_locked(instance, name);
}

/* Its row goes last, with the next change: nothing is left that no row tells of. */
void ledger_bury(struct instance *instance, uint64_t number)
{
    char name[LEDGER_NUMBER];
    snprintf(name, sizeof(name), "%llu", (unsigned long long)number);
    store_remove(instance->programs, name); /* what resists holds nothing */
    unlinkat(instance->alive, name, 0);
    if (number < IDSET_MAX)
        idset_add(instance->gone, (uint32_t)number);
}

bool ledger_counts(struct instance *instance, const struct claims_row *row)
{
    bool gone = row->number < IDSET_MAX && idset_has(instance->gone, (uint32_t)row->number);
    if (gone)
        return false;
    if (!ledger_is_alive(instance, row->number)) {
        ledger_bury(instance, row->number);
        return false;
    }
    return row->state != CLAIMS_NOTHING && !(instance->enclosing && row->number < IDSET_MAX &&
                                             idset_has(instance->enclosing, (uint32_t)row->number));
}

/* ---- made anew ---- */

/* A program's number from a file's name; false for anything else. */
static bool ledger_read_number(const char *name, uint64_t *number)
{
    char *end;
    if (name[0] < '1' || name[0] > '9')
        return false;
    errno = 0;
    *number = strtoull(name, &end, 10);
    return !*end && !errno && *number < UINT64_MAX - 1;
}

/* What a live program said that it holds. */
static int ledger_recall(struct instance *instance, struct claims *claims, uint64_t number,
                         struct error *err)
{
    char file[64];
    size_t len;
    struct claims_row *row = claims_find(claims, number);
    if (!row)
        row = claims_add(claims, number, ledger_now(), "-", "?");
    snprintf(file, sizeof(file), "%llu/R.json", (unsigned long long)number);
    char *text = store_read(instance->programs, file, RSET_MAX_TEXT, &len);
    if (!text && errno == ENOENT)
        return 0;
    if (!text)
        error_set(err, "%s", strerror(errno));
    struct rset *held = text ? rset_decode(text, len, err) : NULL;
    free(text);
    if (!held)
        return error_prefix(err, "unable to tell what program %llu holds: %s/programs/%s",
                            (unsigned long long)number, instance->path, file);
    claims_put(row, CLAIMS_HOLDS, held);
    rset_free(held);
    return 0;
}

static void ledger_tidy_dir(struct instance *instance, int dir)
{
    struct stat st;
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        if (strncmp(entry->d_name, ".new-", 5) == 0 &&
            fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_mtime + LEDGER_DRAFT_AGE < (time_t)ledger_now() &&
            !(dir == instance->alive && ledger_is_locked(instance, entry->d_name)))
            unlinkat(dir, entry->d_name, 0);
    if (stream)
        closedir(stream);
    else if (fd >= 0)
        close(fd);
}

void ledger_tidy(struct instance *instance)
{
    ledger_tidy_dir(instance, instance->alive);
    ledger_tidy_dir(instance, instance->programs);
}

/* Numbers go on above all that are there. */
static int ledger_recall_all(struct instance *instance, int dir, struct claims *claims,
                             struct error *err)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        error_set(err, "unable to read the directories of %s: %s", instance->path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    for (struct dirent *entry; rc == 0 && (entry = readdir(stream));) {
        uint64_t number;
        if (!ledger_read_number(entry->d_name, &number))
            continue;
        if (claims->next <= number)
            claims->next = number + 1;
        if (ledger_is_alive(instance, number))
            rc = ledger_recall(instance, claims, number, err);
        else
            ledger_bury(instance, number);
    }
    closedir(stream);
    return rc;
}

static struct claims *ledger_rebuild(struct instance *instance, struct error *err)
{
    struct claims *claims = claims_new();
    if (!idset_empty(instance->gone))
        claims->next = (uint64_t)idset_last(instance->gone) + 1;
    if (ledger_recall_all(instance, instance->alive, claims, err) == 0 &&
        ledger_recall_all(instance, instance->programs, claims, err) == 0)
        return claims;
    claims_free(claims);
    return NULL;
}

/* ---- reading and changing ---- */

/* NULL without a sentence where they have to be made anew. The file stays open as *seen. */
static struct claims *ledger_load(struct instance *instance, int *seen, struct error *err)
{
    size_t len;
    *seen = openat(instance->dir, LEDGER_CLAIMS, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char *text = *seen < 0 ? NULL : store_read_open(*seen, CLAIMS_MAX_TEXT, &len);
    if (!text && errno != ENOENT)
        error_set(err, "unable to read %s/%s: %s", instance->path, LEDGER_CLAIMS, strerror(errno));
    struct claims *claims = text ? claims_decode(text, len, NULL) : NULL;
    free(text);
    return claims;
}

static void ledger_close_seen(struct ledger_change *change)
{
    if (change->seen >= 0)
        close(change->seen);
    change->seen = -1;
}

/* All under the lock; what is not whole is made anew. */
static int ledger_begin_locked(struct ledger_change *change, struct error *err)
{
    struct error why = ERROR_INIT;
    if (ledger_lock(change->instance, "lock", &change->lock, err) < 0)
        return -1;
    change->locked = true;
    change->claims = ledger_load(change->instance, &change->seen, &why);
    ledger_close_seen(change);
    if (!change->claims && !why.text)
        change->claims = ledger_rebuild(change->instance, &why);
    if (change->claims)
        return 0;
    error_set(err, "%s", error_text(&why));
    error_clear(&why);
    ledger_unlock(&change->lock);
    return -1;
}

int ledger_begin(struct instance *instance, int tries, struct ledger_change *change,
                 struct error *err)
{
    *change = (struct ledger_change){.instance = instance, .seen = -1};
    if (tries < LEDGER_TRIES)
        change->claims = ledger_load(instance, &change->seen, NULL);
    if (!change->claims) {
        ledger_close_seen(change);
        if (ledger_begin_locked(change, err) < 0)
            return -1;
    }
    IDSET_FOREACH(number, instance->gone)
    claims_drop(change->claims, number);
    return 0;
}

/* An open file's number is not given away. */
static bool ledger_is_as_seen(const struct ledger_change *change)
{
    struct stat seen, now;
    return fstat(change->seen, &seen) == 0 &&
           fstatat(change->instance->dir, LEDGER_CLAIMS, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           seen.st_ino == now.st_ino && seen.st_dev == now.st_dev && seen.st_size == now.st_size &&
           seen.st_mtim.tv_sec == now.st_mtim.tv_sec && seen.st_mtim.tv_nsec == now.st_mtim.tv_nsec;
}

/* Under the lock. */
static int ledger_swap(struct ledger_change *change, const char *draft, struct error *err)
{
    struct instance *instance = change->instance;
    if (!change->locked && !ledger_is_as_seen(change))
        return 1;
    if (change->draft && renameat(instance->alive, change->draft, instance->alive, change->id) < 0)
        return error_set(err, "unable to make %s/alive/%s: %s", instance->path, change->id,
                         strerror(errno));
    if (renameat(instance->programs, draft, instance->dir, LEDGER_CLAIMS) == 0)
        return 0;
    error_set(err, "unable to write %s/%s: %s", instance->path, LEDGER_CLAIMS, strerror(errno));
    if (change->draft)
        unlinkat(instance->alive, change->id, 0);
    return -1;
}

int ledger_commit(struct ledger_change *change, struct error *err)
{
    struct instance *instance = change->instance;
    char draft[64];
    size_t len;
    char *text = claims_encode(change->claims, &len);
    int rc = store_draft(instance->programs, draft, sizeof(draft), text, len);
    free(text);
    if (rc < 0)
        return error_set(err, "unable to write %s/%s: %s", instance->path, LEDGER_CLAIMS,
                         strerror(errno));
    if (!change->locked && !ledger_is_as_seen(change))
        rc = 1; /* no use to stand in line for the lock */
    else if (!change->locked && ledger_lock(instance, "lock", &change->lock, err) < 0)
        rc = -1;
    if (rc == 0) {
        rc = ledger_swap(change, draft, err);
        if (!change->locked)
            ledger_unlock(&change->lock);
    }
    if (rc)
        unlinkat(instance->programs, draft, 0);
    return rc;
}

void ledger_end(struct ledger_change *change)
{
    if (change->locked)
        ledger_unlock(&change->lock);
    ledger_close_seen(change);
    claims_free(change->claims);
}

struct claims *ledger_read(struct instance *instance, struct error *err)
{
    struct ledger_change change;
    int seen;
    struct claims *claims = ledger_load(instance, &seen, NULL);
    if (seen >= 0)
        close(seen);
    if (claims)
        return claims;
    if (ledger_begin(instance, LEDGER_TRIES, &change, err) < 0)
        return NULL;
    claims = ledger_commit(&change, err) < 0 ? NULL : change.claims;
    if (claims)
        change.claims = NULL;
    ledger_end(&change);
    return claims;
}
