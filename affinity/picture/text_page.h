/*
 * text_page - what the sections of the text picture share: wrapped text, a machine as brackets.
 * Private to picture/.
 */
#ifndef AFFINITY_PICTURE_TEXT_PAGE_H
#define AFFINITY_PICTURE_TEXT_PAGE_H

#include "affinity/picture/node_groups.h"

#define PICTURE_WIDTH 96 /* columns of the text picture */

/* What drawing_others() says, as a line. */
void draw_others(struct buf *out, const struct drawing *drawing, const struct node_group *look);
/* The looks beyond PICTURE_MAX_LOOKS, counted. */
void draw_rest(struct buf *out, const struct drawing *drawing);

/* Text broken before PICTURE_WIDTH at the blanks behind commas and semicolons; the first line
 * begins `indent` columns in, those that go on two more. */
void draw_wrapped(struct buf *out, const char *text, uint32_t indent);

/* One machine as brackets, an entry a core. */
struct boxes {
    const struct topo *topo;
    char *const *cells; /* for each row that is the first of its core; others are not looked at */
    char *const *tails; /* behind the box that begins at a row; NULL: none */
    uint32_t indent;
};
void draw_boxes(struct buf *out, const struct boxes *boxes);

#endif
