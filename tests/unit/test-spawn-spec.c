#include <string.h>

#include "base/mem.h"
#include "launcher/plan/spawn_spec.h"
#include "tests/unit/unit.h"

/* A program of two parts. */
static const char program[] =
    "{\"version\":1,\"parts\":[{\"argv\":[\"a\"],\"ntasks\":8,\"map\":\"numa\"},"
    "{\"argv\":[\"b\",\"-x\"],\"ntasks\":4,\"cores_per_task\":2,\"map\":\"node\",\"order\":"
    "\"node\","
    "\"bind\":\"core\",\"per\":\"2:node\",\"chdir\":\"/there\",\"umask\":\"0027\","
    "\"env\":[{\"set\":\"A\",\"value\":\"1\"}]}],"
    "\"verbose\":2,\"environment\":[\"HOME=/h\"],\"directory\":\"/base\",\"display\":[\"bind\"]}";

static struct spec *base_spec(void)
{
    struct error err = ERROR_INIT;
    json_t *value = json_loads(program, 0, NULL);
    struct spec *spec = spec_from_json(value, &err);
    if (!spec)
        fail_msg("%s", error_text(&err));
    json_decref(value);
    return spec;
}

struct info { /* a pair that nobody writes to */
    const char *key, *value;
};

/* One block with up to eight pairs of info. */
static int make(struct spawn_spec *blocks, uint32_t app, const char *name, const struct info *info,
                size_t ninfo, struct error *err)
{
    char arg[] = "an arg", empty[] = "", *argv[] = {(char *)(uintptr_t)name, arg, empty, NULL};
    struct pair pairs[8];
    for (size_t i = 0; i < ninfo; i++)
        pairs[i] = (struct pair){(char *)(uintptr_t)info[i].key, (char *)(uintptr_t)info[i].value};
    struct task_request_block block = {argv, 3, pairs, ninfo};
    struct task_request ask = {
        .kind = TASK_REQUEST_SPAWN, .app = app, .blocks = &block, .nblocks = 1};
    struct spec *base = base_spec();
    int rc = spawn_spec_make(blocks, base, &ask, err);
    spec_free(base);
    return rc;
}

static void test_a_block_inherits_from_the_part_that_asks(void **state)
{
    struct spawn_spec blocks;
    (void)state;
    assert_int_equal(make(&blocks, 1, "tool", NULL, 0, NULL), 0);
    const struct spec_part *part = &blocks.spec->parts[0];
    assert_int_equal(blocks.spec->nparts, 1);
    assert_string_equal(part->argv[0], "tool");
    assert_string_equal(part->argv[1], "an arg");
    assert_string_equal(part->argv[2], "");
    assert_null(part->argv[3]);
    assert_int_equal(part->ntasks, 3);
    assert_int_equal(part->cores_per_task, 2);
    assert_string_equal(part->map, "node");
    assert_string_equal(part->bind, "core");
    assert_string_equal(part->chdir, "/there");
    assert_int_equal(part->umask, 027);
    assert_int_equal(part->nenv, 1);
    assert_null(part->per); /* where the others go is not for these */
    assert_string_equal(blocks.spec->environment[0], "HOME=/h");
    assert_int_equal(blocks.spec->verbose, 2);
    assert_int_equal(blocks.spec->display, 0);
    assert_null(blocks.places[0].hosts);
    spawn_spec_clear(&blocks);
}

static void test_info_keys_replace_what_a_block_inherits(void **state)
{
    static const struct info info[] = {
        {"path", "/opt/bin"},  {"wdir", "below"},      {"map_by", "core"}, {"bind_to", "none"},
        {"env", "A=2\nB=x=y"}, {"hosts", "n1,n[3-4]"}, {"soft", "1:3"},    {"colour", ""}};
    struct spawn_spec blocks;
    (void)state;
    assert_int_equal(make(&blocks, 1, "tool", info, 8, NULL), 0);
    const struct spec_part *part = &blocks.spec->parts[0];
    assert_string_equal(part->argv[0], "/opt/bin/tool");
    assert_string_equal(part->chdir, "/base/below");
    assert_string_equal(part->map, "core");
    assert_null(part->order);
    assert_string_equal(part->bind, "none");
    assert_int_equal(part->nenv, 3);
    assert_string_equal(part->env[1].value, "2");
    assert_string_equal(part->env[2].name, "B");
    assert_string_equal(part->env[2].value, "x=y");
    assert_string_equal(blocks.places[0].hosts, "n1,n[3-4]");
    assert_string_equal(buf_text(&blocks.unknown), "soft, colour");
    spawn_spec_clear(&blocks);
}

