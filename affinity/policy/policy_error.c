/* Sentences about policy strings, with the words that may be meant and how other launchers' are written. */
#include "affinity/policy/policy_error.h"

#include <stdbool.h>
#include <string.h>

#include "affinity/policy/policy.h"
#include "base/buf.h"
#include "base/edit_distance.h"
#include "base/text.h"

/* The words of all that names a level; --bind-to has none before them. */
static const char *const level_words[] = {"none",    "slot",    "hwthread", "core",   "l1cache",
                                          "l2cache", "l3cache", "numa",     "socket", "package",
                                          "board",   "node",    NULL};
static const char *const *const map_words = level_words + 1;

static const char *const order_words[] = {"natural", "sequential", "slot",    "hwthread", "core",
                                          "l1cache", "l2cache",    "l3cache", "numa",     "socket",
                                          "package", "board",      "node",    NULL};

static void add_words(struct buf *out, const char *const *words)
{
    for (const char *const *word = words; *word; word++)
        buf_printf(out, "%s%s", word == words ? "" : ", ", *word);
}

static void add_letters(struct buf *out)
{
    for (enum topo_level level = TOPO_NODE; level < TOPO_NLEVELS; level++)
        buf_printf(out, "%s%s (%s)", level ? ", " : "", topo_level_letter(level),
                   topo_level_name(level));
}

static void policy_error_add_option(struct buf *out, const char *option, const char *text)
{
    buf_printf(out, "%s %s: ", option, excerpt(text, strlen(text)).text);
}

/* The sentence so far becomes the error, with the caret behind it. */
static int policy_error_refuse(struct buf *out, const char *text, size_t at, struct error *err)
{
    error_usage(err, "%s%s", buf_text(out), pointer(text, strlen(text), at).text);
    buf_free(out);
    return -1;
}

static bool is_level_word(const char *text, size_t len)
{
    return len > 2 && topo_level_decode(text, len) != TOPO_NLEVELS;
}

/* ---- --map-by ---- */

/* How others say what is another option here. */
static const struct {
    const char *begins, *write;
} elsewhere[] = {
    {"rankfile", "--rankfile FILE"},
    {"seq", "--rankfile FILE, or --taskmap MAP"},
    {"dist", "--map-by LEVEL"},
};

/* "ppr:2:socket:pe=4", "socket:PE=4" */
static bool add_modified(struct buf *out, const char *map)
{
    /* The number in "pe=N" or "PE=N" among words that follow colons or commas. */
    const char *pe = strcasestr(map, "pe="), *cores = pe ? pe + 3 : "", *word = map;
    size_t ncores = strspn(cores, "0123456789"), digits = 0;
    bool per = strncmp(map, "ppr:", 4) == 0;
    if (per)
        digits = strspn(map + 4, "0123456789"), word = map + 4 + digits + (map[4 + digits] == ':');
    size_t len = strcspn(word, ":,");
    bool known = is_level_word(word, len);
    if (per && (!digits || !known))
        buf_add_text(out, "unknown word; write --per N:LEVEL, such as --per 2:socket");
    else if (per)
        buf_printf(out, "unknown word; write --per %.*s:%.*s --order sequential", (int)digits,
                   map + 4, (int)len, word);
    else if (known && ncores)
        buf_printf(out, "unknown word; write --map-by %.*s", (int)len, word);
    else
        return false;
    if (ncores)
        buf_printf(out, " -c %.*s", (int)ncores, cores);
    if (strcasestr(map, "oversubscribe") && !strcasestr(map, "nooversubscribe"))
        buf_add_text(out, " --oversubscribe");
    buf_add_text(out, " (libexec/tprun/mpiexec takes it as it is)");
    return true;
}

static bool add_elsewhere(struct buf *out, const char *map)
{
    if (add_modified(out, map))
        return true;
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
        if (strncmp(map, elsewhere[i].begins, strlen(elsewhere[i].begins)) != 0)
            continue;
        buf_printf(out, "unknown word; write %s", elsewhere[i].write);
        return true;
    }
    return false;
}

