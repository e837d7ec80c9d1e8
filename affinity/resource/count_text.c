/* Counts as text (RFC 45, RFC 22) and as JSON (RFC 14). */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/count_private.h"
#include "affinity/resource/excerpt.h"
#include "base/mem.h"

struct count_text {
    const char *at;
    const char *end;
};

/* A positive number at in->at. Returns what is wrong, or NULL. */
static const char *count_read_number(struct count_text *in, uint32_t *number)
{
    const char *start = in->at;
    uint64_t value = 0;
    for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++) {
        value = value * 10 + (uint64_t)(*in->at - '0');
        if (value > COUNT_MAX)
            return "a number is above the largest count, 2147483647";
    }
    if (in->at == start)
        return "a number is missing";
    if (*start == '0')
        return in->at - start > 1 ? "a number has a leading zero" : "zero is no count";
    *number = (uint32_t)value;
    return NULL;
}

static bool count_take(struct count_text *in, char c)
{
    if (in->at == in->end || *in->at != c)
        return false;
    in->at++;
    return true;
}

const char *count_range_wrong(const struct count *count)
{
    const char step = count->operator;
    if (!step || !strchr("+*^", step))
        return "the operator of a range is +, * or ^";
    if (count->max < count->min)
        return "the largest value is below the smallest";
    if (step != '+' && count->operand < 2)
        return "the operand of * and ^ is at least 2";
    if (step == '^' && count->min < 2)
        return "a range by ^ begins at 2 or more";
    return NULL;
}

static const char *count_read_operator(struct count_text *in, char *step)
{
    if (in->at == in->end)
        return "the operator is missing";
    *step = *in->at++;
    return NULL;
}

/* min-max or min+ has been read up to here: [:operand[:operator]]. */
static const char *count_read_step(struct count_text *in, struct count *count)
{
    *count = (struct count){count->min, count->max, '+', 1, NULL};
    if (!count_take(in, ':'))
        return NULL;
    const char *why = count_read_number(in, &count->operand);
    if (why || !count_take(in, ':'))
        return why;
    return count_read_operator(in, &count->operator);
}

static const char *count_read_range(struct count_text *in, struct count *count)
{
    const char *why = NULL;
    if (count_take(in, '+'))
        count->max = COUNT_UNBOUNDED;
    else if (count_take(in, '-'))
        why = count_read_number(in, &count->max);
    else
        return "it is neither a number, a range nor a set";
    if (!why)
        why = count_read_step(in, count);
    if (!why && in->at < in->end)
        why = "there is more behind the range";
    return why ? why : count_range_wrong(count);
}

static const char *count_read(struct count_text *in, struct count *count)
{
    const char *why = count_read_number(in, &count->min);
    if (why)
        return why;
    count->max = count->min;
    if (in->at == in->end)
        return NULL;
    why = count_read_range(in, count);
    if (!why && count->min == count->max)
        *count = count_of(count->min);
    return why;
}

static int count_bad(const char *text, size_t len, const char *why, struct error *err)
{
    return error_set(err, "count %s: %s; " COUNT_HINT, excerpt(text, len).text, why);
}

/* The inside of brackets, if there are any. */
static struct count_text count_inside(const char *text, size_t len)
{
    struct count_text in = {text, text + len};
    if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
        in.at++;
        in.end--;
    }
    return in;
}

/* The set is taken. One without holes is written as a range is, and so it is one. */
static struct count count_of_set(struct idset *set)
{
    uint32_t first = idset_first(set), last = idset_last(set);
    if (idset_count(set) <= last - first)
        return (struct count){.min = first, .max = last, .set = set};
    idset_free(set);
    return (struct count){first, last, '+', 1, NULL};
}

static int count_decode_set(const struct count_text *in, struct count *count, struct error *err)
{
    size_t len = (size_t)(in->end - in->at);
    if (*in->at == '[')
        return count_bad(in->at, len, "there are two pairs of brackets", err);
    if (memchr(in->at, '\0', len))
        return count_bad(in->at, len, "there is a NUL in it", err);
    char *text = mem_copy_text_n(in->at, len);
    struct idset *set = idset_decode(text, err);
    free(text);
    if (!set)
        return error_prefix(err, "count");
    if (idset_has(set, 0)) {
        idset_free(set);
        return count_bad(in->at, len, "zero is no count", err);
    }
    *count = count_of_set(set);
    return 0;
}

int count_decode(const char *text, size_t len, struct count *count, struct error *err)
{
    struct count_text in = count_inside(text, len);
    *count = (struct count){0};
    if (memchr(in.at, ',', (size_t)(in.end - in.at)))
        return count_decode_set(&in, count, err);
    const char *why = count_read(&in, count);
    if (!why)
        return 0;
    *count = (struct count){0};
    return count_bad(text, len, why, err);
}
