/* The topology of this node, discovered in a thread and written once for all tasks. */
#include "launcher/agent/topology_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/thread.h"
#include "affinity/topology/topo.h"
#include "launcher/spec/spec.h"
#include "pmi-server/pmi/server.h"

#define TOPOLOGY_PATIENCE 10.0 /* s; tasks look for themselves then */

struct topology_waiter {
    struct topology_waiter *next;
    const struct launch *launch;
    struct pmi_request *request;
};

struct topology_file {
    struct ev_loop *loop;
    struct scratch *scratch;
    bool begun; /* the thread was */
    struct thread thread;
    ev_async found;
    ev_timer patience;
    char *text;   /* the thread's until it has ended; NULL: it found nothing */
    bool written; /* or it cannot be */
    char *path;   /* of the file; NULL: there is none */
    bool over;    /* nobody waits for the thread any more */
    struct topology_waiter *waiters;
};

/* Once the thread has ended: the path; NULL: there is nothing, or it cannot be written. */
static const char *file_path(struct topology_file *file)
{
    if (!file->text || file->written)
        return file->path;
    file->written = true;
    const char *directory = scratch_directory_make_memory(file->scratch, NULL);
    char *path = directory ? mem_format("%s/topology.xml", directory) : NULL;
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    bool whole = fd >= 0 && file_write_all(fd, file->text, strlen(file->text)) == 0;
    if (fd >= 0 && close(fd) == 0 && whole) {
        file->path = path;
        return path;
    }
    if (fd >= 0)
        unlink(path);
    free(path);
    return NULL;
}

static void answer_all(struct topology_file *file, const char *path)
{
    file->over = true;
    ev_timer_stop(file->loop, &file->patience);
    while (file->waiters) {
        struct topology_waiter *waiter = file->waiters;
        file->waiters = waiter->next;
        pmi_request_value(waiter->request, path);
        free(waiter);
    }
}

static void on_found(struct ev_loop *loop, ev_async *watcher, int events)
{
    struct topology_file *file = watcher->data;
    (void)loop;
    (void)events;
    thread_end(&file->thread);
    answer_all(file, file->waiters ? file_path(file) : NULL);
}

static void on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    answer_all(timer->data, NULL);
}

static void *discover(void *arg)
{
    struct topology_file *file = arg;
    file->text = topo_export_local(NULL);
    ev_async_send(file->loop, &file->found);
    return NULL;
}

static void file_begin(struct topology_file *file)
{
    if (file->begun)
        return;
    file->begun = true;
    ev_async_init(&file->found, on_found);
    ev_timer_init(&file->patience, on_patience, TOPOLOGY_PATIENCE, 0);
    file->found.data = file->patience.data = file;
    ev_async_start(file->loop, &file->found);
    ev_timer_start(file->loop, &file->patience);
    thread_begin(&file->thread, discover, file);
}

/* The user's own description of a machine is what their tasks shall see. */
static bool describes_machine(const struct spec *spec, const struct spec_part *part)
{
    static const char *const names[] = {"HWLOC_XMLFILE=", "HWLOC_SYNTHETIC=", "HWLOC_FSROOT="};
    char **list = spec_part_environment(spec, part);
    bool found = false;
    for (size_t i = 0; list[i]; i++)
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
            found = found || !strncmp(list[i], names[k], strlen(names[k]));
    string_list_free(list);
    return found;
}

void topology_file_ask(struct topology_file *file, const struct launch *launch, uint32_t part,
                       struct pmi_request *request)
{
    if (describes_machine(launch->spec, &launch->spec->parts[part])) {
        pmi_request_value(request, NULL);
        return;
    }
    file_begin(file);
    if (file->over) {
        pmi_request_value(request, file->thread.runs ? NULL : file_path(file));
        return;
    }
    struct topology_waiter *waiter = mem_alloc(sizeof(*waiter));
    *waiter = (struct topology_waiter){file->waiters, launch, request};
    file->waiters = waiter;
}

void topology_file_forget(struct topology_file *file, const struct launch *launch)
{
    struct topology_waiter **at = &file->waiters;
    while (*at) {
        struct topology_waiter *waiter = *at;
        if (waiter->launch == launch) {
            *at = waiter->next;
            free(waiter);
        } else {
            at = &waiter->next;
        }
    }
}

/* A single task finds it in no more time than it is found here. */
static bool topology_file_is_shared(const struct launch *launch)
{
    bool shared = launch->nlocal > 1;
    for (size_t i = 0; i < launch->spec->nparts && shared; i++)
        shared = !describes_machine(launch->spec, &launch->spec->parts[i]);
    return shared;
}

void topology_file_begin_early(struct topology_file *file, const struct launch *launch)
{
    if (topology_file_is_shared(launch))
        file_begin(file);
}

const char *topology_file_text(struct topology_file *file, const struct launch *launch)
{
    if (!topology_file_is_shared(launch))
        return NULL;
    file_begin(file);
    topology_file_wait(file);
    return file->text;
}

void topology_file_wait(struct topology_file *file)
{
    if (file->begun)
        thread_end(&file->thread);
}

struct topology_file *topology_file_new(struct ev_loop *loop, struct scratch *scratch)
{
    struct topology_file *file = mem_alloc(sizeof(*file));
    file->loop = loop;
    file->scratch = scratch;
    return file;
}

void topology_file_free(struct topology_file *file)
{
    if (file && file->begun) {
        thread_end(&file->thread);
        ev_async_stop(file->loop, &file->found);
        ev_timer_stop(file->loop, &file->patience);
        free(file->text);
        free(file->path);
    }
    free(file);
}
