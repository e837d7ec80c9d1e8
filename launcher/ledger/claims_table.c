/* The table of claims as text and as rows, for claims_file.c, claim.c and claim_queue.c. */
#include "launcher/ledger/claims_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/search.h"

#define CLAIMS_HEAD "tprun-claims 2 "
#define CLAIMS_TAIL "end\n"

struct claims *claims_new(void)
{
    struct claims *claims = mem_alloc(sizeof(*claims));
    claims->next = 1;
    return claims;
}

void claims_free(struct claims *claims)
{
    for (size_t i = 0; claims && i < claims->count; i++)
        free(claims->rows[i].own);
    if (claims) {
        free(claims->rows);
        free(claims->text);
    }
    free(claims);
}

/* ---- reading ---- */

/* Decimal digits up to `end`, which is stepped over. */
static bool claims_read_number(char **at, char end, uint64_t *number)
{
    size_t digits = number_read(*at, NULL, UINT64_MAX - 1, number);
    if (!digits || *number == UINT64_MAX || (*at)[digits] != end)
        return false;
    *at += digits + 1;
    return true;
}

/* A text up to `end` becomes a C string of its own. */
static char *claims_read_text(char **at, char end)
{
    char *text = *at, *stop = strchr(text, end);
    if (!stop)
        return NULL;
    *stop = '\0';
    *at = stop + 1;
    return text;
}

static bool claims_is_state(char letter)
{
    return letter == CLAIMS_NOTHING || letter == CLAIMS_HOLDS || letter == CLAIMS_WAITS;
}

/* The line ends in a NUL where its newline was. */
static bool claims_read_row(char *line, struct claims_row *row)
{
    if (!claims_read_number(&line, ' ', &row->number) || !claims_is_state(*line) || line[1] != ' ')
        return false;
    row->state = (enum claims_state) * line;
    line += 2;
    if (!claims_read_number(&line, ' ', &row->since) ||
        !claims_read_number(&line, ' ', &row->until))
        return false;
    row->within = claims_read_text(&line, '\t');
    row->name = line;
    line = strchrnul(line, '\t');
    row->sets = *line ? line + 1 : line;
    *line = '\0';
    return row->within && *row->within && !*row->sets == (row->state == CLAIMS_NOTHING);
}

static struct claims_row *claims_grow(struct claims *claims)
{
    claims->rows = array_grow(claims->rows, claims->count, sizeof(*claims->rows));
    struct claims_row *row = &claims->rows[claims->count++];
    *row = (struct claims_row){0};
    return row;
}

static int claims_read(struct claims *claims, size_t len, struct error *err)
{
    char *at = claims->text;
    size_t head = strlen(CLAIMS_HEAD);
    uint64_t last = 0;
    if (strlen(at) != len)
        return error_set(err, "it holds a zero byte");
    if (strncmp(at, CLAIMS_HEAD, head) != 0)
        return error_set(err, "it does not begin with \"%s\"", CLAIMS_HEAD);
    at += head;
    if (!claims_read_number(&at, '\n', &claims->next) || !claims->next ||
        claims->next == UINT64_MAX)
        return error_set(err, "line 1 has no program number");
    for (size_t line = 2; strcmp(at, CLAIMS_TAIL) != 0; line++) {
        uint32_t begin = (uint32_t)(at - claims->text);
        char *text = claims_read_text(&at, '\n');
        if (!text)
            return error_set(err, "it ends in line %zu, before its \"end\"", line);
        struct claims_row *row = claims_grow(claims);
        if (!claims_read_row(text, row) || row->number <= last || row->number >= claims->next)
            return error_set(err, "line %zu is no row of a program", line);
        row->line = begin;
        row->len = (uint32_t)(at - claims->text) - begin;
        last = row->number;
    }
    return 0;
}

struct claims *claims_decode(char *text, size_t len, struct error *err)
{
    struct claims *claims = claims_new();
    claims->text = text;
    if (claims_read(claims, len, err) == 0)
        return claims;
    claims_free(claims);
    return NULL;
}

/* ---- writing ---- */

/* The line that it was read from, put together where its fields were cut apart. */
static void claims_add_line(struct buf *text, const struct claims *claims,
                            const struct claims_row *row)
{
    const char *line = claims->text + row->line;
    char *copy = buf_reserve(text, row->len);
    memcpy(copy, line, row->len);
    copy[row->name - line - 1] = '\t';
    if (!copy[row->sets - line - 1]) /* else the line ends with the name */
        copy[row->sets - line - 1] = '\t';
    copy[row->len - 1] = '\n';
    buf_added(text, row->len);
}

