/* What runs, as the kernel has it: agents read every binding back before the program is executed,
 * and what they read is shown in place of what was planned. */
#include <stdlib.h>

#include "base/clock.h"
#include "launcher/manager/internal.h"

void display_binding_open(struct manager *manager)
{
    if (manager->spec->display & LAYOUT_SHOW_BIND)
        manager->found = readback_new(manager->layout, &manager->request);
}

static int display_binding_add(struct found *found, const json_t *pair, struct error *err)
{
    const char *cpus_text = json_string_value(json_array_get(pair, 0));
    const char *ranks_text = json_string_value(json_array_get(pair, 1));
    struct idset *cpus = cpus_text ? idset_decode(cpus_text, err) : NULL;
    struct idset *ranks = cpus && ranks_text ? idset_decode(ranks_text, err) : NULL;
    int result = ranks ? readback_add(found, ranks, cpus, err) : -1;
    idset_free(ranks);
    idset_free(cpus);
    return result;
}

static void display_binding_end(struct manager *manager, const struct error *err)
{
    outcome_other(manager->outcome, clock_monotonic_ns(), ERROR_REFUSED, error_text(err));
    termination_terminate(manager, manager->spec->kill_grace);
}

void display_binding_take(struct manager *manager, const struct frame *frame, const json_t *value)
{
    struct error err = ERROR_INIT;
    size_t i;
    json_t *pair;
    if (!manager->found || frame->group || !value || manager->phase != PHASE_RUN)
        return;
    json_array_foreach(json_object_get(value, "bindings"), i, pair)
    {
        if (display_binding_add(manager->found, pair, &err) < 0)
            break;
    }
    if (err.text || readback_check(manager->found, &err) < 0)
        display_binding_end(manager, &err);
    else if (readback_complete(manager->found))
        plan_show_found(manager);
    error_clear(&err);
}
