/* stdin of a program's tasks, on its way to their agents: to whom it goes. */
#include <stdlib.h>
#include <string.h>

#include "launcher/program/program_private.h"
#include "launcher/protocol/input_choice.h"

static const struct idset *input_target(const struct program *program)
{
    return program->input_target ? program->input_target : program->input_nodes;
}

void program_input(struct program *program, const struct frame *frame)
{
    if (program_is_live(program))
        tree_send_nodes(program->tree, input_target(program), frame);
}

bool program_takes_input(const struct program *program)
{
    return !program->input_nodes || tree_room(program->tree, input_target(program));
}

void program_input_choose(struct program *program, const struct idset *ranks)
{
    struct task_group *first = task_groups_find(program->groups, 0);
    if (!program_is_live(program) || !first)
        return;
    struct input_choice choice = {(struct idset *)(uintptr_t)ranks,
                                  task_group_nodes_of(first, ranks)};
    json_t *value = input_choice_to_json(&choice);
    char *text = json_dumps(value, JSON_COMPACT);
    struct frame frame = {.type = FRAME_STDIN_CHOOSE,
                          .rank = ++program->input_number,
                          .bytes = text,
                          .len = strlen(text)};
    idset_free(program->input_target);
    program->input_target = choice.nodes;
    program_input(program, &frame);
    free(text);
    json_decref(value);
}

void program_input_left(struct program *program)
{
    if (program_is_live(program) && program->input_nodes)
        tree_send_nodes(program->tree, program->input_nodes,
                        &(struct frame){.type = FRAME_STDIN_LEFT});
}
