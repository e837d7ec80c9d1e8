/* The state directory: contexts of programs that are over. */
#include "launcher/ledger/state_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "launcher/ledger/completed_output.h"
#include "launcher/ledger/private_directory.h"

#define STATE_NAME sizeof(((struct kept_context *)0)->name)
#define STATE_SAME 99                 /* contexts of one number */
#define STATE_LIMITED ".limited"      /* its time is when instances were last looked through */
#define STATE_LIMIT_PAUSE (24 * 3600) /* seconds between that */
#define STATE_EMPTY "empty"
#define STATE_DRAFT ".new-"
#define STATE_DRAFT_AGE (24 * 3600) /* seconds after which nobody writes it any more */

/* The first *there bytes of it are not made where they are missing. A root directory is no home. */
static char *state_path(size_t *there)
{
    const char *chosen = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    *there = 0;
    if (chosen && *chosen == '/')
        return mem_format("%s/tprun", chosen);
    bool known = home && *home == '/' && home[1];
    const struct passwd *user = known ? NULL : getpwuid(geteuid());
    if (!known)
        home = user && *user->pw_dir == '/' && user->pw_dir[1] ? user->pw_dir : NULL;
    if (home)
        *there = strlen(home);
    return home ? mem_format("%s/.local/state/tprun", home) : NULL;
}

char *state_directory_path(void)
{
    size_t there;
    return state_path(&there);
}

/* What root makes in a user's home, which sudo may leave in HOME, would shut that user out. */
static bool is_others(const char *path)
{
    struct stat st;
    return geteuid() == 0 && stat(path, &st) == 0 && st.st_uid != 0;
}

/* All directories above the last, as the XDG base directory specification wants them. False: the last, which
 * is made by who opens it, is not to be made. *why: what made the first fail that is not there; 0: none. */
static bool make_above(const char *path, size_t there, int *why)
{
    char *copy = mem_copy_text(path);
    bool others = false;
    for (char *slash = strchr(copy + (there ? there : 1), '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if ((size_t)(slash - copy) > there && !others && mkdir(copy, 0700) < 0 && errno != EEXIST &&
            !*why)
            *why = errno;
        others = is_others(copy) || (others && access(copy, F_OK) < 0);
        *slash = '/';
    }
    free(copy);
    return !others;
}

/* Of an instance on this host: homes are shared by hosts. Caller frees. */
static char *state_name(const char *instance)
{
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    for (char *c = host; *c; c++)
        *c = *c == '/' ? '-' : *c;
    return mem_format("%s@%s", instance, host);
}

char *state_directory_instance_path(const char *instance)
{
    char *path = state_directory_path(), *name = state_name(instance);
    char *own = path ? mem_format("%s/%s", path, name) : NULL;
    free(name);
    free(path);
    return own;
}

int state_directory_open(const char *instance, bool make, struct error *err)
{
    size_t there;
    char *path = state_path(&there);
    if (!path)
        return error_set(err, "no place for what is over: neither XDG_STATE_HOME nor HOME is an "
                              "absolute path");
    char *name = state_name(instance), *own = mem_format("%s/%s", path, name);
    int fd = -1, top = -1, why = 0;
    struct stat st;
    if (make && !make_above(path, there, &why))
        error_set(err, "cannot make %s: a directory above it belongs to another user", path);
    else if (make || stat(own, &st) == 0)
        top = private_directory_open_private(AT_FDCWD, path, path, err);
    if (top < 0 && why)
        error_set(err, "cannot make %s: %s; XDG_STATE_HOME may name another place", path,
                  strerror(why));
    if (top >= 0) {
        fd = private_directory_open_private(top, name, own, err);
        close(top);
    }
    free(name);
    free(own);
    free(path);
    return fd;
}

int state_directory_open_empty(int state, bool make, struct error *err)
{
    struct stat st;
    bool there = make || fstatat(state, STATE_EMPTY, &st, AT_SYMLINK_NOFOLLOW) == 0;
    return there ? private_directory_open_private(state, STATE_EMPTY, STATE_EMPTY, err) : -1;
}

/* ---- contexts ---- */

static bool is_context_name(const char *name, uint64_t *number)
{
    size_t digits = number_read(name, NULL, UINT64_MAX - 2, number);
    return digits && strlen(name) < STATE_NAME && (!name[digits] || name[digits] == '.');
}

