/* The command that reaches a host, made of options, and what its words say of how far it got. */
#include "launcher/tree/bootstrap.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/shell_words.h"
#include "base/string_list.h"
#include "launcher/environment/environment.h"
#include "launcher/process/exec.h"
#include "launcher/tree/srun.h"

extern char **environ;

#define WORDS_MAX 4096 /* bytes of a host's own words that are kept */

/* JSON has no infinity: null stands for it. */
static json_t *patience_to_json(double seconds)
{
    return isinf(seconds) ? json_null() : json_real(seconds);
}

static int patience_from_json(const json_t *value, double *seconds)
{
    *seconds = json_is_null(value) ? INFINITY : json_number_value(value);
    return json_is_null(value) || json_is_number(value) ? 0 : -1;
}

json_t *bootstrap_to_json(const struct bootstrap *boot)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:o, s:o, s:i, s:b, s:s*}", "method", boot->method,
                     "ssh", boot->ssh, "agent", boot->agent, "fanout", (int)boot->fanout,
                     "start_timeout", patience_to_json(boot->start_timeout), "node_timeout",
                     patience_to_json(boot->node_timeout), "verbose", boot->verbose, "pmix",
                     boot->pmix, "batch", boot->batch);
}

int bootstrap_from_json(struct bootstrap *boot, const json_t *value, struct error *err)
{
    const char *method, *ssh, *agent, *batch = NULL;
    json_t *start, *silence;
    int fanout;
    json_error_t where;
    if (json_unpack_ex((json_t *)(uintptr_t)value, &where, 0,
                       "{s:s, s:s, s:s, s:i, s:o, s:o, s:i, s:b, s?s}", "method", &method, "ssh",
                       &ssh, "agent", &agent, "fanout", &fanout, "start_timeout", &start,
                       "node_timeout", &silence, "verbose", &boot->verbose, "pmix", &boot->pmix,
                       "batch", &batch) < 0)
        return error_set(err, "bootstrap: %s", where.text);
    if (patience_from_json(start, &boot->start_timeout) < 0 ||
        patience_from_json(silence, &boot->node_timeout) < 0)
        return error_set(err, "bootstrap: a time must be a number or null");
    if (fanout < 1)
        return error_set(err, "bootstrap: fan-out %d: must be at least 1", fanout);
    boot->fanout = (uint32_t)fanout;
    boot->method = mem_copy_text(method);
    boot->ssh = mem_copy_text(ssh);
    boot->agent = mem_copy_text(agent);
    boot->batch = mem_copy_text(batch);
    return 0;
}

void bootstrap_clear(struct bootstrap *boot)
{
    free(boot->method);
    free(boot->ssh);
    free(boot->agent);
    free(boot->batch);
    memset(boot, 0, sizeof(*boot));
}

/* ---- a batch system's command ---- */

/* For a shell, whichever it is. */
static char *shell_quote(const char *text)
{
    struct buf out = BUF_INIT;
    buf_add_char(&out, '\'');
    for (const char *at = text; *at; at++) {
        if (*at == '\'')
            buf_add_text(&out, "'\\''");
        else
            buf_add_char(&out, *at);
    }
    buf_add_char(&out, '\'');
    return buf_take_text(&out);
}

/* In the first directory of the list where it is and may be; NULL: in none. Caller frees. */
static char *find_command(const struct batch_bootstrap *batch, const char *search)
{
    char *copy = mem_copy_text(search ? search : ""), *rest = copy, *path = NULL;
    for (const char *directory; !path && (directory = strsep(&rest, ":"));) {
        if (!*directory || (batch->only_in && !strstr(directory, batch->only_in)))
            continue;
        path = exec_find(batch->command, directory, NULL);
    }
    free(copy);
    return path;
}

int bootstrap_use_batch(struct bootstrap *boot, const struct batch_bootstrap *batch,
                        struct error *err)
{
    char *directory = batch->directory(), *path = find_command(batch, getenv("PATH"));
    if (!path)
        path = find_command(batch, directory);
    int rc = path ? 0
                  : error_set(err, "%s is not installed: it is not in PATH%s%s%s%s", batch->command,
                              batch->only_in ? ", in a directory with " : "",
                              batch->only_in ? batch->only_in : "", directory ? ", nor in " : "",
                              directory ? directory : "");
    if (rc == 0) {
        char *quoted = shell_quote(path);
        free(boot->method);
        boot->method = mem_format("%s%s %s", batch->before, quoted, batch->words);
        boot->flat = true;
        boot->command = batch->command;
        free(quoted);
    }
    free(directory);
    free(path);
    return rc;
}

