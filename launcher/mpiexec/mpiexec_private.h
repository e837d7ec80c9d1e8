/*
 * mpiexec_private - a foreign command line while it is translated; for mpiexec*.c only.
 */
#ifndef LAUNCHER_MPIEXEC_MPIEXEC_PRIVATE_H
#define LAUNCHER_MPIEXEC_MPIEXEC_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/string_list.h"
#include "launcher/mpiexec/mpiexec.h"
#include "launcher/mpiexec/mpiexec_table.h"

struct mpiexec_text { /* a piece of a value */
    const char *at;
    size_t len;
};

struct mpiexec_part {
    struct string_list pass;   /* which of the caller's variables there are, */
    bool passes;               /* if this part says so itself */
    struct string_list set;    /* variables set by it */
    struct string_list own;    /* its other native words */
    const char *ntasks, *ppn;  /* NULL: not given; borrowed */
    const char *ntasks_before; /* another number that was given before it; NULL: none */
    char *per, *per_written;   /* of -npernode and the like: 2:node, and as the user has it */
    char *per_other;           /* another one behind it, which says something else */
    uint32_t count;            /* of ranks, as far as it is known here */
    bool placed;               /* own words say which node a rank is on */
    const char *bound;         /* by -bind-to to each of these objects; NULL: not so */
    bool by_node;              /* -map-by names nodes */
    bool filled;               /* own words say how many an object has: one after the other */
    bool by_slot;              /* -rank-by: as they are mapped, node by node */
    bool hwthreads;            /* they are what -use-hwthread-cpus counts */
    char *const *program;      /* borrowed */
    size_t nprogram;
    char *found; /* what stands for program[0]; NULL: itself */
};

struct mpiexec {
    const char *name;                    /* it was called by; borrowed */
    struct mpiexec_text option;          /* that is being read, as it is written, without a value */
    struct string_list whole, pass, set; /* of the whole program; of every part */
    struct mpiexec_part *parts;
    size_t nparts;
    char *hosts;                  /* of -host, with their counts */
    size_t hosts_part;            /* the part that gave them */
    const char *prefix;           /* borrowed; NULL: none */
    const char *hostfile;         /* borrowed; NULL: none, or not the only one that names hosts */
    bool strict;                  /* not more tasks than there are cores */
    bool oversubscribe;           /* more than -npernode and the like allow */
    enum mpiexec_dialect dialect; /* of the name it was called by, then of all that tells */
    bool hydra, openmpi;          /* there were options that only this one has */
    struct string_list undecided; /* options without a value that mean two things */
    char **file;                  /* the words of -configfile; owned */
    struct string_list texts;     /* what values were made of */
};

/* mpiexec_words.c: what all readers use. */
struct mpiexec_part *mpiexec_part(struct mpiexec *mpiexec); /* the one that is being read */
/* The piece before one of `ends`, which is taken off the front. */
struct mpiexec_text mpiexec_text_cut(const char **value, const char *ends);
/* Words may be shortened to what tells them from others: that is `least` letters. */
bool mpiexec_text_begins(struct mpiexec_text text, const char *word, size_t least);
/* The value of the last of these words that is this option, "--per="; NULL: none is. */
const char *mpiexec_value(const struct string_list *words, const char *option);

/* mpiexec_hosts.c: --hosts and, for the first part, which ranks are on which of them; -n and the
 * ranks of a node for each part. 0, or -1 with a sentence. */
int mpiexec_add_hosts(struct mpiexec *mpiexec, const char *hosts, struct error *err);
int mpiexec_place_ranks(struct mpiexec *mpiexec, struct error *err);

/* mpiexec_dialect.c: the dialect, as far as options and then the first part's program tell; which
 * programs are found where tasks start. */
void mpiexec_note_option(struct mpiexec *mpiexec, const struct mpiexec_option *option);
void mpiexec_choose_by_options(struct mpiexec *mpiexec);
void mpiexec_find_programs(struct mpiexec *mpiexec);
void mpiexec_choose_by_program(struct mpiexec *mpiexec);
const char *mpiexec_program(const struct mpiexec_part *part); /* of a part that has one */
/* A variable of the part's tasks, as far as the command line was read; NULL: they have none. */
const char *mpiexec_variable(const struct mpiexec *mpiexec, const struct mpiexec_part *part,
                             const char *name);

/* mpiexec_values.c: readers of the table. */
int mpiexec_read_ntasks(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_ppn(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_npernode(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_npersocket(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_pernode(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_hosts(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_hostfile(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_oversubscribe(struct mpiexec *mpiexec, const char *const *values,
                               struct error *err);
int mpiexec_read_variable(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_rsh(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_mca(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_strict(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_launcher(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_outfile(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_errfile(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_membind(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_genvlist(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_genvnone(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_genvall(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_envlist(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_envnone(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_envall(struct mpiexec *mpiexec, const char *const *values, struct error *err);

/* mpiexec_environment.c: variables of the dialect, once all options are read. */
int mpiexec_read_environment(struct mpiexec *mpiexec, struct error *err);

/* mpiexec_layout.c: --bind-to, --map-by and --rank-by in both dialects, and what else says them. */
int mpiexec_read_bind(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_map(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_ppr(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_bynode(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_bycore(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_byslot(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_hwthreads(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_rank_by(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_rankfile(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_rankmap(struct mpiexec *mpiexec, const char *const *values, struct error *err);
/* So many on each, numbered along the hardware, as Open MPI has it; takes `written`. */
void mpiexec_add_per(struct mpiexec *mpiexec, uint32_t count, const char *level, char *written);
/* What follows from all of a part's options together. */
void mpiexec_end_layout(struct mpiexec *mpiexec, struct mpiexec_part *part);
/* Once it is known how many ranks there are. */
void mpiexec_fill_objects(struct mpiexec_part *part);

/* mpiexec_output.c: what is shown of a run, and where output goes. */
int mpiexec_read_display(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_output(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_filename(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_directory(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_pattern(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_buffering(struct mpiexec *mpiexec, const char *const *values, struct error *err);

/* mpiexec_runtime.c: parameters in files, runtime options, and variables made of others. */
int mpiexec_read_tune(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_timeout(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_runtime(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_recovery(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_signals(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_prefix(struct mpiexec *mpiexec, const char *const *values, struct error *err);
void mpiexec_end_prefix(const struct mpiexec *mpiexec, struct mpiexec_part *part);
int mpiexec_read_prepend(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_append(struct mpiexec *mpiexec, const char *const *values, struct error *err);

#endif
