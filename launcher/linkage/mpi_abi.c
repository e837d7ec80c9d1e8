/* Which libraries of the MPI ABI are here, which one --mpi means, and how tasks come to load it. */
#include "launcher/linkage/mpi_abi.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/environment/environment.h"
#include "launcher/linkage/loader_cache.h"
#include "launcher/linkage/mpi_library.h"

#define FILES "libmpi_abi*.so*"

/* Where distributions and administrators put an MPI with a prefix of its own. */
static const char *const prefixes[] = {"/usr/lib64/*mpi*/lib", "/usr/lib/*/*mpi*/lib",
                                       "/usr/local/lib*", "/opt/*mpi*/lib*"};

/* ---- one file ---- */

/* The same but for capitals and punctuation. */
static char *word_of(const char *name)
{
    struct buf word = BUF_INIT;
    for (; *name; name++)
        if (isalnum((unsigned char)*name))
            buf_add_char(&word, (char)tolower((unsigned char)*name));
    return buf_take_text(&word);
}

static const char *mpi_of(const char *path, const struct elf_info *elf)
{
    struct library *libraries = mem_array(elf->nneeded + 1, sizeof(*libraries));
    struct shared_libraries linkage = {.libraries = libraries, .count = elf->nneeded + 1};
    libraries[0] = (struct library){
        .name = (char *)LIBRARY_MPI_ABI, .path = (char *)path, .family = mpi_family_of(path, elf)};
    for (size_t i = 0; i < elf->nneeded; i++)
        libraries[i + 1].name = elf->needed[i];
    const char *mpi = mpi_library_of(&linkage).mpi;
    free(libraries);
    return mpi;
}

/* A library of the ABI for this machine; *mpi is whose. -1 with a sentence that begins with the path. */
static int mpi_abi_read_file(const char *path, const char **mpi, struct error *err)
{
    struct elf_info elf;
    int fd = elf_file_open(path);
    if (fd < 0)
        return error_set(err, "%s cannot be read: %s", path,
                         errno == ENOEXEC ? "it is not a regular file" : strerror(errno));
    int rc = elf_file_read(fd, &elf, err);
    close(fd);
    if (rc < 0)
        return error_prefix(err, "%s", path);
    if (!elf.soname || !library_is_mpi_abi(elf.soname))
        rc = error_set(err, "%s is not " LIBRARY_MPI_ABI "%s%s", path,
                       elf.soname ? " but " : ", as it has no name", elf.soname ?: "");
    else if (!elf_file_runs_here(
                 &(struct elf_file_head){.bits = elf.bits, .machine = elf.machine}) ||
             elf.bits != 8 * (int)sizeof(void *))
        rc = error_set(err, "%s is for another kind of machine", path);
    else
        *mpi = mpi_of(path, &elf);
    elf_file_clear(&elf);
    return rc;
}

bool mpi_abi_is_same(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* ---- those that are installed ---- */

static const struct mpi_abi *find_word(const struct mpi_abi_list *list, const char *word)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->list[i].word && strcmp(list->list[i].word, word) == 0)
            return &list->list[i];
    return NULL;
}

void mpi_abi_list_add(struct mpi_abi_list *list, const char *path)
{
    const char *mpi;
    for (size_t i = 0; i < list->count; i++)
        if (mpi_abi_is_same(list->list[i].path, path))
            return;
    if (mpi_abi_read_file(path, &mpi, NULL) < 0)
        return;
    bool known = mpi_library_is_known(mpi);
    char *word = known ? word_of(mpi) : NULL;
    if (word && find_word(list, word)) {
        free(word);
        word = NULL;
    }
    list->list = array_grow(list->list, list->count, sizeof(*list->list));
    list->list[list->count++] = (struct mpi_abi){mem_copy_text(path), mpi, word};
}

