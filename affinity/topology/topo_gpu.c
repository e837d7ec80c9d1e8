/* Which devices are GPUs, and those that hwloc shows. */
#include "affinity/topology/topo_gpu.h"

#include <ctype.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

#define CLASS_VGA 0x0300
#define CLASS_3D 0x0302
#define CLASS_DISPLAY 0x0380     /* AMD Instinct, Intel Data Center GPU */
#define CLASS_ACCELERATOR 0x1200 /* AMD Instinct MI300; of others not a GPU */

struct gpu_device *gpu_devices_add(struct gpu_devices *devices)
{
    devices->list = array_grow(devices->list, devices->count, sizeof(*devices->list));
    devices->list[devices->count] = (struct gpu_device){.on_pci = false};
    return &devices->list[devices->count++];
}

static int compare_addresses(struct pci_address a, struct pci_address b)
{
    const uint32_t by[][2] = {
        {a.domain, b.domain}, {a.bus, b.bus}, {a.device, b.device}, {a.function, b.function}};
    for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
        if (by[i][0] != by[i][1])
            return by[i][0] < by[i][1] ? -1 : 1;
    return 0;
}

struct gpu_device *gpu_devices_find(const struct gpu_devices *devices, struct pci_address pci)
{
    for (size_t i = 0; i < devices->count; i++)
        if (compare_addresses(devices->list[i].pci, pci) == 0)
            return &devices->list[i];
    return NULL;
}

void gpu_devices_free(struct gpu_devices *devices)
{
    for (size_t i = 0; i < devices->count; i++) {
        free(devices->list[i].name);
        idset_free(devices->list[i].cpus);
    }
    free(devices->list);
    *devices = (struct gpu_devices){NULL, 0};
}

static enum topo_vendor vendor_of(const struct gpu_device *device)
{
    switch (device->vendor_id) {
    case 0x10de:
        return TOPO_VENDOR_NVIDIA;
    case 0x1002:
        return TOPO_VENDOR_AMD;
    case 0x8086:
        return TOPO_VENDOR_INTEL;
    default:
        return TOPO_VENDOR_UNKNOWN;
    }
}

static bool is_gpu(const struct gpu_device *device)
{
    enum topo_vendor vendor = vendor_of(device);
    if (device->compute)
        return true;
    switch (device->class_id) {
    case CLASS_3D:
    case CLASS_DISPLAY:
        return vendor != TOPO_VENDOR_UNKNOWN;
    case CLASS_VGA:
        return vendor == TOPO_VENDOR_NVIDIA || (vendor != TOPO_VENDOR_UNKNOWN && device->render);
    case CLASS_ACCELERATOR:
        return vendor == TOPO_VENDOR_AMD;
    default:
        return false;
    }
}

static bool is_integrated(const struct gpu_device *device)
{
    return device->class_id == CLASS_VGA && vendor_of(device) == TOPO_VENDOR_INTEL &&
           device->on_pci && device->pci.domain == 0 && device->pci.bus == 0;
}

static int compare_devices(const void *a, const void *b)
{
    return compare_addresses(((const struct gpu_device *)a)->pci,
                             ((const struct gpu_device *)b)->pci);
}

/* Its cpus are those of the topology; all of them where it has none of the device's. */
static void add_gpu(struct topo *topo, struct gpu_device *device)
{
    struct idset *cpus = idset_new();
    for (uint32_t row = 0; row < topo->npus; row++)
        idset_add(cpus, topo->os[row]);
    if (idset_count_both(cpus, device->cpus))
        idset_keep_set(cpus, device->cpus);
    struct pci_address at = device->pci;
    struct topo_gpu *gpu = &topo->gpus[topo->ngpus];
    *gpu = (struct topo_gpu){.id = (uint32_t)topo->ngpus++,
                             .name = device->name,
                             .cpus = cpus,
                             .vendor = vendor_of(device),
                             .tiles = device->tiles ? device->tiles : 1};
    gpu->pci = device->on_pci
                   ? mem_format("%04x:%02x:%02x.%x", at.domain, at.bus, at.device, at.function)
                   : mem_copy_text("");
    if (!gpu->name)
        gpu->name = mem_copy_text(gpu->pci);
    device->name = NULL;
}

void gpus_add(struct topo *topo, struct gpu_devices *devices)
{
    size_t bought = 0; /* GPUs that are not part of a processor */
    if (devices->count)
        qsort(devices->list, devices->count, sizeof(*devices->list), compare_devices);
    for (size_t i = 0; i < devices->count; i++)
        bought += is_gpu(&devices->list[i]) && !is_integrated(&devices->list[i]);
    if (devices->count)
        topo->gpus = mem_array(devices->count, sizeof(*topo->gpus));
    for (size_t i = 0; i < devices->count && topo->ngpus < TOPO_MAX_GPUS; i++)
        if (is_gpu(&devices->list[i]) && !(bought && is_integrated(&devices->list[i])))
            add_gpu(topo, &devices->list[i]);
    gpu_devices_free(devices);
}

/* How hwloc calls the devices of accelerators' runtimes, best known first; several of them on one
 * PCI device are one GPU. */
static const struct runtime {
    const char *name;   /* followed by a number */
    uint16_t vendor_id; /* of what is not on PCI; 0: there it does not count */
} runtimes[] = {
    {"cuda", 0x10de}, {"rsmi", 0x1002}, {"ze", 0x8086}, {"opencl", 0}, {"nvml", 0},
};

enum { NRUNTIMES = sizeof(runtimes) / sizeof(runtimes[0]) };

static bool topo_gpu_begins(const char *text, const char *with)
{
    size_t len = strlen(with);
    return strncmp(text, with, len) == 0 && isdigit((unsigned char)text[len]);
}

static size_t runtime_of(const char *name)
{
    size_t i = 0;
    while (i < NRUNTIMES && !topo_gpu_begins(name, runtimes[i].name))
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
    hwloc_obj_t pci = os;
    while (pci && pci->type != HWLOC_OBJ_PCI_DEVICE)
        pci = pci->type == HWLOC_OBJ_OS_DEVICE ? pci->parent : NULL;
    const char *name = os->name ? os->name : "";
    bool compute = runtime_of(name) < NRUNTIMES;
    if (!compute && !(pci && topo_gpu_begins(name, "renderD")))
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
