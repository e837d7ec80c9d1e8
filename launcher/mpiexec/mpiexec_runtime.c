/* Open MPI's files of parameters, its runtime options, and variables that are made of others. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "base/shell_words.h"
#include "base/string_list.h"
#include "base/text.h"
#include "launcher/mpiexec/mpiexec_private.h"
#include "launcher/process/signal_name.h"

#define RUNTIME_MAX_FILE (1u << 20)

/* ---- files of parameters ---- */

/* NAME = VALUE, the value to the end of the line. */
static int tune_parameter(struct mpiexec *mpiexec, const char *line, struct error *err)
{
    static const char blanks[] = " \t\r";
    const char *equals = strchr(line, '=');
    size_t len = equals ? (size_t)(equals - line) : 0;
    while (len && strchr(blanks, line[len - 1]))
        len--;
    if (!len || strcspn(line, blanks) < len)
        return error_set(err, "expected NAME = VALUE, -mca NAME VALUE or -x NAME=VALUE, got %s",
                         excerpt(line, strlen(line)).text);
    const char *text = equals + 1 + strspn(equals + 1, blanks);
    size_t size = strlen(text);
    while (size && strchr(blanks, text[size - 1]))
        size--;
    /* kept: readers may borrow them */
    string_list_add(&mpiexec->texts, mem_copy_text_n(line, len));
    string_list_add(&mpiexec->texts, mem_copy_text_n(text, size));
    char **values = mpiexec->texts.list + mpiexec->texts.count - 2;
    return mpiexec_read_mca(mpiexec, (const char *const[]){values[0], values[1]}, err);
}

/* What such a file may hold of a command line, without dashes. */
static const struct tune_option {
    const char *name, *arguments;
    size_t nvalues;
    enum { TUNE_VARIABLE, TUNE_MCA, TUNE_PMIX } kind;
} tune_table[] = {
    {"x", "NAME[=VALUE]", 1, TUNE_VARIABLE}, {"set-env", "NAME[=VALUE]", 1, TUNE_VARIABLE},
    {"mca", "NAME VALUE", 2, TUNE_MCA},      {"gmca", "NAME VALUE", 2, TUNE_MCA},
    {"omca", "NAME VALUE", 2, TUNE_MCA},     {"gomca", "NAME VALUE", 2, TUNE_MCA},
    {"pmixmca", "NAME VALUE", 2, TUNE_PMIX},
};

static const struct tune_option *tune_find(const char *word)
{
    const char *name = word + strspn(word, "-");
    for (size_t i = 0; name > word && i < sizeof(tune_table) / sizeof(tune_table[0]); i++)
        if (strcmp(name, tune_table[i].name) == 0)
            return &tune_table[i];
    return NULL;
}

/* -mca NAME VALUE and -x NAME[=VALUE], as on a command line. */
static int tune_options(struct mpiexec *mpiexec, const char *const *at, struct error *err)
{
    while (*at) {
        const char *word = *at++;
        const struct tune_option *option = tune_find(word);
        if (!option)
            return error_set(err, "unexpected %s (expected -mca or -x)",
                             excerpt(word, strlen(word)).text);
        for (size_t i = 0; i < option->nvalues; i++)
            if (!at[i])
                return error_set(err, "%s needs %s", word, option->arguments);
        if (option->kind == TUNE_PMIX)
            string_list_add(&mpiexec->set, mem_format("--env=PMIX_MCA_%s=%s", at[0], at[1]));
        else if (option->kind == TUNE_MCA && mpiexec_read_mca(mpiexec, at, err) < 0)
            return -1;
        else if (option->kind == TUNE_VARIABLE && (strchr(at[0], '=') || getenv(at[0])))
            string_list_add(&mpiexec->set, mem_format("--env=%s", at[0]));
        at += option->nvalues;
    }
    return 0;
}

static int tune_line(struct mpiexec *mpiexec, const char *line, struct error *err)
{
    line += strspn(line, " \t\r");
    if (*line == '#' || !*line)
        return 0;
    if (*line != '-')
        return tune_parameter(mpiexec, line, err);
    char **found = shell_words_split(line, err);
    if (!found)
        return -1;
    size_t first = mpiexec->texts.count, count = 0;
    for (; found[count]; count++) /* kept: readers may borrow them */
        string_list_add_copy(&mpiexec->texts, found[count]);
    string_list_free(found);
    return tune_options(mpiexec, (const char *const *)mpiexec->texts.list + first, err);
}

static int tune_file(struct mpiexec *mpiexec, const char *path, struct error *err)
{
    struct buf text = BUF_INIT;
    unsigned number = 1;
    int rc = file_text_read(path, path, RUNTIME_MAX_FILE, &text, err);
    if (rc == 0 && strlen(buf_text(&text)) != text.len)
        rc = error_set(err, "%s is not a text file: it contains a zero byte", path);
    for (const char *at = buf_text(&text); rc == 0 && *at; number++) {
        size_t len = strcspn(at, "\n");
        char *line = mem_copy_text_n(at, len);
        if ((rc = tune_line(mpiexec, line, err)) < 0)
            error_prefix(err, "%s: line %u", path, number);
        free(line);
        at += len + (at[len] == '\n');
    }
    buf_free(&text);
    return rc;
}

