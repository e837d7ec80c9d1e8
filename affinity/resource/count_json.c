/* Counts as JSON (RFC 14 section "count"). */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/count_private.h"
#include "affinity/resource/excerpt.h"

static int count_bad_json(const json_t *value, const char *why, struct error *err)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    error_set(err, "count %s: %s; " COUNT_HINT ", or an object of min, max, operator and operand",
              excerpt(text ? text : "", text ? strlen(text) : 0).text, why);
    free(text);
    return -1;
}

/* A positive integer. Returns false where it is none. */
static bool count_read_integer(const json_t *value, uint32_t *number)
{
    json_int_t integer = json_integer_value(value); /* 0 for all but integers */
    if (integer < 1 || integer > COUNT_MAX)
        return false;
    *number = (uint32_t)integer;
    return true;
}

static bool count_read_operator(const json_t *value, char *step)
{
    const char *text = json_string_value(value);
    if (!text || strlen(text) != 1)
        return false;
    *step = text[0];
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
    return strcmp(key, "operator") == 0 && count_read_operator(value, &count->operator);
}

static const char *count_read_object(json_t *object, struct count *count)
{
    const char *key;
    json_t *value;
    *count = (struct count){.max = COUNT_UNBOUNDED};
    json_object_foreach(object, key, value)
    {
        if (!count_read_key(key, value, count))
            return "min, max and operand are positive integers, operator is +, * or ^, and "
                   "nothing else is known";
    }
    if (!count->min)
        return "min is missing";
    const char step = count->operator;
    if (!step != !count->operand)
        return "operator and operand go together";
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
        why = "it is no positive integer up to 2147483647";
    if (!why)
        return 0;
    *count = (struct count){0};
    return count_bad_json(value, why, err);
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
    char *text = idset_encode(count->set);
    json_t *value = json_string(text);
    free(text);
    return value;
}
