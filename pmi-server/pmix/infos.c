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

void infos_int(struct infos *infos, const char *key, int value)
{
    infos_value(infos, key, PMIX_INT)->data.integer = value;
}

void infos_rank(struct infos *infos, const char *key, uint32_t rank)
{
    infos_value(infos, key, PMIX_PROC_RANK)->data.rank = rank;
}

void infos_bool(struct infos *infos, const char *key, bool value)
{
    infos_value(infos, key, PMIX_BOOL)->data.flag = value;
}

void infos_size(struct infos *infos, const char *key, size_t value)
{
    infos_value(infos, key, PMIX_SIZE)->data.size = value;
}

void infos_status(struct infos *infos, const char *key, pmix_status_t value)
{
    infos_value(infos, key, PMIX_STATUS)->data.status = value;
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

void infos_data(struct infos *infos, const char *key, pmix_data_type_t type, void *array,
                size_t count)
{
    pmix_data_array_t *data = mem_alloc(sizeof(*data));
    data->type = type;
    data->size = count;
    data->array = array;
    infos_value(infos, key, PMIX_DATA_ARRAY)->data.darray = data;
}

void infos_procs(struct infos *infos, const char *key, const pmix_proc_t *procs, size_t nprocs)
{
    pmix_proc_t *copy = mem_array(nprocs, sizeof(*copy));
    memcpy(copy, procs, nprocs * sizeof(*copy));
    infos_data(infos, key, PMIX_PROC, copy, nprocs);
}

void infos_bytes(struct infos *infos, const char *key, const void *bytes, size_t len)
{
    pmix_byte_object_t *object = &infos_value(infos, key, PMIX_BYTE_OBJECT)->data.bo;
    object->bytes = memcpy(mem_resize(NULL, len ? len : 1, 1), bytes, len);
    object->size = len;
}

void infos_array(struct infos *infos, const char *key, struct infos *array)
{
    infos_data(infos, key, PMIX_INFO, array->at, array->count);
    *array = (struct infos){0};
}

void infos_append(struct infos *infos, struct infos *more)
{
    for (size_t i = 0; i < more->count; i++)
        *infos_add(infos) = more->at[i];
    free(more->at);
    *more = (struct infos){0};
}

void infos_free(struct infos *infos, const struct pmix_library *library)
{
    for (size_t i = 0; i < infos->count; i++)
        if (infos->at[i].value.type != PMIX_TOPO)
            library->value_destruct(&infos->at[i].value);
    free(infos->at);
    *infos = (struct infos){0};
}

/* ---- what openpmix passes ---- */

const pmix_value_t *infos_find(const pmix_info_t info[], size_t ninfo, const char *key)
{
    for (size_t i = 0; i < ninfo; i++)
        if (!strcmp(info[i].key, key))
            return &info[i].value;
    return NULL;
}

/* A directive that says nothing more is one that is given. */
bool infos_true(const pmix_info_t info[], size_t ninfo, const char *key)
{
    const pmix_value_t *value = infos_find(info, ninfo, key);
    return value && (value->type != PMIX_BOOL || value->data.flag);
}

/* An int by the standard; openpmix itself reads 32 bits whatever their type is. */
double infos_timeout(const pmix_info_t info[], size_t ninfo)
{
    const pmix_value_t *value = infos_find(info, ninfo, PMIX_TIMEOUT);
    if (value && (value->type == PMIX_INT || value->type == PMIX_INT32))
        return value->data.int32 > 0 ? value->data.int32 : 0;
    return value && value->type == PMIX_UINT32 ? value->data.uint32 : 0;
}
