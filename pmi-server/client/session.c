#include "pmi-server/client/session.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "pmi-server/client/pmi.h"

struct session pmi_session;
static pthread_mutex_t session_mutex = PTHREAD_MUTEX_INITIALIZER;

bool session_lock(bool wait)
{
    return (wait ? pthread_mutex_lock(&session_mutex) : pthread_mutex_trylock(&session_mutex)) == 0;
}

int session_leave(int rc)
{
    pthread_mutex_unlock(&session_mutex);
    return rc;
}

int session_enter(void)
{
    session_lock(true);
    if (pmi_session.state == SESSION_SINGLE || pmi_session.state == SESSION_WIRE)
        return PMI_SUCCESS;
    return session_leave(PMI_ERR_INIT);
}

int session_enter_wire(void)
{
    int rc = session_enter();
    if (!rc && pmi_session.state == SESSION_SINGLE)
        return session_leave(PMI_FAIL);
    return rc;
}

int session_ask(const char *expect)
{
    struct session *session = &pmi_session;
    if (connection_line_ask(&session->conn, expect, &session->reply) < 0)
        return PMI_FAIL;
    return connection_line_succeeded(&session->reply) ? PMI_SUCCESS : PMI_FAIL;
}

static int environment_int(const char *name, int min, int *value)
{
    const char *text = getenv(name);
    return text && number_parse_int(text, value) && *value >= min ? PMI_SUCCESS : PMI_FAIL;
}

static int session_greet(void)
{
    struct session *session = &pmi_session;
    int version;
    connection_add(&session->conn, "cmd=init pmi_version=1 pmi_subversion=1\n");
    if (session_ask("response_to_init"))
        return PMI_FAIL;
    if (pmi1_line_int(&session->reply, "pmi_version", &version) && version != 1)
        return PMI_FAIL;
    return PMI_SUCCESS;
}

static int reply_max(const char *name, int *max)
{
    return pmi1_line_int(&pmi_session.reply, name, max) && *max > 1 ? PMI_SUCCESS : PMI_FAIL;
}

static int session_ask_maxes(void)
{
    struct session *session = &pmi_session;
    connection_add(&session->conn, "cmd=get_maxes\n");
    if (session_ask("maxes") || reply_max("kvsname_max", &session->name_max) ||
        reply_max("keylen_max", &session->key_max) || reply_max("vallen_max", &session->value_max))
        return PMI_FAIL;
    return PMI_SUCCESS;
}

static int session_ask_name(void)
{
    struct session *session = &pmi_session;
    connection_add(&session->conn, "cmd=get_my_kvsname\n");
    if (session_ask("my_kvsname"))
        return PMI_FAIL;
    const char *name = pmi1_line_value(&session->reply, "kvsname");
    if (!name || strlen(name) >= (size_t)session->name_max)
        return PMI_FAIL;
    session->name = strdup(name);
    return session->name ? PMI_SUCCESS : PMI_FAIL;
}

static int session_start_wire(void)
{
    struct session *session = &pmi_session;
    int fd;
    if (environment_int("PMI_FD", 0, &fd) || environment_int("PMI_SIZE", 1, &session->size) ||
        environment_int("PMI_RANK", 0, &session->rank) || session->rank >= session->size)
        return PMI_FAIL;
    if (environment_int("PMI_SPAWNED", 0, &session->spawned))
        session->spawned = 0;
    connection_open(&session->conn, fd);
    session->state = SESSION_WIRE;
    if (!session_greet() && !session_ask_maxes() && !session_ask_name())
        return PMI_SUCCESS;
    connection_close(&session->conn);
    session->state = SESSION_ENDED;
    return PMI_FAIL;
}

/* A launcher that offers a port in place of a descriptor is none to be a singleton under. */
static int session_start_single(void)
{
    struct session *session = &pmi_session;
    char name[32];
    if (getenv("PMI_PORT"))
        return PMI_FAIL;
    snprintf(name, sizeof(name), "singleton_%ld", (long)getpid());
    session->name = strdup(name);
    if (!session->name)
        return PMI_FAIL;
    session->rank = 0;
    session->size = 1;
    session->spawned = 0;
    session->name_max = 256;
    session->key_max = 64;
    session->value_max = 1024;
    session->state = SESSION_SINGLE;
    return PMI_SUCCESS;
}

int session_start(void)
{
    if (pmi_session.state == SESSION_SINGLE || pmi_session.state == SESSION_WIRE)
        return PMI_SUCCESS;
    if (pmi_session.state == SESSION_ENDED)
        return PMI_FAIL;
    return getenv("PMI_FD") ? session_start_wire() : session_start_single();
}

int session_end(void)
{
    struct session *session = &pmi_session;
    int rc = PMI_SUCCESS;
    if (session->state == SESSION_WIRE) {
        connection_add(&session->conn, "cmd=finalize\n");
        rc = session_ask("finalize_ack");
        connection_close(&session->conn);
    }
    session->state = session->state == SESSION_WIRE ? SESSION_ENDED : SESSION_NONE;
    pairs_free(&session->pairs);
    free(session->name);
    session->name = NULL;
    return rc;
}

int session_put(const char *key, const char *value)
{
    struct session *session = &pmi_session;
    if (session->state == SESSION_SINGLE)
        return pairs_put(&session->pairs, key, value) ? PMI_SUCCESS : PMI_FAIL;
    connection_add(&session->conn, "cmd=put kvsname=%s key=%s value=%s\n", session->name, key,
                   value);
    return session_ask("put_result");
}

/* hydra of MPICH 4.2 writes a field behind the value, and no msg before it, as all others do. */
static void drop_found(struct session *session)
{
    static const char found[] = " found=TRUE";
    const struct pmi1_field *field = pmi1_line_field(&session->reply, "value");
    size_t len = sizeof(found) - 1;
    if (!field || field->value_len < len || pmi1_line_field(&session->reply, "msg"))
        return;
    char *end = (char *)field->value + field->value_len - len; /* of the session's own bytes */
    if (!strcmp(end, found))
        *end = '\0';
}

int session_get(const char *key, const char **value)
{
    struct session *session = &pmi_session;
    if (session->state == SESSION_SINGLE) {
        *value = pairs_get(session->pairs, key);
        return *value ? PMI_SUCCESS : PMI_FAIL;
    }
    connection_add(&session->conn, "cmd=get kvsname=%s key=%s\n", session->name, key);
    if (session_ask("get_result"))
        return PMI_FAIL;
    drop_found(session);
    *value = pmi1_line_value(&session->reply, "value");
    return *value ? PMI_SUCCESS : PMI_FAIL;
}
