/*
 * instance_request - what every request to an instance has: the version of who asks, and who that
 * is.
 *
 *     {"version": "0.1", "variables": {"TPRUN_PROGRAM": "17", ...}, ...}
 *
 * `variables` are those by which the caller, a task, knows its own program.
 */
#ifndef LAUNCHER_PROTOCOL_INSTANCE_REQUEST_H
#define LAUNCHER_PROTOCOL_INSTANCE_REQUEST_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

#define BATCH_VARIABLE "TPRUN_BATCH" /* in tasks of an instance: the name of its agents' sockets */

json_t *instance_request_new(void); /* of this process; new reference */
/* Set the variables in this process's environment. -1 with a sentence: it is of another version. */
int instance_request_take(const json_t *value, struct error *err);

/* The same variables as the tasks of a launch (launch.h, as JSON) have them, as an object (new
 * reference); and to set them as for a request. */
json_t *instance_request_launch_variables(const json_t *launch);
void instance_request_assume(const json_t *known);

/* Those of these variables that this process has, as an object (new reference); and the way back:
 * those that are not in it are removed, others are passed over. */
json_t *instance_request_variables(const char *const *names, size_t count);
void instance_request_set_variables(const json_t *known, const char *const *names, size_t count);

#endif
