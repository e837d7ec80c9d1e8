/* Tables of keys and modes, written and read. */
#include "launcher/process/terminal_modes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/text.h"
#include "launcher/process/pseudo_terminal.h"

#define WORD_MAX 32

static const struct mode {
    const char *name;
    size_t member; /* of struct termios */
    tcflag_t bit;
} modes[] = {
    {"iutf8", offsetof(struct termios, c_iflag), IUTF8},
    {"ixon", offsetof(struct termios, c_iflag), IXON},
    {"ixany", offsetof(struct termios, c_iflag), IXANY},
    {"ixoff", offsetof(struct termios, c_iflag), IXOFF},
    {"imaxbel", offsetof(struct termios, c_iflag), IMAXBEL},
    {"echoctl", offsetof(struct termios, c_lflag), ECHOCTL},
    {"echoe", offsetof(struct termios, c_lflag), ECHOE},
    {"echoke", offsetof(struct termios, c_lflag), ECHOKE},
    {NULL},
};

static const struct key {
    const char *name;
    int index; /* of c_cc */
} keys[] = {
    {"intr", VINTR},     {"quit", VQUIT},     {"erase", VERASE},
    {"kill", VKILL},     {"eof", VEOF},       {"eol", VEOL},
    {"eol2", VEOL2},     {"start", VSTART},   {"stop", VSTOP},
    {"susp", VSUSP},     {"rprnt", VREPRINT}, {"discard", VDISCARD},
    {"werase", VWERASE}, {"lnext", VLNEXT},   {NULL},
};

static tcflag_t *mode_flags(struct termios *terminal, const struct mode *mode)
{
    return (tcflag_t *)(void *)((char *)terminal + mode->member);
}

/* ---- written ---- */

static void put_key(struct buf *text, const char *name, cc_t key)
{
    if (key == _POSIX_VDISABLE)
        buf_printf(text, " %s=-", name);
    else if (key < ' ' || key == 0x7f)
        buf_printf(text, " %s=^%c", name, key ^ 0x40);
    else
        buf_printf(text, " %s=%02x", name, key);
}

char *terminal_modes_of(int fd)
{
    struct termios terminal;
    struct buf text = BUF_INIT;
    uint64_t size = terminal_size(fd);
    if (tcgetattr(fd, &terminal) < 0)
        return NULL;
    buf_printf(&text, "%ux%u", (unsigned)(size >> 48), (unsigned)(size >> 32) & 0xffff);
    for (const struct mode *mode = modes; mode->name; mode++)
        buf_printf(&text, " %s%s", *mode_flags(&terminal, mode) & mode->bit ? "" : "-", mode->name);
    for (const struct key *key = keys; key->name; key++)
        put_key(&text, key->name, terminal.c_cc[key->index]);
    return buf_take_text(&text);
}

/* ---- read ---- */

static bool read_size(const char *word, struct termios *terminal, uint64_t *size)
{
    unsigned rows, columns;
    char more;
    (void)terminal;
    if (sscanf(word, "%5ux%5u%c", &rows, &columns, &more) != 2 || rows > UINT16_MAX ||
        columns > UINT16_MAX)
        return false;
    *size = (uint64_t)rows << 48 | (uint64_t)columns << 32;
    return true;
}

static bool read_mode(const char *word, struct termios *terminal, uint64_t *size)
{
    bool off = *word == '-';
    (void)size;
    for (const struct mode *mode = modes; mode->name; mode++) {
        if (strcmp(word + off, mode->name) != 0)
            continue;
        if (off)
            *mode_flags(terminal, mode) &= ~mode->bit;
        else
            *mode_flags(terminal, mode) |= mode->bit;
        return true;
    }
    return false;
}

static bool read_value(const char *text, cc_t *value)
{
    unsigned byte;
    char more;
    if (strcmp(text, "-") == 0)
        *value = _POSIX_VDISABLE;
    else if (text[0] == '^' && text[1] >= '?' && text[1] <= '_' && !text[2])
        *value = (cc_t)(text[1] ^ 0x40);
    else if (strlen(text) == 2 && strspn(text, "0123456789abcdef") == 2 &&
             sscanf(text, "%2x%c", &byte, &more) == 1)
        *value = (cc_t)byte;
    else
        return false;
    return true;
}

static bool read_key(const char *word, struct termios *terminal, uint64_t *size)
{
    size_t len = strcspn(word, "=");
    (void)size;
    for (const struct key *key = keys; key->name && word[len]; key++)
        if (strncmp(word, key->name, len) == 0 && !key->name[len])
            return read_value(word + len + 1, &terminal->c_cc[key->index]);
    return false;
}

static bool (*const readers[])(const char *word, struct termios *terminal,
                               uint64_t *size) = {read_size, read_mode, read_key};
enum { NREADERS = sizeof(readers) / sizeof(readers[0]) };

static int modes_read(const char *text, struct termios *terminal, uint64_t *size, struct error *err)
{
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        char word[WORD_MAX];
        size_t len = strcspn(at, " "), i = 0;
        snprintf(word, sizeof(word), "%.*s", (int)(len < WORD_MAX ? len : WORD_MAX), at);
        while (i < NREADERS && (len >= WORD_MAX || !readers[i](word, terminal, size)))
            i++;
        if (i == NREADERS)
            return error_set(err,
                             "%s is no size, mode or key of a terminal, such as 24x80, -ixon or "
                             "erase=^?",
                             excerpt(at, len).text);
        at += len;
    }
    return 0;
}

int terminal_modes_check(const char *text, struct error *err)
{
    struct termios terminal = {0};
    uint64_t size = 0;
    return modes_read(text, &terminal, &size, err);
}

int terminal_modes_set(int fd, const char *text, struct error *err)
{
    struct termios terminal = {0};
    uint64_t size = 0;
    tcgetattr(fd, &terminal);
    if (modes_read(text, &terminal, &size, err) < 0)
        return -1;
    tcsetattr(fd, TCSANOW, &terminal);
    if (size)
        terminal_set_size(fd, size);
    return 0;
}
