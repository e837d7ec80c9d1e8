/*
 * pmix-user - a task, and what another user of its machine does to its PMIx server.
 *
 *     pmix-user task [FILE]     puts a key; with FILE connects once that is there; ends once ./over is
 *     pmix-user init            PMIx_Init, another rank's key, PMIx_Spawn; says what came of it
 *     pmix-user connect N BYTES N connections that say so many bytes, and stay
 *
 * The last two are given the task's PMIX_* variables. CLAIM and CLAIM_GROUP in the environment are
 * the user and the group that openpmix's client says it has.
 */
#include <pmix.h>
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* libpmix calls these. */
uid_t geteuid(void)
{
    const char *claim = getenv("CLAIM");
    return claim ? (uid_t)atol(claim) : (uid_t)syscall(SYS_geteuid);
}

gid_t getegid(void)
{
    const char *claim = getenv("CLAIM_GROUP");
    return claim ? (gid_t)atol(claim) : (gid_t)syscall(SYS_getegid);
}

static void say(const char *what, pmix_status_t status)
{
    printf("%s: %s\n", what, status == PMIX_SUCCESS ? "done" : "refused");
    fflush(stdout);
}

static void wait_for(const char *file)
{
    while (access(file, F_OK) < 0)
        usleep(10000);
}

static int be_task(const char *file)
{
    pmix_proc_t me;
    pmix_value_t value = {.type = PMIX_STRING, .data.string = "of the owner"};
    if (file)
        wait_for(file);
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS || PMIx_Put(PMIX_GLOBAL, "card", &value) ||
        PMIx_Commit() || PMIx_Fence(NULL, 0, NULL, 0))
        return 1;
    printf("rank %u: good\n", me.rank);
    fflush(stdout);
    wait_for("over");
    return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}

static int intrude(void)
{
    pmix_proc_t me, other;
    pmix_value_t *value;
    pmix_app_t app;
    pmix_nspace_t name;
    pmix_status_t status = PMIx_Init(&me, NULL, 0);
    say("init", status);
    if (status != PMIX_SUCCESS)
        return 0;
    PMIX_LOAD_PROCID(&other, me.nspace, 1);
    say("key", PMIx_Get(&other, "card", NULL, 0, &value));
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup("/usr/bin/id");
    app.maxprocs = 1;
    say("spawn", PMIx_Spawn(NULL, 0, &app, 1, name));
    _exit(0);
}

/* "NAMESPACE.RANK;tcp4://ADDRESS:PORT" */
static int dial(void)
{
    const char *uri = getenv("PMIX_SERVER_URI4") ?: getenv("PMIX_SERVER_URI41");
    const char *at = uri ? strstr(uri, "tcp4://127.0.0.1:") : NULL;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (!at)
        exit(1);
    to.sin_port = htons((uint16_t)atoi(at + strlen("tcp4://127.0.0.1:")));
    return connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ? -1 : fd;
}

static int connect_often(int times, size_t bytes)
{
    static char text[65536] = {1};
    int connected = 0;
    for (int i = 0; i < times; i++) {
        int fd = dial();
        connected += fd >= 0;
        if (fd >= 0 && bytes)
            send(fd, text, bytes, MSG_NOSIGNAL);
    }
    printf("connected %d times\n", connected);
    fflush(stdout);
    wait_for("over");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "task"))
        return be_task(argv[2]);
    if (argc > 1 && !strcmp(argv[1], "init"))
        return intrude();
    if (argc > 3 && !strcmp(argv[1], "connect"))
        return connect_often(atoi(argv[2]), (size_t)atol(argv[3]));
    return 2;
}
