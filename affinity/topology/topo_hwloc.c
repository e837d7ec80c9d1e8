/* Topologies by hwloc: of this machine, of a synthetic description, of an XML export. */
#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "affinity/topology/topo.h"
#include "affinity/topology/topo_gpu.h"
#include "affinity/topology/topo_numa.h"
#include "affinity/topology/topo_private.h"
#include "affinity/topology/topo_xml.h"
#include "base/mem.h"
#include "base/text.h"

#define SYNTHETIC_MAX_BYTES 65536
#define SYNTHETIC_MAX_WORK UINT64_C(5000000000) /* some ten seconds */

/* Disallowed threads are wanted too, since core numbers are those of the whole machine. The rest
 * is never looked at here, and takes longer to find than everything else together. */
static const unsigned long load_flags =
    HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
    HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;

/* Die, Group and L4 stay although the table has no column for them: they decide the order in which
 * hwloc numbers cores. */
static const hwloc_obj_type_t unused_types[] = {
    HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2ICACHE,   HWLOC_OBJ_L3ICACHE,  HWLOC_OBJ_MISC,
    HWLOC_OBJ_BRIDGE,   HWLOC_OBJ_PCI_DEVICE, HWLOC_OBJ_OS_DEVICE,
};

/* What only the environment can tell hwloc; a setting of the user's own is respected.
 *
 * It opens its plug-ins (OpenCL, GL, PCI, libxml) while it initialises, before anybody could say that
 * they are not wanted, and that takes longer than all the rest. Of a machine that contradicts itself
 * (NUMA domains astride sockets) it would say so at length on stderr, once a node, amid what tasks
 * write there. */
static const struct {
    const char *name, *value;
} no_plugins = {"HWLOC_PLUGINS_PATH", "/nonexistent"}, no_errors = {"HWLOC_HIDE_ERRORS", "2"};

void topo_prepare(void)
{
    setenv(no_plugins.name, no_plugins.value, 0);
    setenv(no_errors.name, no_errors.value, 0);
}

/* For the length of one call, where topo_prepare() was not called. */
static bool setting_begin(const char *name, const char *value)
{
    return !getenv(name) && setenv(name, value, 1) == 0;
}

static void setting_end(const char *name, bool ours)
{
    int saved = errno;
    if (ours)
        unsetenv(name);
    errno = saved;
}

/* Plug-ins only for XML: libxml reads what hwloc's own small parser does not, such as comments.
 * There the devices are in the file, too; finding those of this machine is topo_gpu_system's. */
static hwloc_topology_t machine_new(bool xml)
{
    hwloc_topology_t machine;
    bool ours = !xml && setting_begin(no_plugins.name, no_plugins.value);
    int rc = hwloc_topology_init(&machine);
    setting_end(no_plugins.name, ours);
    if (rc < 0)
        return NULL;
    hwloc_topology_set_flags(machine, load_flags);
    for (size_t i = 0; i < sizeof(unused_types) / sizeof(unused_types[0]); i++)
        hwloc_topology_set_type_filter(machine, unused_types[i], HWLOC_TYPE_FILTER_KEEP_NONE);
    if (xml)
        hwloc_topology_set_io_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_ALL);
    return machine;
}

static hwloc_obj_t find_board(hwloc_obj_t obj)
{
    for (; obj; obj = obj->parent)
        if (obj->type == HWLOC_OBJ_GROUP && obj->subtype &&
            (!strcasecmp(obj->subtype, "Board") || !strcasecmp(obj->subtype, "Book")))
            return obj;
    return NULL;
}

static hwloc_obj_t find_object(hwloc_topology_t machine, hwloc_obj_t pu, enum topo_level level)
{
    static const hwloc_obj_type_t types[TOPO_NLEVELS] = {
        [TOPO_SOCKET] = HWLOC_OBJ_PACKAGE, [TOPO_L3] = HWLOC_OBJ_L3CACHE,
        [TOPO_L2] = HWLOC_OBJ_L2CACHE,     [TOPO_L1] = HWLOC_OBJ_L1CACHE,
        [TOPO_CORE] = HWLOC_OBJ_CORE,
    };
    if (level == TOPO_BOARD)
        return find_board(pu);
    if (level == TOPO_NUMA)
        return numa_domain_of_thread(pu);
    return hwloc_get_ancestor_obj_by_type(machine, types[level], pu);
}

static void fill_level(struct topo *topo, hwloc_topology_t machine, enum topo_level level)
{
    hwloc_obj_t before = NULL;
    for (uint32_t row = 0; row < topo->npus; row++) {
        hwloc_obj_t pu = hwloc_get_obj_by_type(machine, HWLOC_OBJ_PU, row);
        hwloc_obj_t obj = find_object(machine, pu, level);
        if (obj && obj != before)
            topo->count[level]++;
        topo->object[level][row] = obj ? topo->count[level] - 1 : TOPO_ABSENT;
        before = obj;
    }
}

