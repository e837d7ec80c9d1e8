/* A program's libraries as the loader would find them, and whether anything leads out of the program. */
#include "launcher/linkage/shared_libraries.h"

#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash_table.h"
#include "base/array.h"
#include "base/mem.h"
#include "launcher/linkage/library_search.h"

#define MAX_SCRIPT_LINE 4096

static char *absolute(const char *path, const char *directory)
{
    if (strncmp(path, "./", 2) == 0)
        path += 2;
    return path[0] == '/' ? mem_copy_text(path) : mem_format("%s/%s", directory, path);
}

static char *shared_libraries_directory_of(const char *path) /* an absolute one */
{
    const char *slash = strrchr(path, '/');
    return slash == path ? mem_copy_text("/") : mem_copy_text_n(path, (size_t)(slash - path));
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- the libraries, in the loader's order ---- */

struct reader {
    struct shared_libraries *linkage;
    struct library_search search;
    struct hash_table names; /* of libraries, by index */
    struct loaded
        *files; /* the program, then linkage->libraries; SHARED_LIBRARIES_MAX + 1 of them */
    bool (*is_last)(const char *name); /* or NULL */
    size_t last;                       /* of files, whose needs are read */
};

static const char *library_name(const void *owner, uint32_t number)
{
    return ((const struct shared_libraries *)owner)->libraries[number].name;
}

static void add_library(struct reader *reader, const char *name, struct loaded *asker)
{
    struct shared_libraries *linkage = reader->linkage;
    struct library_found found = {0};
    if (linkage->cut ||
        hash_table_intern_text(&reader->names, name, library_name, linkage) < linkage->count)
        return;
    linkage->cut = linkage->count == SHARED_LIBRARIES_MAX;
    if (linkage->cut)
        return;
    if (linkage->loader && !linkage->loader_absent && strcmp(base_of(linkage->loader), name) == 0)
        found.path = mem_copy_text(linkage->loader); /* which is loaded already */
    else
        library_search(&reader->search, asker, name, &found);
    linkage->libraries =
        array_grow(linkage->libraries, linkage->count, sizeof(*linkage->libraries));
    size_t by = asker == reader->files ? SHARED_LIBRARIES_MAX : (size_t)(asker - reader->files) - 1;
    linkage->libraries[linkage->count] =
        (struct library){mem_copy_text(name), found.path, found.fault, by, MPI_FAMILY_UNKNOWN};
    if (found.path && library_is_mpi_abi(base_of(name)))
        linkage->libraries[linkage->count].family = mpi_family_of(found.path, &found.elf);
    linkage->count++;
    reader->files[linkage->count] = (struct loaded){
        found.elf, shared_libraries_directory_of(found.path ? found.path : "/"), asker};
    if (reader->last > linkage->count && reader->is_last && reader->is_last(name))
        reader->last = linkage->count;
}

static char *real_directory(const char *path)
{
    char *real = realpath(path, NULL);
    char *directory = real ? shared_libraries_directory_of(real) : NULL;
    free(real);
    return directory;
}

/* Takes the program's elf. */
static void read_libraries(struct shared_libraries *linkage, struct elf_info *elf,
                           const struct shared_libraries_source *source)
{
    struct reader reader = {
        .linkage = linkage, .is_last = source->last, .last = SHARED_LIBRARIES_MAX};
    reader.files = mem_array(SHARED_LIBRARIES_MAX + 1, sizeof(*reader.files));
    char *origin = real_directory(linkage->path);
    reader.files[0] =
        (struct loaded){*elf, origin ? origin : shared_libraries_directory_of(linkage->path), NULL};
    reader.search.program = reader.files;
    reader.search.directory = source->directory;
    reader.search.library_path = source->library_path;
    reader.search.mpi_abi = source->mpi_abi;
    reader.search.loader_directory = linkage->loader ? real_directory(linkage->loader) : NULL;
    loader_cache_open(&reader.search.cache, source->cache ? source->cache : LOADER_CACHE);
    /* What a file needs is added behind all files before it: breadth first. */
    for (size_t at = 0; at <= linkage->count && at <= reader.last; at++) {
        struct loaded *file = &reader.files[at];
        for (size_t i = 0; i < file->elf.nneeded; i++)
            add_library(&reader, file->elf.needed[i], file);
    }
    loader_cache_clear(&reader.search.cache);
    hash_table_free(&reader.names);
    free(reader.search.loader_directory);
    for (size_t i = 0; i <= linkage->count; i++) {
        elf_file_clear(&reader.files[i].elf);
        free(reader.files[i].origin);
    }
    free(reader.files);
}

/* ---- whether anything leads out of a program ---- */

/* fnmatch(3). What is not here may open others: libomp its tools, libdl anything. */
static const char *const closed_libraries[] = {
    "libc.so.6",      "libm.so.6",      "libmvec.so.1",         "libpthread.so.0",  "librt.so.1",
    "libgcc_s.so.1",  "libstdc++.so.6", "libgfortran.so.[3-9]", "libquadmath.so.0", "libgomp.so.1",
    "libatomic.so.1", "ld-linux*.so.*", "ld64.so.[12]",
};

/* In no name that is linked by: more names than those of today are meant (pidfd_spawn(), the
 * runtime of Fortran's execute_command_line), and one too many only costs. */
static const char *const gates[] = {
    "exec",  "spawn",  "system", "popen",   "proc_open", "dlopen",  "dlmopen",
    "dlsym", "dlvsym", "clone",  "syscall", "wordexp",   "environ", "getenv",
};

static bool is_closed_library(const char *name)
{
    for (size_t i = 0; i < sizeof(closed_libraries) / sizeof(closed_libraries[0]); i++)
        if (fnmatch(closed_libraries[i], base_of(name), 0) == 0)
            return true;
    return false;
}

/* Whose libraries need no others, whoever built them. */
static bool needs_c_library_alone(const struct elf_info *elf)
{
    for (size_t i = 0; i < elf->nneeded; i++)
        if (strcmp(elf->needed[i], "libc.so.6") != 0 && strcmp(elf->needed[i], "libm.so.6") != 0)
            return false;
    return true;
}

static bool has_text(const char *bytes, size_t len, const char *text)
{
    return memmem(bytes, len, text, strlen(text));
}

/* Also of names that the file does not have all of. */
static bool imports_gate(const struct buf *file, const struct elf_file_range *names)
{
    if (!names->size || names->offset > file->len || names->size > file->len - names->offset)
        return true;
    for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++)
        if (has_text(buf_bytes(file) + names->offset, names->size, gates[i]))
            return true;
    return false;
}

