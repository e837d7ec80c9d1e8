/* Changes of the environment that a spawn asks for, for spawn_spec.c. */
#include "launcher/plan/spawn_environment.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/spec/field.h"

/* ---- what is there ---- */

/* Whether this entry of a part's list says something about the name. */
static bool concerns(const json_t *entry, const char *key, const char *name, bool glob)
{
    const json_t *value = json_object_get(entry, key);
    char *said = value ? text_from_json(value, NULL) : NULL;
    bool yes = said && (glob ? fnmatch(said, name, 0) == 0 : strcmp(said, name) == 0);
    free(said);
    return yes;
}

/* What tasks of the part would have; the last that is said counts. NULL: none; the caller frees. */
static char *current(const json_t *part, const struct spec *base, const char *name)
{
    const json_t *list = json_object_get(part, "env");
    for (size_t i = json_array_size(list); i-- > 0;) {
        const json_t *entry = json_array_get(list, i);
        if (concerns(entry, "set", name, false))
            return text_from_json(json_object_get(entry, "value"), NULL);
        if (concerns(entry, "remove", name, true))
            return NULL;
    }
    size_t len = strlen(name);
    for (char **at = base->environment; at && *at; at++)
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=')
            return mem_copy_text(*at + len + 1);
    return NULL;
}

/* ---- what is changed ---- */

static void spawn_environment_add(json_t *part, json_t *entry)
{
    json_t *list = json_object_get(part, "env");
    if (!list)
        json_object_set_new(part, "env", list = json_array());
    json_array_append_new(list, entry);
}

static void set(json_t *part, const char *name, const char *value)
{
    spawn_environment_add(
        part, json_pack("{s:o, s:o}", "set", text_to_json(name), "value", text_to_json(value)));
}

static void change_one(json_t *part, enum spawn_environment change, const char *name,
                       const char *value, const char *there)
{
    bool joins = change == SPAWN_ENVIRONMENT_PREPEND || change == SPAWN_ENVIRONMENT_APPEND;
    if (change == SPAWN_ENVIRONMENT_DEFAULT && there)
        return;
    if (joins && there && *there) {
        const char *first = change == SPAWN_ENVIRONMENT_PREPEND ? value + 1 : there;
        const char *last = change == SPAWN_ENVIRONMENT_PREPEND ? there : value + 1;
        char *both = mem_format("%s%c%s", first, *value, last);
        set(part, name, both);
        free(both);
    } else {
        set(part, name, joins ? value + 1 : value);
    }
}

int spawn_environment_change(json_t *part, const struct spec *base, enum spawn_environment change,
                             const char *text, struct error *err)
{
    size_t len = strcspn(text, "=");
    bool joins = change == SPAWN_ENVIRONMENT_PREPEND || change == SPAWN_ENVIRONMENT_APPEND;
    if (change == SPAWN_ENVIRONMENT_UNSET) {
        if (!len || text[len])
            return error_set(err, "\"%s\" is not the name of a variable", text);
        spawn_environment_add(part, json_pack("{s:o}", "remove", text_to_json(text)));
        return 0;
    }
    if (!len || !text[len] || (joins && !text[len + 1]))
        return error_set(err, "\"%s\" is not NAME=VALUE", text);
    char *name = mem_copy_text_n(text, len), *there = current(part, base, name);
    change_one(part, change, name, text + len + 1, there);
    free(there);
    free(name);
    return 0;
}
