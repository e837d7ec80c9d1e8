/* tpctl list: a line for each program. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/ledger/program_json.h"
#include "launcher/stdio/terminal.h"
#include "launcher/tpctl/tpctl.h"

#define LIST_UNKNOWN "unknown" /* the state of a program whose log cannot be read */

static const char *user_name(void)
{
    const struct passwd *user = getpwuid(geteuid());
    return user ? user->pw_name : "";
}

/* Each is printed at once: one JSON value of all would need much memory. `why`: its log cannot be read. */
static void list_json(struct method_call *call, const struct found_program *program,
                      const struct program_record *record, const char *why, const char *user)
{
    json_t *value = program_to_json(found_program_id(program), record);
    if (why) {
        json_object_set_new(value, "state", json_string(LIST_UNKNOWN));
        json_object_set_new(value, "reason", json_string(why));
    }
    json_object_set_new(value, "waits", tpctl_queue_json(program, record));
    json_object_set_new(value, "user", json_string(user));
    json_object_set_new(value, "instance", json_string(found_program_instance(program)));
    char *text = json_dumps(value, JSON_REAL_PRECISION(16));
    fputs(text ? text : "null", call->out);
    free(text);
    json_decref(value);
}

static void list_line(struct method_call *call, const struct found_program *program,
                      const struct program_record *record, const char *why, bool with_instance)
{
    bool over = record->state == RECORD_COMPLETE;
    double begin = record->t_start > 0 ? record->t_start : record->t_new;
    double end = over ? record->t_end : clock_wall_seconds();
    char *time = begin > 0 && end > 0 ? tpctl_duration_text(end - begin) : mem_copy_text("-");
    char *command = tpctl_command_text(record->command);
    char *waits = tpctl_queue_text(program, record);
    char status[16] = "-";
    if (over && record->status >= 0)
        snprintf(status, sizeof(status), "%d", record->status);
    fprintf(call->out, "%6s %-15s %6s %8u %6u %9s ", found_program_id(program),
            why               ? LIST_UNKNOWN
            : record->is_lost ? "complete (lost)"
                              : record_state_name(record->state),
            status, record->ntasks, record->nnodes, time);
    if (with_instance)
        fprintf(call->out, "%s ", found_program_instance(program));
    char *kept = tpctl_kept_text(record);
    fprintf(call->out, "%s%s%s%s%s%s%s\n", command, waits ? "  (waits for " : "",
            waits ? waits : "", waits ? ")" : "", kept ? "  (" : "", kept ? kept : "",
            kept ? ")" : "");
    free(kept);
    free(waits);
    free(command);
    free(time);
}

int tpctl_list(struct method_call *call, struct error *err)
{
    int as_json = tpctl_wants_json(call, err);
    struct program_search *search = as_json < 0 ? NULL : tpctl_search(call, err);
    bool all = method_value(call, TPCTL_ALL);
    const char *user = user_name();
    size_t lines = 0;
    if (search && all)
        program_search_add_kept(search);
    if (search && as_json)
        fputs("{\"version\": 1, \"programs\": [", call->out);
    for (size_t i = 0; search && i < program_search_count(search); i++) {
        const struct found_program *program = program_search_nth(search, i);
        bool several = program_search_instances(search) > 1;
        if (!all && !found_program_is_live(program))
            continue;
        struct error why = ERROR_INIT;
        struct program_record *record = found_program_record(program, false, &why);
        bool is_gone = !record && errno == ENOENT;
        if (is_gone || (record && !all && record->state == RECORD_COMPLETE)) {
            program_record_free(record);
            error_clear(&why);
            continue;
        }
        if (!record) { /* what is there is listed, and it is said why nothing is known of it */
            terminal_complain("tpctl", error_text(&why), strlen(error_text(&why)));
            record = program_record_new(false);
        }
        if (as_json)
            fputs(lines ? ", " : "", call->out);
        else if (!lines)
            fprintf(call->out, "%6s %-15s %6s %8s %6s %9s %s%s\n", "ID", "STATE", "STATUS", "TASKS",
                    "NODES", "TIME", several ? "INSTANCE " : "", "COMMAND");
        if (as_json)
            list_json(call, program, record, why.text, user);
        else
            list_line(call, program, record, why.text, several);
        program_record_free(record);
        error_clear(&why);
        lines++;
    }
    if (search && as_json)
        fputs("]}\n", call->out);
    program_search_free(search);
    return search ? 0 : -1;
}
