/* A tilde and a key at the beginning of a line. */
#include "launcher/stdio/terminal_escape.h"

#define CTRL_Z '\032'

const char terminal_escape_help[] = "At the beginning of a line:\n"
                                    " ~.   end the program, as if its terminal were closed\n"
                                    " ~^Z  suspend tprun; tasks go on\n"
                                    " ~~   a tilde\n"
                                    " ~?   this text\n";

static enum terminal_escape_action action_of(char key)
{
    switch (key) {
    case '.':
        return TERMINAL_ESCAPE_END;
    case CTRL_Z:
        return TERMINAL_ESCAPE_SUSPEND;
    case '?':
        return TERMINAL_ESCAPE_HELP;
    default:
        return TERMINAL_ESCAPE_NONE;
    }
}

enum terminal_escape_action terminal_escape_read(struct terminal_escape *escape, const char *bytes,
                                                 size_t len, size_t *used, struct buf *out)
{
    for (size_t i = 0; i < len; i++) {
        char key = bytes[i];
        if (escape->tilde) {
            enum terminal_escape_action action = action_of(key);
            escape->tilde = false;
            *used = i + 1;
            if (action != TERMINAL_ESCAPE_NONE)
                return action;
            buf_add_char(out, '~');
            escape->inside_line = true;
            if (key == '~')
                continue;
        } else if (key == '~' && !escape->inside_line) {
            escape->tilde = true;
            continue;
        }
        buf_add_char(out, key);
        escape->inside_line = key != '\r' && key != '\n';
    }
    *used = len;
    return TERMINAL_ESCAPE_NONE;
}
