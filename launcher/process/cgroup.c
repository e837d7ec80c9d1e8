/* Where the cgroup of a program can be, and its making, reading, killing and removing, for the
 * guard and the agent of a node. */
#include "launcher/process/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/magic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "launcher/process/owned_directory.h"

#define TREE_DEPTH 16           /* open directories at a time */
#define SWEEP_WAIT_MS 5000      /* for what was killed to end */
#define SWEEP_PAUSE 1000000000u /* ns from one sweep to the next */

struct cgroup {
    bool noted; /* set last: whoever reads it may be called at any point of the maker's death */
    pid_t maker;
    int dir;     /* in the maker */
    int hold[2]; /* sockets that the maker and those before it have open */
    char path[PATH_MAX];
    char own[PATH_MAX]; /* the maker's own, if that was looked for */
};

struct cgroup *cgroup_new(void)
{
    struct cgroup *cgroup = mmap(NULL, sizeof(struct cgroup), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (cgroup == MAP_FAILED)
        return NULL;
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, cgroup->hold) < 0)
        cgroup->hold[0] = cgroup->hold[1] = -1;
    return cgroup;
}

const char *cgroup_path(const struct cgroup *cgroup)
{
    return cgroup && __atomic_load_n(&cgroup->noted, __ATOMIC_ACQUIRE) ? cgroup->path : NULL;
}

int cgroup_dir(const struct cgroup *cgroup)
{
    return cgroup_path(cgroup) && cgroup->maker == getpid() ? cgroup->dir : -1;
}

/* ---- where ---- */

struct word {
    const char *at;
    size_t len;
};

/* The next of a line's words; an empty one at its end. */
static struct word cgroup_word_next(const char **at)
{
    *at += strspn(*at, " ");
    struct word word = {*at, strcspn(*at, " \n")};
    *at += word.len;
    return word;
}

static bool word_is(struct word word, const char *text)
{
    return word.len == strlen(text) && strncmp(word.at, text, word.len) == 0;
}

/* mountinfo writes blanks, newlines and backslashes as \ooo. Caller frees. */
static char *word_text(struct word word)
{
    char *text = mem_copy_text_n(word.at, word.len), *to = text;
    for (const char *from = text; *from;) {
        bool octal = from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
                     from[2] <= '7' && from[3] >= '0' && from[3] <= '7';
        int code = octal ? (from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0') : *from;
        from += octal ? 4 : 1;
        if (code)
            *to++ = (char)code;
    }
    *to = '\0';
    return text;
}

/* What is left of a path below a root that begins it; NULL where the root does not. */
static const char *path_below(const char *path, const char *root)
{
    size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);
    /* /../... is outside of the cgroup namespace that the process sees. */
    for (const char *up = path; (up = strstr(up, "/..")); up += 3)
        if (!up[3] || up[3] == '/')
            return NULL;
    if (strncmp(path, root, len) != 0 || (path[len] && path[len] != '/'))
        return NULL;
    return path[len] == '/' && !path[len + 1] ? path + len + 1 : path + len;
}

/* Whether a list with commas has this word. */
static bool list_has(struct word list, const char *text)
{
    size_t len = strlen(text);
    for (size_t at = 0, end; at < list.len; at = end + 1) {
        for (end = at; end < list.len && list.at[end] != ',';)
            end++;
        if (end - at == len && strncmp(list.at + at, text, len) == 0)
            return true;
    }
    return false;
}

/* Which hierarchy of cgroups: all controllers of v2 are in one, those of v1 may each have theirs. */
struct hierarchy {
    const char *type;       /* of its file system */
    const char *controller; /* of v1; NULL for v2 */
};

static const struct hierarchy unified = {"cgroup2", NULL}, cpu_v1 = {"cgroup", "cpu"};

/* A line of mountinfo: id, parent, device, root, where, options, tags ..., "-", type, ... `own` is
 * there as the directory that is returned; *top becomes the length of the mount point's name. */
