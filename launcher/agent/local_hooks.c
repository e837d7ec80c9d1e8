/* Hooks on a node: prolog, epilog, and the epilog of who was killed. */
#include "launcher/agent/local_hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "launcher/process/descendants.h"
#include "launcher/process/hook_run.h"
#include "launcher/protocol/hook_message.h"
#include "launcher/spec/field.h"

#define RECORD "epilog.json" /* what local_hooks_run_owed() needs to know */
#define MANAGER_LEAVES 1.0   /* s that a manager may need to end once its link has */
#define SETTLE 0.05          /* s between looks whether programs of the instance are gone */
#define SETTLE_MAX 10.0      /* s of such looks beside the time of their epilogs; then it is run */

struct local_hooks {
    struct local_hooks_config config;
    struct hook_order order; /* of the hook that runs, or ran last */
    struct hook_run run;     /* pid 0: none runs */
    char *path;              /* of it */
    bool reports;            /* to the manager */
    bool wanted;             /* the epilog */
    bool orphaned;           /* the manager is gone, or lost */
    bool over;               /* no epilog is left to run here */
    double settles;          /* when it began to wait for programs of the instance; 0: not yet */
    ev_timer settle;
};

/* ---- told ---- */

static void hooks_report(struct local_hooks *hooks, enum stage_kind kind,
                         const struct hook_end *end)
{
    struct uplink *uplink = hooks->config.uplink;
    struct hook_report report = {.kind = kind,
                                 .ran = end,
                                 .seconds = end ? end->seconds : 0,
                                 .fault = end ? hook_end_fault(end) : NULL,
                                 .output = end ? end->output : NULL};
    uplink_send_json(uplink, (struct frame){.type = FRAME_HOOK_ENDED, .node = uplink_node(uplink)},
                     hook_report_to_json(&report));
    free(report.fault);
}

/* ---- run ---- */

static void hooks_begin(struct local_hooks *hooks, enum stage_kind kind)
{
    struct error err = ERROR_INIT;
    hook_order_set_kind(&hooks->order, kind);
    free(hooks->path);
    hooks->path = local_stage_hook(hooks->config.stage, kind);
    if (!hooks->path) {
        hooks->over |= kind == STAGE_EPILOG;
        hooks_report(hooks, kind, NULL);
        return;
    }
    const struct hook hook = {.path = hooks->path,
                              .environment = hooks->order.environment,
                              .directory = hooks->order.directory,
                              .timeout = hooks->order.timeout};
    if (hook_run_begin(&hooks->run, &hook, &err) < 0) {
        struct hook_end end = {.failure = mem_copy_text(error_text(&err))};
        hooks->over |= kind == STAGE_EPILOG;
        hooks_report(hooks, kind, &end);
        hook_end_clear(&end);
    }
    error_clear(&err);
}

/* For whoever runs it where the agent is killed. */
static void hooks_write_record(const struct local_hooks *hooks, const char *path)
{
    const char *above = scratch_directory_chosen(hooks->config.scratch);
    json_t *value = hook_order_to_json(&hooks->order);
    json_object_set_new(value, "path", text_to_json(path));
    char *name = mem_format("%s/" RECORD, above ? above : ""),
         *text = json_dumps(value, JSON_COMPACT);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int rc = fd < 0 ? -1 : file_write_all(fd, text, strlen(text));
    if (rc < 0) {
        uplink_note(hooks->config.uplink,
                    "cannot write %s: %s; should tprun's agent be killed, the epilog is not run",
                    name, strerror(errno));
        unlink(name);
    }
    if (fd >= 0)
        close(fd);
    json_decref(value);
    free(name);
    free(text);
}

static void begin_prolog(struct local_hooks *hooks)
{
    char *epilog = local_stage_hook(hooks->config.stage, STAGE_EPILOG);
    if (epilog) {
        hook_order_set_kind(&hooks->order, STAGE_EPILOG);
        hooks_write_record(hooks, epilog);
        scratch_directory_owe_epilog(hooks->config.scratch, hooks->order.timeout);
    }
    free(epilog);
    hooks_begin(hooks, STAGE_PROLOG);
}

/* Programs of an instance may need a moment to end, and so may its manager: then this process gets another parent. */
static bool others_are_left(struct local_hooks *hooks)
{
    size_t count;
    if (!hooks->config.is_instance)
        return false;
    const pid_t *pids = downlink_agent_pids(hooks->config.downlink, &count);
    if (!hooks->settles)
        hooks->settles = clock_monotonic_seconds();
    double waited = clock_monotonic_seconds() - hooks->settles;
    double most = SETTLE_MAX + scratch_directory_inner_epilogs(hooks->config.scratch);
    return (waited < MANAGER_LEAVES && hooks->orphaned && getppid() == hooks->config.manager) ||
           (waited < most && descendants_signal(0, pids, count));
}

/* Programs of an instance that are below its manager are not seen from here. Who is above both waits for them, and
 * runs what is owed. */
