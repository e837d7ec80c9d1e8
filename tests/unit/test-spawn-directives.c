/* What PMIx_Spawn() is told, in the words of a spawn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "tests/unit/unit.h"

#ifdef HAVE_PMIX

#include "base/mem.h"
#include "pmi-server/pmix/spawn_directives.h"

/* Nobody writes to it. */
static char *text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

static pmix_info_t with_text(const char *key, const char *value)
{
    pmix_info_t info = {.value.type = PMIX_STRING, .value.data.string = text(value)};
    strcpy(info.key, key);
    return info;
}

static pmix_info_t with_variable(const char *key, const char *name, const char *value, char between)
{
    pmix_info_t info = {.value.type = PMIX_ENVAR,
                        .value.data.envar = {text(name), text(value), between}};
    strcpy(info.key, key);
    return info;
}

static struct spawn_request *read_good(const pmix_info_t *job, size_t njob, const pmix_app_t *apps,
                                       size_t napps)
{
    struct spawn_request *spawn = spawn_request_new();
    pmix_status_t status = PMIX_SUCCESS;
    struct error err = ERROR_INIT;
    if (spawn_directives_read(spawn, job, njob, apps, napps, &status, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(status, PMIX_SUCCESS);
    return spawn;
}

static void check(const struct spawn_request *spawn, size_t block, size_t at, const char *key,
                  const char *value)
{
    const struct pmi_pairs *infos = &spawn->blocks[block].infos;
    assert_uint_in_range(at, 0, infos->count - 1);
    assert_string_equal(infos->list[at].key, key);
    assert_string_equal(infos->list[at].value, value);
}

static void apps_become_blocks(void **state)
{
    char *argv[] = {text("tool"), text("an arg"), text(""), NULL}, *env[] = {text("A=1"), NULL};
    const pmix_app_t apps[] = {
        {.cmd = text("/opt/tool"), .argv = argv, .env = env, .cwd = text("/here"), .maxprocs = 3},
        {.argv = argv},
    };
    (void)state;
    struct spawn_request *spawn = read_good(NULL, 0, apps, 2);
    assert_int_equal(spawn->nblocks, 2);
    assert_int_equal(spawn->blocks[0].maxprocs, 3);
    assert_int_equal(spawn->blocks[0].argc, 3);
    assert_string_equal(spawn->blocks[0].argv[0], "/opt/tool");
    assert_string_equal(spawn->blocks[0].argv[1], "an arg");
    assert_string_equal(spawn->blocks[0].argv[2], "");
    assert_int_equal(spawn->blocks[0].infos.count, 2);
    check(spawn, 0, 0, "wdir", "/here");
    check(spawn, 0, 1, "env_set", "A=1");
    assert_string_equal(spawn->blocks[1].argv[0], "tool");
    assert_int_equal(spawn->blocks[1].maxprocs, 1); /* it does not say */
    assert_int_equal(spawn->blocks[1].infos.count, 0);
    spawn_request_free(spawn);
}

static void an_app_has_its_own_in_place_of_the_jobs(void **state)
{
    const pmix_info_t job[] = {with_text(PMIX_WDIR, "/job"),
                               with_variable(PMIX_SET_ENVAR, "A", "1", 0)};
    pmix_info_t own[] = {with_text(PMIX_WDIR, "/own"), with_variable(PMIX_SET_ENVAR, "A", "2", 0)};
    const pmix_app_t apps[] = {{.cmd = text("a"), .cwd = text("/here"), .info = own, .ninfo = 2},
                               {.cmd = text("b"), .cwd = text("/here")}};
    (void)state;
    struct spawn_request *spawn = read_good(job, 2, apps, 2);
    check(spawn, 0, 0, "wdir", "/own");
    check(spawn, 0, 1, "env_set", "A=1"); /* the later one counts */
    check(spawn, 0, 2, "env_set", "A=2");
    check(spawn, 1, 0, "wdir", "/job");
    assert_int_equal(spawn->blocks[1].infos.count, 2);
    spawn_request_free(spawn);
}

static const struct {
    const char *key, *value; /* what is said */
    const char *word, *text; /* what it becomes; NULL: nothing */
    const char *second, *second_text;
} words[] = {
    {PMIX_HOST, "a,b:2,c:4", "host", "a,b,c", NULL, NULL},
    {PMIX_HOST, "", "host", "", NULL, NULL},
    {PMIX_ADD_HOST, "a:1", "host", "a", NULL, NULL},
    {PMIX_HOSTFILE, "/f", "hostfile", "/f", NULL, NULL},
    {PMIX_MAPBY, "core", "map_by", "core", NULL, NULL},
    {PMIX_MAPBY, "node:SPAN", "map_by", "node", NULL, NULL},
    {PMIX_MAPBY, "slot:PE=4", "cores", "4", "map_by", "slot"},
    {PMIX_MAPBY, "slot:PE=4,SPAN:X", "cores", "4", "map_by", "slot"},
    {PMIX_MAPBY, ":OVERSUBSCRIBE", NULL, NULL, NULL, NULL},
    {PMIX_MAPBY, "ppr:2:node", "per", "2:node", NULL, NULL},
    {PMIX_MAPBY, "ppr:2:node:X", "per", "2:node", NULL, NULL},
    {PMIX_MAPBY, "ppr:", "per", "", NULL, NULL},
    {PMIX_MAPBY, "ppr:2", "per", "2", NULL, NULL},
    {PMIX_MAPBY, "", "map_by", "", NULL, NULL},
    {PMIX_RANKBY, "slot:fill", "rank_by", "slot", NULL, NULL},
    {PMIX_BINDTO, "core:overload-allowed", "bind_to", "core", NULL, NULL},
    {PMIX_PPR, "1:core", "per", "1:core", NULL, NULL},
    {PMIX_UNSET_ENVAR, "A", "env_unset", "A", NULL, NULL},
    {PMIX_PREFIX, "/p", "env_prepend", "PATH=:/p/bin", "env_prepend", "LD_LIBRARY_PATH=:/p/lib"},
    {PMIX_PSET_NAME, "mine", "pset", "mine", NULL, NULL},
    {PMIX_PERSONALITY, "ompi", NULL, NULL, NULL, NULL},
    {"pmix.nobody", "x", "pmix.nobody", "", NULL, NULL},
};

static void directives_become_words_of_a_spawn(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        pmix_info_t info = with_text(words[i].key, words[i].value);
        const pmix_app_t app = {.cmd = text("a"), .info = &info, .ninfo = 1};
        struct spawn_request *spawn = read_good(NULL, 0, &app, 1);
        size_t want = words[i].second ? 2 : words[i].word != NULL;
        if (spawn->blocks[0].infos.count != want)
            fail_msg("case %zu: %zu words", i, spawn->blocks[0].infos.count);
        if (want)
            check(spawn, 0, 0, words[i].word, words[i].text);
        if (want == 2)
            check(spawn, 0, 1, words[i].second, words[i].second_text);
        spawn_request_free(spawn);
    }
}

static void variables_are_joined_by_what_is_said(void **state)
{
    pmix_info_t infos[] = {with_variable(PMIX_PREPEND_ENVAR, "A", "x", ';'),
                           with_variable(PMIX_APPEND_ENVAR, "A", "y", 0),
                           with_variable(PMIX_ADD_ENVAR, "A", NULL, ';')};
    const pmix_app_t app = {.cmd = text("a"), .info = infos, .ninfo = 3};
    (void)state;
    struct spawn_request *spawn = read_good(NULL, 0, &app, 1);
    check(spawn, 0, 0, "env_prepend", "A=;x");
    check(spawn, 0, 1, "env_append", "A=:y");
    check(spawn, 0, 2, "env_default", "A=");
    spawn_request_free(spawn);
}

static void hosts_that_are_added_are_of_no_account_where_hosts_are_named(void **state)
{
    pmix_info_t infos[] = {with_text(PMIX_HOST, "a"), with_text(PMIX_ADD_HOST, "b")};
    const pmix_app_t app = {.cmd = text("a"), .info = infos, .ninfo = 2};
    (void)state;
    struct spawn_request *spawn = read_good(NULL, 0, &app, 1);
    assert_int_equal(spawn->blocks[0].infos.count, 1);
    check(spawn, 0, 0, "host", "a");
    spawn_request_free(spawn);
}

static void check_bad(const pmix_info_t *info, pmix_status_t want, const char *why)
{
    struct spawn_request *spawn = spawn_request_new();
    pmix_status_t status = PMIX_SUCCESS;
    struct error err = ERROR_INIT;
    const pmix_app_t app = {.cmd = text("a")};
    assert_int_equal(spawn_directives_read(spawn, info, 1, &app, 1, &status, &err), -1);
    assert_int_equal(status, want);
    assert_non_null(strstr(err.text, why));
    error_clear(&err);
    spawn_request_free(spawn);
}

static void values_of_other_types_are_refused(void **state)
{
    static const char *const keys[] = {
        PMIX_WDIR,      PMIX_HOST,        PMIX_HOSTFILE,      PMIX_ADD_HOST,  PMIX_MAPBY,
        PMIX_RANKBY,    PMIX_BINDTO,      PMIX_PPR,           PMIX_PREFIX,    PMIX_SET_ENVAR,
        PMIX_ADD_ENVAR, PMIX_UNSET_ENVAR, PMIX_PREPEND_ENVAR, PMIX_PSET_NAME, PMIX_CPUS_PER_PROC};
    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        pmix_info_t info = {.value.type = PMIX_BOOL};
        strcpy(info.key, keys[i]);
        check_bad(&info, PMIX_ERR_BAD_PARAM, keys[i]);
        info.value = (pmix_value_t){.type = PMIX_STRING}; /* with no text, as it may come */
        check_bad(&info, PMIX_ERR_BAD_PARAM, keys[i]);
    }
    pmix_info_t nameless = with_variable(PMIX_SET_ENVAR, NULL, "x", 0);
    check_bad(&nameless, PMIX_ERR_BAD_PARAM, PMIX_SET_ENVAR);
}

