/* A foreign command line, option by option, and the native one that is written for it. */
#include "launcher/mpiexec/mpiexec.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file_text.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/shell_words.h"
#include "base/string_list.h"
#include "base/text.h"
#include "launcher/mpiexec/mpiexec_private.h"
#include "launcher/options/option.h"
#include "launcher/spec/spec.h"

#define MPIEXEC_MAX_FILE (16u << 20)

/* ---- parts ---- */

static void mpiexec_free(struct mpiexec *mpiexec)
{
    for (size_t i = 0; i < mpiexec->nparts; i++) {
        string_list_clear(&mpiexec->parts[i].pass);
        string_list_clear(&mpiexec->parts[i].set);
        string_list_clear(&mpiexec->parts[i].own);
        free(mpiexec->parts[i].found);
        free(mpiexec->parts[i].per);
        free(mpiexec->parts[i].per_written);
        free(mpiexec->parts[i].per_other);
    }
    free(mpiexec->parts);
    string_list_clear(&mpiexec->whole);
    string_list_clear(&mpiexec->pass);
    string_list_clear(&mpiexec->set);
    free(mpiexec->hosts);
    string_list_free(mpiexec->file);
    string_list_clear(&mpiexec->texts);
    string_list_clear(&mpiexec->undecided);
}

/* ---- options ---- */

/* What the option's row says takes effect. */
static int mpiexec_apply(struct mpiexec *mpiexec, const struct mpiexec_option *option,
                         const char *const *values, struct error *err)
{
    if (option->place == MPIEXEC_IDLE)
        return 0;
    static const char nothing[] = "nothing: ";
    if (option->place == MPIEXEC_NONE && strncmp(option->native, nothing, strlen(nothing)) == 0)
        return error_set(err, "not supported: leave it out: %s", option->native + strlen(nothing));
    if (option->place == MPIEXEC_NONE)
        return error_set(err, "not supported: write %s", option->native);
    if (option->place == MPIEXEC_READ)
        return option->read(mpiexec, values, err);
    /* The native word, with the values in the places of its {}; what follows a blank is for --help. */
    struct buf word = BUF_INIT;
    for (const char *at = option->native; *at && *at != ' '; at++) {
        if (strncmp(at, "{}", 2) == 0) {
            buf_add_text(&word, *values++);
            at++;
        } else {
            buf_add_char(&word, *at);
        }
    }
    struct string_list *words = option->place == MPIEXEC_WHOLE   ? &mpiexec->whole
                                : option->place == MPIEXEC_EVERY ? &mpiexec->set
                                : option->place == MPIEXEC_SET   ? &mpiexec_part(mpiexec)->set
                                                                 : &mpiexec_part(mpiexec)->own;
    string_list_add(words, buf_take_text(&word));
    return 0;
}

struct scan {
    char *const *at; /* the next word */
    struct mpiexec *mpiexec;
    struct error *err;
};

/* Lines are parts; what begins with # is a comment; blank lines are none. */
static int mpiexec_split_file(const char *text, struct string_list *words, struct error *err)
{
    unsigned number = 1;
    for (const char *at = text; *at; number++) {
        size_t len = strcspn(at, "\n");
        char *line = mem_copy_text_n(at, len);
        bool comment = line[strspn(line, " \t\r")] == '#';
        char **found = shell_words_split(comment ? "" : line, err);
        free(line);
        if (!found)
            return error_prefix(err, "line %u", number);
        if (found[0] && words->count)
            string_list_add_copy(words, ":");
        for (size_t i = 0; found[i]; i++)
            string_list_add(words, found[i]);
        free(found);
        at += len + (at[len] == '\n');
    }
    return 0;
}

/* What the file says stands in place of the rest of the command line, which has to be empty. Only
 * behind Open MPI's -app a program may stand: mpirun passes over it, and scripts have one there. */
static int scan_file(struct scan *scan, const char *path, bool passes_over)
{
    struct buf text = BUF_INIT;
    struct string_list words = {0};
    if (scan->mpiexec->file)
        return error_set(scan->err, "a file cannot name another file");
    if (*scan->at && (!passes_over || **scan->at == '-'))
        return error_set(scan->err, "%s says what to run: leave out %s", path,
                         excerpt(*scan->at, strlen(*scan->at)).text);
    int rc = file_text_read(path, path, MPIEXEC_MAX_FILE, &text, scan->err);
    if (rc == 0 && strlen(buf_text(&text)) != text.len)
        rc = error_set(scan->err, "%s is not a text file: it contains a zero byte", path);
    else if (rc == 0 && (rc = mpiexec_split_file(buf_text(&text), &words, scan->err)) < 0)
        error_prefix(scan->err, "%s", path);
    else if (rc == 0 && !words.count)
        rc = error_set(scan->err,
                       "%s is empty: expected a part in each line, such as \"-n 4 ./app\"", path);
    buf_free(&text);
    if (rc < 0) {
        string_list_clear(&words);
        return -1;
    }
    scan->at = scan->mpiexec->file = words.list;
    return 0;
}

