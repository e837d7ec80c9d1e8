#include "launcher/manager/outcome.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"

struct ending {
    uint64_t time;
    char *why; /* NULL: text is the whole line */
    int status;
    char *text;
    struct idset *ranks;
    struct idset *nodes; /* that they were on; or the one that it was */
    bool always;         /* said even if it was not the first */
    bool may_succeed;    /* as outcome_abort_may_succeed() */
};

struct verdict {
    struct ending *endings;
    size_t count;
    struct idset *victims;
    const char *const *hosts;
    int told;         /* the signal that tasks were sent because tprun was; 0: none */
    bool may_succeed; /* an abort with code 0 */
};

struct verdict *outcome_new(void)
{
    struct verdict *verdict = mem_alloc(sizeof(*verdict));
    verdict->victims = idset_new();
    return verdict;
}

void outcome_free(struct verdict *verdict)
{
    if (!verdict)
        return;
    for (size_t i = 0; i < verdict->count; i++) {
        free(verdict->endings[i].why);
        free(verdict->endings[i].text);
        idset_free(verdict->endings[i].ranks);
        idset_free(verdict->endings[i].nodes);
    }
    free(verdict->endings);
    idset_free(verdict->victims);
    free(verdict);
}

void outcome_set_hosts(struct verdict *verdict, const char *const *hosts)
{
    verdict->hosts = hosts;
}

