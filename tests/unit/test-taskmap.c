#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/taskmap/taskmap.h"
#include "tests/unit/vectors.h"

static struct taskmap *read_map(const char *text)
{
    struct error err = ERROR_INIT;
    struct taskmap *map = taskmap_decode(text, &err);
    if (!map)
        fail_msg("\"%s\": %s", text, error_text(&err));
    return map;
}

static void expect_blocks(const struct taskmap *map, json_t *want)
{
    json_t *wrapped = taskmap_to_json(map);
    json_t *got = json_object_get(wrapped, "map");
    assert_int_equal(json_integer_value(json_object_get(wrapped, "version")), 1);
    if (!json_equal(got, want)) {
        char *a = json_dumps(got, JSON_COMPACT), *b = json_dumps(want, JSON_COMPACT);
        fail_msg("%s instead of %s", a, b);
    }
    json_decref(wrapped);
}

/* Reads `text`, and expects these blocks and this raw form. */
static void expect_map(const char *text, json_t *blocks, const char *raw)
{
    struct taskmap *map = read_map(text);
    expect_blocks(map, blocks);
    char *got = taskmap_encode_raw(map);
    assert_string_equal(got, raw);
    free(got);
    taskmap_free(map);
}

static void test_vectors_convert_between_all_forms(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc34_taskmap"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "vectors"), i, item)
    {
        json_t *blocks = json_object_get(item, "map");
        const char *raw = json_string_value(json_object_get(item, "raw"));
        raw = raw ? raw : "";
        char *array = json_dumps(blocks, JSON_COMPACT);
        json_t *wrapped = json_pack("{s:i,s:O}", "version", 1, "map", blocks);
        char *object = json_dumps(wrapped, 0);
        struct taskmap *map = read_map(raw);
        char *pmi = taskmap_encode_pmi(map);
        expect_map(raw, blocks, raw);
        expect_map(array, blocks, raw);
        expect_map(object, blocks, raw);
        expect_map(pmi, blocks, raw);
        free(pmi);
        taskmap_free(map);
        free(object);
        json_decref(wrapped);
        free(array);
    }
    json_decref(table);
}

/* Deals ranks `chunk` at a time to nodes that have room; all at once for chunk 0. */
static struct taskmap *deal(json_t *counts, uint32_t chunk)
{
    struct taskmap *map = taskmap_new();
    size_t nnodes = json_array_size(counts), i;
    uint32_t left[4096], total = 0;
    assert_true(nnodes <= 4096);
    for (i = 0; i < nnodes; i++)
        total += left[i] = (uint32_t)json_integer_value(json_array_get(counts, i));
    for (i = 0; total; i = (i + 1) % nnodes) {
        uint32_t take = chunk && chunk < left[i] ? chunk : left[i];
        taskmap_append(map, (uint32_t)i, take);
        left[i] -= take;
        total -= take;
    }
    return map;
}

static struct taskmap *make_distribution(json_t *item)
{
    json_t *counts = json_object_get(item, "tasks_per_node");
    const char *how = vectors_text(item, "distribution");
    uint32_t chunk = strncmp(how, "cyclic:", 7) == 0 ? (uint32_t)atoi(how + 7) : 0;
    if (json_is_array(counts))
        return deal(counts, chunk);
    struct taskmap *map = taskmap_new();
    uint32_t nnodes = (uint32_t)json_integer_value(json_object_get(counts, "nnodes"));
    uint32_t ppn = (uint32_t)json_integer_value(json_object_get(counts, "ppn"));
    for (uint32_t done = 0; done < ppn; done += chunk ? chunk : ppn)
        for (uint32_t node = 0; node < nnodes; node++)
            taskmap_append(map, node, chunk ? chunk : ppn);
    return map;
}

