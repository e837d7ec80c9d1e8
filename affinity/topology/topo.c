/* The table of a node's hardware: words for its levels, its life, sets of its cores and threads. */
#include "affinity/topology/topo.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/topology/topo_private.h"
#include "base/mem.h"

struct level_word {
    const char *word;
    enum topo_level level;
};

/* The first word of a level is its name. */
static const struct level_word level_words[] = {
    {"node", TOPO_NODE},      {"board", TOPO_BOARD}, {"numa", TOPO_NUMA},
    {"socket", TOPO_SOCKET},  {"l3cache", TOPO_L3},  {"l2cache", TOPO_L2},
    {"l1cache", TOPO_L1},     {"core", TOPO_CORE},   {"hwthread", TOPO_HWTHREAD},
    {"package", TOPO_SOCKET}, {"slot", TOPO_CORE},   {"n", TOPO_NODE},
    {"b", TOPO_BOARD},        {"N", TOPO_NUMA},      {"s", TOPO_SOCKET},
    {"L3", TOPO_L3},          {"L2", TOPO_L2},       {"L1", TOPO_L1},
    {"c", TOPO_CORE},         {"h", TOPO_HWTHREAD},
};

enum topo_level topo_level_decode(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof(level_words) / sizeof(level_words[0]); i++)
        if (strlen(level_words[i].word) == len && memcmp(level_words[i].word, word, len) == 0)
            return level_words[i].level;
    return TOPO_NLEVELS;
}

const char *topo_level_name(enum topo_level level)
{
    return level < TOPO_NLEVELS ? level_words[level].word : "nothing";
}

static const char *const level_letters[TOPO_NLEVELS] = {"n",  "b",  "N", "s", "L3",
                                                        "L2", "L1", "c", "h"};

const char *topo_level_letter(enum topo_level level)
{
    return level_letters[level];
}

enum topo_level topo_level_take_letter(const char *text, size_t *len)
{
    for (enum topo_level level = TOPO_NODE; level < TOPO_NLEVELS; level++) {
        *len = strlen(level_letters[level]);
        if (strncmp(text, level_letters[level], *len) == 0)
            return level;
    }
    *len = 0;
    return TOPO_NLEVELS;
}

static const char *const vendor_names[TOPO_NVENDORS] = {"", "nvidia", "amd", "intel"};

const char *topo_vendor_name(enum topo_vendor vendor)
{
    return vendor_names[vendor];
}

enum topo_vendor topo_vendor_decode(const char *name)
{
    enum topo_vendor vendor = TOPO_VENDOR_UNKNOWN;
    while (vendor < TOPO_NVENDORS && strcmp(name, vendor_names[vendor]) != 0)
        vendor++;
    return vendor;
}

struct topo *topo_new(uint32_t npus)
{
    struct topo *topo = mem_alloc(sizeof(*topo));
    topo->refs = 1;
    topo->npus = npus;
    topo->os = mem_array(npus, sizeof(*topo->os));
    topo->allowed = mem_array(npus, sizeof(*topo->allowed));
    topo->memory = mem_array(npus, sizeof(*topo->memory));
    topo->gib = mem_array(npus, sizeof(*topo->gib));
    memset(topo->memory, 0xff, npus * sizeof(*topo->memory));
    for (int level = 0; level < TOPO_NLEVELS; level++) {
        topo->object[level] = mem_array(npus, sizeof(*topo->object[level]));
        memset(topo->object[level], 0xff, npus * sizeof(*topo->object[level]));
    }
    for (uint32_t row = 0; row < npus; row++) {
        topo->object[TOPO_NODE][row] = 0;
        topo->object[TOPO_HWTHREAD][row] = row;
    }
    topo->count[TOPO_NODE] = npus > 0;
    topo->count[TOPO_HWTHREAD] = npus;
    return topo;
}

struct topo *topo_ref(struct topo *topo)
{
    topo->refs++;
    return topo;
}

void topo_free(struct topo *topo)
{
    if (!topo || --topo->refs > 0)
        return;
    for (size_t i = 0; i < topo->ngpus; i++) {
        free(topo->gpus[i].name);
        free(topo->gpus[i].pci);
        idset_free(topo->gpus[i].cpus);
    }
    free(topo->gpus);
    for (int level = 0; level < TOPO_NLEVELS; level++)
        free(topo->object[level]);
    free(topo->allowed);
    free(topo->memory);
    free(topo->gib);
    free(topo->os);
    free(topo);
}

uint32_t topo_core(const struct topo *topo, uint32_t row)
{
    uint32_t core = topo->object[TOPO_CORE][row];
    return core == TOPO_ABSENT ? row : core;
}

struct idset *topo_cores(const struct topo *topo)
{
    struct idset *set = idset_new();
    if (topo->npus)
        idset_add_range(set, 0, topo_core(topo, topo->npus - 1));
    return set;
}

struct idset *topo_allowed_cores(const struct topo *topo)
{
    struct idset *set = idset_new();
    for (uint32_t row = 0; row < topo->npus; row++)
        if (topo->allowed[row])
            idset_add(set, topo_core(topo, row));
    return set;
}

struct idset *topo_allowed_cpus(const struct topo *topo)
{
    struct idset *set = idset_new();
    for (uint32_t row = 0; row < topo->npus; row++)
        if (topo->allowed[row])
            idset_add(set, topo->os[row]);
    return set;
}

struct idset *topo_cpus_of_cores(const struct topo *topo, const struct idset *cores)
{
    struct idset *set = idset_new();
    for (uint32_t row = 0; row < topo->npus; row++)
        if (topo->allowed[row] && idset_has(cores, topo_core(topo, row)))
            idset_add(set, topo->os[row]);
    return set;
}

struct idset *topo_memory_of_cpus(const struct topo *topo, const struct idset *cpus)
{
    struct idset *set = idset_new();
    for (uint32_t row = 0; row < topo->npus; row++)
        if (topo->memory[row] != TOPO_ABSENT && idset_has(cpus, topo->os[row]))
            idset_add(set, topo->memory[row]);
    return set;
}
