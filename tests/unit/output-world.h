/*
 * output-world - an output whose stdout and stderr are what a test says.
 *
 * world_setup/world_teardown are a test's fixture; descriptors 1 and 2 are given back at the end,
 * however the test ended.
 */
#ifndef TESTS_UNIT_OUTPUT_WORLD_H
#define TESTS_UNIT_OUTPUT_WORLD_H

#include "tests/unit/unit.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/stdio/output.h"

struct world {
    struct ev_loop *loop;
    struct output *output;
    struct output_config config;
    int saved[2];
    int sink;  /* the test's own end: what stdout became, or where it can be read */
    char *dir; /* a scratch directory */
    size_t drained;
    int closed[2];
    int failed;
    struct error failure;
    struct error err;
};

static inline void world_drained(void *arg, size_t bytes)
{
    ((struct world *)arg)->drained += bytes;
}

static inline void world_closed(void *arg, enum output_stream stream)
{
    ((struct world *)arg)->closed[stream]++;
}

static inline void world_failed(void *arg, const struct error *err)
{
    struct world *world = arg;
    world->failed++;
    error_set(&world->failure, "%s", error_text(err));
}

static inline const char *world_host(void *arg, uint32_t rank)
{
    (void)arg;
    return rank % 2 ? "odd" : "even";
}

static inline uint32_t world_node(void *arg, uint32_t rank)
{
    (void)arg;
    return rank % 2;
}

static inline int world_setup(void **state)
{
    struct world *world = mem_alloc(sizeof(*world));
    signal(SIGPIPE, SIG_IGN);
    world->loop = ev_loop_new(EVFLAG_AUTO);
    world->sink = -1;
    world->dir = mem_copy_text("/tmp/tprun-test-XXXXXX");
    for (int i = 0; i < 2; i++)
        world->saved[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 100);
    world->config.ntasks = 4;
    world->config.program = "f7";
    world->config.host = world_host;
    world->config.node = world_node;
    *state = world;
    return mkdtemp(world->dir) ? 0 : -1;
}

static inline void world_restore(struct world *world)
{
    for (int i = 0; i < 2; i++)
        dup2(world->saved[i], i + 1);
}

static inline int world_teardown(void **state)
{
    struct world *world = *state;
    output_free(world->output);
    world_restore(world);
    for (int i = 0; i < 2; i++)
        close(world->saved[i]);
    if (world->sink >= 0)
        close(world->sink);
    char *command = mem_format("rm -rf %s", world->dir);
    int rc = system(command);
    free(command);
    free(world->dir);
    error_clear(&world->failure);
    error_clear(&world->err);
    ev_loop_destroy(world->loop);
    free(world);
    return rc;
}

/* stdout and stderr are both fd (closed here), or stdout alone where err is another. */
static inline void world_start(struct world *world, int out, int err)
{
    static const struct output_ops ops = {world_drained, world_closed, world_failed};
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    world->output = output_new(world->loop, &world->config, &ops, world, &world->err);
    if (out != err)
        close(err);
    close(out);
}

/* stdout and stderr are one file in memory, which world_text() reads. */
static inline void world_start_file(struct world *world)
{
    world->sink = memfd_create("output", MFD_CLOEXEC);
    world_start(world, dup(world->sink), dup(world->sink));
}

/* stdout is a pipe, a socket or whatever the other end of which is kept. */
static inline void world_start_end(struct world *world, int mine, int theirs)
{
    world->sink = mine;
    world_start(world, theirs, open("/dev/null", O_WRONLY));
}

static inline char *text_of(int fd)
{
    struct buf all = BUF_INIT;
    char part[4096];
    ssize_t count;
    off_t at = 0;
    while ((count = pread(fd, part, sizeof(part), at)) > 0) {
        buf_add(&all, part, (size_t)count);
        at += count;
    }
    return buf_take_text(&all);
}

static inline char *text_of_path(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = text_of(fd);
    close(fd);
    return text;
}

static inline int world_say(struct world *world, uint32_t rank, enum output_stream stream,
                            const char *text, bool unfinished)
{
    return output_write(world->output, rank, stream, text, strlen(text), unfinished, &world->err);
}

static inline void world_stop(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static inline void world_run(struct ev_loop *loop, double seconds)
{
    ev_timer timer;
    ev_now_update(loop);
    ev_timer_init(&timer, world_stop, seconds, 0);
    ev_timer_start(loop, &timer);
    ev_run(loop, 0);
    ev_timer_stop(loop, &timer);
}

#endif
