/* Files that options name. */
#include "launcher/spec/spec_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file_text.h"
#include "base/mem.h"

int spec_file_read(const struct spec *spec, const char *path, const char *name, size_t max,
                   struct buf *text, struct error *err)
{
    const struct spec_file *file = NULL;
    if (!spec || !spec->is_sent)
        return file_text_read(path, name, max, text, err);
    for (size_t i = 0; i < spec->nfiles && !file; i++)
        if (strcmp(spec->files[i].path, path) == 0)
            file = &spec->files[i];
    if (!file)
        return error_set(err, "%s: it did not come along with the request", name);
    size_t len = strlen(file->text);
    if (len > max)
        return error_set(err, "%s: is larger than %zu MiB, the most that is read", name, max >> 20);
    buf_add(text, file->text, len);
    return 0;
}

void spec_file_add(struct spec *spec, const char *path, const char *text)
{
    spec->files = array_grow(spec->files, spec->nfiles, sizeof(*spec->files));
    spec->files[spec->nfiles++] =
        (struct spec_file){.path = mem_copy_text(path), .text = mem_copy_text(text)};
}

void spec_files_clear(struct spec *spec)
{
    for (size_t i = 0; i < spec->nfiles; i++) {
        free(spec->files[i].path);
        free(spec->files[i].text);
    }
    free(spec->files);
    spec->files = NULL;
    spec->nfiles = 0;
}
