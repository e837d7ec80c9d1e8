/* How many ranks there are, and which of them are on which host: -host, hostfiles, a batch job,
 * -ppn. Where hosts have counts, ranks go round the hosts, each time as many as its count; with Open
 * MPI once, and the counts become larger before that. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "affinity/sets/hostlist.h"
#include "base/buf.h"
#include "base/file_text.h"
#include "base/hash_table.h"
#include "base/mem.h"
#include "launcher/mpiexec/mpiexec_private.h"
#include "launcher/options/option_defaults.h"
#include "launcher/source/slurm_nodelist.h"
#include "launcher/source/batch_system.h"
#include "launcher/source/hostfile.h"
#include "launcher/spec/field_words.h"

#define MPIEXEC_MAX_BLOCKS 65536 /* of a task map: it is one word of a command line */

struct hosts {
    struct hostlist *names; /* each once */
    uint32_t *counts;
    uint64_t sum;
    bool alike;    /* all counts are the same */
    bool named;    /* --hosts names them: nothing else does */
    bool counting; /* they say how many ranks each has; else tprun fills one after the other */
    bool counted;  /* somebody said the counts: numbers, or names that come several times */
};

struct turn { /* whose it is, in a round */
    size_t host;
    uint32_t used; /* of its count */
};

int mpiexec_add_hosts(struct mpiexec *mpiexec, const char *hosts, struct error *err)
{
    if (mpiexec->hosts && mpiexec->hosts_part != mpiexec->nparts) {
        if (strcmp(mpiexec->hosts, hosts) == 0)
            return 0;
        return error_set(err,
                         "hosts are for the whole program: name them once, and place ranks with "
                         "--taskmap or --rankfile");
    }
    char *all = mpiexec->hosts ? mem_format("%s,%s", mpiexec->hosts, hosts) : mem_copy_text(hosts);
    free(mpiexec->hosts);
    mpiexec->hosts = all;
    mpiexec->hosts_part = mpiexec->nparts;
    return 0;
}

static const char *hosts_login(const void *owner, uint32_t number)
{
    return hostlist_nth(owner, number);
}

/* A host that comes again adds to its count. */
static void hosts_fill(struct hosts *hosts, const struct hostfile *file)
{
    struct hash_table seen = {.count = 0};
    hosts->names = hostlist_new();
    hosts->counts = mem_array(file->count + 1, sizeof(*hosts->counts));
    for (size_t i = 0; i < file->count; i++) {
        const char *login = file->entries[i].login;
        uint32_t count = file->entries[i].limit ? file->entries[i].limit : 1, before = seen.count;
        uint32_t index = hash_table_intern_text(&seen, login, hosts_login, hosts->names);
        if (index == before)
            hostlist_append(hosts->names, login);
        hosts->counts[index] += count;
        hosts->sum += count;
    }
    hosts->alike = true;
    for (size_t i = 1; i < hostlist_count(hosts->names); i++)
        hosts->alike = hosts->alike && hosts->counts[i] == hosts->counts[0];
    hash_table_free(&seen);
}

/* The text is read as a hostfile: what stands between commas, brackets kept, is a line. */
static int hosts_decode(const char *text, struct hosts *hosts, struct error *err)
{
    char *lines = mem_copy_text(text);
    int depth = 0;
    for (char *at = lines; *at; at++) {
        depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
        if (*at == ',' && depth <= 0)
            *at = '\n';
    }
    struct hostfile *file = hostfile_parse("-host", lines, strlen(lines), err);
    free(lines);
    if (!file)
        return -1;
    int rc = file->count ? 0 : error_set(err, "-host names no host");
    if (rc == 0) {
        hosts_fill(hosts, file);
        hosts->named = hosts->counting = hosts->counted = true;
    }
    hostfile_free(file);
    return rc;
}

/* ---- a hostfile ---- */

/* MPICH's takes a name without a count for one core. Open MPI's takes it for all there are, unless
 * names come several times, as batch systems write them. A file that cannot be read twice, such as
 * a pipe, is given on as names. What is wrong with a file is said by who reads it in the end. */
