/* The door for tools, and what goes between each of them and openpmix, for pmix_host. */
#include "launcher/agent/pmix_tool_proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "pmi-server/pmix/iof.h"
#include "pmi-server/pmix/tcp_peers.h"
#include "pmi-server/pmix/tools.h"

#define TICK 1.0
#define TOOL_GREETING_MAX 65536 /* bytes of its first message */
#define TOOL_LAG (1u << 20)     /* bytes that wait for a tool, and output is held back */
#define TOOL_LAG_MAX (16u << 20)
#define TOOL_PATIENCE 10.0 /* s for one that lags, or has yet to say who it is */
#define TOOL_PROXY_MAX 64  /* at a time */

enum tool_phase {
    TOOL_GREETS, /* its first message is not whole */
    TOOL_WAITS,  /* for others that came before */
    TOOL_JOINS,  /* openpmix has its message */
    TOOL_IS_IN
};

enum tool_side { TOOL_FAR, TOOL_NEAR, TOOL_NSIDES }; /* the tool, and openpmix */

struct tool_end {
    int fd;     /* -1: not there yet, or closed */
    bool ended; /* nothing more comes from it */
    bool shut;  /* nothing more goes to it */
    ev_io reader, writer;
    struct buf out;
};

#define TOOL_HEAD 16 /* bytes before each message */

struct tool_messages { /* where in what the tool says messages begin */
    bool greeted;
    size_t nhead, rest; /* bytes of a head that is not whole; bytes that its message still has */
    char head[TOOL_HEAD];
};

struct tool {
    struct tool *next;
    struct tools *tools;
    uint32_t number;
    enum tool_phase phase;
    double moved; /* when it last was seen to do something */
    struct tool_end ends[TOOL_NSIDES];
    struct tool_messages messages;
    uint32_t question; /* tag of the last message to openpmix; 0: not asked yet */
    bool answered;     /* all that openpmix had for it before has come */
    struct buf held;   /* may be the beginning of that answer */
};

struct tools {
    struct ev_loop *loop;
    struct pmix_host *host;
    void (*note)(void *arg, const char *text);
    void *arg;
    char *file;
    uint16_t port;
    int fd;
    ev_io io;
    ev_timer timer;
    struct tool *first;
    unsigned count;
    uint32_t numbers;
    bool ending;
    double end_at;
};

/* ---- a connection of a tool, and the one to openpmix that is made for it ---- */

#define READ_SIZE 65536
#define UNREAD_MAX 262144 /* bytes of a tool that openpmix has not taken */

/* Something came or went: who goes, who comes in? Frees the tool, perhaps. */
static void tool_settle(struct tool *tool);

static enum tool_side other(enum tool_side side)
{
    return side == TOOL_FAR ? TOOL_NEAR : TOOL_FAR;
}

static void watch(struct ev_loop *loop, ev_io *io, bool on)
{
    if (on)
        ev_io_start(loop, io);
    else
        ev_io_stop(loop, io);
}

/* What openpmix says is always read: it keeps what is not, without bound. */
static void watch_all(struct tool *tool, struct ev_loop *loop)
{
    for (int side = 0; side < TOOL_NSIDES; side++) {
        struct tool_end *end = &tool->ends[side];
        bool full = side == TOOL_FAR && tool->ends[TOOL_NEAR].out.len >= UNREAD_MAX;
        watch(loop, &end->reader, end->fd >= 0 && !end->ended && !full);
        watch(loop, &end->writer, end->fd >= 0 && end->out.len);
    }
}

/* ---- messages ----
 *
 * openpmix's, of each version so far: a head of four words, the second of which is a tag that its
 * answer has, too, and the third the length of what follows. The first message has it in the
 * machine's order of bytes, all others in the network's. */

#define HEAD_WORDS (TOOL_HEAD / sizeof(uint32_t))
#define ANSWER_MAX 64 /* bytes of the answer to a message without contents */