/* The option's values: what is attached to it, and words that follow. */
static int scan_values(struct scan *scan, const struct mpiexec_option *option, const char *attached,
                       const char **values)
{
    size_t wanted = mpiexec_nvalues(option);
    const char *word = attached ? attached : *scan->at;
    const char *equals = word ? strchr(word, '=') : NULL;
    /* "-genv FOO=5": the name and the value in one word, which is cut in two. */
    if (wanted == 2 && equals && equals != word) {
        scan->at += !attached;
        string_list_add(&scan->mpiexec->texts, mem_copy_text_n(word, (size_t)(equals - word)));
        values[0] = scan->mpiexec->texts.list[scan->mpiexec->texts.count - 1];
        values[1] = equals + 1;
        return 0;
    }
    if (attached && !mpiexec_takes_value(option))
        return error_set(scan->err, "takes no value: write it without =%s", attached);
    for (size_t i = 0; i < wanted; i++) {
        if (i == 0 && attached)
            values[i] = attached;
        else if (*scan->at && strcmp(*scan->at, ":") != 0)
            values[i] = *scan->at++;
        else
            return error_set(scan->err, "needs %s", option->arguments);
    }
    return 0;
}

static int scan_foreign(struct scan *scan, const struct mpiexec_option *option,
                        const char *attached)
{
    const char *values[MPIEXEC_MAX_VALUES] = {NULL};
    mpiexec_note_option(scan->mpiexec, option);
    if (option->place == MPIEXEC_NONE)
        return mpiexec_apply(scan->mpiexec, option, values, scan->err);
    if (scan_values(scan, option, attached, values) < 0)
        return -1;
    if (option->place == MPIEXEC_READ && !option->read)
        return scan_file(scan, values[0], option->dialect == MPIEXEC_OPENMPI);
    return mpiexec_apply(scan->mpiexec, option, values, scan->err);
}

/* An option of tprun's own is copied, its value attached. */
static int scan_native(struct scan *scan, const struct option *option, const char *attached)
{
    struct mpiexec *mpiexec = scan->mpiexec;
    struct string_list *words =
        option->flags & OPTION_WHOLE ? &mpiexec->whole : &mpiexec_part(mpiexec)->own;
    if (!attached && option->argument && !(option->flags & OPTION_MAYBE)) {
        if (!*scan->at)
            return error_set(scan->err, "needs %s", option->argument);
        attached = *scan->at++;
    }
    string_list_add(words, attached ? mem_format("--%s=%s", option->name, attached)
                                    : mem_format("--%s", option->name));
    static const char *const placing[] = {"per", "shape", "taskmap", "mppr", "order", "nodes"};
    for (size_t i = 0; i < sizeof(placing) / sizeof(placing[0]); i++)
        if (strcmp(option->name, placing[i]) == 0)
            mpiexec_part(mpiexec)->placed = true;
    return 0;
}

/* Both dialects have the option, it means two things, and neither name nor options tell which. */
static bool mpiexec_is_undecided(const struct mpiexec *mpiexec, const char *name, size_t len)
{
    const struct mpiexec_option *openmpi = mpiexec_find(name, len, MPIEXEC_OPENMPI);
    const struct mpiexec_option *hydra = mpiexec_find(name, len, MPIEXEC_HYDRA);
    return mpiexec->dialect == MPIEXEC_EITHER && openmpi && hydra && openmpi != hydra &&
           !openmpi->arguments && !hydra->arguments;
}

/* One dash or two, as both launchers take it. */
static int mpiexec_scan_option(struct scan *scan, const char *word)
{
    size_t dashes = word[1] == '-' ? 2 : 1;
    size_t len = strcspn(word + dashes, "=");
    const char *name = word + dashes, *attached = name[len] ? name + len + 1 : NULL;
    scan->mpiexec->option = (struct mpiexec_text){word, dashes + len};
    if (!attached && mpiexec_is_undecided(scan->mpiexec, name, len)) {
        string_list_add_copy(&scan->mpiexec->undecided, word);
        return 0;
    }
    const struct mpiexec_option *foreign = mpiexec_find(name, len, scan->mpiexec->dialect);
    if (!foreign) /* the other launcher's: what it says is clear */
        foreign = mpiexec_find(name, len, MPIEXEC_EITHER);
    const struct option *own = foreign || dashes == 1 ? NULL : option_find(name, len);
    int rc = 0;
    if (foreign)
        rc = scan_foreign(scan, foreign, attached);
    else if (own)
        rc = scan_native(scan, own, attached);
    else
        return error_set(scan->err,
                         "unknown option %s (long options of tprun itself need two dashes)",
                         excerpt(word, dashes + len).text);
    return rc < 0 ? error_prefix(scan->err, "%.*s", (int)(dashes + len), word) : 0;
}

