/* Waiting for what others hold, in order of arrival. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/duration.h"
#include "base/mem.h"
#include "launcher/manager/internal.h"

#define QUEUE_TELL 5.0     /* s after which a run says what it waits for */
#define QUEUE_SETTLE 0.005 /* s from a sign that something is free until it is */
#define QUEUE_FIRST 0.5    /* s between looks without a sign, for who is first in line */
#define QUEUE_BEHIND 2.0   /* and for others */
#define QUEUE_SHARES "; --overlap shares them"
#define QUEUE_ALL 2147483647u /* of a host whose cores are not known */

struct queue {
    void (*retry)(struct manager *manager);
    int watch;
    ev_io sign;
    ev_timer again, tell, limit;
    struct rset *scope; /* what it could use */
    struct rset *wish;  /* what it would claim were nothing held; NULL: not known */
};

/* ---- what it waits for ---- */

static struct idset *usable_cores(const struct manager *manager, size_t index)
{
    const struct node *node = &manager->nodes->list[index];
    if (node->cores)
        return idset_copy(node->cores);
    if (host_at(manager->hosts, (uint32_t)index)->topo)
        return topo_allowed_cores(host_at(manager->hosts, (uint32_t)index)->topo);
    struct idset *all = idset_new();
    idset_add_range(all, 0, QUEUE_ALL - 1);
    return all;
}

static struct rset *make_scope(const struct manager *manager)
{
    struct rset *scope = rset_new();
    for (size_t i = 0; i < manager->nodes->count; i++) {
        const struct node *node = &manager->nodes->list[i];
        struct idset *cores = usable_cores(manager, i);
        rset_append(scope, (uint32_t)i, node->host, cores, node->gpus);
        idset_free(cores);
    }
    return scope;
}

static char *describe_wish(const struct queue *queue)
{
    size_t cores = 0, gpus = 0, hosts = queue->wish ? queue->wish->nnodes : 0;
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < hosts; i++) {
        cores += idset_count(queue->wish->nodes[i].children->cores);
        gpus += idset_count(queue->wish->nodes[i].children->gpus);
    }
    if (!hosts)
        return mem_copy_text("free cores");
    buf_printf(&text, "%zu core%s", cores, cores > 1 ? "s" : "");
    if (gpus)
        buf_printf(&text, " and %zu GPU%s", gpus, gpus > 1 ? "s" : "");
    if (hosts > 1)
        buf_printf(&text, " on %zu nodes", hosts);
    else
        buf_printf(&text, " on %s", queue->wish->nodes[0].host);
    return buf_take_text(&text);
}

/* "4 cores on node0: program 17 (./app, since 12:03, for 2m) holds cores 0-3 of node0; --overlap
 * shares them" */
static char *describe(const struct manager *manager, const struct queue *queue)
{
    char *what = describe_wish(queue);
    char *who = instance_rivals(manager->instance, manager->entry, queue->scope);
    char *text = mem_format("%s%s%s%s", what, *who ? ": " : "", who, *who ? QUEUE_SHARES : "");
    free(what);
    free(who);
    return text;
}

/* ---- events ---- */

static void arm(struct manager *manager, double seconds)
{
    struct queue *queue = manager->queue;
    ev_timer_stop(manager->loop, &queue->again);
    ev_timer_set(&queue->again, seconds, 0);
    ev_timer_start(manager->loop, &queue->again);
}

/* While agents are on their way there is an answer soon, which looks again. */
static void allocation_queue_on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    (void)loop, (void)events;
    if (manager->phase != PHASE_GATHER)
        return;
    if (host_awaited(manager->hosts) || entry_is_behind(manager->entry))
        arm(manager, QUEUE_BEHIND);
    else
        manager->queue->retry(manager);
}

/* A file is closed just before its lock goes. */
static void on_sign(struct ev_loop *loop, ev_io *io, int events)
{
    struct manager *manager = io->data;
    char bytes[4096];
    (void)loop, (void)events;
    while (read(manager->queue->watch, bytes, sizeof(bytes)) > 0)
        ;
    if (manager->phase == PHASE_GATHER)
        arm(manager, QUEUE_SETTLE);
}

