/* The exit status of a program and who is named for it, for program.c: failures in order of time, ranks of one
 * kind in one line. */
#include "launcher/program/outcome.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"

struct failure {
    uint64_t time;
    char *why; /* NULL: text is the whole line */
    int status;
    char *text;
    struct idset *ranks;
    struct idset *nodes; /* that they were on; or the one that it was */
    bool always;         /* said even if it was not the first */
    bool may_succeed;    /* as outcome_abort_may_succeed() */
};

struct outcome {
    struct failure *failures;
    size_t count;
    struct idset *killed;
    const char *const *hosts;
    struct idset *dead;
    int signal;       /* the signal that tasks were sent because tprun was; 0: none */
    bool may_succeed; /* an abort with code 0 */
};

struct outcome *outcome_new(void)
{
    struct outcome *outcome = mem_alloc(sizeof(*outcome));
    outcome->killed = idset_new();
    outcome->dead = idset_new();
    return outcome;
}

static void failure_clear(struct failure *failure)
{
    free(failure->why);
    free(failure->text);
    idset_free(failure->ranks);
    idset_free(failure->nodes);
}

void outcome_free(struct outcome *outcome)
{
    if (!outcome)
        return;
    for (size_t i = 0; i < outcome->count; i++)
        failure_clear(&outcome->failures[i]);
    free(outcome->failures);
    idset_free(outcome->killed);
    idset_free(outcome->dead);
    free(outcome);
}

void outcome_set_hosts(struct outcome *outcome, const char *const *hosts)
{
    outcome->hosts = hosts;
}

void outcome_abort_may_succeed(struct outcome *outcome)
{
    outcome->may_succeed = true;
}

static bool is_same_outcome(const struct failure *a, const struct failure *b)
{
    return a->why && b->why && strcmp(a->why, b->why) == 0 && a->status == b->status &&
           (a->text && b->text ? strcmp(a->text, b->text) == 0 : a->text == b->text) &&
           (!idset_empty(a->ranks) || idset_equal(a->nodes, b->nodes));
}

static void outcome_add(struct outcome *outcome, const struct failure *failure)
{
    outcome->failures =
        mem_resize(outcome->failures, outcome->count + 1, sizeof(*outcome->failures));
    outcome->failures[outcome->count++] =
        (struct failure){failure->time,
                         mem_copy_text(failure->why),
                         failure->status,
                         mem_copy_text(failure->text),
                         failure->ranks ? idset_copy(failure->ranks) : idset_new(),
                         failure->nodes ? idset_copy(failure->nodes) : idset_new(),
                         failure->always,
                         outcome->may_succeed};
}

static void add_to(struct idset **set, const struct idset *more)
{
    struct idset *both = idset_union(*set, more);
    idset_free(*set);
    *set = both;
}

/* ---- an abort, and the exit that follows it ---- */

/* A task that aborts exits with the code of it. Which of the two is told first depends on how busy
 * its PMIx server is: the abort is what happened. */
static bool is_exit_of(const struct failure *end, const struct failure *abort)
{
    return end->why && abort->why && strcmp(abort->why, "abort") == 0 &&
           (strcmp(end->why, "exit") == 0 || strcmp(end->why, "unfinalized") == 0) &&
           end->status == abort->status && !end->text;
}

static bool exit_is_of_known_abort(struct outcome *outcome, const struct failure *end)
{
    for (size_t i = 0; i < outcome->count; i++) {
        struct failure *known = &outcome->failures[i];
        if (!is_exit_of(end, known) || !idset_within(end->ranks, known->ranks))
            continue;
        if (end->time < known->time)
            known->time = end->time;
        return true;
    }
    return false;
}

static void abort_takes_known_exits(struct outcome *outcome, struct failure *abort)
{
    for (size_t i = outcome->count; i-- > 0;) {
        struct failure *known = &outcome->failures[i];
        if (!is_exit_of(known, abort) || !idset_count_both(known->ranks, abort->ranks))
            continue;
        if (known->time < abort->time)
            abort->time = known->time;
        idset_remove_set(known->ranks, abort->ranks);
        if (!idset_empty(known->ranks))
            continue;
        failure_clear(known);
        *known = outcome->failures[--outcome->count];
    }
}

