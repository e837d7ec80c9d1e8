/*
 * allowed_cores - R against what a node lets its user have: nothing is ever widened.
 */
#ifndef LAUNCHER_PROTOCOL_ALLOWED_CORES_H
#define LAUNCHER_PROTOCOL_ALLOWED_CORES_H

#include "affinity/topology/topo.h"
#include "base/error.h"

/* 0 when this node allows all of R's `cores` (idset text, logical numbers); else -1 with a sentence
 * that has both sets. The host's name is the caller's to add. */
int allowed_cores_check(const struct topo *topo, const char *cores, struct error *err);

#endif
