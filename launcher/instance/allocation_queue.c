/* Waiting for what others hold, in order of arrival. */
#include "launcher/instance/allocation_queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/queue/reservation.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/mem.h"
#include "launcher/ledger/claim.h"
#include "launcher/ledger/claim_bell.h"
#include "launcher/ledger/claim_queue.h"

#define QUEUE_TELL 5.0     /* s after which a run says what it waits for */
#define QUEUE_SETTLE 0.005 /* s from a sign that something is free until it is */
#define QUEUE_FIRST 0.5    /* s between looks without a sign, for the first two in line, */
#define QUEUE_NEXT 2.0     /* for who may pass others as its end is known, */
#define QUEUE_FAR 10.0     /* and for others, who are many: they are woken when that has changed */
#define QUEUE_MOVES 0.05   /* s for a new head of the line, before it makes a reservation */
#define QUEUE_DEATH                                                                                \
    0.1 /* s from a sign until who is next sees whether the first has gone without a word */
#define QUEUE_SHARES "; --overlap shares them"
#define QUEUE_ALL 2147483647u /* of a host whose cores are not known */

struct allocation_queue {
    struct ev_loop *loop;
    const struct spec *spec;
    struct resources *resources;
    const struct allocation_queue_ops *ops;
    void *owner;
    bool waits;
    int watch, bell; /* -1: there is none */
    unsigned place;  /* as it was last seen */
    double first_at; /* when others before it were gone (monotonic clock); 0: there were none */
    ev_io sign, rung;
    ev_timer again, tell, limit;
    struct rset *scope;      /* what it could use */
    struct rset *wish;       /* what it would claim were nothing held; NULL: not known */
    struct reservation told; /* what the ledger has of it */
    uint64_t state;          /* that it is made from; 0: it is not made yet */
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

static char *queue_holders(const struct allocation_queue *queue)
{
    return instance_holders(resources_instance(queue->resources), resources_entry(queue->resources),
                            queue->scope);
}

/* "4 cores on node0" */
static char *describe_wish(const struct allocation_queue *queue)
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
    return buf_take_text(&text);
}

static struct rset *queue_fit(void *owner, const struct rset *taken)
{
    struct allocation_queue *queue = owner;
    struct error why = ERROR_INIT;
    bool known;
    struct rset *fit = queue->ops->fit(queue->owner, taken, &known, &why);
    error_clear(&why);
    return fit;
}

/* Where it would fit, but for those that wait: "it would delay program 17 (./app, since 12:03, for 2m), which came
 * first; with --time-limit=50s it could start now". Caller frees; NULL: it would not fit. */
static char *describe_delay(struct allocation_queue *queue)
{
    const struct resources *resources = queue->resources;
    struct rset *held = instance_held(resources_instance(resources), NULL);
    struct rset *fit = held ? queue_fit(queue, held) : NULL;
    uint64_t start;
    char *who = fit ? entry_delayed(resources_entry(resources), fit, &start) : NULL;
    struct buf text = BUF_INIT;
    if (who && *who) {
        double limit =
            (double)start - ceil(ev_time()) - ceil(resources_longest_hold(queue->spec, 0)) - 1;
        buf_printf(&text, "it would delay %s, which came first", who);
        if (limit >= 1 && limit < queue->spec->time_limit) {
            char *time = duration_encode(limit);
            buf_printf(&text, "; with --time-limit=%s it could start now", time);
            free(time);
        }
    }
    free(who);
    rset_free(fit);
    rset_free(held);
    return text.len ? buf_take_text(&text) : NULL;
}

/* "4 cores on node0: program 17 (./app, since 12:03, for 2m) holds cores 0-3 of node0; 2 programs are before this one;
 * --overlap shares them" */
static char *describe(struct allocation_queue *queue)
{
    struct buf text = BUF_INIT;
    char *wish = describe_wish(queue), *who = queue_holders(queue), *delay = describe_delay(queue);
    buf_add_text(&text, wish);
    if (*who)
        buf_printf(&text, ": %s", who);
    if (delay)
        buf_printf(&text, "%s%s", *who ? "; " : ": ", delay);
    if (*who || delay)
        buf_add_text(&text, QUEUE_SHARES);
    free(delay);
    free(who);
    free(wish);
    return buf_take_text(&text);
}

