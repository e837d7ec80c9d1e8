#include "pmi-server/client/connection_line.h"

#include <string.h>

/* The next line, taken apart. */
static bool line_read(struct connection *conn, struct pmi1_line *reply)
{
    struct connection_bytes *in = &conn->in;
    connection_next(conn);
    for (size_t searched = 0;;) {
        char *end = NULL;
        if (in->len > searched)
            end = memchr(in->data + searched, '\n', in->len - searched);
        if (end) {
            conn->used = (size_t)(end - in->data) + 1;
            return pmi1_line_parse(reply, in->data, conn->used - 1);
        }
        searched = in->len;
        if (!connection_receive(conn))
            return false;
    }
}

/* A request of one or several lines that no server takes for an error by its length alone. */
static bool lines_fit(const struct connection_bytes *out)
{
    if (out->len > LINES_MAX)
        return false;
    for (size_t at = 0; at < out->len;) {
        const char *line = out->data + at, *end = memchr(line, '\n', out->len - at);
        size_t len = end ? (size_t)(end - line) + 1 : out->len - at;
        if (len > LINES_LINE_MAX)
            return false;
        at += len;
    }
    return true;
}

int connection_line_ask(struct connection *conn, const char *expect, struct pmi1_line *reply)
{
    const char *name = NULL;
    if (!lines_fit(&conn->out)) {
        conn->out.len = 0;
        reply->count = 0;
        return -1;
    }
    if (connection_send(conn) && line_read(conn, reply))
        name = pmi1_line_value(reply, "cmd");
    conn->broken = !name || strcmp(name, expect) != 0;
    return conn->broken ? -1 : 0;
}

bool connection_line_succeeded(const struct pmi1_line *reply)
{
    int rc;
    if (!pmi1_line_field(reply, "rc"))
        return true;
    return pmi1_line_int(reply, "rc", &rc) && rc == 0;
}
