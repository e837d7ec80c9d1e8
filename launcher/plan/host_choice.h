/*
 * host_choice - which hosts of a run are wanted: asked for an agent, and candidates for tasks.
 *
 * A run on a few of many hosts does not start them all. By counts of tasks and cores the first that
 * have enough free are wanted, the others are spare: wanted as well where those do not do. Of hosts
 * without an R nothing is known before: where the run says how many it uses, the first so many are
 * wanted. Where every part says by a rank file or task map which hosts it uses, it is those and no
 * others.
 *
 * The choice is of what is free at that time (resources.h); it is made again when that has changed.
 * Hosts that it did not need to look at are spare by what is free when that is asked.
 */
#ifndef LAUNCHER_PLAN_HOST_CHOICE_H
#define LAUNCHER_PLAN_HOST_CHOICE_H

#include <stdbool.h>

#include "launcher/instance/resources.h"
#include "launcher/spec/spec.h"

struct host_choice;

/* Reads the rank files of the parts. All is borrowed. NULL with a sentence, also where one names a
 * host that is not there. */
struct host_choice *host_choice_new(const struct spec *spec, const struct resources *resources,
                                    const struct host_table *hosts, struct error *err);
void host_choice_free(struct host_choice *choice); /* NULL is fine */

/* Of a part; borrowed, NULL where it has none. */
struct rankfile *host_choice_rankfile(const struct host_choice *choice, size_t part);
/* Every part says which hosts it uses, as of the last choice. */
bool host_choice_is_by_name(const struct host_choice *choice);
bool host_choice_wants(const struct host_choice *choice, uint32_t host);
struct idset *host_choice_wanted(const struct host_choice *choice); /* caller frees */

/* Choose by what is free now. */
void host_choice_make(struct host_choice *choice);
/* Without regard to that: all hosts, or those that this set has by their ranks in R. */
void host_choice_take_all(struct host_choice *choice);
void host_choice_take_only(struct host_choice *choice, const struct rset *set);
/* What others hold was read again: hosts where nothing is free any more are not wanted. */
void host_choice_drop_full(struct host_choice *choice);
/* The spare hosts are wanted, too. False where there are none. */
bool host_choice_add_spare(struct host_choice *choice);
/* Of the hosts that were to be enough some are not there: one was another name of another, say. */
bool host_choice_is_short(const struct host_choice *choice);
/* Whether the others may do without the hosts that failed: no option says which hosts tasks are on,
 * the agents of those were not reached, and there are others. `elsewhere`: programs run on the
 * nodes that are there, as in an instance; else it has to be clear how many the run needs. */
bool host_choice_can_spare_failed(const struct host_choice *choice, bool elsewhere);

#endif
