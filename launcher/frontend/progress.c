/* The line of FRAME_PROGRESS, on a terminal that can clear it. */
#include "launcher/frontend/progress.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/printable.h"

#define CLEAR_LINE "\r\033[K"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"
#define WIDTH 80 /* columns of a terminal that does not say */

/* Nothing where the terminal takes nothing for the moment (Ctrl-S): the front end must not wait. */
static bool put(const char *bytes, size_t len)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) &&
           file_write_all(STDERR_FILENO, bytes, len) == 0;
}

static void progress_show(struct progress *progress, int reached, int all, const char *missing)
{
    struct buf line = BUF_INIT, names = BUF_INIT;
    struct winsize size;
    bool sized = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col;
    size_t most = (sized ? size.ws_col : WIDTH) - 1;
    const char *no_colour = getenv("NO_COLOR");
    bool coloured = !no_colour || !*no_colour;
    buf_printf(&line, "tprun: %d of %d hosts reached, waiting for ", reached, all);
    /* A line that is longer than the terminal is wide could not be cleared: the names are cut. */
    most = most > line.len + 8 ? most - line.len : 8;
    printable_add(&names, missing, strlen(missing), PRINTABLE_WORD);
    bool cut = names.len > most;
    buf_add_text(&line, coloured ? YELLOW : "");
    buf_add(&line, buf_bytes(&names), cut ? most - 3 : names.len);
    buf_add_text(&line, cut ? "..." : "");
    buf_add_text(&line, coloured ? PLAIN : "");
    progress_clear(progress);
    progress->shown = put(buf_bytes(&line), line.len);
    buf_free(&names);
    buf_free(&line);
}

void progress_take(struct progress *progress, const struct frame *frame)
{
    int reached, all;
    const char *missing, *term = getenv("TERM");
    bool can_show = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
    json_t *value = can_show ? frame_json(frame, NULL) : NULL;
    if (value && json_unpack(value, "{s:i, s:i, s:s}", "reached", &reached, "all", &all, "missing",
                             &missing) == 0)
        progress_show(progress, reached, all, missing);
    json_decref(value);
}

void progress_clear(struct progress *progress)
{
    if (progress->shown)
        put(CLEAR_LINE, strlen(CLEAR_LINE));
    progress->shown = false;
}
