/*
 * directory - directories that are closed to other users.
 */
#ifndef BASE_DIRECTORY_H
#define BASE_DIRECTORY_H

/* Make it, with mode 0700. One that is there is good if it is this user's and nobody else may enter it. 0, or
 * -1 with errno: EPERM where it is another's, or open to others, or a link. */
int directory_make_private(const char *path);

#endif
