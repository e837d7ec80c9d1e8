/*
 * Infos as bytes, and back. openpmix does both, for itself: what one host packed another one's
 * openpmix reads.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/inside.h"

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

/* So many as are said to follow; every one takes more than a byte. */
static int read_infos(const struct pmix_library *library, pmix_data_buffer_t *buffer,
                      struct infos *infos)
{
    size_t count;
    int32_t one = 1;
    if (library->data_unpack(TARGET, buffer, &count, &one, PMIX_SIZE) != PMIX_SUCCESS ||
        count > buffer->bytes_used)
        return -1;
    infos->at = mem_array(count, sizeof(*infos->at));
    infos->count = infos->room = count;
    int32_t n = (int32_t)count;
    if (!count || (library->data_unpack(TARGET, buffer, infos->at, &n, PMIX_INFO) == PMIX_SUCCESS &&
                   n == (int32_t)count))
        return 0;
    infos_free(infos, library);
    return -1;
}

int pack_read_infos(const struct pmix_library *library, const void *bytes, size_t len,
                    struct infos *infos)
{
    char *copy = memcpy(mem_resize(NULL, len, 1), bytes, len);
    pmix_data_buffer_t buffer = library_packed(copy, len);
    int rc = read_infos(library, &buffer, infos);
    free(copy);
    return rc;
}
