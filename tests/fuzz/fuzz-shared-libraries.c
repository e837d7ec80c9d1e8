/* Any bytes as an ELF file and as the loader's cache: refused in words, or names and paths that end
 * within bounds; the first byte says which. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launcher/linkage/elf_file.h"
#include "launcher/linkage/loader_cache.h"
#include "launcher/linkage/shared_libraries.h"
#include "tests/fuzz/fuzz.h"

static void check_text(const char *text)
{
    if (text && strlen(text) > ELF_FILE_MAX_TEXT)
        abort();
}

/* What cannot be told is bounded by the file; libraries are looked up by their names. */
static void check_linkage(int fd)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    shared_libraries_free(shared_libraries_read(
        &(struct shared_libraries_source){.path = path, .directory = "/", .cache = "/dev/null"},
        NULL));
}

static void check_elf(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct error err = ERROR_INIT;
    struct elf_info elf;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        return;
    if (elf_file_read(fd, &elf, &err) == 0) {
        check_text(elf.interpreter);
        check_text(elf.soname);
        check_text(elf.rpath);
        check_text(elf.runpath);
        for (size_t i = 0; i < elf.nneeded; i++)
            check_text(elf.needed[i]);
        elf_file_clear(&elf);
        check_linkage(fd);
    } else if (!err.text) {
        abort();
    }
    error_clear(&err);
}

static void check_cache(const uint8_t *data, size_t size)
{
    struct loader_cache cache;
    struct buf bytes = BUF_INIT;
    uint32_t at = 0;
    buf_add(&bytes, data, size);
    loader_cache_take(&cache, &bytes);
    const char *path, *end = buf_bytes(&cache.bytes) + cache.bytes.len;
    while ((path = loader_cache_find(&cache, "liba.so", &at)))
        if (path[0] != '/' || path + strlen(path) > end)
            abort();
    loader_cache_clear(&cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && data[0] == 127)
        check_elf(data, size);
    else if (size)
        check_cache(data, size);
    return 0;
}
