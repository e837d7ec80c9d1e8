/* Reads the files of saved output while they are written, moved and removed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/saved/saved_output.h"
#include "launcher/saved/saved_output_private.h"

#define PIECE (256u << 10) /* bytes that are read at a time */
#define TRIES 100          /* to find the next file while old ones are removed */

struct saved_reader {
    saved_open_fn *open;
    void *arg;
    int first; /* output.0 */
    int fd;    /* where it reads; the same as first at the beginning */
    uint64_t number;
    uint64_t before; /* bytes of frames in the files before it */
    uint64_t taken;  /* bytes of frames of this file that were given away */
    struct buf bytes;
    size_t shown; /* bytes of the frame that was given away last, at the front of `bytes` */
    int notify;   /* -1: none */
    int watched;  /* its watch of the file; -1: none */
    bool told;    /* that saving stopped */
};

/* ---- headers ---- */

static bool read_saved_header(int fd, uint64_t fields[SAVED_FIELDS])
{
    unsigned char header[SAVED_HEADER];
    if (pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
        memcmp(header, SAVED_MAGIC, 8) != 0)
        return false;
    for (int i = 0; i < SAVED_FIELDS; i++)
        fields[i] = frame_get_u64(header + SAVED_FIELD_AT(i));
    return fields[SAVED_FIELD_VERSION] == SAVED_VERSION;
}

/* Opens a file and reads its header. The descriptor, or -1 with errno. */
static int open_numbered(const struct saved_reader *reader, uint64_t number,
                         uint64_t fields[SAVED_FIELDS])
{
    char name[SAVED_NAME_SIZE];
    snprintf(name, sizeof(name), SAVED_NAME "%" PRIu64, number);
    int fd = reader->open(reader->arg, name);
    struct stat st;
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && read_saved_header(fd, fields) &&
        fields[SAVED_FIELD_NUMBER] == number && lseek(fd, SAVED_HEADER, SEEK_SET) >= 0)
        return fd;
    close(fd);
    errno = EBADMSG;
    return -1;
}

static int lock_readers(int fd, short type)
{
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = SAVED_BYTE_READERS, .l_len = 1};
    int rc = fcntl(fd, F_OFD_SETLK, &lock);
    if (rc < 0 && errno == EACCES)
        errno = EAGAIN;
    return rc;
}

/* output.0, which nobody removes from now on: the descriptor, or -1 with errno. EAGAIN: somebody is removing it. A file
 * system without locks does not keep anybody from reading. */
static int begin_reading(const struct saved_reader *reader, uint64_t fields[SAVED_FIELDS])
{
    int fd = open_numbered(reader, 0, fields);
    if (fd < 0 || lock_readers(fd, F_RDLCK) == 0 || errno != EAGAIN)
        return fd;
    close(fd);
    errno = EAGAIN;
    return -1;
}

struct saved_reader *saved_reader_new(saved_open_fn *open, void *arg, struct error *err)
{
    struct saved_reader *reader = mem_alloc(sizeof(*reader));
    uint64_t fields[SAVED_FIELDS];
    *reader = (struct saved_reader){.open = open, .arg = arg, .notify = -1, .watched = -1};
    reader->first = begin_reading(reader, fields);
    for (int i = 0; i < TRIES && reader->first < 0 && errno == EAGAIN; i++) {
        usleep(1000); /* it may have been copied to another place */
        reader->first = begin_reading(reader, fields);
    }
    reader->fd = reader->first;
    if (reader->first >= 0)
        return reader;
    int why = errno == EAGAIN ? ENOENT : errno;
    error_set(err, "cannot read the saved output: %s",
              why == EBADMSG ? "it was not written by this version" : strerror(why));
    saved_reader_free(reader);
    errno = why;
    return NULL;
}

void saved_reader_free(struct saved_reader *reader)
{
    if (!reader)
        return;
    if (reader->fd >= 0 && reader->fd != reader->first)
        close(reader->fd);
    if (reader->first >= 0)
        close(reader->first);
    if (reader->notify >= 0)
        close(reader->notify);
    buf_free(&reader->bytes);
    free(reader);
}

