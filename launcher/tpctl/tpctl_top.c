/* tpctl top: tpctl ps again and again, on a terminal. */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/file.h"
#include "base/printable.h"
#include "launcher/stdio/terminal.h"
#include "launcher/tpctl/ask_manager.h"
#include "launcher/tpctl/task_list.h"
#include "launcher/tpctl/tpctl.h"

#define TOP_DELAY 2.0     /* s */
#define TOP_LEAST 0.1     /* s */
#define TOP_HOME "\x1b[H" /* the cursor goes to the first line */
#define TOP_REST "\x1b[J" /* what is behind it is cleared */
#define TOP_LINE_REST "\x1b[K\n"
#define TOP_CTRL_C 3

/* ---- a picture ---- */

/* As frontend/progress does, this writes itself: terminal.h would make the moves of the cursor printable, too. Of the
 * text as many lines as there are on the terminal, each in its width. */
static void top_draw(const char *text)
{
    struct winsize size = {0};
    struct buf out = BUF_INIT;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row || !size.ws_col)
        size = (struct winsize){.ws_row = 24, .ws_col = 80};
    buf_add_text(&out, TOP_HOME);
    for (unsigned line = 1; *text && line < size.ws_row; line++) {
        size_t len = strcspn(text, "\n"), shown = len < size.ws_col ? len : size.ws_col;
        printable_add(&out, text, shown, PRINTABLE_WORD);
        buf_add_text(&out, TOP_LINE_REST);
        text += len + (text[len] == '\n');
    }
    buf_add_text(&out, TOP_REST);
    file_write_all(STDOUT_FILENO, buf_bytes(&out), out.len);
    buf_free(&out);
}

/* The table of one, behind a line about the whole; the exit status. */
static int top_add(const struct found_program *program, struct buf *text, struct error *err)
{
    struct control_request request = {.method = CONTROL_METHOD_PS};
    struct control_answer answer = {0};
    char now[16];
    time_t seconds = time(NULL);
    struct tm parts;
    int status = ask_manager(program, &request, &answer, err);
    if (status == 0) {
        strftime(now, sizeof(now), "%H:%M:%S", localtime_r(&seconds, &parts));
        buf_printf(text, "program %s  %s%s%s\n", found_program_id(program), now,
                   answer.silent ? "  no answer in time from " : "",
                   answer.silent ? answer.silent : "");
        task_list_text(text, &answer);
    }
    control_answer_clear(&answer);
    return status;
}

/* Of all programs that live; what one of them does not tell is no failure. */
static void top_add_all(const struct program_search *search, struct buf *text)
{
    for (size_t i = 0; i < program_search_count(search); i++) {
        const struct found_program *program = program_search_nth(search, i);
        struct error why = ERROR_INIT;
        if (!found_program_is_live(program) || found_program_is_empty(program))
            continue;
        buf_add_text(text, text->len ? "\n" : "");
        if (top_add(program, text, &why))
            buf_printf(text, "%s\n", error_text(&why));
        error_clear(&why);
    }
    if (!text->len)
        buf_add_text(text, "no program runs\n");
}

static int top_look(const struct method_call *call, struct buf *text, struct error *err)
{
    struct program_search *search = tpctl_search(call, err);
    const struct found_program *program;
    int status = search ? 0 : -1;
    if (status == 0 && !call->nwords)
        top_add_all(search, text);
    else if (status == 0)
        status = tpctl_find(call, search, call->words[0], &program, err);
    if (status == 0 && call->nwords)
        status = top_add(program, text, err);
    program_search_free(search);
    return status;
}

/* ---- the terminal ---- */

static struct termios top_before;
static volatile sig_atomic_t top_ended;

static void top_on_signal(int number)
{
    top_ended = number;
}

/* Keys come one by one and unseen, Ctrl-C as one of them: whatever ends this, the terminal is as it was. */
static bool top_take_terminal(void)
{
    struct sigaction action = {.sa_handler = top_on_signal};
    struct termios raw;
    if (tcgetattr(STDIN_FILENO, &top_before) < 0)
        return false;
    raw = top_before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    return tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

static void top_give_terminal(void)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &top_before);
}

/* True: the user wants no more. */
static bool top_wait(double seconds)
{
    double end = clock_monotonic_seconds() + seconds;
    for (double left = seconds; left > 0 && !top_ended; left = end - clock_monotonic_seconds()) {
        struct pollfd look = {.fd = STDIN_FILENO, .events = POLLIN};
        char key;
        if (poll(&look, 1, (int)(left * 1000) + 1) <= 0)
            continue;
        if (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q' || key == TOP_CTRL_C)
            return true;
    }
    return top_ended;
}

static int top_loop(const struct method_call *call, double delay, struct error *err)
{
    int status;
    if (!top_take_terminal())
        return error_set(err, "stdin: cannot read keys from the terminal");
    top_draw("");
    do {
        struct buf text = BUF_INIT;
        status = top_look(call, &text, err);
        if (status == 0)
            top_draw(buf_text(&text));
        buf_free(&text);
    } while (status == 0 && !top_wait(delay));
    top_give_terminal();
    return status;
}

/* ---- the method ---- */

static int top_delay(const struct method_call *call, double *delay, struct error *err)
{
    const char *text = method_value(call, TPCTL_DELAY);
    *delay = TOP_DELAY;
    if (!text)
        return 0;
    if (duration_decode(text, delay, err) == 0 && *delay < TOP_LEAST)
        error_set(err, "must be at least %g s", TOP_LEAST);
    if (!err->text)
        return 0;
    error_prefix(err, "--delay");
    err->kind = ERROR_USAGE;
    return -1;
}

int tpctl_top(struct method_call *call, struct error *err)
{
    double delay;
    int status = top_delay(call, &delay, err);
    if (status == 0 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        status = top_loop(call, delay, err);
    } else if (status == 0) {
        struct buf text = BUF_INIT;
        status = top_look(call, &text, err);
        fputs(buf_text(&text), call->out);
        buf_free(&text);
    }
    return status;
}
