/* The lines of configuration files and of TPRUN_OPTIONS, cut into words. */
#include "launcher/options/option_defaults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/shell_words.h"
#include "base/string_list.h"

int option_defaults_add(struct option_defaults *defaults, char *origin, const char *text,
                        struct error *err)
{
    char **words = shell_words_split(text, err);
    if (!words) {
        error_prefix(err, "%s", origin);
        free(origin);
        return -1;
    }
    defaults->lines = array_grow(defaults->lines, defaults->count, sizeof(*defaults->lines));
    defaults->lines[defaults->count++] = (struct option_default){origin, words};
    return 0;
}

/* Lines of text, which is changed. */
static int add_lines(struct option_defaults *defaults, const char *path, char *text,
                     struct error *err)
{
    for (int number = 1; text; number++) {
        char *line = text + strspn(text, " \t"), *end = strchr(text, '\n');
        text = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        if (!*line || *line == '#')
            continue;
        if (option_defaults_add(defaults, mem_format("%s, line %d", path, number), line, err) < 0)
            return -1;
    }
    return 0;
}

static int check_config_file(const char *path, int fd, struct error *err)
{
    struct stat info;
    if (fstat(fd, &info) < 0)
        return error_set(err, "%s: cannot look at it: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return error_set(err, "%s is not a file", path);
    if (info.st_uid != 0 && info.st_uid != geteuid())
        return error_set(err,
                         "%s belongs to user %u: a file of options must be this user's, or root's "
                         "(TPRUN_CONFIG= in the environment leaves it out)",
                         path, (unsigned)info.st_uid);
    if (info.st_mode & S_IWOTH)
        return error_set(err,
                         "%s can be written by everybody: a file of options must not be "
                         "(\"chmod o-w\" mends that)",
                         path);
    if (info.st_size > OPTION_FILE_MAX)
        return error_set(err, "%s has more than %u bytes", path, OPTION_FILE_MAX);
    return 0;
}

static int read_config_file(const char *path, int fd, struct buf *text, struct error *err)
{
    for (;;) {
        char *room = buf_reserve(text, 4096);
        ssize_t got = read(fd, room, 4096);
        if (got < 0 && errno != EINTR)
            return error_set(err, "%s: cannot read: %s", path, strerror(errno));
        if (got == 0 || text->len > OPTION_FILE_MAX)
            return 0;
        if (got > 0)
            buf_added(text, (size_t)got);
    }
}

static int add_config_file(struct option_defaults *defaults, const char *path, struct error *err)
{
    struct buf text = BUF_INIT;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0)
        return error_set(err, "%s: cannot open: %s", path, strerror(errno));
    int rc = check_config_file(path, fd, err);
    if (rc == 0)
        rc = read_config_file(path, fd, &text, err);
    if (rc == 0 && memchr(buf_bytes(&text), 0, text.len))
        rc = error_set(err, "%s has a zero byte: must be text", path);
    if (rc == 0) {
        char *lines = buf_take_text(&text);
        rc = add_lines(defaults, path, lines, err);
        free(lines);
    }
    buf_free(&text);
    close(fd);
    return rc;
}

/* NULL: there is no home. */
static char *path_of_user(void)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config && config[0] == '/')
        return mem_format("%s/tprun/tprun.conf", config);
    return home && home[0] == '/' ? mem_format("%s/.config/tprun/tprun.conf", home) : NULL;
}

static int add_listed(struct option_defaults *defaults, const char *list, struct error *err)
{
    int rc = 0;
    while (*list && rc == 0) {
        size_t len = strcspn(list, ":");
        char *path = mem_copy_text_n(list, len);
        if (len)
            rc = add_config_file(defaults, path, err);
        free(path);
        list += len + (list[len] == ':');
    }
    return rc;
}

int option_defaults_read(struct option_defaults *defaults, struct error *err)
{
    const char *listed = getenv("TPRUN_CONFIG"), *options = getenv("TPRUN_OPTIONS");
    int rc = listed ? add_listed(defaults, listed, err)
                    : add_config_file(defaults, TPRUN_SYSCONFDIR "/tprun.conf", err);
    char *user = listed ? NULL : path_of_user();
    if (rc == 0 && user)
        rc = add_config_file(defaults, user, err);
    free(user);
    if (rc == 0 && options)
        rc = option_defaults_add(defaults, mem_copy_text("TPRUN_OPTIONS"), options, err);
    defaults->ndefaults = defaults->count;
    const char *batch = getenv("TPRUN_BATCH"), *inside = getenv(OPTION_INSIDE_VARIABLE);
    if (rc == 0 && batch && *batch && inside)
        rc = option_defaults_add(defaults, mem_copy_text("tpbatch of this instance"), inside, err);
    return rc;
}

void option_defaults_clear(struct option_defaults *defaults)
{
    for (size_t i = 0; i < defaults->count; i++) {
        free(defaults->lines[i].origin);
        string_list_free(defaults->lines[i].words);
    }
    free(defaults->lines);
    *defaults = (struct option_defaults){0};
}
