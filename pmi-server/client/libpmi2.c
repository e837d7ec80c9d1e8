/* PMI-2's API, but for dynamic processes (libpmi2_spawn.c): check arguments, ask the session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmi-server/client/pmi2.h"
#include "pmi-server/client/pmi2_session.h"

int PMI2_Init(int *spawned, int *size, int *rank, int *appnum)
{
    if (!spawned || !size || !rank || !appnum)
        return PMI2_ERR_INVALID_ARG;
    session_lock(true);
    int rc = session_start(&pmi2_protocol);
    if (rc)
        return session_leave(rc);
    *spawned = session.spawned;
    *size = session.size;
    *rank = session.rank;
    *appnum = pmi2_session.appnum;
    return session_leave(PMI2_SUCCESS);
}

int PMI2_Initialized(void)
{
    if (session_enter())
        return 0;
    session_leave(PMI2_SUCCESS);
    return 1;
}

int PMI2_Finalize(void)
{
    int rc = session_enter();
    return rc ? rc : session_leave(session_end(&pmi2_protocol));
}

/* Another thread may be waiting: its request has been sent whole, so this one may be sent beside
 * it. There is no reply to wait for. */
int PMI2_Abort(int flag, const char msg[])
{
    char line[] = "      cmd=abort;isworld=TRUE;msg=;";
    if (msg)
        fprintf(stderr, "%s\n", msg);
    bool alone = session_lock(false);
    if (session.state == SESSION_WIRE && flag) {
        pmi2_put_length(line, sizeof(line) - 1 - PMI2_HEAD);
        connection_shout(&session.conn, line, sizeof(line) - 1);
    }
    if (alone)
        session_leave(PMI2_SUCCESS);
    exit(flag);
}

int PMI2_Job_GetRank(int *rank)
{
    return session_number(rank, &session.rank);
}

int PMI2_Info_GetSize(int *size)
{
    return session_number(size, &session.size);
}

int PMI2_Job_GetId(char jobid[], int jobid_size)
{
    if (!jobid || jobid_size < 1)
        return PMI2_ERR_INVALID_ARG;
    int rc = session_enter();
    if (rc)
        return rc;
    const char *id = "singleton";
    if (session.state == SESSION_WIRE) {
        pmi2_begin("job-getid");
        rc = pmi2_ask();
        id = rc ? NULL : pmi2_value(&pmi2_session.reply, "jobid");
    }
    if (id)
        copy_text(jobid, jobid_size, id);
    return session_leave(rc ? rc : id ? PMI2_SUCCESS : PMI2_FAIL);
}

static int libpmi2_check_key(const char *key)
{
    if (!key || !*key)
        return PMI2_ERR_INVALID_KEY;
    for (const char *c = key; *c; c++)
        if (*c <= ' ' || *c > '~' || *c == '=' || *c == ';')
            return PMI2_ERR_INVALID_KEY;
    return strlen(key) < PMI2_MAX_KEYLEN ? PMI2_SUCCESS : PMI2_ERR_INVALID_KEY_LENGTH;
}

/* Put a pair: to the launcher with that command, or into a singleton's pairs. */
static int put_pair(const char *command, struct pair **single, const char *key, const char *value)
{
    int rc = libpmi2_check_key(key);
    if (!rc && !value)
        rc = PMI2_ERR_INVALID_VAL;
    if (!rc && strlen(value) >= PMI2_MAX_VALLEN)
        rc = PMI2_ERR_INVALID_VAL_LENGTH;
    if (!rc)
        rc = session_enter();
    if (rc)
        return rc;
    if (session.state == SESSION_SINGLE)
        return session_leave(pairs_put(single, key, value) ? PMI2_SUCCESS : PMI2_ERR_NOMEM);
    pmi2_begin(command);
    connection_frame_text(&session.conn, "key", key);
    connection_frame_text(&session.conn, "value", value);
    return session_leave(pmi2_ask());
}

int PMI2_KVS_Put(const char key[], const char value[])
{
    return put_pair("kvs-put", &session.pairs, key, value);
}

int PMI2_Info_PutNodeAttr(const char name[], const char value[])
{
    return put_pair("info-putnodeattr", &pmi2_session.attributes, name, value);
}

int PMI2_KVS_Fence(void)
{
    int rc = session_enter();
    if (rc || session.state == SESSION_SINGLE)
        return rc ? rc : session_leave(PMI2_SUCCESS);
    pmi2_begin("kvs-fence");
    return session_leave(pmi2_ask());
}

