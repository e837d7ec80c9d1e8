/* pmix-get KEY - prints a text that PMIx has of the whole job, or the status. */
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "pmix-status.h"

int main(int argc, char *argv[])
{
    pmix_proc_t me, job;
    pmix_value_t *value = NULL;
    pmix_info_t optional[1];
    bool yes = true;
    if (argc != 2 || PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    PMIX_LOAD_PROCID(&job, me.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&optional[0], PMIX_OPTIONAL, &yes, PMIX_BOOL); /* what came with the start */
    pmix_status_t status = PMIx_Get(&job, argv[1], optional, 1, &value);
    if (status == PMIX_SUCCESS && value->type == PMIX_STRING)
        printf("%s\n", value->data.string);
    else
        printf("%s\n", status_name(status));
    if (value)
        PMIX_VALUE_RELEASE(value);
    PMIx_Finalize(NULL, 0);
    return 0;
}