static void hosts_from_file(const struct mpiexec *mpiexec, struct hosts *hosts)
{
    struct error err = ERROR_INIT;
    struct buf text = BUF_INIT;
    struct stat status;
    struct hostfile *file = NULL;
    const char *path = mpiexec->hostfile;
    if (strcmp(path, "-") != 0 && stat(path, &status) == 0 &&
        file_text_read(path, path, HOSTFILE_MAX_TEXT, &text, &err) == 0)
        file = hostfile_parse(path, buf_bytes(&text), text.len, &err);
    if (file && file->count) {
        bool counts = false;
        for (size_t i = 0; i < file->count; i++)
            counts |= file->entries[i].limit != 0;
        hosts_fill(hosts, file);
        hosts->named = !S_ISREG(status.st_mode);
        hosts->counted = counts || hostlist_count(hosts->names) < file->count;
        hosts->counting = mpiexec->dialect == MPIEXEC_HYDRA || (counts && hosts->named) ||
                          (!counts && hostlist_count(hosts->names) < file->count);
    }
    hostfile_free(file);
    buf_free(&text);
    error_clear(&err);
}

/* ---- a batch job ---- */

static bool words_have(const struct string_list *words, const char *const *options)
{
    for (; *options; options++)
        if (mpiexec_value(words, *options))
            return true;
    return false;
}

/* Options of tprun's own that say on what the program runs. */
static bool is_elsewhere(const struct mpiexec *mpiexec)
{
    static const char *const options[] = {
        "--resources=", "--on=", "--exclude=", "--requires=", "--topology=", NULL};
    static const char *const before[] = {"-R",        "--resources", "--host", "--on",
                                         "--exclude", "--requires",  NULL};
    struct option_defaults defaults = {0};
    bool found = false;
    option_defaults_read(&defaults, NULL); /* what is wrong with them is said later */
    for (size_t i = 0; i < defaults.count; i++)
        for (char *const *word = defaults.lines[i].words; *word; word++)
            for (size_t j = 0; before[j]; j++)
                found = found || strncmp(*word, before[j], strlen(before[j])) == 0;
    option_defaults_clear(&defaults);
    return found || words_have(&mpiexec->whole, options);
}

/* Slurm tells how many tasks each node is to have; others write a host for each, which tprun takes
 * for the most that a node has. */
static void hosts_from_slurm(const struct mpiexec *mpiexec, struct hosts *hosts)
{
    const struct batch_system *source = batch_system_find(BATCH_SYSTEM_ALL);
    const char *list = getenv("SLURM_JOB_NODELIST"), *counts = getenv("SLURM_TASKS_PER_NODE");
    struct error err = ERROR_INIT;
    if (source != batch_system_named("Slurm") || !list || !counts || is_elsewhere(mpiexec))
        return;
    struct hostfile *file = slurm_nodelist_hosts(list, &err);
    if (file && slurm_nodelist_counts(file, counts, &err) == 0) {
        hosts_fill(hosts, file);
        hosts->counting = hosts->counted = true;
    }
    hostfile_free(file);
    error_clear(&err);
}

/* ---- how many ---- */

/* That of -n, or of tprun's own --ntasks; NULL: none is given, or all. */
static const char *part_number(const struct mpiexec_part *part)
{
    const char *own = mpiexec_value(&part->own, "--ntasks=");
    return part->ntasks ? part->ntasks : own && strcmp(own, "all") != 0 ? own : NULL;
}

/* Words of tprun's own say it, or what they place does. */
static bool part_is_counted(const struct mpiexec *mpiexec, const struct mpiexec_part *part)
{
    static const char *const own[] = {"--per=", "--shape=", "--rankfile=", "--taskmap=[", NULL};
    static const char *const whole[] = {"--nodes=", "--spec=", NULL};
    return part_number(part) || part->ppn || words_have(&part->own, own) ||
           words_have(&mpiexec->whole, whole);
}

/* Where nothing on the command line tells whose is meant, it is what the user has without tprun. */
static bool is_openmpi(const struct mpiexec *mpiexec)
{
    enum mpiexec_dialect dialect = mpiexec->dialect;
    if (dialect == MPIEXEC_EITHER)
        dialect = mpiexec_next_dialect(mpiexec->name, getenv("PATH"));
    return dialect == MPIEXEC_OPENMPI;
}

/* Open MPI's fills what there is. MPICH's does where somebody allocated that for this program, or for those of a
 * script; else it starts one rank. */
