/* Where tasks are placed and what they are bound to: MPICH's and Open MPI's words, with what they
 * write behind colons. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "affinity/resource/excerpt.h"
#include "base/mem.h"
#include "launcher/cli/mpiexec_private.h"
#include "launcher/program/spec_words.h"

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
};

/* What has no equal, and what to write for it. */
static const struct layout_hint {
    const char *name, *here;
} layout_hints[] = {
    {"user", "--rankfile FILE with the processors of each rank"},
    {"seq", "--rankfile FILE with the host of each rank"},
    {"cpu-list", "--rankfile FILE with the processors of each rank"},
    {"pe-list", "--rankfile FILE with the processors of each rank"},
    {"rr", "--bind-to core or --bind-to hwthread"},
    {"dist", "--gpus-per-task N, for cores next to a device"},
    {"gpu", "--gpus-per-task N"},
    {"pci", "--gpus-per-task N, for cores next to a device"},
    {"nolocal", "--exclude with the name of this machine"},
    {"hwtcpus", "--map-by hwthread"},
    {"ordered", "--rankfile FILE with the processors of each rank"},
};

struct layout_text { /* a piece of the value */
    const char *at;
    size_t len;
};

static bool text_is(struct layout_text text, const char *word)
{
    return strlen(word) == text.len && strncasecmp(text.at, word, text.len) == 0;
}

/* The piece before one of `ends`, which is taken off the front. */
static struct layout_text text_cut(const char **value, const char *ends)
{
    struct layout_text text = {*value, strcspn(*value, ends)};
    *value += text.len;
    *value += **value != '\0';
    return text;
}

static const struct layout_word *word_find(struct layout_text text)
{
    for (size_t i = 0; i < sizeof(layout_words) / sizeof(layout_words[0]); i++)
        if (text_is(text, layout_words[i].name))
            return &layout_words[i];
    return NULL;
}

static int layout_refuse(struct layout_text text, struct error *err)
{
    for (size_t i = 0; i < sizeof(layout_hints) / sizeof(layout_hints[0]); i++)
        if (text_is(text, layout_hints[i].name))
            return error_set(err, "%s has no equal here: write %s", excerpt(text.at, text.len).text,
                             layout_hints[i].here);
    return error_set(err,
                     "%s is not known: hwthread, core, l1cache, l2cache, l3cache, numa, socket, "
                     "board and node are",
                     excerpt(text.at, text.len).text);
}

static void layout_add(struct mpiexec *mpiexec, char *word)
{
    mpiexec_add(&mpiexec_part(mpiexec)->own, word);
}

/* One of 1 to the most there are; 0 with a sentence. */
static uint32_t layout_number(struct layout_text text, struct error *err)
{
    char *copy = mem_copy_text_n(text.at, text.len);
    uint32_t number = 0;
    if (spec_number_decode(copy, SPEC_MAX_NUMBER, &number, err) < 0)
        number = 0;
    free(copy);
    return number;
}

static bool text_is_number(struct layout_text text)
{
    return text.len && text.at[0] >= '0' && text.at[0] <= '9';
}

/* Of cores a count is a slot of its own for each task; of other objects their number. */
static void bind_add(struct mpiexec *mpiexec, const struct layout_word *word, uint32_t count)
{
    bool core = word->letter[0] == 'c';
    if (count == 1)
        layout_add(mpiexec, mem_format("--bind-to=%s", core ? "core" : word->native));
    else if (core)
        layout_add(mpiexec, mem_format("--cores-per-task=%u", count));
    else
        layout_add(mpiexec, mem_format("--bind-to=%u%s", count, word->letter));
}

/* none; WORD[:COUNT]; WORD[:overload-allowed][:if-supported]. */
int mpiexec_read_bind(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    const char *at = values[0];
    struct layout_text name = text_cut(&at, LAYOUT_MODIFIERS);
    const struct layout_word *word = word_find(name);
    bool none = text_is(name, "none");
    uint32_t count = 1;
    if (!word && !none)
        return layout_refuse(name, err);
    while (*at) {
        struct layout_text modifier = text_cut(&at, LAYOUT_MODIFIERS);
        if (text_is(modifier, "overload-allowed") || text_is(modifier, "if-supported"))
            continue;
        if (text_is(modifier, "no-overload"))
            mpiexec->strict = true;
        else if (none || !text_is_number(modifier))
            return layout_refuse(modifier, err);
        else if (!(count = layout_number(modifier, err)))
            return -1;
    }
    if (none)
        layout_add(mpiexec, mem_copy_text("--bind-to=none"));
    else
        bind_add(mpiexec, word, count);
    return 0;
}

/* ---- --map-by ---- */

static int map_modifier(struct mpiexec *mpiexec, struct layout_text text, bool *span,
                        struct error *err)
{
    static const char *const idle[] = {"oversubscribe", "corecpus", "inherit", "noinherit"};
    for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
        if (text_is(text, idle[i]))
            return 0;
    if (text_is(text, "nooversubscribe"))
        mpiexec->strict = true;
    else if (text_is(text, "span"))
        *span = true;
    else if (text.len > 3 && strncasecmp(text.at, "pe=", 3) == 0) {
        uint32_t count = layout_number((struct layout_text){text.at + 3, text.len - 3}, err);
        if (!count)
            return -1;
        layout_add(mpiexec, mem_format("--cores-per-task=%u", count));
    } else if (text_is_number(text))
        return error_set(err, "a count behind the level has no equal here: tprun --map-by with "
                              "a map string says any order, see tprun --help layout");
    else
        return layout_refuse(text, err);
    return 0;
}

/* ppr:N:LEVEL: N on each, numbered along the hardware. */
static int map_per(struct mpiexec *mpiexec, const char **at, struct error *err)
{
    struct layout_text number = text_cut(at, ":");
    struct layout_text name = text_cut(at, LAYOUT_MODIFIERS);
    uint32_t count = layout_number(number, err);
    const struct layout_word *word = word_find(name);
    if (!count)
        return error_prefix(err, "ppr");
    if (!word)
        return layout_refuse(name, err);
    layout_add(mpiexec, mem_format("--per=%u:%s", count,
                                   strcmp(word->native, "slot") == 0 ? "core" : word->native));
    layout_add(mpiexec, mem_copy_text("--order=sequential"));
    mpiexec_part(mpiexec)->placed = true;
    return 0;
}

/* rankfile:file=PATH, the path to the end. */
static int map_rankfile(struct mpiexec *mpiexec, const char *at, struct error *err)
{
    if (strncasecmp(at, "file=", 5) != 0 || !at[5])
        return error_set(err, "rankfile: no file is named: write rankfile:file=FILE");
    at += 5;
    return mpiexec_read_rankfile(mpiexec, &at, err);
}

int mpiexec_read_map(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    const char *at = values[0];
    struct layout_text name = text_cut(&at, LAYOUT_MODIFIERS);
    const struct layout_word *word = word_find(name);
    bool per = text_is(name, "ppr"), span = false;
    if (text_is(name, "rankfile"))
        return map_rankfile(mpiexec, at, err);
    if (per ? map_per(mpiexec, &at, err) < 0 : !word)
        return per ? -1 : layout_refuse(name, err);
    while (*at)
        if (map_modifier(mpiexec, text_cut(&at, LAYOUT_MODIFIERS), &span, err) < 0)
            return -1;
    if (per)
        return 0;
    layout_add(mpiexec, mem_format("--map-by=%s%s", word->native, span ? ":span" : ""));
    if (span || word->letter[0] == 'n')
        mpiexec_part(mpiexec)->placed = true;
    return 0;
}