static void messages_follow(struct tool_messages *messages, const char *bytes, size_t len)
{
    while (len) {
        size_t room = messages->rest ? messages->rest : TOOL_HEAD - messages->nhead;
        size_t n = len < room ? len : room;
        if (messages->rest) {
            messages->rest -= n;
        } else {
            memcpy(messages->head + messages->nhead, bytes, n);
            messages->nhead += n;
        }
        bytes += n;
        len -= n;
        if (messages->nhead < TOOL_HEAD)
            continue;
        uint32_t head[HEAD_WORDS];
        memcpy(head, messages->head, sizeof(head));
        messages->rest = messages->greeted ? ntohl(head[2]) : head[2];
        messages->greeted = true;
        messages->nhead = 0;
    }
}

/* openpmix 4.2.2 to 6.1: a message without contents is answered with an error, and logged nowhere. */
static void ask_last(struct tool *tool)
{
    if (!tool->messages.greeted || tool->messages.nhead || tool->messages.rest)
        return;
    if (getrandom(&tool->question, sizeof(tool->question), 0) != sizeof(tool->question))
        return;
    tool->question = (tool->question | 1u << 31) & ~1u; /* openpmix's own tags are small, or ~0 */
    uint32_t head[HEAD_WORDS] = {0, htonl(tool->question), 0, 0};
    buf_add(&tool->ends[TOOL_NEAR].out, head, sizeof(head));
}

/* Where the answer begins; SIZE_MAX: not here. */
static size_t answer_find(const struct tool *tool)
{
    const char *bytes = buf_bytes(&tool->held);
    for (size_t at = 0; at + TOOL_HEAD <= tool->held.len; at++) {
        uint32_t head[HEAD_WORDS];
        memcpy(head, bytes + at, sizeof(head));
        if (ntohl(head[1]) == tool->question && ntohl(head[2]) <= ANSWER_MAX)
            return at;
    }
    return SIZE_MAX;
}

/* Of openpmix, after the question: what cannot be its answer is for the tool. */
static void take_held(struct tool *tool, const char *bytes, size_t len)
{
    if (tool->answered)
        return;
    buf_add(&tool->held, bytes, len);
    size_t at = answer_find(tool), whole = tool->held.len;
    tool->answered = at != SIZE_MAX;
    if (!tool->answered)
        at = len == 0 ? whole : whole < TOOL_HEAD ? 0 : whole - (TOOL_HEAD - 1);
    buf_add(&tool->ends[TOOL_FAR].out, buf_bytes(&tool->held), at);
    buf_consume(&tool->held, at);
}

/* ---- bytes ---- */

static void end_write(struct tool_end *end)
{
    while (end->fd >= 0 && end->out.len) {
        ssize_t n = write(end->fd, buf_bytes(&end->out), end->out.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0)
            end->ended = true;
        buf_consume(&end->out, n < 0 ? end->out.len : (size_t)n);
    }
}

/* The tool's end: openpmix sees it once it has read what came before. */
static void shut_near(struct tool *tool)
{
    struct tool_end *near = &tool->ends[TOOL_NEAR];
    if (near->fd < 0 || near->shut || near->out.len)
        return;
    shutdown(near->fd, SHUT_WR);
    near->shut = true;
}

static void tool_pass(struct tool *tool, struct ev_loop *loop)
{
    struct tool_end *far = &tool->ends[TOOL_FAR];
    size_t before = far->out.len;
    end_write(far);
    end_write(&tool->ends[TOOL_NEAR]);
    if (far->out.len < before)
        tool->moved = clock_monotonic_seconds();
    if (far->ended) {
        buf_free(&far->out);
        shut_near(tool);
    }
    watch_all(tool, loop);
    tool_settle(tool);
}

