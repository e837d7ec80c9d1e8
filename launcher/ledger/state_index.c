/* The index of what is kept of an instance: lines that spare a list the logs. */
#include "launcher/ledger/state_index.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/hash_table.h"
#include "base/mem.h"
#include "base/number.h"
#include "launcher/ledger/private_directory.h"

#define INDEX_MAX (256u << 20) /* bytes of the file */
#define INDEX_SURPLUS 1000     /* lines that hold for nothing, and may stay in any case */
#define INDEX_DRAFT ".new-index-%ld"

/* What stands in a line behind the inode, in this order; then reason and command as JSON. */
enum index_number {
    INDEX_LOST,
    INDEX_STATUS,
    INDEX_NTASKS,
    INDEX_NNODES,
    INDEX_NEW, /* times are in microseconds */
    INDEX_START,
    INDEX_END,
    INDEX_NUMBERS
};
#define INDEX_NO_STATUS 256

struct state_index_line { /* borrowed from the bytes of the index */
    const char *name, *rest;
    uint64_t inode;
    bool is_used;
};

struct state_index {
    int state;
    char *bytes;
    struct state_index_line *lines;
    struct hash_table by_name;
    size_t nlines; /* of the file */
    size_t nused;
    struct buf added;
};

/* ---- writing ---- */

static unsigned long long index_microseconds(double seconds)
{
    return seconds > 0 && seconds < 1e12 ? (unsigned long long)llround(seconds * 1e6) : 0;
}

void state_index_encode(struct buf *lines, const char *name, uint64_t inode,
                        const struct program_record *record)
{
    json_t *command = json_is_array(record->command) ? record->command : NULL;
    json_t *texts = json_pack("[s, O?]", record->reason ? record->reason : "", command);
    char *text = json_dumps(texts, JSON_COMPACT);
    if (text)
        buf_printf(lines, "%s %llu %d %d %u %u %llu %llu %llu %s\n", name,
                   (unsigned long long)inode, record->is_lost,
                   record->status < 0 ? INDEX_NO_STATUS : record->status & 255, record->ntasks,
                   record->nnodes, index_microseconds(record->t_new),
                   index_microseconds(record->t_start), index_microseconds(record->t_end), text);
    free(text);
    json_decref(texts);
}

void state_index_append(int state, const struct buf *lines)
{
    struct stat st;
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd = lines->len ? openat(state, STATE_INDEX_FILE, flags, 0600) : -1;
    bool full = fd >= 0 && fstat(fd, &st) == 0 && st.st_size + (off_t)lines->len > (off_t)INDEX_MAX;
    if (full)
        unlinkat(state, STATE_INDEX_FILE, 0);
    else if (fd >= 0)
        file_write_all(fd, buf_bytes(lines), lines->len);
    if (fd >= 0)
        close(fd);
}

