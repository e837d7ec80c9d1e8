/* The check that tprun and its agents make at their start: is our uid ours alone? */
#include "launcher/process/user_namespace.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

#define ALL_UIDS UINT32_MAX /* how many there are: (uid_t)-1 is none */

bool user_namespace_is_ambiguous(const char *map, uid_t overflow, uid_t own)
{
    uint64_t mapped = 0;
    if (own != overflow)
        return false;
    for (const char *line = map; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        uint32_t count;
        if (sscanf(line, "%*" SCNu32 " %*" SCNu32 " %" SCNu32, &count) == 1)
            mapped += count;
    }
    return mapped < ALL_UIDS;
}

int user_namespace_check(struct error *err)
{
    struct buf map = BUF_INIT, overflow = BUF_INIT;
    uid_t own = geteuid(), other = 65534;
    if (file_read("/proc/sys/kernel/overflowuid", &overflow) == 0)
        other = (uid_t)strtoul(buf_text(&overflow), NULL, 10);
    int rc = 0;
    if (own == other && file_read("/proc/self/uid_map", &map) == 0 &&
        user_namespace_is_ambiguous(buf_text(&map), other, own))
        rc = error_set(
            err,
            "cannot run as uid %u in this user namespace: all users that it does not map have "
            "that number, too; map yours to another (unshare --map-current-user)",
            (unsigned)own);
    buf_free(&map);
    buf_free(&overflow);
    return rc;
}
