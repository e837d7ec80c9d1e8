/* Variables that openpmix reads, the descriptor of its messages, and both of them read ahead. */
#include "pmi-server/pmix/process_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#define MESSAGES "PMIX_OUTPUT_STDERR_FD"
/* The last that openpmix can be in a process with: its select() takes no higher ones. */
#define MESSAGES_FD (FD_SETSIZE - 1)
#define NSETTINGS (sizeof(settings) / sizeof(settings[0]))

/* openpmix's stores in shared memory leave locks behind a server that fails (ds12, ds21), and where
 * the disk is full the server dies of SIGBUS: shmem3 of 7.0.0 rc1 makes its files without room
 * (told that there is none, it goes on, and MPI_Init aborts), and a task that is connected to
 * another job cannot find the host of a task there (PMIX_HOSTNAME). Output that nobody wants is
 * kept for a tool to come, a million messages unless it is told otherwise (0 is no limit). Events are kept
 * for handlers to come, 512 of any size, and that before the host is asked, if it is at all (not of
 * PMIX_RANGE_LOCAL): so their number alone can be bounded, and not to 0 (4.2.2 to ?). From 6.1 on a
 * message of more than 32 MiB ends the connection of the task that sends it, and a commit has all
 * keys of a task, some twice; pmi_environment.h has the same for tasks. */
static const struct {
    const char *name, *value;
} settings[] = {{"PMIX_MCA_gds", "hash"},
                {"PMIX_MCA_pmix_max_iof_cache", "1"},
                {"PMIX_MCA_pmix_max_events", "16"},
                {"PMIX_MCA_ptl_base_max_msg_size", "4095"}};

/* True: it was not set. */
static bool set_unset(const char *name, const char *value)
{
    return !getenv(name) && setenv(name, value, 1) == 0;
}

/* openpmix has read the number of MESSAGES_FD, in the process which this one was forked from. It is not
 * open yet. */
static bool knows_number;

/* All versions take the number of a descriptor for most of what they write to stderr; the rest goes by
 * its stream. Both stay open: openpmix does. */
static void be_quiet(void)
{
    static FILE *nowhere;
    char number[16];
    if (!nowhere)
        nowhere = fopen("/dev/null", "we");
    if (!nowhere)
        return;
    snprintf(number, sizeof(number), "%d", fileno(nowhere));
    set_unset(MESSAGES, number);
    library_write_errors_to(nowhere);
    if (knows_number)
        dup3(fileno(nowhere), MESSAGES_FD, O_CLOEXEC);
}

/* Shared with all processes below; NULL: nobody asks. */
static atomic_bool *done;

void process_setup_watch(void)
{
    void *page =
        mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    done = page == MAP_FAILED ? NULL : page;
}

bool process_setup_was_done(void)
{
    return done && *done;
}

int process_setup(bool quiet, struct error *err)
{
    if (knows_number && fcntl(MESSAGES_FD, F_GETFD) >= 0)
        return error_set(err,
                         "openpmix's server needs the descriptor %d, which is in use: start "
                         "tprun with fewer open files",
                         MESSAGES_FD);
    if (done)
        *done = true;
    for (size_t i = 0; i < NSETTINGS; i++)
        set_unset(settings[i].name, settings[i].value);
    if (quiet)
        be_quiet();
    else if (knows_number)
        dup3(STDERR_FILENO, MESSAGES_FD, O_CLOEXEC);
    knows_number = false; /* once is enough */
    return 0;
}

/* ---- ahead ---- */

/* Where something is wrong with parameter files or variables, a server cannot start; whoever forks those
 * processes goes on. So another one tries first. How it ended is not known to who ignores SIGCHLD. */
static bool would_succeed(const struct pmix_library *library)
{
    char byte;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        bool succeeds = library->init_util(NULL, 0, NULL) == PMIX_SUCCESS;
        _exit(succeeds && write(ends[1], "", 1) == 1 ? 0 : 1);
    }
    close(ends[1]);
    bool succeeds = pid > 0 && read(ends[0], &byte, 1) == 1;
    close(ends[0]);
    siginfo_t info;
    while (pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED) < 0 && errno == EINTR)
        ;
    return succeeds;
}

void process_setup_ahead(const struct pmix_library *library)
{
    bool set[NSETTINGS], told = false;
    struct rlimit files;
    if (!library->init_util || getrlimit(RLIMIT_NOFILE, &files) < 0 ||
        files.rlim_cur <= MESSAGES_FD)
        return;
    char number[16];
    snprintf(number, sizeof(number), "%d", MESSAGES_FD);
    told = set_unset(MESSAGES, number);
    for (size_t i = 0; i < NSETTINGS; i++)
        set[i] = set_unset(settings[i].name, settings[i].value);
    if (would_succeed(library) && library->init_util(NULL, 0, NULL) == PMIX_SUCCESS)
        knows_number = told;
    if (told)
        unsetenv(MESSAGES);
    for (size_t i = 0; i < NSETTINGS; i++)
        if (set[i])
            unsetenv(settings[i].name);
}
