#include "affinity/topology/topo_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CLASS_VGA 0x0300
#define CLASS_3D 0x0302
#define CLASS_DISPLAY 0x0380     /* AMD Instinct, Intel Data Center GPU */
#define CLASS_ACCELERATOR 0x1200 /* AMD Instinct MI300; of others not a GPU */

struct gpu_device *gpu_devices_add(struct gpu_devices *devices)
{
    devices->list = mem_resize(devices->list, devices->count + 1, sizeof(*devices->list));
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

/* The threads that the topology has of this set, or all of its threads. */
static struct idset *cpus_here(const struct topo *topo, const struct idset *cpus)
{
    struct idset *all = idset_new();
    for (uint32_t row = 0; row < topo->npus; row++)
        idset_add(all, topo->os[row]);
    struct idset *some = cpus ? idset_intersect(all, cpus) : idset_copy(all);
    if (!idset_empty(some)) {
        idset_free(all);
        return some;
    }
    idset_free(some);
    return all;
}

static void add_gpu(struct topo *topo, struct gpu_device *device)
{
    struct pci_address at = device->pci;
    struct topo_gpu *gpu = &topo->gpus[topo->ngpus];
    *gpu = (struct topo_gpu){.id = (uint32_t)topo->ngpus++,
                             .name = device->name,
                             .cpus = cpus_here(topo, device->cpus),
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
