/* A program of tasks, each with a connection to a server in this process. */
#ifndef TESTS_UNIT_LIBPMI_PROGRAM_H
#define TESTS_UNIT_LIBPMI_PROGRAM_H

#include "tests/unit/libpmi-task.h"

#include <poll.h>
#include <stdbool.h>

#include "pmi-server/pmi/dialects.h"
#include "pmi-server/pmi/server.h"

#define MAX_TASKS 8

struct task {
    pid_t pid;
    int fd;
    struct pmi_client *client;
};

static bool program_drip; /* replies go out byte by byte */

struct program {
    struct kvs *kvs;
    struct pmi_server *server;
    struct task tasks[MAX_TASKS];
    int size;
    int aborted; /* exit code of an abort, or -1 */
    bool refused;
};

static inline void on_exchange(void *arg, uint64_t id, uint32_t nnodes, const void *bytes,
                               size_t len)
{
    struct program *program = arg;
    (void)nnodes;
    assert_int_equal(pmi_server_exchanged(program->server, id, bytes, len, NULL), 0);
}

static inline void on_abort(void *arg, struct pmi_client *client, int exitcode, const char *message)
{
    (void)client, (void)message;
    ((struct program *)arg)->aborted = exitcode;
}

static inline void on_output(void *arg, struct pmi_client *client)
{
    struct task *task = pmi_connection_data(client);
    struct buf *output = pmi_connection_output(client);
    (void)arg;
    while (output->len) {
        size_t piece = program_drip ? 1 : output->len;
        ssize_t sent = send(task->fd, buf_bytes(output), piece, MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        buf_consume(output, (size_t)sent);
    }
    buf_clear(output);
}

static const struct pmi_ops ops = {.exchange = on_exchange, .abort = on_abort, .output = on_output};

static inline void task_start(struct program *program, int rank, int (*run)(void))
{
    struct task *task = &program->tasks[rank];
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    task->client = pmi_connection_new(program->server, (uint32_t)rank, (uint32_t)rank * 10, task);
    task->pid = task_fork(run, fds[1], rank, program->size);
    close(fds[1]);
    task->fd = fds[0];
}

static inline void task_read(struct program *program, struct task *task)
{
    char bytes[700]; /* cuts requests in odd places */
    struct error err = ERROR_INIT;
    ssize_t got = read(task->fd, bytes, sizeof(bytes));
    if (got > 0 && pmi_connection_input(task->client, bytes, (size_t)got, &err) < 0) {
        fprintf(stderr, "%s\n", error_text(&err));
        program->refused = true;
        got = 0;
    }
    if (got <= 0) {
        close(task->fd);
        task->fd = -1;
    }
    error_clear(&err);
}

static inline void program_serve(struct program *program)
{
    for (;;) {
        struct pollfd pollers[MAX_TASKS];
        int open = 0;
        for (int i = 0; i < program->size; i++) {
            pollers[i] = (struct pollfd){.fd = program->tasks[i].fd, .events = POLLIN};
            open += program->tasks[i].fd >= 0;
        }
        if (!open)
            return;
        poll(pollers, (nfds_t)program->size, -1);
        for (int i = 0; i < program->size; i++)
            if (pollers[i].revents)
                task_read(program, &program->tasks[i]);
    }
}

/* Run `size` tasks, each of which must end with `status`. The exit code of an abort, or -1. */
static inline int run_program(int size, const char *mapping, int (*run)(void), int status)
{
    struct program program = {.size = size, .aborted = -1};
    program.kvs = kvs_new("kvs_test");
    if (mapping)
        kvs_preset(program.kvs, "PMI_process_mapping", mapping);
    struct pmi_config config = {.size = (uint32_t)size,
                                .universe_size = 64,
                                .nlocal = (uint32_t)size,
                                .kvs = program.kvs,
                                .dialects = dialects_of(true, true)};
    program.server = pmi_server_new(&config, &ops, &program);
    for (int i = 0; i < size; i++)
        task_start(&program, i, run);
    program_serve(&program);
    for (int i = 0; i < size; i++)
        assert_int_equal(status_of(program.tasks[i].pid), status);
    assert_false(program.refused);
    pmi_server_free(program.server);
    kvs_free(program.kvs);
    return program.aborted;
}

#endif
