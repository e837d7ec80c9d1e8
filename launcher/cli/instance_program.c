/* A program inside an instance: how its front end asks, and who answers. */
#include "launcher/cli/instance_program.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "launcher/agent/agent.h"
#include "launcher/cli/instance_command.h"
#include "launcher/control/instance_address.h"
#include "launcher/manager/manager.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/descendants.h"
#include "launcher/protocol/command_request.h"
#include "launcher/protocol/instance_request.h"
#include "launcher/protocol/program_request.h"
#include "launcher/tree/frame.h"

#define ASK_TIME 30.0 /* s for the other side to say what to run */

/* ---- in the instance ---- */

bool instance_program_is_inside(void)
{
    const char *name = getenv(BATCH_VARIABLE);
    return name && *name;
}

static int write_all(int fd, const void *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = send(fd, (const char *)bytes + done, len - done, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int send_json(int fd, enum frame_type type, json_t *value)
{
    unsigned char header[FRAME_HEADER];
    char *text = json_dumps(value, JSON_COMPACT);
    struct frame frame = {.type = type, .bytes = text, .len = text ? strlen(text) : 0};
    bool fits = text && frame.len <= FRAME_MAX;
    frame_encode_header(&frame, header);
    int rc =
        fits && write_all(fd, header, sizeof(header)) == 0 ? write_all(fd, text, frame.len) : -1;
    errno = fits ? EPIPE : EMSGSIZE;
    json_decref(value);
    free(text);
    return rc;
}

int instance_program_ask(const struct spec *spec, struct error *err)
{
    int fd = instance_connect(getenv(BATCH_VARIABLE), err);
    if (fd < 0)
        return error_prefix(err, "this run is in an instance (%s is set), which cannot be reached",
                            BATCH_VARIABLE);
    json_t *request = program_request_to_json(spec, err);
    if (request && send_json(fd, FRAME_PROGRAM, request) == 0)
        return fd;
    if (request && errno == EMSGSIZE)
        error_set(err, "the files of its options are larger than %u MiB together", FRAME_MAX >> 20);
    else if (request)
        error_set(err, "the instance of this run has ended");
    close(fd);
    return -1;
}

/* ---- beside its manager ---- */

/* Not more than that: what follows is the link's. */
static int read_exactly(int fd, char *bytes, size_t len, double until)
{
    for (size_t done = 0; done < len;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        double left = until - clock_monotonic_seconds();
        if (left <= 0 || (poll(&ready, 1, (int)(left * 1000) + 1) < 0 && errno != EINTR))
            return -1;
        ssize_t n = recv(fd, bytes + done, len - done, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* The first frame, with its JSON as a new reference; NULL with a sentence. */
static json_t *read_request(int fd, enum frame_type *type, struct error *err)
{
    struct buf bytes = BUF_INIT;
    struct frame frame = {0};
    json_t *value = NULL;
    double until = clock_monotonic_seconds() + ASK_TIME;
    int whole = -1;
    if (read_exactly(fd, buf_reserve(&bytes, FRAME_HEADER), FRAME_HEADER, until) == 0) {
        buf_added(&bytes, FRAME_HEADER);
        whole = frame_decode(&bytes, &frame, err);
    }
    size_t len = whole == 0 ? frame_length(&bytes) : 0;
    if (len && read_exactly(fd, buf_reserve(&bytes, len), len, until) == 0) {
        buf_added(&bytes, len);
        whole = frame_decode(&bytes, &frame, err);
    }
    *type = frame.type;
    if (whole > 0 && (frame.type == FRAME_PROGRAM || frame.type == FRAME_COMMAND))
        value = frame_json(&frame, err);
    if (!value && !err->text)
        error_set(err, "what to run was not understood");
    buf_free(&bytes);
    return value;
}

static int refuse_request(int fd, struct error *err)
{
    send_json(fd, FRAME_END,
              json_pack("{s:i, s:o}", "status", 1, "messages", frame_text(error_text(err))));
    error_clear(err);
    return 1;
}

/* Should the manager be killed, what it leaves on this machine ends with it. */
static int guard_manager(pid_t manager, struct cgroup *cgroup, struct scratch *scratch)
{
    int status = 0;
    descendants_adopt();
    for (;;) {
        pid_t pid = waitpid(-1, &status, 0);
        if (pid == manager || (pid < 0 && errno == ECHILD))
            break;
    }
    if (!WIFEXITED(status))
        free(descendants_end(AGENT_LOST_GRACE, NULL, 0, cgroup));
    scratch_directory_remove(scratch);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int serve_command(int caller, const json_t *value)
{
    struct error err = ERROR_INIT;
    struct command_request request;
    int rc = command_request_take(&request, value, &err);
    if (rc == 0)
        rc = instance_command_run(caller, &request, &err);
    command_request_clear(&request);
    return rc == 0 ? 0 : refuse_request(caller, &err);
}

static int run_served_program(int frontend, int broker, const json_t *value,
                              int (*program)(int frontend, int broker))
{
    struct error err = ERROR_INIT;
    struct spec *spec = program_request_take(value, &err);
    if (!spec)
        return refuse_request(frontend, &err);
    if (spec->directory && chdir(spec->directory) < 0 && chdir("/") < 0) {
        error_set(&err, "/: cannot enter it: %s", strerror(errno));
        return refuse_request(frontend, &err);
    }
    struct manager_config config = {.spec = spec,
                                    .fd = frontend,
                                    .cgroup = cgroup_new(),
                                    .scratch = scratch_directory_new(),
                                    .broker = broker,
                                    .program = program};
    pid_t manager = fork();
    if (manager == 0)
        mem_exit(manager_run(&config));
    if (manager < 0) {
        error_set(&err, "cannot start the manager of this run: %s", strerror(errno));
        return refuse_request(frontend, &err);
    }
    close(frontend);
    close(broker);
    return guard_manager(manager, config.cgroup, config.scratch);
}

int instance_program_serve(int frontend, int broker, int (*program)(int frontend, int broker))
{
    struct error err = ERROR_INIT;
    enum frame_type type;
    json_t *value = read_request(frontend, &type, &err);
    if (!value)
        return refuse_request(frontend, &err);
    if (type == FRAME_PROGRAM)
        return run_served_program(frontend, broker, value, program);
    close(broker);
    return serve_command(frontend, value);
}
