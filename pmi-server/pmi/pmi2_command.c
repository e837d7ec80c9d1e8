/* What each request of PMI-2 does: a table, and a function for each row. */
#include "pmi-server/pmi/pmi2_command.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmi/context.h"
#include "pmi-server/pmi/pmi2_reply.h"
#include "pmi-server/pmi/pmi2_spawn.h"
#include "pmi-server/pmi/quote.h"
#include "pmi-server/pmi/server_private.h"
#include "pmi-server/wire/pmi2_frame.h"

#define THRID_MAX 64 /* bytes of a thread's mark: each request that waits keeps one */
#define TEXT_OF(number) #number
#define TEXT(macro) TEXT_OF(macro)

/* In which states of the client a command may come. */
#define SILENT (1u << PMI_SILENT)
#define RUNNING (1u << PMI_RUNNING)
#define ALWAYS (~0u)

struct request {
    struct pmi_client *client;
    const struct command *command;
    struct pmi2_frame frame;
    const char *thrid; /* or NULL */
};

struct command {
    const char *name;
    unsigned states;
    const char *refusal; /* always this, and no handler */
    void (*run)(struct request *request);
};

static const char *value_of(const struct request *request, const char *name)
{
    return pmi2_value(&request->frame, name);
}

static struct pmi2_reply reply_to(const struct request *request)
{
    return pmi2_reply_begin(request->client, request->command->name, request->thrid);
}

static void pmi2_command_answer(const struct request *request, enum pmi2_rc rc, const char *errmsg)
{
    struct pmi2_reply reply = reply_to(request);
    pmi2_reply_end(&reply, rc, errmsg);
}

/* True when there is no such field, or it is too long; that has been answered then. */
static bool refuse_text(const struct request *request, const char *name, size_t room,
                        enum pmi2_rc rc)
{
    char text[64];
    const char *value = value_of(request, name);
    if (value && strlen(value) < room)
        return false;
    snprintf(text, sizeof(text), value ? "%s is too long" : "no %s= in the request", name);
    pmi2_command_answer(request, value ? rc : PMI2_RC_INVALID_ARG, text);
    return true;
}

static bool refuse_key(const struct request *request)
{
    return refuse_text(request, "key", PMI_KEYLEN_MAX, PMI2_RC_INVALID_KEY_LENGTH);
}

static bool refuse_pair(const struct request *request)
{
    if (refuse_key(request) ||
        refuse_text(request, "value", PMI_VALLEN_MAX, PMI2_RC_INVALID_VAL_LENGTH))
        return true;
    if (connection_may_put(request->client))
        return false;
    pmi2_command_answer(request, PMI2_RC_OTHER, "too much was put");
    return true;
}

/* A second one is refused by its state. What the client believes of its rank is not asked. */
static void run_fullinit(struct request *request)
{
    struct pmi_client *client = request->client;
    const struct pmi_config *config = &client->server->config;
    client->state = PMI_RUNNING;
    struct pmi2_reply reply = reply_to(request);
    pmi2_reply_int(&reply, "pmi-version", 2);
    pmi2_reply_int(&reply, "pmi-subversion", 0);
    pmi2_reply_int(&reply, "rank", client->rank);
    pmi2_reply_int(&reply, "size", config->size);
    pmi2_reply_int(&reply, "appnum", client->appnum);
    if (config->spawner)
        pmi2_reply_text(&reply, "spawner-jobid", config->spawner);
    pmi2_reply_text(&reply, "debugged", "FALSE");
    pmi2_reply_text(&reply, "pmiverbose", "FALSE");
    pmi2_reply_end(&reply, PMI2_RC_OK, NULL);
}

static void run_getid(struct request *request)
{
    struct pmi2_reply reply = reply_to(request);
    pmi2_reply_text(&reply, "jobid", kvs_name(connection_kvs(request->client)));
    pmi2_reply_end(&reply, PMI2_RC_OK, NULL);
}

static void pmi2_command_run_put(struct request *request)
{
    if (refuse_pair(request))
        return;
    connection_put(request->client, value_of(request, "key"), value_of(request, "value"));
    pmi2_command_answer(request, PMI2_RC_OK, NULL);
}

#define TOO_MANY "too many names and spawns wait for an answer"

/* The owner may have a value where nobody has put one. */
static void reply_value(const struct request *request, const char *key, const char *value)
{
    struct pmi_client *client = request->client;
    bool ask = !value && owner_can_value(client, key);
    if (ask && !connection_may_ask(client)) {
        pmi2_command_answer(request, PMI2_RC_OTHER, TOO_MANY);
    } else if (ask) {
        owner_value(client, key, request->command->name, request->thrid, !request->thrid);
    } else {
        struct pmi2_reply reply = reply_to(request);
        pmi2_reply_value(&reply, value);
    }
}

