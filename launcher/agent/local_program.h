/*
 * local_program - a program on this node: its task groups, stdin, the end of all its tasks, their
 * cgroup, the PMIx host. It takes frames and gives frames; what else it needs of the agent is lent
 * to it.
 */
#ifndef LAUNCHER_AGENT_LOCAL_PROGRAM_H
#define LAUNCHER_AGENT_LOCAL_PROGRAM_H

#include <ev.h>
#include <stdbool.h>
#include <sys/types.h>

#include "affinity/topology/topo.h"
#include "launcher/agent/downlink.h"
#include "launcher/agent/uplink.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/scratch_directory.h"

struct local_program;

struct local_program_config { /* all borrowed, but for the machine */
    struct ev_loop *loop;
    struct uplink *uplink;
    struct downlink *downlink;
    const char *host;
    const struct topo *topo; /* NULL: it could not be found out, and nothing will be launched */
    struct hwloc_topology *machine; /* taken; or NULL */
    struct cgroup *cgroup;
    struct scratch *scratch;
    struct scratch *instance; /* of the instance's agent here; NULL: the program is in none */
    bool is_instance;
    pid_t manager; /* that is on this machine; 0: elsewhere */
    bool verbose;
    struct pmix_host *pmix; /* that was begun ahead on this machine; taken. Or NULL */
};

struct local_program *local_program_new(const struct local_program_config *config);
void local_program_free(struct local_program *program); /* NULL is fine */
/* PMIx is likely to be wanted: its host starts meanwhile. */
void local_program_expect_pmix(struct local_program *program);

/* A frame from above, and one from below; the latter returns false where it is not for this
 * node. */
void local_program_from_above(struct local_program *program, const struct frame *frame);
bool local_program_from_below(struct local_program *program, const struct frame *frame);
void local_program_nodes_gone(struct local_program *program, const struct idset *nodes);
void local_program_room_above(struct local_program *program); /* bulk can be sent up again */
void local_program_room_below(struct local_program *program); /* and down */
/* Nobody wants the tasks any more: SIGTERM, and SIGKILL after the grace. */
void local_program_uplink_lost(struct local_program *program, double grace);
void local_program_reaped(struct local_program *program, pid_t pid, int status);
/* At the end of a turn of the loop: is some group over, may another one start? */
void local_program_turn(struct local_program *program);

bool local_program_is_over(const struct local_program *program); /* no group is left */
/* No group is left, and nothing more comes. False while PMIx tools have to be waited for, which
 * takes at most so many seconds. */
bool local_program_end(struct local_program *program);
double local_program_tools_patience(const struct local_program *program);
/* Some processes could not be ended, and that was reported. */
bool local_program_gave_up(const struct local_program *program);

#endif
