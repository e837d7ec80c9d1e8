/* The API of RFC 13, but for dynamic processes (libpmi_spawn.c): check arguments, ask the session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmi-server/client/pmi.h"
#include "pmi-server/client/pmi1_session.h"
#include "pmi-server/client/process_mapping.h"

int PMI_Init(int *spawned)
{
    if (!spawned)
        return PMI_ERR_INVALID_ARG;
    session_lock(true);
    int rc = session_start(&pmi1_protocol);
    if (!rc)
        *spawned = session.spawned != 0;
    return session_leave(rc);
}

int PMI_Initialized(int *initialized)
{
    if (!initialized)
        return PMI_ERR_INVALID_ARG;
    *initialized = session_enter() == PMI_SUCCESS;
    return *initialized ? session_leave(PMI_SUCCESS) : PMI_SUCCESS;
}

int PMI_Finalize(void)
{
    int rc = session_enter();
    return rc ? rc : session_leave(session_end(&pmi1_protocol));
}

/* Another thread may be in a barrier: its request has been sent whole, so this one may be sent
 * beside it, but the replies are that thread's to read. */
int PMI_Abort(int exit_code, const char error_msg[])
{
    char line[64];
    if (error_msg)
        fprintf(stderr, "%s\n", error_msg);
    bool alone = session_lock(false);
    if (session.state == SESSION_WIRE) {
        snprintf(line, sizeof(line), "cmd=abort exitcode=%d\n", exit_code);
        connection_shout(&session.conn, line, strlen(line));
        if (alone)
            connection_wait(&session.conn, 2000);
    }
    if (alone)
        session_leave(PMI_SUCCESS);
    exit(exit_code);
}

int PMI_Get_size(int *size)
{
    return session_number(size, &session.size);
}

int PMI_Get_rank(int *rank)
{
    return session_number(rank, &session.rank);
}

int PMI_KVS_Get_name_length_max(int *length)
{
    return session_number(length, &pmi1_session.name_max);
}

int PMI_KVS_Get_key_length_max(int *length)
{
    return session_number(length, &pmi1_session.key_max);
}

int PMI_KVS_Get_value_length_max(int *length)
{
    return session_number(length, &pmi1_session.value_max);
}

int PMI_Get_id_length_max(int *length)
{
    return PMI_KVS_Get_name_length_max(length);
}

/* Ask for a number; a singleton knows it. */
static int ask_number(int *to, int single, const char *command, const char *reply,
                      const char *field)
{
    if (!to)
        return PMI_ERR_INVALID_ARG;
    int rc = session_enter();
    if (rc)
        return rc;
    if (session.state == SESSION_SINGLE) {
        *to = single;
        return session_leave(PMI_SUCCESS);
    }
    connection_add(&session.conn, "cmd=%s\n", command);
    rc = pmi1_ask(reply);
    if (!rc && !pmi1_line_int(&pmi1_session.reply, field, to))
        rc = PMI_FAIL;
    return session_leave(rc);
}

int PMI_Get_universe_size(int *size)
{
    return ask_number(size, 1, "get_universe_size", "universe_size", "size");
}

int PMI_Get_appnum(int *appnum)
{
    return ask_number(appnum, 0, "get_appnum", "appnum", "appnum");
}

/* An unknown mapping (absent, or empty as RFC 13 has it) makes a clique of one. */
static int clique_inside(int ranks[], int room, int *size)
{
    const char *mapping;
    if (pmi1_get("PMI_process_mapping", &mapping) || !*mapping) {
        if (session.state == SESSION_WIRE && session.conn.broken)
            return PMI_FAIL;
        if (room > 0)
            ranks[0] = session.rank;
        *size = 1;
        return PMI_SUCCESS;
    }
    *size = process_mapping_clique_find(mapping, session.rank, session.size, ranks, room);
    return *size < 0 ? PMI_FAIL : PMI_SUCCESS;
}

