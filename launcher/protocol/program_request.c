/* A program as one message. */
#include "launcher/protocol/program_request.h"

#include "launcher/protocol/instance_request.h"
#include "launcher/protocol/request_files.h"

json_t *program_request_to_json(const struct spec *spec, const struct stage_list *list,
                                struct error *err)
{
    static const struct stage_list none = {0};
    json_t *files = request_files_read(spec, err);
    if (!files)
        return NULL;
    json_t *value = instance_request_new(), *asked = spec_to_json(spec);
    if (spec->origins)
        json_object_set(asked, "origins", spec->origins);
    json_object_set_new(value, "spec", asked);
    json_object_set_new(value, "files", files);
    json_object_set_new(value, "stage", stage_list_to_json(list ? list : &none));
    return value;
}

struct spec *program_request_take(const json_t *value, struct error *err)
{
    if (instance_request_take(value, err) < 0)
        return NULL;
    const json_t *asked = json_object_get(value, "spec");
    if (!json_is_object(asked)) {
        error_set(err, "what to run was not understood: expected an object spec");
        return NULL;
    }
    struct spec *spec = spec_from_json(asked, err);
    if (!spec || request_files_take(spec, json_object_get(value, "files"), err) == 0)
        return spec;
    spec_free(spec);
    return NULL;
}

int program_request_stage(const json_t *value, struct stage_list *list, struct error *err)
{
    return stage_list_from_json(list, json_object_get(value, "stage"), err);
}
