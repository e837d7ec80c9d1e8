/* Any bytes as a packed set of pairs. What was taken in is found by its key, and packs and merges
 * into an equal space. */
#include <stdint.h>
#include <string.h>

#include "pmi-server/pmi/kvs.h"
#include "tests/fuzz/fuzz.h"

static void check_equal(const struct kvs *a, const struct kvs *b)
{
    const char *key, *value;
    check(kvs_count(a) == kvs_count(b));
    for (size_t i = 0; kvs_at(a, i, &key, &value); i++) {
        const char *other = kvs_get(b, key);
        check(other && !strcmp(value, other));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kvs *first = kvs_new("k"), *second = kvs_new("k"), *third = kvs_new("k");
    struct buf packed = BUF_INIT;
    struct error err = ERROR_INIT;
    const char *key, *value;
    int rc = kvs_merge(first, data, size, &err);
    check(rc == 0 ? !err.text : err.text != NULL);
    check_equal(first, first);
    for (size_t i = 0; kvs_at(first, i, &key, &value); i++)
        kvs_put(second, key, value);
    kvs_published(second, kvs_pack_fresh(second, &packed));
    check(kvs_merge(third, buf_bytes(&packed), packed.len, NULL) == 0);
    check_equal(first, third);
    check_equal(third, second);
    buf_free(&packed);
    error_clear(&err);
    kvs_free(first);
    kvs_free(second);
    kvs_free(third);
    return 0;
}
