/*
 * topo_gpu - from devices that were found to the GPUs of a topology; nobody but the loaders needs
 * this.
 *
 * What is a GPU: a device with a compute device of an accelerator's runtime (cuda, nvml, rsmi, ze,
 * opencl); else by PCI class and vendor. A VGA adapter (class 0300) may be the display of a
 * server's management chip or a workstation's GPU: it counts when it is NVIDIA's, or AMD's or
 * Intel's with a DRM render node. The graphics inside an Intel processor (VGA on PCI bus 0) count
 * only where there is no other GPU, so that they do not come before those that were bought.
 */
#ifndef AFFINITY_TOPOLOGY_TOPO_GPU_H
#define AFFINITY_TOPOLOGY_TOPO_GPU_H

#include "affinity/topology/topo.h"

struct pci_address {
    uint32_t domain, bus, device, function;
};

struct gpu_device {
    bool on_pci; /* false: `pci` is only a number to sort by, behind all others */
    struct pci_address pci;
    uint16_t class_id;  /* PCI class and subclass, as 0x0302 */
    uint16_t vendor_id; /* PCI vendor */
    bool compute;       /* has a runtime's own device */
    bool render;        /* has a DRM render node */
    uint32_t tiles;     /* that were found; 0: nothing is known of any */
    char *name;         /* of the best known device on it; NULL: none. Taken by gpus_add() */
    struct idset *cpus; /* next to it; NULL or empty: not known. Taken by gpus_add() */
};

struct gpu_devices {
    struct gpu_device *list;
    size_t count;
};

/* A new last one; the pointer holds until the next is added. */
struct gpu_device *gpu_devices_add(struct gpu_devices *devices);
/* The one at this address, or NULL. */
struct gpu_device *gpu_devices_find(const struct gpu_devices *devices, struct pci_address pci);
void gpu_devices_free(struct gpu_devices *devices);

/* Those that are GPUs become the topology's, in the order of their addresses. What `devices` holds
 * is freed. Threads that the topology lacks are left out of their cpus; a GPU without any has
 * those of the whole machine. */
void gpus_add(struct topo *topo, struct gpu_devices *devices);

/* topo_gpu.c: those of a topology that kept its PCI and OS devices. */
struct hwloc_topology;
void gpus_add_hwloc(struct topo *topo, struct hwloc_topology *machine);

/* topo_gpu_sysfs.c: the GPUs of the machine whose /sys and /proc are under `root` ("" for this
 * one): those that a driver serves, by DRM render nodes and NVIDIA's own list. */
void gpus_add_system(struct topo *topo, const char *root);

#endif
