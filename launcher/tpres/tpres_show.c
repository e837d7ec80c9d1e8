/* tpres show and check. */
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/short_text.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/tpres/node_kinds.h"
#include "launcher/tpres/tpres.h"

#define MAX_PICTURES 64

enum column { RANKS, NODES, HOSTS, CORES, GPUS, TOPOLOGY, PROPERTIES, NCOLUMNS };

static const char *const titles[NCOLUMNS] = {"RANKS", "NODES",    "HOSTS",     "CORES",
                                             "GPUS",  "TOPOLOGY", "PROPERTIES"};

struct row {
    char *cells[NCOLUMNS];
};

/* ---- what there is in all ---- */

struct total {
    uint64_t cores, gpus;
};

static struct total total_of(const struct tpres_kinds *kinds)
{
    struct total total = {0, 0};
    for (size_t i = 0; i < kinds->count; i++) {
        uint64_t nodes = hostlist_count(kinds->list[i].hosts);
        total.cores += nodes * idset_count(kinds->list[i].children->cores);
        total.gpus += nodes * idset_count(kinds->list[i].children->gpus);
    }
    return total;
}

static void say_number(struct buf *out, uint64_t number, const char *noun)
{
    buf_printf(out, "%s%llu %s%s", out->len ? ", " : "", (unsigned long long)number, noun,
               number == 1 ? "" : "s");
}

/* "4 nodes, 192 cores, 16 GPUs" */
static void say_total(struct buf *out, const struct tpres_kinds *kinds)
{
    struct total total = total_of(kinds);
    say_number(out, kinds->R->nnodes, "node");
    say_number(out, total.cores, "core");
    if (total.gpus)
        say_number(out, total.gpus, "GPU");
    if (kinds->R->nslots)
        say_number(out, kinds->R->nslots, "slot");
}

static void say_times(struct buf *out, const struct rset *R)
{
    char from[RSET_TIME_SIZE], to[RSET_TIME_SIZE];
    rset_write_time(R->starttime, from);
    rset_write_time(R->expiration, to);
    if (R->starttime != 0)
        buf_printf(out, ", valid from %s", from);
    if (R->expiration != 0)
        buf_printf(out, "%s %s", R->starttime != 0 ? " to" : ", valid to", to);
}

static const char *writer_of(const struct rset *R)
{
    const char *writer = json_string_value(json_object_get(R->scheduling, "writer"));
    return !R->scheduling ? NULL : writer ? writer : "unknown";
}

/* ---- the table ---- */

/* Columns without anything in them have width 0 and are left out. */
static void measure(const struct row *rows, size_t count, size_t widths[NCOLUMNS])
{
    for (int c = 0; c < NCOLUMNS; c++) {
        widths[c] = 0;
        for (size_t i = 0; i < count; i++)
            if (strlen(rows[i].cells[c]) > widths[c])
                widths[c] = strlen(rows[i].cells[c]);
        if (widths[c] && widths[c] < strlen(titles[c]))
            widths[c] = strlen(titles[c]);
    }
}

static void say_row(struct buf *out, const char *const *cells, const size_t widths[NCOLUMNS])
{
    struct buf line = BUF_INIT;
    for (int c = 0; c < NCOLUMNS; c++)
        if (widths[c])
            buf_printf(&line, "%s%-*s", line.len ? "  " : "", (int)widths[c],
                       *cells[c] ? cells[c] : "-");
    while (line.len && buf_text(&line)[line.len - 1] == ' ')
        line.len--;
    buf_add(out, buf_bytes(&line), line.len);
    buf_add_char(out, '\n');
    buf_free(&line);
}

static void say_table(struct buf *out, const struct tpres_kinds *kinds)
{
    struct row *rows = mem_array(kinds->count, sizeof(*rows));
    size_t widths[NCOLUMNS];
    for (size_t i = 0; i < kinds->count; i++) {
        const struct tpres_kind *kind = &kinds->list[i];
        rows[i] = (struct row){{
            [RANKS] = idset_encode_short(kind->ranks, 20),
            [NODES] = mem_format("%zu", hostlist_count(kind->hosts)),
            [HOSTS] = hostlist_encode_short(kind->hosts, 36),
            [CORES] = idset_encode_short(kind->children->cores, 20),
            [GPUS] = idset_encode_short(kind->children->gpus, 20),
            [TOPOLOGY] = tpres_kind_topology(kinds, kind),
            [PROPERTIES] = tpres_kind_properties(kinds, kind),
        }};
    }
    measure(rows, kinds->count, widths);
    say_row(out, titles, widths);
    for (size_t i = 0; i < kinds->count; i++) {
        say_row(out, (const char *const *)rows[i].cells, widths);
        for (int c = 0; c < NCOLUMNS; c++)
            free(rows[i].cells[c]);
    }
    free(rows);
}

