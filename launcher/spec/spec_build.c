/* A spec filled by those who read one from text, and what a part of it says of its layout. */
#include "launcher/spec/spec_build.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/policy/rankfile.h"
#include "base/array.h"
#include "base/mem.h"

struct spec_part *spec_add_part(struct spec *spec)
{
    spec->parts = array_grow(spec->parts, spec->nparts, sizeof(spec->parts[0]));
    struct spec_part *part = &spec->parts[spec->nparts++];
    *part = (struct spec_part){.umask = -1};
    return part;
}

void spec_add_env(struct spec_part *part, enum env_kind kind, const char *name, size_t len,
                  const char *value)
{
    part->env = array_grow(part->env, part->nenv, sizeof(part->env[0]));
    part->env[part->nenv++] = (struct env){
        .kind = kind, .name = mem_copy_text_n(name, len), .value = mem_copy_text(value)};
}

void spec_add_rlimit(struct spec_part *part, int resource, uint64_t soft)
{
    for (size_t i = 0; i < part->nrlimits; i++) {
        if (part->rlimits[i].resource == resource) {
            part->rlimits[i].soft = soft;
            return;
        }
    }
    part->rlimits = array_grow(part->rlimits, part->nrlimits, sizeof(part->rlimits[0]));
    part->rlimits[part->nrlimits++] = (struct spec_rlimit){.resource = resource, .soft = soft};
}

void spec_add_after(struct spec *spec, const char *text)
{
    size_t count = 0;
    while (spec->after && spec->after[count])
        count++;
    spec->after = mem_resize(spec->after, count + 2, sizeof(char *));
    spec->after[count] = mem_copy_text(text);
    spec->after[count + 1] = NULL;
}

void spec_add_stage(struct spec *spec, const char *text)
{
    size_t count = 0;
    while (spec->stage && spec->stage[count])
        count++;
    spec->stage = mem_resize(spec->stage, count + 2, sizeof(char *));
    spec->stage[count] = mem_copy_text(text);
    spec->stage[count + 1] = NULL;
}

void spec_add_topology(struct spec *spec, const char *text)
{
    spec->topologies = array_grow(spec->topologies, spec->ntopologies, sizeof(spec->topologies[0]));
    spec->topologies[spec->ntopologies++] = mem_copy_text(text);
}

struct layout_part spec_part_layout(const struct spec_part *part)
{
    return (struct layout_part){.ntasks = part->ntasks,
                                .fill = part->fill,
                                .cores_per_task = part->cores_per_task,
                                .gpus_per_task = part->gpus_per_task,
                                .map = part->map,
                                .bind = part->bind,
                                .order = part->order,
                                .mppr = part->mppr,
                                .per = part->per,
                                .gpu_bind = part->gpu_bind,
                                .taskmap = part->taskmap,
                                .shape = part->shape,
                                .oversubscribe = part->oversubscribe,
                                .program = part->argv ? part->argv[0] : NULL,
                                .local_memory = part->memory == SPEC_MEMORY_LOCAL};
}

int spec_part_rankfile(const struct spec_part *part, struct rankfile **file, struct error *err)
{
    const char *name = part->rankfile_name ? part->rankfile_name : "rank file";
    *file = NULL;
    if (!part->rankfile)
        return 0;
    *file = rankfile_parse(name, part->rankfile, strlen(part->rankfile), err);
    return *file ? 0 : -1;
}
