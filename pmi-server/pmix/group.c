/*
 * Groups: constructed and destructed by all members together. What they have put comes along with
 * the construction, if they are of one namespace (fence.c says why), and a number that no other
 * group of the program has.
 *
 * From openpmix 6 on what has been put is fetched when it is asked for. What comes along is what
 * members give for all (PMIX_GROUP_INFO), with who gives it; and there may be members that not
 * all of them know of, or that know no others.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/infos.h"
#include "pmi-server/pmix/inside.h"

struct answer { /* openpmix's until it says so */
    const struct pmix_library *library;
    struct infos infos;
};

static void answer_free(void *cbdata)
{
    struct answer *answer = cbdata;
    infos_free(&answer->infos, answer->library);
    free(answer);
}

static void over(struct pmix_host *host, struct event *event, uint64_t number, const void *bytes,
                 size_t len)
{
    const struct gather *gather = event->more;
    struct answer *answer = mem_alloc(sizeof(*answer));
    answer->library = host->library;
    if (event->status == PMIX_SUCCESS && gather->operation == GATHER_CONSTRUCT) {
        if (gather->numbered)
            infos_size(&answer->infos, PMIX_GROUP_CONTEXT_ID, number);
        infos_procs(&answer->infos, PMIX_GROUP_MEMBERSHIP, event->procs, event->nprocs);
        if (len)
            infos_bytes(&answer->infos, PMIX_GROUP_ENDPT_DATA, bytes, len);
    }
    gather->done(event->status, answer->infos.at, answer->infos.count, event->cbdata, answer_free,
                 answer);
}

/* ---- from openpmix 6 on ---- */

#ifndef PMIX_GROUP_BOOTSTRAP /* 6.0 and later */
#define PMIX_GROUP_BOOTSTRAP "pmix.grp.btstrp"
#endif
#define GROUP_CANCEL 3 /* PMIX_GROUP_CANCEL: 7.0 and later */

static bool wants_number(const struct infos *infos)
{
    for (size_t i = 0; i < infos->count; i++)
        if (!strcmp(infos->at[i].key, PMIX_GROUP_INFO) ||
            infos_true(&infos->at[i], 1, PMIX_GROUP_ASSIGN_CONTEXT_ID))
            return true;
    return false;
}

/* What each host has packed, one after the other. -1: malformed. */
static int read_said(const struct pmix_library *library, struct packet in, struct infos *infos)
{
    while (!packet_ends(&in)) {
        struct infos more = {0};
        size_t len;
        const void *bytes = packet_bytes(&in, &len);
        if (in.bad || pack_read_infos(library, bytes, len, &more) < 0)
            return -1;
        infos_append(infos, &more);
    }
    return 0;
}

/* openpmix keeps what is given for all by the group's number, and has to have one. */
static void constructed(struct pmix_host *host, struct event *event, uint64_t number,
                        const void *bytes, size_t len)
{
    const struct gather *gather = event->more;
    struct answer *answer = mem_alloc(sizeof(*answer));
    answer->library = host->library;
    if (event->status == PMIX_SUCCESS &&
        read_said(host->library, packet_of(bytes, len), &answer->infos) < 0)
        event->status = PMIX_ERR_UNPACK_FAILURE;
    if (event->status == PMIX_SUCCESS) {
        if (wants_number(&answer->infos))
            infos_size(&answer->infos, PMIX_GROUP_CONTEXT_ID, number);
        infos_procs(&answer->infos, PMIX_GROUP_MEMBERSHIP, event->procs, event->nprocs);
    }
    bool good = event->status == PMIX_SUCCESS;
    gather->done(event->status, good ? answer->infos.at : NULL, good ? answer->infos.count : 0,
                 event->cbdata, answer_free, answer);
}

/* ---- the same, in openpmix's thread ---- */

static bool is_array(const pmix_value_t *value, pmix_data_type_t type)
{
    return value->type == PMIX_DATA_ARRAY && value->data.darray &&
           value->data.darray->type == type && value->data.darray->size;
}

/* 0: it is no number, or none that there can be. */
static uint32_t count_of(const pmix_value_t *value)
{
    uint64_t count = value->type == PMIX_SIZE     ? value->data.size
                     : value->type == PMIX_UINT32 ? value->data.uint32
                     : value->type == PMIX_UINT64 ? value->data.uint64
                     : value->type == PMIX_INT && value->data.integer > 0
                         ? (uint64_t)value->data.integer
                         : 0;
    return count > UINT32_MAX ? 0 : (uint32_t)count;
}

/* openpmix 6.0 to now: a task's info has to begin with the task, and is stored without a look. */
static bool is_for_all(const pmix_info_t *info)
{
    if (!strcmp(info->key, PMIX_GROUP_ASSIGN_CONTEXT_ID))
        return true;
    if (strcmp(info->key, PMIX_GROUP_INFO) != 0 || !is_array(&info->value, PMIX_INFO))
        return false;
    const pmix_info_t *first = info->value.data.darray->array;
    return !strcmp(first->key, PMIX_PROCID) && first->value.type == PMIX_PROC &&
           first->value.data.proc;
}

