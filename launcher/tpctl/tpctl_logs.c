/* tpctl logs: what was saved of a program's output. */
#include "affinity/sets/idset.h"
#include "base/error.h"
#include "launcher/tpctl/tpctl_view.h"
#include "launcher/tree/frame.h"

struct logs {
    struct idset *ranks; /* NULL: all */
    bool out, error;
    bool chosen; /* of tasks alone: not what tprun said */
};

static bool logs_wants(void *arg, const struct frame *frame)
{
    const struct logs *logs = arg;
    if (frame->type != FRAME_OUTPUT)
        return !logs->chosen || frame->type == FRAME_END;
    return (frame->flags & FRAME_STDERR ? logs->error : logs->out) &&
           (!logs->ranks || idset_has(logs->ranks, frame->rank));
}

static int logs_options(const struct method_call *call, struct logs *logs, struct error *err)
{
    const char *ranks = method_value(call, TPCTL_RANKS);
    bool out = method_value(call, TPCTL_STDOUT), error = method_value(call, TPCTL_STDERR);
    logs->ranks = ranks ? idset_decode(ranks, err) : NULL;
    if (ranks && !logs->ranks)
        return error_prefix(err, "--ranks");
    logs->out = out || !error;
    logs->error = error || !out;
    logs->chosen = ranks || out || error;
    return 0;
}

int tpctl_logs(struct method_call *call, struct error *err)
{
    const struct found_program *program;
    struct logs logs = {0};
    struct program_search *search =
        logs_options(call, &logs, err) < 0 ? NULL : tpctl_search(call, err);
    int status = search ? tpctl_find(call, search, call->words[0], &program, err) : -1;
    struct saved_reader *reader =
        status == 0 ? tpctl_view_reader(program, false, &status, err) : NULL;
    if (reader) {
        struct spec *spec = tpctl_view_spec(call, program);
        struct frontend_config config = {.spec = spec,
                                         .role = FRONTEND_VIEWER,
                                         .fd = -1,
                                         .foreground = -1,
                                         .id = found_program_id(program),
                                         .reader = reader,
                                         .follows = method_value(call, TPCTL_FOLLOW),
                                         .wants = logs_wants,
                                         .wants_arg = &logs};
        struct frontend_result result = frontend_run(&config);
        int ended = frontend_status(&result);
        status = result.goes_on ? ended : 0;
        spec_free(spec);
    }
    idset_free(logs.ranks);
    program_search_free(search);
    return status;
}
