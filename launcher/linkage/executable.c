/* Why this host cannot execute a program: checked for each part before its tasks are started. */
#include "launcher/linkage/executable.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "launcher/linkage/elf_file.h"
#include "launcher/process/exec.h"

#define BINFMT_MISC "/proc/sys/fs/binfmt_misc"
#define HEAD 256      /* bytes of a file that the kernel looks at for its kind */
#define MAX_SCRIPTS 5 /* interpreters that are scripts themselves: as many as the kernel follows */
#define NOT_FOUND 127
#define NOT_EXECUTABLE 126

struct executable {
    const struct executable_source *source;
    char head[HEAD + 1];
    size_t len; /* of head */
};

static int executable_refuse(struct error *err, int status, char *why)
{
    error_set(err, "%s", why);
    free(why);
    return status;
}

/* What is needed to start it, and why that cannot be used. */
static int refuse_helper(struct error *err, const char *what, const char *path, int number)
{
    return number == ENOENT
               ? executable_refuse(err, NOT_FOUND, mem_format("its %s %s is not there", what, path))
               : executable_refuse(
                     err, NOT_EXECUTABLE,
                     mem_format("its %s %s cannot be used: %s", what, path, strerror(number)));
}

static char *whole_path(const struct executable_source *source, const char *path)
{
    return path[0] == '/' ? mem_copy_text(path) : mem_format("%s/%s", source->directory, path);
}

/* ---- binfmt_misc ---- */

/* The value behind a line's name in the text of a handler; NULL: there is none. */
static const char *handler_field(const char *text, const char *name)
{
    const char *at = text;
    size_t len = strlen(name);
    while (at && strncmp(at, name, len) != 0)
        at = (at = strchr(at, '\n')) ? at + 1 : NULL;
    return at ? at + len : NULL;
}

/* -1 at the end of the digits. */
static int hex_byte(const char *hex)
{
    char digits[3] = {0}, *end;
    memcpy(digits, hex, strnlen(hex, 2));
    long value = strtol(digits, &end, 16);
    return end == digits + 2 ? (int)value : -1;
}

static bool magic_matches(const char *text, const char *bytes, size_t len)
{
    const char *magic = handler_field(text, "magic "), *mask = handler_field(text, "mask ");
    const char *where = handler_field(text, "offset ");
    size_t at = where ? strtoul(where, NULL, 10) : 0;
    int byte, bits;
    if (!magic)
        return false;
    for (; (byte = hex_byte(magic)) >= 0; magic += 2, at++) {
        bits = mask && (bits = hex_byte(mask)) >= 0 ? bits : 0xff;
        mask += mask ? 2 : 0;
        if (at >= len || ((unsigned char)bytes[at] & bits) != (byte & bits))
            return false;
    }
    return true;
}

/* By the first bytes, or by the end of the name. */
static bool handler_takes(const char *file, const char *path, const char *bytes, size_t len)
{
    struct buf text = BUF_INIT;
    file_read(file, &text);
    const char *handler = buf_text(&text);
    const char *extension = handler_field(handler, "extension ."), *dot = strrchr(path, '.');
    size_t size = extension ? strcspn(extension, "\n") : 0;
    bool ends = size && dot && strlen(dot + 1) == size && strncmp(dot + 1, extension, size) == 0;
    bool takes =
        strncmp(handler, "enabled\n", 8) == 0 && (ends || magic_matches(handler, bytes, len));
    buf_free(&text);
    return takes;
}

bool executable_has_handler(const char *handlers, const char *path, const char *bytes, size_t len)
{
    DIR *all = opendir(handlers);
    bool takes = false;
    for (struct dirent *entry; all && !takes && (entry = readdir(all));) {
        if (entry->d_name[0] == '.')
            continue;
        char *file = mem_format("%s/%s", handlers, entry->d_name);
        takes = handler_takes(file, path, bytes, len);
        free(file);
    }
    if (all)
        closedir(all);
    return takes;
}

static bool has_handler(const struct executable *what, const char *path)
{
    const char *handlers = what->source->handlers;
    return executable_has_handler(handlers ? handlers : BINFMT_MISC, path, what->head, what->len);
}

/* ---- ELF ---- */

static int check_elf(const struct executable *what, int fd, const char *path, struct error *err)
{
    struct elf_file_head head;
    struct utsname here;
    int rc = 0;
    if (elf_file_read_head(fd, &head, err) < 0) {
        rc = NOT_EXECUTABLE;
    } else if (!elf_file_runs_here(&head)) {
        char *machine = elf_file_machine_name(&head);
        uname(&here);
        rc = executable_refuse(
            err, NOT_EXECUTABLE,
            mem_format("it is built for %s, this host is %s", machine, here.machine));
        free(machine);
    } else if (head.type != ET_EXEC && head.type != ET_DYN) {
        rc = executable_refuse(err, NOT_EXECUTABLE,
                               mem_format("an ELF file that is not a program (%s)",
                                          head.type == ET_REL    ? "an object file"
                                          : head.type == ET_CORE ? "a core dump"
                                                                 : "of an unknown type"));
    } else if (head.interpreter) {
        /* the file only has to be there: the kernel maps it */
        char *loader = whole_path(what->source, head.interpreter);
        if (access(loader, X_OK) < 0)
            rc = refuse_helper(err, "dynamic loader", head.interpreter, errno);
        free(loader);
    }
    free(head.interpreter);
    if (rc && has_handler(what, path)) {
        error_clear(err);
        rc = 0;
    }
    return rc;
}

