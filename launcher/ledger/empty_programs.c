/* Programs that are empty: added, and ended. */
#include "launcher/ledger/empty_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/ledger/private_directory.h"
#include "launcher/ledger/program_record.h"

int empty_program_add(const char *instance, const struct completed_context *context,
                      struct kept_context *kept, struct error *err)
{
    int state = state_directory_open(instance, true, err);
    int empty = state < 0 ? -1 : state_directory_open_empty(state, true, err);
    int rc = empty < 0 ? -1 : state_directory_put(empty, context, -1, kept, err);
    if (rc == 0)
        futimens(state, NULL); /* something was added to the instance */
    if (empty >= 0)
        close(empty);
    if (state >= 0)
        close(state);
    return rc;
}

/* ---- the end ---- */

static int open_empty_program(int empty, const char *id)
{
    return openat(empty, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_ended(int dir)
{
    size_t len;
    char *log = private_directory_read(dir, ENTRY_EVENTS, CONTEXT_MAX, &len);
    struct program_record *record = log ? program_record_read(log, len, false) : NULL;
    bool ended = record && record->state == RECORD_COMPLETE;
    program_record_free(record);
    free(log);
    return ended;
}

/* To those that are over. It may be done again: what is there with the same log is the same. */
static int move_ended(int state, int empty, int dir, const char *id, struct error *err)
{
    struct completed_context context = {0};
    struct kept_context kept;
    char *texts[CONTEXT_FILES] = {0};
    snprintf(context.id, sizeof(context.id), "%.*s", (int)strcspn(id, "."), id);
    for (int i = 0; i < CONTEXT_FILES; i++)
        context.files[i] = texts[i] =
            private_directory_read(dir, context_file_names[i], CONTEXT_MAX, &context.lens[i]);
    int rc = state_directory_put(state, &context, -1, &kept, err);
    if (rc == 0)
        state_directory_remove(empty, id, NULL);
    for (int i = 0; i < CONTEXT_FILES; i++)
        free(texts[i]);
    return rc;
}

/* One at a time, as far as there are locks. */
static int write_end(int dir, const char *id, int status, const char *reason, struct error *err)
{
    char *path = mem_format("empty/%s", id);
    int rc = 0, lock = openat(dir, ENTRY_EVENTS, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (lock >= 0)
        private_directory_lock(lock, true);
    bool ended = is_ended(dir);
    struct event_log *log = ended ? NULL : event_log_open(dir, ENTRY_EVENTS, path, err);
    if (log) {
        event_log_add(log, "finish", NULL);
        event_log_add(log, "complete", json_pack("{s:i, s:s}", "status", status, "reason", reason));
        if (event_log_write(log, NULL) < 0)
            rc = error_set(err, "cannot write %s/%s: %s", path, ENTRY_EVENTS, strerror(errno));
        event_log_close(log);
    }
    if (lock >= 0)
        close(lock);
    free(path);
    return ended || log ? rc : -1;
}

int empty_program_end(int state, const char *id, int status, const char *reason, struct error *err)
{
    int empty = state_directory_open_empty(state, false, NULL);
    int dir = empty < 0 ? -1 : open_empty_program(empty, id);
    int rc = dir < 0 ? 0 : write_end(dir, id, status, reason, err);
    if (dir >= 0 && rc == 0)
        rc = move_ended(state, empty, dir, id, err);
    if (dir >= 0)
        close(dir);
    if (empty >= 0)
        close(empty);
    return rc;
}

struct finishing {
    int state, empty;
};

static void finish_one(void *arg, const char *id, uint64_t inode)
{
    const struct finishing *finishing = arg;
    int dir = open_empty_program(finishing->empty, id);
    (void)inode;
    if (dir >= 0 && is_ended(dir))
        move_ended(finishing->state, finishing->empty, dir, id, NULL);
    if (dir >= 0)
        close(dir);
}

void empty_programs_finish(int state, int empty)
{
    struct finishing finishing = {state, empty};
    state_directory_each(empty, finish_one, &finishing);
}
