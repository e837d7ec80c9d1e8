/* Lists of host names, and their text form (RFC 29). */
#include "affinity/sets/hostlist.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"

/* Names lie one behind another in blocks that never move, so that a borrowed name stays good. */
#define HOSTLIST_BLOCK_MIN 256
#define HOSTLIST_BLOCK_MAX 1048576

struct hostlist_block {
    struct hostlist_block *older;
    size_t used, room;
    char bytes[];
};

struct hostlist {
    const char **hosts;
    size_t count;
    size_t bytes;
    struct hostlist_block *block; /* the one being filled */
};

struct hostlist *hostlist_new(void)
{
    return mem_alloc(sizeof(struct hostlist));
}

void hostlist_free(struct hostlist *list)
{
    if (!list)
        return;
    while (list->block) {
        struct hostlist_block *older = list->block->older;
        free(list->block);
        list->block = older;
    }
    free(list->hosts);
    free(list);
}

void hostlist_append(struct hostlist *list, const char *host)
{
    size_t len = strlen(host) + 1;
    struct hostlist_block *block = list->block;
    if (!block || block->room - block->used < len) { /* a new one is twice the size of the last */
        size_t room = block ? block->room * 2 : HOSTLIST_BLOCK_MIN;
        if (room > HOSTLIST_BLOCK_MAX)
            room = HOSTLIST_BLOCK_MAX;
        if (room < len)
            room = len;
        struct hostlist_block *fresh = mem_resize(NULL, sizeof(*fresh) + room, 1);
        *fresh = (struct hostlist_block){.older = block, .room = room};
        list->block = block = fresh;
    }
    list->hosts = array_grow(list->hosts, list->count, sizeof(*list->hosts));
    list->hosts[list->count++] = memcpy(block->bytes + block->used, host, len);
    block->used += len;
    list->bytes += len;
}

size_t hostlist_count(const struct hostlist *list)
{
    return list->count;
}

size_t hostlist_bytes(const struct hostlist *list)
{
    return list->bytes;
}

const char *hostlist_nth(const struct hostlist *list, size_t index)
{
    return index < list->count ? list->hosts[index] : NULL;
}

ssize_t hostlist_find(const struct hostlist *list, const char *host)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->hosts[i], host) == 0)
            return (ssize_t)i;
    return -1;
}

/* The text form of host lists (RFC 29). */

#define HOSTLIST_MAX_DIGITS 18 /* fits in 64 bits */

/* One expression, prefix[ids]suffix, being expanded. */
struct hostlist_expr {
    struct hostlist *list;
    const char *prefix, *suffix; /* in the text */
    size_t prefix_len, suffix_len;
    int width; /* digits that the first id asks for; 0 before it was read */
};

struct hostlist_id {
    uint64_t value;
    const char *digits; /* in the text */
    int len;
};

static int hostlist_bad(const char *piece, size_t len, const char *why, struct error *err)
{
    return error_set(err, "hostlist: %s %s; expected names and name[ids], as in node[0-3,7],login",
                     excerpt(piece, len).text, why);
}

/* RFC 29: printable, no blank, no bracket, no comma. */
static size_t hostlist_name_len(const char *at)
{
    const char *end = at;
    while (*end > ' ' && *end < 0x7f && *end != '[' && *end != ']' && *end != ',')
        end++;
    return (size_t)(end - at);
}

static const char *hostlist_check_room(const struct hostlist *list, size_t len)
{
    if (len > HOSTLIST_MAX_NAME)
        return "makes a name of more than 320 bytes";
    if (hostlist_count(list) >= HOSTLIST_MAX)
        return "is one host too many: a list holds 4194304";
    if (hostlist_bytes(list) + len + 1 > HOSTLIST_MAX_BYTES)
        return "makes a list of more than 128 MiB";
    return NULL;
}

/* At least `width` digits; how many. printf(3) would take most of a long list's time. */
static size_t hostlist_write_digits(char *digits, uint64_t value, int width)
{
    size_t len = (size_t)width;
    for (uint64_t rest = value, n = 0; rest; rest /= 10)
        if (++n > len)
            len = n;
    for (size_t i = len; i > 0; i--, value /= 10)
        digits[i - 1] = (char)('0' + value % 10);
    return len;
}

