/* The ledger's contexts: directories of programs. On a file system such as ext4 a new file costs a
 * thousand times what a rename does, so the directories of programs that are over, and the files
 * that every program writes, are kept for the next ones, under names that nobody looks at. */
#include "launcher/ledger/context_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/directory.h"
#include "launcher/ledger/completed.h"
#include "launcher/ledger/completed_output.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/ledger/private_directory.h"

#define CONTEXT_SPARES 16 /* directories kept */
#define CONTEXT_NAME 48
#define CONTEXT_AGE 60 /* seconds after which what somebody was removing is left to anybody */

/* Files that are kept, as the drafts of private_directory_write(). */
static const struct {
    const char *name, *draft;
} context_files[] = {{"spec.json", PRIVATE_DIRECTORY_DRAFT("spec.json")},
                     {"R.json", PRIVATE_DIRECTORY_DRAFT("R.json")},
                     {"slots.json", PRIVATE_DIRECTORY_DRAFT("slots.json")},
                     {ENTRY_EVENTS, PRIVATE_DIRECTORY_DRAFT(ENTRY_EVENTS)}};
enum { CONTEXT_DRAFTS = sizeof(context_files) / sizeof(context_files[0]) };

int ledger_make_context(struct instance *instance, const char *id)
{
    int dir = instance->programs;
    char spare[CONTEXT_NAME];
    for (int i = 0; i < CONTEXT_SPARES; i++) {
        snprintf(spare, sizeof(spare), ".spare-%d", i);
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

/* What is to be kept of it is, and nothing stays but drafts. False: that cannot be. */
static bool context_clean(struct instance *instance, const char *id, const char *name)
{
    int fd = openat(instance->programs, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    bool clean = stream != NULL;
    /* Who saves output may still have it open, to say that the manager is gone. */
    bool spare = clean && !completed_output_is_in(fd);
    if (clean)
        completed_append(instance, id, fd); /* what cannot be kept is lost: nothing waits for it */
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
    return clean && spare;
}

/* Of many that see a program to be gone the one whose rename succeeds has its directory. */
void ledger_remove_context(struct instance *instance, const char *id)
{
    int dir = instance->programs;
    char mine[CONTEXT_NAME], spare[CONTEXT_NAME];
    snprintf(mine, sizeof(mine), CONTEXT_ENDING "%s", id);
    if (renameat2(dir, id, dir, mine, RENAME_NOREPLACE) < 0) {
        if (errno != ENOENT)
            directory_remove(dir, id);
        return;
    }
    bool clean = context_clean(instance, id, mine);
    for (int i = 0; clean && i < CONTEXT_SPARES; i++) {
        snprintf(spare, sizeof(spare), ".spare-%d", i);
        if (renameat2(dir, mine, dir, spare, RENAME_NOREPLACE) == 0)
            return;
    }
    directory_remove(dir, mine);
}

void ledger_tidy_contexts(struct instance *instance)
{
    struct stat st;
    int dir = instance->programs;
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        if (strncmp(entry->d_name, CONTEXT_ENDING, strlen(CONTEXT_ENDING)) == 0 &&
            fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_ctime + CONTEXT_AGE < time(NULL)) {
            context_clean(instance, entry->d_name + strlen(CONTEXT_ENDING), entry->d_name);
            directory_remove(dir, entry->d_name);
        }
    if (stream)
        closedir(stream);
    else if (fd >= 0)
        close(fd);
}
