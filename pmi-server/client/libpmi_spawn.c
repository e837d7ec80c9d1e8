/* Dynamic processes: names and spawn over the wire, and what RFC 13 leaves optional. */
#include <string.h>

#include "pmi-server/client/pmi.h"
#include "pmi-server/client/pmi1_session.h"

/* A name that can stand in a request as one word. */
static bool is_word(const char *text)
{
    if (!text || !*text)
        return false;
    for (const char *c = text; *c; c++)
        if (*c <= ' ' || *c > '~')
            return false;
    return true;
}

int PMI_Publish_name(const char service_name[], const char port[])
{
    if (!is_word(service_name) || !is_word(port))
        return PMI_ERR_INVALID_ARG;
    int rc = session_enter_wire();
    if (rc)
        return rc;
    connection_add(&session.conn, "cmd=publish_name service=%s port=%s\n", service_name, port);
    return session_leave(pmi1_ask("publish_result"));
}

int PMI_Unpublish_name(const char service_name[])
{
    if (!is_word(service_name))
        return PMI_ERR_INVALID_ARG;
    int rc = session_enter_wire();
    if (rc)
        return rc;
    connection_add(&session.conn, "cmd=unpublish_name service=%s\n", service_name);
    return session_leave(pmi1_ask("unpublish_result"));
}

int PMI_Lookup_name(const char service_name[], char port[])
{
    if (!is_word(service_name) || !port)
        return PMI_ERR_INVALID_ARG;
    int rc = session_enter_wire();
    if (rc)
        return rc;
    connection_add(&session.conn, "cmd=lookup_name service=%s\n", service_name);
    rc = pmi1_ask("lookup_result");
    if (rc)
        return session_leave(rc);
    const char *found = pmi1_line_value(&pmi1_session.reply, "port");
    if (!found || strlen(found) >= (size_t)pmi1_session.value_max)
        return session_leave(PMI_FAIL);
    strcpy(port, found);
    return session_leave(PMI_SUCCESS);
}

/* One command of a spawn, with what goes along. */
struct part {
    const char *cmd;
    const char **argv; /* may be NULL */
    int maxprocs;
    const PMI_keyval_t *info;
    int ninfo;
};

static bool is_line(const char *text)
{
    return text && !strchr(text, '\n');
}

static bool are_lines(const PMI_keyval_t pairs[], int count)
{
    if (count < 0 || (count && !pairs))
        return false;
    for (int i = 0; i < count; i++)
        if (!is_line(pairs[i].key) || !is_line(pairs[i].val))
            return false;
    return true;
}

static bool libpmi_spawn_part_is_good(const struct part *part)
{
    if (!is_line(part->cmd) || !*part->cmd || part->maxprocs < 1 ||
        !are_lines(part->info, part->ninfo))
        return false;
    for (int i = 0; part->argv && part->argv[i]; i++)
        if (!is_line(part->argv[i]))
            return false;
    return true;
}

static void libpmi_spawn_add_pairs(const char *name, const PMI_keyval_t pairs[], int count)
{
    struct connection *conn = &session.conn;
    connection_add(conn, "%s_num=%d\n", name, count);
    for (int i = 0; i < count; i++)
        connection_add(conn, "%s_key_%d=%s\n%s_val_%d=%s\n", name, i, pairs[i].key, name, i,
                       pairs[i].val);
}

static void libpmi_spawn_add_part(const struct part *part, int total, int sofar,
                                  const PMI_keyval_t preput[], int npreput)
{
    struct connection *conn = &session.conn;
    int argc = 0;
    connection_add(conn, "mcmd=spawn\nnprocs=%d\nexecname=%s\ntotspawns=%d\nspawnssofar=%d\n",
                   part->maxprocs, part->cmd, total, sofar);
    for (; part->argv && part->argv[argc]; argc++)
        connection_add(conn, "arg%d=%s\n", argc + 1, part->argv[argc]);
    connection_add(conn, "argcnt=%d\n", argc);
    libpmi_spawn_add_pairs("preput", preput, npreput);
    libpmi_spawn_add_pairs("info", part->info, part->ninfo);
    connection_add(conn, "endcmd\n");
}

