/* Lists of infos: filled, searched, and packed for the servers of other nodes. */
#include "pmi-server/pmix/info.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static pmix_info_t *infos_add(struct info_list *infos)
{
    if (infos->count == infos->room) {
        infos->room = infos->room ? infos->room * 2 : 16;
        infos->at = mem_resize(infos->at, infos->room, sizeof(*infos->at));
    }
    pmix_info_t *info = &infos->at[infos->count++];
    memset(info, 0, sizeof(*info));
    return info;
}

static pmix_value_t *infos_value(struct info_list *infos, const char *key, pmix_data_type_t type)
{
    pmix_info_t *info = infos_add(infos);
    strncpy(info->key, key, sizeof(info->key) - 1);
    info->value.type = type;
    return &info->value;
}

void info_text(struct info_list *infos, const char *key, const char *text)
{
    if (text)
        infos_value(infos, key, PMIX_STRING)->data.string = mem_copy_text(text);
}

void info_u16(struct info_list *infos, const char *key, uint32_t value)
{
    infos_value(infos, key, PMIX_UINT16)->data.uint16 = value > UINT16_MAX ? UINT16_MAX : value;
}

void info_u32(struct info_list *infos, const char *key, uint32_t value)
{
    infos_value(infos, key, PMIX_UINT32)->data.uint32 = value;
}

void info_int(struct info_list *infos, const char *key, int value)
{
    infos_value(infos, key, PMIX_INT)->data.integer = value;
}

void info_rank(struct info_list *infos, const char *key, uint32_t rank)
{
    infos_value(infos, key, PMIX_PROC_RANK)->data.rank = rank;
}

void info_bool(struct info_list *infos, const char *key, bool value)
{
    infos_value(infos, key, PMIX_BOOL)->data.flag = value;
}

void info_size(struct info_list *infos, const char *key, size_t value)
{
    infos_value(infos, key, PMIX_SIZE)->data.size = value;
}

void info_status(struct info_list *infos, const char *key, pmix_status_t value)
{
    infos_value(infos, key, PMIX_STATUS)->data.status = value;
}

void info_proc(struct info_list *infos, const char *key, const char *name, uint32_t rank)
{
    pmix_proc_t *proc = mem_alloc(sizeof(*proc));
    strncpy(proc->nspace, name, sizeof(proc->nspace) - 1);
    proc->rank = rank;
    infos_value(infos, key, PMIX_PROC)->data.proc = proc;
}

void info_topology(struct info_list *infos, pmix_topology_t *topology)
{
    infos_value(infos, PMIX_TOPOLOGY2, PMIX_TOPO)->data.topo = topology;
}

void info_regex(struct info_list *infos, const char *key, const char *regex,
                const struct pmix_library *library)
{
    library->info_load(infos_add(infos), key, regex, PMIX_REGEX);
}

void info_data(struct info_list *infos, const char *key, pmix_data_type_t type, void *array,
               size_t count)
{
    pmix_data_array_t *data = mem_alloc(sizeof(*data));
    data->type = type;
    data->size = count;
    data->array = array;
    infos_value(infos, key, PMIX_DATA_ARRAY)->data.darray = data;
}

void info_procs(struct info_list *infos, const char *key, const pmix_proc_t *procs, size_t nprocs)
{
    pmix_proc_t *copy = mem_array(nprocs, sizeof(*copy));
    memcpy(copy, procs, nprocs * sizeof(*copy));
    info_data(infos, key, PMIX_PROC, copy, nprocs);
}

void info_bytes(struct info_list *infos, const char *key, const void *bytes, size_t len)
{
    pmix_byte_object_t *object = &infos_value(infos, key, PMIX_BYTE_OBJECT)->data.bo;
    object->bytes = memcpy(mem_resize(NULL, len ? len : 1, 1), bytes, len);
    object->size = len;
}

void info_array(struct info_list *infos, const char *key, struct info_list *array)
{
    info_data(infos, key, PMIX_INFO, array->at, array->count);
    *array = (struct info_list){0};
}

void info_append(struct info_list *infos, struct info_list *more)
{
    for (size_t i = 0; i < more->count; i++)
        *infos_add(infos) = more->at[i];
    free(more->at);
    *more = (struct info_list){0};
}

void info_free(struct info_list *infos, const struct pmix_library *library)
{
    for (size_t i = 0; i < infos->count; i++)
        if (infos->at[i].value.type != PMIX_TOPO)
            library->value_destruct(&infos->at[i].value);
    free(infos->at);
    *infos = (struct info_list){0};
}

/* ---- what openpmix passes ---- */

const pmix_value_t *info_find(const pmix_info_t info[], size_t ninfo, const char *key)
{
    for (size_t i = 0; i < ninfo; i++)
        if (!strcmp(info[i].key, key))
            return &info[i].value;
    return NULL;
}

/* A directive that says nothing more is one that is given. */
bool info_true(const pmix_info_t info[], size_t ninfo, const char *key)
{
    const pmix_value_t *value = info_find(info, ninfo, key);
    return value && (value->type != PMIX_BOOL || value->data.flag);
}

