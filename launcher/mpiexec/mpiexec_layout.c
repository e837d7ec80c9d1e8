/* Where tasks are placed, what they are bound to and how they are numbered: MPICH's and Open MPI's
 * words, with what they write behind colons. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/mpiexec/mpiexec_private.h"
#include "launcher/spec/field_words.h"

#define LAYOUT_MODIFIERS ":,"

static const struct layout_word {
    const char *name, *native;
    char letter[3]; /* of --bind-to with a count */
} layout_words[] = {
    {"slot", "slot", "c"},        {"core", "core", "c"},         {"hwthread", "hwthread", "h"},
    {"numa", "numa", "N"},        {"socket", "socket", "s"},     {"package", "socket", "s"},
    {"board", "board", "b"},      {"node", "node", "n"},         {"machine", "node", "n"},
    {"l1cache", "l1cache", "L1"}, {"l1dcache", "l1cache", "L1"}, {"l1ucache", "l1cache", "L1"},
    {"l2cache", "l2cache", "L2"}, {"l2dcache", "l2cache", "L2"}, {"l2ucache", "l2cache", "L2"},
    {"l3cache", "l3cache", "L3"}, {"l3dcache", "l3cache", "L3"}, {"l3ucache", "l3cache", "L3"},
    {"l1", "l1cache", "L1"},      {"l2", "l2cache", "L2"},       {"l3", "l3cache", "L3"},
    {"rr", "core", "c"},
};

/* What has no equal, and what to write for it. */
static const struct layout_hint {
    const char *name, *here;
} layout_hints[] = {
    {"user", "--rankfile FILE with the processors of each rank"},
    {"seq", "--rankfile FILE with the host of each rank"},
    {"cpu-list", "--rankfile FILE with the processors of each rank"},
    {"pe-list", "--rankfile FILE with the processors of each rank"},
    {"dist", "--gpus-per-task N, for cores next to a device"},
    {"device", "--gpus-per-task N, for cores next to a device"},
    {"gpu", "--gpus-per-task N"},
    {"pci", "--gpus-per-task N, for cores next to a device"},
    {"nolocal", "--exclude with the name of this machine"},
    {"ordered", "--rankfile FILE with the processors of each rank"},
};

static bool text_is(struct mpiexec_text text, const char *word)
{
    return strlen(word) == text.len && strncasecmp(text.at, word, text.len) == 0;
}

static const struct layout_word *word_find(struct mpiexec_text text)
{
    for (size_t i = 0; i < sizeof(layout_words) / sizeof(layout_words[0]); i++)
        if (text_is(text, layout_words[i].name))
            return &layout_words[i];
    return NULL;
}

#define LEVELS "hwthread, core, l1cache, l2cache, l3cache, numa, socket, board or node"

static int layout_refuse(struct mpiexec_text text, const char *expected, struct error *err)
{
    const char *equals = memchr(text.at, '=', text.len);
    if (equals)
        text.len = (size_t)(equals - text.at);
    for (size_t i = 0; i < sizeof(layout_hints) / sizeof(layout_hints[0]); i++)
        if (text_is(text, layout_hints[i].name))
            return error_set(err, "%s is not supported: write %s", excerpt(text.at, text.len).text,
                             layout_hints[i].here);
    return error_set(err, "unknown value %s (expected %s)", excerpt(text.at, text.len).text,
                     expected);
}

static void layout_add(struct mpiexec *mpiexec, char *word)
{
    string_list_add(&mpiexec_part(mpiexec)->own, word);
}

/* One of 1 to the most there are; 0 with a sentence. */
static uint32_t layout_number(struct mpiexec_text text, struct error *err)
{
    char *copy = mem_copy_text_n(text.at, text.len);
    uint32_t number = 0;
    if (spec_number_decode(copy, SPEC_MAX_NUMBER, &number, err) < 0)
        number = 0;
    free(copy);
    return number;
}

static bool text_is_number(struct mpiexec_text text)
{
    return text.len && text.at[0] >= '0' && text.at[0] <= '9';
}

