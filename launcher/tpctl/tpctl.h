/*
 * tpctl - the methods of the command tpctl, and what they share. RFC 8 has the methods; tpctl(1)
 * says what they do.
 */
#ifndef LAUNCHER_TPCTL_TPCTL_H
#define LAUNCHER_TPCTL_TPCTL_H

#include <jansson.h>

#include "base/error.h"
#include "launcher/command/method.h"
#include "launcher/ledger/program_search.h"

/* Exit statuses, beside 0, 1 (refused) and 2 (wrong command line). */
enum { TPCTL_NONE = 3, TPCTL_WRONG_STATE = 4, TPCTL_TIMEOUT = 124 };

enum tpctl_option {
    TPCTL_ALL,
    TPCTL_ARCHIVE,
    TPCTL_DELAY,
    TPCTL_FOR,
    TPCTL_FORMAT,
    TPCTL_HELP,
    TPCTL_EOF,
    TPCTL_FOLLOW,
    TPCTL_INPUT,
    TPCTL_INSTANCE,
    TPCTL_KILL_GRACE,
    TPCTL_NO_WAIT,
    TPCTL_LABEL,
    TPCTL_OLDER,
    TPCTL_PARENT,
    TPCTL_RANKS,
    TPCTL_STATUS,
    TPCTL_STDERR,
    TPCTL_STDOUT,
    TPCTL_TIMEOUT_AFTER,
    TPCTL_WHY,
    TPCTL_NOPTIONS
};
extern const struct method_option tpctl_options[TPCTL_NOPTIONS];

/* ---- the methods, which return an exit status, or -1 ---- */

int tpctl_attach(struct method_call *call, struct error *err);
int tpctl_current(struct method_call *call, struct error *err);
int tpctl_info(struct method_call *call, struct error *err);
int tpctl_list(struct method_call *call, struct error *err);
int tpctl_ps(struct method_call *call, struct error *err);
int tpctl_logs(struct method_call *call, struct error *err);
int tpctl_new(struct method_call *call, struct error *err);
int tpctl_reap(struct method_call *call, struct error *err);
int tpctl_signal(struct method_call *call, struct error *err);
int tpctl_terminate(struct method_call *call, struct error *err);
int tpctl_top(struct method_call *call, struct error *err);
int tpctl_wait(struct method_call *call, struct error *err);

/* ---- tpctl_new.c ---- */

/* What is asked for, for a tpctl on another host to make it: a program_request.h. NULL with a
 * sentence. */
json_t *tpctl_new_request(const struct method_call *call, struct error *err);

/* ---- tpctl_programs.c: programs that the command line names ---- */

/* All of the user, or those of --instance or of the instance of --parent; what hinders is said on
 * stderr. NULL with a sentence. */
struct program_search *tpctl_search(const struct method_call *call, struct error *err);
/* That of an id, or the caller's own for "@". 0, or an exit status with a sentence. */
int tpctl_find(const struct method_call *call, struct program_search *search, const char *id,
               const struct found_program **found, struct error *err);

/* ---- tpctl_wait.c: for methods that wait, too ---- */

/* Until the program is complete; *record is what its log says then, or NULL where nothing is kept.
 * Caller frees. 0, or an exit status with a sentence. */
int tpctl_wait_complete(struct method_call *call, const char *id, struct program_record **record,
                        struct error *err);

/* ---- tpctl_queue.c: programs that wait for resources, or for the end of others ---- */

/* "4 cores on node0, held by program 17; 2 programs are before it", or "the end of program 17";
 * caller frees. NULL: it waits for neither. */
char *tpctl_queue_text(const struct found_program *program, const struct program_record *record);
/* {"for": "4 cores on node0", "held_by": ["17"], "before": 2}, or null. Where it waits for the end
 * of others there are no ids, and the number is 0. */
json_t *tpctl_queue_json(const struct found_program *program, const struct program_record *record);

/* ---- tpctl_text.c: what is printed ---- */

/* Whether --format is json; -1 with a sentence for a word that is no format. */
int tpctl_wants_json(const struct method_call *call, struct error *err);
void tpctl_print_json(struct method_call *call, json_t *value); /* takes it; a line */
/* The words of a JSON array, quoted where a shell would need it; caller frees. */
char *tpctl_command_text(const json_t *command);
/* Seconds for a table: "3.2s", "12m05s", "5h09m", "3d04h"; caller frees. */
char *tpctl_duration_text(double seconds);
char *
tpctl_time_text(double seconds); /* of the epoch, in the local zone; "-" for 0; caller frees */
/* Until when agents are kept, of a program that does nothing else; NULL: it has tasks, or is over.
 * Caller frees. */
char *tpctl_kept_text(const struct program_record *record);

#endif
