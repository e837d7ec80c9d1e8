/* The session of libpmi: its beginning and its end, and the pairs of the key-value space. */
#include "pmi-server/client/pmi1_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "pmi-server/client/pmi.h"

_Static_assert(PMI_FAIL == SESSION_FAIL && PMI_ERR_INIT == SESSION_ERR_INIT &&
                   PMI_ERR_INVALID_ARG == SESSION_ERR_INVALID_ARG,
               "codes of pmi.h");

struct pmi1_session pmi1_session;

int pmi1_ask(const char *expect)
{
    if (connection_line_ask(&session.conn, expect, &pmi1_session.reply) < 0)
        return PMI_FAIL;
    return connection_line_succeeded(&pmi1_session.reply) ? PMI_SUCCESS : PMI_FAIL;
}

static int environment_int(const char *name, int min, int *value)
{
    const char *text = getenv(name);
    return text && number_parse_int(text, value) && *value >= min ? PMI_SUCCESS : PMI_FAIL;
}

static int reply_max(const char *name, int *max)
{
    return pmi1_line_int(&pmi1_session.reply, name, max) && *max > 1 ? PMI_SUCCESS : PMI_FAIL;
}

static int pmi1_environment(void)
{
    if (environment_int("PMI_SIZE", 1, &session.size) ||
        environment_int("PMI_RANK", 0, &session.rank) || session.rank >= session.size)
        return PMI_FAIL;
    if (environment_int("PMI_SPAWNED", 0, &session.spawned))
        session.spawned = 0;
    return PMI_SUCCESS;
}

static int pmi1_start_wire(void)
{
    const struct pmi1_line *reply = &pmi1_session.reply;
    int version;
    /* PMI_Abort() of another thread tells the launcher from here on. */
    session.state = SESSION_WIRE;
    connection_add(&session.conn, "cmd=init pmi_version=1 pmi_subversion=1\n");
    if (pmi1_ask("response_to_init") ||
        (pmi1_line_int(reply, "pmi_version", &version) && version != 1))
        return PMI_FAIL;
    connection_add(&session.conn, "cmd=get_maxes\n");
    if (pmi1_ask("maxes") || reply_max("kvsname_max", &pmi1_session.name_max) ||
        reply_max("keylen_max", &pmi1_session.key_max) ||
        reply_max("vallen_max", &pmi1_session.value_max))
        return PMI_FAIL;
    connection_add(&session.conn, "cmd=get_my_kvsname\n");
    if (pmi1_ask("my_kvsname"))
        return PMI_FAIL;
    const char *name = pmi1_line_value(reply, "kvsname");
    if (!name || strlen(name) >= (size_t)pmi1_session.name_max)
        return PMI_FAIL;
    pmi1_session.name = strdup(name);
    return pmi1_session.name ? PMI_SUCCESS : PMI_FAIL;
}

static int pmi1_start_single(void)
{
    char name[32];
    snprintf(name, sizeof(name), "singleton_%ld", (long)getpid());
    pmi1_session.name = strdup(name);
    pmi1_session.name_max = 256;
    pmi1_session.key_max = 64;
    pmi1_session.value_max = 1024;
    return pmi1_session.name ? PMI_SUCCESS : PMI_FAIL;
}

static int pmi1_finalize(void)
{
    connection_add(&session.conn, "cmd=finalize\n");
    return pmi1_ask("finalize_ack");
}

static void pmi1_session_forget(void)
{
    free(pmi1_session.name);
    pmi1_session.name = NULL;
}

const struct session_protocol pmi1_protocol = {
    .environment = pmi1_environment,
    .greet = pmi1_start_wire,
    .single = pmi1_start_single,
    .finalize = pmi1_finalize,
    .forget = pmi1_session_forget,
};

int pmi1_put(const char *key, const char *value)
{
    if (session.state == SESSION_SINGLE)
        return pairs_put(&session.pairs, key, value) ? PMI_SUCCESS : PMI_FAIL;
    connection_add(&session.conn, "cmd=put kvsname=%s key=%s value=%s\n", pmi1_session.name, key,
                   value);
    return pmi1_ask("put_result");
}

/* hydra of MPICH 4.2 writes a field behind the value, and no msg before it, as all others do. */
static void drop_found(void)
{
    static const char found[] = " found=TRUE";
    const struct pmi1_field *field = pmi1_line_field(&pmi1_session.reply, "value");
    size_t len = sizeof(found) - 1;
    if (!field || field->value_len < len || pmi1_line_field(&pmi1_session.reply, "msg"))
        return;
    char *end = (char *)field->value + field->value_len - len; /* of the session's own bytes */
    if (!strcmp(end, found))
        *end = '\0';
}

int pmi1_get(const char *key, const char **value)
{
    if (session.state == SESSION_SINGLE) {
        *value = pairs_get(session.pairs, key);
        return *value ? PMI_SUCCESS : PMI_FAIL;
    }
    connection_add(&session.conn, "cmd=get kvsname=%s key=%s\n", pmi1_session.name, key);
    if (pmi1_ask("get_result"))
        return PMI_FAIL;
    drop_found();
    *value = pmi1_line_value(&pmi1_session.reply, "value");
    return *value ? PMI_SUCCESS : PMI_FAIL;
}
