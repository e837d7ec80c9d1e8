/* Elements of an SVG document, and how much room text takes in it. */
#include "affinity/picture/svg_element.h"

#include <stdbool.h>
#include <string.h>

#include "base/printable.h"

static const struct {
    const char *class;
    uint32_t size;
    uint32_t width; /* of a character, in hundredths of the size */
} fonts[SVG_NFONTS] = {
    [SVG_TITLE] = {"title", 24, 64}, [SVG_HEAD] = {"head", 16, 64},   [SVG_TEXT] = {"text", 13, 58},
    [SVG_LABEL] = {"label", 12, 64}, [SVG_SMALL] = {"small", 11, 58}, [SVG_CELL] = {"cell", 12, 60},
};

static const struct {
    const char *name;
    bool dark;
} colours[SVG_COLOURS] = {{"#0072b2", true},  {"#e69f00", false}, {"#009e73", false},
                          {"#f0e442", false}, {"#d55e00", false}, {"#56b4e9", false},
                          {"#cc79a7", false}};

static const char style[] =
    "text{font-family:'DejaVu Sans',Verdana,Arial,Helvetica,sans-serif;fill:#222}"
    ".title{font-size:24px;font-weight:bold}.head{font-size:16px;font-weight:bold}"
    ".text{font-size:13px}.label{font-size:12px;font-weight:bold}.small{font-size:11px;fill:#444}"
    ".cell{font-size:12px;text-anchor:middle}.white{fill:#fff}"
    ".frame{fill:#fff;stroke:#888}.box{fill:#555;fill-opacity:.05;stroke:#777}"
    ".l2{fill:none;stroke:#999}.core{fill:none;stroke:#222;stroke-opacity:.45}"
    ".idle{fill:#fff;stroke:#999}.absent{fill:url(#off);stroke:#bbb}"
    ".chip{fill:#fff;stroke:#222}.cut{stroke:#fff}"
    ".bound{fill:none;stroke:#222;stroke-width:2}.part{stroke-dasharray:6 3}";

static const char patterns[] =
    "<defs><pattern id=\"off\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"6\" height=\"6\" fill=\"#f4f4f4\"/>"
    "<path d=\"M0,6L6,0\" stroke=\"#aaa\"/></pattern></defs>";

void svg_document(struct buf *out, uint32_t w, uint32_t h, const char *title, const char *body)
{
    buf_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
               "viewBox=\"0 0 %u %u\">\n<title>",
               w, h, w, h);
    svg_escape(out, title);
    buf_printf(out, "</title>\n<style>%s</style>\n%s\n", style, patterns);
    buf_printf(out, "<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n", w, h);
    buf_add_text(out, body);
    buf_add_text(out, "</svg>\n");
}

/* ---- text ---- */

static void escape(struct buf *out, const char *text, size_t size)
{
    static const char special[] = "&<>\"'";
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    struct buf shown = BUF_INIT;
    printable_add(&shown, text, size, PRINTABLE_WORD);
    for (const char *at = buf_text(&shown); *at;) {
        size_t len = strcspn(at, special);
        buf_add(out, at, len);
        at += len;
        if (*at)
            buf_add_text(out, names[strchr(special, *at++) - special]);
    }
    buf_free(&shown);
}

void svg_escape(struct buf *out, const char *text)
{
    escape(out, text, strlen(text));
}

static void add_text(struct buf *out, const char *class, uint32_t x, uint32_t y, const char *text,
                     size_t len)
{
    buf_printf(out, "<text class=\"%s\" x=\"%u\" y=\"%u\">", class, x, y);
    escape(out, text, len);
    buf_add_text(out, "</text>\n");
}

void svg_text(struct buf *out, enum svg_font font, uint32_t x, uint32_t y, const char *text)
{
    add_text(out, fonts[font].class, x, y, text, strlen(text));
}

void svg_on_colour(struct buf *out, struct area area, uint32_t colour, const char *text)
{
    bool dark = colour != SVG_GREY && colours[colour % SVG_COLOURS].dark;
    add_text(out, dark ? "cell white" : "cell", area.x + area.w / 2, area.y + area.h / 2 + 4, text,
             strlen(text));
}

void svg_in(struct buf *out, struct area area, const char *text)
{
    svg_on_colour(out, area, SVG_GREY, text);
}

/* ---- shapes ---- */

static void svg_element_add_rect(struct buf *out, struct area area, uint32_t round)
{
    buf_printf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"", area.x, area.y, area.w,
               area.h);
    if (round)
        buf_printf(out, " rx=\"%u\"", round);
}

void svg_shape(struct buf *out, const char *what, struct area area)
{
    svg_element_add_rect(out, area, area.h > 60 ? 5 : 3);
    buf_printf(out, " class=\"%s\"/>\n", what);
}

const char *svg_colour_name(uint32_t colour)
{
    return colour == SVG_GREY ? "#999999" : colours[colour % SVG_COLOURS].name;
}

void svg_colour(struct buf *out, struct area area, uint32_t colour)
{
    svg_element_add_rect(out, area, area.h < 20 ? 0 : 3);
    buf_printf(out, " fill=\"%s\"/>\n", svg_colour_name(colour));
}

void svg_tint(struct buf *out, struct area area, uint32_t colour)
{
    const char *name = svg_colour_name(colour);
    svg_element_add_rect(out, area, 3);
    buf_printf(out, " fill=\"%s\" fill-opacity=\".25\" stroke=\"%s\"/>\n", name, name);
}

void svg_dashed(struct buf *out, struct area area, uint32_t colour)
{
    svg_element_add_rect(out, area, 3);
    buf_printf(out, " fill=\"#fff\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"4 3\"/>\n",
               svg_colour_name(colour));
}

void svg_cut(struct buf *out, uint32_t x, uint32_t y, uint32_t h)
{
    buf_printf(out, "<path class=\"cut\" d=\"M%u,%uv5m0,%uv5\"/>\n", x, y, h - 10);
}

void svg_begin(struct buf *out, const char *title)
{
    buf_add_text(out, "<g><title>");
    svg_escape(out, title);
    buf_add_text(out, "</title>");
}

void svg_end(struct buf *out)
{
    buf_add_text(out, "</g>\n");
}

/* ---- measures ---- */

static uint32_t width_of(enum svg_font font, size_t characters)
{
    return (uint32_t)(characters * fonts[font].size * fonts[font].width + 99) / 100;
}

uint32_t svg_width(enum svg_font font, const char *text)
{
    return width_of(font, strlen(text));
}

size_t svg_fits(enum svg_font font, const char *text, uint32_t w)
{
    size_t len = strlen(text), cut = 0;
    if (width_of(font, len) <= w)
        return len;
    for (size_t at = 1; at < len && (!cut || width_of(font, at) <= w); at++)
        if (text[at] == ' ')
            cut = at;
    return cut ? cut : len;
}

uint32_t svg_wrapped_width(enum svg_font font, const char *text, uint32_t w)
{
    uint32_t whole = svg_width(font, text);
    return whole < w ? whole : w;
}

uint32_t svg_wrapped(struct buf *out, enum svg_font font, uint32_t x, uint32_t y, uint32_t w,
                     const char *text)
{
    uint32_t line = fonts[font].size * 3 / 2, h = 0;
    while (*text) {
        size_t len = svg_fits(font, text, w);
        h += line;
        if (out)
            add_text(out, fonts[font].class, x, y + h - line / 3, text, len);
        text += len + (text[len] == ' ');
    }
    return h;
}
