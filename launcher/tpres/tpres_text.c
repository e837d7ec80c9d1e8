/* tpres idset, hostlist, taskmap, shape: texts in their canonical form, or in another. */
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "affinity/sets/idset.h"
#include "affinity/shape/shape.h"
#include "affinity/taskmap/taskmap.h"
#include "base/buf.h"
#include "base/text.h"
#include "launcher/tpres/tpres.h"

#define TEXT_MAX (128u << 20) /* bytes from stdin, where the reader has no limit of its own */

/* A form of what was read; 0, or -1 with a sentence. */
struct form {
    const char *name; /* NULL: the end */
    int (*put)(struct method_call *call, const void *what, struct error *err);
};

/* The first form is the one without --to. */
struct kind {
    const struct form *forms;
    size_t most;       /* bytes */
    bool line_by_line; /* a line ends an element, as a comma does: --to list can be read */
    void *(*read)(const char *text, struct error *err);
    void (*drop)(void *what);
};

static int put_and_free(struct method_call *call, char *text)
{
    fprintf(call->out, "%s\n", text);
    free(text);
    return 0;
}

/* ---- idset ---- */

static void *read_idset(const char *text, struct error *err)
{
    return idset_decode(text, err);
}

static void drop_idset(void *set)
{
    idset_free(set);
}

static int put_idset(struct method_call *call, const void *set, struct error *err)
{
    (void)err;
    return put_and_free(call, idset_encode(set));
}

static int put_ids(struct method_call *call, const void *set, struct error *err)
{
    uint32_t first, last;
    (void)err;
    for (size_t at = 0; idset_range(set, &at, &first, &last);)
        for (uint32_t id = first; id <= last && !ferror(call->out); id++)
            fprintf(call->out, "%u\n", id);
    return 0;
}

static int count_ids(struct method_call *call, const void *set, struct error *err)
{
    (void)err;
    fprintf(call->out, "%zu\n", idset_count(set));
    return 0;
}

static const struct form idset_forms[] = {
    {"text", put_idset}, {"list", put_ids}, {"count", count_ids}, {0}};

/* ---- hostlist ---- */

static void *read_hostlist(const char *text, struct error *err)
{
    return hostlist_decode(text, err);
}

static void drop_hostlist(void *list)
{
    hostlist_free(list);
}

static int put_hostlist(struct method_call *call, const void *list, struct error *err)
{
    (void)err;
    return put_and_free(call, hostlist_encode(list));
}

static int put_hosts(struct method_call *call, const void *list, struct error *err)
{
    (void)err;
    for (size_t i = 0; i < hostlist_count(list); i++)
        fprintf(call->out, "%s\n", hostlist_nth(list, i));
    return 0;
}

static int count_hosts(struct method_call *call, const void *list, struct error *err)
{
    (void)err;
    fprintf(call->out, "%zu\n", hostlist_count(list));
    return 0;
}

static const struct form hostlist_forms[] = {
    {"text", put_hostlist}, {"list", put_hosts}, {"count", count_hosts}, {0}};

/* ---- taskmap ---- */

static void *read_taskmap(const char *text, struct error *err)
{
    return taskmap_decode(text, err);
}

static void drop_taskmap(void *map)
{
    taskmap_free(map);
}

static int put_taskmap(struct method_call *call, const void *map, struct error *err)
{
    (void)err;
    json_t *wrapped = taskmap_to_json(map);
    tpres_write_json(call, json_incref(json_object_get(wrapped, "map")));
    json_decref(wrapped);
    return 0;
}

static int put_wrapped(struct method_call *call, const void *map, struct error *err)
{
    (void)err;
    tpres_write_json(call, taskmap_to_json(map));
    return 0;
}

static int put_pmi(struct method_call *call, const void *map, struct error *err)
{
    char *text = taskmap_encode_pmi(map);
    if (!text)
        return error_set(err, "--to pmi: the text would be longer than %u bytes", TASKMAP_MAX_TEXT);
    return put_and_free(call, text);
}

