/* pairs - the key-value space of a process that is alone. */
#ifndef PMI_SERVER_CLIENT_PAIRS_H
#define PMI_SERVER_CLIENT_PAIRS_H

#include <stdbool.h>

struct pair;

bool pairs_put(struct pair **pairs, const char *key, const char *value); /* false: no memory */
const char *pairs_get(const struct pair *pairs, const char *key);        /* borrowed; or NULL */
void pairs_free(struct pair **pairs);

#endif
