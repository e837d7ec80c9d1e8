/* Frames of PMI-2 over a connection, for libpmi2. */
#include "pmi-server/client/connection_frame.h"

#include <stdio.h>
#include <string.h>

void connection_frame_begin(struct connection *conn, const char *command)
{
    conn->out.len = 0;
    connection_add(conn, "%*scmd=%s;", PMI2_HEAD, "", command);
}

void connection_frame_text(struct connection *conn, const char *name, const char *value)
{
    connection_add(conn, "%s=", name);
    while (*value) {
        size_t len = strcspn(value, ";");
        connection_add_bytes(conn, value, len);
        value += len;
        if (*value) {
            connection_add_bytes(conn, ";;", 2);
            value++;
        }
    }
    connection_add_bytes(conn, ";", 1);
}

void connection_frame_int(struct connection *conn, const char *name, int value)
{
    connection_add(conn, "%s=%d;", name, value);
}

void connection_frame_text_at(struct connection *conn, const char *name, int number,
                              const char *value)
{
    char whole[32];
    snprintf(whole, sizeof(whole), "%s%d", name, number);
    connection_frame_text(conn, whole, value);
}

bool connection_frame_send(struct connection *conn)
{
    if (conn->broken || conn->out.len > CONNECTION_FRAME_MAX) {
        conn->out.len = 0;
        return false;
    }
    pmi2_put_length(conn->out.data, conn->out.len - PMI2_HEAD);
    return connection_send(conn);
}

static bool frame_read(struct connection *conn, struct pmi2_frame *reply)
{
    struct connection_bytes *in = &conn->in;
    connection_next(conn);
    while (in->len < PMI2_HEAD)
        if (!connection_receive(conn))
            return false;
    long len = pmi2_length(in->data);
    if (len < 0)
        return false;
    while (in->len < PMI2_HEAD + (size_t)len)
        if (!connection_receive(conn))
            return false;
    conn->used = PMI2_HEAD + (size_t)len;
    return pmi2_frame_parse(reply, in->data + PMI2_HEAD, (size_t)len);
}

int connection_frame_ask(struct connection *conn, struct pmi2_frame *reply)
{
    static const char cmd[] = "cmd=", suffix[] = "-response";
    char command[64];
    const char *sent = conn->broken ? "" : conn->out.data + PMI2_HEAD + sizeof(cmd) - 1;
    size_t len = strcspn(sent, ";");
    if (len + sizeof(suffix) > sizeof(command))
        return -1;
    memcpy(command, sent, len);
    memcpy(command + len, suffix, sizeof(suffix));
    if (!connection_frame_send(conn))
        return -1;
    const char *name = frame_read(conn, reply) ? pmi2_value(reply, "cmd") : NULL;
    conn->broken = !name || strcmp(name, command) != 0;
    return conn->broken ? -1 : 0;
}