void state_directory_each(int state, void (*each)(void *arg, const char *name, uint64_t inode),
                          void *arg)
{
    int fd = openat(state, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    uint64_t number;
    for (const struct dirent *entry; stream && (entry = readdir(stream));)
        if (is_context_name(entry->d_name, &number))
            each(arg, entry->d_name, entry->d_ino);
    if (stream)
        closedir(stream);
    else if (fd >= 0)
        close(fd);
}

bool state_directory_has(int state, const char *name)
{
    struct stat st;
    uint64_t number;
    return is_context_name(name, &number) && !strchr(name, '/') &&
           fstatat(state, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

void state_directory_instances(void (*each)(void *arg, const char *instance), void *arg)
{
    char *path = state_directory_path(), *suffix = state_name("");
    DIR *stream = path ? opendir(path) : NULL;
    for (const struct dirent *entry; stream && (entry = readdir(stream));) {
        size_t len = strlen(entry->d_name), end = strlen(suffix);
        if (len <= end || strcmp(entry->d_name + len - end, suffix) != 0)
            continue;
        char *name = mem_copy_text_n(entry->d_name, len - end);
        each(arg, name);
        free(name);
    }
    if (stream)
        closedir(stream);
    free(suffix);
    free(path);
}

/* Others may do the same, with another /tmp. */
static void name_draft(char draft[STATE_NAME], const char *name)
{
    uint32_t random = (uint32_t)clock_wall_ns();
    (void)!getrandom(&random, sizeof(random), 0);
    snprintf(draft, STATE_NAME, STATE_DRAFT "%s-%08x", name, random);
}

/* Not to be found at once: half of a context would be one whose log is missing. */
int state_directory_remove(int state, const char *name, struct error *err)
{
    char draft[STATE_NAME];
    name_draft(draft, name);
    bool hidden = renameat(state, name, state, draft) == 0;
    if (directory_remove(state, hidden ? draft : name) == 0)
        return 0;
    return error_set(err, "cannot remove what is kept of program %s: %s", name, strerror(errno));
}

static void keep_highest(void *arg, const char *name, uint64_t inode)
{
    uint64_t number, *highest = arg;
    (void)inode;
    if (is_context_name(name, &number) && number > *highest)
        *highest = number;
}

uint64_t state_directory_highest(int state)
{
    uint64_t highest = 0;
    int empty = state_directory_open_empty(state, false, NULL);
    state_directory_each(state, keep_highest, &highest);
    if (empty >= 0) {
        state_directory_each(empty, keep_highest, &highest);
        close(empty);
    }
    return highest;
}

/* ---- adding ---- */

static int write_files(int dir, const struct completed_context *context)
{
    for (int i = 0; i < CONTEXT_FILES; i++) {
        if (!context->files[i])
            continue;
        int fd = openat(dir, context_file_names[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        int rc = fd < 0 ? -1 : file_write_all(fd, context->files[i], context->lens[i]);
        if (fd >= 0 && close(fd) < 0)
            rc = -1;
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* It was moved before, by a process that was killed on its way. */
static bool is_same_context(int state, const char *name, const struct completed_context *context)
{
    char path[STATE_NAME + 16];
    size_t len;
    snprintf(path, sizeof(path), "%s/%s", name, context_file_names[CONTEXT_EVENTS]);
    char *text = private_directory_read(state, path, CONTEXT_MAX, &len);
    bool same = text && context->files[CONTEXT_EVENTS] && len == context->lens[CONTEXT_EVENTS] &&
                memcmp(text, context->files[CONTEXT_EVENTS], len) == 0;
    free(text);
    return same;
}

/* 0; -1 with errno. */
static int name_context(int state, const char *draft, const struct completed_context *context,
                        char name[STATE_NAME])
{
    int rc = -1;
    errno = EEXIST;
    for (int i = 1; rc < 0 && errno == EEXIST && i <= STATE_SAME; i++) {
        snprintf(name, STATE_NAME, i > 1 ? "%s.%d" : "%s", context->id, i);
        rc = renameat2(state, draft, state, name, RENAME_NOREPLACE);
        if (rc < 0 && errno == EINVAL && faccessat(state, name, F_OK, 0) < 0) /* NFS */
            rc = renameat(state, draft, state, name);
        if (rc < 0 && (errno == EEXIST || errno == EINVAL)) {
            if (is_same_context(state, name, context)) {
                *name = '\0';
                return directory_remove(state, draft);
            }
            errno = EEXIST;
        }
    }
    return rc;
}

int state_directory_put(int state, const struct completed_context *context, int output,
                        struct kept_context *kept, struct error *err)
{
    struct stat st;
    char draft[STATE_NAME];
    name_draft(draft, context->id);
    int dir = -1, rc = mkdirat(state, draft, 0700);
    if (rc == 0)
        dir = openat(state, draft, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0 || write_files(dir, context) < 0 || fstat(dir, &st) < 0 ||
        (output >= 0 && completed_output_copy(output, dir) < 0) ||
        name_context(state, draft, context, kept->name) < 0) {
        rc = error_set(err, "cannot keep what is known of program %s: %s", context->id,
                       strerror(errno));
        directory_remove(state, draft);
    } else {
        kept->inode = st.st_ino;
    }
    if (dir >= 0)
        close(dir);
    return rc;
}

/* ---- limits ---- */

struct dated {
    uint64_t number;
    char name[STATE_NAME];
};

struct dated_list {
    struct dated *list;
    size_t count;
};

static void note_dated(void *arg, const char *name, uint64_t inode)
{
    (void)inode;
    struct dated_list *all = arg;
    struct dated one = {0};
    if (!is_context_name(name, &one.number))
        return;
    snprintf(one.name, sizeof(one.name), "%s", name);
    all->list = array_grow(all->list, all->count, sizeof(*all->list));
    all->list[all->count++] = one;
}

static int compare_dated(const void *a, const void *b)
{
    uint64_t x = ((const struct dated *)a)->number, y = ((const struct dated *)b)->number;
    return (x > y) - (x < y);
}

static bool is_draft(const char *name)
{
    return strncmp(name, STATE_DRAFT, strlen(STATE_DRAFT)) == 0;
}

static bool is_context(const char *name)
{
    uint64_t number;
    return is_context_name(name, &number);
}

static bool is_instance(const char *name)
{
    return *name != '.' && strchr(name, '@');
}

/* Of an instance also when one was added or removed that is empty. 0: it is gone. */
static time_t last_change(int dir, const char *name)
{
    struct stat st, inside;
    char *empty = mem_format("%s/" STATE_EMPTY, name);
    bool there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    bool has_empty = there && fstatat(dir, empty, &inside, AT_SYMLINK_NOFOLLOW) == 0;
    free(empty);
    if (has_empty && inside.st_mtime > st.st_mtime)
        return inside.st_mtime;
    return there ? st.st_mtime : 0;
}

static void remove_older(int dir, bool (*is_one)(const char *name), int age)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    for (const struct dirent *entry; stream && (entry = readdir(stream));) {
        time_t changed = is_one(entry->d_name) ? last_change(dir, entry->d_name) : 0;
        if (changed && changed + age < time(NULL))
            directory_remove(dir, entry->d_name);
    }
    if (stream)
        closedir(stream);
    else if (fd >= 0)
        close(fd);
}

/* An instance to which nothing was added, of a batch job for instance, holds what is older; a draft that is, who
 * wrote it was killed. Programs that are empty go with age as the others do. Once a day, for there may be many. */
static void remove_instances(int state)
{
    struct stat st;
    int top = openat(state, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = top < 0 || (fstatat(top, STATE_LIMITED, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                            time(NULL) - st.st_mtime < STATE_LIMIT_PAUSE);
    int mark = done ? -1
                    : openat(top, STATE_LIMITED,
                             O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (mark >= 0) {
        futimens(mark, NULL);
        close(mark);
        remove_older(top, is_instance, STATE_MAX_AGE);
        remove_older(state, is_draft, STATE_DRAFT_AGE);
        int empty = state_directory_open_empty(state, false, NULL);
        if (empty >= 0) {
            remove_older(empty, is_draft, STATE_DRAFT_AGE);
            remove_older(empty, is_context, STATE_MAX_AGE);
            close(empty);
        }
    }
    if (top >= 0)
        close(top);
}

static void list_dated(int state, struct dated_list *all)
{
    state_directory_each(state, note_dated, all);
    if (all->count)
        qsort(all->list, all->count, sizeof(*all->list), compare_dated);
}

void state_directory_limit_output(int state)
{
    struct dated_list all = {0};
    uint64_t sum = 0;
    list_dated(state, &all);
    for (size_t i = all.count; i-- > 0;) {
        sum += completed_output_size(state, all.list[i].name);
        if (sum > STATE_MAX_OUTPUT)
            completed_output_remove(state, all.list[i].name);
    }
    free(all.list);
}

/* Numbers ascend with time: the first that is young enough ends the search. */
void state_directory_limit(int state)
{
    struct dated_list all = {0};
    struct stat st;
    list_dated(state, &all);
    for (size_t i = 0; i < all.count; i++) {
        bool surplus = all.count - i > STATE_MAX_COUNT;
        if (!surplus && (fstatat(state, all.list[i].name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                         st.st_mtime + STATE_MAX_AGE > time(NULL)))
            break;
        directory_remove(state, all.list[i].name);
    }
    free(all.list);
    remove_instances(state);
}
