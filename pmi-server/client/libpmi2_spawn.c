/* What only some launchers offer: names, spawn, connected jobs, and the ring. */
#include <string.h>

#include "pmi-server/client/pmi2.h"
#include "pmi-server/client/pmi2_session.h"

static int copy_reply(const char *name, char *to, int room)
{
    const char *value = pmi2_value(&pmi2_session.reply, name);
    if (value)
        copy_text(to, room, value);
    return value ? PMI2_SUCCESS : PMI2_FAIL;
}

int PMI2_Nameserv_publish(const char service_name[], const PMI2_keyval_t *info_ptr,
                          const char port[])
{
    struct connection *conn = &session.conn;
    (void)info_ptr;
    if (!service_name || !*service_name || !port)
        return PMI2_ERR_INVALID_ARG;
    int rc = pmi2_enter_wire("name-publish");
    if (rc)
        return rc;
    connection_frame_text(conn, "name", service_name);
    connection_frame_text(conn, "port", port);
    connection_frame_int(conn, "infokeycount", 0);
    return session_leave(pmi2_ask());
}

int PMI2_Nameserv_unpublish(const char service_name[], const PMI2_keyval_t *info_ptr)
{
    (void)info_ptr;
    if (!service_name || !*service_name)
        return PMI2_ERR_INVALID_ARG;
    int rc = pmi2_enter_wire("name-unpublish");
    if (rc)
        return rc;
    connection_frame_text(&session.conn, "name", service_name);
    connection_frame_int(&session.conn, "infokeycount", 0);
    return session_leave(pmi2_ask());
}

int PMI2_Nameserv_lookup(const char service_name[], const PMI2_keyval_t *info_ptr, char port[],
                         int portLen)
{
    (void)info_ptr;
    if (!service_name || !*service_name || !port || portLen < 1)
        return PMI2_ERR_INVALID_ARG;
    int rc = pmi2_enter_wire("name-lookup");
    if (rc)
        return rc;
    connection_frame_text(&session.conn, "name", service_name);
    connection_frame_int(&session.conn, "infokeycount", 0);
    rc = pmi2_ask();
    if (!rc && copy_reply("port", port, portLen))
        rc = copy_reply("value", port, portLen); /* Slurm's */
    return session_leave(rc);
}

int PMI2_Job_Connect(const char jobid[], PMI2_Connect_comm_t *conn)
{
    if (!jobid || !conn)
        return PMI2_ERR_INVALID_ARG;
    int rc = pmi2_enter_wire("job-connect");
    if (rc)
        return rc;
    connection_frame_text(&session.conn, "jobid", jobid);
    return session_leave(pmi2_ask());
}

int PMI2_Job_Disconnect(const char jobid[])
{
    if (!jobid)
        return PMI2_ERR_INVALID_ARG;
    int rc = pmi2_enter_wire("job-disconnect");
    if (rc)
        return rc;
    connection_frame_text(&session.conn, "jobid", jobid);
    return session_leave(pmi2_ask());
}

int PMIX_Ring(const char value[], int *rank, int *ranks, char left[], char right[], int maxvalue)
{
    struct connection *conn = &session.conn;
    if (!value || !rank || !ranks || !left || !right || maxvalue < 1)
        return PMI2_ERR_INVALID_ARG;
    if (strlen(value) >= PMI2_MAX_VALLEN)
        return PMI2_ERR_INVALID_VAL_LENGTH;
    int rc = session_enter();
    if (rc)
        return rc;
    *ranks = session.size;
    if (session.state == SESSION_SINGLE) {
        *rank = 0;
        copy_text(left, maxvalue, value);
        copy_text(right, maxvalue, value);
        return session_leave(PMI2_SUCCESS);
    }
    pmi2_begin("ring");
    connection_frame_int(conn, "ring-count", 1);
    connection_frame_text(conn, "ring-left", value);
    connection_frame_text(conn, "ring-right", value);
    rc = pmi2_ask();
    if (!rc &&
        (!pmi2_int(&pmi2_session.reply, "ring-count", rank) ||
         copy_reply("ring-left", left, maxvalue) || copy_reply("ring-right", right, maxvalue)))
        rc = PMI2_FAIL;
    return session_leave(rc);
}

/* ---- spawn ---- */

