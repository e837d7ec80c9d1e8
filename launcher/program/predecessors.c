/* Waiting for other programs: looked at again and again, one after the other, in the order that was given. */
#include "launcher/program/predecessors.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/ledger/program_search.h"

#define LOOK 0.2     /* s between two looks at whether a program lives */
#define TELL 5.0     /* s after which it is said what is waited for */
#define REAPPEAR 1.0 /* s that a program which ends may be found nowhere */

struct predecessors {
    struct ev_loop *loop;
    char *const *texts; /* NULL behind the last */
    size_t at;          /* that of the one that is waited for */
    const char *instance;
    const struct predecessors_ops *ops;
    void *owner;
    struct program_search *search; /* in which it was found to live; NULL: not yet */
    const struct found_program *found;
    ev_timer look;
    double begun, missed; /* 0: not missed */
    bool told;
};

static char *predecessor_id(const struct predecessors *predecessors)
{
    const char *text = predecessors->texts[predecessors->at];
    return mem_copy_text_n(text, strcspn(text, ":"));
}

static void predecessors_refuse(struct predecessors *predecessors, struct error *err)
{
    error_prefix(err, "--after %s", predecessors->texts[predecessors->at]);
    predecessors_stop(predecessors);
    predecessors->ops->refused(predecessors->owner, err);
    error_clear(err);
}

/* It is over. False: it should have ended well, and did not. */
static bool check_end(struct predecessors *predecessors, const struct found_program *program,
                      struct error *err)
{
    const char *colon = strchr(predecessors->texts[predecessors->at], ':');
    bool needs_ok = colon && strcmp(colon, ":ok") == 0;
    struct program_record *record = needs_ok ? found_program_record(program, false, err) : NULL;
    bool good = !needs_ok || (record && record->status == 0 && !record->is_lost);
    if (needs_ok && record && !good && record->is_lost)
        error_set(err, "program %s lost its manager", found_program_id(program));
    else if (needs_ok && record && !good)
        error_set(err, "program %s ended with status %d", found_program_id(program),
                  record->status);
    program_record_free(record);
    return good;
}

static void tell(struct predecessors *predecessors)
{
    if (predecessors->told || clock_monotonic_seconds() - predecessors->begun < TELL)
        return;
    predecessors->told = true;
    char *id = predecessor_id(predecessors);
    char *text = mem_format("waits for the end of program %s (--after)", id);
    predecessors->ops->note(predecessors->owner, text);
    free(text);
    free(id);
}

/* 1: the one that is waited for is over; 0: not yet; -1 with a sentence. */
static int look_once(struct predecessors *predecessors, struct error *err)
{
    const struct found_program *program;
    if (predecessors->search && found_program_lives(predecessors->found))
        return 0;
    bool lived = predecessors->search;
    program_search_free(predecessors->search);
    predecessors->search = NULL;
    struct program_search *search = program_search_new(NULL, err);
    char *id = predecessor_id(predecessors);
    int rc = search ? program_search_find(search, id, predecessors->instance, &program, err) : -1;
    free(id);
    lived = lived || predecessors->missed > 0;
    if (rc == 0 && lived && !predecessors->missed)
        predecessors->missed = clock_monotonic_seconds();
    bool moves = rc == 0 && lived && clock_monotonic_seconds() - predecessors->missed < REAPPEAR;
    if (rc == 1 && found_program_is_live(program)) {
        predecessors->search = search;
        predecessors->found = program;
        return 0;
    }
    if (rc == 1)
        rc = check_end(predecessors, program, err) ? 1 : -1;
    else
        rc = moves ? 0 : -1;
    if (rc == 0)
        error_clear(err);
    program_search_free(search);
    return rc;
}

void predecessors_wait(struct predecessors *predecessors)
{
    struct error err = ERROR_INIT;
    int rc = 1;
    while (predecessors->texts[predecessors->at] && (rc = look_once(predecessors, &err)) == 1) {
        predecessors->at++;
        predecessors->missed = 0;
    }
    if (rc < 0) {
        predecessors_refuse(predecessors, &err);
    } else if (rc == 0) {
        ev_timer_again(predecessors->loop, &predecessors->look);
        tell(predecessors);
    } else {
        predecessors_stop(predecessors);
        predecessors->ops->over(predecessors->owner);
    }
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    predecessors_wait(timer->data);
}

struct predecessors *predecessors_new(struct ev_loop *loop, char *const *texts,
                                      const char *instance, const struct predecessors_ops *ops,
                                      void *owner)
{
    struct predecessors *predecessors = mem_alloc(sizeof(*predecessors));
    *predecessors = (struct predecessors){.loop = loop,
                                          .texts = texts,
                                          .instance = instance,
                                          .ops = ops,
                                          .owner = owner,
                                          .begun = clock_monotonic_seconds()};
    ev_timer_init(&predecessors->look, on_look, 0, LOOK);
    predecessors->look.data = predecessors;
    return predecessors;
}

void predecessors_stop(struct predecessors *predecessors)
{
    if (predecessors)
        ev_timer_stop(predecessors->loop, &predecessors->look);
}

void predecessors_free(struct predecessors *predecessors)
{
    if (!predecessors)
        return;
    predecessors_stop(predecessors);
    program_search_free(predecessors->search);
    free(predecessors);
}

char *predecessors_describe(const struct predecessors *predecessors)
{
    if (!predecessors || !ev_is_active(&predecessors->look))
        return NULL;
    char *id = predecessor_id(predecessors), *text = mem_format("program %s", id);
    free(id);
    return text;
}
