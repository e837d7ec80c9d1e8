/* Options applied to a spec: the order of defaults, --spec and the command line, and what has to hold between
 * options. */
#include "launcher/cli/tprun_options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/layout/layout.h"
#include "affinity/policy/rankfile.h"
#include "base/buf.h"
#include "base/duration.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/text.h"
#include "launcher/cli/batch_script.h"
#include "launcher/cli/command_line.h"
#include "launcher/cli/option_hints.h"
#include "launcher/options/option.h"
#include "launcher/options/option_defaults.h"
#include "launcher/spec/field.h"
#include "launcher/spec/field_words.h"
#include "launcher/spec/spec_build.h"
#include "launcher/spec/spec_check.h"

#define TYPED "command line" /* the origin of what was typed */

enum words_kind {
    WORDS_RUN,
    WORDS_BATCH, /* the program is a script, which may have options of its own */
    WORDS_EMPTY  /* there is no program */
};

/* One place where options were said: a line of a file, TPRUN_OPTIONS, or the command line. */
struct options_layer {
    const char *origin; /* borrowed; NULL: the command line, which messages do not name */
    struct command command;
};

/* The lines that come before the command line. */
struct options_before {
    struct option_defaults defaults;
    struct options_layer *layers; /* [count] */
    size_t count;
};

static void note_origin(struct option_target *target, const struct options_layer *layer,
                        const struct command_option *given)
{
    bool whole = given->option->flags & OPTION_WHOLE;
    const char *origin = layer->origin ? layer->origin : TYPED;
    json_t *entry =
        json_pack("{s:s, s:o}", "option", given->option->name, "from", text_to_json(origin));
    if (given->value)
        json_object_set_new(entry, "value", text_to_json(given->value));
    if (!whole)
        json_object_set_new(entry, "part", json_integer((json_int_t)target->spec->nparts - 1));
    spec_add_origin(target->spec, entry);
}

/* Apply what is of the whole program (or what is of a part) of one part's options. */
static int options_apply(const struct options_layer *layer, const struct command_part *from,
                         unsigned whole, struct option_target *target, struct error *err)
{
    for (size_t i = 0; i < from->noptions; i++) {
        const struct command_option *given = &from->options[i];
        if ((given->option->flags & OPTION_WHOLE) != whole)
            continue;
        if (given->option->apply(given->option, given->value, target, err) < 0)
            return error_prefix(err, "%s%s%s", layer->origin ? layer->origin : "",
                                layer->origin ? ": " : "", given->spelling);
        note_origin(target, layer, given);
    }
    return 0;
}

/* -R, --hosts and --hostfile each stand in place of the others, so two of them on one line are a
 * contradiction; those of a line replace those of an earlier one. */
static int options_apply_whole(const struct options_layer *layer, struct option_target *target,
                               struct error *err)
{
    const struct command_part *from = &layer->command.parts[0];
    const struct command_option *source = NULL; /* the last that names nodes */
    for (size_t i = 0; i < from->noptions; i++)
        if (from->options[i].option->flags & OPTION_SOURCE)
            source = &from->options[i];
    for (size_t i = 0; source && i < from->noptions; i++) {
        const struct command_option *other = &from->options[i];
        if (other->option->flags & OPTION_SOURCE && other->option != source->option)
            return error_set(err, "%s%s%s and %s both say which nodes to use: give one of them",
                             layer->origin ? layer->origin : "", layer->origin ? ": " : "",
                             other->spelling, source->spelling);
    }
    if (source) {
        char **texts[] = {&target->spec->resources, &target->spec->hosts, &target->spec->hostfile};
        for (size_t i = 0; i < 3; i++) {
            free(*texts[i]);
            *texts[i] = NULL;
        }
    }
    return options_apply(layer, from, OPTION_WHOLE, target, err);
}

