/* tpctl info: all that is known of one program, and where its options came from. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "affinity/sets/hostlist.h"
#include "affinity/sets/idset.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/ledger/program_json.h"
#include "launcher/options/option.h"
#include "launcher/process/signal_name.h"
#include "launcher/tpctl/tpctl.h"

static json_t *context_json(const struct found_program *program, int file)
{
    size_t len;
    char *text = found_program_file(program, file, &len);
    json_t *value = text ? json_loadb(text, len, 0, NULL) : NULL;
    free(text);
    return value;
}

/* ---- --why ---- */

/* "--map-by numa    TPRUN_OPTIONS"; those that come later hold. */
static void why_line(struct method_call *call, const json_t *origin, bool parts)
{
    const char *value = json_string_value(json_object_get(origin, "value"));
    const char *from = json_string_value(json_object_get(origin, "from"));
    const json_t *part = json_object_get(origin, "part");
    fprintf(call->out, "--%s%s%s", json_string_value(json_object_get(origin, "option")),
            value ? " " : "", value ? value : "");
    if (parts && part)
        fprintf(call->out, " (part %d)", (int)json_integer_value(part) + 1);
    fprintf(call->out, "    %s\n", from ? from : "?");
}

/* "ntasks", "--ntasks", "-n", or "map_by" as a key of the spec has it. */
static const struct option *option_named(const char *key, struct error *err)
{
    char *name = mem_copy_text(key + strspn(key, "-"));
    for (char *at = name; *at; at++)
        *at = *at == '_' ? '-' : *at;
    const struct option *option =
        strlen(name) == 1 ? option_find_letter(*name) : option_find(name, strlen(name));
    if (!option)
        error_usage(err, "--why %s: tprun has no such option ('tprun --help options' lists them)",
                    key);
    free(name);
    return option;
}

/* Where the value of an option is from that was not given. */
static const char *why_not_given(const char *name)
{
    static const char *const inherited[] = {"chdir", "env", "rlimit", "umask"};
    static const char *const found[] = {"hostfile", "hosts", "resources"};
    for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++)
        if (strcmp(name, inherited[i]) == 0)
            return "the caller's";
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
        if (strcmp(name, found[i]) == 0)
            return "those of the program or the batch job around it, or this machine";
    return "the default";
}

static int why(struct method_call *call, const struct found_program *program, const char *key,
               struct error *err)
{
    const struct option *asked = option_named(key, err);
    json_t *spec = asked ? context_json(program, CONTEXT_SPEC) : NULL, *origin;
    size_t i, hits = 0;
    bool parts = json_array_size(json_object_get(spec, "parts")) > 1;
    if (!asked)
        return -1;
    json_array_foreach(json_object_get(spec, "origins"), i, origin)
    {
        const char *option = json_string_value(json_object_get(origin, "option"));
        if (!option || strcmp(option, asked->name) != 0)
            continue;
        why_line(call, origin, parts);
        hits++;
    }
    if (spec && !hits)
        fprintf(call->out, "--%s was not given: %s\n", asked->name, why_not_given(asked->name));
    int rc = spec ? 0
                  : error_set(err, "what was asked for in program %s is not known any more",
                              found_program_id(program));
    json_decref(spec);
    return rc;
}

/* ---- text ---- */

/* What tasks have in common that share a line. */
static bool is_alike(const struct program_record *record, uint32_t one, uint32_t other)
{
    const struct task_record *a = &record->tasks[one], *b = &record->tasks[other];
    const char *host = program_record_host(record, one), *same = program_record_host(record, other);
    return a->state == b->state && a->status == b->status && a->by_tprun == b->by_tprun && host &&
           same && strcmp(host, same) == 0 && strcmp(a->cpus, b->cpus) == 0;
}

static char *fate_text(const struct task_record *task)
{
    const char *who = task->by_tprun ? ", by tprun" : "";
    if (task->state != RECORD_TASK_ENDED)
        return mem_copy_text(record_task_state_name(task->state));
    if (WIFSIGNALED(task->status))
        return mem_format("%s%s", signal_name(WTERMSIG(task->status)), who);
    return mem_format("exit %d%s", WEXITSTATUS(task->status), who);
}

static void print_tasks(struct method_call *call, const struct program_record *record)
{
    uint32_t last;
    if (record->tasks && record->ntasks)
        fprintf(call->out, "\n%10s %-16s %-12s %8s %9s %9s  %s\n", "RANKS", "HOST", "CPUS", "PID",
                "CPU TIME", "MEMORY", "END");
    for (uint32_t rank = 0; record->tasks && rank < record->ntasks; rank = last + 1) {
        const struct task_record *task = &record->tasks[rank];
        const char *host = program_record_host(record, rank);
        double used = task->utime + task->stime;
        uint64_t memory = task->maxrss_kib;
        for (last = rank; last + 1 < record->ntasks && is_alike(record, rank, last + 1); last++) {
            used += task[last + 1 - rank].utime + task[last + 1 - rank].stime;
            memory = task[last + 1 - rank].maxrss_kib > memory ? task[last + 1 - rank].maxrss_kib
                                                               : memory;
        }
        bool ended = task->state == RECORD_TASK_ENDED;
        char *fate = fate_text(task), *time = tpctl_duration_text(used), ranks[32], pid[16] = "";
        snprintf(ranks, sizeof(ranks), last > rank ? "%u-%u" : "%u", rank, last);
        if (last == rank && task->pid)
            snprintf(pid, sizeof(pid), "%u", task->pid);
        char *size = ended ? mem_format("%.1fM", (double)memory / 1024) : mem_copy_text("-");
        fprintf(call->out, "%10s %-16s %-12s %8s %9s %9s  %s\n", ranks, host ? host : "?",
                *task->cpus ? task->cpus : "-", pid, ended ? time : "-", size, fate);
        free(size);
        free(time);
        free(fate);
    }
}