static void show_text(struct method_call *call, const struct tpres_kinds *kinds)
{
    struct buf out = BUF_INIT, line = BUF_INIT;
    const char *writer = writer_of(kinds->R);
    say_table(&out, kinds);
    say_total(&line, kinds);
    say_times(&line, kinds->R);
    if (writer && strcmp(writer, SCHEDULING_WRITER) != 0)
        buf_printf(&line, ", scheduling of %.40s", writer);
    buf_printf(&out, "%s\n", buf_text(&line));
    if (method_value(call, TPRES_DRAW)) {
        buf_add_char(&out, '\n');
        for (size_t i = 0; i < kinds->count && i < MAX_PICTURES; i++)
            tpres_kind_draw(kinds, &kinds->list[i], &out);
        if (kinds->count > MAX_PICTURES)
            buf_printf(&out, "and %zu more kinds of node\n", kinds->count - MAX_PICTURES);
    }
    fputs(buf_text(&out), call->out);
    buf_free(&out);
    buf_free(&line);
}

/* ---- for programs ---- */

static json_t *take_text(char *text)
{
    json_t *value = json_string(text);
    free(text);
    return value;
}

static json_t *total_json(const struct tpres_kinds *kinds)
{
    struct total total = total_of(kinds);
    const struct rset *R = kinds->R;
    json_t *value = json_pack("{s:I,s:I,s:I}", "nodes", (json_int_t)R->nnodes, "cores",
                              (json_int_t)total.cores, "gpus", (json_int_t)total.gpus);
    if (R->nslots)
        json_object_set_new(value, "nslots", json_integer((json_int_t)R->nslots));
    if (R->starttime != 0)
        json_object_set_new(value, "starttime", json_real(R->starttime));
    if (R->expiration != 0)
        json_object_set_new(value, "expiration", json_real(R->expiration));
    if (R->scheduling)
        json_object_set_new(value, "writer", json_string(writer_of(R)));
    return value;
}

static void show_json(struct method_call *call, const struct tpres_kinds *kinds)
{
    json_t *value = total_json(kinds), *list = json_array();
    for (size_t i = 0; i < kinds->count; i++) {
        const struct tpres_kind *kind = &kinds->list[i];
        json_t *one = json_object();
        json_object_set_new(one, "ranks", take_text(idset_encode(kind->ranks)));
        json_object_set_new(one, "hosts", take_text(hostlist_encode(kind->hosts)));
        json_object_set_new(one, "cores", take_text(idset_encode(kind->children->cores)));
        json_object_set_new(one, "gpus", take_text(idset_encode(kind->children->gpus)));
        json_object_set_new(one, "topology", take_text(tpres_kind_topology(kinds, kind)));
        json_object_set_new(one, "properties", take_text(tpres_kind_properties(kinds, kind)));
        json_array_append_new(list, one);
    }
    json_object_set_new(value, "kinds", list);
    tpres_write_json(call, value);
}

/* ---- the methods ---- */

static void check_text(struct method_call *call, const struct tpres_kinds *kinds)
{
    struct buf line = BUF_INIT;
    const char *writer = writer_of(kinds->R);
    say_total(&line, kinds);
    say_times(&line, kinds->R);
    if (writer && strcmp(writer, SCHEDULING_WRITER) == 0)
        buf_add_text(&line, ", with topology");
    else if (writer)
        buf_printf(&line, ", scheduling of %.40s, which was not looked at", writer);
    fprintf(call->out, "%s\n", buf_text(&line));
    buf_free(&line);
}

static void check_json(struct method_call *call, const struct tpres_kinds *kinds)
{
    tpres_write_json(call, total_json(kinds));
}

static int look_at(struct method_call *call,
                   void (*text)(struct method_call *call, const struct tpres_kinds *kinds),
                   void (*json)(struct method_call *call, const struct tpres_kinds *kinds),
                   struct error *err)
{
    struct tpres_kinds kinds = {0};
    int as_json = tpres_wants_json(call, err);
    struct rset *R = as_json < 0 ? NULL : tpres_read_operand(call, err);
    int rc = R ? tpres_kinds_read(R, &kinds, err) : -1;
    if (rc == 0)
        (as_json ? json : text)(call, &kinds);
    tpres_kinds_clear(&kinds);
    rset_free(R);
    return rc;
}

int tpres_show(struct method_call *call, struct error *err)
{
    return look_at(call, show_text, show_json, err);
}

int tpres_check(struct method_call *call, struct error *err)
{
    return look_at(call, check_text, check_json, err);
}
