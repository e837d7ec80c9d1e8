/* What clients see otherwise by the version of openpmix. */
#ifndef TESTS_PROGRAMS_PMIX_VERSIONS_H
#define TESTS_PROGRAMS_PMIX_VERSIONS_H

#include <pmix.h>
#include <pmix_version.h>
#include <stdbool.h>

/* Of several tasks on one node that wait in a fence that fails, openpmix 4.2.3 to 6.1 tells the
 * first, and the others that it succeeded (mended in 7.0, openpmix commit 75d11d40e). */
static inline bool fence_may_succeed(pmix_status_t status)
{
    return status == PMIX_SUCCESS && PMIX_NUMERIC_VERSION >= 0x00040203 &&
           PMIX_NUMERIC_VERSION < 0x00070000;
}

/* PMIx_Fence() of openpmix 4.2.4 to 5.0 takes a group's name for a namespace, and waits for ever
 * (mended in 6.0, openpmix commit 70a3e1908). */
static inline bool fence_takes_groups(void)
{
    return PMIX_NUMERIC_VERSION < 0x00040204 || PMIX_NUMERIC_VERSION >= 0x00060000;
}

/* The server of openpmix 6.0 to now waits for ever where a group is constructed of a namespace that
 * it was not told of (check_definition_complete() in its pmix_server_group.c looks once): somebody
 * on the node has to connect to it before; from 7.0 on a question about it does as well. */
static inline bool group_needs_known_jobs(void)
{
    return PMIX_NUMERIC_VERSION >= 0x00060000;
}

/* What members give for all, and members that not all know of, who know no others. */
static inline bool group_has_followers(void)
{
    return PMIX_NUMERIC_VERSION >= 0x00060000;
}

/* From 7.0 on a fence that tasks of one node alone are in waits for a task that has finalized,
 * which may initialize PMIx again, and for ever where it has ended (openpmix issue 4113, commit
 * 9f45a7e14). */
static inline bool fence_waits_for_finalized(void)
{
    return PMIX_NUMERIC_VERSION >= 0x00070000;
}

#endif
