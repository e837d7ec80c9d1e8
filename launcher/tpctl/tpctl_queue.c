/* What a program waits for, and how many are before it: for list and info. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/tpctl/tpctl.h"

static bool find_waiter(const struct found_program *program, const struct program_record *record,
                        struct waiter *waiter)
{
    return record->state == RECORD_PENDING && record->waits_for &&
           found_program_find_waiter(program, waiter);
}

/* "the end of programs 12,14": those of --after that live, or are of another instance. NULL: none is, or it
 * does not wait for them any more. */
static char *predecessors_text(const struct found_program *program,
                               const struct program_record *record)
{
    size_t len, at, count = 0;
    const json_t *after;
    struct buf ids = BUF_INIT;
    if (record->state != RECORD_PENDING)
        return NULL;
    char *file = found_program_file(program, CONTEXT_SPEC, &len);
    json_t *spec = file ? json_loadb(file, len, 0, NULL) : NULL;
    json_array_foreach(json_object_get(spec, "after"), at, after)
    {
        const char *text = json_string_value(after);
        char *id = text ? mem_copy_text_n(text, strcspn(text, ":")) : NULL;
        if (id && (strchr(id, '/') || found_program_other_lives(program, id)))
            buf_printf(&ids, "%s%s", count++ ? "," : "", id);
        free(id);
    }
    char *text =
        count ? mem_format("the end of program%s %s", count > 1 ? "s" : "", buf_text(&ids)) : NULL;
    json_decref(spec);
    free(file);
    buf_free(&ids);
    return text;
}

char *tpctl_queue_text(const struct found_program *program, const struct program_record *record)
{
    struct waiter waiter;
    struct buf text = BUF_INIT;
    if (!find_waiter(program, record, &waiter))
        return predecessors_text(program, record);
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
    if (!find_waiter(program, record, &waiter)) {
        char *text = predecessors_text(program, record);
        json_t *value =
            text ? json_pack("{s:s, s:[], s:i}", "for", text, "held_by", "before", 0) : json_null();
        free(text);
        return value;
    }
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