/* ---- what it keeps from later ones ---- */

static bool is_same_set(const struct rset *a, const struct rset *b)
{
    struct rset *more = rset_subtract_hosts(a, b), *less = rset_subtract_hosts(b, a);
    bool same = !more->nnodes && !less->nnodes;
    rset_free(more);
    rset_free(less);
    return same;
}

/* Tells the ledger, where it is another than before; takes it. */
static int tell_reservation(struct allocation_queue *queue, struct reservation made,
                            struct error *err)
{
    bool same = queue->told.kept && queue->told.start == made.start &&
                is_same_set(queue->told.kept, made.kept);
    if (!same && entry_queue(resources_entry(queue->resources), made.kept, made.start, err) < 0) {
        rset_free(made.kept);
        return -1;
    }
    rset_free(queue->told.kept);
    queue->told = made;
    return 0;
}

/* With every change of what others hold and keep. */
static int make_reservation(struct allocation_queue *queue, struct error *err)
{
    struct entry_holds holds;
    if (entry_holds_read(resources_entry(queue->resources), queue->scope, &holds, err) < 0)
        return -1;
    int rc = 0;
    if (holds.state != queue->state) {
        struct reservation_question question = {.holds = holds.list,
                                                .nholds = holds.count,
                                                .now = holds.now,
                                                .scope = queue->scope,
                                                .is_first = holds.is_first,
                                                .fit = queue_fit,
                                                .owner = queue};
        rc = tell_reservation(queue, reservation_make(&question), err);
        if (rc == 0)
            queue->state = holds.state;
    }
    entry_holds_clear(&holds);
    return rc;
}

/* ---- events ---- */

static void arm(struct allocation_queue *queue, double seconds)
{
    ev_timer_stop(queue->loop, &queue->again);
    ev_timer_set(&queue->again, seconds, 0);
    ev_timer_start(queue->loop, &queue->again);
}

static void on_sign(struct ev_loop *loop, ev_io *io, int events);

/* There are many of those, and it is far from its turn. One whose end is known may pass others. */
static bool is_far(const struct allocation_queue *queue)
{
    return queue->bell >= 0 && queue->place > 1 && isinf(queue->spec->time_limit);
}

/* The first in line is rung for when something becomes free, and the next when it is the first. Of the others those see it
 * that may pass others: the system would not let all watch. */
static void watch_where_of_use(struct allocation_queue *queue)
{
    bool is_rung = queue->bell >= 0 && (queue->place < CLAIM_BELL_TURNS || is_far(queue));
    if (queue->watch >= 0 || is_rung)
        return;
    queue->watch = instance_watch(resources_instance(queue->resources));
    if (queue->watch < 0)
        return;
    ev_io_init(&queue->sign, on_sign, queue->watch, EV_READ);
    queue->sign.data = queue;
    ev_io_start(queue->loop, &queue->sign);
}

/* While agents are on their way there is an answer soon, which looks again. */
static void allocation_queue_on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct allocation_queue *queue = timer->data;
    (void)loop, (void)events;
    if (queue->ops->is_over(queue->owner))
        return;
    unsigned before = queue->place;
    queue->place = entry_place(resources_entry(queue->resources));
    if (before && !queue->place)
        queue->first_at = clock_monotonic_seconds();
    watch_where_of_use(queue);
    if (is_far(queue))
        arm(queue, QUEUE_FAR);
    else if (queue->place && queue->place < CLAIM_BELL_TURNS)
        arm(queue, QUEUE_FIRST);
    else if (queue->place || host_awaited(resources_hosts(queue->resources)))
        arm(queue, QUEUE_NEXT);
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
    if (queue->ops->is_over(queue->owner))
        return;
    /* Never later than without the sign: signs that follow each other would put it off. */
    double soon = queue->place == 1 ? QUEUE_DEATH : QUEUE_SETTLE;
    if (!ev_is_active(&queue->again) || ev_timer_remaining(queue->loop, &queue->again) > soon)
        arm(queue, soon);
}