/* srcid= is a hint where the pair may be; here all pairs are near. */
static void pmi2_command_run_get(struct request *request)
{
    const struct kvs *kvs = connection_kvs(request->client);
    const char *job = value_of(request, "jobid");
    if (refuse_key(request))
        return;
    if (job && *job && strcmp(job, kvs_name(kvs)) != 0) {
        pmi2_command_answer(request, PMI2_RC_INVALID_ARG, "no job of that id is connected");
        return;
    }
    const char *key = value_of(request, "key");
    reply_value(request, key, kvs_get(kvs, key));
}

static void run_fence(struct request *request)
{
    server_enter(request->client, request->thrid, !request->thrid);
}

/* What the launcher has preset is in the space too. */
static void run_getjobattr(struct request *request)
{
    char number[16];
    int universe_size = request->client->server->config.universe_size;
    if (refuse_key(request))
        return;
    const char *key = value_of(request, "key");
    const char *value = kvs_get(connection_kvs(request->client), key);
    if (!value && !strcmp(key, "universeSize") && universe_size >= 0) {
        snprintf(number, sizeof(number), "%d", universe_size);
        value = number;
    }
    reply_value(request, key, value);
}

/* ---- attributes of a node: what one task puts here its neighbours of the same group get, at once ---- */

/* Those who waited for it go on once the client's own input is dealt with. */
static void run_putnodeattr(struct request *request)
{
    struct pmi_server *server = request->client->server;
    if (refuse_pair(request))
        return;
    pmi2_command_answer(request, PMI2_RC_OK, NULL);
    const char *key = value_of(request, "key"), *value = value_of(request, "value");
    if (!server->attributes)
        server->attributes = kvs_new("");
    connection_keep(request->client, server->attributes, key, value, kvs_preset);
    struct pmi_request *next;
    for (struct pmi_request *waiting = server->requests; waiting; waiting = next) {
        next = waiting->next;
        if (waiting->waits != WAITS_ATTRIBUTE || strcmp(waiting->texts[0], key) != 0)
            continue;
        if (!waiting->client->gone)
            waiting->client->dialect->attribute(waiting->client, waiting, value);
        request_done(waiting);
        server->let_go = true;
    }
}

static void run_getnodeattr(struct request *request)
{
    const struct kvs *attributes = request->client->server->attributes;
    if (refuse_key(request))
        return;
    const char *key = value_of(request, "key"),
               *value = attributes ? kvs_get(attributes, key) : NULL;
    if (!value && pmi2_bool(&request->frame, "wait", false)) {
        struct pmi_request *waiting =
            request_new(request->client, WAITS_ATTRIBUTE, request->thrid, !request->thrid);
        waiting->texts[0] = mem_copy_text(key);
        return;
    }
    struct pmi2_reply reply = reply_to(request);
    pmi2_reply_value(&reply, value);
}

static void run_ring(struct request *request)
{
    int count;
    if (refuse_text(request, "ring-left", PMI_VALLEN_MAX, PMI2_RC_INVALID_VAL_LENGTH) ||
        refuse_text(request, "ring-right", PMI_VALLEN_MAX, PMI2_RC_INVALID_VAL_LENGTH))
        return;
    if (!pmi2_int(&request->frame, "ring-count", &count) || count != 1) {
        pmi2_command_answer(request, PMI2_RC_INVALID_ARG, "ring-count is not 1");
        return;
    }
    server_enter_ring(request->client, value_of(request, "ring-left"),
                      value_of(request, "ring-right"), request->thrid, !request->thrid);
}

static void pmi2_command_run_finalize(struct request *request)
{
    pmi2_command_answer(request, PMI2_RC_OK, NULL);
    server_finalize(request->client);
}

static void pmi2_command_ask_name(struct request *request, enum pmi_name name)
{
    struct pmi_client *client = request->client;
    const char *port = NULL;
    if (!owner_can_name(client)) {
        pmi2_command_answer(request, PMI2_RC_OTHER, "names are not supported");
        return;
    }
    if (refuse_text(request, "name", PMI_VALLEN_MAX, PMI2_RC_INVALID_VAL_LENGTH))
        return;
    if (name == PMI_NAME_PUBLISH) {
        if (refuse_text(request, "port", PMI_VALLEN_MAX, PMI2_RC_INVALID_VAL_LENGTH))
            return;
        port = value_of(request, "port");
    }
    if (!connection_may_ask(client)) {
        pmi2_command_answer(request, PMI2_RC_OTHER, TOO_MANY);
        return;
    }
    owner_name(client, name, value_of(request, "name"), port, request->thrid, !request->thrid);
}

