/* Reads logind.conf and its drop-in files, as far as they tell what becomes of a session's processes. */
#include "launcher/process/login_session.h"

#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

struct logind { /* what was read last counts */
    bool kills;
    char *only;    /* KillOnlyUsers; NULL, as the next: not said */
    char *exclude; /* KillExcludeUsers */
};

static bool logind_is_true(const char *text)
{
    return strcasecmp(text, "yes") == 0 || strcasecmp(text, "true") == 0 ||
           strcasecmp(text, "on") == 0 || strcmp(text, "1") == 0;
}

static void logind_line(struct logind *logind, const char *line)
{
    const char *value = strchr(line, '=');
    if (!value)
        return;
    value += 1 + strspn(value + 1, " \t");
    if (strncmp(line, "KillUserProcesses", 17) == 0) {
        logind->kills = logind_is_true(value);
    } else if (strncmp(line, "KillOnlyUsers", 13) == 0) {
        free(logind->only);
        logind->only = mem_copy_text(value);
    } else if (strncmp(line, "KillExcludeUsers", 16) == 0) {
        free(logind->exclude);
        logind->exclude = mem_copy_text(value);
    }
}

static void logind_file(struct logind *logind, const char *path)
{
    struct buf text = BUF_INIT;
    char *rest;
    file_read(path, &text);
    char *all = buf_take_text(&text);
    for (char *line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        for (size_t len = strlen(line); len && strchr(" \t\r", line[len - 1]); len--)
            line[len - 1] = '\0';
        logind_line(logind, line + strspn(line, " \t"));
    }
    free(all);
}

static void logind_files(struct logind *logind, const char *root, const char *pattern)
{
    glob_t found = {0};
    char *path = mem_format("%s%s", root, pattern);
    if (glob(path, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            logind_file(logind, found.gl_pathv[i]);
    globfree(&found);
    free(path);
}

static bool names_user(const char *list, const char *user)
{
    size_t len = strlen(user);
    for (const char *at = list; at && *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strcspn(at, " ") == len && strncmp(at, user, len) == 0)
            return true;
    return false;
}

bool login_session_kills(const char *root, const char *user)
{
    static const char *const files[] = {
        "/usr/lib/systemd/logind.conf",      "/run/systemd/logind.conf",
        "/etc/systemd/logind.conf",          "/usr/lib/systemd/logind.conf.d/*.conf",
        "/run/systemd/logind.conf.d/*.conf", "/etc/systemd/logind.conf.d/*.conf",
    };
    struct logind logind = {0};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        logind_files(&logind, root, files[i]);
    char *linger = mem_format("%s/var/lib/systemd/linger/%s", root, user);
    bool lingers = access(linger, F_OK) == 0;
    bool only = !logind.only || !*logind.only || names_user(logind.only, user);
    bool spared = names_user(logind.exclude ? logind.exclude : "root", user);
    bool kills = logind.kills && !lingers && only && !spared;
    free(linger);
    free(logind.only);
    free(logind.exclude);
    return kills;
}

char *login_session_warning(void)
{
    const struct passwd *user = getenv("XDG_SESSION_ID") ? getpwuid(geteuid()) : NULL;
    if (!user || !login_session_kills("", user->pw_name))
        return NULL;
    return mem_format("this program will be ended with the login session: logind.conf has "
                      "KillUserProcesses=yes (\"loginctl enable-linger %s\" prevents that)",
                      user->pw_name);
}
