/* The script of tpbatch: its lines of options, and how it is run. */
#include "launcher/cli/batch_script.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/string_list.h"

#define DIRECTIVE "#TPRUN:"
#define HEAD_MAX (1u << 20) /* bytes of a script that are looked at */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

bool batch_script_is_name(const char *program)
{
    const char *slash = program ? strrchr(program, '/') : NULL;
    return program && strcmp(slash ? slash + 1 : program, "tpbatch") == 0;
}

char *batch_script_help(void)
{
    return mem_copy_text(
        "Usage: tpbatch [OPTIONS] [SCRIPT [ARGUMENTS]]\n"
        "\n"
        "Make an instance on what the options ask for, and run SCRIPT (without one: a shell) once, "
        "on its\n"
        "first node. Each tprun in it draws from what the instance holds. The instance ends with "
        "SCRIPT,\n"
        "with its exit status, and with it all that was started there.\n"
        "\n"
        "  -N 4                 all of four nodes   -n 64       room for 64 tasks\n"
        "  --shape SHAPE        as RFC 46 has it    --on FILE   just these resources\n"
        "  --time-limit 1h      end it then         -d          go on without this terminal\n"
        "\n"
        "Options are those of tprun (\"tprun --help\"). Lines at the top of SCRIPT that begin with "
        "\"#TPRUN:\"\n"
        "hold options, too; the command line wins. See tpbatch(1).\n");
}

/* ---- lines of options ---- */

struct script_reader {
    const char *path;
    struct option_defaults *before;
    int number;    /* of the line */
    bool commands; /* have begun */
};

/* "#TPRUN -N 2" and "# tprun: -N 2" were meant to hold options; "# tprun -N 2 ./app" is a comment. */
static bool is_almost_directive(const char *line)
{
    if (*line != '#')
        return false;
    line += 1 + strspn(line + 1, " \t");
    if (strncmp(line, "TPRUN", strlen("TPRUN")) != 0 &&
        strncmp(line, "tprun:", strlen("tprun:")) != 0)
        return false;
    line += strlen("TPRUN");
    size_t gap = strspn(line, ": \t");
    return gap && line[gap] == '-';
}

static int take_line(struct script_reader *reader, const char *line, struct error *err)
{
    reader->number++;
    bool directive = strncmp(line, DIRECTIVE, sizeof(DIRECTIVE) - 1) == 0;
    if (!directive && is_almost_directive(line))
        return error_set(
            err,
            "%s, line %d: options stand behind \"#TPRUN:\", written just so; begin the "
            "line with \"##\" if it is a comment",
            reader->path, reader->number);
    if (!directive) {
        line += strspn(line, " \t\r");
        reader->commands |= *line && *line != '#';
        return 0;
    }
    if (reader->commands)
        return error_set(err,
                         "%s, line %d: options must stand before the first command of the script "
                         "(a line that begins with \"#TPRUN:\" holds options)",
                         reader->path, reader->number);
    return option_defaults_add(reader->before,
                               mem_format("%s, line %d", reader->path, reader->number),
                               line + sizeof(DIRECTIVE) - 1, err);
}

static int take_lines(struct script_reader *reader, char *text, struct error *err)
{
    int rc = 0;
    while (text && rc == 0) {
        char *end = strchr(text, '\n');
        if (end)
            *end = '\0';
        size_t len = strlen(text);
        if (len && text[len - 1] == '\r')
            text[len - 1] = '\0';
        rc = take_line(reader, text, err);
        text = end ? end + 1 : NULL;
    }
    return rc;
}

/* ---- the file ---- */

/* The beginning of the file. 0: it is a text. 1: it is not, or is not there; any program may be run. -1 with a sentence. */
static int script_text(const char *path, struct buf *text, struct error *err)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
        return 1;
    if (fd < 0)
        return error_set(err, "%s: cannot open: %s", path, strerror(errno));
    bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    ssize_t got = regular ? 1 : 0;
    while (got > 0 && text->len < HEAD_MAX) {
        got = read(fd, buf_reserve(text, 65536), 65536);
        if (got > 0)
            buf_added(text, (size_t)got);
    }
    close(fd);
    if (got < 0)
        return error_set(err, "%s: cannot read: %s", path, strerror(errno));
    return !regular || !text->len || memchr(buf_bytes(text), 0, text->len) ? 1 : 0;
}

/* "#!/usr/bin/env -S sh -e" is an interpreter and one argument, as the kernel reads it. */
static int add_interpreter(struct string_list *words, const char *path, const char *text,
                           struct error *err)
{
    const char *line = text + 2 + strspn(text + 2, " \t");
    size_t len = strcspn(line, "\n"), name = strcspn(line, " \t\r\n");
    if (strncmp(text, "#!", 2) != 0 || !name)
        return error_set(err,
                         "%s cannot be executed, and its first line names no interpreter "
                         "(\"#!/bin/sh\"): write one, or \"chmod +x\" it",
                         path);
    string_list_add(words, mem_copy_text_n(line, name));
    const char *argument = line + name + strspn(line + name, " \t");
    size_t rest = len - (size_t)(argument - line);
    while (rest && strchr(" \t\r", argument[rest - 1]))
        rest--;
    if (rest)
        string_list_add(words, mem_copy_text_n(argument, rest));
    return 0;
}

static int script_read(const char *path, struct string_list *words, struct option_defaults *before,
                       struct error *err)
{
    struct buf text = BUF_INIT;
    int rc = script_text(path, &text, err);
    if (rc == 0 && strncmp(buf_text(&text), BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
        rc = error_set(err,
                       "%s begins with a byte order mark, so its first line is no \"#!\" line: "
                       "save it as UTF-8 without the mark",
                       path);
    if (rc == 0 && access(path, X_OK) < 0)
        rc = add_interpreter(words, path, buf_text(&text), err);
    if (rc == 0) {
        char *lines = buf_take_text(&text);
        struct script_reader reader = {.path = path, .before = before};
        rc = take_lines(&reader, lines, err);
        free(lines);
    }
    buf_free(&text);
    return rc < 0 ? -1 : 0;
}

/* A name without a slash is a file of this directory, or one that PATH knows. */
static char *script_path(const char *word)
{
    struct stat info;
    bool here = !strchr(word, '/') && stat(word, &info) == 0 && !S_ISDIR(info.st_mode);
    return here ? mem_format("./%s", word) : mem_copy_text(word);
}

char **batch_script_words(char *const *words, size_t nwords, struct option_defaults *before,
                          struct error *err)
{
    const char *shell = getenv("SHELL");
    struct string_list made = {0};
    if (!nwords) {
        string_list_add_copy(&made, shell && *shell ? shell : "/bin/sh");
        return string_list_take(&made);
    }
    char *path = script_path(words[0]);
    if (script_read(path, &made, before, err) < 0) {
        free(path);
        string_list_clear(&made);
        return NULL;
    }
    string_list_add(&made, path);
    for (size_t i = 1; i < nwords; i++)
        string_list_add_copy(&made, words[i]);
    return string_list_take(&made);
}
