#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "launcher/linkage/elf_file.h"
#include "launcher/linkage/loader_cache.h"
#include "launcher/linkage/shared_libraries.h"
#include "tests/unit/elf-file.h"
#include "tests/unit/scratch-root.h"
#include "tests/unit/unit.h"

static int make_root(void **state)
{
    (void)state;
    return root_make((const char *const[]){"a", "b", "c", "c/deep", "app", NULL});
}

static struct shared_libraries *link_of(const char *path, const char *library_path,
                                        struct error *err)
{
    struct shared_libraries_source source = {path, root, library_path, "/dev/null"};
    return shared_libraries_read(&source, err);
}

static const struct library *library(const struct shared_libraries *linkage, const char *name)
{
    for (size_t i = 0; i < linkage->count; i++)
        if (strcmp(linkage->libraries[i].name, name) == 0)
            return &linkage->libraries[i];
    return NULL;
}

/* Where it was found, without the root; "" where it was not. */
static const char *place(const struct shared_libraries *linkage, const char *name)
{
    const struct library *found = library(linkage, name);
    if (!found || !found->path)
        return "";
    return strncmp(found->path, root, strlen(root)) == 0 ? found->path + strlen(root) + 1
                                                         : found->path;
}

/* ---- real ones ---- */

static void test_the_libraries_of_a_real_program_are_found(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct shared_libraries_source source = {"/proc/self/exe", "/", NULL, NULL};
    struct shared_libraries *linkage = shared_libraries_read(&source, &err);
    assert_non_null(linkage);
    assert_int_equal(linkage->kind, SHARED_LIBRARIES_DYNAMIC);
    const struct library *libc = library(linkage, "libc.so.6");
    assert_non_null(libc);
    assert_int_equal(access(libc->path, R_OK), 0);
    assert_int_equal(shared_libraries_missing(linkage), 0);
    assert_false(linkage->foreign);
    shared_libraries_free(linkage);
}

/* ---- where they are looked for ---- */

static const struct {
    const char *what, *rpath, *runpath, *library_path, *place;
} orders[] = {
    {"nothing says where", NULL, NULL, NULL, ""},
    {"RPATH", "a", NULL, NULL, "a/libx.so"},
    {"RUNPATH", NULL, "b", NULL, "b/libx.so"},
    {"LD_LIBRARY_PATH", NULL, NULL, "c", "c/libx.so"},
    {"RPATH is before LD_LIBRARY_PATH", "a", NULL, "c", "a/libx.so"},
    {"LD_LIBRARY_PATH is before RUNPATH", NULL, "b", "c", "c/libx.so"},
    {"a RUNPATH undoes the RPATH", "a", "b", NULL, "b/libx.so"},
    {"the first of a list", NULL, NULL, "none:b:a", "b/libx.so"},
    {"semicolons in LD_LIBRARY_PATH", NULL, NULL, "none;a", "a/libx.so"},
    {"an empty element is the working directory", NULL, NULL, "none:", "libx.so"},
    {"$ORIGIN", "$ORIGIN/../b", NULL, NULL, "app/../b/libx.so"},
    {"${ORIGIN}", NULL, "${ORIGIN}/../c", NULL, "app/../c/libx.so"},
    {"what cannot be expanded is passed by", "$NOSUCH/a:a", NULL, NULL, "a/libx.so"},
    {"of another class is passed by", "c/deep:b", NULL, NULL, "b/libx.so"},
};

static void test_directories_are_looked_through_in_the_loaders_order(void **state)
{
    (void)state;
    const struct elf_file plain = {0}, narrow = {.bits = 32};
    elf_file_write("a/libx.so", &plain);
    elf_file_write("b/libx.so", &plain);
    elf_file_write("c/libx.so", &plain);
    elf_file_write("libx.so", &plain);
    elf_file_write("c/deep/libx.so", &narrow);
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        struct elf_file program = {
            .needs = {"libx.so"}, .rpath = orders[i].rpath, .runpath = orders[i].runpath};
        elf_file_write("app/order", &program);
        struct shared_libraries *linkage = link_of("app/order", orders[i].library_path, NULL);
        assert_non_null(linkage);
        if (strcmp(place(linkage, "libx.so"), orders[i].place) != 0)
            fail_msg("%s: %s, not %s", orders[i].what, place(linkage, "libx.so"), orders[i].place);
        assert_int_equal(shared_libraries_missing(linkage), orders[i].place[0] == '\0');
        shared_libraries_free(linkage);
    }
    unlink("libx.so");
}