static void put_said(struct event *event, const pmix_info_t directives[], size_t ndirs)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < ndirs; i++) {
        size_t len;
        char *bytes = is_for_all(&directives[i])
                          ? pack_infos(pmix_library(NULL), &directives[i], 1, &len)
                          : NULL;
        if (bytes)
            packet_put_bytes(&out, bytes, len);
        free(bytes);
    }
    event->len = out.len;
    event->bytes = out.len ? memcpy(mem_resize(NULL, out.len, 1), buf_bytes(&out), out.len) : NULL;
    buf_free(&out);
}

static void add_members(struct gather *gather, const pmix_info_t directives[], size_t ndirs)
{
    for (size_t i = 0; i < ndirs; i++) {
        if (strcmp(directives[i].key, PMIX_GROUP_ADD_MEMBERS) != 0 ||
            !is_array(&directives[i].value, PMIX_PROC))
            continue;
        const pmix_data_array_t *more = directives[i].value.data.darray;
        gather->added =
            mem_resize(gather->added, gather->nadded + more->size, sizeof(*gather->added));
        memcpy(&gather->added[gather->nadded], more->array, more->size * sizeof(*gather->added));
        gather->nadded += more->size;
    }
}

/* Who follows gives no members. */
static pmix_status_t construct(struct gather *gather, const pmix_proc_t procs[], size_t nprocs,
                               const pmix_info_t directives[], size_t ndirs, void *cbdata)
{
    const pmix_value_t *leaders =
        nprocs ? infos_find(directives, ndirs, PMIX_GROUP_BOOTSTRAP) : NULL;
    gather->leaders = leaders ? count_of(leaders) : 0;
    if (leaders && !gather->leaders)
        return PMIX_ERR_BAD_PARAM;
    if (nprocs)
        add_members(gather, directives, ndirs);
    struct event *event = gather_event(gather, procs, nprocs, directives, ndirs);
    put_said(event, directives, ndirs);
    event->cbdata = cbdata;
    queue_push(event);
    return PMIX_SUCCESS;
}

/* ---- openpmix's thread ---- */

static bool of_one(const pmix_proc_t procs[], size_t nprocs)
{
    for (size_t i = 1; i < nprocs; i++)
        if (strcmp(procs[i].nspace, procs[0].nspace) != 0)
            return false;
    return true;
}

/* openpmix 4.2.3 to 5.0.11: a group's destruction on one node is told when it is done, marked
 * LOCAL_ONLY. Were an answer still to come, it would take the group for one of several nodes, and call
 * once more with memory that it frees after the first answer. It marks a group of whole jobs if each of
 * them has a task on the node, wherever the others are: their nodes wait for this one. */
static bool is_over(pmix_group_operation_t operation, const pmix_info_t directives[], size_t ndirs)
{
    return operation == PMIX_GROUP_DESTRUCT && infos_true(directives, ndirs, PMIX_GROUP_LOCAL_ONLY);
}

static void is_known(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                     pmix_release_cbfunc_t release, void *release_cbdata)
{
    (void)status, (void)info, (void)ninfo, (void)cbdata;
    release(release_cbdata);
}

pmix_status_t upcall_group(pmix_group_operation_t operation, char *name, const pmix_proc_t procs[],
                           size_t nprocs, const pmix_info_t directives[], size_t ndirs,
                           pmix_info_cbfunc_t done, void *cbdata)
{
    if (operation != PMIX_GROUP_DESTRUCT && pmix_library(NULL)->version.major >= 6) {
        struct gather group = {.operation = GATHER_GROUP,
                               .key = name,
                               .cancels = (int)operation == GROUP_CANCEL,
                               .done = done,
                               .over = constructed};
        return construct(&group, procs, nprocs, directives, ndirs, cbdata);
    }
    bool ended = is_over(operation, directives, ndirs);
    const pmix_value_t *data =
        of_one(procs, nprocs) ? infos_find(directives, ndirs, PMIX_GROUP_ENDPT_DATA) : NULL;
    const struct gather gather = {
        .operation = operation == PMIX_GROUP_CONSTRUCT ? GATHER_CONSTRUCT : GATHER_DESTRUCT,
        .key = name,
        .numbered = infos_true(directives, ndirs, PMIX_GROUP_ASSIGN_CONTEXT_ID),
        .done = ended ? is_known : done,
        .over = over};
    struct event *event = gather_event(&gather, procs, nprocs, directives, ndirs);
    if (data && data->type == PMIX_BYTE_OBJECT && data->data.bo.size) {
        event->len = data->data.bo.size;
        event->bytes = memcpy(mem_resize(NULL, event->len, 1), data->data.bo.bytes, event->len);
    }
    event->cbdata = ended ? NULL : cbdata;
    queue_push(event);
    return ended ? PMIX_OPERATION_SUCCEEDED : PMIX_SUCCESS;
}
