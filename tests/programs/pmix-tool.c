/*
 * pmix-tool URI COMMAND [ARG...] - a PMIx tool that connects to a program's host; an empty URI: to
 * whatever it finds.
 *   version                   its library's, without a connection
 *   who                       its own name
 *   hold                      says that it is in, and stays until its server goes
 *   watch CHANNELS NS [RANK]  what these tasks write (CHANNELS: o, e or oe), until the server goes
 *   few N CHANNELS NS [RANK]  the same, and ends the request when N messages have come
 *   push NS RANK              its own stdin, to a task
 *   requests NS               what else a tool may ask for, and how each is answered
 */
#include <pmix.h>
#include <pmix_tool.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix-status.h"

static pmix_proc_t me;
static atomic_bool gone;
static atomic_int messages;

static void check(const char *what, pmix_status_t status)
{
    if (status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED)
        return;
    fprintf(stderr, "pmix-tool: %s: %s\n", what, status_name(status));
    _exit(1);
}

/* ---- the server ---- */

static void on_lost(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    (void)id, (void)status, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    gone = true;
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void connect_to(const char *uri)
{
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, uri, PMIX_STRING);
    check("no server", PMIx_tool_init(&me, *uri ? &info : NULL, *uri ? 1 : 0));
    PMIx_Register_event_handler(&lost, 1, NULL, 0, on_lost, NULL, NULL);
}

static void stay(void)
{
    while (!gone)
        usleep(10000);
}

/* ---- output ---- */

static void on_output(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *payload, pmix_info_t info[], size_t ninfo)
{
    (void)id, (void)info, (void)ninfo;
    char head[64];
    int len = snprintf(head, sizeof(head), "%c%u: ", channel == PMIX_FWD_STDERR_CHANNEL ? 'e' : 'o',
                       source->rank);
    for (size_t at = 0, end; at < payload->size; at = end) {
        const char *line = payload->bytes + at, *stop = memchr(line, '\n', payload->size - at);
        end = stop ? (size_t)(stop - payload->bytes) + 1 : payload->size;
        if (write(1, head, (size_t)len) < 0 || write(1, line, end - at) < 0)
            _exit(1);
    }
    messages++;
}

/* Asked without a callback, openpmix 6.1 and later return no number. */
static atomic_bool pulled;
static pmix_status_t pull_status;
static size_t pull_number;

static void on_pulled(pmix_status_t status, size_t number, void *cbdata)
{
    (void)cbdata;
    pull_status = status;
    pull_number = number;
    pulled = true;
}

static size_t pull(char **args)
{
    pmix_proc_t proc;
    pmix_iof_channel_t channels = (strchr(args[0], 'o') ? PMIX_FWD_STDOUT_CHANNEL : 0) |
                                  (strchr(args[0], 'e') ? PMIX_FWD_STDERR_CHANNEL : 0);
    PMIX_LOAD_PROCID(&proc, args[1], args[2] ? (uint32_t)atoi(args[2]) : PMIX_RANK_WILDCARD);
    check("IOF_pull", PMIx_IOF_pull(&proc, 1, NULL, 0, channels, on_output, on_pulled, NULL));
    while (!pulled && !gone)
        usleep(1000);
    check("IOF_pull", pulled ? pull_status : PMIX_ERR_LOST_CONNECTION);
    fprintf(stderr, "pmix-tool: watching\n");
    return pull_number;
}

static void watch(char **args)
{
    pull(args);
    stay();
}

static atomic_bool over;
static pmix_status_t result;

static void on_over(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    result = status;
    over = true;
}

/* Of openpmix 4.2.2, what is asked without a callback hangs in its own code. */
static void await(const char *what, pmix_status_t asked)
{
    check(what, asked);
    while (!over && !gone)
        usleep(1000);
    check(what, over ? result : PMIX_ERR_LOST_CONNECTION);
    over = false;
}

static void few(char **args)
{
    size_t id = pull(args + 1);
    while (messages < atoi(args[0]) && !gone)
        usleep(10000);
    await("IOF_deregister", PMIx_IOF_deregister(id, NULL, 0, on_over, NULL));
    int after = messages;
    sleep(1);
    printf("%d more\n", messages - after);
}

/* ---- input ---- */

/* openpmix 6.1.0 to 6.1.1rc2: the library of a tool tells it nothing else of a push that was answered. */
static pmix_status_t push_status(pmix_status_t told)
{
    bool always = strncmp(PMIx_Get_version(), "OpenPMIx 6.1.", 13) == 0;
    return always && told == PMIX_ERR_COMM_FAILURE ? PMIX_SUCCESS : told;
}