/* Options of a new part, then its program, up to the colon behind it or the end. */
static int mpiexec_scan_part(struct scan *scan)
{
    struct mpiexec *mpiexec = scan->mpiexec;
    mpiexec->parts = array_grow(mpiexec->parts, mpiexec->nparts, sizeof(mpiexec->parts[0]));
    mpiexec->parts[mpiexec->nparts++] = (struct mpiexec_part){0};
    while (*scan->at && (*scan->at)[0] == '-' && (*scan->at)[1]) {
        const char *word = *scan->at++;
        if (strcmp(word, "--") == 0)
            break;
        if (mpiexec_scan_option(scan, word) < 0)
            return -1;
    }
    struct mpiexec_part *part = mpiexec_part(mpiexec);
    part->program = scan->at;
    for (; *scan->at && strcmp(*scan->at, ":") != 0; scan->at++)
        part->nprogram++;
    return 0;
}

static int mpiexec_scan(struct mpiexec *mpiexec, char *const *words, struct error *err)
{
    struct scan scan = {.at = words, .mpiexec = mpiexec, .err = err};
    for (;;) {
        while (*scan.at && strcmp(*scan.at, ":") == 0) /* loops in scripts leave empty parts */
            scan.at++;
        if (!*scan.at && mpiexec->nparts)
            return 0;
        if (mpiexec_scan_part(&scan) < 0)
            return -1;
        if (!*scan.at)
            return 0;
        scan.at++;
    }
}

/* Options that mean two things mean what the chosen dialect has; Open MPI's where none is. */
static int mpiexec_end_undecided(struct mpiexec *mpiexec, struct error *err)
{
    if (mpiexec->undecided.count)
        mpiexec_choose_by_program(mpiexec);
    for (size_t i = 0; i < mpiexec->undecided.count; i++) {
        const char *word = mpiexec->undecided.list[i], *name = word + strspn(word, "-");
        const struct mpiexec_option *option = mpiexec_find(name, strlen(name), mpiexec->dialect);
        if (mpiexec_apply(mpiexec, option, NULL, err) < 0)
            return error_prefix(err, "%s", word);
    }
    return 0;
}

/* ---- the native command line ---- */

static void mpiexec_write_part(const struct mpiexec *mpiexec, const struct mpiexec_part *part,
                               struct string_list *words)
{
    string_list_add_all(words, part->passes ? &part->pass : &mpiexec->pass);
    string_list_add_all(words, &mpiexec->set);
    string_list_add_all(words, &part->set);
    string_list_add_all(words, &part->own);
    /* -npernode and the like beside -n are limits that mpirun keeps, too. */
    bool limited =
        part->ntasks && !part->ppn && (part->filled || mpiexec_value(&part->own, "--per="));
    bool from_spec = mpiexec_value(&mpiexec->whole, "--spec="); /* which says all of its parts */
    if (!from_spec && !mpiexec->strict && (mpiexec->oversubscribe || !limited))
        string_list_add_copy(words, "--oversubscribe");
    if (part->nprogram && part->program[0][0] == '-')
        string_list_add_copy(words, "--");
    for (size_t i = 0; i < part->nprogram; i++) {
        const char *word = i ? part->program[i] : mpiexec_program(part);
        size_t slashes = strspn(word, "\\");
        /* tprun takes a backslash away from a word of backslashes and a colon */
        bool escaped = slashes && strcmp(word + slashes, ":") == 0;
        string_list_add(words, mem_format("%s%s", escaped ? "\\" : "", word));
    }
}

char **mpiexec_translate(char *const argv[], struct error *err)
{
    struct mpiexec mpiexec = {.name = argv[0] ? argv[0] : "mpiexec",
                              .dialect = mpiexec_name_dialect(argv[0])};
    struct string_list words = {0};
    int rc = mpiexec_scan(&mpiexec, argv + (argv[0] != NULL), err);
    for (size_t i = 0; rc == 0 && i < mpiexec.nparts; i++)
        mpiexec_end_prefix(&mpiexec, &mpiexec.parts[i]);
    if (rc == 0) {
        mpiexec_choose_by_options(&mpiexec);
        mpiexec_find_programs(&mpiexec);
        rc = mpiexec_end_undecided(&mpiexec, err);
    }
    if (rc == 0)
        rc = mpiexec_read_environment(&mpiexec, err);
    for (size_t i = 0; rc == 0 && i < mpiexec.nparts; i++)
        mpiexec_end_layout(&mpiexec, &mpiexec.parts[i]);
    if (rc == 0)
        rc = mpiexec_place_ranks(&mpiexec, err);
    if (rc == 0) {
        string_list_add_copy(&words, mpiexec.name);
        string_list_add_all(&words, &mpiexec.whole);
    } else {
        error_blame_words(err);
    }
    for (size_t i = 0; rc == 0 && i < mpiexec.nparts; i++) {
        if (i)
            string_list_add_copy(&words, ":");
        mpiexec_fill_objects(&mpiexec.parts[i]);
        mpiexec_write_part(&mpiexec, &mpiexec.parts[i], &words);
    }
    mpiexec_free(&mpiexec);
    return words.list;
}
