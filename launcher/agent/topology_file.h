/*
 * topology_file - this node's topology for tasks, whose MPI would discover it once for each of them.
 *
 * MPICH asks for a file by PMI from 4.2 on. It is discovered when the first task asks, in a thread:
 * programs that never ask pay nothing, and the loop goes on meanwhile. The file is in the program's
 * directory for memory, which is removed with it. PMIx tells its clients the text itself, so there it is
 * discovered while openpmix starts, where a node has several tasks.
 */
#ifndef LAUNCHER_AGENT_TOPOLOGY_FILE_H
#define LAUNCHER_AGENT_TOPOLOGY_FILE_H

struct agent;
struct group;
struct pmi_request;

/* Answers with the path, at once or later; with none where there is no file, or not in time. */
void topology_file_ask(struct group *group, struct pmi_request *request);
/* It will be wanted: discover it meanwhile. */
void topology_file_ahead(struct group *group);
/* An hwloc XML export; waits until it is discovered. Borrowed as long as the agent lives. NULL: tasks
 * are to look for themselves. */
const char *topology_file_text(struct group *group);
/* No request of this group is answered any more. */
void topology_file_forget(struct group *group);
/* Waits until no thread of this reads the environment. */
void topology_file_settle(struct agent *agent);
void topology_file_close(struct agent *agent);

#endif