static void test_an_rpath_is_for_what_libraries_need_too(void **state)
{
    (void)state;
    const struct elf_file plain = {0}, middle = {.needs = {"libz.so"}},
                          closed = {.needs = {"libz.so"}, .runpath = "none"},
                          program = {.needs = {"liby.so"}, .rpath = "c"};
    elf_file_write("c/libz.so", &plain);
    elf_file_write("c/liby.so", &middle);
    elf_file_write("app/inherits", &program);
    struct shared_libraries *linkage = link_of("app/inherits", NULL, NULL);
    assert_string_equal(place(linkage, "libz.so"), "c/libz.so");
    shared_libraries_free(linkage);
    /* of the program's two lists, its RUNPATH is for what it needs itself */
    const struct elf_file both = {.needs = {"liby.so"}, .rpath = "c", .runpath = "c"};
    elf_file_write("app/inherits", &both);
    linkage = link_of("app/inherits", NULL, NULL);
    assert_string_equal(place(linkage, "liby.so"), "c/liby.so");
    assert_string_equal(place(linkage, "libz.so"), "");
    shared_libraries_free(linkage);
    elf_file_write("app/inherits", &program);
    elf_file_write("c/liby.so", &closed);
    linkage = link_of("app/inherits", NULL, NULL);
    assert_string_equal(place(linkage, "libz.so"), "");
    shared_libraries_free(linkage);
}

static void test_what_is_missing_is_named_with_who_needs_it(void **state)
{
    (void)state;
    struct buf cut = BUF_INIT;
    const struct elf_file first = {.needs = {"libgone.so", "libm1.so"}},
                          program = {.needs = {"libm1.so", "./libcut.so", "/no/such"},
                                     .rpath = "a"};
    elf_file_write("a/libm1.so", &first);
    elf_file_make(&first, &cut);
    cut.len -= 20;
    elf_file_put("libcut.so", &cut);
    buf_free(&cut);
    elf_file_write("app/misses", &program);
    struct shared_libraries *linkage = link_of("app/misses", NULL, NULL);
    assert_int_equal(linkage->count, 4);
    assert_int_equal(shared_libraries_missing(linkage), 3);
    const struct library *gone = library(linkage, "libgone.so"),
                         *broken = library(linkage, "./libcut.so");
    assert_null(gone->path);
    assert_string_equal(linkage->libraries[gone->by].name, "libm1.so");
    assert_int_equal(broken->by, SHARED_LIBRARIES_MAX);
    assert_string_equal(broken->fault, "an ELF file whose dynamic section is cut off or wrong");
    shared_libraries_free(linkage);
}

static void test_libraries_that_need_each_other_are_read_once(void **state)
{
    (void)state;
    const struct elf_file self = {.needs = {"libl1.so", "libl2.so"}, .rpath = "a"},
                          other = {.needs = {"libl2.so", "libl1.so"}};
    elf_file_write("a/libl1.so", &self);
    elf_file_write("a/libl2.so", &other);
    elf_file_write("app/loops", &self);
    struct shared_libraries *linkage = link_of("app/loops", NULL, NULL);
    assert_int_equal(linkage->count, 2);
    assert_int_equal(shared_libraries_missing(linkage), 0);
    shared_libraries_free(linkage);
}

/* Each file needs two new ones. */
static void test_no_more_than_so_many_libraries_are_read(void **state)
{
    (void)state;
    for (int i = 0; i < SHARED_LIBRARIES_MAX + 10; i++) {
        char name[32], one[32], two[32];
        snprintf(name, sizeof(name), "b/libn%d.so", i);
        snprintf(one, sizeof(one), "libn%d.so", 2 * i + 1);
        snprintf(two, sizeof(two), "libn%d.so", 2 * i + 2);
        const struct elf_file file = {.needs = {one, two}};
        elf_file_write(name, &file);
    }
    const struct elf_file program = {.needs = {"libn0.so"}, .rpath = "b"};
    elf_file_write("app/many", &program);
    struct shared_libraries *linkage = link_of("app/many", NULL, NULL);
    assert_int_equal(linkage->count, SHARED_LIBRARIES_MAX);
    assert_true(linkage->cut);
    shared_libraries_free(linkage);
}

