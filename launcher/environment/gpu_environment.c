/* Writes and reads the variables of GPUs' runtimes, for tasks and for this process's own job step. */
#include "launcher/environment/gpu_environment.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/environment/environment.h"

#define CUDA "CUDA_VISIBLE_DEVICES"
#define CUDA_ORDER "CUDA_DEVICE_ORDER"
#define ROCR "ROCR_VISIBLE_DEVICES"
#define HIP "HIP_VISIBLE_DEVICES"
#define ZE "ZE_AFFINITY_MASK"
#define ZE_HIERARCHY "ZE_FLAT_DEVICE_HIERARCHY"

/* Whether the numbers of ZE_AFFINITY_MASK are of cards; where nothing is said, `otherwise`. */
static bool counts_cards(char *const *environment, bool otherwise)
{
    const char *hierarchy = env_value(environment, ZE_HIERARCHY);
    return hierarchy ? strcmp(hierarchy, "COMPOSITE") == 0 : otherwise;
}

/* ---- what a task has set ---- */

static void add_number(struct buf *out, uint32_t number)
{
    buf_printf(out, "%s%u", out->len ? "," : "", number);
}

/* Their numbers among those of their vendor; `tiles`: numbers of all their tiles among all tiles. */
static char *numbers_of(const struct topo *topo, const struct idset *gpus, enum topo_vendor vendor,
                        bool tiles)
{
    struct buf out = BUF_INIT;
    uint32_t number = 0;
    for (size_t i = 0; i < topo->ngpus; i++) {
        const struct topo_gpu *gpu = &topo->gpus[i];
        if (gpu->vendor != vendor)
            continue;
        uint32_t width = tiles ? gpu->tiles : 1;
        for (uint32_t k = 0; gpus && idset_has(gpus, gpu->id) && k < width; k++)
            add_number(&out, number + k);
        number += width;
    }
    return buf_take_text(&out);
}

/* Where the topology shows no GPU, R's numbers are all there is. */
static char *ids_of(const struct idset *gpus)
{
    struct buf out = BUF_INIT;
    for (uint32_t id = gpus ? idset_first(gpus) : IDSET_NONE; id != IDSET_NONE;
         id = idset_next(gpus, id))
        add_number(&out, id);
    return buf_take_text(&out);
}

static bool has_vendor(const struct topo *topo, enum topo_vendor vendor, const struct idset *among)
{
    for (size_t i = 0; i < topo->ngpus; i++)
        if (topo->gpus[i].vendor == vendor && (!among || idset_has(among, topo->gpus[i].id)))
            return true;
    return false;
}

struct entries {
    char *list[GPU_ENVIRONMENT_MAX];
    size_t count;
};

/* Takes the numbers; `none` stands where there are none. */
static void add_entry(struct entries *entries, const char *name, char *numbers, const char *none)
{
    entries->list[entries->count++] = mem_format("%s=%s", name, *numbers ? numbers : none);
    free(numbers);
}

/* An empty mask would be none at all for Level Zero; -1 names no device. */
static void add_ze(struct entries *entries, char *numbers, char *const *environment)
{
    add_entry(entries, ZE, numbers, "-1");
    if (!env_value(environment, ZE_HIERARCHY))
        entries->list[entries->count++] = mem_copy_text(ZE_HIERARCHY "=COMPOSITE");
}

char **gpu_environment_make(const struct topo *topo, const struct idset *gpus,
                            char *const *environment)
{
    struct entries entries = {.count = 0};
    /* HIP reads CUDA's variable, too: none of NVIDIA's must not hide AMD's. */
    bool hides_amd = gpus && has_vendor(topo, TOPO_VENDOR_AMD, gpus) &&
                     !has_vendor(topo, TOPO_VENDOR_NVIDIA, gpus);
    if (has_vendor(topo, TOPO_VENDOR_NVIDIA, NULL) && !hides_amd) {
        add_entry(&entries, CUDA, numbers_of(topo, gpus, TOPO_VENDOR_NVIDIA, false), "-1");
        entries.list[entries.count++] = mem_copy_text(CUDA_ORDER "=PCI_BUS_ID");
    }
    if (has_vendor(topo, TOPO_VENDOR_AMD, NULL))
        add_entry(&entries, ROCR, numbers_of(topo, gpus, TOPO_VENDOR_AMD, false), "");
    if (has_vendor(topo, TOPO_VENDOR_INTEL, NULL))
        add_ze(&entries,
               numbers_of(topo, gpus, TOPO_VENDOR_INTEL, !counts_cards(environment, true)),
               environment);
    if (!topo->ngpus) {
        add_entry(&entries, CUDA, ids_of(gpus), "-1");
        add_ze(&entries, ids_of(gpus), environment);
    }
    char **list = mem_array(entries.count + 1, sizeof(*list));
    memcpy(list, entries.list, entries.count * sizeof(*list));
    return list;
}

bool gpu_environment_says(const char *entry)
{
    static const char *const names[] = {CUDA, CUDA_ORDER, ROCR, HIP, "GPU_DEVICE_ORDINAL", ZE};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0 && entry[strlen(names[i])] == '=')
            return true;
    return false;
}

