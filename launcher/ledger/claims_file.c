/* The ledger's claims: read, changed under the lock, made anew; and who is alive. */
#include "launcher/ledger/claims_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/thread.h"
#include "launcher/ledger/completed.h"
#include "launcher/ledger/context_directory.h"
#include "launcher/ledger/instance_lock_private.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/private_directory.h"
#include "launcher/ledger/state_directory.h"

#define LEDGER_CLAIMS "claims"
#define LEDGER_SEAL 34 /* bytes behind the claims: their generation and checksum */

#define LEDGER_LOOK 1 /* s for a look into the state directory, of the first run after a boot */

uint64_t ledger_now(void)
{
    return clock_wall_ns() / 1000000000u;
}

enum { LEDGER_NUMBER = 24 }; /* room for a program's number as text */

/* ---- who is alive ---- */

bool ledger_is_alive(struct instance *instance, uint64_t number)
{
    if (number < IDSET_MAX && idset_has(instance->gone, (uint32_t)number))
        return false;
    return private_directory_is_locked(instance->alive, number);
}

/* Its row goes last, with the next change: nothing is left that no row tells of. */
void ledger_bury(struct instance *instance, uint64_t number)
{
    char name[LEDGER_NUMBER];
    snprintf(name, sizeof(name), "%llu", (unsigned long long)number);
    ledger_remove_context(instance, name); /* what resists holds nothing */
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

/* ---- reading ---- */

/* Each change sums all rows twice: FNV-1a, but eight bytes at a time. */
static uint64_t ledger_sum(const char *text, size_t len, uint64_t generation)
{
    uint64_t sum = 0xcbf29ce484222325u ^ generation;
    for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, text + i, len - i < sizeof(word) ? len - i : sizeof(word));
        sum = (sum ^ word) * 0x100000001b3u;
        sum ^= sum >> 32; /* else a bit is never in those below it */
    }
    return sum;
}

/* What stands behind the claims: 0 where that is none. */
static uint64_t ledger_read_seal(const char *seal, uint64_t *sum)
{
    char *end;
    if (strspn(seal, "0123456789abcdef") != 16 || seal[16] != ' ' ||
        strspn(seal + 17, "0123456789abcdef") != 16 || strcmp(seal + 33, "\n") != 0)
        return 0;
    *sum = strtoull(seal + 17, &end, 16);
    return strtoull(seal, &end, 16);
}

/* NULL without a sentence where they have to be made anew: they are not there, or not whole. */
static struct claims *ledger_load(struct instance *instance, const char *name, uint64_t *generation,
                                  struct error *err)
{
    size_t len;
    uint64_t sum = 0;
    char *text = private_directory_read(instance->dir, name, CLAIMS_MAX_TEXT, &len);
    if (!text && errno != ENOENT)
        error_set(err, "cannot read %s/%s: %s", instance->path, name, strerror(errno));
    *generation = 0;
    if (text && len > LEDGER_SEAL && strlen(text) == len) {
        len -= LEDGER_SEAL;
        *generation = ledger_read_seal(text + len, &sum);
    }
    if (!*generation || ledger_sum(text, len, *generation) != sum) {
        free(text);
        return NULL;
    }
    text[len] = '\0';
    return claims_decode(text, len, NULL);
}

/* ---- made anew ---- */

/* What a live program said that it holds. */
static int ledger_recall(struct instance *instance, struct claims *claims,
                         const struct claims *older, uint64_t number, struct error *err)
{
    char file[64];
    size_t len;
    struct claims_row *row = claims_find(claims, number);
    const struct claims_row *was = older ? claims_find(older, number) : NULL;
    if (!row && was)
        row = claims_add(claims, number, was->since, was->within, was->name);
    else if (!row)
        row = claims_add(claims, number, ledger_now(), "-", "?");
    snprintf(file, sizeof(file), "%llu/R.json", (unsigned long long)number);
    char *text = private_directory_read(instance->programs, file, RSET_MAX_TEXT, &len);
    if (!text && errno == ENOENT)
        return 0;
    if (!text)
        error_set(err, "%s", strerror(errno));
    struct rset *held = text ? rset_decode(text, len, err) : NULL;
    free(text);
    if (!held)
        return error_prefix(err, "cannot tell what program %llu holds: %s/programs/%s",
                            (unsigned long long)number, instance->path, file);
    claims_put(row, CLAIMS_HOLDS, held, was && was->state == CLAIMS_HOLDS ? was->until : 0);
    rset_free(held);
    return 0;
}