static bool is_for_those_above(const struct local_hooks *hooks)
{
    pid_t parent = getppid();
    return hooks->orphaned && hooks->config.is_instance && hooks->config.manager &&
           (parent == hooks->config.manager ||
            parent == scratch_directory_maker(hooks->config.scratch));
}

static void try_epilog(struct local_hooks *hooks)
{
    if (hooks->run.pid) {
        if (hooks->order.kind == STAGE_PROLOG)
            hook_run_cancel(&hooks->run);
    } else if (scratch_directory_epilog(hooks->config.scratch) == EPILOG_OWED &&
               others_are_left(hooks)) {
        ev_timer_set(&hooks->settle, SETTLE, 0);
        ev_timer_start(hooks->config.loop, &hooks->settle);
    } else if (is_for_those_above(hooks)) {
        hooks->over = true;
    } else if (scratch_directory_begin_epilog(hooks->config.scratch)) {
        hooks_begin(hooks, STAGE_EPILOG);
    } else {
        hooks->over = true;
        hooks_report(hooks, STAGE_EPILOG, NULL);
    }
}

static void on_settle(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    try_epilog(timer->data);
}

void local_hooks_take(struct local_hooks *hooks, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    struct hook_order order = {0};
    json_t *value = frame_json(frame, &err);
    int rc = value ? hook_order_from_json(&order, value, &err) : -1;
    json_decref(value);
    if (rc < 0) {
        struct hook_end end = {.failure = mem_copy_text(error_text(&err))};
        hooks_report(hooks, frame->flags & FRAME_HOOK_EPILOG ? STAGE_EPILOG : STAGE_PROLOG, &end);
        hook_end_clear(&end);
    } else if (order.kind == STAGE_EPILOG && !hooks->wanted) {
        hooks->wanted = true;
        try_epilog(hooks);
    } else if (order.kind == STAGE_PROLOG && !hooks->run.pid && !hooks->wanted) {
        hook_order_clear(&hooks->order);
        hooks->order = order;
        order = (struct hook_order){0};
        if (local_stage_place(hooks->config.stage)->directory)
            hook_order_set(&hooks->order,
                           mem_format("TPRUN_STAGE_DIR=%s",
                                      local_stage_place(hooks->config.stage)->directory));
        begin_prolog(hooks);
    }
    hook_order_clear(&order);
    error_clear(&err);
}

bool local_hooks_reaped(struct local_hooks *hooks, pid_t pid)
{
    struct hook_end end;
    if (!hooks->run.pid || pid != hooks->run.pid)
        return false;
    hook_run_finish(&hooks->run, &end);
    hooks->over |= hooks->order.kind == STAGE_EPILOG;
    hooks_report(hooks, hooks->order.kind, &end);
    hook_end_clear(&end);
    if (hooks->wanted && !hooks->over)
        try_epilog(hooks);
    return true;
}

bool local_hooks_end(struct local_hooks *hooks)
{
    hooks->orphaned = true;
    if (!hooks->wanted) {
        hooks->wanted = true;
        try_epilog(hooks);
    }
    return hooks->over && !hooks->run.pid;
}

/* ---- life ---- */

struct local_hooks *local_hooks_new(const struct local_hooks_config *config)
{
    struct local_hooks *hooks = mem_alloc(sizeof(*hooks));
    *hooks = (struct local_hooks){.config = *config};
    ev_timer_init(&hooks->settle, on_settle, 0, 0);
    hooks->settle.data = hooks;
    return hooks;
}

void local_hooks_free(struct local_hooks *hooks)
{
    if (!hooks)
        return;
    ev_timer_stop(hooks->config.loop, &hooks->settle);
    hook_run_cancel(&hooks->run);
    hook_order_clear(&hooks->order);
    free(hooks->path);
    free(hooks);
}

/* ---- where the agent was killed ---- */

double hooks_grace(const struct scratch *scratch, double grace)
{
    return grace + scratch_directory_epilog_timeout(scratch) +
           scratch_directory_inner_epilogs(scratch);
}

void local_hooks_run_owed(struct scratch *scratch)
{
    struct hook_order order = {0};
    struct buf text = BUF_INIT;
    if (!scratch_directory_begin_epilog(scratch))
        return;
    char *name = mem_format("%s/" RECORD, scratch_directory_chosen(scratch));
    json_t *value =
        file_read(name, &text) == 0 ? json_loadb(buf_bytes(&text), text.len, 0, NULL) : NULL;
    const json_t *where = json_object_get(value, "path");
    char *path = where ? text_from_json(where, NULL) : NULL;
    if (path && hook_order_from_json(&order, value, NULL) == 0) {
        const struct hook hook = {path, order.environment, order.directory, order.timeout};
        struct hook_end end = {0};
        hook_run_wait(&hook, &end, NULL); /* nobody is left who could be told */
        hook_end_clear(&end);
    }
    hook_order_clear(&order);
    json_decref(value);
    buf_free(&text);
    free(path);
    free(name);
}
