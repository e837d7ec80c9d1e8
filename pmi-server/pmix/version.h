/*
 * version - versions of openpmix: which are known, and what differs in what they read of the host.
 *
 * Where this host works around what some versions do, a comment beside the code begins with
 * "openpmix FIRST to LAST:", the versions that do so. LAST is "now" where the newest one does, and
 * "?" where the later ones were not looked at.
 */
#ifndef PMI_SERVER_PMIX_VERSION_H
#define PMI_SERVER_PMIX_VERSION_H

#include <stdbool.h>
#include <stddef.h>

#define PMIX_VERSIONS_KNOWN "4.2 to 7" /* for people */

struct pmix_version {
    unsigned major, minor, release;
    bool candidate; /* or another one ahead of the release */
    char text[32];  /* "7.0.0rc1" */
};

/* Slots of the table of upcalls, and where newer upcalls are in it; 0 where it does not have
 * one. */
struct module_layout {
    size_t count;
    size_t tool_connected2, log2, session_control;
};

/* From PMIx_Get_version()'s "OpenPMIx 4.2.2 (PMIx Standard: ...)"; all 0 where there is no number.
 * */
struct pmix_version pmix_version_of(const char *text);
/* Its major version is one of those that this host knows, and it is not too old. */
bool pmix_version_known(const struct pmix_version *version);
/* Static. NULL: it is not known exactly. */
const struct module_layout *pmix_version_layout(const struct pmix_version *version);

#endif
