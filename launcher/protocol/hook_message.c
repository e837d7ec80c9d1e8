/* Hooks, ordered and reported, as JSON. */
#include "launcher/protocol/hook_message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/spec/field.h"
#include "launcher/tree/frame.h"

static int hook_read_kind(const json_t *value, enum stage_kind *kind, struct error *err)
{
    const char *word = json_string_value(json_object_get(value, "hook"));
    for (int i = STAGE_PROLOG; word && i <= STAGE_EPILOG; i++) {
        if (strcmp(word, stage_kind_word((enum stage_kind)i)) == 0) {
            *kind = (enum stage_kind)i;
            return 0;
        }
    }
    return error_set(err, "hook: must be prolog or epilog");
}

static int hook_read_seconds(const json_t *value, const char *key, double *seconds,
                             struct error *err)
{
    const json_t *number = json_object_get(value, key);
    *seconds = json_number_value(number);
    if (json_is_number(number) && *seconds >= 0 && *seconds < 1e15)
        return 0;
    return error_set(err, "%s: must be a number of seconds", key);
}

json_t *hook_order_to_json(const struct hook_order *order)
{
    json_t *environment = json_array();
    for (char **entry = order->environment; entry && *entry; entry++)
        json_array_append_new(environment, text_to_json(*entry));
    json_t *value = json_pack("{s:s, s:o, s:o}", "hook", stage_kind_word(order->kind), "directory",
                              text_to_json(order->directory), "environment", environment);
    if (!isinf(order->timeout))
        json_object_set_new(value, "timeout", json_real(order->timeout));
    return value;
}

int hook_order_from_json(struct hook_order *order, const json_t *value, struct error *err)
{
    const json_t *list = json_object_get(value, "environment"),
                 *directory = json_object_get(value, "directory"), *entry;
    size_t i, count = json_array_size(list);
    *order = (struct hook_order){.timeout = INFINITY};
    if (hook_read_kind(value, &order->kind, err) < 0 ||
        (json_object_get(value, "timeout") &&
         hook_read_seconds(value, "timeout", &order->timeout, err) < 0))
        return -1;
    if (!json_is_array(list) || !directory)
        return error_set(err, "directory or environment is missing");
    order->directory = text_from_json(directory, err);
    order->environment = mem_array(count + 1, sizeof(char *));
    json_array_foreach(list, i, entry)
    {
        order->environment[i] = text_from_json(entry, err);
        if (!order->environment[i])
            return error_prefix(err, "environment");
    }
    return order->directory ? 0 : -1;
}

void hook_order_clear(struct hook_order *order)
{
    free(order->directory);
    string_list_free(order->environment);
    *order = (struct hook_order){0};
}

void hook_order_set(struct hook_order *order, char *variable)
{
    size_t len = strcspn(variable, "=") + 1, count = 0;
    while (order->environment[count] && strncmp(order->environment[count], variable, len) != 0)
        count++;
    if (!order->environment[count]) {
        order->environment = mem_resize(order->environment, count + 2, sizeof(char *));
        order->environment[count + 1] = NULL;
    } else {
        free(order->environment[count]);
    }
    order->environment[count] = variable;
}

void hook_order_set_kind(struct hook_order *order, enum stage_kind kind)
{
    order->kind = kind;
    hook_order_set(order, mem_format("TPRUN_HOOK=%s", stage_kind_word(kind)));
}

json_t *hook_report_to_json(const struct hook_report *report)
{
    json_t *value = json_pack("{s:s, s:b, s:f}", "hook", stage_kind_word(report->kind), "ran",
                              report->ran, "seconds", report->seconds);
    if (report->fault)
        json_object_set_new(value, "fault", frame_text(report->fault));
    if (report->output && *report->output)
        json_object_set_new(value, "output", frame_text(report->output));
    return value;
}

int hook_report_from_json(struct hook_report *report, const json_t *value, struct error *err)
{
    const json_t *ran = json_object_get(value, "ran");
    *report = (struct hook_report){.ran = json_is_true(ran)};
    if (hook_read_kind(value, &report->kind, err) < 0 ||
        hook_read_seconds(value, "seconds", &report->seconds, err) < 0)
        return -1;
    if (!json_is_boolean(ran))
        return error_set(err, "ran: must be true or false");
    report->fault = mem_copy_text(json_string_value(json_object_get(value, "fault")));
    report->output = mem_copy_text(json_string_value(json_object_get(value, "output")));
    return 0;
}

void hook_report_clear(struct hook_report *report)
{
    free(report->fault);
    free(report->output);
    *report = (struct hook_report){0};
}
