/*
 * place_rankfile - placement by a rank file. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_PLACE_RANKFILE_H
#define AFFINITY_LAYOUT_PLACE_RANKFILE_H

struct error;
struct layout_build;
struct placement;

/* Place each rank where its line says, bound to what it says. 0, or -1 with a sentence that begins
 * with the file and the line. */
int place_rankfile(struct layout_build *build, const struct placement *placement,
                   struct error *err);

#endif
