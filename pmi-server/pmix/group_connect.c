/*
 * Gatherings: what members of several jobs, or of a group, do together. openpmix calls once all of
 * this node are in; the service answers once those of all nodes are.
 *
 * openpmix 4.2 to now: the library counts the time of a connect (to 5.0 also of a group) itself,
 * answers its tasks when it has passed, and lets go of what a host's answer would be for. The
 * host's has to be before that.
 */
#include "pmi-server/pmix/group_connect.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/context.h"
#include "pmi-server/pmix/info.h"
#include "pmi-server/pmix/remote_namespace.h"
#include "pmi-server/pmix/service_requests.h"

#define BEFORE 0.5 /* s */

/* ---- who takes part ---- */

bool procs_of_one_namespace(const pmix_proc_t procs[], size_t nprocs)
{
    for (size_t i = 1; i < nprocs; i++)
        if (strcmp(procs[i].nspace, procs[0].nspace) != 0)
            return false;
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const pmix_proc_t *)a)->nspace, ((const pmix_proc_t *)b)->nspace);
}

/* Those from `at` on that are of one namespace; -1: one is no rank. */
static int group_connect_put_ranks(struct buf *out, const pmix_proc_t *procs, size_t nprocs,
                                   size_t *at)
{
    const char *name = procs[*at].nspace;
    struct idset *ranks = idset_new();
    bool all = false;
    int rc = 0;
    for (; *at < nprocs && !strcmp(procs[*at].nspace, name); ++*at) {
        uint32_t rank = procs[*at].rank;
        if (rank == PMIX_RANK_WILDCARD)
            all = true;
        else if (rank <= IDSET_MAX)
            idset_add(ranks, rank);
        else
            rc = -1;
    }
    char *text = all ? NULL : idset_encode(ranks);
    pack_put_text(out, name);
    pack_put_text(out, text);
    free(text);
    idset_free(ranks);
    return rc;
}

static int put_procs(struct buf *out, pmix_proc_t *procs, size_t nprocs)
{
    struct buf members = BUF_INIT;
    uint32_t njobs = 0;
    int rc = 0;
    if (nprocs) /* qsort() takes no NULL */
        qsort(procs, nprocs, sizeof(*procs), by_name);
    for (size_t i = 0; i < nprocs && rc == 0; njobs++)
        rc = group_connect_put_ranks(&members, procs, nprocs, &i);
    pack_put_u32(out, njobs);
    buf_add(out, buf_bytes(&members), members.len);
    buf_free(&members);
    return rc;
}

static void add_proc(struct upcall *event, const char *name, uint32_t rank)
{
    event->procs = mem_resize(event->procs, event->nprocs + 1, sizeof(*event->procs));
    pmix_proc_t *proc = &event->procs[event->nprocs++];
    *proc = (pmix_proc_t){.rank = rank};
    strncpy(proc->nspace, name, sizeof(proc->nspace) - 1);
}

/* All members of a group, in the place of those that this host knew. */
static void read_members(struct upcall *event, struct pack *in)
{
    event->nprocs = 0;
    for (uint32_t count = pack_count(in, 8); count && !in->bad; count--) {
        char *name = pack_get_text(in), *text = pack_get_text(in);
        struct idset *ranks = idset_decode(text, NULL);
        if (!ranks)
            in->bad = true;
        else if (idset_empty(ranks))
            add_proc(event, name, PMIX_RANK_WILDCARD);
        else
            IDSET_FOREACH(rank, ranks)
        add_proc(event, name, rank);
        idset_free(ranks);
        free(text);
        free(name);
    }
}

/* ---- groups ---- */

/* openpmix 6.0 to now: one answer is for all of this node that construct the group, leaders and
 * followers, and what the others' answers would be for is freed with it. false: this is another. */
static bool group_connect_is_first(struct pmix_host *host, struct collective *gather)
{
    bool first = !gather->told;
    for (struct collective **at = &host->groups, *group; first && (group = *at);) {
        if (strcmp(group->key, gather->key) != 0) {
            at = &group->next;
            continue;
        }
        *at = group->next;
        group->told = true;
    }
    return first;
}

static void group_known(struct pmix_host *host, struct upcall *event)
{
    const struct collective *gather = event->more;
    gather->over(host, event, event->token, event->bytes, event->len);
}

/* ---- asked ---- */

static void gather_over(struct pmix_host *host, struct upcall *event, pmix_status_t status)
{
    struct collective *gather = event->more;
    event->status = status;
    if (gather->operation != COLLECTIVE_GROUP || group_connect_is_first(host, gather))
        gather->over(host, event, 0, NULL, 0);
}

