/*
 * Fences: openpmix calls once all members of this node are in; the nodes' bytes are exchanged, and
 * all of them together are the answer.
 *
 * Those of several namespaces are gathered by the service, without bytes. What a task has put is
 * fetched when it is asked for.
 *
 * openpmix 4.2.2 to 5.0: the tasks of such fences are numbered by the namespaces that have tasks on
 * the node, and one's bytes would be taken for another's where these are not the same on all nodes.
 */
#include "pmi-server/pmix/fence.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash_table.h"
#include "base/mem.h"
#include "pmi-server/pmix/fence_private.h"
#include "pmi-server/pmix/group_connect.h"
#include "pmi-server/pmix/namespace.h"
#include "pmi-server/pmix/namespace_private.h"

#define PART (1ull << 60) /* in the id of a fence of some ranks only */

struct fence {
    struct fence *next; /* which was entered before */
    uint64_t id;        /* 0: nothing is exchanged */
    uint64_t number;    /* of all; 0: of some only */
    struct idset *ranks;
    char *name; /* of some only: the ranks, as a text */
    pmix_modex_cbfunc_t done;
    void *cbdata;
    bool waits; /* for the end of another one of the same ranks; with what it exchanges then */
    uint32_t nnodes;
    char *bytes;
    size_t len;
};

struct fences {         /* of a namespace */
    struct fence *open; /* entered, not complete */
    uint64_t entered;   /* fences of all that were */
    bool is_missing;    /* some rank enters no fence of all from number `missing_from` on */
    uint32_t missing;
    uint64_t missing_from; /* 0: it never connected, and enters none whatever */
    bool told_stuck;
    struct idset *dead; /* ranks that are, where the program goes on; NULL: none */
};

/* ---- who takes part ---- */

/* NULL: one is no rank of the job. */
static struct idset *members(const struct pmix_job *job, const struct upcall *event)
{
    uint32_t ntasks = (uint32_t)job->map->ntasks;
    struct idset *ranks = idset_new();
    for (size_t i = 0; i < event->nprocs; i++) {
        uint32_t rank = event->procs[i].rank;
        if (rank == PMIX_RANK_WILDCARD) {
            idset_add_range(ranks, 0, ntasks - 1);
        } else if (rank < ntasks) {
            idset_add(ranks, rank);
        } else {
            idset_free(ranks);
            return NULL;
        }
    }
    return ranks;
}

static uint32_t count_nodes(const struct pmix_job *job, const struct idset *ranks)
{
    struct idset *nodes = idset_new();
    IDSET_FOREACH(rank, ranks)
    idset_add(nodes, taskmap_node(job->map, rank));
    uint32_t count = (uint32_t)idset_count(nodes);
    idset_free(nodes);
    return count;
}

/* ---- rounds ---- */

static struct fence *open_fence(struct pmix_job *job, const struct upcall *event,
                                const struct idset *ranks, bool all)
{
    struct fence *fence = mem_alloc(sizeof(*fence));
    fence->number = all ? job->fences->entered + 1 : 0;
    fence->ranks = idset_copy(ranks);
    fence->name = all ? NULL : idset_encode(ranks);
    fence->done = event->modex_done;
    fence->cbdata = event->cbdata;
    fence->next = job->fences->open;
    job->fences->open = fence;
    return fence;
}

static void fence_free(struct fence *fence)
{
    idset_free(fence->ranks);
    free(fence->name);
    free(fence->bytes);
    free(fence);
}

/* The oldest that has this id, and is exchanged, or waits to be. */
static struct fence *find_fence(const struct pmix_job *job, uint64_t id, bool waits)
{
    struct fence *found = NULL;
    for (struct fence *fence = job->fences->open; fence; fence = fence->next)
        if (fence->id == id && fence->waits == waits)
            found = fence;
    return found;
}

static void close_fence(struct pmix_job *job, struct fence *fence, pmix_status_t status,
                        const void *bytes, size_t len)
{
    struct fence **at = &job->fences->open;
    while (*at != fence)
        at = &(*at)->next;
    *at = fence->next;
    library_answer_modex(fence->done, fence->cbdata, status, bytes, len);
    fence_free(fence);
}

