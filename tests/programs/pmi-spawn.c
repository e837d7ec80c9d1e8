/*
 * pmi-spawn - a task that spawns others, over PMI-1's bare wire.
 *
 *     tree DEPTH WIDTH           spawn WIDTH more of this, a level less deep, down to DEPTH 0; each
 *                                puts its rank, passes a barrier and reads its neighbour's
 *     loop COUNT PROGRAM ARG...  spawn the program so many times, one after the other; at a tenth
 *                                and at the end of it, print descriptors and KiB of memory of this
 *                                task's agent and its manager, and how many processes these have
 *     run KEY=VALUE... -- COUNT PROGRAM ARG...
 *                                spawn it once with these pairs of info, and print the reply
 *     several COUNT PROGRAM...   spawn each of these programs in one request
 *     spread COUNT HOST...       spawn in one request a block for each of these hosts ("-": it names
 *                                none), whose tasks say the rank in their group and where they are
 *     show KEY                   print what PMI and the environment say of this task
 *     ask LINE...                send each line as it is, and print the replies
 *     race SECOND COUNT          from that second since the epoch on, each 4 ms publish the next
 *                                of so many names, and print the numbers of those published
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char reply[65536];
static char kvs[256];
static FILE *in;
static int fd;

static void send_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void send_text(const char *fmt, ...)
{
    char text[65536];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (len < 0 || write(fd, text, (size_t)len) != len)
        exit(90);
}

static const char *hear(void)
{
    if (!fgets(reply, sizeof(reply), in))
        exit(91);
    reply[strcspn(reply, "\n")] = '\0';
    return reply;
}

/* What stands behind NAME= in the last reply, to the end of the line or the next blank. */
static const char *field(const char *name, int whole)
{
    static char value[65536];
    char key[80];
    snprintf(key, sizeof(key), " %s=", name);
    const char *at = strstr(reply, key);
    snprintf(value, sizeof(value), "%s", at ? at + strlen(key) : "(none)");
    if (!whole)
        value[strcspn(value, " ")] = '\0';
    return value;
}

static void start(void)
{
    const char *text = getenv("PMI_FD");
    fd = text ? atoi(text) : -1;
    in = fd < 0 ? NULL : fdopen(dup(fd), "r");
    if (!in)
        exit(92);
    send_text("cmd=init pmi_version=1 pmi_subversion=1\n");
    hear();
    send_text("cmd=get_my_kvsname\n");
    hear();
    snprintf(kvs, sizeof(kvs), "%s", field("kvsname", 0));
}

static int stop(void)
{
    send_text("cmd=finalize\n");
    hear();
    return 0;
}

static const char *get(const char *key)
{
    send_text("cmd=get kvsname=%s key=%s\n", kvs, key);
    hear();
    return field("value", 1);
}

static void barrier(void)
{
    send_text("cmd=barrier_in\n");
    hear();
}

static void put(const char *key, const char *value)
{
    send_text("cmd=put kvsname=%s key=%s value=%s\n", kvs, key, value);
    hear();
}

static void send_block(int count, int total, int sofar, char *const argv[], char *const info[],
                       int ninfo)
{
    int argc = 0;
    send_text("mcmd=spawn\nnprocs=%d\nexecname=%s\ntotspawns=%d\nspawnssofar=%d\n", count, argv[0],
              total, sofar);
    for (; argv[1 + argc]; argc++)
        send_text("arg%d=%s\n", argc + 1, argv[1 + argc]);
    send_text("argcnt=%d\npreput_num=1\npreput_key_0=PARENT\npreput_val_0=of %s, its=%s#1$\n", argc,
              kvs, getenv("TPRUN_RANK"));
    send_text("info_num=%d\n", ninfo);
    for (int i = 0; i < ninfo; i++) {
        size_t len = strcspn(info[i], "=");
        send_text("info_key_%d=%.*s\ninfo_val_%d=%s\n", i, (int)len, info[i], i,
                  info[i] + len + (info[i][len] == '='));
    }
    send_text("endcmd\n");
}

static int run_tree(int depth, int width, char *self)
{
    char below[16], breadth[16], key[32], own[32];
    int rank = atoi(getenv("PMI_RANK")), size = atoi(getenv("PMI_SIZE"));
    snprintf(key, sizeof(key), "of-%d", rank);
    snprintf(own, sizeof(own), "rank %d", rank);
    put(key, own);
    barrier();
    snprintf(key, sizeof(key), "of-%d", (rank + 1) % size);
    snprintf(own, sizeof(own), "rank %d", (rank + 1) % size);
    if (strcmp(get(key), own) != 0)
        return 93;
    printf("depth %d rank %d of %d, %s of the program, parent %s\n", depth, rank, size,
           getenv("TPRUN_RANK"), get("PARENT"));
    fflush(stdout);
    if (depth > 0) {
        snprintf(below, sizeof(below), "%d", depth - 1);
        snprintf(breadth, sizeof(breadth), "%d", width);
        send_block(width, 1, 1, (char *[]){self, "tree", below, breadth, NULL}, NULL, 0);
        hear();
        if (strcmp(field("rc", 0), "0") != 0)
            return 94;
    }
    return stop();
}

