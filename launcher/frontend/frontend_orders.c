/* What the manager is told: stdin, and the order to end. */
#include "launcher/frontend/frontend_private.h"

#include <string.h>

#include "launcher/stdio/terminal.h"

#define INPUT_WINDOW 131072 /* bytes of stdin that are asked for at a time */

void frontend_order_end(struct frontend *front, double grace, int number)
{
    struct frame frame = {
        .type = FRAME_TERMINATE, .flags = (uint16_t)number, .rank = frame_grace(grace)};
    if (front->manager)
        link_send(front->manager, &frame);
}

void frontend_ask_input(struct frontend *front)
{
    size_t room = front->manager ? link_room(front->manager) : 0;
    if (!front->input || front->input_over || front->asked >= INPUT_WINDOW / 2 || !room)
        return;
    size_t more = room < INPUT_WINDOW - front->asked ? room : INPUT_WINDOW - front->asked;
    front->asked += more;
    stdin_reader_want(front->input, more);
}

void frontend_send_input(void *arg, const void *bytes, size_t len)
{
    struct frontend *front = arg;
    struct frame frame = {.type = FRAME_STDIN, .bytes = bytes, .len = len};
    if (front->manager)
        link_send(front->manager, &frame);
}

static void on_input(void *arg, const void *bytes, size_t len)
{
    struct frontend *front = arg;
    front->asked -= len < front->asked ? len : front->asked;
    if (!user_terminal_read(&front->terminal, bytes, len)) {
        if (((const char *)bytes)[len - 1] == '\n' && stdin_reader_echoes(front->input))
            output_typed(front->output);
        frontend_send_input(front, bytes, len);
    }
    frontend_ask_input(front);
}

void frontend_end_input(void *arg)
{
    struct frontend *front = arg;
    bool stays = front->spec->input_stays && (front->id || front->role == FRONTEND_BACKGROUND);
    struct frame frame = {.type = FRAME_STDIN_END, .flags = stays ? FRAME_STDIN_STAYS : 0};
    front->input_over = true;
    if (!user_terminal_ended(&front->terminal) && front->manager)
        link_send(front->manager, &frame);
}

static void on_input_failed(void *arg, const struct error *err)
{
    struct frontend *front = arg;
    if (front->id) { /* the program has another owner */
        struct buf lines = BUF_INIT;
        terminal_lines(&lines, "tprun", error_text(err), strlen(error_text(err)));
        output_say(front->output, OUTPUT_STDERR, buf_bytes(&lines), lines.len);
        buf_free(&lines);
        front->input_over = true;
        return;
    }
    if (!front->err.text)
        error_set(&front->err, "%s", error_text(err));
    frontend_end_input(front);
    frontend_order_end(front, front->spec->kill_grace, 0);
}

static const struct stdin_reader_ops input_ops = {on_input, frontend_end_input, on_input_failed};

int frontend_start_input(struct frontend *front, struct error *err)
{
    if (front->spec->input == SPEC_INPUT_NONE || front->spec->input == SPEC_INPUT_TOOLS)
        return 0;
    const char *path = front->spec->input == SPEC_INPUT_FILE ? front->spec->input_arg : NULL;
    front->input = stdin_reader_new(front->loop, path, &input_ops, front, err);
    if (!front->input)
        return -1;
    frontend_ask_input(front);
    return 0;
}
