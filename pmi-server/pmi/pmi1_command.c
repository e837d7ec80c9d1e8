/*
 * What the replies look like is what existing clients are known to accept: they split replies at
 * spaces, so a msg= never holds one. What clients cannot be told is an error to them (pmi1_unsayable()).
 */
#include "pmi-server/pmi/pmi1_command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmi/context.h"
#include "pmi-server/pmi/quote.h"
#include "pmi-server/pmi/server_private.h"
#include "pmi-server/wire/pmi1_line.h"

#define TEXT_OF(number) #number
#define TEXT(macro) TEXT_OF(macro)

/* In which states of the client a command may come. */
#define SILENT (1u << PMI_SILENT)
#define RUNNING (1u << PMI_RUNNING)
#define ALWAYS (~0u)

struct request {
    struct pmi_client *client;
    struct pmi1_line line;
    const char *text; /* the whole line, for error messages */
    size_t len;
};

const char *pmi1_unsayable(const char *text, size_t len, size_t room, bool word)
{
    if (len >= room)
        return "value_too_long";
    if (memchr(text, '\n', len))
        return "value_has_a_newline";
    return word && strpbrk(text, " \t") ? "value_has_spaces" : NULL;
}

const char *const pmi1_name_replies[] = {
    [PMI_NAME_PUBLISH] = "publish_result",
    [PMI_NAME_UNPUBLISH] = "unpublish_result",
    [PMI_NAME_LOOKUP] = "lookup_result",
};

struct command {
    const char *name;
    unsigned states;
    const char *reply; /* always this, and no handler */
    int (*run)(struct request *request, struct error *err);
};

static int request_fail(const struct request *request, const char *what, struct error *err)
{
    char quote[QUOTE_SIZE];
    return error_set(err, "%s: \"%s\"", what, quote_text(quote, request->text, request->len));
}

static const struct pmi1_field *request_field(const struct request *request, const char *name,
                                              struct error *err)
{
    const struct pmi1_field *field = pmi1_line_field(&request->line, name);
    char quote[QUOTE_SIZE];
    if (!field)
        error_set(err, "no %s= in a PMI-1 request: \"%s\"", name,
                  quote_text(quote, request->text, request->len));
    return field;
}

/* MPICH names the space in every put and get; later clients may leave it out. */
static bool is_other_kvs(const struct request *request)
{
    const char *name = pmi1_line_value(&request->line, "kvsname");
    return name && strcmp(name, kvs_name(connection_kvs(request->client))) != 0;
}

void pmi1_got(struct pmi_client *client, const char *key, const char *value)
{
    bool later = client->subversion >= 2;
    if (!value) {
        connection_printf(client, "cmd=get_result rc=-1 msg=key_%s_not_found%s value=unknown\n",
                          key, later ? " found=FALSE" : "");
        return;
    }
    size_t len = strlen(value);
    const char *refusal = pmi1_unsayable(value, len, PMI_VALLEN_MAX, false);
    if (refusal) {
        connection_printf(client, "cmd=get_result rc=-1 msg=%s value=unknown\n", refusal);
        return;
    }
    connection_reply(client, later ? "cmd=get_result rc=0 msg=success found=TRUE value="
                                   : "cmd=get_result rc=0 msg=success value=");
    connection_reply_bytes(client, value, len);
    connection_reply_bytes(client, "\n", 1);
}

static int pmi1_command_run_get(struct request *request, struct error *err)
{
    struct pmi_client *client = request->client;
    const struct pmi1_field *key = request_field(request, "key", err);
    if (!key)
        return -1;
    const char *refusal = NULL;
    if (is_other_kvs(request))
        refusal = "cmd=get_result rc=-1 msg=kvs_not_found value=unknown\n";
    else if (key->value_len >= PMI_KEYLEN_MAX)
        refusal = "cmd=get_result rc=-1 msg=key_too_long value=unknown\n";
    if (refusal) {
        connection_reply(client, refusal);
        return 0;
    }
    const char *value = kvs_get(connection_kvs(client), key->value);
    if (!value && owner_can_value(client, key->value))
        owner_value(client, key->value, NULL, NULL, true);
    else
        pmi1_got(client, key->value, value);
    return 0;
}