static struct part libpmi_spawn_part_at(int i, const char *cmds[], const char **argvs[],
                                        const int maxprocs[], const int sizes[],
                                        const PMI_keyval_t *vectors[])
{
    return (struct part){
        .cmd = cmds[i],
        .argv = argvs ? argvs[i] : NULL,
        .maxprocs = maxprocs[i],
        .info = vectors ? vectors[i] : NULL,
        .ninfo = sizes && vectors ? sizes[i] : 0,
    };
}

int PMI_Spawn_multiple(int count, const char *cmds[], const char **argvs[], const int maxprocs[],
                       const int info_keyval_sizesp[], const PMI_keyval_t *info_keyval_vectors[],
                       int preput_keyval_size, const PMI_keyval_t preput_keyval_vector[],
                       int errors[])
{
    int nprocs = 0;
    if (count < 1 || !cmds || !maxprocs || !are_lines(preput_keyval_vector, preput_keyval_size))
        return PMI_ERR_INVALID_ARG;
    for (int i = 0; i < count; i++) {
        struct part part =
            libpmi_spawn_part_at(i, cmds, argvs, maxprocs, info_keyval_sizesp, info_keyval_vectors);
        if (!libpmi_spawn_part_is_good(&part) ||
            __builtin_add_overflow(nprocs, part.maxprocs, &nprocs))
            return PMI_ERR_INVALID_ARG;
    }
    int rc = session_enter_wire();
    if (rc) {
        session_copy_spawn_errors(errors, nprocs, rc, NULL);
        return rc;
    }
    for (int i = 0; i < count; i++) {
        struct part part =
            libpmi_spawn_part_at(i, cmds, argvs, maxprocs, info_keyval_sizesp, info_keyval_vectors);
        libpmi_spawn_add_part(&part, count, i + 1, preput_keyval_vector, preput_keyval_size);
    }
    rc = pmi1_ask("spawn_result");
    bool heard = !session.conn.broken;
    session_copy_spawn_errors(errors, nprocs, rc,
                              heard ? pmi1_line_value(&pmi1_session.reply, "errcodes") : NULL);
    return session_leave(rc);
}

int PMI_KVS_Create(char kvsname[], int length)
{
    (void)kvsname, (void)length;
    return PMI_FAIL;
}

int PMI_KVS_Destroy(const char kvsname[])
{
    (void)kvsname;
    return PMI_FAIL;
}

int PMI_KVS_Iter_first(const char kvsname[], char key[], int key_len, char val[], int val_len)
{
    (void)kvsname, (void)key, (void)key_len, (void)val, (void)val_len;
    return PMI_FAIL;
}

int PMI_KVS_Iter_next(const char kvsname[], char key[], int key_len, char val[], int val_len)
{
    (void)kvsname, (void)key, (void)key_len, (void)val, (void)val_len;
    return PMI_FAIL;
}

int PMI_Parse_option(int num_args, char *args[], int *num_parsed, PMI_keyval_t **keyvalp, int *size)
{
    (void)num_args, (void)args, (void)num_parsed, (void)keyvalp, (void)size;
    return PMI_FAIL;
}

int PMI_Args_to_keyval(int *argcp, char *((*argvp)[]), PMI_keyval_t **keyvalp, int *size)
{
    (void)argcp, (void)argvp, (void)keyvalp, (void)size;
    return PMI_FAIL;
}

int PMI_Free_keyvals(PMI_keyval_t keyvalp[], int size)
{
    (void)keyvalp, (void)size;
    return PMI_FAIL;
}

int PMI_Get_options(char *str, int *length)
{
    (void)str, (void)length;
    return PMI_FAIL;
}
