/* Counts: from and to text (RFC 45, RFC 22) and JSON (RFC 14), and the largest value below a limit. */
#include "affinity/shape/count.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"

#define COUNT_HINT "expected a count such as 4, 3-30, 2+, 1-8:2:* or 4,9,16"

struct count count_of(uint32_t number)
{
    return (struct count){.min = number, .max = number};
}

void count_clear(struct count *count)
{
    idset_free(count->set);
    *count = (struct count){0};
}

struct count count_copy(const struct count *count)
{
    struct count copy = *count;
    copy.set = count->set ? idset_copy(count->set) : NULL;
    return copy;
}

char *count_encode(const struct count *count)
{
    if (count->set)
        return idset_encode(count->set);
    const char step = count->operator;
    if (!step)
        return mem_format("%u", count->min);
    struct buf out = BUF_INIT;
    if (count->max == COUNT_UNBOUNDED)
        buf_printf(&out, "%u+", count->min);
    else
        buf_printf(&out, "%u-%u", count->min, count->max);
    if (step != '+')
        buf_printf(&out, ":%u:%c", count->operand, step);
    else if (count->operand != 1)
        buf_printf(&out, ":%u", count->operand);
    return buf_take_text(&out);
}

/* base to the power of exponent; what is above `limit` becomes limit + 1. */
static uint64_t count_power(uint64_t base, uint32_t exponent, uint64_t limit)
{
    uint64_t value = 1;
    while (exponent-- > 0 && value <= limit)
        value = value > limit / base ? limit + 1 : value * base;
    return value;
}

uint32_t count_within(const struct count *count, uint64_t limit)
{
    if (limit > COUNT_MAX)
        limit = COUNT_MAX;
    if (limit > count->max)
        limit = count->max;
    if (count->min > limit)
        return 0;
    uint64_t best = count->min;
    if (count->set) {
        uint32_t first, last;
        for (size_t at = 0; idset_range(count->set, &at, &first, &last) && first <= limit;)
            best = last <= limit ? last : limit;
        return (uint32_t)best;
    }
    const char step = count->operator;
    if (!step)
        return count->min;
    if (step == '+')
        return (uint32_t)(limit - (limit - count->min) % count->operand);
    for (uint64_t value = best; value <= limit;) {
        best = value;
        value = step == '^' ? count_power(value, count->operand, limit) : value * count->operand;
    }
    return (uint32_t)best;
}

/* What is wrong with a range (RFC 45, RFC 14), or NULL. */
static const char *count_range_wrong(const struct count *count)
{
    const char step = count->operator;
    if (!step || !strchr("+*^", step))
        return "the operator of a range must be +, * or ^";
    if (count->max < count->min)
        return "the maximum is below the minimum";
    if (step != '+' && count->operand < 2)
        return "the operand of * and ^ must be at least 2";
    if (step == '^' && count->min < 2)
        return "a range with ^ must begin at 2 or more";
    return NULL;
}

/* ---- as JSON (RFC 14 section "count") ---- */

/* A positive integer. Returns false where it is none. */
static bool count_read_integer(const json_t *value, uint32_t *number)
{
    json_int_t integer = json_integer_value(value); /* 0 for all but integers */
    if (integer < 1 || integer > COUNT_MAX)
        return false;
    *number = (uint32_t)integer;
    return true;
}

static bool count_read_key(const char *key, const json_t *value, struct count *count)
{
    if (strcmp(key, "min") == 0)
        return count_read_integer(value, &count->min);
    if (strcmp(key, "max") == 0)
        return count_read_integer(value, &count->max);
    if (strcmp(key, "operand") == 0)
        return count_read_integer(value, &count->operand);
    const char *text = json_string_value(value);
    char *step = &count->operator;
    if (strcmp(key, "operator") != 0 || !text || strlen(text) != 1)
        return false;
    *step = text[0];
    return true;
}

static const char *count_read_object(json_t *object, struct count *count)
{
    const char *key;
    json_t *value;
    *count = (struct count){.max = COUNT_UNBOUNDED};
    json_object_foreach(object, key, value)
    {
        if (!count_read_key(key, value, count))
            return "expected only min, max and operand (positive integers) and operator (+, * "
                   "or ^)";
    }
    if (!count->min)
        return "missing key min";
    const char step = count->operator;
    if (!step != !count->operand)
        return "operator and operand must be given together";
    if (!step)
        *count = (struct count){count->min, count->max, '+', 1, NULL};
    const char *why = count_range_wrong(count);
    if (!why && count->min == count->max)
        *count = count_of(count->min);
    return why;
}

