/* Contexts that are complete: kept in one file of the instance, and moved to the state directory. */
#include "launcher/ledger/completed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "launcher/ledger/completed_output.h"
#include "launcher/ledger/event_log.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/ledger/private_directory.h"
#include "launcher/ledger/state_directory.h"
#include "launcher/ledger/state_index.h"

#define COMPLETED_FILE "completed"
enum { BYTE_WRITE, BYTE_MOVE }; /* bytes of the file that are locked for it */
#define COMPLETED_LARGE                                                                            \
    (64u << 10) /* bytes of output that are moved at once, and worth removing on a full disk */
#define COMPLETED_WAIT 0.05 /* s for the lock of the file, which is held for one write */
#define MOVE_PASSES 16      /* over what came while others were moved */

/* ---- the end of a log ---- */

/* The last event is the end. Of a log that begins with an event, *began is when. */
static bool log_is_over(const char *bytes, size_t len, double *began)
{
    struct event_reader reader;
    struct event event;
    while (len && bytes[len - 1] != '\n')
        len--;
    size_t last = len ? len - 1 : 0;
    while (last && bytes[last - 1] != '\n')
        last--;
    event_reader_begin(&reader, bytes + last, len - last);
    bool over = event_reader_next(&reader, &event, NULL) == 1 &&
                (strcmp(event.name, "complete") == 0 || strcmp(event.name, "lost") == 0);
    event_reader_end(&reader);
    event_reader_begin(&reader, bytes, len);
    *began = event_reader_next(&reader, &event, NULL) == 1 ? event.timestamp : 0;
    event_reader_end(&reader);
    return over;
}

static bool is_from_before_boot(double time)
{
    struct timespec up;
    return clock_gettime(CLOCK_BOOTTIME, &up) == 0 && time > 0 &&
           time < clock_wall_seconds() - (double)up.tv_sec;
}

/* Its manager did not get to it. */
static void add_lost(int dir, double began)
{
    struct event_log *log = event_log_open(dir, ENTRY_EVENTS, "", NULL);
    if (!log)
        return;
    event_log_add(log, "lost",
                  json_pack("{s:s}", "reason",
                            is_from_before_boot(began)
                                ? "the machine was started anew while the program ran\n"
                                : "the manager of the program was gone before its end\n"));
    event_log_write(log, NULL);
    event_log_close(log);
}

/* ---- appending ---- */

static int lock_completed(int fd)
{
    double end = clock_monotonic_seconds() + COMPLETED_WAIT;
    int rc;
    while ((rc = private_directory_lock_byte(fd, BYTE_WRITE)) < 0 && errno == EAGAIN &&
           clock_monotonic_seconds() < end)
        usleep(100);
    return rc;
}

/* Once each time: where moving fails, not every run tries. */
static bool passes_multiple(size_t before, size_t now, size_t of)
{
    return now / of > before / of;
}

static bool append_record(struct instance *instance, const struct buf *record)
{
    struct stat st;
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(instance->dir, COMPLETED_FILE, flags, 0600);
    bool good = fd >= 0 && lock_completed(fd) == 0 && fstat(fd, &st) == 0;
    if (good && st.st_size > (off_t)COMPLETED_MAX) {
        good = false;
        errno = EFBIG;
    }
    if (good) {
        ssize_t n = write(fd, buf_bytes(record), record->len);
        good = n == (ssize_t)record->len;
        if (!good && n > 0 && ftruncate(fd, st.st_size) == 0)
            errno = ENOSPC;
        size_t before = (size_t)st.st_size, now = before + record->len;
        instance->completed_size = now;
        instance->completed_presses |= passes_multiple(before, now, COMPLETED_PRESSING);
        instance->completed_due |= passes_multiple(before, now, COMPLETED_DUE) ||
                                   time(NULL) - st.st_mtime >= COMPLETED_PAUSE;
    }
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return good;
}

static bool no_space(int why)
{
    return why == ENOSPC || why == EDQUOT;
}

