/* Waiting for what others hold, in order of arrival. */
#include "launcher/instance/allocation_queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/duration.h"
#include "base/mem.h"
#include "launcher/ledger/claim_queue.h"

#define QUEUE_TELL 5.0     /* s after which a run says what it waits for */
#define QUEUE_SETTLE 0.005 /* s from a sign that something is free until it is */
#define QUEUE_FIRST 0.5    /* s between looks without a sign, for who is first in line */
#define QUEUE_BEHIND 2.0   /* and for others */
#define QUEUE_SHARES "; --overlap shares them"
#define QUEUE_ALL 2147483647u /* of a host whose cores are not known */

struct allocation_queue {
    struct ev_loop *loop;
    const struct spec *spec;
    struct resources *resources;
    const struct allocation_queue_ops *ops;
    void *owner;
    bool waits;
    int watch;
    ev_io sign;
    ev_timer again, tell, limit;
    struct rset *scope; /* what it could use */
    struct rset *wish;  /* what it would claim were nothing held; NULL: not known */
};

/* ---- what it waits for ---- */

/* All cores of all hosts that this run could use. */
static struct rset *make_scope(const struct host_table *hosts)
{
    struct rset *scope = rset_new();
    for (uint32_t i = 0; i < host_count(hosts); i++) {
        const struct host *host = host_at(hosts, i);
        struct idset *cores = host->node->cores ? idset_copy(host->node->cores)
                              : host->topo      ? topo_allowed_cores(host->topo)
                                                : idset_new();
        if (!host->node->cores && !host->topo)
            idset_add_range(cores, 0, QUEUE_ALL - 1);
        rset_append(scope, i, host->node->host, cores, host->node->gpus);
        idset_free(cores);
    }
    return scope;
}

static char *queue_rivals(const struct allocation_queue *queue)
{
    return instance_rivals(resources_instance(queue->resources), resources_entry(queue->resources),
                           queue->scope);
}

/* "4 cores on node0: program 17 (./app, since 12:03, for 2m) holds cores 0-3 of node0; --overlap
 * shares them" */
static char *describe(const struct allocation_queue *queue)
{
    size_t cores = 0, gpus = 0, hosts = queue->wish ? queue->wish->nnodes : 0;
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < hosts; i++) {
        cores += idset_count(queue->wish->nodes[i].children->cores);
        gpus += idset_count(queue->wish->nodes[i].children->gpus);
    }
    if (hosts)
        buf_printf(&text, "%zu core%s", cores, cores > 1 ? "s" : "");
    else
        buf_add_text(&text, "free cores");
    if (gpus)
        buf_printf(&text, " and %zu GPU%s", gpus, gpus > 1 ? "s" : "");
    if (hosts > 1)
        buf_printf(&text, " on %zu nodes", hosts);
    else if (hosts)
        buf_printf(&text, " on %s", queue->wish->nodes[0].host);
    char *who = queue_rivals(queue);
    if (*who)
        buf_printf(&text, ": %s%s", who, QUEUE_SHARES);
    free(who);
    return buf_take_text(&text);
}

/* ---- events ---- */

static void arm(struct allocation_queue *queue, double seconds)
{
    ev_timer_stop(queue->loop, &queue->again);
    ev_timer_set(&queue->again, seconds, 0);
    ev_timer_start(queue->loop, &queue->again);
}

/* While agents are on their way there is an answer soon, which looks again. */
static void allocation_queue_on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct allocation_queue *queue = timer->data;
    (void)loop, (void)events;
    if (queue->ops->is_over(queue->owner))
        return;
    if (host_awaited(resources_hosts(queue->resources)) ||
        entry_is_behind(resources_entry(queue->resources)))
        arm(queue, QUEUE_BEHIND);
    else
        queue->ops->retry(queue->owner);
}

/* A file is closed just before its lock goes. */
static void on_sign(struct ev_loop *loop, ev_io *io, int events)
{
    struct allocation_queue *queue = io->data;
    char bytes[4096];
    (void)loop, (void)events;
    while (read(queue->watch, bytes, sizeof(bytes)) > 0)
        ;
    if (!queue->ops->is_over(queue->owner))
        arm(queue, QUEUE_SETTLE);
}

static void on_tell(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct allocation_queue *queue = timer->data;
    (void)loop, (void)events;
    if (queue->ops->is_over(queue->owner))
        return;
    char *what = describe(queue);
    char *line = mem_format("waiting for %s", what);
    queue->ops->note(queue->owner, line);
    free(what);
    free(line);
}

