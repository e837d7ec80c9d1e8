/* What hosts of openpmix say to the service, from other machines: steps, each a byte that says which, and
 * what it needs. Messages come as they are, or with a head that is good. All that is said to hosts is
 * well-formed, and none hears of a question that it did not ask. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/message.h"
#include "pmi-server/protocol/namespace_info.h"
#include "pmi-server/service/name_store.h"
#include "pmi-server/service/publish_lookup.h"
#include "pmi-server/service/service.h"
#include "tests/fuzz/fuzz.h"

#define NODES 3
#define NJOBS 3

static const char *const job_names[NJOBS] = {"a", "b", "c"};

struct world {
    struct pmi_service *service;
    bool there[NJOBS];
    struct published_name *others; /* of another program: what this one published once */
    uint64_t last_token[NODES];
};

/* ---- what the service says ---- */

static void tell(void *arg, uint32_t node, const void *bytes, size_t len)
{
    const struct world *world = arg;
    struct message_down talk;
    check(node < NODES && message_read_down(&talk, bytes, len) == 0);
    check(talk.kind != ORDER_ANSWER || (talk.token && talk.token <= world->last_token[node]));
}

static const struct pmi_service_ops ops = {tell};

static int show(void *arg, size_t fresh)
{
    const struct world *world = arg;
    size_t count = 0;
    for (const struct published_name *name = pmi_service_names(world->service); name;
         name = name->next)
        check(*name->key && ++count <= SERVICE_NAMES_MAX);
    check(fresh <= count);
    return fresh % 5 == 4 ? 1 : fresh % 7 == 6 ? -1 : 0;
}

static const struct published_name *others(void *arg)
{
    return ((struct world *)arg)->others;
}

static bool take(void *arg, const struct published_name *name)
{
    (void)arg;
    return name->id % 3 != 1;
}

static void watch(void *arg, bool on)
{
    (void)arg, (void)on;
}

static const struct pmi_service_names_ops names_ops = {show, others, take, take, watch};

/* ---- steps ---- */

struct input {
    const uint8_t *at;
    size_t left;
};

static uint8_t byte(struct input *in)
{
    uint8_t value = in->left ? *in->at : 0;
    in->at += in->left > 0;
    in->left -= in->left > 0;
    return value;
}

/* A length, and so many bytes; "short" as text. */
static const void *bytes(struct input *in, size_t *len)
{
    const void *at;
    *len = byte(in);
    if (*len > in->left)
        *len = in->left;
    at = in->at;
    in->at += *len;
    in->left -= *len;
    return at;
}

static char *text(struct input *in)
{
    size_t len;
    const char *at = bytes(in, &len);
    return mem_copy_text_n(at, len);
}

static void add_job(struct world *world, uint32_t which)
{
    struct taskmap *map = taskmap_new();
    const uint32_t nodes[] = {which % NODES, (which + 1) % NODES};
    taskmap_append(map, 0, 2);
    taskmap_append(map, 1, 1);
    static const char *const hosts[] = {"n0", "n1"};
    const struct namespace_app app = {.ntasks = 3};
    if (!world->there[which])
        pmi_service_add(world->service, &(struct namespace_facts){.name = job_names[which],
                                                                  .map = map,
                                                                  .node = nodes,
                                                                  .hosts = hosts,
                                                                  .apps = &app,
                                                                  .napps = 1});
    world->there[which] = true;
    taskmap_free(map);
}

static void remove_job(struct world *world, uint32_t which)
{
    pmi_service_remove(world->service, job_names[which]);
    world->there[which] = false;
}

static void say_raw(struct world *world, struct input *in)
{
    size_t len;
    uint32_t node = byte(in) % NODES;
    const void *message = bytes(in, &len);
    for (uint32_t i = 0; i < NODES; i++)
        world->last_token[i] = UINT64_MAX;
    pmi_service_take(world->service, node, message, len, NULL);
}

static void say(struct world *world, struct input *in)
{
    struct buf out = BUF_INIT;
    size_t len;
    uint32_t node = byte(in) % NODES;
    enum service_request kind = byte(in) % REQUEST_NKINDS;
    uint64_t token = world->last_token[node];
    if (kind == REQUEST_FORGET)
        token -= token > 4 ? byte(in) % 4 : 0;
    else
        token = world->last_token[node] += token < UINT64_MAX;
    uint8_t who = byte(in);
    message_put_up(&out, kind, token, job_names[who % NJOBS], who / NJOBS % 4);
    const void *rest = bytes(in, &len);
    buf_add(&out, rest, len);
    pmi_service_take(world->service, node, buf_bytes(&out), out.len, NULL);
    buf_free(&out);
}

