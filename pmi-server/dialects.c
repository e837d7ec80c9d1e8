#include "pmi-server/dialects.h"

#include <stddef.h>

#include "pmi-server/pmi1/pmi1.h"

const struct dialect *const pmi_dialects[] = {&pmi1_dialect, NULL};