static const char *hostlist_add_id(struct hostlist_expr *expr, uint64_t value)
{
    char name[HOSTLIST_MAX_NAME + HOSTLIST_MAX_DIGITS + 2];
    char digits[HOSTLIST_MAX_DIGITS + 2];
    size_t ndigits = hostlist_write_digits(digits, value, expr->width);
    size_t len = expr->prefix_len + ndigits + expr->suffix_len;
    const char *why = hostlist_check_room(expr->list, len);
    if (why)
        return why;
    memcpy(name, expr->prefix, expr->prefix_len);
    memcpy(name + expr->prefix_len, digits, ndigits);
    memcpy(name + expr->prefix_len + ndigits, expr->suffix, expr->suffix_len);
    name[len] = '\0';
    hostlist_append(expr->list, name);
    return NULL;
}

static const char *hostlist_read_id(const char **at, struct hostlist_id *id)
{
    *id = (struct hostlist_id){0, *at, 0};
    size_t digits = number_read(*at, NULL, UINT64_MAX - 1, &id->value);
    if (digits > HOSTLIST_MAX_DIGITS)
        return "has a number of more than 18 digits";
    id->len = (int)digits;
    *at += digits;
    return id->len ? NULL : "is not an id or a range of ids";
}

/* The padding of the first id holds for all of a list (RFC 29), so a later id with zeros that this
 * does not give would name another host than was written. */
static const char *hostlist_check_zeros(struct hostlist_expr *expr, const struct hostlist_id *id)
{
    bool padded = id->len > 1 && id->digits[0] == '0';
    if (!expr->width)
        expr->width = padded ? id->len : 1;
    if (padded && id->len != expr->width)
        return "has other leading zeros than the first id of its brackets, whose width holds for "
               "all";
    return NULL;
}

/* An id or a range; *at stands behind it afterwards. */
static const char *hostlist_read_ids(struct hostlist_expr *expr, const char **at)
{
    struct hostlist_id first, last;
    const char *why = hostlist_read_id(at, &first);
    if (!why)
        why = hostlist_check_zeros(expr, &first);
    if (why)
        return why;
    last = first;
    if (**at == '-') {
        (*at)++;
        why = hostlist_read_id(at, &last);
        if (!why)
            why = hostlist_check_zeros(expr, &last);
        if (why)
            return why;
    }
    if (last.value < first.value)
        return "is not an ascending range";
    if (last.value - first.value >= HOSTLIST_MAX_RANGE)
        return "is a range of more than 1048576 hosts";
    for (uint64_t value = first.value; value <= last.value && !why; value++)
        why = hostlist_add_id(expr, value);
    return why;
}

static int hostlist_read_brackets(struct hostlist_expr *expr, const char *open, const char *close,
                                  struct error *err)
{
    const char *at = open + 1;
    for (;;) {
        const char *piece = at;
        const char *why = hostlist_read_ids(expr, &at);
        if (!why && at != close && *at != ',')
            why = "is not an id or a range of ids";
        if (why)
            return error_set(err, "hostlist: %s in %s %s",
                             excerpt(piece, strcspn(piece, ",]")).text,
                             excerpt(expr->prefix, (size_t)(close + 1 - expr->prefix)).text, why);
        if (at == close)
            return 0;
        at++;
    }
}

/* prefix[ids]suffix, where *at stands on the bracket. */
static int hostlist_read_group(struct hostlist_expr *expr, const char **at, struct error *err)
{
    const char *open = *at;
    const char *close = strchr(open, ']');
    if (!close)
        return hostlist_bad(expr->prefix, strcspn(open, ",") + expr->prefix_len,
                            "has no closing bracket", err);
    expr->suffix = close + 1;
    expr->suffix_len = hostlist_name_len(expr->suffix);
    *at = expr->suffix + expr->suffix_len;
    if (**at == '[')
        return hostlist_bad(expr->prefix, (size_t)(*at + strcspn(*at, ",") - expr->prefix),
                            "has more than one pair of brackets", err);
    return hostlist_read_brackets(expr, open, close, err);
}

static int hostlist_read_name(struct hostlist_expr *expr, struct error *err)
{
    if (!expr->prefix_len)
        return error_set(err,
                         "hostlist: an empty name before %s; one comma stands between two names",
                         excerpt(expr->prefix, strlen(expr->prefix)).text);
    char name[HOSTLIST_MAX_NAME + 1];
    const char *why = hostlist_check_room(expr->list, expr->prefix_len);
    if (why)
        return hostlist_bad(expr->prefix, expr->prefix_len, why, err);
    memcpy(name, expr->prefix, expr->prefix_len);
    name[expr->prefix_len] = '\0';
    hostlist_append(expr->list, name);
    return 0;
}

