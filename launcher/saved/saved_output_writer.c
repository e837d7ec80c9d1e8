/* Appends frames to the files of saved output, and removes the oldest. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/saved/saved_output.h"
#include "launcher/saved/saved_output_private.h"

#define LIMIT_PARTS 4      /* files that make up a low limit: one is the first, which stays */
#define RING 4096          /* files whose sizes are kept: a limit may be of so many and no more */
#define BATCH (512u << 10) /* bytes that are written at once: a file system works for each call */

struct saved_writer {
    int dir;
    int first; /* output.0, whose header is written over */
    int fd;    /* the newest; the same as first at the beginning */
    uint64_t oldest, newest;
    uint64_t size;    /* bytes of the newest */
    struct buf batch; /* frames that are to be written */
    uint64_t before;  /* bytes of frames in the files before it */
    uint64_t total;   /* bytes of all files that there are */
    uint64_t segment; /* bytes of a file at most */
    uint64_t limit;
    uint32_t *sizes; /* [RING] of older files, by number modulo RING */
    int stopped;     /* errno; 0: it goes on */
    uint64_t lost;
    size_t given; /* bytes of the frame that saved_writer_unwritten() gave last */
};

static void saved_file_name(char name[SAVED_NAME_SIZE], uint64_t number)
{
    snprintf(name, SAVED_NAME_SIZE, SAVED_NAME "%" PRIu64, number);
}

/* In place: no space is needed for it. */
static void set_field(struct saved_writer *writer, enum saved_field field, uint64_t value)
{
    unsigned char bytes[8];
    frame_put_u64(bytes, value);
    (void)!pwrite(writer->first, bytes, sizeof(bytes), SAVED_FIELD_AT(field));
}

/* A new file with its header: the descriptor, or -1 with errno. */
static int make_file(const struct saved_writer *writer, uint64_t number, uint64_t before)
{
    char name[SAVED_NAME_SIZE];
    unsigned char header[SAVED_HEADER] = SAVED_MAGIC;
    frame_put_u64(header + SAVED_FIELD_AT(SAVED_FIELD_VERSION), SAVED_VERSION);
    frame_put_u64(header + SAVED_FIELD_AT(SAVED_FIELD_NUMBER), number);
    frame_put_u64(header + SAVED_FIELD_AT(SAVED_FIELD_BEFORE), before);
    saved_file_name(name, number);
    int fd = openat(writer->dir, name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    ssize_t n = fd < 0 ? -1 : write(fd, header, sizeof(header));
    if (fd >= 0 && n != (ssize_t)sizeof(header)) {
        int why = n < 0 ? errno : ENOSPC;
        close(fd);
        unlinkat(writer->dir, name, 0);
        errno = why;
        return -1;
    }
    return fd;
}

struct saved_writer *saved_writer_new(int dir, uint64_t limit, struct error *err)
{
    struct saved_writer *writer = mem_alloc(sizeof(*writer));
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = SAVED_BYTE_WRITER, .l_len = 1};
    uint64_t most = limit > SAVED_LIMIT_LEAST ? limit : SAVED_LIMIT_LEAST;
    uint64_t segment = most / LIMIT_PARTS;
    *writer = (struct saved_writer){.dir = dir, .oldest = 1, .limit = most};
    writer->segment = segment < SAVED_SEGMENT ? segment : SAVED_SEGMENT;
    writer->fd = writer->first = make_file(writer, 0, 0);
    if (writer->first < 0 || fcntl(writer->first, F_OFD_SETLK, &lock) < 0) {
        error_set(err, "cannot save output: %s", strerror(errno));
        if (writer->first >= 0)
            unlinkat(dir, SAVED_NAME "0", 0);
        saved_writer_free(writer);
        return NULL;
    }
    writer->sizes = mem_array(RING, sizeof(*writer->sizes));
    set_field(writer, SAVED_FIELD_OLDEST, writer->oldest);
    writer->size = writer->total = SAVED_HEADER;
    return writer;
}

/* ---- files ---- */

/* The oldest but output.0 and the newest. False: there is none. */
static bool remove_oldest(struct saved_writer *writer)
{
    char name[SAVED_NAME_SIZE];
    if (writer->oldest >= writer->newest)
        return false;
    saved_file_name(name, writer->oldest);
    writer->total -= writer->sizes[writer->oldest % RING];
    writer->oldest++;
    set_field(writer, SAVED_FIELD_OLDEST, writer->oldest);
    unlinkat(writer->dir, name, 0);
    return true;
}

/* Readers find the next file before the old one ends for them. 0, or -1 with errno. */
static int begin_file(struct saved_writer *writer)
{
    uint64_t before = writer->before + writer->size - SAVED_HEADER;
    int fd = make_file(writer, writer->newest + 1, before);
    if (fd < 0)
        return -1;
    while (writer->newest - writer->oldest >= RING - 1 && remove_oldest(writer))
        ;
    writer->sizes[writer->newest % RING] = (uint32_t)writer->size;
    writer->newest++;
    set_field(writer, SAVED_FIELD_NEWEST, writer->newest);
    if (writer->fd != writer->first)
        close(writer->fd); /* which wakes readers */
    writer->fd = fd;
    writer->before = before;
    writer->size = SAVED_HEADER;
    writer->total += SAVED_HEADER;
    return 0;
}

/* ---- frames ---- */

static enum frame_type saved_type(enum frame_type type)
{
    int saved = 1;
    while (saved < SAVED_TYPES - 1 && saved_types[saved] != type)
        saved++;
    return (enum frame_type)saved;
}

