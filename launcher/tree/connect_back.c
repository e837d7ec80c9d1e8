/* Both sides of an agent's way back: the parent that listens, and the agent that connects. */
#include "launcher/tree/connect_back.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <math.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "launcher/tree/link.h"

#define KEY 32 /* bytes */
#define NAME_MAX_LEN 255
#define CALLERS_MAX 256 /* connections without a key yet; for one more the oldest goes */
#define ADDRESSES_MAX 16

struct key {
    unsigned char bytes[KEY];
};

struct caller { /* a connection that has not said all of: key, length of the name, name */
    struct connect_back *back;
    struct caller *next;
    int fd;
    size_t len;
    unsigned char said[KEY + 1 + NAME_MAX_LEN];
    ev_io reader;
    ev_timer patience;
};

struct connect_back {
    struct ev_loop *loop;
    connect_back_arrived *arrived;
    void *arg;
    double patience;
    int fd;
    uint16_t port;
    struct key agents, parents;
    ev_io acceptor;
    struct caller *callers;
    unsigned count;
};

/* ---- keys ---- */

/* Takes as long whatever differs. */
static bool key_is(const struct key *key, const unsigned char *bytes)
{
    unsigned differs = 0;
    for (size_t i = 0; i < KEY; i++)
        differs |= key->bytes[i] ^ bytes[i];
    return !differs;
}

static char *key_encode(const struct key *key)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < KEY; i++)
        buf_printf(&text, "%02x", key->bytes[i]);
    return buf_take_text(&text);
}

static bool key_decode(struct key *key, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    if (strlen(text) != (size_t)2 * KEY || strspn(text, digits) != (size_t)2 * KEY)
        return false;
    for (size_t i = 0; i < KEY; i++)
        key->bytes[i] = (unsigned char)((strchr(digits, text[2 * i]) - digits) * 16 +
                                        (strchr(digits, text[2 * i + 1]) - digits));
    return true;
}

/* ---- who calls ---- */

static void caller_free(struct caller *caller)
{
    struct connect_back *back = caller->back;
    ev_io_stop(back->loop, &caller->reader);
    ev_timer_stop(back->loop, &caller->patience);
    if (caller->fd >= 0)
        close(caller->fd);
    free(caller);
}

static void caller_drop(struct caller *caller)
{
    struct connect_back *back = caller->back;
    struct caller **at = &back->callers;
    while (*at != caller)
        at = &(*at)->next;
    *at = caller->next;
    back->count--;
    caller_free(caller);
}

static void caller_late(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    caller_drop(timer->data);
}

/* Exactly the bytes of its introduction are read: what follows is the link's. */
static void caller_read(struct ev_loop *loop, ev_io *io, int events)
{
    struct caller *caller = io->data;
    struct connect_back *back = caller->back;
    size_t want = KEY + 1 + (caller->len > KEY ? caller->said[KEY] : 0);
    ssize_t n = recv(caller->fd, caller->said + caller->len, want - caller->len, 0);
    (void)loop;
    (void)events;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        caller_drop(caller);
        return;
    }
    caller->len += (size_t)n;
    if (caller->len >= KEY && !key_is(&back->agents, caller->said)) {
        caller_drop(caller);
        return;
    }
    if (caller->len <= KEY || caller->len < KEY + 1 + (size_t)caller->said[KEY])
        return;
    char *name = mem_copy_text_n((const char *)caller->said + KEY + 1, caller->said[KEY]);
    int fd = caller->fd;
    caller->fd = -1;
    caller_drop(caller);
    back->arrived(back->arg, fd, name);
    free(name);
}

static void send_at_once(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* Strangers must not keep agents out, however many connect: an agent has said all by now. */
static void back_accept(struct ev_loop *loop, ev_io *io, int events)
{
    struct connect_back *back = io->data;
    int fd = accept4(back->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    bool full = back->count == CALLERS_MAX || (fd < 0 && (errno == EMFILE || errno == ENFILE));
    if (full && back->count) {
        struct caller *oldest = back->callers;
        while (oldest->next)
            oldest = oldest->next;
        caller_drop(oldest);
    }
    if (fd < 0)
        return;
    struct caller *caller = mem_alloc(sizeof(*caller));
    send_at_once(fd);
    caller->back = back;
    caller->fd = fd;
    caller->next = back->callers;
    back->callers = caller;
    ev_io_init(&caller->reader, caller_read, fd, EV_READ);
    caller->reader.data = caller;
    ev_io_start(loop, &caller->reader);
    ev_timer_init(&caller->patience, caller_late, CONNECT_BACK_PATIENCE, 0);
    caller->patience.data = caller;
    ev_timer_start(loop, &caller->patience);
    back->count++;
    caller_read(loop, &caller->reader, events);
}

/* ---- listening ---- */

/* On every address of this host, of both families where there are both. */
static int listen_on(uint16_t port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    int off = 0, fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0 &&
        bind(fd, (struct sockaddr *)&six, sizeof(six)) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&four, sizeof(four)) == 0 &&
        listen(fd, SOMAXCONN) == 0)
        return fd;
    int number = errno;
    if (fd >= 0)
        close(fd);
    errno = number;
    return -1;
}

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

