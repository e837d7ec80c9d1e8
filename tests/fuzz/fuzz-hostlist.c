/* Any text is refused with a sentence, or is a list that its own text gives again, host by host. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

static void check_list(const struct hostlist *list)
{
    char *encoded = hostlist_encode(list);
    struct hostlist *again = hostlist_decode(encoded, NULL);
    if (!again || hostlist_count(again) != hostlist_count(list))
        abort();
    for (size_t i = 0; i < hostlist_count(list); i++)
        if (strcmp(hostlist_nth(list, i), hostlist_nth(again, i)) != 0)
            abort();
    hostlist_free(again);
    free(encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_copy_text_n((const char *)data, size);
    struct error err = ERROR_INIT;
    struct hostlist *list = hostlist_decode(text, &err);
    if (list)
        check_list(list);
    else if (!err.text)
        abort();
    hostlist_free(list);
    error_clear(&err);
    free(text);
    return 0;
}
