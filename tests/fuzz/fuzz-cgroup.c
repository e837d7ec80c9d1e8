/* Where the own cgroup is, of two texts: the part before the first NUL is /proc/self/mountinfo. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/process/cgroup.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    size_t len = strnlen((const char *)data, size), rest = len < size ? size - len - 1 : 0;
    char *mounts = mem_copy_text_n((const char *)data, len);
    char *own = mem_copy_text_n((const char *)data + size - rest, rest);
    char *path = cgroup_locate(mounts, own, NULL, &err);
    if (path ? path[0] != '/' || err.text : !err.text)
        abort();
    free(path);
    free(mounts);
    free(own);
    error_clear(&err);
    return 0;
}