/* Put before the variables of other options, so that the command line counts more than a file. */
int mpiexec_read_tune(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    struct string_list before = mpiexec->set;
    char *names = mem_copy_text(values[0]), *rest = names;
    int rc = 0;
    mpiexec->set = (struct string_list){0};
    for (char *name; rc == 0 && (name = strsep(&rest, ","));)
        rc = tune_file(mpiexec, name, err);
    free(names);
    string_list_add_all(&mpiexec->set, &before);
    string_list_clear(&before);
    return rc;
}

/* ---- runtime options ---- */

enum runtime_kind {
    RUNTIME_ON,      /* the native word where the option is not false */
    RUNTIME_OFF,     /* where it is */
    RUNTIME_TIME,    /* with a time */
    RUNTIME_IDLE,    /* nothing has to be done */
    RUNTIME_REFUSED, /* what to write instead */
};

static const struct runtime_option {
    const char *name;
    size_t least; /* letters that are enough to name it */
    enum runtime_kind kind;
    const char *native;
} runtime_options[] = {
    {"error-nonzero-status", 3, RUNTIME_OFF, "--on-failure=continue"},
    {"abort-nonzero-status", 2, RUNTIME_OFF, "--on-failure=continue"},
    {"donotlaunch", 6, RUNTIME_ON, "--dry-run"},
    {"do-not-launch", 8, RUNTIME_ON, "--dry-run"},
    {"donotspawn", 6, RUNTIME_ON, "--dry-run"},
    {"recoverable", 3, RUNTIME_ON, "--on-failure=continue"},
    {"timeout", 1, RUNTIME_TIME, "--time-limit"},
    {"spawn-timeout", 2, RUNTIME_TIME, "--start-timeout"},
    {"show-progress", 2, RUNTIME_IDLE, NULL},
    {"notifyerrors", 1, RUNTIME_IDLE, NULL},
    {"report-state-on-timeout", 8, RUNTIME_IDLE, NULL},
    {"report-child-jobs-separately", 8, RUNTIME_IDLE, NULL},
    {"get-stack-traces", 1, RUNTIME_IDLE, NULL},
    {"aggregate-help-messages", 2, RUNTIME_IDLE, NULL},
    {"fwd-environment", 1, RUNTIME_IDLE, NULL},
    {"continuous", 1, RUNTIME_REFUSED, "recoverable: nothing is started again"},
    {"autorestart", 2, RUNTIME_REFUSED, "recoverable: nothing is started again"},
    {"max-restarts", 1, RUNTIME_REFUSED, "recoverable: nothing is started again"},
    {"exec-agent", 2, RUNTIME_REFUSED, "its command in front of the program's name"},
    {"output-proctable", 1, RUNTIME_REFUSED, "--display map"},
    {"stop-on-exec", 6, RUNTIME_REFUSED, "the debugger in front of the program's name"},
    {"stop-in-init", 9, RUNTIME_REFUSED, "the debugger in front of the program's name"},
    {"stop-in-app", 9, RUNTIME_REFUSED, "the debugger in front of the program's name"},
};

static const struct runtime_option *runtime_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(runtime_options) / sizeof(runtime_options[0]); i++) {
        const struct runtime_option *option = &runtime_options[i];
        if (len >= option->least && len <= strlen(option->name) &&
            strncasecmp(option->name, name, len) == 0)
            return option;
    }
    return NULL;
}

static bool runtime_false(const char *value)
{
    return value && *value &&
           (strncasecmp(value, "false", strlen(value)) == 0 ||
            strncasecmp(value, "no", strlen(value)) == 0 || strcmp(value, "0") == 0);
}

/* [[[DAYS:]HOURS:]MINUTES:]SECONDS as a number of seconds; caller frees. NULL: it is no such time. */
static char *runtime_seconds(const char *text)
{
    unsigned long long sum = 0;
    size_t colons = 0;
    for (const char *at = text; *at; at++)
        colons += *at == ':';
    if (colons > 3 || !*text)
        return NULL;
    for (const char *at = text;; at++) {
        char *end;
        if (*at < '0' || *at > '9' || strspn(at, "0123456789") > 9)
            return NULL;
        sum += strtoul(at, &end, 10);
        if (!*end)
            return mem_format("%llu", sum);
        if (*end != ':')
            return NULL;
        sum *= colons == 3 ? 24 : 60;
        colons--;
        at = end;
    }
}

