/*
 * Any topology is refused with a sentence, or can be trimmed and renumbered and is then read again;
 * what is allocated by it is free and is trimmed the same way.
 */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/scheduling.h"
#include "affinity/treepool/treepool.h"
#include "tests/fuzz/fuzz.h"

static void check_reads(const struct rset *set)
{
    struct error err = ERROR_INIT;
    if (scheduling_check(set, &err) < 0)
        abort();
    json_t *R = rset_to_json(set);
    struct rset *again = rset_from_json(R, NULL);
    if (!again || scheduling_check(again, NULL) < 0 ||
        (set->scheduling && !json_equal(again->scheduling, set->scheduling)))
        abort();
    rset_free(again);
    json_decref(R);
}

static bool is_even(const struct rset_node *node, void *arg)
{
    (void)arg;
    return node->rank % 2 == 0;
}

/* Half of the nodes, in the numbering of all and in their own. */
static void check_half(const struct rset *set)
{
    struct rset *half = rset_select(set, is_even, NULL);
    if (half->nnodes) {
        json_t *trimmed = scheduling_trim(half->scheduling, half);
        json_decref(half->scheduling);
        half->scheduling = trimmed;
        check_reads(half);
        scheduling_rerank(half);
        check_reads(half);
    }
    rset_free(half);
}

static void check_grant(const struct rset *set, const char *text)
{
    struct error err = ERROR_INIT;
    struct shape *shape = shape_decode(text, NULL);
    struct request *request = request_from_shape(shape, NULL);
    struct treepool_grant *grant, *more;
    enum treepool_answer answer = treepool_allocate(set, NULL, request, NULL, &grant, &err);
    if (answer == TREEPOOL_BUSY || (answer == TREEPOOL_GRANTED) == (err.text != NULL))
        abort();
    if (grant) {
        check_reads(grant->R);
        treepool_allocate(set, grant->R, request, NULL, &more, NULL);
        if (more && rset_overlap(grant->R, more->R, NULL))
            abort();
        treepool_grant_free(more);
    }
    treepool_grant_free(grant);
    request_free(request);
    shape_free(shape);
    error_clear(&err);
}

static void check_rset(const struct rset *set)
{
    static const char *const shapes[] = {"slot=2/[core=2;gpu=1]", "slot/numa=2/core=1",
                                         "node/socket{x}/slot=2/core", "slot/numa{x}"};
    check_reads(set);
    check_half(set);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_grant(set, shapes[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct rset *set = rset_decode((const char *)data, size, &err);
    bool right = set && scheduling_check(set, &err) == 0;
    if (right != !err.text)
        abort();
    if (right && set->nnodes <= 4096)
        check_rset(set);
    rset_free(set);
    error_clear(&err);
    return 0;
}
