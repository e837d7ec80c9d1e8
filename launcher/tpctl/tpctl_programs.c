/* Programs that the command line of tpctl names: by id, or the caller's own. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "launcher/source/batch_system.h"
#include "launcher/stdio/terminal.h"
#include "launcher/tpctl/tpctl.h"

struct program_search *tpctl_search(const struct method_call *call, struct error *err)
{
    struct program_search *search = program_search_new(method_value(call, TPCTL_INSTANCE), err);
    if (!search)
        return NULL;
    const char *warnings = program_search_warnings(search);
    terminal_complain("tpctl", warnings, strlen(warnings));
    return search;
}

/* ---- the caller's own ---- */

/* Where the environment does not say it, the cgroup of a task has the id in its name: tprun.ID.PID.RANDOM */
static char *id_of_cgroup(void)
{
    struct buf text = BUF_INIT;
    char *id = NULL;
    if (file_read("/proc/self/cgroup", &text) == 0) {
        const char *at = buf_text(&text), *last = NULL;
        while ((at = strstr(at, "/tprun.")))
            last = at += strlen("/tprun.");
        size_t digits = last ? strspn(last, "0123456789") : 0;
        id = digits && last[digits] == '.' ? mem_copy_text_n(last, digits) : NULL;
    }
    buf_free(&text);
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

char *tpctl_own_id(struct program_search *search)
{
    const struct found_program *found;
    char *id = id_of_environment();
    if (!id)
        id = id_of_cgroup();
    if (id && program_search_find(search, id, NULL, &found, NULL) == 1 &&
        found_program_lives(found))
        return id;
    free(id);
    return NULL;
}

int tpctl_find(struct program_search *search, const char *id, const struct found_program **found,
               struct error *err)
{
    bool own = strcmp(id, "@") == 0;
    char *name = own ? tpctl_own_id(search) : mem_copy_text(id);
    if (!name) {
        error_set(err, "@ is the caller's own program, and this process is a task of none");
        return TPCTL_NONE;
    }
    char *usual = batch_system_identity(batch_system_find(BATCH_SYSTEM_ALL));
    int rc = program_search_find(search, name, usual, found, err);
    free(usual);
    free(name);
    return rc == 1 ? 0 : rc == 0 ? TPCTL_NONE : 1;
}

int tpctl_current(struct method_call *call, struct error *err)
{
    struct program_search *search = program_search_new(NULL, err);
    char *id = search ? tpctl_own_id(search) : NULL;
    const char *slash = id ? strrchr(id, '/') : NULL;
    if (id)
        fprintf(call->out, "%s\n", slash ? slash + 1 : id);
    int status = id ? 0 : search ? TPCTL_NONE : -1;
    free(id);
    program_search_free(search);
    return status;
}