static void tool_read(struct tool *tool, enum tool_side side)
{
    static char bytes[READ_SIZE];
    struct tool_end *end = &tool->ends[side];
    ssize_t n = read(end->fd, bytes, sizeof(bytes));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        end->ended = true;
    if (side == TOOL_NEAR && tool->question) {
        take_held(tool, bytes, n < 0 ? 0 : (size_t)n);
        return;
    }
    if (side == TOOL_FAR && n > 0)
        messages_follow(&tool->messages, bytes, (size_t)n);
    if (n > 0 && !tool->ends[other(side)].ended)
        buf_add(&tool->ends[other(side)].out, bytes, (size_t)n);
}

static void on_far(struct ev_loop *loop, ev_io *io, int events)
{
    struct tool *tool = io->data;
    if (events & EV_READ)
        tool_read(tool, TOOL_FAR);
    tool_pass(tool, loop);
}

static void on_near(struct ev_loop *loop, ev_io *io, int events)
{
    struct tool *tool = io->data;
    if (events & EV_READ)
        tool_read(tool, TOOL_NEAR);
    tool_pass(tool, loop);
}

/* ---- begun and ended ---- */

static void end_open(struct tool *tool, struct ev_loop *loop, enum tool_side side, int fd)
{
    struct tool_end *end = &tool->ends[side];
    void (*on)(struct ev_loop *, ev_io *, int) = side == TOOL_FAR ? on_far : on_near;
    end->fd = fd;
    ev_io_init(&end->reader, on, fd, EV_READ);
    ev_io_init(&end->writer, on, fd, EV_WRITE);
    end->reader.data = end->writer.data = tool;
    watch_all(tool, loop);
}

static void end_close(struct tool_end *end, struct ev_loop *loop)
{
    if (end->fd < 0)
        return;
    ev_io_stop(loop, &end->reader);
    ev_io_stop(loop, &end->writer);
    close(end->fd);
    end->fd = -1;
}

static void tool_finish(struct tool *tool, struct ev_loop *loop)
{
    struct tool_end *far = &tool->ends[TOOL_FAR];
    if (!tool->question) {
        ask_last(tool);
        watch_all(tool, loop);
    }
    if (!tool->answered || far->out.len || far->shut)
        return;
    shutdown(far->fd, SHUT_WR); /* it reads all that came before, and closes */
    far->shut = true;
}

static void tool_drop(struct tool *tool, struct ev_loop *loop)
{
    struct tool_end *far = &tool->ends[TOOL_FAR];
    end_close(far, loop);
    far->ended = true;
    buf_free(&far->out);
    shut_near(tool);
}

/* ---- who goes ---- */

static void pmix_tool_proxy_hold(struct tools *tools)
{
    bool lags = false;
    for (const struct tool *tool = tools->first; tool; tool = tool->next)
        lags |= tool->ends[TOOL_FAR].out.len > TOOL_LAG;
    pmix_server_hold_output(tools->host, lags);
}

static void remove_tool(struct tool *tool)
{
    struct tools *tools = tool->tools;
    struct tool **at = &tools->first;
    while (*at != tool)
        at = &(*at)->next;
    *at = tool->next;
    tools->count--;
    if (tool->phase == TOOL_JOINS)
        pmix_server_expect_tool(tools->host, 0, 0);
    if (tool->phase == TOOL_IS_IN)
        pmix_server_tool_left(tools->host, tool->number);
    for (int side = 0; side < TOOL_NSIDES; side++) {
        end_close(&tool->ends[side], tools->loop);
        buf_free(&tool->ends[side].out);
    }
    buf_free(&tool->held);
    free(tool);
    pmix_tool_proxy_hold(tools);
}

/* ---- who comes in, one after the other ---- */

/* *port becomes its own, by which openpmix sees whose it is; 0: unknown. */
static int connect_near(const struct tools *tools, uint16_t *port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(pmix_server_port(tools->host)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ||
        fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
        close(fd);
        return -1;
    }
    struct sockaddr_in own = {0};
    socklen_t len = sizeof(own);
    *port = getsockname(fd, (struct sockaddr *)&own, &len) < 0 ? 0 : ntohs(own.sin_port);
    return fd;
}

