/* What the files of count share, and nobody else. */
#ifndef AFFINITY_SHAPE_COUNT_PRIVATE_H
#define AFFINITY_SHAPE_COUNT_PRIVATE_H

#include "affinity/shape/count.h"

#define COUNT_HINT "expected a count such as 4, 3-30, 2+, 1-8:2:* or 4,9,16"

/* What is wrong with a range (RFC 45, RFC 14), or NULL. */
const char *count_range_wrong(const struct count *count);

#endif
