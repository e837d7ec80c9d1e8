/*
 * resources - what a run may use: the nodes and their R, less what others hold.
 *
 * resources_open() finds the nodes, the instance they belong to, and what the run is a task of;
 * resources_refresh() reads what others hold, and is called again whenever that may have changed.
 * Between two reads all answers are the same. Cores and GPUs have their logical numbers, hosts
 * those of the host table. The row of the ledger that says what this program holds is here, too.
 *
 * resources_refresh() costs a read of the claims file; all else is linear in the number of hosts.
 */
#ifndef LAUNCHER_INSTANCE_RESOURCES_H
#define LAUNCHER_INSTANCE_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "affinity/resource/rset.h"
#include "launcher/instance/host_table.h"
#include "launcher/instance/local_topology.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/ledger/topology_cache.h"
#include "launcher/spec/spec.h"

#define RESOURCES_PATIENCE 0.2 /* s for the instance's lock */

struct resources;

/* The spec and `local` are borrowed. NULL with a sentence. */
struct resources *resources_open(const struct spec *spec, struct local_topology *local,
                                 struct error *err);
void resources_free(struct resources *resources); /* NULL is fine */
/* Read now what this process and those that it forks later will all need of the program that the
 * environment names. It is kept for the life of the process, and the first run in each that uses
 * all nodes of the program uses it. What was kept before is dropped: nothing may use it. */
void resources_read_ahead(void);
/* What the user is to be told of the nodes; NULL: nothing. */
const char *resources_note(const struct resources *resources);
/* In a dry run on hosts that are only described (--topology): read the descriptions. 0, or -1 with
 * a sentence. */
int resources_read_topologies(struct resources *resources, struct error *err);

/* Its hosts, which it owns; NULL without resources. */
struct host_table *resources_hosts(const struct resources *resources);
/* What the instance remembers of the nodes' hardware; caller frees. NULL where nothing needs it. */
struct topology_cache *resources_topology_cache(const struct resources *resources);

/* ---- the instance and this program in it ---- */

/* NULL without resources, as is the entry before resources_enter(). */
struct instance *resources_instance(const struct resources *resources);
struct ledger_entry *resources_entry(const struct resources *resources);
/* Id of the instance, and after a colon of the outermost one where that is another. */
const char *resources_instance_id(const struct resources *resources);
/* Programs of the instance that this run is a task of (idset text); NULL: none, or they are of
 * another instance. */
const char *resources_enclosing(const struct resources *resources);
bool resources_is_enclosed(const struct resources *resources); /* this run is a task of a program */
/* Make the program's entry in the ledger. Nothing is done where it is there already, or nothing
 * will run. 0, or -1 with a sentence: resources_open() goes on without the entry where another
 * process has the lock, and the caller tries again. */
int resources_enter(struct resources *resources, struct error *err);
void resources_leave(struct resources *resources); /* the program is over */
/* Claim this for the program. 0: it holds that now. 1 with a sentence: another program was first.
 * -1 with a sentence. With --overlap, or where nothing will run, nothing is claimed: 0. */
int resources_claim(struct resources *resources, const struct rset *set, struct error *err);
/* What was claimed, which nothing of this program has run on. */
void resources_give_back(struct resources *resources);

/* The program holds `claim`, and its tasks and its time limit start now. Where its end could not be
 * known when it claimed, or was reckoned from a time that is gone, it is written down now for
 * programs that wait. */
void resources_begin_limit(struct resources *resources, const struct rset *claim);

/* How many seconds a program with this spec holds at most what it claims, if this were its time
 * limit: until its tasks are killed, with its prolog and epilog. INFINITY: not known. */
double resources_longest_hold(const struct spec *spec, double time_limit);

/* ---- what others hold ---- */

/* Read anew what others hold: 0, or -1 with a sentence. */
int resources_refresh(struct resources *resources, struct error *err);
/* For a trial: as if others held this (borrowed; NULL: nothing) and no more, until the trial
 * ends. */
void resources_begin_trial(struct resources *resources, const struct rset *held);
void resources_end_trial(struct resources *resources);
/* What others hold, or keep that stand in line before this program; NULL: nothing is known to
 * be. */
const struct rset *resources_held(const struct resources *resources);
const struct rset_node *resources_held_of(const struct resources *resources, uint32_t host);
/* Of these, what running programs hold; in a trial as well. */
size_t resources_held_cores(const struct resources *resources);
size_t resources_held_gpus(const struct resources *resources);

/* ---- what there is ---- */

/* What --on says: all of it is claimed. NULL: nothing. */
const struct rset *resources_on(const struct resources *resources);
/* What set the nodes' limits, for messages; NULL: a host file. */
const char *resources_limits_source(const struct resources *resources);
/* Neither an option nor a batch job named nodes. */
bool resources_are_this_machine(const struct resources *resources);
/* What R gives of a host less what others hold, borrowed; NULL: R does not say. */
const struct idset *resources_free_of_R(const struct resources *resources, uint32_t host);

/* What a host whose topology is known has; sets that the caller frees. Of GPUs those that tprun may
 * give out, NULL where there are none; -1 with a sentence where they cannot be told. */
struct idset *resources_cores(const struct resources *resources, uint32_t host);
int resources_gpus(struct resources *resources, uint32_t host, struct idset **gpus,
                   struct error *err);
/* The same, less what others hold. */
struct idset *resources_free_cores(const struct resources *resources, uint32_t host);
int resources_free_gpus(struct resources *resources, uint32_t host, struct idset **gpus,
                        struct error *err);
/* This machine has GPUs that tprun's own environment hides. */
bool resources_gpus_are_hidden(const struct resources *resources);

/* All that the hosts whose topology is known have, free or not, as an R that says where it is.
 * Caller frees; NULL with a sentence. */
struct rset *resources_R(struct resources *resources, struct error *err);

struct ranked { /* things in order of the rank of their node in R */
    uint32_t rank;
    size_t index; /* of what is ranked */
};
int ranked_compare(const void *a, const void *b); /* of two struct ranked */

#endif
