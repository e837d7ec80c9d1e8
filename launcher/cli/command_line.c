/* Words into options and programs; other launchers' options are refused with what to write here. */
#include "launcher/cli/command_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/cli/option_hints.h"
#include "launcher/cli/tprun_options.h"
#include "launcher/options/option_help.h"

struct scan {
    char *const *at; /* the next word */
    bool typed;
    struct command *command;
    struct error *err;
};

static bool word_is_colon(const char *word)
{
    return strcmp(word, ":") == 0;
}

static struct command_part *command_line_scan_part(struct scan *scan)
{
    return &scan->command->parts[scan->command->nparts - 1];
}

/* May this option stand here at all? */
static int scan_allow(struct scan *scan, const struct option *option, const char *spelling)
{
    if (option->flags & OPTION_LATER)
        return error_set(scan->err, "%s is not offered in this version%s%s", spelling,
                         option->help ? ": write " : "", option->help ? option->help : "");
    if (!scan->typed && option->flags & OPTION_TYPED)
        return error_set(scan->err, "%s belongs on the command line itself", spelling);
    if (scan->command->nparts > 1 && option->flags & OPTION_WHOLE)
        return error_set(
            scan->err,
            "%s is of the whole program: write it before the first program, not "
            "after a \":\"%s",
            spelling, option->apply == option_set_mpi ? " (tasks of one program use one MPI)" : "");
    return 0;
}

/* The value of an option that needs one: what is attached to it, or the next word. */
static const char *scan_value(struct scan *scan, const struct option *option, const char *spelling,
                              const char *attached)
{
    const char *value = attached ? attached : *scan->at;
    if (!value || (!attached && word_is_colon(value))) {
        error_set(scan->err, "%s needs a value: %s %s", spelling, spelling, option->argument);
        return NULL;
    }
    if (!value[0]) {
        error_set(scan->err, "%s needs a value: %s %s, not an empty text", spelling, spelling,
                  option->argument);
        return NULL;
    }
    if (!attached && strncmp(value, "--", 2) == 0) {
        error_set(scan->err, "%s needs a value, but %s follows: write --%s=%s if that is meant",
                  spelling, value, option->name, value);
        return NULL;
    }
    scan->at += !attached;
    return value;
}

/* "--help", "--help layout" and "--help=layout". */
static int scan_stop(struct scan *scan, const struct option *option, const char *spelling,
                     const char *attached)
{
    const char *topic = attached ? attached : *scan->at;
    bool named = option->flags & OPTION_TOPIC && topic && (attached || *topic != '-');
    int action = named ? help_topic(topic) : OPTIONS_RUN;
    if (named && action == OPTIONS_RUN)
        return error_set(scan->err, "%s: unknown topic %s (expected layout, mpiexec or options)",
                         spelling, excerpt(topic, strlen(topic)).text);
    scan->command->action = action == OPTIONS_RUN ? option->detail : action;
    return 0;
}

/* Another launcher's option: what to do about it here. False where its name is not known. */
static bool scan_elsewhere(struct scan *scan, const char *spelling, const char *attached)
{
    const char *name = spelling + strspn(spelling, "-");
    const char *next = *scan->at;
    const char *second = attached || !next ? next : scan->at[1];
    const char *const values[2] = {attached ? attached : next, second};
    char *here = option_elsewhere(name, strlen(name), values);
    if (here)
        error_set(scan->err, "%s: %s", spelling, here);
    free(here);
    return here != NULL;
}

static int command_line_scan_option(struct scan *scan, const struct option *option,
                                    const char *spelling, const char *attached)
{
    const char *value = NULL;
    if (option->flags & OPTION_LATER && scan_elsewhere(scan, spelling, attached))
        return -1;
    if (scan_allow(scan, option, spelling) < 0)
        return -1;
    if (!option->argument && attached && !(option->flags & OPTION_TOPIC))
        return error_set(scan->err, "%s takes no value: write it without =%s", spelling, attached);
    if (option->argument && (attached || !(option->flags & OPTION_MAYBE))) {
        value = scan_value(scan, option, spelling, attached);
        if (!value)
            return -1;
        /* One that the option has with other launchers is refused with what to write here. */
        char *here = option_misread(option, value);
        if (here) {
            error_set(scan->err, "%s %s: %s", spelling, excerpt(value, strlen(value)).text, here);
            free(here);
            return -1;
        }
    }
    struct command_part *part = command_line_scan_part(scan);
    part->options = array_grow(part->options, part->noptions, sizeof(part->options[0]));
    part->options[part->noptions++] =
        (struct command_option){option, mem_copy_text(spelling), value};
    return option->flags & OPTION_STOPS ? scan_stop(scan, option, spelling, attached) : 0;
}