static bool writer_lives(int first)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = SAVED_BYTE_WRITER, .l_len = 1};
    return fcntl(first, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* ---- bytes ---- */

/* Bytes that were read; 0: there are no more at the moment; -1 with errno. */
static ssize_t read_more(struct saved_reader *reader)
{
    ssize_t n;
    do
        n = read(reader->fd, buf_reserve(&reader->bytes, PIECE), PIECE);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        buf_added(&reader->bytes, (size_t)n);
    return n;
}

/* The next frame of this file: 1; 0: there is none now; -1 with a sentence. */
static int next_frame(struct saved_reader *reader, struct frame *frame, struct error *err)
{
    buf_consume(&reader->bytes, reader->shown);
    reader->shown = 0;
    for (;;) {
        int rc = frame_decode(&reader->bytes, frame, NULL);
        if (rc < 0 || (rc > 0 && (int)frame->type >= SAVED_TYPES))
            return error_set(err, "the saved output is damaged at byte %" PRIu64,
                             reader->before + reader->taken);
        if (rc > 0) {
            frame->type = saved_types[frame->type];
            reader->shown = FRAME_HEADER + frame->len;
            reader->taken += reader->shown;
            return 1;
        }
        ssize_t n = read_more(reader);
        if (n < 0)
            return error_set(err, "cannot read the saved output: %s", strerror(errno));
        if (n == 0)
            return 0;
    }
}

/* ---- files ---- */

static void go_to_file(struct saved_reader *reader, int fd, const uint64_t fields[SAVED_FIELDS])
{
    if (reader->fd != reader->first)
        close(reader->fd);
    if (reader->watched >= 0)
        inotify_rm_watch(reader->notify, reader->watched);
    reader->watched = -1;
    reader->fd = fd;
    reader->number = fields[SAVED_FIELD_NUMBER];
    reader->before = fields[SAVED_FIELD_BEFORE];
    reader->taken = 0;
    buf_clear(&reader->bytes);
}

/* Goes on to the next file that there is. *dropped: bytes that are missing before it. 0, or -1 with a
 * sentence. */
static int next_file(struct saved_reader *reader, uint64_t *dropped, struct error *err)
{
    uint64_t state[SAVED_FIELDS], fields[SAVED_FIELDS];
    int fd = -1;
    for (int i = 0; fd < 0 && i < TRIES; i++) {
        if (!read_saved_header(reader->first, state))
            return error_set(err, "the saved output is damaged: output.0 has no header");
        uint64_t next = reader->number + 1;
        if (next < state[SAVED_FIELD_OLDEST])
            next = state[SAVED_FIELD_OLDEST];
        fd = open_numbered(reader, next, fields);
        if (fd < 0 && errno != ENOENT)
            return error_set(err, "cannot read %s%" PRIu64 ": %s", SAVED_NAME, next,
                             strerror(errno));
        if (fd < 0 && i > TRIES / 2)
            usleep(1000);
    }
    if (fd < 0)
        return error_set(err, "of the saved output a file is missing");
    uint64_t at = reader->before + reader->taken;
    *dropped = fields[SAVED_FIELD_BEFORE] > at ? fields[SAVED_FIELD_BEFORE] - at : 0;
    go_to_file(reader, fd, fields);
    return 0;
}

/* Another writer has begun anew: the one that wrote what was read had stopped, and is gone. */
static bool next_writer(struct saved_reader *reader)
{
    uint64_t fields[SAVED_FIELDS];
    struct stat own, other;
    int fd = begin_reading(reader, fields);
    bool is_other = fd >= 0 && fstat(reader->first, &own) == 0 && fstat(fd, &other) == 0 &&
                    (own.st_ino != other.st_ino || own.st_dev != other.st_dev) &&
                    (fields[SAVED_FIELD_ENDED] || writer_lives(fd));
    if (!is_other) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    int first = reader->first;
    go_to_file(reader, fd, fields);
    close(first);
    reader->first = fd;
    reader->told = false;
    return true;
}

/* ---- waiting ---- */

int saved_reader_watch(struct saved_reader *reader)
{
    char path[64];
    if (reader->notify < 0)
        reader->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (reader->notify < 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", reader->fd);
    reader->watched = inotify_add_watch(reader->notify, path, IN_MODIFY | IN_CLOSE_WRITE);
    if (reader->fd != reader->first) { /* its header says the end */
        snprintf(path, sizeof(path), "/proc/self/fd/%d", reader->first);
        inotify_add_watch(reader->notify, path, IN_MODIFY | IN_CLOSE_WRITE);
    }
    return reader->watched < 0 ? -1 : reader->notify;
}

static void forget_events(const struct saved_reader *reader)
{
    char events[4096];
    while (reader->notify >= 0 && read(reader->notify, events, sizeof(events)) > 0)
        ;
}

bool saved_reader_is_watched(const struct saved_reader *reader)
{
    return reader->watched >= 0;
}

/* ---- what is next ---- */

/* Nothing more is in the newest file. */
static enum saved_result at_end(struct saved_reader *reader, const uint64_t state[SAVED_FIELDS],
                                bool lives, struct saved_item *item)
{
    item->error = (int)state[SAVED_FIELD_STOPPED];
    item->dropped = state[SAVED_FIELD_LOST];
    bool ended = state[SAVED_FIELD_ENDED] || !lives;
    if (item->error && !reader->told) {
        reader->told = true;
        return SAVED_STOPPED;
    }
    item->status = state[SAVED_FIELD_ENDED] ? (int)state[SAVED_FIELD_STATUS] : -1;
    return ended ? SAVED_END : SAVED_WAIT;
}

/* What is known of the writer is looked at first: what it wrote before that is then read. */
static int last_frame(struct saved_reader *reader, uint64_t state[SAVED_FIELDS], bool *lives,
                      struct frame *frame, struct error *err)
{
    forget_events(reader);
    *lives = writer_lives(reader->first);
    if (!read_saved_header(reader->first, state))
        return error_set(err, "the saved output is damaged: output.0 has no header");
    return next_frame(reader, frame, err);
}

enum saved_result saved_reader_next(struct saved_reader *reader, struct saved_item *item,
                                    struct error *err)
{
    uint64_t state[SAVED_FIELDS];
    bool lives = true;
    for (;;) {
        int rc = next_frame(reader, &item->frame, err);
        if (rc == 0)
            rc = last_frame(reader, state, &lives, &item->frame, err);
        if (rc)
            return rc > 0 ? SAVED_FRAME : SAVED_BAD;
        bool is_newest = state[SAVED_FIELD_NEWEST] <= reader->number;
        bool ends = is_newest && !lives && !state[SAVED_FIELD_ENDED] && reader->told;
        if (ends && next_writer(reader))
            continue;
        if (is_newest)
            return at_end(reader, state, lives, item);
        if (next_file(reader, &item->dropped, err) < 0)
            return SAVED_BAD;
        if (item->dropped)
            return SAVED_DROPPED;
    }
}

void saved_reader_skip(struct saved_reader *reader)
{
    struct saved_item item;
    uint64_t state[SAVED_FIELDS], dropped;
    if (read_saved_header(reader->first, state) && state[SAVED_FIELD_NEWEST] > reader->number) {
        reader->number = state[SAVED_FIELD_NEWEST] - 1;
        if (next_file(reader, &dropped, NULL) < 0)
            return;
    }
    int rc;
    do
        rc = next_frame(reader, &item.frame, NULL);
    while (rc > 0);
}

/* ---- removing ---- */

int saved_output_shut(saved_open_fn *open_file, void *arg)
{
    char path[64];
    int given = open_file(arg, SAVED_NAME "0");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", given);
    int fd = given < 0 ? -1 : open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (given >= 0)
        close(given);
    if (fd < 0 || lock_readers(fd, F_WRLCK) == 0)
        return fd;
    int why = errno;
    close(fd);
    return why == EAGAIN ? SAVED_IS_READ : -1;
}
