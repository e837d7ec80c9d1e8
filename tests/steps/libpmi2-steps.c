/* libpmi2-steps - steps in PMI-2 through libpmi2.so.0; which there are says steps.h. */
#include "tests/steps/steps.h"

#include "pmi-server/client/pmi2.h"

int steps_start(struct steps_task *self)
{
    int rc = PMI2_Init(&self->spawned, &self->size, &self->rank, &self->appnum);
    return rc ? rc : PMI2_Job_GetId(self->job, sizeof(self->job));
}

int steps_stop(void)
{
    return PMI2_Finalize();
}

int steps_publish(const char *name, const char *port)
{
    return PMI2_Nameserv_publish(name, NULL, port);
}

int steps_unpublish(const char *name)
{
    return PMI2_Nameserv_unpublish(name, NULL);
}

int steps_lookup(const char *name, char port[STEPS_ROOM])
{
    return PMI2_Nameserv_lookup(name, NULL, port, STEPS_ROOM);
}

int steps_put(const char *key, const char *value)
{
    return PMI2_KVS_Put(key, value);
}

int steps_meet(void)
{
    return PMI2_KVS_Fence();
}

int steps_get(const char *key, char value[STEPS_ROOM])
{
    int len;
    return PMI2_KVS_Get(task.job, PMI2_ID_NULL, key, value, STEPS_ROOM, &len);
}

int steps_spawn(struct steps_spawn *spawn)
{
    PMI2_keyval_t infos[STEPS_BLOCKS][STEPS_INFOS], preput = {"FROM", spawn->from};
    const PMI2_keyval_t *vectors[STEPS_BLOCKS];
    for (int i = 0; i < spawn->count; i++) {
        vectors[i] = infos[i];
        for (int k = 0; k < spawn->ninfos[i]; k++)
            infos[i][k] = (PMI2_keyval_t){spawn->keys[i][k], spawn->values[i][k]};
    }
    return PMI2_Job_Spawn(spawn->count, spawn->programs, spawn->argcs, spawn->argvs,
                          spawn->maxprocs, spawn->ninfos, vectors, 1, &preput, spawn->job,
                          sizeof(spawn->job), spawn->errors);
}