/* An int by the standard; openpmix itself reads 32 bits whatever their type is. */
double info_timeout(const pmix_info_t info[], size_t ninfo)
{
    const pmix_value_t *value = info_find(info, ninfo, PMIX_TIMEOUT);
    if (value && (value->type == PMIX_INT || value->type == PMIX_INT32))
        return value->data.int32 > 0 ? value->data.int32 : 0;
    return value && value->type == PMIX_UINT32 ? value->data.uint32 : 0;
}

bool info_value_number(const pmix_value_t *value, int64_t *number)
{
    switch (value->type) {
#define OF_TYPE(type, member)                                                                      \
    case type:                                                                                     \
        *number = (int64_t)value->data.member;                                                     \
        return true;
        OF_TYPE(PMIX_BOOL, flag)
        OF_TYPE(PMIX_BYTE, byte)
        OF_TYPE(PMIX_SIZE, size)
        OF_TYPE(PMIX_INT, integer)
        OF_TYPE(PMIX_INT8, int8)
        OF_TYPE(PMIX_INT16, int16)
        OF_TYPE(PMIX_INT32, int32)
        OF_TYPE(PMIX_INT64, int64)
        OF_TYPE(PMIX_UINT, uint)
        OF_TYPE(PMIX_UINT8, uint8)
        OF_TYPE(PMIX_UINT16, uint16)
        OF_TYPE(PMIX_UINT32, uint32)
        OF_TYPE(PMIX_UINT64, uint64)
        OF_TYPE(PMIX_DATA_RANGE, range)
        OF_TYPE(PMIX_PERSIST, persist)
#undef OF_TYPE
    default:
        return false;
    }
}

pmix_status_t info_value_put(struct buf *out, const pmix_value_t *value,
                             const struct pmix_library *library)
{
    bool text = value->type == PMIX_STRING && value->data.string;
    pmix_data_buffer_t packed = {0};
    pmix_status_t status = PMIX_SUCCESS;
    pack_put_u8(out, text);
    if (text)
        pack_put_text(out, value->data.string);
    else
        status = library->data_pack(NULL, &packed, (void *)value, 1, PMIX_VALUE);
    if (!text)
        pack_put_bytes(out, packed.base_ptr, packed.bytes_used);
    free(packed.base_ptr);
    return status;
}

pmix_status_t info_value_get(struct pack *in, pmix_value_t *value,
                             const struct pmix_library *library)
{
    size_t len;
    int32_t count = 1;
    bool text = pack_u8(in);
    const void *bytes = pack_bytes(in, &len);
    memset(value, 0, sizeof(*value));
    if (in->bad)
        return PMIX_ERR_BAD_PARAM;
    char *copy = mem_copy_text_n(bytes, len);
    if (text) {
        value->type = PMIX_STRING;
        value->data.string = copy;
        return PMIX_SUCCESS;
    }
    pmix_data_buffer_t packed = library_packed(copy, len);
    pmix_status_t status = library->data_unpack(NULL, &packed, value, &count, PMIX_VALUE);
    if (status != PMIX_SUCCESS) /* what is half there is of no use */
        memset(value, 0, sizeof(*value));
    free(packed.base_ptr);
    return status;
}

/*
 * Infos as bytes, and back. openpmix does both, for itself: what one host packed another one's
 * openpmix reads.
 */

#define TARGET NULL /* a host's like this one */

char *pack_infos(const struct pmix_library *library, const pmix_info_t *infos, size_t count,
                 size_t *len)
{
    pmix_data_buffer_t buffer = {0};
    pmix_status_t status = library->data_pack(TARGET, &buffer, &count, 1, PMIX_SIZE);
    if (status == PMIX_SUCCESS && count)
        status = library->data_pack(TARGET, &buffer, (void *)(uintptr_t)infos, (int32_t)count,
                                    PMIX_INFO);
    *len = buffer.bytes_used;
    if (status == PMIX_SUCCESS)
        return buffer.base_ptr;
    free(buffer.base_ptr);
    return NULL;
}

int pack_read_infos(const struct pmix_library *library, const void *bytes, size_t len,
                    struct info_list *infos)
{
    char *copy = memcpy(mem_resize(NULL, len, 1), bytes, len);
    pmix_data_buffer_t buffer = library_packed(copy, len);
    size_t count = 0;
    int32_t one = 1;
    /* So many as are said to follow; every one takes more than a byte. */
    bool good = library->data_unpack(TARGET, &buffer, &count, &one, PMIX_SIZE) == PMIX_SUCCESS &&
                count <= buffer.bytes_used;
    if (good) {
        infos->at = mem_array(count, sizeof(*infos->at));
        infos->count = infos->room = count;
    }
    if (good && count) {
        int32_t n = (int32_t)count;
        good = library->data_unpack(TARGET, &buffer, infos->at, &n, PMIX_INFO) == PMIX_SUCCESS &&
               n == (int32_t)count;
        if (!good)
            info_free(infos, library);
    }
    free(copy);
    return good ? 0 : -1;
}
