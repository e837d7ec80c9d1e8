/* Where output goes, in Open MPI's words, and what is shown of a run. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/mpiexec/mpiexec_private.h"

/* Files of a rank: in a directory, which has one of the job in version 4 and 5, and beside each
 * other. The number of a job is always 1 in version 4. */
#define OUTPUT_JOB_4 "/1"
#define OUTPUT_JOB_5 "/%p"
#define OUTPUT_BESIDE_5 ".%p.%R.out", ".%p.%R.err"

static void add_whole(struct mpiexec *mpiexec, const char *word)
{
    string_list_add_copy(&mpiexec->whole, word);
}

static void add_template(struct mpiexec *mpiexec, const char *option, struct mpiexec_text name,
                         const char *rest)
{
    struct buf word = BUF_INIT;
    buf_printf(&word, "--%s=", option);
    for (size_t i = 0; i < name.len; i++) {
        buf_add_char(&word, name.at[i]);
        if (name.at[i] == '%')
            buf_add_char(&word, '%');
    }
    buf_add_text(&word, rest);
    string_list_add(&mpiexec->whole, buf_take_text(&word));
}

static void add_files(struct mpiexec *mpiexec, struct mpiexec_text name, const char *out,
                      const char *err)
{
    add_template(mpiexec, "output", name, out);
    add_template(mpiexec, "error", name, err);
    add_whole(mpiexec, "--make-dirs");
}

static void mpiexec_output_add_directory(struct mpiexec *mpiexec, struct mpiexec_text name,
                                         const char *job)
{
    char *out = mem_format("%s/rank.%%R/stdout", job), *err = mem_format("%s/rank.%%R/stderr", job);
    add_files(mpiexec, name, out, err);
    free(out);
    free(err);
}

static int read_qualifier(struct mpiexec *mpiexec, struct mpiexec_text word, bool *copy,
                          struct error *err)
{
    if (mpiexec_text_begins(word, "nocopy", 3))
        *copy = false;
    else if (mpiexec_text_begins(word, "raw", 1))
        add_whole(mpiexec, "--unbuffered");
    else if (!mpiexec_text_begins(word, "copy", 1))
        return error_set(err, "unknown value %s (expected nocopy, copy or raw)",
                         excerpt(word.at, word.len).text);
    return 0;
}

/* Those behind colons, up to the next directive. */
static int read_qualifiers(struct mpiexec *mpiexec, const char **at, bool *copy, struct error *err)
{
    while ((*at)[-1] == ':')
        if (read_qualifier(mpiexec, mpiexec_text_cut(at, ":,"), copy, err) < 0)
            return -1;
    return 0;
}

static const struct output_word {
    const char *name;
    size_t least;
    const char *native;
} output_words[] = {
    {"tag", 3, "--label-io"},           {"tag-detailed", 5, "--label-io"},
    {"tag-fullname", 5, "--label-io"},  {"rank", 2, "--label-io"},
    {"timestamp", 2, "--timestamp-io"}, {"merge-stderr-to-stdout", 1, "--merge-io"},
};

static const struct output_word *output_word_find(struct mpiexec_text text)
{
    for (size_t i = 0; i < sizeof(output_words) / sizeof(output_words[0]); i++)
        if (mpiexec_text_begins(text, output_words[i].name, output_words[i].least))
            return &output_words[i];
    return NULL;
}

/* Behind dir= or file=, or the whole words; NULL when the text is neither. */
static const char *text_value(struct mpiexec_text text, const char *word, size_t least)
{
    const char *equals = memchr(text.at, '=', text.len);
    struct mpiexec_text name = {text.at, equals ? (size_t)(equals - text.at) : 0};
    return equals && mpiexec_text_begins(name, word, least) ? equals + 1 : NULL;
}

static int read_directive(struct mpiexec *mpiexec, struct mpiexec_text text, bool *files,
                          struct error *err)
{
    const struct output_word *word = output_word_find(text);
    const char *dir = text_value(text, "directory", 3), *file = text_value(text, "filename", 4);
    const char *end = text.at + text.len;
    if ((dir && dir == end) || (file && file == end))
        return error_set(err, "the name after %s is empty", excerpt(text.at, text.len).text);
    if (word)
        add_whole(mpiexec, word->native);
    else if (dir)
        mpiexec_output_add_directory(mpiexec, (struct mpiexec_text){dir, (size_t)(end - dir)},
                                     OUTPUT_JOB_5);
    else if (file)
        add_files(mpiexec, (struct mpiexec_text){file, (size_t)(end - file)}, OUTPUT_BESIDE_5);
    else if (mpiexec_text_begins(text, "xml", 1))
        return error_set(err, "xml is not supported: write --display map --format json");
    else
        return error_set(err,
                         "unknown value %s (expected tag, rank, timestamp, merge, dir=DIR or "
                         "file=NAME)",
                         excerpt(text.at, text.len).text);
    *files |= dir || file;
    return 0;
}

