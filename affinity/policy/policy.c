/* The strings of a part, parsed: which loops, what tasks are bound to, limits, order, and their defaults. */
#include "affinity/policy/policy.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "affinity/policy/policy_error.h"
#include "affinity/policy/policy_gpu.h"
#include "base/number.h"

#define DEFAULT_MAP "csL1L2L3Nbnh"
#define SPAN ":span"

/* Each level's word stands for the string that loops it first; NULL is no policy word. */
static const char *const word_maps[TOPO_NLEVELS] = {
    [TOPO_NODE] = "nbsL1L2L3Nch",   [TOPO_BOARD] = "bsL1L2L3Nnch", [TOPO_NUMA] = "NsL1L2L3bnch",
    [TOPO_SOCKET] = "sL1L2L3Nbnch", [TOPO_L3] = "L3sL1L2Nbnch",    [TOPO_L2] = "L2sL1L3Nbnch",
    [TOPO_L1] = "L1sL2L3Nbnch",     [TOPO_CORE] = DEFAULT_MAP,     [TOPO_HWTHREAD] = "hcsL1L2L3Nbn",
};

/* A level's whole word, not its letter. */
static enum topo_level policy_take_word(const char *text, size_t len)
{
    return len > 2 ? topo_level_decode(text, len) : TOPO_NLEVELS;
}

static bool has_loop(const struct policy *policy, enum topo_level level)
{
    for (uint32_t i = 0; i < policy->nloops; i++)
        if (policy->loops[i] == level)
            return true;
    return false;
}

static int map_parse_string(struct policy *policy, const char *map, struct error *err)
{
    size_t len;
    for (size_t at = 0; map[at]; at += len) {
        enum topo_level level = topo_level_take_letter(map + at, &len);
        if (level == TOPO_NLEVELS)
            return policy_error_map(map, at, err);
        if (has_loop(policy, level)) {
            char why[80];
            snprintf(why, sizeof(why), "%s (character %zu) is named twice: name each level once",
                     topo_level_letter(level), at + 1);
            return policy_error_map_string(map, at, why, err);
        }
        if (level == TOPO_NODE)
            policy->node_loop = policy->nloops;
        policy->loops[policy->nloops++] = level;
    }
    bool node = has_loop(policy, TOPO_NODE), thread = has_loop(policy, TOPO_HWTHREAD);
    if (node && thread)
        return 0;
    return policy_error_map_string(map, strlen(map),
                                   node     ? "h is missing: a map string must name n and h"
                                   : thread ? "n is missing: a map string must name n and h"
                                            : "n and h are missing: a map string must name both",
                                   err);
}

static int map_parse(struct policy *policy, const char *map, struct error *err)
{
    size_t len = strlen(map), tail = strlen(SPAN);
    bool span = len > tail && strcmp(map + len - tail, SPAN) == 0;
    enum topo_level word = policy_take_word(map, span ? len - tail : len);
    if (word == TOPO_NLEVELS) {
        if (len == 0)
            return error_usage(err,
                               "--map-by is empty: expected a word such as numa, or a map string");
        return map_parse_string(policy, map, err);
    }
    policy->map_word = word;
    if (map_parse_string(policy, word_maps[word], err) < 0)
        return -1;
    if (span) { /* n goes right behind the first letter */
        for (; policy->node_loop > 1; policy->node_loop--)
            policy->loops[policy->node_loop] = policy->loops[policy->node_loop - 1];
        policy->loops[policy->node_loop] = TOPO_NODE;
    }
    return 0;
}

/* Decimal digits, 1 to TOPO_MAX_PUS, at the start of text; 0 when they are not that. */
static uint32_t take_count(const char *text, size_t *len)
{
    uint64_t count;
    *len = number_read(text, NULL, TOPO_MAX_PUS, &count);
    return count <= TOPO_MAX_PUS ? (uint32_t)count : 0;
}

static int bind_parse(struct policy *policy, const char *bind, struct error *err)
{
    policy->bind = POLICY_BIND_OBJECTS;
    policy->bind_count = 1;
    if (strcmp(bind, "none") == 0) {
        policy->bind = POLICY_BIND_NONE;
        return 0;
    }
    policy->bind_level = policy->bind_word = policy_take_word(bind, strlen(bind));
    if (policy->bind_word != TOPO_NLEVELS)
        return 0;
    /* A count and a letter. */
    size_t digits, letter;
    policy->bind_count = take_count(bind, &digits);
    if (digits == 0)
        return policy_error_bind(bind, 0, "unknown width", err);
    if (policy->bind_count == 0)
        return policy_error_bind(bind, 0, "count out of range", err);
    policy->bind_level = topo_level_take_letter(bind + digits, &letter);
    if (letter == 0)
        return policy_error_bind(bind, digits, "unknown level letter after the count", err);
    if (bind[digits + letter])
        return policy_error_bind(bind, digits + letter,
                                 "only one level letter can follow the count", err);
    if (policy->bind_level == TOPO_NODE && policy->bind_count > 1)
        return policy_error_bind(bind, 0, "a task runs on only one node", err);
    return 0;
}

/* As wide as the first loop; contained rather than bound where that is the node or nothing was
 * said; a slot where slots are cut. */
