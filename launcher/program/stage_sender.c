/* Files on their way down the tree, for one set of nodes after the other. */
#include "launcher/program/stage_sender.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/xxhash64.h"
#include "launcher/program/node_failures.h"

#define STAGE_PATIENCE 60.0 /* s in which no node takes a byte or answers */

enum stage_step { STAGE_MAKE_ROOM, STAGE_SEND, STAGE_CHECK };

struct stage_request {
    struct stage_request *next; /* later */
    struct idset *nodes;
    stage_done *done;
    void *arg;
};

struct stage_sender {
    struct ev_loop *loop;
    struct tree *tree;
    const char *(*host)(void *owner, uint32_t node);
    void *owner;
    struct stage_source *source;
    struct idset *staged; /* nodes that have them */
    struct stage_request *first;
    bool busy;       /* with the first request */
    uint32_t number; /* of it: an answer to one before may come late */
    bool stopped;
    enum stage_step step;
    struct idset *waiting; /* its nodes that have not answered in this step */
    struct node_failures failed;
    uint64_t at;   /* place in the stream */
    size_t file;   /* that is sent */
    uint64_t left; /* bytes of it */
    struct xxhash64 hash;
    uint64_t *sums;
    ev_timer patience;
};

static void begin_next(struct stage_sender *sender);

/* ---- the end of a request ---- */

static void stage_request_free(struct stage_request *request)
{
    idset_free(request->nodes);
    free(request);
}

/* The next one begins before this one's owner goes on. */
static void finish_request(struct stage_sender *sender, const struct error *err)
{
    struct stage_request *request = sender->first;
    ev_timer_stop(sender->loop, &sender->patience);
    sender->first = request->next;
    sender->busy = false;
    node_failures_clear(&sender->failed);
    begin_next(sender);
    request->done(request->arg, err);
    stage_request_free(request);
}

static void stage_send_json(struct stage_sender *sender, enum frame_type type, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    struct frame frame = {
        .type = type, .rank = sender->number, .bytes = text, .len = text ? strlen(text) : 0};
    tree_send_nodes(sender->tree, sender->first->nodes, &frame);
    json_decref(value);
    free(text);
}

/* Nodes that still wait for bytes give back the room that they have taken. */
static void break_off(struct stage_sender *sender, const struct error *err)
{
    if (sender->step != STAGE_CHECK)
        stage_send_json(sender, FRAME_STAGE_END,
                        json_pack("{s:o}", "failed", frame_text(error_text(err))));
    finish_request(sender, err);
}

static void fail_request(struct stage_sender *sender)
{
    struct error err = ERROR_INIT;
    node_failures_take(&sender->failed, sender->host, sender->owner, &err);
    break_off(sender, &err);
    error_clear(&err);
}

static char *waiting_hosts(const struct stage_sender *sender)
{
    struct hostlist *hosts = hostlist_new();
    IDSET_FOREACH(node, sender->waiting)
    {
        const char *name = sender->host(sender->owner, node);
        if (name)
            hostlist_append(hosts, name);
    }
    char *text = hostlist_encode(hosts);
    hostlist_free(hosts);
    return text;
}

static void stage_on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct stage_sender *sender = timer->data;
    struct error err = ERROR_INIT;
    char *hosts = waiting_hosts(sender);
    (void)loop, (void)events;
    error_set(&err, "%s: no answer for %g s while files were staged: is a disk there stuck?", hosts,
              STAGE_PATIENCE);
    free(hosts);
    break_off(sender, &err);
    error_clear(&err);
}

/* ---- sending ---- */

static void expect_all(struct stage_sender *sender, enum stage_step step)
{
    sender->step = step;
    idset_free(sender->waiting);
    sender->waiting = idset_copy(sender->first->nodes);
    ev_timer_again(sender->loop, &sender->patience);
}

/* Behind the last byte. */
static void stage_send_sums(struct stage_sender *sender)
{
    const struct stage_list *list = stage_source_list(sender->source);
    expect_all(sender, STAGE_CHECK);
    stage_send_json(sender, FRAME_STAGE_END, stage_sums_to_json(sender->sums, list->count));
}

