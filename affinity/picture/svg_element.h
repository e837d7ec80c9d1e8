/*
 * svg_element - shapes and text as SVG elements, in whole pixels.
 *
 * Text is made printable (base/printable.h), which is what XML can hold, and escaped. Widths are
 * estimates for the usual sans-serif fonts, on the wide side: no font is known here. The colours
 * (Okabe and Ito, 2008) can be told apart by the colour-blind, and neighbours in their order also
 * in grey print; text in them is black or white, whichever is seen better.
 */
#ifndef AFFINITY_PICTURE_SVG_ELEMENT_H
#define AFFINITY_PICTURE_SVG_ELEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define SVG_WIDTH 1200 /* of a page at most, unless one machine needs more */
#define SVG_MARGIN 24
#define SVG_ROOM (SVG_WIDTH - 2 * SVG_MARGIN)
#define SVG_GAP 12

struct size {
    uint32_t w, h;
};

struct area {
    uint32_t x, y, w, h;
};

enum { SVG_COLOURS = 7 };   /* colours 0 to 6; higher numbers begin again */
#define SVG_GREY UINT32_MAX /* and one that is none of them */

/* The classes of text: what it is, its size in pixels. */
enum svg_font { SVG_TITLE, SVG_HEAD, SVG_TEXT, SVG_LABEL, SVG_SMALL, SVG_CELL, SVG_NFONTS };

/* A whole picture around `body`. */
void svg_document(struct buf *out, uint32_t w, uint32_t h, const char *title, const char *body);

void svg_escape(struct buf *out, const char *text);
/* y is the base line. */
void svg_text(struct buf *out, enum svg_font font, uint32_t x, uint32_t y, const char *text);
/* In the middle of an area, readable on this colour. */
void svg_on_colour(struct buf *out, struct area area, uint32_t colour, const char *text);
void svg_in(struct buf *out, struct area area, const char *text); /* the same on white */

/* Of a class: frame, box, core, idle, absent, l2, unbound, chip, off, bound. */
void svg_shape(struct buf *out, const char *what, struct area area);
void svg_colour(struct buf *out, struct area area, uint32_t colour);
void svg_tint(struct buf *out, struct area area, uint32_t colour);   /* the same, much lighter */
void svg_dashed(struct buf *out, struct area area, uint32_t colour); /* its outline only */
/* White ticks above and below, between the cores of one rank; h is at least 10. */
void svg_cut(struct buf *out, uint32_t x, uint32_t y, uint32_t h);
const char *svg_colour_name(uint32_t colour); /* "#0072b2" */

/* What follows, up to svg_end(), is one thing; a browser shows its title beside the pointer. */
void svg_begin(struct buf *out, const char *title);
void svg_end(struct buf *out);

uint32_t svg_width(enum svg_font font, const char *text);
/* Bytes of text that fit on a line of w pixels, broken at a blank where there is one. */
size_t svg_fits(enum svg_font font, const char *text, uint32_t w);
/* The width of the text where it is broken so. */
uint32_t svg_wrapped_width(enum svg_font font, const char *text, uint32_t w);
/* As many lines as it takes; returns their height. With out NULL nothing is drawn. */
uint32_t svg_wrapped(struct buf *out, enum svg_font font, uint32_t x, uint32_t y, uint32_t w,
                     const char *text);

#endif