/* none; WORD[:COUNT]; WORD[:overload-allowed][:if-supported], or the latter alone. Of cores a count is a slot of
 * its own for each task; of other objects their number. */
int mpiexec_read_bind(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    const char *at = values[0];
    struct mpiexec_text name = mpiexec_text_cut(&at, LAYOUT_MODIFIERS);
    const struct layout_word *word = word_find(name);
    bool none = text_is(name, "none"), modifiers = !name.len && *at;
    bool core = word && word->letter[0] == 'c', node = word && word->letter[0] == 'n';
    uint32_t count = 1;
    if (!word && !none && !modifiers)
        return layout_refuse(name, "none, " LEVELS, err);
    while (*at) {
        struct mpiexec_text modifier = mpiexec_text_cut(&at, LAYOUT_MODIFIERS);
        if (mpiexec_text_begins(modifier, "overload-allowed", 2) ||
            mpiexec_text_begins(modifier, "if-supported", 2) || text_is(modifier, "report"))
            continue;
        if (mpiexec_text_begins(modifier, "no-overload", 2))
            mpiexec->strict = true;
        else if (!word || !text_is_number(modifier))
            return layout_refuse(modifier,
                                 "a count of objects, overload-allowed, no-overload or "
                                 "if-supported",
                                 err);
        else if (!(count = layout_number(modifier, err)))
            return -1;
    }
    mpiexec_part(mpiexec)->bound = word && !node && count == 1 ? word->native : NULL;
    if (none)
        layout_add(mpiexec, mem_copy_text("--bind-to=none"));
    else if (word && count == 1)
        layout_add(mpiexec, mem_format("--bind-to=%s", core ? "core" : word->native));
    else if (core)
        layout_add(mpiexec, mem_format("--cores-per-task=%u", count));
    else if (word)
        layout_add(mpiexec, mem_format("--bind-to=%u%s", count, word->letter));
    return 0;
}

/* ---- --map-by ---- */

static int map_modifier(struct mpiexec *mpiexec, struct mpiexec_text text, bool *span,
                        struct error *err)
{
    static const char *const idle[] = {"oversubscribe", "corecpus", "inherit", "noinherit"};
    for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
        if (mpiexec_text_begins(text, idle[i], 3))
            return 0;
    if (mpiexec_text_begins(text, "nooversubscribe", 3))
        mpiexec->strict = true;
    else if (mpiexec_text_begins(text, "hwtcpus", 3))
        mpiexec_part(mpiexec)->hwthreads = true;
    else if (text_is(text, "span"))
        *span = true;
    else if (text.len > 3 && strncasecmp(text.at, "pe=", 3) == 0) {
        uint32_t count = layout_number((struct mpiexec_text){text.at + 3, text.len - 3}, err);
        if (!count)
            return -1;
        layout_add(mpiexec, mem_format("--cores-per-task=%u", count));
    } else if (text_is_number(text))
        return error_set(err, "a count after the level is not supported: write tprun --map-by "
                              "with a map string (see tprun --help layout)");
    else
        return layout_refuse(text, "PE=N, span, oversubscribe or nooversubscribe", err);
    return 0;
}

void mpiexec_add_per(struct mpiexec *mpiexec, uint32_t count, const char *level, char *written)
{
    struct mpiexec_part *part = mpiexec_part(mpiexec);
    char *per = mem_format("%u:%s", count, level);
    if (part->per) {
        bool other = !part->per_other && strcmp(part->per, per) != 0;
        free(per);
        if (other)
            part->per_other = written;
        else
            free(written);
        return;
    }
    part->per = per;
    part->per_written = written;
    part->placed = part->filled = true;
    layout_add(mpiexec, mem_format("--per=%s", per));
    layout_add(mpiexec, mem_copy_text("--order=sequential"));
}

