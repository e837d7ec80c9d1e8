/*
 * The host side of PMIx in a tprun that was built without openpmix's headers: it serves nobody.
 */
#include <stddef.h>

#include "pmi-server/pmix/direct_modex_request.h"
#include "pmi-server/pmix/fence.h"
#include "pmi-server/pmix/iof.h"
#include "pmi-server/pmix/namespace.h"
#include "pmi-server/pmix/server.h"
#include "pmi-server/pmix/spawn.h"
#include "pmi-server/pmix/task_death.h"
#include "pmi-server/pmix/task_exit.h"
#include "pmi-server/pmix/tools.h"

struct pmix_host *pmix_server_new(const struct pmix_server_config *config,
                                  const struct pmix_server_ops *ops, void *arg, struct error *err)
{
    (void)config, (void)ops, (void)arg;
    error_set(err, "this tprun was built without PMIx");
    return NULL;
}

struct pmix_host_start *pmix_server_begin(const struct pmix_server_config *config,
                                          const struct pmix_server_ops *ops, void *arg)
{
    (void)config, (void)ops, (void)arg;
    return NULL;
}

struct pmix_host *pmix_server_finish(struct pmix_host_start *start, struct error *err)
{
    (void)start;
    return pmix_server_new(NULL, NULL, NULL, err);
}

struct pmix_host *pmix_server_new_ahead(const struct pmix_server_config *config, struct error *err)
{
    return pmix_server_new(config, NULL, NULL, err);
}

void pmix_server_give(struct pmix_host *host, uint32_t node, const struct pmix_server_ops *ops,
                      void *arg)
{
    (void)host, (void)node, (void)ops, (void)arg;
}

void pmix_server_warm(void)
{
}

void pmix_server_watch_forks(void)
{
}

bool pmix_server_warm_for_forks(void)
{
    return true;
}

const char *pmix_server_version(struct error *err)
{
    error_set(err, "this tprun was built without PMIx");
    return NULL;
}

/* Nobody has a host or a job to call these with. */

void pmix_server_free(struct pmix_host *host, double patience)
{
    (void)host, (void)patience;
}

void pmix_server_run(struct pmix_host *host)
{
    (void)host;
}

double pmix_server_deadline(const struct pmix_host *host)
{
    (void)host;
    return -1;
}

int pmix_server_told(struct pmix_host *host, const void *bytes, size_t len, struct error *err)
{
    (void)host, (void)bytes, (void)len;
    return error_set(err, "this tprun was built without PMIx");
}

void pmix_server_let_tools(struct pmix_host *host, const char *name)
{
    (void)host, (void)name;
}

uint16_t pmix_server_port(const struct pmix_host *host)
{
    (void)host;
    return 0;
}

void pmix_server_expect_tool(struct pmix_host *host, uint32_t number, uint16_t port)
{
    (void)host, (void)number, (void)port;
}

void pmix_server_tool_left(struct pmix_host *host, uint32_t number)
{
    (void)host, (void)number;
}

void pmix_server_hold_output(struct pmix_host *host, bool hold)
{
    (void)host, (void)hold;
}

void pmix_server_settle_input(struct pmix_host *host)
{
    (void)host;
}

bool pmix_server_output_is_out(const struct pmix_host *host)
{
    (void)host;
    return true;
}

struct pmix_job *pmix_namespace_new(struct pmix_host *host,
                                    const struct pmix_namespace_config *config, void *owner_data,
                                    struct error *err)
{
    (void)host, (void)config, (void)owner_data;
    error_set(err, "this tprun was built without PMIx");
    return NULL;
}

void pmix_namespace_free(struct pmix_job *job)
{
    (void)job;
}

void *pmix_namespace_data(const struct pmix_job *job)
{
    (void)job;
    return NULL;
}

char *const *pmix_namespace_environment(struct pmix_job *job, uint32_t local_rank)
{
    static char *const none[] = {NULL};
    (void)job, (void)local_rank;
    return none;
}

bool pmix_namespace_ended(struct pmix_job *job, uint32_t local_rank)
{
    (void)job, (void)local_rank;
    return false;
}

enum pmi_state pmix_namespace_state(const struct pmix_job *job, uint32_t local_rank)
{
    (void)job, (void)local_rank;
    return PMI_SILENT;
}

bool pmix_namespace_gone(struct pmix_job *job, uint32_t local_rank, uint64_t *from)
{
    (void)job, (void)local_rank, (void)from;
    return false;
}

void pmix_namespace_missing(struct pmix_job *job, uint32_t rank, uint64_t from)
{
    (void)job, (void)rank, (void)from;
}

void pmix_namespace_spawned(struct pmix_job *job, uint64_t token, enum spawn_fate fate,
                            const char *name)
{
    (void)job, (void)token, (void)fate, (void)name;
}

void pmix_namespace_died(struct pmix_job *job, uint32_t local_rank, int status, bool goes_on)
{
    (void)job, (void)local_rank, (void)status, (void)goes_on;
}

int pmix_namespace_exchanged(struct pmix_job *job, uint64_t id, const void *bytes, size_t len,
                             struct error *err)
{
    (void)job, (void)id, (void)bytes, (void)len;
    return error_set(err, "this tprun was built without PMIx");
}

int pmix_namespace_posted(struct pmix_job *job, uint32_t from_node, const void *bytes, size_t len,
                          struct error *err)
{
    (void)job, (void)from_node, (void)bytes, (void)len;
    return error_set(err, "this tprun was built without PMIx");
}
