/* Reports of agents on a task group, written for the agent and read for the agents above it and the manager. */
#include "launcher/protocol/task_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"

#define TIME_BYTES 8 /* before the JSON of an ended report */

static struct idset *set_of_text(const json_t *value)
{
    const char *text = json_string_value(value);
    return text ? idset_decode(text, NULL) : NULL;
}

static void add_to_set(struct idset **set, const struct idset *more)
{
    struct idset *both = *set ? idset_union(*set, more) : idset_copy(more);
    idset_free(*set);
    *set = both;
}

/* ---- tasks that were not started ---- */

void start_failures_add(struct start_failures *failures, uint32_t rank, int status, char *text)
{
    for (size_t i = 0; i < failures->count; i++) {
        if (strcmp(failures->list[i].text, text) == 0) {
            idset_add(failures->list[i].ranks, rank);
            free(text);
            return;
        }
    }
    failures->list = mem_resize(failures->list, failures->count + 1, sizeof(*failures->list));
    failures->list[failures->count] = (struct start_failure){text, status, idset_new()};
    idset_add(failures->list[failures->count++].ranks, rank);
}

void start_failures_clear(struct start_failures *failures)
{
    for (size_t i = 0; i < failures->count; i++) {
        idset_free(failures->list[i].ranks);
        free(failures->list[i].text);
    }
    free(failures->list);
    *failures = (struct start_failures){0};
}

/* [[STATUS, TEXT, RANKS], ...]; NULL where there are none. */
static json_t *failures_to_json(const struct start_failures *failures)
{
    json_t *list = failures->count ? json_array() : NULL;
    for (size_t i = 0; i < failures->count; i++) {
        const struct start_failure *failure = &failures->list[i];
        char *ranks = failure->ranks ? idset_encode(failure->ranks) : mem_copy_text("");
        json_array_append_new(
            list, json_pack("[i, o, s]", failure->status, frame_text(failure->text), ranks));
        free(ranks);
    }
    return list;
}

/* One whose ranks are malformed is left out; ranks that are missing are none. */
static void failures_from_json(struct start_failures *failures, const json_t *list)
{
    size_t i;
    json_t *item;
    failures->list = mem_array(json_array_size(list), sizeof(*failures->list));
    json_array_foreach(list, i, item)
    {
        const char *text = json_string_value(json_array_get(item, 1));
        const json_t *set = json_array_get(item, 2);
        struct idset *ranks = json_is_string(set) ? set_of_text(set) : idset_new();
        if (ranks)
            failures->list[failures->count++] =
                (struct start_failure){text ? mem_copy_text(text) : NULL,
                                       (int)json_integer_value(json_array_get(item, 0)), ranks};
    }
}

/* ---- prepared ---- */

json_t *prepared_report_to_json(const struct prepared_report *report)
{
    json_t *mpis = report->mpis ? json_array() : NULL;
    for (size_t i = 0; i < report->nmpis; i++)
        json_array_append_new(mpis,
                              json_pack("[I, I]", report->mpis[i].family, report->mpis[i].part));
    return json_pack("{s:o*, s:o*, s:s*}", "failed", failures_to_json(&report->failed), "mpis",
                     mpis, "host", report->host);
}

void prepared_report_from_json(struct prepared_report *report, const json_t *value)
{
    const json_t *mpis = json_object_get(value, "mpis");
    failures_from_json(&report->failed, json_object_get(value, "failed"));
    report->host = mem_copy_text(json_string_value(json_object_get(value, "host")));
    report->nmpis = json_array_size(mpis);
    report->mpis = mem_array(report->nmpis, sizeof(*report->mpis));
    for (size_t i = 0; i < report->nmpis; i++) {
        const json_t *pair = json_array_get(mpis, i);
        report->mpis[i] = (struct part_mpi){json_integer_value(json_array_get(pair, 0)),
                                            json_integer_value(json_array_get(pair, 1))};
    }
}

void prepared_report_clear(struct prepared_report *report)
{
    start_failures_clear(&report->failed);
    free(report->mpis);
    free(report->host);
}

/* ---- started ---- */

json_t *started_report_to_json(const struct started_report *report)
{
    json_t *bindings = report->nbindings ? json_array() : NULL;
    for (size_t i = 0; i < report->nbindings; i++) {
        char *cpus = idset_encode(report->bindings[i].cpus);
        char *ranks = idset_encode(report->bindings[i].ranks);
        json_array_append_new(bindings, json_pack("[s, s]", cpus, ranks));
        free(ranks);
        free(cpus);
    }
    return json_pack("{s:o*, s:o*, s:s*}", "bindings", bindings, "failed",
                     failures_to_json(&report->failed), "pids", report->pids);
}