static bool fills_all(const struct mpiexec *mpiexec)
{
    return mpiexec->hostfile || mpiexec_value(&mpiexec->whole, "--resources=") ||
           (!batch_system_find(BATCH_SYSTEM_ENCLOSING) &&
            batch_system_find(BATCH_SYSTEM_FILE | BATCH_SYSTEM_BATCH)) ||
           is_openmpi(mpiexec);
}

/* The number of ranks of each part, as far as it is known here: 1 is also tprun's own default. */
static int parts_count(struct mpiexec *mpiexec, const struct hosts *hosts, struct error *err)
{
    for (size_t i = 0; i < mpiexec->nparts; i++) {
        struct mpiexec_part *part = &mpiexec->parts[i];
        bool lone = mpiexec->nparts == 1 || mpiexec->dialect == MPIEXEC_HYDRA;
        part->count = 1;
        const char *number = part_number(part);
        if (number && spec_number_decode(number, SPEC_MAX_NUMBER, &part->count, err) < 0)
            return error_prefix(err, "-n");
        if (part_is_counted(mpiexec, part) || !part->nprogram || !lone)
            continue;
        if (hosts->counting) {
            if (hosts->sum > SPEC_MAX_NUMBER)
                return error_set(err,
                                 "-host: the sum of the counts is %llu, and must be at most %u",
                                 (unsigned long long)hosts->sum, SPEC_MAX_NUMBER);
            part->count = (uint32_t)hosts->sum;
            string_list_add(&part->own, mem_format("--ntasks=%u", part->count));
        } else if (mpiexec->nparts == 1 && fills_all(mpiexec)) {
            string_list_add_copy(&part->own, "--ntasks=all");
        }
    }
    return 0;
}

/* ---- where ---- */

/* Blocks of a task map (RFC 34): of each host as many ranks as its count, round after round, from
 * the turn on. */
static char *hosts_map(const struct hosts *hosts, uint32_t ntasks, struct turn *turn,
                       struct error *err)
{
    struct buf map = BUF_INIT;
    size_t nhosts = hostlist_count(hosts->names);
    uint32_t placed = 0;
    buf_add_text(&map, "--taskmap=[");
    for (size_t i = 0; placed < ntasks && i < MPIEXEC_MAX_BLOCKS; i++) {
        uint32_t left = hosts->counts[turn->host] - turn->used;
        uint32_t count = left < ntasks - placed ? left : ntasks - placed;
        buf_printf(&map, "%s[%zu,1,%u,1]", i ? "," : "", turn->host, count);
        placed += count;
        turn->used += count;
        if (count == left)
            *turn = (struct turn){(turn->host + 1) % nhosts, 0};
    }
    buf_add_char(&map, ']');
    if (placed == ntasks)
        return buf_take_text(&map);
    buf_free(&map);
    error_set(err, "-host: these counts put %u ranks into more than %d blocks: write -ppn", ntasks,
              MPIEXEC_MAX_BLOCKS);
    return NULL;
}

/* Open MPI's gives each host what its count says and an equal share of the ranks beyond, the first ones
 * one more, so that ranks which follow each other are on one host. */
static void hosts_share(struct hosts *hosts, const struct mpiexec *mpiexec)
{
    size_t nhosts = hosts->names ? hostlist_count(hosts->names) : 0;
    uint64_t ntasks = 0;
    for (size_t i = 0; i < mpiexec->nparts; i++)
        ntasks += mpiexec->parts[i].count;
    if (!hosts->counted || ntasks <= hosts->sum || !is_openmpi(mpiexec))
        return;
    uint64_t share = (ntasks - hosts->sum) / nhosts, rest = (ntasks - hosts->sum) % nhosts;
    for (size_t i = 0; i < nhosts; i++) {
        hosts->counts[i] += (uint32_t)(share + (i < rest));
        hosts->alike = hosts->counts[i] == hosts->counts[0] && (i == 0 || hosts->alike);
    }
    hosts->sum = ntasks;
    hosts->counting = true;
}

/* Where a part does not say how ranks are dealt out, the counts do. Where all counts are the same,
 * one map does for the parts that follow, too. */