static struct tool *find_phase(const struct tools *tools, enum tool_phase phase)
{
    struct tool *tool = tools->first;
    while (tool && tool->phase != phase)
        tool = tool->next;
    return tool;
}

static void let_in(struct tools *tools)
{
    struct tool *tool;
    while (!find_phase(tools, TOOL_JOINS) && (tool = find_phase(tools, TOOL_WAITS))) {
        uint16_t port;
        int fd = connect_near(tools, &port);
        tool->phase = fd < 0 ? TOOL_GREETS : TOOL_JOINS;
        if (fd < 0) {
            remove_tool(tool);
            continue;
        }
        pmix_server_expect_tool(tools->host, tool->number, port);
        tool->moved = clock_monotonic_seconds();
        end_open(tool, tools->loop, TOOL_NEAR, fd);
    }
}

/* openpmix's thread waits for a first message that has begun, so none is begun before it is whole.
 * Its head is four words, the third of which is the length of the rest. */
static int greeting_check(struct tool *tool)
{
    const struct buf *in = &tool->ends[TOOL_NEAR].out;
    uint32_t head[4];
    if (in->len < sizeof(head))
        return 0;
    memcpy(head, buf_bytes(in), sizeof(head));
    if (head[2] > TOOL_GREETING_MAX)
        return -1;
    return in->len >= sizeof(head) + head[2];
}

static void tool_settle(struct tool *tool)
{
    struct tools *tools = tool->tools;
    const struct tool_end *far = &tool->ends[TOOL_FAR], *near = &tool->ends[TOOL_NEAR];
    int greeted = tool->phase == TOOL_GREETS ? greeting_check(tool) : 0;
    if (greeted > 0) {
        tool->phase = TOOL_WAITS;
        let_in(tools);
    } else if (greeted < 0 || (far->ended && near->fd < 0) ||
               (near->ended && (far->ended || !far->out.len))) {
        remove_tool(tool);
        let_in(tools);
    } else if (far->out.len > TOOL_LAG_MAX) {
        tool_drop(tool, tools->loop);
        pmix_tool_proxy_hold(tools);
    } else {
        pmix_tool_proxy_hold(tools);
    }
}

static void on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct tools *tools = timer->data;
    struct tool *next;
    (void)events;
    for (struct tool *tool = tools->first; tool; tool = next) {
        next = tool->next;
        bool late = clock_monotonic_seconds() - tool->moved > TOOL_PATIENCE;
        size_t lag = tool->ends[TOOL_FAR].out.len;
        if (late && (tool->phase == TOOL_GREETS || tool->phase == TOOL_JOINS))
            remove_tool(tool);
        else if (late && lag > TOOL_LAG) {
            tools->note(tools->arg, "a PMIx tool that does not read what it asked for was let go");
            tool_drop(tool, loop);
        }
    }
    pmix_tool_proxy_hold(tools);
    let_in(tools);
    if (tools->fd >= 0)
        ev_io_start(loop, &tools->io);
}

/* ---- the door ---- */

static void on_accept(struct ev_loop *loop, ev_io *io, int events)
{
    struct tools *tools = io->data;
    int fd = accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    (void)events;
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE)
            ev_io_stop(loop, io); /* on_tick() tries again */
        return;
    }
    if (tools->count >= TOOL_PROXY_MAX || !tcp_peers_is_own(fd)) {
        close(fd);
        return;
    }
    struct tool *tool = mem_alloc(sizeof(*tool)), **last = &tools->first;
    tool->tools = tools;
    tool->moved = clock_monotonic_seconds();
    for (int side = 0; side < TOOL_NSIDES; side++) {
        tool->ends[side].fd = -1;
        ev_io_init(&tool->ends[side].reader, on_far, 0, 0);
        ev_io_init(&tool->ends[side].writer, on_far, 0, 0);
    }
    end_open(tool, loop, TOOL_FAR, fd);
    tool->number = ++tools->numbers;
    while (*last)
        last = &(*last)->next;
    *last = tool;
    tools->count++;
}

