#include "pmi-server/client/line.h"

#include <string.h>

/* The next line, taken apart. */
static bool line_read(struct conn *conn, struct pmi1_line *reply)
{
    struct conn_bytes *in = &conn->in;
    conn_next(conn);
    for (size_t searched = 0;;) {
        char *end = NULL;
        if (in->len > searched)
            end = memchr(in->data + searched, '\n', in->len - searched);
        if (end) {
            conn->used = (size_t)(end - in->data) + 1;
            return pmi1_line_parse(reply, in->data, conn->used - 1);
        }
        searched = in->len;
        if (!conn_receive(conn))
            return false;
    }
}

int line_ask(struct conn *conn, const char *expect, struct pmi1_line *reply)
{
    const char *name = NULL;
    if (conn_send(conn) && line_read(conn, reply))
        name = pmi1_line_value(reply, "cmd");
    conn->broken = !name || strcmp(name, expect) != 0;
    return conn->broken ? -1 : 0;
}

bool line_succeeded(const struct pmi1_line *reply)
{
    int rc;
    if (!pmi1_line_field(reply, "rc"))
        return true;
    return pmi1_line_int(reply, "rc", &rc) && rc == 0;
}