/* Files before the links to them: libmpi_abi.so.1 may be a link that ldconfig(8) changes. */
static void mpi_abi_add_directory(struct mpi_abi_list *list, const char *directory)
{
    struct dirent **names = NULL;
    int count = directory[0] == '/' ? scandir(directory, &names, NULL, alphasort) : 0;
    for (int links = 0; links < 2; links++) {
        for (int i = 0; i < count; i++) {
            struct stat status;
            char *path = mem_format("%s/%s", directory, names[i]->d_name);
            if (fnmatch(FILES, names[i]->d_name, 0) == 0 && lstat(path, &status) == 0 &&
                S_ISLNK(status.st_mode) == links)
                mpi_abi_list_add(list, path);
            free(path);
        }
    }
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static void add_library_path(struct mpi_abi_list *list, const char *at)
{
    for (; at; at = *at ? at + 1 : NULL) {
        size_t len = strcspn(at, ":;");
        char *directory = mem_copy_text_n(at, len);
        mpi_abi_add_directory(list, directory);
        free(directory);
        at += len;
    }
}

/* PREFIX/bin in PATH is that of an MPI whose library may be in PREFIX/lib. */
static void add_prefixes(struct mpi_abi_list *list, const char *at)
{
    for (; at; at = *at ? at + 1 : NULL) {
        size_t len = strcspn(at, ":"), end = len;
        while (end > 1 && at[end - 1] == '/')
            end--;
        while (end && at[end - 1] != '/')
            end--;
        for (size_t wide = 0; end && wide < 2; wide++) {
            char *directory = mem_format("%.*slib%s", (int)end, at, wide ? "64" : "");
            mpi_abi_add_directory(list, directory);
            free(directory);
        }
        at += len;
    }
}

/* The next directory of the loader's own; caller frees. */
static char *next_cached(const struct loader_cache *cache, const char *before, uint32_t *at)
{
    const char *path;
    while ((path = loader_cache_find(cache, NULL, at))) {
        size_t len = (size_t)(strrchr(path, '/') - path);
        if (!before || strncmp(before, path, len) != 0 || before[len])
            return mem_copy_text_n(path, len);
    }
    return NULL;
}

static void add_cached(struct mpi_abi_list *list)
{
    struct loader_cache cache;
    char *directory = NULL, *next;
    uint32_t at = 0;
    loader_cache_open(&cache, LOADER_CACHE);
    while ((next = next_cached(&cache, directory, &at))) {
        free(directory);
        directory = next;
        mpi_abi_add_directory(list, directory);
    }
    free(directory);
    loader_cache_clear(&cache);
    for (size_t i = 0; i < LOADER_NDIRECTORIES; i++)
        mpi_abi_add_directory(list, loader_directories[i]);
}

static void add_globs(struct mpi_abi_list *list)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        glob_t found = {0};
        if (glob(prefixes[i], GLOB_ONLYDIR, NULL, &found) == 0)
            for (size_t j = 0; j < found.gl_pathc; j++)
                mpi_abi_add_directory(list, found.gl_pathv[j]);
        globfree(&found);
    }
}

void mpi_abi_list_read(struct mpi_abi_list *list, char *const *environment)
{
    *list = (struct mpi_abi_list){0};
    add_library_path(list, env_value(environment, "LD_LIBRARY_PATH"));
    add_prefixes(list, env_value(environment, "PATH"));
    add_cached(list);
    add_globs(list);
}

void mpi_abi_list_clear(struct mpi_abi_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->list[i].path);
        free(list->list[i].word);
    }
    free(list->list);
    *list = (struct mpi_abi_list){0};
}

/* ---- the one that is meant ---- */

static char *find_named(const char *choice, char *const *environment, struct error *err)
{
    struct mpi_abi_list list;
    struct buf names = BUF_INIT;
    char *word = word_of(choice);
    mpi_abi_list_read(&list, environment);
    const struct mpi_abi *found = find_word(&list, word);
    char *path = found ? mem_copy_text(found->path) : NULL;
    for (size_t i = 0; i < list.count; i++)
        buf_printf(&names, "%s%s%s%s", i ? ", " : "", list.list[i].word ?: "",
                   list.list[i].word ? " is " : "", list.list[i].path);
    if (!path && !list.count)
        error_set(err, "no " LIBRARY_MPI_ABI " is found here: name the directory of one");
    else if (!path)
        error_set(err, "no " LIBRARY_MPI_ABI " of that MPI is found here; these are: %s",
                  buf_text(&names));
    mpi_abi_list_clear(&list);
    buf_free(&names);
    free(word);
    return path;
}

static char *find_in(const char *directory, struct error *err)
{
    static const char *const places[] = {"", "/lib", "/lib64"};
    static const char *const names[] = {LIBRARY_MPI_ABI, "libmpi_abi.so"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
            char *path = mem_format("%s%s/%s", directory, places[i], names[j]);
            if (access(path, F_OK) == 0)
                return path;
            free(path);
        }
    error_set(err, "no " LIBRARY_MPI_ABI " in this directory, its lib or its lib64");
    return NULL;
}

char *mpi_abi_find(const char *choice, char *const *environment, struct error *err)
{
    struct stat status;
    const char *mpi;
    char *path = NULL;
    if (!strchr(choice, '/'))
        path = find_named(choice, environment, err);
    else if (stat(choice, &status) < 0)
        error_set(err, "%s", strerror(errno));
    else if (S_ISDIR(status.st_mode))
        path = find_in(choice, err);
    else
        path = mem_copy_text(choice);
    if (path && mpi_abi_read_file(path, &mpi, err) < 0) {
        free(path);
        path = NULL;
    }
    if (!path)
        error_prefix(err, "--mpi %s", choice);
    return path;
}

