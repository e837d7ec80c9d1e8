#include "launcher/process/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

#define TREE_DEPTH 16 /* open directories at a time */

struct cgroup {
    bool noted; /* set last: whoever reads it may be called at any point of the maker's death */
    pid_t maker;
    int dir; /* in the maker */
    char path[PATH_MAX];
    char own[PATH_MAX]; /* the maker's own, if that was looked for */
};

struct cgroup *cgroup_new(void)
{
    void *room = mmap(NULL, sizeof(struct cgroup), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return room == MAP_FAILED ? NULL : room;
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
static struct word word_next(const char **at)
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

/* Out of the cgroup namespace that the process sees: /../... */
static bool is_outside(const char *path)
{
    for (; (path = strstr(path, "/..")); path += 3)
        if (!path[3] || path[3] == '/')
            return true;
    return false;
}

/* What is left of a path below a root that begins it; NULL where the root does not. */
static const char *path_below(const char *path, const char *root)
{
    size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (is_outside(path) || strncmp(path, root, len) != 0 || (path[len] && path[len] != '/'))
        return NULL;
    return path[len] == '/' && !path[len + 1] ? path + len + 1 : path + len;
}

/* A line of mountinfo: id, parent, device, root, where, options, tags ..., "-", type, ... */
static char *mount_locate(const char *line, const char *own, bool *seen)
{
    struct word words[5], word;
    for (size_t i = 0; i < 5; i++)
        words[i] = word_next(&line);
    do {
        word = word_next(&line);
    } while (word.len && !word_is(word, "-"));
    if (!word_is(word_next(&line), "cgroup2") || words[4].at[0] != '/')
        return NULL;
    *seen = true;
    char *root = word_text(words[3]), *where = word_text(words[4]);
    const char *below = root[0] == '/' ? path_below(own, root) : NULL;
    char *path = below ? mem_format("%s%s", below[0] && !where[1] ? "" : where, below) : NULL;
    free(root);
    free(where);
    return path;
}

/* Of the line "0::PATH". Caller frees. */
static char *own_path(const char *own)
{
    for (; *own; own += strcspn(own, "\n"), own += *own == '\n')
        if (strncmp(own, "0::/", 4) == 0)
            return mem_copy_text_n(own + 3, strcspn(own + 3, "\n"));
    return NULL;
}

char *cgroup_locate(const char *mounts, const char *own, struct error *err)
{
    char *path = own_path(own), *found = NULL;
    bool seen = false;
    for (; path && *mounts && !found; mounts += *mounts == '\n') {
        found = mount_locate(mounts, path, &seen);
        mounts += strcspn(mounts, "\n");
    }
    if (!found && !path)
        error_set(err, "this process is in no cgroup v2");
    else if (!found && !seen)
        error_set(err, "cgroup2 is not mounted");
    else if (!found)
        error_set(err, "cgroup2 is mounted, but not where this process's cgroup %s is", path);
    free(path);
    return found;
}

static char *cgroup_own(struct error *err)
{
    struct buf mounts = BUF_INIT, own = BUF_INIT;
    char *path = NULL;
    if (file_read("/proc/self/mountinfo", &mounts) < 0 || file_read("/proc/self/cgroup", &own) < 0)
        error_set(err, "cannot read /proc/self: %s", strerror(errno));
    else
        path = cgroup_locate(buf_text(&mounts), buf_text(&own), err);
    buf_free(&mounts);
    buf_free(&own);
    return path;
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
    cgroup_shut(cgroup);
    __atomic_store_n(&cgroup->noted, false, __ATOMIC_RELEASE);
}

static int cgroup_fill(struct cgroup *cgroup, const char *own, struct error *err)
{
    if (mkdir(cgroup->path, 0755) < 0) {
        error_set(err, "cannot make one in %s: %s", own, strerror(errno));
        cgroup_forget(cgroup);
        return -1;
    }
    cgroup->dir = open(cgroup->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cgroup->dir >= 0)
        return 0;
    error_set(err, "cannot open one in %s: %s", own, strerror(errno));
    cgroup_remove(cgroup);
    return -1;
}

void cgroup_find(struct cgroup *cgroup)
{
    char *own = cgroup ? cgroup_own(NULL) : NULL;
    if (own && strlen(own) < sizeof(cgroup->own))
        memcpy(cgroup->own, own, strlen(own) + 1);
    free(own);
}

int cgroup_make(struct cgroup *cgroup, const char *program, struct error *err)
{
    int result = -1;
    if (!cgroup)
        return error_set(err, "no memory to share");
    char *own = cgroup->own[0] ? mem_copy_text(cgroup->own) : cgroup_own(err);
    if (own && cgroup_note(cgroup, own, program) < 0)
        error_set(err, "cannot name one in %s: %s", own, strerror(errno));
    else if (own)
        result = cgroup_fill(cgroup, own, err);
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

bool cgroup_kill(const struct cgroup *cgroup)
{
    return cgroup_write(cgroup, "cgroup.kill", "1") == 0;
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

void cgroup_remove(struct cgroup *cgroup)
{
    const char *path = cgroup_path(cgroup);
    if (!path)
        return;
    if (rmdir(path) < 0 && errno == EBUSY)
        nftw(path, remove_one, TREE_DEPTH, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    cgroup_forget(cgroup);
}
