/* What openpmix itself leaks, and what it loads, is not looked at where the sanitizers are built
 * in. */
#ifndef TESTS_UNIT_PMIX_LEAKS_H
#define TESTS_UNIT_PMIX_LEAKS_H

#include <stdlib.h>

const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libpmix.so\n";
}

/* openpmix 7 looks at the hardware in each client. hwloc's plugin for PCI devices leaves the tables
 * of libpciaccess allocated, and is unloaded before leaks are looked for: by then its frames have
 * no name that could be passed over. Nothing here needs the plugin. */
__attribute__((constructor)) static void leave_out_pci(void)
{
    setenv("HWLOC_PLUGINS_BLACKLIST", "hwloc_pci.so", 0);
}

#endif
