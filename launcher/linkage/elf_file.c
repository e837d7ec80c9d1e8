/* Headers and the dynamic section of an ELF file, each read with a bound. */
#include "launcher/linkage/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"

#define MAX_HEADERS 512          /* program headers */
#define MAX_DYNAMIC (256u << 10) /* bytes of the dynamic section */

/* The same for both classes. */
struct segment {
    uint32_t type;
    uint64_t offset, address, size; /* size: in the file */
};

struct entry {
    uint64_t tag, value;
};

struct file {
    int fd;
    int bits;
    struct segment *segments;
    size_t nsegments;
    struct entry *entries;
    size_t nentries;
    uint64_t strings, strings_size; /* in the file */
};

/* All of it, or -1. */
static int file_at(const struct file *file, uint64_t offset, void *bytes, size_t len)
{
    char *to = bytes;
    if (offset > INT64_MAX - len)
        return -1;
    while (len) {
        ssize_t n = pread(file->fd, to, len, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        to += n;
        offset += (uint64_t)n;
        len -= (size_t)n;
    }
    return 0;
}

/* The text that begins there and ends within `room` bytes; NULL where it does not. */
static char *file_text_at(const struct file *file, uint64_t offset, uint64_t room)
{
    char text[ELF_FILE_MAX_TEXT + 1];
    if (offset > INT64_MAX - sizeof(text))
        return NULL;
    size_t most = room < sizeof(text) ? (size_t)room : sizeof(text);
    ssize_t n = pread(file->fd, text, most, (off_t)offset);
    if (n <= 0 || !memchr(text, '\0', (size_t)n))
        return NULL;
    return mem_copy_text(text);
}

/* ---- the header ---- */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

static int read_ident(struct file *file, bool *other_order, struct error *err)
{
    unsigned char ident[EI_NIDENT];
    if (file_at(file, 0, ident, sizeof(ident)) < 0 || memcmp(ident, ELFMAG, SELFMAG) != 0)
        return error_set(err, "not an ELF file");
    if (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64)
        return error_set(err, "an ELF file of an unknown class (%u)", ident[EI_CLASS]);
    if (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB)
        return error_set(err, "an ELF file of an unknown byte order (%u)", ident[EI_DATA]);
    *other_order = ident[EI_DATA] != OWN_ORDER;
    file->bits = ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    return 0;
}

struct headers {
    uint64_t offset;
    size_t size, count; /* of a header; how many */
    uint16_t machine;
};

static int read_header(const struct file *file, struct headers *headers)
{
    if (file->bits == 64) {
        Elf64_Ehdr head;
        if (file_at(file, 0, &head, sizeof(head)) < 0)
            return -1;
        *headers = (struct headers){head.e_phoff, head.e_phentsize, head.e_phnum, head.e_machine};
        return headers->size == sizeof(Elf64_Phdr) || !headers->count ? 0 : -1;
    }
    Elf32_Ehdr head;
    if (file_at(file, 0, &head, sizeof(head)) < 0)
        return -1;
    *headers = (struct headers){head.e_phoff, head.e_phentsize, head.e_phnum, head.e_machine};
    return headers->size == sizeof(Elf32_Phdr) || !headers->count ? 0 : -1;
}

static int read_segments(struct file *file, const struct headers *headers)
{
    if (!headers->count)
        return 0;
    if (headers->count > MAX_HEADERS)
        return -1;
    char *bytes = mem_array(headers->count, headers->size);
    int rc = file_at(file, headers->offset, bytes, headers->count * headers->size);
    file->segments = mem_array(headers->count, sizeof(*file->segments));
    for (size_t i = 0; rc == 0 && i < headers->count; i++) {
        const Elf64_Phdr *wide = (const void *)(bytes + i * headers->size);
        const Elf32_Phdr *narrow = (const void *)(bytes + i * headers->size);
        file->segments[file->nsegments++] =
            file->bits == 64
                ? (struct segment){wide->p_type, wide->p_offset, wide->p_vaddr, wide->p_filesz}
                : (struct segment){narrow->p_type, narrow->p_offset, narrow->p_vaddr,
                                   narrow->p_filesz};
    }
    free(bytes);
    return rc;
}

static const struct segment *find_segment(const struct file *file, uint32_t type)
{
    for (size_t i = 0; i < file->nsegments; i++)
        if (file->segments[i].type == type)
            return &file->segments[i];
    return NULL;
}

/* ---- the dynamic section ---- */

static int read_entries(struct file *file, const struct segment *dynamic)
{
    size_t size = file->bits == 64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
    if (dynamic->size > MAX_DYNAMIC)
        return -1;
    size_t count = (size_t)dynamic->size / size;
    char *bytes = mem_array(count, size);
    int rc = file_at(file, dynamic->offset, bytes, count * size);
    file->entries = mem_array(count, sizeof(*file->entries));
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const Elf64_Dyn *wide = (const void *)(bytes + i * size);
        const Elf32_Dyn *narrow = (const void *)(bytes + i * size);
        struct entry entry =
            file->bits == 64 ? (struct entry){(uint64_t)wide->d_tag, wide->d_un.d_val}
                             : (struct entry){(uint64_t)(int64_t)narrow->d_tag, narrow->d_un.d_val};
        if (entry.tag == DT_NULL)
            break;
        file->entries[file->nentries++] = entry;
    }
    free(bytes);
    return rc;
}