struct ledger_numbers {
    uint64_t *list;
    size_t count;
};

static void ledger_note_number(uint64_t number, void *arg)
{
    struct ledger_numbers *live = arg;
    live->list = array_grow(live->list, live->count, sizeof(*live->list));
    live->list[live->count++] = number;
}

/* Numbers go on above all that are there. */
static void ledger_go_on_above(struct claims *claims, uint64_t number)
{
    if (claims->next <= number)
        claims->next = number + 1;
}

/* Those whose directories are there. */
static void ledger_bury_dead(struct instance *instance, struct claims *claims)
{
    int fd = openat(instance->programs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    uint64_t number;
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        if (*entry->d_name == '0' || !number_parse(entry->d_name, UINT64_MAX - 2, &number))
            continue; /* no program's directory */
        ledger_go_on_above(claims, number);
        if (!ledger_is_alive(instance, number))
            ledger_bury(instance, number);
    }
    if (stream)
        closedir(stream);
    else if (fd >= 0)
        close(fd);
}

/* A look into the state directory, which may be on a file system that hangs. Who is the last of the two to leave
 * it frees it. */
struct ledger_look {
    char *instance;
    uint64_t highest;
    sem_t done;
    atomic_int users;
};

static void ledger_leave_look(struct ledger_look *look)
{
    if (atomic_fetch_sub(&look->users, 1) > 1)
        return;
    sem_destroy(&look->done);
    free(look->instance);
    free(look);
}

static void *ledger_look(void *arg)
{
    struct ledger_look *look = arg;
    int state = state_directory_open(look->instance, false, NULL);
    look->highest = state >= 0 ? state_directory_highest(state) : 0;
    if (state >= 0)
        close(state);
    sem_post(&look->done);
    ledger_leave_look(look);
    return NULL;
}

/* 0 also where there is no answer in time: what is kept then has a number twice, and is there twice. */
static uint64_t ledger_highest_in_state(struct instance *instance)
{
    struct ledger_look *look = mem_alloc(sizeof(*look));
    struct timespec end;
    struct thread thread;
    int rc;
    look->instance = mem_copy_text(instance_name(instance));
    sem_init(&look->done, 0, 0);
    atomic_init(&look->users, 2);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += LEDGER_LOOK;
    thread_begin(&thread, ledger_look, look);
    if (thread.runs)
        pthread_detach(thread.id);
    while ((rc = sem_timedwait(&look->done, &end)) < 0 && errno == EINTR)
        ;
    uint64_t highest = rc == 0 ? look->highest : 0;
    ledger_leave_look(look);
    return highest;
}

/* No number is used again while anybody knows of it, also where the runtime directory was removed. */
static uint64_t ledger_highest_kept(struct instance *instance)
{
    uint64_t highest = ledger_highest_in_state(instance);
    struct buf bytes = BUF_INIT;
    struct completed_context context;
    size_t at = 0;
    completed_read(instance, &bytes, NULL);
    while (context_record_next(buf_bytes(&bytes), bytes.len, &at, &context)) {
        uint64_t number = strtoull(context.id, NULL, 10);
        highest = number > highest ? number : highest;
    }
    buf_free(&bytes);
    return highest;
}

