/* One agent below this process: started, explained where it does not come up, followed to its end. */
#include "launcher/tree/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "config.h"
#include "launcher/environment/environment.h"
#include "launcher/tree/agent_broker.h"

#define LAST_WORDS 0.5 /* s between the end of a link and the verdict: the command's own words */
#define NOISE_MAX 2048
#define NOISE_SHOWN 160   /* bytes of it that a sentence quotes */
#define KILL_PATIENCE 2.0 /* s that the process may take to end by SIGKILL */
#define VAIN_PATIENCE                                                                              \
    1.0 /* s at the end for a command that has reached no agent: nothing is to be cleared up */

extern char **environ;

/* ---- words ---- */

static void child_read_words(struct child *child)
{
    char bytes[4096];
    ssize_t n = read(child->words_fd, bytes, sizeof(bytes));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        ev_io_stop(child->owner->loop, &child->words_reader);
        close(child->words_fd);
        child->words_fd = -1;
        return;
    }
    buf_add(&child->raw, bytes, (size_t)n);
    bootstrap_read_stderr(&child->raw, &child->stage, &child->words);
    if (child->settled && child->words.len) {
        char *text = mem_format("%s: %s", child->host, buf_text(&child->words));
        child->owner->note(child->owner->arg, text);
        free(text);
        buf_clear(&child->words);
    }
}

static void child_words(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop;
    (void)events;
    child_read_words(io->data);
}

static void child_read_from(struct child *child, int words)
{
    child->words_fd = words;
    ev_io_init(&child->words_reader, child_words, words, EV_READ);
    child->words_reader.data = child;
    ev_io_start(child->owner->loop, &child->words_reader);
}