/* ---- the command ---- */

static int words_split(struct string_list *words, const char *text, struct error *err)
{
    char **split = shell_words_split(text, err);
    for (size_t i = 0; split && split[i]; i++)
        string_list_add(words, split[i]);
    free(split);
    return split ? 0 : -1;
}

static bool is_ssh(const struct bootstrap *boot)
{
    return strcmp(boot->method, "auto") == 0 || strcmp(boot->method, "ssh") == 0;
}

static int ssh_words(const struct bootstrap *boot, const char *login, struct string_list *words,
                     struct error *err)
{
    /* No forwarding, no terminal, no questions, no master left behind; DEBUG1 says which stage was reached. */
    static const char *const options[] = {"-x",
                                          "-a",
                                          "-T",
                                          "-o",
                                          "BatchMode=yes",
                                          "-o",
                                          "LogLevel=DEBUG1",
                                          "-o",
                                          "ControlMaster=no",
                                          "-o",
                                          "ControlPersist=no",
                                          "--"};
    if (words_split(words, boot->ssh, err) < 0)
        return error_prefix(err, "--ssh");
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        string_list_add_copy(words, options[i]);
    string_list_add_copy(words, login);
    char *path = shell_quote(boot->agent);
    string_list_add(words, mem_format("exec %s", path));
    free(path);
    return 0;
}

struct placeholder { /* what stands for it in a template, to the one without a name */
    const char *name, *value;
};

static char *expand_word(const struct placeholder *places, const char *word)
{
    struct buf out = BUF_INIT;
    while (*word) {
        const struct placeholder *place = places;
        while (place->name && strncmp(word, place->name, strlen(place->name)) != 0)
            place++;
        if (place->name)
            buf_add_text(&out, place->value);
        else
            buf_add_char(&out, *word);
        word += place->name ? strlen(place->name) : 1;
    }
    return buf_take_text(&out);
}

/* Without {agent} the agent's path is the last word. */
static char **template_words(const struct bootstrap *boot, const struct placeholder *places,
                             struct error *err)
{
    struct string_list words = {NULL, 0};
    if (words_split(&words, boot->method, err) < 0) {
        error_prefix(err, "--bootstrap \"%s\"", boot->method);
        return NULL;
    }
    for (size_t i = 0; i < words.count; i++) {
        char *word = words.list[i];
        words.list[i] = expand_word(places, word);
        free(word);
    }
    if (!strstr(boot->method, "{agent}"))
        string_list_add_copy(&words, boot->agent);
    return words.list;
}

bool bootstrap_reaches_others(const struct bootstrap *boot)
{
    return is_ssh(boot) || strcmp(boot->method, "slurm") == 0 || strstr(boot->method, "{host}") ||
           batch_bootstrap_is_for_many(boot->method);
}

char **bootstrap_command(const struct bootstrap *boot, const char *login, struct error *err)
{
    struct string_list words = {NULL, 0};
    if (is_ssh(boot))
        return ssh_words(boot, login, &words, err) == 0 ? words.list : NULL;
    if (!strstr(boot->method, "{host}") && !strstr(boot->method, "{agent}")) {
        error_usage(err,
                    "--bootstrap \"%s\": neither a name nor a command with {host} or {agent} in it",
                    boot->method);
        return NULL;
    }
    return template_words(
        boot,
        (const struct placeholder[]){{"{host}", login}, {"{agent}", boot->agent}, {NULL, NULL}},
        err);
}

char **bootstrap_shared_command(const struct bootstrap *boot, const struct bootstrap_host *hosts,
                                size_t count, const char *call, struct error *err)
{
    struct buf names = BUF_INIT, ranks = BUF_INIT;
    for (size_t i = 0; i < count; i++) {
        buf_printf(&names, "%s%s", i ? "," : "", hosts[i].login);
        buf_printf(&ranks, "%s%u", i ? "," : "", hosts[i].rank);
    }
    const struct placeholder places[] = {{"{hosts}", buf_text(&names)},
                                         {"{ranks}", buf_text(&ranks)},
                                         {"{agent}", boot->agent},
                                         {call ? "{call}" : NULL, call},
                                         {NULL, NULL}};
    char **command = batch_bootstrap_is_for_many(boot->method)
                         ? template_words(boot, places, err)
                         : srun_command(buf_text(&names), count, boot->agent);
    buf_free(&names);
    buf_free(&ranks);
    return command;
}