int started_report_from_json(struct started_report *report, const json_t *value, struct error *err)
{
    const json_t *bindings = json_object_get(value, "bindings");
    failures_from_json(&report->failed, json_object_get(value, "failed"));
    report->pids = mem_copy_text(json_string_value(json_object_get(value, "pids")));
    report->bindings = mem_array(json_array_size(bindings), sizeof(*report->bindings));
    for (size_t i = 0; i < json_array_size(bindings); i++) {
        const json_t *pair = json_array_get(bindings, i);
        const char *cpus = json_string_value(json_array_get(pair, 0));
        const char *ranks = json_string_value(json_array_get(pair, 1));
        struct found_binding binding = {.cpus = cpus ? idset_decode(cpus, err) : NULL};
        binding.ranks = binding.cpus && ranks ? idset_decode(ranks, err) : NULL;
        if (!binding.ranks) {
            idset_free(binding.cpus);
            return -1;
        }
        report->bindings[report->nbindings++] = binding;
    }
    return 0;
}

void started_report_clear(struct started_report *report)
{
    for (size_t i = 0; i < report->nbindings; i++) {
        idset_free(report->bindings[i].cpus);
        idset_free(report->bindings[i].ranks);
    }
    free(report->bindings);
    free(report->pids);
    start_failures_clear(&report->failed);
}

/* ---- ended ---- */

static void add_time(struct buf *out, uint64_t at)
{
    unsigned char time[TIME_BYTES];
    frame_put_u64(time, at);
    buf_add(out, time, sizeof(time));
}

void ended_report_pack(struct buf *out, uint64_t at, const struct ended_report *report)
{
    char *set = idset_encode(report->ranks);
    json_t *value =
        json_pack("{s:s, s:s, s:i}", "ranks", set, "why", report->why, "status", report->status);
    if (report->text)
        json_object_set_new(value, "text", frame_text(report->text));
    char *json = json_dumps(value, JSON_COMPACT);
    add_time(out, at);
    buf_add_text(out, json ? json : "{}");
    free(json);
    json_decref(value);
    free(set);
}

uint64_t ended_report_time(const struct frame *frame)
{
    return frame_get_u64(frame->bytes);
}

void ended_report_pack_at(struct buf *out, uint64_t at, const struct frame *frame)
{
    add_time(out, at);
    buf_add(out, (const char *)frame->bytes + TIME_BYTES, frame->len - TIME_BYTES);
}

int ended_report_from_json(struct ended_report *report, const json_t *value)
{
    const char *set;
    if (json_unpack((json_t *)(uintptr_t)value, "{s:s, s:s, s:i, s?s}", "ranks", &set, "why",
                    &report->why, "status", &report->status, "text", &report->text) < 0)
        return -1;
    report->ranks = idset_decode(set, NULL);
    return 0;
}

void ended_report_clear(struct ended_report *report)
{
    idset_free(report->ranks);
}

/* ---- what tasks have used ---- */

void task_usages_add(struct task_usages *usages, const struct task_usage *one)
{
    for (size_t i = 0; i < USAGE_COLUMNS; i++) {
        uint64_t value = one->columns[i];
        if (!usages->count || value < usages->least[i])
            usages->least[i] = value;
        if (!usages->count || value > usages->most[i])
            usages->most[i] = value;
    }
    if (usages->count++ >= TASK_USAGES_MAX || (usages->count > 1 && !usages->list)) {
        free(usages->list);
        usages->list = NULL;
        return;
    }
    usages->list = array_grow(usages->list, usages->count - 1, sizeof(*usages->list));
    size_t at = usages->count - 1;
    for (; at && usages->list[at - 1].rank > one->rank; at--)
        usages->list[at] = usages->list[at - 1];
    usages->list[at] = *one;
}

void task_usages_merge(struct task_usages *usages, const struct task_usages *more)
{
    for (size_t i = 0; more->list && i < more->count; i++)
        task_usages_add(usages, &more->list[i]);
    if (more->list || !more->count)
        return;
    for (size_t i = 0; i < USAGE_COLUMNS; i++) {
        if (!usages->count || more->least[i] < usages->least[i])
            usages->least[i] = more->least[i];
        if (!usages->count || more->most[i] > usages->most[i])
            usages->most[i] = more->most[i];
    }
    free(usages->list);
    usages->list = NULL;
    usages->count += more->count;
}

void task_usages_clear(struct task_usages *usages)
{
    free(usages->list);
    *usages = (struct task_usages){0};
}

/* Clocks of machines differ: what is said of the time of an end is how long ago it was. */
static uint64_t turn_time(uint64_t time)
{
    uint64_t now = clock_monotonic_ns() / 1000;
    return now > time ? now - time : 0;
}

static json_t *row_to_json(const uint64_t columns[USAGE_COLUMNS])
{
    json_t *row = json_array();
    for (size_t i = 0; i < USAGE_COLUMNS; i++)
        json_array_append_new(
            row, json_integer((json_int_t)(i == USAGE_ENDED ? turn_time(columns[i]) : columns[i])));
    return row;
}

