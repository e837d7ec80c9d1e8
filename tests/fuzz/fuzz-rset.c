/* Any text is refused with a sentence, or is a resource set whose JSON gives the same again. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/rset.h"
#include "tests/fuzz/fuzz.h"

static void check_rset(const struct rset *set)
{
    json_t *R = rset_to_json(set);
    struct error err = ERROR_INIT;
    struct rset *again = rset_from_json(R, &err);
    if (!again)
        abort();
    json_t *second = rset_to_json(again);
    if (!json_equal(R, second))
        abort();
    struct rset *none = rset_subtract_hosts(set, again), *copy = rset_copy(set);
    if (none->nnodes || copy->nnodes != set->nnodes || !rset_overlap(set, copy, NULL))
        abort();
    rset_check_time(set, 1e9, &err);
    error_clear(&err);
    rset_free(none);
    rset_free(copy);
    json_decref(second);
    rset_free(again);
    json_decref(R);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct rset *set = rset_decode((const char *)data, size, &err);
    if (set)
        check_rset(set);
    else if (!err.text)
        abort();
    rset_free(set);
    error_clear(&err);
    return 0;
}
