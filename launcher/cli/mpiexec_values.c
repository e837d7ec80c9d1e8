/* Readers of values that are more than a word put in another's place. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/excerpt.h"
#include "base/buf.h"
#include "base/mem.h"
#include "launcher/cli/mpiexec_private.h"
#include "launcher/program/spec_words.h"

static int value_number(const char *text, struct error *err)
{
    uint32_t number;
    return spec_number_decode(text, SPEC_MAX_NUMBER, &number, err);
}

static void add_own(struct mpiexec *mpiexec, char *word)
{
    mpiexec_add(&mpiexec_part(mpiexec)->own, word);
}

/* ---- how many, and where ---- */

int mpiexec_read_ntasks(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    mpiexec_part(mpiexec)->ntasks = values[0];
    return value_number(values[0], err);
}

int mpiexec_read_ppn(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    mpiexec_part(mpiexec)->ppn = values[0];
    return value_number(values[0], err);
}

/* So many on each, numbered along the hardware, as Open MPI has it. */
static int read_per(struct mpiexec *mpiexec, const char *number, const char *level,
                    struct error *err)
{
    if (value_number(number, err) < 0)
        return -1;
    add_own(mpiexec, mem_format("--per=%s:%s", number, level));
    add_own(mpiexec, mem_copy_text("--order=sequential"));
    mpiexec_part(mpiexec)->placed = true;
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
    (void)values;
    return read_per(mpiexec, "1", "node", err);
}

int mpiexec_read_hosts(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    return mpiexec_add_hosts(mpiexec, values[0], err);
}

int mpiexec_read_strict(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)values, (void)err;
    mpiexec->strict = true;
    return 0;
}

int mpiexec_read_rankfile(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)err;
    add_own(mpiexec, mem_format("--rankfile=%s", values[0]));
    mpiexec_part(mpiexec)->placed = true;
    return 0;
}

int mpiexec_read_rank_by(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)err;
    add_own(mpiexec, mem_format("--rank-by=%s", values[0]));
    mpiexec_part(mpiexec)->placed = true;
    return 0;
}

/* ---- how nodes are reached, what is written ---- */

int mpiexec_read_launcher(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    static const struct {
        const char *name, *native, *more;
    } launchers[] = {
        {"ssh", "--bootstrap=ssh", NULL},
        {"rsh", "--bootstrap=ssh", "--ssh=rsh"},
        {"fork", "--bootstrap=local", NULL},
    };
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        if (strcmp(values[0], launchers[i].name) != 0)
            continue;
        mpiexec_add(&mpiexec->whole, mem_copy_text(launchers[i].native));
        if (launchers[i].more)
            mpiexec_add(&mpiexec->whole, mem_copy_text(launchers[i].more));
        return 0;
    }
    return error_set(err,
                     "%s is none of ssh, rsh, fork: write --bootstrap with a command template, "
                     "such as \"lxc exec {host} -- {agent}\"",
                     excerpt(values[0], strlen(values[0])).text);
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
            return error_set(err, "%%g, a number of the process group, is not known here: leave it "
                                  "out");
        }
        buf_add_char(&word, *at);
        if (*at == 'p')
            word.data[word.start + word.len - 1] = 'n';
    }
    mpiexec_add(&mpiexec->whole, buf_take_text(&word));
    return 0;
}

int mpiexec_read_output(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    return read_pattern(mpiexec, "output", values[0], err);
}

int mpiexec_read_error(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    return read_pattern(mpiexec, "error", values[0], err);
}

int mpiexec_read_membind(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    bool none = strcmp(values[0], "none") == 0 || strcmp(values[0], "firsttouch") == 0;
    if (!none && strncmp(values[0], "bind", 4) != 0)
        return error_set(err,
                         "%s is not offered: bind (to the NUMA nodes next to a task), none "
                         "and firsttouch are",
                         excerpt(values[0], strlen(values[0])).text);
    add_own(mpiexec, mem_copy_text(none ? "--mem-bind=none" : "--mem-bind=local"));
    return 0;
}

/* ---- environment ---- */

/* Nothing but these variables of the caller's; those that are not set are passed over. */
static int read_list(struct mpiexec_words *pass, const char *list)
{
    mpiexec_words_free(pass);
    mpiexec_add(pass, mem_copy_text("--env-remove=*"));
    for (const char *at = list; *at; at += *at == ',') {
        size_t len = strcspn(at, ",");
        char *name = mem_copy_text_n(at, len);
        if (len && !strchr(name, '=') && getenv(name))
            mpiexec_add(pass, mem_format("--env=%s", name));
        free(name);
        at += len;
    }
    return 0;
}

static struct mpiexec_words *own_pass(struct mpiexec *mpiexec)
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
    mpiexec_words_free(&mpiexec->pass);
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
    mpiexec_words_free(own_pass(mpiexec));
    return 0;
}