/* What all live programs said that they hold. */
static struct claims *ledger_rebuild(struct instance *instance, struct error *err)
{
    struct claims *claims = claims_new();
    struct ledger_numbers live = {0};
    uint64_t generation;
    struct claims *older =
        ledger_load(instance, PRIVATE_DIRECTORY_DRAFT(LEDGER_CLAIMS), &generation, NULL);
    if (older)
        ledger_go_on_above(claims, older->next - 1);
    else
        ledger_go_on_above(claims, ledger_highest_kept(instance));
    if (!idset_empty(instance->gone))
        ledger_go_on_above(claims, idset_last(instance->gone));
    ledger_bury_dead(instance, claims);
    int rc = private_directory_each_locked(instance->alive, 1, ledger_note_number, &live);
    if (rc < 0)
        error_set(err, "cannot read the locks of %s/alive: %s", instance->path, strerror(errno));
    for (size_t i = 0; rc == 0 && i < live.count; i++) {
        ledger_go_on_above(claims, live.list[i]);
        rc = ledger_recall(instance, claims, older, live.list[i], err);
    }
    free(live.list);
    claims_free(older);
    if (rc == 0)
        return claims;
    claims_free(claims);
    return NULL;
}

/* ---- changing ---- */

/* All under the lock; what is not whole is made anew. */
static int ledger_begin_locked(struct ledger_change *change, struct error *err)
{
    struct error why = ERROR_INIT;
    if (ledger_lock(change->instance, "lock", &change->lock, err) < 0)
        return -1;
    change->locked = true;
    change->claims = ledger_load(change->instance, LEDGER_CLAIMS, &change->generation, &why);
    if (!change->claims && !why.text) {
        change->claims = ledger_rebuild(change->instance, &why);
        change->generation = clock_wall_ns(); /* above all that was */
    }
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
    *change = (struct ledger_change){.instance = instance};
    if (tries < LEDGER_TRIES)
        change->claims = ledger_load(instance, LEDGER_CLAIMS, &change->generation, NULL);
    if (!change->claims && ledger_begin_locked(change, err) < 0)
        return -1;
    IDSET_FOREACH(number, instance->gone)
    claims_drop(change->claims, number);
    return 0;
}

/* No two states of the claims have one generation. */
static bool ledger_is_as_seen(const struct ledger_change *change)
{
    char seal[LEDGER_SEAL + 1] = "";
    struct stat st;
    uint64_t sum;
    int fd = openat(change->instance->dir, LEDGER_CLAIMS, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool same = fd >= 0 && fstat(fd, &st) == 0 && st.st_size > LEDGER_SEAL &&
                pread(fd, seal, LEDGER_SEAL, st.st_size - LEDGER_SEAL) == LEDGER_SEAL &&
                ledger_read_seal(seal, &sum) == change->generation;
    if (fd >= 0)
        close(fd);
    return same;
}

/* Under the lock. */
static int ledger_write(const struct ledger_change *change, struct error *err)
{
    size_t len;
    uint64_t generation = change->generation + 1;
    char *text = claims_encode(change->claims, &len);
    text = mem_resize(text, len + LEDGER_SEAL + 1, 1);
    snprintf(text + len, LEDGER_SEAL + 1, "%016llx %016llx\n", (unsigned long long)generation,
             (unsigned long long)ledger_sum(text, len, generation));
    int rc = private_directory_write(change->instance->dir, LEDGER_CLAIMS, text, len + LEDGER_SEAL);
    free(text);
    if (rc < 0)
        return error_set(err, "cannot write %s/%s: %s", change->instance->path, LEDGER_CLAIMS,
                         strerror(errno));
    return 0;
}

int ledger_commit(struct ledger_change *change, struct error *err)
{
    if (change->locked)
        return ledger_write(change, err);
    if (!ledger_is_as_seen(change))
        return 1; /* no use to stand in line for the lock */
    if (ledger_lock(change->instance, "lock", &change->lock, err) < 0)
        return -1;
    int rc = ledger_is_as_seen(change) ? ledger_write(change, err) : 1;
    ledger_unlock(&change->lock);
    return rc;
}

void ledger_end(struct ledger_change *change)
{
    if (change->locked)
        ledger_unlock(&change->lock);
    claims_free(change->claims);
}

struct claims *ledger_read(struct instance *instance, struct error *err)
{
    struct ledger_change change;
    uint64_t generation;
    struct claims *claims = ledger_load(instance, LEDGER_CLAIMS, &generation, NULL);
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
