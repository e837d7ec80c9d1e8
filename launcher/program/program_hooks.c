/* Hooks: ordered on each node, and waited for. */
#include "launcher/program/program_hooks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/program/node_failures.h"
#include "launcher/protocol/hook_message.h"

#define HOOK_SLACK                                                                                 \
    15.0 /* s that an answer may take longer than the hook: programs of an instance end first */
#define HOOK_LINES 5 /* of what a prolog wrote last that are shown */

enum hook_state { HOOKS_NONE, HOOKS_BEGUN, HOOKS_FAILED, HOOKS_READY };

struct hook_node { /* what is the same for all hooks that are run there */
    uint32_t node;
    char **environment;
    enum hook_state state; /* of the one that was run there last; none once the node is lost */
};

struct program_hooks {
    struct ev_loop *loop;
    const struct spec *spec;
    struct tree *tree;
    const struct program_hooks_ops *ops;
    void *owner;
    struct hook_node *nodes; /* [nnodes] whose prolog was ordered at some time, or is to be */
    size_t nnodes;
    enum stage_kind kind;  /* that is run now, or was last; STAGE_FILE: none yet */
    struct idset *waiting; /* nodes that have not said how it ended; NULL: none is run */
    struct idset *later;   /* nodes whose prolog is run next */
    bool is_late;          /* the program has begun without these prologs */
    struct node_failures failed;
    hooks_begun *begun, *begun_late;
    void (*ended)(void *arg); /* NULL: it is not asked for */
    void *arg, *arg_late;
    double patience; /* s until it is due */
    ev_timer due;
};

/* ---- variables ---- */

static bool is_host(const struct rset_node *node, void *arg)
{
    return strcmp(node->host, arg) == 0;
}

static char *resources_of(const struct rset *R, const char *host)
{
    struct rset *part = rset_select(R, is_host, (void *)(uintptr_t)host);
    json_t *value = rset_to_json(part);
    json_object_del(value, "scheduling");
    char *text = json_dumps(value, JSON_COMPACT);
    json_decref(value);
    rset_free(part);
    return text;
}

enum { HOOK_VARIABLES = 7 };

static char **variables_of(const struct program_hooks *hooks,
                           const struct program_hooks_source *source, uint32_t node, size_t id,
                           size_t count)
{
    const char *host = hooks->ops->host(hooks->owner, node);
    char *const *inherited = hooks->spec->environment;
    size_t at = 0;
    while (inherited && inherited[at])
        at++;
    char **list = mem_array(at + HOOK_VARIABLES + 1, sizeof(char *));
    for (size_t i = 0; i < at; i++)
        list[i] = mem_copy_text(inherited[i]);
    char *R = resources_of(source->R, host);
    list[at++] = mem_format("TPRUN_PROGRAM=%s", source->program);
    list[at++] = mem_format("TPRUN_INSTANCE=%s", source->instance);
    if (source->instance_id)
        list[at++] = mem_format("TPRUN_INSTANCE_ID=%s", source->instance_id);
    list[at++] = mem_format("TPRUN_NODE=%s", host);
    list[at++] = mem_format("TPRUN_NODE_ID=%zu", id);
    list[at++] = mem_format("TPRUN_NNODES=%zu", count);
    list[at++] = mem_format("TPRUN_NODE_R=%s", R);
    free(R);
    return list;
}

/* ---- ordered ---- */

static void send_order(struct program_hooks *hooks, const struct hook_node *node)
{
    const struct hook_order order = {hooks->kind, hooks->spec->hook_timeout,
                                     hooks->spec->directory ? hooks->spec->directory
                                                            : (char *)(uintptr_t) "/",
                                     node->environment};
    json_t *value = hook_order_to_json(&order);
    char *text = json_dumps(value, JSON_COMPACT);
    struct frame frame = {.type = FRAME_HOOK,
                          .flags = hooks->kind == STAGE_EPILOG ? FRAME_HOOK_EPILOG : 0,
                          .node = node->node,
                          .bytes = text,
                          .len = text ? strlen(text) : 0};
    tree_send_node(hooks->tree, node->node, &frame);
    json_decref(value);
    free(text);
}

/* The nodes are taken. */
static void order_all(struct program_hooks *hooks, enum stage_kind kind, struct idset *nodes,
                      double before)
{
    hooks->kind = kind;
    idset_free(hooks->waiting);
    hooks->waiting = nodes;
    for (size_t i = 0; i < hooks->nnodes; i++) {
        if (!idset_has(nodes, hooks->nodes[i].node))
            continue;
        hooks->nodes[i].state = HOOKS_BEGUN;
        send_order(hooks, &hooks->nodes[i]);
    }
    ev_timer_stop(hooks->loop, &hooks->due);
    if (isinf(hooks->spec->hook_timeout))
        return;
    hooks->patience = before + hooks->spec->hook_timeout + HOOK_SLACK;
    ev_timer_set(&hooks->due, hooks->patience, 0);
    ev_timer_start(hooks->loop, &hooks->due);
}