void outcome_task_ended(struct outcome *outcome, uint64_t time, const char *why, int status,
                        const char *text, const struct idset *ranks, const struct idset *nodes)
{
    struct failure failure = {time,
                              (char *)(uintptr_t)why,
                              status,
                              (char *)(uintptr_t)text,
                              (struct idset *)(uintptr_t)ranks,
                              (struct idset *)(uintptr_t)nodes,
                              false,
                              outcome->may_succeed};
    add_to(&outcome->dead, ranks);
    if (exit_is_of_known_abort(outcome, &failure))
        return;
    abort_takes_known_exits(outcome, &failure);
    for (size_t i = 0; i < outcome->count; i++) {
        struct failure *known = &outcome->failures[i];
        if (!is_same_outcome(known, &failure) || idset_empty(known->ranks) != idset_empty(ranks))
            continue;
        add_to(&known->ranks, ranks);
        add_to(&known->nodes, nodes);
        if (failure.time < known->time)
            known->time = failure.time;
        return;
    }
    outcome_add(outcome, &failure);
}

void outcome_other(struct outcome *outcome, uint64_t time, int status, const char *line)
{
    struct failure failure = {.time = time, .status = status, .text = (char *)(uintptr_t)line};
    outcome_add(outcome, &failure);
}

void outcome_always(struct outcome *outcome, uint64_t time, int status, const char *line)
{
    struct failure failure = {
        .time = time, .status = status, .text = (char *)(uintptr_t)line, .always = true};
    outcome_add(outcome, &failure);
}

void outcome_signal_sent(struct outcome *outcome, int number)
{
    outcome->signal = number;
}

void outcome_killed(struct outcome *outcome, const struct idset *ranks)
{
    add_to(&outcome->killed, ranks);
}

bool outcome_is_clean(const struct outcome *outcome)
{
    return outcome->count == 0;
}

const struct idset *outcome_dead(const struct outcome *outcome)
{
    return outcome->dead;
}

/* ---- words ---- */

/* "rank 17 on node3", "ranks 0-3 on node[0-1]", "node3" */
static void say_who(const struct outcome *outcome, const struct failure *failure, struct buf *out)
{
    struct hostlist *hosts = hostlist_new();
    char *ranks = idset_encode(failure->ranks);
    IDSET_FOREACH(node, failure->nodes)
    hostlist_append(hosts, outcome->hosts[node]);
    char *where = hostlist_encode(hosts);
    if (idset_empty(failure->ranks))
        buf_add_text(out, *where ? where : "a node");
    else
        buf_printf(out, "rank%s %s on %s", idset_count(failure->ranks) > 1 ? "s" : "", ranks,
                   where);
    free(where);
    free(ranks);
    hostlist_free(hosts);
}

static void say_exit(const struct failure *failure, struct buf *out)
{
    buf_printf(out, "exited with status %d", WEXITSTATUS(failure->status));
    if (failure->text)
        buf_printf(out, ": a process of it was %s", failure->text);
}

static void say_signal(const struct failure *failure, struct buf *out)
{
    if (failure->text) {
        buf_add_text(out, failure->text);
        return;
    }
    buf_printf(out, "killed by signal %d (%s)%s", WTERMSIG(failure->status),
               strsignal(WTERMSIG(failure->status)),
               WCOREDUMP(failure->status) ? ", core dumped" : "");
}

static void say_unfinalized(const struct failure *failure, struct buf *out)
{
    (void)failure;
    buf_add_text(out, "exited without finalizing (no MPI_Finalize after MPI_Init)");
}

static int abort_status(const struct failure *failure)
{
    int code = WEXITSTATUS(failure->status);
    return code || failure->may_succeed ? code : OUTCOME_ABORTED;
}

static void say_code(const struct failure *failure, struct buf *out)
{
    int code = WEXITSTATUS(failure->status), status = abort_status(failure);
    buf_printf(out, " with code %d", code);
    if (status != code)
        buf_printf(out, ", which counts as exit status %d", status);
}

static void say_abort(const struct failure *failure, struct buf *out)
{
    buf_add_text(out, "aborted the program");
    say_code(failure, out);
}

static void say_aborted(const struct failure *failure, struct buf *out)
{
    buf_add_text(out, failure->text ? failure->text : "aborted");
    say_code(failure, out);
}

static void say_text(const struct failure *failure, struct buf *out)
{
    buf_add_text(out, failure->text ? failure->text : "failed");
}

static void say_pmi(const struct failure *failure, struct buf *out)
{
    buf_printf(out, "PMI: %s", failure->text ? failure->text : "protocol error");
}

static const struct {
    const char *why;
    void (*say)(const struct failure *failure, struct buf *out);
} outcome_kinds[] = {
    {"exit", say_exit},   {"signal", say_signal},   {"unfinalized", say_unfinalized},
    {"abort", say_abort}, {"aborted", say_aborted}, {"start", say_text},
    {"pmi", say_pmi}};