/* ---- what is left to be seen ---- */

/* GPUs of one vendor in the order in which its runtime numbers them, an entry a number. */
struct seen {
    uint32_t *ids;
    size_t count;
};

static struct seen seen_all(const struct topo *topo, enum topo_vendor vendor, bool tiles)
{
    struct seen seen = {NULL, 0};
    for (size_t i = 0; i < topo->ngpus; i++) {
        const struct topo_gpu *gpu = &topo->gpus[i];
        for (uint32_t k = 0; gpu->vendor == vendor && k < (tiles ? gpu->tiles : 1); k++) {
            seen.ids = mem_resize(seen.ids, seen.count + 1, sizeof(*seen.ids));
            seen.ids[seen.count++] = gpu->id;
        }
    }
    return seen;
}

/* Without a topology that shows them, numbers are ids. */
static struct seen seen_ids(const struct idset *gpus)
{
    size_t count = idset_empty(gpus) ? 0 : idset_last(gpus) + 1ul;
    struct seen seen = {NULL, count < TOPO_MAX_GPUS ? count : TOPO_MAX_GPUS};
    seen.ids = mem_array(seen.count, sizeof(*seen.ids));
    for (uint32_t i = 0; i < seen.count; i++)
        seen.ids[i] = i;
    return seen;
}

/* As the runtimes read it: numbers up to the first entry that is none; of "1.0" the card. */
static int seen_only(struct seen *seen, const char *name, const char *text, struct error *err)
{
    const char *at = text;
    if (!seen->count)
        return 0;
    struct seen left = {mem_array(seen->count, sizeof(*left.ids)), 0};
    while (isdigit((unsigned char)*at) && left.count < seen->count) {
        char *end;
        unsigned long number = strtoul(at, &end, 10);
        if (number >= seen->count)
            break;
        left.ids[left.count++] = seen->ids[number];
        at = end + strcspn(end, ",");
        at += *at == ',';
        at += strspn(at, " ");
    }
    free(seen->ids);
    *seen = left;
    if (strncmp(at, "GPU-", 4) != 0 && strncmp(at, "MIG-", 4) != 0)
        return 0;
    return error_set(err,
                     "%s=%.100s in the environment names GPUs by UUID, and which of this machine's "
                     "these are is not known here; give their numbers, or unset it",
                     name, text);
}

/* `empty`: an empty list is one, and leaves nothing. */
static int seen_limit(struct seen *seen, const char *name, bool empty, char *const *environment,
                      struct error *err)
{
    const char *text = env_value(environment, name);
    return text && (*text || empty) ? seen_only(seen, name, text, err) : 0;
}

/* Takes what is seen. */
static void seen_add(struct idset *allowed, struct seen *seen, const struct idset *gpus)
{
    for (size_t i = 0; i < seen->count; i++)
        if (idset_has(gpus, seen->ids[i]))
            idset_add(allowed, seen->ids[i]);
    free(seen->ids);
}

struct idset *gpu_environment_allowed(const struct topo *topo, const struct idset *gpus,
                                      char *const *environment, struct error *err)
{
    struct idset *allowed = idset_new();
    struct seen cuda = topo->ngpus ? seen_all(topo, TOPO_VENDOR_NVIDIA, false) : seen_ids(gpus);
    struct seen rocr = seen_all(topo, TOPO_VENDOR_AMD, false);
    struct seen other = seen_all(topo, TOPO_VENDOR_UNKNOWN, false);
    /* A mask of sub-devices ("1.0") counts cards. */
    const char *mask = env_value(environment, ZE);
    bool cards = counts_cards(environment, false) || (mask && strchr(mask, '.'));
    struct seen ze = seen_all(topo, TOPO_VENDOR_INTEL, !cards);
    int rc = seen_limit(&ze, ZE, false, environment, err);
    if (seen_limit(&cuda, CUDA, true, environment, err) < 0 ||
        seen_limit(&rocr, ROCR, true, environment, err) < 0 ||
        seen_limit(&rocr, HIP, false, environment, err) < 0)
        rc = -1;
    seen_add(allowed, &cuda, gpus);
    seen_add(allowed, &rocr, gpus);
    seen_add(allowed, &ze, gpus);
    seen_add(allowed, &other, gpus);
    if (rc == 0)
        return allowed;
    idset_free(allowed);
    return NULL;
}

/* srun(1), "OUTPUT ENVIRONMENT VARIABLES": the numbers in it are Slurm's own; those of the runtimes are in
 * the runtimes' variables. */
struct idset *gpu_environment_of_step(const struct topo *topo, char *const *environment,
                                      struct error *err)
{
    const char *step = env_value(environment, "SLURM_STEP_GPUS");
    if (!step || !*step)
        return NULL;
    struct idset *all = idset_new();
    idset_add_range(all, 0, TOPO_MAX_GPUS - 1);
    struct idset *granted = gpu_environment_allowed(topo, all, environment, err);
    idset_free(all);
    return granted;
}