/* Full, or others have the file locked. */
bool completed_may_later(int why)
{
    return no_space(why) || why == EAGAIN || why == EINTR;
}

bool completed_append(struct instance *instance, const char *id, int dir)
{
    const char *keep = getenv("TPRUN_KEEP");
    if (keep && strcmp(keep, "0") == 0) {
        if (completed_output_is_in(dir))
            completed_output_take_for_readers(instance, id, dir);
        return true;
    }
    struct buf bytes = BUF_INIT;
    double began;
    bool good = context_record_add_file(&bytes, dir, ENTRY_EVENTS) || errno == ENOENT;
    bool has_log = bytes.len > 1;
    if (good && has_log && !log_is_over(buf_bytes(&bytes), bytes.len, &began)) {
        add_lost(dir, began);
        buf_clear(&bytes);
        good = context_record_add_file(&bytes, dir, ENTRY_EVENTS);
    }
    bool has_output = good && has_log && completed_output_is_in(dir);
    bool is_large = has_output && completed_output_size(dir, ".") > COMPLETED_LARGE;
    if (has_output) { /* before the record: who moves that finds it; and it may be much */
        completed_output_take(instance, id, dir);
        instance->completed_due |= is_large;
    }
    if (good && has_log) {
        struct buf record = BUF_INIT;
        good = context_record_make(&record, id, dir, &bytes) && append_record(instance, &record);
        if (!good && is_large && no_space(errno)) { /* it may be what fills the disk */
            completed_output_drop(instance, id);
            good = append_record(instance, &record);
        }
        buf_free(&record);
    }
    buf_free(&bytes);
    return good;
}

bool completed_is_due(const struct instance *instance, enum completed_mover mover)
{
    if (mover == MOVER_INSIDE)
        return instance->completed_presses;
    return instance->completed_due ||
           (mover == MOVER_INSTANCE && instance->completed_size >= COMPLETED_DUE);
}

/* ---- reading ---- */

static int read_from(int fd, size_t at, struct buf *out)
{
    ssize_t n;
    size_t step = 65536;
    while ((n = pread(fd, buf_reserve(out, step), step, (off_t)(at + out->len))) > 0)
        buf_added(out, (size_t)n);
    return n < 0 ? -1 : 0;
}

