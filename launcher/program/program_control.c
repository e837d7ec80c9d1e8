/* Orders and questions of commands, for a program that is not complete. */
#include "launcher/program/program_control.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/process/signal_name.h"
#include "launcher/program/program_private.h"
#include "launcher/protocol/launch.h"

#define CONTROL_PATIENCE 3.0 /* s that agents have to answer */

/* ---- who is asked ---- */

/* Ranks of groups that are not over. */
static struct idset *live_ranks(const struct program *program)
{
    struct idset *ranks = idset_new();
    for (struct task_group *group = task_groups_first(program->groups); group;
         group = task_group_next(group)) {
        uint32_t first = task_group_first_rank(group), count = task_group_ntasks(group);
        if (count)
            idset_add_range(ranks, first, first + count - 1);
    }
    return ranks;
}

/* Where these ranks (NULL: all) are, of nodes that are not done with their group. */
static struct idset *nodes_of_ranks(const struct program *program, const struct idset *ranks)
{
    struct idset *all = idset_new();
    for (struct task_group *group = task_groups_first(program->groups); group;
         group = task_group_next(group)) {
        struct idset *mine = ranks ? task_group_nodes_of(group, ranks) : idset_new();
        for (uint32_t i = 0; !ranks && i < task_group_nnodes(group); i++)
            idset_add(mine, task_group_tree_nodes(group)[i]);
        idset_keep_set(mine, task_group_pending(group));
        idset_add_set(all, mine);
        idset_free(mine);
    }
    return all;
}

static char *silent_hosts(const struct program *program, const struct inquiry_result *result)
{
    return idset_empty(result->silent) ? NULL : program_hosts_text(program, result->silent);
}

static void answer_refused(const struct program_asker *asker, struct control_answer *answer)
{
    asker->answered(asker->owner, answer);
    control_answer_clear(answer);
}

/* A sentence where it has no tasks that could be meant. */
static bool refuse_without_tasks(const struct program *program, const struct program_asker *asker)
{
    struct control_answer answer = {0};
    if (program_is_live(program))
        return false;
    control_answer_refuse(&answer, CONTROL_NOT_NOW, "%s",
                          program_is_pending(program) ? "it is pending: it has no tasks yet"
                                                      : "it is complete: it has no tasks any more");
    answer_refused(asker, &answer);
    return true;
}

/* ---- signals ---- */

struct signal_order {
    struct program *program;
    const struct program_asker *asker;
    struct idset *ranks; /* that were named; NULL: all that run */
    bool owed;           /* those that wait to be started get it then */
};

static void signal_order_free(struct signal_order *order)
{
    idset_free(order->ranks);
    free(order);
}

/* Those of these ranks that are on hosts that did not answer; caller frees. */
static struct idset *ranks_on_silent(const struct program *program, const struct idset *ranks,
                                     const struct idset *silent)
{
    struct idset *unheard = idset_new(), *one = idset_new();
    for (struct task_group *group = idset_empty(silent) ? NULL : task_groups_first(program->groups);
         group; group = task_group_next(group)) {
        IDSET_FOREACH(rank, ranks)
        {
            idset_add(one, rank);
            struct idset *nodes = task_group_nodes_of(group, one);
            if (idset_count_both(nodes, silent))
                idset_add(unheard, rank);
            idset_remove(one, rank);
            idset_free(nodes);
        }
    }
    idset_free(one);
    return unheard;
}

/* Of the ranks that were named: where they are is known, so those of silent hosts are told from those that
 * ended. */
static void answer_missed(const struct signal_order *order, const struct inquiry_result *result,
                          struct control_answer *answer, struct idset *waiting)
{
    struct idset *left = idset_subtract(order->ranks, answer->reached);
    struct idset *unheard = ranks_on_silent(order->program, left, result->silent);
    idset_keep_set(waiting, left);
    idset_remove_set(left, waiting);
    idset_remove_set(left, unheard);
    control_answer_miss(answer, idset_copy(waiting), "not started yet");
    char *silent = mem_format("no answer in time from %s", answer->silent ?: "its host");
    control_answer_miss(answer, unheard, silent);
    free(silent);
    control_answer_miss(answer, left, "ended");
}

