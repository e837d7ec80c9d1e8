#include "pmi-server/pmix/value.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool value_number(const pmix_value_t *value, int64_t *number)
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

pmix_status_t value_put(struct buf *out, const pmix_value_t *value,
                        const struct pmix_library *library)
{
    bool text = value->type == PMIX_STRING && value->data.string;
    pmix_data_buffer_t packed = {0};
    pmix_status_t status = PMIX_SUCCESS;
    packet_put_u8(out, text);
    if (text)
        packet_put_text(out, value->data.string);
    else
        status = library->data_pack(NULL, &packed, (void *)value, 1, PMIX_VALUE);
    if (!text)
        packet_put_bytes(out, packed.base_ptr, packed.bytes_used);
    free(packed.base_ptr);
    return status;
}

static pmix_status_t unpack(const void *bytes, size_t len, pmix_value_t *value,
                            const struct pmix_library *library)
{
    int32_t count = 1;
    char *copy = mem_copy_text_n(bytes, len);
    pmix_data_buffer_t packed = library_packed(copy, len);
    pmix_status_t status = library->data_unpack(NULL, &packed, value, &count, PMIX_VALUE);
    if (status != PMIX_SUCCESS) /* what is half there is of no use */
        memset(value, 0, sizeof(*value));
    free(packed.base_ptr);
    return status;
}

pmix_status_t value_get(struct packet *in, pmix_value_t *value, const struct pmix_library *library)
{
    size_t len;
    bool text = packet_u8(in);
    const void *bytes = packet_bytes(in, &len);
    memset(value, 0, sizeof(*value));
    if (in->bad)
        return PMIX_ERR_BAD_PARAM;
    if (!text)
        return unpack(bytes, len, value, library);
    value->type = PMIX_STRING;
    value->data.string = mem_copy_text_n(bytes, len);
    return PMIX_SUCCESS;
}