/* Lines that others add meanwhile may be lost, and are made anew. */
static void rewrite(struct state_index *index)
{
    struct buf lines = BUF_INIT;
    char draft[40];
    for (uint32_t i = 0; i < index->by_name.count; i++)
        if (index->lines[i].is_used)
            buf_printf(&lines, "%s %llu %s\n", index->lines[i].name,
                       (unsigned long long)index->lines[i].inode, index->lines[i].rest);
    buf_add(&lines, buf_bytes(&index->added), index->added.len);
    snprintf(draft, sizeof(draft), INDEX_DRAFT, (long)getpid());
    int fd = openat(index->state, draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int rc = fd < 0 ? -1 : file_write_all(fd, buf_bytes(&lines), lines.len);
    if (fd >= 0 && close(fd) < 0)
        rc = -1;
    if (rc == 0)
        rc = renameat(index->state, draft, index->state, STATE_INDEX_FILE);
    if (rc < 0 && fd >= 0)
        unlinkat(index->state, draft, 0);
    buf_free(&lines);
}

/* ---- reading ---- */

static const char *name_of_line(const void *owner, uint32_t number)
{
    return ((const struct state_index *)owner)->lines[number].name;
}

/* The name in the bytes gets an end. */
static void add_index_line(struct state_index *index, char *text)
{
    struct state_index_line line = {.name = text};
    char *inode = strchr(text, ' ');
    size_t digits = inode ? number_read(inode + 1, NULL, UINT64_MAX - 2, &line.inode) : 0;
    index->nlines++;
    if (!digits || inode[1 + digits] != ' ')
        return;
    line.rest = inode + 1 + digits + 1;
    *inode = '\0';
    uint32_t count = index->by_name.count;
    uint32_t number = hash_table_intern_text(&index->by_name, text, name_of_line, index);
    if (number == count)
        index->lines = array_grow(index->lines, count, sizeof(*index->lines));
    index->lines[number] = line;
}

struct state_index *state_index_open(int state)
{
    struct state_index *index = mem_alloc(sizeof(*index));
    size_t len = 0;
    index->state = state;
    index->bytes = private_directory_read(state, STATE_INDEX_FILE, INDEX_MAX, &len);
    char *at = index->bytes, *end = at ? at + len : NULL, *newline;
    for (; at && (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
        *newline = '\0';
        add_index_line(index, at);
    }
    return index;
}

void state_index_close(struct state_index *index)
{
    if (!index)
        return;
    size_t surplus = index->nlines - index->nused;
    if (surplus > INDEX_SURPLUS && surplus > index->nused)
        rewrite(index);
    else
        state_index_append(index->state, &index->added);
    hash_table_free(&index->by_name);
    buf_free(&index->added);
    free(index->lines);
    free(index->bytes);
    free(index);
}

const struct state_index_line *state_index_find(struct state_index *index, const char *name,
                                                uint64_t inode)
{
    uint32_t number = hash_table_find_text(&index->by_name, name, name_of_line, index);
    struct state_index_line *line = number == HASH_TABLE_NONE ? NULL : &index->lines[number];
    if (!line || line->inode != inode)
        return NULL;
    index->nused += !line->is_used;
    line->is_used = true;
    return line;
}

/* NULL: the line is damaged; else where the JSON begins. */
static const char *read_index_numbers(const char *at, uint64_t numbers[INDEX_NUMBERS])
{
    for (int i = 0; i < INDEX_NUMBERS; i++) {
        size_t digits = number_read(at, NULL, UINT64_MAX - 2, &numbers[i]);
        if (!digits || at[digits] != ' ')
            return NULL;
        at += digits + 1;
    }
    bool good = numbers[INDEX_LOST] <= 1 && numbers[INDEX_STATUS] <= INDEX_NO_STATUS &&
                numbers[INDEX_NTASKS] <= UINT32_MAX && numbers[INDEX_NNODES] <= UINT32_MAX;
    return good ? at : NULL;
}

struct program_record *state_index_record(const struct state_index_line *line)
{
    uint64_t numbers[INDEX_NUMBERS];
    const char *rest = read_index_numbers(line->rest, numbers);
    json_t *texts = rest ? json_loads(rest, 0, NULL) : NULL;
    const char *reason = json_string_value(json_array_get(texts, 0));
    json_t *command = json_array_get(texts, 1);
    struct program_record *record = NULL;
    if (reason && (json_is_array(command) || json_is_null(command))) {
        record = program_record_new(false);
        record->state = RECORD_COMPLETE;
        record->is_lost = numbers[INDEX_LOST];
        record->status = numbers[INDEX_STATUS] == INDEX_NO_STATUS ? -1 : (int)numbers[INDEX_STATUS];
        record->ntasks = (uint32_t)numbers[INDEX_NTASKS];
        record->nnodes = (uint32_t)numbers[INDEX_NNODES];
        record->t_new = (double)numbers[INDEX_NEW] / 1e6;
        record->t_start = (double)numbers[INDEX_START] / 1e6;
        record->t_end = (double)numbers[INDEX_END] / 1e6;
        record->id = mem_copy_text_n(line->name, strcspn(line->name, "."));
        record->reason = mem_copy_text(reason);
        if (json_is_array(command))
            record->command = json_incref(command);
    }
    json_decref(texts);
    return record;
}

void state_index_add(struct state_index *index, const char *name, uint64_t inode,
                     const struct program_record *record)
{
    state_index_encode(&index->added, name, inode, record);
}