/* The process's mask; the kernel's may be wider than cpu_set_t, so the buffer grows until it fits.
 * NULL when it can't be had. */
static hwloc_bitmap_t affinity_get(void)
{
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        size_t size = CPU_ALLOC_SIZE(cpus);
        if (set && sched_getaffinity(0, size, set) == 0) {
            hwloc_bitmap_t mask = hwloc_bitmap_alloc();
            for (int i = 0; mask && i < cpus; i++)
                if (CPU_ISSET_S(i, size, set))
                    hwloc_bitmap_set(mask, i);
            CPU_FREE(set);
            return mask;
        }
        CPU_FREE(set);
        if (errno != EINVAL)
            break;
    }
    return NULL;
}

static void fill_threads(struct topo *topo, hwloc_topology_t machine)
{
    hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(machine);
    hwloc_bitmap_t mask = hwloc_topology_is_thissystem(machine) ? affinity_get() : NULL;
    for (uint32_t row = 0; row < topo->npus; row++) {
        hwloc_obj_t pu = hwloc_get_obj_by_type(machine, HWLOC_OBJ_PU, row);
        topo->os[row] = pu->os_index;
        topo->allowed[row] = hwloc_bitmap_isset(allowed, pu->os_index) &&
                             (!mask || hwloc_bitmap_isset(mask, pu->os_index));
    }
    hwloc_bitmap_free(mask);
}

static struct topo *topo_from_machine(hwloc_topology_t machine, struct error *err)
{
    int npus = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PU);
    if (npus < 1 || npus > TOPO_MAX_PUS) {
        error_set(err, "%d hardware threads; from 1 to %d are possible", npus, TOPO_MAX_PUS);
        return NULL;
    }
    struct topo *topo = topo_new((uint32_t)npus);
    fill_threads(topo, machine);
    for (enum topo_level level = TOPO_BOARD; level < TOPO_HWTHREAD; level++)
        if (level != TOPO_BOARD || hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_GROUP) != 0)
            fill_level(topo, machine, level);
    /* Threads without a core beside others with one: numbers would be ambiguous, so every thread
     * stands for itself. */
    bool partial = false;
    for (uint32_t row = 0; row < topo->npus; row++)
        partial = partial || topo->object[TOPO_CORE][row] == TOPO_ABSENT;
    if (partial) {
        memset(topo->object[TOPO_CORE], 0xff, topo->npus * sizeof(*topo->object[TOPO_CORE]));
        topo->count[TOPO_CORE] = 0;
    }
    numa_fill_memory(topo, machine);
    gpus_add_hwloc(topo, machine);
    return topo;
}

static struct topo *topo_take_machine(hwloc_topology_t machine, struct error *err)
{
    struct topo *topo = topo_from_machine(machine, err);
    hwloc_topology_destroy(machine);
    return topo;
}

/* hwloc reads what the variable names to its end, wherever that is. What cannot be read it passes over. */
static int check_file(struct error *err)
{
    const char *path = getenv("HWLOC_XMLFILE");
    struct stat status;
    if (!path || stat(path, &status) < 0)
        return 0;
    if (!S_ISREG(status.st_mode))
        return error_set(err, "HWLOC_XMLFILE=%s: not a regular file", path);
    if (status.st_size > TOPO_XML_MAX_BYTES)
        return error_set(err, "HWLOC_XMLFILE=%s: it is larger than %d MiB", path,
                         TOPO_XML_MAX_BYTES >> 20);
    return 0;
}

static pid_t loaded_in; /* the process of the last machine */

