/* Questions about tasks and their answers, written and read. */
#include "launcher/protocol/inquiry.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

/* The set of this key; NULL with a sentence where it is none, without one where it is missing. */
static struct idset *set_at(const json_t *value, const char *key, struct error *err)
{
    const json_t *text = json_object_get(value, key);
    if (!text)
        return NULL;
    if (!json_is_string(text)) {
        error_set(err, "%s: expected a set of numbers", key);
        return NULL;
    }
    struct idset *set = idset_decode(json_string_value(text), err);
    if (!set)
        error_prefix(err, "%s", key);
    return set;
}

/* ---- the question ---- */

json_t *inquiry_to_json(const struct inquiry *inquiry)
{
    json_t *value = json_pack("{s:o}", "nodes", idset_to_json(inquiry->nodes));
    if (inquiry->ranks)
        json_object_set_new(value, "ranks", idset_to_json(inquiry->ranks));
    if (inquiry->signal)
        json_object_set_new(value, "signal", json_integer(inquiry->signal));
    if (inquiry->asks_for_end)
        json_object_set_new(value, "end", json_true());
    if (inquiry->about_stdin)
        json_object_set_new(value, "stdin", json_true());
    return value;
}

int inquiry_from_json(struct inquiry *inquiry, const json_t *value, struct error *err)
{
    const json_t *signal = json_object_get(value, "signal");
    *inquiry = (struct inquiry){0};
    inquiry->nodes = set_at(value, "nodes", err);
    if (!inquiry->nodes)
        return error_set(err, "nodes: expected a set of numbers");
    inquiry->ranks = set_at(value, "ranks", err);
    if (!inquiry->ranks && json_object_get(value, "ranks"))
        return -1;
    json_int_t number = json_integer_value(signal);
    if (signal && (number < 1 || number > SIGRTMAX))
        return error_set(err, "signal: expected a number from 1 to %d", SIGRTMAX);
    inquiry->signal = (int)number;
    inquiry->asks_for_end = json_is_true(json_object_get(value, "end"));
    inquiry->about_stdin = json_is_true(json_object_get(value, "stdin"));
    return 0;
}

void inquiry_clear(struct inquiry *inquiry)
{
    idset_free(inquiry->nodes);
    idset_free(inquiry->ranks);
    *inquiry = (struct inquiry){0};
}

/* ---- the answer ---- */

void inquiry_answer_add(struct inquiry_answer *answer, const struct task_sample *task)
{
    answer->tasks = array_grow(answer->tasks, answer->ntasks, sizeof(*answer->tasks));
    answer->tasks[answer->ntasks++] = *task;
}

static int compare_samples(const void *a, const void *b)
{
    const struct task_sample *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

void inquiry_answer_sort(struct inquiry_answer *answer)
{
    if (answer->ntasks)
        qsort(answer->tasks, answer->ntasks, sizeof(*answer->tasks), compare_samples);
}

json_t *inquiry_answer_to_json(const struct inquiry_answer *answer, bool whole)
{
    struct idset *ranks = idset_new();
    json_t *pids = json_array(), *cpu = json_array(), *memory = json_array();
    char *states = mem_alloc(answer->ntasks + 1);
    for (size_t i = 0; i < answer->ntasks; i++) {
        const struct task_sample *task = &answer->tasks[i];
        idset_add(ranks, task->rank);
        states[i] = task->state;
        if (!whole)
            continue;
        json_array_append_new(pids, json_integer(task->pid));
        json_array_append_new(cpu, json_integer((json_int_t)task->cpu_ms));
        json_array_append_new(memory, json_integer((json_int_t)task->memory_kib));
    }
    json_t *value = json_pack("{s:o}", "ranks", idset_to_json(ranks));
    if (whole)
        json_object_update_new(value, json_pack("{s:O, s:s, s:O, s:O}", "pids", pids, "states",
                                                states, "cpu_ms", cpu, "memory_kib", memory));
    if (!idset_empty(answer->waiting))
        json_object_set_new(value, "waiting", idset_to_json(answer->waiting));
    if (answer->reading)
        json_object_set_new(value, "reading", idset_to_json(answer->reading));
    if (answer->lagging)
        json_object_set_new(value, "lagging", idset_to_json(answer->lagging));
    json_decref(pids);
    json_decref(cpu);
    json_decref(memory);
    idset_free(ranks);
    free(states);
    return value;
}

static int read_number(const json_t *list, size_t i, json_int_t most, uint64_t *number)
{
    const json_t *value = json_array_get(list, i);
    json_int_t read = json_integer_value(value);
    if (!json_is_integer(value) || read < 0 || read > most)
        return -1;
    *number = (uint64_t)read;
    return 0;
}

/* One number and one letter for each rank. */
static int read_columns(struct inquiry_answer *answer, const json_t *value, struct error *err)
{
    const json_t *pids = json_object_get(value, "pids"), *cpu = json_object_get(value, "cpu_ms");
    const json_t *memory = json_object_get(value, "memory_kib");
    const char *states = json_string_value(json_object_get(value, "states"));
    size_t count = answer->ntasks;
    if (!states || strlen(states) != count || json_array_size(pids) != count ||
        json_array_size(cpu) != count || json_array_size(memory) != count)
        return error_set(err, "pids, states, cpu_ms or memory_kib: expected one for each rank");
    for (size_t i = 0; i < count; i++) {
        struct task_sample *task = &answer->tasks[i];
        uint64_t pid;
        task->state = states[i];
        if (states[i] < 'A' || states[i] > 'z')
            return error_set(err, "states: expected letters");
        if (read_number(pids, i, INT32_MAX, &pid) < 0 ||
            read_number(cpu, i, INT64_MAX, &task->cpu_ms) < 0 ||
            read_number(memory, i, INT64_MAX, &task->memory_kib) < 0)
            return error_set(err, "pids, cpu_ms or memory_kib: expected numbers");
        task->pid = (uint32_t)pid;
    }
    return 0;
}

/* A set may have more ranks in a few bytes than there are columns in all that was said. */
static int read_running(struct inquiry_answer *answer, const json_t *value, struct error *err)
{
    struct idset *ranks = set_at(value, "ranks", err);
    bool whole = json_object_get(value, "pids") != NULL;
    if (!ranks)
        return error_set(err, "ranks: expected a set of numbers");
    if (idset_count(ranks) >
        (whole ? json_array_size(json_object_get(value, "pids")) : INQUIRY_MAX_RANKS)) {
        idset_free(ranks);
        return error_set(err, "ranks: expected no more than there are tasks");
    }
    IDSET_FOREACH(rank, ranks)
    inquiry_answer_add(answer, &(struct task_sample){.rank = rank});
    idset_free(ranks);
    return whole ? read_columns(answer, value, err) : 0;
}

int inquiry_answer_from_json(struct inquiry_answer *answer, const json_t *value, struct error *err)
{
    *answer = (struct inquiry_answer){0};
    struct {
        const char *key;
        struct idset **set;
    } sets[] = {{"waiting", &answer->waiting},
                {"reading", &answer->reading},
                {"lagging", &answer->lagging}};
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        *sets[i].set = set_at(value, sets[i].key, err);
        if (!*sets[i].set && json_object_get(value, sets[i].key))
            return -1;
    }
    if (!answer->waiting)
        answer->waiting = idset_new();
    return read_running(answer, value, err);
}

void inquiry_answer_clear(struct inquiry_answer *answer)
{
    idset_free(answer->waiting);
    idset_free(answer->reading);
    idset_free(answer->lagging);
    free(answer->tasks);
    *answer = (struct inquiry_answer){0};
}