/* What was said before the command line holds for every part. */
static int options_add_part(const struct options_layer *typed, size_t index,
                            const struct options_before *before, struct option_target *target,
                            struct error *err)
{
    const struct command_part *from = &typed->command.parts[index];
    target->part = spec_add_part(target->spec);
    target->part->argv = mem_array(from->nwords + 1, sizeof(char *));
    for (size_t i = 0; i < from->nwords; i++) {
        /* A lone colon is written \: and so that everything can be said, backslashes and a colon
         * with one backslash more. */
        const char *word = from->words[i];
        size_t slashes = strspn(word, "\\");
        bool escaped = slashes && strcmp(word + slashes, ":") == 0;
        target->part->argv[i] = mem_copy_text(escaped ? word + 1 : word);
    }
    for (size_t i = 0; i < before->count; i++)
        if (options_apply(&before->layers[i], &before->layers[i].command.parts[0], 0, target, err) <
            0)
            return -1;
    return options_apply(typed, from, 0, target, err);
}

static int options_check_program(const struct spec *spec, size_t index, struct error *err)
{
    const char *program = spec->parts[index].argv[0];
    if (program && !program[0])
        return error_set(err, "no program to run: its name is empty");
    if (!program && spec->nparts > 1)
        return error_set(err, "no program to run in part %zu: write one on each side of a \":\"",
                         index + 1);
    if (!program)
        return error_set(err, "no program to run: write it after the options, as in "
                              "\"tprun -n 4 ./app\"");
    return 0;
}

static int options_check_part(const struct spec *spec, enum words_kind kind, size_t index,
                              struct error *err)
{
    const struct spec_part *part = &spec->parts[index];
    if (!spec->dry_run && kind != WORDS_EMPTY && options_check_program(spec, index, err) < 0)
        return -1;
    struct layout_part layout = spec_part_layout(part);
    struct rankfile *rankfile = NULL;
    int rc = spec_part_rankfile(part, &rankfile, err);
    layout.rankfile = rankfile;
    if (rc == 0)
        rc = layout_check_part(&layout, err);
    rankfile_free(rankfile);
    if (rc == 0)
        return 0;
    return spec->nparts > 1 ? error_prefix(err, "part %zu", index + 1) : -1;
}

static int options_check_seen(const struct spec *spec, struct error *err)
{
    if (spec->draw && strcmp(spec->draw, "-") == 0 && !spec->dry_run)
        return error_set(err, "--draw: - is for --dry-run: the standard output is the program's; "
                              "name a file");
    if (spec->ntopologies && !spec->dry_run)
        return error_set(err, "--topology is for --dry-run: nodes that need not exist run nothing");
    if (spec->ntopologies && spec->on)
        return error_set(err,
                         "--topology tells of nodes that need not exist: leave out --on, whose "
                         "resources have to");
    if (spec->ntopologies && (spec->hosts || spec->hostfile))
        return error_set(err, "--topology names the nodes itself: leave %s out",
                         spec->hosts ? "--hosts" : "--hostfile");
    return 0;
}

/* What other launchers mean by -d: cores of a task, an order, what has to be over before. Else it would be the name of
 * the program. */
static int refuse_detach_of(const char *program, struct error *err)
{
    bool plain = !isdigit((unsigned char)*program) || !program[strspn(program, "0123456789")];
    const char *const values[2] = {program, NULL};
    char *here = plain ? option_elsewhere("d", 1, values) : NULL;
    int rc =
        here ? error_set(err, "-d: %s (or ./%s for a program of that name)", here, program) : 0;
    free(here);
    return rc;
}

static int options_check_detach(const struct spec *spec, struct error *err)
{
    const char *option = spec->detach ? "--detach" : "--on-disconnect=continue";
    const char *program = spec->nparts ? spec->parts[0].argv[0] : NULL;
    if (spec->detach && program && refuse_detach_of(program, err) < 0)
        return -1;
    if (spec_saves(spec) && spec->dry_run)
        return error_set(err, "%s: --dry-run starts nothing that could go on", option);
    if (spec_saves(spec) && spec->pty)
        return error_set(
            err, "%s and --pty: the program goes on without a terminal; leave one of them out",
            option);
    if (spec_saves(spec) && spec->resources && strcmp(spec->resources, "-") == 0)
        return error_set(err, "%s: -R - reads the standard input, which stays here: name a file",
                         option);
    if (spec_saves(spec) && spec->on && strcmp(spec->on, "-") == 0)
        return error_set(err, "%s: --on - reads the standard input, which stays here: name a file",
                         option);
    return 0;
}