/* All at once: many hosts may answer again at one time. */
static void order_late(struct program_hooks *hooks)
{
    if (hooks->waiting || hooks->ended || idset_empty(hooks->later))
        return;
    hooks->is_late = true;
    hooks->begun = hooks->begun_late;
    hooks->arg = hooks->arg_late;
    order_all(hooks, STAGE_PROLOG, hooks->later, 0);
    hooks->later = idset_new();
}

/* ---- ended ---- */

static struct hook_node *find_node(const struct program_hooks *hooks, uint32_t node)
{
    for (size_t i = 0; i < hooks->nnodes; i++)
        if (hooks->nodes[i].node == node)
            return &hooks->nodes[i];
    return NULL;
}

static void node_failed(struct program_hooks *hooks, uint32_t node, const char *text)
{
    node_failures_add(&hooks->failed, node, text);
    find_node(hooks, node)->state = HOOKS_FAILED;
}

/* All of these nodes have said how it ended, or are not waited for. */
static void hooks_settle(struct program_hooks *hooks)
{
    struct error err = ERROR_INIT;
    if (!hooks->waiting || !idset_empty(hooks->waiting))
        return;
    ev_timer_stop(hooks->loop, &hooks->due);
    idset_free(hooks->waiting);
    hooks->waiting = NULL;
    node_failures_take(&hooks->failed, hooks->ops->host, hooks->owner, &err);
    if (hooks->kind == STAGE_EPILOG) {
        if (err.text)
            hooks->ops->note(hooks->owner, err.text);
        hooks->ended(hooks->arg);
    } else {
        hooks->begun(hooks->arg, err.text ? &err : NULL);
        order_late(hooks);
    }
    error_clear(&err);
}

static void on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct program_hooks *hooks = timer->data;
    (void)loop, (void)events;
    IDSET_FOREACH(node, hooks->waiting)
    {
        char *text = mem_format("the %s: its agent did not say within %.3g s how it ended",
                                stage_kind_word(hooks->kind), hooks->patience);
        node_failed(hooks, node, text);
        free(text);
    }
    idset_free(hooks->waiting);
    hooks->waiting = idset_new();
    hooks_settle(hooks);
}

/* The last lines of it, each behind a newline and two blanks. */
static char *last_lines(const char *output)
{
    size_t len = output ? strlen(output) : 0, lines = 0;
    while (len && output[len - 1] == '\n')
        len--;
    size_t first = len;
    for (; first; first--)
        if (output[first - 1] == '\n' && ++lines == HOOK_LINES)
            break;
    struct buf text = BUF_INIT;
    for (const char *at = output + first; output && at < output + len;) {
        size_t n = strcspn(at, "\n");
        if (at + n > output + len)
            n = (size_t)(output + len - at);
        buf_printf(&text, "\n  %.*s", (int)n, at);
        at += n + 1;
    }
    return buf_take_text(&text);
}

void program_hooks_ended(struct program_hooks *hooks, uint32_t node, const json_t *value)
{
    struct hook_report report;
    const char *host = hooks->ops->host(hooks->owner, node);
    if (hook_report_from_json(&report, value, NULL) == 0 && report.ran && host) {
        json_t *context = json_pack("{s:s, s:f}", "host", host, "seconds", report.seconds);
        if (report.fault)
            json_object_set_new(context, "fault", json_string(report.fault));
        if (report.output)
            json_object_set_new(context, "output", json_string(report.output));
        hooks->ops->event(hooks->owner, stage_kind_word(report.kind), context);
    }
    if (hooks->waiting && report.kind == hooks->kind && idset_has(hooks->waiting, node)) {
        find_node(hooks, node)->state = HOOKS_READY;
        if (report.fault) {
            char *lines = last_lines(report.output);
            char *text = mem_format("the %s failed: %s%s%s", stage_kind_word(report.kind),
                                    report.fault, *lines ? "; it wrote:" : "", lines);
            node_failed(hooks, node, text);
            free(text);
            free(lines);
        }
        idset_remove(hooks->waiting, node);
        hooks_settle(hooks);
    }
    hook_report_clear(&report);
}