bool bootstrap_wants_file(const struct bootstrap *boot)
{
    return batch_bootstrap_is_for_many(boot->method) && strstr(boot->method, "{call}");
}

char **bootstrap_shared_environment(const struct bootstrap *boot)
{
    return batch_bootstrap_is_for_many(boot->method) ? env_for_agents(environ) : srun_environment();
}

struct connect_back_ports bootstrap_shared_ports(const struct bootstrap *boot)
{
    return batch_bootstrap_is_for_many(boot->method) ? (struct connect_back_ports){0, 0}
                                                     : srun_ports();
}

pid_t bootstrap_run(char *const *command, char *const *environment, const int fds[3],
                    struct error *err)
{
    char *path = exec_find(command[0], getenv("PATH"), NULL);
    struct exec spawn = {.path = path ? path : command[0],
                         .argv = command,
                         .envp = environment,
                         .fds = {fds[0], fds[1], fds[2], -1},
                         .umask = -1,
                         .death_signal = SIGKILL,
                         .deaf = true,
                         .group = true};
    struct exec_failure failure;
    pid_t pid = exec_start(&spawn, &failure);
    if (pid < 0)
        exec_explain(&spawn, &failure, err);
    free(path);
    return pid;
}

/* ---- how far it got ---- */

static const char *const stage_names[] = {"resolve", "connect", "authenticate",
                                          "exec",    "hello",   "up"};

const char *bootstrap_stage_name(enum bootstrap_stage stage)
{
    return stage_names[stage];
}

enum bootstrap_stage bootstrap_first_stage(const struct bootstrap *boot)
{
    return is_ssh(boot) ? STAGE_RESOLVE : STAGE_EXEC;
}

/* OpenSSH's words for what it has behind it. */
static const struct {
    const char *prefix;
    enum bootstrap_stage stage;
} stage_marks[] = {
    {"debug1: Connecting to ", STAGE_CONNECT},
    {"debug1: Executing proxy command", STAGE_CONNECT},
    {"debug1: Remote protocol version", STAGE_AUTHENTICATE},
    {"Authenticated to ", STAGE_EXEC},
    {"debug1: Authentication succeeded", STAGE_EXEC},
    {"debug1: mux_client_request_session", STAGE_EXEC},
};

/* Its small talk at that log level. */
static const char *const small_talk[] = {
    "debug1: ",      "OpenSSH_",           "Authenticated to ",
    "Transferred: ", "Bytes per second: ", "Warning: Permanently added"};

static void read_line(const char *line, size_t len, enum bootstrap_stage *stage, struct buf *words)
{
    for (size_t i = 0; i < sizeof(stage_marks) / sizeof(stage_marks[0]); i++) {
        size_t n = strlen(stage_marks[i].prefix);
        if (len >= n && memcmp(line, stage_marks[i].prefix, n) == 0 &&
            *stage < stage_marks[i].stage)
            *stage = stage_marks[i].stage;
    }
    for (size_t i = 0; i < sizeof(small_talk) / sizeof(small_talk[0]); i++) {
        size_t n = strlen(small_talk[i]);
        if (len >= n && memcmp(line, small_talk[i], n) == 0)
            return;
    }
    if (!len || words->len > WORDS_MAX)
        return;
    if (words->len)
        buf_add_text(words, "; ");
    buf_add(words, line, len < WORDS_MAX ? len : WORDS_MAX);
}

void bootstrap_read_stderr(struct buf *text, enum bootstrap_stage *stage, struct buf *words)
{
    const char *end;
    while ((end = memchr(buf_bytes(text), '\n', text->len))) {
        size_t len = (size_t)(end - buf_bytes(text));
        size_t shown = len && end[-1] == '\r' ? len - 1 : len;
        read_line(buf_bytes(text), shown, stage, words);
        buf_consume(text, len + 1);
    }
    if (text->len > WORDS_MAX)
        buf_clear(text);
}

/* As bash, dash, zsh, csh and fish say it. The dynamic loader names a library, which is something else. */
bool bootstrap_agent_is_missing(const struct bootstrap *boot, const char *words)
{
    return strstr(words, boot->agent) && !strstr(words, "shared libraries") &&
           (strcasestr(words, "no such file") || strcasestr(words, "not found") ||
            strcasestr(words, "unknown command"));
}
