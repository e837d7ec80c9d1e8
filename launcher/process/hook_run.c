/* Hooks: the process beside each, what it wrote last, and its end. */
#include "launcher/process/hook_run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/descriptors.h"
#include "base/file.h"
#include "base/mem.h"
#include "launcher/process/descendants.h"
#include "launcher/process/exec.h"
#include "launcher/process/job_signals.h"
#include "launcher/process/process.h"

/* What the process beside a hook has to say of it, and then its output, or why it could not be run. */
struct hook_result {
    int status;
    bool timed_out, broken_off, failed;
    double seconds;
};

/* ---- beside the hook ---- */

static void wake(int number)
{
    (void)number;
}

static int open_high(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    close(fd);
    return high;
}

/* The last bytes are kept. */
static void read_output(int fd, struct buf *output)
{
    char bytes[4096];
    ssize_t n;
    while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
        buf_add(output, bytes, (size_t)n);
        if (output->len > HOOK_OUTPUT)
            buf_consume(output, output->len - HOOK_OUTPUT);
    }
}

static pid_t start_hook(const struct hook *hook, int output, struct error *err)
{
    char *const argv[] = {(char *)(uintptr_t)hook->path, NULL};
    struct exec spawn = {.path = hook->path,
                         .argv = argv,
                         .envp = hook->environment,
                         .directory = hook->directory,
                         .umask = -1,
                         .death_signal = SIGKILL,
                         .group = true};
    struct exec_failure failure;
    spawn.fds[0] = open_high("/dev/null");
    spawn.fds[1] = spawn.fds[2] = output;
    spawn.fds[3] = -1;
    pid_t pid = exec_start(&spawn, &failure);
    if (pid < 0)
        exec_explain(&spawn, &failure, err);
    close(spawn.fds[0]);
    return pid;
}

/* Until it has ended, its time is over, or nobody wants it any more. */
static void watch_hook(pid_t pid, const struct hook *hook, int life, int output,
                       struct hook_result *result, struct buf *text)
{
    double begun = clock_monotonic_seconds();
    struct pollfd ready[] = {{.fd = life, .events = POLLIN}, {.fd = output, .events = POLLIN}};
    sigset_t none;
    sigemptyset(&none);
    for (pid_t gone = 0;;) {
        while (gone != pid && (gone = waitpid(-1, &result->status, WNOHANG)) > 0)
            ;
        result->seconds = clock_monotonic_seconds() - begun;
        double left = hook->timeout - result->seconds;
        if (gone == pid)
            break;
        if (left <= 0 || ready[0].revents) {
            result->timed_out = !ready[0].revents;
            result->broken_off = ready[0].revents;
            free(descendants_end(0, NULL, 0, NULL));
            break;
        }
        struct timespec most = {.tv_sec = left < 1e6 ? (time_t)left : 1000000,
                                .tv_nsec = left < 1e6 ? (long)(fmod(left, 1) * 1e9) : 0};
        ppoll(ready, 2, &most, &none);
        if (ready[1].revents)
            read_output(output, text);
        if (ready[1].revents & POLLHUP)
            ready[1].fd = -1;
        gone = 0;
    }
    read_output(output, text);
}

/* The caller's links are the caller's alone. */
static void keep_only(int *result, int *life)
{
    int high = fcntl(*result, F_DUPFD_CLOEXEC, 10), other = fcntl(*life, F_DUPFD_CLOEXEC, 10);
    *result = dup3(high, 3, O_CLOEXEC);
    *life = dup3(other, 4, O_CLOEXEC);
    descriptors_close(5);
}

