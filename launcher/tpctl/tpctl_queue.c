/* What a program waits for, and how many are before it: for list and info. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/tpctl/tpctl.h"

static bool find_waiter(const struct found_program *program, const struct program_record *record,
                        struct waiter *waiter)
{
    return record->state == RECORD_PENDING && record->waits_for &&
           found_program_find_waiter(program, waiter);
}

char *tpctl_queue_text(const struct found_program *program, const struct program_record *record)
{
    struct waiter waiter;
    struct buf text = BUF_INIT;
    if (!find_waiter(program, record, &waiter))
        return NULL;
    char *holders = idset_encode(waiter.holders);
    buf_add_text(&text, record->waits_for);
    if (*holders)
        buf_printf(&text, ", held by program%s %s", idset_count(waiter.holders) > 1 ? "s" : "",
                   holders);
    if (waiter.before)
        buf_printf(&text, "; %zu program%s before it", waiter.before,
                   waiter.before > 1 ? "s are" : " is");
    free(holders);
    idset_free(waiter.holders);
    return buf_take_text(&text);
}

json_t *tpctl_queue_json(const struct found_program *program, const struct program_record *record)
{
    struct waiter waiter;
    if (!find_waiter(program, record, &waiter))
        return json_null();
    json_t *holders = json_array();
    IDSET_FOREACH(number, waiter.holders)
    {
        char *id = mem_format("%u", number);
        json_array_append_new(holders, json_string(id));
        free(id);
    }
    idset_free(waiter.holders);
    return json_pack("{s:s, s:o, s:I}", "for", record->waits_for, "held_by", holders, "before",
                     (json_int_t)waiter.before);
}
