/*
 * steps - what programs do that take steps in PMI, one after the other, through a library: that of
 * PMI-1 (libpmi-steps.c) or of PMI-2 (libpmi2-steps.c). Steps:
 *
 *     publish NAME PORT    unpublish NAME    lookup NAME
 *     await NAME           look a name up until it is there
 *     put KEY VALUE        meet              get KEY
 *     until FILE           wait until there is such a file
 *     spawn [KEY=VALUE]... COUNT PROGRAM [ARG]... [, [KEY=VALUE]... COUNT PROGRAM [ARG]...]... [;]
 *                          spawn these blocks in one request, with info; the key FROM is preset
 *     show [ARG]... [;]    print what PMI tells of this task, who spawned it, and the words
 *
 * Each prints what the library returned, and what came of it.
 */
#ifndef TESTS_STEPS_STEPS_H
#define TESTS_STEPS_STEPS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS_BLOCKS = 8, STEPS_INFOS = 8, STEPS_ERRORS = 64, STEPS_ROOM = 65536 };

struct steps_task { /* what PMI tells of this task */
    int rank, size, spawned, appnum;
    char job[256];
};

struct steps_spawn { /* arrays as the libraries take them */
    int count;
    const char *programs[STEPS_BLOCKS];
    const char **argvs[STEPS_BLOCKS];
    int argcs[STEPS_BLOCKS], maxprocs[STEPS_BLOCKS], ninfos[STEPS_BLOCKS];
    char *keys[STEPS_BLOCKS][STEPS_INFOS], *values[STEPS_BLOCKS][STEPS_INFOS];
    char from[512];           /* to be preset as FROM */
    int errors[STEPS_ERRORS]; /* out */
    char job[256];            /* out, where the library tells */
};

/* The library: each returns its code. */
int steps_start(struct steps_task *self);
int steps_stop(void);
int steps_publish(const char *name, const char *port);
int steps_unpublish(const char *name);
int steps_lookup(const char *name, char port[STEPS_ROOM]);
int steps_put(const char *key, const char *value);
int steps_meet(void);
int steps_get(const char *key, char value[STEPS_ROOM]);
int steps_spawn(struct steps_spawn *spawn);

static struct steps_task task; /* this one */
static char text[STEPS_ROOM];

static int take_publish(char **words)
{
    printf("publish %s: %d\n", words[0], steps_publish(words[0], words[1]));
    return 2;
}

static int take_unpublish(char **words)
{
    printf("unpublish %s: %d\n", words[0], steps_unpublish(words[0]));
    return 1;
}

static int take_lookup(char **words)
{
    int rc = steps_lookup(words[0], text);
    printf("lookup %s: %d %s\n", words[0], rc, rc ? "" : text);
    return 1;
}

static int take_await(char **words)
{
    while (steps_lookup(words[0], text))
        usleep(20000);
    printf("await %s: 0 %s\n", words[0], text);
    return 1;
}

static int take_put(char **words)
{
    printf("put %s: %d\n", words[0], steps_put(words[0], words[1]));
    return 2;
}

static int take_meet(char **words)
{
    (void)words;
    printf("meet: %d\n", steps_meet());
    return 0;
}

static int take_get(char **words)
{
    int rc = steps_get(words[0], text);
    printf("get %s: %d %s\n", words[0], rc, rc ? "" : text);
    return 1;
}

static int take_until(char **words)
{
    while (access(words[0], F_OK))
        usleep(20000);
    return 1;
}

static int take_show(char **words)
{
    int i;
    printf("rank %d of %d spawned %d appnum %d job %s", task.rank, task.size, task.spawned,
           task.appnum, task.job);
    printf(" from %s:", steps_get("FROM", text) ? "nobody" : text);
    for (i = 0; words[i] && strcmp(words[i], ";") != 0; i++)
        printf(" [%s]", words[i]);
    printf("\n");
    return i + (words[i] != NULL);
}

/* A block's words, up to what ends it, which becomes its arguments' NULL. Returns how many they
 * are; *end is that word. */
static int take_block(struct steps_spawn *spawn, char **words, char *end)
{
    int at = 0, i = spawn->count++, *ninfo = &spawn->ninfos[i];
    for (; words[at] && strchr(words[at], '='); at++) {
        char *equals = strchr(words[at], '=');
        *equals = '\0';
        spawn->keys[i][*ninfo] = words[at];
        spawn->values[i][(*ninfo)++] = equals + 1;
    }
    if (!words[at] || !words[at + 1])
        exit(96);
    spawn->maxprocs[i] = atoi(words[at]);
    spawn->programs[i] = words[at + 1];
    spawn->argvs[i] = (const char **)words + at + 2;
    for (at += 2; words[at] && strcmp(words[at], ",") != 0 && strcmp(words[at], ";") != 0; at++)
        spawn->argcs[i]++;
    *end = words[at] ? *words[at] : '\0';
    words[at] = NULL;
    return at + (*end != '\0');
}

static int take_spawn(char **words)
{
    struct steps_spawn spawn = {.errors = {[0 ... STEPS_ERRORS - 1] = 99}};
    int at = 0, tasks = 0;
    char end = ',';
    while (end == ',' && spawn.count < STEPS_BLOCKS)
        at += take_block(&spawn, words + at, &end);
    snprintf(spawn.from, sizeof(spawn.from), "rank %d of %s; its=a", task.rank, task.job);
    int rc = steps_spawn(&spawn);
    printf("spawn: %d errors", rc);
    for (int i = 0; i < spawn.count; i++)
        tasks += spawn.maxprocs[i];
    for (int i = 0; i < tasks; i++)
        printf(" %d", spawn.errors[i]);
    printf(" job %s\n", spawn.job);
    return at;
}

static const struct {
    const char *name;
    int words; /* that it needs */
    int (*take)(char **words);
} steps[] = {
    {"publish", 2, take_publish}, {"unpublish", 1, take_unpublish},
    {"lookup", 1, take_lookup},   {"await", 1, take_await},
    {"put", 2, take_put},         {"meet", 0, take_meet},
    {"get", 1, take_get},         {"until", 1, take_until},
    {"spawn", 2, take_spawn},     {"show", 0, take_show},
};

/* Take the first step of these words; returns how many words were it. */
static int take_step(char **words, int count)
{
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (!strcmp(words[0], steps[i].name) && count > steps[i].words)
            return 1 + steps[i].take(words + 1);
    fprintf(stderr, "no such step: %s\n", words[0]);
    exit(97);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    int rc = steps_start(&task);
    if (rc) {
        printf("start: %d\n", rc);
        return 98;
    }
    for (int at = 1; at < argc;)
        at += take_step(argv + at, argc - at);
    return steps_stop() ? 99 : 0;
}

#endif
