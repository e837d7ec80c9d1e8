/* What an agent's program passes on, between a parent and agents below that the test speaks for. */
#include <ev.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "affinity/sets/idset.h"
#include "launcher/agent/local_program.h"
#include "launcher/protocol/stage_list.h"
#include "tests/unit/unit.h"

static bool has_room;   /* on the way down */
static size_t consumed; /* bytes that the parent may send again */

bool __wrap_downlink_has_room(const struct downlink *downlink, const struct idset *nodes);
void __wrap_uplink_consumed(struct uplink *uplink, size_t bytes);

bool __wrap_downlink_has_room(const struct downlink *downlink, const struct idset *nodes)
{
    (void)downlink, (void)nodes;
    return has_room;
}

void __wrap_uplink_consumed(struct uplink *uplink, size_t bytes)
{
    (void)uplink;
    consumed += bytes;
}

static void on_frame(void *owner, const struct frame *frame)
{
    (void)owner, (void)frame;
}

static void on_event(void *owner)
{
    (void)owner;
}

static bool on_frame_below(void *owner, const struct frame *frame)
{
    (void)owner, (void)frame;
    return true;
}

static void on_gone(void *owner, const struct idset *nodes)
{
    (void)owner, (void)nodes;
}

static const struct uplink_ops uplink_ops = {on_frame, on_event, on_event};
static const struct downlink_ops downlink_ops = {on_frame_below, on_gone, on_event};

struct scene { /* the agent of node 0, with node 1 below it */
    struct ev_loop *loop;
    int pair[2];
    struct uplink *uplink;
    struct downlink *downlink;
    struct local_program *program;
    struct idset *below;
    struct topo *topo;
};

static void scene_open(struct scene *scene)
{
    *scene = (struct scene){.loop = ev_default_loop(0),
                            .below = idset_decode("1", NULL),
                            .topo = topo_load_synthetic("core:4 pu:1", NULL)};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, scene->pair), 0);
    scene->uplink = uplink_new(scene->loop, scene->pair[0], scene->pair[0], &uplink_ops, scene);
    uplink_set_node(scene->uplink, 0);
    scene->downlink = downlink_new(scene->loop, scene->uplink, &downlink_ops, scene);
    const struct local_program_config config = {.loop = scene->loop,
                                                .uplink = scene->uplink,
                                                .downlink = scene->downlink,
                                                .host = "n0",
                                                .topo = scene->topo};
    scene->program = local_program_new(&config);
    has_room = true;
    consumed = 0;
}

static void scene_close(struct scene *scene)
{
    local_program_free(scene->program);
    uplink_free(scene->uplink);
    downlink_free(scene->downlink);
    idset_free(scene->below);
    topo_free(scene->topo);
    close(scene->pair[1]);
}

/* A file of so many bytes, for the node below. */
static void stage_below(struct scene *scene, const char *bytes)
{
    char name[] = "file", path[] = "/file";
    const struct staged_file file = {STAGE_FILE, name, path, 0600, strlen(bytes)};
    struct stage_list list = {0};
    stage_list_add(&list, &file);
    json_t *order = stage_order_to_json(&list, scene->below);
    char *text = json_dumps(order, JSON_COMPACT);
    struct frame begin = {.type = FRAME_STAGE, .bytes = text, .len = strlen(text)};
    struct frame data = {.type = FRAME_STAGE_DATA, .bytes = bytes, .len = strlen(bytes)};
    local_program_from_above(scene->program, &begin);
    local_program_from_above(scene->program, &data);
    stage_list_clear(&list);
    json_decref(order);
    free(text);
}

/* As credit for the parent, when this happens to the node that had no room for them. */
static void assert_given_back(void (*happens)(struct scene *scene))
{
    struct scene scene;
    scene_open(&scene);
    has_room = false;
    stage_below(&scene, "some bytes");
    size_t before = consumed;
    has_room = true; /* also as of nobody */
    happens(&scene);
    assert_true(consumed > before);
    scene_close(&scene);
}

static void has_some(struct scene *scene)
{
    local_program_room_below(scene->program);
}

static void is_lost(struct scene *scene)
{
    local_program_nodes_gone(scene->program, scene->below);
}

static void test_bytes_for_a_node_without_room_are_given_back_when_it_has_some(void **state)
{
    (void)state;
    assert_given_back(has_some);
}

static void test_bytes_for_a_node_without_room_are_given_back_when_it_is_lost(void **state)
{
    (void)state;
    assert_given_back(is_lost);
}

/* Tasks that cannot be: their group is over at the end of the turn, and reports that. */
static void launch_none(struct scene *scene, uint16_t flags, uint32_t group)
{
    struct frame launch = {
        .type = FRAME_LAUNCH, .flags = flags, .group = group, .bytes = "{}", .len = 3};
    local_program_from_above(scene->program, &launch);
    local_program_turn(scene->program);
    assert_true(local_program_is_over(scene->program));
}

/* The parent reads to the end, or to where nothing more comes. */
static bool link_has_ended(const struct scene *scene)
{
    char bytes[65536];
    ssize_t n;
    do {
        uplink_flush(scene->uplink);
        n = recv(scene->pair[1], bytes, sizeof(bytes), MSG_DONTWAIT);
    } while (n > 0);
    return n == 0;
}

static void test_the_link_ends_with_the_tasks_of_a_program_that_is_on_one_node_only(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    launch_none(&scene, FRAME_LAUNCH_EARLY, 0);
    assert_true(link_has_ended(&scene));
    scene_close(&scene);
}

static void test_the_link_of_a_program_that_may_have_more_groups_does_not_end(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    launch_none(&scene, 0, 0);
    assert_false(link_has_ended(&scene));
    launch_none(&scene, 0, 1);
    assert_false(link_has_ended(&scene));
    scene_close(&scene);
}

static void test_the_link_does_not_end_before_the_report_has_gone(void **state)
{
    struct scene scene;
    struct frame output = {.type = FRAME_OUTPUT, .bytes = "some", .len = 4};
    (void)state;
    scene_open(&scene);
    while (uplink_room(scene.uplink))
        uplink_send(scene.uplink, &output);
    launch_none(&scene, FRAME_LAUNCH_EARLY, 0);
    assert_false(link_has_ended(&scene));
    scene_close(&scene);
}

/* Who started them and has given them up waits for the end of the link. */
static void test_the_link_does_not_end_before_tasks_that_nobody_has_heard_of(void **state)
{
    struct scene scene;
    struct frame launch = {
        .type = FRAME_LAUNCH, .flags = FRAME_LAUNCH_EARLY, .bytes = "{}", .len = 3};
    (void)state;
    scene_open(&scene);
    local_program_from_above(scene.program, &launch);
    uplink_lose(scene.uplink);
    assert_false(link_has_ended(&scene));
    local_program_turn(scene.program);
    assert_true(link_has_ended(&scene));
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_for_a_node_without_room_are_given_back_when_it_has_some),
        cmocka_unit_test(test_bytes_for_a_node_without_room_are_given_back_when_it_is_lost),
        cmocka_unit_test(test_the_link_ends_with_the_tasks_of_a_program_that_is_on_one_node_only),
        cmocka_unit_test(test_the_link_of_a_program_that_may_have_more_groups_does_not_end),
        cmocka_unit_test(test_the_link_does_not_end_before_the_report_has_gone),
        cmocka_unit_test(test_the_link_does_not_end_before_tasks_that_nobody_has_heard_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