/*
 * Who is missing: a task that ended well without ever connecting, or after it had finalized. It
 * enters no fence any more, and openpmix would wait for it for ever. It is counted out, so that
 * fences of all come here even where all who are left are of this node.
 *
 * One that tasks of this node alone have entered by then stays openpmix's own, and nothing tells that
 * it is open. But who has committed something did so for the others, and meets them in a fence: that
 * is what is waited for in vain.
 */

static bool is_running(const struct client *client)
{
    return !client->gone && atomic_load(&client->state) == PMI_RUNNING;
}

/* A task of this node that waits in the fence; NULL: none does. */
static const struct client *waiting_client(const struct pmix_job *job, const struct fence *fence)
{
    for (uint32_t i = 0; i < job->nclients; i++)
        if (is_running(&job->clients[i]) && idset_has(fence->ranks, job->clients[i].rank))
            return &job->clients[i];
    return NULL;
}

static bool is_stuck(const struct pmix_job *job, const struct fence *fence)
{
    if (!job->fences->is_missing || !idset_has(fence->ranks, job->fences->missing))
        return false;
    return fence->number ? fence->number >= job->fences->missing_from : !job->fences->missing_from;
}

static void fences_check_stuck(struct pmix_job *job)
{
    const struct client *waiting = NULL;
    if (!job->fences->is_missing || job->fences->told_stuck)
        return;
    for (const struct fence *fence = job->fences->open; fence && !waiting; fence = fence->next)
        if (is_stuck(job, fence))
            waiting = waiting_client(job, fence);
    /* One that never connected is missing everywhere, and so are all fences of all: who has committed
     * something waits for one in vain. */
    bool all = job->fences->missing_from == 0;
    for (uint32_t i = 0; all && i < job->nclients && !waiting; i++)
        if (job->clients[i].committed && is_running(&job->clients[i]))
            waiting = &job->clients[i];
    if (!waiting)
        return;
    job->fences->told_stuck = true;
    job->host->ops->stuck(job->host->arg, job, job->fences->missing, waiting->rank);
}

/* ---- entered ---- */

/* Fences of the same ranks have the same id on every node, and so are exchanged one after the other: nothing needs
 * to be kept of those that are over. Two sets of ranks whose hashes are the same are told apart by their names,
 * which each node says before its bytes. */
static void exchange_some(struct pmix_job *job, const struct upcall *event, struct fence *fence,
                          uint32_t nnodes)
{
    struct buf named = BUF_INIT;
    uint64_t id =
        PMIX_SERVER_ROUND | PART | hash_table_hash(hash_table_hash_text(fence->name), 0) >> 4;
    fence->waits = find_fence(job, id, false);
    fence->id = id;
    fence->nnodes = nnodes;
    pack_put_text(&named, fence->name);
    pack_put_bytes(&named, event->bytes ? event->bytes : "", event->len);
    if (fence->waits) {
        fence->len = named.len;
        fence->bytes = buf_take_text(&named);
    } else {
        job->host->ops->exchange(job->host->arg, job, id, nnodes, buf_bytes(&named), named.len);
    }
    buf_free(&named);
}

/* What all nodes said of a fence of some: their bytes alone. */
static int take_named(const struct fence *fence, const void *bytes, size_t len, struct buf *out,
                      struct error *err)
{
    struct pack in = pack_of(bytes, len);
    int rc = 0;
    while (rc == 0 && in.left && !in.bad) {
        char *name = pack_get_text(&in);
        const void *said = pack_bytes(&in, &len);
        if (in.bad)
            rc = error_set(err, "what the nodes said of a PMIx fence is malformed");
        else if (strcmp(name, fence->name) != 0)
            rc = error_set(err, "two PMIx fences go by one number: of ranks %s and of %s",
                           fence->name, name);
        else
            buf_add(out, said, len);
        free(name);
    }
    return rc;
}

/* openpmix has fences of this node alone to itself, but for those that somebody is missing from: they
 * stay open, as nobody gets out of them. */
static void fence_enter(struct pmix_job *job, struct upcall *event, const struct idset *ranks)
{
    bool all = idset_count(ranks) == job->map->ntasks;
    uint32_t nnodes = all ? job->map->nnodes : count_nodes(job, ranks);
    struct fence *fence = open_fence(job, event, ranks, all);
    if (nnodes == 1 && all)
        fence->number = UINT64_MAX; /* after whatever was not counted here */
    if (is_stuck(job, fence))
        fences_check_stuck(job);
    else if (nnodes == 1)
        close_fence(job, fence, PMIX_SUCCESS, event->bytes, event->len);
    else if (!all)
        exchange_some(job, event, fence, nnodes);
    else {
        fence->id = PMIX_SERVER_ROUND | ++job->fences->entered;
        job->host->ops->exchange(job->host->arg, job, fence->id, 0,
                                 event->bytes ? event->bytes : "", event->len);
    }
}