static void test_variables_are_changed_one_by_one(void **state)
{
    static const struct info info[] = {{"env_set", "B=two\nlines"}, {"env_default", "B=no"},
                                       {"env_default", "C=yes"},    {"env_prepend", "HOME=:/first"},
                                       {"env_append", "A=;z"},      {"env_unset", "C"},
                                       {"env_append", "C=,c"},      {"cores", "3"}};
    static const struct {
        enum env_kind kind;
        const char *name, *value;
    } want[] = {{ENV_SET, "A", "1"},   {ENV_SET, "B", "two\nlines"},
                {ENV_SET, "C", "yes"}, {ENV_SET, "HOME", "/first:/h"},
                {ENV_SET, "A", "1;z"}, {ENV_REMOVE, "C", NULL},
                {ENV_SET, "C", "c"}};
    struct spawn_spec blocks;
    (void)state;
    assert_int_equal(make(&blocks, 1, "tool", info, 8, NULL), 0);
    const struct spec_part *part = &blocks.spec->parts[0];
    assert_int_equal(part->cores_per_task, 3);
    assert_int_equal(part->nenv, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(part->env[i].kind, want[i].kind);
        assert_string_equal(part->env[i].name, want[i].name);
        if (want[i].value)
            assert_string_equal(part->env[i].value, want[i].value);
    }
    spawn_spec_clear(&blocks);
}

static void test_per_and_ranks_go_where_info_says(void **state)
{
    static const struct info per[] = {{"per", "2:numa"}}, slot[] = {{"rank_by", "slot"}};
    struct spawn_spec blocks;
    (void)state;
    assert_int_equal(make(&blocks, 1, "tool", per, 1, NULL), 0);
    assert_string_equal(blocks.spec->parts[0].per, "2:numa");
    assert_null(blocks.spec->parts[0].map);
    spawn_spec_clear(&blocks);
    assert_int_equal(make(&blocks, 0, "tool", slot, 1, NULL), 0);
    assert_string_equal(blocks.spec->parts[0].order, "sequential");
    spawn_spec_clear(&blocks);
}

static void test_an_absolute_name_needs_no_path(void **state)
{
    static const struct info info[] = {{"path", "/opt/bin"}, {"hostfile", "hosts"}};
    struct spawn_spec blocks;
    (void)state;
    assert_int_equal(make(&blocks, 0, "/bin/tool", info, 2, NULL), 0);
    assert_string_equal(blocks.spec->parts[0].argv[0], "/bin/tool");
    assert_string_equal(blocks.places[0].hostfile, "/base/hosts");
    spawn_spec_clear(&blocks);
}

static const struct {
    uint32_t app;
    struct info info[2];
    const char *words;
} bad[] = {
    {2, {{NULL, NULL}}, "no part 2"},
    {0, {{"wdir", ""}}, "info key wdir: must not be empty"},
    {0, {{"map_by", ""}}, "info key map_by"},
    {0, {{"env", "A"}}, "info key env: \"A\" is not NAME=VALUE"},
    {0, {{"env", "A=1\n=2"}}, "info key env: \"=2\""},
    {0, {{"env", "A\nB=1"}}, "info key env: \"A\""},
    {0, {{"env_set", "A"}}, "info key env_set: \"A\" is not NAME=VALUE"},
    {0, {{"env_prepend", "A="}}, "info key env_prepend: \"A=\" is not"},
    {0, {{"env_unset", "A=1"}}, "info key env_unset: \"A=1\" is not the name of a variable"},
    {0, {{"cores", "0"}}, "info key cores: \"0\" is not"},
    {0, {{"per", ""}}, "info key per"},
    {0, {{"rank_by", ""}}, "info key rank_by"},
    {0, {{"host", ""}}, "info key host"},
    {0, {{"host", "a"}, {"hosts", "b"}}, "one block cannot name different hosts (a and b)"},
};

static void test_what_info_cannot_say_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;
        struct spawn_spec blocks;
        size_t ninfo = 0;
        while (ninfo < 2 && bad[i].info[ninfo].key)
            ninfo++;
        if (make(&blocks, bad[i].app, "tool", bad[i].info, ninfo, &err) != -1)
            fail_msg("case %zu was taken", i);
        if (!strstr(error_text(&err), bad[i].words))
            fail_msg("case %zu: %s", i, error_text(&err));
        error_clear(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_block_inherits_from_the_part_that_asks),
        cmocka_unit_test(test_info_keys_replace_what_a_block_inherits),
        cmocka_unit_test(test_variables_are_changed_one_by_one),
        cmocka_unit_test(test_per_and_ranks_go_where_info_says),
        cmocka_unit_test(test_an_absolute_name_needs_no_path),
        cmocka_unit_test(test_what_info_cannot_say_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
