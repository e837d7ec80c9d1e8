/* A signalfd in the loop, for the front end. */
#include "launcher/process/signal_source.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

struct signal_source {
    struct ev_loop *loop;
    signal_source_fn *fn;
    void *arg;
    sigset_t set;
    int fd;
    ev_io io;
};

/* A process may be gone by now; of another namespace there is no pid. */
static char *describe_sender(const struct signalfd_siginfo *info)
{
    char path[64];
    struct buf name = BUF_INIT;
    if (info->ssi_code > 0 || !info->ssi_pid) /* the kernel's */
        return mem_copy_text("");
    snprintf(path, sizeof(path), "/proc/%u/comm", info->ssi_pid);
    file_read(path, &name);
    int len = (int)strcspn(buf_text(&name), "\n");
    /* It ends all that its tasks have started, a tprun as well. */
    const char *whose =
        strncmp(buf_text(&name), "tpagent\n", 8) == 0 ? ", of the program around this one" : "";
    char *text = len ? mem_format("%.*s (pid %u, uid %u%s)", len, buf_text(&name), info->ssi_pid,
                                  info->ssi_uid, whose)
                     : mem_format("pid %u (uid %u)", info->ssi_pid, info->ssi_uid);
    buf_free(&name);
    return text;
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events)
{
    struct signal_source *source = io->data;
    struct signalfd_siginfo info;
    (void)loop;
    (void)events;
    if (read(source->fd, &info, sizeof(info)) != sizeof(info))
        return;
    char *sender = describe_sender(&info);
    source->fn(source->arg, (int)info.ssi_signo, sender, info.ssi_code == SI_KERNEL);
    free(sender);
}

struct signal_source *signal_source_new(struct ev_loop *loop, const int *numbers, size_t count,
                                        signal_source_fn *fn, void *arg)
{
    struct signal_source *source = mem_alloc(sizeof(*source));
    *source = (struct signal_source){.loop = loop, .fn = fn, .arg = arg};
    sigemptyset(&source->set);
    for (size_t i = 0; i < count; i++) {
        struct sigaction now;
        sigaction(numbers[i], NULL, &now);
        if (now.sa_handler != SIG_IGN)
            sigaddset(&source->set, numbers[i]);
    }
    source->fd = signalfd(-1, &source->set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (source->fd < 0) {
        free(source);
        return NULL;
    }
    sigprocmask(SIG_BLOCK, &source->set, NULL);
    ev_io_init(&source->io, on_readable, source->fd, EV_READ);
    source->io.data = source;
    ev_io_start(loop, &source->io);
    return source;
}

void signal_source_free(struct signal_source *source)
{
    if (!source)
        return;
    ev_io_stop(source->loop, &source->io);
    close(source->fd);
    sigprocmask(SIG_UNBLOCK, &source->set, NULL);
    free(source);
}
