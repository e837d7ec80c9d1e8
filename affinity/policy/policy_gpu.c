/* -g, --gpu-bind and --per N:gpu: what they mean together, and what stands against them. */
#include "affinity/policy/policy_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

static int per_parse(const struct layout_part *part, struct policy *policy, struct error *err)
{
    struct excerpt shown = excerpt(part->per, strlen(part->per));
    const char *beside = part->map ? "--map-by" : part->mppr ? "--mppr" : NULL;
    uint64_t number;
    const char *end = part->per + number_read(part->per, NULL, TOPO_MAX_PUS, &number);
    bool right = part->per[0] != '0' && number && number <= TOPO_MAX_PUS && *end == ':';
    if (right) { /* the level of a GPU is TOPO_NLEVELS */
        policy->per_count = (uint32_t)number;
        policy->per_level = topo_level_decode(end + 1, strlen(end + 1));
        right = policy->per_level != TOPO_NLEVELS || strcmp(end + 1, "gpu") == 0;
    }
    if (!right)
        return error_usage(err,
                           "--per %s: expected N:LEVEL, such as 2:numa, with N from 1 to %d and "
                           "LEVEL hwthread, core, l1cache, l2cache, l3cache, numa, socket, "
                           "package, board, node or gpu",
                           shown.text, TOPO_MAX_PUS);
    if (beside)
        return error_usage(err,
                           "--per %s and %s: --per already says how tasks are mapped and limited; "
                           "leave one of them out",
                           shown.text, beside);
    if (policy_is_per_gpu(policy) && part->gpus_per_task)
        return error_usage(err,
                           "--per %s and -g %u: both assign GPUs to tasks; leave one of them out",
                           shown.text, part->gpus_per_task);
    return 0;
}

static int gpu_bind_parse(const char *text, struct policy *policy, struct error *err)
{
    static const char *const words[] = {[POLICY_GPUS_OWN] = "per-task",
                                        [POLICY_GPUS_CLOSEST] = "closest",
                                        [POLICY_GPUS_UNTOUCHED] = "none"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i]) == 0) {
            policy->gpu_bind = (enum policy_gpu_bind)i;
            return 0;
        }
    return error_usage(err, "--gpu-bind: unknown value %s (expected per-task, closest or none)",
                       excerpt(text, strlen(text)).text);
}

int policy_parse_gpus(const struct layout_part *part, struct policy *policy, struct error *err)
{
    if (part->gpus_per_task > TOPO_MAX_GPUS)
        return error_usage(err, "-g %u: no node has more than %d GPUs", part->gpus_per_task,
                           TOPO_MAX_GPUS);
    policy->gpus_per_task = part->gpus_per_task;
    policy->gpu_tasks = 1;
    policy->gpu_bind = POLICY_GPUS_OWN;
    if (part->per && per_parse(part, policy, err) < 0)
        return -1;
    if (policy_is_per_gpu(policy)) {
        policy->gpus_per_task = 1;
        policy->gpu_tasks = policy->per_count;
    }
    if (part->gpu_bind && gpu_bind_parse(part->gpu_bind, policy, err) < 0)
        return -1;
    if (part->gpu_bind && policy->gpu_bind == POLICY_GPUS_OWN && !policy->gpus_per_task)
        return error_usage(err,
                           "--gpu-bind per-task needs the number of GPUs for each task: add -g N "
                           "or --per 1:gpu");
    return 0;
}

bool policy_is_per_gpu(const struct policy *policy)
{
    return policy->per_count && policy->per_level == TOPO_NLEVELS;
}

bool policy_uses_gpus(const struct policy *policy)
{
    return policy->gpus_per_task || policy->gpu_bind == POLICY_GPUS_CLOSEST;
}

bool layout_part_uses_gpus(const struct layout_part *part)
{
    struct policy policy = {.per_count = 0};
    return policy_parse_gpus(part, &policy, NULL) == 0 && policy_uses_gpus(&policy);
}
