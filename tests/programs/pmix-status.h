/* Names of statuses as tests compare them, whichever openpmix says them. */
#ifndef TESTS_PROGRAMS_PMIX_STATUS_H
#define TESTS_PROGRAMS_PMIX_STATUS_H

#include <pmix.h>
#include <stdio.h>
#include <string.h>

/* 4.2: "NOT-FOUND", "LOST_CONNECTION", "EXECUTABLE NOT FOUND"; 5.0 and later: "PMIX_ERR_NOT_FOUND".
 * Here "NOT-FOUND", of the last call. */
static inline const char *status_name(pmix_status_t status)
{
    static char name[128];
    const char *text = status == PMIX_ERR_JOB_EXE_NOT_FOUND        ? "JOB-EXE-NOT-FOUND"
                       : status == PMIX_ERR_JOB_APP_NOT_EXECUTABLE ? "JOB-APP-NOT-EXECUTABLE"
                                                                   : PMIx_Error_string(status);
    const char *const heads[] = {"PMIX_ERR_", "PMIX_"};
    for (size_t i = 0; i < 2; i++)
        if (!strncmp(text, heads[i], strlen(heads[i]))) {
            text += strlen(heads[i]);
            break;
        }
    snprintf(name, sizeof(name), "%s", text);
    for (char *at = name; (at = strpbrk(at, "_ "));)
        *at = '-';
    return name;
}

#endif