/* Those of no bytes, too. */
static void finish_sums(struct stage_sender *sender)
{
    const struct stage_list *list = stage_source_list(sender->source);
    while (!sender->left && sender->file < list->count) {
        sender->sums[sender->file++] = xxhash64_value(&sender->hash);
        sender->left = sender->file < list->count ? list->files[sender->file].size : 0;
        xxhash64_begin(&sender->hash);
    }
}

static void send_chunks(struct stage_sender *sender)
{
    struct error err = ERROR_INIT;
    char bytes[STAGE_CHUNK];
    ssize_t n = 1;
    while (n > 0 && tree_room(sender->tree, sender->first->nodes)) {
        n = stage_source_read(sender->source, sender->at, bytes, sizeof(bytes), &err);
        if (n <= 0)
            break;
        struct frame frame = {.type = FRAME_STAGE_DATA, .bytes = bytes, .len = (size_t)n};
        tree_send_nodes(sender->tree, sender->first->nodes, &frame);
        xxhash64_add(&sender->hash, bytes, (size_t)n);
        sender->at += (uint64_t)n;
        sender->left -= (uint64_t)n;
        finish_sums(sender);
    }
    ev_timer_again(sender->loop, &sender->patience);
    if (n < 0) /* each of the nodes would only repeat it */
        break_off(sender, &err);
    else if (n == 0 || sender->at == stage_source_list(sender->source)->size)
        stage_send_sums(sender);
    error_clear(&err);
}

static void begin_sending(struct stage_sender *sender)
{
    const struct stage_list *list = stage_source_list(sender->source);
    expect_all(sender, STAGE_SEND);
    sender->at = 0;
    sender->file = 0;
    sender->left = list->files[0].size;
    xxhash64_begin(&sender->hash);
    finish_sums(sender);
    send_chunks(sender);
}

static void begin_next(struct stage_sender *sender)
{
    if (sender->busy || sender->stopped || !sender->first)
        return;
    sender->busy = true;
    sender->number++;
    idset_remove_set(sender->first->nodes, sender->staged);
    if (idset_empty(sender->first->nodes) || stage_source_is_empty(sender->source)) {
        finish_request(sender, NULL);
        return;
    }
    expect_all(sender, STAGE_MAKE_ROOM);
    stage_send_json(sender, FRAME_STAGE,
                    stage_order_to_json(stage_source_list(sender->source), sender->first->nodes));
}

/* ---- what happens ---- */

void stage_sender_room(struct stage_sender *sender)
{
    if (sender && sender->busy && !sender->stopped && sender->step == STAGE_SEND)
        send_chunks(sender);
}

/* One that fails while bytes are sent is waited for no longer. */
void stage_sender_answer(struct stage_sender *sender, const struct frame *frame,
                         const json_t *value)
{
    uint32_t node = frame->node;
    const char *failed = json_string_value(json_object_get(value, "failed"));
    bool awaited = sender && sender->busy && !sender->stopped && frame->rank == sender->number &&
                   (sender->step == STAGE_SEND ? idset_has(sender->first->nodes, node)
                                               : idset_has(sender->waiting, node));
    if (!awaited)
        return;
    ev_timer_again(sender->loop, &sender->patience);
    if (failed)
        node_failures_add(&sender->failed, node, failed);
    else if (sender->step == STAGE_CHECK)
        idset_add(sender->staged, node);
    idset_remove(sender->waiting, node);
    if (failed && sender->step == STAGE_SEND)
        fail_request(sender);
    else if (sender->step == STAGE_SEND || !idset_empty(sender->waiting))
        return;
    else if (sender->failed.count)
        fail_request(sender);
    else if (sender->step == STAGE_MAKE_ROOM)
        begin_sending(sender);
    else
        finish_request(sender, NULL);
}

/* Of these nodes those that are lost. */
static void fail_lost_nodes(struct node_failures *failed, const struct idset *nodes,
                            const struct idset *lost)
{
    IDSET_FOREACH(node, lost)
    {
        if (idset_has(nodes, node))
            node_failures_add(failed, node, "lost while files were copied to it");
    }
}