static bool find_entry(const struct file *file, uint64_t tag, uint64_t *value)
{
    for (size_t i = 0; i < file->nentries; i++) {
        if (file->entries[i].tag == tag) {
            *value = file->entries[i].value;
            return true;
        }
    }
    return false;
}

/* The table of strings is told by its address once loaded. */
static int find_strings(struct file *file)
{
    uint64_t address;
    if (!find_entry(file, DT_STRTAB, &address) || !find_entry(file, DT_STRSZ, &file->strings_size))
        return -1;
    for (size_t i = 0; i < file->nsegments; i++) {
        const struct segment *at = &file->segments[i];
        if (at->type != PT_LOAD || address < at->address || address - at->address >= at->size)
            continue;
        uint64_t within = address - at->address;
        if (at->offset > INT64_MAX - within || file->strings_size > at->size - within)
            return -1;
        file->strings = at->offset + within;
        return 0;
    }
    return -1;
}

static char *entry_text(const struct file *file, uint64_t value)
{
    if (value >= file->strings_size)
        return NULL;
    return file_text_at(file, file->strings + value, file->strings_size - value);
}

static int read_needed(const struct file *file, struct elf_info *elf)
{
    size_t total = 0;
    for (size_t i = 0; i < file->nentries; i++) {
        if (file->entries[i].tag != DT_NEEDED)
            continue;
        char *name = entry_text(file, file->entries[i].value);
        total += name ? strlen(name) + 1 : 0;
        if (!name || !name[0] || total > ELF_FILE_MAX_NAMES) {
            free(name);
            return -1;
        }
        elf->needed = array_grow(elf->needed, elf->nneeded, sizeof(*elf->needed));
        elf->needed[elf->nneeded++] = name;
    }
    return 0;
}

static int read_dynamic(struct file *file, struct elf_info *elf)
{
    const struct segment *dynamic = find_segment(file, PT_DYNAMIC);
    uint64_t value;
    if (!dynamic)
        return 0;
    if (read_entries(file, dynamic) < 0)
        return -1;
    if (!find_entry(file, DT_NEEDED, &value) && !find_entry(file, DT_SONAME, &value) &&
        !find_entry(file, DT_RPATH, &value) && !find_entry(file, DT_RUNPATH, &value))
        return 0;
    if (find_strings(file) < 0)
        return -1;
    if (find_entry(file, DT_SONAME, &value) && !(elf->soname = entry_text(file, value)))
        return -1;
    if (find_entry(file, DT_RPATH, &value) && !(elf->rpath = entry_text(file, value)))
        return -1;
    if (find_entry(file, DT_RUNPATH, &value) && !(elf->runpath = entry_text(file, value)))
        return -1;
    elf->helpers = find_entry(file, DT_AUDIT, &value) || find_entry(file, DT_DEPAUDIT, &value) ||
                   find_entry(file, DT_AUXILIARY, &value) || find_entry(file, DT_FILTER, &value);
    elf->names = (struct elf_file_range){file->strings, file->strings_size};
    return read_needed(file, elf);
}

/* ---- the whole ---- */

/* *interpreter stays as it is where there is none. */
static int read_interpreter(const struct file *file, char **interpreter)
{
    const struct segment *segment = find_segment(file, PT_INTERP);
    if (segment && !(*interpreter = file_text_at(file, segment->offset, segment->size)))
        return -1;
    return 0;
}

static int elf_file_read_all(struct file *file, struct elf_info *elf, struct error *err)
{
    struct headers headers;
    bool other_order = false;
    if (read_ident(file, &other_order, err) < 0)
        return -1;
    if (other_order)
        return error_set(err, "an ELF file for a machine of another byte order");
    elf->bits = file->bits;
    if (read_header(file, &headers) < 0 || read_segments(file, &headers) < 0)
        return error_set(err, "an ELF file whose headers are cut off or wrong");
    elf->machine = headers.machine;
    if (read_interpreter(file, &elf->interpreter) < 0 || read_dynamic(file, elf) < 0)
        return error_set(err, "an ELF file whose dynamic section is cut off or wrong");
    return 0;
}

