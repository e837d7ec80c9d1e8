#include "tests/unit/plain-rule.h"

#include <stdlib.h>
#include <string.h>

static const char *const letters[TOPO_NLEVELS] = {"n", "b", "N", "s", "L3", "L2", "L1", "c", "h"};

static enum topo_level letter_at(const char **text)
{
    for (enum topo_level level = TOPO_NODE; level < TOPO_NLEVELS; level++)
        if (strncmp(*text, letters[level], strlen(letters[level])) == 0) {
            *text += strlen(letters[level]);
            return level;
        }
    abort();
}

static const char *map_of_word(const char *word, size_t len)
{
    static const char *const words[][2] = {
        {"slot", "csL1L2L3Nbnh"},    {"core", "csL1L2L3Nbnh"},    {"hwthread", "hcsL1L2L3Nbn"},
        {"l1cache", "L1sL2L3Nbnch"}, {"l2cache", "L2sL1L3Nbnch"}, {"l3cache", "L3sL1L2Nbnch"},
        {"numa", "NsL1L2L3bnch"},    {"socket", "sL1L2L3Nbnch"},  {"package", "sL1L2L3Nbnch"},
        {"board", "bsL1L2L3Nnch"},   {"node", "nbsL1L2L3Nch"},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i][0]) == len && strncmp(words[i][0], word, len) == 0)
            return words[i][1];
    return word;
}

static void read_map(struct plain_rule *rule, const char *map)
{
    const char *colon = strchr(map, ':');
    const char *text = map_of_word(map, colon ? (size_t)(colon - map) : strlen(map));
    while (*text)
        rule->loops[rule->nloops++] = letter_at(&text);
    uint32_t n = 0;
    while (rule->loops[n] != TOPO_NODE)
        n++;
    for (; colon && n > 1; n--) { /* :span */
        rule->loops[n] = rule->loops[n - 1];
        rule->loops[n - 1] = TOPO_NODE;
    }
}

static void read_bind(struct plain_rule *rule, const struct layout_part *part)
{
    rule->bound = !part->bind || strcmp(part->bind, "none") != 0;
    rule->bind_count = 1;
    if (part->bind && rule->bound) {
        char *end;
        rule->bind_count = (uint32_t)strtoul(part->bind, &end, 10);
        const char *letter = end;
        rule->bind_level = letter_at(&letter);
    } else if (rule->slot) {
        rule->bind_level = TOPO_CORE;
    } else {
        rule->bind_level = rule->loops[0];
        rule->together = rule->bound && (!part->map || rule->loops[0] == TOPO_NODE);
    }
}

static void read_limits(struct plain_rule *rule, const char *mppr)
{
    bool threads = rule->loops[0] == TOPO_HWTHREAD ||
                   (rule->bound && !rule->together && rule->bind_level == TOPO_HWTHREAD);
    const char *text = mppr ? mppr : threads ? "1:h" : "1:c";
    if (strcmp(text, "none") == 0)
        return;
    for (;; text++) {
        char *end;
        rule->limits[rule->nlimits].most = (uint32_t)strtoul(text, &end, 10);
        text = end + 1;
        rule->limits[rule->nlimits++].level = letter_at(&text);
        if (*text != ',')
            return;
    }
}

void plain_rule_read(struct plain_rule *rule, const struct layout_part *part)
{
    *rule = (struct plain_rule){.slot = part->cores_per_task};
    read_map(rule, part->map ? part->map : "slot");
    read_bind(rule, part);
    read_limits(rule, part->mppr);
}
