/*
 * field_words - the words that a spec uses, each with its value.
 *
 * The command line and the JSON form read and write the same words from these tables, which end
 * at a NULL word. Where two words have one value, the first is the one that is written.
 */
#ifndef LAUNCHER_SPEC_FIELD_WORDS_H
#define LAUNCHER_SPEC_FIELD_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SPEC_MAX_NUMBER (16u << 20) /* of nodes, slots, cores, fan-out */

struct spec_word {
    const char *word;
    unsigned value;
};

extern const struct spec_word spec_display_words[];    /* LAYOUT_SHOW_* */
extern const struct spec_word spec_format_words[];     /* enum spec_show */
extern const struct spec_word spec_input_words[];      /* enum spec_input */
extern const struct spec_word spec_disconnect_words[]; /* enum spec_disconnect */
extern const struct spec_word spec_failure_words[];    /* enum spec_failure */
extern const struct spec_word spec_memory_words[];     /* enum spec_memory */
extern const struct spec_word spec_pmi_words[];        /* enum spec_pmi */
extern const struct spec_word spec_rlimit_words[];     /* RLIMIT_* */

/* The value of text[0..len), false when no word is so called. */
bool spec_word_find(const struct spec_word *words, const char *text, size_t len, unsigned *value);
const char *spec_word_name(const struct spec_word *words, unsigned value); /* or NULL */
char *spec_words_list(const struct spec_word *words); /* "text, json"; caller frees */
/* The value of text[0..len); of words between commas, none of which may be empty, all values or'ed
 * together. 0, or -1 with a sentence that says which words there are. */
int spec_word_decode(const struct spec_word *words, const char *text, size_t len, unsigned *value,
                     struct error *err);
int spec_words_decode(const struct spec_word *words, const char *text, unsigned *set,
                      struct error *err);

/* Values that the command line and the JSON form check alike. 0, or -1 with a sentence. */
int spec_number_decode(const char *text, uint32_t max, uint32_t *value, struct error *err);
int spec_umask_decode(const char *text, int *value, struct error *err); /* octal */
/* "USR1@60s": a signal, and how long before the limit it is sent. */
int spec_signal_decode(const char *text, int *number, double *before, struct error *err);
char *spec_signal_encode(int number, double before); /* caller frees */
int spec_limit_decode(const char *text, uint64_t *soft,
                      struct error *err);                  /* 4096, 8M, unlimited */
int spec_hosts_check(const char *text, struct error *err); /* a hostlist that names hosts */
bool spec_host_has_count(const char *name); /* HOST:4 or [USER@]HOST:4:8, no address of IPv6 */
int spec_after_check(const char *text, struct error *err);    /* ID, ID:ok, ID:any */
int spec_topology_check(const char *text, struct error *err); /* HOSTLIST=DESCRIPTION */
int spec_pmi_check(unsigned set, struct error *err);          /* what this build has */
int spec_pset_check(const char *text, struct error *err);     /* the name of a process set */
int spec_memory_kinds_check(const char *text, struct error *err);
int spec_ranks_check(const char *text, struct error *err); /* an idset that is not empty */

#endif
