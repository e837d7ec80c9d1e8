/* The session of libpmi2: its beginning and its end. */
#include "pmi-server/client/pmi2_session.h"

#include <stdlib.h>
#include <string.h>

#include "pmi-server/client/pmi2.h"

_Static_assert(PMI2_FAIL == SESSION_FAIL && PMI2_ERR_INIT == SESSION_ERR_INIT &&
                   PMI2_ERR_INVALID_ARG == SESSION_ERR_INVALID_ARG,
               "codes of pmi2.h");

struct pmi2_session pmi2_session;

int pmi2_enter_wire(const char *command)
{
    int rc = session_enter_wire();
    if (!rc)
        pmi2_begin(command);
    return rc;
}

void pmi2_begin(const char *command)
{
    connection_frame_begin(&session.conn, command);
}

int pmi2_ask(void)
{
    int rc = 0;
    if (connection_frame_ask(&session.conn, &pmi2_session.reply) < 0)
        return PMI2_FAIL;
    if (pmi2_value(&pmi2_session.reply, "rc") && !pmi2_int(&pmi2_session.reply, "rc", &rc))
        return PMI2_FAIL;
    return rc ? PMI2_ERR_OTHER : PMI2_SUCCESS;
}

static int pmi2_start_wire(void)
{
    struct connection *conn = &session.conn;
    struct pmi1_line greeted;
    int version;
    connection_add(conn, "cmd=init pmi_version=2 pmi_subversion=0\n"); /* a line of PMI-1 */
    if (connection_line_ask(conn, "response_to_init", &greeted) < 0 ||
        !connection_line_succeeded(&greeted) || !pmi1_line_int(&greeted, "pmi_version", &version) ||
        version != 2)
        return PMI2_FAIL;
    const char *job = getenv("PMI_JOBID"), *rank = getenv("PMI_RANK");
    pmi2_begin("fullinit");
    if (job) /* srun gives one, and ends a task that does not tell it again */
        connection_frame_text(conn, "pmijobid", job);
    if (rank)
        connection_frame_text(conn, "pmirank", rank);
    connection_frame_text(conn, "threaded", "FALSE");
    const struct pmi2_frame *reply = &pmi2_session.reply;
    if (pmi2_ask() || !pmi2_int(reply, "rank", &session.rank) ||
        !pmi2_int(reply, "size", &session.size))
        return PMI2_FAIL;
    if (!pmi2_int(reply, "appnum", &pmi2_session.appnum))
        pmi2_session.appnum = -1;
    session.spawned = pmi2_value(reply, "spawner-jobid") != NULL;
    return PMI2_SUCCESS;
}

static int pmi2_start_single(void)
{
    pmi2_session = (struct pmi2_session){.appnum = -1};
    return PMI2_SUCCESS;
}

static int pmi2_finalize(void)
{
    pmi2_begin("finalize");
    return pmi2_ask();
}

static void pmi2_session_forget(void)
{
    pairs_free(&pmi2_session.attributes);
}

const struct session_protocol pmi2_protocol = {
    .greet = pmi2_start_wire,
    .single = pmi2_start_single,
    .finalize = pmi2_finalize,
    .forget = pmi2_session_forget,
};

int copy_text(char *to, int room, const char *from)
{
    size_t len = strlen(from), fits = len < (size_t)room ? len : (size_t)room - 1;
    memcpy(to, from, fits);
    to[fits] = '\0';
    return (int)len;
}