static void on_tell(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    (void)loop, (void)events;
    if (manager->phase != PHASE_GATHER)
        return;
    char *what = describe(manager, manager->queue);
    char *line = mem_format("waiting for %s", what);
    viewer_note(manager, line);
    free(what);
    free(line);
}

static void allocation_queue_on_limit(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    struct error err = ERROR_INIT;
    (void)loop, (void)events;
    if (manager->phase != PHASE_GATHER)
        return;
    char *what = describe(manager, manager->queue), *limit = duration_encode(manager->spec->wait);
    error_set(&err, "waited %s (--wait) in vain for %s", limit, what);
    termination_refuse(manager, &err);
    error_clear(&err);
    free(what);
    free(limit);
}

static void start_events(struct manager *manager)
{
    struct queue *queue = manager->queue;
    double limit = manager->spec->wait;
    queue->watch = instance_watch(manager->instance);
    if (queue->watch >= 0) {
        ev_io_init(&queue->sign, on_sign, queue->watch, EV_READ);
        queue->sign.data = manager;
        ev_io_start(manager->loop, &queue->sign);
    }
    ev_timer_init(&queue->again, allocation_queue_on_again, 0, 0);
    ev_timer_init(&queue->tell, on_tell, QUEUE_TELL, 0);
    ev_timer_init(&queue->limit, allocation_queue_on_limit, isinf(limit) ? 0 : limit, 0);
    queue->again.data = queue->tell.data = queue->limit.data = manager;
    ev_timer_start(manager->loop, &queue->tell);
    if (!isinf(limit))
        ev_timer_start(manager->loop, &queue->limit);
}

/* ---- in and out ---- */

/* Whether it is of use to wait, and for what. */
static int think(struct manager *manager, struct queue *queue, struct error *err)
{
    struct error never = ERROR_INIT;
    bool known;
    queue->wish = plan_wish(manager, &known, &never);
    queue->scope = make_scope(manager);
    int rc = 0;
    if (!queue->wish && known) {
        rc = never.kind == ERROR_USAGE ? error_usage(err, "%s", error_text(&never))
                                       : error_set(err, "%s", error_text(&never));
    } else if (manager->spec->wait <= 0) {
        char *who = instance_rivals(manager->instance, manager->entry, queue->scope);
        char *why = mem_copy_text(error_text(err));
        bool told = !*who || strstr(why, "--overlap");
        rc = error_set(err, "%s%s%s%s", why, *who ? "; " : "", who, told ? "" : QUEUE_SHARES);
        free(who);
        free(why);
    }
    error_clear(&never);
    return rc;
}

int allocation_queue_wait(struct manager *manager, void (*retry)(struct manager *),
                          struct error *err)
{
    if (manager->queue) {
        arm(manager, QUEUE_FIRST);
        return 0;
    }
    if (!manager->entry || manager->spec->overlap || !manager->held || !manager->held->nnodes)
        return -1;
    struct queue *queue = manager->queue = mem_alloc(sizeof(*queue));
    queue->retry = retry;
    queue->watch = -1;
    if (think(manager, queue, err) < 0) {
        allocation_queue_leave(manager);
        return -1;
    }
    ev_now_update(manager->loop);
    start_events(manager);
    if (entry_queue(manager->entry, queue->scope, err) < 0) {
        allocation_queue_leave(manager);
        return -1;
    }
    arm(manager, 0); /* something may have become free before it stood in line */
    char *what = describe(manager, queue);
    viewer_say(manager, "in line for %s", what);
    free(what);
    return 0;
}

char *allocation_queue_describe(const struct manager *manager)
{
    return manager->queue ? describe(manager, manager->queue) : NULL;
}

void allocation_queue_leave(struct manager *manager)
{
    struct queue *queue = manager->queue;
    if (!queue)
        return;
    ev_timer_stop(manager->loop, &queue->again);
    ev_timer_stop(manager->loop, &queue->tell);
    ev_timer_stop(manager->loop, &queue->limit);
    if (queue->watch >= 0) {
        ev_io_stop(manager->loop, &queue->sign);
        close(queue->watch);
    }
    rset_free(queue->scope);
    rset_free(queue->wish);
    free(queue);
    manager->queue = NULL;
}
