/*
 * topology_file - this node's topology for tasks, whose MPI would discover it once for each of
 * them.
 *
 * MPICH asks for a file by PMI from 4.2 on. It is discovered when the first task asks, in a thread:
 * programs that never ask pay nothing, and the loop goes on meanwhile. The file is in the program's
 * directory for memory, which is removed with it. PMIx tells its clients the text itself, so there
 * it is discovered while openpmix starts, where a node has several tasks.
 */
#ifndef LAUNCHER_AGENT_TOPOLOGY_FILE_H
#define LAUNCHER_AGENT_TOPOLOGY_FILE_H

#include <ev.h>
#include <stdint.h>

#include "launcher/process/scratch_directory.h"
#include "launcher/protocol/launch.h"

struct pmi_request;
struct topology_file;

/* Nothing is discovered yet. Both are borrowed. */
struct topology_file *topology_file_new(struct ev_loop *loop, struct scratch *scratch);
void topology_file_free(struct topology_file *file); /* waits for the thread */

/* A task of this part of the launch asks. Answers with the path, at once or later; with none where
 * there is no file, or not in time. */
void topology_file_ask(struct topology_file *file, const struct launch *launch, uint32_t part,
                       struct pmi_request *request);
/* No request of this launch is answered any more. */
void topology_file_forget(struct topology_file *file, const struct launch *launch);
/* It will be wanted: discover it meanwhile. */
void topology_file_begin_early(struct topology_file *file, const struct launch *launch);
/* An hwloc XML export; waits until it is discovered. Borrowed as long as the file lives. NULL:
 * tasks are to look for themselves. */
const char *topology_file_text(struct topology_file *file, const struct launch *launch);
/* Waits until no thread of this reads the environment. */
void topology_file_wait(struct topology_file *file);

#endif