static int shared_libraries_read_file(int fd, struct buf *bytes)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || status.st_size <= 0 ||
        status.st_size > SHARED_LIBRARIES_MAX_CLOSED)
        return -1;
    for (size_t size = (size_t)status.st_size; bytes->len < size;) {
        size_t left = size - bytes->len;
        ssize_t n = pread(fd, buf_reserve(bytes, left), left, (off_t)bytes->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        buf_added(bytes, (size_t)n);
    }
    return 0;
}

/* But for the libraries of its libraries. */
static bool is_closed(int fd, const struct elf_info *elf)
{
    struct buf bytes = BUF_INIT;
    struct stat preload;
    if (!elf->interpreter || !is_closed_library(elf->interpreter) || !elf->nneeded || elf->helpers)
        return false;
    /* ld.so(8): this machine loads something into every program */
    if (stat("/etc/ld.so.preload", &preload) == 0 && preload.st_size > 0)
        return false;
    for (size_t i = 0; i < elf->nneeded; i++) /* most programs are told by these: nothing is read */
        if (!is_closed_library(elf->needed[i]))
            return false;
    bool closed = shared_libraries_read_file(fd, &bytes) == 0 &&
                  !imports_gate(&bytes, &elf->names) &&
                  !has_text(buf_bytes(&bytes), bytes.len, "PMIX");
    buf_free(&bytes);
    return closed;
}

