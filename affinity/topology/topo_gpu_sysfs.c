/*
 * The GPUs of this machine, from /sys and /proc.
 *
 * hwloc would find these too, but it visits every PCI device, and reading a configuration space
 * takes longer than all else that is done at a start (and wakes devices that sleep). What a driver
 * serves, and nothing else can be used, is in two short lists.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/topology/topo_gpu.h"
#include "base/mem.h"

#define FILE_MAX_BYTES 4096

struct search {
    const char *root;
    struct gpu_devices devices;
};

/* A file of a PCI device, without its last newline; "" where it can't be read. */
static void read_text(const char *device, const char *name, char text[FILE_MAX_BYTES])
{
    char *path = mem_format("%s/%s", device, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, text, FILE_MAX_BYTES - 1);
    text[len > 0 ? len : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
    free(path);
}

static unsigned long read_hex(const char *device, const char *name)
{
    char text[FILE_MAX_BYTES];
    read_text(device, name, text);
    return strtoul(text, NULL, 16);
}

/* Entries of a directory whose names are `prefix` and a number; the last one's into *last (caller
 * frees) when last is not NULL. */
static uint32_t count_entries(const char *path, const char *prefix, char **last)
{
    uint32_t count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
            !isdigit((unsigned char)entry->d_name[strlen(prefix)]))
            continue;
        count++;
        if (last) {
            free(*last);
            *last = mem_copy_text(entry->d_name);
        }
    }
    if (dir)
        closedir(dir);
    return count;
}

/* The xe driver shows the tiles of a card as such. i915 shows graphics engines, one a tile on a
 * card that computes only; elsewhere there may be another for media. */
static uint32_t count_tiles(const char *path, uint16_t class_id)
{
    uint32_t tiles = count_entries(path, "tile", NULL);
    char *drm = mem_format("%s/drm", path), *card = NULL;
    if (!tiles && class_id == 0x0380 && count_entries(drm, "card", &card)) {
        char *gt = mem_format("%s/%s/gt", drm, card);
        tiles = count_entries(gt, "gt", NULL);
        free(gt);
    }
    free(card);
    free(drm);
    return tiles;
}

/* The PCI device at this address, read when it is first seen; NULL for a text that is none. */
static struct gpu_device *find_device(struct search *search, const char *address)
{
    struct pci_address pci;
    char cpus[FILE_MAX_BYTES];
    int end = 0;
    if (sscanf(address, "%8x:%2x:%2x.%1x%n", &pci.domain, &pci.bus, &pci.device, &pci.function,
               &end) != 4 ||
        address[end])
        return NULL;
    struct gpu_device *device = gpu_devices_find(&search->devices, pci);
    if (device)
        return device;
    char *path = mem_format("%s/sys/bus/pci/devices/%s", search->root, address);
    device = gpu_devices_add(&search->devices);
    device->on_pci = true;
    device->pci = pci;
    device->class_id = (uint16_t)(read_hex(path, "class") >> 8);
    device->vendor_id = (uint16_t)read_hex(path, "vendor");
    device->tiles = count_tiles(path, device->class_id);
    read_text(path, "local_cpulist", cpus);
    device->cpus = idset_decode(cpus, NULL);
    free(path);
    return device;
}

static void find_nvidia(struct search *search, const char *name)
{
    find_device(search, name);
}

static void find_render_node(struct search *search, const char *name)
{
    char target[FILE_MAX_BYTES];
    char *link = mem_format("%s/sys/class/drm/%s/device", search->root, name);
    ssize_t len = readlink(link, target, sizeof(target) - 1);
    target[len > 0 ? len : 0] = '\0';
    const char *slash = strrchr(target, '/');
    struct gpu_device *device = find_device(search, slash ? slash + 1 : target);
    if (device)
        device->render = true;
    free(link);
}

static void find_each(struct search *search, const char *path, const char *prefix,
                      void (*find)(struct search *search, const char *name))
{
    char *whole = mem_format("%s%s", search->root, path);
    DIR *dir = opendir(whole);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            find(search, entry->d_name);
    if (dir)
        closedir(dir);
    free(whole);
}

void gpus_add_system(struct topo *topo, const char *root)
{
    struct search search = {.root = root};
    find_each(&search, "/sys/class/drm", "renderD", find_render_node);
    find_each(&search, "/proc/driver/nvidia/gpus", "", find_nvidia);
    gpus_add(topo, &search.devices);
}
