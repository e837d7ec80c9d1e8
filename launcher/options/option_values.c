/* Readers of the texts of options that say more than a row of spec_fields.c reads. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/policy/rankfile.h"
#include "base/duration.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/options/option.h"
#include "launcher/spec/field_words.h"
#include "launcher/spec/spec_build.h"
#include "launcher/spec/spec_check.h"
#include "launcher/tree/batch_bootstrap.h"

static void *option_member(const struct option *option, const struct option_target *target)
{
    char *base = option->flags & OPTION_WHOLE ? (char *)target->spec : (char *)target->part;
    return base + option->offset;
}

static void option_replace(char **text, const char *value)
{
    free(*text);
    *text = mem_copy_text(value);
}

int option_set_member(const struct option *option, const char *value, struct option_target *target,
                      struct error *err)
{
    struct spec_part *part = option->flags & OPTION_WHOLE ? NULL : target->part;
    return spec_read_member(target->spec, part, option->offset, value, err);
}

int option_count(const struct option *option, const char *value, struct option_target *target,
                 struct error *err)
{
    (void)value, (void)err;
    ++*(int *)option_member(option, target);
    return 0;
}

int option_set_action(const struct option *option, const char *value, struct option_target *target,
                      struct error *err)
{
    (void)value, (void)err;
    target->action = option->detail;
    return 0;
}

int option_set_ntasks(const struct option *option, const char *value, struct option_target *target,
                      struct error *err)
{
    struct spec_part *part = target->part;
    part->fill = strcmp(value, "all") == 0;
    part->ntasks = 0;
    if (part->fill)
        return 0;
    return option_set_member(option, value, target, err);
}

/* detail: 1 where a duration of nothing would end the run before it starts. */
int option_set_duration(const struct option *option, const char *value,
                        struct option_target *target, struct error *err)
{
    double seconds;
    if (duration_decode(value, &seconds, err) < 0)
        return -1;
    if (option->detail && seconds <= 0)
        return error_set(err, "%s must be more than 0; write inf for no limit",
                         excerpt(value, strlen(value)).text);
    *(double *)option_member(option, target) = seconds;
    return 0;
}

/* One time for both ends of a run: that which tprun makes, and that which the user asks for. */
int option_set_kill_grace(const struct option *option, const char *value,
                          struct option_target *target, struct error *err)
{
    if (option_set_duration(option, value, target, err) < 0)
        return -1;
    target->spec->stop_grace = target->spec->kill_grace;
    return 0;
}

int option_set_signal(const struct option *option, const char *value, struct option_target *target,
                      struct error *err)
{
    (void)option;
    return spec_signal_decode(value, &target->spec->warn_signal, &target->spec->warn_before, err);
}

int option_set_wait(const struct option *option, const char *value, struct option_target *target,
                    struct error *err)
{
    double seconds = option->detail ? 0 : INFINITY;
    if (value && duration_decode(value, &seconds, err) < 0)
        return -1;
    target->spec->wait = seconds;
    return 0;
}

/* What the file says goes into the spec, not where it is. A relative name is one of this directory,
 * and the messages name it as it was written. */
int option_set_rankfile(const struct option *option, const char *value,
                        struct option_target *target, struct error *err)
{
    struct buf text = BUF_INIT;
    struct spec_part *part = target->part;
    const char *name = strcmp(value, "-") == 0 ? "stdin" : value;
    (void)option;
    int rc = file_text_read(value, name, RANKFILE_MAX_TEXT, &text, err);
    if (rc == 0 && strlen(buf_text(&text)) != text.len)
        rc = error_set(err, "%s is not a text file: it contains a zero byte", name);
    if (rc == 0) {
        option_replace(&part->rankfile, buf_text(&text));
        option_replace(&part->rankfile_name, name);
    }
    buf_free(&text);
    return rc;
}

/* Other launchers' way to say --order: by slot, ranks run along the hardware; by a level they
 * follow the placement. */
int option_set_rank_by(const struct option *option, const char *value, struct option_target *target,
                       struct error *err)
{
    static const struct spec_word words[] = {
        {"slot", true},     {"hwthread", false}, {"core", false}, {"l1cache", false},
        {"l2cache", false}, {"l3cache", false},  {"numa", false}, {"socket", false},
        {"package", false}, {"board", false},    {"node", false}, {NULL, 0},
    };
    unsigned sequential;
    if (!spec_word_find(words, value, strlen(value), &sequential)) {
        char *list = spec_words_list(words);
        error_set(err, "unknown value %s (expected %s)", excerpt(value, strlen(value)).text, list);
        free(list);
        return -1;
    }
    option_replace(option_member(option, target), sequential ? "sequential" : "natural");
    return 0;
}

int option_disable_cleanup(const struct option *option, const char *value,
                           struct option_target *target, struct error *err)
{
    (void)value;
    return option_set_member(option, "continue", target, err);
}

int option_set_pmi(const struct option *option, const char *value, struct option_target *target,
                   struct error *err)
{
    unsigned *pmi = option_member(option, target), set;
    if (strcmp(value, "none") == 0) {
        *pmi = SPEC_PMI_NONE;
        return 0;
    }
    if (spec_words_decode(spec_pmi_words, value, &set, err) < 0)
        return error_set(err,
                         "unknown value %s (expected auto, none, or a list of pmi1, pmi2 and pmix)",
                         excerpt(value, strlen(value)).text);
    if (spec_pmi_check(set, err) < 0)
        return -1;
    *pmi = set;
    return 0;
}

