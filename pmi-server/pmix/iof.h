/*
 * iof - what tasks write, on its way to tools, and what tools have tasks read: for owners of a
 * server.
 */
#ifndef PMI_SERVER_PMIX_IOF_H
#define PMI_SERVER_PMIX_IOF_H

#include <stdbool.h>

struct pmix_host;

/* While some tool lags, no output is asked for beyond SERVICE_WINDOW: then it is lost for the
 * tools. */
void pmix_server_hold_output(struct pmix_host *host, bool hold);
/* Tasks may have read something. */
void pmix_server_settle_input(struct pmix_host *host);
/* Nothing is on its way to openpmix. */
bool pmix_server_output_is_out(const struct pmix_host *host);

#endif
