/*
 * The wire form of a topology:
 *
 *   {"version": 1,
 *    "os":      [[first, step, count, step2, count2], ...]  OS indexes along the rows, in blocks of
 *                                                           count2 runs; trailing ones left out
 *    "levels":  {"core": [2, 64], ...}                      length and number of the objects, in
 *                                                           pairs; length < 0: rows outside any
 *    "allowed": "0-7",                                      OS indexes; left out when all are
 *    "memory":  [0, 64, 1, 64],                             NUMA node (OS index, or -1) and number
 *                                                           of rows, in pairs; left out when none
 *    "gib":     [62, 64, 63, 64],                           its size and number of rows, likewise
 *    "gpus":    [{"id": 0, "name": "cuda0", "cpus": "0-7",  left out when there are none; pci,
 *                 "pci": "0000:c1:00.0", "vendor": "nvidia",  vendor and tiles when they say nothing
 *                 "tiles": 2}]}
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/topology/topo_private.h"
#include "base/mem.h"

#define TOPO_VERSION 1

/* An integer of an array within bounds; INT64_MIN when it is not one. */
static int64_t number_at(const json_t *array, size_t at, int64_t low, int64_t high)
{
    const json_t *value = json_array_get(array, at);
    if (!json_is_integer(value))
        return INT64_MIN;
    int64_t number = json_integer_value(value);
    return number < low || number > high ? INT64_MIN : number;
}

/* ---- the keys "memory" and "gib", where any thread has memory ---- */

/* A column as pairs of a value and a number of rows, `none` as `none_out`; NULL where there is nothing
 * else. */
static json_t *column_to_json(const uint32_t *column, uint32_t npus, uint32_t none,
                              json_int_t none_out)
{
    json_t *pairs = json_array();
    bool any = false;
    for (uint32_t row = 0, end; row < npus; row = end) {
        uint32_t here = column[row];
        for (end = row + 1; end < npus && column[end] == here;)
            end++;
        any |= here != none;
        json_array_append_new(pairs, json_integer(here == none ? none_out : (json_int_t)here));
        json_array_append_new(pairs, json_integer((json_int_t)end - row));
    }
    if (any)
        return pairs;
    json_decref(pairs);
    return NULL;
}

struct column {
    const char *key, *what;
    json_int_t least, most; /* values */
    uint32_t *rows;
};

static int column_from_json(const json_t *value, const struct column *column, uint32_t npus,
                            struct error *err)
{
    uint32_t row = 0;
    if (!value)
        return 0;
    for (size_t at = 0; at < json_array_size(value) || row < npus; at += 2) {
        int64_t number = number_at(value, at, column->least, column->most);
        int64_t rows = number_at(value, at + 1, 1, npus - row);
        if (number == INT64_MIN || rows == INT64_MIN)
            return error_set(
                err, "topology: '%s' has to be pairs of %s and a number of threads, %u in all",
                column->key, column->what, npus);
        for (uint32_t end = row + (uint32_t)rows; row < end; row++)
            column->rows[row] = number < 0 ? TOPO_ABSENT : (uint32_t)number;
    }
    return 0;
}

static int memory_from_json(struct topo *topo, const json_t *value, struct error *err)
{
    const struct column memory = {"memory", "a NUMA node (or -1)", -1, TOPO_MAX_MEMORIES - 1,
                                  topo->memory};
    const struct column gib = {"gib", "a size in GiB", 0, TOPO_MAX_GIB, topo->gib};
    if (column_from_json(json_object_get(value, "memory"), &memory, topo->npus, err) < 0 ||
        column_from_json(json_object_get(value, "gib"), &gib, topo->npus, err) < 0)
        return -1;
    /* A NUMA node has one size, which topo_to_treepool() relies on. */
    uint32_t sizes[TOPO_MAX_MEMORIES];
    memset(sizes, 0xff, sizeof(sizes));
    for (uint32_t row = 0; row < topo->npus; row++) {
        uint32_t node = topo->memory[row];
        uint32_t *size = node == TOPO_ABSENT ? NULL : &sizes[node];
        if (size ? *size != UINT32_MAX && *size != topo->gib[row] : topo->gib[row] != 0)
            return error_set(err, "topology: 'gib' has two sizes for one NUMA node of 'memory', or "
                                  "one where there is none");
        if (size)
            *size = topo->gib[row];
    }
    return 0;
}