static int hostlist_read_expr(struct hostlist *list, const char **at, struct error *err)
{
    const char *start = *at;
    struct hostlist_expr expr = {
        .list = list, .prefix = start, .prefix_len = hostlist_name_len(start)};
    *at += expr.prefix_len;
    int rc = 0;
    if (**at == '[')
        rc = hostlist_read_group(&expr, at, err);
    else if (!**at || **at == ',' || expr.prefix_len)
        rc = hostlist_read_name(&expr, err);
    if (rc == 0 && **at && **at != ',')
        return hostlist_bad(start, strcspn(start, ","), "has a character that no name has", err);
    return rc;
}

int hostlist_append_text(struct hostlist *list, const char *text, struct error *err)
{
    if (!*text)
        return 0;
    for (const char *at = text;; at++) {
        if (hostlist_read_expr(list, &at, err) < 0)
            return -1;
        if (!*at)
            return 0;
    }
}

struct hostlist *hostlist_decode(const char *text, struct error *err)
{
    struct hostlist *list = hostlist_new();
    if (hostlist_append_text(list, text, err) < 0) {
        hostlist_free(list);
        return NULL;
    }
    return list;
}

/* Where the trailing number of a name starts; its length where it has none that can be folded. */
static size_t hostlist_number_at(const char *host, size_t len)
{
    size_t at = len;
    while (at && host[at - 1] >= '0' && host[at - 1] <= '9')
        at--;
    return len - at <= HOSTLIST_MAX_DIGITS ? at : len;
}

/* Neighbours that are written as one prefix[ids]. */
struct hostlist_fold {
    const struct hostlist *list;
    size_t first, end; /* hosts [first, end) */
    size_t prefix_len;
    int width;
};

/* True where the host reads back from the fold's brackets as it is. */
static bool hostlist_joins(const struct hostlist_fold *fold, const char *host)
{
    const char *model = hostlist_nth(fold->list, fold->first);
    size_t len = strlen(host), at = hostlist_number_at(host, len);
    if (at == len || at != fold->prefix_len || memcmp(host, model, at) != 0)
        return false;
    int digits = (int)(len - at);
    bool padded = digits > 1 && host[at] == '0';
    return padded ? digits == fold->width : digits >= fold->width;
}

static void hostlist_fold(struct hostlist_fold *fold)
{
    const char *host = hostlist_nth(fold->list, fold->first);
    size_t len = strlen(host), count = hostlist_count(fold->list);
    fold->prefix_len = hostlist_number_at(host, len);
    fold->end = fold->first + 1;
    if (fold->prefix_len == len)
        return;
    bool padded = len - fold->prefix_len > 1 && host[fold->prefix_len] == '0';
    fold->width = padded ? (int)(len - fold->prefix_len) : 1;
    while (fold->end < count && hostlist_joins(fold, hostlist_nth(fold->list, fold->end)))
        fold->end++;
}

static uint64_t hostlist_fold_number(const struct hostlist_fold *fold, size_t index)
{
    uint64_t value;
    const char *digits = hostlist_nth(fold->list, index) + fold->prefix_len;
    number_read(digits, NULL, UINT64_MAX - 1, &value);
    return value;
}

static void hostlist_write_ids(const struct hostlist_fold *fold, struct buf *out)
{
    for (size_t i = fold->first, run; i < fold->end; i += run) {
        uint64_t first = hostlist_fold_number(fold, i);
        for (run = 1; i + run < fold->end && run < HOSTLIST_MAX_RANGE; run++)
            if (hostlist_fold_number(fold, i + run) != first + run)
                break;
        buf_printf(out, "%s%0*llu", i > fold->first ? "," : "", fold->width,
                   (unsigned long long)first);
        if (run > 1)
            buf_printf(out, "-%0*llu", fold->width, (unsigned long long)(first + run - 1));
    }
}

char *hostlist_encode(const struct hostlist *list)
{
    struct buf out = BUF_INIT;
    struct hostlist_fold fold = {.list = list};
    for (; fold.first < hostlist_count(list); fold.first = fold.end) {
        const char *host = hostlist_nth(list, fold.first);
        hostlist_fold(&fold);
        if (fold.first)
            buf_add_char(&out, ',');
        if (fold.end == fold.first + 1) {
            buf_add_text(&out, host);
            continue;
        }
        buf_add(&out, host, fold.prefix_len);
        buf_add_char(&out, '[');
        hostlist_write_ids(&fold, &out);
        buf_add_char(&out, ']');
    }
    return buf_take_text(&out);
}
