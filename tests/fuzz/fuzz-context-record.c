/* Records of contexts: any bytes are walked to their end, and what a record has lies within them. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/ledger/context_record.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct completed_context context;
    size_t at = 0, before = 0;
    while (context_record_next(bytes, size, &at, &context)) {
        if (at <= before || at > size || !*context.id ||
            strspn(context.id, "0123456789") != strlen(context.id))
            abort();
        for (int i = 0; i < CONTEXT_FILES; i++)
            if (context.files[i] && (context.files[i] < bytes + before || context.lens[i] > size ||
                                     context.files[i] + context.lens[i] > bytes + at))
                abort();
        before = at;
    }
    if (at != size)
        abort();
    return 0;
}
