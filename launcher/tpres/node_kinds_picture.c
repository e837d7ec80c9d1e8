/* The domains of a kind of node as text:
 *
 *     a[0-15]: 120 cores, 8 gpus
 *       socket 0  numa 0  [ cores 0-14  gpus 0 ]
 *                 numa 1  [ cores 15-22 of 15-29  gpus 1 ]
 */
#include "launcher/tpres/node_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/sets/short_text.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

#define INDENT 2
#define MAX_LINES 256 /* of a node */

struct picture {
    struct buf *out;
    const struct scheduling_tree *tree;
    const struct rset_children *owned;
    uint32_t *number; /* of each domain among those of its name, in order */
    uint32_t said;    /* the domain of the line before */
    size_t lines;
};

/* Labels from the outermost; blanks for those that the line before had. */
static void say_labels(struct picture *picture, uint32_t domain)
{
    const struct scheduling_domain *here = &picture->tree->domains[domain];
    if (domain == 0)
        return;
    say_labels(picture, here->up);
    char *label = mem_format("%.40s %u  ", here->name, picture->number[domain]);
    if (domain <= picture->said && picture->said < here->end)
        buf_printf(picture->out, "%*s", (int)strlen(label), "");
    else
        buf_add_text(picture->out, label);
    free(label);
}

/* "cores 0-7 of 0-14": what is owned of what there is. */
static void say_set(struct buf *out, const char *noun, const struct idset *there,
                    const struct idset *owned)
{
    struct idset *ours = idset_intersect(there, owned);
    char *all = idset_encode_short(there, 32), *some = idset_encode_short(ours, 32);
    if (!idset_empty(there))
        buf_printf(out, "%s%s %s", out->len ? "  " : "", noun, *some ? some : "none");
    if (!idset_equal(ours, there))
        buf_printf(out, " of %s", all);
    free(all);
    free(some);
    idset_free(ours);
}

static void tpres_show_say_line(struct picture *picture, uint32_t domain, const struct idset *cores,
                                const struct idset *gpus)
{
    struct buf has = BUF_INIT;
    if (picture->lines++ >= MAX_LINES)
        return;
    say_set(&has, "cores", cores, picture->owned->cores);
    say_set(&has, "gpus", gpus, picture->owned->gpus);
    buf_printf(picture->out, "%*s", INDENT, "");
    say_labels(picture, domain);
    buf_printf(picture->out, "[ %s ]\n", buf_text(&has));
    picture->said = domain;
    buf_free(&has);
}

/* A domain with others in it has a line of its own where it holds more than they do. */
static void draw_domain(struct picture *picture, uint32_t domain)
{
    const struct scheduling_domain *all = picture->tree->domains, *here = &all[domain];
    struct idset *cores = idset_copy(here->cores), *gpus = idset_copy(here->gpus);
    for (uint32_t i = domain + 1; i < here->end; i = all[i].end) {
        idset_remove_set(cores, all[i].cores);
        idset_remove_set(gpus, all[i].gpus);
        draw_domain(picture, i);
    }
    if (here->end == domain + 1 || !idset_empty(cores) || !idset_empty(gpus))
        tpres_show_say_line(picture, domain, cores, gpus);
    idset_free(cores);
    idset_free(gpus);
}

void tpres_kind_draw(const struct tpres_kinds *kinds, const struct tpres_kind *kind,
                     struct buf *out)
{
    struct picture picture = {.out = out, .owned = kind->children};
    char *hosts = hostlist_encode_short(kind->hosts, 60);
    uint32_t cores = (uint32_t)idset_count(kind->children->cores);
    uint32_t gpus = (uint32_t)idset_count(kind->children->gpus);
    buf_printf(out, "%s: %u core%s", hosts, cores, text_plural(cores));
    if (gpus)
        buf_printf(out, ", %u gpu%s", gpus, text_plural(gpus));
    free(hosts);
    if (kind->tree < 0) {
        buf_add_text(out, ", topology not known\n");
        return;
    }
    buf_add_char(out, '\n');
    picture.tree = &kinds->localities->trees[kind->tree];
    const struct scheduling_domain *domains = picture.tree->domains;
    picture.number = mem_array(picture.tree->ndomains, sizeof(*picture.number));
    for (uint32_t i = 1; i < picture.tree->ndomains; i++) {
        uint32_t last = i - 1; /* the one of its name in front of it */
        while (last > 0 && strcmp(domains[last].name, domains[i].name) != 0)
            last--;
        picture.number[i] = last > 0 ? picture.number[last] + 1 : 0;
    }
    draw_domain(&picture, 0);
    if (picture.lines > MAX_LINES)
        buf_printf(out, "%*sand %zu more lines\n", INDENT, "", picture.lines - MAX_LINES);
    free(picture.number);
}
