/* Requests to managers, for the methods of tpctl that need a program that lives. */
#include "launcher/tpctl/ask_manager.h"

#include <unistd.h>

#include "launcher/control/control_client.h"
#include "launcher/tpctl/tpctl.h"

static bool ask_lives(void *arg)
{
    return found_program_lives(arg);
}

/* No process is left of it. What its log says may be elsewhere by now: it had a manager a moment ago. */
static int refuse_complete(const struct found_program *program, struct error *err)
{
    struct program_record *record = found_program_record(program, false, NULL);
    error_set(err, "program %s is complete%s", found_program_id(program),
              record && record->is_lost ? " (lost)" : "");
    program_record_free(record);
    return TPCTL_WRONG_STATE;
}

int ask_manager(const struct found_program *program, const struct control_request *request,
                struct control_answer *answer, struct error *err)
{
    int kept;
    int status = ask_manager_and_stay(program, request, answer, &kept, err);
    if (kept >= 0)
        close(kept);
    return status;
}

int ask_manager_and_stay(const struct found_program *program, const struct control_request *request,
                         struct control_answer *answer, int *kept, struct error *err)
{
    struct error why = ERROR_INIT;
    const char *id = found_program_id(program);
    int status = CONTROL_REFUSED;
    *answer = (struct control_answer){0};
    *kept = -1;
    if (found_program_is_empty(program)) {
        error_set(err, "program %s is empty: it has no tasks", id);
        return TPCTL_WRONG_STATE;
    }
    int dir = found_program_lives(program) ? found_program_open(program) : -1;
    if (dir < 0)
        return refuse_complete(program, err);
    switch (control_ask_and_stay(dir, request, CONTROL_CLIENT_PATIENCE, ask_lives,
                                 (void *)(uintptr_t)program, answer, kept, &why)) {
    case CONTROL_SAID:
        status = answer->status;
        if (status)
            error_set(err, "program %s: %s", id, answer->error);
        break;
    case CONTROL_GONE:
        status = refuse_complete(program, err);
        break;
    case CONTROL_SILENT:
    case CONTROL_FOREIGN:
        error_set(err, "program %s: %s", id, error_text(&why));
        break;
    }
    close(dir);
    error_clear(&why);
    return status;
}