/* The lines of what the login printed, as much of them as says what it is. */
static void child_add_noise(struct buf *text, const struct buf *noise)
{
    if (!noise->len)
        return;
    size_t shown = noise->len < NOISE_SHOWN ? noise->len : NOISE_SHOWN;
    char *lines = mem_format("%.*s", (int)shown, buf_bytes(noise));
    struct buf quoted = BUF_INIT;
    char *rest;
    for (char *line = strtok_r(lines, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        if (*line)
            buf_printf(&quoted, "%s%s", quoted.len ? "; " : "", line);
    }
    if (quoted.len)
        buf_printf(text, "; the login printed \"%s%s\"", buf_text(&quoted),
                   shown < noise->len ? "..." : "");
    buf_free(&quoted);
    free(lines);
}

/* One line of what a person can use: ssh's words, what the login printed, how it ended. */
static char *child_explain(struct child *child, const char *why)
{
    struct buf text = BUF_INIT;
    if (child->raw.len && !memchr(buf_bytes(&child->raw), '\n', child->raw.len)) {
        buf_add_char(&child->raw, '\n');
        bootstrap_read_stderr(&child->raw, &child->stage, &child->words);
    }
    bool refused = child->lent && child->noise.len && !child->words.len;
    if (child->words.len) {
        buf_add(&text, buf_bytes(&child->words), child->words.len);
        if (bootstrap_agent_is_missing(child->owner->boot, buf_text(&text)))
            buf_add_text(&text, "; install tprun there, or name its tpagent with --agent PATH");
    } else if (refused)
        buf_add(&text, buf_bytes(&child->noise), child->noise.len);
    else if (child->start_words)
        buf_printf(&text, "%s%s%s", why, child->start_words->len ? "; " : "",
                   buf_text(child->start_words));
    else if (child->pid == 0 && !child->lent && WIFEXITED(child->status))
        buf_printf(&text, "the command that reaches it exited with status %d",
                   WEXITSTATUS(child->status));
    else if (child->pid == 0 && WIFSIGNALED(child->status))
        buf_printf(&text, "the command that reaches it was killed by signal %d (%s)",
                   WTERMSIG(child->status), strsignal(WTERMSIG(child->status)));
    else
        buf_add_text(&text, why);
    while (child->noise.len && strchr("\r\n \t", buf_text(&child->noise)[child->noise.len - 1]))
        child->noise.len--;
    if (!refused)
        child_add_noise(&text, &child->noise);
    return buf_take_text(&text);
}

/* ---- verdicts ---- */

static void child_close_link(struct child *child)
{
    link_free(child->link);
    child->link = NULL;
}

static void child_kill(struct child *child)
{
    if (child->pid > 0)
        kill(child->pid, SIGKILL);
}

/* Of one that was up. The signal that ended this machine's agent says more than its link does. */
static void child_lose(struct child *child)
{
    bool killed = child->here && child->pid == 0 && WIFSIGNALED(child->status);
    char *why = child->lost;
    child->lost = NULL;
    ev_timer_stop(child->owner->loop, &child->timer);
    if (killed) {
        free(why);
        why = mem_format("its agent was killed by signal %d (%s)", WTERMSIG(child->status),
                         strsignal(WTERMSIG(child->status)));
    }
    child_kill(child);
    child->owner->lost(child->owner->arg, child, why);
    free(why);
}

static void child_settle(struct child *child, const char *why)
{
    struct ev_loop *loop = child->owner->loop;
    ev_timer_stop(loop, &child->timer);
    if (child->words_fd >= 0)
        child_read_words(child);
    if (child->settled)
        return;
    child->settled = true;
    char *text = child_explain(child, why);
    child_close_link(child);
    child_kill(child);
    child->owner->unreached(child->owner->arg, child, text);
    free(text);
}

static void child_check_gone(struct child *child)
{
    if (child->pid == 0 && !child->link && child->settled)
        child->owner->gone(child->owner->arg, child);
}

/* It takes its time to go. Once killed it does; if not, it is left alone. */
static void child_end_late(struct child *child)
{
    struct ev_loop *loop = child->owner->loop;
    child_close_link(child);
    if (!child->killed) {
        child->killed = true;
        child_kill(child);
        ev_timer_set(&child->timer, KILL_PATIENCE, 0);
        ev_timer_start(loop, &child->timer);
    } else if (child->pid > 0) {
        char *text =
            mem_format("%s: process %d, which serves it, is still there %g s after SIGKILL",
                       child->host, (int)child->pid, KILL_PATIENCE);
        child->owner->note(child->owner->arg, text);
        free(text);
        ev_child_stop(loop, &child->exited);
        child->pid = 0;
    }
    child_check_gone(child);
}

static void child_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct child *child = timer->data;
    (void)loop;
    (void)events;
    if (child->ending) {
        child_end_late(child);
        return;
    }
    if (child->lost) {
        child_lose(child);
        child_check_gone(child);
        return;
    }
    child->silent = child->start || (child->link && child->pid);
    char *why = child->silent ? mem_format("no answer within %.3g s", child->group.patience)
                              : mem_copy_text("the connection was closed");
    child_settle(child, why);
    free(why);
    child_check_gone(child);
}

static void child_exited(struct ev_loop *loop, ev_child *watcher, int events)
{
    struct child *child = watcher->data;
    (void)events;
    ev_child_stop(loop, watcher);
    child->pid = 0;
    child->status = watcher->rstatus;
    if (!child->settled && !child->link)
        child_settle(child, "the connection was closed");
    else if (child->lost && !child->ending)
        child_lose(child);
    child_check_gone(child);
}

/* ---- the link ---- */

static void child_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct child *child = arg;
    if (!child->settled && frame->type == FRAME_HELLO && frame->node == child->node) {
        child->settled = true;
        child->stage = STAGE_UP;
        ev_timer_stop(child->owner->loop, &child->timer);
        link_watch(link, child->owner->boot->node_timeout);
    }
    child->owner->frame(child->owner->arg, child, frame);
}

static void child_room(struct link *link, void *arg)
{
    struct child *child = arg;
    (void)link;
    child->owner->room(child->owner->arg);
}

