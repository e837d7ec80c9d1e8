/* What a child does between clone and exec, and what its parent does before and after, for agents
 * and for whoever starts agents. */
#include "launcher/process/exec.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/mempolicy.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/mem.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/clone.h"
#include "launcher/process/job_signals.h"

#if defined(__SANITIZE_ADDRESS__)
#define SPAWN_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SPAWN_ASAN
#endif
#endif
#ifdef SPAWN_ASAN
#include <sanitizer/asan_interface.h>
#endif

#define SPAWN_RESERVED 10
#define SPAWN_STACK 65536

void exec_reserve(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    } while (fd >= 0 && fd < SPAWN_RESERVED - 1);
    if (fd >= SPAWN_RESERVED)
        close(fd);
}

/* ---- in the child: system calls only ---- */

/* Not _exit(): AddressSanitizer clears the stack at each call that does not return, and this stack
 * is none that it knows. */
static void child_leave(void)
{
    syscall(SYS_exit_group, 127);
}

static void child_fail(struct exec_process *child, enum exec_step step, int number)
{
    child->failure = (struct exec_failure){step, number};
    child_leave();
}

static void child_signals(struct exec_process *child)
{
    /* exec resets handlers, but ignored signals stay ignored. These two are ignored by this program itself. */
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    if (child->spawn->deaf)
        job_signals_ignore();
    if (child->spawn->death_signal) {
        prctl(PR_SET_PDEATHSIG, child->spawn->death_signal);
        if (getppid() != child->parent)
            child_leave();
    }
    if (child->spawn->group)
        setsid();
}

static void child_descriptors(struct exec_process *child)
{
    for (int i = 0; i < EXEC_NFDS; i++) {
        int fd = child->spawn->fds[i];
        if (fd < 0)
            close(i);
        else if (fd == i)
            fcntl(i, F_SETFD, 0);
        else if (dup2(fd, i) < 0)
            child_fail(child, EXEC_DESCRIPTORS, errno);
    }
    if (child->spawn->terminal && ioctl(0, TIOCSCTTY, 0) < 0)
        child_fail(child, EXEC_TERMINAL, errno);
    /* A library's thread may have opened something and not marked it yet. */
    descriptors_close_on_exec(EXEC_NFDS);
}

static void child_bind(struct exec_process *child)
{
    const struct exec *spawn = child->spawn;
    if (!spawn->cpus_size)
        return;
    if (spawn->cpus && sched_setaffinity(0, spawn->cpus_size, spawn->cpus) < 0)
        child_fail(child, EXEC_BIND, errno);
    if (sched_getaffinity(0, spawn->cpus_size, child->check) < 0)
        child_fail(child, EXEC_CHECK, errno);
    if (spawn->cpus && !CPU_EQUAL_S(spawn->cpus_size, spawn->cpus, child->check))
        child_fail(child, EXEC_CHECK, EINVAL);
}

/* The kernel takes one bit less than it is told of. */
#define MEMORY_BITS (EXEC_MAX_MEMORIES + 1ul)

static void child_bind_memory(struct exec_process *child)
{
    const struct exec_memory *memory = child->spawn->memory;
    struct exec_memory check = {{0}};
    int mode = -1;
    if (!memory)
        return;
    if (syscall(SYS_set_mempolicy, MPOL_BIND, memory->bits, MEMORY_BITS) < 0)
        child_fail(child, EXEC_MEMORY, errno);
    if (syscall(SYS_get_mempolicy, &mode, check.bits, MEMORY_BITS, NULL, 0ul) < 0)
        child_fail(child, EXEC_MEMORY_CHECK, errno);
    if (mode != MPOL_BIND || memcmp(&check, memory, sizeof(check)) != 0)
        child_fail(child, EXEC_MEMORY_CHECK, EINVAL);
}

