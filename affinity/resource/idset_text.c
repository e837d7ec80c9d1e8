/* The text form of idsets (RFC 22). */
#include <string.h>

#include "affinity/resource/excerpt.h"
#include "affinity/resource/idset.h"
#include "base/buf.h"

struct idset_text {
    const char *text; /* all of it, for messages */
    const char *at;
    const char *end;
};

static int idset_bad(const struct idset_text *in, const char *piece, size_t len, const char *why,
                     struct error *err)
{
    return error_set(err, "idset %s: %s %s; ids and ranges that ascend are right, as in 0-3,7",
                     excerpt(in->text, strlen(in->text)).text, excerpt(piece, len).text, why);
}

/* One id of [*at, end). Returns what is wrong with it, or NULL. */
static const char *idset_read_id(const char **at, const char *end, uint32_t *id)
{
    const char *start = *at;
    uint64_t value = 0;
    while (*at < end && **at >= '0' && **at <= '9') {
        value = value * 10 + (uint64_t)(**at - '0');
        if (value > IDSET_MAX)
            return "is above the largest id, 2147483647";
        (*at)++;
    }
    if (*at == start)
        return "is not an id";
    if (*start == '0' && *at - start > 1)
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