static void beside_hook(const struct hook *hook, int result_fd, int life)
{
    struct hook_result result = {0};
    struct error err = ERROR_INIT;
    struct buf text = BUF_INIT;
    int output[2];
    sigset_t chld;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = wake}, NULL);
    prctl(PR_SET_NAME, PROCESS_HOOK);
    job_signals_survive();
    setpgid(0, 0);
    keep_only(&result_fd, &life);
    exec_reserve();
    descendants_adopt();
    if (pipe2(output, O_CLOEXEC) < 0) {
        error_set(&err, "cannot make its pipe: %s", strerror(errno));
    } else {
        int high = fcntl(output[1], F_DUPFD_CLOEXEC, 10);
        close(output[1]);
        pid_t pid = start_hook(hook, high, &err);
        close(high);
        fcntl(output[0], F_SETFL, O_NONBLOCK);
        if (pid > 0)
            watch_hook(pid, hook, life, output[0], &result, &text);
    }
    result.failed = err.text;
    if (err.text)
        buf_add_text(&text, error_text(&err));
    file_write_all(result_fd, (const char *)&result, sizeof(result));
    file_write_all(result_fd, buf_bytes(&text), text.len);
    buf_free(&text);
    error_clear(&err);
}

/* ---- for the caller ---- */

int hook_run_begin(struct hook_run *run, const struct hook *hook, struct error *err)
{
    int result[2], life[2];
    if (pipe2(result, O_CLOEXEC) < 0)
        return error_set(err, "cannot make its pipe: %s", strerror(errno));
    if (pipe2(life, O_CLOEXEC) < 0) {
        error_set(err, "cannot make its pipe: %s", strerror(errno));
        close(result[0]);
        close(result[1]);
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(result[0]);
        close(life[1]);
        beside_hook(hook, result[1], life[0]);
        mem_exit(0);
    }
    int number = errno;
    close(result[1]);
    close(life[0]);
    *run = (struct hook_run){.pid = pid, .result = result[0], .life = life[1]};
    if (pid > 0)
        return 0;
    close(result[0]);
    close(life[1]);
    *run = (struct hook_run){0};
    return error_set(err, "cannot start a process: %s", strerror(number));
}

void hook_run_cancel(struct hook_run *run)
{
    if (run->pid && run->life >= 0)
        close(run->life);
    run->life = -1;
}

void hook_run_finish(struct hook_run *run, struct hook_end *end)
{
    struct hook_result result;
    struct buf text = BUF_INIT;
    *end = (struct hook_end){0};
    fcntl(run->result, F_SETFL, O_NONBLOCK); /* what it left behind has no copy of it */
    bool whole = read(run->result, &result, sizeof(result)) == (ssize_t)sizeof(result);
    if (whole)
        read_output(run->result, &text);
    hook_run_cancel(run);
    close(run->result);
    if (!whole) {
        end->failure = mem_copy_text("the process of tprun beside it was killed");
    } else {
        end->status = result.status;
        end->timed_out = result.timed_out;
        end->broken_off = result.broken_off;
        end->seconds = result.seconds;
    }
    if (whole && result.failed)
        end->failure = buf_take_text(&text);
    else
        end->output = buf_take_text(&text);
    *run = (struct hook_run){0};
}

void hook_end_clear(struct hook_end *end)
{
    free(end->output);
    free(end->failure);
    *end = (struct hook_end){0};
}

int hook_run_wait(const struct hook *hook, struct hook_end *end, struct error *err)
{
    struct hook_run run = {0};
    if (hook_run_begin(&run, hook, err) < 0)
        return -1;
    while (waitpid(run.pid, NULL, 0) < 0 && errno == EINTR)
        ;
    hook_run_finish(&run, end);
    return 0;
}

char *hook_end_fault(const struct hook_end *end)
{
    if (end->failure)
        return mem_copy_text(end->failure);
    if (end->timed_out)
        return mem_format("it did not end within %.3g s: killed, with all that it started",
                          end->seconds);
    if (end->broken_off)
        return mem_copy_text("it was broken off: killed, with all that it started");
    if (WIFSIGNALED(end->status))
        return mem_format("it was killed by signal %d (%s)", WTERMSIG(end->status),
                          strsignal(WTERMSIG(end->status)));
    if (end->status)
        return mem_format("it ended with exit status %d", WEXITSTATUS(end->status));
    return NULL;
}