static void pmi2_command_run_publish(struct request *request)
{
    pmi2_command_ask_name(request, PMI_NAME_PUBLISH);
}

static void pmi2_command_run_unpublish(struct request *request)
{
    pmi2_command_ask_name(request, PMI_NAME_UNPUBLISH);
}

static void pmi2_command_run_lookup(struct request *request)
{
    pmi2_command_ask_name(request, PMI_NAME_LOOKUP);
}

static void run_spawn(struct request *request)
{
    struct pmi_client *client = request->client;
    struct error err = ERROR_INIT;
    struct spawn_request *spawn = pmi2_spawn_parse(&request->frame, &err);
    if (!spawn)
        pmi2_command_answer(request, PMI2_RC_INVALID_ARG, error_text(&err));
    else if (!owner_can_spawn(client))
        pmi2_command_answer(request, PMI2_RC_OTHER, "spawn is not supported");
    else if (!connection_may_ask(client))
        pmi2_command_answer(request, PMI2_RC_OTHER, TOO_MANY);
    else
        owner_spawn(client, spawn, request->thrid, !request->thrid);
    error_clear(&err);
    spawn_request_free(spawn);
}

/* Nobody waits for a reply. isworld=FALSE is a task's own end, which its process makes known;
 * later libraries say exitcode= and message= instead. */
static void pmi2_command_run_abort(struct request *request)
{
    int exitcode;
    const char *message = value_of(request, "msg");
    if (!pmi2_bool(&request->frame, "isworld", true))
        return;
    if (!pmi2_int(&request->frame, "exitcode", &exitcode))
        exitcode = 1;
    connection_abort(request->client, exitcode, message ? message : value_of(request, "message"));
}

/* The frequent ones first. */
static const struct command commands[] = {
    {"kvs-get", RUNNING, .run = pmi2_command_run_get},
    {"kvs-put", RUNNING, .run = pmi2_command_run_put},
    {"kvs-fence", RUNNING, .run = run_fence},
    {"info-getjobattr", RUNNING, .run = run_getjobattr},
    {"info-putnodeattr", RUNNING, .run = run_putnodeattr},
    {"info-getnodeattr", RUNNING, .run = run_getnodeattr},
    {"fullinit", SILENT, .run = run_fullinit},
    {"job-getid", RUNNING, .run = run_getid},
    {"ring", RUNNING, .run = run_ring},
    {"finalize", RUNNING, .run = pmi2_command_run_finalize},
    {"abort", ALWAYS, .run = pmi2_command_run_abort},
    {"name-publish", RUNNING, .run = pmi2_command_run_publish},
    {"name-unpublish", RUNNING, .run = pmi2_command_run_unpublish},
    {"name-lookup", RUNNING, .run = pmi2_command_run_lookup},
    {"spawn", RUNNING, .run = run_spawn},
    {"job-connect", RUNNING, "jobs cannot be connected"},
    {"job-disconnect", RUNNING, "jobs cannot be connected"},
};

/* Why the request is against the protocol, or NULL. */
static const char *request_parse(struct request *request, char *body, size_t len)
{
    if (!pmi2_frame_parse(&request->frame, body, len))
        return "a malformed PMI-2 request";
    const char *name = value_of(request, "cmd");
    if (!name)
        return "no cmd= in a PMI-2 request";
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]) && !request->command; i++)
        if (!strcmp(commands[i].name, name))
            request->command = &commands[i];
    if (!request->command)
        return "unknown PMI-2 command";
    request->thrid = value_of(request, "thrid");
    if (request->thrid && strlen(request->thrid) > THRID_MAX)
        return "a thrid= of more than " TEXT(THRID_MAX) " bytes";
    if (request->command->states & (1u << request->client->state))
        return NULL;
    return request->client->state == PMI_SILENT    ? "PMI-2 request before fullinit"
           : request->client->state == PMI_RUNNING ? "PMI-2 request for a second time"
                                                   : "PMI-2 request after finalize";
}

int pmi2_command_body(struct pmi_client *client, char *body, size_t len, struct error *err)
{
    char said[QUOTE_SIZE], quote[QUOTE_SIZE]; /* as it was before it is taken apart */
    size_t nsaid = len < sizeof(said) ? len : sizeof(said);
    struct request request = {.client = client};
    memcpy(said, body, nsaid);
    const char *wrong = request_parse(&request, body, len);
    if (wrong)
        return error_set(err, "%s: \"%s\"", wrong, quote_text(quote, said, nsaid));
    if (request.command->run)
        request.command->run(&request);
    else
        pmi2_command_answer(&request, PMI2_RC_OTHER, request.command->refusal);
    return 0;
}
