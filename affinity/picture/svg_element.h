/*
 * svg_pen - shapes and text as SVG elements, in whole pixels.
 *
 * Text is made printable (base/printable.h), which is what XML can hold, and escaped. Widths are estimates for the usual sans-serif fonts, on the wide side: no font is known
 * here. The colours (Okabe and Ito, 2008) can be told apart by the colour-blind, and neighbours in
 * their order also in grey print; text in them is black or white, whichever is seen better.
 */
#ifndef AFFINITY_PICTURE_SVG_ELEMENT_H
#define AFFINITY_PICTURE_SVG_ELEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct area {
    uint32_t x, y, w, h;
};

enum { PEN_COLOURS = 7 };   /* colours 0 to 6; higher numbers begin again */
#define PEN_GREY UINT32_MAX /* and one that is none of them */

/* The classes of text: what it is, its size in pixels. */
enum pen_font { PEN_TITLE, PEN_HEAD, PEN_TEXT, PEN_LABEL, PEN_SMALL, PEN_CELL, PEN_NFONTS };

/* A whole picture around `body`. */
void pen_document(struct buf *out, uint32_t w, uint32_t h, const char *title, const char *body);

void pen_escape(struct buf *out, const char *text);
/* y is the base line. */
void pen_text(struct buf *out, enum pen_font font, uint32_t x, uint32_t y, const char *text);
/* In the middle of an area, readable on this colour. */
void pen_on_colour(struct buf *out, struct area area, uint32_t colour, const char *text);
void pen_in(struct buf *out, struct area area, const char *text); /* the same on white */

/* Of a class: frame, box, core, idle, absent, l2, unbound, chip, off, bound. */
void pen_shape(struct buf *out, const char *what, struct area area);
void pen_colour(struct buf *out, struct area area, uint32_t colour);
void pen_tint(struct buf *out, struct area area, uint32_t colour);   /* the same, much lighter */
void pen_dashed(struct buf *out, struct area area, uint32_t colour); /* its outline only */
/* White ticks above and below, between the cores of one rank; h is at least 10. */
void pen_cut(struct buf *out, uint32_t x, uint32_t y, uint32_t h);
const char *pen_colour_name(uint32_t colour); /* "#0072b2" */

/* What follows, up to pen_end(), is one thing; a browser shows its title beside the pointer. */
void pen_begin(struct buf *out, const char *title);
void pen_end(struct buf *out);

uint32_t pen_width(enum pen_font font, const char *text);
/* Bytes of text that fit on a line of w pixels, broken at a blank where there is one. */
size_t pen_fits(enum pen_font font, const char *text, uint32_t w);
/* The width of the text where it is broken so. */
uint32_t pen_wrapped_width(enum pen_font font, const char *text, uint32_t w);
/* As many lines as it takes; returns their height. With out NULL nothing is drawn. */
uint32_t pen_wrapped(struct buf *out, enum pen_font font, uint32_t x, uint32_t y, uint32_t w,
                     const char *text);

#endif