/* ppr:N:LEVEL. */
static int map_per(struct mpiexec *mpiexec, const char **at, struct error *err)
{
    struct mpiexec_text number = mpiexec_text_cut(at, ":");
    struct mpiexec_text name = mpiexec_text_cut(at, LAYOUT_MODIFIERS);
    uint32_t count = layout_number(number, err);
    const struct layout_word *word = word_find(name);
    if (!count)
        return error_prefix(err, "ppr");
    if (!word)
        return layout_refuse(name, LEVELS, err);
    mpiexec_add_per(mpiexec, count, strcmp(word->native, "slot") == 0 ? "core" : word->native,
                    mem_format("ppr:%u:%.*s", count, (int)name.len, name.at));
    return 0;
}

int mpiexec_read_rankfile(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)err;
    layout_add(mpiexec, mem_format("--rankfile=%s", values[0]));
    mpiexec_part(mpiexec)->placed = true;
    return 0;
}

static int map_read(struct mpiexec *mpiexec, const char *at, struct error *err)
{
    struct mpiexec_text name = mpiexec_text_cut(&at, LAYOUT_MODIFIERS);
    const struct layout_word *word = word_find(name);
    bool per = text_is(name, "ppr"), modifiers = !name.len && *at, span = false;
    if (text_is(name, "rankfile")) { /* rankfile:file=PATH, the path to the end */
        if (strncasecmp(at, "file=", 5) != 0 || !at[5])
            return error_set(err, "rankfile: no file is named: write rankfile:file=FILE");
        at += 5;
        return mpiexec_read_rankfile(mpiexec, &at, err);
    }
    if (per && map_per(mpiexec, &at, err) < 0)
        return -1;
    if (!per && !word && !modifiers)
        return layout_refuse(name, "ppr:N:LEVEL, slot, " LEVELS, err);
    while (*at)
        if (map_modifier(mpiexec, mpiexec_text_cut(&at, LAYOUT_MODIFIERS), &span, err) < 0)
            return -1;
    if (!word)
        return 0;
    mpiexec_part(mpiexec)->by_node = word->letter[0] == 'n';
    layout_add(mpiexec, mem_format("--map-by=%s%s", word->native, span ? ":span" : ""));
    if (span || word->letter[0] == 'n')
        mpiexec_part(mpiexec)->placed = true;
    return 0;
}

int mpiexec_read_map(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    return map_read(mpiexec, values[0], err);
}

/* One limit; the others of a list would have to hold as well. */
int mpiexec_read_ppr(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    if (strchr(values[0], ','))
        return error_set(err, "expected one limit: write the others with --mppr");
    char *map = mem_format("ppr:%s", values[0]);
    int rc = map_read(mpiexec, map, err);
    free(map);
    return rc;
}

int mpiexec_read_bynode(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)values;
    return map_read(mpiexec, "node", err);
}

int mpiexec_read_bycore(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)values;
    return map_read(mpiexec, "core", err);
}

int mpiexec_read_byslot(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)values;
    return map_read(mpiexec, "slot", err);
}

int mpiexec_read_hwthreads(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    (void)values, (void)err;
    mpiexec_part(mpiexec)->hwthreads = true;
    return 0;
}

/* ---- ranks ---- */

/* fill is object by object; span goes round the objects, as does a level; slot depends on how they
 * are mapped. */
int mpiexec_read_rank_by(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    struct mpiexec_text text = {values[0], strlen(values[0])};
    struct mpiexec_part *part = mpiexec_part(mpiexec);
    bool round = text_is(text, "span") || text_is(text, "object");
    part->by_slot = text_is(text, "slot");
    if (!part->by_slot && !round && !text_is(text, "fill") && !word_find(text))
        return error_set(err,
                         "unknown value %s (expected slot, fill, node, span, object or a level)",
                         excerpt(text.at, text.len).text);
    if (!part->by_slot)
        layout_add(mpiexec,
                   mem_format("--order=%s", text_is(text, "fill") ? "sequential" : "natural"));
    part->placed = true;
    return 0;
}