static int hosts_place(const struct hosts *hosts, struct mpiexec *mpiexec, struct error *err)
{
    struct turn turn = {0};
    if (!hosts->counting || hostlist_count(hosts->names) == 1)
        return 0;
    for (size_t i = 0; i < mpiexec->nparts; i++) {
        struct mpiexec_part *part = &mpiexec->parts[i];
        if (part->placed || part->ppn)
            return 0;
        if (hosts->alike) {
            string_list_add(&part->own, mem_format("--taskmap=cyclic:%u", hosts->counts[0]));
            return 0;
        }
        char *map = hosts_map(hosts, part->count, &turn, err);
        if (!map)
            return -1;
        string_list_add(&part->own, map);
    }
    return 0;
}

/* ---- what each part says ---- */

static int per_refuse(const char *one, const char *other, struct error *err)
{
    return error_set(err, "%s and %s both say how many ranks go where: write one of them", one,
                     other);
}

static int part_place(const struct mpiexec *mpiexec, struct mpiexec_part *part, struct error *err)
{
    const char *per = mpiexec_value(&part->own, "--per=");
    if (part->ntasks_before && mpiexec->dialect == MPIEXEC_HYDRA)
        return error_set(err, "-n is given twice, as %s and as %s: write one of them",
                         part->ntasks_before, part->ntasks);
    if (part->per_other)
        return per_refuse(part->per_written, part->per_other, err);
    size_t len = part->ppn ? strlen(part->ppn) : 0;
    if (part->ppn && per &&
        (strncmp(per, part->ppn, len) != 0 || strcmp(per + len, ":node") != 0)) {
        char *written = mem_format("-ppn %s", part->ppn), *native = mem_format("--per %s", per);
        int rc = per_refuse(written, part->per_written ? part->per_written : native, err);
        free(written);
        free(native);
        return rc;
    }
    if (part->ppn && part->ntasks && !per) {
        string_list_add(&part->own, mem_format("--taskmap=cyclic:%s", part->ppn));
    } else if (part->ppn && !per) {
        string_list_add(&part->own, mem_format("--per=%s:node", part->ppn));
        string_list_add_copy(&part->own, "--order=sequential");
    }
    if (part->ntasks)
        string_list_add(&part->own, mem_format("--ntasks=%s", part->ntasks));
    return 0;
}

/* -host and a hostfile: mpirun takes the former, mpiexec neither. */
static int hosts_choose(struct mpiexec *mpiexec, struct hosts *hosts, struct error *err)
{
    if (mpiexec->hosts && mpiexec->hostfile && mpiexec->dialect == MPIEXEC_HYDRA)
        return error_set(err,
                         "-hosts and the hostfile %s both name the hosts: leave one of them out",
                         mpiexec->hostfile);
    if (mpiexec->hosts) {
        mpiexec->hostfile = NULL;
        return hosts_decode(mpiexec->hosts, hosts, err);
    }
    if (mpiexec->hostfile)
        hosts_from_file(mpiexec, hosts);
    else
        hosts_from_slurm(mpiexec, hosts);
    return 0;
}

int mpiexec_place_ranks(struct mpiexec *mpiexec, struct error *err)
{
    struct hosts hosts = {0};
    bool counted = true;
    for (size_t i = 0; i < mpiexec->nparts; i++)
        counted = counted && part_is_counted(mpiexec, &mpiexec->parts[i]);
    if (mpiexec->hosts || mpiexec->hostfile || !counted)
        mpiexec_choose_by_program(mpiexec);
    int rc = hosts_choose(mpiexec, &hosts, err);
    if (rc == 0)
        rc = parts_count(mpiexec, &hosts, err);
    if (rc == 0)
        hosts_share(&hosts, mpiexec);
    if (rc == 0)
        rc = hosts_place(&hosts, mpiexec, err);
    if (rc == 0 && hosts.named) {
        char *names = hostlist_encode(hosts.names);
        string_list_add(&mpiexec->whole, mem_format("--hosts=%s", names));
        free(names);
    } else if (rc == 0 && mpiexec->hostfile) {
        string_list_add(&mpiexec->whole, mem_format("--hostfile=%s", mpiexec->hostfile));
    }
    for (size_t i = 0; i < mpiexec->nparts && rc == 0; i++)
        rc = part_place(mpiexec, &mpiexec->parts[i], err);
    hostlist_free(hosts.names);
    free(hosts.counts);
    return rc;
}
