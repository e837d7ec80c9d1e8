/* Programs that the command line of tpctl names: by id, the caller's own, or one that encloses it. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "launcher/source/batch_system.h"
#include "launcher/stdio/terminal.h"
#include "launcher/tpctl/tpctl.h"

/* ---- the caller's own ---- */

/* The one program that lives and has this number: instances count on their own. NULL: there is none, or several. */
static char *id_of_living(const struct program_search *search, const char *number)
{
    const struct found_program *living = NULL;
    size_t hits = 0;
    for (size_t i = 0; i < program_search_count(search); i++) {
        const struct found_program *program = program_search_nth(search, i);
        if (strcmp(found_program_id(program), number) == 0 && found_program_lives(program)) {
            living = program;
            hits++;
        }
    }
    return hits == 1 ? mem_format("%s/%s", found_program_instance(living), number) : NULL;
}

/* Where the environment does not say it, the cgroup of a task has the id in its name: tprun.ID.PID.RANDOM */
static char *id_of_cgroup(const struct program_search *search)
{
    struct buf text = BUF_INIT;
    char *number = NULL;
    if (file_read("/proc/self/cgroup", &text) == 0) {
        const char *at = buf_text(&text), *last = NULL;
        while ((at = strstr(at, "/tprun.")))
            last = at += strlen("/tprun.");
        size_t digits = last ? strspn(last, "0123456789") : 0;
        number = digits && last[digits] == '.' ? mem_copy_text_n(last, digits) : NULL;
    }
    char *id = number ? id_of_living(search, number) : NULL;
    buf_free(&text);
    free(number);
    return id;
}

/* "NAME/17", which names the instance, too. */
static char *id_of_environment(void)
{
    const char *id = getenv("TPRUN_PROGRAM"), *instance = getenv("TPRUN_INSTANCE");
    const char *slash = instance ? strrchr(instance, '/') : NULL;
    if (!id || !*id || strspn(id, "0123456789") != strlen(id))
        return NULL;
    return slash && slash[1] ? mem_format("%s/%s", slash + 1, id) : mem_copy_text(id);
}

/* The program that this process is a task of, or with --parent the one that encloses it, as often as that is given.
 * 0; TPCTL_NONE, with a sentence where there is no parent; -1 with a sentence. */
static int find_own(const struct method_call *call, struct program_search *search,
                    const struct found_program **found, struct error *err)
{
    char *id = id_of_environment();
    if (!id)
        id = id_of_cgroup(search);
    bool lives = id && program_search_find(search, id, NULL, found, NULL) == 1 &&
                 found_program_lives(*found);
    int status = lives ? 0 : TPCTL_NONE;
    uint64_t number;
    for (size_t at = 0; status == 0 && method_next(call, TPCTL_PARENT, &at);) {
        if (found_program_parent(*found, &number, err) < 0) {
            error_prefix(err, "--parent");
            status = TPCTL_NONE;
            break;
        }
        char *parent =
            mem_format("%s/%llu", found_program_instance(*found), (unsigned long long)number);
        status = program_search_find(search, parent, NULL, found, err) == 1 ? 0 : TPCTL_NONE;
        free(parent);
    }
    free(id);
    return status;
}

static int refuse_no_task(const struct method_call *call, struct error *err)
{
    if (!err->text)
        error_set(err, "%s is the caller's own program, and this process is a task of none",
                  method_value(call, TPCTL_PARENT) ? "--parent: @" : "@");
    return TPCTL_NONE;
}

/* ---- programs that are named ---- */

/* The instance of the caller's program, which is that of all that enclose it. */
static struct program_search *search_of_parent(const struct method_call *call, struct error *err)
{
    const struct found_program *found;
    if (method_value(call, TPCTL_INSTANCE))
        return error_usage(err, "--parent and --instance both say where to look: give one of them"),
               NULL;
    struct program_search *all = program_search_new(NULL, err), *search = NULL;
    if (all && find_own(call, all, &found, err) == 0)
        search = program_search_new(found_program_instance_path(found), err);
    else if (all)
        refuse_no_task(call, err);
    program_search_free(all);
    return search;
}

struct program_search *tpctl_search(const struct method_call *call, struct error *err)
{
    struct program_search *search =
        method_value(call, TPCTL_PARENT)
            ? search_of_parent(call, err)
            : program_search_new(method_value(call, TPCTL_INSTANCE), err);
    if (!search)
        return NULL;
    const char *warnings = program_search_warnings(search);
    terminal_complain("tpctl", warnings, strlen(warnings));
    return search;
}

int tpctl_find(const struct method_call *call, struct program_search *search, const char *id,
               const struct found_program **found, struct error *err)
{
    if (strcmp(id, "@") == 0) {
        int status = find_own(call, search, found, err);
        return status == TPCTL_NONE ? refuse_no_task(call, err) : status;
    }
    char *usual = batch_system_identity(batch_system_find(BATCH_SYSTEM_ALL));
    int rc = program_search_find(search, id, usual, found, err);
    free(usual);
    return rc == 1 ? 0 : rc == 0 ? TPCTL_NONE : 1;
}

int tpctl_current(struct method_call *call, struct error *err)
{
    const struct found_program *found;
    struct program_search *search = program_search_new(NULL, err);
    int status = search ? find_own(call, search, &found, err) : -1;
    if (status == 0)
        fprintf(call->out, "%s\n", found_program_id(found));
    program_search_free(search);
    return status;
}