/* A path is made absolute: tasks start elsewhere. */
int option_set_mpi(const struct option *option, const char *value, struct option_target *target,
                   struct error *err)
{
    bool relative = value[0] == '.' || (value[0] != '/' && strchr(value, '/'));
    const char *name = strncmp(value, "./", 2) == 0 && value[2] ? value + 2 : value;
    char *here = relative ? getcwd(NULL, 0) : NULL;
    char *whole = here ? mem_format("%s/%s", here, name) : mem_copy_text(value);
    int rc = spec_check_mpi(whole, err);
    if (rc == 0) {
        option_replace(option_member(option, target), whole);
        target->spec->mpi_is_default = false;
    }
    free(whole);
    free(here);
    return rc;
}

int option_add_after(const struct option *option, const char *value, struct option_target *target,
                     struct error *err)
{
    (void)option;
    if (spec_after_check(value, err) < 0)
        return -1;
    spec_add_after(target->spec, value);
    return 0;
}

int option_add_stage(const struct option *option, const char *value, struct option_target *target,
                     struct error *err)
{
    (void)option;
    if (spec_stage_check(value, err) < 0)
        return -1;
    spec_add_stage(target->spec, value);
    return 0;
}

int option_add_topology(const struct option *option, const char *value,
                        struct option_target *target, struct error *err)
{
    (void)option;
    if (spec_topology_check(value, err) < 0)
        return -1;
    spec_add_topology(target->spec, value);
    return 0;
}

/* A file whose name looks like ranks is written ./0. */
int option_set_input(const struct option *option, const char *value, struct option_target *target,
                     struct error *err)
{
    struct spec *spec = target->spec;
    static const struct {
        const char *word;
        enum spec_input input;
    } words[] = {{"all", SPEC_INPUT_ALL}, {"none", SPEC_INPUT_NONE}, {"tools", SPEC_INPUT_TOOLS}};
    (void)option;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(value, words[i].word) == 0) {
            spec->input = words[i].input;
            spec->tools |= spec->input == SPEC_INPUT_TOOLS;
            spec->input_stays = spec->input == SPEC_INPUT_ALL;
            return 0;
        }
    bool ranks = value[strspn(value, "0123456789-,[]")] == '\0';
    if (ranks && spec_ranks_check(value, err) < 0)
        return error_prefix(err, "ranks (or write ./%s for a file)", value);
    spec->input = ranks ? SPEC_INPUT_RANKS : SPEC_INPUT_FILE;
    spec->input_stays = ranks;
    option_replace(&spec->input_arg, value);
    return 0;
}

/* What is no name at all may be meant as other launchers mean their -x. */
static int option_no_variable(const char *value, struct error *err)
{
    struct excerpt shown = excerpt(value, strlen(value));
    if (strchr(value, ','))
        return error_set(err, "%s is not one variable: write -x for each", shown.text);
    if (strpbrk(value, "[.-@"))
        return error_set(err, "%s is not a variable; to leave out nodes write --exclude",
                         shown.text);
    if (isdigit((unsigned char)value[strlen(value) - 1]))
        return error_set(err, "%s is not set: write %s=VALUE, or --exclude %s to leave out a node",
                         value, value, value);
    return error_set(err, "%s is not set: write %s=VALUE", value, value);
}

int option_add_env(const struct option *option, const char *value, struct option_target *target,
                   struct error *err)
{
    size_t len = strcspn(value, "=");
    (void)option;
    if (!len)
        return error_set(err, "%s has no name: write VAR or VAR=VALUE",
                         excerpt(value, strlen(value)).text);
    const char *text = value[len] ? value + len + 1 : getenv(value);
    if (!text)
        return option_no_variable(value, err);
    spec_add_env(target->part, ENV_SET, value, len, text);
    return 0;
}

int option_remove_env(const struct option *option, const char *value, struct option_target *target,
                      struct error *err)
{
    (void)option;
    if (strchr(value, '='))
        return error_set(err, "%s contains '=': expected a pattern of names",
                         excerpt(value, strlen(value)).text);
    spec_add_env(target->part, ENV_REMOVE, value, strlen(value), NULL);
    return 0;
}

int option_add_rlimit(const struct option *option, const char *value, struct option_target *target,
                      struct error *err)
{
    size_t len = strcspn(value, "=");
    unsigned resource;
    uint64_t soft;
    (void)option;
    if (!value[len])
        return error_set(err, "expected NAME=SOFT, such as core=unlimited, got %s",
                         excerpt(value, strlen(value)).text);
    if (spec_word_decode(spec_rlimit_words, value, len, &resource, err) < 0 ||
        spec_limit_decode(value + len + 1, &soft, err) < 0)
        return -1;
    spec_add_rlimit(target->part, (int)resource, soft);
    return 0;
}

int option_set_bootstrap(const struct option *option, const char *value,
                         struct option_target *target, struct error *err)
{
    if (batch_bootstrap_check(value, err) < 0)
        return -1;
    option_replace(option_member(option, target), value);
    return 0;
}

/* Its part is one without a program that would be run. */
int option_set_check(const struct option *option, const char *value, struct option_target *target,
                     struct error *err)
{
    struct spec_part *part = target->part;
    (void)option;
    if (!value[0])
        return error_set(err, "the name of the program is empty");
    if (part->argv[0])
        return error_set(err, "checks %s and runs nothing: leave out %s", value, part->argv[0]);
    free(part->argv);
    part->argv = mem_array(2, sizeof(char *));
    part->argv[0] = mem_copy_text(value);
    target->action = OPTIONS_CHECK;
    return 0;
}

int option_set_spec_file(const struct option *option, const char *value,
                         struct option_target *target, struct error *err)
{
    (void)option, (void)err;
    target->file = value;
    return 0;
}