/* What no option can know alone. */
static int options_check(const struct spec *spec, enum words_kind kind, struct error *err)
{
    uint64_t ntasks = 0;
    for (size_t i = 0; i < spec->nparts; i++) {
        ntasks += spec->parts[i].ntasks;
        if (options_check_part(spec, kind, i, err) < 0)
            return -1;
    }
    if (ntasks > PROGRAM_MAX_TASKS)
        return error_set(err, "-n: %llu tasks are more than the %u that one program may have",
                         (unsigned long long)ntasks, PROGRAM_MAX_TASKS);
    if (options_check_detach(spec, err) < 0 || spec_check_shapes(spec, err) < 0 ||
        spec_check_pty(spec, err) < 0 || spec_check_stage(spec, err) < 0)
        return -1;
    return options_check_seen(spec, err);
}

static bool options_has(const struct command_part *part,
                        int (*apply)(const struct option *, const char *, struct option_target *,
                                     struct error *),
                        size_t offset)
{
    for (size_t i = 0; i < part->noptions; i++)
        if (part->options[i].option->apply == apply && part->options[i].option->offset == offset)
            return true;
    return false;
}

/* What the environment says where the command line did not: MPIEXEC_TIMEOUT, in seconds, which MPICH's test
 * suite sets. 0 and -1 are no limit there. */
static int options_from_mpiexec(const struct command_part *typed,
                                const struct options_before *before, struct spec *spec,
                                struct error *err)
{
    const size_t limit = offsetof(struct spec, time_limit);
    const char *text = getenv("MPIEXEC_TIMEOUT");
    bool said = isfinite(spec->time_limit) || options_has(typed, option_set_duration, limit);
    uint32_t seconds;
    for (size_t i = 0; i < before->count && !said; i++)
        said = options_has(&before->layers[i].command.parts[0], option_set_duration, limit);
    if (said)
        return 0;
    if (!text || !text[0] || strcmp(text, "0") == 0 || strcmp(text, "-1") == 0)
        return 0;
    if (spec_number_decode(text, INT32_MAX, &seconds, err) < 0)
        return error_prefix(err, "MPIEXEC_TIMEOUT in the environment (seconds)");
    spec->time_limit = seconds;
    return 0;
}

/* A spec says everything about a run: programs and parts' options are its own, and defaults were part of
 * making it. Options of the whole program may be given anew. */
static int options_with_spec(const struct options_layer *typed, struct option_target *target,
                             struct error *err)
{
    const struct command_part *part = &typed->command.parts[0];
    const char *file = target->file;
    json_error_t where;
    if (typed->command.nparts > 1 || part->nwords)
        return error_set(err, "--spec %s says what to run: leave out %s", file,
                         part->nwords ? part->words[0] : "the \":\"");
    for (size_t i = 0; i < part->noptions; i++)
        if (!(part->options[i].option->flags & OPTION_WHOLE))
            return error_set(err, "--spec %s has the options of its parts: leave out %s", file,
                             part->options[i].spelling);
    FILE *in = strcmp(file, "-") == 0 ? stdin : fopen(file, "re");
    if (!in)
        return error_unreadable(err, "--spec: cannot open %s: %s", file, strerror(errno));
    json_t *value = json_loadf(in, JSON_REJECT_DUPLICATES, &where);
    if (in != stdin)
        fclose(in);
    if (!value && where.line < 1)
        return error_set(err, "--spec: %s", where.text);
    if (!value)
        return error_set(err, "--spec: %s: line %d: %s", file, where.line, where.text);
    struct spec *loaded = spec_from_json(value, err);
    json_decref(value);
    if (!loaded)
        return error_prefix(err, "--spec: %s", file);
    spec_replace(target->spec, loaded);
    return options_apply_whole(typed, target, err);
}

