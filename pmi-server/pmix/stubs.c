/*
 * The host without openpmix's headers: there is none.
 */
#include <stddef.h>

#include "pmi-server/pmix/server.h"

struct pmix_host *pmix_host_new(const struct pmix_host_config *config,
                                const struct pmix_host_ops *ops, void *arg, struct error *err)
{
    (void)config, (void)ops, (void)arg;
    error_set(err, "this tprun was built without PMIx");
    return NULL;
}

struct pmix_host_start *pmix_host_begin(const struct pmix_host_config *config,
                                        const struct pmix_host_ops *ops, void *arg)
{
    (void)config, (void)ops, (void)arg;
    return NULL;
}

struct pmix_host *pmix_host_finish(struct pmix_host_start *start, struct error *err)
{
    (void)start;
    return pmix_host_new(NULL, NULL, NULL, err);
}

void pmix_host_warm(void)
{
}

const char *pmix_host_version(struct error *err)
{
    error_set(err, "this tprun was built without PMIx");
    return NULL;
}

/* Nobody has a host or a job to call these with. */

void pmix_host_free(struct pmix_host *host, double patience)
{
    (void)host, (void)patience;
}

void pmix_host_run(struct pmix_host *host)
{
    (void)host;
}

double pmix_host_deadline(const struct pmix_host *host)
{
    (void)host;
    return -1;
}

int pmix_host_told(struct pmix_host *host, const void *bytes, size_t len, struct error *err)
{
    (void)host, (void)bytes, (void)len;
    return error_set(err, "this tprun was built without PMIx");
}

void pmix_host_let_tools(struct pmix_host *host, const char *name)
{
    (void)host, (void)name;
}

uint16_t pmix_host_port(const struct pmix_host *host)
{
    (void)host;
    return 0;
}

void pmix_host_expect_tool(struct pmix_host *host, uint32_t number, uint16_t port)
{
    (void)host, (void)number, (void)port;
}

void pmix_host_tool_left(struct pmix_host *host, uint32_t number)
{
    (void)host, (void)number;
}

void pmix_host_hold_output(struct pmix_host *host, bool hold)
{
    (void)host, (void)hold;
}

void pmix_host_settle_input(struct pmix_host *host)
{
    (void)host;
}

bool pmix_host_output_is_out(const struct pmix_host *host)
{
    (void)host;
    return true;
}

struct pmix_job *pmix_job_new(struct pmix_host *host, const struct pmix_job_config *config,
                              void *owner_data, struct error *err)
{
    (void)host, (void)config, (void)owner_data;
    error_set(err, "this tprun was built without PMIx");
    return NULL;
}

void pmix_job_free(struct pmix_job *job)
{
    (void)job;
}

void *pmix_job_data(const struct pmix_job *job)
{
    (void)job;
    return NULL;
}

char *const *pmix_job_environment(struct pmix_job *job, uint32_t local_rank)
{
    static char *const none[] = {NULL};
    (void)job, (void)local_rank;
    return none;
}

bool pmix_job_ended(struct pmix_job *job, uint32_t local_rank)
{
    (void)job, (void)local_rank;
    return false;
}

enum pmi_state pmix_job_state(const struct pmix_job *job, uint32_t local_rank)
{
    (void)job, (void)local_rank;
    return PMI_SILENT;
}

bool pmix_job_gone(struct pmix_job *job, uint32_t local_rank, uint64_t *from)
{
    (void)job, (void)local_rank, (void)from;
    return false;
}

void pmix_job_missing(struct pmix_job *job, uint32_t rank, uint64_t from)
{
    (void)job, (void)rank, (void)from;
}

void pmix_job_spawned(struct pmix_job *job, uint64_t token, enum spawn_fate fate, const char *name)
{
    (void)job, (void)token, (void)fate, (void)name;
}

void pmix_job_died(struct pmix_job *job, uint32_t local_rank, int status, bool goes_on)
{
    (void)job, (void)local_rank, (void)status, (void)goes_on;
}

int pmix_job_exchanged(struct pmix_job *job, uint64_t id, const void *bytes, size_t len,
                       struct error *err)
{
    (void)job, (void)id, (void)bytes, (void)len;
    return error_set(err, "this tprun was built without PMIx");
}

int pmix_job_posted(struct pmix_job *job, uint32_t from_node, const void *bytes, size_t len,
                    struct error *err)
{
    (void)job, (void)from_node, (void)bytes, (void)len;
    return error_set(err, "this tprun was built without PMIx");
}