int count_from_json(const json_t *value, struct count *count, struct error *err)
{
    *count = (struct count){0};
    if (json_is_string(value))
        return count_decode(json_string_value(value), json_string_length(value), count, err);
    const char *why = NULL;
    if (json_is_object(value))
        why = count_read_object((json_t *)value, count);
    else if (count_read_integer(value, &count->min))
        count->max = count->min;
    else
        why = "not a positive integer up to 2147483647";
    if (!why)
        return 0;
    *count = (struct count){0};
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    error_set(err, "count %s: %s; " COUNT_HINT ", or an object of min, max, operator and operand",
              excerpt(text ? text : "", text ? strlen(text) : 0).text, why);
    free(text);
    return -1;
}

/* As RFC 46 has it: a range that ends in full, another without what goes without saying. */
static json_t *count_range_to_json(const struct count *count)
{
    const char step = count->operator;
    json_t *object = json_pack("{s:I}", "min", (json_int_t)count->min);
    if (count->max != COUNT_UNBOUNDED)
        json_object_set_new(object, "max", json_integer(count->max));
    else if (step == '+' && count->operand == 1)
        return object;
    json_object_set_new(object, "operator", json_stringn(&step, 1));
    json_object_set_new(object, "operand", json_integer(count->operand));
    return object;
}

json_t *count_to_json(const struct count *count)
{
    if (count->operator)
        return count_range_to_json(count);
    if (!count->set)
        return json_integer(count->min);
    return idset_to_json(count->set);
}

/* ---- as text (RFC 45, RFC 22) ---- */

struct count_text {
    const char *at;
    const char *end;
};

/* A positive number at in->at. Returns what is wrong, or NULL. */
static const char *count_read_number(struct count_text *in, uint32_t *number)
{
    const char *start = in->at;
    uint64_t value;
    size_t digits = number_read(start, in->end, COUNT_MAX, &value);
    in->at += digits;
    if (value > COUNT_MAX)
        return "a number is larger than 2147483647";
    if (!digits)
        return "missing number";
    if (*start == '0')
        return digits > 1 ? "a number has a leading zero" : "a count must be at least 1";
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

/* min-max or min+ has been read up to here: [:operand[:operator]]. */
static const char *count_read_step(struct count_text *in, struct count *count)
{
    char *step = &count->operator;
    *count = (struct count){count->min, count->max, '+', 1, NULL};
    if (!count_take(in, ':'))
        return NULL;
    const char *why = count_read_number(in, &count->operand);
    if (why || !count_take(in, ':'))
        return why;
    if (in->at == in->end)
        return "missing operator";
    *step = *in->at++;
    return NULL;
}

static const char *count_read_range(struct count_text *in, struct count *count)
{
    const char *why = NULL;
    if (count_take(in, '+'))
        count->max = COUNT_UNBOUNDED;
    else if (count_take(in, '-'))
        why = count_read_number(in, &count->max);
    else
        return "not a number, a range or a set";
    if (!why)
        why = count_read_step(in, count);
    if (!why && in->at < in->end)
        why = "unexpected text after the range";
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

static int count_decode_set(const struct count_text *in, struct count *count, struct error *err)
{
    size_t len = (size_t)(in->end - in->at);
    if (*in->at == '[')
        return count_bad(in->at, len, "two pairs of brackets", err);
    if (memchr(in->at, '\0', len))
        return count_bad(in->at, len, "it contains a zero byte", err);
    char *text = mem_copy_text_n(in->at, len);
    struct idset *set = idset_decode(text, err);
    free(text);
    if (!set)
        return error_prefix(err, "count");
    if (idset_has(set, 0)) {
        idset_free(set);
        return count_bad(in->at, len, "a count must be at least 1", err);
    }
    uint32_t first = idset_first(set), last = idset_last(set);
    if (idset_count(set) <= last - first) {
        *count = (struct count){.min = first, .max = last, .set = set};
        return 0;
    }
    /* One without holes is written as a range is, and so it is one. */
    idset_free(set);
    *count = (struct count){first, last, '+', 1, NULL};
    return 0;
}

int count_decode(const char *text, size_t len, struct count *count, struct error *err)
{
    struct count_text in = {text, text + len};
    if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
        in.at++;
        in.end--;
    }
    *count = (struct count){0};
    if (memchr(in.at, ',', (size_t)(in.end - in.at)))
        return count_decode_set(&in, count, err);
    const char *why = count_read(&in, count);
    if (!why)
        return 0;
    *count = (struct count){0};
    return count_bad(text, len, why, err);
}
