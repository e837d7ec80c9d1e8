/* A program as one message. */
#include "launcher/protocol/program_request.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "launcher/protocol/request_files.h"
#include "launcher/tree/frame.h"

static const char *const variables[] = {
    "TPRUN_PROGRAM",   "TPRUN_INSTANCE",    "TPRUN_INSTANCE_ID",
    "TPRUN_ENCLOSING", "TPRUN_ENCLOSING_R", BATCH_VARIABLE,
};
enum { NVARIABLES = sizeof(variables) / sizeof(variables[0]) };

json_t *program_request_to_json(const struct spec *spec)
{
    json_t *known = json_object();
    for (size_t i = 0; i < NVARIABLES; i++) {
        const char *value = getenv(variables[i]);
        if (value)
            json_object_set_new(known, variables[i], frame_text(value));
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "version", PACKAGE_VERSION, "spec", spec_to_json(spec),
                     "variables", known, "files", request_files_describe(spec));
}

struct spec *program_request_take(const json_t *value, const char *host, struct error *err)
{
    const char *version = json_string_value(json_object_get(value, "version"));
    const json_t *known = json_object_get(value, "variables");
    if (!version || strcmp(version, PACKAGE_VERSION) != 0) {
        error_set(err,
                  "the instance runs tprun " PACKAGE_VERSION
                  ", and this is tprun %s: use one version",
                  version ? version : "of another kind");
        return NULL;
    }
    const json_t *asked = json_object_get(value, "spec");
    if (!json_is_object(asked)) {
        error_set(err, "what to run was not understood: expected an object spec");
        return NULL;
    }
    struct spec *spec = spec_from_json(asked, err);
    for (size_t i = 0; i < NVARIABLES && spec; i++) {
        const char *text = json_string_value(json_object_get(known, variables[i]));
        if (text)
            setenv(variables[i], text, 1);
        else
            unsetenv(variables[i]);
    }
    if (!spec || request_files_check(spec, json_object_get(value, "files"), host, err) == 0)
        return spec;
    spec_free(spec);
    return NULL;
}