static int options_without_spec(const struct options_layer *typed,
                                const struct options_before *before, struct option_target *target,
                                struct error *err)
{
    for (size_t i = 0; i < before->count; i++)
        if (options_apply_whole(&before->layers[i], target, err) < 0)
            return -1;
    target->spec->mpi_is_default = target->spec->mpi != NULL;
    if (options_apply_whole(typed, target, err) < 0)
        return -1;
    for (size_t i = 0; i < typed->command.nparts; i++)
        if (options_add_part(typed, i, before, target, err) < 0)
            return -1;
    return 0;
}

/* A sentence that begins with an option that was not typed: say where it stands. */
static int name_origin(const struct spec *spec, struct error *err)
{
    const char *text = error_text(err), *from = NULL;
    size_t i, len = strcspn(text, " =:,");
    json_t *entry;
    json_array_foreach(spec->origins, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "option"));
        if (len > 2 && strncmp(text, "--", 2) == 0 && strlen(name) == len - 2 &&
            memcmp(name, text + 2, len - 2) == 0)
            from = json_string_value(json_object_get(entry, "from"));
    }
    if (from && strcmp(from, TYPED) != 0)
        error_prefix(err, "%s", from);
    return -1;
}

/* Of an empty program's command line. */
static int refuse_empty_words(const struct command *command, const char *spec_file,
                              struct error *err)
{
    const struct command_part *first = &command->parts[0];
    if (first->nwords)
        return error_set(err, "%s: an empty program has options alone, and runs nothing yet",
                         excerpt(first->words[0], strlen(first->words[0])).text);
    if (command->nparts > 1)
        return error_set(err, "\":\": an empty program has no parts");
    if (spec_file)
        return error_set(err, "--spec %s says what to run: an empty program runs nothing yet",
                         spec_file);
    return 0;
}

static int options_fill(const struct options_layer *typed, const struct options_before *before,
                        enum words_kind kind, struct spec *spec, struct error *err)
{
    struct option_target target = {.spec = spec, .action = OPTIONS_RUN};
    const struct command_part *first = &typed->command.parts[0];
    for (size_t i = 0; i < first->noptions; i++)
        if (first->options[i].option->apply == option_set_spec_file)
            target.file = first->options[i].value;
    if (kind == WORDS_BATCH && target.file)
        return error_set(err, "--spec: tpbatch runs a script; \"tprun --spec %s\" runs a spec",
                         target.file);
    if (kind == WORDS_EMPTY && refuse_empty_words(&typed->command, target.file, err) < 0)
        return -1;
    int rc = target.file ? options_with_spec(typed, &target, err)
                         : options_without_spec(typed, before, &target, err);
    if (rc < 0 || options_from_mpiexec(first, before, spec, err) < 0)
        return -1;
    spec->input_stays &= spec_saves(spec);
    return options_check(spec, kind, err) < 0 ? name_origin(spec, err) : target.action;
}

/* The part's program is the script, and its options come before those that were typed. */
static char **options_read_script(struct command *typed, struct options_before *before,
                                  struct error *err)
{
    struct command_part *part = &typed->parts[0];
    if (typed->nparts > 1) {
        error_set(
            err,
            "\":\": an instance has one initial program, which may start any number of programs");
        return NULL;
    }
    char **words = batch_script_words(part->words, part->nwords, &before->defaults, err);
    part->words = words;
    for (part->nwords = 0; words && words[part->nwords];)
        part->nwords++;
    return words;
}

static void add_inside(struct buf *text, const struct command_part *from, const struct spec *spec)
{
    for (size_t i = 0; i < from->noptions; i++) {
        const struct command_option *given = &from->options[i];
        bool is_path = given->option->apply == option_set_mpi; /* perhaps relative to here */
        const char *value = is_path ? spec->mpi : given->value;
        if (!(given->option->flags & OPTION_INSIDE))
            continue;
        buf_printf(text, "%s'--%s%s", text->len ? " " : "", given->option->name, value ? "=" : "");
        for (const char *at = value ? value : ""; *at; at++)
            buf_add_text(text, *at == '\'' ? "'\\''" : (const char[]){*at, '\0'});
        buf_add_char(text, '\'');
    }
}

