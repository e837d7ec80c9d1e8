/* An XML text is refused with a sentence, or is one that hwloc may be given: no deeper than it can
 * follow, by a plainer count than the scan's own, and without texts that stand for others. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/topology/topo_xml.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

/* Tags that open one after the other without one that closes between them are nested, where no
 * quote, comment or declaration says otherwise. */
static size_t plain_depth(const char *text)
{
    size_t depth = 0, most = 0;
    if (strpbrk(text, "\"'!?"))
        return 0;
    for (const char *at = text; (at = strchr(at, '<')); at++) {
        const char *end = strchr(at, '>');
        bool closes = at[1] == '/', empty = end && end[-1] == '/';
        depth = closes ? 0 : depth + !empty;
        most = depth > most ? depth : most;
        if (!end)
            break;
        at = end;
    }
    return most;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    char *text = mem_copy_text_n((const char *)data, size);
    if (topo_xml_check((const char *)data, size, &err) < 0) {
        if (!err.text)
            abort();
    } else if (plain_depth(text) > TOPO_XML_MAX_DEPTH) {
        abort();
    }
    free(text);
    error_clear(&err);
    return 0;
}