static int put_raw(struct method_call *call, const void *map, struct error *err)
{
    char *text = taskmap_encode_raw(map);
    if (!text)
        return error_set(err,
                         "--to raw: this form has no nodes without tasks, and at most %u bytes",
                         TASKMAP_MAX_TEXT);
    return put_and_free(call, text);
}

static const struct form taskmap_forms[] = {
    {"json", put_taskmap}, {"wrapped", put_wrapped}, {"pmi", put_pmi}, {"raw", put_raw}, {0}};

/* ---- shape ---- */

/* A shape in one line may begin with a bracket, as JSON does, but not with a brace. */
static void *read_shape(const char *text, struct error *err)
{
    json_error_t bad = {.line = 0};
    const char *start = text + strspn(text, " \t\n");
    json_t *value = NULL;
    if (*start == '[' || *start == '{')
        value = json_loads(text, JSON_REJECT_DUPLICATES, &bad);
    if (!value && *start != '{')
        return shape_decode(text, err);
    if (!value) {
        error_set(err, "line %d, column %d: not JSON: %s", bad.line, bad.column,
                  excerpt(bad.text, strlen(bad.text)).text);
        return NULL;
    }
    json_t *resources = json_object_get(value, "resources");
    struct shape *shape = shape_from_json(resources ? resources : value, err);
    json_decref(value);
    return shape;
}

static void drop_shape(void *shape)
{
    shape_free(shape);
}

static int put_shape(struct method_call *call, const void *shape, struct error *err)
{
    (void)err;
    return put_and_free(call, shape_encode(shape));
}

static int put_resources(struct method_call *call, const void *shape, struct error *err)
{
    (void)err;
    tpres_write_json(call, shape_to_json(shape));
    return 0;
}

static const struct form shape_forms[] = {{"text", put_shape}, {"json", put_resources}, {0}};

/* ---- all of them ---- */

static const struct form *find_form(const struct method_call *call, const struct form *forms,
                                    struct error *err)
{
    const char *name = method_value(call, TPRES_TO);
    struct buf names = BUF_INIT;
    if (!name)
        return forms;
    for (const struct form *form = forms; form->name; form++) {
        if (strcmp(form->name, name) == 0) {
            buf_free(&names);
            return form;
        }
        buf_printf(&names, "%s%s", names.len ? ", " : "", form->name);
    }
    error_usage(err, "--to: unknown form %s (expected %s)", excerpt(name, strlen(name)).text,
                buf_text(&names));
    buf_free(&names);
    return NULL;
}

static int convert(struct method_call *call, const struct kind *kind, struct error *err)
{
    const struct form *form = find_form(call, kind->forms, err);
    char *text = form ? tpres_read_text(call, kind->most, err) : NULL;
    for (char *at = text; kind->line_by_line && at && (at = strchr(at, '\n'));)
        *at = ',';
    void *what = text ? kind->read(text, err) : NULL;
    int rc = what ? form->put(call, what, err) : -1;
    if (what)
        kind->drop(what);
    free(text);
    return rc;
}

int tpres_idset(struct method_call *call, struct error *err)
{
    return convert(call, &(struct kind){idset_forms, TEXT_MAX, true, read_idset, drop_idset}, err);
}

int tpres_hostlist(struct method_call *call, struct error *err)
{
    return convert(
        call, &(struct kind){hostlist_forms, TEXT_MAX, true, read_hostlist, drop_hostlist}, err);
}

int tpres_taskmap(struct method_call *call, struct error *err)
{
    return convert(
        call, &(struct kind){taskmap_forms, TASKMAP_MAX_TEXT, false, read_taskmap, drop_taskmap},
        err);
}

int tpres_shape(struct method_call *call, struct error *err)
{
    return convert(call, &(struct kind){shape_forms, TEXT_MAX, false, read_shape, drop_shape}, err);
}
