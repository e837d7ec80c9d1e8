/* Host names and addresses compared with those of this machine, for sources and bootstraps. */
#include "launcher/process/localhost.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/process/reap.h"

#define KNOWN_NAMES 128 /* that are remembered, */
#define KNOWN_NAME 120  /* each shorter than this */

char *localhost_name(void)
{
    char name[HOST_NAME_MAX + 1] = "";
    if (gethostname(name, sizeof(name) - 1) < 0 || !name[0])
        return mem_copy_text("localhost");
    return mem_copy_text(name);
}

static bool addresses_equal(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    return a->sa_family == AF_INET6 &&
           memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                  &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
}

/* All of 127.0.0.0/8 is this machine (Debian gives it 127.0.1.1), whatever its interfaces say. */
static bool address_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/* The addresses of a text; NULL when it has none. Numeric only: no question leaves this process. */
static struct addrinfo *here_lookup(const char *host, int flags)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags}, *found = NULL;
    return getaddrinfo(host, NULL, &hints, &found) == 0 ? found : NULL;
}

static bool here_has_any(const struct addrinfo *found, const struct ifaddrs *own)
{
    for (; found; found = found->ai_next) {
        if (address_is_loopback(found->ai_addr))
            return true;
        for (const struct ifaddrs *at = own; at; at = at->ifa_next)
            if (at->ifa_addr && addresses_equal(found->ai_addr, at->ifa_addr))
                return true;
    }
    return false;
}

static bool named_here(const char *host, const char *own)
{
    size_t label = strcspn(own, ".");
    return strcasecmp(host, "localhost") == 0 || strcasecmp(host, own) == 0 ||
           (strncasecmp(host, own, label) == 0 && !host[label]);
}

/* A name is looked up nowhere: an address begins with a digit, or has a colon. */
static bool addressed_here(const char *host)
{
    struct ifaddrs *own = NULL;
    bool numeric = (host[0] >= '0' && host[0] <= '9') || strchr(host, ':');
    struct addrinfo *found = numeric ? here_lookup(host, AI_NUMERICHOST) : NULL;
    if (!found)
        return false;
    if (getifaddrs(&own) < 0)
        own = NULL;
    bool here = here_has_any(found, own);
    freeaddrinfo(found);
    if (own)
        freeifaddrs(own);
    return here;
}

void localhost_find_literals(const char *const *hosts, bool *here, size_t count)
{
    char *own = localhost_name();
    for (size_t i = 0; i < count; i++)
        here[i] = named_here(hosts[i], own) || addressed_here(hosts[i]);
    free(own);
}

bool localhost_is_literal(const char *host)
{
    bool here;
    localhost_find_literals(&host, &here, 1);
    return here;
}

/* The child's life: an index for each name that is this machine's. */
static void here_answer(const char *const *names, size_t count, int fd)
{
    struct ifaddrs *own = NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("RES_OPTIONS", "timeout:1 attempts:1", 1);
    if (getifaddrs(&own) < 0)
        _exit(1);
    for (size_t i = 0; i < count; i++) {
        struct addrinfo *found = here_lookup(names[i], 0);
        unsigned char index = (unsigned char)i;
        if (here_has_any(found, own) && write(fd, &index, 1) != 1)
            _exit(1);
    }
    _exit(0);
}

/* Until the child closes its end, or time is up. */
static void here_collect(int fd, bool *here, size_t count)
{
    uint64_t end = clock_monotonic_ns() + LOCALHOST_LOOKUP_SECONDS * UINT64_C(1000000000);
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    unsigned char index;
    for (;;) {
        uint64_t now = clock_monotonic_ns();
        int ready = poll(&poller, 1, now < end ? (int)((end - now) / 1000000) : 0);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0 || read(fd, &index, 1) != 1)
            return;
        if (index < count)
            here[index] = true;
    }
}

