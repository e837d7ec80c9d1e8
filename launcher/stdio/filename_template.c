/* Checks and fills in the templates of --output and --error: a table of letters. */
#include "launcher/stdio/filename_template.h"

#include <string.h>

#include "base/buf.h"

static void add_rank(struct buf *out, const struct filename_template_fields *fields)
{
    buf_printf(out, "%u", fields->rank);
}

static void add_padded_rank(struct buf *out, const struct filename_template_fields *fields)
{
    int width = 1;
    for (uint32_t largest = fields->ntasks ? fields->ntasks - 1 : 0; largest >= 10; largest /= 10)
        width++;
    buf_printf(out, "%0*u", width, fields->rank);
}

static void filename_template_add_host(struct buf *out,
                                       const struct filename_template_fields *fields)
{
    buf_add_text(out, fields->host ? fields->host : "");
}

static void filename_template_add_node(struct buf *out,
                                       const struct filename_template_fields *fields)
{
    buf_printf(out, "%u", fields->node);
}

static void add_program(struct buf *out, const struct filename_template_fields *fields)
{
    buf_add_text(out, fields->program ? fields->program : "");
}

static void add_percent(struct buf *out, const struct filename_template_fields *fields)
{
    (void)fields;
    buf_add_char(out, '%');
}

static const struct template_word {
    char letter;
    void (*add)(struct buf *out, const struct filename_template_fields *fields);
} template_words[] = {{'r', add_rank},
                      {'R', add_padded_rank},
                      {'h', filename_template_add_host},
                      {'n', filename_template_add_node},
                      {'p', add_program},
                      {'%', add_percent}};

#define TEMPLATE_WORDS (sizeof(template_words) / sizeof(template_words[0]))

static const struct template_word *template_find(char letter)
{
    for (size_t i = 0; i < TEMPLATE_WORDS; i++)
        if (template_words[i].letter == letter)
            return &template_words[i];
    return NULL;
}

int filename_template_check(const char *text, struct error *err)
{
    if (!*text)
        return error_usage(err, "the name of an output file is empty");
    for (const char *p = strchr(text, '%'); p; p = strchr(p + 2, '%')) {
        if (!p[1])
            return error_usage(err, "\"%s\" ends in %%: a percent sign is written %%%%", text);
        if (!template_find(p[1]))
            return error_usage(err, "\"%s\": %%%c is not one of %%r %%R %%h %%n %%p %%%%", text,
                               p[1]);
    }
    return 0;
}

char *filename_template_expand(const char *text, const struct filename_template_fields *fields)
{
    struct buf out = BUF_INIT;
    for (const char *p = text; *p; p++) {
        const struct template_word *word = *p == '%' ? template_find(p[1]) : NULL;
        if (!word) {
            buf_add_char(&out, *p);
            continue;
        }
        word->add(&out, fields);
        p++;
    }
    buf_add_char(&out, '\0');
    return buf_take_text(&out);
}
