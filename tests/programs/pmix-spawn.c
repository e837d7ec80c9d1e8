/* pmix-spawn [KEY=VALUE...] N PROGRAM [ARG...] [: [KEY=VALUE...] N PROGRAM [ARG...]]... - a task that
 * has these spawned, each part with its directives (those of a part before its N), and prints what
 * PMIx_Spawn() said. A key that ends in '!' is required; @KEY stands before the first part and is
 * the job's. KEY=VALUE of no "pmix." is a variable of the new tasks' environment.
 * pmix-spawn show: what a task knows of itself, in a line.
 * pmix-spawn loop COUNT PROGRAM [ARG...]: one at a time; prints how much memory its host uses meanwhile. */
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
    fprintf(stderr, "pmix-spawn: %s: %s\n", what, status_name(status));
    exit(1);
}

static pmix_value_t *get(uint32_t rank, const char *key)
{
    pmix_proc_t proc = me;
    pmix_value_t *value = NULL;
    proc.rank = rank;
    return PMIx_Get(&proc, key, NULL, 0, &value) == PMIX_SUCCESS ? value : NULL;
}

static unsigned number(uint32_t rank, const char *key)
{
    pmix_value_t *value = get(rank, key);
    return value ? value->data.uint32 : 0;
}

static void show(void)
{
    char directory[4096];
    const pmix_value_t *spawned = get(PMIX_RANK_WILDCARD, PMIX_SPAWNED);
    const pmix_value_t *parent = get(me.rank, PMIX_PARENT_ID);
    printf("rank %u of %u", me.rank, number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE));
    printf(", app %u, in %s", number(me.rank, PMIX_APPNUM), getcwd(directory, sizeof(directory)));
    printf(", spawned %d", spawned && spawned->data.flag);
    if (parent)
        printf(", by rank %u of %s", parent->data.proc->rank, parent->data.proc->nspace);
    printf("\n");
}

/* ---- directives ---- */

static void add(pmix_info_t *infos, size_t *count, char *text)
{
    pmix_info_t *info = &infos[(*count)++];
    char *value = strchr(text, '=');
    *value++ = '\0';
    size_t len = strlen(text);
    if (text[len - 1] == '!')
        info->flags = PMIX_INFO_REQD;
    text[len - (text[len - 1] == '!')] = '\0';
    strncpy(info->key, text, PMIX_MAX_KEYLEN);
    info->value.type = PMIX_STRING;
    info->value.data.string = value;
    if (!strncmp(text, "pmix.envar.", 11) && strcmp(text, PMIX_UNSET_ENVAR) != 0) {
        char *equals = strchr(value, '=');
        *equals = '\0';
        info->value.type = PMIX_ENVAR;
        info->value.data.envar = (pmix_envar_t){value, equals + 1, ':'};
    }
}

static char **words(char **from, char **end)
{
    char **argv = calloc((size_t)(end - from) + 1, sizeof(*argv));
    memcpy(argv, from, (size_t)(end - from) * sizeof(*argv));
    return argv;
}

/* Up to a plus or the end. */
static char **read_app(pmix_app_t *app, char **at)
{
    static char *env[MAX][MAX + 1];
    static int apps;
    size_t nenv = 0;
    pmix_info_t *infos = calloc(MAX, sizeof(*infos));
    app->env = env[apps++];
    for (; strchr(*at, '='); at++)
        if (!strncmp(*at, "pmix.", 5))
            add(infos, &app->ninfo, *at);
        else
            app->env[nenv++] = *at;
    app->info = app->ninfo ? infos : NULL;
    app->maxprocs = atoi(*at++);
    char **end = at;
    while (*end && strcmp(*end, "+") != 0)
        end++;
    app->cmd = at[0];
    app->argv = words(at, end);
    return *end ? end + 1 : end;
}

static void spawn(char **at)
{
    static pmix_info_t job[MAX];
    static pmix_app_t apps[MAX];
    size_t njob = 0, napps = 0;
    pmix_nspace_t name = "";
    for (; **at == '@'; at++)
        add(job, &njob, *at + 1);
    while (*at)
        at = read_app(&apps[napps++], at);
    pmix_status_t status = PMIx_Spawn(njob ? job : NULL, njob, apps, napps, name);
    printf("%s %s\n", status_name(status), name);
}

/* ---- many ---- */

static long host_kib(void)
{
    char path[64], line[256];
    long kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", getppid());
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        sscanf(line, "VmRSS: %ld", &kib);
    if (file)
        fclose(file);
    return kib;
}

static void loop(int count, char **argv)
{
    for (int i = 0; i < count; i++) {
        pmix_app_t app = {.cmd = argv[0], .argv = argv, .maxprocs = 1};
        pmix_nspace_t name;
        must(PMIx_Spawn(NULL, 0, &app, 1, name), "PMIx_Spawn");
        if (i % 100 == 99)
            printf("%d %ld\n", i + 1, host_kib());
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    if (!strcmp(argv[1], "show"))
        show();
    else if (!strcmp(argv[1], "loop") && me.rank == 0)
        loop(atoi(argv[2]), argv + 3);
    else if (me.rank == 0)
        spawn(argv + 1);
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
