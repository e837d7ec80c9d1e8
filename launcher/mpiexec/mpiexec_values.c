/* Readers of values that are more than a word put in another's place. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/mpiexec/mpiexec_private.h"
#include "launcher/spec/field_words.h"
#include "launcher/tree/batch_bootstrap.h"

static int value_number(const char *text, struct error *err)
{
    uint32_t number;
    return spec_number_decode(text, SPEC_MAX_NUMBER, &number, err);
}

/* ---- how many, and where ---- */

int mpiexec_read_ntasks(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    struct mpiexec_part *part = mpiexec_part(mpiexec);
    if (part->ntasks && strcmp(part->ntasks, values[0]) != 0)
        part->ntasks_before = part->ntasks;
    part->ntasks = values[0];
    return value_number(values[0], err);
}

int mpiexec_read_ppn(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    mpiexec_part(mpiexec)->ppn = values[0];
    return value_number(values[0], err);
}

static int read_per(struct mpiexec *mpiexec, const char *number, const char *level,
                    struct error *err)
{
    struct mpiexec_text option = mpiexec->option;
    uint32_t count;
    if (spec_number_decode(number, SPEC_MAX_NUMBER, &count, err) < 0)
        return -1;
    mpiexec_add_per(mpiexec, count, level,
                    mem_format("%.*s %u", (int)option.len, option.at, count));
    return 0;
}

int mpiexec_read_npernode(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    return read_per(mpiexec, values[0], "node", err);
}

int mpiexec_read_npersocket(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    return read_per(mpiexec, values[0], "socket", err);
}

int mpiexec_read_pernode(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)values, (void)err;
    mpiexec_add_per(mpiexec, 1, "node", mem_copy_text_n(mpiexec->option.at, mpiexec->option.len));
    return 0;
}

int mpiexec_read_hosts(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    return mpiexec_add_hosts(mpiexec, values[0], err);
}

int mpiexec_read_hostfile(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)err;
    mpiexec->hostfile = values[0];
    return 0;
}

int mpiexec_read_oversubscribe(struct mpiexec *mpiexec, const char *const *values,
                               struct error *err)
{
    (void)values, (void)err;
    mpiexec->oversubscribe = true;
    return 0;
}

int mpiexec_read_strict(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)values, (void)err;
    mpiexec->strict = true;
    return 0;
}

/* ---- how nodes are reached, what is written ---- */

int mpiexec_read_launcher(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    static const struct {
        const char *name, *native, *more;
    } launchers[] = {
        {"ssh", "--bootstrap=auto", NULL}, /* which needs no ssh for this machine, as there */
        {"rsh", "--bootstrap=auto", "--ssh=rsh"},
        {"fork", "--bootstrap=local", NULL},
    };
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        if (strcmp(values[0], launchers[i].name) != 0)
            continue;
        string_list_add_copy(&mpiexec->whole, launchers[i].native);
        if (launchers[i].more)
            string_list_add_copy(&mpiexec->whole, launchers[i].more);
        return 0;
    }
    if (batch_bootstrap_check(values[0], err) < 0)
        return -1;
    string_list_add(&mpiexec->whole, mem_format("--bootstrap=%s", values[0]));
    return 0;
}

/* %p, a proxy's number, is that of a node; there is no %g. */
static int read_pattern(struct mpiexec *mpiexec, const char *option, const char *pattern,
                        struct error *err)
{
    struct buf word = BUF_INIT;
    buf_printf(&word, "--%s=", option);
    for (const char *at = pattern; *at; at++) {
        buf_add_char(&word, *at);
        if (*at != '%' || !at[1])
            continue;
        at++;
        if (*at == 'g') {
            buf_free(&word);
            return error_set(err, "%%g, the process group, is not supported: leave it out");
        }
        buf_add_char(&word, *at);
        if (*at == 'p')
            word.data[word.start + word.len - 1] = 'n';
    }
    string_list_add(&mpiexec->whole, buf_take_text(&word));
    return 0;
}

int mpiexec_read_outfile(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    return read_pattern(mpiexec, "output", values[0], err);
}

int mpiexec_read_errfile(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    return read_pattern(mpiexec, "error", values[0], err);
}

int mpiexec_read_membind(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    bool none = strcmp(values[0], "none") == 0 || strcmp(values[0], "firsttouch") == 0;
    if (!none && strncmp(values[0], "bind", 4) != 0)
        return error_set(err,
                         "%s is not supported (expected bind, for the NUMA nodes next to a task, "
                         "none or firsttouch)",
                         excerpt(values[0], strlen(values[0])).text);
    string_list_add_copy(&mpiexec_part(mpiexec)->own,
                         none ? "--mem-bind=none" : "--mem-bind=local");
    return 0;
}

/* ---- environment ---- */

/* One that is not set is passed over. */
int mpiexec_read_variable(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)err;
    if (strchr(values[0], '=') || getenv(values[0]))
        string_list_add(&mpiexec_part(mpiexec)->set, mem_format("--env=%s", values[0]));
    return 0;
}