/* getaddrinfo(3) has no deadline: behind a dead name server it may take many seconds a name. So a
 * child does the asking, and is killed when the time for all names is over; threads would have
 * to be left behind, and this process is about to fork. */
static void here_ask(const char *const *names, bool *here, size_t count)
{
    int ends[2];
    if (!count || count > LOCALHOST_MAX_LOOKUPS || pipe2(ends, O_CLOEXEC) < 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        here_answer(names, count, ends[1]);
    }
    close(ends[1]);
    if (child > 0) {
        here_collect(ends[0], here, count);
        kill(child, SIGKILL);
        reap(child, REAP_KILLED, NULL);
    }
    close(ends[0]);
}

/* ---- what is remembered ---- */

struct known_names {
    size_t count; /* that are whole, or being written */
    struct known_name {
        bool is_whole, here;
        char name[KNOWN_NAME];
    } list[KNOWN_NAMES];
};

static struct known_names *known_names; /* NULL: nothing is remembered */

void localhost_remember(void)
{
    if (known_names)
        return;
    void *memory =
        mmap(NULL, sizeof(*known_names), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    known_names = memory == MAP_FAILED ? NULL : memory;
}

static bool known_find(const char *name, bool *here)
{
    size_t count = known_names ? __atomic_load_n(&known_names->count, __ATOMIC_RELAXED) : 0;
    for (size_t i = 0; i < count && i < KNOWN_NAMES; i++) {
        const struct known_name *known = &known_names->list[i];
        if (!__atomic_load_n(&known->is_whole, __ATOMIC_ACQUIRE) || strcmp(known->name, name) != 0)
            continue;
        *here = known->here;
        return true;
    }
    return false;
}

/* Two that learn the same write it twice. */
static void known_add(const char *name, bool here)
{
    if (!known_names || strlen(name) >= KNOWN_NAME)
        return;
    size_t place = __atomic_fetch_add(&known_names->count, 1, __ATOMIC_RELAXED);
    if (place >= KNOWN_NAMES) {
        __atomic_store_n(&known_names->count, KNOWN_NAMES, __ATOMIC_RELAXED);
        return;
    }
    struct known_name *known = &known_names->list[place];
    strcpy(known->name, name);
    known->here = here;
    __atomic_store_n(&known->is_whole, true, __ATOMIC_RELEASE);
}

void localhost_resolve(const char *const *names, bool *here, size_t count)
{
    const char *asked[LOCALHOST_MAX_LOOKUPS];
    bool answer[LOCALHOST_MAX_LOOKUPS] = {false};
    size_t place[LOCALHOST_MAX_LOOKUPS], nasked = 0;
    for (size_t i = 0; i < count && count <= LOCALHOST_MAX_LOOKUPS; i++) {
        if (known_find(names[i], &here[i]))
            continue;
        place[nasked] = i;
        asked[nasked++] = names[i];
    }
    here_ask(asked, answer, nasked);
    for (size_t i = 0; i < nasked; i++) {
        here[place[i]] |= answer[i];
        known_add(asked[i], answer[i]);
    }
}

/* The boot id and the process namespace, which no process changes. It takes the kernel long to say
 * the second. */
static const char *kernel_and_namespace(void)
{
    static char known[128];
    char boot[64] = "", space[64] = "";
    if (*known)
        return known;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file) {
        size_t len = fread(boot, 1, sizeof(boot) - 1, file);
        boot[len] = '\0';
        boot[strcspn(boot, "\n")] = '\0';
        fclose(file);
    }
    ssize_t len = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);
    space[len > 0 ? len : 0] = '\0';
    snprintf(known, sizeof(known), "%s %s", boot, space);
    return known;
}

void localhost_read_ahead(void)
{
    kernel_and_namespace();
}

/* Containers on one kernel have other process namespaces or host names. */
char *localhost_machine(void)
{
    char *name = localhost_name(), *machine = mem_format("%s %s", kernel_and_namespace(), name);
    free(name);
    return machine;
}
