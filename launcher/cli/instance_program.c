/* A program inside an instance: how its front end asks, and who answers. */
#include "launcher/cli/instance_program.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/agent/agent.h"
#include "launcher/agent/local_hooks.h"
#include "launcher/cli/remote_command_serve.h"
#include "launcher/control/instance_address.h"
#include "launcher/manager/manager.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/descendants.h"
#include "launcher/protocol/environment_block.h"
#include "launcher/protocol/instance_request.h"
#include "launcher/protocol/program_request.h"
#include "launcher/protocol/remote_command_request.h"
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

/* In one piece: whoever reads would be woken by the first, and wait for the second. */
static int send_frame(int fd, const struct frame *frame)
{
    struct buf whole = BUF_INIT;
    unsigned char header[FRAME_HEADER];
    frame_encode_header(frame, header);
    buf_add(&whole, header, sizeof(header));
    buf_add(&whole, frame->bytes, frame->len);
    int rc = write_all(fd, buf_bytes(&whole), whole.len);
    buf_free(&whole);
    return rc;
}

static int send_program(int fd, const json_t *request, char *const *environment)
{
    struct buf message = BUF_INIT;
    environment_block_write(&message, request, environment);
    struct frame frame = {.type = FRAME_PROGRAM, .bytes = buf_bytes(&message), .len = message.len};
    bool fits = frame.len <= FRAME_MAX;
    int rc = fits ? send_frame(fd, &frame) : -1;
    errno = fits ? EPIPE : EMSGSIZE;
    buf_free(&message);
    return rc;
}