void outcome_abort_may_succeed(struct verdict *verdict)
{
    verdict->may_succeed = true;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_fate(const struct ending *a, const struct ending *b)
{
    return a->why && b->why && strcmp(a->why, b->why) == 0 && a->status == b->status &&
           same_text(a->text, b->text) &&
           (!idset_empty(a->ranks) || idset_equal(a->nodes, b->nodes));
}

static void verdict_add(struct verdict *verdict, const struct ending *ending)
{
    verdict->endings = mem_resize(verdict->endings, verdict->count + 1, sizeof(*verdict->endings));
    verdict->endings[verdict->count++] =
        (struct ending){ending->time,
                        mem_copy_text(ending->why),
                        ending->status,
                        mem_copy_text(ending->text),
                        ending->ranks ? idset_copy(ending->ranks) : idset_new(),
                        ending->nodes ? idset_copy(ending->nodes) : idset_new(),
                        ending->always,
                        verdict->may_succeed};
}

static void add_to(struct idset **set, const struct idset *more)
{
    struct idset *both = idset_union(*set, more);
    idset_free(*set);
    *set = both;
}

void outcome_ended(struct verdict *verdict, uint64_t time, const char *why, int status,
                   const char *text, const struct idset *ranks, const struct idset *nodes)
{
    struct ending ending = {time,
                            (char *)(uintptr_t)why,
                            status,
                            (char *)(uintptr_t)text,
                            (struct idset *)(uintptr_t)ranks,
                            (struct idset *)(uintptr_t)nodes,
                            false,
                            verdict->may_succeed};
    for (size_t i = 0; i < verdict->count; i++) {
        struct ending *known = &verdict->endings[i];
        if (!same_fate(known, &ending) || idset_empty(known->ranks) != idset_empty(ranks))
            continue;
        add_to(&known->ranks, ranks);
        add_to(&known->nodes, nodes);
        if (time < known->time)
            known->time = time;
        return;
    }
    verdict_add(verdict, &ending);
}

void outcome_other(struct verdict *verdict, uint64_t time, int status, const char *line)
{
    struct ending ending = {.time = time, .status = status, .text = (char *)(uintptr_t)line};
    verdict_add(verdict, &ending);
}

void outcome_always(struct verdict *verdict, uint64_t time, int status, const char *line)
{
    struct ending ending = {
        .time = time, .status = status, .text = (char *)(uintptr_t)line, .always = true};
    verdict_add(verdict, &ending);
}

void outcome_told(struct verdict *verdict, int number)
{
    verdict->told = number;
}

void outcome_victims(struct verdict *verdict, const struct idset *ranks)
{
    add_to(&verdict->victims, ranks);
}

int outcome_empty(const struct verdict *verdict)
{
    return verdict->count == 0;
}

/* ---- words ---- */

/* "rank 17 on node3", "ranks 0-3 on node[0-1]", "node3" */
static void say_who(const struct verdict *verdict, const struct ending *ending, struct buf *out)
{
    struct hostlist *hosts = hostlist_new();
    char *ranks = idset_encode(ending->ranks);
    IDSET_FOREACH(node, ending->nodes)
    hostlist_append(hosts, verdict->hosts[node]);
    char *where = hostlist_encode(hosts);
    if (idset_empty(ending->ranks))
        buf_add_text(out, *where ? where : "a node");
    else
        buf_printf(out, "rank%s %s on %s", idset_count(ending->ranks) > 1 ? "s" : "", ranks, where);
    free(where);
    free(ranks);
    hostlist_free(hosts);
}

static void say_exit(const struct ending *ending, struct buf *out)
{
    buf_printf(out, "exited with status %d", WEXITSTATUS(ending->status));
    if (ending->text)
        buf_printf(out, ": a process of it was %s", ending->text);
}

static void say_signal(const struct ending *ending, struct buf *out)
{
    if (ending->text) {
        buf_add_text(out, ending->text);
        return;
    }
    buf_printf(out, "killed by signal %d (%s)%s", WTERMSIG(ending->status),
               strsignal(WTERMSIG(ending->status)),
               WCOREDUMP(ending->status) ? ", core dumped" : "");
}

static void say_unfinalized(const struct ending *ending, struct buf *out)
{
    (void)ending;
    buf_add_text(out, "exited without finalizing (no MPI_Finalize after MPI_Init)");
}

static int abort_status(const struct ending *ending)
{
    int code = WEXITSTATUS(ending->status);
    return code || ending->may_succeed ? code : OUTCOME_ABORTED;
}

static void say_code(const struct ending *ending, struct buf *out)
{
    int code = WEXITSTATUS(ending->status), status = abort_status(ending);
    buf_printf(out, " with code %d", code);
    if (status != code)
        buf_printf(out, ", which counts as exit status %d", status);
}

static void say_abort(const struct ending *ending, struct buf *out)
{
    buf_add_text(out, "aborted the program");
    say_code(ending, out);
}

static void say_aborted(const struct ending *ending, struct buf *out)
{
    buf_add_text(out, ending->text ? ending->text : "aborted");
    say_code(ending, out);
}

static void say_text(const struct ending *ending, struct buf *out)
{
    buf_add_text(out, ending->text ? ending->text : "failed");
}

static void say_pmi(const struct ending *ending, struct buf *out)
{
    buf_printf(out, "PMI: %s", ending->text ? ending->text : "protocol error");
}

static const struct {
    const char *why;
    void (*say)(const struct ending *ending, struct buf *out);
} fates[] = {{"exit", say_exit},   {"signal", say_signal},   {"unfinalized", say_unfinalized},
             {"abort", say_abort}, {"aborted", say_aborted}, {"start", say_text},
             {"pmi", say_pmi}};

static void outcome_say_line(const struct verdict *verdict, const struct ending *ending,
                             struct buf *out)
{
    if (!ending->why) {
        buf_printf(out, "%s\n", ending->text);
        return;
    }
    say_who(verdict, ending, out);
    buf_add_text(out, ": ");
    for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++)
        if (strcmp(fates[i].why, ending->why) == 0)
            fates[i].say(ending, out);
    buf_add_char(out, '\n');
}

static int exit_status(const struct ending *ending)
{
    if (!ending->why)
        return ending->status;
    if (WIFSIGNALED(ending->status))
        return 128 + WTERMSIG(ending->status);
    if (strcmp(ending->why, "unfinalized") == 0)
        return 1;
    if (strcmp(ending->why, "abort") == 0 || strcmp(ending->why, "aborted") == 0)
        return abort_status(ending);
    return WEXITSTATUS(ending->status);
}

