/* tpres discover and make. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/scheduling.h"
#include "affinity/topology/topo.h"
#include "affinity/topology/topo_treepool.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/source/batch_system.h"
#include "launcher/source/hostfile.h"
#include "affinity/sets/host_index.h"
#include "launcher/source/node_list.h"
#include "launcher/spec/field_words.h"
#include "launcher/tpres/tpres.h"

int tpres_discover(struct method_call *call, struct error *err)
{
    return tpres_write(call, tpres_this_machine(err), err);
}

/* What is made: nodes in order, each with the description of its topology. */
struct making {
    const struct method_call *call;
    struct tpres_amount cores, gpus;
    struct rset *R;
    json_t *children; /* of `scheduling`; NULL: no topology was given */
};

/* ---- hosts ---- */

static struct hostfile *tpres_make_read_hostfile(const char *path, struct error *err)
{
    struct buf text = BUF_INIT;
    struct hostfile *file = NULL;
    char *name = file_text_name("hostfile", path);
    if (file_text_read(path, name, HOSTFILE_MAX_TEXT, &text, err) == 0)
        file = hostfile_parse(name, buf_bytes(&text), text.len, err);
    buf_free(&text);
    free(name);
    return file;
}

static struct hostfile *tpres_make_read_hosts(const char *option, const char *text,
                                              struct error *err)
{
    struct hostfile *file = hostfile_from_hostlist(text, err);
    if (!file)
        error_usage(err, "%s: %s", option, error_text(err));
    return file;
}

/* ---- what a node has ---- */

/* What is asked for and not there would be missing in R without a word. */
static int check_known(const struct tpres_amount *amount, const struct idset *there,
                       const char *option, const char *what, struct error *err)
{
    bool more = amount->count != UINT32_MAX && amount->count > idset_count(there);
    if (amount->ids ? idset_within(amount->ids, there) : !more)
        return 0;
    char *have = idset_encode(there);
    error_usage(err, "--%s asks for %s that the topology does not have: it has %s", option, what,
                *have ? have : "none");
    free(have);
    return -1;
}

static int tpres_make_add_node(struct making *making, const char *host, const struct idset *cores,
                               const struct idset *gpus, struct idset *ranks, struct error *err)
{
    uint32_t rank = (uint32_t)making->R->nnodes;
    if (idset_empty(cores))
        return error_usage(err, "%s: none of --cores is in its topology", host);
    rset_append(making->R, rank, host, cores, gpus);
    idset_add(ranks, rank);
    return 0;
}

/* All hosts of a list with one topology. */
static int add_alike(struct making *making, const struct node_list *nodes, const struct topo *topo,
                     struct error *err)
{
    struct idset *all = topo_allowed_cores(topo), *there = tpres_gpus_of(topo);
    struct idset *cores = tpres_amount_of(&making->cores, all);
    struct idset *gpus = tpres_amount_of(&making->gpus, idset_empty(there) ? NULL : there);
    struct idset *ranks = idset_new();
    int rc = 0;
    /* A number of cores is the most that a node is to have. A topology without any GPU says nothing
     * of them: there they are as --gpus has them. */
    if (making->cores.ids)
        rc = check_known(&making->cores, all, "cores", "cores", err);
    if (rc == 0 && !idset_empty(there))
        rc = check_known(&making->gpus, there, "gpus", "GPUs", err);
    for (size_t i = 0; i < nodes->count && rc == 0; i++)
        rc = tpres_make_add_node(making, nodes->list[i].host, cores, gpus, ranks, err);
    if (rc == 0) {
        char *text = idset_encode(ranks);
        if (!making->children)
            making->children = json_array();
        json_array_append_new(making->children, json_pack("{s:s,s:o}", "ranks", text, "topo",
                                                          topo_to_treepool(topo, cores, gpus)));
        free(text);
    }
    idset_free(ranks);
    idset_free(gpus);
    idset_free(cores);
    idset_free(there);
    idset_free(all);
    return rc;
}

/* Some batch systems say all: their R, and of each node's cores and GPUs as many as are asked for. */
static int take_R(struct making *making, const struct rset *R, struct error *err)
{
    struct rset *taken = rset_new();
    int rc = 0;
    taken->starttime = R->starttime;
    taken->expiration = R->expiration;
    taken->properties = json_deep_copy(R->properties);
    taken->scheduling = json_incref(R->scheduling);
    for (size_t i = 0; i < R->nnodes && rc == 0; i++) {
        const struct rset_node *node = &R->nodes[i];
        struct idset *cores = tpres_amount_of(&making->cores, node->children->cores);
        struct idset *gpus = tpres_amount_of(&making->gpus, node->children->gpus);
        if (idset_empty(cores))
            rc = error_usage(err, "%s: the job has none of --cores there", node->host);
        else
            rset_append(taken, node->rank, node->host, cores, gpus);
        idset_free(cores);
        idset_free(gpus);
    }
    rset_free(making->R);
    making->R = taken;
    return rc;
}

