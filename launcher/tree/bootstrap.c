#include "launcher/tree/bootstrap.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
    return json_pack("{s:s, s:s, s:s, s:i, s:o, s:o, s:i, s:b}", "method", boot->method, "ssh",
                     boot->ssh, "agent", boot->agent, "fanout", (int)boot->fanout, "start_timeout",
                     patience_to_json(boot->start_timeout), "node_timeout",
                     patience_to_json(boot->node_timeout), "verbose", boot->verbose, "pmix",
                     boot->pmix);
}

int bootstrap_from_json(struct bootstrap *boot, const json_t *value, struct error *err)
{
    const char *method, *ssh, *agent;
    json_t *start, *silence;
    int fanout;
    json_error_t where;
    if (json_unpack_ex((json_t *)(uintptr_t)value, &where, 0,
                       "{s:s, s:s, s:s, s:i, s:o, s:o, s:i, s:b}", "method", &method, "ssh", &ssh,
                       "agent", &agent, "fanout", &fanout, "start_timeout", &start, "node_timeout",
                       &silence, "verbose", &boot->verbose, "pmix", &boot->pmix) < 0)
        return error_set(err, "bootstrap: %s", where.text);
    if (patience_from_json(start, &boot->start_timeout) < 0 ||
        patience_from_json(silence, &boot->node_timeout) < 0)
        return error_set(err, "bootstrap: a time is neither a number nor null");
    if (fanout < 1)
        return error_set(err, "bootstrap: fan-out %d: at least 1 is right", fanout);
    boot->fanout = (uint32_t)fanout;
    boot->method = mem_copy_text(method);
    boot->ssh = mem_copy_text(ssh);
    boot->agent = mem_copy_text(agent);
    return 0;
}

void bootstrap_clear(struct bootstrap *boot)
{
    free(boot->method);
    free(boot->ssh);
    free(boot->agent);
    memset(boot, 0, sizeof(*boot));
}

/* ---- the command ---- */

struct words {
    char **list;
    size_t count;
};

static void words_add(struct words *words, char *word)
{
    words->list = mem_resize(words->list, words->count + 2, sizeof(char *));
    words->list[words->count++] = word;
    words->list[words->count] = NULL;
}

static void words_split(struct words *words, const char *text)
{
    for (const char *at = text; *(at += strspn(at, " \t"));) {
        size_t len = strcspn(at, " \t");
        words_add(words, mem_copy_text_n(at, len));
        at += len;
    }
}

/* For the login shell on the other side, whichever it is. */
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

static bool is_ssh(const struct bootstrap *boot)
{
    return strcmp(boot->method, "auto") == 0 || strcmp(boot->method, "ssh") == 0;
}

static void ssh_words(const struct bootstrap *boot, const char *login, struct words *words)
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
    words_split(words, boot->ssh);
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        words_add(words, mem_copy_text(options[i]));
    words_add(words, mem_copy_text(login));
    char *path = shell_quote(boot->agent);
    words_add(words, mem_format("exec %s", path));
    free(path);
}

static char *expand_word(const struct bootstrap *boot, const char *word, const char *login)
{
    const struct {
        const char *name, *value;
    } names[] = {{"{host}", login}, {"{agent}", boot->agent}};
    struct buf out = BUF_INIT;
    for (const char *at = word; *at;) {
        bool found = false;
        for (size_t i = 0; i < 2 && !found; i++) {
            if (strncmp(at, names[i].name, strlen(names[i].name)) == 0) {
                buf_add_text(&out, names[i].value);
                at += strlen(names[i].name);
                found = true;
            }
        }
        if (!found)
            buf_add_char(&out, *at++);
    }
    return buf_take_text(&out);
}

char **bootstrap_command(const struct bootstrap *boot, const char *login, struct error *err)
{
    struct words words = {NULL, 0};
    if (is_ssh(boot)) {
        ssh_words(boot, login, &words);
        return words.list;
    }
    if (!strstr(boot->method, "{host}")) {
        error_usage(err,
                    "--bootstrap \"%s\": neither auto, local, ssh nor a command with {host} "
                    "(and {agent}) in it",
                    boot->method);
        return NULL;
    }
    words_split(&words, boot->method);
    for (size_t i = 0; i < words.count; i++) {
        char *word = words.list[i];
        words.list[i] = expand_word(boot, word, login);
        free(word);
    }
    if (!strstr(boot->method, "{agent}"))
        words_add(&words, mem_copy_text(boot->agent));
    return words.list;
}

void bootstrap_free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
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