static char *mount_locate(const char *line, const struct hierarchy *hierarchy, const char *own,
                          bool *seen, size_t *top)
{
    struct word words[5], word;
    for (size_t i = 0; i < 5; i++)
        words[i] = cgroup_word_next(&line);
    do {
        word = cgroup_word_next(&line);
    } while (word.len && !word_is(word, "-"));
    /* Behind "-": type, source, options of the file system, where v1 names its controllers. */
    struct word type = cgroup_word_next(&line);
    cgroup_word_next(&line);
    struct word options = cgroup_word_next(&line);
    bool ours = word_is(type, hierarchy->type) &&
                (!hierarchy->controller || list_has(options, hierarchy->controller));
    if (!ours || words[4].at[0] != '/')
        return NULL;
    *seen = true;
    char *root = word_text(words[3]), *where = word_text(words[4]);
    const char *below = root[0] == '/' ? path_below(own, root) : NULL;
    char *path = below ? mem_format("%s%s", below[0] && !where[1] ? "" : where, below) : NULL;
    *top = strlen(where);
    free(root);
    free(where);
    return path;
}

/* Of the line "NUMBER:CONTROLLERS:PATH", which is "0::PATH" for v2. Caller frees. */
static char *own_path(const char *own, const struct hierarchy *hierarchy)
{
    for (; *own; own += strcspn(own, "\n"), own += *own == '\n') {
        const char *list = own + strcspn(own, ":\n");
        struct word words = {list + 1, *list == ':' ? strcspn(list + 1, ":\n") : 0};
        const char *path = words.at + words.len + 1;
        bool ours = hierarchy->controller ? list_has(words, hierarchy->controller)
                                          : strncmp(own, "0::", 3) == 0;
        if (*list == ':' && words.at[words.len] == ':' && ours && *path == '/')
            return mem_copy_text_n(path, strcspn(path, "\n"));
    }
    return NULL;
}

/* The first of these mounts where `path` is and which fits (NULL: any does). Caller frees. */
static char *hierarchy_locate(const struct hierarchy *hierarchy, const char *mounts,
                              const char *path, bool (*fits)(const char *path), bool *seen,
                              size_t *top)
{
    char *found = NULL;
    for (; path && *mounts && !found; mounts += *mounts == '\n') {
        found = mount_locate(mounts, hierarchy, path, seen, top);
        mounts += strcspn(mounts, "\n");
        if (found && fits && !fits(found)) {
            free(found);
            found = NULL;
        }
    }
    return found;
}

char *cgroup_locate(const char *mounts, const char *own, bool (*fits)(const char *path),
                    struct error *err)
{
    bool seen = false;
    size_t top;
    char *path = own_path(own, &unified);
    char *found = hierarchy_locate(&unified, mounts, path, fits, &seen, &top);
    if (!found && !path)
        error_set(err, "this process is in no cgroup v2");
    else if (!found && !seen)
        error_set(err, "cgroup2 is not mounted");
    else if (!found)
        error_set(err, "cgroup2 is mounted, but not where this process's cgroup %s is", path);
    free(path);
    return found;
}

/* Something else may be mounted over it. */
static bool is_cgroup2(const char *path)
{
    struct statfs info;
    return statfs(path, &info) == 0 && info.f_type == CGROUP2_SUPER_MAGIC;
}

static bool is_usable(const char *path)
{
    return is_cgroup2(path) && access(path, W_OK) == 0;
}

/* The kernel takes longest to say this of all that is asked here. NULL where it cannot be read. */
static const char *cgroup_mounts(void)
{
    static struct buf mounts;
    if (!mounts.len && file_read("/proc/self/mountinfo", &mounts) < 0)
        buf_clear(&mounts);
    return mounts.len ? buf_text(&mounts) : NULL;
}

/* The text of /proc/self/cgroup, and the usable place that was found for it; NULL: none was. */
static struct {
    char *text, *path;
} known_own;

static char *cgroup_own(struct error *err)
{
    struct buf own = BUF_INIT;
    const char *mounts = cgroup_mounts();
    char *path = NULL;
    if (!mounts || file_read("/proc/self/cgroup", &own) < 0)
        error_set(err, "cannot read /proc/self: %s", strerror(errno));
    else if (known_own.text && strcmp(known_own.text, buf_text(&own)) == 0 &&
             is_usable(known_own.path))
        path = mem_copy_text(known_own.path);
    else if (!(path = cgroup_locate(mounts, buf_text(&own), is_usable, NULL)))
        path = cgroup_locate(mounts, buf_text(&own), is_cgroup2, err);
    else if (!known_own.text) {
        known_own.path = mem_copy_text(path);
        known_own.text = buf_take_text(&own);
    }
    buf_free(&own);
    return path;
}