/* A set of threads that the table has; NULL for anything else. Caller frees. */
static struct idset *cpus_from_json(const json_t *value, const struct topo *topo)
{
    const char *text = json_string_value(value);
    struct idset *set = text ? idset_decode(text, NULL) : NULL;
    size_t found = 0;
    for (uint32_t row = 0; set && row < topo->npus; row++)
        found += idset_has(set, topo->os[row]);
    if (set && found == idset_count(set))
        return set;
    idset_free(set);
    return NULL;
}

/* ---- the key "gpus" ---- */

static json_t *gpus_to_json(const struct topo *topo)
{
    json_t *gpus = json_array();
    for (size_t i = 0; i < topo->ngpus; i++) {
        const struct topo_gpu *gpu = &topo->gpus[i];
        json_t *item = json_pack("{s:I,s:s,s:o}", "id", (json_int_t)gpu->id, "name", gpu->name,
                                 "cpus", idset_to_json(gpu->cpus));
        if (gpu->pci[0])
            json_object_set_new(item, "pci", json_string(gpu->pci));
        if (gpu->vendor != TOPO_VENDOR_UNKNOWN)
            json_object_set_new(item, "vendor", json_string(topo_vendor_name(gpu->vendor)));
        if (gpu->tiles != 1)
            json_object_set_new(item, "tiles", json_integer(gpu->tiles));
        json_array_append_new(gpus, item);
    }
    return gpus;
}

/* A short text of an object, `missing` where it has none; NULL for anything else. */
static const char *text_of(const json_t *object, const char *key, const char *missing)
{
    const json_t *value = json_object_get(object, key);
    const char *text = value ? json_string_value(value) : missing;
    return text && strlen(text) <= 64 ? text : NULL;
}

/* False when something is missing or out of bounds; ids ascend from `least`. */
static bool gpu_from_json(const struct topo *topo, const json_t *item, int64_t least,
                          struct topo_gpu *gpu)
{
    const char *name = text_of(item, "name", NULL), *pci = text_of(item, "pci", "");
    const char *vendor = text_of(item, "vendor", "");
    const json_t *id = json_object_get(item, "id"), *tiles = json_object_get(item, "tiles");
    *gpu = (struct topo_gpu){.tiles = tiles ? (uint32_t)json_integer_value(tiles) : 1,
                             .vendor = vendor ? topo_vendor_decode(vendor) : TOPO_NVENDORS};
    if (!json_is_integer(id) || json_integer_value(id) < least ||
        json_integer_value(id) > IDSET_MAX || !name || !pci || gpu->vendor == TOPO_NVENDORS ||
        (tiles && (json_integer_value(tiles) < 1 || json_integer_value(tiles) > TOPO_MAX_GPUS)))
        return false;
    gpu->id = (uint32_t)json_integer_value(id);
    gpu->cpus = cpus_from_json(json_object_get(item, "cpus"), topo);
    if (idset_empty(gpu->cpus)) {
        idset_free(gpu->cpus);
        return false;
    }
    gpu->name = mem_copy_text(name);
    gpu->pci = mem_copy_text(pci);
    return true;
}

