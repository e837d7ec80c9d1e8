/* The report on a program that is over, and how long each stage of it took. */
#include "launcher/program/run_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/ledger/context_record.h"
#include "launcher/ledger/private_directory.h"
#include "launcher/ledger/program_json.h"

static const struct stage {
    const char *name, *about, *from, *to; /* the first events of these names */
} stages[] = {
    {"allocate", "until the resources were allocated", "new", "alloc"},
    {"launch", "until all tasks were started", "alloc", "running"},
    {"run", "while they ran", "running", "finish"},
    {"end", "to end", "finish", "complete"},
};
enum { NSTAGES = sizeof(stages) / sizeof(stages[0]) };

struct run_report {
    struct program_record *record;
    char *id;             /* "": none */
    json_t *R;            /* NULL: none */
    double took[NSTAGES]; /* seconds; below 0: it did not come to that */
};

static double time_of(const char *log, size_t len, const char *name)
{
    struct event_reader reader;
    struct event event;
    double time = -1;
    event_reader_begin(&reader, log, len);
    while (time < 0 && event_reader_next(&reader, &event, NULL) == 1)
        if (strcmp(event.name, name) == 0)
            time = event.timestamp;
    event_reader_end(&reader);
    return time;
}

struct run_report *run_report_new(const struct ledger_entry *entry, int status, const char *reason)
{
    struct run_report *report = mem_alloc(sizeof(*report));
    int dir = entry ? entry_dir(entry) : -1;
    size_t len = 0, R_len = 0;
    char *log = entry ? private_directory_read(dir, ENTRY_EVENTS, CONTEXT_MAX, &len) : NULL;
    char *R = entry
                  ? private_directory_read(dir, context_file_names[CONTEXT_R], CONTEXT_MAX, &R_len)
                  : NULL;
    report->record = program_record_read(log ? log : "", len, true);
    report->id = mem_copy_text(entry ? entry_id(entry) : "");
    report->R = R ? json_loadb(R, R_len, 0, NULL) : NULL;
    if (report->record->state !=
        RECORD_COMPLETE) { /* without a log, or with one that could not be written */
        report->record->state = RECORD_COMPLETE;
        report->record->status = status;
        free(report->record->reason);
        report->record->reason = mem_copy_text(reason);
    }
    for (int i = 0; i < NSTAGES; i++) {
        double from = time_of(log ? log : "", len, stages[i].from);
        double to = time_of(log ? log : "", len, stages[i].to);
        report->took[i] = from >= 0 && to >= from ? to - from : -1;
    }
    free(log);
    free(R);
    return report;
}

void run_report_free(struct run_report *report)
{
    program_record_free(report->record);
    json_decref(report->R);
    free(report->id);
    free(report);
}

char *run_report_text(const struct run_report *report)
{
    json_t *value = program_to_json(report->id, report->record), *took = json_array();
    json_object_set_new(value, "version", json_integer(1));
    if (report->R)
        json_object_set(value, "R", report->R);
    program_add_tasks(value, report->record);
    for (int i = 0; i < NSTAGES; i++)
        if (report->took[i] >= 0)
            json_array_append_new(
                took, json_pack("{s:s, s:f}", "name", stages[i].name, "seconds", report->took[i]));
    json_object_set_new(value, "stages", took);
    char *text = json_dumps(value, JSON_INDENT(1) | JSON_REAL_PRECISION(16));
    char *line = mem_format("%s\n", text ? text : "{}");
    free(text);
    json_decref(value);
    return line;
}

char *run_report_timing(const struct run_report *report)
{
    struct buf text = BUF_INIT;
    for (int i = 0; i < NSTAGES; i++)
        if (report->took[i] >= 0)
            buf_printf(&text, "%s%.4g ms %s", text.len ? ", " : "timing: ", report->took[i] * 1e3,
                       stages[i].about);
    if (!text.len)
        buf_add_text(&text, "timing: no resources were allocated");
    return buf_take_text(&text);
}
