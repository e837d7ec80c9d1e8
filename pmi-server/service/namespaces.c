/*
 * Bonds: jobs that are connected.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "pmi-server/service/internal.h"

struct bond {
    struct bond *next;
    const struct job *one, *other;
    unsigned times;
};

/* Where it is, or would be. */
static struct bond **find(struct hub *hub, const struct job *one, const struct job *other)
{
    struct bond **at = &hub->bonds;
    while (*at && !((*at)->one == one && (*at)->other == other) &&
           !((*at)->one == other && (*at)->other == one))
        at = &(*at)->next;
    return at;
}

void bonds_tie(struct hub *hub, const struct job *one, const struct job *other)
{
    struct bond **at = find(hub, one, other);
    if (one == other)
        return;
    if (!*at) {
        *at = mem_alloc(sizeof(**at));
        (*at)->one = one;
        (*at)->other = other;
    }
    (*at)->times++;
}

static void cut(struct bond **at)
{
    struct bond *bond = *at;
    *at = bond->next;
    free(bond);
}

void bonds_untie(struct hub *hub, const struct job *one, const struct job *other)
{
    struct bond **at = find(hub, one, other);
    if (*at && --(*at)->times == 0)
        cut(at);
}

bool bonds_tied(const struct hub *hub, const struct job *one, const struct job *other)
{
    return *find((struct hub *)(uintptr_t)hub, one, other) != NULL;
}

void bonds_remove(struct hub *hub, const struct job *job)
{
    struct bond **at = &hub->bonds;
    while (*at)
        if ((*at)->one == job || (*at)->other == job)
            cut(at);
        else
            at = &(*at)->next;
}
