#include "pmi-server/client/session_pmi2.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "pmi-server/client/connection_line.h"
#include "pmi-server/client/pmi2.h"

struct session_pmi2 pmi2_session;
static pthread_mutex_t session2_mutex = PTHREAD_MUTEX_INITIALIZER;

bool session_pmi2_lock(bool wait)
{
    return (wait ? pthread_mutex_lock(&session2_mutex) : pthread_mutex_trylock(&session2_mutex)) ==
           0;
}

int session_pmi2_leave(int rc)
{
    pthread_mutex_unlock(&session2_mutex);
    return rc;
}

int session_pmi2_enter(void)
{
    session_pmi2_lock(true);
    if (pmi2_session.state == SESSION_PMI2_SINGLE || pmi2_session.state == SESSION_PMI2_WIRE)
        return PMI2_SUCCESS;
    return session_pmi2_leave(PMI2_ERR_INIT);
}

int session_pmi2_enter_wire(const char *command)
{
    int rc = session_pmi2_enter();
    if (!rc && pmi2_session.state == SESSION_PMI2_SINGLE)
        return session_pmi2_leave(PMI2_FAIL);
    if (!rc)
        session_pmi2_begin(command);
    return rc;
}

void session_pmi2_begin(const char *command)
{
    connection_frame_begin(&pmi2_session.conn, command);
}

int session_pmi2_ask(void)
{
    struct session_pmi2 *session = &pmi2_session;
    int rc = 0;
    if (connection_frame_ask(&session->conn, &session->reply) < 0)
        return PMI2_FAIL;
    if (pmi2_value(&session->reply, "rc") && !pmi2_int(&session->reply, "rc", &rc))
        return PMI2_FAIL;
    return rc ? PMI2_ERR_OTHER : PMI2_SUCCESS;
}

static int session2_greet(void)
{
    struct connection *conn = &pmi2_session.conn;
    struct pmi1_line reply;
    int version;
    connection_add(conn, "cmd=init pmi_version=2 pmi_subversion=0\n");
    if (connection_line_ask(conn, "response_to_init", &reply) < 0 ||
        !connection_line_succeeded(&reply))
        return PMI2_FAIL;
    return pmi1_line_int(&reply, "pmi_version", &version) && version == 2 ? PMI2_SUCCESS
                                                                          : PMI2_FAIL;
}

static int session2_fullinit(void)
{
    struct session_pmi2 *session = &pmi2_session;
    const char *job = getenv("PMI_JOBID"), *rank = getenv("PMI_RANK");
    session_pmi2_begin("fullinit");
    if (job) /* srun gives one, and ends a task that does not tell it again */
        connection_frame_text(&session->conn, "pmijobid", job);
    if (rank)
        connection_frame_text(&session->conn, "pmirank", rank);
    connection_frame_text(&session->conn, "threaded", "FALSE");
    if (session_pmi2_ask() || !pmi2_int(&session->reply, "rank", &session->rank) ||
        !pmi2_int(&session->reply, "size", &session->size))
        return PMI2_FAIL;
    if (!pmi2_int(&session->reply, "appnum", &session->appnum))
        session->appnum = -1;
    session->spawned = pmi2_value(&session->reply, "spawner-jobid") != NULL;
    return PMI2_SUCCESS;
}

static int session2_start_wire(const char *text)
{
    struct session_pmi2 *session = &pmi2_session;
    int fd;
    if (!number_parse_int(text, &fd) || fd < 0)
        return PMI2_FAIL;
    connection_open(&session->conn, fd);
    if (!session2_greet() && !session2_fullinit()) {
        session->state = SESSION_PMI2_WIRE;
        return PMI2_SUCCESS;
    }
    connection_close(&session->conn);
    session->state = SESSION_PMI2_ENDED;
    return PMI2_FAIL;
}

int session_pmi2_start(void)
{
    struct session_pmi2 *session = &pmi2_session;
    const char *fd = getenv("PMI_FD");
    if (session->state == SESSION_PMI2_SINGLE || session->state == SESSION_PMI2_WIRE)
        return PMI2_SUCCESS;
    if (session->state == SESSION_PMI2_ENDED)
        return PMI2_FAIL;
    if (fd)
        return session2_start_wire(fd);
    if (getenv("PMI_PORT")) /* a launcher, but none to speak to */
        return PMI2_FAIL;
    *session = (struct session_pmi2){.state = SESSION_PMI2_SINGLE, .size = 1, .appnum = -1};
    return PMI2_SUCCESS;
}

int session_pmi2_end(void)
{
    struct session_pmi2 *session = &pmi2_session;
    int rc = PMI2_SUCCESS;
    if (session->state == SESSION_PMI2_WIRE) {
        session_pmi2_begin("finalize");
        rc = session_pmi2_ask();
        connection_close(&session->conn);
    }
    session->state = session->state == SESSION_PMI2_WIRE ? SESSION_PMI2_ENDED : SESSION_PMI2_NONE;
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
