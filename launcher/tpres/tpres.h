/*
 * tpres - the methods of the command tpres, and what they share.
 *
 * A method gets its command line sorted into options and operands, and writes to `out`. It returns
 * 0, or -1 with a sentence, or another exit status with a sentence.
 */
#ifndef LAUNCHER_TPRES_TPRES_H
#define LAUNCHER_TPRES_TPRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "affinity/resource/rset.h"
#include "base/error.h"

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

struct tpres_given {
    enum tpres_option option;
    const char *value; /* NULL where it takes none; else borrowed */
};

struct tpres_call {
    const struct tpres_method *method;
    struct tpres_given *given; /* in order */
    size_t ngiven;
    const char **words; /* operands */
    size_t nwords;
    bool stdin_read; /* by an operand before */
    FILE *out;
};

struct tpres_offer {
    enum tpres_option option;
    const char *help; /* NULL: the end of the list */
};

struct tpres_method {
    const char *name; /* NULL: the end of the table */
    const char *usage;
    const char *about;  /* a line for the list of methods */
    const char *help;   /* more lines; or NULL */
    size_t least, most; /* operands */
    const struct tpres_offer *offers;
    int (*run)(struct tpres_call *call, struct error *err);
};

/* ---- the methods ---- */

int tpres_discover(struct tpres_call *call, struct error *err);
int tpres_make(struct tpres_call *call, struct error *err);
int tpres_show(struct tpres_call *call, struct error *err);
int tpres_check(struct tpres_call *call, struct error *err);
int tpres_select(struct tpres_call *call, struct error *err);
int tpres_append(struct tpres_call *call, struct error *err);
int tpres_subtract(struct tpres_call *call, struct error *err);
int tpres_intersect(struct tpres_call *call, struct error *err);
int tpres_rerank(struct tpres_call *call, struct error *err);
int tpres_alloc(struct tpres_call *call, struct error *err);
int tpres_idset(struct tpres_call *call, struct error *err);
int tpres_hostlist(struct tpres_call *call, struct error *err);
int tpres_taskmap(struct tpres_call *call, struct error *err);
int tpres_shape(struct tpres_call *call, struct error *err);

/* ---- tpres_command.c: the command line ---- */

extern const struct tpres_option_row {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: takes none */
} tpres_options[TPRES_NOPTIONS];

/* words[] ends at a NULL; the first names one of the methods. 0, or -1 with a sentence of kind
 * ERROR_USAGE. With --help the rest is not looked at. tpres_call_clear() either way. */
int tpres_scan(const struct tpres_method *methods, char *const *words, struct tpres_call *call,
               struct error *err);
void tpres_call_clear(struct tpres_call *call);

/* The value of the last such option, "" of one that takes none; NULL: it is not there. */
const char *tpres_value(const struct tpres_call *call, enum tpres_option option);
/* The next value of an option that may come again; *at starts at 0; NULL behind the last. */
const char *tpres_next(const struct tpres_call *call, enum tpres_option option, size_t *at);

/* Of one of the methods (NULL: of all); caller frees. */
char *tpres_help(const struct tpres_method *methods, const struct tpres_method *method);

/* ---- tpres_io.c: resource sets in and out ---- */

/* From a file, or stdin for "-", which can be read once. Everything is checked but the times. NULL
 * with a sentence. */
struct rset *tpres_read(struct tpres_call *call, const char *path, struct error *err);
/* The only operand, or else stdin. */
struct rset *tpres_read_operand(struct tpres_call *call, struct error *err);
/* A text from an operand, which "-" or none takes from stdin, less its last newline. The caller
 * frees. */
char *tpres_read_text(struct tpres_call *call, size_t most, struct error *err);

/* Takes R (NULL: an error is set already) and prints it. -1 with a sentence where no node is left. */
int tpres_write(struct tpres_call *call, struct rset *R, struct error *err);
/* Whether --format is json; -1 with a sentence for a word that is no format. */
int tpres_wants_json(const struct tpres_call *call, struct error *err);
void tpres_write_json(struct tpres_call *call, json_t *value); /* takes it; a line */

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
int tpres_amount_decode(const struct tpres_call *call, enum tpres_option option, bool zero,
                        struct tpres_amount *amount, struct error *err);
/* What of `all` (NULL: all numbers) is meant; caller frees. */
struct idset *tpres_amount_of(const struct tpres_amount *amount, const struct idset *all);

#endif
