/* Writes the variables of OpenMP's runtimes for one task. */
#include "launcher/environment/openmp_environment.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/environment/environment.h"

#define NUM_THREADS "OMP_NUM_THREADS"
#define PLACES "OMP_PLACES"

static bool wants_places(char *const *environment)
{
    static const char *const others[] = {PLACES, "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
    const char *threads = env_value(environment, NUM_THREADS);
    const char *bind = env_value(environment, "OMP_PROC_BIND");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (env_value(environment, others[i]))
            return false;
    return !(threads && strcmp(threads, "1") == 0) && !(bind && strcasecmp(bind, "false") == 0);
}

/* The cores of these processors as places. NULL where they are not so many. */
static char *places_of(const struct topo *topo, const struct idset *cpus, uint32_t cores)
{
    struct buf out = BUF_INIT;
    uint32_t count = 0, core = TOPO_ABSENT;
    for (uint32_t row = 0; row < topo->npus; row++) {
        if (!idset_has(cpus, topo->os[row]))
            continue;
        bool fresh = topo_core(topo, row) != core;
        core = topo_core(topo, row);
        count += fresh;
        buf_printf(&out, "%s%u", !fresh ? "," : count == 1 ? "{" : "},{", topo->os[row]);
    }
    buf_add_char(&out, '}');
    if (count == cores && out.len <= OPENMP_ENVIRONMENT_MAX_PLACES)
        return buf_take_text(&out);
    buf_free(&out);
    return NULL;
}

char **openmp_environment_make(const struct topo *topo, const struct idset *cpus, uint32_t cores,
                               char *const *environment)
{
    char **list = mem_array(OPENMP_ENVIRONMENT_MAX + 1, sizeof(*list));
    size_t count = 0;
    if (!env_value(environment, NUM_THREADS))
        list[count++] = mem_format("%s=%u", NUM_THREADS, cores);
    char *places = cpus && wants_places(environment) ? places_of(topo, cpus, cores) : NULL;
    if (places)
        list[count++] = mem_format("%s=%s", PLACES, places);
    free(places);
    return list;
}
