/* Starts a command, reads what it prints within its time, and ends it when that is over. */
#include "launcher/process/command_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "launcher/process/reap.h"

#define CAPTURE_CHUNK 65536

extern char **environ;

/* In a process group of its own, so that all of it can be killed. 0 or an errno. */
static int capture_start(const char *const *argv, int out, int complaint, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, complaint, 2);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    int rc = posix_spawnp(pid, argv[0], &files, &attributes, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return rc;
}

/* To the end of what is written. 0, or -1 with a sentence. */
static int capture_read(int fd, double deadline, size_t max, struct buf *out, struct error *err)
{
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    size_t room = max;
    for (;;) {
        double left = deadline - clock_monotonic_seconds();
        int ready = poll(&poller, 1, left > 0 ? (int)(left * 1000) + 1 : 0);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0)
            return error_set(err, "it did not answer in time");
        ssize_t got = ready < 0 ? -1 : read(fd, buf_reserve(out, CAPTURE_CHUNK), CAPTURE_CHUNK);
        if (got <= 0)
            return got == 0 ? 0 : error_set(err, "it cannot be read: %s", strerror(errno));
        if ((size_t)got > room)
            return error_set(err, "it prints more than %zu MiB", max >> 20);
        room -= (size_t)got;
        buf_added(out, (size_t)got);
    }
}

static int capture_finish(pid_t pid, int fd, int complaint, double seconds, size_t max,
                          struct buf *out, struct error *err)
{
    double deadline = clock_monotonic_seconds() + seconds;
    int status = 0;
    int rc = capture_read(fd, deadline, max, out, err);
    /* It may go on without output. */
    bool ended = rc == 0 && reap(pid, deadline - clock_monotonic_seconds(), &status);
    if (!ended) {
        if (rc == 0)
            error_set(err, "it did not end in time");
        kill(-pid, SIGKILL);
        reap(pid, REAP_KILLED, NULL);
        return -1;
    }
    if (!status)
        return 0;
    if (WIFSIGNALED(status))
        return error_set(err, "it was killed by signal %d", WTERMSIG(status));
    /* What it says itself is the best reason. */
    char line[200];
    ssize_t len = pread(complaint, line, sizeof(line) - 1, 0);
    line[len > 0 ? len : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return error_set(err, "it ended with status %d%s%s", WEXITSTATUS(status), line[0] ? ": " : "",
                     line);
}

int command_output_output(const char *const *argv, double seconds, size_t max, struct buf *out,
                          struct error *err)
{
    int ends[2], rc;
    pid_t pid;
    int complaint = memfd_create("complaint", MFD_CLOEXEC);
    if (complaint < 0 || pipe2(ends, O_CLOEXEC) < 0) {
        rc = error_set(err, "it cannot be run: %s", strerror(errno));
    } else {
        int number = capture_start(argv, ends[1], complaint, &pid);
        close(ends[1]);
        rc = number ? error_set(err, "it cannot be run: %s", strerror(number))
                    : capture_finish(pid, ends[0], complaint, seconds, max, out, err);
        close(ends[0]);
    }
    if (complaint >= 0)
        close(complaint);
    return rc < 0 ? error_prefix(err, "%s", argv[0]) : 0;
}
