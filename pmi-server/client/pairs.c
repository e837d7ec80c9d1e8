#include "pmi-server/client/pairs.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    struct pair *next;
    char *key, *value;
};

static struct pair *pairs_find(struct pair *pair, const char *key)
{
    while (pair && strcmp(pair->key, key) != 0)
        pair = pair->next;
    return pair;
}

const char *pairs_get(const struct pair *pairs, const char *key)
{
    const struct pair *pair = pairs_find((struct pair *)pairs, key);
    return pair ? pair->value : NULL;
}

static struct pair *pairs_add(struct pair **pairs, const char *key)
{
    struct pair *pair = calloc(1, sizeof(*pair));
    if (!pair)
        return NULL;
    pair->key = strdup(key);
    if (!pair->key) {
        free(pair);
        return NULL;
    }
    pair->next = *pairs;
    *pairs = pair;
    return pair;
}

bool pairs_put(struct pair **pairs, const char *key, const char *value)
{
    char *copy = strdup(value);
    struct pair *pair = pairs_find(*pairs, key);
    if (copy && !pair)
        pair = pairs_add(pairs, key);
    if (!copy || !pair) {
        free(copy);
        return false;
    }
    free(pair->value);
    pair->value = copy;
    return true;
}

void pairs_free(struct pair **pairs)
{
    while (*pairs) {
        struct pair *pair = *pairs;
        *pairs = pair->next;
        free(pair->key);
        free(pair->value);
        free(pair);
    }
}