/* ---- kinds ---- */

static void write_text(const char *path, const char *text)
{
    struct buf bytes = BUF_INIT;
    buf_add_text(&bytes, text);
    elf_file_put(path, &bytes);
    buf_free(&bytes);
}

static const struct {
    const char *text, *loader;
    bool absent;
} scripts[] = {
    {"#!/bin/sh\n", "/bin/sh", false},
    {"#! /bin/sh -e\n", "/bin/sh", false},
    {"#!/bin/sh", "/bin/sh", false},
    {"#!/no/such/python\nx", "/no/such/python", true},
    {"#!\n", "/bin/sh", false},
    {"echo hello\n", "/bin/sh", false},
    {"", "/bin/sh", false},
    {"\177EL", "/bin/sh", false},
};

static void test_a_script_is_told_with_its_interpreter(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        write_text("app/script", scripts[i].text);
        struct shared_libraries *linkage = link_of("app/script", NULL, NULL);
        assert_int_equal(linkage->kind, SHARED_LIBRARIES_SCRIPT);
        assert_string_equal(linkage->loader, scripts[i].loader);
        assert_int_equal(shared_libraries_missing(linkage), scripts[i].absent);
        shared_libraries_free(linkage);
    }
}

static void test_a_program_is_static_or_has_a_loader(void **state)
{
    (void)state;
    const struct elf_file alone = {0}, loaded = {.interpreter = "/no/such/ld.so"},
                          relative = {.needs = {"ld.so"}, .interpreter = "ld.so"};
    elf_file_write("app/alone", &alone);
    struct shared_libraries *linkage = link_of("app/alone", NULL, NULL);
    assert_int_equal(linkage->kind, SHARED_LIBRARIES_STATIC);
    shared_libraries_free(linkage);
    elf_file_write("app/loaded", &loaded);
    linkage = link_of("app/loaded", NULL, NULL);
    assert_int_equal(linkage->kind, SHARED_LIBRARIES_DYNAMIC);
    assert_true(linkage->loader_absent);
    assert_int_equal(shared_libraries_missing(linkage), 1);
    shared_libraries_free(linkage);
    write_text("ld.so", "x");
    elf_file_write("app/relative", &relative);
    linkage = link_of("app/relative", NULL, NULL);
    assert_string_equal(place(linkage, "ld.so"), "ld.so");
    shared_libraries_free(linkage);
}

/* ---- what is no program ---- */

static void poke(struct buf *bytes, size_t at, uint64_t value, size_t size)
{
    memcpy(bytes->data + bytes->start + at, &value, size);
}

#define HEADER(member) offsetof(Elf64_Ehdr, member), sizeof(((Elf64_Ehdr *)0)->member)
#define SEGMENT(i, member)                                                                         \
    sizeof(Elf64_Ehdr) + (i) * sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, member),                  \
        sizeof(((Elf64_Phdr *)0)->member)
#define DYNAMIC(i, member)                                                                         \
    sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr) + (i) * sizeof(Elf64_Dyn) +                        \
        offsetof(Elf64_Dyn, member),                                                               \
        8

