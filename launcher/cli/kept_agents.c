/* The socket of agents that are kept: its name, who listens there, who connects. */
#include "launcher/cli/kept_agents.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/duration.h"
#include "base/hash_table.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "config.h"
#include "launcher/control/authorize.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/ledger/private_directory.h"
#include "launcher/source/batch_system.h"
#include "launcher/spec/spec_build.h"
#include "launcher/tree/agent_broker.h"

#define KEPT_DIRECTORY "agents"
#define KEPT_BACKLOG 64
#define KEPT_PATIENCE                                                                              \
    5000 /* ms in which whoever keeps agents has to answer; one that is stopped does not */

/* ---- which ---- */

bool kept_agents_are_wanted(const struct spec *spec)
{
    const char *method = spec->bootstrap;
    bool elsewhere = spec->hosts || spec->hostfile || spec->resources ||
                     batch_system_find(BATCH_SYSTEM_FILE | BATCH_SYSTEM_BATCH);
    bool by_command = method && strcmp(method, "auto") != 0 && strcmp(method, "local") != 0;
    bool once = (spec->resources && strcmp(spec->resources, "-") == 0) || /* stdin is read once */
                (spec->hostfile && strcmp(spec->hostfile, "-") == 0);
    return spec->keep_agents > 0 && !spec->dry_run && !spec_saves(spec) && !once &&
           !batch_system_find(BATCH_SYSTEM_ENCLOSING) && (elsewhere || by_command);
}

/* A file by its name and by what tells whether it was changed; one that is not there has a name alone. */
static void add_kept_file(struct buf *text, const char *what, const char *path)
{
    struct stat st = {0};
    char *real = path ? realpath(path, NULL) : NULL;
    if (path && stat(path, &st) < 0)
        st = (struct stat){0};
    buf_printf(text, "%s %s %llu %llu %lld %lld.%09ld\n", what,
               real   ? real
               : path ? path
                      : "",
               (unsigned long long)st.st_dev, (unsigned long long)st.st_ino, (long long)st.st_size,
               (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    free(real);
}

static void add_kept_text(struct buf *text, const char *what, const char *value)
{
    buf_printf(text, "%s %s\n", what, value ? value : "");
}

static char *kept_name(const struct spec *spec)
{
    struct buf text = BUF_INIT;
    char *job = batch_system_identity(
        batch_system_find(BATCH_SYSTEM_FILE | BATCH_SYSTEM_BATCH | BATCH_SYSTEM_MACHINE));
    add_kept_text(&text, "version", PACKAGE_VERSION);
    add_kept_file(&text, "program", "/proc/self/exe");
    add_kept_file(&text, "agent", spec->agent);
    add_kept_text(&text, "job", job);
    add_kept_file(&text, "R", spec->resources);
    add_kept_file(&text, "hostfile", spec->hostfile);
    add_kept_text(&text, "hosts", spec->hosts);
    add_kept_text(&text, "exclude", spec->exclude);
    add_kept_text(&text, "requires", spec->requires);
    add_kept_text(&text, "bootstrap", spec->bootstrap);
    add_kept_text(&text, "ssh", spec->ssh);
    char *name = mem_format("%016llx", (unsigned long long)hash_table_hash_text(buf_text(&text)));
    buf_free(&text);
    free(job);
    return name;
}

/* ---- the directory ---- */

static int open_directory(char **path, struct error *err)
{
    char *root_path = NULL;
    int root = instance_open_root(&root_path, err);
    *path = mem_format("%s/" KEPT_DIRECTORY, root_path);
    int dir = root < 0 ? -1 : private_directory_open_private(root, KEPT_DIRECTORY, *path, err);
    if (root >= 0)
        close(root);
    free(root_path);
    return dir;
}

/* A new file may have the number of one that was removed. */
static bool is_same_socket(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Another of that name stays. With the lock nobody else removes: the name that is looked at is the one that goes. */
static void remove_socket(int dir, const char *name, const struct stat *socket)
{
    struct stat there;
    flock(dir, LOCK_EX);
    if (fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && is_same_socket(&there, socket))
        unlinkat(dir, name, 0);
    flock(dir, LOCK_UN);
}

/* In this open directory, which may have a path of any length. */
static struct sockaddr_un kept_address(int dir, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%.64s", dir, name);
    return address;
}

/* *socket_file is the one that was there just before. */
static int kept_connect(int dir, const char *name, struct stat *socket_file)
{
    struct sockaddr_un address = kept_address(dir, name);
    struct timeval patience = {.tv_sec = KEPT_PATIENCE / 1000};
    *socket_file = (struct stat){0};
    fstatat(dir, name, socket_file, AT_SYMLINK_NOFOLLOW);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0) /* of connect(), where too many wait at one that is stopped */
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* Sockets at which nobody listens any more: their processes were killed. */
static void remove_dead(int dir)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    for (const struct dirent *entry; stream && (entry = readdir(stream));) {
        struct stat socket_file;
        bool is_one = entry->d_name[0] != '.';
        int fd = is_one ? kept_connect(dir, entry->d_name, &socket_file) : -1;
        if (is_one && fd < 0 && errno == ECONNREFUSED)
            remove_socket(dir, entry->d_name, &socket_file);
        if (fd >= 0)
            close(fd);
    }
    if (stream)
        closedir(stream);
    else if (copy >= 0)
        close(copy);
}

/* ---- a run ---- */

/* A byte says that they are kept for us, too; one that is about to end, or is stopped, says nothing. */
static bool is_answered(int fd, double seconds)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    char byte;
    if (agent_broker_keep(fd, seconds, NULL) < 0)
        return false;
    while (poll(&ready, 1, KEPT_PATIENCE) < 0)
        if (errno != EINTR)
            return false;
    return recv(fd, &byte, 1, MSG_DONTWAIT) == 1;
}

int kept_agents_connect(const struct spec *spec, struct error *err)
{
    struct ucred cred;
    socklen_t len = sizeof(cred);
    struct stat socket_file;
    char *path, *name = kept_name(spec);
    int dir = open_directory(&path, err);
    int fd = dir < 0 ? -1 : kept_connect(dir, name, &socket_file);
    bool usable = fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 &&
                  authorize("keep agents", geteuid(), cred.uid, err) == 0 &&
                  is_answered(fd, spec->keep_agents);
    if (fd >= 0 && !usable) {
        close(fd);
        remove_socket(dir, name,
                      &socket_file); /* it ends, or is stopped: nobody else has to wait for it */
    }
    if (dir >= 0)
        close(dir);
    free(path);
    free(name);
    return usable ? fd : err->text ? -1 : 0;
}

/* ---- whoever keeps them ---- */

struct spec *kept_agents_program(const struct spec *spec)
{
    const char *const texts[][2] = {{"-R", spec->resources},
                                    {"--hosts", spec->hosts},
                                    {"--hostfile", spec->hostfile},
                                    {"--exclude", spec->exclude},
                                    {"--requires", spec->requires}};
    struct spec *own = spec_new();
    struct spec_part *part = spec_add_part(own);
    struct string_list words = {0};
    string_list_add_copy(&words, "tprun");
    string_list_add_copy(&words, "--keep-agents");
    string_list_add(&words, duration_encode(spec->keep_agents));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i][1]) {
            string_list_add_copy(&words, texts[i][0]);
            string_list_add_copy(&words, texts[i][1]);
        }
    part->argv = string_list_take(&words);
    part->fill = true;
    free(own->input_arg);
    free(own->bootstrap);
    free(own->ssh);
    own->input_arg = NULL;
    own->input = SPEC_INPUT_NONE;
    own->bootstrap = mem_copy_text(spec->bootstrap);
    own->ssh = mem_copy_text(spec->ssh);
    own->agent = mem_copy_text(spec->agent);
    own->resources = mem_copy_text(spec->resources);
    own->hosts = mem_copy_text(spec->hosts);
    own->hostfile = mem_copy_text(spec->hostfile);
    own->exclude = mem_copy_text(spec->exclude);
    own->requires = mem_copy_text(spec->requires);
    own->directory = mem_copy_text(spec->directory);
    own->fanout = spec->fanout;
    own->start_timeout = spec->start_timeout;
    own->node_timeout = spec->node_timeout;
    own->verbose = spec->verbose;
    own->keep_agents = spec->keep_agents;
    own->pmi = 0;
    own->overlap = true;
    own->detach = true;
    own->agents_only = true;
    return own;
}