static void claims_add_row(struct buf *text, const struct claims_row *row)
{
    buf_printf(text, "%llu %c %llu %llu ", (unsigned long long)row->number, row->state,
               (unsigned long long)row->since, (unsigned long long)row->until);
    buf_add_text(text, row->within);
    buf_add_char(text, '\t');
    buf_add_text(text, row->name);
    if (*row->sets)
        buf_add_char(text, '\t');
    buf_add_text(text, row->sets);
    buf_add_char(text, '\n');
}

char *claims_encode(const struct claims *claims, size_t *len)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, CLAIMS_HEAD "%llu\n", (unsigned long long)claims->next);
    for (size_t i = 0; i < claims->count; i++) {
        const struct claims_row *row = &claims->rows[i];
        if (row->len)
            claims_add_line(&text, claims, row);
        else
            claims_add_row(&text, row);
    }
    buf_add_text(&text, CLAIMS_TAIL);
    *len = text.len;
    return buf_take_text(&text);
}

/* ---- rows ---- */

struct claims_search {
    const struct claims *claims;
    uint64_t number;
};

static bool claims_before(const void *arg, size_t i)
{
    const struct claims_search *search = arg;
    return search->claims->rows[i].number < search->number;
}

/* Where the number is, or would be. */
static size_t claims_place(const struct claims *claims, uint64_t number)
{
    return search_first(claims->count, claims_before, &(struct claims_search){claims, number});
}

struct claims_row *claims_find(const struct claims *claims, uint64_t number)
{
    size_t place = claims_place(claims, number);
    return place < claims->count && claims->rows[place].number == number ? &claims->rows[place]
                                                                         : NULL;
}

/* All texts of the row as bytes of its own: `within`, name, sets. */
static void claims_own(struct claims_row *row, const char *within, const char *name,
                       const char *sets)
{
    struct buf texts = BUF_INIT;
    buf_add(&texts, within, strlen(within) + 1);
    buf_add(&texts, name, strlen(name) + 1);
    buf_add(&texts, sets, strlen(sets) + 1);
    char *own = buf_take_text(&texts);
    free(row->own);
    row->own = own;
    row->len = 0;
    row->within = own;
    row->name = own + strlen(own) + 1;
    row->sets = row->name + strlen(row->name) + 1;
}