/* Its place in line may be another. */
static void on_rung(struct ev_loop *loop, ev_io *io, int events)
{
    struct allocation_queue *queue = io->data;
    char bytes[64];
    (void)loop, (void)events;
    while (read(queue->bell, bytes, sizeof(bytes)) > 0)
        ;
    if (!queue->ops->is_over(queue->owner))
        arm(queue, 0);
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
    queue->watch = queue->bell = -1;
    ev_timer_init(&queue->again, allocation_queue_on_again, 0, 0);
    ev_timer_init(&queue->tell, on_tell, 0, 0);
    ev_timer_init(&queue->limit, allocation_queue_on_limit, 0, 0);
    queue->again.data = queue->tell.data = queue->limit.data = queue->rung.data = queue;
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
    queue->bell = entry_bell(resources_entry(queue->resources));
    if (queue->bell >= 0) {
        ev_io_init(&queue->rung, on_rung, queue->bell, EV_READ);
        ev_io_start(queue->loop, &queue->rung);
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
    queue->wish = queue->ops->fit(queue->owner, NULL, &known, &never);
    queue->scope = make_scope(resources_hosts(queue->resources));
    int rc = 0;
    if (!queue->wish && known) {
        rc = never.kind == ERROR_USAGE ? error_usage(err, "%s", error_text(&never))
                                       : error_set(err, "%s", error_text(&never));
    } else if (queue->spec->wait <= 0) {
        char *who = queue_holders(queue), *delay = describe_delay(queue);
        char *why = mem_copy_text(error_text(err));
        bool told = !*who || strstr(why, "--overlap");
        if (delay)
            rc = error_set(err, "--no-wait: %s%s", delay, QUEUE_SHARES);
        else
            rc = error_set(err, "%s%s%s%s", why, *who ? "; " : "", who, told ? "" : QUEUE_SHARES);
        free(delay);
        free(who);
        free(why);
    }
    error_clear(&never);
    return rc;
}

/* All of the scope at first: what can be spared of that takes longer to find. */
static int stand_in_line(struct allocation_queue *queue, struct error *err)
{
    struct reservation all = {.kept = rset_copy(queue->scope)};
    int rc = tell_reservation(queue, all, err);
    queue->place = rc == 0 ? entry_place(resources_entry(queue->resources)) : 0;
    if (rc == 0 && queue->place == 0)
        rc = make_reservation(queue, err);
    return rc;
}

/* While the line moves a reservation is of no use: the turn comes first. */
static void stay_in_line(struct allocation_queue *queue)
{
    struct error ignored = ERROR_INIT;
    double left = queue->first_at + QUEUE_MOVES - clock_monotonic_seconds();
    if (left <= 0)
        make_reservation(queue, &ignored); /* later ones wait longer where that fails */
    error_clear(&ignored);
    ev_now_update(queue->loop);
    arm(queue, left > 0 ? left : QUEUE_FIRST);
}

int allocation_queue_wait(struct allocation_queue *queue, struct error *err)
{
    if (queue->waits) {
        stay_in_line(queue);
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
    if (stand_in_line(queue, err) < 0) {
        allocation_queue_leave(queue);
        return -1;
    }
    /* something may have become free before it stood in line */
    arm(queue, is_far(queue) ? QUEUE_FAR : 0);
    char *wish = describe_wish(queue);
    queue->ops->waits(queue->owner, wish);
    free(wish);
    if (queue->spec->verbose) {
        char *what = describe(queue), *line = mem_format("in line for %s", what);
        queue->ops->say(queue->owner, line);
        free(line);
        free(what);
    }
    return 0;
}

bool allocation_queue_waits(const struct allocation_queue *queue)
{
    return queue->waits;
}

char *allocation_queue_describe(struct allocation_queue *queue)
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
    if (queue->bell >= 0) {
        ev_io_stop(queue->loop, &queue->rung);
        close(queue->bell);
    }
    rset_free(queue->scope);
    rset_free(queue->wish);
    rset_free(queue->told.kept);
    queue->scope = queue->wish = NULL;
    queue->told = (struct reservation){0};
    queue->state = 0;
    queue->watch = queue->bell = -1;
    queue->waits = false;
}
