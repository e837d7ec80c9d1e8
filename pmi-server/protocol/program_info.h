/*
 * view - the program as HUB_QUERY's answer shows it (talk.h), to the host that asked.
 */
#ifndef PMI_SERVER_PROTOCOL_PROGRAM_INFO_H
#define PMI_SERVER_PROTOCOL_PROGRAM_INFO_H

#include "pmi-server/protocol/namespace_info.h"
#include "pmi-server/protocol/task_states.h"

struct view_job {
    struct description *description;
    bool told;              /* of its tasks */
    struct hub_task *tasks; /* by rank */
    uint32_t ntasks;
};

struct view {
    uint32_t slots;
    uint64_t left; /* seconds; UINT64_MAX: for ever */
    char *hosts;
    struct view_job *jobs; /* the youngest first */
    uint32_t njobs;
};

/* NULL: malformed. */
struct view *view_read(struct packet *in);
void view_free(struct view *view); /* NULL is fine */

/* "": the only one. NULL: there is none. */
const struct view_job *view_job(const struct view *view, const char *name);
/* Of the part that a rank belongs to; NULL: it belongs to none. */
const struct hub_app *view_app(const struct hub_job *job, uint32_t rank);

#endif
