/* Kubernetes' MPI Operator: the pod that is its launcher has a list of the workers, in the form that
 * the job's MPI reads. */
#include "launcher/source/kubernetes_job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "launcher/process/localhost.h"
#include "launcher/source/batch_system_private.h"
#include "launcher/source/hostfile.h"
#include "launcher/source/node_list_private.h"

static const char default_file[] = "/etc/mpi/hostfile";

/* The variable that names the list, as the operator sets it for the job's MPI; NULL: none. */
static const char *list_variable(void)
{
    static const char *const variables[] = {"OMPI_MCA_orte_default_hostfile",
                                            "PRTE_MCA_prte_default_hostfile", "HYDRA_HOST_FILE",
                                            "I_MPI_HYDRA_HOST_FILE"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        if (batch_system_get(variables[i]))
            return variables[i];
    return NULL;
}

/* Operators of today say that this is the launcher. Those before did not: there it is a pod (any has
 * KUBERNETES_SERVICE_HOST) with a list. */
bool kubernetes_is_there(void)
{
    const char *role = batch_system_get("K_MPI_JOB_ROLE");
    if (role)
        return strcmp(role, "launcher") == 0;
    return batch_system_get("KUBERNETES_SERVICE_HOST") &&
           (list_variable() || access(default_file, R_OK) == 0);
}

struct node_list *kubernetes_nodes(const struct batch_system *source, double now, struct error *err)
{
    const char *variable = list_variable();
    const char *path = variable ? batch_system_get(variable) : default_file;
    struct buf text = BUF_INIT;
    struct node_list *nodes = NULL;
    struct hostfile *file = NULL;
    char *job = batch_system_identity(source);
    (void)now;
    if (file_text_read(path, path, HOSTFILE_MAX_TEXT, &text, err) == 0)
        file = hostfile_parse(path, buf_bytes(&text), text.len, err);
    if (file && file->count)
        nodes = node_list_from_entries(file, mem_format("%s (%s)", job, path));
    else if (file)
        error_set(err, "%s: it names no host", path);
    if (!nodes) {
        error_prefix(err, "the workers of %s", job);
        error_set(err,
                  "%s; unset %s to ignore that job, or name nodes with --hosts "
                  "or -R",
                  error_text(err),
                  variable && !batch_system_get("K_MPI_JOB_ROLE") ? variable
                                                                  : batch_system_variable(source));
    }
    hostfile_free(file);
    buf_free(&text);
    free(job);
    return nodes;
}

/* By the name of its pod, which is the host's. */
char *kubernetes_identity(const struct batch_system *source)
{
    char *name = localhost_name(), *identity = mem_format("%s job %s", source->name, name);
    free(name);
    return identity;
}