/* Nothing but these variables of the caller's, and those that tasks have there because a login sets
 * them on every node; those that are not set are passed over. */
static int read_list(struct string_list *pass, const char *list)
{
    static const char *const login[] = {"HOME", "LOGNAME", "PATH", "SHELL", "USER"};
    string_list_clear(pass);
    string_list_add_copy(pass, "--env-remove=*");
    for (size_t i = 0; i < sizeof(login) / sizeof(login[0]); i++)
        if (getenv(login[i]))
            string_list_add(pass, mem_format("--env=%s", login[i]));
    for (const char *at = list; *at; at += *at == ',') {
        size_t len = strcspn(at, ",");
        char *name = mem_copy_text_n(at, len);
        if (len && !strchr(name, '=') && getenv(name))
            string_list_add(pass, mem_format("--env=%s", name));
        free(name);
        at += len;
    }
    return 0;
}

static struct string_list *own_pass(struct mpiexec *mpiexec)
{
    mpiexec_part(mpiexec)->passes = true;
    return &mpiexec_part(mpiexec)->pass;
}

int mpiexec_read_genvlist(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)err;
    return read_list(&mpiexec->pass, values[0]);
}

int mpiexec_read_genvnone(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)values, (void)err;
    return read_list(&mpiexec->pass, "");
}

int mpiexec_read_genvall(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)values, (void)err;
    string_list_clear(&mpiexec->pass);
    return 0;
}

int mpiexec_read_envlist(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)err;
    return read_list(own_pass(mpiexec), values[0]);
}

int mpiexec_read_envnone(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)values, (void)err;
    return read_list(own_pass(mpiexec), "");
}

int mpiexec_read_envall(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)values, (void)err;
    string_list_clear(own_pass(mpiexec));
    return 0;
}

/* ---- parameters of Open MPI ---- */

/* "ssh -x : rsh": mpirun takes the first that is installed. The first is taken here. */
int mpiexec_read_rsh(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    const char *other = strstr(values[0], " :");
    size_t len = other ? (size_t)(other - values[0]) : strlen(values[0]);
    (void)err;
    string_list_add(&mpiexec->whole, mem_format("--ssh=%.*s", (int)len, values[0]));
    return 0;
}

/* Those of its launcher that have an equal here. */
static const struct {
    const char *name;
    int (*read)(struct mpiexec *mpiexec, const char *const *values, struct error *err);
} parameters[] = {
    {"plm_rsh_agent", mpiexec_read_rsh},
    {"orte_rsh_agent", mpiexec_read_rsh},
    {"hwloc_base_binding_policy", mpiexec_read_bind},
    {"rmaps_base_mapping_policy", mpiexec_read_map},
    {"rmaps_default_mapping_policy", mpiexec_read_map},
    {"orte_default_hostfile", mpiexec_read_hostfile},
    {"prte_default_hostfile", mpiexec_read_hostfile},
};

/* Families of parameters of its launcher alone: no library of a program reads them. */
static const char *const launcher_families[] = {"plm_",  "rmaps_",  "ras_",     "odls_",   "orte_",
                                                "prte_", "routed_", "grpcomm_", "ess_",    "iof_",
                                                "oob_",  "errmgr_", "state_",   "schizo_", "rtc_"};

/* The library in a task finds parameters in its environment, and passes over those that it does not
 * know, as mpirun does. */
int mpiexec_read_mca(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    string_list_add(&mpiexec->set, mem_format("--env=OMPI_MCA_%s=%s", values[0], values[1]));
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
        if (strcmp(values[0], parameters[i].name) == 0)
            return parameters[i].read(mpiexec, values + 1, err);
    return 0;
}

static bool is_of_launcher(const char *name)
{
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
        if (strcmp(name, parameters[i].name) == 0)
            return false;
    for (size_t i = 0; i < sizeof(launcher_families) / sizeof(launcher_families[0]); i++)
        if (strncmp(name, launcher_families[i], strlen(launcher_families[i])) == 0)
            return true;
    return false;
}

/* They are in every part, so the first one has them all. */
char *mpiexec_ignored(char *const words[])
{
    static const char set[] = "--env=OMPI_MCA_";
    struct buf names = BUF_INIT;
    for (char *const *at = words + 1; *at && (*at)[0] == '-' && strcmp(*at, "--") != 0; at++) {
        if (strncmp(*at, set, sizeof(set) - 1) != 0)
            continue;
        const char *from = *at + sizeof(set) - 1;
        char *name = mem_copy_text_n(from, strcspn(from, "="));
        if (is_of_launcher(name))
            buf_printf(&names, "%s%s", names.len ? ", " : "", name);
        free(name);
    }
    char *text = names.len
                     ? mem_format("-mca: ignored, since they are for Open MPI's own launcher: "
                                  "%s",
                                  buf_text(&names))
                     : NULL;
    buf_free(&names);
    return text;
}