/* An empty key is put by MPICH's singletons; it is a key like any other. */
static int pmi1_command_run_put(struct request *request, struct error *err)
{
    struct pmi_client *client = request->client;
    const struct pmi1_field *key = request_field(request, "key", err);
    const struct pmi1_field *value = key ? request_field(request, "value", err) : NULL;
    if (!value)
        return -1;
    const char *reply = "cmd=put_result rc=0 msg=success\n";
    if (is_other_kvs(request))
        reply = "cmd=put_result rc=-1 msg=kvs_not_found\n";
    else if (key->value_len >= PMI_KEYLEN_MAX)
        reply = "cmd=put_result rc=-1 msg=key_too_long\n";
    else if (value->value_len >= PMI_VALLEN_MAX)
        reply = "cmd=put_result rc=-1 msg=value_too_long\n";
    else if (!connection_may_put(client))
        reply = "cmd=put_result rc=-1 msg=too_much_was_put\n";
    else
        connection_put(client, key->value, value->value);
    connection_reply(client, reply);
    return 0;
}

/* Barriers of a part of the tasks are PMI 1.2; to take one for a barrier of all would hang it. */
static int run_barrier_in(struct request *request, struct error *err)
{
    struct pmi_client *client = request->client;
    const char *group = pmi1_line_value(&request->line, "group");
    if (!group) {
        server_enter(client, client->subversion >= 2 ? "0" : NULL, true);
        return 0;
    }
    if (client->subversion < 2) {
        connection_reply(client, "cmd=barrier_out rc=-1 msg=group_barriers_are_not_supported\n");
        return 0;
    }
    const char *why = server_enter_group(client, group);
    return why ? request_fail(request, why, err) : 0;
}

