/*
 * batch_files - the rows of PBS, LSF and Grid Engine among the sources of nodes (batch_system.h).
 *
 * From a job's files and variables to nodes with the slots that were granted. NULL with a sentence.
 */
#ifndef LAUNCHER_SOURCE_BATCH_FILES_H
#define LAUNCHER_SOURCE_BATCH_FILES_H

#include "launcher/source/batch_system.h"

struct node_list *pbs_nodes(const struct batch_system *source, double now, struct error *err);
struct node_list *lsf_nodes(const struct batch_system *source, double now, struct error *err);
struct node_list *grid_engine_nodes(const struct batch_system *source, double now,
                                    struct error *err);
char *grid_engine_identity(const struct batch_system *source);

#endif
