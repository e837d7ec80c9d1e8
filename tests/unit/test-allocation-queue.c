/* The wait for what others hold: who may wait, what is said, and when it is tried again. */
#include "tests/unit/instance-world.h"

#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "launcher/instance/allocation_queue.h"
#include "launcher/ledger/claim.h"
#include "launcher/ledger/claim_queue.h"
#include "launcher/ledger/instance_lock.h"
#include "launcher/ledger/ledger_entry.h"

struct owner { /* of a queue, and what it was told */
    struct ev_loop *loop;
    bool over, known;
    uint32_t wants; /* cores */
    int retries, fits;
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
    struct owner *owner = arg;
    struct rset *set = rset_new();
    struct idset *cores = idset_new();
    owner->fits++;
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

static void scene_open_free(struct scene *scene, double wait)
{
    *scene = (struct scene){.owner = {.loop = ev_loop_new(0), .wants = 4, .known = true}};
    scene->spec = spec_on(1, "{'parts':[{'argv':['./mine'],'ntasks':4}]}");
    scene->spec->wait = wait;
    scene->spec->verbose = true;
    scene->resources = open_resources(scene->spec);
    scene->queue =
        allocation_queue_new(scene->owner.loop, scene->spec, scene->resources, &ops, &scene->owner);
    error_set(&scene->err, "no core is free");
}

static void scene_open(struct scene *scene, double wait)
{
    scene_open_free(scene, wait);
    scene->other = hold(scene->resources, 0, 0, "0-3");
    assert_int_equal(resources_refresh(scene->resources, NULL), 0);
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

static void end_run(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer, (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void count_turn(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    (void)loop, (void)events;
    ++*(unsigned *)watcher->data;
}

/* Until it is tried again, or so many seconds have passed. The turns that the loop took. */
static unsigned run_for(struct scene *scene, double seconds)
{
    unsigned turns = 0;
    ev_timer timer;
    ev_prepare prepare;
    ev_timer_init(&timer, end_run, seconds, 0);
    ev_timer_start(scene->owner.loop, &timer);
    ev_prepare_init(&prepare, count_turn);
    prepare.data = &turns;
    ev_prepare_start(scene->owner.loop, &prepare);
    ev_run(scene->owner.loop, 0);
    ev_timer_stop(scene->owner.loop, &timer);
    ev_prepare_stop(scene->owner.loop, &prepare);
    return turns;
}

static size_t count_descriptors(void)
{
    size_t count = 0;
    for (int fd = 0; fd < 1000; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
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

/* Neither watches: the second is rung for once it is the first, and the third is far from its turn. */
static void test_those_behind_are_tried_when_all_before_them_have_left(void **state)
{
    enum { LINE = 3 };
    struct scene line[LINE];
    (void)state;
    for (int i = 0; i < LINE; i++)
        scene_open_free(&line[i], 1e9);
    line[2].other = hold(line[2].resources, 0, 0, "0-3");
    for (int i = 0; i < LINE; i++) {
        assert_int_equal(resources_refresh(line[i].resources, NULL), 0);
        assert_int_equal(allocation_queue_wait(line[i].queue, &line[i].err), 0);
    }
    for (int i = 1; i < LINE; i++) {
        size_t before = count_descriptors();
        run_for(&line[i], 0.1);
        assert_int_equal(count_descriptors(), before);
    }
    assert_int_equal(line[1].owner.retries + line[2].owner.retries, 0);
    scene_close(&line[0]);
    run_for(&line[2], 0.1);
    assert_int_equal(line[2].owner.retries, 0);
    run_for(&line[1], 5); /* sooner than one that is far looks by itself */
    assert_int_equal(line[1].owner.retries, 1);
    scene_close(&line[1]);
    run_for(&line[2], 5);
    assert_int_equal(line[2].owner.retries, 1);
    assert_true(run_for(&line[2], 0.02) < 5); /* what woke it is taken */
    assert_int_equal(line[2].owner.retries, 1);
    scene_close(&line[2]);
}

/* Its turn may come before it is of use to know what it can spare. */
static void test_the_next_of_a_line_keeps_all_of_it_for_a_moment(void **state)
{
    struct scene first, next;
    (void)state;
    scene_open_free(&first, 1e9);
    scene_open_free(&next, 1e9);
    next.owner.wants = 2;
    next.other = hold(next.resources, 0, 0, "0-2");
    assert_int_equal(resources_refresh(first.resources, NULL), 0);
    assert_int_equal(allocation_queue_wait(first.queue, &first.err), 0);
    assert_int_equal(resources_refresh(next.resources, NULL), 0);
    assert_int_equal(allocation_queue_wait(next.queue, &next.err), 0);
    scene_close(&first);
    double since = clock_monotonic_seconds();
    run_for(&next, 5);
    assert_int_equal(allocation_queue_wait(next.queue, &next.err), 0);
    bool soon = clock_monotonic_seconds() - since < 0.04;
    char *at_first = kept_from(&next, INFINITY); /* which wakes it once more */
    assert_true(!soon || strcmp(at_first, "0-3") == 0);
    while (clock_monotonic_seconds() - since < 0.1) {
        run_for(&next, 5);
        assert_int_equal(allocation_queue_wait(next.queue, &next.err), 0);
        if (next.owner.retries > 2) /* by itself, and later looks are far apart */
            break;
    }
    assert_true(clock_monotonic_seconds() - since < 4);
    char *then = kept_from(&next, INFINITY);
    assert_string_equal(then, "0-2");
    free(then);
    free(at_first);
    scene_close(&next);
}

static void test_signs_are_taken_and_nothing_is_done_where_nothing_changed(void **state)
{
    struct scene scene;
    double longest;
    (void)state;
    scene_open(&scene, 1e9);
    struct instance *instance = resources_instance(scene.resources);
    assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), 0);
    run_for(&scene, 5);
    assert_int_equal(scene.owner.retries, 1);
    int fits = scene.owner.fits;
    size_t locks = instance_locks(instance, &longest);
    assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), 0);
    assert_int_equal(scene.owner.fits, fits);
    assert_int_equal(instance_locks(instance, &longest), locks);
    entry_end(entry_new(instance, "./passes", NULL));
    run_for(&scene, 5);
    assert_int_equal(scene.owner.retries, 2);
    assert_true(run_for(&scene, 0.02) < 5);
    assert_int_equal(scene.owner.retries, 2);
    scene_close(&scene);
}

static void test_who_leaves_and_waits_again_keeps_what_it_kept(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, 1e9);
    entry_end(scene.other);
    scene.other = hold(scene.resources, 0, 0, "0-2");
    scene.owner.wants = 2;
    assert_int_equal(resources_refresh(scene.resources, NULL), 0);
    size_t before = count_descriptors();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), 0);
        char *kept = kept_from(&scene, INFINITY);
        assert_string_equal(kept, "0-2");
        free(kept);
        run_for(&scene, 5);
        allocation_queue_leave(scene.queue);
        assert_int_equal(count_descriptors(), before);
        ev_run(scene.owner.loop, 0); /* nothing is watched */
    }
    assert_null(strstr(scene.owner.said, "waiting for"));
    scene_close(&scene);
}

static void test_who_shares_does_not_wait(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, 1e9);
    scene.spec->overlap = true;
    assert_int_equal(allocation_queue_wait(scene.queue, &scene.err), -1);
    assert_false(allocation_queue_waits(scene.queue));
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
        cmocka_unit_test(test_those_behind_are_tried_when_all_before_them_have_left),
        cmocka_unit_test(test_the_next_of_a_line_keeps_all_of_it_for_a_moment),
        cmocka_unit_test(test_signs_are_taken_and_nothing_is_done_where_nothing_changed),
        cmocka_unit_test(test_who_leaves_and_waits_again_keeps_what_it_kept),
        cmocka_unit_test(test_who_shares_does_not_wait),
    };
    return cmocka_run_group_tests(tests, make_world, end_world);
}
