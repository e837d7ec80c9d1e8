/*
 * nodes_from_options - the nodes that the options of a run name, or else what it is started in.
 *
 * --exclude and --requires are applied; what is given back is ready for use.
 */
#ifndef LAUNCHER_SOURCE_NODES_FROM_OPTIONS_H
#define LAUNCHER_SOURCE_NODES_FROM_OPTIONS_H

#include "base/error.h"
#include "launcher/source/node_list.h"
#include "launcher/spec/spec.h"

struct enclosing_program;

/* NULL with a sentence; kind ERROR_USAGE where the command line is at fault. `program` as for
 * batch_system_nodes(). */
struct node_list *node_list_from_spec(const struct spec *spec, struct enclosing_program *program,
                                      double now, struct error *err);
/* The same of the first source of these kinds (enum batch_system_kind) that is there; NULL with
 * no sentence where none is. */
struct node_list *node_list_from_source(unsigned kinds, double now, struct error *err);
/* For --topology: the hosts and descriptions of the spec's topologies, in order of appearance;
 * descriptions[i] (caller frees array and texts) belongs to list[i]. With -R only its cores. */
struct node_list *node_list_from_topologies(const struct spec *spec, double now,
                                            char ***descriptions, struct error *err);

#endif
