/* pmix-query [QUALIFIER=VALUE...] KEY... [/ ...]: what rank 0 is told of these keys, in one request
 * with a query for each part between slashes; a line for each that is found, or the status where
 * not all are. The namespace "." is its own. Others wait for it. */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix-status.h"

#define MAX 16

static pmix_proc_t me;

static void must(pmix_status_t status, const char *what)
{
    if (status == PMIX_SUCCESS)
        return;
    fprintf(stderr, "pmix-query: %s: %s\n", what, status_name(status));
    exit(1);
}

/* ---- shown ---- */

static void show_value(const pmix_value_t *value);

static void show_task(const pmix_proc_info_t *info)
{
    printf("%u:%s:%s:%s:%s:%d", info->proc.rank, info->hostname, info->executable_name,
           info->pid == getpid() && info->proc.rank == me.rank ? "me"
           : info->pid > 0                                     ? "pid"
                                                               : "-",
           PMIx_Proc_state_string(info->state), info->exit_code);
}

static void show_array(const pmix_data_array_t *array)
{
    printf("[");
    for (size_t i = 0; i < array->size; i++) {
        printf("%s", i ? " " : "");
        if (array->type == PMIX_PROC_INFO) {
            show_task((const pmix_proc_info_t *)array->array + i);
        } else if (array->type == PMIX_PROC) {
            const pmix_proc_t *proc = (const pmix_proc_t *)array->array + i;
            printf("%s.%u", strrchr(proc->nspace, '.'), proc->rank);
        } else if (array->type == PMIX_INFO) {
            const pmix_info_t *info = (const pmix_info_t *)array->array + i;
            printf("%s=", info->key);
            show_value(&info->value);
        }
    }
    printf("]");
}

static void show_value(const pmix_value_t *value)
{
    switch (value->type) {
    case PMIX_STRING:
        printf("%s", value->data.string);
        break;
    case PMIX_UINT32:
        printf("%u", value->data.uint32);
        break;
    case PMIX_SIZE:
        printf("%zu", value->data.size);
        break;
    case PMIX_STATUS:
        printf("%s", status_name(value->data.status));
        break;
    case PMIX_PROC:
        printf("%s.%u", strrchr(value->data.proc->nspace, '.'), value->data.proc->rank);
        break;
    case PMIX_DATA_ARRAY:
        show_array(value->data.darray);
        break;
    default:
        printf("(type %d)", value->type);
    }
}

/* ---- asked ---- */

static void add_qualifier(pmix_query_t *query, char *text)
{
    static pmix_info_t infos[MAX][MAX];
    static int queries;
    if (!query->qualifiers)
        query->qualifiers = infos[queries++];
    pmix_info_t *info = &query->qualifiers[query->nqual++];
    char *value = strchr(text, '=');
    *value++ = '\0';
    strncpy(info->key, text, PMIX_MAX_KEYLEN);
    info->value.type = PMIX_STRING;
    info->value.data.string = strcmp(value, ".") ? value : me.nspace;
}

static char **read_query(pmix_query_t *query, char **at)
{
    size_t nkeys = 0;
    query->keys = calloc(MAX, sizeof(*query->keys));
    for (; *at && strcmp(*at, "/") != 0; at++)
        if (strchr(*at, '='))
            add_qualifier(query, *at);
        else
            query->keys[nkeys++] = *at;
    return *at ? at + 1 : at;
}

static void ask(char **at)
{
    static pmix_query_t queries[MAX];
    pmix_info_t *results = NULL;
    size_t nqueries = 0, nresults = 0;
    while (*at)
        at = read_query(&queries[nqueries++], at);
    pmix_status_t status = PMIx_Query_info(queries, nqueries, &results, &nresults);
    if (status != PMIX_SUCCESS)
        printf("%s\n", status_name(status));
    for (size_t i = 0; i < nresults; i++) {
        printf("%s ", results[i].key);
        show_value(&results[i].value);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    must(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence"); /* all speak PMIx now */
    if (me.rank == 0)
        ask(argv + 1);
    must(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
