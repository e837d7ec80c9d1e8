/* One command for several agents: started with the call of their parent, explained, ended. */
#include "launcher/tree/multi_host_start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/tree/connect_back.h"
#include "launcher/tree/srun.h"

#define LAST_AGENT_PATIENCE 3.0 /* s that the command may take to end after its last agent */
#define END_PATIENCE 3.0        /* s from SIGHUP to SIGKILL, and from that to giving up */

struct multi_host_start {
    struct multi_host_start_owner owner;
    struct child **children;
    size_t count;
    struct connect_back *back; /* NULL: nobody is waited for */
    char *name;                /* of the command */
    char *failure;             /* why it was not started */
    pid_t pid;                 /* 0: not started, or reaped */
    int status;
    char *file;   /* that has the call where the command has no use for its input; or NULL */
    int input;    /* of the command, where the call went; -1: closed */
    int words_fd; /* its output and stderr, or -1 */
    struct buf raw, words;
    bool explained; /* agents that did not come */
    ev_io reader;
    ev_child exited;
    ev_timer timer; /* a start that failed; then the patience for the end */
    enum { RUNNING, ENDING, HUNG_UP, KILLED } ending;
    bool gone;
};

/* ---- words ---- */

static bool all_settled(const struct multi_host_start *start)
{
    for (size_t i = 0; i < start->count; i++)
        if (!start->children[i]->settled)
            return false;
    return true;
}

/* Where an agent did not come they have explained that, and are not said again. */
static void start_pass_words(struct multi_host_start *start)
{
    if (!start->words.len || !all_settled(start))
        return;
    bool failed = false;
    for (size_t i = 0; i < start->count; i++)
        failed |= start->children[i]->stage != STAGE_UP;
    if (start->explained || !failed)
        start->owner.note(start->owner.arg, buf_text(&start->words));
    start->explained = true;
    buf_clear(&start->words);
}

static void start_close_words(struct multi_host_start *start)
{
    ev_io_stop(start->owner.loop, &start->reader);
    if (start->words_fd >= 0)
        close(start->words_fd);
    start->words_fd = -1;
}

/* All that is there now. */
static void start_read_words(struct multi_host_start *start)
{
    enum bootstrap_stage stage = STAGE_EXEC;
    char bytes[4096];
    while (start->words_fd >= 0) {
        ssize_t n = read(start->words_fd, bytes, sizeof(bytes));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0) {
            if (start->raw.len) {
                buf_add_char(&start->raw, '\n');
                bootstrap_read_stderr(&start->raw, &stage, &start->words);
            }
            start_close_words(start);
            break;
        }
        buf_add(&start->raw, bytes, (size_t)n);
        bootstrap_read_stderr(&start->raw, &stage, &start->words);
    }
    start_pass_words(start);
}

static void start_readable(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop;
    (void)events;
    start_read_words(io->data);
}

/* ---- agents that come ---- */

/* The name up to its domain. */
static size_t short_length(const char *name)
{
    return strcspn(name, ".");
}

static bool multi_host_start_is_called(const struct child *child, const char *host, bool exactly)
{
    size_t len = short_length(host);
    if (exactly)
        return strcmp(child->login, host) == 0 || strcmp(child->host, host) == 0;
    return len == short_length(child->host) && strncmp(child->host, host, len) == 0;
}

/* The one of this name; NULL: none, or several. A host may know its own name without the domain that
 * the list of hosts has, or with one that the list has not. */
static struct child *multi_host_start_find(const struct multi_host_start *start, const char *host)
{
    struct child *found = NULL;
    for (int exactly = 1; exactly >= 0 && !found; exactly--) {
        for (size_t i = 0; i < start->count; i++) {
            if (!multi_host_start_is_called(start->children[i], host, exactly))
                continue;
            if (found)
                return NULL;
            found = start->children[i];
        }
    }
    return found;
}

static void start_arrived(void *arg, int fd, const char *host)
{
    struct multi_host_start *start = arg;
    struct child *child = multi_host_start_find(start, host);
    if (!child)
        buf_printf(&start->words, "%san agent connected from %.80s, which is none of these hosts",
                   start->words.len ? "; " : "", host);
    if (child && !child->settled && !child->link && connect_back_accept(start->back, fd) == 0)
        child_arrived(child, fd);
    else
        close(fd);
}

/* ---- the end ---- */

/* Nobody is waited for any more. */
static void start_stop_waiting(struct multi_host_start *start)
{
    connect_back_free(start->back);
    start->back = NULL;
    if (start->file)
        unlink(start->file);
    free(start->file);
    start->file = NULL;
}

