#include "pmi-server/pmix/library.h"

#include <dlfcn.h>
#include <hwloc.h>
#include <pthread.h>
#include <string.h>

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
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (!(*table[i].to = dlsym(handle, table[i].symbol)))
            return error_set(err, "%s has no %s: openpmix 4.2 or later is needed", LIBRARY,
                             table[i].symbol);
    library->same_hwloc = dlsym(handle, "hwloc_get_api_version") == (void *)hwloc_get_api_version;
    return 0;
}

static int open_library(struct pmix_library *library, struct error *err)
{
    if (check_events(err))
        return -1;
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | OWN_NAMES);
    if (!handle)
        return error_set(err, "openpmix is not installed here (Debian: libpmix2): %s", dlerror());
    return resolve(library, handle, err);
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