static int runtime_apply(struct mpiexec *mpiexec, char *word, struct error *err)
{
    char *value = strchr(word, '=');
    size_t len = value ? (size_t)(value++ - word) : strlen(word);
    const struct runtime_option *option = runtime_find(word, len);
    bool off = runtime_false(value);
    if (!option)
        return error_set(err, "unknown value %s (see tprun --help=mpiexec)",
                         excerpt(word, len).text);
    if (option->kind == RUNTIME_REFUSED)
        return error_set(err, "%s is not supported: write %s", option->name, option->native);
    if (option->kind == RUNTIME_TIME) {
        char *seconds = runtime_seconds(value ? value : "");
        if (!seconds)
            return error_set(err, "%s needs a time: seconds, or hours:minutes:seconds",
                             option->name);
        string_list_add(&mpiexec->whole, mem_format("%s=%s", option->native, seconds));
        free(seconds);
    } else if (option->kind == (off ? RUNTIME_OFF : RUNTIME_ON)) {
        string_list_add_copy(&mpiexec->whole, option->native);
    }
    return 0;
}

int mpiexec_read_timeout(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)err;
    if (strcmp(values[0], "0") != 0)
        string_list_add(&mpiexec->whole, mem_format("--time-limit=%s", values[0]));
    return 0;
}

int mpiexec_read_runtime(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    char *words = mem_copy_text(values[0]), *rest = words;
    int rc = 0;
    for (char *word; rc == 0 && (word = strsep(&rest, ","));)
        rc = runtime_apply(mpiexec, word, err);
    free(words);
    return rc;
}

int mpiexec_read_recovery(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    static const char *const words[] = {"ulfm", "mpi", "yes", "true", "1"};
    if (runtime_false(values[0]))
        return 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(values[0], words[i]) != 0)
            continue;
        string_list_add_copy(&mpiexec->whole, "--on-failure=continue");
        string_list_add_copy(&mpiexec->set, "--env=OMPI_MCA_mpi_ft_enable=1");
        return 0;
    }
    return error_set(err, "unknown word %s (expected ulfm, yes or no)",
                     excerpt(values[0], strlen(values[0])).text);
}

/* All that tprun passes on; others cannot be asked for. */
int mpiexec_read_signals(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    static const int passed[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                 SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};
    char *names = mem_copy_text(values[0]), *rest = names;
    int rc = 0;
    (void)mpiexec;
    for (char *name; rc == 0 && (name = strsep(&rest, ","));) {
        bool found = strcmp(name, "none") == 0;
        for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
            found = found || signal_number(name, strlen(name)) == passed[i];
        if (!found)
            rc = error_set(err, "cannot pass on %s (expected USR1 or USR2)",
                           excerpt(name, strlen(name)).text);
    }
    free(names);
    return rc;
}

/* ---- variables ---- */

/* NAME, or NAME[C] where C stands between the values in place of a colon. */
static int read_joined(struct mpiexec *mpiexec, const char *const *values, bool before,
                       struct error *err)
{
    size_t len = strcspn(values[0], "[=");
    const char *rest = values[0] + len;
    char between = ':';
    if (len && rest[0] == '[' && rest[1] && strcmp(rest + 2, "]") == 0) {
        between = rest[1];
        rest += 3;
    }
    if (!len || *rest)
        return error_set(err, "%s is not the name of a variable",
                         excerpt(values[0], strlen(values[0])).text);
    char *name = mem_copy_text_n(values[0], len);
    struct mpiexec_part *part = mpiexec_part(mpiexec);
    struct string_list *words = &part->set;
    const char *old = mpiexec_variable(mpiexec, part, name);
    if (!old || !*old)
        string_list_add(words, mem_format("--env=%s=%s", name, values[1]));
    else
        string_list_add(words, mem_format("--env=%s=%s%c%s", name, before ? values[1] : old,
                                          between, before ? old : values[1]));
    free(name);
    return 0;
}

int mpiexec_read_prepend(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    return read_joined(mpiexec, values, true, err);
}

int mpiexec_read_append(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    return read_joined(mpiexec, values, false, err);
}

int mpiexec_read_prefix(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    if (!*values[0])
        return error_set(err, "the directory is empty");
    mpiexec->prefix = values[0];
    return 0;
}

/* Where Open MPI is on the nodes: its programs and libraries come first there, also where -x says
 * what follows. */
void mpiexec_end_prefix(const struct mpiexec *mpiexec, struct mpiexec_part *part)
{
    static const char *const folders[][2] = {{"PATH", "bin"}, {"LD_LIBRARY_PATH", "lib"}};
    for (size_t i = 0; mpiexec->prefix && i < 2; i++) {
        const char *old = mpiexec_variable(mpiexec, part, folders[i][0]);
        string_list_add(&part->set,
                        mem_format("--env=%s=%s/%s%s%s", folders[i][0], mpiexec->prefix,
                                   folders[i][1], old && *old ? ":" : "", old ? old : ""));
    }
}
