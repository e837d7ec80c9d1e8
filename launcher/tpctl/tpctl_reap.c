/* tpctl reap: what is kept of complete programs goes, into an archive before if that is wanted. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/protocol/remote_command_request.h"
#include "launcher/stdio/terminal.h"
#include "launcher/tpctl/tpctl.h"
#include "launcher/tpctl/tpctl_view.h"

struct chosen {
    const struct found_program **list;
    size_t count;
};

static void choose(struct chosen *chosen, const struct found_program *program)
{
    chosen->list = array_grow(chosen->list, chosen->count, sizeof(*chosen->list));
    chosen->list[chosen->count++] = program;
}

/* Who began to show its output shows all of it. */
static bool is_shown(const struct found_program *program)
{
    int shut = tpctl_view_shut(program);
    if (shut >= 0)
        close(shut);
    return shut == SAVED_IS_READ;
}

static int refuse_shown(const struct found_program *program, struct error *err)
{
    error_set(err,
              "the output of program %s is being shown by tpctl attach or logs: wait for its end",
              found_program_id(program));
    return TPCTL_WRONG_STATE;
}

static int choose_by_ids(const struct method_call *call, struct program_search *search,
                         struct chosen *chosen, struct error *err)
{
    const struct found_program *program;
    for (size_t i = 0; i < call->nwords; i++) {
        int status = tpctl_find(call, search, call->words[i], &program, err);
        if (status)
            return status;
        if (found_program_is_live(program))
            return error_set(err, "program %s is not complete: wait for it, or terminate it",
                             call->words[i]),
                   TPCTL_WRONG_STATE;
        if (is_shown(program))
            return refuse_shown(program, err);
        choose(chosen, program);
    }
    return 0;
}

static void choose_all(const struct program_search *search, double older, struct chosen *chosen)
{
    double before = clock_wall_seconds() - older;
    for (size_t i = 0; i < program_search_count(search); i++) {
        const struct found_program *program = program_search_nth(search, i);
        struct program_record *record = found_program_is_live(program) || older <= 0
                                            ? NULL
                                            : found_program_record(program, false, NULL);
        if (!found_program_is_live(program) && (older <= 0 || (record && record->t_end < before)))
            choose(chosen, program);
        program_record_free(record);
    }
}

/* ---- the archive ---- */

/* Its directory, in two parts: where the state directory is, and INSTANCE/ID below it. */
static char *kept_path(const struct found_program *program, char **below)
{
    char path[PATH_MAX], link[32];
    int dir = found_program_open(program);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
    ssize_t len = dir < 0 ? -1 : readlink(link, path, sizeof(path) - 1);
    if (dir >= 0)
        close(dir);
    if (len <= 0)
        return NULL;
    path[len] = '\0';
    char *id = strrchr(path, '/');
    char *instance = id && id > path ? memrchr(path, '/', (size_t)(id - path)) : NULL;
    *below = instance ? mem_copy_text(instance + 1) : NULL;
    return instance ? mem_copy_text_n(path, (size_t)(instance - path)) : NULL;
}

/* It went through stdout to a caller on another host (remote_command_ask.c), who says on stdin that it is written. */
static int wait_for_caller(struct error *err)
{
    char byte;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDOUT_FILENO); /* the end of it */
    close(null);
    if (read(STDIN_FILENO, &byte, 1) == 1)
        return 0;
    return error_set(err,
                     "--archive: it was not written where it was asked for; nothing is removed");
}

/* tar(1) writes it: "tar -cf FILE -C DIRECTORY INSTANCE/ID ...". "-" is stdout. */
static int archive(const char *file, const struct chosen *chosen, struct error *err)
{
    struct string_list words = {0};
    bool prints = strcmp(file, "-") == 0;
    int status = 0, made = prints ? -1 : open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made < 0 && !prints)
        return error_set(err, "--archive %s: cannot make it: %s", file, strerror(errno));
    if (made >= 0)
        close(made);
    const char *const first[] = {"tar", "--create", "--file", file};
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        string_list_add_copy(&words, first[i]);
    for (size_t i = 0; i < chosen->count; i++) {
        char *below = NULL, *path = kept_path(chosen->list[i], &below);
        if (path && below) {
            string_list_add_copy(&words, "--directory");
            string_list_add_copy(&words, path);
            string_list_add_copy(&words, below);
        }
        free(path);
        free(below);
    }
    char **argv = string_list_take(&words);
    pid_t pid;
    int rc = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
    string_list_free(argv);
    if (rc == 0)
        waitpid(pid, &status, 0);
    if (rc == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return prints && getenv(COMMAND_HERE) ? wait_for_caller(err) : 0;
    if (!prints)
        unlink(file);
    return error_set(err, "--archive %s: %s; nothing is removed", file,
                     rc ? strerror(rc) : "tar could not write it");
}

/* ---- the method ---- */

/* Nobody begins to show its output meanwhile. What is being shown stays: of `all` that is said, and no more. */
static int remove_unless_shown(const struct found_program *program, bool all, struct error *err)
{
    int shut = tpctl_view_shut(program);
    int status =
        shut == SAVED_IS_READ ? refuse_shown(program, err) : found_program_remove(program, err);
    if (shut >= 0)
        close(shut);
    if (!all || status != TPCTL_WRONG_STATE)
        return status;
    terminal_complain("tpctl", error_text(err), strlen(error_text(err)));
    error_clear(err);
    return 0;
}

int tpctl_reap(struct method_call *call, struct error *err)
{
    const char *file = method_value(call, TPCTL_ARCHIVE);
    const char *age = method_value(call, TPCTL_OLDER);
    bool all = method_value(call, TPCTL_ALL);
    struct chosen chosen = {0};
    double older = 0;
    int status = 0;
    if (age && duration_decode(age, &older, err) < 0)
        return error_prefix(err, "--older"), err->kind = ERROR_USAGE, -1;
    if (all == (call->nwords > 0) || (age && !all))
        return error_usage(err, "write ids of programs, or --all; --older needs --all");
    struct program_search *search = tpctl_search(call, err);
    if (!search)
        return -1;
    if (all)
        program_search_add_kept(search);
    if (all)
        choose_all(search, older, &chosen);
    else
        status = choose_by_ids(call, search, &chosen, err);
    if (status == 0 && file && chosen.count)
        status = archive(file, &chosen, err);
    for (size_t i = 0; i < chosen.count && status == 0; i++)
        status = remove_unless_shown(chosen.list[i], all, err);
    free(chosen.list);
    program_search_free(search);
    return status;
}
