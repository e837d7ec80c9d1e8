/* Any text is refused with a sentence, or is a constraint that its JSON gives again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/constraint.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

static struct rset *make_world(void)
{
    static const char text[] =
        "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-3\",\"children\":{\"core\":"
        "\"0\"}}],\"starttime\":0,\"expiration\":0,\"nodelist\":[\"a[0-3]\"],"
        "\"properties\":{\"p\":\"0-1\",\"q@r\":\"3\"}}}";
    struct rset *R = rset_decode(text, strlen(text), NULL);
    if (!R)
        abort();
    return R;
}

/* What a constraint says comes through JSON, and it matches ranks that there are. */
static void check_constraint(const struct constraint *constraint, const struct rset *R)
{
    json_t *value = constraint_to_json(constraint);
    struct constraint *again = constraint_from_json(value, NULL);
    if (!again)
        abort();
    json_t *other = constraint_to_json(again);
    struct idset *a = constraint_match(constraint, R), *b = constraint_match(again, R);
    if (!json_equal(value, other) || !idset_equal(a, b))
        abort();
    if (!idset_empty(a) && idset_last(a) > 3)
        abort();
    constraint_unknown_property(constraint, R);
    idset_free(a);
    idset_free(b);
    json_decref(other);
    json_decref(value);
    constraint_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rset *R;
    if (!R)
        R = make_world();
    struct error err = ERROR_INIT;
    char *text = mem_copy_text_n((const char *)data, size);
    struct constraint *constraint = constraint_decode(text, &err);
    if (constraint)
        check_constraint(constraint, R);
    else if (!err.text)
        abort();
    constraint_free(constraint);
    error_clear(&err);
    free(text);
    return 0;
}