static void on_signalled(void *owner, struct inquiry_result *result)
{
    struct signal_order *order = owner;
    struct control_answer answer = {.reached = idset_new()};
    struct idset *waiting = idset_new();
    for (size_t i = 0; i < result->nnodes; i++) {
        const struct inquiry_answer *node = &result->nodes[i].answer;
        for (size_t j = 0; j < node->ntasks; j++)
            idset_add(answer.reached, node->tasks[j].rank);
        idset_add_set(order->owed ? answer.reached : waiting, node->waiting);
    }
    answer.silent = silent_hosts(order->program, result);
    if (order->ranks)
        answer_missed(order, result, &answer, waiting);
    order->asker->answered(order->asker->owner, &answer);
    control_answer_clear(&answer);
    idset_free(waiting);
    signal_order_free(order);
}

/* All tasks are asked to end: how they end is their answer to that. */
static void expect_end(struct program *program, int number, const char *who)
{
    bool ends = number != SIGUSR1 && number != SIGUSR2; /* what those mean tasks know */
    if (ends)
        outcome_signal_sent(program->outcome, number);
    graceful_stop_expect(program->stop, number,
                         ends ? mem_format("told to end by %s: ", who) : NULL, "");
}

static void log_signal(struct program *program, int number, const struct idset *ranks,
                       const char *who)
{
    json_t *context = json_pack("{s:i, s:o}", "number", number, "who", frame_text(who));
    if (ranks)
        json_object_set_new(context, "ranks", idset_to_json(ranks));
    program_log_event(program->log, "signal", context);
    program_log_write(program->log);
}

void program_control_signal(struct program *program, int number, const struct idset *ranks,
                            const char *who, const struct program_asker *asker)
{
    struct control_answer answer = {0};
    uint32_t nranks = task_groups_ranks(program->groups);
    if (refuse_without_tasks(program, asker))
        return;
    if (ranks && idset_last(ranks) >= nranks) {
        control_answer_refuse(&answer, CONTROL_REFUSED, "unknown rank %u (expected 0-%u)",
                              idset_last(ranks), nranks - 1);
        answer_refused(asker, &answer);
        return;
    }
    struct idset *live = live_ranks(program);
    bool all = !ranks || idset_within(live, ranks);
    struct signal_order *order = mem_alloc(sizeof(*order));
    struct inquiry inquiry = {.nodes = nodes_of_ranks(program, all ? NULL : ranks),
                              .ranks = all ? NULL : (struct idset *)(uintptr_t)ranks,
                              .signal = number,
                              .asks_for_end = all && signal_asks_for_end(number)};
    *order = (struct signal_order){program, asker, ranks ? idset_copy(ranks) : NULL,
                                   inquiry.asks_for_end};
    log_signal(program, number, ranks, who);
    if (inquiry.asks_for_end)
        expect_end(program, number, who);
    inquiries_ask(program->inquiries, &inquiry, CONTROL_PATIENCE, on_signalled, order);
    idset_free(inquiry.nodes);
    idset_free(live);
}

/* ---- the end ---- */

void program_control_terminate(struct program *program, double grace, const char *who,
                               const struct program_asker *asker)
{
    struct control_answer answer = {0};
    bool live = program_is_live(program);
    if (program->state == PROGRAM_COMPLETE) {
        control_answer_refuse(&answer, CONTROL_NOT_NOW, "it is complete");
        answer_refused(asker, &answer);
        return;
    }
    if (grace < 0)
        grace = program->spec->kill_grace;
    char *doing = live ? NULL : program_start_describe(program->start);
    char *line = mem_format("ended by %s%s%s", who, doing ? " " : "", doing ? doing : "");
    outcome_other(program->outcome, clock_monotonic_ns(), 128 + SIGTERM, line);
    program->ended_by = who;
    program_event(program, PROGRAM_TERMINATE, grace);
    program->ended_by = NULL;
    if (live)
        graceful_stop_terminated(program->stop, "", grace);
    asker->answered(asker->owner, &answer);
    free(doing);
    free(line);
}