static void test_distributions_have_the_maps_of_the_rfc(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc34_taskmap"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "distributions"), i, item)
    {
        struct taskmap *map = make_distribution(item);
        char *pmi = taskmap_encode_pmi(map);
        const char *want = json_string_value(json_object_get(item, "pmi"));
        expect_blocks(map, json_object_get(item, "map"));
        assert_int_equal(strlen(pmi), json_integer_value(json_object_get(item, "pmi_length")));
        if (want)
            assert_string_equal(pmi, want);
        struct taskmap *again = read_map(pmi);
        expect_blocks(again, json_object_get(item, "map"));
        taskmap_free(again);
        free(pmi);
        taskmap_free(map);
    }
    json_decref(table);
}

/* "2*2 + 2*4": two nodes of two tasks each, then two of four. */
static json_t *layout_counts(const char *text)
{
    json_t *counts = json_array();
    for (const char *at = text; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL) {
        int nnodes = 0, ppn = 0;
        assert_int_equal(sscanf(at, " %d*%d", &nnodes, &ppn), 2);
        for (int i = 0; i < nnodes; i++)
            json_array_append_new(counts, json_integer(ppn));
    }
    return counts;
}

static void expect_pmi(json_t *counts, uint32_t chunk, const char *want)
{
    struct taskmap *map = deal(counts, chunk), *again = read_map(want);
    char *pmi = taskmap_encode_pmi(map), *back = taskmap_encode_pmi(again);
    assert_string_equal(pmi, want);
    assert_string_equal(back, want);
    free(pmi);
    free(back);
    taskmap_free(map);
    taskmap_free(again);
}

static void test_process_mappings_are_those_of_the_pmi_rfc(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc34_taskmap"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "rfc13_pmi"), i, item)
    {
        json_t *counts = layout_counts(vectors_text(item, "layout"));
        expect_pmi(counts, 0, vectors_text(item, "block"));
        if (!json_is_null(json_object_get(item, "cyclic")))
            expect_pmi(counts, 1, vectors_text(item, "cyclic"));
        json_decref(counts);
    }
    json_decref(table);
}

static void test_lenient_pmi_strings_are_read(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc34_taskmap"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "pmi_decode_lenient"), i, item)
    {
        struct taskmap *map = read_map(vectors_text(item, "in"));
        expect_blocks(map, json_object_get(item, "map"));
        taskmap_free(map);
    }
    taskmap_free(read_map("(vector,(0,2,1))"));
    json_decref(table);
}

static void expect_refused(const char *text)
{
    struct error err = ERROR_INIT;
    if (taskmap_decode(text, &err))
        fail_msg("\"%s\" was taken", text);
    assert_non_null(err.text);
    assert_null(strchr(err.text, '\n'));
    error_clear(&err);
}

static void test_wrong_vectors_are_refused(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc34_taskmap"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "invalid_map"), i, item)
        expect_refused(json_string_value(item));
    json_array_foreach(vectors_list(table, "pmi_invalid"), i, item)
        expect_refused(json_string_value(item));
    json_array_foreach(vectors_list(table, "invalid_raw"), i, item)
        expect_refused(vectors_text(item, "in"));
    json_array_foreach(vectors_list(table, "wrapped"), i, item)
    {
        struct taskmap *map = taskmap_from_json(json_object_get(item, "in"), NULL);
        assert_int_equal(map != NULL, json_is_true(json_object_get(item, "ok")));
        taskmap_free(map);
    }
    json_decref(table);
}

