/* This machine as hwloc tells other programs of it. */
#include <errno.h>
#include <hwloc.h>
#include <string.h>

#include "affinity/topology/topo.h"
#include "base/mem.h"

/* Format 2: hwloc 3 would write its own, which older ones do not read. */
#if HWLOC_API_VERSION >= 0x00030000
#define EXPORT_FLAGS HWLOC_TOPOLOGY_EXPORT_XML_FLAG_V2
#else
#define EXPORT_FLAGS 0
#endif

/* As a program sees it that asks for I/O devices, but for what cpuid alone says: for that hwloc has to
 * visit every processor. */
static int load_whole(hwloc_topology_t machine)
{
    if (hwloc_topology_set_io_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_ALL) < 0)
        return -1;
    hwloc_topology_set_components(machine, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    return hwloc_topology_load(machine);
}

char *topo_export_local(struct error *err)
{
    hwloc_topology_t machine;
    char *xml, *text = NULL;
    int len;
    if (hwloc_topology_init(&machine) < 0) {
        error_set(err, "this machine's topology: cannot initialise hwloc: %s", strerror(errno));
        return NULL;
    }
    if (load_whole(machine) < 0 ||
        hwloc_topology_export_xmlbuffer(machine, &xml, &len, EXPORT_FLAGS) < 0) {
        error_set(err, "this machine's topology: hwloc cannot export it: %s", strerror(errno));
    } else {
        text = mem_copy_text(xml);
        hwloc_free_xmlbuffer(machine, xml);
    }
    hwloc_topology_destroy(machine);
    return text;
}
