/*
 * name_store - what tasks publish for others to look up (PMIx Standard 4, "Publish and Lookup";
 * PMI's names are in the same place).
 *
 * The service has those of its program. Whoever owns it may know those of other programs, and show
 * this program's to them (struct pmi_service_names_ops).
 */
#ifndef PMI_SERVER_SERVICE_NAME_STORE_H
#define PMI_SERVER_SERVICE_NAME_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmi-server/protocol/message.h"
#include "pmi-server/protocol/published_name.h"

struct pmi_service;

struct published_name {
    struct published_name *next;
    char *key;
    void *value; /* a zero byte follows */
    size_t len;
    bool text; /* and has no zero byte in it; else bytes that hosts know the meaning of */
    char *job; /* whose task has published it */
    uint32_t rank, node;
    enum publish_range
        range; /* those that find it, of those beside the task that has published it */
    enum publish_persistence until;
    uint64_t id;      /* in its program */
    uint64_t program; /* the owner's number for it; 0: this one */
};

/* Where there are other programs. Only names of RANGE_ALL are theirs to see. */
struct pmi_service_names_ops {
    /* The first `fresh` of pmi_service_names() are to be shown as well as the rest; none: some have
     * gone. 0; 1: another program has published one of the fresh ones; -1: they cannot be shown. */
    int (*show)(void *arg, size_t fresh);
    /* Those of other programs as they are now, the owner's until it is asked again. */
    const struct published_name *(*others)(void *arg);
    /* One with PERSIST_READ, of this program or another, is about to be read; false: another was
     * faster. */
    bool (*take)(void *arg, const struct published_name *name);
    /* One of this program with PERSIST_READ has not been read by another. */
    bool (*kept)(void *arg, const struct published_name *name);
    /* Somebody waits for names of other programs: pmi_service_names_changed() is wanted. */
    void (*watch)(void *arg, bool on);
};

void pmi_service_names_use(struct pmi_service *service, const struct pmi_service_names_ops *ops,
                           void *arg); /* borrowed */
const struct published_name *
pmi_service_names(const struct pmi_service *service); /* this program's, linked */

struct published_name *pmi_service_name_new(const char *key, const void *value, size_t len);
void pmi_service_names_free(struct published_name *names); /* and all that follow */

#endif
