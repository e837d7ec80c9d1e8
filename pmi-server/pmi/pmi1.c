/* The dialect PMI-1: lines in the input, and the replies to what had to wait. */
#include "pmi-server/pmi/pmi1.h"

#include <stdlib.h>
#include <string.h>

#include "pmi-server/pmi/context.h"
#include "pmi-server/pmi/pmi1_command.h"
#include "pmi-server/pmi/quote.h"

/* What was searched for a newline once is not searched again: lines may come a byte at a time. */
static long pmi1_next(struct pmi_client *client, bool *urgent, struct error *err)
{
    static const char abort_line[] = "cmd=abort";
    const char *bytes = buf_bytes(&client->input);
    const char *end = NULL;
    if (client->input.len > client->searched)
        end = memchr(bytes + client->searched, '\n', client->input.len - client->searched);
    client->searched = end ? (size_t)(end - bytes) : client->input.len;
    if (client->searched > PMI_MAX_REQUEST) {
        char quote[QUOTE_SIZE];
        return error_set(err, "a line of more than %d bytes: \"%s\"", PMI_MAX_REQUEST,
                         quote_text(quote, bytes, client->searched));
    }
    *urgent = client->searched >= sizeof(abort_line) - 1 &&
              !memcmp(bytes, abort_line, sizeof(abort_line) - 1);
    return end ? (long)client->searched + 1 : 0;
}

static int pmi1_run(struct pmi_client *client, char *text, size_t len, struct error *err)
{
    return pmi1_command_line(client, text, len - 1, err);
}

static void pmi1_barrier_out(struct pmi_client *client, const struct pmi_request *request)
{
    connection_reply(client, "cmd=barrier_out");
    if (request->tag)
        connection_printf(client, " tag=%s", request->tag);
    connection_reply(client, "\n");
}

/* What is around a port in its line, and the newline. */
#define AROUND_PORT (sizeof("cmd=lookup_result port= info=ok rc=0 msg=success\n") - 1)

static void pmi1_named(struct pmi_client *client, const struct pmi_request *request,
                       enum pmi_named named, const char *port)
{
    const char *refusal = NULL;
    if (named == PMI_NAMED_FULL)
        refusal = "too_many_names";
    else if (named == PMI_NAMED_NOT)
        refusal = request->name == PMI_NAME_PUBLISH ? "key_already_present" : "service_not_found";
    else if (port)
        refusal = pmi1_unsayable(port, strlen(port), PMI1_CLIENT_LINE - AROUND_PORT, true);
    connection_printf(client, "cmd=%s ", pmi1_name_replies[request->name]);
    if (port && !refusal)
        connection_printf(client, "port=%s ", port);
    connection_printf(client, "info=ok rc=%d msg=%s\n", refusal != NULL,
                      refusal ? refusal : "success");
}

static void pmi1_spawned(struct pmi_client *client, const struct pmi_request *request,
                         const struct pmi_spawned *spawned)
{
    struct buf line = BUF_INIT, codes = BUF_INIT;
    (void)request;
    buf_printf(&line, "cmd=spawn_result rc=%d", spawned->rc);
    /* Error codes that do not fit into a client's line are left out, rc= tells. */
    for (size_t i = 0; spawned->errcodes && i < spawned->nerrcodes && codes.len < PMI1_CLIENT_LINE;
         i++)
        buf_printf(&codes, "%s%d", i ? "," : " errcodes=", spawned->errcodes[i]);
    if (line.len + codes.len + 1 < PMI1_CLIENT_LINE)
        buf_add(&line, buf_bytes(&codes), codes.len);
    connection_printf(client, "%s\n", buf_text(&line));
    buf_free(&codes);
    buf_free(&line);
}

static void pmi1_value(struct pmi_client *client, const struct pmi_request *request,
                       const char *value)
{
    pmi1_got(client, request->texts[0], value);
}

static void pmi1_forget(struct pmi_client *client)
{
    struct pmi1_memory *memory = client->memory;
    pmi1_spawn_free(&memory->spawn);
    free(memory);
}

const struct dialect pmi1_dialect = {
    .version = 1,
    .next = pmi1_next,
    .run = pmi1_run,
    .barrier_out = pmi1_barrier_out,
    .named = pmi1_named,
    .spawned = pmi1_spawned,
    .value = pmi1_value,
    .forget = pmi1_forget,
};

const struct dialect pmi1_greeting = {
    .version = 0,
    .next = pmi1_next,
    .run = pmi1_run,
    .forget = pmi1_forget,
};