struct claims_row *claims_add(struct claims *claims, uint64_t number, uint64_t since,
                              const char *within, const char *name)
{
    size_t place = claims_place(claims, number), len = strlen(name);
    if (len > CLAIMS_MAX_NAME)
        len = CLAIMS_MAX_NAME;
    while (len && ((unsigned char)name[len] & 0xc0) == 0x80)
        len--; /* not in the middle of a UTF-8 character */
    char *clean = mem_copy_text_n(name, len);
    for (char *at = clean; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = '?';
    claims_grow(claims);
    struct claims_row *row = &claims->rows[place];
    memmove(row + 1, row, (claims->count - 1 - place) * sizeof(*row));
    *row = (struct claims_row){.number = number, .state = CLAIMS_NOTHING, .since = since};
    claims_own(row, within, clean, "");
    if (claims->next <= number)
        claims->next = number + 1;
    free(clean);
    return row;
}

void claims_drop(struct claims *claims, uint64_t number)
{
    struct claims_row *row = claims_find(claims, number);
    if (!row)
        return;
    free(row->own);
    claims->count--;
    memmove(row, row + 1, (size_t)(claims->rows + claims->count - row) * sizeof(*row));
}

/* ---- sets ---- */

static int claims_compare_children(const void *a, const void *b)
{
    const struct rset_node *x = *(const struct rset_node *const *)a;
    const struct rset_node *y = *(const struct rset_node *const *)b;
    if (x->children != y->children)
        return (uintptr_t)x->children < (uintptr_t)y->children ? -1 : 1;
    return (x > y) - (x < y);
}

static void claims_add_ids(struct buf *text, const struct idset *ids)
{
    char *members = idset_encode(ids);
    buf_printf(text, " %s", *members ? members : "-");
    free(members);
}

/* Hosts of equal children stand together. */
static char *claims_sets_encode(const struct rset *set)
{
    struct buf text = BUF_INIT;
    const struct rset_node **nodes = mem_array(set->nnodes, sizeof(*nodes));
    for (size_t i = 0; i < set->nnodes; i++)
        nodes[i] = &set->nodes[i];
    if (set->nnodes)
        qsort(nodes, set->nnodes, sizeof(*nodes), claims_compare_children);
    for (size_t i = 0; i < set->nnodes;) {
        const struct rset_children *children = nodes[i]->children;
        struct hostlist *hosts = hostlist_new();
        for (; i < set->nnodes && nodes[i]->children == children; i++)
            hostlist_append(hosts, nodes[i]->host);
        char *list = hostlist_encode(hosts);
        buf_printf(&text, "%s%s", text.len ? "\t" : "", list);
        claims_add_ids(&text, children->cores);
        claims_add_ids(&text, children->gpus);
        hostlist_free(hosts);
        free(list);
    }
    free(nodes);
    return buf_take_text(&text);
}

void claims_put(struct claims_row *row, enum claims_state state, const struct rset *set,
                uint64_t until)
{
    char *sets = claims_sets_encode(set);
    row->state = *sets ? state : CLAIMS_NOTHING;
    row->until = *sets ? until : 0;
    claims_own(row, row->within, row->name, sets);
    free(sets);
}

struct claims_group { /* one of a row's sets */
    struct hostlist *hosts;
    struct rset_children children;
};

static void claims_group_free(struct claims_group *group)
{
    hostlist_free(group->hosts);
    idset_free(group->children.cores);
    idset_free(group->children.gpus);
}

static struct idset *claims_read_ids(const char *text, struct error *err)
{
    return strcmp(text, "-") == 0 ? idset_new() : idset_decode(text, err);
}

/* The set at *at, which is stepped over. 0, or -1 with a sentence: then there is nothing to free. */
static int claims_group_read(const char **at, struct claims_group *group, struct error *err)
{
    char *words = mem_copy_text_n(*at, strcspn(*at, "\t")), *rest = words;
    *at += strlen(words);
    *at += **at == '\t';
    char *hosts = claims_read_text(&rest, ' '), *cores = hosts ? claims_read_text(&rest, ' ') : 0;
    *group = (struct claims_group){0};
    int rc = cores ? 0 : error_set(err, "a set is not HOSTS CORES GPUS");
    if (rc == 0 && (!(group->hosts = hostlist_decode(hosts, err)) ||
                    !(group->children.cores = claims_read_ids(cores, err)) ||
                    !(group->children.gpus = claims_read_ids(rest, err))))
        rc = -1;
    if (rc < 0)
        claims_group_free(group);
    free(words);
    return rc;
}

struct rset *claims_set(const struct claims_row *row, struct error *err)
{
    struct rset *set = rset_new();
    for (const char *at = row->sets; *at;) {
        struct claims_group group;
        if (claims_group_read(&at, &group, err) < 0) {
            rset_free(set);
            return NULL;
        }
        for (size_t i = 0; i < hostlist_count(group.hosts); i++)
            rset_append(set, (uint32_t)set->nnodes, hostlist_nth(group.hosts, i),
                        group.children.cores, group.children.gpus);
        claims_group_free(&group);
    }
    return set;
}

/* ---- comparing ---- */

struct claims_probe {
    size_t count;
    const struct rset_node *nodes[]; /* by host name */
};

static int claims_compare_hosts(const void *a, const void *b)
{
    return strcmp((*(const struct rset_node *const *)a)->host,
                  (*(const struct rset_node *const *)b)->host);
}

struct claims_probe *claims_probe_new(const struct rset *set)
{
    struct claims_probe *probe = mem_alloc(sizeof(*probe) + set->nnodes * sizeof(probe->nodes[0]));
    probe->count = set->nnodes;
    for (size_t i = 0; i < set->nnodes; i++)
        probe->nodes[i] = &set->nodes[i];
    if (probe->count)
        qsort(probe->nodes, probe->count, sizeof(probe->nodes[0]), claims_compare_hosts);
    return probe;
}

void claims_probe_free(struct claims_probe *probe)
{
    free(probe);
}

/* What two nodes both have, where that is anything; `common` (or NULL) is the caller's then. */
static bool claims_probe_common(const struct rset_children *a, const struct rset_children *b,
                                struct rset_children *common)
{
    struct idset *cores = idset_intersect(a->cores, b->cores);
    struct idset *gpus = idset_intersect(a->gpus, b->gpus);
    bool any = !idset_empty(cores) || !idset_empty(gpus);
    if (any && common) {
        *common = (struct rset_children){cores, gpus};
        return true;
    }
    idset_free(cores);
    idset_free(gpus);
    return any;
}

int claims_probe_row(const struct claims_probe *probe, const struct claims_row *row,
                     const char **host, struct rset_children *common, struct error *err)
{
    *host = NULL;
    for (const char *at = row->sets; *at && !*host;) {
        struct claims_group group;
        if (claims_group_read(&at, &group, err) < 0)
            return -1;
        for (size_t i = 0; i < hostlist_count(group.hosts) && !*host; i++) {
            struct rset_node key = {.host = hostlist_nth(group.hosts, i)};
            const struct rset_node *want = &key;
            const struct rset_node *const *mine = bsearch(
                &want, probe->nodes, probe->count, sizeof(probe->nodes[0]), claims_compare_hosts);
            if (mine && claims_probe_common((*mine)->children, &group.children, common))
                *host = (*mine)->host;
        }
        claims_group_free(&group);
    }
    return 0;
}
