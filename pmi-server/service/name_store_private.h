/*
 * name_store_private - the store of published names as publish_lookup.c uses it: owners see
 * name_store.h.
 */
#ifndef PMI_SERVER_SERVICE_NAME_STORE_PRIVATE_H
#define PMI_SERVER_SERVICE_NAME_STORE_PRIVATE_H

#include "pmi-server/service/name_store.h"

struct party { /* who publishes, or looks for something */
    const char *job;
    uint32_t rank, node;
};

void name_store_open(struct pmi_service *service);
void name_store_close(struct pmi_service *service);

/* In the range that is looked through; the closest. NULL: none. */
struct published_name *name_store_find(const struct pmi_service *service, const struct party *party,
                                       enum publish_range range, const char *key);
/* All of them or none; they are taken in any case. */
enum reply_status name_store_add(struct pmi_service *service, struct published_name *fresh);
uint64_t name_store_last_id(const struct pmi_service *service); /* that was given */
/* Those that `goes` says go; how many. */
size_t name_store_drop(struct pmi_service *service,
                       bool (*goes)(const struct published_name *name, const void *what),
                       const void *what);
/* One, of this program or another, is about to be read; false: another was faster. */
bool name_store_consume(const struct pmi_service *service, const struct published_name *name);

/* Those of other programs, as they were when they were looked at last. NULL: none of this key. */
const struct published_name *name_store_find_other(const struct pmi_service *service,
                                                   const char *key);
void name_store_look_at_others(struct pmi_service *service);
void name_store_watch_others(struct pmi_service *service, bool on); /* somebody waits for one */

#endif
