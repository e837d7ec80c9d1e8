/* One library by name, in the places and the order of ld.so(8). For shared_libraries.c. */
#include "launcher/linkage/library_search.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/linkage/mpi_family.h"

/* ---- one file ---- */

/* True when the search is over: it is there and fits, or is damaged, which stops the loader too. */
static bool try_file(const struct library_search *search, const char *path,
                     struct library_found *found)
{
    struct error err = ERROR_INIT;
    int fd = elf_file_open(path);
    if (fd < 0)
        return false;
    int rc = elf_file_read(fd, &found->elf, &err);
    close(fd);
    if (rc == 0 && !elf_file_fits(&found->elf, &search->program->elf)) {
        elf_file_clear(&found->elf);
        return false;
    }
    found->path = mem_copy_text(path);
    found->fault = rc < 0 ? mem_copy_text(error_text(&err)) : NULL;
    error_clear(&err);
    return true;
}

/* What is relative is relative to where the process is. */
static bool library_search_try_path(const struct library_search *search, const char *path,
                                    struct library_found *found)
{
    if (path[0] == '/')
        return try_file(search, path, found);
    char *whole = mem_format("%s/%s", search->directory, path);
    bool done = try_file(search, whole, found);
    free(whole);
    return done;
}

static bool try_directory(const struct library_search *search, const char *directory,
                          const char *name, struct library_found *found)
{
    char *path = directory[0] ? mem_format("%s/%s", directory, name) : mem_copy_text(name);
    bool done = library_search_try_path(search, path, found);
    free(path);
    return done;
}

/* ---- lists of directories ---- */

/* $ORIGIN and ${ORIGIN}; NULL for what cannot be told. */
static char *expand(const char *word, size_t len, const char *origin)
{
    static const char *const forms[] = {"${ORIGIN}", "$ORIGIN"};
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < len;) {
        size_t size = 0;
        for (size_t form = 0; form < 2 && !size; form++)
            if (strncmp(word + i, forms[form], strlen(forms[form])) == 0)
                size = strlen(forms[form]);
        if (size) {
            buf_add_text(&out, origin);
            i += size;
        } else if (word[i] == '$') {
            buf_free(&out);
            return NULL;
        } else {
            buf_add_char(&out, word[i++]);
        }
    }
    return buf_take_text(&out);
}

static bool try_list(const struct library_search *search, const char *list, const char *origin,
                     const char *name, struct library_found *found)
{
    if (!list || !list[0])
        return false;
    for (const char *at = list;; at++) {
        size_t len = strcspn(at, ":;");
        char *directory = expand(at, len, origin);
        bool done = directory && try_directory(search, directory, name, found);
        free(directory);
        at += len;
        if (done || !*at)
            return done;
    }
}

/* Those of the asker, of who asked for that, and so on: of files without a RUNPATH. */
static bool try_rpaths(const struct library_search *search, const struct loaded *asker,
                       const char *name, struct library_found *found)
{
    if (asker->elf.runpath)
        return false;
    for (; asker; asker = asker->asker)
        if (!asker->elf.runpath && try_list(search, asker->elf.rpath, asker->origin, name, found))
            return true;
    return false;
}

void library_search(const struct library_search *search, const struct loaded *asker,
                    const char *name, struct library_found *found)
{
    memset(found, 0, sizeof(*found));
    if (strchr(name, '/')) {
        char *path = expand(name, strlen(name), asker->origin);
        if (path)
            library_search_try_path(search, path, found);
        free(path);
        return;
    }
    if (try_rpaths(search, asker, name, found))
        return;
    if (search->mpi_abi && library_is_mpi_abi(name) &&
        library_search_try_path(search, search->mpi_abi, found))
        return;
    if (try_list(search, search->library_path, search->program->origin, name, found) ||
        try_list(search, asker->elf.runpath, asker->origin, name, found))
        return;
    const char *path;
    uint32_t at = 0;
    while ((path = loader_cache_find(&search->cache, name, &at)))
        if (try_file(search, path, found))
            return;
    for (size_t i = 0; i < LOADER_NDIRECTORIES; i++)
        if (try_directory(search, loader_directories[i], name, found))
            return;
    if (search->loader_directory)
        try_directory(search, search->loader_directory, name, found);
}
