/* tpctl wait: until programs have come to a state, or an event is in their logs. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/mem.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/tpctl/tpctl.h"

#define LOOK_AGAIN                                                                                 \
    0.25 /* s after which a log is read anew, whatever inotify says: NFS, a killed manager */
#define REAPPEAR 1.0 /* s that a program which ends may be found nowhere */

struct waiting {
    struct method_call *call;
    const char *event; /* that is waited for */
    double end;        /* of all waiting, on the monotonic clock; INFINITY */
    bool was_seen;     /* the program was there before */
};

/* ---- one look ---- */

enum look { LOOK_NOT_YET, LOOK_DONE, LOOK_NEVER };

static bool log_has(const char *bytes, size_t len, const char *name)
{
    struct event_reader reader;
    struct event event;
    bool has = false;
    int rc;
    event_reader_begin(&reader, bytes, len);
    while (!has && (rc = event_reader_next(&reader, &event, NULL)) != 0)
        has = rc == 1 && strcmp(event.name, name) == 0;
    event_reader_end(&reader);
    return has;
}

static enum look look_for_event(const struct waiting *waiting, const struct found_program *program)
{
    size_t len;
    char *log = found_program_file(program, CONTEXT_EVENTS, &len);
    bool over = !found_program_is_live(program);
    bool done = log && log_has(log, len, waiting->event);
    free(log);
    if (done || (over && strcmp(waiting->event, "complete") == 0))
        return LOOK_DONE;
    return over ? LOOK_NEVER : LOOK_NOT_YET;
}

/* Until its log is written, or it is time to look again. */
static void wait_for_log(const struct found_program *program, double seconds)
{
    int dir = found_program_open(program), watch = inotify_init1(IN_CLOEXEC);
    struct pollfd change = {.fd = watch, .events = POLLIN};
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, ENTRY_EVENTS);
    if (dir < 0 || watch < 0 || inotify_add_watch(watch, path, IN_MODIFY | IN_MOVE_SELF) < 0)
        change.fd = -1;
    poll(&change, 1, (int)(seconds * 1000) + 1);
    if (watch >= 0)
        close(watch);
    if (dir >= 0)
        close(dir);
}

/* ---- a program ---- */

/* Looked for again and again: one that ends moves. Of one that is over *status is its exit status, or 1. */
static int wait_for_one(const struct waiting *waiting, const char *id, int *status,
                        struct error *err)
{
    double missed = 0;
    bool seen = waiting->was_seen;
    for (;;) {
        const struct found_program *program;
        struct error why = ERROR_INIT;
        struct program_search *search = tpctl_search(waiting->call, err);
        int rc = search ? tpctl_find(waiting->call, search, id, &program, &why) : -1;
        double now = clock_monotonic_seconds();
        enum look look = rc == 0 ? look_for_event(waiting, program) : LOOK_NOT_YET;
        struct program_record *record =
            look == LOOK_DONE ? found_program_record(program, false, NULL) : NULL;
        *status =
            record && record->state == RECORD_COMPLETE && record->status >= 0 ? record->status : 1;
        program_record_free(record);
        if (rc == 0 && look == LOOK_NOT_YET && now < waiting->end)
            wait_for_log(program, fmin(LOOK_AGAIN, waiting->end - now));
        program_search_free(search);
        bool reappears = rc == TPCTL_NONE && seen && (!missed || now - missed < REAPPEAR);
        missed = rc == 0 ? 0 : missed ? missed : now;
        seen = seen || rc == 0;
        if (reappears) {
            error_clear(&why);
            usleep(10000);
            continue;
        }
        if (rc) {
            if (why.text)
                error_set(err, "%s", error_text(&why));
            error_clear(&why);
            return rc;
        }
        if (look == LOOK_DONE)
            return 0;
        if (look == LOOK_NEVER)
            return error_set(err, "program %s is complete, and its log has no event \"%s\"", id,
                             waiting->event),
                   TPCTL_WRONG_STATE;
        if (now >= waiting->end)
            return error_set(err, "program %s: no event \"%s\" in the time of --timeout", id,
                             waiting->event),
                   TPCTL_TIMEOUT;
    }
}

int tpctl_wait_complete(struct method_call *call, const char *id, struct program_record **record,
                        struct error *err)
{
    struct waiting waiting = {call, "complete", INFINITY, true};
    struct program_search *search = NULL;
    const struct found_program *program;
    int status, rc = wait_for_one(&waiting, id, &status, err);
    *record = NULL;
    if (rc ==
        TPCTL_NONE) { /* it was there, so it is over: nothing is kept, or another home has it */
        error_clear(err);
        rc = 0;
    }
    if (rc == 0 && (search = tpctl_search(call, NULL)) &&
        tpctl_find(call, search, id, &program, NULL) == 0)
        *record = found_program_record(program, false, NULL);
    program_search_free(search);
    return rc;
}

int tpctl_wait(struct method_call *call, struct error *err)
{
    const char *limit = method_value(call, TPCTL_TIMEOUT_AFTER);
    const char *event = method_value(call, TPCTL_FOR);
    bool from_new_on = event && strcmp(event, record_state_name(RECORD_EMPTY)) == 0;
    struct waiting waiting = {call,
                              from_new_on ? "new"
                              : event     ? event
                                          : "complete",
                              INFINITY, false};
    double seconds = INFINITY;
    int status = 0, rc = 0;
    if (limit && duration_decode(limit, &seconds, err) < 0)
        return error_prefix(err, "--timeout"), err->kind = ERROR_USAGE, -1;
    waiting.end = clock_monotonic_seconds() + seconds;
    for (size_t i = 0; i < call->nwords && rc == 0; i++)
        rc = wait_for_one(&waiting, call->words[i], &status, err);
    return rc || !method_value(call, TPCTL_STATUS) ? rc : status;
}