static void child_closed(struct link *link, void *arg, const struct error *why)
{
    struct child *child = arg;
    bool was_up = child->settled, ending = child->ending;
    char *text =
        mem_copy_text(child->lent && !was_up
                          ? "the instance's agent there has closed the connection (lost, or it "
                            "could not start another)"
                          : error_text(why));
    bool over = child->pid == 0 || (was_up && (!child->here || link_is_silent(link)));
    child_close_link(child);
    if (was_up && !ending)
        child->lost = mem_copy_text(text);
    if (!was_up && over) {
        child_settle(child, text);
    } else if (child->lost && over) {
        child_lose(child);
    } else if (!ending) { /* its last words and its status come in a moment */
        struct ev_loop *loop = child->owner->loop;
        ev_timer_stop(loop, &child->timer);
        ev_timer_set(&child->timer, LAST_WORDS, 0);
        ev_timer_start(loop, &child->timer);
    }
    free(text);
    child_check_gone(child);
}

static void child_noise(struct link *link, void *arg, const char *bytes, size_t len)
{
    struct child *child = arg;
    (void)link;
    if (child->noise.len < NOISE_MAX)
        buf_add(&child->noise, bytes, len < NOISE_MAX ? len : NOISE_MAX);
}

static void child_welcome(struct child *child)
{
    const struct start_queue_group *group = &child->group;
    const struct tree_target *target = &group->list->targets[group->first];
    json_t *welcome =
        json_pack("{s:s, s:i, s:s, s:s*, s:s*, s:o, s:o}", "version", PACKAGE_VERSION, "node",
                  (int)target->node, "host", target->host, "cores", target->cores, "digest",
                  target->digest, "bootstrap", bootstrap_to_json(child->owner->boot), "below",
                  tree_targets_to_json(target + 1, group->count - 1));
    child->welcomed = true;
    link_send_json(child->link, FRAME_WELCOME, target->node, 0, welcome);
    json_decref(welcome);
}

static void child_greeted(struct link *link, void *arg)
{
    struct child *child = arg;
    (void)link;
    if (child->stage < STAGE_HELLO)
        child->stage = STAGE_HELLO;
    if (!child->welcomed)
        child_welcome(child);
}

static const struct link_ops child_link_ops = {child_frame, child_room, child_closed, child_noise,
                                               child_greeted};

/* ---- starting ---- */

static void child_start_here(struct child *child, int pair[2])
{
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        mem_exit(child->owner->here(child->owner->arg, pair[1]));
    }
    child->pid = pid > 0 ? pid : 0;
    child->stage = STAGE_HELLO;
    if (pid < 0)
        buf_printf(&child->words, "cannot fork: %s%s", strerror(errno),
                   errno == EAGAIN ? " (\"ulimit -u\" limits processes)" : "");
}

/* The welcome is sent at once, ahead of the agent's greeting; one that is reached again gets it once
 * it has greeted. */
static void child_open_link(struct child *child, int fd)
{
    child->link = link_new(child->owner->loop, fd, fd, &child_link_ops, child);
    link_expect_greeting(child->link);
    if (!child->group.again)
        child_welcome(child);
}

/* By an agent of the instance that this program runs in, or by one that is kept. */
static void child_start_lent(struct child *child, int end)
{
    const struct bootstrap *boot = child->owner->boot;
    struct error err = ERROR_INIT;
    int words[2];
    child->lent = true;
    if (pipe2(words, O_CLOEXEC | O_NONBLOCK) < 0) {
        buf_printf(&child->words, "cannot make a pipe: %s", strerror(errno));
        return;
    }
    if (agent_broker_ask(boot->broker, child->host, boot->pmix && !boot->batch, end, words[1],
                         &err) < 0)
        buf_add_text(&child->words, error_text(&err));
    error_clear(&err);
    close(words[1]);
    child_read_from(child, words[0]);
}

static void child_start_command(struct child *child, const char *login, int end)
{
    struct error err = ERROR_INIT;
    int words[2] = {-1, -1};
    char **command = bootstrap_command(child->owner->boot, login, &err);
    if (!command)
        goto done;
    if (pipe2(words, O_CLOEXEC | O_NONBLOCK) < 0) {
        error_set(&err, "cannot make a pipe: %s", strerror(errno));
        goto done;
    }
    fcntl(words[1], F_SETFL, 0);
    char **environment = env_for_agents(environ);
    pid_t pid = bootstrap_run(command, environment, (int[]){end, end, words[1]}, &err);
    string_list_free(environment);
    if (pid > 0)
        child->pid = pid;
    else
        child->stage = STAGE_EXEC; /* no host is to blame */
    child_read_from(child, words[0]);
done:
    if (err.text)
        buf_add_text(&child->words, err.text);
    error_clear(&err);
    if (words[1] >= 0)
        close(words[1]);
    string_list_free(command);
}