/* Without those that are blamed for something. */
static size_t count_victims(const struct verdict *verdict)
{
    struct idset *victims = idset_copy(verdict->victims);
    for (size_t i = 0; i < verdict->count; i++) {
        struct idset *left = idset_subtract(victims, verdict->endings[i].ranks);
        idset_free(victims);
        victims = left;
    }
    size_t count = idset_count(victims);
    idset_free(victims);
    return count;
}

/* It ended as the signal made it, which was said when it was sent. */
static bool is_answer(const struct verdict *verdict, const struct ending *ending)
{
    return verdict->told && ending->why &&
           (strcmp(ending->why, "exit") == 0 || strcmp(ending->why, "signal") == 0) &&
           exit_status(ending) == 128 + verdict->told;
}

/* Ranks that failed too, each once; those that `told` says nothing new of are left out. */
static size_t count_later(const struct verdict *verdict, const struct idset *told)
{
    struct idset *later = idset_new();
    for (size_t i = 0; i < verdict->count; i++)
        if (!is_answer(verdict, &verdict->endings[i]))
            add_to(&later, verdict->endings[i].ranks);
    struct idset *others = idset_subtract(later, told);
    size_t count = idset_count(others);
    idset_free(others);
    idset_free(later);
    return count;
}

static bool is_start(const struct ending *ending)
{
    return ending->why && strcmp(ending->why, "start") == 0;
}

static int compare_endings(const void *a, const void *b)
{
    const struct ending *one = *(const struct ending *const *)a;
    const struct ending *other = *(const struct ending *const *)b;
    uint32_t rank = idset_first(one->ranks), against = idset_first(other->ranks);
    if (one->time != other->time)
        return one->time < other->time ? -1 : 1;
    if (rank != against)
        return rank < against ? -1 : 1;
    return one < other ? -1 : one > other;
}

/* By time, and where that is the same by rank; caller frees. */
static const struct ending **in_order(const struct verdict *verdict)
{
    const struct ending **list = mem_array(verdict->count, sizeof(const struct ending *));
    for (size_t i = 0; i < verdict->count; i++)
        list[i] = &verdict->endings[i];
    qsort(list, verdict->count, sizeof(const struct ending *), compare_endings);
    return list;
}

static void say_counts(const struct verdict *verdict, const struct idset *told, struct buf *lines)
{
    size_t later = count_later(verdict, told);
    size_t ended = count_victims(verdict);
    if (later)
        buf_printf(lines, "%zu more task%s failed after that\n", later, later > 1 ? "s" : "");
    if (ended)
        buf_printf(lines, "%zu %stask%s ended by tprun then\n", ended,
                   idset_empty(told) ? "" : "other ", ended > 1 ? "s were" : " was");
}

/* The first that is worth a line. What was in the way of tasks is not the doing of the first of
 * them: every such reason is told. */
static void say_first(const struct verdict *verdict, const struct ending *const *list,
                      struct buf *lines)
{
    size_t at = 0;
    while (at < verdict->count && is_answer(verdict, list[at]))
        at++;
    if (at == verdict->count)
        return;
    struct idset *told = idset_copy(list[at]->ranks);
    outcome_say_line(verdict, list[at], lines);
    for (size_t i = at + 1; i < verdict->count && is_start(list[at]); i++) {
        if (!is_start(list[i]))
            continue;
        outcome_say_line(verdict, list[i], lines);
        add_to(&told, list[i]->ranks);
    }
    say_counts(verdict, told, lines);
    for (size_t i = at + 1; i < verdict->count; i++)
        if (list[i]->always)
            outcome_say_line(verdict, list[i], lines);
    idset_free(told);
}

int outcome_give(const struct verdict *verdict, struct buf *lines)
{
    if (!verdict->count)
        return 0;
    const struct ending **list = in_order(verdict);
    int status = exit_status(list[0]);
    say_first(verdict, list, lines);
    free(list);
    return status;
}
