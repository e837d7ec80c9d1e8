/* Ownership of programs. */
#include "launcher/control/authorize.h"

int authorize(const char *operation, uid_t uid, uid_t target_uid, struct error *err)
{
    if (uid == target_uid)
        return 0;
    return error_set(err, "%s: the program is of user %u, and user %u may not", operation,
                     (unsigned)target_uid, (unsigned)uid);
}