/* A shell would read the first bytes of an ELF file, or of another binary file, as commands. */
static bool child_has_text(const struct exec *spawn)
{
    char head[80];
    int fd = open(spawn->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, head, sizeof(head));
    size_t len = n > 0 ? (size_t)n : 0;
    const char *end = memchr(head, '\n', len);
    close(fd);
    if (len >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
        return false;
    return !memchr(head, '\0', end ? (size_t)(end - head) : len);
}

static int child_run(void *arg)
{
    struct exec_process *child = arg;
    const struct exec *spawn = child->spawn;
    child_signals(child);
    child_descriptors(child);
    if (spawn->umask >= 0)
        umask((mode_t)spawn->umask);
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (spawn->limits && spawn->limits[i].set &&
            setrlimit((__rlimit_resource_t)i, &spawn->limits[i].value) < 0)
            child_fail(child, EXEC_LIMITS, errno);
    child_bind(child);
    child_bind_memory(child);
    if (spawn->directory && chdir(spawn->directory) < 0)
        child_fail(child, EXEC_DIRECTORY, errno);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(spawn->path, spawn->argv, spawn->envp);
    int number = errno;
    /* A file without a "#!" line that the kernel does not know is a shell script (POSIX execvp). */
    if (number == ENOEXEC && child_has_text(spawn)) {
        execve("/bin/sh", child->script, spawn->envp);
        number = errno;
    }
    child_fail(child, EXEC_EXEC, number);
    return 127;
}

/* ---- in the parent ---- */

void exec_limit(struct exec_limit *limit, int resource, rlim_t soft)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
        return;
    if (soft > now.rlim_max)
        soft = now.rlim_max;
    limit->set = soft != now.rlim_cur;
    limit->value = (struct rlimit){soft, now.rlim_max};
}

enum { MEMORY_WORD = 8 * sizeof(unsigned long) };

void exec_memory_add(struct exec_memory *memory, uint32_t node)
{
    memory->bits[node / MEMORY_WORD] |= 1ul << node % MEMORY_WORD;
}

bool exec_memory_has(const struct exec_memory *memory, uint32_t node)
{
    return memory->bits[node / MEMORY_WORD] >> node % MEMORY_WORD & 1;
}

int exec_memory_allowed(struct exec_memory *memory)
{
    *memory = (struct exec_memory){{0}};
    return (int)syscall(SYS_get_mempolicy, NULL, memory->bits, MEMORY_BITS, NULL,
                        (unsigned long)MPOL_F_MEMS_ALLOWED);
}

static char **script_argv(const struct exec *spawn)
{
    size_t count = 0;
    while (spawn->argv[count])
        count++;
    char **script = mem_array(count + 3, sizeof(*script));
    script[0] = (char *)(uintptr_t) "/bin/sh";
    script[1] = (char *)(uintptr_t)spawn->path;
    for (size_t i = 1; i < count; i++)
        script[i + 1] = spawn->argv[i];
    return script;
}

/* The child before left this stack by exec, which AddressSanitizer cannot see. */
static void unpoison(void *stack)
{
#ifdef SPAWN_ASAN
    __asan_unpoison_memory_region(stack, SPAWN_STACK);
#else
    (void)stack;
#endif
}

