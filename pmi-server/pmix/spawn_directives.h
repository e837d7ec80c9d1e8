/*
 * spawn_directives - what PMIx_Spawn() was told, in the words of a spawn (server/spawn.h).
 *
 * What has no word there goes along under openpmix's own name, to be told to who wants to know;
 * where it was marked as required the spawn is refused.
 */
#ifndef PMI_SERVER_PMIX_SPAWN_DIRECTIVES_H
#define PMI_SERVER_PMIX_SPAWN_DIRECTIVES_H

#include "base/error.h"
#include "pmi-server/pmix/library.h"
#include "pmi-server/protocol/spawn_request.h"

#define SPAWN_DIRECTIVES_MAX (1 << 20) /* bytes of a request */

/* What concerns all apps, and these; any thread. -1 with a sentence, and *status says which. */
int spawn_directives_read(struct spawn_request *spawn, const pmix_info_t job[], size_t njob,
                          const pmix_app_t apps[], size_t napps, pmix_status_t *status,
                          struct error *err);

/* Names of those that are honoured, with commas; caller frees. */
char *spawn_directives_known(void);

#endif
