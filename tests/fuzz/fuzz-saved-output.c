/* Files of saved output: any bytes are read to an end, and what is given of them lies within them. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launcher/saved/saved_output.h"
#include "launcher/saved/saved_output_private.h"
#include "tests/fuzz/fuzz.h"

enum { FUZZ_FILES = 4 };

struct fuzz_files {
    const uint8_t *bytes[FUZZ_FILES];
    size_t lens[FUZZ_FILES];
};

/* In place of the kernel's, and of the waiting for files that are about to be there: nothing comes any more. */
int inotify_init1(int flags);
int inotify_init1(int flags)
{
    (void)flags;
    errno = EMFILE;
    return -1;
}

int usleep(useconds_t microseconds)
{
    (void)microseconds;
    return 0;
}

static void fuzz_write(int fd, const void *bytes, size_t len)
{
    if (write(fd, bytes, len) != (ssize_t)len)
        abort();
}

/* Headers are right in what few inputs have by chance: the magic and the version. */
static int fuzz_open(void *arg, const char *name)
{
    const struct fuzz_files *files = arg;
    char *end;
    unsigned long number = strtoul(name + strlen(SAVED_NAME), &end, 10);
    if (strncmp(name, SAVED_NAME, strlen(SAVED_NAME)) != 0 || *end)
        abort();
    if (number >= FUZZ_FILES || !files->lens[number]) {
        errno = ENOENT;
        return -1;
    }
    unsigned char begin[16] = SAVED_MAGIC;
    size_t len = files->lens[number];
    const uint8_t *bytes = files->bytes[number];
    frame_put_u64(begin + 8, SAVED_VERSION);
    int fd = memfd_create("output", MFD_CLOEXEC);
    if (fd < 0)
        abort();
    if (*bytes & 1)
        fuzz_write(fd, begin, sizeof(begin));
    fuzz_write(fd, bytes + 1, len - 1);
    return fd;
}

/* Two bytes say how long a file is. */
static void fuzz_split(struct fuzz_files *files, const uint8_t *data, size_t size)
{
    *files = (struct fuzz_files){0};
    for (int i = 0; i < FUZZ_FILES && size > 2; i++) {
        size_t len = data[0] | (size_t)data[1] << 8;
        data += 2;
        size -= 2;
        len = len < size ? len : size;
        files->bytes[i] = data;
        files->lens[i] = len;
        data += len;
        size -= len;
    }
}

static void fuzz_read(struct saved_reader *reader, size_t size)
{
    struct saved_item item;
    size_t taken = 0, sum = 0;
    for (;;) {
        struct error err = ERROR_INIT;
        enum saved_result result = saved_reader_next(reader, &item, &err);
        if ((result == SAVED_BAD) != (err.text != NULL))
            abort();
        error_clear(&err);
        if (result != SAVED_FRAME && result != SAVED_DROPPED && result != SAVED_STOPPED)
            break; /* of a writer that is gone it is never SAVED_WAIT */
        if (result == SAVED_FRAME) {
            for (size_t i = 0; i < item.frame.len; i++)
                sum += ((const unsigned char *)item.frame.bytes)[i];
            taken += FRAME_HEADER + item.frame.len;
        }
        if (taken > size + FUZZ_FILES)
            abort();
    }
    __asm__ volatile("" : : "r"(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_files files;
    fuzz_split(&files, data, size);
    for (int skips = 0; skips < 2; skips++) {
        struct error err = ERROR_INIT;
        struct saved_reader *reader = saved_reader_new(fuzz_open, &files, &err);
        if (!reader != (err.text != NULL))
            abort();
        error_clear(&err);
        if (!reader)
            break;
        if (skips)
            saved_reader_skip(reader);
        fuzz_read(reader, size);
        saved_reader_free(reader);
    }
    return 0;
}