static void print_line(struct method_call *call, const char *key, const char *value)
{
    if (value && *value)
        fprintf(call->out, "%-10s %s\n", key, value);
}

/* What a hook wrote, line by line below its own. */
static void print_output(struct method_call *call, const char *output)
{
    for (const char *line = output; line && *line;
         line += strcspn(line, "\n"), line += *line == '\n')
        fprintf(call->out, "%-10s   %.*s\n", "", (int)strcspn(line, "\n"), line);
}

/* A line for each that failed or wrote something, and one for all others of a kind. */
static void print_hooks(struct method_call *call, const json_t *hooks, const char *kind)
{
    struct hostlist *quiet = hostlist_new();
    double most = 0;
    size_t i;
    json_t *hook;
    json_array_foreach(hooks, i, hook)
    {
        const char *name = json_string_value(json_object_get(hook, "hook"));
        const char *host = json_string_value(json_object_get(hook, "host"));
        const char *fault = json_string_value(json_object_get(hook, "fault"));
        const char *output = json_string_value(json_object_get(hook, "output"));
        double seconds = json_number_value(json_object_get(hook, "seconds"));
        if (strcmp(name, kind) != 0)
            continue;
        if (fault || output) {
            fprintf(call->out, "%-10s %s: %s (%.3g s)\n", kind, host, fault ? fault : "done",
                    seconds);
            print_output(call, output);
            continue;
        }
        hostlist_append(quiet, host);
        most = seconds > most ? seconds : most;
    }
    if (hostlist_count(quiet)) {
        char *hosts = hostlist_encode(quiet);
        fprintf(call->out, "%-10s %s: done (%s%.3g s)\n", kind, hosts,
                hostlist_count(quiet) > 1 ? "at most " : "", most);
        free(hosts);
    }
    hostlist_free(quiet);
}

static void print_text(struct method_call *call, const struct found_program *program,
                       const struct program_record *record)
{
    const char *identity = found_program_identity(program);
    char *texts[] = {tpctl_command_text(record->command),
                     tpctl_time_text(record->t_new),
                     tpctl_time_text(record->t_start),
                     tpctl_time_text(record->t_end),
                     mem_format("%u on %u node%s", record->ntasks, record->nnodes,
                                record->nnodes == 1 ? "" : "s"),
                     tpctl_queue_text(program, record),
                     tpctl_kept_text(record)};
    bool over = record->state == RECORD_COMPLETE;
    print_line(call, "program", found_program_id(program));
    print_line(call, "instance", *identity ? identity : found_program_instance(program));
    print_line(call, "state",
               record->is_lost ? "complete (lost)" : record_state_name(record->state));
    print_line(call, "waits for", texts[5]);
    print_line(call, "command", texts[0]);
    if (record->ntasks)
        print_line(call, "tasks", texts[4]);
    print_line(call, "agents", record->agents);
    print_line(call, "kept", texts[6]);
    print_line(call, "new", texts[1]);
    if (record->t_start > 0)
        print_line(call, "started", texts[2]);
    if (over)
        print_line(call, "ended", texts[3]);
    if (over && record->status >= 0)
        fprintf(call->out, "%-10s %d\n", "status", record->status);
    for (const char *line = record->reason; line && *line;
         line += strcspn(line, "\n"), line += *line == '\n')
        fprintf(call->out, "%-10s %.*s\n", "reason", (int)strcspn(line, "\n"), line);
    print_hooks(call, record->hooks, "prolog");
    print_hooks(call, record->hooks, "epilog");
    print_tasks(call, record);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        free(texts[i]);
}

static void print_all(struct method_call *call, const struct found_program *program,
                      const struct program_record *record)
{
    json_t *value = program_to_json(found_program_id(program), record);
    json_object_set_new(value, "version", json_integer(1));
    json_object_set_new(value, "waits", tpctl_queue_json(program, record));
    json_object_set_new(value, "instance", json_string(found_program_instance(program)));
    json_object_set_new(value, "R", context_json(program, CONTEXT_R));
    if (json_array_size(record->hooks))
        json_object_set(value, "hooks", record->hooks);
    json_object_set_new(value, "spec", context_json(program, CONTEXT_SPEC));
    program_add_tasks(value, record);
    tpctl_print_json(call, value);
}

int tpctl_info(struct method_call *call, struct error *err)
{
    const struct found_program *program;
    const char *key = method_value(call, TPCTL_WHY);
    int as_json = tpctl_wants_json(call, err);
    struct program_search *search = as_json < 0 ? NULL : tpctl_search(call, err);
    int status = search ? tpctl_find(call, search, call->words[0], &program, err) : -1;
    struct program_record *record =
        status == 0 && !key ? found_program_record(program, true, err) : NULL;
    if (status == 0 && key)
        status = why(call, program, key, err);
    else if (status == 0 && !record)
        status = -1;
    else if (record && as_json)
        print_all(call, program, record);
    else if (record)
        print_text(call, program, record);
    program_record_free(record);
    program_search_free(search);
    return status;
}