static int run_init(struct request *request, struct error *err)
{
    (void)err;
    struct pmi_client *client = request->client;
    int version;
    if (!pmi1_line_int(&request->line, "pmi_version", &version))
        version = 0;
    bool later = version == 2 && client->state == PMI_SILENT;
    if (!(version == 1 || later) || !connection_speak(client, version)) {
        connection_reply(client, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n");
        return 0;
    }
    if (later) {
        connection_reply(client, "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n");
        return 0;
    }
    int subversion;
    bool second = pmi1_line_int(&request->line, "pmi_subversion", &subversion) && subversion >= 2;
    client->state = PMI_RUNNING;
    client->subversion = second ? 2 : 1;
    connection_printf(client, "cmd=response_to_init pmi_version=1 pmi_subversion=%d rc=0\n",
                      client->subversion);
    return 0;
}

static int pmi1_command_run_finalize(struct request *request, struct error *err)
{
    (void)err;
    struct pmi_client *client = request->client;
    connection_reply(client, "cmd=finalize_ack\n");
    server_finalize(client);
    return 0;
}

/* No reply, though RFC 13 has an empty line: MPICH's older client waits for one, complains about that
 * line, and exits with a status of its own. It waits until it is ended. */
static int pmi1_command_run_abort(struct request *request, struct error *err)
{
    (void)err;
    struct pmi_client *client = request->client;
    int exitcode;
    if (!pmi1_line_int(&request->line, "exitcode", &exitcode))
        exitcode = 1;
    connection_abort(client, exitcode, pmi1_line_value(&request->line, "message"));
    return 0;
}

static int run_kvsname(struct request *request, struct error *err)
{
    (void)err;
    connection_printf(request->client, "cmd=my_kvsname kvsname=%s\n",
                      kvs_name(connection_kvs(request->client)));
    return 0;
}

static int run_appnum(struct request *request, struct error *err)
{
    (void)err;
    connection_printf(request->client, "cmd=appnum appnum=%u\n", request->client->appnum);
    return 0;
}

static int run_universe_size(struct request *request, struct error *err)
{
    (void)err;
    connection_printf(request->client, "cmd=universe_size size=%d\n",
                      request->client->server->config.universe_size);
    return 0;
}

static struct pmi1_memory *memory_of(struct pmi_client *client)
{
    if (!client->memory)
        client->memory = mem_alloc(sizeof(struct pmi1_memory));
    return client->memory;
}

/* The iteration of PMI 1.0: from idx=, else from where the last one stopped. It goes on after a pair
 * that cannot be told. */
static int run_getbyidx(struct request *request, struct error *err)
{
    (void)err;
    struct pmi_client *client = request->client;
    struct pmi1_memory *memory = memory_of(client);
    const char *key, *value;
    int index;
    if (pmi1_line_int(&request->line, "idx", &index) && index >= 0)
        memory->index = (size_t)index;
    else if (strcmp(pmi1_line_value(&request->line, "cmd"), "getbyidx_next") != 0)
        memory->index = 0;
    if (!kvs_at(connection_kvs(client), memory->index, &key, &value)) {
        connection_reply(client, "cmd=getbyidx_results rc=-1 reason=no_more_keyvals\n");
        return 0;
    }
    const char *refusal = pmi1_unsayable(key, strlen(key), PMI_KEYLEN_MAX, true);
    if (!refusal)
        refusal = pmi1_unsayable(value, strlen(value), PMI_VALLEN_MAX, false);
    memory->index++;
    if (refusal)
        connection_printf(client, "cmd=getbyidx_results rc=-1 nextidx=%zu reason=%s\n",
                          memory->index, refusal);
    else
        connection_printf(client, "cmd=getbyidx_results rc=0 nextidx=%zu key=%s val=%s\n",
                          memory->index, key, value);
    return 0;
}

/* A service is one word; what MPICH sends of a name with spaces are words without '='. */
static int pmi1_command_ask_name(struct request *request, enum pmi_name name, struct error *err)
{
    struct pmi_client *client = request->client;
    const char *port = NULL;
    if (!owner_can_name(client)) {
        connection_printf(client, "cmd=%s rc=-1 msg=names_are_not_supported\n",
                          pmi1_name_replies[name]);
        return 0;
    }
    const struct pmi1_field *service = request_field(request, "service", err);
    if (!service)
        return -1;
    if (name == PMI_NAME_PUBLISH) {
        const struct pmi1_field *field = request_field(request, "port", err);
        if (!field)
            return -1;
        port = field->value;
    }
    if (service->value_len < PMI_VALLEN_MAX && (!port || strlen(port) < PMI_VALLEN_MAX))
        owner_name(client, name, service->value, port, NULL, true);
    else
        connection_printf(client, "cmd=%s info=ok rc=1 msg=name_too_long\n",
                          pmi1_name_replies[name]);
    return 0;
}

static int pmi1_command_run_publish(struct request *request, struct error *err)
{
    return pmi1_command_ask_name(request, PMI_NAME_PUBLISH, err);
}

static int pmi1_command_run_unpublish(struct request *request, struct error *err)
{
    return pmi1_command_ask_name(request, PMI_NAME_UNPUBLISH, err);
}

static int pmi1_command_run_lookup(struct request *request, struct error *err)
{
    return pmi1_command_ask_name(request, PMI_NAME_LOOKUP, err);
}

/* Which rank is on which host, as far as the owner tells. */
struct place {
    uint32_t node, rank;
};

static int by_node(const void *a, const void *b)
{
    const struct place *l = a, *r = b;
    if (l->node != r->node)
        return l->node < r->node ? -1 : 1;
    return (l->rank > r->rank) - (l->rank < r->rank);
}

/* Append "LENGTH HOST RANK,RANK,... " for each node of the group; returns how many that is, 0 when
 * it is not known. */
static size_t add_hosts(const struct pmi_client *client, struct buf *text)
{
    const struct pmi_server *server = client->server;
    uint32_t size = server->config.size;
    size_t nhosts = 0;
    if (!server->ops->node_of || !server->ops->host_of)
        return 0;
    struct place *places = mem_array(size, sizeof(*places));
    for (uint32_t rank = 0; rank < size; rank++)
        places[rank] = (struct place){server->ops->node_of(server->arg, rank), rank};
    qsort(places, size, sizeof(*places), by_node);
    for (uint32_t i = 0; i < size; i++) {
        if (!i || places[i].node != places[i - 1].node) {
            const char *host = server->ops->host_of(server->arg, places[i].node);
            buf_printf(text, "%zu %s ", strlen(host), host);
            nhosts++;
        }
        buf_printf(text, "%" PRIu32 ",", places[i].rank);
        if (i + 1 == size || places[i].node != places[i + 1].node)
            buf_add_char(text, ' ');
    }
    free(places);
    return nhosts;
}

/* Of two lines; the first has what is in the second, its newline and one more. */
static int run_ranks2hosts(struct request *request, struct error *err)
{
    struct buf text = BUF_INIT;
    size_t nhosts = add_hosts(request->client, &text);
    (void)err;
    connection_printf(request->client, "cmd=put_ranks2hosts %zu %zu\n", nhosts ? text.len + 2 : 0,
                      nhosts);
    if (nhosts)
        connection_printf(request->client, "%s\n", buf_text(&text));
    buf_free(&text);
    return 0;
}

/* The frequent ones first. */
static const struct command commands[] = {
    {"get", RUNNING, .run = pmi1_command_run_get},
    {"put", RUNNING, .run = pmi1_command_run_put},
    {"barrier_in", RUNNING, .run = run_barrier_in},
    {"init", SILENT | RUNNING, .run = run_init},
    {"get_maxes", RUNNING,
     "cmd=maxes kvsname_max=" TEXT(PMI_KVSNAME_MAX) " keylen_max=" TEXT(
         PMI_KEYLEN_MAX) " vallen_max=" TEXT(PMI_VALLEN_MAX) "\n"},
    {"get_my_kvsname", RUNNING, .run = run_kvsname},
    {"get_appnum", RUNNING, .run = run_appnum},
    {"get_universe_size", RUNNING, .run = run_universe_size},
    {"finalize", RUNNING, .run = pmi1_command_run_finalize},
    {"abort", ALWAYS, .run = pmi1_command_run_abort},
    {"publish_name", RUNNING, .run = pmi1_command_run_publish},
    {"unpublish_name", RUNNING, .run = pmi1_command_run_unpublish},
    {"lookup_name", RUNNING, .run = pmi1_command_run_lookup},
    {"create_kvs", RUNNING, "cmd=newkvs rc=-1 msg=create_kvs_is_not_supported\n"},
    {"destroy_kvs", RUNNING, "cmd=kvs_destroyed rc=-1 msg=destroy_kvs_is_not_supported\n"},
    {"getbyidx", RUNNING, .run = run_getbyidx},
    {"getbyidx_first", RUNNING, .run = run_getbyidx},
    {"getbyidx_next", RUNNING, .run = run_getbyidx},
    {"get_ranks2hosts", RUNNING, .run = run_ranks2hosts}, /* Intel MPI */
};

static int request_check_state(const struct request *request, unsigned states, struct error *err)
{
    if (states & (1u << request->client->state))
        return 0;
    return request_fail(request,
                        request->client->state == PMI_SILENT ? "PMI-1 request before cmd=init"
                                                             : "PMI-1 request after cmd=finalize",
                        err);
}

static int request_run(struct request *request, struct error *err)
{
    const char *name = pmi1_line_value(&request->line, "cmd");
    if (!name)
        return request_fail(request, "no cmd= in a PMI-1 request", err);
    const struct command *command = NULL;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]) && !command; i++)
        if (!strcmp(commands[i].name, name))
            command = &commands[i];
    if (!command)
        return request_fail(request, "unknown PMI-1 command", err);
    if (request_check_state(request, command->states, err) < 0)
        return -1;
    if (command->run)
        return command->run(request, err);
    connection_reply(request->client, command->reply);
    return 0;
}

static int request_spawn(struct request *request, struct error *err)
{
    struct pmi_client *client = request->client;
    struct spawn_request *spawn = NULL;
    if (request_check_state(request, RUNNING, err) < 0)
        return -1;
    int rc = pmi1_spawn_line(&memory_of(client)->spawn, request->text, &spawn, err);
    if (rc > 0 && owner_can_spawn(client))
        owner_spawn(client, spawn, NULL, true);
    else if (rc > 0)
        connection_reply(client, "cmd=spawn_result rc=-1 msg=spawn_is_not_supported\n");
    spawn_request_free(spawn);
    return rc < 0 ? -1 : 0;
}

int pmi1_command_line(struct pmi_client *client, char *text, size_t len, struct error *err)
{
    struct request request = {.client = client, .text = text, .len = len};
    if (memchr(text, '\0', len))
        return request_fail(&request, "a NUL in a PMI-1 request", err);
    text[len] = '\0';
    const struct pmi1_memory *memory = client->memory;
    if ((memory && pmi1_spawn_open(&memory->spawn)) || !strcmp(text, "mcmd=spawn"))
        return request_spawn(&request, err);
    pmi1_line_parse(&request.line, text, len);
    return request_run(&request, err);
}
