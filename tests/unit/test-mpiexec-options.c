/* The table of mpiexec's options against those that programs have: tests/mpiexec/. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/string_list.h"
#include "launcher/mpiexec/mpiexec.h"
#include "launcher/mpiexec/mpiexec_private.h"
#include "launcher/spec/spec.h"
#include "tests/unit/unit.h"

#define LISTS TEST_DATA_DIR "/../mpiexec"

struct listed {
    char list[32]; /* the name of the file */
    enum mpiexec_dialect dialect;
    char name[48];
    char values[8]; /* "0", "1", "2" or "0-1" */
};

static struct listed listed[4096];
static size_t nlisted, nlists[3];

static enum mpiexec_dialect list_dialect(const char *name)
{
    return strncmp(name, "hydra-", 6) == 0 ? MPIEXEC_HYDRA
           : strncmp(name, "openmpi-", 8) == 0 || strncmp(name, "prterun-", 8) == 0
               ? MPIEXEC_OPENMPI
               : MPIEXEC_EITHER;
}

static void read_list(const char *name, enum mpiexec_dialect dialect)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", LISTS, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    struct listed row = {.dialect = dialect};
    snprintf(row.list, sizeof(row.list), "%s", name);
    while (fscanf(file, "%47s %7s", row.name, row.values) == 2) {
        assert_true(nlisted < sizeof(listed) / sizeof(listed[0]));
        listed[nlisted++] = row;
    }
    assert_true(feof(file));
    fclose(file);
    nlists[dialect]++;
}

static int read_lists(void **state)
{
    (void)state;
    DIR *dir = opendir(LISTS);
    if (!dir)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (list_dialect(entry->d_name) != MPIEXEC_EITHER)
            read_list(entry->d_name, list_dialect(entry->d_name));
    closedir(dir);
    return nlists[MPIEXEC_HYDRA] && nlists[MPIEXEC_OPENMPI] ? 0 : -1;
}

static bool is_listed(const char *name, size_t len, enum mpiexec_dialect dialect)
{
    for (size_t i = 0; i < nlisted; i++)
        if (listed[i].dialect == dialect && strlen(listed[i].name) == len &&
            memcmp(listed[i].name, name, len) == 0)
            return true;
    return false;
}

static void test_every_option_of_every_version_has_a_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < nlisted; i++)
        if (!mpiexec_find(listed[i].name, strlen(listed[i].name), listed[i].dialect))
            fail_msg("%s: -%s is not in the table", listed[i].list, listed[i].name);
}

/* What is refused is refused whatever follows it. */
static void test_rows_take_as_many_values_as_the_programs_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < nlisted; i++) {
        const struct mpiexec_option *row =
            mpiexec_find(listed[i].name, strlen(listed[i].name), listed[i].dialect);
        char have[16];
        snprintf(have, sizeof(have), "%zu", row ? mpiexec_nvalues(row) : 9);
        bool maybe = row && row->arguments && row->arguments[0] == '[';
        bool same =
            maybe ? strcmp(listed[i].values, "2") != 0 : strcmp(listed[i].values, have) == 0;
        if (row && row->place != MPIEXEC_NONE && !same)
            fail_msg("%s: -%s takes %s values, not %s", listed[i].list, listed[i].name,
                     listed[i].values, have);
    }
}

/* Of launchers whose programs are not at hand. */
static const char *const unlisted[] = {"perhost"};

static bool is_unlisted(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(unlisted) / sizeof(unlisted[0]); i++)
        if (strlen(unlisted[i]) == len && memcmp(unlisted[i], name, len) == 0)
            return true;
    return false;
}

static void test_no_row_has_a_name_that_no_version_has(void **state)
{
    (void)state;
    for (const struct mpiexec_option *row = mpiexec_table; row->names; row++)
        for (const char *at = row->names; *at; at += strspn(at, " ")) {
            size_t len = strcspn(at, " ");
            for (enum mpiexec_dialect dialect = MPIEXEC_HYDRA; dialect <= MPIEXEC_OPENMPI;
                 dialect++)
                if ((row->dialect == MPIEXEC_EITHER || row->dialect == dialect) &&
                    !is_listed(at, len, dialect) && !is_unlisted(at, len))
                    fail_msg("-%.*s is in no list of dialect %u", (int)len, at, (unsigned)dialect);
            at += len;
        }
}

static void test_names_of_one_dialect_are_of_one_row(void **state)
{
    (void)state;
    for (const struct mpiexec_option *row = mpiexec_table; row->names; row++)
        for (const char *at = row->names; *at; at += strspn(at, " ")) {
            size_t len = strcspn(at, " ");
            for (enum mpiexec_dialect dialect = MPIEXEC_HYDRA; dialect <= MPIEXEC_OPENMPI;
                 dialect++)
                if ((row->dialect == MPIEXEC_EITHER || row->dialect == dialect) &&
                    mpiexec_find(at, len, dialect) != row)
                    fail_msg("-%.*s has two rows of dialect %u", (int)len, at, (unsigned)dialect);
            at += len;
        }
}

/* Whether it is said is what counts here; what the words are, other tests say. */
static void test_each_option_is_taken_or_refused_with_what_to_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < nlisted; i++) {
        char option[64], one[] = "1", app[] = "./app";
        char hydra[] = "mpiexec.hydra", openmpi[] = "mpirun.openmpi";
        char *words[6] = {listed[i].dialect == MPIEXEC_HYDRA ? hydra : openmpi, option};
        size_t count = 2;
        snprintf(option, sizeof(option), "--%s", listed[i].name);
        for (int n = atoi(listed[i].values); n > 0; n--)
            words[count++] = one;
        words[count] = app;
        struct error err = ERROR_INIT;
        const struct mpiexec_option *row =
            mpiexec_find(listed[i].name, strlen(listed[i].name), listed[i].dialect);
        bool file = row->place == MPIEXEC_READ && !row->read;
        char **native = mpiexec_translate(words, &err);
        bool advised =
            strstr(error_text(&err), ": write ") || strstr(error_text(&err), ": leave it out: ");
        if (row->place == MPIEXEC_NONE ? native || !advised : !native && row->place != MPIEXEC_READ)
            fail_msg("%s: %s: %s", listed[i].list, option, native ? "taken" : error_text(&err));
        if (!native && !file && strstr(error_text(&err), "unknown option"))
            fail_msg("%s: %s: %s", listed[i].list, option, error_text(&err));
        string_list_free(native);
        error_clear(&err);
    }
}

static void test_rows_say_what_their_option_does_here(void **state)
{
    (void)state;
    for (const struct mpiexec_option *row = mpiexec_table; row->names; row++) {
        assert_true(row->native && row->native[0]);
        assert_true(row->place == MPIEXEC_READ || !row->read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_option_of_every_version_has_a_row),
        cmocka_unit_test(test_rows_take_as_many_values_as_the_programs_do),
        cmocka_unit_test(test_no_row_has_a_name_that_no_version_has),
        cmocka_unit_test(test_names_of_one_dialect_are_of_one_row),
        cmocka_unit_test(test_each_option_is_taken_or_refused_with_what_to_write),
        cmocka_unit_test(test_rows_say_what_their_option_does_here),
    };
    return cmocka_run_group_tests(tests, read_lists, NULL);
}