/* Numbers of nodes, rank by rank; (FIRST,NODES,RANKS) for as many nodes from that one on. */
int mpiexec_read_rankmap(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    struct buf map = BUF_INIT;
    const char *at = values[0];
    bool good = *at;
    while (good && *at) {
        unsigned first, nodes = 1, ranks = 1;
        int used = 0;
        bool digit = *at >= '0' && *at <= '9';
        if (digit ? sscanf(at, "%7u%n", &first, &used) != 1
                  : sscanf(at, "(%7u,%7u,%7u)%n", &first, &nodes, &ranks, &used) != 3)
            used = 0;
        at += used;
        good = used && nodes && ranks && (!*at || (*at == ',' && at[1]));
        at += *at == ',';
        if (good)
            buf_printf(&map, "%s[%u,%u,%u,1]", map.len ? "," : "", first, nodes, ranks);
    }
    if (good)
        layout_add(mpiexec, mem_format("--taskmap=[%s]", buf_text(&map)));
    mpiexec_part(mpiexec)->placed = true;
    buf_free(&map);
    return good ? 0
                : error_set(
                      err,
                      "%s is not a list of node numbers (expected 0,0,1,1 or (0,2,2), for example)",
                      excerpt(values[0], strlen(values[0])).text);
}

/* Where there are fewer tasks than fit, the first objects have as many as are said: not --per,
 * which goes round the objects. Tasks of objects inside nodes are bound, as --per binds them. */
void mpiexec_fill_objects(struct mpiexec_part *part)
{
    for (size_t i = 0; part->filled && part->ntasks && i + 1 < part->own.count; i++) {
        if (strncmp(part->own.list[i], "--per=", 6) != 0 ||
            strcmp(part->own.list[i + 1], "--order=sequential") != 0)
            continue;
        const char *number = part->own.list[i] + strlen("--per=");
        size_t len = strcspn(number, ":");
        const char *level = number + len + (number[len] == ':');
        const struct layout_word *word = word_find((struct mpiexec_text){level, strlen(level)});
        if (!word) /* of tprun's own --per */
            continue;
        char *limit = mem_format("--mppr=%.*s:%s", (int)len, number, word->letter);
        free(part->own.list[i]);
        free(part->own.list[i + 1]);
        part->own.list[i] = mem_copy_text("--map-by=slot");
        part->own.list[i + 1] = limit;
        if (word->letter[0] != 'n' && !mpiexec_value(&part->own, "--bind-to=") &&
            !mpiexec_value(&part->own, "--cores-per-task="))
            string_list_add_copy(&part->own, "--bind-to=core");
    }
}

/* MPICH goes round the objects that it binds to, Open MPI gives each an equal share. */
static void end_bound(struct mpiexec *mpiexec, struct mpiexec_part *part)
{
    mpiexec_choose_by_program(mpiexec);
    bool wide = strcmp(part->bound, "core") != 0 && strcmp(part->bound, "hwthread") != 0;
    if (mpiexec->dialect == MPIEXEC_EITHER || (mpiexec->dialect == MPIEXEC_OPENMPI && !wide))
        return;
    string_list_add(&part->own, mem_format("--map-by=%s", part->bound));
    if (mpiexec->dialect == MPIEXEC_OPENMPI)
        string_list_add_copy(&part->own, "--order=sequential");
}

/* --per maps tasks by itself, and is refused beside --map-by. Of nodes and with -n it becomes a limit
 * (above), which is not. */
static bool per_maps(const struct mpiexec_part *part)
{
    const char *per = mpiexec_value(&part->own, "--per=");
    if (!per)
        return part->ppn && !part->ntasks; /* where -ppn becomes one */
    bool node = strcmp(per + strcspn(per, ":"), ":node") == 0;
    return !part->ntasks || !part->filled || !node;
}

void mpiexec_end_layout(struct mpiexec *mpiexec, struct mpiexec_part *part)
{
    const char *map = mpiexec_value(&part->own, "--map-by=");
    bool natural = map && !part->by_node, mapped = map || per_maps(part);
    if (part->hwthreads && !mapped)
        string_list_add_copy(&part->own, "--map-by=hwthread");
    else if (part->hwthreads && !part->bound)
        string_list_add_copy(&part->own, "--bind-to=hwthread");
    else if (part->bound && !mapped)
        end_bound(mpiexec, part);
    if (part->by_slot)
        string_list_add(&part->own, mem_format("--order=%s", natural ? "natural" : "sequential"));
}
