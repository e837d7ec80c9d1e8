/* The addresses that the loader has written into a library: found by name, and written again. */
#include "pmi-server/pmix/imported_symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- where the addresses are ---- */

struct dynamic { /* of the library, what is looked at */
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * tables[2]; /* of functions, and of the rest */
    size_t sizes[2];              /* bytes */
};

/* The loader adds the base to addresses of this section, but not on all kinds of machines. */
static const void *address_of(const struct link_map *map, ElfW(Addr) value)
{
    return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

static struct dynamic dynamic_of(const struct link_map *map)
{
    struct dynamic found = {0};
    bool rela = false;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            found.symbols = address_of(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            found.names = address_of(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_JMPREL)
            found.tables[0] = address_of(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_PLTRELSZ)
            found.sizes[0] = entry->d_un.d_val;
        else if (entry->d_tag == DT_RELA)
            found.tables[1] = address_of(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_RELASZ)
            found.sizes[1] = entry->d_un.d_val;
        else if (entry->d_tag == DT_PLTREL)
            rela = entry->d_un.d_val == DT_RELA;
    }
    if (!rela || !found.symbols || !found.names)
        found.sizes[0] = found.sizes[1] = 0;
    return found;
}

/* ---- the write ---- */

struct place {
    const struct link_map *map;
    uintptr_t address;
    bool sealed; /* read-only since the loader wrote it */
};

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct place *place = arg;
    uintptr_t page = (uintptr_t)getpagesize();
    (void)size;
    if (info->dlpi_addr != place->map->l_addr)
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr, end = begin + header->p_memsz;
        if (header->p_type == PT_GNU_RELRO)
            place->sealed =
                place->address >= begin / page * page && place->address < end / page * page;
    }
    return 1;
}

static int write_at(const struct link_map *map, imported_function **slot,
                    imported_function *function)
{
    struct place place = {.map = map, .address = (uintptr_t)slot};
    size_t size = (size_t)getpagesize();
    void *page = (void *)((uintptr_t)slot / size * size);
    dl_iterate_phdr(look_at, &place);
    if (place.sealed && mprotect(page, size, PROT_READ | PROT_WRITE) < 0)
        return -1;
    *slot = function;
    if (place.sealed)
        mprotect(page, size, PROT_READ);
    return 0;
}

imported_function *imported_function_replace(void *handle, const char *name,
                                             imported_function *function, struct error *err)
{
    struct link_map *map = NULL;
    imported_function *before = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) < 0) {
        error_set(err, "cannot tell what a library imports: %s", dlerror());
        return NULL;
    }
    struct dynamic dynamic = dynamic_of(map);
    for (int i = 0; i < 2; i++)
        for (size_t at = 0; at < dynamic.sizes[i] / sizeof(ElfW(Rela)); at++) {
            const ElfW(Rela) *entry = &dynamic.tables[i][at];
            size_t symbol =
                __ELF_NATIVE_CLASS == 64 ? ELF64_R_SYM(entry->r_info) : ELF32_R_SYM(entry->r_info);
            if (!symbol || strcmp(dynamic.names + dynamic.symbols[symbol].st_name, name) != 0)
                continue;
            imported_function **slot = (void *)(map->l_addr + entry->r_offset), *old = *slot;
            if (write_at(map, slot, function) < 0) {
                error_set(err, "cannot replace %s() as %s calls it: %s", name, map->l_name,
                          strerror(errno));
                return NULL;
            }
            before = old;
        }
    if (!before)
        error_set(err, "cannot replace %s() as %s calls it: it is not imported", name, map->l_name);
    return before;
}

void *imported_variable_replace(void *handle, const char *name, void *variable, struct error *err)
{
    return (void *)imported_function_replace(handle, name, (imported_function *)variable, err);
}
