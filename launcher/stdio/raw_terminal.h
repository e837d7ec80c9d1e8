/*
 * raw_terminal - the user's terminal while another terminal is shown on it: keys go through as they
 * are, and what is written to it is shown as it is. [termios(3): cfmakeraw]
 *
 * One for a process. It is restored by exit(), where memory is out and by signals that nobody
 * expects, too; SIGKILL alone leaves it as it is. Of a background process, whose modes the terminal
 * does not have, nothing is changed.
 */
#ifndef LAUNCHER_STDIO_RAW_TERMINAL_H
#define LAUNCHER_STDIO_RAW_TERMINAL_H

#include <stdbool.h>

/* Into raw mode, again where somebody else may have changed it. False: this process is in the
 * background, or it is no terminal. What it is restored to is what it was like at the first
 * time. */
bool raw_terminal_enter(int fd);
/* As it was. */
void raw_terminal_leave(void);

#endif