int PMI_Get_clique_size(int *size)
{
    if (!size)
        return PMI_ERR_INVALID_ARG;
    int rc = session_enter();
    return rc ? rc : session_leave(clique_inside(NULL, 0, size));
}

int PMI_Get_clique_ranks(int ranks[], int length)
{
    int size;
    if (!ranks)
        return PMI_ERR_INVALID_ARG;
    int rc = session_enter();
    if (rc)
        return rc;
    rc = clique_inside(ranks, length, &size);
    if (!rc && size > length)
        rc = PMI_ERR_INVALID_LENGTH;
    return session_leave(rc);
}

static int copy_out(char *to, int length, const char *from)
{
    size_t need = strlen(from) + 1;
    if (length < 0 || (size_t)length < need)
        return PMI_ERR_INVALID_LENGTH;
    memcpy(to, from, need);
    return PMI_SUCCESS;
}

int PMI_KVS_Get_my_name(char kvsname[], int length)
{
    if (!kvsname)
        return PMI_ERR_INVALID_ARG;
    int rc = session_enter();
    return rc ? rc : session_leave(copy_out(kvsname, length, pmi1_session.name));
}

int PMI_Get_id(char kvsname[], int length)
{
    return PMI_KVS_Get_my_name(kvsname, length);
}

int PMI_Get_kvs_domain_id(char kvsname[], int length)
{
    return PMI_KVS_Get_my_name(kvsname, length);
}

static int check_kvs(const char *kvsname)
{
    return kvsname && !strcmp(kvsname, pmi1_session.name) ? PMI_SUCCESS : PMI_ERR_INVALID_KVS;
}

/* RFC 13: word, visible characters less '='. */
static int libpmi_check_key(const char *key)
{
    if (!key || !*key)
        return PMI_ERR_INVALID_KEY;
    for (const char *c = key; *c; c++)
        if (*c <= ' ' || *c > '~' || *c == '=')
            return PMI_ERR_INVALID_KEY;
    return strlen(key) < (size_t)pmi1_session.key_max ? PMI_SUCCESS : PMI_ERR_INVALID_KEY_LENGTH;
}

/* RFC 13: string, visible characters, space and tab. Bytes from 0x80 on hurt nobody. */
static int check_value(const char *value)
{
    if (!value)
        return PMI_ERR_INVALID_VAL;
    for (const unsigned char *c = (const unsigned char *)value; *c; c++)
        if ((*c < ' ' && *c != '\t') || *c == 0x7f)
            return PMI_ERR_INVALID_VAL;
    return strlen(value) < (size_t)pmi1_session.value_max ? PMI_SUCCESS
                                                          : PMI_ERR_INVALID_VAL_LENGTH;
}

int PMI_KVS_Put(const char kvsname[], const char key[], const char value[])
{
    int rc = session_enter();
    if (rc)
        return rc;
    rc = check_kvs(kvsname);
    if (!rc)
        rc = libpmi_check_key(key);
    if (!rc)
        rc = check_value(value);
    return session_leave(rc ? rc : pmi1_put(key, value));
}

/* Puts are sent as they are made. */
int PMI_KVS_Commit(const char kvsname[])
{
    int rc = session_enter();
    return rc ? rc : session_leave(check_kvs(kvsname) ? PMI_ERR_INVALID_ARG : PMI_SUCCESS);
}

int PMI_KVS_Get(const char kvsname[], const char key[], char value[], int length)
{
    const char *found;
    int rc = session_enter();
    if (rc)
        return rc;
    rc = check_kvs(kvsname);
    if (!rc)
        rc = libpmi_check_key(key);
    if (!rc && !value)
        rc = PMI_ERR_INVALID_VAL;
    if (!rc)
        rc = pmi1_get(key, &found);
    return session_leave(rc ? rc : copy_out(value, length, found));
}

int PMI_Barrier(void)
{
    int rc = session_enter();
    if (rc)
        return rc;
    if (session.state == SESSION_WIRE) {
        connection_add(&session.conn, "cmd=barrier_in\n");
        rc = pmi1_ask("barrier_out");
    }
    return session_leave(rc);
}
