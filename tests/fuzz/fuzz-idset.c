/* Any text is refused with a sentence, or is a set whose text reads back as the same set. */
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/idset.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

static void check_set(const struct idset *set)
{
    char *encoded = idset_encode(set);
    struct idset *again = idset_decode(encoded, NULL);
    if (!again || !idset_equal(set, again) || !idset_within(set, again))
        abort();
    struct idset *none = idset_subtract(set, again), *both = idset_intersect(set, again);
    struct idset *sum = idset_union(set, again);
    if (!idset_empty(none) || !idset_equal(both, set) || !idset_equal(sum, set))
        abort();
    idset_free(none);
    idset_free(both);
    idset_free(sum);
    idset_free(again);
    free(encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_copy_text_n((const char *)data, size);
    struct error err = ERROR_INIT;
    struct idset *set = idset_decode(text, &err);
    if (set)
        check_set(set);
    else if (!err.text)
        abort();
    idset_free(set);
    error_clear(&err);
    free(text);
    return 0;
}