/* `spelling` is the wrong option with its dashes, without a value. */
static int scan_unknown(struct scan *scan, const char *spelling, const char *attached)
{
    const char *name = spelling + strspn(spelling, "-");
    if (scan_elsewhere(scan, spelling, attached))
        return -1;
    const struct option *nearest = option_nearest(name, strlen(name));
    if (nearest)
        return error_set(scan->err, "unknown option %s: the nearest is --%s", spelling,
                         nearest->name);
    return error_set(scan->err, "unknown option %s", spelling);
}

static int scan_long(struct scan *scan, const char *word)
{
    size_t len = 2 + strcspn(word + 2, "=");
    const struct option *option = option_find(word + 2, len - 2);
    char *spelling = mem_copy_text_n(word, len);
    int rc =
        option ? command_line_scan_option(scan, option, spelling, word[len] ? word + len + 1 : NULL)
               : scan_unknown(scan, spelling, word[len] ? word + len + 1 : NULL);
    free(spelling);
    return rc;
}

/* -np, and the few that have one dash elsewhere, are taken; other long names with one dash are
 * refused with the spelling that works. *known is false where the word is no long name. */
static int scan_single_dash(struct scan *scan, const char *word, bool *known)
{
    size_t len = 1 + strcspn(word + 1, "=");
    const struct option *option = len > 2 ? option_find(word + 1, len - 1) : NULL;
    char *spelling = mem_copy_text_n(word, len);
    int rc = -1;
    bool dash = option && (option->flags & OPTION_DASH ||
                           (option->alias && strcmp(option->alias, spelling + 1) == 0));
    const char *attached = word[len] ? word + len + 1 : NULL;
    bool elsewhere = !dash && len > 2 && scan_elsewhere(scan, spelling, attached);
    *known = option || elsewhere;
    if (dash)
        rc = command_line_scan_option(scan, option, spelling, attached);
    else if (option && !elsewhere)
        error_set(scan->err, "%s: write --%s", spelling, option->name);
    free(spelling);
    return rc;
}

/* One-letter options in one word; the first that takes a value takes the rest of it. */
static int scan_letters(struct scan *scan, const char *word)
{
    const char *letter = word + 1;
    const struct option *first = option_find_letter(*letter);
    const char alone[] = {'-', *letter, '\0'};
    /* -a1 and -bpacked:4, which are no misspelt names */
    if (!first && strpbrk(letter + 1, "0123456789:=") && scan_elsewhere(scan, alone, letter + 1))
        return -1;
    if (!first || (first->flags & OPTION_STOPS && letter[1]))
        return scan_unknown(scan, word, NULL);
    for (; *letter; letter++) {
        const struct option *option = option_find_letter(*letter);
        char spelling[] = {'-', *letter, '\0'};
        if (!option) {
            scan_unknown(scan, spelling, letter[1] ? letter + 1 : NULL);
            return error_prefix(scan->err, "%s", word);
        }
        const char *attached = option->argument && letter[1] ? letter + 1 : NULL;
        if (command_line_scan_option(scan, option, spelling, attached) < 0)
            return -1;
        if (attached)
            break;
    }
    return 0;
}

/* Options of one part, then its program and the program's arguments. Stops at the lone colon behind
 * them or at the end. */
static int scan_one_part(struct scan *scan)
{
    while (*scan->at && (*scan->at)[0] == '-' && (*scan->at)[1]) {
        const char *word = *scan->at++;
        bool known = word[1] == '-';
        if (strcmp(word, "--") == 0)
            break;
        int rc = known ? scan_long(scan, word) : scan_single_dash(scan, word, &known);
        if (!known)
            rc = scan_letters(scan, word);
        if (rc < 0)
            return -1;
        if (scan->command->action != OPTIONS_RUN)
            return 0;
    }
    struct command_part *part = command_line_scan_part(scan);
    part->words = scan->at;
    for (; *scan->at && !word_is_colon(*scan->at); scan->at++)
        part->nwords++;
    if (part->nwords && !scan->typed)
        return error_set(scan->err, "\"%s\" is not an option: programs stand on the command line",
                         part->words[0]);
    return 0;
}

int command_scan(char *const *words, bool typed, struct command *command, struct error *err)
{
    struct scan scan = {.at = words, .typed = typed, .command = command, .err = err};
    *command = (struct command){.action = OPTIONS_RUN};
    for (;;) {
        command->parts = array_grow(command->parts, command->nparts, sizeof(command->parts[0]));
        command->parts[command->nparts++] = (struct command_part){0};
        if (scan_one_part(&scan) < 0)
            return -1;
        if (!*scan.at || command->action != OPTIONS_RUN)
            return 0;
        if (!typed)
            return error_set(err, "\":\" is not an option: programs stand on the command line");
        scan.at++;
    }
}

void command_free(struct command *command)
{
    for (size_t i = 0; i < command->nparts; i++) {
        for (size_t j = 0; j < command->parts[i].noptions; j++)
            free(command->parts[i].options[j].spelling);
        free(command->parts[i].options);
    }
    free(command->parts);
    *command = (struct command){0};
}
