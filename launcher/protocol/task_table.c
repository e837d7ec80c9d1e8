/* Which host each rank is on: written for the manager, read and kept for the front end. */
#include "launcher/protocol/task_table.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/search.h"

struct mapped_group {
    uint32_t first;
    struct taskmap *map;
    json_t *hosts;
};

struct mapped {
    struct mapped_group *groups; /* by first rank */
    size_t count;
    uint32_t ntasks;
    char *program;
};

json_t *task_table_to_json(const struct task_table_group *group)
{
    json_t *hosts = json_array();
    for (uint32_t i = 0; i < group->nnodes; i++)
        json_array_append_new(hosts, json_string(group->host_names[group->tree_node[i]]));
    return json_pack("{s:s, s:i, s:i, s:o, s:o}", "program", group->program, "first_rank",
                     (int)group->first_rank, "ntasks", (int)group->ntasks, "hosts", hosts,
                     "taskmap", taskmap_to_json(group->map));
}

struct mapped *task_table_new(void)
{
    return mem_alloc(sizeof(struct mapped));
}

void task_table_free(struct mapped *mapped)
{
    if (!mapped)
        return;
    for (size_t i = 0; i < mapped->count; i++) {
        taskmap_free(mapped->groups[i].map);
        json_decref(mapped->groups[i].hosts);
    }
    free(mapped->groups);
    free(mapped->program);
    free(mapped);
}

int task_table_add(struct mapped *mapped, json_t *value, int where, struct error *err)
{
    const char *program;
    json_int_t first, ntasks;
    json_t *hosts, *text;
    json_error_t bad;
    struct taskmap *map = NULL;
    if (json_unpack_ex(value, &bad, 0, "{s:s, s:I, s:I, s:o, s:o}", "program", &program,
                       "first_rank", &first, "ntasks", &ntasks, "hosts", &hosts, "taskmap",
                       &text) < 0)
        error_set(err, "what the manager says of ranks: %s", bad.text);
    else if ((map = taskmap_from_json(text, err))) {
        if (!mapped->program)
            mapped->program = mem_copy_text(program);
        mapped->ntasks = (uint32_t)(first + ntasks);
        if (where) {
            mapped->groups = array_grow(mapped->groups, mapped->count, sizeof(*mapped->groups));
            mapped->groups[mapped->count++] =
                (struct mapped_group){(uint32_t)first, map, json_incref(hosts)};
        } else {
            taskmap_free(map);
        }
    }
    json_decref(value);
    return map ? 0 : -1;
}

uint32_t task_table_ntasks(const struct mapped *mapped)
{
    return mapped->ntasks;
}

const char *task_table_program(const struct mapped *mapped)
{
    return mapped->program;
}

struct group_search {
    const struct mapped_group *groups;
    uint32_t rank;
};

static bool group_begins_by(const void *arg, size_t i)
{
    const struct group_search *search = arg;
    return search->groups[i].first <= search->rank;
}

/* The last one that begins at or before it. */
static const struct mapped_group *find(const struct mapped *mapped, uint32_t rank)
{
    size_t next =
        search_first(mapped->count, group_begins_by, &(struct group_search){mapped->groups, rank});
    return next ? &mapped->groups[next - 1] : NULL;
}

uint32_t task_table_node(const struct mapped *mapped, uint32_t rank)
{
    const struct mapped_group *group = find(mapped, rank);
    return group ? taskmap_node(group->map, rank - group->first) : UINT32_MAX;
}

const char *task_table_host(const struct mapped *mapped, uint32_t rank)
{
    const struct mapped_group *group = find(mapped, rank);
    uint32_t node = task_table_node(mapped, rank);
    const char *host = group ? json_string_value(json_array_get(group->hosts, node)) : NULL;
    return host ? host : "unknown";
}