/* Which of them is tried first is by chance: several programs may start at a time. */
static int listen_within(struct connect_back_ports ports)
{
    uint32_t count = (uint32_t)(ports.high - ports.low) + 1, start = 0;
    if (!ports.low)
        return listen_on(0);
    if (getrandom(&start, sizeof(start), 0) < 0)
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        int fd = listen_on((uint16_t)(ports.low + (start + i) % count));
        if (fd >= 0 || errno != EADDRINUSE)
            return fd;
    }
    return -1;
}

struct connect_back *connect_back_new(struct ev_loop *loop, struct connect_back_ports ports,
                                      double patience, connect_back_arrived *arrived, void *arg,
                                      struct error *err)
{
    struct connect_back *back = mem_alloc(sizeof(*back));
    back->loop = loop;
    back->patience = patience;
    back->arrived = arrived;
    back->arg = arg;
    back->fd = listen_within(ports);
    union address own = {.six = {0}};
    socklen_t len = sizeof(own);
    if (back->fd >= 0 && getsockname(back->fd, &own.any, &len) == 0)
        back->port = ntohs(own.any.sa_family == AF_INET6 ? own.six.sin6_port : own.four.sin_port);
    if (!back->port || getrandom(&back->agents, KEY, 0) != KEY ||
        getrandom(&back->parents, KEY, 0) != KEY) {
        if (ports.low && back->fd < 0)
            error_set(err, "cannot listen for agents on ports %u to %u (SrunPortRange): %s",
                      ports.low, ports.high, strerror(errno));
        else
            error_set(err, "cannot listen for agents: %s", strerror(errno));
        if (back->fd >= 0)
            close(back->fd);
        free(back);
        return NULL;
    }
    ev_io_init(&back->acceptor, back_accept, back->fd, EV_READ);
    back->acceptor.data = back;
    ev_io_start(loop, &back->acceptor);
    return back;
}

void connect_back_free(struct connect_back *back)
{
    if (!back)
        return;
    for (struct caller *caller = back->callers, *next; caller; caller = next) {
        next = caller->next;
        caller_free(caller);
    }
    ev_io_stop(back->loop, &back->acceptor);
    close(back->fd);
    explicit_bzero(back, sizeof(*back));
    free(back);
}

/* Those that other hosts can use first: loopback is for an agent on this one. */
static json_t *own_addresses(void)
{
    json_t *list = json_array();
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) < 0)
        return list;
    for (int loopback = 0; loopback <= 1; loopback++)
        for (const struct ifaddrs *at = all; at; at = at->ifa_next) {
            char text[NI_MAXHOST];
            if (!at->ifa_addr || !(at->ifa_flags & IFF_UP) ||
                !(at->ifa_flags & IFF_LOOPBACK) != !loopback ||
                json_array_size(list) == ADDRESSES_MAX)
                continue;
            bool four = at->ifa_addr->sa_family == AF_INET;
            if (!four && at->ifa_addr->sa_family != AF_INET6)
                continue;
            socklen_t len = four ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
            /* A link-local address means something on its own link only. */
            if (getnameinfo(at->ifa_addr, len, text, sizeof(text), NULL, 0, NI_NUMERICHOST) == 0 &&
                !strchr(text, '%'))
                json_array_append_new(list, json_string(text));
        }
    freeifaddrs(all);
    return list;
}

/* The network namespace of this process, with the kernel's boot id: the same text means the same
 * addresses. "" where it is not known. */
