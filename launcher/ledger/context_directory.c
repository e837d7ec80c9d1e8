/* The ledger's contexts: directories of programs. On a file system such as ext4 a new file costs a
 * thousand times what a rename does, so the directories of programs that are over, and the files
 * that every program writes, are kept for the next ones, under names that nobody looks at. */
#include "launcher/ledger/context_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/directory.h"
#include "launcher/ledger/claim_bell.h"
#include "launcher/ledger/completed.h"
#include "launcher/ledger/completed_output.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/ledger/private_directory.h"

#define CONTEXT_SPARES 16 /* directories kept in any case, */
#define CONTEXT_MORE 1008 /* and where so many programs were there at once within CONTEXT_AGE, */
#define CONTEXT_PROBES 4  /* each in one of so many places */
#define CONTEXT_NAME 48
#define CONTEXT_SPARE ".spare-"
#define CONTEXT_AGE                                                                                \
    60 /* seconds after which what somebody was removing is left to anybody, without locks */

/* Files that are kept, as the drafts of private_directory_write(). */
static const struct {
    const char *name, *draft;
} context_files[] = {{"spec.json", PRIVATE_DIRECTORY_DRAFT("spec.json")},
                     {"R.json", PRIVATE_DIRECTORY_DRAFT("R.json")},
                     {"slots.json", PRIVATE_DIRECTORY_DRAFT("slots.json")},
                     {CLAIM_BELL, PRIVATE_DIRECTORY_DRAFT(CLAIM_BELL)},
                     {ENTRY_EVENTS, PRIVATE_DIRECTORY_DRAFT(ENTRY_EVENTS)}};
enum { CONTEXT_DRAFTS = sizeof(context_files) / sizeof(context_files[0]) };

/* The nth spare directory that a program looks for. Beyond the first ones the place depends on the program's number,
 * so that programs with numbers in a row look in different places. False: there are no more. */
static bool context_spare(const char *id, int nth, char spare[CONTEXT_NAME])
{
    unsigned long long place = (unsigned long long)nth;
    if (nth >= CONTEXT_SPARES + CONTEXT_PROBES)
        return false;
    if (nth >= CONTEXT_SPARES)
        place = CONTEXT_SPARES + (strtoull(id, NULL, 10) + place) % CONTEXT_MORE;
    snprintf(spare, CONTEXT_NAME, CONTEXT_SPARE "%llu", place);
    return true;
}

