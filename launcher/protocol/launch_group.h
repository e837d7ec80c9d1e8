/*
 * launch_group - what a launch says of a group that is added to a running program. Private to
 * launch.
 */
#ifndef LAUNCHER_PROTOCOL_LAUNCH_GROUP_H
#define LAUNCHER_PROTOCOL_LAUNCH_GROUP_H

#include "launcher/protocol/launch.h"

/* Nothing is added for the first group. */
void launch_group_to_json(json_t *value, const struct launch_source *source);
/* Once the number of its tasks is known. 0, or -1 with a sentence. */
int launch_group_read(struct launch *launch, const json_t *value, struct error *err);

#endif
