/*
 * topo - a node's hardware as one simple table.
 *
 * A row per hardware thread (PU) in hwloc's logical order, a column per level; a cell says which
 * object of that level holds the thread, numbered from 0 in logical order. A level that the
 * machine lacks has count 0 and all cells TOPO_ABSENT; a thread outside every object of a level
 * is TOPO_ABSENT too (memory-only NUMA nodes do not count, those without memory do; of several that
 * hold a thread the smallest does). Containment is thus read from the hardware, never assumed.
 *
 * The table covers the whole machine, including what this process may not use: core numbers are
 * hwloc's logical indexes there, as R has them. `allowed` says what may be used.
 *
 * A column beside them says which NUMA node's memory each thread has by default. Where several are
 * next to it that is the ordinary one: high-bandwidth, persistent and device memory (a NUMANode
 * whose subtype is not DRAM, or that was made of a DAX device) counts only where there is no other.
 *
 * A topo is immutable once made and may be shared by any number of nodes.
 */
#ifndef AFFINITY_TOPOLOGY_TOPO_H
#define AFFINITY_TOPOLOGY_TOPO_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/error.h"

/* Outermost first; letters of LAMA: n b N s L3 L2 L1 c h */
enum topo_level {
    TOPO_NODE,
    TOPO_BOARD,
    TOPO_NUMA,
    TOPO_SOCKET,
    TOPO_L3,
    TOPO_L2,
    TOPO_L1,
    TOPO_CORE,
    TOPO_HWTHREAD,
    TOPO_NLEVELS
};

#define TOPO_ABSENT UINT32_MAX
#define TOPO_MAX_PUS 65536
#define TOPO_MAX_MEMORIES 1024 /* NUMA nodes; Linux can have no more */
#define TOPO_MAX_GPUS 1024
#define TOPO_MAX_GIB (1u << 24)

/* Who made a GPU, and so which runtime numbers it. */
enum topo_vendor {
    TOPO_VENDOR_UNKNOWN,
    TOPO_VENDOR_NVIDIA,
    TOPO_VENDOR_AMD,
    TOPO_VENDOR_INTEL,
    TOPO_NVENDORS
};

/* GPUs are numbered from 0 by their PCI addresses, the order in which the runtimes number those of
 * their own vendor; display-only adapters are none. */
struct topo_gpu {
    uint32_t id;        /* logical, as in R; ascending along the table */
    char *name;         /* "cuda0", "rsmi1", ..., or the PCI address */
    struct idset *cpus; /* OS indexes of the threads next to it; never empty */
    char *pci;          /* "0000:c1:00.0", or "" */
    enum topo_vendor vendor;
    uint32_t tiles; /* parts that Level Zero may show as devices of their own; 1 elsewhere */
};

struct topo {
    uint32_t npus;
    uint32_t *os;                   /* [npus] OS index of each thread */
    bool *allowed;                  /* [npus] cgroup, inherited mask, online */
    uint32_t *memory;               /* [npus] OS index of its NUMA node, or TOPO_ABSENT */
    uint32_t *gib;                  /* [npus] the size of that, in whole GiB, so that it is the same
                                       at every boot; 0: less, or not known */
    uint32_t *object[TOPO_NLEVELS]; /* [npus] each */
    uint32_t count[TOPO_NLEVELS];   /* objects of each level */
    struct topo_gpu *gpus;
    size_t ngpus;
    int refs;
};

struct hwloc_topology;

/* Sets in the environment what only that can tell hwloc. For a process that has threads later,
 * before the first of them: it may call what reads the environment. It reads XML with hwloc's own
 * parser then. Without this, what loads a topology changes the environment for a moment, and is for
 * one thread. */
void topo_prepare(void);
/* This machine. Allowed = what sched_getaffinity(2) and the cgroup leave. */
struct topo *topo_load_local(struct error *err);
/* The same, and as hwloc itself has it in *machine, for libraries that want that. */
struct topo *topo_load_both(struct hwloc_topology **machine, struct error *err);
/* That alone. NULL with a sentence. */
struct hwloc_topology *topo_load_machine(struct error *err);
/* A machine that a process has inherited by fork stays, where it has loaded none itself: it goes with
 * the process, and to free it would be to copy its pages. NULL is fine. */
void topo_free_machine(struct hwloc_topology *machine);
/* This machine with its I/O devices as an hwloc XML export of format 2, which every hwloc from 2.0
 * on reads: for programs that need not discover it themselves then. What hwloc's plug-ins would add
 * is left out. In any thread, after topo_prepare(). Caller frees; NULL with a sentence. */
char *topo_export_local(struct error *err);
/* An hwloc synthetic description ("package:2 numa:4 core:4 pu:2") or an XML export. */
struct topo *topo_load_synthetic(const char *description, struct error *err);
struct topo *topo_load_xml(const char *path, struct error *err);
/* The same of the text of an export; `name` is for messages. */
struct topo *topo_load_xml_text(const char *name, const char *text, struct error *err);

struct topo *topo_ref(struct topo *topo);
void topo_free(struct topo *topo); /* drops a reference; NULL is fine */

/* The wire and cache form: {"version":1,"os":...,"levels":{...}}, runs folded, so that a regular
 * machine takes a few hundred bytes. From untrusted text: everything is checked. */
json_t *topo_to_json(const struct topo *topo);
struct topo *topo_from_json(const json_t *value, struct error *err);

/* 16 hex digits over the wire form, `allowed` included; equal topologies have equal digests.
 * Caller frees. */
char *topo_digest(const struct topo *topo);

/* The logical core of a row, as R numbers it; the row itself where the machine has no cores. */
uint32_t topo_core(const struct topo *topo, uint32_t row);

/* Sets that the caller frees: all logical cores; those with a thread that is allowed (the others of
 * such a core then do not exist for a layout, as if they were offline); the OS indexes of the
 * threads that are allowed. */
struct idset *topo_cores(const struct topo *topo);
struct idset *topo_allowed_cores(const struct topo *topo);
struct idset *topo_allowed_cpus(const struct topo *topo);
/* OS indexes of the threads of these cores that are allowed; caller frees. */
struct idset *topo_cpus_of_cores(const struct topo *topo, const struct idset *cores);
/* OS indexes of the NUMA nodes whose memory these threads (OS indexes) have; caller frees. */
struct idset *topo_memory_of_cpus(const struct topo *topo, const struct idset *cpus);

/* "nvidia", "amd", "intel"; "" of one that is not known. */
const char *topo_vendor_name(enum topo_vendor vendor);
enum topo_vendor topo_vendor_decode(const char *name); /* TOPO_NVENDORS for no such name */

/* Names: "node", "board", "numa", "socket", "l3cache", "l2cache", "l1cache", "core", "hwthread"
 * (also package, slot, n b N s L3 L2 L1 c h). Returns TOPO_NLEVELS for an unknown word. */
enum topo_level topo_level_decode(const char *word, size_t len);
const char *topo_level_name(enum topo_level level);
const char *topo_level_letter(enum topo_level level); /* "n", "L3", ... */
/* The level whose letter begins here, and how long the letter is; TOPO_NLEVELS and 0: none. */
enum topo_level topo_level_take_letter(const char *text, size_t *len);

#endif
