/* hwloc's functions, passed on to the library, which the first of them opens. */
#include "base/hwloc_library.h"

#include <dlfcn.h>
#include <hwloc.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "config.h"

#define TYPE_FILTER enum hwloc_type_filter_e
/* Result, name, parameters, arguments: all that this program and the inline functions of <hwloc.h>
 * call. */
#define FUNCTIONS(X)                                                                               \
    X(unsigned, hwloc_get_api_version, (void), ())                                                 \
    X(hwloc_bitmap_t, hwloc_bitmap_alloc, (void), ())                                              \
    X(void, hwloc_bitmap_free, (hwloc_bitmap_t set), (set))                                        \
    X(int, hwloc_bitmap_set, (hwloc_bitmap_t set, unsigned id), (set, id))                         \
    X(int, hwloc_bitmap_isset, (hwloc_const_bitmap_t set, unsigned id), (set, id))                 \
    X(int, hwloc_bitmap_next, (hwloc_const_bitmap_t set, int before), (set, before))               \
    X(int, hwloc_bitmap_weight, (hwloc_const_bitmap_t set), (set))                                 \
    X(int, hwloc_bitmap_isequal, (hwloc_const_bitmap_t a, hwloc_const_bitmap_t b), (a, b))         \
    X(int, hwloc_bitmap_list_sscanf, (hwloc_bitmap_t set, const char *text), (set, text))          \
    X(int, hwloc_topology_init, (hwloc_topology_t * topology), (topology))                         \
    X(void, hwloc_topology_destroy, (hwloc_topology_t topology), (topology))                       \
    X(int, hwloc_topology_load, (hwloc_topology_t topology), (topology))                           \
    X(int, hwloc_topology_is_thissystem, (hwloc_topology_t topology), (topology))                  \
    X(int, hwloc_topology_set_flags, (hwloc_topology_t topology, unsigned long flags),             \
      (topology, flags))                                                                           \
    X(int, hwloc_topology_set_type_filter,                                                         \
      (hwloc_topology_t topology, hwloc_obj_type_t type, TYPE_FILTER filter),                      \
      (topology, type, filter))                                                                    \
    X(int, hwloc_topology_set_io_types_filter, (hwloc_topology_t topology, TYPE_FILTER filter),    \
      (topology, filter))                                                                          \
    X(int, hwloc_topology_set_components,                                                          \
      (hwloc_topology_t topology, unsigned long flags, const char *name), (topology, flags, name)) \
    X(int, hwloc_topology_set_synthetic, (hwloc_topology_t topology, const char *text),            \
      (topology, text))                                                                            \
    X(int, hwloc_topology_set_xmlbuffer, (hwloc_topology_t topology, const char *bytes, int size), \
      (topology, bytes, size))                                                                     \
    X(int, hwloc_topology_export_xmlbuffer,                                                        \
      (hwloc_topology_t topology, char **bytes, int *size, unsigned long flags),                   \
      (topology, bytes, size, flags))                                                              \
    X(void, hwloc_free_xmlbuffer, (hwloc_topology_t topology, char *bytes), (topology, bytes))     \
    X(hwloc_const_cpuset_t, hwloc_topology_get_allowed_cpuset, (hwloc_topology_t topology),        \
      (topology))                                                                                  \
    X(int, hwloc_get_type_depth, (hwloc_topology_t topology, hwloc_obj_type_t type),               \
      (topology, type))                                                                            \
    X(unsigned, hwloc_get_nbobjs_by_depth, (hwloc_topology_t topology, int depth),                 \
      (topology, depth))                                                                           \
    X(hwloc_obj_t, hwloc_get_obj_by_depth, (hwloc_topology_t topology, int depth, unsigned index), \
      (topology, depth, index))

static struct {
    void *handle;
#define MEMBER(result, name, parameters, arguments) result(*name) parameters;
    FUNCTIONS(MEMBER)
} library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void end_without(const char *why)
{
    dprintf(STDERR_FILENO, "tprun: hwloc cannot be opened: %s\n", why);
    _exit(127);
}

/* Its plugins look for its functions among those of the whole process. */
static void open_library(void)
{
    static const struct {
        const char *name;
        void **to;
    } table[] = {
#define ENTRY(result, name, parameters, arguments) {#name, (void **)&library.name},
        FUNCTIONS(ENTRY)};
    library.handle = dlopen(HWLOC_LIBRARY, RTLD_LAZY | RTLD_GLOBAL);
    if (!library.handle)
        end_without(dlerror());
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (!(*table[i].to = dlsym(library.handle, table[i].name)))
            end_without(dlerror());
}

void *hwloc_library_function(const char *name)
{
    pthread_once(&once, open_library);
    return dlsym(library.handle, name);
}

#define FORWARD(result, name, parameters, arguments)                                               \
    result name parameters                                                                         \
    {                                                                                              \
        pthread_once(&once, open_library);                                                         \
        return library.name arguments;                                                             \
    }
FUNCTIONS(FORWARD)
