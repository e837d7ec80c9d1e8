/* What a parent says of files to stage and of hooks, and an agent of how they ended: what is read is written again
 * alike, what is not has a sentence. */
#include "launcher/protocol/hook_message.h"
#include "launcher/protocol/stage_list.h"
#include "launcher/tree/frame.h"
#include "tests/fuzz/fuzz.h"

static void check_list(const json_t *value)
{
    struct error err = ERROR_INIT;
    struct stage_list list = {0}, again = {0};
    struct idset *nodes;
    int rc = stage_order_from_json(&list, &nodes, value, &err);
    check(rc == 0 ? nodes != NULL : err.text != NULL);
    if (rc == 0) {
        json_t *written = stage_list_to_json(&list);
        check(stage_list_from_json(&again, written, NULL) == 0);
        check(again.count == list.count && again.size == list.size);
        json_decref(written);
    }
    idset_free(nodes);
    stage_list_clear(&again);
    stage_list_clear(&list);
    error_clear(&err);
    uint64_t sums[3];
    check(stage_sums_from_json(sums, 3, value, &err) == 0 || err.text);
    error_clear(&err);
}

static void check_hooks(const json_t *value)
{
    struct error err = ERROR_INIT;
    struct hook_order order;
    struct hook_report report;
    if (hook_order_from_json(&order, value, &err) == 0)
        json_decref(hook_order_to_json(&order));
    else
        check(err.text);
    hook_order_clear(&order);
    error_clear(&err);
    if (hook_report_from_json(&report, value, &err) == 0)
        json_decref(hook_report_to_json(&report));
    else
        check(err.text);
    hook_report_clear(&report);
    error_clear(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct frame frame = {.type = FRAME_STAGE, .bytes = data, .len = size};
    json_t *value = frame_json(&frame, NULL);
    if (value) {
        check_list(value);
        check_hooks(value);
    }
    json_decref(value);
    return 0;
}
