/* Which ranks are on which host: -host with counts, -ppn. Ranks go round the hosts, so many at a
 * time as the count says, and begin again at the first. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/hostlist.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/table.h"
#include "launcher/cli/mpiexec_private.h"
#include "launcher/program/hostfile.h"
#include "launcher/program/spec_words.h"

#define MPIEXEC_MAX_BLOCKS 65536 /* of a task map: it is one word of a command line */

struct hosts {
    struct hostlist *names; /* each once */
    uint32_t *counts;
    uint64_t sum;
    bool alike; /* all counts are the same */
};

int mpiexec_add_hosts(struct mpiexec *mpiexec, const char *hosts, struct error *err)
{
    if (mpiexec->hosts && mpiexec->hosts_part != mpiexec->nparts)
        return error_set(err,
                         "the hosts are of the whole program: name them once, and write --taskmap "
                         "or --rankfile for what has to be where");
    char *all = mpiexec->hosts ? mem_format("%s,%s", mpiexec->hosts, hosts) : mem_copy_text(hosts);
    free(mpiexec->hosts);
    mpiexec->hosts = all;
    mpiexec->hosts_part = mpiexec->nparts;
    return 0;
}

/* As a hostfile: what stands between commas, brackets kept, is a line. */
static struct hostfile *hosts_read(const char *text, struct error *err)
{
    char *lines = mem_copy_text(text);
    int depth = 0;
    for (char *at = lines; *at; at++) {
        depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
        if (*at == ',' && depth <= 0)
            *at = '\n';
    }
    struct hostfile *file = hostfile_parse("-host", lines, strlen(lines), err);
    if (file && !file->count) {
        hostfile_free(file);
        file = NULL;
        error_set(err, "-host names no host");
    }
    free(lines);
    return file;
}

struct hosts_name { /* what is looked for */
    const struct hostlist *names;
    const char *login;
};

static bool hosts_equal(uint32_t number, const void *thing)
{
    const struct hosts_name *wanted = thing;
    return strcmp(hostlist_nth(wanted->names, number), wanted->login) == 0;
}

/* Its number among the names, which it is added to. */
static uint32_t hosts_index(struct table *seen, struct hostlist *names, const char *login)
{
    struct hosts_name wanted = {names, login};
    uint32_t before = seen->count;
    uint32_t index = table_number(seen, table_hash_text(login), hosts_equal, &wanted);
    if (index == before)
        hostlist_append(names, login);
    return index;
}

static void hosts_free(struct hosts *hosts)
{
    hostlist_free(hosts->names);
    free(hosts->counts);
}

/* A host that comes again adds to its count. */
static int hosts_decode(const char *text, struct hosts *hosts, struct error *err)
{
    struct hostfile *file = hosts_read(text, err);
    if (!file)
        return -1;
    struct table seen = {.count = 0};
    hosts->names = hostlist_new();
    hosts->counts = mem_array(file->count, sizeof(*hosts->counts));
    for (size_t i = 0; i < file->count; i++) {
        uint32_t count = file->entries[i].limit ? file->entries[i].limit : 1;
        uint32_t index = hosts_index(&seen, hosts->names, file->entries[i].login);
        hosts->counts[index] += count;
        hosts->sum += count;
    }
    hosts->alike = true;
    for (size_t i = 1; i < hostlist_count(hosts->names); i++)
        hosts->alike = hosts->alike && hosts->counts[i] == hosts->counts[0];
    table_free(&seen);
    hostfile_free(file);
    return 0;
}

/* Blocks of a task map (RFC 34): of each host as many ranks as its count, round after round. */
static char *hosts_map(const struct hosts *hosts, uint32_t ntasks, struct error *err)
{
    struct buf map = BUF_INIT;
    size_t nhosts = hostlist_count(hosts->names);
    uint32_t placed = 0;
    buf_add_text(&map, "--taskmap=[");
    for (size_t i = 0; placed < ntasks && i < MPIEXEC_MAX_BLOCKS; i++) {
        uint32_t count = hosts->counts[i % nhosts];
        count = count < ntasks - placed ? count : ntasks - placed;
        buf_printf(&map, "%s[%zu,1,%u,1]", i ? "," : "", i % nhosts, count);
        placed += count;
    }
    buf_add_char(&map, ']');
    if (placed == ntasks)
        return buf_take_text(&map);
    buf_free(&map);
    error_set(err, "-host: more than %d turns to deal out %u ranks by these counts: write -ppn",
              MPIEXEC_MAX_BLOCKS, ntasks);
    return NULL;
}

/* Where the first part does not say how ranks are dealt out, the counts do; a lone part without -n
 * has as many ranks as these are together. Hosts of one count go on with the parts that follow. */
static int hosts_place(const struct hosts *hosts, struct mpiexec *mpiexec, struct error *err)
{
    struct mpiexec_part *part = &mpiexec->parts[0];
    uint32_t ntasks = 1;
    if (part->placed || part->ppn)
        return 0;
    if (part->ntasks && spec_number_decode(part->ntasks, SPEC_MAX_NUMBER, &ntasks, err) < 0)
        return error_prefix(err, "-n");
    if (!part->ntasks && mpiexec->nparts == 1) {
        if (hosts->sum > SPEC_MAX_NUMBER)
            return error_set(err, "-host: the counts are %llu together: %u is the most",
                             (unsigned long long)hosts->sum, SPEC_MAX_NUMBER);
        ntasks = (uint32_t)hosts->sum;
        mpiexec_add(&part->own, mem_format("--ntasks=%u", ntasks));
    }
    if (hostlist_count(hosts->names) == 1)
        return 0;
    if (hosts->alike) {
        mpiexec_add(&part->own, mem_format("--taskmap=cyclic:%u", hosts->counts[0]));
        return 0;
    }
    if (mpiexec->nparts > 1)
        return error_set(err, "-host: counts that differ are of a program of one part: write -ppn");
    char *map = hosts_map(hosts, ntasks, err);
    if (map)
        mpiexec_add(&part->own, map);
    return map ? 0 : -1;
}

static void part_place(struct mpiexec_part *part)
{
    if (part->ppn && part->ntasks) {
        mpiexec_add(&part->own, mem_format("--taskmap=cyclic:%s", part->ppn));
    } else if (part->ppn) {
        mpiexec_add(&part->own, mem_format("--per=%s:node", part->ppn));
        mpiexec_add(&part->own, mem_copy_text("--order=sequential"));
    }
    if (part->ntasks)
        mpiexec_add(&part->own, mem_format("--ntasks=%s", part->ntasks));
}

int mpiexec_place_ranks(struct mpiexec *mpiexec, struct error *err)
{
    struct hosts hosts = {0};
    if (mpiexec->hosts) {
        if (hosts_decode(mpiexec->hosts, &hosts, err) < 0)
            return -1;
        int rc = hosts_place(&hosts, mpiexec, err);
        char *names = hostlist_encode(hosts.names);
        mpiexec_add(&mpiexec->whole, mem_format("--hosts=%s", names));
        free(names);
        hosts_free(&hosts);
        if (rc < 0)
            return -1;
    }
    for (size_t i = 0; i < mpiexec->nparts; i++)
        part_place(&mpiexec->parts[i]);
    return 0;
}
