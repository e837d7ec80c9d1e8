/*
 * pmix_host_private - what the files of the agent's PMIx room know of each other; others see internal.h.
 *
 *   pmix_host.c        the host of openpmix: begun, run, ended
 *   pmix_host.c    what it asks for
 *   pmix_job.c    its jobs, one for each group
 *   pmix_job.c  what hosts of different nodes post to each other
 *   pmix_tools.c  how tools of the user find it
 */
#ifndef LAUNCHER_AGENT_PMIX_HOST_PRIVATE_H
#define LAUNCHER_AGENT_PMIX_HOST_PRIVATE_H

#include "launcher/agent/pmix_tool_proxy.h"
#include "launcher/agent/retained_job.h"
#include "pmi-server/pmix/server.h"

struct pmix_room {
    struct agent *agent;
    struct pmix_host_start *start; /* NULL: it is over */
    struct pmix_host *host;        /* NULL: not yet */
    struct pmix_server_config config;
    struct pmix_place *parted; /* the latest first */
    struct tools *tools;       /* NULL: none may come */
    struct hwloc_topology *machine;
    ev_async wake;
    ev_timer deadline; /* of what waits for other nodes */
};

/* pmix_host.c */
void pmix_set_deadline(struct pmix_room *room); /* after each call of the host */
void pmix_run(struct pmix_room *room);
int pmix_finish(struct group *group,
                struct error *err); /* the host is there, or it cannot be: -1 */
void pmix_broken(struct group *group, const struct error *err);

/* pmix_host.c; arg is the room */
extern const struct pmix_server_ops pmix_ops;

/* pmix_job.c: those that were held until the group is open */
void pmix_posts_deliver(struct group *group);
void pmix_posts_free(struct group *group);

#endif
