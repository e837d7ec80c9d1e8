/*
 * local_stage - the files that are staged on this node: taken from the parent, passed on to the
 * nodes below, written, checked; and where tasks find them.
 *
 * They are in the directory stage of the program's scratch directory, and end with it
 * (scratch_directory.h): however the agent ends. A program in an instance has those of the
 * instance, too. Where it stages files itself, its directory has links to them.
 *
 * Frames are passed on before they are written, and given back as credit when all below have room
 * for more.
 */
#ifndef LAUNCHER_AGENT_LOCAL_STAGE_H
#define LAUNCHER_AGENT_LOCAL_STAGE_H

#include "launcher/agent/downlink.h"
#include "launcher/agent/uplink.h"
#include "launcher/process/scratch_directory.h"
#include "launcher/protocol/stage_list.h"

struct local_stage;

struct local_stage_config { /* all borrowed */
    struct uplink *uplink;
    struct downlink *downlink;
    struct scratch *scratch;
    struct scratch *instance; /* of the instance's agent here; NULL: the program is in none */
    bool is_instance;         /* programs may run in it */
};

struct local_stage *local_stage_new(const struct local_stage_config *config);
void local_stage_free(struct local_stage *stage); /* NULL is fine */
/* FRAME_STAGE, FRAME_STAGE_DATA, FRAME_STAGE_END. */
void local_stage_take(struct local_stage *stage, const struct frame *frame);
/* Give the parent back its credit, if all links below have room. Call it when a link below has sent
 * something. */
void local_stage_settle(struct local_stage *stage);
/* What tasks find; borrowed, and good until the next frame. */
const struct stage_place *local_stage_place(const struct local_stage *stage);
/* Path of the hook of this kind on this host; NULL: the program has no such hook. Caller frees. */
char *local_stage_hook(const struct local_stage *stage, enum stage_kind kind);

#endif