/* ---- deaths ---- */

static bool is_bereaved(const struct pmix_job *job, const struct idset *ranks)
{
    return job->fences->dead && idset_count_both(job->fences->dead, ranks);
}

/* A member of this node is dead, or openpmix lost one, and goes on without; that there is a death will be told. */
static bool misses_one(const struct pmix_job *job, const struct upcall *event,
                       const struct idset *ranks)
{
    const struct collective *gather = event->more;
    for (uint32_t i = 0; i < job->nclients; i++)
        if (job->clients[i].dead && idset_has(ranks, job->clients[i].rank))
            return true;
    if (!gather->broken)
        return false;
    for (uint32_t i = 0; i < job->nclients; i++)
        if (idset_has(ranks, job->clients[i].rank) && pmix_namespace_state(job, i) == PMI_FINALIZED)
            return false; /* that one, perhaps, which is no death */
    return true;
}

void fences_fail_ranks(struct pmix_job *job, const struct idset *ranks)
{
    struct fences *fences = job->fences;
    struct idset *dead = fences->dead ? idset_union(fences->dead, ranks) : idset_copy(ranks);
    struct fence *next;
    idset_free(fences->dead);
    fences->dead = dead;
    for (struct fence *fence = job->fences->open; fence; fence = next) {
        next = fence->next;
        if (is_bereaved(job, fence->ranks))
            close_fence(job, fence, PMIX_ERR_PROC_ABORTED, NULL, 0);
    }
}

/* ---- entered, and complete ---- */

static void fence_gathered(struct pmix_host *host, struct upcall *event, uint64_t number,
                           const void *bytes, size_t len)
{
    (void)host, (void)number;
    library_answer_modex(event->modex_done, event->cbdata, event->status, bytes, len);
}

static void fence_entered(struct pmix_host *host, struct upcall *event)
{
    struct pmix_job *job = event->nprocs && procs_of_one_namespace(event->procs, event->nprocs)
                               ? namespace_find(host, event->procs[0].nspace)
                               : NULL;
    if (!job) {
        /* Of several namespaces: by way of the service, without bytes. One has to be known here. */
        size_t i = 0;
        while (i < event->nprocs && !namespace_find(host, event->procs[i].nspace))
            i++;
        if (i == event->nprocs)
            return;
        free(event->bytes);
        event->bytes = NULL;
        event->len = 0;
        collective_enter(host, event);
        return;
    }
    struct idset *ranks = members(job, event);
    pmix_status_t refused = !ranks                    ? PMIX_ERR_BAD_PARAM
                            : is_bereaved(job, ranks) ? PMIX_ERR_PROC_ABORTED
                                                      : PMIX_SUCCESS;
    if (refused != PMIX_SUCCESS)
        library_answer_modex(event->modex_done, event->cbdata, refused, NULL, 0);
    else if (misses_one(job, event, ranks))
        open_fence(job, event, ranks, false);
    else
        fence_enter(job, event, ranks);
    idset_free(ranks);
}

int pmix_namespace_exchanged(struct pmix_job *job, uint64_t id, const void *bytes, size_t len,
                             struct error *err)
{
    struct fence *fence = find_fence(job, id, false);
    if (!fence && id & PART) /* of other nodes: its end comes to all */
        return 0;
    if (!fence && job->fences->dead) /* a death has ended it */
        return 0;
    if (!fence)
        return error_set(err, "PMIx namespace \"%s\": no fence has the round 0x%llx", job->name,
                         (unsigned long long)id);
    if (fence->number) {
        close_fence(job, fence, PMIX_SUCCESS, bytes, len);
        return 0;
    }
    struct buf all = BUF_INIT;
    int rc = take_named(fence, bytes, len, &all, err);
    if (rc == 0)
        close_fence(job, fence, PMIX_SUCCESS, buf_bytes(&all), all.len);
    buf_free(&all);
    /* The next one of the same ranks. */
    if (rc == 0 && (fence = find_fence(job, id, true))) {
        char *named = fence->bytes;
        fence->waits = false;
        fence->bytes = NULL;
        job->host->ops->exchange(job->host->arg, job, id, fence->nnodes, named, fence->len);
        free(named);
    }
    return rc;
}