static void group_connect_gathered(struct pmix_host *host, struct upcall *event,
                                   enum reply_status status, struct pack *rest)
{
    struct collective *gather = event->more;
    bool group = gather->operation == COLLECTIVE_GROUP;
    size_t len = 0;
    if (status != REPLY_OK) {
        gather_over(host, event, service_status(status));
        return;
    }
    uint64_t number = pack_u64(rest);
    const void *bytes = pack_bytes(rest, &len);
    if (group)
        read_members(event, rest);
    if (!pack_ends(rest)) {
        gather_over(host, event, PMIX_ERR_BAD_PARAM);
    } else if (!group) {
        gather->over(host, event, number, bytes, len);
    } else if (group_connect_is_first(host, gather)) {
        /* Tasks are told of namespaces of which they may not have known. */
        free(event->bytes);
        event->bytes = len ? memcpy(mem_resize(NULL, len, 1), bytes, len) : NULL;
        event->len = len;
        event->token = number;
        remote_namespace_need(host, event, group_known);
    }
}

static void group_connect_ask(struct pmix_host *host, struct upcall *event)
{
    const struct collective *gather = event->more;
    bool group = gather->operation == COLLECTIVE_GROUP;
    struct buf rest = BUF_INIT;
    pack_put_u8(&rest, gather->operation);
    pack_put_u8(&rest, gather->broken);
    pack_put_text(&rest, gather->key);
    pack_put_bytes(&rest, event->bytes, event->len);
    int rc = group || event->nprocs ? put_procs(&rest, event->procs, event->nprocs) : -1;
    if (rc == 0 && group) {
        pack_put_u32(&rest, gather->leaders);
        rc = put_procs(&rest, gather->added, gather->nadded);
    }
    if (gather->end) {
        double left = gather->end - pending_requests_clock();
        event->timeout = left > 0 ? left : 1e-3; /* 0 would be for ever */
    }
    if (rc < 0)
        gather_over(host, event, PMIX_ERR_BAD_PARAM);
    else
        service_request(host, event, REQUEST_GATHER, &rest, group_connect_gathered);
    buf_free(&rest);
}

static void known(struct pmix_host *host, struct upcall *event)
{
    if (event->status == PMIX_SUCCESS)
        group_connect_ask(host, event);
    else
        gather_over(host, event, event->status);
}

void collective_enter(struct pmix_host *host, struct upcall *event)
{
    struct collective *gather = event->more;
    bool ends =
        gather->operation == COLLECTIVE_DISCONNECT || gather->operation == COLLECTIVE_DESTRUCT;
    bool group = gather->operation == COLLECTIVE_GROUP;
    if (gather->cancels) /* openpmix answers who is here */
        group_connect_is_first(host, gather);
    if (group) {
        gather->told = false;
        gather->next = host->groups;
        host->groups = gather;
    }
    if (event->len > SERVICE_BYTES_MAX)
        gather_over(host, event, PMIX_ERR_OUT_OF_RESOURCE);
    else if (ends || group) /* the service knows who is in a group */
        group_connect_ask(host, event);
    else
        remote_namespace_need(host, event, known);
}

/* ---- openpmix's thread ---- */

static void gather_free(void *more)
{
    struct collective *gather = more;
    free(gather->key);
    free(gather->added);
    free(gather);
}

/* openpmix 6.0 to 6.1: a lost connection is written over the last info of a connect, while the info that said
 * success stays where it was. */
static bool is_broken(const pmix_info_t info[], size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++)
        if (!strcmp(info[i].key, PMIX_LOCAL_COLLECTIVE_STATUS) &&
            info[i].value.type == PMIX_STATUS && info[i].value.data.status != PMIX_SUCCESS)
            return true;
    return false;
}

struct upcall *collective_event(const struct collective *gather, const pmix_proc_t procs[],
                                size_t nprocs, const pmix_info_t info[], size_t ninfo)
{
    struct upcall *event =
        upcall_new(collective_enter, NULL); /* in nobody's name: none of them may leave */
    struct collective *copy = mem_alloc(sizeof(*copy));
    double timeout = info_timeout(info, ninfo);
    *copy = *gather;
    copy->key = mem_copy_text(gather->key);
    copy->broken = gather->cancels || is_broken(info, ninfo);
    event->more = copy;
    event->free_more = gather_free;
    event->timeout = timeout > BEFORE ? timeout - BEFORE : 0;
    if (event->timeout > 0) /* openpmix counts from now */
        copy->end = pending_requests_clock() + event->timeout;
    upcall_set_procs(event, procs, nprocs);
    return event;
}

