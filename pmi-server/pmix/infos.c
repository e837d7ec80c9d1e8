#include "pmi-server/pmix/infos.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static pmix_info_t *infos_add(struct infos *infos)
{
    if (infos->count == infos->room) {
        infos->room = infos->room ? infos->room * 2 : 16;
        infos->at = mem_resize(infos->at, infos->room, sizeof(*infos->at));
    }
    pmix_info_t *info = &infos->at[infos->count++];
    memset(info, 0, sizeof(*info));
    return info;
}

static pmix_value_t *infos_value(struct infos *infos, const char *key, pmix_data_type_t type)
{
    pmix_info_t *info = infos_add(infos);
    strncpy(info->key, key, sizeof(info->key) - 1);
    info->value.type = type;
    return &info->value;
}

void infos_text(struct infos *infos, const char *key, const char *text)
{
    if (text)
        infos_value(infos, key, PMIX_STRING)->data.string = mem_copy_text(text);
}

void infos_u16(struct infos *infos, const char *key, uint32_t value)
{
    infos_value(infos, key, PMIX_UINT16)->data.uint16 = value > UINT16_MAX ? UINT16_MAX : value;
}

void infos_u32(struct infos *infos, const char *key, uint32_t value)
{
    infos_value(infos, key, PMIX_UINT32)->data.uint32 = value;
}

void infos_rank(struct infos *infos, const char *key, uint32_t rank)
{
    infos_value(infos, key, PMIX_PROC_RANK)->data.rank = rank;
}

void infos_bool(struct infos *infos, const char *key, bool value)
{
    infos_value(infos, key, PMIX_BOOL)->data.flag = value;
}

void infos_proc(struct infos *infos, const char *key, const char *name, uint32_t rank)
{
    pmix_proc_t *proc = mem_alloc(sizeof(*proc));
    strncpy(proc->nspace, name, sizeof(proc->nspace) - 1);
    proc->rank = rank;
    infos_value(infos, key, PMIX_PROC)->data.proc = proc;
}

void infos_topology(struct infos *infos, pmix_topology_t *topology)
{
    infos_value(infos, PMIX_TOPOLOGY2, PMIX_TOPO)->data.topo = topology;
}

void infos_regex(struct infos *infos, const char *key, const char *regex,
                 const struct pmix_library *library)
{
    library->info_load(infos_add(infos), key, regex, PMIX_REGEX);
}

void infos_array(struct infos *infos, const char *key, struct infos *array)
{
    pmix_data_array_t *data = mem_alloc(sizeof(*data));
    data->type = PMIX_INFO;
    data->size = array->count;
    data->array = array->at;
    infos_value(infos, key, PMIX_DATA_ARRAY)->data.darray = data;
    *array = (struct infos){0};
}

void infos_free(struct infos *infos, const struct pmix_library *library)
{
    for (size_t i = 0; i < infos->count; i++)
        if (infos->at[i].value.type != PMIX_TOPO)
            library->value_destruct(&infos->at[i].value);
    free(infos->at);
    *infos = (struct infos){0};
}
