/*
 * imported_symbols - functions and variables that one library imports, replaced for this library
 * alone.
 *
 * A library uses what it imports through addresses that the loader has written into it (ELF:
 * relocations). Those of one name are written again. This changes what the library does where it
 * offers no other place to change it.
 */
#ifndef PMI_SERVER_PMIX_IMPORTED_SYMBOLS_H
#define PMI_SERVER_PMIX_IMPORTED_SYMBOLS_H

#include "base/error.h"

typedef void imported_function(void);

/* The library of this handle of dlopen(), which was opened with RTLD_NOW, calls `function` where it
 * called the one of that name, and that one is returned. No thread of the library runs. NULL with a
 * sentence: it imports no function of that name, or its addresses cannot be written. */
imported_function *imported_function_replace(void *handle, const char *name,
                                             imported_function *function, struct error *err);
/* The same for a variable: the library reads and writes this one, of the same type. */
void *imported_variable_replace(void *handle, const char *name, void *variable, struct error *err);

#endif