struct hwloc_topology *topo_load_machine(struct error *err)
{
    if (check_file(err) < 0) {
        error_prefix(err, "this machine's topology");
        return NULL;
    }
    hwloc_topology_t machine = machine_new(false);
    if (!machine) {
        error_set(err, "this machine's topology: cannot initialise hwloc: %s", strerror(errno));
        return NULL;
    }
    /* /sys says all that is needed here; asking every processor by cpuid means visiting each. */
    hwloc_topology_set_components(machine, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    bool ours = setting_begin(no_errors.name, no_errors.value);
    int rc = hwloc_topology_load(machine);
    setting_end(no_errors.name, ours);
    if (rc < 0) {
        error_set(err, "this machine's topology: hwloc cannot read it: %s", strerror(errno));
        hwloc_topology_destroy(machine);
        return NULL;
    }
    loaded_in = getpid();
    return machine;
}

/* So that no leak checker takes it for lost. */
static struct hwloc_topology *volatile inherited;

void topo_free_machine(struct hwloc_topology *machine)
{
    if (loaded_in != getpid())
        inherited = machine ?: inherited;
    else if (machine)
        hwloc_topology_destroy(machine);
}

struct topo *topo_load_both(struct hwloc_topology **machine, struct error *err)
{
    *machine = topo_load_machine(err);
    if (!*machine)
        return NULL;
    struct topo *topo = topo_from_machine(*machine, err);
    if (topo) {
        gpus_add_system(topo, "");
        return topo;
    }
    hwloc_topology_destroy(*machine);
    *machine = NULL;
    error_prefix(err, "this machine's topology");
    return NULL;
}

struct topo *topo_load_local(struct error *err)
{
    hwloc_topology_t machine;
    struct topo *topo = topo_load_both(&machine, err);
    topo_free_machine(machine);
    return topo;
}

/* What a description multiplies out to, at most: hwloc would build it all before anybody could count.
 * It finds the place of each object among all of its neighbours, comparing sets of all threads. */
struct synthetic_size {
    uint64_t threads;
    uint64_t work; /* words of sets that are compared, about */
};

/* Attributes in parentheses do not multiply, memory in brackets comes with each object before it. */
static struct synthetic_size synthetic_size(const char *text)
{
    struct synthetic_size size = {1, 0};
    uint64_t neighbours = 0, memories = 0;
    int depth = 0;
    for (const char *at = text; *at && size.threads <= TOPO_MAX_PUS; at++) {
        memories += *at == '[' ? size.threads : 0;
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        bool starts = at == text || at[-1] == ':' || at[-1] == ' ' || at[-1] == ']';
        if (depth || !starts || *at < '0' || *at > '9')
            continue;
        uint64_t arity = strtoull(at, NULL, 0);
        arity = arity > TOPO_MAX_PUS ? TOPO_MAX_PUS + 1u : arity ? arity : 1;
        size.threads *= arity;
        neighbours += arity;
        size.work += size.threads * neighbours;
    }
    size.work *= size.threads / 64 + 1;
    size.work += memories > 1u << 24 ? UINT64_MAX / 2 : memories * memories * 32;
    return size;
}

static int synthetic_check(const char *description, struct error *err)
{
    size_t len = strlen(description);
    struct synthetic_size size = synthetic_size(description);
    if (len > SYNTHETIC_MAX_BYTES)
        return error_usage(err, "topology %s: %zu bytes are more than any description has",
                           excerpt(description, len).text, len);
    if (size.threads > TOPO_MAX_PUS)
        return error_usage(err, "topology %s: more than %d hardware threads",
                           excerpt(description, len).text, TOPO_MAX_PUS);
    if (size.work > SYNTHETIC_MAX_WORK)
        return error_usage(err,
                           "topology %s: so many objects side by side take minutes to build; put "
                           "levels between, such as package, numa and l3",
                           excerpt(description, len).text);
    return 0;
}

struct topo *topo_load_synthetic(const char *description, struct error *err)
{
    const struct excerpt quoted = excerpt(description, strlen(description));
    if (synthetic_check(description, err) < 0)
        return NULL;
    hwloc_topology_t machine = machine_new(false);
    if (!machine || hwloc_topology_set_synthetic(machine, description) < 0 ||
        hwloc_topology_load(machine) < 0) {
        if (machine)
            hwloc_topology_destroy(machine);
        error_usage(err,
                    "topology %s is not an hwloc synthetic description, such as "
                    "\"package:2 numa:4 core:4 pu:2\" (outermost level first, pu last)",
                    quoted.text);
        return NULL;
    }
    struct topo *topo = topo_take_machine(machine, err);
    if (!topo)
        error_prefix(err, "topology %s", quoted.text);
    return topo;
}

static struct topo *topo_from_xml(const char *text, size_t len, struct error *err)
{
    hwloc_topology_t machine = machine_new(true);
    if (machine && hwloc_topology_set_xmlbuffer(machine, text, (int)len + 1) == 0 &&
        hwloc_topology_load(machine) == 0)
        return topo_take_machine(machine, err);
    if (machine)
        hwloc_topology_destroy(machine);
    error_set(err, "it is not an hwloc XML export; `lstopo FILE.xml` writes one");
    return NULL;
}

struct topo *topo_load_xml(const char *path, struct error *err)
{
    struct buf text = BUF_INIT;
    struct topo *topo = NULL;
    if (topo_xml_read(path, &text, err) == 0)
        topo = topo_from_xml(buf_text(&text), text.len, err);
    buf_free(&text);
    if (!topo)
        error_prefix(err, "topology file %s", path);
    return topo;
}

struct topo *topo_load_xml_text(const char *name, const char *text, struct error *err)
{
    size_t len = strlen(text);
    struct topo *topo = topo_xml_check(text, len, err) == 0 ? topo_from_xml(text, len, err) : NULL;
    if (!topo)
        error_prefix(err, "%s", name);
    return topo;
}