static void what_is_required_and_unknown_is_refused(void **state)
{
    pmix_info_t info = with_text("pmix.nobody", "x");
    (void)state;
    info.flags = PMIX_INFO_REQD;
    check_bad(&info, PMIX_ERR_NOT_SUPPORTED, "\"pmix.nobody\" is required");
}

static void requests_without_a_program_or_too_long_are_refused(void **state)
{
    struct error err = ERROR_INIT;
    char *none[] = {NULL}, *huge = mem_alloc(SPAWN_DIRECTIVES_MAX + 2);
    memset(huge, 'a', SPAWN_DIRECTIVES_MAX + 1);
    char *wide[] = {text("a"), huge, NULL};
    const pmix_app_t apps[] = {{0}, {.argv = none}, {.argv = wide}};
    (void)state;
    for (size_t i = 0; i <= 3; i++) {
        struct spawn_request *spawn = spawn_request_new();
        pmix_status_t status = PMIX_SUCCESS;
        assert_int_equal(spawn_directives_read(spawn, NULL, 0, &apps[i % 3], i < 3, &status, &err),
                         -1);
        assert_int_equal(status, PMIX_ERR_BAD_PARAM);
        spawn_request_free(spawn);
    }
    error_clear(&err);
    free(huge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apps_become_blocks),
        cmocka_unit_test(an_app_has_its_own_in_place_of_the_jobs),
        cmocka_unit_test(directives_become_words_of_a_spawn),
        cmocka_unit_test(variables_are_joined_by_what_is_said),
        cmocka_unit_test(hosts_that_are_added_are_of_no_account_where_hosts_are_named),
        cmocka_unit_test(values_of_other_types_are_refused),
        cmocka_unit_test(what_is_required_and_unknown_is_refused),
        cmocka_unit_test(requests_without_a_program_or_too_long_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void built_without_pmix_there_is_nothing_to_read(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_without_pmix_there_is_nothing_to_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
