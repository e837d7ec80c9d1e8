/* Replies of PMI-2, written field by field into the client's output. */
#include "pmi-server/pmi/pmi2_reply.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmi/context.h"
#include "pmi-server/wire/pmi2_frame.h"

struct pmi2_reply pmi2_reply_begin(struct pmi_client *client, const char *name, const char *thrid)
{
    struct pmi2_reply reply = {.client = client, .start = client->output.len};
    connection_printf(client, "%*scmd=%s-response;", PMI2_HEAD, "", name);
    if (thrid)
        pmi2_reply_text(&reply, "thrid", thrid);
    return reply;
}

void pmi2_reply_text(struct pmi2_reply *reply, const char *name, const char *value)
{
    struct pmi_client *client = reply->client;
    connection_reply(client, name);
    connection_reply_bytes(client, "=", 1);
    while (*value) {
        size_t len = strcspn(value, ";");
        connection_reply_bytes(client, value, len);
        value += len;
        if (*value) {
            connection_reply_bytes(client, ";;", 2);
            value++;
        }
    }
    connection_reply_bytes(client, ";", 1);
}

void pmi2_reply_int(struct pmi2_reply *reply, const char *name, long value)
{
    connection_printf(reply->client, "%s=%ld;", name, value);
}

bool pmi2_reply_found(struct pmi2_reply *reply, const char *value)
{
    bool fits = !value || strlen(value) < PMI_VALLEN_MAX;
    connection_reply(reply->client, value && fits ? "found=TRUE;" : "found=FALSE;");
    if (value && fits)
        pmi2_reply_text(reply, "value", value);
    return fits;
}

void pmi2_reply_value(struct pmi2_reply *reply, const char *value)
{
    bool fits = pmi2_reply_found(reply, value);
    pmi2_reply_end(reply, fits ? PMI2_RC_OK : PMI2_RC_INVALID_VAL_LENGTH,
                   fits ? NULL : "value is too long");
}

void pmi2_reply_end(struct pmi2_reply *reply, enum pmi2_rc rc, const char *errmsg)
{
    struct buf *output = &reply->client->output;
    pmi2_reply_int(reply, "rc", rc);
    if (errmsg) {
        /* Reasons may be long, and are for people: the beginning does. */
        char *text = mem_copy_text_n(errmsg, strnlen(errmsg, PMI_VALLEN_MAX - 1));
        pmi2_reply_text(reply, "errmsg", text);
        free(text);
    }
    pmi2_put_length(output->data + output->start + reply->start,
                    output->len - reply->start - PMI2_HEAD);
}