/* ---- "#!" ---- */

static int check_file(const struct executable_source *source, const char *path, int scripts,
                      struct error *err);

/* The interpreter is a file, which is executed with the rest of the line. */
static int check_interpreter(const struct executable_source *source, const char *name, int scripts,
                             struct error *err)
{
    struct stat status;
    char *path = whole_path(source, name);
    int rc = 0;
    if (stat(path, &status) < 0)
        rc = refuse_helper(err, "interpreter", name, errno);
    else if (!S_ISREG(status.st_mode) || access(path, X_OK) < 0)
        rc = refuse_helper(err, "interpreter", name, EACCES);
    else if ((rc = check_file(source, path, scripts + 1, err)))
        error_prefix(err, "its interpreter %s", name);
    free(path);
    return rc;
}

static int check_script(const struct executable *what, int scripts, struct error *err)
{
    size_t len = strcspn(what->head, "\n");
    if (len == HEAD || scripts >= MAX_SCRIPTS) /* too long, or too deep: the kernel's to refuse */
        return 0;
    const char *at = what->head + 2 + strspn(what->head + 2, " \t");
    char *name = mem_copy_text_n(at, strcspn(at, " \t\n"));
    size_t end = strlen(name);
    /* env(1) looks for its first argument by name; others may strip what they are given */
    const char *slash = strrchr(name, '/');
    bool is_env = strcmp(slash ? slash + 1 : name, "env") == 0;
    int rc = 0;
    if (what->head[len - 1] == '\r' && (is_env || name[end ? end - 1 : 0] == '\r'))
        rc = executable_refuse(
            err, NOT_FOUND,
            mem_format("its first line \"%.*s\" ends with a carriage return (a text file of "
                       "Windows): remove them from it, with dos2unix for example",
                       (int)strcspn(what->head, "\r"), what->head));
    else if (*name)
        rc = check_interpreter(what->source, name, scripts, err);
    free(name);
    return rc;
}

/* ---- the program ---- */

/* What is neither ELF nor "#!" is given to a shell, unless its first line is not text. */
static int check_head(const struct executable *what, int fd, const char *path, int scripts,
                      struct error *err)
{
    if (what->len >= SELFMAG && memcmp(what->head, ELFMAG, SELFMAG) == 0)
        return check_elf(what, fd, path, err);
    if (what->len >= 2 && memcmp(what->head, "#!", 2) == 0)
        return check_script(what, scripts, err);
    size_t line = strcspn(what->head, "\n"); /* ends at a NUL, too */
    if (line < what->len && what->head[line] == '\0' && !has_handler(what, path))
        return executable_refuse(
            err, NOT_EXECUTABLE,
            mem_copy_text("neither an ELF file nor a script, but a binary file"));
    return 0;
}

static int check_file(const struct executable_source *source, const char *path, int scripts,
                      struct error *err)
{
    struct executable what = {.source = source};
    int fd = elf_file_open(path);
    if (fd < 0)
        return 0; /* it may be executed all the same */
    ssize_t n = pread(fd, what.head, HEAD, 0);
    what.len = n > 0 ? (size_t)n : 0;
    int rc = check_head(&what, fd, path, scripts, err);
    close(fd);
    return rc;
}

/* Other launchers, and shells with "." in PATH, run what is in the working directory without "./". */
static int check_found(const struct executable_source *source, struct error *err)
{
    const char *name = source->name, *slash = strchr(name, '/');
    bool there = errno == EACCES;
    struct stat found = {0};
    char *path = whole_path(source, name), *why = NULL;
    bool here = stat(path, &found) == 0 && access(path, X_OK) == 0;
    free(path);
    if (there)
        why = mem_copy_text(slash && S_ISDIR(found.st_mode)
                                ? "it is a directory"
                                : "found, but not executable (chmod +x makes it so)");
    else if (slash)
        why = mem_copy_text("no such file");
    else if (here && S_ISREG(found.st_mode))
        why = mem_format("not found along PATH; the one in the working directory is ./%s", name);
    else
        why = mem_copy_text("not found along PATH");
    return executable_refuse(err, there ? NOT_EXECUTABLE : NOT_FOUND, why);
}

int executable_check(const struct executable_source *source, char **path, struct error *err)
{
    char *directory = mem_format("%s/.", source->directory); /* which no file has */
    int entered = access(directory, X_OK);
    free(directory);
    *path = NULL;
    if (entered < 0) {
        error_set(err, "cannot enter directory %s: %s", source->directory, strerror(errno));
        return 1;
    }
    *path = exec_find(source->name, source->search, source->directory);
    char *whole = *path ? whole_path(source, *path) : NULL;
    int rc = whole ? check_file(source, whole, 0, err) : check_found(source, err);
    if (rc)
        error_prefix(err, "cannot run %s", source->name);
    free(whole);
    return rc;
}
