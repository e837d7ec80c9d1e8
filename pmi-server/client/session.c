/* The session of a client library: locked, started as the environment says, ended. */
#include "pmi-server/client/session.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

struct session session;
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
    if (session.state == SESSION_SINGLE || session.state == SESSION_WIRE)
        return SESSION_SUCCESS;
    return session_leave(SESSION_ERR_INIT);
}

int session_enter_wire(void)
{
    int rc = session_enter();
    if (!rc && session.state == SESSION_SINGLE)
        return session_leave(SESSION_FAIL);
    return rc;
}

int session_number(int *to, const int *from)
{
    if (!to)
        return SESSION_ERR_INVALID_ARG;
    int rc = session_enter();
    if (rc)
        return rc;
    *to = *from;
    return session_leave(SESSION_SUCCESS);
}

static int session_start_wire(const struct session_protocol *protocol, const char *text)
{
    int fd;
    if (!number_parse_int(text, &fd) || fd < 0 ||
        (protocol->environment && protocol->environment()))
        return SESSION_FAIL;
    connection_open(&session.conn, fd);
    if (!protocol->greet()) {
        session.state = SESSION_WIRE;
        return SESSION_SUCCESS;
    }
    connection_close(&session.conn);
    session.state = SESSION_ENDED;
    return SESSION_FAIL;
}

int session_start(const struct session_protocol *protocol)
{
    const char *fd = getenv("PMI_FD");
    if (session.state == SESSION_SINGLE || session.state == SESSION_WIRE)
        return SESSION_SUCCESS;
    if (session.state == SESSION_ENDED)
        return SESSION_FAIL;
    if (fd)
        return session_start_wire(protocol, fd);
    /* A launcher that offers a port in place of a descriptor is none to be a singleton under. */
    if (getenv("PMI_PORT") || (protocol->single && protocol->single()))
        return SESSION_FAIL;
    session = (struct session){.state = SESSION_SINGLE, .size = 1};
    return SESSION_SUCCESS;
}

int session_end(const struct session_protocol *protocol)
{
    int rc = SESSION_SUCCESS;
    if (session.state == SESSION_WIRE) {
        rc = protocol->finalize();
        connection_close(&session.conn);
    }
    session.state = session.state == SESSION_WIRE ? SESSION_ENDED : SESSION_NONE;
    pairs_free(&session.pairs);
    protocol->forget();
    return rc;
}

void session_copy_spawn_errors(int errors[], int count, int rc, const char *text)
{
    for (int i = 0; errors && i < count; i++) {
        char *end = NULL;
        long code = text ? strtol(text, &end, 10) : rc;
        errors[i] = end == text ? rc : (int)code;
        text = end && end != text && *end == ',' ? end + 1 : NULL;
    }
}

/* ---- pairs ---- */

struct pair {
    struct pair *next;
    char *key, *value;
};

static struct pair *pairs_find(struct pair *pair, const char *key)
{
    while (pair && strcmp(pair->key, key) != 0)
        pair = pair->next;
    return pair;
}

const char *pairs_get(const struct pair *pairs, const char *key)
{
    const struct pair *pair = pairs_find((struct pair *)pairs, key);
    return pair ? pair->value : NULL;
}

static struct pair *pairs_add(struct pair **pairs, const char *key)
{
    struct pair *pair = calloc(1, sizeof(*pair));
    if (!pair)
        return NULL;
    pair->key = strdup(key);
    if (!pair->key) {
        free(pair);
        return NULL;
    }
    pair->next = *pairs;
    *pairs = pair;
    return pair;
}

bool pairs_put(struct pair **pairs, const char *key, const char *value)
{
    char *copy = strdup(value);
    struct pair *pair = pairs_find(*pairs, key);
    if (copy && !pair)
        pair = pairs_add(pairs, key);
    if (!copy || !pair) {
        free(copy);
        return false;
    }
    free(pair->value);
    pair->value = copy;
    return true;
}

void pairs_free(struct pair **pairs)
{
    while (*pairs) {
        struct pair *pair = *pairs;
        *pairs = pair->next;
        free(pair->key);
        free(pair->value);
        free(pair);
    }
}
