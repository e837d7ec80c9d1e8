/* A program that is over: its last event, the reports on it, and its exit status. */
#include <stdlib.h>

#include "base/mem.h"
#include "launcher/ledger/completed.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/program/program_private.h"
#include "launcher/program/run_report.h"

void program_report(struct program *program, const char *line)
{
    outcome_always(program->outcome, UINT64_MAX, ERROR_REFUSED, line);
    program->left = true;
}

/* --report and --timing; what fails is told at the end as other things are. */
static void report_run(struct program *program, int status, const char *reason)
{
    const struct resources *resources = program_start_resources(program->start);
    struct ledger_entry *entry = resources ? resources_entry(resources) : NULL;
    struct run_report *report = run_report_new(entry, status, reason);
    char *timing = program->spec->timing ? run_report_timing(report) : NULL;
    struct error err = ERROR_INIT;
    if (timing)
        program->ops->note(program->owner, timing);
    char *text = program->spec->report ? run_report_text(report) : NULL;
    if (text && program->ops->result(program->owner, FRAME_RESULT_REPORT, text, &err) < 0)
        program_report(program, error_text(&err));
    error_clear(&err);
    free(text);
    free(timing);
    run_report_free(report);
}

void program_complete(struct program *program)
{
    struct buf lines = BUF_INIT;
    int status = outcome_status(program->outcome, &lines);
    json_t *context =
        json_pack("{s:i, s:o}", "status", status, "reason", frame_text(buf_text(&lines)));
    if (program->left)
        json_object_set_new(context, "left", json_true());
    program_log_event(program->log, "complete", context);
    program_log_write(program->log);
    if (program->spec->report || program->spec->timing)
        report_run(program, status, buf_text(&lines));
    buf_free(&lines);
}

void program_leave(struct program *program)
{
    program_service_end(program->service);
    resources_leave(program_start_resources(program->start));
}

const char *program_completed_due(const struct program *program, enum completed_mover mover,
                                  const char **id)
{
    const struct resources *resources = program_start_resources(program->start);
    const struct instance *instance = resources ? resources_instance(resources) : NULL;
    if (!instance || !completed_is_due(instance, mover))
        return NULL;
    *id = instance_id(instance);
    return instance_path(instance);
}

int program_outcome(const struct program *program, struct buf *lines)
{
    const struct layout *layout = plan_layout(program_start_plan(program->start));
    int status = outcome_status(program->outcome, lines);
    if (layout && !program->terminated && outcome_is_clean(program->outcome))
        no_pmi_explain(program->no_pmi, program->spec, layout, lines);
    return status;
}
