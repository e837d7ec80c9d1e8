/*
 * query_keys - what PMIx_Query_info() can ask for, each answered from a view of the program.
 */
#ifndef PMI_SERVER_PMIX_QUERY_KEYS_H
#define PMI_SERVER_PMIX_QUERY_KEYS_H

#include "pmi-server/pmix/info.h"
#include "pmi-server/protocol/program_info.h"

#ifndef PMIX_QUERY_RESOLVE_PEERS /* openpmix 5.0 to now: its server asks for these itself */
#define PMIX_QUERY_RESOLVE_PEERS "pmix.qry.peers"
#define PMIX_QUERY_RESOLVE_NODE "pmix.qry.node"
#endif

struct query_key_asked {
    char *key;
    char *job; /* qualifiers; "": not given */
    char *pset;
    char *host;
};

bool query_key_wants_tasks(const char *key); /* of its job */

/* The value, or why there is none. `hostname` is this node's, `major` of openpmix's version. */
pmix_status_t query_key_answer(struct info_list *out, const struct query_key_asked *asked,
                               const struct program_info *view, const char *hostname,
                               unsigned major);

#endif
