/*
 * edit_distance - the word that a misspelt one may have been meant to be.
 */
#ifndef BASE_EDIT_DISTANCE_H
#define BASE_EDIT_DISTANCE_H

#include <stddef.h>

#define EDIT_DISTANCE_MAX 64 /* longer words are near to none */

/* How many letters to insert, remove or change, and neighbours to swap; SIZE_MAX for long words. */
size_t edit_distance_distance(const char *a, size_t alen, const char *b, size_t blen);

/* Below this edit distance a word is suggested for one of this length. */
size_t edit_distance_bound(size_t len);

/* Of words[], which ends at a NULL, the nearest to text[0..len), or one that begins with it; NULL
 * when none is near. */
const char *edit_distance_word(const char *const *words, const char *text, size_t len);

#endif