int completed_read(struct instance *instance, struct buf *out, struct error *err)
{
    struct buf bytes = BUF_INIT;
    int fd = openat(instance->dir, COMPLETED_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int rc = fd >= 0 ? read_from(fd, 0, &bytes) : errno == ENOENT ? 0 : -1;
    if (rc < 0)
        error_set(err, "cannot read %s/%s: %s", instance->path, COMPLETED_FILE, strerror(errno));
    buf_add(out, buf_bytes(&bytes), bytes.len);
    buf_free(&bytes);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* ---- moving ---- */

struct move {
    struct instance *instance;
    int fd; /* the file */
    int state;
    size_t nfailed;    /* contexts of the last pass that stay, */
    struct error why;  /* that of the first of all */
    struct buf failed; /* and their records */
    struct buf lines;  /* for the index */
    bool has_output;
};

static int put_context(struct move *move, const struct completed_context *context)
{
    struct kept_context kept;
    int output = completed_output_open(move->instance, context->id);
    int rc = state_directory_put(move->state, context, output, &kept,
                                 move->why.text ? NULL : &move->why);
    if (output >= 0)
        close(output);
    if (rc < 0)
        return -1;
    if (output >= 0)
        completed_output_moved(move->instance, context->id);
    move->has_output |= output >= 0;
    const char *log = context->files[CONTEXT_EVENTS];
    struct program_record *record =
        *kept.name && log ? program_record_read(log, context->lens[CONTEXT_EVENTS], false) : NULL;
    if (record && record->state == RECORD_COMPLETE)
        state_index_encode(&move->lines, kept.name, kept.inode, record);
    program_record_free(record);
    return 0;
}

/* What failed, and what came meanwhile, is at the beginning then. Should this process be killed on its way, records are
 * there twice, and one is cut: a later move takes both for what they are. 1: more came; -1 with errno. */
static int drop_moved(const struct move *move, size_t moved)
{
    struct buf rest = BUF_INIT;
    size_t failed = move->failed.len;
    buf_add(&rest, buf_bytes(&move->failed), failed);
    int rc = read_from(move->fd, moved - failed, &rest);
    for (size_t done = 0; rc == 0 && done < rest.len && failed < moved;) {
        ssize_t n = pwrite(move->fd, buf_bytes(&rest) + done, rest.len - done, (off_t)done);
        rc = n < 0 && errno != EINTR ? -1 : 0;
        done += n > 0 ? (size_t)n : 0;
    }
    if (rc == 0)
        rc = ftruncate(move->fd, (off_t)rest.len);
    if (rc == 0 && rest.len > failed)
        rc = 1;
    buf_free(&rest);
    return rc;
}

/* One that cannot be moved stays, and keeps no other. */
static void put_contexts(struct move *move, const struct buf *bytes)
{
    struct completed_context context;
    size_t at = 0;
    move->nfailed = 0;
    for (size_t begin = 0; context_record_next(buf_bytes(bytes), bytes->len, &at, &context);
         begin = at) {
        if (put_context(move, &context) == 0)
            continue;
        move->nfailed++;
        buf_add(&move->failed, buf_bytes(bytes) + begin, at - begin);
    }
}

/* 1: there is more. */
static int move_some(struct move *move, struct error *err)
{
    const char *path = move->instance->path;
    struct buf bytes = BUF_INIT;
    int rc = read_from(move->fd, 0, &bytes);
    if (rc < 0)
        error_set(err, "cannot read %s/%s: %s", path, COMPLETED_FILE, strerror(errno));
    else
        put_contexts(move, &bytes);
    state_index_append(move->state, &move->lines);
    if (move->has_output) /* which looks into the directory of each program that is kept */
        state_directory_limit_output(move->state);
    if (rc == 0 && lock_completed(move->fd) == 0) {
        rc = drop_moved(move, bytes.len);
        if (rc < 0)
            error_set(err, "cannot empty %s/%s: %s", path, COMPLETED_FILE, strerror(errno));
    }
    private_directory_unlock_byte(move->fd, BYTE_WRITE);
    move->has_output = false;
    buf_free(&move->lines);
    buf_free(&move->failed);
    buf_free(&bytes);
    return rc;
}

static int move_all(struct move *move, struct error *err)
{
    int rc = 1;
    for (int i = 0; rc == 1 && i < MOVE_PASSES; i++)
        rc = move_some(move, err);
    if (rc >= 0 && move->nfailed > 1)
        rc = error_set(err, "%s (and so for %zu more)", error_text(&move->why), move->nfailed - 1);
    else if (rc >= 0 && move->nfailed)
        rc = error_set(err, "%s", error_text(&move->why));
    else if (rc == 0)
        completed_output_tidy(move->instance);
    error_clear(&move->why);
    return rc;
}

int completed_move(struct instance *instance, struct error *err)
{
    int fd = openat(instance->dir, COMPLETED_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0
                               : error_set(err, "cannot open %s/%s: %s", instance->path,
                                           COMPLETED_FILE, strerror(errno));
    int rc = 0;
    struct stat st;
    bool empty = fstat(fd, &st) == 0 && st.st_size == 0;
    if (!empty && private_directory_lock_byte(fd, BYTE_MOVE) == 0) {
        struct move move = {.instance = instance, .fd = fd};
        move.state = state_directory_open(instance_name(instance), true, err);
        rc = move.state < 0 ? -1 : move_all(&move, err);
        if (move.state >= 0)
            close(move.state);
    }
    close(fd);
    return rc < 0 ? -1 : 0;
}

void completed_limit(struct instance *instance)
{
    int state = state_directory_open(instance_name(instance), false, NULL);
    if (state < 0)
        return;
    state_directory_limit(state);
    close(state);
}