/* ---- commits ---- */

static void committed(struct pmix_host *host, struct upcall *event);

/* openpmix's thread. */
static void found(pmix_status_t status, char *data, size_t len, void *cbdata)
{
    struct upcall *event = cbdata;
    (void)data, (void)len;
    event->status = status;
    upcall_queue_push(event);
}

static void watch_commit(const struct pmix_job *job, uint32_t rank)
{
    const pmix_proc_t proc = namespace_proc(job, rank);
    struct upcall *event = upcall_new(committed, &proc);
    if (job->host->library->dmodex_request(&proc, found, event) != PMIX_SUCCESS)
        upcall_free(event);
}

/* PMIX_ERR_NOT_FOUND: a task has committed nothing for other nodes, or, from openpmix 7.0 on, it
 * finalizes without having committed. The second question is answered after the host has heard of
 * the finalize. */
static void committed(struct pmix_host *host, struct upcall *event)
{
    struct pmix_job *job = namespace_find(host, event->proc.nspace);
    struct client *client = job ? namespace_client(job, event->proc.rank) : NULL;
    if (!client)
        return;
    if (event->status != PMIX_SUCCESS && !client->watched_again) {
        client->watched_again = true;
        watch_commit(job, client->rank);
        return;
    }
    client->committed = true;
    fences_check_stuck(job);
}

/* ---- who is missing ---- */

void fences_count_out(struct pmix_job *job)
{
    static pmix_info_t nothing = {.key = PMIX_REGISTER_NODATA}; /* openpmix keeps a pointer to it */
    uint32_t left = 0;
    for (uint32_t i = 0; i < job->nclients; i++)
        left += !job->clients[i].gone;
    if (left)
        job->host->library->register_nspace(job->name, (int)left, &nothing, 1, library_ignore_end,
                                            NULL);
}

void pmix_namespace_missing(struct pmix_job *job, uint32_t rank, uint64_t from)
{
    if (rank >= job->map->ntasks || (job->fences->is_missing && from >= job->fences->missing_from))
        return;
    job->fences->is_missing = true;
    job->fences->missing = rank;
    job->fences->missing_from = from;
    /* What is put can be fetched once it is committed, and openpmix tells when. For a task that never
     * commits, openpmix before 7.0 keeps the event for ever. */
    for (uint32_t i = 0; i < job->nclients && from == 0; i++) {
        struct client *client = &job->clients[i];
        if (client->gone || client->watched)
            continue;
        client->watched = true;
        watch_commit(job, client->rank);
    }
    fences_check_stuck(job);
}

bool pmix_namespace_gone(struct pmix_job *job, uint32_t local_rank, uint64_t *from)
{
    struct client *client = &job->clients[local_rank];
    enum pmi_state state = pmix_namespace_state(job, local_rank);
    client->gone = true;
    if (state == PMI_RUNNING)
        return false;
    fences_count_out(job);
    *from = state == PMI_SILENT ? 0 : job->fences->entered + 1;
    pmix_namespace_missing(job, client->rank, *from);
    return true;
}

/* ---- life ---- */

void fences_open(struct pmix_job *job)
{
    job->fences = mem_alloc(sizeof(*job->fences));
}

void fences_free(struct pmix_job *job)
{
    while (job->fences->open) {
        struct fence *next = job->fences->open->next;
        fence_free(job->fences->open);
        job->fences->open = next;
    }
    idset_free(job->fences->dead);
    free(job->fences);
}

/* ---- openpmix's thread ---- */

/* `data` is the host's from here on. */
pmix_status_t fence_upcall(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                           size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t done,
                           void *cbdata)
{
    const struct collective like = {.operation = COLLECTIVE_FENCE, .over = fence_gathered};
    struct upcall *event = collective_event(&like, procs, nprocs, info, ninfo);
    event->run = fence_entered;
    event->bytes = data;
    event->len = data ? ndata : 0;
    event->modex_done = done;
    event->cbdata = cbdata;
    upcall_queue_push(event);
    return PMIX_SUCCESS;
}
