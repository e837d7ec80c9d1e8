/*
 * login_session - what systemd ends with a login session, and how a process outlives it.
 *
 * systemd-logind has each login session in a scope, which is a cgroup. Where logind.conf says
 * KillUserProcesses=yes all that is in it is killed with the session: setsid() does not help. A
 * scope that the user's own systemd has made outlives the session. It ends when the user's systemd
 * does, which is when the user has no session any more, unless the user lingers. [logind.conf(5),
 * loginctl(1), systemd.scope(5)]
 */
#ifndef LAUNCHER_PROCESS_LOGIN_SESSION_H
#define LAUNCHER_PROCESS_LOGIN_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

enum login_session_place {
    LOGIN_SESSION_NONE,    /* in neither of them: nothing is known to end it */
    LOGIN_SESSION_SCOPE,   /* in the scope of a login session */
    LOGIN_SESSION_SYSTEMD, /* in what the user's systemd has started */
};

/* Where a process is by the text of its /proc/PID/cgroup, and whose session or systemd that is. */
enum login_session_place login_session_place(const char *cgroups, uid_t *owner);

/* The files of logind.conf below this directory ("": the system's) say KillUserProcesses=yes for
 * the user (NULL: for anybody). */
bool login_session_kills(const char *root, const char *user);
/* The user's systemd is there without a session, too; by a file below this directory. */
bool login_session_lingers(const char *root, const char *user);

/* Where the end of the login session would end this process, have systemd move it into a scope of
 * its own, with all that it starts from now on. Elsewhere some files are read, and nothing is
 * started. What still ends the process with the session then is the line that is returned; NULL:
 * nothing does. Caller frees. */
char *login_session_outlive(void);

#endif