/* ---- processor time ---- */

/* The number that a file of this directory begins with; -1 where there is none. */
static double quota_number(const char *directory, const char *name, const char **rest,
                           struct buf *text)
{
    char *path = mem_format("%s/%s", directory, name), *end;
    buf_clear(text);
    int rc = file_read(path, text);
    free(path);
    if (rc < 0)
        return -1;
    double number = strtod(buf_text(text), &end);
    if (rest)
        *rest = end;
    return end > buf_text(text) && number > 0 ? number : -1;
}

/* In microseconds: v2 has "QUOTA PERIOD" or "max PERIOD" in one file, v1 a file for each, with a quota
 * of -1 where there is no limit. */
static double quota_of(const struct hierarchy *hierarchy, const char *directory)
{
    struct buf text = BUF_INIT;
    const char *rest = "";
    double quota, period = 0;
    if (hierarchy->controller) {
        quota = quota_number(directory, "cpu.cfs_quota_us", NULL, &text);
        if (quota > 0)
            period = quota_number(directory, "cpu.cfs_period_us", NULL, &text);
    } else {
        quota = quota_number(directory, "cpu.max", &rest, &text);
        if (quota > 0)
            period = strtod(rest, NULL);
    }
    buf_free(&text);
    return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* The least of the own cgroup and of all that it lies in, as far as they are seen. */
static double quota_least(const struct hierarchy *hierarchy, const char *mounts, const char *own)
{
    bool seen = false;
    size_t top = 0;
    char *path = own_path(own, hierarchy), *slash;
    char *at = hierarchy_locate(hierarchy, mounts, path, NULL, &seen, &top);
    double least = INFINITY;
    free(path);
    while (at) {
        least = fmin(least, quota_of(hierarchy, at));
        slash = strlen(at) > top ? strrchr(at, '/') : NULL;
        if (!slash || slash == at)
            break;
        *slash = '\0';
    }
    free(at);
    return least;
}

double cgroup_quota(const char *mounts, const char *own)
{
    return fmin(quota_least(&unified, mounts, own), quota_least(&cpu_v1, mounts, own));
}

double cgroup_own_quota(void)
{
    struct buf own = BUF_INIT;
    const char *mounts = cgroup_mounts();
    double quota = INFINITY;
    if (mounts && file_read("/proc/self/cgroup", &own) == 0)
        quota = cgroup_quota(mounts, buf_text(&own));
    buf_free(&own);
    return quota;
}

/* ---- owning ----
 *
 * Whoever ends a cgroup whose maker was killed needs its time for that, and owns it for as long. So
 * the descriptor with the lock is sent to a socket that all of them have open since before they
 * were forked. Nobody reads it: the kernel keeps it until the last of them has ended.
 */

static void cgroup_hold(const struct cgroup *cgroup)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
                          .cmsg_level = SOL_SOCKET,
                          .cmsg_type = SCM_RIGHTS}};
    char byte = 0;
    struct iovec text = {&byte, 1};
    struct msghdr message = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    memcpy(CMSG_DATA(&control.head), &cgroup->dir, sizeof(int));
    sendmsg(cgroup->hold[0], &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* ---- making ---- */

/* Noted before it is there. A name that nobody else has: processes of other hosts and containers,
 * with the same ids, may make theirs in the same place. */
static int cgroup_note(struct cgroup *cgroup, const char *own, const char *program)
{
    unsigned token = 0;
    if (getrandom(&token, sizeof(token), GRND_NONBLOCK) != sizeof(token))
        return -1;
    int len = snprintf(cgroup->path, sizeof(cgroup->path), "%s/tprun.%s.%d.%08x", own, program,
                       (int)getpid(), token);
    if (len < 0 || (size_t)len >= sizeof(cgroup->path) - NAME_MAX || strchr(program, '/')) {
        errno = ENAMETOOLONG;
        return -1;
    }
    cgroup->maker = getpid();
    cgroup->dir = -1;
    __atomic_store_n(&cgroup->noted, true, __ATOMIC_RELEASE);
    return 0;
}

void cgroup_shut(struct cgroup *cgroup)
{
    if (cgroup_dir(cgroup) < 0)
        return;
    close(cgroup->dir);
    cgroup->dir = -1;
}

static void cgroup_forget(struct cgroup *cgroup)
{
    char byte;
    cgroup_shut(cgroup);
    recv(cgroup->hold[1], &byte, 1, MSG_DONTWAIT); /* the descriptor with it is closed */
    __atomic_store_n(&cgroup->noted, false, __ATOMIC_RELEASE);
}

static void remove_tree(const char *path);

static bool is_populated(const char *path)
{
    char *file = mem_format("%s/cgroup.events", path);
    struct buf text = BUF_INIT;
    bool empty = file_read(file, &text) < 0 || strstr(buf_text(&text), "populated 0");
    buf_free(&text);
    free(file);
    return !empty;
}

/* All are dead that could have ended it: what lives in it is ended. */
static void cgroup_sweep(const char *path)
{
    char *file = mem_format("%s/cgroup.kill", path);
    bool populated = is_populated(path), killed = populated && file_write(file, "1") == 0;
    for (int ms = 0; killed && (populated = is_populated(path)) && ms < SWEEP_WAIT_MS; ms++)
        usleep(1000);
    if (!populated)
        remove_tree(path);
    free(file);
}

/* When something was swept last (monotonic, ns), in memory that is shared with processes forked
 * later; NULL: it is not known. */
static uint64_t *last_sweep;

void cgroup_read_ahead(void)
{
    free(cgroup_own(NULL));
    if (last_sweep)
        return;
    void *memory =
        mmap(NULL, sizeof(*last_sweep), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    last_sweep = memory == MAP_FAILED ? NULL : memory;
}

static bool sweep_is_due(void)
{
    uint64_t now = clock_monotonic_ns();
    uint64_t last = last_sweep ? __atomic_load_n(last_sweep, __ATOMIC_RELAXED) : 0;
    if (last && now - last < SWEEP_PAUSE)
        return false;
    if (last_sweep)
        __atomic_store_n(last_sweep, now, __ATOMIC_RELAXED);
    return true;
}

void cgroup_find(struct cgroup *cgroup)
{
    char *own = cgroup ? cgroup_own(NULL) : NULL;
    if (own && strlen(own) < sizeof(cgroup->own))
        memcpy(cgroup->own, own, strlen(own) + 1);
    if (own && sweep_is_due())
        owned_directory_sweep(own, "tprun.", cgroup_sweep);
    free(own);
}

/* Tasks of other users (of root's sudo) may use its files; opening it is the owner's alone. */
int cgroup_make(struct cgroup *cgroup, const char *program, struct error *err)
{
    int result = -1;
    if (!cgroup)
        return error_set(err, "no memory to share");
    char *own = cgroup->own[0] ? mem_copy_text(cgroup->own) : cgroup_own(err);
    if (!own)
        return -1;
    if (cgroup_note(cgroup, own, program) < 0) {
        error_set(err, "cannot name one in %s: %s", own, strerror(errno));
    } else if ((cgroup->dir = owned_directory_make(cgroup->path, 0711)) < 0) {
        error_set(err, "cannot make one in %s: %s", own, strerror(errno));
        cgroup_forget(cgroup);
    } else {
        cgroup_hold(cgroup);
        result = 0;
    }
    free(own);
    return result;
}

/* ---- its files ---- */

static char *cgroup_file(const struct cgroup *cgroup, const char *name)
{
    const char *path = cgroup_path(cgroup);
    return path ? mem_format("%s/%s", path, name) : NULL;
}

static int cgroup_write(const struct cgroup *cgroup, const char *name, const char *text)
{
    char *path = cgroup_file(cgroup, name);
    int result = path ? file_write(path, text) : -1, number = errno;
    free(path);
    errno = number;
    return result;
}

/* Appends nothing where it cannot be read. */
static void cgroup_read(const struct cgroup *cgroup, const char *name, struct buf *text)
{
    char *path = cgroup_file(cgroup, name);
    if (path)
        file_read(path, text);
    free(path);
}

int cgroup_confine(const struct cgroup *cgroup, const char *cpus, struct error *err)
{
    struct buf real = BUF_INIT;
    if (cgroup_write(cgroup, "cpuset.cpus", cpus) < 0)
        return error_set(err, "cannot keep tasks to processors %s: %s", cpus,
                         errno == ENOENT ? "there is no cpuset controller for it"
                                         : strerror(errno));
    cgroup_read(cgroup, "cpuset.cpus.effective", &real);
    size_t len = strcspn(buf_text(&real), "\n");
    int result = 0;
    if (len != strlen(cpus) || strncmp(buf_text(&real), cpus, len) != 0) {
        result = error_set(err, "cannot keep tasks to processors %s: the kernel allows %.*s", cpus,
                           (int)len, buf_text(&real));
        cgroup_write(cgroup, "cpuset.cpus", "\n");
    }
    buf_free(&real);
    return result;
}

bool cgroup_populated(const struct cgroup *cgroup)
{
    struct buf text = BUF_INIT;
    cgroup_read(cgroup, "cgroup.events", &text);
    bool populated = strstr(buf_text(&text), "populated 1") != NULL;
    buf_free(&text);
    return populated;
}

/* nftw(3) has no argument for its callback. */
static struct buf *members;

static int read_members(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)where;
    if (kind != FTW_D)
        return 0;
    char *file = mem_format("%s/cgroup.procs", path);
    file_read(file, members);
    free(file);
    return 0;
}

void cgroup_read_pids(const struct cgroup *cgroup, struct buf *out)
{
    const char *path = cgroup_path(cgroup);
    members = out;
    if (path)
        nftw(path, read_members, TREE_DEPTH, FTW_PHYS | FTW_MOUNT);
    members = NULL;
}

bool cgroup_kill(const struct cgroup *cgroup)
{
    return cgroup_write(cgroup, "cgroup.kill", "1") == 0;
}

/* ---- memory ---- */

/* Of a file in the directory; NULL where there is none. Caller frees. */
static char *file_of(const char *directory, size_t len, const char *name)
{
    char *path = mem_format("%.*s/%s", (int)len, directory, name);
    struct buf text = BUF_INIT;
    int result = file_read(path, &text);
    free(path);
    if (result == 0)
        return buf_take_text(&text);
    buf_free(&text);
    return NULL;
}

/* The number behind a word at the beginning of a line. */
static uint64_t number_after(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (strncmp(text, word, len) == 0)
            return strtoull(text + len, NULL, 10);
    return 0;
}

uint64_t cgroup_memory_kills(const char *path, uint64_t *limit)
{
    uint64_t kills = 0;
    bool known = false;
    *limit = UINT64_MAX;
    for (size_t len = strlen(path); len;) {
        char *controllers = file_of(path, len, "cgroup.controllers");
        bool inside = controllers != NULL, counts = inside && strstr(controllers, "memory");
        char *events = counts && !known ? file_of(path, len, "memory.events") : NULL;
        char *most = counts ? file_of(path, len, "memory.max") : NULL;
        if (events)
            kills = number_after(events, "oom_kill ");
        known = known || events;
        if (most && most[0] >= '0' && most[0] <= '9' && strtoull(most, NULL, 10) < *limit)
            *limit = strtoull(most, NULL, 10);
        free(controllers);
        free(events);
        free(most);
        if (!inside)
            break;
        while (len && path[len - 1] != '/')
            len--;
        while (len && path[len - 1] == '/')
            len--;
    }
    return kills;
}

uint64_t cgroup_kills(const struct cgroup *cgroup, uint64_t *limit)
{
    const char *path = cgroup_path(cgroup);
    if (!path && cgroup && cgroup->own[0])
        path = cgroup->own;
    *limit = UINT64_MAX;
    return path ? cgroup_memory_kills(path, limit) : 0;
}

/* ---- removing ---- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)where;
    if (kind == FTW_DP)
        rmdir(path);
    return 0;
}

static void remove_tree(const char *path)
{
    if (rmdir(path) < 0 && errno == EBUSY)
        nftw(path, remove_one, TREE_DEPTH, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

void cgroup_remove(struct cgroup *cgroup)
{
    const char *path = cgroup_path(cgroup);
    if (!path)
        return;
    remove_tree(path);
    cgroup_forget(cgroup);
}
