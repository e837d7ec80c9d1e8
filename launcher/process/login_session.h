/*
 * login_session - whether systemd-logind ends all processes of a user with the login session. [logind.conf(5)]
 */
#ifndef LAUNCHER_PROCESS_LOGIN_SESSION_H
#define LAUNCHER_PROCESS_LOGIN_SESSION_H

#include <stdbool.h>

/* The files of logind.conf below this directory ("": the system's) say KillUserProcesses=yes for the user. */
bool login_session_kills(const char *root, const char *user);
/* A line about that where this process is in a login session that ends so; NULL: it is not. Caller frees. */
char *login_session_warning(void);

#endif
