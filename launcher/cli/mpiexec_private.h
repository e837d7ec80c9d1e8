/*
 * mpiexec_private - a foreign command line while it is translated; for mpiexec*.c only.
 */
#ifndef LAUNCHER_CLI_MPIEXEC_PRIVATE_H
#define LAUNCHER_CLI_MPIEXEC_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct mpiexec_words { /* owned, and NULL behind the last; all zero is empty */
    char **at;
    size_t count;
};

struct mpiexec_part {
    struct mpiexec_words pass; /* which of the caller's variables there are, */
    bool passes;               /* if this part says so itself */
    struct mpiexec_words set;  /* variables set by it */
    struct mpiexec_words own;  /* its other native words */
    const char *ntasks, *ppn;  /* NULL: not given; borrowed */
    bool placed;               /* own words say which node a rank is on */
    char *const *program;      /* borrowed */
    size_t nprogram;
};

struct mpiexec {
    struct mpiexec_words whole, pass, set; /* of the whole program; of every part */
    struct mpiexec_part *parts;
    size_t nparts;
    char *hosts;       /* of -host, with their counts */
    size_t hosts_part; /* the part that gave them */
    bool strict;       /* not more tasks than there are cores */
    char **file;       /* the words of -configfile; owned */
};

enum mpiexec_place {
    MPIEXEC_WHOLE, /* native words of the whole program, */
    MPIEXEC_PART,  /* of the part, */
    MPIEXEC_SET,   /* of the part, variables */
    MPIEXEC_EVERY, /* of every part, variables */
    MPIEXEC_READ,  /* read() sees to it */
    MPIEXEC_IDLE,  /* taken; nothing has to be done for it */
    MPIEXEC_NONE   /* refused */
};

struct mpiexec_option {
    const char *names;     /* without dashes, blanks between */
    const char *arguments; /* names of its values, blanks between; NULL: none */
    enum mpiexec_place place;
    /* The native words, {} for a value, blanks between; of READ and IDLE what it comes to, of NONE
     * what to write instead. */
    const char *native;
    /* `values` are as many as the arguments. The sentence is about the value only. */
    int (*read)(struct mpiexec *mpiexec, const char *const *values, struct error *err);
};

#define MPIEXEC_MAX_VALUES 2

extern const struct mpiexec_option mpiexec_table[]; /* ends at a row without names */

/* By name, without dashes; NULL when there is none. */
const struct mpiexec_option *mpiexec_find(const char *name, size_t len);
size_t mpiexec_nvalues(const struct mpiexec_option *option);

struct mpiexec_part *mpiexec_part(struct mpiexec *mpiexec); /* the one that is being read */
void mpiexec_add(struct mpiexec_words *words, char *word);  /* takes the word */
void mpiexec_add_all(struct mpiexec_words *words, const struct mpiexec_words *more); /* copies */
void mpiexec_words_free(struct mpiexec_words *words);

/* mpiexec_hosts.c: --hosts and, for the first part, which ranks are on which of them; -n and the
 * ranks of a node for each part. 0, or -1 with a sentence. */
int mpiexec_add_hosts(struct mpiexec *mpiexec, const char *hosts, struct error *err);
int mpiexec_place_ranks(struct mpiexec *mpiexec, struct error *err);

/* mpiexec_values.c: readers of the table. */
int mpiexec_read_ntasks(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_ppn(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_npernode(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_npersocket(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_pernode(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_hosts(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_strict(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_rankfile(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_rank_by(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_launcher(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_output(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_error(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_membind(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_genvlist(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_genvnone(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_genvall(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_envlist(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_envnone(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_envall(struct mpiexec *mpiexec, const char *const *values, struct error *err);

/* mpiexec_layout.c: --bind-to and --map-by in both dialects. */
int mpiexec_read_bind(struct mpiexec *mpiexec, const char *const *values, struct error *err);
int mpiexec_read_map(struct mpiexec *mpiexec, const char *const *values, struct error *err);

#endif