void exec_begin(struct exec_process *child, const struct exec *spawn)
{
    sigset_t all, before;
    if (!child->stack)
        child->stack = mem_resize(NULL, SPAWN_STACK, 1); /* few of its pages are ever touched */
    unpoison(child->stack);
    child->spawn = spawn;
    child->failure = (struct exec_failure){EXEC_OK, 0};
    child->parent = getpid();
    if (child->check_size < spawn->cpus_size) {
        child->check_size = spawn->cpus_size;
        child->check = mem_resize(child->check, child->check_size, 1);
    }
    child->script = script_argv(spawn);
    child->shares = 1;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* no handler of ours runs in the child */
    child->pid = clone_start(&(struct clone){child_run, child, child->stack, SPAWN_STACK,
                                             &child->shares, cgroup_dir(spawn->cgroup)});
    if (child->pid < 0) {
        int number = -child->pid;
        bool cgroup = cgroup_dir(spawn->cgroup) >= 0 && number != EAGAIN && number != ENOMEM;
        child->failure = (struct exec_failure){cgroup ? EXEC_CGROUP : EXEC_FORK, number};
        child->shares = 0;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* At exec and at exit the kernel clears `shares` and wakes whoever waits for it. */
bool exec_wait(struct exec_process *child, double seconds)
{
    struct timespec limit = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (__atomic_load_n(&child->shares, __ATOMIC_ACQUIRE))
        if (syscall(SYS_futex, &child->shares, FUTEX_WAIT, 1, &limit, NULL, 0) < 0 &&
            errno == ETIMEDOUT)
            return !__atomic_load_n(&child->shares, __ATOMIC_ACQUIRE);
    return true;
}

pid_t exec_finish(struct exec_process *child)
{
    while (!exec_wait(child, 60))
        ;
    free(child->script);
    child->script = NULL;
    return child->failure.step == EXEC_OK ? child->pid : -1;
}

const cpu_set_t *exec_cpus(const struct exec_process *child)
{
    return child->spawn->cpus_size ? child->check : NULL;
}

void exec_process_free(struct exec_process *child)
{
    free(child->check);
    child->check = NULL;
    child->check_size = 0;
    free(child->stack);
    child->stack = NULL;
}

pid_t exec_start(const struct exec *spawn, struct exec_failure *failure)
{
    struct exec_process child = {0};
    exec_begin(&child, spawn);
    pid_t pid = exec_finish(&child);
    *failure = child.failure;
    exec_process_free(&child);
    return pid;
}

int exec_explain(const struct exec *spawn, const struct exec_failure *failure, struct error *err)
{
    const char *why = strerror(failure->number);
    switch (failure->step) {
    case EXEC_DIRECTORY:
        return error_set(err, "cannot enter directory %s: %s", spawn->directory, why);
    case EXEC_EXEC:
        return error_set(err, "cannot run %s: %s", spawn->path, why);
    case EXEC_TERMINAL:
        return error_set(err, "cannot give %s its terminal (--pty): %s", spawn->path, why);
    case EXEC_LIMITS:
        return error_set(err, "cannot set the resource limits of %s: %s", spawn->path, why);
    case EXEC_BIND:
        return error_set(err, "cannot bind %s: %s", spawn->path, why);
    case EXEC_CHECK:
        return error_set(err, "%s was bound by the kernel to other processors than asked for",
                         spawn->path);
    case EXEC_MEMORY:
        return error_set(err, "cannot bind the memory of %s: %s; leave --mem-bind out", spawn->path,
                         why);
    case EXEC_MEMORY_CHECK:
        return error_set(err,
                         "the memory of %s was bound by the kernel to other NUMA nodes than asked "
                         "for; leave --mem-bind out",
                         spawn->path);
    default:
        return error_set(err, "cannot start %s: %s%s", spawn->path, why,
                         failure->number == EAGAIN ? " (\"ulimit -u\" limits processes)" : "");
    }
}

/* 0, EACCES for something that is there and cannot be run, ENOENT */
static int exec_try_path(const char *path, const char *directory)
{
    struct stat info;
    char *whole =
        path[0] == '/' || !directory ? mem_copy_text(path) : mem_format("%s/%s", directory, path);
    int result = stat(whole, &info) < 0 ? (errno == EACCES ? EACCES : ENOENT)
                 : !S_ISREG(info.st_mode) || access(whole, X_OK) < 0 ? EACCES
                                                                     : 0;
    free(whole);
    return result;
}

char *exec_find(const char *name, const char *search, const char *directory)
{
    int result = ENOENT;
    if (strchr(name, '/')) {
        result = exec_try_path(name, directory);
        errno = result;
        return result ? NULL : mem_copy_text(name);
    }
    if (!search)
        search = "/bin:/usr/bin";
    for (const char *at = search; *name; at += strcspn(at, ":") + 1) {
        size_t len = strcspn(at, ":");
        char *path = len ? mem_format("%.*s/%s", (int)len, at, name) : mem_format("./%s", name);
        int found = exec_try_path(path, directory);
        if (!found)
            return path;
        if (found == EACCES)
            result = EACCES;
        free(path);
        if (!at[len])
            break;
    }
    errno = result;
    return NULL;
}