static int gpus_from_json(struct topo *topo, const json_t *value, struct error *err)
{
    size_t count = json_array_size(value);
    int64_t least = 0;
    if (value && (!json_is_array(value) || count > TOPO_MAX_GPUS))
        return error_set(err, "topology: 'gpus' has to be a list of at most %d", TOPO_MAX_GPUS);
    topo->gpus = mem_array(count, sizeof(*topo->gpus));
    for (; topo->ngpus < count; topo->ngpus++) {
        struct topo_gpu *gpu = &topo->gpus[topo->ngpus];
        if (!gpu_from_json(topo, json_array_get(value, topo->ngpus), least, gpu))
            return error_set(err,
                             "topology: entry %zu of 'gpus' needs an id above the one before, "
                             "name and cpus, and may have pci, vendor and tiles",
                             topo->ngpus);
        least = (int64_t)gpu->id + 1;
    }
    return 0;
}

/* ---- out ---- */

/* How often the first `len` numbers come again, each time shifted by the same step. */
static uint32_t block_repeats(const uint32_t *os, uint32_t len, uint32_t left)
{
    uint32_t times = 1;
    if (left < 2 * len)
        return 1;
    int64_t step = (int64_t)os[len] - os[0];
    for (; (times + 1) * len <= left; times++)
        for (uint32_t i = 0; i < len; i++)
            if ((int64_t)os[times * len + i] - os[(times - 1) * len + i] != step)
                return times;
    return times;
}

static json_t *os_to_json(const struct topo *topo)
{
    json_t *blocks = json_array();
    for (uint32_t row = 0; row < topo->npus;) {
        const uint32_t *os = topo->os + row;
        uint32_t left = topo->npus - row, len = left < 2 ? left : 2;
        while (len < left && (int64_t)os[len] - os[len - 1] == (int64_t)os[1] - os[0])
            len++;
        uint32_t times = block_repeats(os, len, left);
        json_t *block = json_array();
        json_array_append_new(block, json_integer(os[0]));
        if (len > 1) {
            json_array_append_new(block, json_integer((json_int_t)os[1] - os[0]));
            json_array_append_new(block, json_integer(len));
        }
        if (times > 1) {
            json_array_append_new(block, json_integer((json_int_t)os[len] - os[0]));
            json_array_append_new(block, json_integer(times));
        }
        json_array_append_new(blocks, block);
        row += len * times;
    }
    return blocks;
}

static json_t *level_to_json(const struct topo *topo, enum topo_level level)
{
    const uint32_t *object = topo->object[level];
    json_t *pairs = json_array();
    int64_t before = 0, times = 0;
    for (uint32_t row = 0, end; row < topo->npus; row = end) {
        for (end = row + 1; end < topo->npus && object[end] == object[row];)
            end++;
        int64_t length = object[row] == TOPO_ABSENT ? -(int64_t)(end - row) : (int64_t)(end - row);
        if (times && length != before) {
            json_array_append_new(pairs, json_integer(before));
            json_array_append_new(pairs, json_integer(times));
            times = 0;
        }
        before = length;
        times++;
    }
    json_array_append_new(pairs, json_integer(before));
    json_array_append_new(pairs, json_integer(times));
    return pairs;
}

json_t *topo_to_json(const struct topo *topo)
{
    json_t *value = json_object();
    json_t *levels = json_object();
    struct idset *allowed = topo_allowed_cpus(topo);
    for (enum topo_level level = TOPO_BOARD; level < TOPO_HWTHREAD; level++)
        if (topo->count[level])
            json_object_set_new(levels, topo_level_name(level), level_to_json(topo, level));
    json_object_set_new(value, "version", json_integer(TOPO_VERSION));
    json_object_set_new(value, "os", os_to_json(topo));
    json_object_set_new(value, "levels", levels);
    if (idset_count(allowed) < topo->npus)
        json_object_set_new(value, "allowed", idset_to_json(allowed));
    if (topo->ngpus)
        json_object_set_new(value, "gpus", gpus_to_json(topo));
    json_object_set_new(value, "memory", column_to_json(topo->memory, topo->npus, TOPO_ABSENT, -1));
    json_object_set_new(value, "gib", column_to_json(topo->gib, topo->npus, 0, 0));
    idset_free(allowed);
    return value;
}