static char *own_network(void)
{
    char boot[64] = "", space[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    bool known = file && fgets(boot, sizeof(boot), file) &&
                 readlink("/proc/self/ns/net", space, sizeof(space) - 1) > 0;
    if (file)
        fclose(file);
    boot[strcspn(boot, "\n")] = '\0';
    return known ? mem_format("%s %s", boot, space) : mem_copy_text("");
}

json_t *connect_back_call(const struct connect_back *back)
{
    char *agents = key_encode(&back->agents), *parents = key_encode(&back->parents);
    char *network = own_network();
    json_t *call =
        json_pack("{s:i, s:s, s:s, s:s, s:o, s:o}", "port", (int)back->port, "key", agents,
                  "answer", parents, "network", network, "addresses", own_addresses(), "patience",
                  isinf(back->patience) ? json_null() : json_real(back->patience));
    free(network);
    free(agents);
    free(parents);
    return call;
}

int connect_back_accept(const struct connect_back *back, int fd)
{
    return send(fd, &back->parents, KEY, MSG_NOSIGNAL) == KEY ? 0 : -1;
}

void connect_back_disown(struct connect_back *back)
{
    if (!back)
        return;
    close(back->fd);
    for (struct caller *caller = back->callers; caller; caller = caller->next)
        close(caller->fd);
}

/* ---- the agent ---- */

static int left_ms(uint64_t deadline)
{
    uint64_t now = clock_monotonic_ns();
    if (now >= deadline)
        return 0;
    uint64_t ms = (deadline - now) / 1000000 + 1;
    return ms < INT32_MAX ? (int)ms : INT32_MAX;
}

static bool wait_for(int fd, short events, uint64_t deadline)
{
    struct pollfd poller = {.fd = fd, .events = events};
    int n;
    do
        n = poll(&poller, 1, left_ms(deadline));
    while (n < 0 && errno == EINTR);
    if (n == 0)
        errno = ETIMEDOUT;
    return n > 0;
}

/* A socket that connects, or has; -1 with errno. */
static int connect_begin(const char *address, uint16_t port)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *found;
    char service[8];
    snprintf(service, sizeof(service), "%u", port);
    errno = EINVAL;
    if (getaddrinfo(address, service, &hints, &found) != 0)
        return -1;
    int number = 0, fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) < 0 && errno != EINPROGRESS)
        number = errno;
    freeaddrinfo(found);
    if (fd < 0 || !number)
        return fd;
    close(fd);
    errno = number;
    return -1;
}