/* So many bytes of the batch were written, and no more can be. Whole frames stay, for readers may have seen them; the
 * others are not saved. */
static void keep_whole_frames(struct saved_writer *writer, size_t done)
{
    size_t whole = 0, len = 0;
    do {
        whole += len;
        struct buf rest = {.data = writer->batch.data,
                           .start = writer->batch.start + whole,
                           .len = writer->batch.len - whole};
        len = rest.len < FRAME_HEADER ? 0 : FRAME_HEADER + frame_length(&rest);
    } while (len && whole + len <= done);
    (void)!ftruncate(writer->fd, (off_t)(writer->size + whole));
    writer->size += whole;
    writer->total += whole;
    buf_consume(&writer->batch, whole);
}

/* All of the batch, and what follows it: 0, or -1 with errno; what was not written is the batch then. */
static int write_batch(struct saved_writer *writer, const unsigned char *header,
                       const struct frame *frame)
{
    struct iovec all[3] = {
        {(char *)(uintptr_t)buf_bytes(&writer->batch), writer->batch.len},
        {(unsigned char *)(uintptr_t)header, frame ? FRAME_HEADER : 0},
        {frame ? (char *)(uintptr_t)frame->bytes : NULL, frame ? frame->len : 0}};
    struct iovec *part = all;
    size_t len = all[0].iov_len + all[1].iov_len + all[2].iov_len;
    while (writer->total + len > writer->limit && remove_oldest(writer))
        ;
    for (size_t done = 0; done < len;) {
        ssize_t n = writev(writer->fd, part, (int)(all + 3 - part));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int why = n < 0 ? errno : ENOSPC;
            keep_whole_frames(writer, done);
            errno = why;
            return -1;
        }
        done += (size_t)n;
        for (; part < all + 3 && (size_t)n >= part->iov_len; part++)
            n -= (ssize_t)part->iov_len;
        if (part < all + 3) {
            part->iov_base = (char *)part->iov_base + n;
            part->iov_len -= (size_t)n;
        }
    }
    writer->size += len;
    writer->total += len;
    buf_clear(&writer->batch);
    return 0;
}

static int saved_writer_stop(struct saved_writer *writer, struct error *err)
{
    writer->stopped = errno;
    writer->lost = writer->batch.len;
    set_field(writer, SAVED_FIELD_LOST, writer->lost);
    set_field(writer, SAVED_FIELD_STOPPED, (uint64_t)writer->stopped);
    return error_set(err, "output is not saved any more: %s", strerror(writer->stopped));
}

int saved_writer_flush(struct saved_writer *writer, struct error *err)
{
    if (writer->stopped || !writer->batch.len || write_batch(writer, NULL, NULL) == 0)
        return 0;
    return saved_writer_stop(writer, err);
}

int saved_writer_add(struct saved_writer *writer, const struct frame *frame, struct error *err)
{
    unsigned char header[FRAME_HEADER];
    struct frame saved = *frame;
    size_t len = FRAME_HEADER + frame->len;
    if (writer->stopped) {
        writer->lost += len;
        return 0;
    }
    saved.type = saved_type(frame->type);
    frame_encode_header(&saved, header);
    uint64_t used = writer->size + writer->batch.len;
    bool fits = used + len <= writer->segment || used == SAVED_HEADER;
    bool goes_on = fits || (write_batch(writer, NULL, NULL) == 0 && begin_file(writer) == 0);
    bool waits = writer->batch.len + len < BATCH;
    if (goes_on && !waits && write_batch(writer, header, frame) == 0)
        return 0;
    int why = errno;
    buf_add(&writer->batch, header, FRAME_HEADER);
    buf_add(&writer->batch, frame->bytes, frame->len);
    errno = why;
    return goes_on && waits ? 0 : saved_writer_stop(writer, err);
}

bool saved_writer_unwritten(struct saved_writer *writer, struct frame *frame)
{
    buf_consume(&writer->batch, writer->given);
    writer->given = 0;
    if (!writer->stopped || frame_decode(&writer->batch, frame, NULL) <= 0)
        return false;
    frame->type = saved_types[frame->type];
    writer->given = FRAME_HEADER + frame->len;
    return true;
}

void saved_writer_end(struct saved_writer *writer, int status)
{
    saved_writer_flush(writer, NULL);
    if (writer->stopped)
        set_field(writer, SAVED_FIELD_LOST, writer->lost);
    set_field(writer, SAVED_FIELD_STATUS, (uint64_t)status);
    set_field(writer, SAVED_FIELD_ENDED, 1);
}

void saved_writer_disown(struct saved_writer *writer)
{
    if (writer->fd >= 0 && writer->fd != writer->first)
        close(writer->fd);
    if (writer->first >= 0)
        close(writer->first);
}

void saved_writer_remove(struct saved_writer *writer)
{
    char name[SAVED_NAME_SIZE];
    unlinkat(writer->dir, SAVED_NAME "0", 0);
    for (uint64_t number = writer->oldest; number <= writer->newest; number++) {
        saved_file_name(name, number);
        unlinkat(writer->dir, name, 0);
    }
}

void saved_writer_free(struct saved_writer *writer)
{
    if (!writer)
        return;
    saved_writer_flush(writer, NULL);
    if (writer->stopped)
        set_field(writer, SAVED_FIELD_LOST, writer->lost);
    saved_writer_disown(writer);
    buf_free(&writer->batch);
    free(writer->sizes);
    free(writer);
}