/* Hosts without topology: as many cores as --cores or the hostfile says. */
static int add_counted(struct making *making, const struct node_list *nodes, struct error *err)
{
    if (nodes->R)
        return take_R(making, nodes->R, err);
    bool given = method_value(making->call, TPRES_CORES);
    struct idset *gpus = tpres_amount_of(&making->gpus, NULL), *ranks = idset_new();
    int rc = 0;
    for (size_t i = 0; i < nodes->count && rc == 0; i++) {
        const struct node *node = &nodes->list[i];
        struct tpres_amount slots = {NULL, node->limit};
        struct idset *cores = tpres_amount_of(given ? &making->cores : &slots, NULL);
        if (!given && !node->limit)
            rc = error_usage(err, "%s: unknown number of cores: write --cores N or --topology",
                             node->host);
        else
            rc = tpres_make_add_node(making, node->host, cores, gpus, ranks, err);
        idset_free(cores);
    }
    idset_free(ranks);
    idset_free(gpus);
    return rc;
}

/* ---- topologies ---- */

/* Where the description begins in [HOSTLIST=]DESCRIPTION, whose attributes have = too. */
static const char *description_of(const char *spec)
{
    size_t end = strcspn(spec, "=:( @");
    return spec[end] == '=' || (spec[end] == '@' && strchr(spec, '=') && end > 0)
               ? strchr(spec, '=') + 1
               : spec;
}

/* `named`: of --hosts or --hostfile, which a description without hosts is for; or NULL. */
static int add_topology(struct making *making, const char *spec, const struct node_list *named,
                        struct error *err)
{
    const char *description = description_of(spec);
    struct node_list *own = NULL; /* the hosts that stand in front of the description */
    struct topo *topo = NULL;
    if (description == spec && !named)
        return error_usage(err, "--topology %s: missing hosts (expected HOSTLIST=SPEC, or --hosts)",
                           excerpt(spec, strlen(spec)).text);
    if (description != spec && named)
        return error_usage(err,
                           "--topology and --hosts both name the hosts: leave one of them out");
    if (description != spec) {
        char *hosts = mem_copy_text_n(spec, (size_t)(description - spec) - 1);
        struct hostfile *file = tpres_make_read_hosts("--topology", hosts, err);
        own = file ? node_list_from_entries(file, mem_copy_text("make")) : NULL;
        hostfile_free(file);
        free(hosts);
    }
    if (own || named) {
        topo = description[0] == '@' ? topo_load_xml(description + 1, err)
                                     : topo_load_synthetic(description, err);
        if (!topo)
            error_usage(err, "--topology: %s", error_text(err));
    }
    int rc = topo ? add_alike(making, own ? own : named, topo, err) : -1;
    node_list_free(own);
    topo_free(topo);
    return rc;
}

static int tpres_make_add_all(struct making *making, const struct node_list *named,
                              struct error *err)
{
    const struct rset *R = making->R;
    const char *spec;
    size_t count = 0;
    int rc = 0;
    for (size_t at = 0; (spec = method_next(making->call, TPRES_TOPOLOGY, &at)); count++)
        if (add_topology(making, spec, named, err) < 0)
            return -1;
    if (!count && !named)
        return error_usage(
            err,
            "missing hosts (expected --hosts, --hostfile, --from or --topology HOSTLIST=SPEC)");
    if (!count)
        return add_counted(making, named, err);
    struct host_index *index = host_index_new(R->nnodes);
    for (size_t i = 0; i < R->nnodes && rc == 0; i++)
        if (host_index_add(index, R->nodes[i].host, i) != HOST_INDEX_NONE)
            rc = error_usage(err, "--topology: %s is described twice", R->nodes[i].host);
    host_index_free(index);
    return rc;
}

/* ---- properties ---- */

/* NULL with a sentence. Caller frees. */
static struct idset *property_ranks(const struct rset *R, const char *text, struct error *err)
{
    struct idset *all = rset_ranks(R), *ranks = idset_decode(text, err);
    struct idset *missing = ranks ? idset_subtract(ranks, all) : idset_new();
    if (!idset_empty(missing)) {
        char *range = idset_encode(all);
        error_set(err, "there is no rank %u (expected some of %s)", idset_first(missing),
                  excerpt(range, strlen(range)).text);
        free(range);
        idset_free(ranks);
        ranks = NULL;
    }
    idset_free(missing);
    idset_free(all);
    return ranks;
}