/* Directives between commas, each with its qualifiers. What begins with none of them is a name of
 * files as tprun's own option has it. */
int mpiexec_read_output(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    const char *at = values[0];
    struct mpiexec_text first = {at, strcspn(at, ":,")};
    bool files = false, copy = true;
    if (!output_word_find(first) && !text_value(first, "directory", 3) &&
        !text_value(first, "filename", 4) && !mpiexec_text_begins(first, "xml", 3) && *at != ':') {
        string_list_add(&mpiexec->whole, mem_format("--output=%s", at));
        return 0;
    }
    at += *at == ':';
    if (at > values[0] && read_qualifiers(mpiexec, &at, &copy, err) < 0)
        return -1;
    while (*at)
        if (read_directive(mpiexec, mpiexec_text_cut(&at, ":,"), &files, err) < 0 ||
            read_qualifiers(mpiexec, &at, &copy, err) < 0)
            return -1;
    if (files && copy)
        add_whole(mpiexec, "--tee");
    return 0;
}

/* DIR:nojobid,nocopy */
static int read_files(struct mpiexec *mpiexec, const char *at, const char *job, struct error *err)
{
    struct mpiexec_text name = mpiexec_text_cut(&at, ":");
    bool copy = true;
    if (!name.len)
        return error_set(err, "expected a directory, got an empty name");
    while (*at) {
        struct mpiexec_text word = mpiexec_text_cut(&at, ":,");
        if (mpiexec_text_begins(word, "nojobid", 3))
            job = "";
        else if (read_qualifier(mpiexec, word, &copy, err) < 0)
            return -1;
    }
    mpiexec_output_add_directory(mpiexec, name, job);
    if (copy)
        add_whole(mpiexec, "--tee");
    return 0;
}

int mpiexec_read_filename(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    return read_files(mpiexec, values[0], OUTPUT_JOB_4, err);
}

int mpiexec_read_directory(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    return read_files(mpiexec, values[0], OUTPUT_JOB_5, err);
}

/* A label of another form would be something else than what was asked for. */
int mpiexec_read_pattern(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    if (strcmp(values[0], "%r: ") != 0)
        return error_set(err, "%s is not supported: write -l for \"%%r: \"",
                         excerpt(values[0], strlen(values[0])).text);
    add_whole(mpiexec, "--label-io");
    return 0;
}

/* Lines are whole, so 1 needs nothing; and 2, which is for speed, needs nothing either. */
int mpiexec_read_buffering(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    if (strlen(values[0]) != 1 || !strchr("012", values[0][0]))
        return error_set(err, "unknown mode %s (expected 0, 1 or 2)",
                         excerpt(values[0], strlen(values[0])).text);
    if (values[0][0] == '0')
        add_whole(mpiexec, "--unbuffered");
    return 0;
}

/* ---- --display ---- */

static const struct output_word display_words[] = {
    {"allocation", 2, "alloc"}, {"bindings", 1, "bind"}, {"map", 1, "map"}, {"map-devel", 4, "map"},
    {"topology", 1, "topo"},    {"cpus", 1, "topo"},     {"all", 3, "all"},
};

static const char *display_word(struct mpiexec_text text)
{
    const char *equals = memchr(text.at, '=', text.len);
    struct mpiexec_text name = {text.at, equals ? (size_t)(equals - text.at) : text.len};
    if (mpiexec_text_begins(name, "all", 3) && name.len == 3)
        return "all";
    for (size_t i = 0; i < sizeof(display_words) / sizeof(display_words[0]); i++)
        if (mpiexec_text_begins(name, display_words[i].name, display_words[i].least))
            return display_words[i].native;
    return NULL;
}

/* Of which nodes, as in topo=NODE, makes no difference: those of one kind are shown as one. */
int mpiexec_read_display(struct mpiexec *mpiexec, const char *const *values, struct error *err)
{
    struct buf words = BUF_INIT;
    const char *at = values[0];
    int rc = 0;
    while (rc == 0 && *at) {
        struct mpiexec_text text = mpiexec_text_cut(&at, ",:");
        const char *word = display_word(text);
        if (mpiexec_text_begins(text, "parseable", 3) || mpiexec_text_begins(text, "parsable", 3))
            add_whole(mpiexec, "--format=json");
        else if (word)
            buf_printf(&words, "%s%s", words.len ? "," : "", word);
        else
            rc = error_set(err, "unknown value %s (expected allocation, map, bindings or topo)",
                           excerpt(text.at, text.len).text);
    }
    if (rc == 0 && words.len)
        string_list_add(&mpiexec->whole, mem_format("--display=%s", buf_text(&words)));
    buf_free(&words);
    return rc;
}
