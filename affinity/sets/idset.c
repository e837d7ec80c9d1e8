/* Sets of ids as sorted spans: for ranks, cores and GPUs, from one to millions of them. */
#include "affinity/sets/idset.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/hash_table.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/search.h"
#include "base/text.h"

struct idset_span {
    uint32_t first, last;
};

/* Spans ascend, and at least one absent id lies between two of them. */
struct idset {
    struct idset_span *spans;
    size_t count;
    size_t capacity;
    struct idset_span own; /* where `spans` is while one is enough */
    size_t others;         /* owners but for one */
};

static const struct idset idset_none;

/* What a NULL stands for. */
static const struct idset *idset_of(const struct idset *set)
{
    return set ? set : &idset_none;
}

struct idset *idset_new(void)
{
    struct idset *set = mem_alloc(sizeof(*set));
    set->spans = &set->own;
    set->capacity = 1;
    return set;
}

struct idset *idset_copy(const struct idset *set)
{
    struct idset *copy = idset_new();
    if (!set || !set->count)
        return copy;
    if (set->count > 1) {
        copy->spans = mem_array(set->count, sizeof(*copy->spans));
        copy->capacity = set->count;
    }
    memcpy(copy->spans, set->spans, set->count * sizeof(*copy->spans));
    copy->count = set->count;
    return copy;
}

struct idset *idset_ref(struct idset *set)
{
    set->others++;
    return set;
}

void idset_free(struct idset *set)
{
    if (!set || set->others--)
        return;
    if (set->spans != &set->own)
        free(set->spans);
    free(set);
}

struct idset_search {
    const struct idset_span *spans;
    uint32_t id;
};

static bool idset_span_before(const void *arg, size_t i)
{
    const struct idset_search *search = arg;
    return search->spans[i].last < search->id;
}

/* Index of the first span that ends at or after id; count where there is none. */
static size_t idset_search(const struct idset *set, uint32_t id)
{
    if (set->count && set->spans[set->count - 1].last < id)
        return set->count;
    return search_first(set->count, idset_span_before, &(struct idset_search){set->spans, id});
}

static void idset_reserve(struct idset *set, size_t count)
{
    if (count <= set->capacity)
        return;
    struct idset_span *spans = set->spans == &set->own ? NULL : set->spans;
    set->spans = array_reserve(spans, &set->capacity, count, sizeof(*spans));
    if (!spans)
        set->spans[0] = set->own;
}

/* Replace the `gone` spans at index `at` by `fresh` ones, which the caller fills. */
static void idset_splice(struct idset *set, size_t at, size_t gone, size_t fresh)
{
    size_t count = set->count - gone + fresh;
    assert(!set->others);
    idset_reserve(set, count);
    size_t tail = set->count - at - gone;
    if (tail && gone != fresh)
        memmove(set->spans + at + fresh, set->spans + at + gone, tail * sizeof(*set->spans));
    set->count = count;
}

void idset_add_range(struct idset *set, uint32_t first, uint32_t last)
{
    if (last > IDSET_MAX)
        last = IDSET_MAX;
    if (first > last)
        return;
    /* All spans that overlap or touch the new one melt into it. */
    size_t from = idset_search(set, first ? first - 1 : 0);
    size_t to = from;
    while (to < set->count && set->spans[to].first <= last + 1)
        to++;
    if (to > from) {
        if (set->spans[from].first < first)
            first = set->spans[from].first;
        if (set->spans[to - 1].last > last)
            last = set->spans[to - 1].last;
    }
    idset_splice(set, from, to - from, 1);
    set->spans[from] = (struct idset_span){first, last};
}

void idset_add(struct idset *set, uint32_t id)
{
    idset_add_range(set, id, id);
}

void idset_remove(struct idset *set, uint32_t id)
{
    if (!idset_has(set, id))
        return;
    size_t at = idset_search(set, id);
    struct idset_span span = set->spans[at];
    struct idset_span rest[2];
    size_t nrest = 0;
    if (span.first < id)
        rest[nrest++] = (struct idset_span){span.first, id - 1};
    if (span.last > id)
        rest[nrest++] = (struct idset_span){id + 1, span.last};
    idset_splice(set, at, 1, nrest);
    if (nrest)
        memcpy(set->spans + at, rest, nrest * sizeof(*rest));
}

bool idset_has(const struct idset *set, uint32_t id)
{
    size_t at = set ? idset_search(set, id) : 0;
    return set && at < set->count && set->spans[at].first <= id;
}

size_t idset_count(const struct idset *set)
{
    size_t count = 0;
    for (size_t i = 0; set && i < set->count; i++)
        count += (size_t)set->spans[i].last - set->spans[i].first + 1;
    return count;
}

