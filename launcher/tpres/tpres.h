/*
 * tpres - the methods of the command tpres, and what they share.
 */
#ifndef LAUNCHER_TPRES_TPRES_H
#define LAUNCHER_TPRES_TPRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "affinity/resource/rset.h"
#include "base/error.h"
#include "launcher/command/method.h"

#define TPRES_NEVER 3 /* exit status of alloc for what does not fit even when all is free */

enum tpres_option {
    TPRES_CORES,
    TPRES_COUNT,
    TPRES_DRAW,
    TPRES_EXCLUDE,
    TPRES_FORMAT,
    TPRES_FROM,
    TPRES_GPUS,
    TPRES_HELD,
    TPRES_HELP,
    TPRES_HOSTFILE,
    TPRES_HOSTS,
    TPRES_NO_TOPOLOGY,
    TPRES_PROPERTY,
    TPRES_RANKS,
    TPRES_REQUIRES,
    TPRES_RESOURCES,
    TPRES_SLOTS,
    TPRES_TO,
    TPRES_TOPOLOGY,
    TPRES_NOPTIONS
};

/* ---- the methods ---- */

int tpres_discover(struct method_call *call, struct error *err);
int tpres_make(struct method_call *call, struct error *err);
int tpres_show(struct method_call *call, struct error *err);
int tpres_check(struct method_call *call, struct error *err);
int tpres_select(struct method_call *call, struct error *err);
int tpres_append(struct method_call *call, struct error *err);
int tpres_subtract(struct method_call *call, struct error *err);
int tpres_intersect(struct method_call *call, struct error *err);
int tpres_rerank(struct method_call *call, struct error *err);
int tpres_alloc(struct method_call *call, struct error *err);
int tpres_idset(struct method_call *call, struct error *err);
int tpres_hostlist(struct method_call *call, struct error *err);
int tpres_taskmap(struct method_call *call, struct error *err);
int tpres_shape(struct method_call *call, struct error *err);

extern const struct method_option tpres_options[TPRES_NOPTIONS];

/* ---- tpres_io.c: resource sets in and out ---- */

/* From a file, or stdin for "-", which can be read once. Everything is checked but the times. NULL
 * with a sentence. */
struct rset *tpres_read(struct method_call *call, const char *path, struct error *err);
/* The only operand, or else stdin. */
struct rset *tpres_read_operand(struct method_call *call, struct error *err);
/* A text from an operand, which "-" or none takes from stdin, less its last newline. The caller
 * frees. */
char *tpres_read_text(struct method_call *call, size_t most, struct error *err);

/* Takes R (NULL: an error is set already) and prints it. -1 with a sentence where no node is
 * left. */
int tpres_write(struct method_call *call, struct rset *R, struct error *err);
/* Whether --format is json; -1 with a sentence for a word that is no format. */
int tpres_wants_json(const struct method_call *call, struct error *err);
void tpres_write_json(struct method_call *call, json_t *value); /* takes it; a line */

/* The ids of a node's GPUs; caller frees. */
struct topo;
struct idset *tpres_gpus_of(const struct topo *topo);
/* This machine as an R with one node of rank 0; NULL with a sentence. */
struct rset *tpres_this_machine(struct error *err);

/* tpres_make.c: what a batch system gave the job that this process is in; "auto": whichever there
 * is. NULL with a sentence. */
struct node_list;
struct node_list *tpres_from(const char *word, struct error *err);

/* "N" or an idset, in a value of --cores or --gpus. */
struct tpres_amount {
    struct idset *ids; /* NULL: the first `count` */
    uint32_t count;
};
int tpres_amount_decode(const struct method_call *call, enum tpres_option option, bool zero,
                        struct tpres_amount *amount, struct error *err);
/* What of `all` (NULL: all numbers) is meant; caller frees. */
struct idset *tpres_amount_of(const struct tpres_amount *amount, const struct idset *all);

#endif
