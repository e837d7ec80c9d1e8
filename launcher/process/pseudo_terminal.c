/* Opens pseudo terminals, and does what needs an ioctl. */
#include "launcher/process/pseudo_terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

#define FIRST 10         /* the lower ones are those of a child */
#define USUAL_END '\004' /* Ctrl-D */

/* The other end. From Linux 4.13 on no name has to be looked up for it. */
static int open_peer(int master)
{
    char name[64];
    int fd = -1;
#ifdef TIOCGPTPEER
    fd = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
#endif
    if (fd < 0 && ptsname_r(master, name, sizeof(name)) == 0)
        fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return fd;
}

/* Out of the way of what a child gets. Takes the descriptor. */
static int above_child(int fd)
{
    if (fd < 0 || fd >= FIRST)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST);
    int number = errno;
    close(fd);
    errno = number;
    return moved;
}

static int explain(int number, struct error *err)
{
    struct buf most = BUF_INIT;
    const char *why = strerror(number);
    if (number == ENOSPC && file_read("/proc/sys/kernel/pty/max", &most) == 0)
        error_set(err,
                  "cannot make a terminal (--pty): all %.*s that /proc/sys/kernel/pty/max permits "
                  "are in use, or those of this container",
                  (int)strcspn(buf_text(&most), "\n"), buf_text(&most));
    else if (number == ENOENT || number == ENODEV || number == ENXIO || number == EIO)
        error_set(err,
                  "cannot make a terminal (--pty): /dev/ptmx: %s: /dev/pts must be mounted "
                  "(devpts)",
                  why);
    else
        error_set(err, "cannot make a terminal (--pty): %s", why);
    buf_free(&most);
    return -1;
}

int pseudo_terminal_open(int *master, int *terminal, struct error *err)
{
    int ours = above_child(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    int theirs = ours >= 0 && unlockpt(ours) == 0 ? above_child(open_peer(ours)) : -1;
    if (theirs < 0) {
        int number = errno;
        if (ours >= 0)
            close(ours);
        return explain(number, err);
    }
    *master = ours;
    *terminal = theirs;
    return 0;
}

bool pseudo_terminal_is_unread(int master)
{
    int fd = open_peer(master);
    struct pollfd state = {.fd = fd, .events = POLLIN};
    bool unread = fd >= 0 && poll(&state, 1, 0) > 0 && state.revents & POLLIN;
    if (fd >= 0)
        close(fd);
    return unread;
}

void pseudo_terminal_type_end(int master)
{
    struct termios modes;
    char key = USUAL_END;
    if (tcgetattr(master, &modes) == 0 && modes.c_cc[VEOF] != _POSIX_VDISABLE)
        key = (char)modes.c_cc[VEOF];
    if (write(master, &key, 1) < 0)
        return; /* nobody has the terminal open, or what was typed before is not read: no end either */
}

uint64_t terminal_size(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) < 0)
        return 0;
    return (uint64_t)size.ws_row << 48 | (uint64_t)size.ws_col << 32 |
           (uint64_t)size.ws_xpixel << 16 | size.ws_ypixel;
}

void terminal_set_size(int fd, uint64_t size)
{
    struct winsize new = {.ws_row = (unsigned short)(size >> 48),
                          .ws_col = (unsigned short)(size >> 32),
                          .ws_xpixel = (unsigned short)(size >> 16),
                          .ws_ypixel = (unsigned short)size};
    ioctl(fd, TIOCSWINSZ, &new);
}
