/* The dialect PMI-2: frames in the input, and the replies to what had to wait. */
#include "pmi-server/pmi/pmi2.h"

#include <string.h>

#include "pmi-server/pmi/pmi2_command.h"
#include "pmi-server/pmi/pmi2_reply.h"
#include "pmi-server/pmi/context.h"
#include "pmi-server/pmi/quote.h"
#include "pmi-server/wire/pmi2_frame.h"

static long pmi2_next(struct pmi_client *client, bool *urgent, struct error *err)
{
    static const char abort_body[] = "cmd=abort;";
    const char *bytes = buf_bytes(&client->input);
    if (client->input.len < PMI2_HEAD)
        return 0;
    long len = pmi2_length(bytes);
    if (len < 0 || len > PMI_MAX_REQUEST - PMI2_HEAD) {
        char quote[QUOTE_SIZE];
        return error_set(err, "no length of a PMI-2 request (1 to %d): \"%s\"",
                         PMI_MAX_REQUEST - PMI2_HEAD, quote_text(quote, bytes, client->input.len));
    }
    if (client->input.len < PMI2_HEAD + (size_t)len)
        return 0;
    *urgent = (size_t)len >= sizeof(abort_body) - 1 &&
              !memcmp(bytes + PMI2_HEAD, abort_body, sizeof(abort_body) - 1);
    return PMI2_HEAD + len;
}

static int pmi2_run(struct pmi_client *client, char *text, size_t len, struct error *err)
{
    return pmi2_command_body(client, text + PMI2_HEAD, len - PMI2_HEAD, err);
}

static void pmi2_barrier_out(struct pmi_client *client, const struct pmi_request *request)
{
    struct pmi2_reply reply = pmi2_reply_begin(client, "kvs-fence", request->tag);
    pmi2_reply_end(&reply, PMI2_RC_OK, NULL);
}

static void pmi2_attribute(struct pmi_client *client, const struct pmi_request *request,
                           const char *value)
{
    struct pmi2_reply reply = pmi2_reply_begin(client, "info-getnodeattr", request->tag);
    pmi2_reply_value(&reply, value);
}

static void pmi2_got(struct pmi_client *client, const struct pmi_request *request,
                     const char *value)
{
    struct pmi2_reply reply = pmi2_reply_begin(client, request->texts[1], request->tag);
    pmi2_reply_value(&reply, value);
}

static void pmi2_ring_out(struct pmi_client *client, const struct pmi_request *request,
                          uint32_t place, const char *left, const char *right)
{
    struct pmi2_reply reply = pmi2_reply_begin(client, "ring", request->tag);
    pmi2_reply_int(&reply, "ring-count", place);
    pmi2_reply_text(&reply, "ring-left", left);
    pmi2_reply_text(&reply, "ring-right", right);
    pmi2_reply_end(&reply, PMI2_RC_OK, NULL);
}

static void pmi2_named(struct pmi_client *client, const struct pmi_request *request,
                       enum pmi_named named, const char *port)
{
    bool good = named == PMI_NAMED_GOOD;
    static const struct {
        const char *name, *wrong;
    } replies[] = {
        [PMI_NAME_PUBLISH] = {"name-publish", "key_already_present"},
        [PMI_NAME_UNPUBLISH] = {"name-unpublish", "service_not_found"},
        [PMI_NAME_LOOKUP] = {"name-lookup", "service_not_found"},
    };
    struct pmi2_reply reply = pmi2_reply_begin(client, replies[request->name].name, request->tag);
    const char *wrong = good                      ? NULL
                        : named == PMI_NAMED_FULL ? "too_many_names"
                                                  : replies[request->name].wrong;
    if (request->name == PMI_NAME_LOOKUP && !pmi2_reply_found(&reply, good ? port : NULL))
        wrong = "port is too long";
    if (request->name == PMI_NAME_LOOKUP && !wrong)
        pmi2_reply_text(&reply, "port", port);
    pmi2_reply_end(&reply, wrong ? PMI2_RC_OTHER : PMI2_RC_OK, wrong);
}

static void pmi2_spawned(struct pmi_client *client, const struct pmi_request *request,
                         const struct pmi_spawned *spawned)
{
    struct pmi2_reply reply = pmi2_reply_begin(client, "spawn", request->tag);
    struct buf codes = BUF_INIT;
    if (spawned->job)
        pmi2_reply_text(&reply, "jobid", spawned->job);
    pmi2_reply_int(&reply, "nerrs", (long)spawned->nerrcodes);
    /* Libraries have room for so much of a value: error codes that do not fit are left out. */
    for (size_t i = 0; spawned->errcodes && i < spawned->nerrcodes && codes.len < PMI_VALLEN_MAX;
         i++)
        buf_printf(&codes, "%s%d", i ? "," : "", spawned->errcodes[i]);
    if (codes.len && codes.len < PMI_VALLEN_MAX)
        pmi2_reply_text(&reply, "errcodes", buf_text(&codes));
    buf_free(&codes);
    pmi2_reply_end(&reply, spawned->rc ? PMI2_RC_OTHER : PMI2_RC_OK, spawned->why);
}

const struct dialect pmi2_dialect = {
    .version = 2,
    .next = pmi2_next,
    .run = pmi2_run,
    .barrier_out = pmi2_barrier_out,
    .attribute = pmi2_attribute,
    .ring_out = pmi2_ring_out,
    .named = pmi2_named,
    .spawned = pmi2_spawned,
    .value = pmi2_got,
};