/* ---- the program ---- */

static const struct library *mpi_abi_find_library(const struct shared_libraries *linkage)
{
    for (size_t i = 0; i < linkage->count; i++)
        if (library_is_mpi_abi(linkage->libraries[i].name))
            return &linkage->libraries[i];
    return NULL;
}

bool mpi_abi_is_for(const struct shared_libraries *linkage)
{
    return mpi_abi_find_library(linkage) != NULL;
}

int mpi_abi_accepts(const struct shared_libraries *linkage, const char *path, bool lenient,
                    struct error *err)
{
    const struct library *library = mpi_abi_find_library(linkage);
    if (library && library->path && mpi_abi_is_same(library->path, path))
        return 0;
    if (library)
        return error_set(err,
                         "an RPATH comes before --mpi, so %s would load %s and not %s: link it "
                         "with -Wl,--enable-new-dtags, or without a path",
                         linkage->path, library->path ?: "nothing", path);
    struct mpi_library use = mpi_library_of(linkage);
    if (use.mpi)
        return error_set(err,
                         "--mpi is for programs that are linked with " LIBRARY_MPI_ABI
                         ": %s is linked with %s (%s)",
                         linkage->path, use.mpi, use.mpi_library->name);
    /* A program without an MPI may start one that has it, as shells and debuggers do. */
    bool is_static = linkage->kind == SHARED_LIBRARIES_STATIC;
    if (lenient || (!is_static && !linkage->closed))
        return 0;
    return error_set(err,
                     "--mpi is for programs that are linked with " LIBRARY_MPI_ABI ": %s is linked "
                     "%s",
                     linkage->path,
                     is_static ? "statically" : "with no MPI, and starts no other program");
}

/* ---- LD_LIBRARY_PATH ---- */

/* The loader looks there by itself. */
static bool is_default(const char *directory)
{
    struct loader_cache cache;
    char *other = NULL, *next;
    uint32_t at = 0;
    bool found = false;
    for (size_t i = 0; i < LOADER_NDIRECTORIES && !found; i++)
        found = mpi_abi_is_same(directory, loader_directories[i]);
    loader_cache_open(&cache, LOADER_CACHE);
    while (!found && (next = next_cached(&cache, other, &at))) {
        free(other);
        other = next;
        found = mpi_abi_is_same(directory, other);
    }
    free(other);
    loader_cache_clear(&cache);
    return found;
}

/* Of the program's groups the first makes it. */
static char *make_link(const char *path, const char *directory, struct error *err)
{
    char *place = mem_format("%s/mpi", directory);
    char *link = mem_format("%s/" LIBRARY_MPI_ABI, place);
    if ((mkdir(directory, 0700) < 0 && errno != EEXIST) ||
        (mkdir(place, 0700) < 0 && errno != EEXIST) ||
        (symlink(path, link) < 0 && (errno != EEXIST || !mpi_abi_is_same(path, link)))) {
        error_set(err, "cannot make the link %s: %s; TMPDIR may name another directory", link,
                  strerror(errno));
        free(place);
        place = NULL;
    }
    free(link);
    return place;
}

/* The loader would take it for several, and may find another library in one of them. */
static int mpi_abi_check_directory(const char *directory, struct error *err)
{
    return !strpbrk(directory, ":;")
               ? 0
               : error_set(err,
                           "LD_LIBRARY_PATH, by which tasks load the library of --mpi, cannot hold "
                           "%s: expected a path without \":\" and \";\"",
                           directory);
}

char *mpi_abi_library_path(const char *path, const char *directory, const char *before,
                           struct error *err)
{
    size_t len = (size_t)(strrchr(path, '/') - path);
    char *own = mem_copy_text_n(path, len ? len : 1); /* "/" itself */
    char *usual = mem_format("%s/" LIBRARY_MPI_ABI, own), *link = NULL, *text = NULL;
    bool shared = is_default(own); /* in front, it would hide more than this library */
    if (!shared && mpi_abi_check_directory(own, err) < 0)
        link = NULL;
    else if (shared || !mpi_abi_is_same(usual, path))
        link = mpi_abi_check_directory(directory, err) < 0 ? NULL : make_link(path, directory, err);
    else
        link = mem_copy_text("");
    if (link)
        text = mem_format("%s%s%s%s%s", link, *link && !shared ? ":" : "", shared ? "" : own,
                          before && *before ? ":" : "", before ?: "");
    free(link);
    free(usual);
    free(own);
    return text;
}