/* "numa:spam", "nuna", "nuna:span" */
static bool add_near_map(struct buf *out, const char *map, size_t *at)
{
    size_t word = strcspn(map, ":");
    if (map[word] && is_level_word(map, word)) {
        buf_add_text(out, "only :span can follow a word");
        *at = word;
        return true;
    }
    const char *nearest = edit_distance_word(map_words, map, word);
    if (!nearest)
        return false;
    buf_printf(out, "unknown word; the nearest is %s (expected ", nearest);
    add_words(out, map_words);
    buf_add_text(out, ")");
    *at = 0;
    return true;
}

int policy_error_map(const char *map, size_t at, struct error *err)
{
    struct buf out = BUF_INIT;
    policy_error_add_option(&out, "--map-by", map);
    if (add_elsewhere(&out, map))
        return policy_error_refuse(&out, map, 0, err);
    if (add_near_map(&out, map, &at))
        return policy_error_refuse(&out, map, at, err);
    if (map[at] == 'L')
        buf_printf(&out, "L (character %zu) must be followed by 1, 2 or 3; ", at + 1);
    else
        buf_printf(&out, "'%c' (character %zu) is not a level letter; ",
                   map[at] > ' ' && map[at] <= '~' ? map[at] : '?', at + 1);
    buf_add_text(&out, "expected a word (");
    add_words(&out, map_words);
    buf_add_text(&out, ") or a map string of ");
    add_letters(&out);
    return policy_error_refuse(&out, map, at, err);
}

int policy_error_map_string(const char *map, size_t at, const char *why, struct error *err)
{
    struct buf out = BUF_INIT;
    policy_error_add_option(&out, "--map-by", map);
    buf_add_text(&out, why);
    return policy_error_refuse(&out, map, at, err);
}

/* ---- the others ---- */

/* "socket is written s" where a word stands in a letter's place. */
static bool add_letter_for(struct buf *out, const char *word, size_t len)
{
    if (!is_level_word(word, len))
        return false;
    enum topo_level level = topo_level_decode(word, len);
    buf_printf(out, "%s is written %s here", topo_level_name(level), topo_level_letter(level));
    return true;
}

int policy_error_bind(const char *bind, size_t at, const char *why, struct error *err)
{
    struct buf out = BUF_INIT;
    const char *word = bind + strspn(bind, "0123456789");
    size_t len = strlen(word);
    const char *nearest = word == bind ? edit_distance_word(level_words, word, len) : NULL;
    policy_error_add_option(&out, "--bind-to", bind);
    buf_printf(&out, "%s; ", why);
    if (word > bind && add_letter_for(&out, word, len))
        return policy_error_refuse(&out, bind, (size_t)(word - bind), err);
    if (nearest)
        buf_printf(&out, "the nearest is %s; ", nearest);
    buf_add_text(&out, "expected ");
    add_words(&out, level_words);
    if (nearest) {
        buf_add_text(&out, ", or a count and a letter, such as 2c");
        return policy_error_refuse(&out, bind, at, err);
    }
    buf_printf(&out, ", or a count from 1 to %d and a letter, such as 1s or 2c: ", TOPO_MAX_PUS);
    add_letters(&out);
    return policy_error_refuse(&out, bind, at, err);
}

int policy_error_limits(const char *mppr, size_t at, const char *why, struct error *err)
{
    struct buf out = BUF_INIT;
    size_t len = strcspn(mppr + at, ",");
    policy_error_add_option(&out, "--mppr", mppr);
    buf_printf(&out, "%s (character %zu); ", why, at + 1);
    if (add_letter_for(&out, mppr + at, len))
        return policy_error_refuse(&out, mppr, at, err);
    buf_printf(&out,
               "expected none, or COUNT:LETTER[,COUNT:LETTER...], such as 1:c or 1:s,2:n, with "
               "counts from 1 to %d and the letters ",
               TOPO_MAX_PUS);
    add_letters(&out);
    return policy_error_refuse(&out, mppr, at, err);
}

int policy_error_order(const char *order, struct error *err)
{
    struct buf out = BUF_INIT;
    const char *nearest = edit_distance_word(order_words, order, strlen(order));
    policy_error_add_option(&out, "--order", order);
    buf_add_text(&out, "unknown order; ");
    if (nearest)
        buf_printf(&out, "the nearest is %s; ", nearest);
    buf_add_text(&out, "expected natural (n) or sequential (s), or as in --rank-by: slot "
                       "(sequential) or a level (natural)");
    return policy_error_refuse(&out, order, 0, err);
}
