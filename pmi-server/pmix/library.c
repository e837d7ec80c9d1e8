/* openpmix: found, checked, opened and changed where it has to be. */
#include "pmi-server/pmix/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hwloc_library.h"
#include "base/mem.h"
#include "pmi-server/pmix/accept_check.h"
#include "pmi-server/pmix/closed_connections.h"
#include "pmi-server/pmix/imported_symbols.h"
#include "pmi-server/pmix/listeners.h"
#include "pmi-server/pmix/lost_connections.h"

#define LIBRARY "libpmix.so.2"

#if defined(__SANITIZE_ADDRESS__)
#define OWN_NAMES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OWN_NAMES 0
#endif
#endif
#ifndef OWN_NAMES
#define OWN_NAMES RTLD_DEEPBIND /* the address sanitizer refuses it */
#endif

/* libpmix calls event_add() of libevent; libev's shared library has one that it crashes in. */
static int check_events(struct error *err)
{
    Dl_info info;
    if (OWN_NAMES) /* it sees its own first */
        return 0;
    void *event_add = dlsym(RTLD_DEFAULT, "event_add");
    if (!event_add || !dladdr(event_add, &info) || !info.dli_fname ||
        !strstr(info.dli_fname, "libev.so"))
        return 0;
    return error_set(err, "openpmix cannot be opened: %s has functions of libevent's names",
                     info.dli_fname);
}

/* openpmix 4.2.2 to 6.1: the end of an output request is answered with a status that was never set,
 * and what was in this memory before is sent. All that it allocates is zeroed, and this is
 * PMIX_SUCCESS then. */
static void *(*library_malloc)(size_t size);

static void *malloc_zeroed(size_t size)
{
    void *room = library_malloc(size);
    return room ? memset(room, 0, size) : NULL;
}

/* openpmix 4.2.2 to 6.1: banners about what keeps it from starting are written to stderr, whatever
 * PMIX_OUTPUT_STDERR_FD says. Its stderr alone is another stream then: what others write at this moment,
 * as the C library does when it ends the process, is shown. */
static FILE *library_stderr;

void library_write_errors_to(FILE *stream)
{
    library_stderr = stream;
}

static const char *path_of(void *handle)
{
    struct link_map *map;
    return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] ? map->l_name : LIBRARY;
}

static int check_version(struct pmix_library *library, void *handle, struct error *err)
{
    const char *(*get_version)(void) = (const char *(*)(void))dlsym(handle, "PMIx_Get_version");
    if (!get_version)
        return error_set(err,
                         "%s has no PMIx_Get_version: install openpmix " PMIX_VERSIONS_KNOWN
                         ", or put one first in LD_LIBRARY_PATH",
                         path_of(handle));
    library->version = pmix_version_of(get_version());
    if (pmix_version_known(&library->version))
        return 0;
    return error_set(
        err,
        "openpmix %s in %s is not known to this tprun: install openpmix " PMIX_VERSIONS_KNOWN
        " or a newer tprun, or put such an openpmix first in LD_LIBRARY_PATH",
        library->version.text[0] ? library->version.text : "of no version", path_of(handle));
}

static int resolve(struct pmix_library *library, void *handle, struct error *err)
{
    const struct {
        const char *symbol;
        void **to;
    } table[] = {
#define ENTRY(name, symbol) {#symbol, (void **)&library->name},
        PMIX_LIBRARY_FUNCTIONS(ENTRY)
#undef ENTRY
    };
    if (check_version(library, handle, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (!(*table[i].to = dlsym(handle, table[i].symbol)))
            return error_set(
                err,
                "openpmix %s in %s has no %s: install a complete openpmix, " PMIX_VERSIONS_KNOWN
                ", or put one first in LD_LIBRARY_PATH",
                library->version.text, path_of(handle), table[i].symbol);
    library->path = path_of(handle);
    library->init_util = (int (*)(pmix_info_t *, size_t, char *))dlsym(handle, "pmix_init_util");
    const char *any = "hwloc_get_api_version";
    library->same_hwloc = dlsym(handle, any) == hwloc_library_function(any);
    return 0;
}

static int open_library(struct pmix_library *library, struct error *err)
{
    if (check_events(err))
        return -1;
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | OWN_NAMES);
    if (!handle)
        return error_set(err, "openpmix is not installed here (Debian: libpmix2): %s", dlerror());
    if (resolve(library, handle, err) < 0 || accept_check_install(handle, err) < 0 ||
        listeners_install(handle, err) < 0) {
        dlclose(handle);
        return -1;
    }
    /* A library that allocates or writes in another way is left as it is. */
    imported_function *before =
        imported_function_replace(handle, "malloc", (imported_function *)malloc_zeroed, NULL);
    if (before)
        library_malloc = (void *(*)(size_t))before;
    if (!library_stderr)
        library_stderr = stderr;
    imported_variable_replace(handle, "stderr", &library_stderr, NULL);
    closed_connections_install(handle);
    lost_connections_install(handle, library);
    return 0;
}

const struct pmix_library *pmix_library(struct error *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct pmix_library library;
    static bool opened;
    pthread_mutex_lock(&lock);
    if (!opened)
        opened = open_library(&library, err) == 0;
    pthread_mutex_unlock(&lock);
    return opened ? &library : NULL;
}

/* They stay where they were when openpmix, which opens most of them, closes them. */
void library_open_components(const struct pmix_library *library)
{
    char *path = realpath(library->path, NULL), *end = path ? strrchr(path, '/') : NULL;
    glob_t found = {0};
    if (end) {
        *end = '\0';
        char *pattern = mem_format("%s/pmix/*.so", path);
        glob(pattern, 0, NULL, &found);
        free(pattern);
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        dlopen(found.gl_pathv[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    globfree(&found);
    free(path);
}

/* ---- several calls at once ---- */

void library_calls_begin(struct library_calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    calls->pending++;
    pthread_mutex_unlock(&calls->lock);
}

void library_calls_end(pmix_status_t status, void *arg)
{
    struct library_calls *calls = arg;
    pthread_mutex_lock(&calls->lock);
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED &&
        calls->status == PMIX_SUCCESS)
        calls->status = status;
    if (--calls->pending == 0)
        pthread_cond_signal(&calls->ended);
    pthread_mutex_unlock(&calls->lock);
}

/* Only after PMIX_SUCCESS its end is still to be told. */
void library_calls_begun(struct library_calls *calls, pmix_status_t status)
{
    if (status != PMIX_SUCCESS)
        library_calls_end(status, calls);
}

pmix_status_t library_calls_wait(struct library_calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    while (calls->pending)
        pthread_cond_wait(&calls->ended, &calls->lock);
    pthread_mutex_unlock(&calls->lock);
    return calls->status;
}

void library_ignore_end(pmix_status_t status, void *arg)
{
    (void)status, (void)arg;
}

void library_answer_modex(pmix_modex_cbfunc_t done, void *cbdata, pmix_status_t status,
                          const void *bytes, size_t len)
{
    char *copy = len ? memcpy(mem_resize(NULL, len, 1), bytes, len) : NULL;
    done(status, copy, len, cbdata, free, copy);
}
