/* tpmove - moves the contexts of an instance's complete programs to the state directory. Started by a run that is
 * over, when it is time; nobody waits for it, and it says nothing. Not called by hand. */
#include <signal.h>
#include <unistd.h>

#include "launcher/ledger/completed.h"
#include "launcher/ledger/instance_directory.h"

#define MOVE_LIMIT 600 /* s: a file system that hangs is left alone */

int main(int argc, char *argv[])
{
    if (argc != 3)
        return 2;
    if (chdir("/") < 0) /* where the run was may be removed or unmounted */
        return 1;
    signal(SIGXFSZ, SIG_IGN); /* what is too large for the user's limit stays */
    alarm(MOVE_LIMIT);
    struct instance *instance = instance_open_outer(argv[1], argv[2]);
    if (!instance)
        return 1;
    int rc = completed_move(instance, NULL);
    completed_limit(instance); /* also where something stays: it may make room for that */
    instance_close(instance);
    return rc < 0;
}
