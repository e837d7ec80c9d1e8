/* The wait for what others hold: who may wait, what is said, and when it is tried again. */
#include "tests/unit/instance-world.h"

#include <math.h>
#include <unistd.h>

#include "launcher/instance/allocation_queue.h"
#include "launcher/ledger/claim.h"
#include "launcher/ledger/claim_queue.h"
#include "launcher/ledger/ledger_entry.h"

struct owner { /* of a queue, and what it was told */
    struct ev_loop *loop;
    bool over, known;
    uint32_t wants; /* cores */
    int retries;
    char *said, *expired, *waits;
};

static bool is_over(void *arg)
{
    return ((struct owner *)arg)->over;
}

static void on_retry(void *arg)
{
    struct owner *owner = arg;
    owner->retries++;
    ev_break(owner->loop, EVBREAK_ALL);
}

static void on_expired(void *arg, const struct error *err)
{
    struct owner *owner = arg;
    owner->expired = mem_copy_text(error_text(err));
    ev_break(owner->loop, EVBREAK_ALL);
}

static void on_say(void *arg, const char *text)
{
    struct owner *owner = arg;
    free(owner->said);
    owner->said = mem_copy_text(text);
}

static void on_waits(void *arg, const char *what)
{
    struct owner *owner = arg;
    free(owner->waits);
    owner->waits = mem_copy_text(what);
}

/* As many cores of n0 as it wants, from the first on. */
static struct rset *fit(void *arg, const struct rset *held, bool *known, struct error *err)
{
    const struct owner *owner = arg;
    struct rset *set = rset_new();
    struct idset *cores = idset_new();
    *known = owner->known;
    for (uint32_t core = 0; core < 4 && idset_count(cores) < owner->wants; core++)
        if (!held || !held->nnodes || !idset_has(held->nodes[0].children->cores, core))
            idset_add(cores, core);
    rset_append(set, 0, "n0", cores, NULL);
    bool fits = idset_count(cores) == owner->wants;
    idset_free(cores);
    if (fits)
        return set;
    rset_free(set);
    error_set(err, "%u cores are more than there are", owner->wants);
    return NULL;
}

static const struct allocation_queue_ops ops = {is_over, on_retry, on_expired, on_say,
                                                on_say,  on_waits, fit};

struct scene { /* a run that finds all of n0 held by another */
    struct owner owner;
    struct spec *spec;
    struct resources *resources;
    struct ledger_entry *other;
    struct allocation_queue *queue;
    struct error err;
};

static void scene_open(struct scene *scene, double wait)
{
    *scene = (struct scene){.owner = {.loop = ev_loop_new(0), .wants = 4, .known = true}};
    scene->spec = spec_on(1, "{'parts':[{'argv':['./mine'],'ntasks':4}]}");
    scene->spec->wait = wait;
    scene->spec->verbose = true;
    scene->resources = open_resources(scene->spec);
    scene->other = hold(scene->resources, 0, 0, "0-3");
    assert_int_equal(resources_refresh(scene->resources, NULL), 0);
    scene->queue =
        allocation_queue_new(scene->owner.loop, scene->spec, scene->resources, &ops, &scene->owner);
    error_set(&scene->err, "no core is free");
}

static void scene_close(struct scene *scene)
{
    allocation_queue_free(scene->queue);
    entry_end(scene->other);
    resources_free(scene->resources);
    spec_free(scene->spec);
    ev_loop_destroy(scene->owner.loop);
    free(scene->owner.said);
    free(scene->owner.expired);
    free(scene->owner.waits);
    error_clear(&scene->err);
}