char *topo_digest(const struct topo *topo)
{
    json_t *value = topo_to_json(topo);
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);
    uint64_t hash = 14695981039346656037u; /* FNV-1a, 64 bits */
    for (const char *at = text; at && *at; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    free(text);
    json_decref(value);
    return mem_format("%016" PRIx64, hash);
}

/* ---- in ---- */

struct block {
    int64_t first, step, count, step2, count2;
};

static int block_from_json(const json_t *value, struct block *block)
{
    size_t size = json_array_size(value);
    *block = (struct block){0, 1, 1, 1, 1};
    if (size != 1 && size != 3 && size != 5)
        return -1;
    block->first = number_at(value, 0, 0, IDSET_MAX);
    if (size > 1) {
        block->step = number_at(value, 1, -(int64_t)IDSET_MAX, IDSET_MAX);
        block->count = number_at(value, 2, 1, TOPO_MAX_PUS);
    }
    if (size > 3) {
        block->step2 = number_at(value, 3, -(int64_t)IDSET_MAX, IDSET_MAX);
        block->count2 = number_at(value, 4, 1, TOPO_MAX_PUS);
    }
    bool bad = block->first == INT64_MIN || block->step == INT64_MIN || block->count == INT64_MIN ||
               block->step2 == INT64_MIN || block->count2 == INT64_MIN;
    return bad ? -1 : 0;
}

static int block_expand(const struct block *block, uint32_t *os, uint32_t *npus)
{
    if (block->count * block->count2 > TOPO_MAX_PUS - *npus)
        return -1;
    for (int64_t j = 0; j < block->count2; j++)
        for (int64_t i = 0; i < block->count; i++) {
            int64_t id = block->first + j * block->step2 + i * block->step;
            if (id < 0 || id > IDSET_MAX)
                return -1;
            os[(*npus)++] = (uint32_t)id;
        }
    return 0;
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int os_from_json(const json_t *value, uint32_t *os, uint32_t *npus, struct error *err)
{
    *npus = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        struct block block;
        if (block_from_json(json_array_get(value, i), &block) < 0 ||
            block_expand(&block, os, npus) < 0)
            return error_set(err,
                             "topology: entry %zu of 'os' is not [first, step, count, step2, "
                             "count2] of at most %d threads in all",
                             i, TOPO_MAX_PUS);
    }
    if (*npus == 0)
        return error_set(err, "topology: 'os' has to be a list of at least one run of threads");
    uint32_t *sorted = mem_array(*npus, sizeof(*sorted));
    int rc = 0;
    memcpy(sorted, os, *npus * sizeof(*sorted));
    qsort(sorted, *npus, sizeof(*sorted), compare_ids);
    for (uint32_t i = 1; i < *npus && rc == 0; i++)
        if (sorted[i] == sorted[i - 1])
            rc = error_set(err, "topology: OS index %u stands twice in 'os'", sorted[i]);
    free(sorted);
    return rc;
}

static int level_from_json(struct topo *topo, enum topo_level level, const json_t *pairs)
{
    uint32_t row = 0;
    for (size_t at = 0; at < json_array_size(pairs); at += 2) {
        int64_t length = number_at(pairs, at, -(int64_t)TOPO_MAX_PUS, TOPO_MAX_PUS);
        int64_t times = number_at(pairs, at + 1, 1, TOPO_MAX_PUS);
        if (length == INT64_MIN || length == 0 || times == INT64_MIN ||
            llabs(length) * times > topo->npus - row)
            return -1;
        if (length < 0 && level == TOPO_CORE)
            return -1;
        for (int64_t i = 0; i<times; i++, topo->count[level] += length> 0)
            for (int64_t j = 0; j < llabs(length); j++, row++)
                topo->object[level][row] = length > 0 ? topo->count[level] : TOPO_ABSENT;
    }
    return row == topo->npus && topo->count[level] > 0 ? 0 : -1;
}

