/*
 * saved_output - what a program printed, and what tprun said of it, kept in files of the program's
 * directory.
 *
 * Frames (FRAME_OUTPUT, FRAME_SHOW, FRAME_NOTE, FRAME_MAPPED, FRAME_END) are kept as they came, in
 * files output.0, output.1, ..., each a header and whole frames. Once a limit is reached the oldest
 * file but output.0 is removed, and readers say what is missing. The header of output.0 is written
 * over in place: which files there are, whether saving stopped, and how the program ended. So a
 * full disk cannot keep that from anybody.
 *
 * One process writes; it holds a lock on output.0, by which readers see that it lives. Any number
 * of processes read, each at its own pace, and hold up nobody but who would remove what they read:
 * readers hold a lock, too.
 */
#ifndef LAUNCHER_SAVED_SAVED_OUTPUT_H
#define LAUNCHER_SAVED_SAVED_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/tree/frame.h"

#define SAVED_NAME "output."      /* and the number of the file */
#define SAVED_SEGMENT (16u << 20) /* bytes of a file at most, unless one frame is longer */
#define SAVED_LIMIT_LEAST                                                                          \
    ((uint64_t)1 << 20) /* bytes of all files: limits below are taken for it */

/* ---- writing ---- */

struct saved_writer;

/* Into an open directory (borrowed for as long as the writer is), which holds none yet; all files
 * together have at most `limit` bytes. NULL with a sentence. SIGXFSZ has to be ignored. */
struct saved_writer *saved_writer_new(int dir, uint64_t limit, struct error *err);
/* Append a frame; many are written at once, at the latest by the next flush. 0, or -1 with a
 * sentence where they cannot be: saving stops then, and later calls return 0 and only count what is
 * lost. */
int saved_writer_add(struct saved_writer *writer, const struct frame *frame, struct error *err);
int saved_writer_flush(struct saved_writer *writer, struct error *err); /* 0 or -1 as above */
/* Where saving has just stopped: the next frame that was added and is not written. It is valid
 * until the next call. */
bool saved_writer_unwritten(struct saved_writer *writer, struct frame *frame);
/* The program is over, with this exit status. */
void saved_writer_end(struct saved_writer *writer, int status);
/* Without saved_writer_end() before it, readers say that the end is not known. NULL is fine. */
void saved_writer_free(struct saved_writer *writer);
/* Remove its files, so that another writer can begin anew; it is freed once that has. Who reads
 * them reads on, and where saving had stopped, then what the other one saves. */
void saved_writer_remove(struct saved_writer *writer);
/* In a forked child: close this copy of its files, and with them of the lock. */
void saved_writer_disown(struct saved_writer *writer);

/* ---- reading ---- */

struct saved_reader;

/* Open the file of this name for reading: a descriptor, or -1 with errno. Files may move from one
 * directory to another while they are read. */
typedef int saved_open_fn(void *arg, const char *name);

enum saved_result {
    SAVED_FRAME,   /* the next frame */
    SAVED_DROPPED, /* here `dropped` bytes were removed, for there was a limit */
    SAVED_STOPPED, /* here saving stopped: `error` is why, and `dropped` bytes were not saved so
                      far. Once */
    SAVED_WAIT,    /* more may come */
    SAVED_END,     /* there is no more: `status` is that of the program, -1: not known */
    SAVED_BAD      /* what follows cannot be read: a sentence */
};

struct saved_item {
    struct frame frame; /* borrowed until the next call */
    uint64_t dropped;
    int error; /* errno */
    int status;
};

/* From the first byte. NULL with a sentence (and errno ENOENT where nothing was saved, or it is
 * being removed). */
struct saved_reader *saved_reader_new(saved_open_fn *open, void *arg, struct error *err);
void saved_reader_free(struct saved_reader *reader); /* NULL is fine */
enum saved_result saved_reader_next(struct saved_reader *reader, struct saved_item *item,
                                    struct error *err);
/* Pass over what there is now: the next frame is one that comes later. */
void saved_reader_skip(struct saved_reader *reader);
/* After SAVED_WAIT: watch the file that is read now, for as long as it is. A descriptor that is
 * readable once there may be more, borrowed; saved_reader_next() takes what is read from it, and
 * has to be called once again first. Look again from time to time all the same: that a writer was
 * killed is not always heard. -1: the kernel has none to give. To begin and to end a watch takes
 * some kernels 10 to 20 ms each, so it is for who has waited for a while. */
int saved_reader_watch(struct saved_reader *reader);
bool saved_reader_is_watched(const struct saved_reader *reader);

/* ---- removing ---- */

#define SAVED_BYTE_READERS 1 /* of output.0: locked by those who read, against who removes */

/* Before it is removed: from now on nobody begins to read, until the descriptor is closed. -1:
 * nothing was saved, or the file system has no locks; SAVED_IS_READ: somebody reads it. */
#define SAVED_IS_READ (-2)
int saved_output_shut(saved_open_fn *open, void *arg);

#endif