static void outcome_say_line(const struct outcome *outcome, const struct failure *failure,
                             struct buf *out)
{
    if (!failure->why) {
        buf_printf(out, "%s\n", failure->text);
        return;
    }
    say_who(outcome, failure, out);
    buf_add_text(out, ": ");
    for (size_t i = 0; i < sizeof(outcome_kinds) / sizeof(outcome_kinds[0]); i++)
        if (strcmp(outcome_kinds[i].why, failure->why) == 0)
            outcome_kinds[i].say(failure, out);
    buf_add_char(out, '\n');
}

static int exit_status(const struct failure *failure)
{
    if (!failure->why)
        return failure->status;
    if (WIFSIGNALED(failure->status))
        return 128 + WTERMSIG(failure->status);
    if (strcmp(failure->why, "unfinalized") == 0)
        return 1;
    if (strcmp(failure->why, "abort") == 0 || strcmp(failure->why, "aborted") == 0)
        return abort_status(failure);
    return WEXITSTATUS(failure->status);
}

/* It ended as the signal made it, which was said when it was sent. */
static bool is_answer(const struct outcome *outcome, const struct failure *failure)
{
    return outcome->signal && failure->why &&
           (strcmp(failure->why, "exit") == 0 || strcmp(failure->why, "signal") == 0) &&
           exit_status(failure) == 128 + outcome->signal;
}

static bool is_start(const struct failure *failure)
{
    return failure->why && strcmp(failure->why, "start") == 0;
}

static int failure_compare(const void *a, const void *b)
{
    const struct failure *one = *(const struct failure *const *)a;
    const struct failure *other = *(const struct failure *const *)b;
    uint32_t rank = idset_first(one->ranks), against = idset_first(other->ranks);
    if (one->time != other->time)
        return one->time < other->time ? -1 : 1;
    if (rank != against)
        return rank < against ? -1 : 1;
    return one < other ? -1 : one > other;
}

/* How many ranks failed too, beside those of `shown`, and how many tprun ended. */
static void say_counts(const struct outcome *outcome, const struct idset *shown, struct buf *lines)
{
    struct idset *later = idset_new(), *blamed = idset_new();
    for (size_t i = 0; i < outcome->count; i++) {
        add_to(&blamed, outcome->failures[i].ranks);
        if (!is_answer(outcome, &outcome->failures[i]))
            add_to(&later, outcome->failures[i].ranks);
    }
    struct idset *others = idset_subtract(later, shown);
    struct idset *killed = idset_subtract(outcome->killed, blamed);
    size_t failed = idset_count(others), ended = idset_count(killed);
    if (failed)
        buf_printf(lines, "%zu more task%s failed after that\n", failed, failed > 1 ? "s" : "");
    if (ended)
        buf_printf(lines, "%zu %stask%s ended by tprun then\n", ended,
                   idset_empty(shown) ? "" : "other ", ended > 1 ? "s were" : " was");
    idset_free(killed);
    idset_free(others);
    idset_free(blamed);
    idset_free(later);
}

/* The first that is worth a line. What was in the way of tasks is not the doing of the first of
 * them: every such reason is shown. */
static void say_first(const struct outcome *outcome, const struct failure *const *list,
                      struct buf *lines)
{
    size_t at = 0;
    while (at < outcome->count && is_answer(outcome, list[at]))
        at++;
    if (at == outcome->count)
        return;
    struct idset *shown = idset_copy(list[at]->ranks);
    outcome_say_line(outcome, list[at], lines);
    for (size_t i = at + 1; i < outcome->count && is_start(list[at]); i++) {
        if (!is_start(list[i]))
            continue;
        outcome_say_line(outcome, list[i], lines);
        add_to(&shown, list[i]->ranks);
    }
    say_counts(outcome, shown, lines);
    for (size_t i = at + 1; i < outcome->count; i++)
        if (list[i]->always)
            outcome_say_line(outcome, list[i], lines);
    idset_free(shown);
}

int outcome_status(const struct outcome *outcome, struct buf *lines)
{
    if (!outcome->count)
        return 0;
    /* By time, and where that is the same by rank. */
    const struct failure **list = mem_array(outcome->count, sizeof(const struct failure *));
    for (size_t i = 0; i < outcome->count; i++)
        list[i] = &outcome->failures[i];
    qsort(list, outcome->count, sizeof(const struct failure *), failure_compare);
    int status = exit_status(list[0]);
    say_first(outcome, list, lines);
    free(list);
    return status;
}
