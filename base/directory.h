/*
 * directory - directories that are closed to other users, and their removal.
 */
#ifndef BASE_DIRECTORY_H
#define BASE_DIRECTORY_H

/* Make it, with mode 0700. One that is there is good if it is this user's and nobody else may enter
 * it. 0, or -1 with errno: EPERM where it is another's, or open to others, or a link. */
int directory_make_private(const char *path);

/* Remove a file or a whole tree; 0 also where there is none. Links are not followed, also where
 * another user who may write `above` puts one in the place of the tree meanwhile. What cannot be
 * removed does not keep the rest: then -1 with errno, and its directories are left. */
int directory_remove(int above, const char *name);

#endif
