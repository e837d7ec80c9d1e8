/* tpres - resource sets: find, make, look at, cut and join them. */
#include "launcher/tpres/tpres.h"

#include "launcher/options/option_help.h"

/* ---- the methods and their options, in the order of --help ---- */

#define END                                                                                        \
    {                                                                                              \
        TPRES_NOPTIONS, 0                                                                          \
    }

static const struct method_offer no_offers[] = {END};
static const struct method_offer make_offers[] = {
    {TPRES_HOSTS, "nodes, in order; user@ is left out"},
    {TPRES_HOSTFILE, "nodes, a line each; slots=N is a number of cores"},
    {TPRES_FROM, "of a batch job: slurm, pbs, lsf, flux, ... or auto"},
    {TPRES_CORES, "of each node: the first N, or just these"},
    {TPRES_GPUS, "the same for GPUs"},
    {TPRES_PROPERTY, "of all nodes, or of these ranks; may come again"},
    {TPRES_TOPOLOGY, "[HOSTLIST=]hwloc description, or @FILE.xml"},
    END};
static const struct method_offer show_offers[] = {
    {TPRES_DRAW, "sockets, NUMA domains and what they hold, too"},
    {TPRES_FORMAT, "json: the same as JSON"},
    END};
static const struct method_offer check_offers[] = {{TPRES_FORMAT, "json: the same as JSON"}, END};
static const struct method_offer select_offers[] = {
    {TPRES_RANKS, "nodes of these ranks"},
    {TPRES_HOSTS, "nodes of these names"},
    {TPRES_REQUIRES, "nodes that match: 'ssd and not host:n[0-3]', or JSON"},
    {TPRES_EXCLUDE, "leave out nodes of these names"},
    {TPRES_COUNT, "the first N nodes of those that are left"},
    {TPRES_CORES, "of each node: the first N it has, or just these"},
    {TPRES_GPUS, "the same for GPUs; --gpus 0 leaves all out"},
    {TPRES_NO_TOPOLOGY, "leave out the topology (key scheduling)"},
    END};
static const struct method_offer rerank_offers[] = {
    {TPRES_HOSTS, "nodes in this order, all others behind them"}, END};
static const struct method_offer alloc_offers[] = {
    {TPRES_RESOURCES, "R; without it stdin, or this machine on a terminal"},
    {TPRES_HELD, "R that others hold; may come again"},
    {TPRES_REQUIRES, "only nodes that match"},
    {TPRES_SLOTS, "print {\"R\": ..., \"slots\": [...]}"},
    END};
static const struct method_offer text_offers[] = {{TPRES_TO, "another form; see above"}, END};

#define ANY ((size_t)-1)

static const struct method tpres_methods[] = {
    {"discover", "", "R of this machine", "With its sockets and NUMA domains (RFC 49).\n", 0, 0,
     no_offers, tpres_discover},
    {"make", "--hosts HOSTLIST --cores N [OPTION...]", "R of hosts", NULL, 0, 0, make_offers,
     tpres_make},
    {"show", "[OPTION...] [FILE]", "R as a table", NULL, 0, 1, show_offers, tpres_show},
    {"check", "[OPTION...] [FILE]", "Say whether R is right, and how much it has", NULL, 0, 1,
     check_offers, tpres_check},
    {"select", "[OPTION...] [FILE]", "R of some of the nodes of R",
     "Ranks stay. Several conditions have to hold together.\n", 0, 1, select_offers, tpres_select},
    {"append", "FILE FILE...", "R of all nodes of several R",
     "Hosts are told apart by their names. A core or GPU that two of them have is\n"
     "refused. Ranks of the first stay. Those of another stay if all are free; else\n"
     "they follow the last one.\n",
     1, ANY, no_offers, tpres_append},
    {"subtract", "FILE FILE...", "The first R without the cores and GPUs of the others",
     "Hosts are told apart by their names. Ranks stay. Nodes without cores are left\nout.\n", 1,
     ANY, no_offers, tpres_subtract},
    {"intersect", "FILE FILE...", "R of the cores and GPUs that all of them have",
     "Hosts are told apart by their names. Ranks and properties are those of the\nfirst.\n", 1, ANY,
     no_offers, tpres_intersect},
    {"rerank", "[OPTION...] [FILE]", "R with ranks from 0, in order", NULL, 0, 1, rerank_offers,
     tpres_rerank},
    {"alloc", "[OPTION...] SHAPE", "R that a shape gets out of R (tprun-shape(7))",
     "Nothing is claimed. Exit status 1: it does not fit now; 3: it never can.\n", 1, 1,
     alloc_offers, tpres_alloc},
    {"idset", "[--to FORM] [TEXT]", "Set of numbers: 0-3,7 (RFC 22)",
     "Forms: list (a number a line), count.\n", 0, 1, text_offers, tpres_idset},
    {"hostlist", "[--to FORM] [TEXT]", "List of hosts: node[0-3],login (RFC 29)",
     "Forms: list (a host a line), count.\n", 0, 1, text_offers, tpres_hostlist},
    {"taskmap", "[--to FORM] [TEXT]", "Which rank is on which node (RFC 34)",
     "Forms: json (the canonical one), wrapped, pmi, raw. All are read.\n", 0, 1, text_offers,
     tpres_taskmap},
    {"shape", "[--to FORM] [TEXT]", "What a job needs (RFC 46)",
     "Forms: json (RFC 14 resources). Text and JSON are read.\n", 0, 1, text_offers, tpres_shape},
    {0},
};

static const struct method_program tpres = {
    .name = "tpres",
    .methods = tpres_methods,
    .options = tpres_options,
    .noptions = TPRES_NOPTIONS,
    .help = TPRES_HELP,
    .usage = "METHOD [OPTION...] [FILE...]",
    .about = "Resource sets, R for short (tprun-R(5)): find, make, look at, cut and join them.",
    .closing = "A FILE of - is stdin, which is also read where a FILE is left out.",
    .version = options_version,
};

int main(int argc, char *argv[])
{
    (void)argc;
    return method_main(&tpres, argv + 1);
}