/* Of a program that needs liba.so (entry 0) and has an RPATH (1), DT_STRTAB (2), DT_STRSZ (3). */
static const struct {
    const char *what;
    size_t at, size;
    uint64_t value;
} bad[] = {
    {"class 0", EI_CLASS, 1, 0},
    {"class 9", EI_CLASS, 1, 9},
    {"another byte order", EI_DATA, 1, 3},
    {"program headers behind the end", HEADER(e_phoff), 1 << 20},
    {"program headers at the end of time", HEADER(e_phoff), UINT64_MAX},
    {"program headers that wrap", HEADER(e_phoff), UINT64_MAX - 8},
    {"very many program headers", HEADER(e_phnum), 0xffff},
    {"more program headers than there is file", HEADER(e_phnum), 500},
    {"headers of no size", HEADER(e_phentsize), 0},
    {"headers of a size of their own", HEADER(e_phentsize), 57},
    {"a dynamic section behind the end", SEGMENT(1, p_offset), 1 << 20},
    {"a dynamic section before the beginning", SEGMENT(1, p_offset), UINT64_MAX - 3},
    {"an endless dynamic section", SEGMENT(1, p_filesz), UINT64_MAX},
    {"a dynamic section longer than the file", SEGMENT(1, p_filesz), 1 << 17},
    {"an interpreter behind the end", SEGMENT(2, p_offset), 1 << 20},
    {"an interpreter that wraps", SEGMENT(2, p_offset), UINT64_MAX},
    {"an interpreter without an end", SEGMENT(2, p_filesz), 3},
    {"an interpreter of no length", SEGMENT(2, p_filesz), 0},
    {"a name behind the strings", DYNAMIC(0, d_un), 1 << 20},
    {"a name before the strings", DYNAMIC(0, d_un), UINT64_MAX},
    {"an empty name", DYNAMIC(0, d_un), 0},
    {"an RPATH behind the strings", DYNAMIC(1, d_un), 1 << 20},
    {"strings at no address", DYNAMIC(2, d_un), 0},
    {"strings at the last address", DYNAMIC(2, d_un), UINT64_MAX},
    {"strings of no length", DYNAMIC(3, d_un), 0},
    {"endless strings", DYNAMIC(3, d_un), UINT64_MAX},
    {"strings that end inside a name", DYNAMIC(3, d_un), 4},
    {"no strings", DYNAMIC(2, d_tag), DT_DEBUG},
    {"strings of unknown length", DYNAMIC(3, d_tag), DT_DEBUG},
};

static const struct elf_file victim = {
    .needs = {"liba.so"}, .rpath = "a", .interpreter = "/no/ld.so"};

static void test_damaged_files_are_refused_with_a_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct buf bytes = BUF_INIT;
        struct error err = ERROR_INIT;
        elf_file_make(&victim, &bytes);
        poke(&bytes, bad[i].at, bad[i].value, bad[i].size);
        elf_file_put("app/bad", &bytes);
        struct shared_libraries *linkage = link_of("app/bad", NULL, &err);
        if (linkage || !strstr(error_text(&err), "app/bad: "))
            fail_msg("%s: %s", bad[i].what, linkage ? "taken" : error_text(&err));
        shared_libraries_free(linkage);
        error_clear(&err);
        buf_free(&bytes);
    }
}

static void test_a_file_cut_off_anywhere_is_refused(void **state)
{
    (void)state;
    struct buf bytes = BUF_INIT;
    elf_file_make(&victim, &bytes);
    struct shared_libraries *linkage;
    elf_file_put("app/cut", &bytes);
    linkage = link_of("app/cut", NULL, NULL);
    assert_non_null(linkage);
    shared_libraries_free(linkage);
    for (size_t len = bytes.len - 1; len >= 4; len--) {
        struct error err = ERROR_INIT;
        bytes.len = len;
        elf_file_put("app/cut", &bytes);
        assert_null(link_of("app/cut", NULL, &err));
        assert_non_null(err.text);
        error_clear(&err);
    }
    buf_free(&bytes);
}

static void test_a_program_that_is_not_a_file_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path, *why;
    } rows[] = {{"app/nosuch", "No such file"},
                {"app", "not a regular file"},
                {"/dev/null", "not a regular"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error err = ERROR_INIT;
        assert_null(link_of(rows[i].path, NULL, &err));
        assert_non_null(strstr(err.text, rows[i].why));
        error_clear(&err);
    }
}

static void test_programs_of_32_bits_have_libraries_of_32_bits(void **state)
{
    (void)state;
    const struct elf_file plain = {.bits = 32},
                          program = {.bits = 32, .needs = {"libx32.so"}, .rpath = "a:b"};
    const struct elf_file wide = {0};
    elf_file_write("a/libx32.so", &wide);
    elf_file_write("b/libx32.so", &plain);
    elf_file_write("app/narrow", &program);
    struct shared_libraries *linkage = link_of("app/narrow", NULL, NULL);
    assert_string_equal(place(linkage, "libx32.so"), "b/libx32.so");
    shared_libraries_free(linkage);
}

/* ---- the loader's cache ---- */

struct cache_head {
    char magic[20];
    uint32_t count, text, unused[5];
};