/* Where the first in line that is not served yet and needs one of these nodes hangs; NULL: none does. */
static struct stage_request **find_in_line(struct stage_sender *sender, const struct idset *nodes)
{
    struct stage_request **at = sender->busy ? &sender->first->next : &sender->first;
    while (*at && !idset_count_both((*at)->nodes, nodes))
        at = &(*at)->next;
    return *at ? at : NULL;
}

void stage_sender_lost(struct stage_sender *sender, const struct idset *nodes)
{
    struct stage_request **at;
    idset_remove_set(sender->staged, nodes);
    while (!sender->stopped && (at = find_in_line(sender, nodes))) {
        struct stage_request *request = *at;
        struct node_failures failed = {0};
        struct error err = ERROR_INIT;
        *at = request->next;
        fail_lost_nodes(&failed, request->nodes, nodes);
        node_failures_take(&failed, sender->host, sender->owner, &err);
        request->done(request->arg, &err);
        stage_request_free(request);
        error_clear(&err);
    }
    if (!sender->busy || sender->stopped || !idset_count_both(sender->first->nodes, nodes))
        return;
    fail_lost_nodes(&sender->failed, sender->first->nodes, nodes);
    fail_request(sender);
}

void stage_sender_send(struct stage_sender *sender, const struct idset *nodes, stage_done *done,
                       void *arg)
{
    struct stage_request *request = mem_alloc(sizeof(*request)), **last = &sender->first;
    *request = (struct stage_request){.nodes = idset_copy(nodes), .done = done, .arg = arg};
    while (*last)
        last = &(*last)->next;
    *last = request;
    begin_next(sender);
}

bool stage_sender_has(const struct stage_sender *sender, const struct idset *nodes)
{
    return stage_source_is_empty(sender->source) ||
           idset_count_both(nodes, sender->staged) == idset_count(nodes);
}

char *stage_sender_describe(const struct stage_sender *sender)
{
    if (!sender || !sender->busy)
        return NULL;
    struct stage_sender all = {
        .host = sender->host, .owner = sender->owner, .waiting = sender->first->nodes};
    char *hosts = waiting_hosts(&all);
    char *done = text_size(sender->at), *size = text_size(stage_source_list(sender->source)->size);
    char *text = mem_format("to %s (%s of %s)", hosts, done, size);
    free(hosts);
    free(done);
    free(size);
    return text;
}

/* ---- life ---- */

struct stage_sender *stage_sender_new(struct ev_loop *loop, struct tree *tree,
                                      const char *(*host)(void *owner, uint32_t node), void *owner)
{
    struct stage_sender *sender = mem_alloc(sizeof(*sender));
    *sender = (struct stage_sender){
        .loop = loop, .tree = tree, .host = host, .owner = owner, .staged = idset_new()};
    ev_timer_init(&sender->patience, stage_on_patience, 0, STAGE_PATIENCE);
    sender->patience.data = sender;
    return sender;
}

void stage_sender_set(struct stage_sender *sender, struct stage_source *source)
{
    stage_source_free(sender->source);
    free(sender->sums);
    sender->source = source;
    sender->sums = mem_array(stage_source_list(source)->count, sizeof(*sender->sums));
}

const struct stage_source *stage_sender_source(const struct stage_sender *sender)
{
    return sender->source;
}

void stage_sender_stop(struct stage_sender *sender)
{
    if (!sender)
        return;
    sender->stopped = true;
    ev_timer_stop(sender->loop, &sender->patience);
}

void stage_sender_free(struct stage_sender *sender)
{
    if (!sender)
        return;
    stage_sender_stop(sender);
    for (struct stage_request *request = sender->first, *next; request; request = next) {
        next = request->next;
        stage_request_free(request);
    }
    node_failures_clear(&sender->failed);
    stage_source_free(sender->source);
    idset_free(sender->staged);
    idset_free(sender->waiting);
    free(sender->sums);
    free(sender);
}