/*
 * Groups: constructed and destructed by all members together. What they have put comes along with
 * the construction, if they are of one namespace (fence.c says why), and a number that no other
 * group of the program has.
 *
 * From openpmix 6 on what has been put is fetched when it is asked for. What comes along is what
 * members give for all (PMIX_GROUP_INFO), with who gives it; and there may be members that not
 * all of them know of, or that know no others.
 */

struct answer { /* openpmix's until it says so */
    const struct pmix_library *library;
    struct info_list infos;
};

static void answer_free(void *cbdata)
{
    struct answer *answer = cbdata;
    info_free(&answer->infos, answer->library);
    free(answer);
}

static void group_over(struct pmix_host *host, struct upcall *event, uint64_t number,
                       const void *bytes, size_t len)
{
    const struct collective *gather = event->more;
    struct answer *answer = mem_alloc(sizeof(*answer));
    answer->library = host->library;
    if (event->status == PMIX_SUCCESS && gather->operation == COLLECTIVE_CONSTRUCT) {
        if (gather->numbered)
            info_size(&answer->infos, PMIX_GROUP_CONTEXT_ID, number);
        info_procs(&answer->infos, PMIX_GROUP_MEMBERSHIP, event->procs, event->nprocs);
        if (len)
            info_bytes(&answer->infos, PMIX_GROUP_ENDPT_DATA, bytes, len);
    }
    gather->done(event->status, answer->infos.at, answer->infos.count, event->cbdata, answer_free,
                 answer);
}

/* ---- from openpmix 6 on ---- */

#ifndef PMIX_GROUP_BOOTSTRAP /* 6.0 and later */
#define PMIX_GROUP_BOOTSTRAP "pmix.grp.btstrp"
#endif
#define GROUP_CANCEL 3 /* PMIX_GROUP_CANCEL: 7.0 and later */

/* What each host has packed, one after the other. -1: malformed. */
static int read_said(const struct pmix_library *library, struct pack in, struct info_list *infos)
{
    while (!pack_ends(&in)) {
        struct info_list more = {0};
        size_t len;
        const void *bytes = pack_bytes(&in, &len);
        if (in.bad || pack_read_infos(library, bytes, len, &more) < 0)
            return -1;
        info_append(infos, &more);
    }
    return 0;
}

/* openpmix keeps what is given for all by the group's number, and has to have one. */
static void constructed(struct pmix_host *host, struct upcall *event, uint64_t number,
                        const void *bytes, size_t len)
{
    const struct collective *gather = event->more;
    struct answer *answer = mem_alloc(sizeof(*answer));
    answer->library = host->library;
    if (event->status == PMIX_SUCCESS &&
        read_said(host->library, pack_of(bytes, len), &answer->infos) < 0)
        event->status = PMIX_ERR_UNPACK_FAILURE;
    if (event->status == PMIX_SUCCESS) {
        const struct info_list *said = &answer->infos;
        bool numbered = false;
        for (size_t i = 0; i < said->count && !numbered; i++)
            numbered = !strcmp(said->at[i].key, PMIX_GROUP_INFO) ||
                       info_true(&said->at[i], 1, PMIX_GROUP_ASSIGN_CONTEXT_ID);
        if (numbered)
            info_size(&answer->infos, PMIX_GROUP_CONTEXT_ID, number);
        info_procs(&answer->infos, PMIX_GROUP_MEMBERSHIP, event->procs, event->nprocs);
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
static uint32_t group_connect_count_of(const pmix_value_t *value)
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

static void put_said(struct upcall *event, const pmix_info_t directives[], size_t ndirs)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < ndirs; i++) {
        size_t len;
        char *bytes = is_for_all(&directives[i])
                          ? pack_infos(pmix_library(NULL), &directives[i], 1, &len)
                          : NULL;
        if (bytes)
            pack_put_bytes(&out, bytes, len);
        free(bytes);
    }
    event->len = out.len;
    event->bytes = out.len ? memcpy(mem_resize(NULL, out.len, 1), buf_bytes(&out), out.len) : NULL;
    buf_free(&out);
}

/* Who follows gives no members. */
static pmix_status_t construct(struct collective *gather, const pmix_proc_t procs[], size_t nprocs,
                               const pmix_info_t directives[], size_t ndirs, void *cbdata)
{
    const pmix_value_t *leaders =
        nprocs ? info_find(directives, ndirs, PMIX_GROUP_BOOTSTRAP) : NULL;
    gather->leaders = leaders ? group_connect_count_of(leaders) : 0;
    if (leaders && !gather->leaders)
        return PMIX_ERR_BAD_PARAM;
    for (size_t i = 0; i < ndirs && nprocs; i++) {
        if (strcmp(directives[i].key, PMIX_GROUP_ADD_MEMBERS) != 0 ||
            !is_array(&directives[i].value, PMIX_PROC))
            continue;
        const pmix_data_array_t *more = directives[i].value.data.darray;
        size_t count = gather->nadded + more->size;
        gather->added = mem_resize(gather->added, count, sizeof(*gather->added));
        memcpy(&gather->added[gather->nadded], more->array, more->size * sizeof(*gather->added));
        gather->nadded = count;
    }
    struct upcall *event = collective_event(gather, procs, nprocs, directives, ndirs);
    put_said(event, directives, ndirs);
    event->cbdata = cbdata;
    upcall_queue_push(event);
    return PMIX_SUCCESS;
}