bool idset_empty(const struct idset *set)
{
    return !set || set->count == 0;
}

bool idset_equal(const struct idset *a, const struct idset *b)
{
    if (!a || !b)
        return (!a || idset_empty(a)) && (!b || idset_empty(b));
    if (a == b || a->count != b->count)
        return a == b;
    return !a->count || memcmp(a->spans, b->spans, a->count * sizeof(*a->spans)) == 0;
}

uint64_t idset_hash(uint64_t hash, const struct idset *set)
{
    for (size_t i = 0; set && i < set->count; i++)
        hash = hash_table_hash(hash, set->spans[i].first | (uint64_t)set->spans[i].last << 32);
    return hash;
}

bool idset_within(const struct idset *inner, const struct idset *outer)
{
    inner = idset_of(inner);
    outer = idset_of(outer);
    for (size_t i = 0; i < inner->count; i++) {
        size_t at = idset_search(outer, inner->spans[i].first);
        if (at == outer->count || outer->spans[at].first > inner->spans[i].first ||
            outer->spans[at].last < inner->spans[i].last)
            return false;
    }
    return true;
}

uint32_t idset_first(const struct idset *set)
{
    return set && set->count ? set->spans[0].first : IDSET_NONE;
}

uint32_t idset_next(const struct idset *set, uint32_t id)
{
    if (!set || id >= IDSET_MAX)
        return IDSET_NONE;
    size_t at = idset_search(set, id + 1);
    if (at == set->count)
        return IDSET_NONE;
    return set->spans[at].first > id ? set->spans[at].first : id + 1;
}

uint32_t idset_last(const struct idset *set)
{
    return set && set->count ? set->spans[set->count - 1].last : IDSET_NONE;
}

bool idset_range(const struct idset *set, size_t *at, uint32_t *first, uint32_t *last)
{
    if (!set || *at >= set->count)
        return false;
    *first = set->spans[*at].first;
    *last = set->spans[*at].last;
    (*at)++;
    return true;
}

/* Add a span that starts no lower than the last one does. */
static void idset_push(struct idset *set, struct idset_span span)
{
    struct idset_span *end = set->count ? &set->spans[set->count - 1] : NULL;
    assert(!set->others);
    if (end && span.first <= end->last + 1) {
        if (span.last > end->last)
            end->last = span.last;
        return;
    }
    idset_splice(set, set->count, 0, 1);
    set->spans[set->count - 1] = span;
}

struct idset *idset_union(const struct idset *a, const struct idset *b)
{
    struct idset *sum = idset_new();
    size_t i = 0, j = 0;
    a = idset_of(a);
    b = idset_of(b);
    while (i < a->count || j < b->count) {
        if (j == b->count || (i < a->count && a->spans[i].first <= b->spans[j].first))
            idset_push(sum, a->spans[i++]);
        else
            idset_push(sum, b->spans[j++]);
    }
    return sum;
}

struct idset *idset_subtract(const struct idset *a, const struct idset *b)
{
    struct idset *rest = idset_new();
    size_t j = 0;
    a = idset_of(a);
    b = idset_of(b);
    for (size_t i = 0; i < a->count; i++) {
        struct idset_span span = a->spans[i];
        while (j < b->count && b->spans[j].last < span.first)
            j++;
        size_t cut = j;
        uint32_t first = span.first;
        for (; cut < b->count && b->spans[cut].first <= span.last; cut++) {
            if (b->spans[cut].first > first)
                idset_push(rest, (struct idset_span){first, b->spans[cut].first - 1});
            first = b->spans[cut].last + 1;
        }
        if (first <= span.last)
            idset_push(rest, (struct idset_span){first, span.last});
        j = cut > j ? cut - 1 : j; /* the last one may reach into the next span */
    }
    return rest;
}

/* The next ids that are in both, from spans *i of a and *j of b on; false at the end. */
static bool idset_next_common(const struct idset *a, const struct idset *b, size_t *i, size_t *j,
                              struct idset_span *common)
{
    while (*i < a->count && *j < b->count) {
        struct idset_span x = a->spans[*i], y = b->spans[*j];
        common->first = x.first > y.first ? x.first : y.first;
        common->last = x.last < y.last ? x.last : y.last;
        if (x.last < y.last)
            (*i)++;
        else
            (*j)++;
        if (common->first <= common->last)
            return true;
    }
    return false;
}

struct idset *idset_intersect(const struct idset *a, const struct idset *b)
{
    struct idset *both = idset_new();
    struct idset_span common;
    a = idset_of(a);
    b = idset_of(b);
    for (size_t i = 0, j = 0; idset_next_common(a, b, &i, &j, &common);)
        idset_push(both, common);
    return both;
}

