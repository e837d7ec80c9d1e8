/*
 * hwloc_library - hwloc, opened when it is first called.
 *
 * Most processes never ask for a topology: tprun inside an instance, tpctl. To load hwloc and what it
 * needs takes a sixth of the time in which such a process starts. So the functions of hwloc that are
 * used here have definitions of their own, which pass each call on; callers include <hwloc.h>, and
 * do not see it. Where the library is not installed the first call ends the process with a
 * sentence, as the dynamic loader would have at its start.
 */
#ifndef BASE_HWLOC_LIBRARY_H
#define BASE_HWLOC_LIBRARY_H

/* A function of the library itself, to tell whether another library is bound to the same one; NULL:
 * it has none of this name. */
void *hwloc_library_function(const char *name);

#endif
