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

static bool can_show(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

static bool has_colour(void)
{
    const char *no = getenv("NO_COLOR");
    return !no || !*no;
}

static size_t columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH;
}

/* Nothing where the terminal takes nothing for the moment (Ctrl-S): the front end must not wait. */
static bool put(const char *bytes, size_t len)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) &&
           file_write_all(STDERR_FILENO, bytes, len) == 0;
}

/* At most so many columns of it: a longer line could not be cleared. */
static void add_cut(struct buf *line, const char *text, size_t most)
{
    struct buf plain = BUF_INIT;
    printable_add(&plain, text, strlen(text), PRINTABLE_WORD);
    bool cut = plain.len > most;
    buf_add(line, buf_bytes(&plain), cut ? most - 3 : plain.len);
    buf_add_text(line, cut ? "..." : "");
    buf_free(&plain);
}

static void progress_show(struct progress *progress, int reached, int all, const char *missing)
{
    struct buf line = BUF_INIT;
    size_t most = columns() - 1;
    buf_printf(&line, "tprun: %d of %d hosts reached, waiting for ", reached, all);
    most = most > line.len + 8 ? most - line.len : 8;
    if (has_colour())
        buf_add_text(&line, YELLOW);
    add_cut(&line, missing, most);
    if (has_colour())
        buf_add_text(&line, PLAIN);
    progress_clear(progress);
    progress->shown = put(buf_bytes(&line), line.len);
    buf_free(&line);
}

void progress_take(struct progress *progress, const struct frame *frame)
{
    int reached, all;
    const char *missing;
    json_t *value = can_show() ? frame_json(frame, NULL) : NULL;
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
