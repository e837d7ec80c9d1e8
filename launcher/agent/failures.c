/* Tasks that did not start, by reason. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/start.h"

void failures_add(struct start *start, const struct task *task, int status, char *text)
{
    uint32_t rank = task_rank(task);
    start->stop = true;
    for (size_t i = 0; i < start->nfailures; i++) {
        if (strcmp(start->failures[i].text, text) == 0) {
            idset_add(start->failures[i].ranks, rank);
            free(text);
            return;
        }
    }
    start->failures = mem_resize(start->failures, start->nfailures + 1, sizeof(*start->failures));
    start->failures[start->nfailures] = (struct start_failure){text, status, idset_new()};
    idset_add(start->failures[start->nfailures++].ranks, rank);
}

json_t *failures_report(struct start *start)
{
    struct group *group = start->group;
    bool spawned = group->launch->spawned;
    json_t *failed = spawned && start->nfailures ? json_array() : NULL;
    for (size_t i = 0; i < start->nfailures; i++) {
        struct start_failure *failure = &start->failures[i];
        char *ranks = idset_encode(failure->ranks);
        if (spawned)
            json_array_append_new(
                failed, json_pack("[i, o, s]", failure->status, frame_text(failure->text), ranks));
        else
            report_ended(group, failure->ranks, "start", failure->status, failure->text);
        report_add(group, failure->status, false, failure->ranks);
        idset_free(failure->ranks);
        free(failure->text);
        free(ranks);
    }
    free(start->failures);
    return failed;
}
