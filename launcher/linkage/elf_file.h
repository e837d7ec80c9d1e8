/*
 * elf_file - what an ELF file says about the libraries it needs (System V ABI, "Dynamic Linking").
 *
 * The file is anybody's: every offset, size and count is checked against bounds and against the
 * file, which is read in pieces and not mapped, so that a file that shrinks meanwhile is an error
 * and not a signal. 32 and 64 bits; this machine's byte order.
 */
#ifndef LAUNCHER_LINKAGE_ELF_FILE_H
#define LAUNCHER_LINKAGE_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define ELF_FILE_MAX_NAMES (64u << 10) /* bytes of all that is needed */
#define ELF_FILE_MAX_TEXT 4095         /* bytes of a name or of a list of directories */

struct elf_file_range { /* of the file: it may end before */
    uint64_t offset, size;
};

struct elf_info {
    int bits;          /* 32 or 64 */
    uint16_t machine;  /* EM_* */
    char *interpreter; /* the dynamic loader; NULL: none */
    char *soname;      /* of a library: the name that others need it by; NULL: none */
    char *rpath;       /* directories between colons, as they stand there; NULL: none */
    char *runpath;
    char **needed;
    size_t nneeded;
    bool helpers; /* it has others loaded that it does not need: DT_AUDIT and the like */
    struct elf_file_range names; /* all that it is linked by, one after the other; size 0: none */
};

/* 0, or -1 with what it is instead: "an ELF file whose headers are cut off or wrong". *elf may be
 * anything before, and is to be cleared after 0 only. Where the descriptor stands does not matter,
 * and does not change. */
int elf_file_read(int fd, struct elf_info *elf, struct error *err);
void elf_file_clear(struct elf_info *elf);

/* What the kernel looks at before it executes a file. */
struct elf_file_head {
    int bits;          /* 32 or 64 */
    bool other_order;  /* for machines of the other byte order: no interpreter was read */
    uint16_t type;     /* ET_* */
    uint16_t machine;  /* EM_* */
    char *interpreter; /* caller frees; NULL: none */
};

/* As elf_file_read(), of the head alone; also of what is for another machine. */
int elf_file_read_head(int fd, struct elf_file_head *head, struct error *err);
/* This machine's kernel executes such files, as far as the kind of processor goes. */
bool elf_file_runs_here(const struct elf_file_head *head);
/* "x86_64", "aarch64", as uname(1) has it; caller frees. */
char *elf_file_machine_name(const struct elf_file_head *head);

/* Open for reading what is a regular file: nothing that could block or act. -1 with errno, which is
 * ENOEXEC for what is none. */
int elf_file_open(const char *path);

/* Whether programs of this machine may load it: same class and machine. */
bool elf_file_fits(const struct elf_info *elf, const struct elf_info *program);

#endif