static void on_pushed(pmix_status_t status, void *cbdata)
{
    on_over(push_status(status), cbdata);
}

static void push(char **args)
{
    char bytes[4096];
    ssize_t n;
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, args[0], (uint32_t)atoi(args[1]));
    while ((n = read(0, bytes, sizeof(bytes))) > 0) {
        pmix_byte_object_t object = {bytes, (size_t)n};
        await("IOF_push", PMIx_IOF_push(&proc, 1, &object, NULL, 0, on_pushed, NULL));
    }
    pmix_byte_object_t end = {NULL, 0};
    await("the end of IOF_push", PMIx_IOF_push(&proc, 1, &end, NULL, 0, on_pushed, NULL));
}

/* ---- what else there is ---- */

static void say(const char *what, pmix_status_t status)
{
    printf("%s: %s\n", what, status_name(status));
    fflush(stdout);
}

static void ask(const char *namespace)
{
    pmix_query_t query;
    pmix_info_t *results = NULL;
    size_t nresults = 0;
    PMIX_QUERY_CONSTRUCT(&query);
    pmix_status_t status;
    PMIX_ARGV_APPEND(status, query.keys, PMIX_QUERY_NAMESPACES);
    status = PMIx_Query_info(&query, 1, &results, &nresults);
    say("query", status);
    if (status == PMIX_SUCCESS && nresults && results[0].value.type == PMIX_STRING)
        printf("namespaces: %s\n",
               strstr(results[0].value.data.string, namespace) ? "right" : "wrong");
}

static void names(void)
{
    pmix_info_t info;
    pmix_pdata_t data;
    PMIX_INFO_LOAD(&info, "pmix-tool.key", "value", PMIX_STRING);
    say("publish", PMIx_Publish(&info, 1));
    PMIX_PDATA_CONSTRUCT(&data);
    strcpy(data.key, "pmix-tool.key");
    say("lookup", PMIx_Lookup(&data, 1, NULL, 0));
    say("unpublish", PMIx_Unpublish(NULL, NULL, 0));
}

static void requests(char **args)
{
    pmix_proc_t all, none;
    pmix_value_t *value;
    pmix_info_t info;
    pmix_app_t app;
    pmix_nspace_t spawned;
    PMIX_LOAD_PROCID(&all, args[0], PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&none, "no.such.namespace", 0);
    ask(args[0]);
    names();
    say("get", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &value));
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &(int){1}, PMIX_INT);
    say("get of nobody", PMIx_Get(&none, "key", &info, 1, &value));
    say("connect", PMIx_Connect(&none, 1, &info, 1));
    PMIX_INFO_LOAD(&info, PMIX_LOG_STDERR, "said by a tool\n", PMIX_STRING);
    say("log", PMIx_Log(&info, 1, NULL, 0));
    PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_SIGNAL, &(int){0}, PMIX_INT);
    say("control of nobody", PMIx_Job_control(&none, 1, &info, 1, NULL, NULL));
    PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_SIGNAL, &(int){SIGUSR1}, PMIX_INT);
    say("control", PMIx_Job_control(&all, 1, &info, 1, NULL, NULL));
    say("notify",
        PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &me, PMIX_RANGE_SESSION, NULL, 0, NULL, NULL));
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup("true");
    pmix_status_t status;
    PMIX_ARGV_APPEND(status, app.argv, "true");
    check("memory", status);
    app.maxprocs = 1;
    say("spawn", PMIx_Spawn(NULL, 0, &app, 1, spawned));
    say("abort", PMIx_Abort(3, "said by a tool", &none, 1));
}

static void who(char **args)
{
    (void)args;
    printf("%s %u\n", me.nspace, me.rank);
}

static void hold(char **args)
{
    (void)args;
    printf("in\n");
    fflush(stdout);
    stay();
}

static const struct {
    const char *name;
    int nargs;
    void (*run)(char **args);
} commands[] = {{"who", 0, who}, {"hold", 0, hold}, {"watch", 2, watch},
                {"few", 3, few}, {"push", 2, push}, {"requests", 1, requests}};

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[2], "version"))
        return puts(PMIx_Get_version()) < 0;
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        if (argc < 3 + commands[i].nargs || strcmp(argv[2], commands[i].name) != 0)
            continue;
        connect_to(argv[1]);
        commands[i].run(argv + 3);
        fflush(stdout);
        PMIx_tool_finalize();
        return 0;
    }
    fprintf(stderr, "pmix-tool URI COMMAND [ARG...]\n");
    return 2;
}