/* Their loss is told, and ends a program that has not begun. */
void program_hooks_lost(struct program_hooks *hooks, const struct idset *nodes)
{
    for (size_t i = 0; i < hooks->nnodes; i++)
        if (idset_has(nodes, hooks->nodes[i].node))
            hooks->nodes[i].state = HOOKS_NONE;
    idset_remove_set(hooks->later, nodes);
    if (!hooks->waiting)
        return;
    idset_remove_set(hooks->waiting, nodes);
    if (hooks->kind == STAGE_EPILOG || hooks->is_late)
        hooks_settle(hooks);
}

/* ---- both ---- */

/* One that was lost has its number and variables of before. */
static void add_nodes(struct program_hooks *hooks, const struct program_hooks_source *source)
{
    struct idset *known = idset_new();
    for (size_t i = 0; i < hooks->nnodes; i++)
        idset_add(known, hooks->nodes[i].node);
    struct idset *more = idset_subtract(source->nodes, known);
    size_t count = hooks->nnodes + idset_count(more);
    hooks->nodes = mem_resize(hooks->nodes, count, sizeof(*hooks->nodes));
    IDSET_FOREACH(node, more)
    {
        hooks->nodes[hooks->nnodes] = (struct hook_node){
            node, variables_of(hooks, source, node, hooks->nnodes, count), HOOKS_NONE};
        hooks->nnodes++;
    }
    idset_free(known);
    idset_free(more);
}

void program_hooks_prolog(struct program_hooks *hooks, const struct program_hooks_source *source,
                          hooks_begun *done, void *arg)
{
    add_nodes(hooks, source);
    hooks->begun = done;
    hooks->arg = arg;
    order_all(hooks, STAGE_PROLOG, idset_copy(source->nodes), 0);
}

void program_hooks_late(struct program_hooks *hooks, const struct program_hooks_source *source,
                        hooks_begun *done, void *arg)
{
    add_nodes(hooks, source);
    idset_add_set(hooks->later, source->nodes);
    hooks->begun_late = done;
    hooks->arg_late = arg;
    order_late(hooks);
}

void program_hooks_epilog(struct program_hooks *hooks, double inner, void (*done)(void *arg),
                          void *arg)
{
    node_failures_clear(&hooks->failed); /* of a prolog that nobody waits for any more */
    hooks->ended = done;
    hooks->arg = arg;
    if (!hooks->spec->epilog) {
        idset_free(hooks->waiting);
        hooks->waiting = NULL;
        ev_timer_stop(hooks->loop, &hooks->due);
        done(arg);
        return;
    }
    struct idset *nodes = idset_new();
    for (size_t i = 0; i < hooks->nnodes; i++)
        if (hooks->nodes[i].state != HOOKS_NONE)
            idset_add(nodes, hooks->nodes[i].node);
    order_all(hooks, STAGE_EPILOG, nodes, inner);
    hooks_settle(hooks);
}

const char *program_hooks_lack(const struct program_hooks *hooks, uint32_t node)
{
    const struct hook_node *at = find_node(hooks, node);
    if ((!hooks->spec->prolog && !hooks->spec->epilog) || (at && at->state == HOOKS_READY))
        return NULL;
    return at && at->state == HOOKS_FAILED ? "the instance's prolog failed there"
                                           : "the instance's prolog has not ended there yet";
}

char *program_hooks_describe(const struct program_hooks *hooks)
{
    if (!hooks->waiting)
        return NULL;
    struct hostlist *hosts = hostlist_new();
    IDSET_FOREACH(node, hooks->waiting)
    hostlist_append(hosts, hooks->ops->host(hooks->owner, node));
    char *names = hostlist_encode(hosts);
    char *text = mem_format("the %s on %s", stage_kind_word(hooks->kind), names);
    free(names);
    hostlist_free(hosts);
    return text;
}

/* ---- life ---- */

struct program_hooks *program_hooks_new(struct ev_loop *loop, const struct spec *spec,
                                        struct tree *tree, const struct program_hooks_ops *ops,
                                        void *owner)
{
    struct program_hooks *hooks = mem_alloc(sizeof(*hooks));
    *hooks = (struct program_hooks){
        .loop = loop, .spec = spec, .tree = tree, .ops = ops, .owner = owner, .later = idset_new()};
    ev_timer_init(&hooks->due, on_due, 0, 0);
    hooks->due.data = hooks;
    return hooks;
}

void program_hooks_free(struct program_hooks *hooks)
{
    if (!hooks)
        return;
    ev_timer_stop(hooks->loop, &hooks->due);
    for (size_t i = 0; i < hooks->nnodes; i++) {
        for (char **entry = hooks->nodes[i].environment; *entry; entry++)
            free(*entry);
        free(hooks->nodes[i].environment);
    }
    free(hooks->nodes);
    idset_free(hooks->waiting);
    idset_free(hooks->later);
    node_failures_clear(&hooks->failed);
    free(hooks);
}