static void allocation_queue_on_limit(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct allocation_queue *queue = timer->data;
    struct error err = ERROR_INIT;
    (void)loop, (void)events;
    if (queue->ops->is_over(queue->owner))
        return;
    char *what = describe(queue), *limit = duration_encode(queue->spec->wait);
    error_set(&err, "waited %s (--wait) in vain for %s", limit, what);
    queue->ops->expired(queue->owner, &err);
    error_clear(&err);
    free(what);
    free(limit);
}

/* ---- life ---- */

struct allocation_queue *allocation_queue_new(struct ev_loop *loop, const struct spec *spec,
                                              struct resources *resources,
                                              const struct allocation_queue_ops *ops, void *owner)
{
    struct allocation_queue *queue = mem_alloc(sizeof(*queue));
    queue->loop = loop;
    queue->spec = spec;
    queue->resources = resources;
    queue->ops = ops;
    queue->owner = owner;
    queue->watch = -1;
    ev_timer_init(&queue->again, allocation_queue_on_again, 0, 0);
    ev_timer_init(&queue->tell, on_tell, 0, 0);
    ev_timer_init(&queue->limit, allocation_queue_on_limit, 0, 0);
    queue->again.data = queue->tell.data = queue->limit.data = queue->sign.data = queue;
    return queue;
}

void allocation_queue_free(struct allocation_queue *queue)
{
    if (queue)
        allocation_queue_leave(queue);
    free(queue);
}

/* ---- in and out ---- */

static void start_events(struct allocation_queue *queue)
{
    queue->watch = instance_watch(resources_instance(queue->resources));
    if (queue->watch >= 0) {
        ev_io_init(&queue->sign, on_sign, queue->watch, EV_READ);
        ev_io_start(queue->loop, &queue->sign);
    }
    ev_timer_set(&queue->tell, QUEUE_TELL, 0);
    ev_timer_start(queue->loop, &queue->tell);
    if (isinf(queue->spec->wait))
        return;
    ev_timer_set(&queue->limit, queue->spec->wait, 0);
    ev_timer_start(queue->loop, &queue->limit);
}

/* Whether it is of use to wait, and for what. */
static int check_can_wait(struct allocation_queue *queue, struct error *err)
{
    struct error never = ERROR_INIT;
    bool known;
    queue->wish = queue->ops->fits_ever(queue->owner, &known, &never);
    queue->scope = make_scope(resources_hosts(queue->resources));
    int rc = 0;
    if (!queue->wish && known) {
        rc = never.kind == ERROR_USAGE ? error_usage(err, "%s", error_text(&never))
                                       : error_set(err, "%s", error_text(&never));
    } else if (queue->spec->wait <= 0) {
        char *who = queue_rivals(queue);
        char *why = mem_copy_text(error_text(err));
        bool told = !*who || strstr(why, "--overlap");
        rc = error_set(err, "%s%s%s%s", why, *who ? "; " : "", who, told ? "" : QUEUE_SHARES);
        free(who);
        free(why);
    }
    error_clear(&never);
    return rc;
}

int allocation_queue_wait(struct allocation_queue *queue, struct error *err)
{
    if (queue->waits) {
        arm(queue, QUEUE_FIRST);
        return 0;
    }
    struct ledger_entry *entry = resources_entry(queue->resources);
    const struct rset *held = resources_held(queue->resources);
    if (!entry || queue->spec->overlap || !held || !held->nnodes)
        return -1;
    queue->waits = true;
    if (check_can_wait(queue, err) < 0) {
        allocation_queue_leave(queue);
        return -1;
    }
    ev_now_update(queue->loop);
    start_events(queue);
    if (entry_queue(entry, queue->scope, err) < 0) {
        allocation_queue_leave(queue);
        return -1;
    }
    arm(queue, 0); /* something may have become free before it stood in line */
    char *what = describe(queue), *line = mem_format("in line for %s", what);
    queue->ops->say(queue->owner, line);
    free(line);
    free(what);
    return 0;
}

bool allocation_queue_waits(const struct allocation_queue *queue)
{
    return queue->waits;
}

char *allocation_queue_describe(const struct allocation_queue *queue)
{
    return queue && queue->waits ? describe(queue) : NULL;
}

void allocation_queue_leave(struct allocation_queue *queue)
{
    if (!queue->waits)
        return;
    ev_timer_stop(queue->loop, &queue->again);
    ev_timer_stop(queue->loop, &queue->tell);
    ev_timer_stop(queue->loop, &queue->limit);
    if (queue->watch >= 0) {
        ev_io_stop(queue->loop, &queue->sign);
        close(queue->watch);
    }
    rset_free(queue->scope);
    rset_free(queue->wish);
    queue->scope = queue->wish = NULL;
    queue->watch = -1;
    queue->waits = false;
}
