/* What a program that waits keeps, and that no later one delays it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/queue/reservation.h"
#include "base/buf.h"
#include "base/mem.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

/* ---- sets as text: "n0:0-3 n1:0" ---- */

static struct rset *set_of(const char *text)
{
    struct rset *set = rset_new();
    char *words = mem_copy_text(text), *rest = words;
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *colon = strchr(word, ':');
        *colon = '\0';
        struct idset *cores = idset_decode(colon + 1, NULL);
        rset_append(set, (uint32_t)set->nnodes, word, cores, NULL);
        idset_free(cores);
    }
    free(words);
    return set;
}

static char *text_of(const struct rset *set)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < set->nnodes; i++) {
        char *cores = idset_encode(set->nodes[i].children->cores);
        buf_printf(&text, "%s%s:%s", i ? " " : "", set->nodes[i].host, cores);
        free(cores);
    }
    return buf_take_text(&text);
}

/* ---- a program that wants so many cores on each of so many hosts ---- */

struct wish {
    uint32_t hosts, cores;
    const struct rset *scope;
    unsigned trials;
};

/* The first cores of the first hosts that have enough. */
static struct rset *fit(void *owner, const struct rset *taken)
{
    struct wish *wish = owner;
    struct rset *none = rset_new(), *fit = rset_new();
    struct rset *rest = rset_subtract_hosts(wish->scope, taken ? taken : none);
    wish->trials++;
    for (size_t i = 0; i < rest->nnodes && fit->nnodes < wish->hosts; i++) {
        struct idset *cores = idset_new();
        IDSET_FOREACH(core, rest->nodes[i].children->cores)
        if (idset_count(cores) < wish->cores)
            idset_add(cores, core);
        if (idset_count(cores) == wish->cores)
            rset_append(fit, (uint32_t)fit->nnodes, rest->nodes[i].host, cores, NULL);
        idset_free(cores);
    }
    rset_free(none);
    rset_free(rest);
    if (fit->nnodes == wish->hosts)
        return fit;
    rset_free(fit);
    return NULL;
}

/* ---- what is kept, and from when on ---- */

#define NOW 10

