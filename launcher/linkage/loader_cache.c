/* Entries of ld.so.cache, for the search for one library and for those of the MPI ABI. */
#include "launcher/linkage/loader_cache.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "launcher/linkage/elf_file.h"

#define MAX_CACHE (32u << 20)

const char *const loader_directories[LOADER_NDIRECTORIES] = {"/lib64", "/usr/lib64", "/lib",
                                                             "/usr/lib"};

/* What glibc's ldconfig writes (sysdeps/generic/dl-cache.h), by the machine's own byte order. */
static const char old_magic[] = "ld.so-1.7.0";
static const char magic[] = "glibc-ld.so.cache1.1";

struct header {
    char magic[20];
    uint32_t count;
    uint32_t text_size;
    uint32_t unused[5];
};

struct entry {
    int32_t flags;
    uint32_t name, path; /* offsets from the header */
    uint32_t os_version;
    uint32_t capabilities[2];
};

enum { OLD_HEADER = 16, OLD_ENTRY = 12, OLD_ALIGN = 8 };

static size_t skip_old(const struct buf *bytes)
{
    uint32_t count;
    if (bytes->len < OLD_HEADER || memcmp(buf_bytes(bytes), old_magic, sizeof(old_magic) - 1) != 0)
        return 0;
    memcpy(&count, buf_bytes(bytes) + OLD_HEADER - sizeof(count), sizeof(count));
    size_t end = OLD_HEADER + (size_t)count * OLD_ENTRY;
    return (end + OLD_ALIGN - 1) / OLD_ALIGN * OLD_ALIGN;
}

void loader_cache_take(struct loader_cache *cache, struct buf *bytes)
{
    struct header header;
    *cache = (struct loader_cache){.bytes = *bytes};
    *bytes = (struct buf)BUF_INIT;
    size_t start = skip_old(&cache->bytes), len = cache->bytes.len;
    if (start > len || len - start < sizeof(header))
        return;
    memcpy(&header, buf_bytes(&cache->bytes) + start, sizeof(header));
    if (memcmp(header.magic, magic, sizeof(header.magic)) != 0 ||
        header.count > (len - start - sizeof(header)) / sizeof(struct entry))
        return;
    cache->start = start;
    cache->count = header.count;
}

void loader_cache_open(struct loader_cache *cache, const char *path)
{
    struct buf bytes = BUF_INIT;
    int fd = elf_file_open(path);
    off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    if (size > 0 && size <= MAX_CACHE) {
        ssize_t n = pread(fd, buf_reserve(&bytes, (size_t)size), (size_t)size, 0);
        buf_added(&bytes, n > 0 ? (size_t)n : 0);
    }
    if (fd >= 0)
        close(fd);
    loader_cache_take(cache, &bytes);
}

void loader_cache_clear(struct loader_cache *cache)
{
    buf_free(&cache->bytes);
    *cache = (struct loader_cache){.bytes = BUF_INIT};
}

/* Behind the bytes stands a NUL, so that every text ends. */
static const char *loader_cache_text_at(const struct loader_cache *cache, uint32_t offset)
{
    size_t room = cache->bytes.len - cache->start;
    return offset < room ? buf_bytes(&cache->bytes) + cache->start + offset : "";
}

const char *loader_cache_find(const struct loader_cache *cache, const char *name, uint32_t *at)
{
    struct entry entry;
    while (*at < cache->count) {
        memcpy(&entry,
               buf_bytes(&cache->bytes) + cache->start + sizeof(struct header) +
                   (size_t)(*at)++ * sizeof(entry),
               sizeof(entry));
        const char *path = loader_cache_text_at(cache, entry.path);
        if (path[0] == '/' && (!name || strcmp(loader_cache_text_at(cache, entry.name), name) == 0))
            return path;
    }
    return NULL;
}
