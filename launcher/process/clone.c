/* clone3(2) for the cgroup of a child, clone(2) without one, for exec.c. */
#include "launcher/process/clone.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_ALIGN 16

#if defined(CLONE_INTO_CGROUP) && defined(SYS_clone3) && defined(__x86_64__)
#define CLONE_HAS_3

/* The child begins after the first system call with an empty stack and 0 in rax; it never comes
 * back here. All registers but rax, rcx and r11 are as before the call, in both. */
static long clone_call(struct clone_args *args, int (*run)(void *), void *arg)
{
    register int (*child_run)(void *) __asm__("r8") = run;
    register void *child_arg __asm__("r9") = arg;
    long result;
    __asm__ volatile("syscall\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xorl %%ebp, %%ebp\n\t" /* the outermost frame */
                     "movq %%r9, %%rdi\n\t"
                     "callq *%%r8\n\t"
                     "movl %%eax, %%edi\n\t"
                     "movl %[leave], %%eax\n\t"
                     "syscall\n\t"
                     "ud2\n"
                     "1:"
                     : "=a"(result)
                     : "a"((long)SYS_clone3), "D"(args), "S"(sizeof(*args)), "r"(child_run),
                       "r"(child_arg), [leave] "i"(SYS_exit_group)
                     : "rcx", "r11", "cc", "memory");
    return result;
}

#elif defined(CLONE_INTO_CGROUP) && defined(SYS_clone3) && defined(__aarch64__)
#define CLONE_HAS_3

/* The same: 0 comes in x0, all other registers are as before the call. */
static long clone_call(struct clone_args *args, int (*run)(void *), void *arg)
{
    register long result __asm__("x0") = (long)args;
    register size_t size __asm__("x1") = sizeof(*args);
    register int (*child_run)(void *) __asm__("x2") = run;
    register void *child_arg __asm__("x3") = arg;
    register long number __asm__("x8") = SYS_clone3;
    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "mov x0, x3\n\t"
                     "blr x2\n\t"
                     "mov x8, %[leave]\n\t"
                     "svc #0\n\t"
                     "brk #1\n"
                     "1:"
                     : "+r"(result)
                     : "r"(size), "r"(child_run), "r"(child_arg),
                       "r"(number), [leave] "i"(SYS_exit_group)
                     : "cc", "memory");
    return result;
}
#endif

static size_t stack_size(const struct clone *what)
{
    return what->size - ((uintptr_t)what->stack + what->size) % STACK_ALIGN;
}

static pid_t clone_into(const struct clone *what, int flags)
{
#ifdef CLONE_HAS_3
    struct clone_args args = {.flags = (uint64_t)flags | CLONE_INTO_CGROUP,
                              .child_tid = (uintptr_t)what->shares,
                              .exit_signal = SIGCHLD,
                              .stack = (uintptr_t)what->stack,
                              .stack_size = stack_size(what),
                              .cgroup = (uint64_t)what->cgroup};
    return (pid_t)clone_call(&args, what->run, what->arg);
#else
    (void)flags;
    return -ENOSYS;
#endif
}

pid_t clone_start(const struct clone *what)
{
    int flags = CLONE_VM | (what->shares ? CLONE_CHILD_CLEARTID : 0);
    if (what->cgroup >= 0)
        return clone_into(what, flags);
    char *top = (char *)what->stack + stack_size(what);
    pid_t pid = clone(what->run, top, flags | SIGCHLD, what->arg, NULL, NULL, what->shares);
    return pid < 0 ? -errno : pid;
}