/* NAME[:RANKS]. A property that comes again is one of all these ranks. */
static int add_property(struct rset *R, const char *text, struct error *err)
{
    size_t len = strcspn(text, ":");
    char *name = mem_copy_text_n(text, len);
    struct idset *ranks = text[len] ? property_ranks(R, text + len + 1, err) : rset_ranks(R);
    int rc = ranks ? 0 : error_usage(err, "--property %s: %s", name, error_text(err));
    if (ranks) {
        const char *old = json_string_value(json_object_get(R->properties, name));
        struct idset *before = old ? idset_decode(old, NULL) : NULL;
        idset_add_set(ranks, before);
        char *set = idset_encode(ranks);
        if (!R->properties)
            R->properties = json_object();
        if (json_object_set_new(R->properties, name, json_string(set)) < 0)
            rc = error_usage(err, "--property: %s is not UTF-8", excerpt(name, len).text);
        free(set);
        idset_free(before);
    }
    idset_free(ranks);
    free(name);
    return rc;
}

static int add_properties(struct making *making, struct error *err)
{
    const char *text;
    for (size_t at = 0; (text = method_next(making->call, TPRES_PROPERTY, &at));)
        if (add_property(making->R, text, err) < 0)
            return -1;
    /* What was put together is held to what any R is held to. */
    json_t *value = rset_to_json(making->R);
    struct rset *again = rset_from_json(value, err);
    json_decref(value);
    rset_free(again);
    return again ? 0 : -1;
}

/* ---- make ---- */

static size_t count_given(const struct method_call *call, enum tpres_option option)
{
    size_t count = 0;
    for (size_t at = 0; method_next(call, option, &at);)
        count++;
    return count;
}

/* The nodes that --hosts, --hostfile or --from names; *count becomes how many of these there are. */
static struct node_list *read_named(const struct method_call *call, size_t *count,
                                    struct error *err)
{
    const char *hosts = method_value(call, TPRES_HOSTS), *path = method_value(call, TPRES_HOSTFILE);
    const char *from = method_value(call, TPRES_FROM);
    *count = count_given(call, TPRES_HOSTS) + count_given(call, TPRES_HOSTFILE) +
             count_given(call, TPRES_FROM);
    if (*count > 1)
        error_usage(err, "--hosts, --hostfile and --from all name the hosts: write one of them, "
                         "once");
    if (*count != 1)
        return NULL;
    if (from)
        return tpres_from(from, err);
    if (hosts && spec_hosts_check(hosts, err) < 0) {
        error_prefix(err, "--hosts");
        err->kind = ERROR_USAGE;
        return NULL;
    }
    struct hostfile *file =
        hosts ? tpres_make_read_hosts("--hosts", hosts, err) : tpres_make_read_hostfile(path, err);
    struct node_list *nodes = file ? node_list_from_entries(file, mem_copy_text("make")) : NULL;
    hostfile_free(file);
    return nodes;
}

int tpres_make(struct method_call *call, struct error *err)
{
    struct making making = {.call = call, .R = rset_new()};
    size_t count;
    struct node_list *named = read_named(call, &count, err);
    bool made = (named || !count) &&
                tpres_amount_decode(call, TPRES_CORES, false, &making.cores, err) == 0 &&
                tpres_amount_decode(call, TPRES_GPUS, true, &making.gpus, err) == 0 &&
                tpres_make_add_all(&making, named, err) == 0 && add_properties(&making, err) == 0;
    if (made && making.children) {
        making.R->scheduling =
            json_pack("{s:s,s:O}", "writer", SCHEDULING_WRITER, "children", making.children);
    } else if (!made) {
        rset_free(making.R);
        making.R = NULL;
    }
    int rc = tpres_write(call, making.R, err);
    json_decref(making.children);
    idset_free(making.cores.ids);
    idset_free(making.gpus.ids);
    node_list_free(named);
    return rc;
}

/* ---- --from: the nodes of a batch job ---- */

static const struct {
    const char *word, *name;
} systems[] = {
    {"slurm", "Slurm"},
    {"pbs", "PBS"},
    {"lsf", "LSF"},
    {"flux", "Flux"},
    {"sge", "Grid Engine"},
    {"kubernetes", "MPI Operator"},
    {"mpi-operator", "MPI Operator"},
};

struct node_list *tpres_from(const char *word, struct error *err)
{
    bool any = strcmp(word, "auto") == 0;
    const struct batch_system *source = any ? batch_system_find(BATCH_SYSTEM_BATCH) : NULL;
    for (size_t i = 0; !any && i < sizeof(systems) / sizeof(systems[0]); i++)
        if (strcmp(systems[i].word, word) == 0)
            source = batch_system_named(systems[i].name);
    if (source && batch_system_is_there(source))
        return batch_system_nodes(source, NULL, clock_wall_seconds(), err);
    if (source)
        error_set(err, "--from %s: this is not inside a job of %s: %s is not set", word,
                  batch_system_name(source), batch_system_variable(source));
    else if (any)
        error_set(err,
                  "--from auto: this is not inside a batch job (none of SLURM_JOB_ID, PBS_JOBID, "
                  "LSB_JOBID, PE_HOSTFILE, FLUX_JOB_ID and K_MPI_JOB_ROLE is set)");
    else
        error_usage(err, "--from %s: expected slurm, pbs, lsf, flux, sge, kubernetes or auto",
                    excerpt(word, strlen(word)).text);
    return NULL;
}