static void test_what_is_kept_and_until_when(void **state)
{
    static const struct {
        const char *scope;
        struct {
            const char *set;
            uint64_t end; /* of one that waits: its start; 0: not known */
            bool waits;
        } holds[5];
        uint32_t hosts, cores;
        bool is_later;
        uint64_t start;
        const char *kept;
    } cases[] = {
        /* all that there is is needed, from a known time on or not */
        {"n0:0-3", {{"n0:0-2", 60, false}}, 1, 4, false, 60, "n0:0-3"},
        {"n0:0-3", {{"n0:0-2", 0, false}}, 1, 4, false, 1, "n0:0-3"},
        /* an end that is over was not kept: it may be at any moment */
        {"n0:0-3", {{"n0:0-2", NOW, false}}, 1, 4, false, 1, "n0:0-3"},
        /* one that has no known end has more than is needed: what is free is of no use */
        {"n0:0-7", {{"n0:0-5", 0, false}}, 1, 4, false, 1, "n0:0-5"},
        {"n0:0-7", {{"n0:0-5", 0, false}}, 1, 7, false, 1, "n0:0-6"},
        {"n0:0-7", {{"n0:2-7", 0, false}}, 1, 7, false, 1, "n0:0-7"},
        /* the first of two that ends would be enough with what is free, but not without it */
        {"n0:0-7", {{"n0:0-2", 0, false}, {"n0:3-5", 0, false}}, 1, 4, false, 1, "n0:0-7"},
        {"n0:0-7", {{"n0:0-2", 0, false}, {"n0:3-5", 0, false}}, 1, 3, false, 1, "n0:0-5"},
        /* both have to end */
        {"n0:0-7", {{"n0:0-2", 0, false}, {"n0:3-5", 0, false}}, 1, 6, false, 1, "n0:0-5"},
        {"n0:0-7", {{"n0:0-2", 60, false}, {"n0:3-5", 0, false}}, 1, 6, false, 60, "n0:0-5"},
        {"n0:0-7", {{"n0:0-2", 60, false}, {"n0:3-5", 0, false}}, 1, 4, false, 1, "n0:0-6"},
        {"n0:0-7", {{"n0:0-2", 60, false}, {"n0:3-5", 70, false}}, 1, 4, false, 60, "n0:0-6"},
        {"n0:0-7", {{"n0:0-2", 60, false}, {"n0:3-5", 70, false}}, 1, 6, false, 70, "n0:0-5"},
        /* later ends count where an unknown one may keep it waiting until then */
        {"n0:0-7",
         {{"n0:0-2", 60, false}, {"n0:3-5", 0, false}, {"n0:6", 100, false}},
         1,
         6,
         false,
         60,
         "n0:0-6"},
        {"n0:0-7",
         {{"n0:0-2", 60, false}, {"n0:3-5", 0, false}, {"n0:6", 100, false}},
         1,
         7,
         false,
         60,
         "n0:0-7"},
        /* hosts that have too little are of no use, whatever ends */
        {"n0:0-3 n1:0-1", {{"n0:0", 0, false}}, 1, 4, false, 1, "n0:0-3"},
        {"n0:0-3 n1:0-3",
         {{"n0:0", 0, false}, {"n1:3", 0, false}},
         1,
         4,
         false,
         1,
         "n0:0-3 n1:0-3"},
        {"n0:0-3 n1:0-3 n2:0-3",
         {{"n0:0", 50, false}, {"n1:3", 0, false}},
         3,
         4,
         false,
         50,
         "n0:0-3 n1:0-3 n2:0-3"},
        /* one that is not the first keeps all, and does not start before those that wait before it */
        {"n0:0-7", {{"n0:0-5", 0, false}}, 1, 4, true, 1, "n0:0-7"},
        {"n0:0-3", {{"n0:0-2", 60, false}, {"n0:0-3", 60, true}}, 1, 1, true, 60, "n0:0-3"},
        {"n0:0-3", {{"n0:0", 60, false}, {"n0:0-3", 0, true}}, 1, 4, true, 60, "n0:0-3"},
        /* what can never fit keeps all */
        {"n0:0-3", {{"n0:0", 60, false}}, 1, 5, false, 1, "n0:0-3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rset *scope = set_of(cases[i].scope);
        struct wish wish = {cases[i].hosts, cases[i].cores, scope, 0};
        struct reservation_hold holds[5];
        size_t count = 0;
        for (; count < 5 && cases[i].holds[count].set; count++) {
            uint64_t end = cases[i].holds[count].end > NOW ? cases[i].holds[count].end : NOW;
            holds[count] = (struct reservation_hold){set_of(cases[i].holds[count].set), end,
                                                     end > NOW && !cases[i].holds[count].waits};
        }
        struct reservation_question question = {.holds = holds,
                                                .nholds = count,
                                                .now = NOW,
                                                .scope = scope,
                                                .is_first = !cases[i].is_later,
                                                .fit = fit,
                                                .owner = &wish};
        struct reservation made = reservation_make(&question);
        char *kept = text_of(made.kept);
        if (made.start != cases[i].start || strcmp(kept, cases[i].kept) != 0)
            fail_msg("case %zu: starts at %llu and keeps %s, expected %llu and %s", i,
                     (unsigned long long)made.start, kept, (unsigned long long)cases[i].start,
                     cases[i].kept);
        free(kept);
        rset_free(made.kept);
        while (count)
            rset_free(holds[--count].set);
        rset_free(scope);
    }
}

static void test_who_is_over_before_the_start_passes(void **state)
{
    static const struct {
        uint64_t end, start;
        bool passes;
    } cases[] = {{50, 60, true}, {60, 60, true}, {61, 60, false}, {0, 60, false},
                 {50, 0, false}, {50, 1, false}, {0, 0, false}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(reservation_lets_pass(cases[i].end, cases[i].start), cases[i].passes);
}

static void test_where_too_much_would_have_to_be_tried_nothing_is_spared(void **state)
{
    struct reservation_hold holds[40];
    struct rset *scope = set_of("n0:0-63");
    struct wish wish = {1, 44, scope, 0}; /* any 20 of the 40 have to end */
    (void)state;
    for (int i = 0; i < 40; i++) {
        char text[16];
        snprintf(text, sizeof(text), "n0:%d", i);
        holds[i] = (struct reservation_hold){set_of(text), NOW, false};
    }
    struct reservation_question question = {holds, 40, NOW, scope, true, fit, &wish};
    struct reservation made = reservation_make(&question);
    assert_int_equal(made.start, RESERVATION_ANY_MOMENT);
    char *kept = text_of(made.kept);
    assert_string_equal(kept, "n0:0-63");
    assert_true(wish.trials <= 100);
    free(kept);
    rset_free(made.kept);
    for (int i = 0; i < 40; i++)
        rset_free(holds[i].set);
    rset_free(scope);
}

/* ---- nobody is delayed: a machine with its queue, played second by second ---- */

#define JOBS 12
#define LAST 400 /* s */

struct job {
    uint32_t hosts, cores;
    uint64_t arrival, lasts; /* how long it runs */
    bool has_limit;          /* of just that */
    uint64_t begun;          /* 0: not yet */
    bool over;
    struct rset *set;        /* while it runs */
    struct reservation made; /* while it waits */
};

static uint64_t job_end(const struct job *job, uint64_t now)
{
    return !job->has_limit ? 0 : (job->begun ? job->begun : now) + job->lasts;
}

/* As the ledger has it: those that run, and those before it that wait and that it does not pass. */
static void job_reserve(struct job *jobs, size_t number, uint64_t now, struct wish *wish)
{
    struct reservation_hold holds[JOBS];
    struct reservation_question question = {holds, 0, now, wish->scope, true, fit, wish};
    struct job *job = &jobs[number];
    for (size_t i = 0; i < JOBS; i++) {
        const struct job *other = &jobs[i];
        uint64_t until = other->set ? job_end(other, now) : other->made.start;
        bool waits = other->made.kept && i<number, is_known = until> now;
        question.is_first = question.is_first && !waits;
        if (waits && reservation_lets_pass(job_end(job, now), other->made.start))
            continue;
        if (other->set || waits)
            holds[question.nholds++] =
                (struct reservation_hold){other->set ? other->set : other->made.kept,
                                          is_known ? until : now, is_known && other->set};
    }
    rset_free(job->made.kept);
    job->made = reservation_make(&question);
}

static void job_try(struct job *jobs, size_t number, uint64_t now, struct wish *wish)
{
    const struct rset *taken[2 * JOBS];
    size_t count = 0;
    struct job *job = &jobs[number];
    for (size_t i = 0; i < JOBS; i++) {
        if (jobs[i].set)
            taken[count++] = jobs[i].set;
        if (i < number && jobs[i].made.kept &&
            !reservation_lets_pass(job_end(job, now), jobs[i].made.start))
            taken[count++] = jobs[i].made.kept;
    }
    struct rset *all = count ? rset_union_hosts(taken, count) : NULL;
    job->set = fit(wish, all);
    rset_free(all);
    if (!job->set)
        return;
    job->begun = now;
    rset_free(job->made.kept);
    job->made = (struct reservation){0};
}

/* The first so many of the jobs. When each began is in `begun`. */
static void play(const struct job *all, size_t count, const struct rset *scope, uint64_t *begun)
{
    struct job jobs[JOBS] = {0};
    memcpy(jobs, all, count * sizeof(*all));
    for (uint64_t now = NOW; now < LAST; now++) {
        for (size_t i = 0; i < count; i++)
            if (jobs[i].set && jobs[i].begun + jobs[i].lasts <= now) {
                rset_free(jobs[i].set);
                jobs[i].set = NULL;
                jobs[i].over = true;
            }
        for (size_t i = 0; i < count; i++) {
            struct wish wish = {jobs[i].hosts, jobs[i].cores, scope, 0};
            if (jobs[i].begun || jobs[i].arrival > now)
                continue;
            job_try(jobs, i, now, &wish);
            if (!jobs[i].set)
                job_reserve(jobs, i, now, &wish);
        }
    }
    for (size_t i = 0; i < count; i++) {
        begun[i] = jobs[i].begun;
        rset_free(jobs[i].set);
        rset_free(jobs[i].made.kept);
    }
}

static void test_no_program_starts_later_than_without_those_behind_it(void **state)
{
    struct rset *scope = set_of("n0:0-3 n1:0-3 n2:0-1");
    uint64_t seed = 7;
    unsigned overtaken = 0, all = 0;
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        struct job jobs[JOBS] = {0};
        uint64_t with[JOBS], without[JOBS];
        unsigned limits = random_below(&seed, 4);
        for (size_t i = 0; i < JOBS; i++) {
            struct job *job = &jobs[i];
            job->hosts = 1 + random_below(&seed, 4) / 2;
            job->cores = 1 + random_below(&seed, 4);
            if (job->hosts == 2 && job->cores > 2)
                job->cores = 4;
            job->arrival = NOW + (i ? jobs[i - 1].arrival - NOW + random_below(&seed, 4) : 0);
            job->lasts = 1 + random_below(&seed, 20);
            job->has_limit = random_below(&seed, 3) < limits;
        }
        play(jobs, JOBS, scope, with);
        for (size_t count = 1; count < JOBS; count++) {
            play(jobs, count, scope, without);
            if (!with[count - 1] || with[count - 1] > without[count - 1])
                fail_msg("round %u: job %zu begins at %llu, without those behind it at %llu", round,
                         count - 1, (unsigned long long)with[count - 1],
                         (unsigned long long)without[count - 1]);
        }
        for (size_t i = 1; i < JOBS; i++, all++)
            overtaken += with[i] < with[i - 1];
    }
    assert_true(overtaken > all / 20); /* and they are used */
    rset_free(scope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_kept_and_until_when),
        cmocka_unit_test(test_who_is_over_before_the_start_passes),
        cmocka_unit_test(test_where_too_much_would_have_to_be_tried_nothing_is_spared),
        cmocka_unit_test(test_no_program_starts_later_than_without_those_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
