/*
 * program_info - the program as REQUEST_QUERY's answer shows it (message.h), to the host that
 * asked.
 */
#ifndef PMI_SERVER_PROTOCOL_PROGRAM_INFO_H
#define PMI_SERVER_PROTOCOL_PROGRAM_INFO_H

#include "pmi-server/protocol/namespace_info.h"
#include "pmi-server/protocol/task_states.h"

struct program_info_job {
    struct namespace_info *description;
    bool told;               /* of its tasks */
    struct task_info *tasks; /* by rank */
    uint32_t ntasks;
};

struct program_info {
    uint32_t slots;
    uint64_t left; /* seconds; UINT64_MAX: for ever */
    char *hosts;
    struct program_info_job *jobs; /* the youngest first */
    uint32_t njobs;
};

/* NULL: malformed. */
struct program_info *program_info_read(struct pack *in);
void program_info_free(struct program_info *view); /* NULL is fine */

/* "": the only one. NULL: there is none. */
const struct program_info_job *program_info_job(const struct program_info *view, const char *name);
/* Of the part that a rank belongs to; NULL: it belongs to none. */
const struct namespace_app *program_info_app(const struct namespace_facts *job, uint32_t rank);

#endif