static int levels_from_json(struct topo *topo, const json_t *levels, struct error *err)
{
    const char *name;
    json_t *pairs;
    if (!json_is_object(levels))
        return error_set(err, "topology: 'levels' has to be an object");
    json_object_foreach((json_t *)levels, name, pairs)
    {
        enum topo_level level = topo_level_decode(name, strlen(name));
        if (level <= TOPO_NODE || level >= TOPO_HWTHREAD ||
            strcmp(name, topo_level_name(level)) != 0)
            return error_set(err, "topology: '%.40s' is not a level", name);
        if (level_from_json(topo, level, pairs) < 0)
            return error_set(err,
                             "topology: level '%s' has to be pairs of length and number that "
                             "cover the %u threads",
                             name, topo->npus);
    }
    return 0;
}

/* An object of one level begins inside an object of the other and ends outside it. */
static bool levels_astride(const struct topo *topo, enum topo_level a, enum topo_level b)
{
    const uint32_t *x = topo->object[a], *y = topo->object[b];
    uint32_t x_start = 0, y_start = 0;
    for (uint32_t row = 1; row < topo->npus; row++) {
        bool x_ends = x[row] != x[row - 1], y_ends = y[row] != y[row - 1];
        bool both = x[row - 1] != TOPO_ABSENT && y[row - 1] != TOPO_ABSENT;
        if (both &&
            ((x_ends && !y_ends && x_start < y_start) || (y_ends && !x_ends && y_start < x_start)))
            return true;
        x_start = x_ends ? row : x_start;
        y_start = y_ends ? row : y_start;
    }
    return false;
}

static int check_nesting(const struct topo *topo, struct error *err)
{
    for (enum topo_level a = TOPO_BOARD; a < TOPO_HWTHREAD; a++)
        for (enum topo_level b = a + 1; b < TOPO_HWTHREAD; b++)
            if (topo->count[a] && topo->count[b] && levels_astride(topo, a, b))
                return error_set(err, "topology: objects of %s and %s overlap in part",
                                 topo_level_name(a), topo_level_name(b));
    return 0;
}

static int allowed_from_json(struct topo *topo, const json_t *value, struct error *err)
{
    struct idset *set = value ? cpus_from_json(value, topo) : NULL;
    if (value && !set)
        return error_set(err, "topology: 'allowed' has to be a set of OS indexes out of 'os'");
    for (uint32_t row = 0; row < topo->npus; row++)
        topo->allowed[row] = !set || idset_has(set, topo->os[row]);
    idset_free(set);
    return 0;
}

struct topo *topo_from_json(const json_t *value, struct error *err)
{
    const json_t *version = json_object_get(value, "version");
    if (!json_is_integer(version) || json_integer_value(version) != TOPO_VERSION) {
        error_set(err, "topology: it has to be an object with \"version\": %d", TOPO_VERSION);
        return NULL;
    }
    uint32_t npus, *os = mem_array(TOPO_MAX_PUS, sizeof(*os));
    struct topo *topo = NULL;
    int rc = os_from_json(json_object_get(value, "os"), os, &npus, err);
    if (rc == 0) {
        topo = topo_new(npus);
        memcpy(topo->os, os, npus * sizeof(*os));
        if (levels_from_json(topo, json_object_get(value, "levels"), err) < 0 ||
            check_nesting(topo, err) < 0 ||
            allowed_from_json(topo, json_object_get(value, "allowed"), err) < 0 ||
            memory_from_json(topo, value, err) < 0 ||
            gpus_from_json(topo, json_object_get(value, "gpus"), err) < 0)
            rc = -1;
    }
    free(os);
    if (rc == 0)
        return topo;
    topo_free(topo);
    return NULL;
}
