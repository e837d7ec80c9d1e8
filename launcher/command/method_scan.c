/* The command line of a program with methods, sorted into options and operands. */
#include <stdlib.h>
#include <string.h>

#include "base/edit_distance.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/command/method.h"

/* ---- options ---- */

static bool is_offered(const struct method_call *call, int option)
{
    const struct method_offer *offer = call->method->offers;
    while (offer->help && offer->option != option)
        offer++;
    return offer->help || option == call->program->help;
}

/* The number of the option; noptions where there is none. */
static int find_option(const struct method_call *call, const char *name, size_t len)
{
    for (int i = 0; i < call->program->noptions; i++) {
        const struct method_option *row = &call->program->options[i];
        bool same = len == 1 ? row->letter == *name
                             : strlen(row->name) == len && memcmp(row->name, name, len) == 0;
        if (same && is_offered(call, i))
            return i;
    }
    return call->program->noptions;
}

static int say_unknown(const struct method_call *call, const char *word, const char *name,
                       size_t len, struct error *err)
{
    const struct method *method = call->method;
    const char **names = mem_array((size_t)call->program->noptions + 1, sizeof(*names));
    size_t n = 0;
    for (int i = 0; i < call->program->noptions; i++)
        if (is_offered(call, i))
            names[n++] = call->program->options[i].name;
    const char *near = edit_distance_word(names, name, len);
    free(names);
    if (near)
        return error_usage(err, "unknown option %s of %s: the nearest is --%s",
                           excerpt(word, strlen(word)).text, method->name, near);
    return error_usage(err, "unknown option %s of %s", excerpt(word, strlen(word)).text,
                       method->name);
}

static void add_given(struct method_call *call, int option, const char *value)
{
    call->given = array_grow(call->given, call->ngiven, sizeof(*call->given));
    call->given[call->ngiven++] = (struct method_given){option, value};
}

/* words[*at] begins with a dash; *at becomes the last word that was taken. */
static int scan_option(struct method_call *call, char *const *words, size_t *at, struct error *err)
{
    const char *word = words[*at];
    bool is_long = word[1] == '-';
    const char *name = word + (is_long ? 2 : 1), *value = NULL;
    size_t len = is_long ? strcspn(name, "=") : 1;
    size_t whole = strcspn(name, "=");
    int option = find_option(call, name, len);
    bool one_dash =
        !is_long && whole > 1 && find_option(call, name, whole) < call->program->noptions;
    if (option == call->program->noptions || one_dash || (is_long && len < 2))
        return say_unknown(call, word, name, whole, err);
    const struct method_option *row = &call->program->options[option];
    if (name[len])
        value = name + len + is_long;
    if (value && !row->argument && !is_long)
        return say_unknown(call, word, name, whole, err);
    if (value && !row->argument)
        return error_usage(err, "--%s takes no value", row->name);
    if (!value && row->argument)
        value = words[*at + 1] ? words[++*at] : NULL;
    if (!value && row->argument)
        return error_usage(err, "--%s: missing %s", row->name, row->argument);
    add_given(call, option, value);
    return 0;
}

const char *method_next(const struct method_call *call, int option, size_t *at)
{
    while (*at < call->ngiven) {
        const struct method_given *given = &call->given[(*at)++];
        if (given->option == option)
            return given->value ? given->value : "";
    }
    return NULL;
}

const char *method_value(const struct method_call *call, int option)
{
    const char *value, *last = NULL;
    for (size_t at = 0; (value = method_next(call, option, &at));)
        last = value;
    return last;
}

/* ---- the line ---- */

/* Of any method: NULL where the word is no option of the program. */
static const struct method_option *known_option(const struct method_program *program,
                                                const char *word)
{
    bool is_long = word[1] == '-';
    const char *name = word + (is_long ? 2 : 1);
    size_t len = strcspn(name, "=");
    for (int i = 0; i < program->noptions; i++) {
        const struct method_option *row = &program->options[i];
        if (is_long ? strlen(row->name) == len && memcmp(row->name, name, len) == 0
                    : row->letter && row->letter == *name)
            return row;
    }
    return NULL;
}

/* How many words stand before the method: options, and their arguments. */
static size_t count_before(const struct method_program *program, char *const *words)
{
    size_t at = 0;
    while (words[at] && words[at][0] == '-' && words[at][1] && strcmp(words[at], "--") != 0) {
        const char *word = words[at++];
        const struct method_option *row = known_option(program, word);
        bool attached = word[1] == '-' ? strchr(word, '=') != NULL : word[2] != '\0';
        at += row && row->argument && !attached && words[at];
    }
    return at;
}

static int find_method(const char *word, struct method_call *call, struct error *err)
{
    const char *names[64];
    size_t n = 0;
    if (!word)
        return error_usage(err, "missing method");
    for (const struct method *method = call->program->methods; method->name && n < 63; method++) {
        if (strcmp(method->name, word) == 0) {
            call->method = method;
            return 0;
        }
        names[n++] = method->name;
    }
    names[n] = NULL;
    for (const struct method_hint *hint = call->program->hints; hint && hint->word; hint++)
        if (strcmp(hint->word, word) == 0)
            return error_usage(err, "unknown method %s: write %s", excerpt(word, strlen(word)).text,
                               hint->method);
    const char *near = edit_distance_word(names, word, strlen(word));
    if (near)
        return error_usage(err, "unknown method %s: the nearest is %s",
                           excerpt(word, strlen(word)).text, near);
    return error_usage(err, "unknown method %s", excerpt(word, strlen(word)).text);
}

static int check_operands(const struct method_call *call, struct error *err)
{
    const struct method *method = call->method;
    if (call->nwords > method->most)
        return error_usage(
            err, "unexpected operand %s (expected %s %s%s%s)",
            excerpt(call->words[method->most], strlen(call->words[method->most])).text,
            call->program->name, method->name, *method->usage ? " " : "", method->usage);
    if (call->nwords < method->least)
        return error_usage(err, "missing operand (expected %s %s %s)", call->program->name,
                           method->name, method->usage);
    return 0;
}

static bool asks_for_help(const char *word)
{
    return word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0);
}

int method_scan(const struct method_program *program, char *const *words, struct method_call *call,
                struct error *err)
{
    size_t count = 0, before = count_before(program, words);
    call->program = program;
    while (words[count])
        count++;
    if (asks_for_help(words[0]) || (words[0] && strcmp(words[0], "help") == 0 && !words[1])) {
        add_given(call, program->help, NULL);
        return 0;
    }
    bool is_wrong = !words[before] && before && !known_option(program, words[0]);
    if (find_method(is_wrong ? words[0] : words[before], call, err) < 0)
        return -1;
    call->words = mem_array(count, sizeof(*call->words));
    bool options = true;
    for (size_t at = 0; words[at]; at++) {
        const char *word = words[at];
        if (at == before)
            continue;
        bool whole = call->method->most == METHOD_ALL && at > before;
        if (options && asks_for_help(word) && (!whole || at == before + 1)) {
            add_given(call, program->help, NULL);
            return 0;
        }
        if (whole)
            call->words[call->nwords++] = word;
        else if (options && strcmp(word, "--") == 0)
            options = false;
        else if (!options || word[0] != '-' || !word[1])
            call->words[call->nwords++] = word;
        else if (scan_option(call, words, &at, err) < 0)
            return -1;
    }
    return check_operands(call, err);
}

void method_call_clear(struct method_call *call)
{
    free(call->given);
    free(call->words);
}
