/* The dialects that a server can offer: the table above those who speak them, for owners of a server. */
#include "pmi-server/pmi/dialects.h"

#include <stddef.h>

#include "pmi-server/pmi/pmi1.h"
#include "pmi-server/pmi/pmi2.h"

const struct dialect *const *dialects_of(bool pmi1, bool pmi2)
{
    static const struct dialect *const both[] = {&pmi1_dialect, &pmi2_dialect, NULL};
    static const struct dialect *const first[] = {&pmi1_dialect, NULL};
    static const struct dialect *const second[] = {&pmi1_greeting, &pmi2_dialect, NULL};
    if (pmi1)
        return pmi2 ? both : first;
    return pmi2 ? second : NULL;
}