/* What was said for this instance, and not for any run of this user, holds for programs inside. */
static void hand_down(const struct options_layer *typed, const struct options_before *before,
                      const struct spec *spec)
{
    struct buf text = BUF_INIT;
    for (size_t i = before->defaults.ndefaults; i < before->count; i++)
        add_inside(&text, &before->layers[i].command.parts[0], spec);
    add_inside(&text, &typed->command.parts[0], spec);
    if (text.len)
        setenv(OPTION_INSIDE_VARIABLE, buf_text(&text), 1);
    else
        unsetenv(OPTION_INSIDE_VARIABLE);
    buf_free(&text);
}

/* The words of a script stay with the caller. */
static int options_read_before(struct options_before *before, struct command *script, char ***words,
                               struct error *err)
{
    int rc = option_defaults_read(&before->defaults, err);
    if (rc == 0 && script)
        rc = (*words = options_read_script(script, before, err)) ? 0 : -1;
    before->layers = mem_array(before->defaults.count, sizeof(*before->layers));
    for (size_t i = 0; i < before->defaults.count && rc == 0; i++) {
        const struct option_default *line = &before->defaults.lines[i];
        before->layers[before->count++].origin = line->origin;
        rc = command_scan(line->words, false, &before->layers[i].command, err);
        if (rc < 0)
            error_prefix(err, "%s", line->origin);
    }
    return rc;
}

static void options_free_before(struct options_before *before)
{
    for (size_t i = 0; i < before->count; i++)
        command_free(&before->layers[i].command);
    free(before->layers);
    option_defaults_clear(&before->defaults);
}

static int parse_words(char *const *words, enum words_kind kind, struct spec *spec,
                       struct error *err)
{
    struct options_layer typed = {0};
    struct options_before before = {0};
    struct command *script = kind == WORDS_BATCH ? &typed.command : NULL;
    char **script_words = NULL;
    int action = command_scan(words, true, &typed.command, err);
    if (action == 0 && typed.command.action == OPTIONS_RUN)
        action = options_read_before(&before, script, &script_words, err) < 0
                     ? -1
                     : options_fill(&typed, &before, kind, spec, err);
    else if (action == 0)
        action = typed.command.action;
    if (action == OPTIONS_RUN && script)
        hand_down(&typed, &before, spec);
    if (action < 0)
        error_blame_words(err);
    command_free(&typed.command);
    options_free_before(&before);
    string_list_free(script_words);
    return action;
}

int options_parse(int argc, char *const argv[], struct spec *spec, struct error *err)
{
    return parse_words(argv + (argc > 0), WORDS_RUN, spec, err);
}

int options_parse_batch(int argc, char *const argv[], struct spec *spec, struct error *err)
{
    spec->initial_program = true;
    return parse_words(argv + (argc > 0), WORDS_BATCH, spec, err);
}

static bool is_stdin(const char *file)
{
    return file && strcmp(file, "-") == 0;
}

int options_parse_empty(char *const words[], struct spec *spec, struct error *err)
{
    int action = parse_words(words, WORDS_EMPTY, spec, err);
    if (action < 0)
        return -1;
    if (is_stdin(spec->resources) || is_stdin(spec->on))
        return error_usage(err,
                           "%s - reads the standard input, which is not here later: name a file",
                           is_stdin(spec->resources) ? "-R" : "--on");
    if (action == OPTIONS_RUN && !spec->dry_run)
        return 0;
    return error_usage(
        err, "%s: tpctl new makes an empty program, and shows nothing of it; leave this out",
        spec->dry_run                  ? "--dry-run"
        : action == OPTIONS_PRINT_SPEC ? "--print-spec"
        : action == OPTIONS_CHECK      ? "--check"
        : action == OPTIONS_VERSION    ? "--version"
                                       : "--help");
}