size_t idset_count_both(const struct idset *a, const struct idset *b)
{
    struct idset_span common;
    size_t count = 0;
    a = idset_of(a);
    b = idset_of(b);
    for (size_t i = 0, j = 0; idset_next_common(a, b, &i, &j, &common);)
        count += (size_t)common.last - common.first + 1;
    return count;
}

/* `set` becomes what `result` is, which goes. */
static void idset_become(struct idset *set, struct idset *result)
{
    assert(!set->others);
    if (set->spans != &set->own)
        free(set->spans);
    *set = *result;
    if (result->spans == &result->own)
        set->spans = &set->own;
    free(result);
}

void idset_add_set(struct idset *set, const struct idset *more)
{
    if (!more || !more->count || more == set)
        return;
    if (set->count && more->spans[0].first <= set->spans[set->count - 1].last) {
        if (!idset_within(more, set))
            idset_become(set, idset_union(set, more));
        return;
    }
    for (size_t i = 0; i < more->count; i++)
        idset_push(set, more->spans[i]);
}

void idset_remove_set(struct idset *set, const struct idset *less)
{
    if (less && less->count && set->count)
        idset_become(set, idset_subtract(set, less));
}

void idset_keep_set(struct idset *set, const struct idset *kept)
{
    if (kept != set && set->count)
        idset_become(set, idset_intersect(set, kept));
}

/* The text form of idsets (RFC 22). */

struct idset_text {
    const char *text; /* all of it, for messages */
    const char *at;
    const char *end;
};

static int idset_bad(const struct idset_text *in, const char *piece, size_t len, const char *why,
                     struct error *err)
{
    return error_set(err, "idset %s: %s %s; expected ascending ids and ranges, as in 0-3,7",
                     excerpt(in->text, strlen(in->text)).text, excerpt(piece, len).text, why);
}

/* One id of [*at, end). Returns what is wrong with it, or NULL. */
static const char *idset_read_id(const char **at, const char *end, uint32_t *id)
{
    const char *start = *at;
    uint64_t value;
    size_t digits = number_read(start, end, IDSET_MAX, &value);
    *at += digits;
    if (value > IDSET_MAX)
        return "is above the largest id, 2147483647";
    if (!digits)
        return "is not an id";
    if (*start == '0' && digits > 1)
        return "has a leading zero";
    *id = (uint32_t)value;
    return NULL;
}

static const char *idset_read_piece(const char *at, const char *end, uint32_t *first,
                                    uint32_t *last)
{
    if (at == end)
        return "is an empty element";
    const char *why = idset_read_id(&at, end, first);
    if (why)
        return why;
    *last = *first;
    if (at < end && *at == '-') {
        at++;
        why = idset_read_id(&at, end, last);
        if (why)
            return why;
        if (*last <= *first)
            return "is not an ascending range";
    }
    return at == end ? NULL : "is not an id or a range";
}

static int idset_read_all(struct idset *set, struct idset_text *in, struct error *err)
{
    int64_t above = -1;
    for (;;) {
        const char *comma = memchr(in->at, ',', (size_t)(in->end - in->at));
        const char *end = comma ? comma : in->end;
        uint32_t first = 0, last = 0;
        const char *why = idset_read_piece(in->at, end, &first, &last);
        if (!why && (int64_t)first <= above)
            why = "does not ascend";
        if (why)
            return idset_bad(in, in->at, (size_t)(end - in->at), why, err);
        idset_add_range(set, first, last);
        above = last;
        if (!comma)
            return 0;
        in->at = comma + 1;
    }
}

struct idset *idset_decode(const char *text, struct error *err)
{
    size_t len = strlen(text);
    struct idset_text in = {text, text, text + len};
    if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
        in.at++;
        in.end--;
    }
    struct idset *set = idset_new();
    if (in.at < in.end && idset_read_all(set, &in, err) < 0) {
        idset_free(set);
        return NULL;
    }
    return set;
}

char *idset_encode(const struct idset *set)
{
    struct buf out = BUF_INIT;
    uint32_t first, last;
    for (size_t at = 0; idset_range(set, &at, &first, &last);) {
        if (out.len)
            buf_add_char(&out, ',');
        if (first == last)
            buf_printf(&out, "%u", first);
        else
            buf_printf(&out, "%u-%u", first, last);
    }
    return buf_take_text(&out);
}

json_t *idset_to_json(const struct idset *set)
{
    char *text = idset_encode(set);
    json_t *value = json_string(text);
    free(text);
    return value;
}
