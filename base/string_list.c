/* Arrays of words that end with NULL, for exec() and for options. */
#include "base/string_list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"

/* The NULL is an element, too. */
static void string_list_begin(struct string_list *words)
{
    if (words->list)
        return;
    words->list = array_grow(NULL, 0, sizeof(*words->list));
    words->list[0] = NULL;
}

void string_list_add(struct string_list *words, char *word)
{
    string_list_begin(words);
    words->list = array_grow(words->list, words->count + 1, sizeof(*words->list));
    words->list[words->count++] = word;
    words->list[words->count] = NULL;
}

void string_list_add_copy(struct string_list *words, const char *word)
{
    string_list_add(words, mem_copy_text(word));
}

void string_list_add_all(struct string_list *words, const struct string_list *more)
{
    for (size_t i = 0; i < more->count; i++)
        string_list_add_copy(words, more->list[i]);
}

char **string_list_take(struct string_list *words)
{
    string_list_begin(words);
    char **list = words->list;
    *words = (struct string_list){0};
    return list;
}

void string_list_free(char **array)
{
    int saved = errno;
    for (char **word = array; word && *word; word++)
        free(*word);
    free(array);
    errno = saved;
}

void string_list_clear(struct string_list *words)
{
    string_list_free(words->list);
    *words = (struct string_list){0};
}
