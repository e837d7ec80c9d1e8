/* A choice of ranks, written and read. */
#include "launcher/protocol/input_choice.h"

json_t *input_choice_to_json(const struct input_choice *choice)
{
    return json_pack("{s:o, s:o}", "ranks", idset_to_json(choice->ranks), "nodes",
                     idset_to_json(choice->nodes));
}

static struct idset *read_choice_set(const json_t *value, const char *key, struct error *err)
{
    const char *text = json_string_value(json_object_get(value, key));
    struct idset *set = text ? idset_decode(text, err) : NULL;
    if (!text)
        error_set(err, "expected a set of numbers");
    if (!set)
        error_prefix(err, "%s", key);
    return set;
}

int input_choice_from_json(struct input_choice *choice, const json_t *value, struct error *err)
{
    *choice = (struct input_choice){0};
    choice->ranks = read_choice_set(value, "ranks", err);
    choice->nodes = choice->ranks ? read_choice_set(value, "nodes", err) : NULL;
    return choice->nodes ? 0 : -1;
}

void input_choice_clear(struct input_choice *choice)
{
    idset_free(choice->ranks);
    idset_free(choice->nodes);
    *choice = (struct input_choice){0};
}