static void bind_default(struct policy *policy, bool map_given)
{
    policy->bind = POLICY_BIND_OBJECTS;
    policy->bind_count = 1;
    policy->bind_level = policy->cores_per_task ? TOPO_CORE : policy->loops[0];
    policy->bind_domain = policy_is_per_gpu(policy) && !policy->cores_per_task;
    if (policy->bind_domain)
        policy->bind_level = TOPO_NODE;
    else if (!policy->cores_per_task &&
             ((!map_given && !policy->gpus_per_task) || policy->loops[0] == TOPO_NODE))
        policy->bind = POLICY_BIND_TOGETHER;
}

/* One COUNT:LEVEL at *at, which moves behind it. */
static int limit_parse_one(struct policy *policy, const char *mppr, size_t *at, struct error *err)
{
    size_t len;
    struct policy_limit limit = {take_count(mppr + *at, &len), TOPO_NLEVELS};
    if (limit.count == 0)
        return policy_error_limits(mppr, *at, len ? "count out of range" : "missing count", err);
    *at += len;
    if (mppr[*at] != ':')
        return policy_error_limits(mppr, *at, "missing colon", err);
    *at += 1;
    limit.level = topo_level_take_letter(mppr + *at, &len);
    if (len == 0 || isalnum((unsigned char)mppr[*at + len]))
        return policy_error_limits(mppr, *at, "unknown level letter", err);
    if (mppr[*at + len] && mppr[*at + len] != ',')
        return policy_error_limits(mppr, *at + len, "expected a comma between limits", err);
    for (uint32_t i = 0; i < policy->nlimits; i++)
        if (policy->limits[i].level == limit.level)
            return policy_error_limits(mppr, *at, "level limited twice", err);
    policy->limits[policy->nlimits++] = limit;
    *at += len;
    return 0;
}

static int limit_parse(struct policy *policy, const char *mppr, struct error *err)
{
    size_t at = 0;
    policy->limits_given = true;
    if (strcmp(mppr, "none") == 0)
        return 0;
    while (limit_parse_one(policy, mppr, &at, err) == 0) {
        if (!mppr[at])
            return 0;
        at++;
    }
    return -1;
}

static void limit_default(struct policy *policy)
{
    bool threads = policy->loops[0] == TOPO_HWTHREAD ||
                   (policy->bind == POLICY_BIND_OBJECTS && policy->bind_level == TOPO_HWTHREAD);
    policy->limits[0] = (struct policy_limit){1, threads ? TOPO_HWTHREAD : TOPO_CORE};
    policy->nlimits = 1;
}

static int order_parse(struct policy *policy, const char *order, struct error *err)
{
    static const char *const sequential[] = {"sequential", "s", "S", "slot"};
    for (size_t i = 0; i < sizeof(sequential) / sizeof(sequential[0]); i++)
        if (strcmp(order, sequential[i]) == 0)
            policy->sequential = true;
    if (policy->sequential || strcmp(order, "natural") == 0 ||
        topo_level_decode(order, strlen(order)) != TOPO_NLEVELS)
        return 0;
    return policy_error_order(order, err);
}

int policy_parse(const struct layout_part *part, struct policy *policy, struct error *err)
{
    *policy = (struct policy){.map_word = TOPO_NLEVELS,
                              .bind_word = TOPO_NLEVELS,
                              .oversubscribe = part->oversubscribe,
                              .cores_per_task = part->cores_per_task};
    if (part->rankfile || part->slots) { /* each rank occupies the threads that it names */
        policy->bind = POLICY_BIND_OBJECTS;
        policy->bind_count = 1;
        policy->bind_level = TOPO_HWTHREAD;
        return 0;
    }
    if (part->cores_per_task > TOPO_MAX_PUS)
        return error_usage(err, "-c %u: no node has more than %d cores", part->cores_per_task,
                           TOPO_MAX_PUS);
    if (policy_parse_gpus(part, policy, err) < 0)
        return -1;
    bool per_level = policy->per_count && !policy_is_per_gpu(policy);
    const char *map = per_level ? topo_level_name(policy->per_level) : part->map;
    if (map ? map_parse(policy, map, err) < 0 : map_parse_string(policy, DEFAULT_MAP, err) < 0)
        return -1;
    if (!part->bind)
        bind_default(policy, map);
    else if (bind_parse(policy, part->bind, err) < 0)
        return -1;
    if (per_level) {
        policy->limits[policy->nlimits++] =
            (struct policy_limit){policy->per_count, policy->per_level};
        if (policy->cores_per_task &&
            policy->per_level != TOPO_CORE) /* one task a slot holds, too */
            policy->limits[policy->nlimits++] = (struct policy_limit){1, TOPO_CORE};
    } else if (!part->mppr && !policy->bind_domain) {
        limit_default(policy);
    } else if (part->mppr && limit_parse(policy, part->mppr, err) < 0) {
        return -1;
    }
    return part->order ? order_parse(policy, part->order, err) : 0;
}

bool policy_is_own(const struct layout_part *part)
{
    return part->map || part->bind || part->order || part->mppr || part->cores_per_task ||
           part->gpus_per_task || part->per || part->gpu_bind || part->taskmap || part->rankfile ||
           part->shape || part->only || (part->fill && !part->ntasks);
}

bool policy_is_full(const struct policy *policy)
{
    return policy->nloops == TOPO_NLEVELS;
}

bool policy_is_narrow(const struct policy *policy)
{
    return policy->bind == POLICY_BIND_OBJECTS && policy->bind_level >= TOPO_CORE;
}

bool policy_is_cyclic(const struct policy *policy)
{
    return policy->node_loop <= 1;
}
