/* libpmi-steps - steps in PMI-1 through libpmi.so.0; which there are says steps.h. */
#include "tests/steps/steps.h"

#include "pmi-server/client/pmi.h"

int steps_start(struct steps_task *self)
{
    int rc = PMI_Init(&self->spawned);
    if (!rc)
        rc = PMI_Get_rank(&self->rank);
    if (!rc)
        rc = PMI_Get_size(&self->size);
    if (!rc)
        rc = PMI_Get_appnum(&self->appnum);
    return rc ? rc : PMI_KVS_Get_my_name(self->job, sizeof(self->job));
}

int steps_stop(void)
{
    return PMI_Finalize();
}

int steps_publish(const char *name, const char *port)
{
    return PMI_Publish_name(name, port);
}

int steps_unpublish(const char *name)
{
    return PMI_Unpublish_name(name);
}

int steps_lookup(const char *name, char port[STEPS_ROOM])
{
    return PMI_Lookup_name(name, port);
}

int steps_put(const char *key, const char *value)
{
    return PMI_KVS_Put(task.job, key, value);
}

int steps_meet(void)
{
    int rc = PMI_KVS_Commit(task.job);
    return rc ? rc : PMI_Barrier();
}

int steps_get(const char *key, char value[STEPS_ROOM])
{
    return PMI_KVS_Get(task.job, key, value, STEPS_ROOM);
}

int steps_spawn(struct steps_spawn *spawn)
{
    PMI_keyval_t infos[STEPS_BLOCKS][STEPS_INFOS], preput = {"FROM", spawn->from};
    const PMI_keyval_t *vectors[STEPS_BLOCKS];
    for (int i = 0; i < spawn->count; i++) {
        vectors[i] = infos[i];
        for (int k = 0; k < spawn->ninfos[i]; k++)
            infos[i][k] = (PMI_keyval_t){spawn->keys[i][k], spawn->values[i][k]};
    }
    return PMI_Spawn_multiple(spawn->count, spawn->programs, spawn->argvs, spawn->maxprocs,
                              spawn->ninfos, vectors, 1, &preput, spawn->errors);
}
