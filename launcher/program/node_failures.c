/* Failures of nodes in the order of the nodes, in whichever order they came. */
#include "launcher/program/node_failures.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/instance/host_lines.h"

struct node_failure {
    uint32_t node;
    char *text;
};

void node_failures_add(struct node_failures *failures, uint32_t node, const char *text)
{
    failures->list = array_grow(failures->list, failures->count, sizeof(*failures->list));
    failures->list[failures->count++] = (struct node_failure){node, mem_copy_text(text)};
}

void node_failures_clear(struct node_failures *failures)
{
    for (size_t i = 0; i < failures->count; i++)
        free(failures->list[i].text);
    free(failures->list);
    *failures = (struct node_failures){0};
}

static int compare_failures(const void *a, const void *b)
{
    const struct node_failure *one = a, *other = b;
    return (one->node > other->node) - (one->node < other->node);
}

bool node_failures_take(struct node_failures *failures,
                        const char *(*host)(void *owner, uint32_t node), void *owner,
                        struct error *err)
{
    struct host_lines *lines = host_lines_new();
    bool any = failures->count;
    if (any)
        qsort(failures->list, failures->count, sizeof(*failures->list), compare_failures);
    for (size_t i = 0; i < failures->count; i++) {
        const char *name = host(owner, failures->list[i].node);
        host_lines_add(lines, name ? name : "a node", failures->list[i].text, -1);
    }
    size_t count = host_lines_count(lines);
    char *line = any ? host_lines_nth(lines, 0) : NULL;
    if (count > 1)
        error_set(err, "%s (and %zu other message%s of other hosts)", line, count - 1,
                  text_plural(count - 1));
    else if (any)
        error_set(err, "%s", line);
    free(line);
    host_lines_free(lines);
    node_failures_clear(failures);
    return any;
}