/* It was refused before all of it was sent, and the reason is there to be read. */
static bool request_is_refused(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

/* The instance's manager, which may be on another host, keeps them for the nodes. */
static int send_files(int fd, struct stage_source *source, struct error *err)
{
    char bytes[STAGE_CHUNK];
    uint64_t at = 0;
    ssize_t n;
    while ((n = stage_source_read(source, at, bytes, sizeof(bytes), err)) > 0) {
        struct frame frame = {.type = FRAME_STAGE_DATA, .bytes = bytes, .len = (size_t)n};
        if (send_frame(fd, &frame) < 0)
            return request_is_refused(fd) ? 0
                                          : error_set(err, "the instance of this run has ended");
        at += (uint64_t)n;
    }
    return (int)n;
}

int instance_program_ask(const struct spec *spec, struct error *err)
{
    struct stage_source *source = spec->dry_run ? NULL : stage_source_open(spec, err);
    if (!source && !spec->dry_run)
        return -1;
    int fd = instance_connect(getenv(BATCH_VARIABLE), err);
    int rc = -1;
    if (fd < 0) {
        error_prefix(err, "this run is in an instance (%s is set), which cannot be reached",
                     BATCH_VARIABLE);
    } else {
        struct spec bare = spec_bare(spec);
        json_t *request =
            program_request_to_json(&bare, source ? stage_source_list(source) : NULL, err);
        rc = request ? send_program(fd, request, spec->environment) : -1;
        if (rc < 0 && request && errno == EMSGSIZE)
            error_set(err, "the files of its options are larger than %u MiB together",
                      FRAME_MAX >> 20);
        else if (rc < 0 && request && request_is_refused(fd))
            rc = 1;
        else if (rc < 0 && request)
            error_set(err, "the instance of this run has ended");
        json_decref(request);
    }
    if (rc == 0 && source)
        rc = send_files(fd, source, err);
    stage_source_free(source);
    if (rc >= 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- beside its manager ---- */

/* Not more than that: what follows is the link's. `until`: INFINITY is as long as the other side is there. */
static int read_exactly(int fd, char *bytes, size_t len, double until)
{
    for (size_t done = 0; done < len;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        double left = until - clock_monotonic_seconds();
        int patience = isinf(until) ? -1 : (int)(left * 1000) + 1;
        if (left <= 0 || (poll(&ready, 1, patience) < 0 && errno != EINTR))
            return -1;
        ssize_t n = recv(fd, bytes + done, len - done, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Read one frame into *bytes within this time (s); *frame points into it. False: no whole frame came. */
static bool read_frame(int fd, double patience, struct buf *bytes, struct frame *frame,
                       struct error *err)
{
    double until = clock_monotonic_seconds() + patience;
    int whole = -1;
    buf_clear(bytes);
    if (read_exactly(fd, buf_reserve(bytes, FRAME_HEADER), FRAME_HEADER, until) == 0) {
        buf_added(bytes, FRAME_HEADER);
        whole = frame_decode(bytes, frame, err);
    }
    size_t len = whole == 0 ? frame_length(bytes) : 0;
    if (len && read_exactly(fd, buf_reserve(bytes, len), len, until) == 0) {
        buf_added(bytes, len);
        whole = frame_decode(bytes, frame, err);
    }
    return whole > 0;
}

/* All of them are read, also where they cannot be kept: who sends them reads the answer then. Who is stopped at a
 * terminal goes on later; who has ended closes the connection. */
static struct stage_source *read_staged_files(int fd, const json_t *request, struct error *err)
{
    struct stage_list list = {0};
    if (program_request_stage(request, &list, err) < 0) {
        stage_list_clear(&list);
        return NULL;
    }
    uint64_t left = list.size;
    struct buf bytes = BUF_INIT;
    struct frame frame;
    struct stage_source *source = stage_source_new(&list, err);
    bool good = source;
    stage_list_clear(&list);
    while (left) {
        if (!read_frame(fd, INFINITY, &bytes, &frame, err) || frame.type != FRAME_STAGE_DATA ||
            !frame.len || frame.len > left) {
            good = false;
            if (!err->text)
                error_set(err, "the files to stage did not come whole");
            break;
        }
        good = good && stage_source_add(source, frame.bytes, frame.len, err) == 0;
        left -= frame.len;
    }
    buf_free(&bytes);
    if (good)
        return source;
    stage_source_free(source);
    return NULL;
}

/* The first frame, with its JSON as a new reference; NULL with a sentence. The environment is that
 * of a program; NULL: it is a command. */
static json_t *read_request(int fd, char ***environment, struct error *err)
{
    struct buf bytes = BUF_INIT;
    struct frame frame = {0};
    json_t *value = NULL;
    bool whole = read_frame(fd, ASK_TIME, &bytes, &frame, err);
    if (whole && frame.type == FRAME_PROGRAM)
        value = environment_block_read(&frame, environment, err);
    else if (whole && frame.type == FRAME_COMMAND)
        value = frame_json(&frame, err);
    if (!value && !err->text)
        error_set(err, "what to run was not understood");
    buf_free(&bytes);
    return value;
}

static int refuse_request(int fd, struct error *err)
{
    json_t *value = json_pack("{s:i, s:o}", "status", 1, "messages", frame_text(error_text(err)));
    char *text = json_dumps(value, JSON_COMPACT);
    send_frame(fd, &(struct frame){.type = FRAME_END, .bytes = text, .len = strlen(text)});
    json_decref(value);
    free(text);
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
        free(descendants_end(hooks_grace(scratch, AGENT_LOST_GRACE), NULL, 0, cgroup));
    local_hooks_run_owed(scratch);
    scratch_directory_remove(scratch);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int serve_command(int caller, const json_t *value)
{
    struct error err = ERROR_INIT;
    struct remote_command_request request;
    int rc = remote_command_request_take(&request, value, &err);
    if (rc == 0)
        rc = remote_command_serve(caller, &request, &err);
    remote_command_request_clear(&request);
    return rc == 0 ? 0 : refuse_request(caller, &err);
}

/* Takes the environment. */
static int run_served_program(struct manager_config *config, const json_t *value,
                              char **environment)
{
    struct error err = ERROR_INIT;
    struct spec *spec = config->spec = program_request_take(value, &err);
    if (spec)
        spec_take_environment(spec, environment);
    else
        string_list_free(environment);
    if (!spec || !(config->stage = read_staged_files(config->fd, value, &err))) {
        spec_free(spec);
        return refuse_request(config->fd, &err);
    }
    if (spec->directory && chdir(spec->directory) < 0 && chdir("/") < 0) {
        error_set(&err, "/: cannot enter it: %s", strerror(errno));
        return refuse_request(config->fd, &err);
    }
    return manager_run(config);
}

/* All that is read is read here: the guard waits, and the less it has touched by then, the less it costs. */
static int serve_request(struct manager_config *config)
{
    struct error err = ERROR_INIT;
    char **environment = NULL;
    json_t *value = read_request(config->fd, &environment, &err);
    if (!value)
        return refuse_request(config->fd, &err);
    if (environment)
        return run_served_program(config, value, environment);
    close(config->broker);
    return serve_command(config->fd, value);
}

int instance_program_serve(int frontend, int broker, struct scratch *scratch,
                           int (*program)(int frontend, int broker, struct scratch *scratch))
{
    struct error err = ERROR_INIT;
    struct manager_config config = {.fd = frontend,
                                    .cgroup = cgroup_new(),
                                    .scratch = scratch_directory_new(scratch),
                                    .broker = broker,
                                    .instance = scratch,
                                    .program = program};
    pid_t manager = fork();
    if (manager == 0)
        mem_exit(serve_request(&config));
    if (manager < 0) {
        error_set(&err, "cannot start the manager of this run: %s", strerror(errno));
        return refuse_request(frontend, &err);
    }
    close(frontend);
    close(broker);
    return guard_manager(manager, config.cgroup, config.scratch);
}