static void assert_begins(const char *text, const char *begin)
{
    if (!text || strncmp(text, begin, strlen(begin)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", text ? text : "(none)", begin);
}

static void test_a_request_waits_and_is_tried_again_when_the_other_ends(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, 1e9);
    assert_null(allocation_queue_describe(scene.queue));
    assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), 0);
    assert_true(allocation_queue_waits(scene.queue));
    assert_begins(scene.owner.said, "in line for 4 cores on n0: program ");
    assert_string_equal(scene.owner.waits, "4 cores on n0");
    char *what = allocation_queue_describe(scene.queue);
    assert_non_null(strstr(what, "holds cores 0-3 of n0; --overlap shares them"));
    free(what);
    ev_run(scene.owner.loop, 0); /* at once: it may have become free before it stood in line */
    assert_int_equal(scene.owner.retries, 1);
    assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), 0);
    entry_end(scene.other);
    scene.other = NULL;
    ev_run(scene.owner.loop, 0);
    assert_int_equal(scene.owner.retries, 2);
    allocation_queue_leave(scene.queue);
    allocation_queue_leave(scene.queue);
    assert_false(allocation_queue_waits(scene.queue));
    scene_close(&scene);
}

/* What one that comes later does not get: "0-2"; caller frees. */
static char *kept_from(struct scene *scene, double lasts)
{
    struct ledger_entry *later = entry_new(resources_instance(scene->resources), "./later", NULL);
    entry_set_limit(later, lasts, 0);
    struct rset *barred, *held = entry_held(later, &barred, NULL);
    char *text =
        barred->nnodes ? idset_encode(barred->nodes[0].children->cores) : mem_copy_text("");
    rset_free(barred);
    rset_free(held);
    entry_end(later);
    return text;
}

static void test_what_is_of_no_use_to_it_is_left_to_others(void **state)
{
    static const struct {
        uint32_t wants;
        const char *held;
        double other_lasts, later_lasts;
        const char *kept;
    } cases[] = {
        {2, "0-2", INFINITY, INFINITY, "0-2"},
        {4, "0-2", INFINITY, INFINITY, "0-3"},
        {4, "0-2", INFINITY, 5, "0-3"},
        {4, "0-2", 50, INFINITY, "0-3"},
        {4, "0-2", 50, 5, ""},
        {4, "0-2", 50, 60, "0-3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene;
        scene_open(&scene, 1e9);
        entry_end(scene.other);
        scene.other = entry_new(resources_instance(scene.resources), "./other", NULL);
        entry_set_limit(scene.other, cases[i].other_lasts, 0);
        struct rset *set = rset_new();
        struct idset *cores = idset_decode(cases[i].held, NULL);
        rset_append(set, 0, "n0", cores, NULL);
        assert_int_equal(entry_claim(scene.other, set, NULL), 0);
        scene.owner.wants = cases[i].wants;
        assert_int_equal(resources_refresh(scene.resources, NULL), 0);
        assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), 0);
        char *kept = kept_from(&scene, cases[i].later_lasts);
        if (strcmp(kept, cases[i].kept) != 0)
            fail_msg("case %zu: keeps %s, expected %s", i, kept, cases[i].kept);
        free(kept);
        idset_free(cores);
        rset_free(set);
        scene_close(&scene);
    }
}

static void test_the_end_of_one_that_stages_is_known_once_its_limit_has_begun(void **state)
{
    struct scene scene;
    struct rset *set = rset_new();
    struct idset *cores = idset_decode("0-2", NULL);
    (void)state;
    scene_open(&scene, 1e9);
    entry_end(scene.other);
    struct spec *spec =
        spec_on(1, "{'parts':[{'argv':['./other']}],'stage':['/bin/true'],'time_limit':'50s'}");
    struct resources *other = open_resources(spec);
    scene.other = resources_entry(other);
    rset_append(set, 0, "n0", cores, NULL);
    assert_int_equal(resources_claim(other, set, NULL), 0);
    assert_int_equal(resources_refresh(scene.resources, NULL), 0);
    assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), 0);
    char *kept = kept_from(&scene, 5);
    assert_string_equal(kept, "0-3");
    free(kept);
    resources_begin_limit(other, set);
    assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), 0); /* it looks again */
    kept = kept_from(&scene, 5);
    assert_string_equal(kept, "");
    free(kept);
    kept = kept_from(&scene, 100);
    assert_string_equal(kept, "0-3");
    free(kept);
    scene.other = NULL;
    resources_free(other);
    spec_free(spec);
    idset_free(cores);
    rset_free(set);
    scene_close(&scene);
}

