/*
 * topo_xml - limits on an XML export before hwloc reads it. Private to topology/.
 */
#ifndef AFFINITY_TOPOLOGY_TOPO_XML_H
#define AFFINITY_TOPOLOGY_TOPO_XML_H

#include <stddef.h>
#include "base/buf.h"
#include "base/error.h"

#define TOPO_XML_MAX_BYTES (32 << 20)
#define TOPO_XML_MAX_DEPTH 128
#define TOPO_XML_MAX_ELEMENTS (1 << 19)
/* May hwloc be given this XML? 0, or -1 with a sentence that does not name the file. */
int topo_xml_check(const char *text, size_t len, struct error *err);
/* Such a text from a file. */
int topo_xml_read(const char *path, struct buf *text, struct error *err);

#endif
