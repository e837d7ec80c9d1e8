#include <ctype.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/topology/topo_gpu.h"
#include "base/mem.h"

/* How hwloc calls the devices of accelerators' runtimes, best known first; several of them on one
 * PCI device are one GPU. */
static const struct runtime {
    const char *name;   /* followed by a number */
    uint16_t vendor_id; /* of what is not on PCI; 0: there it does not count */
} runtimes[] = {
    {"cuda", 0x10de}, {"rsmi", 0x1002}, {"ze", 0x8086}, {"opencl", 0}, {"nvml", 0},
};

enum { NRUNTIMES = sizeof(runtimes) / sizeof(runtimes[0]) };

static bool begins(const char *text, const char *with)
{
    size_t len = strlen(with);
    return strncmp(text, with, len) == 0 && isdigit((unsigned char)text[len]);
}

static size_t runtime_of(const char *name)
{
    size_t i = 0;
    while (i < NRUNTIMES && !begins(name, runtimes[i].name))
        i++;
    return i;
}

static struct idset *cpus_near(hwloc_topology_t machine, hwloc_obj_t device)
{
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(machine, device);
    struct idset *cpus = idset_new();
    for (int cpu = -1; near && near->cpuset && (cpu = hwloc_bitmap_next(near->cpuset, cpu)) >= 0;)
        idset_add(cpus, (uint32_t)cpu);
    return cpus;
}

static hwloc_obj_t pci_above(hwloc_obj_t obj)
{
    while (obj && obj->type != HWLOC_OBJ_PCI_DEVICE)
        obj = obj->type == HWLOC_OBJ_OS_DEVICE ? obj->parent : NULL;
    return obj;
}

static struct gpu_device *device_of_pci(struct gpu_devices *devices, hwloc_topology_t machine,
                                        hwloc_obj_t pci)
{
    const struct hwloc_pcidev_attr_s *attr = &pci->attr->pcidev;
    struct pci_address address = {attr->domain, attr->bus, attr->dev, attr->func};
    struct gpu_device *device = gpu_devices_find(devices, address);
    if (device)
        return device;
    device = gpu_devices_add(devices);
    device->on_pci = true;
    device->pci = address;
    device->class_id = attr->class_id;
    device->vendor_id = attr->vendor_id;
    device->cpus = cpus_near(machine, pci);
    return device;
}

/* Systems on a chip have GPUs that are not on PCI: then the device of its vendor's runtime is all
 * there is. */
static void add_off_pci(struct gpu_devices *devices, hwloc_topology_t machine, hwloc_obj_t os)
{
    const struct runtime *runtime = &runtimes[runtime_of(os->name)];
    if (!runtime->vendor_id || strchr(os->name, '.'))
        return;
    struct gpu_device *device = gpu_devices_add(devices);
    device->pci = (struct pci_address){UINT32_MAX, 0, 0, (uint32_t)devices->count};
    device->vendor_id = runtime->vendor_id;
    device->compute = true;
    device->name = mem_copy_text(os->name);
    device->cpus = cpus_near(machine, os);
}

static void add_on_pci(struct gpu_device *device, const char *name)
{
    device->compute = true;
    if (strchr(name, '.')) { /* a tile: "ze0.1" */
        device->tiles++;
    } else if (!device->name || runtime_of(name) < runtime_of(device->name)) {
        free(device->name);
        device->name = mem_copy_text(name);
    }
}

static void add_os_device(struct gpu_devices *devices, hwloc_topology_t machine, hwloc_obj_t os)
{
    hwloc_obj_t pci = pci_above(os);
    const char *name = os->name ? os->name : "";
    bool compute = runtime_of(name) < NRUNTIMES;
    if (!compute && !(pci && begins(name, "renderD")))
        return;
    if (!pci)
        add_off_pci(devices, machine, os);
    else if (compute)
        add_on_pci(device_of_pci(devices, machine, pci), name);
    else
        device_of_pci(devices, machine, pci)->render = true;
}

void gpus_add_hwloc(struct topo *topo, hwloc_topology_t machine)
{
    struct gpu_devices devices = {NULL, 0};
    for (hwloc_obj_t pci = NULL; (pci = hwloc_get_next_pcidev(machine, pci));) {
        unsigned class = pci->attr->pcidev.class_id >> 8;
        if (class == 0x03 || class == 0x12)
            device_of_pci(&devices, machine, pci);
    }
    for (hwloc_obj_t os = NULL; (os = hwloc_get_next_osdev(machine, os));)
        add_os_device(&devices, machine, os);
    gpus_add(topo, &devices);
}
