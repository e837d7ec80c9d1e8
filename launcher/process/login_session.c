/* Reads logind.conf and its drop-in files, and asks systemd for a scope by way of busctl(1). */
#include "launcher/process/login_session.h"

#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "launcher/process/command_output.h"

#define MOVE_WAIT 5.0  /* s for systemd to answer, and then to move a process */
#define REPLY_MAX 4096 /* bytes of the answer */

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

/* Of two files of one name the one that counts comes last: /usr/lib, /run, /etc. */
static int drop_in_compare(const void *one, const void *other)
{
    const char *const *a = one, *const *b = other;
    int names = strcmp(strrchr(*a, '/'), strrchr(*b, '/'));
    return names ? names : strcmp(*b, *a);
}

static void logind_drop_ins(struct logind *logind, const char *root)
{
    glob_t found = {0};
    char *pattern = mem_format("%s/{etc,run,usr/lib}/systemd/logind.conf.d/*.conf", root);
    if (glob(pattern, GLOB_BRACE, NULL, &found) == 0) {
        char **paths = found.gl_pathv;
        qsort(paths, found.gl_pathc, sizeof(paths[0]), drop_in_compare);
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (!paths[i + 1] || strcmp(strrchr(paths[i], '/'), strrchr(paths[i + 1], '/')) != 0)
                logind_file(logind, paths[i]);
    }
    globfree(&found);
    free(pattern);
}

/* The first of the main files that is there, and all others. */
static void logind_read(struct logind *logind, const char *root)
{
    static const char *const places[] = {"etc", "run", "usr/lib"};
    bool there = false;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !there; i++) {
        char *path = mem_format("%s/%s/systemd/logind.conf", root, places[i]);
        there = access(path, F_OK) == 0;
        if (there)
            logind_file(logind, path);
        free(path);
    }
    logind_drop_ins(logind, root);
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
    struct logind logind = {0};
    logind_read(&logind, root);
    bool kills = logind.kills;
    if (kills && user) {
        bool only = !logind.only || !*logind.only || names_user(logind.only, user);
        kills = only && !names_user(logind.exclude ? logind.exclude : "root", user);
    }
    free(logind.only);
    free(logind.exclude);
    return kills;
}

bool login_session_lingers(const char *root, const char *user)
{
    char *path = mem_format("%s/var/lib/systemd/linger/%s", root, user);
    bool lingers = access(path, F_OK) == 0;
    free(path);
    return lingers;
}

/* ---- the cgroup ---- */

/* Like "0::/user.slice/user-1000.slice/session-3.scope", or .../user@1000.service/app.slice/NAME.scope. */
enum login_session_place login_session_place(const char *cgroups, uid_t *owner)
{
    static const char slice[] = ".slice/";
    for (const char *at = cgroups; (at = strstr(at, "/user-")); at++) {
        char *end;
        unsigned long uid = strtoul(at + 6, &end, 10);
        if (end == at + 6 || strncmp(end, slice, strlen(slice)) != 0)
            continue;
        const char *unit = end + strlen(slice);
        size_t len = strcspn(unit, "/\n");
        bool scope = len > 6 && strncmp(unit + len - 6, ".scope", 6) == 0;
        *owner = (uid_t)uid;
        if (scope && strncmp(unit, "session-", 8) == 0)
            return LOGIN_SESSION_SCOPE;
        if (strncmp(unit, "user@", 5) == 0)
            return LOGIN_SESSION_SYSTEMD;
    }
    return LOGIN_SESSION_NONE;
}

static enum login_session_place own_place(uid_t *owner)
{
    struct buf text = BUF_INIT;
    file_read("/proc/self/cgroup", &text);
    enum login_session_place place = login_session_place(buf_text(&text), owner);
    buf_free(&text);
    return place;
}

/* ---- a scope of its own ---- */

static bool is_in_unit(const char *unit)
{
    struct buf text = BUF_INIT;
    bool is = file_read("/proc/self/cgroup", &text) == 0 && strstr(buf_text(&text), unit);
    buf_free(&text);
    return is;
}

/* systemd answers before the process is moved. */
static int wait_for_unit(const char *unit, struct error *err)
{
    double until = clock_monotonic_seconds() + MOVE_WAIT;
    while (!is_in_unit(unit)) {
        if (clock_monotonic_seconds() > until)
            return error_set(err, "%s was not begun within %g s", unit, MOVE_WAIT);
        usleep(2000);
    }
    return 0;
}

/* Processes that are moved, not a command that systemd-run(1) executes: where it is refused the program starts
 * all the same. Root asks the system's systemd, which does not end with any session. Delegate: cgroups of
 * programs are made in it. */
static int scope_enter(struct error *err)
{
    struct buf out = BUF_INIT;
    char *unit =
        mem_format("tprun-%d-%llx.scope", (int)getpid(), (unsigned long long)clock_monotonic_ns());
    char *pid = mem_format("%d", (int)getpid());
    const char *const argv[] = {"busctl",
                                geteuid() == 0 ? "--system" : "--user",
                                "call",
                                "org.freedesktop.systemd1",
                                "/org/freedesktop/systemd1",
                                "org.freedesktop.systemd1.Manager",
                                "StartTransientUnit",
                                "ssa(sv)a(sa(sv))",
                                unit,
                                "fail",
                                "4",
                                "PIDs",
                                "au",
                                "1",
                                pid,
                                "Delegate",
                                "b",
                                "true",
                                "CollectMode",
                                "s",
                                "inactive-or-failed",
                                "Description",
                                "s",
                                "Programs of tprun that go on without the login session",
                                "0",
                                NULL};
    int rc = command_output_output(argv, MOVE_WAIT, REPLY_MAX, &out, err);
    if (rc == 0)
        rc = wait_for_unit(unit, err);
    buf_free(&out);
    free(pid);
    free(unit);
    return rc;
}

char *login_session_outlive(void)
{
    struct error err = ERROR_INIT;
    uid_t owner = 0;
    enum login_session_place place = own_place(&owner);
    bool moves = place == LOGIN_SESSION_SCOPE && login_session_kills("", NULL);
    const struct passwd *user = moves || place == LOGIN_SESSION_SYSTEMD ? getpwuid(owner) : NULL;
    char *line = NULL;
    if (!user || (moves && !login_session_kills("", user->pw_name)))
        return NULL;
    if (moves && scope_enter(&err) < 0)
        line = mem_format(
            "this program will be ended with the login session (KillUserProcesses=yes in "
            "logind.conf): cannot get a scope of systemd: %s",
            error_text(&err));
    else if (own_place(&owner) == LOGIN_SESSION_SYSTEMD && (user = getpwuid(owner)) &&
             !login_session_lingers("", user->pw_name))
        line = mem_format("this program will be ended once %s has no login session any more "
                          "(\"loginctl enable-linger %s\" prevents that)",
                          user->pw_name, user->pw_name);
    error_clear(&err);
    return line;
}
