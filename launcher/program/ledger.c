#include "launcher/program/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/program/store.h"
#include "launcher/program/ledger_private.h"

struct program {
    struct instance *instance;
    uint64_t number;
    char id[24];
    char *path;
    int dir;
    int alive; /* the open file description that holds the lock on `alive` */
};

/* The number in `next`; one above all that are there where the file is missing or unreadable, as
 * a machine that lost power may leave it. */
static int program_read_next(struct instance *instance, uint64_t *next, struct error *err)
{
    struct ledger_live live = {0};
    size_t len;
    char *text = store_read(instance->dir, "next", 64, &len), *end = NULL;
    errno = 0;
    *next = text ? strtoull(text, &end, 10) : 0;
    bool good = text && *text >= '1' && *text <= '9' && !errno && strcmp(end, "\n") == 0;
    free(text);
    if (good)
        return 0;
    if (ledger_sweep(instance, &live, err) < 0)
        return -1;
    *next = live.count ? live.numbers[live.count - 1] + 1 : 1;
    free(live.numbers);
    return 0;
}

/* Under the lock. The number is used up before its directory is made: a process killed in between
 * wastes one, and none is used twice. */
static int program_make_dir(struct program *program, struct error *err)
{
    struct instance *instance = program->instance;
    char text[32];
    if (program_read_next(instance, &program->number, err) < 0)
        return -1;
    for (;; program->number++) {
        int len = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)program->number + 1);
        snprintf(program->id, sizeof(program->id), "%llu", (unsigned long long)program->number);
        if (store_write(instance->dir, "next", text, (size_t)len) < 0)
            return error_set(err, "unable to write %s/next: %s", instance->path, strerror(errno));
        if (mkdirat(instance->programs, program->id, 0700) == 0)
            break;
        if (errno != EEXIST)
            return error_set(err, "unable to make %s/programs/%s: %s", instance->path, program->id,
                             strerror(errno));
    }
    program->path = mem_format("%s/programs/%s", instance->path, program->id);
    program->dir = store_open_private(instance->programs, program->id, program->path, err);
    return program->dir < 0 ? -1 : 0;
}

static int program_make_alive(struct program *program, struct error *err)
{
    int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    program->alive = openat(program->dir, "alive", flags, 0600);
    if (program->alive >= 0 && store_lock(program->alive) == 0)
        return 0;
    return error_set(err, "unable to lock %s/alive: %s", program->path, strerror(errno));
}

struct program *program_new(struct instance *instance, struct error *err)
{
    int lock = ledger_lock(instance, err);
    if (lock < 0)
        return NULL;
    struct program *program = mem_alloc(sizeof(*program));
    program->instance = instance;
    program->dir = program->alive = -1;
    int rc = program_make_dir(program, err);
    if (rc == 0)
        rc = program_make_alive(program, err);
    if (rc < 0) {
        if (program->path)
            store_remove(instance->programs, program->id);
        program_leave(program);
        program = NULL;
    }
    close(lock);
    return program;
}

const char *program_id(const struct program *program)
{
    return program->id;
}

const char *program_path(const struct program *program)
{
    return program->path;
}

int program_dir(const struct program *program)
{
    return program->dir;
}

int program_write(struct program *program, const char *name, const json_t *json, struct error *err)
{
    char *text = json_dumps(json, JSON_COMPACT);
    int rc = -1;
    if (!text || !*name || *name == '.' || strchr(name, '/'))
        errno = EINVAL;
    else
        rc = store_write(program->dir, name, text, strlen(text));
    free(text);
    if (rc < 0)
        return error_set(err, "unable to write %s/%s: %s", program->path, name, strerror(errno));
    return 0;
}

static void program_name_set(struct buf *out, const char *what, const struct idset *set)
{
    char *text = idset_encode(set);
    if (*text)
        buf_printf(out, "%s%s%s %s", out->len ? " and " : "", what, idset_count(set) > 1 ? "s" : "",
                   text);
    free(text);
}

/* "cores 0-3", "GPU 2", "core 1 and GPUs 0-1". Takes the sets. */
static char *program_name_common(const struct rset_children *common)
{
    struct buf out = BUF_INIT;
    program_name_set(&out, "core", common->cores);
    program_name_set(&out, "GPU", common->gpus);
    idset_free(common->cores);
    idset_free(common->gpus);
    return buf_take_text(&out);
}

/* 1 with a sentence where another live program holds a core or a GPU of the claim. */
static int program_check_other(struct program *program, uint64_t other, const struct rset *claim,
                               struct error *err)
{
    struct rset *held;
    struct rset_children common;
    if (ledger_read_claim(program->instance, other, &held, err) < 0)
        return -1;
    if (!held)
        return 0;
    const char *host = rset_overlap(claim, held, &common);
    if (host) {
        char *text = program_name_common(&common);
        error_set(err, "program %llu holds %s of %s: wait until it ends, or ask for others",
                  (unsigned long long)other, text, host);
        free(text);
    }
    rset_free(held);
    return host ? 1 : 0;
}

static int program_check_others(struct program *program, const struct rset *claim,
                                struct error *err)
{
    struct ledger_live live = {0};
    int rc = ledger_sweep(program->instance, &live, err);
    for (size_t i = 0; rc == 0 && i < live.count; i++)
        if (live.numbers[i] != program->number)
            rc = program_check_other(program, live.numbers[i], claim, err);
    free(live.numbers);
    return rc;
}

static int program_write_claim(struct program *program, const struct rset *claim, struct error *err)
{
    if (!claim->nnodes) {
        if (store_remove(program->dir, "R.json") == 0)
            return 0;
        return error_set(err, "unable to remove %s/R.json: %s", program->path, strerror(errno));
    }
    json_t *R = rset_to_json(claim);
    int rc = program_write(program, "R.json", R, err);
    json_decref(R);
    return rc;
}

int program_claim(struct program *program, const struct rset *claim, struct error *err)
{
    int lock = ledger_lock(program->instance, err);
    if (lock < 0)
        return -1;
    int rc = program_check_others(program, claim, err);
    if (rc == 0)
        rc = program_write_claim(program, claim, err);
    close(lock);
    return rc;
}

void program_leave(struct program *program)
{
    if (!program)
        return;
    if (program->alive >= 0)
        close(program->alive);
    if (program->dir >= 0)
        close(program->dir);
    free(program->path);
    free(program);
}

void program_end(struct program *program)
{
    if (!program)
        return;
    /* Without the lock the claim goes all the same; the rest waits for a sweep. */
    int lock = ledger_lock(program->instance, NULL);
    store_remove(program->dir, "R.json");
    if (lock >= 0) {
        store_remove(program->instance->programs, program->id);
        close(lock);
    }
    program_leave(program);
}
