/* Lists of files to stage as JSON, and the names by which they are known. */
#include "launcher/protocol/stage_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/spec/field.h"

#define STAGE_MAX ((uint64_t)1 << 62) /* bytes of all files */

static const char *const kind_words[STAGE_NKINDS] = {"file", "prolog", "epilog"};

const char *stage_kind_word(enum stage_kind kind)
{
    return kind_words[kind];
}

void stage_list_add(struct stage_list *list, const struct staged_file *file)
{
    list->files = array_grow(list->files, list->count, sizeof(*list->files));
    struct staged_file *mine = &list->files[list->count++];
    *mine = *file;
    mine->name = mem_copy_text(file->name);
    mine->path = mem_copy_text(file->path);
    list->size += file->size;
}

void stage_list_clear(struct stage_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->files[i].name);
        free(list->files[i].path);
    }
    free(list->files);
    *list = (struct stage_list){0};
}

bool stage_list_has(const struct stage_list *list, enum stage_kind kind)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->files[i].kind == kind)
            return true;
    return false;
}

/* ---- JSON ---- */

json_t *stage_list_to_json(const struct stage_list *list)
{
    json_t *files = json_array();
    for (size_t i = 0; i < list->count; i++) {
        const struct staged_file *file = &list->files[i];
        json_array_append_new(
            files, json_pack("{s:s, s:o, s:o, s:i, s:I}", "kind", kind_words[file->kind], "name",
                             text_to_json(file->name), "path", text_to_json(file->path), "mode",
                             (int)file->mode, "size", (json_int_t)file->size));
    }
    return files;
}

/* It stands for one entry of one directory. */
static int check_name(const char *name, struct error *err)
{
    if (*name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
        return 0;
    return error_set(err, "name: %s is not the name of a file", excerpt(name, strlen(name)).text);
}

static int read_kind(const json_t *value, enum stage_kind *kind, struct error *err)
{
    const char *word = json_string_value(value);
    for (int i = 0; word && i < STAGE_NKINDS; i++) {
        if (strcmp(word, kind_words[i]) == 0) {
            *kind = (enum stage_kind)i;
            return 0;
        }
    }
    return error_set(err, "kind: must be file, prolog or epilog");
}

/* The same name twice would be one file. */
static int check_once(const struct stage_list *list, const struct staged_file *file,
                      struct error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->files[i].kind == file->kind && strcmp(list->files[i].name, file->name) == 0)
            return error_set(err, "name: %s stands there twice",
                             excerpt(file->name, strlen(file->name)).text);
    return 0;
}

static int read_file(struct stage_list *list, const json_t *value, struct error *err)
{
    const json_t *mode = json_object_get(value, "mode"), *size = json_object_get(value, "size");
    struct staged_file file = {.mode = (unsigned)json_integer_value(mode),
                               .size = (uint64_t)json_integer_value(size)};
    if (read_kind(json_object_get(value, "kind"), &file.kind, err) < 0)
        return -1;
    if (!json_is_integer(mode) || json_integer_value(mode) < 0 ||
        json_integer_value(mode) > (json_int_t)STAGE_MODE)
        return error_set(err, "mode: must be a number up to %u", STAGE_MODE);
    if (!json_is_integer(size) || json_integer_value(size) < 0 ||
        file.size > STAGE_MAX - list->size)
        return error_set(err, "size: must be a number of bytes, of all files up to 2^62");
    file.name = text_from_json(json_object_get(value, "name"), err);
    file.path = file.name ? text_from_json(json_object_get(value, "path"), err) : NULL;
    int rc =
        !file.path || check_name(file.name, err) < 0 || check_once(list, &file, err) < 0 ? -1 : 0;
    if (rc == 0)
        stage_list_add(list, &file);
    free(file.name);
    free(file.path);
    return rc;
}

int stage_list_from_json(struct stage_list *list, const json_t *value, struct error *err)
{
    size_t i;
    json_t *entry;
    if (!json_is_array(value))
        return error_set(err, "files: must be an array");
    json_array_foreach(value, i, entry)
    {
        if (read_file(list, entry, err) < 0)
            return error_prefix(err, "files: %zu", i);
    }
    return 0;
}

json_t *stage_order_to_json(const struct stage_list *list, const struct idset *nodes)
{
    return json_pack("{s:o, s:o}", "nodes", idset_to_json(nodes), "files",
                     stage_list_to_json(list));
}

int stage_order_from_json(struct stage_list *list, struct idset **nodes, const json_t *value,
                          struct error *err)
{
    const char *text = json_string_value(json_object_get(value, "nodes"));
    *nodes = NULL;
    if (stage_list_from_json(list, json_object_get(value, "files"), err) < 0)
        return -1;
    if (!text)
        return error_set(err, "nodes: must be a set of numbers");
    *nodes = idset_decode(text, err);
    return *nodes ? 0 : -1;
}

json_t *stage_sums_to_json(const uint64_t *sums, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        char text[17];
        snprintf(text, sizeof(text), "%016" PRIx64, sums[i]);
        json_array_append_new(list, json_string(text));
    }
    return json_pack("{s:o}", "sums", list);
}

int stage_sums_from_json(uint64_t *sums, size_t count, const json_t *value, struct error *err)
{
    const json_t *list = json_object_get(value, "sums");
    const char *failed = json_string_value(json_object_get(value, "failed"));
    if (failed)
        return error_set(err, "%s", failed);
    if (!json_is_array(list) || json_array_size(list) != count)
        return error_set(err, "sums: must be an array of %zu", count);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
            return error_set(err, "sums: %zu: must be 16 hexadecimal digits", i);
        sums[i] = strtoull(text, NULL, 16);
    }
    return 0;
}

/* ---- on a node ---- */

void stage_place_clear(struct stage_place *place)
{
    free(place->directory);
    stage_list_clear(&place->list);
    *place = (struct stage_place){0};
}

char *stage_path(const char *path, const char *directory)
{
    char *whole = *path == '/' ? mem_copy_text(path) : mem_format("%s/%s", directory, path);
    char *out = whole;
    for (const char *at = whole; *at;) {
        const char *part = at + strspn(at, "/");
        size_t len = strcspn(part, "/");
        at = part + len;
        if (!len || (len == 1 && *part == '.'))
            continue;
        *out++ = '/';
        memmove(out, part, len);
        out += len;
    }
    if (out == whole)
        *out++ = '/';
    *out = '\0';
    return whole;
}

char *stage_place_find(const struct stage_place *place, const char *program, const char *directory)
{
    bool named = !strchr(program, '/');
    char *path = named || !place->directory ? NULL : stage_path(program, directory);
    char *found = NULL;
    for (size_t i = 0; place->directory && i < place->list.count && !found; i++) {
        const struct staged_file *file = &place->list.files[i];
        if (file->kind == STAGE_FILE &&
            strcmp(named ? file->name : file->path, named ? program : path) == 0)
            found = mem_format("%s/%s", place->directory, file->name);
    }
    free(path);
    return found;
}
