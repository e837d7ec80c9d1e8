/* The version and the variables of a request to an instance. */
#include "launcher/protocol/instance_request.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "launcher/tree/frame.h"

static const char *const variables[] = {
    "TPRUN_PROGRAM",   "TPRUN_INSTANCE",    "TPRUN_INSTANCE_ID",
    "TPRUN_ENCLOSING", "TPRUN_ENCLOSING_R", BATCH_VARIABLE,
};
enum { NVARIABLES = sizeof(variables) / sizeof(variables[0]) };

json_t *instance_request_variables(const char *const *names, size_t count)
{
    json_t *known = json_object();
    for (size_t i = 0; i < count; i++) {
        const char *value = getenv(names[i]);
        if (value)
            json_object_set_new(known, names[i], frame_text(value));
    }
    return known;
}

void instance_request_set_variables(const json_t *known, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_object_get(known, names[i]));
        if (text)
            setenv(names[i], text, 1);
        else
            unsetenv(names[i]);
    }
}

json_t *instance_request_launch_variables(const json_t *launch)
{
    static const char *const keys[][2] = {{"TPRUN_PROGRAM", "program"},
                                          {"TPRUN_INSTANCE", "instance"},
                                          {"TPRUN_INSTANCE_ID", "instance_id"},
                                          {"TPRUN_ENCLOSING", "enclosing"},
                                          {"TPRUN_ENCLOSING_R", "resources"}};
    json_t *known = json_object();
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        json_t *text = json_object_get(launch, keys[i][1]);
        if (text)
            json_object_set(known, keys[i][0], text);
    }
    return known;
}

void instance_request_assume(const json_t *known)
{
    instance_request_set_variables(known, variables, NVARIABLES);
}

json_t *instance_request_new(void)
{
    return json_pack("{s:s, s:o}", "version", PACKAGE_VERSION, "variables",
                     instance_request_variables(variables, NVARIABLES));
}

int instance_request_take(const json_t *value, struct error *err)
{
    const char *version = json_string_value(json_object_get(value, "version"));
    if (!version || strcmp(version, PACKAGE_VERSION) != 0)
        return error_set(err,
                         "the instance runs tprun " PACKAGE_VERSION
                         ", and this is tprun %s: use one version",
                         version ? version : "of another kind");
    instance_request_assume(json_object_get(value, "variables"));
    return 0;
}