struct cache_entry {
    int32_t flags;
    uint32_t name, path, version, capabilities[2];
};

/* Two entries of one name and one of another; `count` is what the head says. */
static void cache_make(struct buf *bytes, uint32_t count, uint32_t path_offset)
{
    static const char texts[] = "liba.so\0/x/liba.so\0/y/liba.so\0libb.so";
    const uint32_t text = sizeof(struct cache_head) + 3 * sizeof(struct cache_entry);
    struct cache_head head = {.count = count, .text = sizeof(texts)};
    memcpy(head.magic, "glibc-ld.so.cache1.1", 20);
    const struct cache_entry entries[] = {
        {.name = text, .path = path_offset ? path_offset : text + 8},
        {.name = text, .path = text + 19},
        {.name = text + 30, .path = text + 19}};
    buf_add(bytes, &head, sizeof(head));
    buf_add(bytes, entries, sizeof(entries));
    buf_add(bytes, texts, sizeof(texts));
}

static void test_the_cache_has_each_path_of_a_name(void **state)
{
    (void)state;
    struct buf bytes = BUF_INIT;
    struct loader_cache cache;
    uint32_t at = 0;
    uint32_t old[4] = {0, 0, 0, 0};
    memcpy(old, "ld.so-1.7.0", 11);
    buf_add(&bytes, old, sizeof(old)); /* an older cache without entries is in front */
    cache_make(&bytes, 3, 0);
    loader_cache_take(&cache, &bytes);
    assert_string_equal(loader_cache_find(&cache, "liba.so", &at), "/x/liba.so");
    assert_string_equal(loader_cache_find(&cache, "liba.so", &at), "/y/liba.so");
    assert_null(loader_cache_find(&cache, "liba.so", &at));
    at = 0;
    assert_null(loader_cache_find(&cache, "libc.so", &at));
    loader_cache_clear(&cache);
}

static void test_a_damaged_cache_has_nothing_beyond_its_end(void **state)
{
    (void)state;
    static const struct {
        uint32_t count, path;
        size_t len;
        const char *found;
    } rows[] = {{3, UINT32_MAX, 0, "/y/liba.so"}, /* offsets from nowhere */
                {3, 1, 0, "/y/liba.so"},          /* no path there */
                {0, 0, 0, NULL},
                {UINT32_MAX, 0, 0, NULL}, /* more entries than bytes */
                {1000, 0, 0, NULL},
                {3, 0, 47, NULL}, /* cut off */
                {3, 0, 100, NULL},
                {3, 0, 1, NULL}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf bytes = BUF_INIT;
        struct loader_cache cache;
        uint32_t at = 0;
        cache_make(&bytes, rows[i].count, rows[i].path);
        if (rows[i].len)
            bytes.len = rows[i].len;
        loader_cache_take(&cache, &bytes);
        const char *path = loader_cache_find(&cache, "liba.so", &at);
        if (rows[i].found)
            assert_string_equal(path, rows[i].found);
        else
            assert_null(path);
        loader_cache_clear(&cache);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_libraries_of_a_real_program_are_found),
        cmocka_unit_test(test_directories_are_looked_through_in_the_loaders_order),
        cmocka_unit_test(test_an_rpath_is_for_what_libraries_need_too),
        cmocka_unit_test(test_what_is_missing_is_named_with_who_needs_it),
        cmocka_unit_test(test_libraries_that_need_each_other_are_read_once),
        cmocka_unit_test(test_no_more_than_so_many_libraries_are_read),
        cmocka_unit_test(test_a_script_is_told_with_its_interpreter),
        cmocka_unit_test(test_a_program_is_static_or_has_a_loader),
        cmocka_unit_test(test_damaged_files_are_refused_with_a_sentence),
        cmocka_unit_test(test_a_file_cut_off_anywhere_is_refused),
        cmocka_unit_test(test_a_program_that_is_not_a_file_is_refused),
        cmocka_unit_test(test_programs_of_32_bits_have_libraries_of_32_bits),
        cmocka_unit_test(test_the_cache_has_each_path_of_a_name),
        cmocka_unit_test(test_a_damaged_cache_has_nothing_beyond_its_end),
    };
    return cmocka_run_group_tests(tests, make_root, root_remove);
}
