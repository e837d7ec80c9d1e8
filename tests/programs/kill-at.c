/*
 * kill-at - preloaded, it has the processes of a run of tprun count, all together, the events that they append to a
 * log and the messages that they write to each other and to tasks. Right behind number $KILL_AT the process
 * $KILL_WHO is killed: frontend, foreground, manager, agent or guard; what is written while there is none such does
 * not count. Built as a shared object.
 *
 * $KILL_COUNT is a file of 4096 zeros that they share. Once one is killed the file begins with a line that says where.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FRONTEND, FOREGROUND, MANAGER, AGENT, GUARD, ROLES };
static const char *const names[ROLES] = {"frontend", "foreground", "manager", "agent", "guard"};

static struct shared {
    char where[256];
    atomic_int count;
    atomic_int pids[ROLES]; /* 0: there is none yet */
} * shared;
static int victim, at;

/* ---- processes ---- */

/* The state, the parent and the name (of 32 bytes) of a process; false where it has ended. */
static int look(int pid, char *state, int *parent, char *name)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    text[len < 0 ? 0 : len] = '\0';
    const char *begin = strchr(text, '('), *end = strrchr(text, ')');
    if (!begin || !end || sscanf(end, ") %c %d", state, parent) != 2)
        return 0;
    snprintf(name, 32, "%.*s", (int)(end - begin - 1), begin + 1);
    return *state != 'Z' && *state != 'X';
}

static int lives(int pid)
{
    char state, name[32];
    int parent;
    return look(pid, &state, &parent, name);
}

/* Processes say what they are by their names. */
static void enter(const char *name)
{
    char state, above[32];
    int parent = getppid(), next;
    if (!look(parent, &state, &next, above))
        parent = 0;
    if (strcmp(name, "tprun-manager") == 0) {
        shared->pids[MANAGER] = getpid();
        shared->pids[FRONTEND] = parent;
        if (parent && look(next, &state, &parent, above) && strcmp(above, "tprun") == 0)
            shared->pids[FOREGROUND] = next;
    } else if (strcmp(name, "tpagent") == 0) {
        shared->pids[AGENT] = getpid();
        if (parent && strcmp(above, "tpagent") == 0)
            shared->pids[GUARD] = parent;
    }
}

int prctl(int option, ...)
{
    unsigned long a[4];
    va_list args;
    va_start(args, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(args, unsigned long);
    va_end(args);
    int rc = (int)syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
    if (rc == 0 && option == PR_SET_NAME && shared)
        enter((const char *)a[0]);
    return rc;
}

/* ---- what counts ---- */

static int ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), most = strlen(end);
    return len >= most && strcmp(text + len - most, end) == 0;
}

/* NULL: it does not count. */
static const char *kind_of(int fd)
{
    struct stat st;
    char link[64], path[4096];
    if (fstat(fd, &st) < 0)
        return NULL;
    if (S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode))
        return "message";
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = S_ISREG(st.st_mode) ? readlink(link, path, sizeof(path) - 1) : -1;
    path[len < 0 ? 0 : len] = '\0';
    return ends_with(path, "/events") || ends_with(path, "/.events.new") ? "event"
           : ends_with(path, "/completed")                               ? "context"
                                                                         : NULL;
}

static ssize_t counted(ssize_t rc, int fd)
{
    int why = errno;
    const char *kind = shared && rc > 0 ? kind_of(fd) : NULL;
    int pid = kind ? shared->pids[victim] : 0;
    if (pid && lives(pid) && atomic_fetch_add(&shared->count, 1) + 1 == at) {
        char state, name[32] = "?";
        int parent;
        look(getpid(), &state, &parent, name);
        snprintf(shared->where, sizeof(shared->where), "behind %s %d, which %s wrote\n", kind, at,
                 name);
        kill(pid, SIGKILL);
        while (lives(pid))
            usleep(100);
    }
    errno = why;
    return rc;
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    return counted(syscall(SYS_write, fd, bytes, len), fd);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset)
{
    return counted(syscall(SYS_pwrite64, fd, bytes, len, offset), fd);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off_t offset)
{
    return counted(syscall(SYS_pwrite64, fd, bytes, len, offset), fd);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return counted(syscall(SYS_writev, fd, parts, count), fd);
}

ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    return counted(syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0), fd);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return counted(syscall(SYS_sendmsg, fd, message, flags), fd);
}

/* ---- the beginning ---- */

__attribute__((constructor)) static void begin(void)
{
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
    const char *file = getenv("KILL_COUNT"), *who = getenv("KILL_WHO"), *number = getenv("KILL_AT");
    path[len < 0 ? 0 : len] = '\0';
    if (!file || !who || !number || (!ends_with(path, "/tprun") && !ends_with(path, "/tpagent")))
        return;
    while (victim < ROLES && strcmp(names[victim], who) != 0)
        victim++;
    at = atoi(number);
    int fd = victim < ROLES ? open(file, O_RDWR | O_CLOEXEC) : -1;
    void *mapped =
        fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        abort();
    close(fd);
    shared = mapped;
}