int ledger_make_context(struct instance *instance, const char *id)
{
    int dir = instance->programs;
    char spare[CONTEXT_NAME];
    for (int i = 0; context_spare(id, i, spare); i++) {
        if (renameat2(dir, spare, dir, id, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno == EEXIST)
            break;
    }
    int rc = mkdirat(dir, id, 0700);
    if (rc < 0 && errno == EEXIST && directory_remove(dir, id) == 0)
        rc = mkdirat(dir, id, 0700);
    return rc;
}

static bool context_is_draft(const char *name)
{
    for (int i = 0; i < CONTEXT_DRAFTS; i++)
        if (strcmp(name, context_files[i].draft) == 0)
            return true;
    return false;
}

/* Append the context to the file of complete programs. False with errno: try again later, and leave the directory
 * there. True: it was appended, or can never be. */
static bool context_keep(struct instance *instance, const char *id, const char *name,
                         bool *has_output)
{
    int fd = openat(instance->programs, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    *has_output = fd >= 0 && completed_output_is_in(fd);
    bool good = fd < 0 || completed_append(instance, id, fd);
    bool stays = !good && completed_may_later(errno);
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return !stays;
}

/* Remove all but drafts. False: something could not be removed. */
static bool context_clean(struct instance *instance, const char *name)
{
    int fd = openat(instance->programs, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    bool clean = stream != NULL;
    for (int i = 0; clean && i < CONTEXT_DRAFTS; i++)
        renameat2(fd, context_files[i].name, fd, context_files[i].draft, RENAME_NOREPLACE);
    for (struct dirent *entry; clean && (entry = readdir(stream));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !context_is_draft(entry->d_name))
            clean = directory_remove(fd, entry->d_name) == 0;
    if (stream)
        closedir(stream);
    else if (fd >= 0)
        close(fd);
    return clean;
}

/* A descriptor of the directory, for whoever removes it: -1 where another does, or it is not there. Where there is no
 * such lock (NFS) *is_locked is false. */
static int context_lock(const struct instance *instance, const char *name, bool *is_locked)
{
    int fd = openat(instance->programs, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    *is_locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd < 0 || *is_locked || errno != EWOULDBLOCK)
        return fd;
    close(fd);
    return -1;
}

/* Of many that see a program to be gone the one whose rename succeeds has its directory. It is locked before: should
 * that process be killed the next one finishes. */
void ledger_remove_context(struct instance *instance, const char *id)
{
    int dir = instance->programs;
    char mine[CONTEXT_NAME], spare[CONTEXT_NAME];
    bool is_locked;
    snprintf(mine, sizeof(mine), CONTEXT_ENDING "%s", id);
    int lock = context_lock(instance, id, &is_locked);
    if (lock < 0 && errno == EWOULDBLOCK)
        return;
    bool mine_now = renameat2(dir, id, dir, mine, RENAME_NOREPLACE) == 0;
    if (!mine_now && errno != ENOENT)
        directory_remove(dir, id);
    bool has_output, kept = mine_now && context_keep(instance, id, mine, &has_output);
    /* Who saves output may still have it open, to say that the manager is gone. */
    bool clean = kept && !has_output && context_clean(instance, mine);
    for (int i = 0; clean && context_spare(id, i, spare); i++) {
        if (renameat2(dir, mine, dir, spare, RENAME_NOREPLACE) == 0)
            kept = clean = false;
    }
    if (kept)
        directory_remove(dir, mine);
    if (lock >= 0)
        close(lock);
}

static void context_tell(const struct instance *instance, const char *id,
                         void (*stays)(void *arg, const char *id, const struct error *why),
                         void *arg)
{
    struct error why = ERROR_INIT;
    error_set(&why, "%s: what is known of program %s cannot be kept yet: %s", instance->path, id,
              errno == EAGAIN ? "another process has locked the file of those that are complete"
                              : strerror(errno));
    stays(arg, id, &why);
    error_clear(&why);
}

/* Remove a spare directory beyond the first ones that was not used for a while. It is renamed first, as a program may
 * take it meanwhile. */
static void context_drop_spare(int dir, const char *name)
{
    struct stat st;
    char mine[CONTEXT_NAME];
    size_t len = strlen(CONTEXT_SPARE);
    snprintf(mine, sizeof(mine), CONTEXT_ENDING "%.16s", name + 1);
    if (strncmp(name, CONTEXT_SPARE, len) == 0 && strtoul(name + len, NULL, 10) >= CONTEXT_SPARES &&
        fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        st.st_ctime + CONTEXT_AGE < time(NULL) &&
        renameat2(dir, name, dir, mine, RENAME_NOREPLACE) == 0)
        directory_remove(dir, mine);
}

bool ledger_finish_contexts(struct instance *instance,
                            void (*stays)(void *arg, const char *id, const struct error *why),
                            void *arg)
{
    struct stat st;
    bool is_locked, has_output, others = false;
    int dir = instance->programs;
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        const char *id = entry->d_name + strlen(CONTEXT_ENDING);
        context_drop_spare(dir, entry->d_name);
        if (strncmp(entry->d_name, CONTEXT_ENDING, strlen(CONTEXT_ENDING)) != 0)
            continue;
        int lock = context_lock(instance, entry->d_name, &is_locked);
        bool left = is_locked ||
                    (lock >= 0 && fstat(lock, &st) == 0 && st.st_ctime + CONTEXT_AGE < time(NULL));
        if (left && context_keep(instance, id, entry->d_name, &has_output))
            directory_remove(dir, entry->d_name);
        else if (left && stays)
            context_tell(instance, id, stays, arg);
        others = others || !left;
        if (lock >= 0)
            close(lock);
    }
    if (stream)
        closedir(stream);
    else if (fd >= 0)
        close(fd);
    return !others;
}
