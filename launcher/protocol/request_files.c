/* Files that options name, as part of a message. */
#include "launcher/protocol/request_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "launcher/spec/field.h"
#include "launcher/spec/spec_file.h"
#include "launcher/tree/frame.h"

#define FILES_MAX (FRAME_MAX / 2) /* bytes of each: JSON writes some with more */

static int request_add_file(json_t *files, const char *kind, const char *path, struct error *err)
{
    struct buf text = BUF_INIT;
    if (!path)
        return 0;
    char *name = file_text_name(kind, path);
    int rc = file_text_read(path, name, FILES_MAX, &text, err);
    if (rc == 0 && strlen(buf_text(&text)) < text.len)
        rc = error_set(err, "%s: not a text file: it contains a zero byte", name);
    if (rc == 0)
        json_array_append_new(files, json_pack("{s:o, s:o}", "path", text_to_json(path), "text",
                                               text_to_json(buf_text(&text))));
    buf_free(&text);
    free(name);
    return rc;
}

json_t *request_files_read(const struct spec *spec, struct error *err)
{
    json_t *files = json_array();
    int rc = request_add_file(files, "R file", spec->resources, err);
    if (rc == 0)
        rc = request_add_file(files, "--on", spec->on, err);
    if (rc == 0)
        rc = request_add_file(files, "hostfile", spec->hostfile, err);
    for (size_t i = 0; i < spec->ntopologies && rc == 0; i++) {
        const char *file = strstr(spec->topologies[i], "=@");
        rc = request_add_file(files, "topology file", file ? file + 2 : NULL, err);
    }
    if (rc == 0)
        return files;
    json_decref(files);
    return NULL;
}

int request_files_take(struct spec *spec, const json_t *files, struct error *err)
{
    size_t i;
    json_t *file;
    int rc = 0;
    spec->is_sent = true;
    json_array_foreach(files, i, file)
    {
        const json_t *named = json_object_get(file, "path"), *held = json_object_get(file, "text");
        if (!named || !held)
            return error_set(err, "files: expected objects with path and text");
        char *path = text_from_json(named, err);
        char *text = path ? text_from_json(held, err) : NULL;
        rc = text ? 0 : error_prefix(err, "files");
        if (text)
            spec_file_add(spec, path, text);
        free(path);
        free(text);
        if (rc < 0)
            break;
    }
    return rc;
}
