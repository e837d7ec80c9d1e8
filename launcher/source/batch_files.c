/* PBS, LSF and Grid Engine, which name a job's hosts in a file or in a variable. */
#include "launcher/source/batch_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "launcher/source/batch_nodelist.h"
#include "launcher/source/batch_system_private.h"
#include "launcher/spec/field_words.h"

/* The file that `variable` names, read by parse(). */
static struct hostfile *batch_file(const char *variable,
                                   struct hostfile *(*parse)(const char *, size_t, struct error *),
                                   struct error *err)
{
    const char *path = batch_system_get(variable);
    struct buf text = BUF_INIT;
    struct hostfile *file = NULL;
    if (strcmp(path, "-") == 0)
        error_set(err, "\"-\" is not the name of a file");
    else if (file_text_read(path, path, HOSTFILE_MAX_TEXT, &text, err) == 0) {
        file = parse(buf_bytes(&text), text.len, err);
        if (!file)
            error_prefix(err, "%s", path);
    }
    buf_free(&text);
    return file;
}

/* ---- PBS ---- */

/* OpenPBS writes a line for each MPI process (pbs_resources(7B), mpiprocs), Torque one for each of
 * the ppn processors of a node (qsub(1B)), unless it was told to write each node once: then
 * PBS_NUM_PPN, which only Torque sets, is how many. */
static int pbs_processors(struct hostfile *file, struct error *err)
{
    const char *text = batch_system_get("PBS_NUM_PPN");
    uint32_t ppn;
    if (!text)
        return 0;
    if (spec_number_decode(text, SPEC_MAX_NUMBER, &ppn, err) < 0)
        return error_prefix(err, "PBS_NUM_PPN");
    for (size_t i = 1; i < file->count; i++)
        if (strcmp(file->entries[i].login, file->entries[i - 1].login) == 0)
            return 0;
    for (size_t i = 0; i < file->count; i++)
        file->entries[i].limit = ppn;
    return 0;
}

struct node_list *pbs_nodes(const struct batch_system *source, double now, struct error *err)
{
    static const char variable[] = "PBS_NODEFILE";
    (void)now;
    if (!batch_system_get(variable))
        return batch_refuse(source, variable, err);
    struct hostfile *file = batch_file(variable, batch_slots, err);
    if (file && pbs_processors(file, err) < 0) {
        hostfile_free(file);
        file = NULL;
    }
    /* A line of OpenPBS is a process, however many cores that has. */
    return batch_nodes(source, file, variable, batch_system_get("PBS_NUM_PPN"), err);
}

/* ---- LSF: IBM Spectrum LSF, "Environment variables set for job execution" ---- */

/* LSB_DJOB_HOSTFILE has a line for each slot, LSB_MCPU_HOSTS each host with its slots. The
 * processors of LSB_AFFINITY_HOSTFILE are those of the cgroup or mask that LSF made. */
struct node_list *lsf_nodes(const struct batch_system *source, double now, struct error *err)
{
    static const char file[] = "LSB_DJOB_HOSTFILE", pairs[] = "LSB_MCPU_HOSTS";
    (void)now;
    if (batch_system_get(file))
        return batch_nodes(source, batch_file(file, batch_slots, err), file, true, err);
    if (batch_system_get(pairs))
        return batch_nodes(source, batch_pairs(batch_system_get(pairs), err), pairs, true, err);
    return batch_refuse(source, pairs, err);
}

/* ---- Grid Engine: sge_pe(5), "PE_HOSTFILE" ---- */

struct node_list *grid_engine_nodes(const struct batch_system *source, double now,
                                    struct error *err)
{
    static const char variable[] = "PE_HOSTFILE";
    (void)now;
    return batch_nodes(source, batch_file(variable, batch_table, err), variable, true, err);
}

/* JOB_ID alone would not tell a job: others use the name. */
char *grid_engine_identity(const struct batch_system *source)
{
    const char *job = batch_system_get("JOB_ID");
    return mem_format("%s job %s", source->name, job ? job : batch_system_get("PE_HOSTFILE"));
}
