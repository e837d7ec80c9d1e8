/* What runs, as the kernel has it: agents read every binding back before the program is executed,
 * and what they read is shown in place of what was planned. */
#include <stdlib.h>

#include "base/clock.h"
#include "launcher/manager/internal.h"
#include "launcher/protocol/task_report.h"

void display_binding_open(struct manager *manager)
{
    if (manager->spec->display & LAYOUT_SHOW_BIND)
        manager->found = readback_new(manager->layout, &manager->request);
}

static void display_binding_end(struct manager *manager, const struct error *err)
{
    outcome_other(manager->outcome, clock_monotonic_ns(), ERROR_REFUSED, error_text(err));
    termination_terminate(manager, manager->spec->kill_grace);
}

void display_binding_take(struct manager *manager, const struct frame *frame, const json_t *value)
{
    struct error err = ERROR_INIT;
    struct started_report report = {0};
    if (!manager->found || frame->group || !value || manager->phase != PHASE_RUN)
        return;
    int rc = started_report_from_json(&report, value, &err);
    for (size_t i = 0; rc == 0 && i < report.nbindings; i++)
        rc = readback_add(manager->found, report.bindings[i].ranks, report.bindings[i].cpus, &err);
    started_report_clear(&report);
    if (err.text || readback_check(manager->found, &err) < 0)
        display_binding_end(manager, &err);
    else if (readback_complete(manager->found))
        plan_show_found(manager);
    error_clear(&err);
}
