/*
 * What the program's hub says: answers, and orders.
 */
#include "pmi-server/hub/talk.h"
#include "pmi-server/pmix/inside.h"

/* -1: malformed. */
static int answered(struct pmix_host *host, struct talk_down *talk)
{
    question_answer(host, talk);
    return 0; /* whoever asked reads it, and may find it malformed */
}

/* The owner's: it knows its tasks, and has answered. */
static int owners(struct pmix_host *host, struct talk_down *talk)
{
    (void)host, (void)talk;
    return 0;
}

static int (*const take[ORDER_NKINDS])(struct pmix_host *host, struct talk_down *talk) = {
    [ORDER_ANSWER] = answered,         [ORDER_MODEX] = committed_ordered,
    [ORDER_REMOVED] = foreign_removed, [ORDER_TASKS] = owners,
    [ORDER_OUTPUT] = output_told,      [ORDER_PUSH] = input_told,
    [ORDER_NOTIFY] = events_told,      [ORDER_DIED] = deaths_told,
    [ORDER_CONTROL] = control_told,
};

int pmix_host_told(struct pmix_host *host, const void *bytes, size_t len, struct error *err)
{
    struct talk_down talk;
    if (talk_read_down(&talk, bytes, len) < 0 || take[talk.kind](host, &talk) < 0)
        return error_set(err, "a malformed message of the program's hub");
    return 0;
}
