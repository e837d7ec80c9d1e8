/*
 * tree_target - a node on which an agent is to be started.
 */
#ifndef LAUNCHER_TREE_TREE_TARGET_H
#define LAUNCHER_TREE_TREE_TARGET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct tree_target {
    uint32_t node;
    char *host;    /* as shown */
    char *login;   /* as reached */
    char *cores;   /* R's cores there (idset text), or NULL */
    char *digest;  /* of the topology that is known of it, or NULL */
    bool here;     /* this machine: no command */
    uint32_t rank; /* in R; does not travel */
    bool together; /* by one command with others: bootstrap_shared_command() */
};

/* As they travel in a welcome; `here` does not. */
json_t *tree_targets_to_json(const struct tree_target *targets, size_t count);
/* NULL with a sentence; caller frees. */
struct tree_target *tree_targets_from_json(const json_t *value, size_t *count, struct error *err);
void tree_targets_free(struct tree_target *targets, size_t count);

#endif