static int door_open(struct tools *tools, struct error *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    tools->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (tools->fd < 0 || bind(tools->fd, (struct sockaddr *)&at, len) < 0 ||
        listen(tools->fd, TOOL_PROXY_MAX) < 0 ||
        getsockname(tools->fd, (struct sockaddr *)&at, &len) < 0)
        return error_set(err, "no port for tools on the loopback interface: %s", strerror(errno));
    tools->port = ntohs(at.sin_port);
    ev_io_init(&tools->io, on_accept, tools->fd, EV_READ);
    tools->io.data = tools;
    ev_io_start(tools->loop, &tools->io);
    return 0;
}

/* As openpmix's servers write it: where, which version. A tool that is not told where to go looks
 * for files of this name below $TMPDIR. */
static int pmix_tool_proxy_file_write(struct tools *tools, const struct tool_proxy_config *config,
                                      struct error *err)
{
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof(host) - 1);
    tools->file = mem_format("%s/pmix.%s.tool.%s", config->directory, host, config->name);
    int fd = open(tools->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return error_set(err, "cannot write %s, which tools look for: %s", tools->file,
                         strerror(errno));
    fprintf(file, "%s.%u;tcp4://127.0.0.1:%u\n%s\n%d\n%u:%u\n", config->server, config->node,
            tools->port, pmix_server_version(NULL), (int)getpid(), geteuid(), getegid());
    return fclose(file) ? error_set(err, "cannot write %s: %s", tools->file, strerror(errno)) : 0;
}

/* ---- life ---- */

struct tools *tool_proxy_new(const struct tool_proxy_config *config, struct error *err)
{
    struct tools *tools = mem_alloc(sizeof(*tools));
    *tools = (struct tools){.loop = config->loop,
                            .host = config->host,
                            .note = config->note,
                            .arg = config->arg,
                            .fd = -1};
    ev_io_init(&tools->io, on_accept, 0, 0);
    ev_timer_init(&tools->timer, on_tick, TICK, TICK);
    tools->timer.data = tools;
    if (door_open(tools, err) == 0 && pmix_tool_proxy_file_write(tools, config, err) == 0) {
        ev_timer_start(tools->loop, &tools->timer);
        return tools;
    }
    tool_proxy_free(tools);
    return NULL;
}

static void door_close(struct tools *tools)
{
    ev_io_stop(tools->loop, &tools->io);
    if (tools->fd >= 0)
        close(tools->fd);
    tools->fd = -1;
}

bool tool_proxy_end(struct tools *tools)
{
    if (!tools->ending) {
        tools->ending = true;
        door_close(tools);
        ev_now_update(tools->loop);
        tools->end_at = clock_monotonic_seconds() + TOOL_END_PATIENCE;
        ev_timer_stop(tools->loop, &tools->timer);
        ev_timer_set(&tools->timer, TOOL_END_PATIENCE, TICK); /* a turn of the loop */
        ev_timer_start(tools->loop, &tools->timer);
    }
    bool over = true;
    struct tool *next;
    for (struct tool *tool = tools->first; tool; tool = next) {
        next = tool->next;
        bool waits = tool->phase == TOOL_IS_IN && !tool->ends[TOOL_FAR].ended;
        if (waits && pmix_server_output_is_out(tools->host))
            tool_finish(tool, tools->loop);
        over &= !waits;
    }
    return over || clock_monotonic_seconds() >= tools->end_at;
}

void tool_proxy_free(struct tools *tools)
{
    if (!tools)
        return;
    door_close(tools);
    ev_timer_stop(tools->loop, &tools->timer);
    while (tools->first)
        remove_tool(tools->first);
    free(tools->file);
    free(tools);
}

const char *tool_proxy_file(const struct tools *tools)
{
    return tools->file;
}

void tool_proxy_came(struct tools *tools, uint32_t number)
{
    struct tool *tool = tools->first;
    while (tool && tool->number != number)
        tool = tool->next;
    if (tool)
        tool->phase = TOOL_IS_IN;
    let_in(tools);
}
