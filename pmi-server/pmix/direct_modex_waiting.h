/*
 * direct_modex_waiting - what openpmix has asked for with a direct modex, and has not been told. It
 * has to be told once. There is one openpmix in a process, and one list of these.
 *
 * openpmix from 4.2.2 on:
 * - when a namespace is registered it asks again for what it waits for of that one (still so in
 *   7.0.0 rc1);
 * - up to 6.1, when one is deregistered it forgets what it waits for, and what comes then it takes
 *   for something that it has freed. So all of that is answered before, and nothing is taken on
 *   meanwhile.
 */
#ifndef PMI_SERVER_PMIX_DIRECT_MODEX_WAITING_H
#define PMI_SERVER_PMIX_DIRECT_MODEX_WAITING_H

#include <stddef.h>
#include <stdint.h>

#include "pmi-server/pmix/library.h"

/* openpmix's thread; 0 as number: it was asked for before. An error is openpmix's answer. */
pmix_status_t waiting_open(const pmix_proc_t *proc, pmix_modex_cbfunc_t done, void *cbdata,
                           uint64_t *number);
/* The owner's: told, if it waits for this still. */
void waiting_close(uint64_t number, pmix_status_t status, const void *bytes, size_t len);
/* It turned out to be a task of this node: openpmix answers for itself, once that commits. */
void waiting_forget(const char *name, uint32_t rank);
/* The only way to deregister a namespace; then(), which may be NULL, is called in openpmix's
 * thread. */
void waiting_deregister(const struct pmix_library *library, const char *name, pmix_op_cbfunc_t then,
                        void *cbdata);

#endif
