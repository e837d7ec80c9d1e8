#include "affinity/resource/count.h"

#include <stdlib.h>

#include "base/buf.h"

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

static void count_put_range(const struct count *count, struct buf *out)
{
    if (count->max == COUNT_UNBOUNDED)
        buf_printf(out, "%u+", count->min);
    else
        buf_printf(out, "%u-%u", count->min, count->max);
    const char step = count->operator;
    if (step != '+')
        buf_printf(out, ":%u:%c", count->operand, step);
    else if (count->operand != 1)
        buf_printf(out, ":%u", count->operand);
}

char *count_encode(const struct count *count)
{
    if (count->set)
        return idset_encode(count->set);
    struct buf out = BUF_INIT;
    if (count->operator)
        count_put_range(count, &out);
    else
        buf_printf(&out, "%u", count->min);
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

static uint64_t count_next(const struct count *count, uint64_t value, uint64_t limit)
{
    const char step = count->operator;
    return step == '^' ? count_power(value, count->operand, limit) : value * count->operand;
}

static uint32_t count_within_set(const struct idset *set, uint64_t limit)
{
    uint32_t first, last, best = 0;
    for (size_t at = 0; idset_range(set, &at, &first, &last) && first <= limit;)
        best = last <= limit ? last : (uint32_t)limit;
    return best;
}

uint32_t count_within(const struct count *count, uint64_t limit)
{
    if (limit > COUNT_MAX)
        limit = COUNT_MAX;
    if (limit > count->max)
        limit = count->max;
    if (count->min > limit)
        return 0;
    if (count->set)
        return count_within_set(count->set, limit);
    const char step = count->operator;
    if (!step)
        return count->min;
    if (step == '+')
        return (uint32_t)(limit - (limit - count->min) % count->operand);
    uint64_t best = count->min;
    for (uint64_t value = best; value <= limit; value = count_next(count, value, limit))
        best = value;
    return (uint32_t)best;
}
