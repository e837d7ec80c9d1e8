/* export-topology - hwloc's XML of this machine on stdout, as its own tools would write it. */
#include <hwloc.h>
#include <stdio.h>

int main(void)
{
    hwloc_topology_t machine;
    char *text;
    int len;
    if (hwloc_topology_init(&machine) < 0 || hwloc_topology_load(machine) < 0 ||
        hwloc_topology_export_xmlbuffer(machine, &text, &len, 0) < 0)
        return 1;
    printf("%s", text);
    hwloc_free_xmlbuffer(machine, text);
    hwloc_topology_destroy(machine);
    return 0;
}
