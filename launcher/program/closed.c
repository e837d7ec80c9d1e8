#include "launcher/program/closed.h"

#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

/* Names of asked-for libraries, fnmatch(3). What is not here may open others: libomp its tools,
 * libdl anything. */
static const char *const libraries[] = {
    "libc.so.6",        "libm.so.6",     "libmvec.so.1",   "libpthread.so.0",
    "librt.so.1",       "libgcc_s.so.1", "libstdc++.so.6", "libgfortran.so.[3-9]",
    "libquadmath.so.0", "libgomp.so.1",  "libatomic.so.1", "ld-linux*.so.*",
};

/* In no name that is linked by: more names than those of today are meant (pidfd_spawn(), the
 * runtime of Fortran's execute_command_line), and one too many only costs. */
static const char *const gates[] = {
    "exec",  "spawn",  "system", "popen",   "proc_open", "dlopen",  "dlmopen",
    "dlsym", "dlvsym", "clone",  "syscall", "wordexp",   "environ", "getenv",
};

static bool has_text(const char *bytes, size_t len, const char *text)
{
    return memmem(bytes, len, text, strlen(text));
}

/* ---- calls of the kernel ---- */

/* "syscall" and "int 0x80", wherever these bytes are. */
static bool x86_calls(const unsigned char *code, size_t len)
{
    for (size_t i = 0; i + 1 < len; i++)
        if ((code[i] == 0x0f && code[i + 1] == 0x05) || (code[i] == 0xcd && code[i + 1] == 0x80))
            return true;
    return false;
}

/* "svc #N". */
static bool arm_calls(const unsigned char *code, size_t len)
{
    uint32_t word;
    for (size_t i = 0; i + sizeof(word) <= len; i += sizeof(word)) {
        memcpy(&word, code + i, sizeof(word));
        if ((word & 0xffe0001f) == 0xd4000001)
            return true;
    }
    return false;
}

static const struct machine {
    uint16_t number; /* EM_* */
    bool (*calls)(const unsigned char *code, size_t len);
} machines[] = {{EM_X86_64, x86_calls}, {EM_AARCH64, arm_calls}};

static const struct machine *machine_of(const struct elf *elf)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i].number == elf->machine && elf->bits == 64)
            return &machines[i];
    return NULL;
}

/* ---- the file ---- */

static int read_file(int fd, struct buf *bytes)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || status.st_size <= 0 || status.st_size > CLOSED_MAX_FILE)
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

/* NULL where the file does not have all of it. */
static const char *range_in(const struct buf *bytes, const struct elf_range *range)
{
    if (range->offset > bytes->len || range->size > bytes->len - range->offset)
        return NULL;
    return buf_bytes(bytes) + range->offset;
}

static bool imports_no_gate(const struct buf *bytes, const struct elf *elf)
{
    const char *names = range_in(bytes, &elf->names);
    if (!names || !elf->names.size)
        return false;
    for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++)
        if (has_text(names, elf->names.size, gates[i]))
            return false;
    return true;
}

static bool calls_no_kernel(const struct buf *bytes, const struct elf *elf,
                            const struct machine *machine)
{
    for (size_t i = 0; i < elf->ncode; i++) {
        const char *code = range_in(bytes, &elf->code[i]);
        if (!code || machine->calls((const unsigned char *)code, elf->code[i].size))
            return false;
    }
    return elf->ncode;
}

static bool needs_nothing_else(const struct elf *elf)
{
    for (size_t i = 0; i < elf->nneeded; i++)
        if (!closed_library(elf->needed[i]))
            return false;
    return elf->nneeded && elf->interpreter && closed_library(elf->interpreter) && !elf->helpers;
}

bool closed_library(const char *name)
{
    const char *slash = strrchr(name, '/');
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
        if (fnmatch(libraries[i], slash ? slash + 1 : name, 0) == 0)
            return true;
    return false;
}

bool closed_preloads(void)
{
    struct stat status;
    return stat("/etc/ld.so.preload", &status) == 0 && status.st_size > 0;
}

bool closed_program(int fd, const struct elf *elf)
{
    const struct machine *machine = machine_of(elf);
    struct buf bytes = BUF_INIT;
    if (!machine || !needs_nothing_else(elf))
        return false;
    bool closed = read_file(fd, &bytes) == 0 && imports_no_gate(&bytes, elf) &&
                  !has_text(buf_bytes(&bytes), bytes.len, "PMIX") &&
                  calls_no_kernel(&bytes, elf, machine);
    buf_free(&bytes);
    return closed;
}
