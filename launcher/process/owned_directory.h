/*
 * owned_directory - a directory that is worth nothing without the process that made it.
 *
 * Its owner holds it open with a shared lock, which the kernel gives up for it however it dies. So
 * whoever comes later can tell one whose owner was killed from one that is in use: also where the
 * owner is in another pid namespace, and also where it was made a moment ago. [flock(2)]
 */
#ifndef LAUNCHER_PROCESS_OWNED_DIRECTORY_H
#define LAUNCHER_PROCESS_OWNED_DIRECTORY_H

#include <sys/types.h>

/* Make it, and own it for as long as the descriptor that is returned is open here; it is closed at
 * exec. -1 with errno. `mode` lets nobody else read it: who can open a directory can lock it, and
 * would keep the maker waiting, or a directory without an owner from being removed. */
int owned_directory_make(const char *path, mode_t mode);

/* Call `end` for each directory in `above` whose name begins with `prefix`, which is this user's
 * and has no owner any more. Nobody else does so meanwhile. The caller looks whether there is one,
 * at a bounded number of names. Where there is, or where there are more names, the rest is done
 * beside, in a thread that the end of the process stops: it may take its time. */
void owned_directory_sweep(const char *above, const char *prefix, void (*end)(const char *path));
/* Until all that was begun is done, or for so many seconds. */
void owned_directory_sweep_wait(double seconds);

#endif
