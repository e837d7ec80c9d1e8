/* Names of sockets by which agents that share no register tell each other what they are bound to. */
#include "launcher/agent/other_instances.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <pwd.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define MARK "tprun"
#define CPUS_MAX 40 /* bytes of an idset in one name, which has room for 107 in all */
#define SOCKETS_MAX 64
#define FAMILY_MAX 16
#define REPLY_MAX 32768
#define LOOK_MAX 2048 /* sockets; so many that nobody listens on are hardly anywhere */
#define STATE_CLOSED 7

/* Linux 5.3; an older kernel leaves the attribute out. */
#define SHOW_UID 0x40
#define ATTRIBUTE_UID 7

struct neighbours {
    char place[40]; /* device and inode of the register */
    char family[FAMILY_MAX + 1];
    int sockets[SOCKETS_MAX];
    int count;
};

struct neighbours *other_instances_new(const char *directory, const char *family)
{
    struct stat st;
    if (stat(directory, &st) < 0)
        return NULL;
    struct neighbours *neighbours = mem_alloc(sizeof(*neighbours));
    snprintf(neighbours->place, sizeof(neighbours->place), "%llx:%llx",
             (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
    snprintf(neighbours->family, sizeof(neighbours->family), "%s", *family ? family : "-");
    return neighbours;
}

static void take_back(struct neighbours *neighbours)
{
    while (neighbours->count)
        close(neighbours->sockets[--neighbours->count]);
}

void other_instances_free(struct neighbours *neighbours)
{
    if (!neighbours)
        return;
    take_back(neighbours);
    free(neighbours);
}

/* ---- telling ---- */

static void bind_name(struct neighbours *neighbours, const char *cpus)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int len =
        snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, MARK " %u %s %s %d %s",
                 (unsigned)geteuid(), neighbours->place, neighbours->family, (int)getpid(), cpus);
    int fd = neighbours->count < SOCKETS_MAX ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0 || len < 0 || (size_t)len >= sizeof(address.sun_path) - 1 ||
        bind(fd, (struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)) < 0) {
        if (fd >= 0)
            close(fd);
        return;
    }
    neighbours->sockets[neighbours->count++] = fd;
}

void other_instances_tell(struct neighbours *neighbours, const struct idset *cpus)
{
    char *text = idset_encode(cpus), *at = text;
    take_back(neighbours);
    while (*at) { /* between two commas */
        size_t len = strlen(at);
        if (len > CPUS_MAX)
            for (len = CPUS_MAX; len && at[len] != ','; len--)
                continue;
        bool last = !at[len];
        at[len] = '\0';
        bind_name(neighbours, at);
        at += last ? len : len + 1;
    }
    free(text);
}

/* ---- finding ---- */

struct search {
    const struct neighbours *neighbours;
    const struct idset *cpus;
    bool found;
    uid_t uid;            /* of the first that was found */
    struct idset *common; /* with all of that user's */
};

static void add_neighbour(struct search *search, uid_t uid, const struct idset *cpus)
{
    struct idset *common = idset_intersect(search->cpus, cpus);
    if (!idset_empty(common) && (!search->found || search->uid == uid)) {
        struct idset *all = search->found ? idset_union(search->common, common) : NULL;
        idset_free(search->common);
        search->common = all ? all : idset_copy(common);
        search->found = true;
        search->uid = uid;
    }
    idset_free(common);
}