static void test_a_hold_lasts_until_tasks_are_killed_and_hooks_are_over(void **state)
{
    static const struct {
        const char *spec;
        double seconds; /* with a time limit of 100 s */
    } cases[] = {
        {"{'parts':[{'argv':['x']}]}", 130},
        {"{'parts':[{'argv':['x']}],'kill_grace':'2s'}", 102},
        {"{'parts':[{'argv':['x']}],'kill_grace':'2s','stop_grace':'7s'}", 107},
        {"{'parts':[{'argv':['x']}],'epilog':'/bin/true'}", 190},
        {"{'parts':[{'argv':['x']}],'prolog':'/bin/true','hook_timeout':'5s'}", 135},
        {"{'parts':[{'argv':['x']}],'prolog':'/bin/true','epilog':'/bin/true','hook_timeout':'5s'}",
         140},
        {"{'parts':[{'argv':['x']}],'hook_timeout':'5s'}", 130},
        {"{'parts':[{'argv':['x']}],'stage':['/bin/true']}", INFINITY},
        {"{'parts':[{'argv':['x']},{'argv':['y'],'shape':'slot/core'}]}", INFINITY},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct spec *spec = spec_on(1, cases[i].spec);
        double seconds = resources_longest_hold(spec, 100);
        if (seconds != cases[i].seconds)
            fail_msg("case %zu: %g s, expected %g s", i, seconds, cases[i].seconds);
        spec_free(spec);
    }
}

static void test_a_request_that_may_not_wait_says_who_holds_the_cores(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, 0);
    assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), -1);
    assert_begins(error_text(&scene.err), "no core is free; program ");
    assert_non_null(strstr(error_text(&scene.err), "; --overlap shares them"));
    assert_false(allocation_queue_waits(scene.queue));
    scene_close(&scene);
}

static void test_a_request_that_can_never_fit_does_not_wait(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, 1e9);
    scene.owner.wants = 9;
    assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), -1);
    assert_string_equal(error_text(&scene.err), "9 cores are more than there are");
    scene.owner.known = false; /* where that cannot be told, it does */
    assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), 0);
    assert_begins(scene.owner.said, "in line for free cores: program ");
    scene_close(&scene);
}

static void test_where_nobody_holds_anything_there_is_no_wait(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, 1e9);
    entry_end(scene.other);
    scene.other = NULL;
    assert_int_equal(resources_refresh(scene.resources, NULL), 0);
    assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), -1);
    assert_string_equal(error_text(&scene.err), "no core is free");
    scene_close(&scene);
}

static void test_the_wait_has_an_end_also_the_second_time(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, 0.05);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), 0);
        while (!scene.owner.expired)
            ev_run(scene.owner.loop, 0);
        assert_begins(scene.owner.expired,
                      "waited 50ms (--wait) in vain for 4 cores on n0: program ");
        allocation_queue_leave(scene.queue);
        free(scene.owner.expired);
        scene.owner.expired = NULL;
    }
    scene_close(&scene);
}

static void test_nothing_is_tried_once_it_is_over(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, 0.05);
    assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), 0);
    scene.owner.over = true;
    entry_end(scene.other);
    scene.other = NULL;
    for (int i = 0; i < 20; i++) {
        usleep(5000);
        ev_run(scene.owner.loop, EVRUN_NOWAIT);
    }
    assert_int_equal(scene.owner.retries, 0);
    assert_null(scene.owner.expired);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_waits_and_is_tried_again_when_the_other_ends),
        cmocka_unit_test(test_what_is_of_no_use_to_it_is_left_to_others),
        cmocka_unit_test(test_the_end_of_one_that_stages_is_known_once_its_limit_has_begun),
        cmocka_unit_test(test_a_hold_lasts_until_tasks_are_killed_and_hooks_are_over),
        cmocka_unit_test(test_a_request_that_may_not_wait_says_who_holds_the_cores),
        cmocka_unit_test(test_a_request_that_can_never_fit_does_not_wait),
        cmocka_unit_test(test_where_nobody_holds_anything_there_is_no_wait),
        cmocka_unit_test(test_the_wait_has_an_end_also_the_second_time),
        cmocka_unit_test(test_nothing_is_tried_once_it_is_over),
    };
    return cmocka_run_group_tests(tests, make_world, end_world);
}
