/* tpctl new: an empty program. It has a number and what was asked for, holds nothing, and no process of it lives. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "launcher/cli/tprun_options.h"
#include "launcher/instance/resources.h"
#include "launcher/ledger/empty_programs.h"
#include "launcher/ledger/event_log.h"
#include "launcher/ledger/instance_lock.h"
#include "launcher/protocol/program_request.h"
#include "launcher/protocol/remote_command_request.h"
#include "launcher/tpctl/tpctl.h"
#include "launcher/tree/frame.h"

#define NEW_PATIENCE 10.0 /* s for the instance's lock */

/* Its number is nobody else's: it was taken from the instance, and is given back with nothing to keep. */
static int keep_empty(const struct resources *resources, const struct spec *spec,
                      struct kept_context *kept, struct error *err)
{
    const char *id = entry_id(resources_entry(resources));
    struct buf events = BUF_INIT;
    json_t *value = spec_to_json(spec);
    json_t *first = json_pack("{s:s, s:[], s:I}", "id", id, "command", "version", (json_int_t)1);
    struct event event = {clock_wall_seconds(), "new", first};
    struct completed_context context = {0};
    if (spec->origins)
        json_object_set(value, "origins", spec->origins);
    char *text = json_dumps(value, JSON_COMPACT);
    event_encode(&events, &event);
    snprintf(context.id, sizeof(context.id), "%s", id);
    context.files[CONTEXT_SPEC] = text;
    context.lens[CONTEXT_SPEC] = text ? strlen(text) : 0;
    context.files[CONTEXT_EVENTS] = buf_bytes(&events);
    context.lens[CONTEXT_EVENTS] = events.len;
    int rc = empty_program_add(instance_name(resources_instance(resources)), &context, kept, err);
    buf_free(&events);
    json_decref(first);
    json_decref(value);
    free(text);
    return rc;
}

/* In the instance in which tprun with these options would run. */
static int make_empty(struct method_call *call, const struct spec *spec, struct error *err)
{
    struct local_topology *local = local_topology_new(NULL, NULL, NULL);
    struct resources *resources = resources_open(spec, local, err);
    struct kept_context kept;
    int rc = -1;
    if (resources) {
        instance_set_patience(resources_instance(resources), NEW_PATIENCE);
        rc = resources_enter(resources, err);
    }
    if (rc == 0)
        rc = keep_empty(resources, spec, &kept, err);
    if (rc == 0)
        fprintf(call->out, "%s\n", kept.name);
    resources_free(resources);
    local_topology_free(local);
    return rc;
}

json_t *tpctl_new_request(const struct method_call *call, struct error *err)
{
    struct spec *spec = spec_new();
    char **words = mem_array(call->nwords + 1, sizeof(*words));
    json_t *request = NULL;
    for (size_t i = 0; i < call->nwords; i++)
        words[i] = (char *)(uintptr_t)call->words[i];
    if (options_parse_empty(words, spec, err) == 0 && spec_inherit(spec, err) == 0)
        request = program_request_to_json(spec, NULL, err);
    if (request) /* without it, a spec has a program to run */
        json_object_set_new(json_object_get(request, "spec"), "dry_run", json_true());
    free(words);
    spec_free(spec);
    return request;
}

/* Sent by a tpctl on another host, on stdin. */
static int make_requested(struct method_call *call, struct error *err)
{
    struct buf text = BUF_INIT;
    int rc = file_text_read("-", "stdin", FRAME_MAX, &text, err);
    json_t *value = rc == 0 ? json_loadb(buf_bytes(&text), text.len, 0, NULL) : NULL;
    struct spec *spec = value ? program_request_take(value, err) : NULL;
    if (spec)
        spec->dry_run = false;
    else if (!err->text)
        error_set(err, "what to make was not understood");
    rc = spec ? make_empty(call, spec, err) : -1;
    spec_free(spec);
    json_decref(value);
    buf_free(&text);
    return rc;
}

int tpctl_new(struct method_call *call, struct error *err)
{
    if (getenv(COMMAND_HERE))
        return make_requested(call, err);
    struct spec *spec = spec_new();
    char **words = mem_array(call->nwords + 1, sizeof(*words));
    for (size_t i = 0; i < call->nwords; i++)
        words[i] = (char *)(uintptr_t)call->words[i];
    int rc = options_parse_empty(words, spec, err);
    if (rc == 0)
        rc = spec_inherit(spec, err);
    if (rc == 0)
        rc = make_empty(call, spec, err);
    free(words);
    spec_free(spec);
    return rc;
}