/* The number behind a name in /proc/PID/status. */
static long status_of(long pid, const char *name)
{
    char path[64], line[256];
    long value = -1;
    snprintf(path, sizeof(path), "/proc/%ld/status", pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0)
            value = atol(line + strlen(name));
    if (file)
        fclose(file);
    return value;
}

/* Entries of a directory, or words of a file. */
static int count_of(const char *command)
{
    int count = -1;
    FILE *pipe = popen(command, "r");
    if (!pipe || fscanf(pipe, "%d", &count) != 1)
        count = -1;
    if (pipe)
        pclose(pipe);
    return count;
}

static void tell_use(const char *who, long pid)
{
    char command[128];
    snprintf(command, sizeof(command), "ls /proc/%ld/fd | wc -l", pid);
    int fds = count_of(command);
    snprintf(command, sizeof(command), "wc -w </proc/%ld/task/%ld/children", pid, pid);
    printf("%s: %d descriptors %ld KiB %d children\n", who, fds, status_of(pid, "VmRSS:"),
           count_of(command));
}

static void tell_uses(int spawned)
{
    usleep(300000); /* for the last one to end */
    printf("after %d\n", spawned);
    tell_use("agent", getppid());
    tell_use("manager", status_of(getppid(), "PPid:"));
    fflush(stdout);
}

static int run_loop(int count, char *const argv[])
{
    for (int i = 0; i < count; i++) {
        if (i == count / 10)
            tell_uses(i);
        send_block(1, 1, 1, argv, NULL, 0);
        hear();
        if (strcmp(field("rc", 0), "0") != 0) {
            printf("spawn %d: %s\n", i, reply);
            return 95;
        }
    }
    tell_uses(count);
    return stop();
}

static int run_once(char *argv[])
{
    int ninfo = 0;
    while (argv[ninfo] && strcmp(argv[ninfo], "--") != 0)
        ninfo++;
    if (!argv[ninfo] || !argv[ninfo + 1])
        return 96;
    send_block(atoi(argv[ninfo + 1]), 1, 1, argv + ninfo + 2, argv, ninfo);
    puts(hear());
    return stop();
}

static int run_several(int count, char *programs[])
{
    int total = 0;
    while (programs[total])
        total++;
    for (int i = 0; i < total; i++)
        send_block(count, total, i + 1, (char *[]){programs[i], "show", "PARENT", NULL}, NULL, 0);
    puts(hear());
    return stop();
}

static int run_spread(int count, char *hosts[])
{
    char *argv[] = {"sh", "-c", "echo \"$PMI_RANK on $(hostname)\"", NULL}, info[300];
    int total = 0;
    while (hosts[total])
        total++;
    for (int i = 0; i < total; i++) {
        snprintf(info, sizeof(info), "host=%s", hosts[i]);
        send_block(count, total, i + 1, argv, (char *[]){info}, strcmp(hosts[i], "-") != 0);
    }
    puts(hear());
    return stop();
}

static int show(const char *key)
{
    const char *spawned = getenv("PMI_SPAWNED"), *size = getenv("PMI_SIZE");
    send_text("cmd=get_appnum\n");
    hear();
    printf("rank %s of %s spawned %s appnum %s", getenv("PMI_RANK"), size, spawned ? spawned : "0",
           field("appnum", 0));
    printf(" %s: %s\n", key, get(key));
    return stop();
}

static int race(time_t second, int count)
{
    for (int i = 0; i < count; i++) {
        struct timespec tick = {second + i / 250, i % 250 * 4000000L};
        clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &tick, NULL);
        send_text("cmd=publish_name service=race-%d port=p\n", i);
        if (strstr(hear(), "rc=0"))
            printf("%d\n", i);
    }
    return stop();
}

int main(int argc, char *argv[])
{
    start();
    if (argc > 3 && strcmp(argv[1], "tree") == 0)
        return run_tree(atoi(argv[2]), atoi(argv[3]), argv[0]);
    if (argc > 3 && strcmp(argv[1], "loop") == 0)
        return run_loop(atoi(argv[2]), argv + 3);
    if (argc > 3 && strcmp(argv[1], "several") == 0)
        return run_several(atoi(argv[2]), argv + 3);
    if (argc > 3 && strcmp(argv[1], "race") == 0)
        return race(atol(argv[2]), atoi(argv[3]));
    if (argc > 3 && strcmp(argv[1], "spread") == 0)
        return run_spread(atoi(argv[2]), argv + 3);
    if (argc > 2 && strcmp(argv[1], "show") == 0)
        return show(argv[2]);
    if (argc > 2 && strcmp(argv[1], "run") == 0)
        return run_once(argv + 2);
    for (int i = 2; i < argc; i++) {
        send_text("%s\n", argv[i]);
        puts(hear());
        fflush(stdout);
    }
    return stop();
}