static bool row_from_json(const json_t *row, uint64_t columns[USAGE_COLUMNS])
{
    for (size_t i = 0; i < USAGE_COLUMNS; i++) {
        const json_t *value = json_array_get(row, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return false;
        columns[i] = (uint64_t)json_integer_value(value);
    }
    columns[USAGE_ENDED] = turn_time(columns[USAGE_ENDED]);
    return true;
}

/* [ROW, ...] by rank; {"count": N, "least": ROW, "most": ROW} where those are not of all ranks, or of too
 * many; NULL: nothing is known. */
static json_t *usages_to_json(const struct task_exit *end)
{
    const struct task_usages *usages = &end->usages;
    if (!usages->count)
        return NULL;
    if (!usages->list || usages->count != idset_count(end->ranks))
        return json_pack("{s:I, s:o, s:o}", "count", (json_int_t)usages->count, "least",
                         row_to_json(usages->least), "most", row_to_json(usages->most));
    json_t *rows = json_array();
    for (size_t i = 0; i < usages->count; i++)
        json_array_append_new(rows, row_to_json(usages->list[i].columns));
    return rows;
}

/* What is malformed is as if it had not been said. */
static void usages_from_json(struct task_exit *end, const json_t *value)
{
    struct task_usages *usages = &end->usages;
    size_t i;
    json_t *row;
    if (json_is_object(value)) {
        json_int_t count = json_integer_value(json_object_get(value, "count"));
        if (count > 0 && row_from_json(json_object_get(value, "least"), usages->least) &&
            row_from_json(json_object_get(value, "most"), usages->most))
            usages->count = (size_t)count;
        return;
    }
    if (json_array_size(value) != idset_count(end->ranks))
        return;
    struct task_usage one = {.rank = idset_first(end->ranks)};
    json_array_foreach(value, i, row)
    {
        if (!row_from_json(row, one.columns)) {
            task_usages_clear(usages);
            return;
        }
        task_usages_add(usages, &one);
        one.rank = idset_next(end->ranks, one.rank);
    }
}

/* ---- done ---- */

static struct task_exit *find_exit(struct done_report *report, int status, bool killed_by_tprun)
{
    for (size_t i = 0; i < report->nexits; i++)
        if (report->exits[i].status == status &&
            report->exits[i].killed_by_tprun == killed_by_tprun)
            return &report->exits[i];
    report->exits = mem_resize(report->exits, report->nexits + 1, sizeof(*report->exits));
    report->exits[report->nexits] = (struct task_exit){status, killed_by_tprun, idset_new(), {0}};
    return &report->exits[report->nexits++];
}

void done_report_add(struct done_report *report, int status, bool killed_by_tprun,
                     const struct idset *ranks)
{
    add_to_set(&find_exit(report, status, killed_by_tprun)->ranks, ranks);
}

void done_report_add_rank(struct done_report *report, int status, bool killed_by_tprun,
                          uint32_t rank)
{
    idset_add(find_exit(report, status, killed_by_tprun)->ranks, rank);
}

void done_report_add_usage(struct done_report *report, int status, bool killed_by_tprun,
                           const struct task_usages *usages)
{
    task_usages_merge(&find_exit(report, status, killed_by_tprun)->usages, usages);
}

void done_report_add_silent(struct done_report *report, const struct idset *ranks)
{
    add_to_set(&report->silent, ranks);
}

json_t *done_report_to_json(const struct done_report *report)
{
    json_t *exits = json_array();
    for (size_t i = 0; i < report->nexits; i++) {
        char *ranks = idset_encode(report->exits[i].ranks);
        json_array_append_new(exits, json_pack("[i, b, s, o*]", report->exits[i].status,
                                               report->exits[i].killed_by_tprun, ranks,
                                               usages_to_json(&report->exits[i])));
        free(ranks);
    }
    char *nodes = idset_encode(report->nodes);
    char *silent = report->silent ? idset_encode(report->silent) : mem_copy_text("");
    json_t *value = json_pack("{s:o, s:s, s:s}", "ends", exits, "nodes", nodes, "silent", silent);
    free(silent);
    free(nodes);
    return value;
}

void done_report_from_json(struct done_report *report, const json_t *value)
{
    json_t *list = json_object_get(value, "ends"), *item;
    size_t i;
    report->nodes = set_of_text(json_object_get(value, "nodes"));
    report->silent = set_of_text(json_object_get(value, "silent"));
    report->exits = mem_array(json_array_size(list), sizeof(*report->exits));
    json_array_foreach(list, i, item)
    {
        int status, killed;
        const char *text;
        struct idset *ranks = json_unpack(item, "[i, b, s *]", &status, &killed, &text) == 0
                                  ? idset_decode(text, NULL)
                                  : NULL;
        if (!ranks)
            continue;
        struct task_exit *end = &report->exits[report->nexits++];
        *end = (struct task_exit){status, killed, ranks, {0}};
        usages_from_json(end, json_array_get(item, 3));
    }
}

void done_report_clear(struct done_report *report)
{
    for (size_t i = 0; i < report->nexits; i++) {
        idset_free(report->exits[i].ranks);
        task_usages_clear(&report->exits[i].usages);
    }
    free(report->exits);
    idset_free(report->nodes);
    idset_free(report->silent);
}
