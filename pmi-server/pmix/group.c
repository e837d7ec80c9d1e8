/*
 * Groups: constructed and destructed by all members together. What they have put comes along with
 * the construction, if they are of one namespace (fence.c says why), and a number that no other
 * group of the program has.
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

/* ---- openpmix's thread ---- */

static bool of_one(const pmix_proc_t procs[], size_t nprocs)
{
    for (size_t i = 1; i < nprocs; i++)
        if (strcmp(procs[i].nspace, procs[0].nspace) != 0)
            return false;
    return true;
}

pmix_status_t upcall_group(pmix_group_operation_t operation, char *name, const pmix_proc_t procs[],
                           size_t nprocs, const pmix_info_t directives[], size_t ndirs,
                           pmix_info_cbfunc_t done, void *cbdata)
{
    const pmix_value_t *data =
        of_one(procs, nprocs) ? infos_find(directives, ndirs, PMIX_GROUP_ENDPT_DATA) : NULL;
    const struct gather gather = {
        .operation = operation == PMIX_GROUP_CONSTRUCT ? GATHER_CONSTRUCT : GATHER_DESTRUCT,
        .key = name,
        .numbered = infos_true(directives, ndirs, PMIX_GROUP_ASSIGN_CONTEXT_ID),
        .done = done,
        .over = over};
    struct event *event = gather_event(&gather, procs, nprocs, directives, ndirs);
    if (data && data->type == PMIX_BYTE_OBJECT && data->data.bo.size) {
        event->len = data->data.bo.size;
        event->bytes = memcpy(mem_resize(NULL, event->len, 1), data->data.bo.bytes, event->len);
    }
    event->cbdata = cbdata;
    queue_push(event);
    return PMIX_SUCCESS;
}