/* Nobody finds it before somebody listens there. With the lock, for the draft's name is the same for all: what there is
 * of it was left by one that was killed. -1 with errno: EEXIST where somebody listens already. */
static int listen_kept(int dir, const char *name, struct stat *socket_file)
{
    static const char draft[] = ".new";
    struct sockaddr_un address = kept_address(dir, draft);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlinkat(dir, draft, 0);
    mode_t before = umask(0177);
    int rc = fd < 0 ? -1 : bind(fd, (struct sockaddr *)&address, sizeof(address));
    umask(before);
    if (rc == 0)
        rc = listen(fd, KEPT_BACKLOG);
    if (rc == 0)
        rc = fstatat(dir, draft, socket_file, AT_SYMLINK_NOFOLLOW);
    if (rc == 0)
        rc = linkat(dir, draft, dir, name, 0);
    int why = errno;
    unlinkat(dir, draft, 0);
    if (rc == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

int kept_agents_listen(const struct spec *spec, struct kept_agents_socket *kept, struct error *err)
{
    *kept = (struct kept_agents_socket){.name = kept_name(spec)};
    int dir = open_directory(&kept->directory, err);
    if (dir < 0)
        return -1;
    remove_dead(dir);
    flock(dir, LOCK_EX);
    int fd = listen_kept(dir, kept->name, &kept->file);
    flock(dir, LOCK_UN);
    if (fd < 0 && errno == EEXIST)
        fd = 0;
    else if (fd < 0)
        error_set(err, "--keep-agents: cannot make a socket in %s: %s", kept->directory,
                  strerror(errno));
    close(dir);
    return fd;
}

void kept_agents_withdraw(void *arg)
{
    const struct kept_agents_socket *kept = arg;
    int dir = open(kept->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return;
    remove_socket(dir, kept->name, &kept->file);
    close(dir);
}

void kept_agents_socket_clear(struct kept_agents_socket *kept)
{
    free(kept->directory);
    free(kept->name);
    *kept = (struct kept_agents_socket){0};
}
