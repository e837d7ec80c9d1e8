/* The index of what is kept of an instance: any bytes are read, each line that is found gives a record or none, and
 * what is written anew is found again. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "launcher/ledger/state_index.h"
#include "tests/fuzz/fuzz.h"

static char place[] = "/dev/shm/fuzz-state-index-XXXXXX"; /* in memory */

static void fuzz_remove(void)
{
    directory_remove(AT_FDCWD, place);
}

static int fuzz_directory(void)
{
    static int dir = -1;
    if (dir >= 0)
        return dir;
    dir = mkdtemp(place) ? open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir < 0 || atexit(fuzz_remove) != 0)
        abort();
    return dir;
}

static void fuzz_put(int dir, const uint8_t *data, size_t size)
{
    int fd = openat(dir, STATE_INDEX_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
}

/* Each line is looked for by the name and the inode that it begins with, as far as these can be read. */
static void fuzz_find(struct state_index *index, const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t len = end ? (size_t)(end - data) - at : size - at;
        char name[64] = "";
        const uint8_t *blank = memchr(data + at, ' ', len);
        size_t used = blank ? (size_t)(blank - data) - at : len;
        memcpy(name, data + at, used < sizeof(name) - 1 ? used : sizeof(name) - 1);
        char number[32] = "";
        if (blank)
            memcpy(number, blank + 1, len - used - 1 < 31 ? len - used - 1 : 31);
        const struct state_index_line *line =
            state_index_find(index, name, strtoull(number, NULL, 10));
        struct program_record *record = line ? state_index_record(line) : NULL;
        if (record) {
            if (record->state > RECORD_COMPLETE || !record->id)
                abort();
            state_index_add(index, name, 7, record);
        }
        program_record_free(record);
        at += len + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int dir = fuzz_directory();
    fuzz_put(dir, data, size);
    struct state_index *index = state_index_open(dir);
    fuzz_find(index, data, size);
    state_index_close(index);
    index = state_index_open(dir); /* with the lines that were added */
    state_index_find(index, "1", 7);
    state_index_close(index);
    return 0;
}
