/* The time limit of a program, or its R's expiration, and the signal some time before it. */
#include "launcher/program/time_limit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/time.h>

#include "base/duration.h"
#include "base/mem.h"
#include "launcher/spec/field_words.h"

struct time_limit {
    struct ev_loop *loop;
    const struct spec *spec;
    const struct time_limit_ops *ops;
    void *owner;
    bool is_R; /* its expiration comes before --time-limit */
    ev_timer end, warning;
};

/* Until the program is ended; INFINITY: nothing says so. */
static double limit_left(const struct spec *spec, double expiration, bool *is_R)
{
    double seconds = spec->time_limit;
    struct timeval now;
    gettimeofday(&now, NULL);
    *is_R = expiration > 0 && expiration - (double)now.tv_sec < seconds;
    return *is_R ? expiration - (double)now.tv_sec : seconds;
}

int time_limit_check(const struct spec *spec, double expiration, struct error *err)
{
    bool is_R;
    double left = limit_left(spec, expiration, &is_R);
    if (!spec->warn_signal || (!isinf(left) && left > spec->warn_before))
        return 0;
    char *warning = spec_signal_encode(spec->warn_signal, spec->warn_before);
    char *time = duration_encode(left > 0 ? left : 0);
    if (isinf(left))
        error_usage(err, "--signal %s: there is no limit to warn of: --time-limit sets one",
                    warning);
    else if (is_R)
        error_set(err, "--signal %s: R expires in %s already", warning, time);
    else
        error_usage(err, "--signal %s: must be less than --time-limit %s", warning, time);
    free(time);
    free(warning);
    return -1;
}

static void time_limit_on_end(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct time_limit *limit = timer->data;
    char *time = duration_encode(limit->spec->time_limit);
    char *line = limit->is_R ? mem_format("R has expired: its program was ended")
                             : mem_format("time limit of %s reached: the program was ended", time);
    (void)loop;
    (void)events;
    limit->ops->reached(limit->owner, line,
                        limit->is_R ? "R has expired: " : "time limit reached: ");
    free(time);
    free(line);
}

static void time_limit_on_warning(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct time_limit *limit = timer->data;
    char *before = duration_encode(limit->spec->warn_before);
    (void)loop;
    (void)events;
    limit->ops->warn(limit->owner,
                     mem_format("%s in %s: ", limit->is_R ? "R expires" : "time limit", before));
    free(before);
}

static void time_limit_start(struct time_limit *limit, ev_timer *timer, double seconds)
{
    ev_timer_set(timer, seconds > 0 ? seconds : 0, 0);
    ev_timer_start(limit->loop, timer);
}

struct time_limit *time_limit_new(struct ev_loop *loop, const struct spec *spec, double expiration,
                                  const struct time_limit_ops *ops, void *owner)
{
    struct time_limit *limit = mem_alloc(sizeof(*limit));
    *limit = (struct time_limit){.loop = loop, .spec = spec, .ops = ops, .owner = owner};
    double left = limit_left(spec, expiration, &limit->is_R);
    ev_timer_init(&limit->end, time_limit_on_end, 0, 0);
    ev_timer_init(&limit->warning, time_limit_on_warning, 0, 0);
    limit->end.data = limit->warning.data = limit;
    if (isinf(left))
        return limit;
    time_limit_start(limit, &limit->end, left);
    if (spec->warn_signal)
        time_limit_start(limit, &limit->warning, left - spec->warn_before);
    return limit;
}

double time_limit_left(struct time_limit *limit)
{
    return limit && ev_is_active(&limit->end) ? ev_timer_remaining(limit->loop, &limit->end)
                                              : INFINITY;
}

void time_limit_stop_warning(struct time_limit *limit)
{
    if (limit)
        ev_timer_stop(limit->loop, &limit->warning);
}

void time_limit_stop(struct time_limit *limit)
{
    if (!limit)
        return;
    ev_timer_stop(limit->loop, &limit->end);
    ev_timer_stop(limit->loop, &limit->warning);
}

void time_limit_free(struct time_limit *limit)
{
    time_limit_stop(limit);
    free(limit);
}
