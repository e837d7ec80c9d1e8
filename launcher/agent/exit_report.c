/* How tasks of a group started and ended, told upwards. */
#include "launcher/agent/exit_report.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

struct exit_report {
    struct uplink *uplink;
    uint32_t group;
    struct done_report done; /* what is known for the last word */
};

struct exit_report *exit_report_new(struct uplink *uplink, uint32_t group)
{
    struct exit_report *report = mem_alloc(sizeof(*report));
    *report = (struct exit_report){.uplink = uplink, .group = group};
    return report;
}

void exit_report_free(struct exit_report *report)
{
    if (report)
        done_report_clear(&report->done);
    free(report);
}

/* ---- at once ---- */

static struct frame header(const struct exit_report *report, enum frame_type type)
{
    return (struct frame){
        .type = type, .node = uplink_node(report->uplink), .group = report->group};
}

void exit_report_prepared(struct exit_report *report, const struct prepared_report *what)
{
    uplink_send_json(report->uplink, header(report, FRAME_PREPARED), prepared_report_to_json(what));
}

void exit_report_started(struct exit_report *report, const struct started_report *what)
{
    uplink_send_json(report->uplink, header(report, FRAME_STARTED), started_report_to_json(what));
}

static void send_ended(struct exit_report *report, uint64_t at, const struct ended_report *what)
{
    struct buf payload = BUF_INIT;
    struct frame frame = header(report, FRAME_ENDED);
    ended_report_pack(&payload, at, what);
    frame.bytes = buf_bytes(&payload);
    frame.len = payload.len;
    uplink_send(report->uplink, &frame);
    buf_free(&payload);
}

void exit_report_ended(struct exit_report *report, const struct idset *ranks, const char *why,
                       int status, const char *text)
{
    struct ended_report what = {.why = why, .status = status, .text = text};
    what.ranks = ranks ? idset_copy(ranks) : idset_new();
    send_ended(report, clock_monotonic_ns(), &what);
    ended_report_clear(&what);
}

void exit_report_ended_rank_at(struct exit_report *report, uint64_t at, uint32_t rank,
                               const char *why, int status, const char *text)
{
    struct ended_report what = {why, status, text, idset_new()};
    idset_add(what.ranks, rank);
    send_ended(report, at, &what);
    ended_report_clear(&what);
}

void exit_report_ended_rank(struct exit_report *report, uint32_t rank, const char *why, int status,
                            const char *text)
{
    exit_report_ended_rank_at(report, clock_monotonic_ns(), rank, why, status, text);
}

/* ---- the last word ---- */

void exit_report_add(struct exit_report *report, int status, bool killed_by_tprun,
                     const struct idset *ranks)
{
    done_report_add(&report->done, status, killed_by_tprun, ranks);
}

void exit_report_add_rank(struct exit_report *report, int status, bool killed_by_tprun,
                          uint32_t rank)
{
    done_report_add_rank(&report->done, status, killed_by_tprun, rank);
}

void exit_report_add_usage(struct exit_report *report, int status, bool killed_by_tprun,
                           const struct task_usage *usage)
{
    struct task_usages one = {0};
    task_usages_add(&one, usage);
    done_report_add_usage(&report->done, status, killed_by_tprun, &one);
    task_usages_clear(&one);
}

void exit_report_add_silent(struct exit_report *report, uint32_t rank)
{
    if (!report->done.silent)
        report->done.silent = idset_new();
    idset_add(report->done.silent, rank);
}

struct idset *exit_report_merge(struct exit_report *report, const struct frame *frame)
{
    struct done_report below = {0};
    json_t *value = frame_json(frame, NULL);
    done_report_from_json(&below, value);
    for (size_t i = 0; i < below.nexits; i++) {
        const struct task_exit *end = &below.exits[i];
        done_report_add(&report->done, end->status, end->killed_by_tprun, end->ranks);
        done_report_add_usage(&report->done, end->status, end->killed_by_tprun, &end->usages);
    }
    if (below.silent)
        done_report_add_silent(&report->done, below.silent);
    struct idset *nodes = below.nodes;
    below.nodes = NULL;
    done_report_clear(&below);
    json_decref(value);
    return nodes;
}

void exit_report_done(struct exit_report *report, const struct idset *below)
{
    idset_free(report->done.nodes);
    report->done.nodes = idset_copy(below);
    idset_add(report->done.nodes, uplink_node(report->uplink));
    uplink_send_json(report->uplink, header(report, FRAME_DONE),
                     done_report_to_json(&report->done));
}