static void test_other_bad_texts_are_refused(void **state)
{
    static const char *const bad[] = {"[",
                                      "[[0,1,1,1]",
                                      "[[0,1,1,1]]x",
                                      "[[0,1,1,1],5]",
                                      "[[0,1,1,1.0]]",
                                      "[[4294967296,1,1,1]]",
                                      "[[4294967295,2,1,1]]",
                                      "[[0,4294967295,4294967295,4294967295]]",
                                      "[[0,1,2147483649,1]]",
                                      "[[0,1,1,2147483647],[0,1,2,1]]",
                                      "[[0,65536,65536,1]]",
                                      "[[16777216,1,1,1]]",
                                      "{\"version\":1,\"version\":1,\"map\":[]}",
                                      "{\"version\":1.0,\"map\":[]}",
                                      "{\"version\":1,\"map\":{}}",
                                      "(vector)",
                                      "(vector,)",
                                      "(vector,,(0,1,1))",
                                      "(vector,(0,1,1)(1,1,1))",
                                      "(vector,(0,1,1)",
                                      "(vector,(0,1,1))x",
                                      "(vector,(0,1))",
                                      "(vector,(0,0,1))",
                                      "(vector,(-1,1,1))",
                                      "(vector,(0,1,4294967296))",
                                      "(vectors,(0,1,1))",
                                      "(vector,(0,1,1),x)",
                                      "vector",
                                      "(",
                                      "0-1;",
                                      ";0",
                                      "0;;1",
                                      "1",
                                      "0-3;5",
                                      "0,1;1",
                                      "0;x",
                                      "0 ;1",
                                      "0-4294967296",
                                      "0-2147483647;2147483648"};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        expect_refused(bad[i]);
}

static void test_a_number_that_is_too_large_is_where_the_message_says(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    assert_null(taskmap_decode("(vector,(0,1,4294967296))", &err));
    assert_non_null(strstr(error_text(&err), "at byte 13;"));
    error_clear(&err);
}

/* The canonical encoder as it is defined: runs, one after another, four rules. */
static struct taskmap *encode_plainly(const uint32_t *node, size_t ntasks)
{
    struct taskmap *map = taskmap_new();
    map->blocks = calloc(ntasks + 1, sizeof(*map->blocks));
    for (size_t i = 0, run; i < ntasks; i += run) {
        for (run = 1; i + run < ntasks && node[i + run] == node[i]; run++)
            ;
        struct taskmap_block *last = map->nblocks ? &map->blocks[map->nblocks - 1] : NULL;
        if (last && last->repeat == 1 && last->ppn == run && last->node + last->nnodes == node[i])
            last->nnodes++;
        else {
            last = &map->blocks[map->nblocks++];
            *last = (struct taskmap_block){node[i], 1, (uint32_t)run, 1};
        }
        struct taskmap_block *before = map->nblocks > 1 ? last - 1 : NULL;
        if (before && before->node == last->node && before->nnodes == last->nnodes &&
            before->ppn == last->ppn) {
            before->repeat++;
            map->nblocks--;
        }
    }
    return map;
}

static void expect_same_blocks(const struct taskmap *a, const struct taskmap *b)
{
    assert_int_equal(a->nblocks, b->nblocks);
    if (a->nblocks)
        assert_memory_equal(a->blocks, b->blocks, a->nblocks * sizeof(*a->blocks));
}

/* Random blocks; small numbers, so that they melt into each other. */
static size_t random_blocks(struct taskmap_block *blocks, uint32_t *node)
{
    size_t ntasks = 0;
    for (int i = 0; i < 4; i++) {
        struct taskmap_block *b = &blocks[i];
        *b = (struct taskmap_block){(uint32_t)rand() % 3, 1 + (uint32_t)rand() % 3,
                                    1 + (uint32_t)rand() % 2, 1 + (uint32_t)rand() % 4};
        for (uint32_t r = 0; r < b->repeat; r++)
            for (uint32_t n = 0; n < b->nnodes; n++)
                for (uint32_t p = 0; p < b->ppn; p++)
                    node[ntasks++] = b->node + n;
    }
    return ntasks;
}