static void child_watch_process(struct child *child)
{
    struct ev_loop *loop = child->owner->loop;
    if (child->pid > 0) {
        ev_child_init(&child->exited, child_exited, child->pid, 0);
        child->exited.data = child;
        ev_child_start(loop, &child->exited);
    }
    double wait = child->pid > 0 || child->lent || start_queue_group_is_shared(&child->group)
                      ? child->group.patience
                      : 0;
    ev_timer_init(&child->timer, child_timer, wait, 0);
    child->timer.data = child;
    ev_timer_start(loop, &child->timer);
}

struct child *child_start(const struct child_owner *owner, uint32_t number,
                          const struct start_queue_group *group)
{
    struct child *child = mem_alloc(sizeof(*child));
    const struct tree_target *target = &group->list->targets[group->first];
    int pair[2];
    child->owner = owner;
    child->number = number;
    child->node = target->node;
    child->host = mem_copy_text(target->host);
    child->login = mem_copy_text(target->login);
    child->nodes = idset_new();
    child->words_fd = -1;
    child->stage = bootstrap_first_stage(owner->boot);
    child->group = *group;
    child->here = target->here;
    child->reaching = !target->here;
    child->started = clock_monotonic_seconds();
    for (size_t i = 0; i < group->count; i++)
        idset_add(child->nodes, target[i].node);
    if (start_queue_group_is_shared(&child->group)) {
        child->stage = STAGE_EXEC;
        child_watch_process(child);
        return child;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        buf_printf(&child->words, "cannot make a socket pair: %s", strerror(errno));
        child_watch_process(child);
        return child;
    }
    bool lent = !target->here && owner->boot->broker;
    if (target->here)
        child_start_here(child, pair);
    else if (!lent)
        child_start_command(child, target->login, pair[1]);
    child_open_link(child, pair[0]);
    if (lent) {
        link_flush(child->link, 0); /* the welcome is in it when its other end is handed over */
        child_start_lent(child, pair[1]);
    }
    close(pair[1]);
    child_watch_process(child);
    return child;
}

void child_arrived(struct child *child, int fd)
{
    child->stage = STAGE_HELLO;
    child_open_link(child, fd);
}

void child_start_over(struct child *child, const char *why)
{
    if (!child->settled) {
        child_close_link(child);
        child_settle(child, why);
    } else if (child->link && !child->ending) {
        child_close_link(child);
        child->owner->lost(child->owner->arg, child, why);
    }
    child_check_gone(child);
}

bool child_takes_early(const struct child *child)
{
    return child->link && child->welcomed && !child->settled && (child->here || child->lent);
}

void child_send_early(struct child *child, const struct frame *frame)
{
    child->early = true;
    link_ping(child->link); /* so that its clock is known before its tasks report anything */
    link_send(child->link, frame);
}

void child_end(struct child *child, double patience)
{
    struct ev_loop *loop = child->owner->loop;
    child->ending = true;
    child->settled = true;
    if (child->link)
        link_shutdown(child->link);
    if (child->stage < STAGE_HELLO && !child->early && patience > VAIN_PATIENCE)
        patience = VAIN_PATIENCE;
    ev_timer_stop(loop, &child->timer);
    ev_timer_set(&child->timer, patience, 0);
    ev_timer_start(loop, &child->timer);
    child_check_gone(child);
}

void child_free(struct child *child)
{
    struct ev_loop *loop;
    if (!child)
        return;
    loop = child->owner->loop;
    ev_timer_stop(loop, &child->timer);
    ev_child_stop(loop, &child->exited);
    if (child->words_fd >= 0) {
        ev_io_stop(loop, &child->words_reader);
        close(child->words_fd);
    }
    child_close_link(child);
    child_kill(child);
    target_list_free(child->group.list);
    idset_free(child->nodes);
    buf_free(&child->raw);
    buf_free(&child->words);
    buf_free(&child->noise);
    free(child->host);
    free(child->login);
    free(child->lost);
    free(child);
}