/* ---- stdin ---- */

struct input_question {
    struct program *program;
    const struct program_asker *asker;
    struct idset *ranks; /* that were started with a stdin */
    bool named;          /* by the command; else those that can are meant */
};

/* Ranks of the command line that are sent input from anywhere. */
static struct idset *ranks_with_stdin(const struct program *program)
{
    const struct task_group *first = task_groups_find(program->groups, 0);
    struct idset *ranks = idset_new(), *listed = launch_input_ranks(program->spec);
    uint32_t count = first ? task_group_ntasks(first) : 0;
    if (program->spec->input == SPEC_INPUT_ALL && count)
        idset_add_range(ranks, 0, count - 1);
    else if (program->spec->input == SPEC_INPUT_RANKS && listed)
        idset_add_set(ranks, listed);
    else if (program->spec->input == SPEC_INPUT_FILE)
        idset_add(ranks, 0);
    idset_free(listed);
    return ranks;
}

/* "ranks 3-4 have ended, rank 7 ...": takes the ranks. */
static void add_why(struct buf *text, struct idset *ranks, const char *one, const char *many)
{
    bool several = idset_count(ranks) > 1;
    char *names = idset_encode(ranks);
    if (!idset_empty(ranks))
        buf_printf(text, "%s%s %s %s", text->len ? ", " : "", several ? "ranks" : "rank", names,
                   several ? many : one);
    free(names);
    idset_free(ranks);
}

/* Of an open question: who reads, and why others do not. */
struct stdin_states {
    struct idset *there, *reading, *lagging;
};

static void answer_input(struct input_question *question, const struct stdin_states *states,
                         const char *silent, struct control_answer *answer)
{
    struct buf why = BUF_INIT;
    struct idset *unheard = idset_subtract(question->ranks, states->there);
    struct idset *closed = idset_subtract(question->ranks, states->reading);
    idset_keep_set(closed, states->there);
    if (silent) {
        char *text = mem_format("cannot be asked: no answer in time from %s", silent);
        add_why(&why, unheard, text, text);
        free(text);
    } else {
        if (question->named)
            add_why(&why, idset_copy(unheard), "has ended", "have ended");
        idset_free(unheard);
    }
    if (question->named)
        add_why(&why, idset_copy(closed),
                "reads no more: the end of its stdin was sent, or it has closed it",
                "read no more: the end of their stdin was sent, or they have closed it");
    idset_free(closed);
    add_why(&why, idset_intersect(question->ranks, states->lagging),
            "has not read what was sent to it before",
            "have not read what was sent to them before");
    if (why.len) {
        control_answer_refuse(answer, CONTROL_NOT_NOW, "%s", buf_text(&why));
    } else {
        answer->reached = idset_intersect(question->ranks, states->reading);
        if (idset_empty(answer->reached))
            control_answer_refuse(answer, CONTROL_NOT_NOW,
                                  "none of its tasks reads stdin any more");
    }
    buf_free(&why);
}

static void on_stdin_told(void *owner, struct inquiry_result *result)
{
    struct input_question *question = owner;
    struct control_answer answer = {0};
    struct stdin_states states = {idset_new(), idset_new(), idset_new()};
    for (size_t i = 0; i < result->nnodes; i++) {
        const struct inquiry_answer *node = &result->nodes[i].answer;
        for (size_t j = 0; j < node->ntasks; j++)
            idset_add(states.there, node->tasks[j].rank);
        idset_add_set(states.there, node->waiting);
        if (node->reading)
            idset_add_set(states.reading, node->reading);
        if (node->lagging)
            idset_add_set(states.lagging, node->lagging);
    }
    idset_keep_set(states.reading, states.there);
    char *silent = silent_hosts(question->program, result);
    answer_input(question, &states, silent, &answer);
    question->asker->answered(question->asker->owner, &answer);
    control_answer_clear(&answer);
    idset_free(states.there);
    idset_free(states.reading);
    idset_free(states.lagging);
    idset_free(question->ranks);
    free(silent);
    free(question);
}

