/* The table of claims: what is taken is written the same, and its sets are looked into. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/ledger/claims_table.h"
#include "tests/fuzz/fuzz.h"

static void fuzz_rows(const struct claims *claims)
{
    struct rset *none = rset_new();
    struct claims_probe *probe = claims_probe_new(none);
    for (size_t i = 0; i < claims->count; i++) {
        struct error err = ERROR_INIT;
        const char *host;
        struct rset *set = claims_set(&claims->rows[i], &err);
        if (!set != (claims_probe_row(probe, &claims->rows[i], &host, NULL, NULL) < 0) ||
            !set != !!err.text)
            abort();
        rset_free(set);
        error_clear(&err);
    }
    claims_probe_free(probe);
    rset_free(none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct claims *claims = claims_decode(mem_copy_text_n((const char *)data, size), size, &err),
                  *again;
    if (!claims && !err.text)
        abort();
    error_clear(&err);
    if (!claims)
        return 0;
    size_t len, len_again;
    char *text = claims_encode(claims, &len);
    again = claims_decode(mem_copy_text_n(text, len), len, NULL);
    char *text_again = again ? claims_encode(again, &len_again) : NULL;
    if (!again || len != len_again || memcmp(text, text_again, len) != 0)
        abort();
    fuzz_rows(claims);
    free(text);
    free(text_again);
    claims_free(claims);
    claims_free(again);
    return 0;
}
