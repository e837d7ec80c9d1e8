/* How many, and which: long sets and lists of hosts, told briefly. */
#include "affinity/sets/short_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* The step of ids that are evenly spaced, or 0. */
static uint32_t even_step(const struct idset *set)
{
    uint32_t last = idset_first(set), step = idset_next(set, last) - last;
    for (uint32_t id = idset_next(set, last); id != IDSET_NONE; id = idset_next(set, id)) {
        if (id - last != step)
            return 0;
        last = id;
    }
    return step;
}

char *idset_encode_short(const struct idset *set, size_t max)
{
    uint32_t first, last;
    size_t at = 0;
    while (at <= max && idset_range(set, &at, &first, &last))
        ;
    /* A set of more ranges than characters has a longer text, which may be very long. */
    if (max < 2 || at <= max) {
        char *text = idset_encode(set);
        if (strlen(text) <= max || !strchr(text, ',') || idset_count(set) == 2)
            return text;
        free(text);
    }
    first = idset_first(set);
    last = idset_last(set);
    uint32_t step = even_step(set);
    if (step)
        return mem_format("%u,%u..%u", first, first + step, last);
    return mem_format("%u..%u (%zu)", first, last, idset_count(set));
}

/* Where the list may be cut before `max`: at a comma; *inside tells whether that is in brackets. */
static size_t cut_hosts(const char *text, size_t max, bool *inside)
{
    size_t cut = 0;
    bool open = false;
    for (size_t at = 0; text[at] && at < max; at++) {
        open = text[at] == '[' || (open && text[at] != ']');
        if (text[at] == ',') {
            cut = at;
            *inside = open;
        }
    }
    return cut;
}

char *hostlist_encode_short(const struct hostlist *hosts, size_t max)
{
    char *text = hostlist_encode(hosts), *brief;
    size_t count = hostlist_count(hosts);
    bool inside = false;
    if (strlen(text) <= max || count == 1 || !strchr(text, ','))
        return text;
    size_t cut = cut_hosts(text, max, &inside);
    if (cut)
        brief = mem_format("%.*s,...%s (%zu nodes)", (int)cut, text, inside ? "]" : "", count);
    else
        brief = mem_format("%s and %zu other%s", hostlist_nth(hosts, 0), count - 1,
                           text_plural(count - 1));
    free(text);
    return brief;
}
