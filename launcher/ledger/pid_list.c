#include "launcher/ledger/pid_list.h"

#include "base/number.h"

void pid_list_encode(struct buf *out, const uint32_t *pids, size_t count)
{
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && pids[i] && pids[end] == pids[end - 1] + 1; end++)
            ;
        buf_printf(out, "%s%u", i ? "," : "", pids[i]);
        if (end - i > 1)
            buf_printf(out, "-%u", pids[end - 1]);
    }
}

bool pid_list_decode(const char *text, size_t count, void (*put)(void *arg, size_t i, uint32_t pid),
                     void *arg)
{
    size_t at = 0, digits;
    uint64_t first, last;
    while (*text) {
        if (at && *text++ != ',')
            return false;
        if (!(digits = number_read(text, NULL, INT32_MAX, &first)) || first > INT32_MAX)
            return false;
        text += digits;
        last = first;
        if (*text == '-') {
            if (!(digits = number_read(++text, NULL, INT32_MAX, &last)) || last > INT32_MAX ||
                last < first)
                return false;
            text += digits;
        }
        if (last - first >= count - at)
            return false;
        for (; first <= last; first++)
            put(arg, at++, (uint32_t)first);
    }
    return at == count;
}
