#include "pmi-server/client/session_pmi2.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "pmi-server/client/connection_line.h"
#include "pmi-server/client/pmi2.h"

struct session2 pmi2_session;
static pthread_mutex_t session2_mutex = PTHREAD_MUTEX_INITIALIZER;

bool session2_lock(bool wait)
{
    return (wait ? pthread_mutex_lock(&session2_mutex) : pthread_mutex_trylock(&session2_mutex)) ==
           0;
}

int session2_leave(int rc)
{
    pthread_mutex_unlock(&session2_mutex);
    return rc;
}

int session2_enter(void)
{
    session2_lock(true);
    if (pmi2_session.state == SESSION2_SINGLE || pmi2_session.state == SESSION2_WIRE)
        return PMI2_SUCCESS;
    return session2_leave(PMI2_ERR_INIT);
}

int session2_enter_wire(const char *command)
{
    int rc = session2_enter();
    if (!rc && pmi2_session.state == SESSION2_SINGLE)
        return session2_leave(PMI2_FAIL);
    if (!rc)
        session2_begin(command);
    return rc;
}

void session2_begin(const char *command)
{
    frame_begin(&pmi2_session.conn, command);
}

int session2_ask(void)
{
    struct session2 *session = &pmi2_session;
    int rc = 0;
    if (frame_ask(&session->conn, &session->reply) < 0)
        return PMI2_FAIL;
    if (pmi2_value(&session->reply, "rc") && !pmi2_int(&session->reply, "rc", &rc))
        return PMI2_FAIL;
    return rc ? PMI2_ERR_OTHER : PMI2_SUCCESS;
}

static int session2_greet(void)
{
    struct conn *conn = &pmi2_session.conn;
    struct pmi1_line reply;
    int version;
    conn_add(conn, "cmd=init pmi_version=2 pmi_subversion=0\n");
    if (line_ask(conn, "response_to_init", &reply) < 0 || !line_succeeded(&reply))
        return PMI2_FAIL;
    return pmi1_line_int(&reply, "pmi_version", &version) && version == 2 ? PMI2_SUCCESS
                                                                          : PMI2_FAIL;
}

static int session2_fullinit(void)
{
    struct session2 *session = &pmi2_session;
    const char *job = getenv("PMI_JOBID"), *rank = getenv("PMI_RANK");
    session2_begin("fullinit");
    if (job) /* srun gives one, and ends a task that does not tell it again */
        frame_text(&session->conn, "pmijobid", job);
    if (rank)
        frame_text(&session->conn, "pmirank", rank);
    frame_text(&session->conn, "threaded", "FALSE");
    if (session2_ask() || !pmi2_int(&session->reply, "rank", &session->rank) ||
        !pmi2_int(&session->reply, "size", &session->size))
        return PMI2_FAIL;
    if (!pmi2_int(&session->reply, "appnum", &session->appnum))
        session->appnum = -1;
    session->spawned = pmi2_value(&session->reply, "spawner-jobid") != NULL;
    return PMI2_SUCCESS;
}

static int session2_start_wire(const char *text)
{
    struct session2 *session = &pmi2_session;
    int fd;
    if (!pmi_parse_int(text, &fd) || fd < 0)
        return PMI2_FAIL;
    conn_open(&session->conn, fd);
    if (!session2_greet() && !session2_fullinit()) {
        session->state = SESSION2_WIRE;
        return PMI2_SUCCESS;
    }
    conn_close(&session->conn);
    session->state = SESSION2_ENDED;
    return PMI2_FAIL;
}

int session2_start(void)
{
    struct session2 *session = &pmi2_session;
    const char *fd = getenv("PMI_FD");
    if (session->state == SESSION2_SINGLE || session->state == SESSION2_WIRE)
        return PMI2_SUCCESS;
    if (session->state == SESSION2_ENDED)
        return PMI2_FAIL;
    if (fd)
        return session2_start_wire(fd);
    if (getenv("PMI_PORT")) /* a launcher, but none to speak to */
        return PMI2_FAIL;
    *session = (struct session2){.state = SESSION2_SINGLE, .size = 1, .appnum = -1};
    return PMI2_SUCCESS;
}

int session2_end(void)
{
    struct session2 *session = &pmi2_session;
    int rc = PMI2_SUCCESS;
    if (session->state == SESSION2_WIRE) {
        session2_begin("finalize");
        rc = session2_ask();
        conn_close(&session->conn);
    }
    session->state = session->state == SESSION2_WIRE ? SESSION2_ENDED : SESSION2_NONE;
    pairs_free(&session->pairs);
    pairs_free(&session->attributes);
    return rc;
}

int copy_text(char *to, int room, const char *from)
{
    size_t len = strlen(from), fits = len < (size_t)room ? len : (size_t)room - 1;
    memcpy(to, from, fits);
    to[fits] = '\0';
    return (int)len;
}