static char *start_how_it_ended(const struct multi_host_start *start)
{
    if (WIFSIGNALED(start->status))
        return mem_format("%s, which started the agent, was killed by signal %d (%s)", start->name,
                          WTERMSIG(start->status), strsignal(WTERMSIG(start->status)));
    /* As if all were well: most often its agents found their input at its end. */
    bool deaf = start->status == 0 && batch_bootstrap_is_for_many(start->owner.boot->method) &&
                !bootstrap_wants_file(start->owner.boot);
    for (size_t i = 0; i < start->count && deaf; i++)
        deaf = !start->children[i]->settled;
    return mem_format("%s, which starts the agent, ended with status %d%s", start->name,
                      WEXITSTATUS(start->status),
                      deaf ? " and no agent connected: it must hand its standard input to each "
                             "agent, or be told {call}"
                           : "");
}

/* The children hear of it, first those whose agent did not come: the command's words are in what is
 * said of them. Words that none of them has used are passed on. */
static void start_over(struct multi_host_start *start, const char *why)
{
    start_stop_waiting(start);
    for (size_t i = 0; i < start->count; i++)
        if (!start->children[i]->settled)
            child_start_over(start->children[i], why);
    for (size_t i = 0; i < start->count; i++)
        child_start_over(start->children[i], why);
    if (start->input >= 0)
        close(start->input);
    start->input = -1;
    if (start->gone)
        return;
    start->gone = true;
    ev_timer_stop(start->owner.loop, &start->timer);
    start->owner.gone(start->owner.arg);
}

static void start_exited(struct ev_loop *loop, ev_child *watcher, int events)
{
    struct multi_host_start *start = watcher->data;
    (void)events;
    ev_child_stop(loop, watcher);
    start->pid = 0;
    start->status = watcher->rstatus;
    start_read_words(start);
    char *why = start_how_it_ended(start);
    start_over(start, why);
    free(why);
}

static void multi_host_start_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct multi_host_start *start = timer->data;
    (void)events;
    if (start->failure) {
        start_over(start, start->failure);
    } else if (start->ending == KILLED) {
        char *text = mem_format("%s, process %d, is still there %g s after SIGKILL", start->name,
                                (int)start->pid, END_PATIENCE);
        start->owner.note(start->owner.arg, text);
        ev_child_stop(loop, &start->exited);
        start->pid = 0;
        start_over(start, text);
        free(text);
    } else {
        kill(start->pid, start->ending == HUNG_UP ? SIGKILL : SIGHUP); /* it ignores SIGTERM */
        start->ending = start->ending == HUNG_UP ? KILLED : HUNG_UP;
        ev_timer_set(timer, END_PATIENCE, 0);
        ev_timer_start(loop, timer);
    }
}

void multi_host_start_end(struct multi_host_start *start, double patience)
{
    if (start->gone || start->ending != RUNNING || !start->pid)
        return;
    start->ending = ENDING;
    ev_timer_set(&start->timer, patience, 0);
    ev_timer_start(start->owner.loop, &start->timer);
}

void multi_host_start_check(struct multi_host_start *start)
{
    bool alive = false, came = false;
    if (all_settled(start)) {
        start_stop_waiting(start);
        start_pass_words(start);
    }
    for (size_t i = 0; i < start->count; i++) {
        alive |= !start->children[i]->settled || start->children[i]->link;
        came |= start->children[i]->stage == STAGE_UP;
    }
    if (!alive)
        multi_host_start_end(start, came ? LAST_AGENT_PATIENCE : 0);
}

/* ---- the start ---- */

struct multi_host_start *multi_host_start_new(const struct multi_host_start_owner *owner)
{
    struct multi_host_start *start = mem_alloc(sizeof(*start));
    start->owner = *owner;
    start->input = start->words_fd = -1;
    ev_timer_init(&start->timer, multi_host_start_timer, 0, 0);
    start->timer.data = start;
    return start;
}

void multi_host_start_add(struct multi_host_start *start, struct child *child)
{
    start->children = array_grow(start->children, start->count, sizeof(struct child *));
    start->children[start->count++] = child;
    child->start = start;
    child->start_words = &start->words;
}

/* One frame into a file, or into an empty pipe, which has room for it. */
static int start_send_call(struct multi_host_start *start, struct error *err)
{
    unsigned char header[FRAME_HEADER];
    json_t *call = connect_back_call(start->back);
    char *text = json_dumps(call, JSON_COMPACT);
    struct frame frame = {.type = FRAME_CALL, .bytes = text, .len = strlen(text)};
    struct buf bytes = BUF_INIT;
    frame_encode_header(&frame, header);
    buf_add(&bytes, header, FRAME_HEADER);
    buf_add(&bytes, text, frame.len);
    ssize_t n = write(start->input, buf_bytes(&bytes), bytes.len);
    int rc = n == (ssize_t)bytes.len
                 ? 0
                 : error_set(err, "cannot write the call of agents: %s", strerror(errno));
    explicit_bzero(text, frame.len);
    explicit_bzero(bytes.data, bytes.len);
    buf_free(&bytes);
    free(text);
    json_decref(call);
    return rc;
}