static void test_blocks_runs_and_single_ranks_give_one_canonical_map(void **state)
{
    (void)state;
    srand(3);
    for (int round = 0; round < 20000; round++) {
        struct taskmap_block blocks[4];
        uint32_t node[4 * 3 * 2 * 4];
        size_t ntasks = random_blocks(blocks, node);
        struct taskmap *plain = encode_plainly(node, ntasks);
        struct taskmap *single = taskmap_new(), *whole = taskmap_new();
        for (size_t i = 0; i < ntasks; i++)
            taskmap_append(single, node[i], 1);
        for (int i = 0; i < 4; i++)
            assert_int_equal(taskmap_append_block(whole, blocks[i], NULL), 0);
        expect_same_blocks(single, plain);
        expect_same_blocks(whole, plain);
        assert_int_equal(whole->ntasks, ntasks);
        assert_int_equal(whole->nnodes, single->nnodes);
        for (size_t i = 0; i < ntasks; i++) {
            assert_int_equal(taskmap_node(whole, i), node[i]);
            struct idset *ranks = taskmap_ranks(whole, node[i]);
            assert_true(idset_has(ranks, (uint32_t)i));
            idset_free(ranks);
        }
        assert_int_equal(taskmap_node(whole, ntasks), UINT32_MAX);
        taskmap_free(plain);
        taskmap_free(single);
        taskmap_free(whole);
    }
}

static void test_a_node_without_ranks_has_no_raw_form(void **state)
{
    (void)state;
    struct taskmap *map = read_map("[[0,1,1,1],[2,1,1,1]]");
    assert_null(taskmap_encode_raw(map));
    struct idset *ranks = taskmap_ranks(map, 1);
    assert_true(idset_empty(ranks));
    idset_free(ranks);
    taskmap_free(map);
    map = read_map("[[1,1,1,1]]");
    assert_null(taskmap_encode_raw(map));
    taskmap_free(map);
}

static void test_the_largest_maps_cost_little(void **state)
{
    (void)state;
    struct taskmap *map = read_map("[[0,2,1,1073741824]]");
    assert_true(map->ntasks == TASKMAP_MAX_TASKS);
    assert_int_equal(taskmap_node(map, TASKMAP_MAX_TASKS - 1), 1);
    assert_int_equal(taskmap_node(map, TASKMAP_MAX_TASKS), UINT32_MAX);
    assert_null(taskmap_encode_pmi(map));
    assert_null(taskmap_encode_raw(map));
    taskmap_free(map);
    map = read_map("(vector,(0,1,2147483648))");
    char *raw = taskmap_encode_raw(map);
    assert_string_equal(raw, "0-2147483647");
    free(raw);
    taskmap_free(map);
    map = taskmap_new();
    for (uint32_t i = 0; i < 1 << 20; i++)
        taskmap_append(map, i % 16384, 1);
    assert_int_equal(map->nblocks, 1);
    assert_int_equal(map->blocks[0].repeat, 64);
    taskmap_free(map);
}

static void test_the_unknown_map_is_empty_in_every_form(void **state)
{
    static const char *const forms[] = {"", "  ", "[]", "{\"version\":1,\"map\":[]}"};
    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct taskmap *map = read_map(forms[i]);
        char *pmi = taskmap_encode_pmi(map), *raw = taskmap_encode_raw(map);
        assert_int_equal(map->ntasks + map->nnodes + map->nblocks, 0);
        assert_string_equal(pmi, "");
        assert_string_equal(raw, "");
        free(pmi);
        free(raw);
        taskmap_free(map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_convert_between_all_forms),
        cmocka_unit_test(test_distributions_have_the_maps_of_the_rfc),
        cmocka_unit_test(test_process_mappings_are_those_of_the_pmi_rfc),
        cmocka_unit_test(test_lenient_pmi_strings_are_read),
        cmocka_unit_test(test_wrong_vectors_are_refused),
        cmocka_unit_test(test_other_bad_texts_are_refused),
        cmocka_unit_test(test_a_number_that_is_too_large_is_where_the_message_says),
        cmocka_unit_test(test_blocks_runs_and_single_ranks_give_one_canonical_map),
        cmocka_unit_test(test_a_node_without_ranks_has_no_raw_form),
        cmocka_unit_test(test_the_largest_maps_cost_little),
        cmocka_unit_test(test_the_unknown_map_is_empty_in_every_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