/* This host itself is at the other end, or that cannot be told. */
static bool leads_here(int fd)
{
    union address own = {.six = {0}}, peer = {.six = {0}};
    socklen_t own_len = sizeof(own), peer_len = sizeof(peer);
    if (getsockname(fd, &own.any, &own_len) < 0 || getpeername(fd, &peer.any, &peer_len) < 0)
        return true;
    if (peer.any.sa_family == AF_INET)
        return ntohl(peer.four.sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET ||
               peer.four.sin_addr.s_addr == own.four.sin_addr.s_addr;
    return IN6_IS_ADDR_LOOPBACK(&peer.six.sin6_addr) ||
           IN6_ARE_ADDR_EQUAL(&peer.six.sin6_addr, &own.six.sin6_addr);
}

static int introduce(int fd, const struct key *agents, const struct key *parents, uint64_t deadline)
{
    unsigned char said[KEY + 1 + NAME_MAX_LEN], answer[KEY];
    char name[NAME_MAX_LEN + 1] = "";
    size_t done = 0;
    /* Slurm's name for this host is the one that its node lists have. */
    const char *known = getenv("SLURMD_NODENAME");
    if (known && *known)
        strncpy(name, known, NAME_MAX_LEN);
    else
        gethostname(name, NAME_MAX_LEN);
    size_t len = strnlen(name, NAME_MAX_LEN);
    memcpy(said, agents, KEY);
    said[KEY] = (unsigned char)len;
    memcpy(said + KEY + 1, name, len);
    if (send(fd, said, KEY + 1 + len, MSG_NOSIGNAL) != (ssize_t)(KEY + 1 + len))
        return -1;
    while (done < KEY) {
        if (!wait_for(fd, POLLIN, deadline))
            return -1;
        ssize_t n = recv(fd, answer + done, KEY - done, 0);
        if (n == 0)
            errno = ECONNRESET;
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    errno = EPERM;
    return key_is(parents, answer) ? 0 : -1;
}

struct route { /* what an agent is told */
    struct key agents, parents;
    uint16_t port;
    bool same; /* the parent has this host's addresses */
    uint64_t deadline;
};

struct attempt { /* at one address */
    const char *address;
    int fd;            /* -1: not begun, or given up */
    uint64_t deadline; /* of its connection */
};

/* The key is for the parent: many hosts have addresses of the same text, loopback's and those of
 * bridges, and anybody may listen there. False: it is given up; the first sentence is kept. */
static bool attempt_is_through(struct attempt *attempt, const struct route *route, int number,
                               struct error *err)
{
    bool stray = !number && !route->same && leads_here(attempt->fd);
    if (!number && !stray &&
        introduce(attempt->fd, &route->agents, &route->parents, attempt->deadline) == 0) {
        send_at_once(attempt->fd);
        return true;
    }
    number = number ? number : errno;
    if (err && !err->text)
        error_set(err, "cannot connect back to %s, port %u: %s", attempt->address, route->port,
                  stray             ? "that is this host, and the agent's parent is on another"
                  : number == EPERM ? "somebody else answers there"
                                    : strerror(number));
    if (attempt->fd >= 0)
        close(attempt->fd);
    attempt->fd = -1;
    return false;
}

static uint64_t soon(const struct route *route, double seconds)
{
    uint64_t at = clock_monotonic_ns() + (uint64_t)(seconds * 1e9);
    return at < route->deadline ? at : route->deadline;
}

/* Until one of them is connected or has failed: that one. NULL: none did up to `until`. */
static struct attempt *attempts_wait(struct attempt *attempts, size_t count, uint64_t until)
{
    struct pollfd pollers[ADDRESSES_MAX + 1];
    for (size_t i = 0; i < count; i++) /* poll() passes over -1 */
        pollers[i] = (struct pollfd){.fd = attempts[i].fd, .events = POLLOUT};
    int n;
    do
        n = poll(pollers, count, left_ms(until));
    while (n < 0 && errno == EINTR);
    for (size_t i = 0; i < count && n > 0; i++)
        if (pollers[i].fd >= 0 && pollers[i].revents)
            return &attempts[i];
    return NULL;
}

static struct attempt *attempt_late(struct attempt *attempts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (attempts[i].fd >= 0 && clock_monotonic_ns() >= attempts[i].deadline)
            return &attempts[i];
    return NULL;
}

/* Where nobody answers a connection takes its time, so that the next address has its turn meanwhile
 * (RFC 8305). */
static int attempts_follow(struct attempt *attempts, size_t count, const struct route *route,
                           struct error *err)
{
    size_t begun = 0, open = 0;
    struct attempt *found = NULL, *one;
    while (!found && (begun < count || open)) {
        if (begun < count) {
            one = &attempts[begun++];
            one->deadline = soon(route, CONNECT_BACK_PATIENCE);
            one->fd = connect_begin(one->address, route->port);
            if (one->fd < 0 && !attempt_is_through(one, route, errno, err))
                continue;
            open++;
        }
        uint64_t turn = soon(route, begun < count ? CONNECT_BACK_TURN : CONNECT_BACK_PATIENCE);
        while (open && (one = attempts_wait(attempts, begun, turn))) {
            int number = 0;
            socklen_t len = sizeof(number);
            if (getsockopt(one->fd, SOL_SOCKET, SO_ERROR, &number, &len) < 0)
                number = errno;
            if (attempt_is_through(one, route, number, err)) {
                found = one;
                break;
            }
            open--;
        }
        while (!found && (one = attempt_late(attempts, begun))) {
            attempt_is_through(one, route, ETIMEDOUT, err);
            open--;
        }
    }
    for (size_t i = 0; i < begun; i++)
        if (attempts[i].fd >= 0 && &attempts[i] != found)
            close(attempts[i].fd);
    return found ? found->fd : -1;
}

int connect_back_follow(const json_t *call, struct error *err)
{
    const char *agents, *parents, *network, *launcher = getenv("SLURM_LAUNCH_NODE_IPADDR");
    json_t *addresses, *patience;
    struct attempt attempts[ADDRESSES_MAX + 1];
    struct route route;
    size_t count = 0;
    int port, fd;
    json_error_t where;
    if (json_unpack_ex((json_t *)(uintptr_t)call, &where, 0, "{s:i, s:s, s:s, s:s, s:o, s:o}",
                       "port", &port, "key", &agents, "answer", &parents, "network", &network,
                       "addresses", &addresses, "patience", &patience) < 0)
        return error_set(err, "the call of the agent's parent is malformed: %s", where.text);
    if (port < 1 || port > UINT16_MAX || !key_decode(&route.agents, agents) ||
        !key_decode(&route.parents, parents))
        return error_set(err, "the call of the agent's parent is malformed");
    double seconds = json_is_number(patience) ? json_number_value(patience) : 3600;
    char *own = own_network();
    route.port = (uint16_t)port;
    route.same = *own && strcmp(own, network) == 0;
    route.deadline = clock_monotonic_ns() + (uint64_t)(fmin(fmax(seconds, 0), 3600) * 1e9);
    free(own);
    if (launcher && *launcher)
        attempts[count++] = (struct attempt){.address = launcher, .fd = -1};
    for (size_t i = 0; i < json_array_size(addresses) && i < ADDRESSES_MAX; i++) {
        const char *address = json_string_value(json_array_get(addresses, i));
        if (address && !(launcher && strcmp(launcher, address) == 0))
            attempts[count++] = (struct attempt){.address = address, .fd = -1};
    }
    fd = attempts_follow(attempts, count, &route, err);
    if (fd >= 0)
        error_clear(err);
    explicit_bzero(&route, sizeof(route));
    if (fd < 0 && err && !err->text)
        error_set(err, "the call of the agent's parent has no address");
    return fd;
}