/* What the request that was begun finds: *value is borrowed, NULL when there is nothing. */
static int ask_value(const char **value)
{
    int rc = pmi2_ask();
    *value = NULL;
    if (!rc && pmi2_bool(&pmi2_session.reply, "found", false))
        *value = pmi2_value(&pmi2_session.reply, "value");
    return rc;
}

int PMI2_KVS_Get(const char *jobid, int src_pmi_id, const char key[], char value[], int maxvalue,
                 int *vallen)
{
    struct connection *conn = &session.conn;
    int rc = libpmi2_check_key(key);
    if (!rc && (!value || maxvalue < 1 || !vallen))
        rc = PMI2_ERR_INVALID_ARG;
    if (!rc)
        rc = session_enter();
    if (rc)
        return rc;
    const char *found = pairs_get(session.pairs, key);
    if (session.state == SESSION_WIRE) {
        pmi2_begin("kvs-get");
        if (jobid)
            connection_frame_text(conn, "jobid", jobid);
        connection_frame_int(conn, "srcid", src_pmi_id);
        connection_frame_text(conn, "key", key);
        rc = ask_value(&found);
    }
    if (rc || !found)
        return session_leave(rc ? rc : PMI2_FAIL);
    int len = copy_text(value, maxvalue, found);
    *vallen = len < maxvalue ? len : -len;
    return session_leave(PMI2_SUCCESS);
}

/* ---- attributes ---- */

static int get_text(const char *command, struct pair *const *single, const char *name,
                    const char *wait, char *to, int room, int *found)
{
    const char *value;
    int rc = libpmi2_check_key(name);
    if (!rc && (!to || room < 1 || !found))
        rc = PMI2_ERR_INVALID_ARG;
    if (!rc)
        rc = session_enter();
    if (rc)
        return rc;
    if (session.state == SESSION_SINGLE) {
        value = pairs_get(*single, name);
        if (!value && wait && *wait != 'F') /* who should put it? */
            rc = PMI2_FAIL;
    } else {
        pmi2_begin(command);
        connection_frame_text(&session.conn, "key", name);
        if (wait)
            connection_frame_text(&session.conn, "wait", wait);
        rc = ask_value(&value);
    }
    if (rc)
        return session_leave(rc);
    *found = value != NULL;
    if (value)
        copy_text(to, room, value);
    return session_leave(PMI2_SUCCESS);
}

/* "1,2,3"; the number of them that fit, or -1. */
static int parse_array(const char *text, int array[], int room)
{
    int count = 0;
    while (count < room) {
        char *end;
        long number = strtol(text, &end, 10);
        if (end == text || (*end && *end != ','))
            return -1;
        array[count++] = (int)number;
        if (!*end)
            break;
        text = end + 1;
    }
    return count;
}

static int get_array(const char *command, struct pair *const *single, const char *name,
                     const char *wait, int array[], int room, int *count, int *found)
{
    char text[PMI2_MAX_ATTRVALUE];
    if (!array || room < 1 || !count)
        return PMI2_ERR_INVALID_ARG;
    int rc = get_text(command, single, name, wait, text, sizeof(text), found);
    if (rc || !*found)
        return rc;
    *count = parse_array(text, array, room);
    return *count < 0 ? PMI2_FAIL : PMI2_SUCCESS;
}

int PMI2_Info_GetNodeAttr(const char name[], char value[], int valuelen, int *found, int waitfor)
{
    return get_text("info-getnodeattr", &pmi2_session.attributes, name, waitfor ? "TRUE" : "FALSE",
                    value, valuelen, found);
}

int PMI2_Info_GetNodeAttrIntArray(const char name[], int array[], int arraylen, int *outlen,
                                  int *found)
{
    return get_array("info-getnodeattr", &pmi2_session.attributes, name, "FALSE", array, arraylen,
                     outlen, found);
}

static struct pair *const no_pairs;

int PMI2_Info_GetJobAttr(const char name[], char value[], int valuelen, int *found)
{
    return get_text("info-getjobattr", &no_pairs, name, NULL, value, valuelen, found);
}

int PMI2_Info_GetJobAttrIntArray(const char name[], int array[], int arraylen, int *outlen,
                                 int *found)
{
    return get_array("info-getjobattr", &no_pairs, name, NULL, array, arraylen, outlen, found);
}