/* ---- the program ---- */

/* "#! INTERPRETER [ARGUMENT]"; without it, a shell's text. */
static void read_script(struct shared_libraries *linkage, const char *line, const char *directory)
{
    linkage->kind = SHARED_LIBRARIES_SCRIPT;
    linkage->loader = mem_copy_text("/bin/sh");
    if (strncmp(line, "#!", 2) != 0)
        return;
    line += 2 + strspn(line + 2, " \t");
    size_t len = strcspn(line, " \t\r\n");
    if (!len)
        return;
    free(linkage->loader);
    char *name = mem_copy_text_n(line, len);
    linkage->loader = absolute(name, directory);
    free(name);
}

static int read_program(struct shared_libraries *linkage, int fd,
                        const struct shared_libraries_source *source, struct error *err)
{
    char line[MAX_SCRIPT_LINE];
    struct elf_info elf = {0};
    ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
    line[n > 0 ? n : 0] = '\0';
    if (n < SELFMAG || memcmp(line, ELFMAG, SELFMAG) != 0) {
        read_script(linkage, line, source->directory);
    } else {
        if (elf_file_read(fd, &elf, err) < 0)
            return error_prefix(err, "%s", linkage->path);
        linkage->kind =
            elf.interpreter || elf.nneeded ? SHARED_LIBRARIES_DYNAMIC : SHARED_LIBRARIES_STATIC;
        linkage->loader = elf.interpreter ? absolute(elf.interpreter, source->directory) : NULL;
        linkage->foreign =
            !elf_file_runs_here(&(struct elf_file_head){.bits = elf.bits, .machine = elf.machine});
    }
    linkage->loader_absent = linkage->loader && access(linkage->loader, X_OK) < 0;
    bool dynamic = linkage->kind == SHARED_LIBRARIES_DYNAMIC;
    linkage->closed = dynamic && !source->preloaded && is_closed(fd, &elf);
    if (dynamic && !(source->last && linkage->closed && needs_c_library_alone(&elf)))
        read_libraries(linkage, &elf, source);
    else
        elf_file_clear(&elf);
    for (size_t i = 0; i < linkage->count && linkage->closed; i++)
        linkage->closed = is_closed_library(linkage->libraries[i].name);
    linkage->closed = linkage->closed && !linkage->cut;
    return 0;
}

struct shared_libraries *shared_libraries_read(const struct shared_libraries_source *source,
                                               struct error *err)
{
    struct shared_libraries *linkage = mem_alloc(sizeof(*linkage));
    linkage->path = absolute(source->path, source->directory);
    int fd = elf_file_open(linkage->path);
    int rc = fd < 0 ? error_set(err, "%s cannot be read: %s", linkage->path,
                                errno == ENOEXEC ? "it is not a regular file" : strerror(errno))
                    : read_program(linkage, fd, source, err);
    if (fd >= 0)
        close(fd);
    if (rc == 0)
        return linkage;
    shared_libraries_free(linkage);
    return NULL;
}

void shared_libraries_free(struct shared_libraries *linkage)
{
    if (!linkage)
        return;
    for (size_t i = 0; i < linkage->count; i++) {
        free(linkage->libraries[i].name);
        free(linkage->libraries[i].path);
        free(linkage->libraries[i].fault);
    }
    free(linkage->libraries);
    free(linkage->loader);
    free(linkage->path);
    free(linkage);
}

bool library_missing(const struct library *library)
{
    return !library->path || library->fault;
}

size_t shared_libraries_missing(const struct shared_libraries *linkage)
{
    size_t count = linkage->loader_absent;
    for (size_t i = 0; i < linkage->count; i++)
        count += library_missing(&linkage->libraries[i]);
    return count;
}