/* A name of a socket of that user; -1: the kernel does not say whose it is. */
static void look_at_name(struct search *search, const char *name, size_t len, int64_t owner)
{
    char text[sizeof(((struct sockaddr_un *)0)->sun_path) + 1], *words[5];
    if (len < sizeof(MARK) + 1 || len >= sizeof(text) ||
        memcmp(name, "\0" MARK " ", sizeof(MARK) + 1) != 0)
        return;
    memcpy(text, name + sizeof(MARK) + 1, len - sizeof(MARK) - 1);
    text[len - sizeof(MARK) - 1] = '\0';
    /* "UID PLACE FAMILY PID CPUS", or it is not one of these. */
    char *rest = text;
    for (int i = 0; i < 5; i++)
        if (!(words[i] = strtok_r(rest, " ", &rest)))
            return;
    if (*rest || words[0][strspn(words[0], "0123456789")])
        return;
    uid_t uid = (uid_t)strtoul(words[0], NULL, 10);
    bool same = uid == geteuid() && (strcmp(words[1], search->neighbours->place) == 0 ||
                                     strcmp(words[2], search->neighbours->family) == 0);
    struct idset *cpus = same || (owner >= 0 && owner != uid) ? NULL : idset_decode(words[4], NULL);
    if (cpus)
        add_neighbour(search, uid, cpus);
    idset_free(cpus);
}

static void look_at_socket(struct search *search, const struct nlmsghdr *message)
{
    const struct unix_diag_msg *socket = NLMSG_DATA(message);
    int left = (int)message->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*socket));
    const char *name = NULL;
    size_t len = 0;
    int64_t owner = -1;
    const struct rtattr *attribute = (const struct rtattr *)(const void *)(socket + 1);
    for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
        if (attribute->rta_type == UNIX_DIAG_NAME) {
            name = RTA_DATA(attribute);
            len = RTA_PAYLOAD(attribute);
        } else if (attribute->rta_type == ATTRIBUTE_UID && RTA_PAYLOAD(attribute) >= 4) {
            uint32_t uid;
            memcpy(&uid, RTA_DATA(attribute), sizeof(uid));
            owner = uid;
        }
    }
    if (name)
        look_at_name(search, name, len, owner);
}

/* Sockets of this network name space that are neither connected nor listen, as those that tell. What
 * cannot be read is left out, and so is what others have too many of: this only warns. */
static void look_at_all(struct search *search)
{
    struct {
        struct nlmsghdr header;
        struct unix_diag_req request;
    } ask = {{.nlmsg_len = sizeof(ask),
              .nlmsg_type = SOCK_DIAG_BY_FAMILY,
              .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
             {.sdiag_family = AF_UNIX,
              .udiag_states = 1u << STATE_CLOSED,
              .udiag_show = UDIAG_SHOW_NAME | SHOW_UID}};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    void *reply = mem_alloc(REPLY_MAX);
    int looked = 0;
    bool more = fd >= 0 && send(fd, &ask, sizeof(ask), 0) == sizeof(ask);
    while (more) {
        ssize_t got = recv(fd, reply, REPLY_MAX, 0);
        int left = got > 0 ? (int)got : 0;
        more = left > 0 && looked < LOOK_MAX;
        for (const struct nlmsghdr *message = reply; NLMSG_OK(message, (unsigned)left);
             message = NLMSG_NEXT(message, left)) {
            if (message->nlmsg_type == SOCK_DIAG_BY_FAMILY)
                look_at_socket(search, message);
            else
                more = false;
            looked++;
        }
    }
    free(reply);
    if (fd >= 0)
        close(fd);
}

char *other_instances_find(const struct neighbours *neighbours, const struct idset *cpus)
{
    struct search search = {.neighbours = neighbours, .cpus = cpus};
    look_at_all(&search);
    if (!search.found)
        return mem_copy_text("");
    char *ids = idset_encode(search.common);
    bool several = idset_count(search.common) > 1;
    struct buf text = BUF_INIT;
    buf_printf(&text, "processor%s %s %s also bound by a run of ", several ? "s" : "", ids,
               several ? "are" : "is");
    const struct passwd *user = search.uid != geteuid() ? getpwuid(search.uid) : NULL;
    if (search.uid == geteuid())
        buf_add_text(&text, "yours that has another runtime directory mounted (a private /tmp, a "
                            "container): neither sees what the other claims");
    else if (user)
        buf_printf(&text, "%s (%u): users do not see each other's claims", user->pw_name,
                   (unsigned)search.uid);
    else
        buf_printf(&text, "user %u: users do not see each other's claims", (unsigned)search.uid);
    free(ids);
    idset_free(search.common);
    return buf_take_text(&text);
}