static char **start_words(const struct multi_host_start *start, struct error *err)
{
    struct bootstrap_host *hosts = mem_array(start->count, sizeof(*hosts));
    for (size_t i = 0; i < start->count; i++) {
        const struct start_queue_group *group = &start->children[i]->group;
        hosts[i] = (struct bootstrap_host){start->children[i]->login,
                                           group->list->targets[group->first].rank};
    }
    char **words =
        bootstrap_shared_command(start->owner.boot, hosts, start->count, start->file, err);
    free(hosts);
    return words;
}

/* What the command reads: a pipe with the call. Where that is in a file, nothing: the file is for this
 * user alone, and goes when the agents have come. */
static int start_make_input(struct multi_host_start *start, int *input, struct error *err)
{
    const char *home = getenv("HOME");
    int ends[2];
    if (!bootstrap_wants_file(start->owner.boot)) {
        if (pipe2(ends, O_CLOEXEC) < 0)
            return error_set(err, "cannot make a pipe: %s", strerror(errno));
        *input = ends[0];
        start->input = ends[1];
        return 0;
    }
    *input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (!home || !*home)
        return error_set(err, "HOME is not set, where the agents' hosts find a file of this one");
    char *path = mem_format("%s/.tprun-call.XXXXXX", home);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        error_set(err, "cannot make a file in %s: %s", home, strerror(errno));
        free(path);
        return -1;
    }
    start->input = fd;
    start->file = path;
    return 0;
}

static int start_command(struct multi_host_start *start, struct error *err)
{
    const struct bootstrap *boot = start->owner.boot;
    int input = -1, output = -1, words[2] = {-1, -1}, rc = -1;
    char **command = NULL;
    start->back = connect_back_new(start->owner.loop, bootstrap_shared_ports(boot),
                                   boot->start_timeout, start_arrived, start, err);
    if (!start->back || start_make_input(start, &input, err) < 0)
        goto done;
    command = start_words(start, err);
    if (!command)
        goto done;
    const char *slash = strrchr(command[0], '/');
    start->name = mem_copy_text(boot->command ? boot->command : slash ? slash + 1 : command[0]);
    if (pipe2(words, O_CLOEXEC | O_NONBLOCK) < 0) {
        error_set(err, "cannot make a pipe: %s", strerror(errno));
        goto done;
    }
    fcntl(words[1], F_SETFL, 0);
    start->words_fd = words[0];
    ev_io_init(&start->reader, start_readable, words[0], EV_READ);
    start->reader.data = start;
    ev_io_start(start->owner.loop, &start->reader);
    /* srun is told to leave out what agents write; others may pass on their greeting. */
    output = batch_bootstrap_is_for_many(boot->method) ? open("/dev/null", O_WRONLY | O_CLOEXEC)
                                                       : fcntl(words[1], F_DUPFD_CLOEXEC, 3);
    if (start_send_call(start, err) < 0)
        goto done;
    char **environment = bootstrap_shared_environment(boot);
    pid_t pid = bootstrap_run(command, environment, (int[]){input, output, words[1]}, err);
    string_list_free(environment);
    if (pid > 0) {
        start->pid = pid;
        rc = 0;
    }
done:
    if (input >= 0)
        close(input);
    if (output >= 0)
        close(output);
    if (words[1] >= 0)
        close(words[1]);
    string_list_free(command);
    return rc;
}

void multi_host_start_run(struct multi_host_start *start)
{
    struct error err = ERROR_INIT;
    if (start_command(start, &err) < 0) {
        start->failure = mem_copy_text(error_text(&err));
        ev_timer_start(start->owner.loop, &start->timer);
    } else {
        ev_child_init(&start->exited, start_exited, start->pid, 0);
        start->exited.data = start;
        ev_child_start(start->owner.loop, &start->exited);
    }
    error_clear(&err);
}

pid_t multi_host_start_pid(const struct multi_host_start *start)
{
    return start->pid;
}

void multi_host_start_disown(struct multi_host_start *start)
{
    connect_back_disown(start->back);
    if (start->input >= 0)
        close(start->input);
    if (start->words_fd >= 0)
        close(start->words_fd);
}

void multi_host_start_free(struct multi_host_start *start)
{
    if (!start)
        return;
    ev_timer_stop(start->owner.loop, &start->timer);
    ev_child_stop(start->owner.loop, &start->exited);
    start_stop_waiting(start);
    start_close_words(start);
    if (start->input >= 0)
        close(start->input);
    if (start->pid > 0)
        kill(start->pid, SIGKILL);
    buf_free(&start->raw);
    buf_free(&start->words);
    free(start->children);
    free(start->name);
    free(start->failure);
    free(start);
}
