/*
 * module - the table of upcalls in the form that the loaded openpmix reads, and which versions are
 * known.
 *
 * PMIx_server_init() copies a struct by the size of its own version's, and what a place in it means
 * has changed between versions. So the table is made for the version that was loaded, whatever the
 * headers of the build are.
 *
 * Where this host works around what some versions do, a comment beside the code begins with
 * "openpmix FIRST to LAST:", the versions that do so. LAST is "now" where the newest one does, and
 * "?" where the later ones were not looked at.
 */
#ifndef PMI_SERVER_PMIX_MODULE_H
#define PMI_SERVER_PMIX_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define MODULE_KNOWN "4.2 to 7" /* for people */

struct pmix_version {
    unsigned major, minor, release;
    bool candidate; /* or another one ahead of the release */
    char text[32];  /* "7.0.0rc1" */
};

/* From PMIx_Get_version()'s "OpenPMIx 4.2.2 (PMIx Standard: ...)"; all 0 where there is no number.
 * */
struct pmix_version pmix_version_of(const char *text);

/* Its major version is one of those that this host knows, and it is not too old. */
bool module_knows(const struct pmix_version *version);

typedef void module_upcall(void);

struct module_slots {
    module_upcall **at; /* malloc()ed; openpmix keeps none of it */
    size_t count;
};

/* For a version that is known. What it does not have is left out; where its struct is not known
 * exactly, the upcalls that all versions have in the same places are followed by NULLs. */
struct module_slots module_make(const struct pmix_version *version);

#endif
