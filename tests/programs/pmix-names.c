/*
 * pmix-names STEP... - a task that publishes and looks up through PMIx; each step prints a line.
 *
 *   publish KEY VALUE    to all, until the task's job ends
 *   once KEY VALUE       the same, to be read once
 *   bytes KEY VALUE      the same as bytes, not text
 *   lookup KEY           as it is now
 *   await KEY SECONDS    until it is there, so long at most
 *   gone KEY             when it is not there any more
 *   unpublish KEY
 *   until FILE           it goes on when the file is there; prints nothing
 */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix-status.h"

static pmix_info_t option(const char *key, pmix_data_type_t type, int value)
{
    pmix_info_t info = {.value.type = type};
    strcpy(info.key, key);
    if (type == PMIX_PERSIST)
        info.value.data.persist = (pmix_persistence_t)value;
    else
        info.value.data.integer = value;
    return info;
}

static void say(const char *step, const char *key, pmix_status_t status)
{
    printf("%s %s: %s\n", step, key, status ? status_name(status) : "ok");
}

static void publish(const char *step, const char *key, const char *value)
{
    pmix_info_t info[2] = {{.value = {.type = PMIX_STRING, .data.string = (char *)value}}};
    int persistence = strcmp(step, "once") == 0 ? PMIX_PERSIST_FIRST_READ : PMIX_PERSIST_APP;
    strcpy(info[0].key, key);
    info[1] = option(PMIX_PERSISTENCE, PMIX_PERSIST, persistence);
    if (strcmp(step, "bytes") == 0)
        info[0].value =
            (pmix_value_t){.type = PMIX_BYTE_OBJECT, .data.bo = {(char *)value, strlen(value)}};
    say(step, key, PMIx_Publish(info, 2));
}

static void look(const char *step, const char *key, const char *seconds)
{
    pmix_pdata_t data = {0};
    pmix_info_t info[] = {option(PMIX_WAIT, PMIX_INT, 0),
                          option(PMIX_TIMEOUT, PMIX_INT, seconds ? atoi(seconds) : 0)};
    strcpy(data.key, key);
    pmix_status_t status = PMIx_Lookup(&data, 1, info, seconds ? 2 : 0);
    if (status)
        say(step, key, status);
    else if (data.value.type == PMIX_STRING)
        printf("%s %s: \"%s\" of %d\n", step, key, data.value.data.string, (int)data.proc.rank);
    else if (data.value.type == PMIX_BYTE_OBJECT)
        printf("%s %s: %.*s of %d\n", step, key, (int)data.value.data.bo.size,
               data.value.data.bo.bytes, (int)data.proc.rank);
    else
        printf("%s %s: type %d\n", step, key, data.value.type);
}

static void unpublish(const char *key)
{
    char *keys[] = {(char *)key, NULL};
    say("unpublish", key, PMIx_Unpublish(keys, NULL, 0));
}

static void await_end(const char *key)
{
    pmix_pdata_t data = {0};
    strcpy(data.key, key);
    pmix_status_t status = PMIX_SUCCESS;
    for (int i = 0; i < 500 && status == PMIX_SUCCESS; i++, usleep(20000))
        status = PMIx_Lookup(&data, 1, NULL, 0);
    say("gone", key, status == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : PMIX_ERR_TIMEOUT);
}

/* The step after it. */
static char **take(char **step)
{
    if (!strcmp(*step, "publish") || !strcmp(*step, "once") || !strcmp(*step, "bytes")) {
        publish(step[0], step[1], step[2]);
        return step + 3;
    }
    if (!strcmp(*step, "await")) {
        look(step[0], step[1], step[2]);
        return step + 3;
    }
    if (!strcmp(*step, "lookup"))
        look(step[0], step[1], NULL);
    else if (!strcmp(*step, "gone"))
        await_end(step[1]);
    else if (!strcmp(*step, "unpublish"))
        unpublish(step[1]);
    else
        while (access(step[1], F_OK))
            usleep(20000);
    return step + 2;
}

int main(int argc, char **argv)
{
    pmix_proc_t me;
    (void)argc;
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    setlinebuf(stdout);
    for (char **step = argv + 1; *step;)
        step = take(step);
    return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}
