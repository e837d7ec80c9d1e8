/* quote - untrusted text for an error message. */
#ifndef PMI_SERVER_PMI_QUOTE_H
#define PMI_SERVER_PMI_QUOTE_H

#include <stddef.h>

/* Escaped, and cut with "..." after a while. A NUL is shown as a space: parsing left it there. */
#define QUOTE_SIZE 160
const char *quote_text(char quote[QUOTE_SIZE], const char *text, size_t len);

#endif