/* ---- openpmix's thread ---- */

static void group_connect_is_known(pmix_status_t status, pmix_info_t *info, size_t ninfo,
                                   void *cbdata, pmix_release_cbfunc_t release,
                                   void *release_cbdata)
{
    (void)status, (void)info, (void)ninfo, (void)cbdata;
    release(release_cbdata);
}

pmix_status_t group_upcall(pmix_group_operation_t operation, char *name, const pmix_proc_t procs[],
                           size_t nprocs, const pmix_info_t directives[], size_t ndirs,
                           pmix_info_cbfunc_t done, void *cbdata)
{
    if (operation != PMIX_GROUP_DESTRUCT && pmix_library(NULL)->version.major >= 6) {
        struct collective group = {.operation = COLLECTIVE_GROUP,
                                   .key = name,
                                   .cancels = (int)operation == GROUP_CANCEL,
                                   .done = done,
                                   .over = constructed};
        return construct(&group, procs, nprocs, directives, ndirs, cbdata);
    }
    /* openpmix 4.2.3 to 5.0.11: a group's destruction on one node is told when it is done, marked
     * LOCAL_ONLY. Were an answer still to come, it would take the group for one of several nodes, and call
     * once more with memory that it frees after the first answer. It marks a group of whole jobs if each of
     * them has a task on the node, wherever the others are: their nodes wait for this one. */
    bool ended =
        operation == PMIX_GROUP_DESTRUCT && info_true(directives, ndirs, PMIX_GROUP_LOCAL_ONLY);
    const pmix_value_t *data = procs_of_one_namespace(procs, nprocs)
                                   ? info_find(directives, ndirs, PMIX_GROUP_ENDPT_DATA)
                                   : NULL;
    const struct collective gather = {
        .operation = operation == PMIX_GROUP_CONSTRUCT ? COLLECTIVE_CONSTRUCT : COLLECTIVE_DESTRUCT,
        .key = name,
        .numbered = info_true(directives, ndirs, PMIX_GROUP_ASSIGN_CONTEXT_ID),
        .done = ended ? group_connect_is_known : done,
        .over = group_over};
    struct upcall *event = collective_event(&gather, procs, nprocs, directives, ndirs);
    if (data && data->type == PMIX_BYTE_OBJECT && data->data.bo.size) {
        event->len = data->data.bo.size;
        event->bytes = memcpy(mem_resize(NULL, event->len, 1), data->data.bo.bytes, event->len);
    }
    event->cbdata = ended ? NULL : cbdata;
    upcall_queue_push(event);
    return ended ? PMIX_OPERATION_SUCCEEDED : PMIX_SUCCESS;
}

/*
 * Connects and disconnects: who is connected knows of the others' namespaces, which a gathering sees
 * to; the rest is openpmix's.
 */

static void connect_over(struct pmix_host *host, struct upcall *event, uint64_t number,
                         const void *bytes, size_t len)
{
    (void)host, (void)number, (void)bytes, (void)len;
    event->done(event->status, event->cbdata);
}

/* ---- openpmix's thread ---- */

static pmix_status_t group_connect_enter(enum collective_kind operation, const pmix_proc_t procs[],
                                         size_t nprocs, const pmix_info_t info[], size_t ninfo,
                                         pmix_op_cbfunc_t done, void *cbdata)
{
    const struct collective gather = {.operation = operation, .over = connect_over};
    struct upcall *event = collective_event(&gather, procs, nprocs, info, ninfo);
    event->done = done;
    event->cbdata = cbdata;
    upcall_queue_push(event);
    return PMIX_SUCCESS;
}

pmix_status_t connect_upcall(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                             size_t ninfo, pmix_op_cbfunc_t done, void *cbdata)
{
    return group_connect_enter(COLLECTIVE_CONNECT, procs, nprocs, info, ninfo, done, cbdata);
}

pmix_status_t disconnect_upcall(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t done, void *cbdata)
{
    return group_connect_enter(COLLECTIVE_DISCONNECT, procs, nprocs, info, ninfo, done, cbdata);
}
