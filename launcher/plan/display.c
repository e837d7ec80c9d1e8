/* What is shown of a plan, and what the kernel made of it, for program_start.c and program_frames.c. */
#include "launcher/plan/display.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/readback.h"
#include "affinity/picture/picture.h"
#include "affinity/picture/svg.h"
#include "base/buf.h"
#include "base/mem.h"
#include "launcher/protocol/task_report.h"

struct display {
    const struct spec *spec;
    const struct resources *resources;
    const struct plan *plan; /* NULL: none yet */
    const struct display_ops *ops;
    void *owner;
    struct found *found; /* what --display bind shows of a run; NULL: nobody asked */
};

struct display *display_new(const struct spec *spec, const struct resources *resources,
                            const struct display_ops *ops, void *owner)
{
    struct display *display = mem_alloc(sizeof(*display));
    *display = (struct display){spec, resources, NULL, ops, owner, NULL};
    return display;
}

void display_free(struct display *display)
{
    if (display)
        readback_free(display->found);
    free(display);
}

/* ---- what is planned ---- */

/* The picture of --draw - has the standard output for itself. */
static bool draws_alone(const struct spec *spec)
{
    return spec->draw && strcmp(spec->draw, "-") == 0;
}

static void put_text(void *arg, const char *text)
{
    struct display *display = arg;
    display->ops->show(display->owner, text, !display->spec->dry_run || draws_alone(display->spec));
}

static void show(struct display *display, const struct layout *layout, unsigned what)
{
    const struct layout_request *request = plan_request(display->plan);
    if (!what)
        return;
    if (display->spec->format == SPEC_SHOW_JSON) {
        json_t *r = rset_to_json(plan_claim(display->plan));
        layout_print_json(layout, request, r, put_text, display);
        json_decref(r);
        return;
    }
    char *text = picture_text(layout, request, what);
    put_text(display, text);
    free(text);
}

static int draw(struct display *display, struct error *err)
{
    if (!display->spec->draw)
        return 0;
    char *text = picture_svg(plan_layout(display->plan), plan_request(display->plan));
    int rc = 0;
    if (draws_alone(display->spec))
        display->ops->show(display->owner, text, false);
    else
        rc = display->ops->draw(display->owner, text, err);
    free(text);
    return rc;
}

/* Limits that leave cores out are easily taken for more of the default, which is one task a core.
 * Who shares cores with other runs knows. */
static void note_crowd(struct display *display)
{
    const struct layout *layout = plan_layout(display->plan);
    const struct layout_crowd *crowd = &layout->crowd;
    if (!crowd->each || display->spec->overlap)
        return;
    const char *host = plan_request(display->plan)->nodes[layout->nodes[crowd->node].source].host;
    uint32_t others = crowd->nnodes - 1;
    char *more = others ? mem_format(" and %u other node%s", others, others == 1 ? "" : "s")
                        : mem_copy_text("");
    char *note = mem_format("up to %u tasks share a core on %s%s; --oversubscribe leaves this line "
                            "out",
                            crowd->each, host, more);
    display->ops->note(display->owner, note);
    free(more);
    free(note);
}

/* The slots or cores that a node is said to have here; 0: nothing is said of that. */
static size_t granted_count(const struct node *node)
{
    return node->cores ? idset_count(node->cores) : node->limit;
}

/* A batch script's author who knows other launchers expects a task for each slot. Noted where nothing says
 * how many tasks there are to be, and they are not in a program that has said so before. */
static void note_unused(struct display *display, const struct node_list *nodes)
{
    const struct spec *spec = display->spec;
    const struct spec_part *part = &spec->parts[0];
    const struct layout *layout = plan_layout(display->plan);
    if (layout->ntasks != 1 || spec->nparts != 1 || spec->overlap || spec->nnodes || part->ntasks ||
        part->fill || part->per || part->shape || part->taskmap || part->rankfile ||
        resources_is_enclosed(display->resources) || nodes->enclosed)
        return;
    const struct layout_used_node *used = &layout->nodes[0];
    const struct node *node = &nodes->list[plan_candidates(display->plan)->hosts[used->source]];
    size_t cores = layout->bound ? idset_count(used->claim) : SIZE_MAX, sum = 0;
    if (nodes->count == 1 && granted_count(node) <= cores)
        return;
    bool all_say = true;
    for (size_t i = 0; i < nodes->count && all_say; i++) {
        size_t count = granted_count(&nodes->list[i]);
        sum += count;
        all_say = count;
    }
    sum = all_say ? sum : 0;
    bool slots = !nodes->limits_cores && !node->cores;
    char *unused = sum ? mem_format("the %zu %s on %zu node%s", sum, slots ? "slots" : "cores",
                                    nodes->count, nodes->count == 1 ? "" : "s")
                       : mem_format("the %zu nodes", nodes->count);
    char *note = mem_format("1 task is started for %s of %s: -n all starts as many as fit, -n 1 "
                            "leaves this line out",
                            unused, nodes->source);
    display->ops->note(display->owner, note);
    free(unused);
    free(note);
}

/* Of a real run, bindings are shown when they are a fact; JSON is one object, at one time. */
int display_plan(struct display *display, const struct plan *plan, struct error *err)
{
    const struct spec *spec = display->spec;
    unsigned what = spec->display;
    display->plan = plan;
    note_crowd(display);
    if (!spec->dry_run)
        note_unused(display, host_nodes(resources_hosts(display->resources)));
    if (draw(display, err) < 0)
        return -1;
    if (spec->dry_run && !what && (!draws_alone(spec) || spec->format == SPEC_SHOW_JSON))
        what = LAYOUT_SHOW_MAP | LAYOUT_SHOW_BIND;
    if (!spec->dry_run && what & LAYOUT_SHOW_BIND)
        what = spec->format == SPEC_SHOW_JSON ? 0 : what & ~(unsigned)LAYOUT_SHOW_BIND;
    show(display, plan_layout(plan), what);
    return 0;
}

/* ---- what is a fact ---- */

void display_expect_bindings(struct display *display)
{
    if (display->spec->display & LAYOUT_SHOW_BIND)
        display->found = readback_new(plan_layout(display->plan), plan_request(display->plan));
}

int display_bindings(struct display *display, const json_t *started, struct error *err)
{
    struct started_report report = {0};
    if (!display->found)
        return 0;
    int rc = started_report_from_json(&report, started, err);
    for (size_t i = 0; rc == 0 && i < report.nbindings; i++)
        rc = readback_add(display->found, report.bindings[i].ranks, report.bindings[i].cpus, err);
    started_report_clear(&report);
    if (rc < 0 || readback_check(display->found, err) < 0)
        return -1;
    if (readback_complete(display->found))
        show(display, readback_layout(display->found),
             display->spec->format == SPEC_SHOW_TEXT ? LAYOUT_SHOW_BIND : display->spec->display);
    return 0;
}