/* What needs no agent to be seen: a sentence, or nothing. */
static void refuse_ranks(const struct program *program, const struct idset *ranks,
                         const struct idset *with_stdin, struct control_answer *answer)
{
    uint32_t nranks = task_groups_ranks(program->groups);
    struct buf text = BUF_INIT;
    if (idset_empty(with_stdin) && program->spec->input == SPEC_INPUT_TOOLS)
        control_answer_refuse(answer, CONTROL_REFUSED,
                              "its input comes from PMIx tools (--input tools)");
    else if (idset_empty(with_stdin))
        control_answer_refuse(answer, CONTROL_REFUSED, "none of its tasks has a stdin%s",
                              program->spec->input == SPEC_INPUT_NONE
                                  ? " (--input none, or tprun's own stdin is /dev/null)"
                                  : " any more");
    else if (ranks && idset_last(ranks) >= nranks)
        control_answer_refuse(answer, CONTROL_REFUSED, "unknown rank %u (expected 0-%u)",
                              idset_last(ranks), nranks - 1);
    else if (ranks)
        add_why(&text, idset_subtract(ranks, with_stdin), "was started without a stdin",
                "were started without a stdin");
    if (text.len) {
        char *with = idset_encode(with_stdin);
        control_answer_refuse(answer, CONTROL_REFUSED, "%s (started with one: %s)", buf_text(&text),
                              with);
        free(with);
    }
    buf_free(&text);
}

void program_control_input(struct program *program, const struct idset *ranks,
                           const struct program_asker *asker)
{
    struct control_answer answer = {0};
    if (refuse_without_tasks(program, asker))
        return;
    struct idset *with_stdin = ranks_with_stdin(program);
    refuse_ranks(program, ranks, with_stdin, &answer);
    if (answer.status) {
        answer_refused(asker, &answer);
        idset_free(with_stdin);
        return;
    }
    struct input_question *question = mem_alloc(sizeof(*question));
    *question = (struct input_question){
        program, asker, ranks ? idset_copy(ranks) : idset_copy(with_stdin), ranks != NULL};
    struct inquiry inquiry = {.nodes = nodes_of_ranks(program, question->ranks),
                              .ranks = question->ranks,
                              .about_stdin = true};
    inquiries_ask(program->inquiries, &inquiry, CONTROL_PATIENCE, on_stdin_told, question);
    idset_free(inquiry.nodes);
    idset_free(with_stdin);
}

/* ---- what they use ---- */

struct ps_question {
    struct program *program;
    const struct program_asker *asker;
};

static void on_sampled(void *owner, struct inquiry_result *result)
{
    struct ps_question *question = owner;
    struct control_answer answer = {0};
    for (size_t i = 0; i < result->nnodes; i++) {
        const char *host = program_host_name(question->program, result->nodes[i].node);
        struct control_node *node = control_answer_add_node(&answer, host ? host : "unknown");
        node->tasks = result->nodes[i].answer;
        result->nodes[i].answer = (struct inquiry_answer){0};
    }
    answer.silent = silent_hosts(question->program, result);
    question->asker->answered(question->asker->owner, &answer);
    control_answer_clear(&answer);
    free(question);
}

void program_control_ps(struct program *program, const struct program_asker *asker)
{
    if (refuse_without_tasks(program, asker))
        return;
    struct ps_question *question = mem_alloc(sizeof(*question));
    *question = (struct ps_question){program, asker};
    struct inquiry inquiry = {.nodes = nodes_of_ranks(program, NULL)};
    inquiries_ask(program->inquiries, &inquiry, CONTROL_PATIENCE, on_sampled, question);
    idset_free(inquiry.nodes);
}