static bool are_pairs(const PMI2_keyval_t pairs[], int count)
{
    if (count < 0 || (count && !pairs))
        return false;
    for (int i = 0; i < count; i++)
        if (!pairs[i].key || !pairs[i].val)
            return false;
    return true;
}

static void libpmi2_spawn_add_pairs(const char *key, const char *val, const PMI2_keyval_t pairs[],
                                    int count)
{
    for (int i = 0; i < count; i++) {
        connection_frame_text_at(&session.conn, key, i, pairs[i].key);
        connection_frame_text_at(&session.conn, val, i, pairs[i].val);
    }
}

/* One command of a spawn, with what goes along. */
struct part {
    const char *cmd;
    const char **argv;
    int argc, maxprocs, ninfo;
    const PMI2_keyval_t *info;
};

static void libpmi2_spawn_add_part(const struct part *part)
{
    struct connection *conn = &session.conn;
    connection_frame_text(conn, "subcmd", part->cmd);
    connection_frame_int(conn, "maxprocs", part->maxprocs);
    connection_frame_int(conn, "argc", part->argc);
    for (int i = 0; i < part->argc; i++)
        connection_frame_text_at(conn, "argv", i, part->argv[i]);
    connection_frame_int(conn, "infokeycount", part->ninfo);
    libpmi2_spawn_add_pairs("infokey", "infoval", part->info, part->ninfo);
}

static struct part libpmi2_spawn_part_at(int i, const char *cmds[], int argcs[],
                                         const char **argvs[], const int maxprocs[],
                                         const int sizes[], const PMI2_keyval_t *vectors[])
{
    return (struct part){
        .cmd = cmds[i],
        .argv = argvs ? argvs[i] : NULL,
        .argc = argcs && argvs ? argcs[i] : 0,
        .maxprocs = maxprocs[i],
        .ninfo = sizes && vectors ? sizes[i] : 0,
        .info = vectors ? vectors[i] : NULL,
    };
}

static bool libpmi2_spawn_part_is_good(const struct part *part)
{
    if (!part->cmd || part->maxprocs < 1 || part->argc < 0 || (part->argc && !part->argv) ||
        !are_pairs(part->info, part->ninfo))
        return false;
    for (int i = 0; i < part->argc; i++)
        if (!part->argv[i])
            return false;
    return true;
}

int PMI2_Job_Spawn(int count, const char *cmds[], int argcs[], const char **argvs[],
                   const int maxprocs[], const int info_keyval_sizes[],
                   const PMI2_keyval_t *info_keyval_vectors[], int preput_keyval_size,
                   const PMI2_keyval_t preput_keyval_vector[], char jobId[], int jobIdSize,
                   int errors[])
{
    int nprocs = 0;
    if (count < 1 || !cmds || !maxprocs || !are_pairs(preput_keyval_vector, preput_keyval_size))
        return PMI2_ERR_INVALID_ARG;
    for (int i = 0; i < count; i++) {
        struct part part = libpmi2_spawn_part_at(i, cmds, argcs, argvs, maxprocs, info_keyval_sizes,
                                                 info_keyval_vectors);
        if (!libpmi2_spawn_part_is_good(&part) ||
            __builtin_add_overflow(nprocs, part.maxprocs, &nprocs))
            return PMI2_ERR_INVALID_ARG;
    }
    int rc = pmi2_enter_wire("spawn");
    if (rc) {
        session_copy_spawn_errors(errors, nprocs, rc, NULL);
        return rc;
    }
    connection_frame_int(&session.conn, "ncmds", count);
    connection_frame_int(&session.conn, "preputcount", preput_keyval_size);
    libpmi2_spawn_add_pairs("ppkey", "ppval", preput_keyval_vector, preput_keyval_size);
    for (int i = 0; i < count; i++) {
        struct part part = libpmi2_spawn_part_at(i, cmds, argcs, argvs, maxprocs, info_keyval_sizes,
                                                 info_keyval_vectors);
        libpmi2_spawn_add_part(&part);
    }
    rc = pmi2_ask();
    session_copy_spawn_errors(errors, nprocs, rc,
                              rc == PMI2_FAIL ? NULL : pmi2_value(&pmi2_session.reply, "errcodes"));
    if (!rc && jobId && jobIdSize > 0)
        rc = copy_reply("jobid", jobId, jobIdSize);
    return session_leave(rc);
}
