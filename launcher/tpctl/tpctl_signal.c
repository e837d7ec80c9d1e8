/* tpctl signal and terminate: what a program's tasks are sent, and its end. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/sets/idset.h"
#include "base/buf.h"
#include "base/duration.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/process/signal_name.h"
#include "launcher/tpctl/ask_manager.h"
#include "launcher/tpctl/tpctl.h"

/* ---- signal ---- */

static int read_signal_words(const struct method_call *call, struct control_request *request,
                             struct error *err)
{
    const char *word = call->words[1], *ranks = method_value(call, TPCTL_RANKS);
    request->method = CONTROL_METHOD_SIGNAL;
    request->number = signal_number(word, strlen(word));
    if (!request->number)
        return error_usage(err, "unknown signal %s (expected a name such as TERM, or a number)",
                           excerpt(word, strlen(word)).text);
    if (!ranks)
        return 0;
    request->ranks = idset_decode(ranks, err);
    if (request->ranks && idset_empty(request->ranks))
        error_set(err, "expected at least one rank");
    if (!request->ranks || err->text) {
        error_prefix(err, "--ranks");
        err->kind = ERROR_USAGE;
        return -1;
    }
    return 0;
}

static void add_ranks(struct buf *out, const struct idset *ranks)
{
    char *text = idset_encode(ranks);
    buf_printf(out, "rank%s %s", idset_count(ranks) > 1 ? "s" : "", text);
    free(text);
}

/* Who was not reached, in one line. */
static int report_reach(const struct found_program *program, const struct control_request *request,
                        const struct control_answer *answer, struct error *err)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < answer->nmissed; i++) {
        buf_add_text(&text, i ? ", " : "");
        add_ranks(&text, answer->missed[i].ranks);
        buf_printf(&text, " (%s)", answer->missed[i].why);
    }
    if (answer->silent && !answer->nmissed) /* no ranks were named */
        buf_printf(&text, "tasks on %s (no answer in time)", answer->silent);
    if (!text.len && idset_empty(answer->reached)) {
        error_set(err, "program %s: none of its tasks runs any more", found_program_id(program));
        return TPCTL_WRONG_STATE;
    }
    if (!text.len)
        return 0;
    error_set(err, "program %s: %s did not reach %s", found_program_id(program),
              signal_name(request->number), buf_text(&text));
    buf_free(&text);
    return 1;
}

int tpctl_signal(struct method_call *call, struct error *err)
{
    struct control_request request = {0};
    struct control_answer answer = {0};
    const struct found_program *program;
    struct program_search *search = NULL;
    int status = read_signal_words(call, &request, err);
    if (status == 0)
        status = (search = tpctl_search(call, err)) ? 0 : -1;
    if (status == 0)
        status = tpctl_find(call, search, call->words[0], &program, err);
    if (status == 0)
        status = ask_manager(program, &request, &answer, err);
    if (status == 0)
        status = report_reach(program, &request, &answer, err);
    control_answer_clear(&answer);
    control_request_clear(&request);
    program_search_free(search);
    return status;
}

/* ---- terminate ---- */

/* Nobody has to be asked. */
static int end_empty(const struct found_program *program, struct error *err)
{
    char *reason = mem_format("ended by tpctl (pid %ld) while it was empty\n", (long)getpid());
    int rc = found_program_end_empty(program, 128 + SIGTERM, reason, err);
    free(reason);
    return rc;
}

static int terminate_one(const struct method_call *call, struct program_search *search,
                         const char *id, double grace, struct error *err)
{
    struct control_request request = {.method = CONTROL_METHOD_TERMINATE, .grace = grace};
    struct control_answer answer = {0};
    const struct found_program *program;
    int status = tpctl_find(call, search, id, &program, err);
    if (status == 0 && found_program_is_empty(program))
        status = end_empty(program, err);
    else if (status == 0)
        status = ask_manager(program, &request, &answer, err);
    control_answer_clear(&answer);
    return status;
}

/* Its manager may have been lost meanwhile, or could not end all. */
static int wait_until_nothing_left(struct method_call *call, const char *id, struct error *err)
{
    struct program_record *record = NULL;
    int status = tpctl_wait_complete(call, id, &record, err);
    if (status == 0 && record && (record->is_left || record->is_lost)) {
        error_set(err, "program %s: something of it may be left: %s", id,
                  record->reason ? record->reason : "its manager was lost");
        status = 1;
    }
    program_record_free(record);
    return status;
}

/* The first failure gives the status, all are said. */
static void keep_failure(int *status, int failed, struct error *err, struct error *all)
{
    if (!failed)
        return;
    if (*status)
        error_set(all, "%s\n%s", error_text(all), error_text(err));
    else
        error_set(all, "%s", error_text(err));
    if (!*status)
        all->kind = err->kind;
    *status = *status ? *status : failed;
    error_clear(err);
}

/* All are told before any is waited for. */
int tpctl_terminate(struct method_call *call, struct error *err)
{
    const char *text = method_value(call, TPCTL_KILL_GRACE);
    bool waits = !method_value(call, TPCTL_NO_WAIT);
    double grace = -1;
    int status = 0;
    if (text && duration_decode(text, &grace, err) < 0) {
        error_prefix(err, "--kill-grace");
        err->kind = ERROR_USAGE;
        return -1;
    }
    struct program_search *search = tpctl_search(call, err);
    if (!search)
        return -1;
    bool *told = mem_array(call->nwords, sizeof(*told));
    for (size_t i = 0; i < call->nwords; i++) {
        struct error own = ERROR_INIT;
        int failed = terminate_one(call, search, call->words[i], grace, &own);
        told[i] = !failed;
        keep_failure(&status, failed, &own, err);
    }
    program_search_free(search);
    for (size_t i = 0; i < call->nwords; i++) {
        struct error own = ERROR_INIT;
        if (told[i] && waits)
            keep_failure(&status, wait_until_nothing_left(call, call->words[i], &own), &own, err);
    }
    free(told);
    return status;
}
