/* ELF files to be read: a header, three program headers, a dynamic section, its strings. */
#ifndef TESTS_UNIT_ELF_FILE_H
#define TESTS_UNIT_ELF_FILE_H

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

#define ELF_FILE_NEEDS 8
#define ELF_FILE_BASE 0x10000 /* address that the file is loaded at */

struct elf_file {
    int bits; /* 0: 64 */
    const char *needs[ELF_FILE_NEEDS + 1];
    const char *rpath, *runpath, *interpreter;
    const char *imports; /* names that it is linked by, in one text */
    const char *code;    /* the rest of the file */
    size_t ncode;        /* 0: it is a text */
    size_t missing;      /* bytes of names that are told of beyond the file */
    uint64_t helper;     /* DT_AUDIT and the like */
    const char *soname;
};

#if defined(__x86_64__)
#define ELF_FILE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define ELF_FILE_MACHINE EM_AARCH64
#else
#define ELF_FILE_MACHINE EM_NONE
#endif

struct elf_entry {
    uint64_t tag, value;
};

static inline uint64_t elf_file_text(struct buf *strings, const char *text)
{
    uint64_t at = strings->len;
    buf_add(strings, text, strlen(text) + 1);
    return at;
}

static inline size_t elf_file_entries(const struct elf_file *file, struct elf_entry *entries,
                                      struct buf *strings)
{
    size_t n = 0;
    buf_add_char(strings, '\0');
    for (size_t i = 0; file->needs[i]; i++)
        entries[n++] = (struct elf_entry){DT_NEEDED, elf_file_text(strings, file->needs[i])};
    if (file->rpath)
        entries[n++] = (struct elf_entry){DT_RPATH, elf_file_text(strings, file->rpath)};
    if (file->runpath)
        entries[n++] = (struct elf_entry){DT_RUNPATH, elf_file_text(strings, file->runpath)};
    if (file->soname)
        entries[n++] = (struct elf_entry){DT_SONAME, elf_file_text(strings, file->soname)};
    if (file->helper)
        entries[n++] = (struct elf_entry){file->helper, elf_file_text(strings, "libhelper.so")};
    if (file->imports)
        elf_file_text(strings, file->imports);
    return n;
}

/* The whole file. */
static inline void elf_file_make(const struct elf_file *file, struct buf *out)
{
    struct elf_entry entries[ELF_FILE_NEEDS + 7];
    struct buf strings = BUF_INIT;
    const int wide = file->bits != 32;
    const uint64_t head = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    const uint64_t program = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    const uint64_t size = wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
    const unsigned headers = file->interpreter ? 3 : 2;
    size_t n = elf_file_entries(file, entries, &strings);
    const uint64_t interp =
        file->interpreter ? elf_file_text(&strings, file->interpreter) : strings.len;
    const uint64_t dynamic = head + headers * program, text = dynamic + (n + 3) * size;
    entries[n++] = (struct elf_entry){DT_STRTAB, ELF_FILE_BASE + text};
    entries[n++] = (struct elf_entry){DT_STRSZ, strings.len + file->missing};
    entries[n++] = (struct elf_entry){DT_NULL, 0};
    const size_t ncode = file->ncode ? file->ncode : file->code ? strlen(file->code) : 0;
    const uint64_t segments[3][3] = {
        {PT_LOAD, 0, text + strings.len + ncode + file->missing},
        {PT_DYNAMIC, dynamic, n * size},
        {PT_INTERP, text + interp, strings.len - interp},
    };
    if (wide) {
        Elf64_Ehdr ehdr = {.e_type = ET_DYN,
                           .e_machine = ELF_FILE_MACHINE,
                           .e_phoff = head,
                           .e_phentsize = sizeof(Elf64_Phdr),
                           .e_phnum = (uint16_t)headers};
        memcpy(ehdr.e_ident, ELFMAG "\2\1\1", 7);
        buf_add(out, &ehdr, sizeof(ehdr));
        for (unsigned i = 0; i < headers; i++) {
            Elf64_Phdr phdr = {.p_type = (uint32_t)segments[i][0],
                               .p_flags = PF_R,
                               .p_offset = segments[i][1],
                               .p_vaddr = ELF_FILE_BASE + segments[i][1],
                               .p_filesz = segments[i][2],
                               .p_memsz = segments[i][2]};
            buf_add(out, &phdr, sizeof(phdr));
        }
    } else {
        Elf32_Ehdr ehdr = {.e_type = ET_DYN,
                           .e_machine = EM_386,
                           .e_phoff = (uint32_t)head,
                           .e_phentsize = sizeof(Elf32_Phdr),
                           .e_phnum = (uint16_t)headers};
        memcpy(ehdr.e_ident, ELFMAG "\1\1\1", 7);
        buf_add(out, &ehdr, sizeof(ehdr));
        for (unsigned i = 0; i < headers; i++) {
            Elf32_Phdr phdr = {.p_type = (uint32_t)segments[i][0],
                               .p_flags = PF_R,
                               .p_offset = (uint32_t)segments[i][1],
                               .p_vaddr = (uint32_t)(ELF_FILE_BASE + segments[i][1]),
                               .p_filesz = (uint32_t)segments[i][2]};
            buf_add(out, &phdr, sizeof(phdr));
        }
    }
    for (size_t i = 0; i < n; i++) {
        Elf64_Dyn entry = {.d_tag = (int64_t)entries[i].tag, .d_un.d_val = entries[i].value};
        Elf32_Dyn narrow = {.d_tag = (int32_t)entries[i].tag,
                            .d_un.d_val = (uint32_t)entries[i].value};
        buf_add(out, wide ? (const void *)&entry : &narrow, size);
    }
    buf_add(out, buf_bytes(&strings), strings.len);
    if (ncode)
        buf_add(out, file->code, ncode);
    buf_free(&strings);
}

static inline void elf_file_put(const char *path, const struct buf *bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (fd < 0 || write(fd, buf_bytes(bytes), bytes->len) != (ssize_t)bytes->len)
        abort();
    close(fd);
}

static inline void elf_file_write(const char *path, const struct elf_file *file)
{
    struct buf bytes = BUF_INIT;
    elf_file_make(file, &bytes);
    elf_file_put(path, &bytes);
    buf_free(&bytes);
}

#endif