static void speak_pmi(struct world *world, struct input *in)
{
    char *key = text(in), *value = text(in), *found = NULL;
    if (*key && pmi_service_publish_text(world->service, "a", key, value) == REPLY_OK) {
        check(pmi_service_lookup_text(world->service, "nobody", key, &found) == REPLY_OK);
        check(strcmp(found, value) == 0);
        free(found);
    }
    if (byte(in) % 2)
        pmi_service_unpublish_text(world->service, key);
    free(key);
    free(value);
}

static void publish_elsewhere(struct world *world, struct input *in)
{
    size_t len;
    char *key = text(in);
    const void *value = bytes(in, &len);
    struct published_name *name = pmi_service_name_new(key, value, len);
    name->job = mem_copy_text("far");
    name->text = !memchr(value, 0, len);
    name->range = RANGE_ALL;
    name->until = byte(in) % 2 ? PERSIST_READ : PERSIST_END;
    name->id = byte(in);
    name->next = world->others;
    world->others = name;
    pmi_service_names_changed(world->service);
    free(key);
}

/* One that follows others, whom it does not know. */
static void follow(struct world *world, struct input *in)
{
    struct buf out = BUF_INIT;
    uint32_t node = byte(in) % NODES;
    message_put_up(&out, REQUEST_GATHER,
                   world->last_token[node] += world->last_token[node] < UINT64_MAX, "", 0);
    pack_put_u8(&out, COLLECTIVE_GROUP);
    pack_put_u8(&out, byte(in) > 250);
    pack_put_text(&out, byte(in) % 7 ? "" : "key");
    pack_put_bytes(&out, "", 0);
    pack_put_u32(&out, 0);
    pack_put_u32(&out, 0);
    pack_put_u32(&out, 0);
    check(pmi_service_take(world->service, node, buf_bytes(&out), out.len, NULL) == 0);
    buf_free(&out);
}

/* Well-formed, of some ranks of some jobs. */
static void gather(struct world *world, struct input *in)
{
    static const char *const ranks[] = {"", "0", "1-2", "0-2", "2", "3"};
    struct buf out = BUF_INIT;
    size_t len;
    uint32_t node = byte(in) % NODES, njobs = 1 + byte(in) % NJOBS, how = byte(in);
    message_put_up(&out, REQUEST_GATHER,
                   world->last_token[node] += world->last_token[node] < UINT64_MAX, "", 0);
    pack_put_u8(&out, (uint8_t)(how % COLLECTIVE_NKINDS));
    pack_put_u8(&out, how > 250);
    pack_put_text(&out, how % 7 ? "" : "key");
    const void *said = bytes(in, &len);
    pack_put_bytes(&out, said, len);
    pack_put_u32(&out, njobs);
    for (uint32_t i = 0; i < njobs; i++) {
        pack_put_text(&out, job_names[i + (njobs < NJOBS && how % 2)]);
        pack_put_text(&out, ranks[byte(in) % 6]);
    }
    if (how % COLLECTIVE_NKINDS == COLLECTIVE_GROUP) {
        pack_put_u32(&out, byte(in) % 3);
        pack_put_u32(&out, 1);
        pack_put_text(&out, job_names[byte(in) % NJOBS]);
        pack_put_text(&out, ranks[byte(in) % 6]);
    }
    check(pmi_service_take(world->service, node, buf_bytes(&out), out.len, NULL) == 0);
    buf_free(&out);
}

static void describe(struct input *in)
{
    struct pack packet = pack_of(in->at, in->left);
    struct namespace_info *description = namespace_info_read(&packet);
    const struct namespace_facts *job = description ? &description->job : NULL;
    for (uint32_t i = 0; job && i < job->map->nnodes; i++)
        check(job->hosts[i] != NULL);
    check(!job || (job->name[0] && job->map->ntasks));
    namespace_info_free(description);
}

static void step(struct world *world, struct input *in)
{
    uint8_t which = byte(in);
    if (which < 8)
        say_raw(world, in);
    else if (which < 12)
        speak_pmi(world, in);
    else if (which < 16)
        publish_elsewhere(world, in);
    else if (which < 20)
        remove_job(world, which % NJOBS);
    else if (which < 28)
        add_job(world, which % NJOBS);
    else if (which < 32)
        pmi_service_ended(world->service, job_names[which % NJOBS], byte(in));
    else if (which < 36)
        describe(in);
    else if (which < 100)
        gather(world, in);
    else if (which < 104)
        follow(world, in);
    else
        say(world, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world = {0};
    struct input in = {data, size};
    world.service = pmi_service_new(&ops, &world);
    pmi_service_names_use(world.service, &names_ops, &world);
    add_job(&world, 0);
    add_job(&world, 1);
    while (in.left)
        step(&world, &in);
    pmi_service_free(world.service);
    pmi_service_names_free(world.others);
    return 0;
}
