/*
 * string_list - words, each allocated for itself, with a NULL behind the last: an argv.
 *
 * A zeroed one is empty; its `list` is NULL until a word comes.
 */
#ifndef BASE_STRING_LIST_H
#define BASE_STRING_LIST_H

#include <stddef.h>

struct string_list {
    char **list; /* [count + 1] */
    size_t count;
};

void string_list_add(struct string_list *words, char *word); /* the word is taken */
void string_list_add_copy(struct string_list *words, const char *word);
void string_list_add_all(struct string_list *words, const struct string_list *more); /* copies */
/* The array, never NULL, which the caller frees with string_list_free(); the list is empty then. */
char **string_list_take(struct string_list *words) __attribute__((returns_nonnull));
void string_list_clear(struct string_list *words); /* frees the words; empty then */

/* Such an array with its words. NULL is fine; errno stays. */
void string_list_free(char **array);

#endif
