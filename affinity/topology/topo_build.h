/*
 * topo_build - how the sources of a topology make the table; nobody else needs this.
 *
 * Beyond what topo.h says every table keeps two rules that make the engine simple: along the rows
 * the numbers of a level never fall, so an object is one run of rows; and objects of two levels are
 * nested or apart, never astride. hwloc's tree has both by nature (should a NUMA node be cut in
 * two by a smaller one inside, its two ends count as two). The core level is there for all rows or
 * for none.
 */
#ifndef AFFINITY_TOPOLOGY_TOPO_BUILD_H
#define AFFINITY_TOPOLOGY_TOPO_BUILD_H

#include "affinity/topology/topo.h"
#include "base/buf.h"

/* One reference; the node and the hardware threads filled in, all other levels and all memory
 * absent, nothing allowed. */
struct topo *topo_new(uint32_t npus);

/* topo_json.c: the keys "memory" and "gib" of the wire form, where any thread has memory. */
void topo_memory_to_json(const struct topo *topo, json_t *value);
/* 0, or -1 with a sentence. */
int topo_memory_from_json(struct topo *topo, const json_t *value, struct error *err);
/* topo_json.c: a set as text; a text as a set of this machine's OS indexes, or NULL. */
json_t *topo_set_to_json(const struct idset *set);
struct idset *topo_cpus_from_json(const json_t *value, const struct topo *topo);
/* topo_json.c; `value` may be NULL. 0, or -1 with a sentence. */
json_t *topo_gpus_to_json(const struct topo *topo);
int topo_gpus_from_json(struct topo *topo, const json_t *value, struct error *err);

/* topo_xml.c: may hwloc be given this XML? 0, or -1 with a sentence that does not name the file. */
#define TOPO_XML_MAX_BYTES (32 << 20)
#define TOPO_XML_MAX_DEPTH 128
#define TOPO_XML_MAX_ELEMENTS (1 << 19)
int topo_xml_check(const char *text, size_t len, struct error *err);
/* Such a text from a file. */
int topo_xml_read(const char *path, struct buf *text, struct error *err);

/* topo_hwloc.c: from such a text. */
struct topo *topo_from_xml(const char *text, size_t len, struct error *err);

#endif
