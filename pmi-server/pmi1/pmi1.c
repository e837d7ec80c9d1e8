#include "pmi-server/pmi1/pmi1.h"

#include <stdlib.h>
#include <string.h>

#include "pmi-server/pmi1/command.h"
#include "pmi-server/server/quote.h"

static int line_too_long(const struct pmi_client *client, struct error *err)
{
    char quote[QUOTE_SIZE];
    return error_set(err, "a line of more than %d bytes: \"%s\"", PMI_MAX_REQUEST,
                     quote_text(quote, buf_bytes(&client->input), client->searched));
}

/* What was searched for a newline once is not searched again: lines may come a byte at a time. */
static long pmi1_next(struct pmi_client *client, bool *urgent, struct error *err)
{
    static const char abort_line[] = "cmd=abort";
    const char *bytes = buf_bytes(&client->input);
    const char *end = NULL;
    if (client->input.len > client->searched)
        end = memchr(bytes + client->searched, '\n', client->input.len - client->searched);
    client->searched = end ? (size_t)(end - bytes) : client->input.len;
    if (client->searched > PMI_MAX_REQUEST)
        return line_too_long(client, err);
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
    (void)request;
    client_reply(client, "cmd=barrier_out\n");
}

static void pmi1_forget(struct pmi_client *client)
{
    free(client->memory);
}

const struct dialect pmi1_dialect = {
    .version = 1,
    .next = pmi1_next,
    .run = pmi1_run,
    .barrier_out = pmi1_barrier_out,
    .forget = pmi1_forget,
};

const struct dialect pmi1_greeting = {
    .version = 0,
    .next = pmi1_next,
    .run = pmi1_run,
    .forget = pmi1_forget,
};