int elf_file_read(int fd, struct elf_info *elf, struct error *err)
{
    struct file file = {.fd = fd};
    memset(elf, 0, sizeof(*elf));
    int rc = elf_file_read_all(&file, elf, err);
    if (rc < 0)
        elf_file_clear(elf);
    free(file.segments);
    free(file.entries);
    return rc;
}

/* ---- the head ---- */

int elf_file_read_head(int fd, struct elf_file_head *head, struct error *err)
{
    struct file file = {.fd = fd};
    struct headers headers;
    uint16_t kind[2]; /* type and machine, which stand at the same place in both classes */
    *head = (struct elf_file_head){0};
    if (read_ident(&file, &head->other_order, err) < 0)
        return -1;
    head->bits = file.bits;
    int rc = file_at(&file, EI_NIDENT, kind, sizeof(kind));
    if (rc == 0) {
        head->type = head->other_order ? __builtin_bswap16(kind[0]) : kind[0];
        head->machine = head->other_order ? __builtin_bswap16(kind[1]) : kind[1];
    }
    if (rc == 0 && !head->other_order)
        rc = read_header(&file, &headers) < 0 || read_segments(&file, &headers) < 0 ||
                     read_interpreter(&file, &head->interpreter) < 0
                 ? -1
                 : 0;
    free(file.segments);
    return rc < 0 ? error_set(err, "an ELF file whose headers are cut off or wrong") : 0;
}

#if __SIZEOF_POINTER__ == 8
#define OWN_BITS 64
#else
#define OWN_BITS 32
#endif

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__i386__)
#define OWN_MACHINE EM_386
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#elif defined(__arm__)
#define OWN_MACHINE EM_ARM
#elif defined(__powerpc64__)
#define OWN_MACHINE EM_PPC64
#elif defined(__s390x__)
#define OWN_MACHINE EM_S390
#elif defined(__riscv)
#define OWN_MACHINE EM_RISCV
#else
#define OWN_MACHINE EM_NONE /* not known: the kernel is left to judge */
#endif

bool elf_file_runs_here(const struct elf_file_head *head)
{
    static const uint16_t also[][2] = {
        {EM_X86_64, EM_386}, {EM_AARCH64, EM_ARM}, {EM_PPC64, EM_PPC}};
    if (head->other_order)
        return false;
    if (OWN_MACHINE == EM_NONE || head->machine == OWN_MACHINE)
        return head->bits <= OWN_BITS;
    for (size_t i = 0; i < sizeof(also) / sizeof(also[0]); i++)
        if (also[i][0] == OWN_MACHINE && also[i][1] == head->machine)
            return true;
    return false;
}

char *elf_file_machine_name(const struct elf_file_head *head)
{
    static const struct {
        uint16_t machine;
        const char *little, *big;
    } names[] = {{EM_X86_64, "x86_64", NULL},    {EM_386, "i386", NULL},
                 {EM_AARCH64, "aarch64", NULL},  {EM_ARM, "arm", NULL},
                 {EM_PPC64, "ppc64le", "ppc64"}, {EM_PPC, NULL, "ppc"},
                 {EM_S390, NULL, "s390x"},       {EM_RISCV, "riscv64", NULL},
                 {EM_MIPS, "mipsel", "mips"},    {EM_SPARCV9, NULL, "sparc64"},
                 {EM_IA_64, "ia64", NULL},       {258, "loongarch64", NULL}};
    bool little = head->other_order != (OWN_ORDER == ELFDATA2LSB);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *name = little ? names[i].little : names[i].big;
        if (names[i].machine == head->machine && name)
            return mem_copy_text(name);
    }
    return mem_format("another kind of machine (ELF number %u)", head->machine);
}

void elf_file_clear(struct elf_info *elf)
{
    for (size_t i = 0; i < elf->nneeded; i++)
        free(elf->needed[i]);
    free(elf->needed);
    free(elf->interpreter);
    free(elf->soname);
    free(elf->rpath);
    free(elf->runpath);
    memset(elf, 0, sizeof(*elf));
}

int elf_file_open(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return fd;
    close(fd);
    errno = ENOEXEC;
    return -1;
}

bool elf_file_fits(const struct elf_info *elf, const struct elf_info *program)
{
    return elf->bits == program->bits && elf->machine == program->machine;
}
