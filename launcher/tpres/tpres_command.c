/* The command line of tpres. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/edit_distance.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/tpres/tpres.h"

#define HELP_COLUMNS 24 /* at most, in front of what an option does */

/* ---- options ---- */

const struct tpres_option_row tpres_options[TPRES_NOPTIONS] = {
    [TPRES_CORES] = {"cores", 0, "N|IDSET"},
    [TPRES_COUNT] = {"count", 0, "N"},
    [TPRES_DRAW] = {"draw", 0, NULL},
    [TPRES_EXCLUDE] = {"exclude", 0, "HOSTLIST"},
    [TPRES_FORMAT] = {"format", 0, "text|json"},
    [TPRES_FROM] = {"from", 0, "SYSTEM"},
    [TPRES_GPUS] = {"gpus", 0, "N|IDSET"},
    [TPRES_HELD] = {"held", 0, "FILE"},
    [TPRES_HELP] = {"help", 'h', NULL},
    [TPRES_HOSTFILE] = {"hostfile", 0, "FILE"},
    [TPRES_HOSTS] = {"hosts", 0, "HOSTLIST"},
    [TPRES_NO_TOPOLOGY] = {"no-topology", 0, NULL},
    [TPRES_PROPERTY] = {"property", 0, "NAME[:RANKS]"},
    [TPRES_RANKS] = {"ranks", 0, "IDSET"},
    [TPRES_REQUIRES] = {"requires", 0, "CONSTRAINT"},
    [TPRES_RESOURCES] = {"resources", 'R', "FILE"},
    [TPRES_SLOTS] = {"slots", 0, NULL},
    [TPRES_TO] = {"to", 0, "FORM"},
    [TPRES_TOPOLOGY] = {"topology", 0, "SPEC"},
};

static bool is_offered(const struct tpres_method *method, enum tpres_option option)
{
    const struct tpres_offer *offer = method->offers;
    while (offer->help && offer->option != option)
        offer++;
    return offer->help || option == TPRES_HELP;
}

static enum tpres_option find_option(const struct tpres_method *method, const char *name,
                                     size_t len)
{
    for (int i = 0; i < TPRES_NOPTIONS; i++) {
        const struct tpres_option_row *row = &tpres_options[i];
        bool same = len == 1 ? row->letter == *name
                             : strlen(row->name) == len && memcmp(row->name, name, len) == 0;
        if (same && is_offered(method, (enum tpres_option)i))
            return (enum tpres_option)i;
    }
    return TPRES_NOPTIONS;
}

static int tpres_command_say_unknown(const struct tpres_method *method, const char *word,
                                     const char *name, size_t len, struct error *err)
{
    const char *names[TPRES_NOPTIONS + 1];
    size_t n = 0;
    for (int i = 0; i < TPRES_NOPTIONS; i++)
        if (is_offered(method, (enum tpres_option)i))
            names[n++] = tpres_options[i].name;
    names[n] = NULL;
    const char *near = edit_distance_word(names, name, len);
    if (near)
        return error_usage(err, "unknown option %s of %s: the nearest is --%s",
                           excerpt(word, strlen(word)).text, method->name, near);
    return error_usage(err, "unknown option %s of %s", excerpt(word, strlen(word)).text,
                       method->name);
}

static void add_given(struct tpres_call *call, enum tpres_option option, const char *value)
{
    call->given = array_grow(call->given, call->ngiven, sizeof(*call->given));
    call->given[call->ngiven++] = (struct tpres_given){option, value};
}

/* words[*at] begins with a dash; *at becomes the last word that was taken. */
static int tpres_command_scan_option(struct tpres_call *call, char *const *words, size_t *at,
                                     struct error *err)
{
    const char *word = words[*at];
    bool is_long = word[1] == '-';
    const char *name = word + (is_long ? 2 : 1), *value = NULL;
    size_t len = is_long ? strcspn(name, "=") : 1;
    size_t whole = strcspn(name, "=");
    enum tpres_option option = find_option(call->method, name, len);
    bool one_dash =
        !is_long && whole > 1 && find_option(call->method, name, whole) < TPRES_NOPTIONS;
    if (option == TPRES_NOPTIONS || one_dash || (is_long && len < 2))
        return tpres_command_say_unknown(call->method, word, name, whole, err);
    const struct tpres_option_row *row = &tpres_options[option];
    if (name[len])
        value = name + len + is_long;
    if (value && !row->argument && !is_long)
        return tpres_command_say_unknown(call->method, word, name, whole, err);
    if (value && !row->argument)
        return error_usage(err, "--%s takes no value", row->name);
    if (!value && row->argument)
        value = words[*at + 1] ? words[++*at] : NULL;
    if (!value && row->argument)
        return error_usage(err, "--%s: missing %s", row->name, row->argument);
    add_given(call, option, value);
    return 0;
}

const char *tpres_next(const struct tpres_call *call, enum tpres_option option, size_t *at)
{
    while (*at < call->ngiven) {
        const struct tpres_given *given = &call->given[(*at)++];
        if (given->option == option)
            return given->value ? given->value : "";
    }
    return NULL;
}

const char *tpres_value(const struct tpres_call *call, enum tpres_option option)
{
    const char *value, *last = NULL;
    for (size_t at = 0; (value = tpres_next(call, option, &at));)
        last = value;
    return last;
}

/* ---- the line ---- */

static int find_method(const struct tpres_method *methods, const char *word,
                       struct tpres_call *call, struct error *err)
{
    const char *names[64];
    size_t n = 0;
    if (!word)
        return error_usage(err, "missing method");
    for (const struct tpres_method *method = methods; method->name && n < 63; method++) {
        if (strcmp(method->name, word) == 0) {
            call->method = method;
            return 0;
        }
        names[n++] = method->name;
    }
    names[n] = NULL;
    const char *near = edit_distance_word(names, word, strlen(word));
    if (near)
        return error_usage(err, "unknown method %s: the nearest is %s",
                           excerpt(word, strlen(word)).text, near);
    return error_usage(err, "unknown method %s", excerpt(word, strlen(word)).text);
}

static int check_operands(const struct tpres_call *call, struct error *err)
{
    const struct tpres_method *method = call->method;
    if (call->nwords > method->most)
        return error_usage(
            err, "unexpected operand %s (expected tpres %s %s)",
            excerpt(call->words[method->most], strlen(call->words[method->most])).text,
            method->name, method->usage);
    if (call->nwords < method->least)
        return error_usage(err, "missing operand (expected tpres %s %s)", method->name,
                           method->usage);
    return 0;
}

static bool asks_for_help(const char *word)
{
    return word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0);
}

int tpres_scan(const struct tpres_method *methods, char *const *words, struct tpres_call *call,
               struct error *err)
{
    size_t count = 0, at = 1;
    while (words[count])
        count++;
    if (asks_for_help(words[0]) || (words[0] && strcmp(words[0], "help") == 0 && !words[1])) {
        add_given(call, TPRES_HELP, NULL);
        return 0;
    }
    if (find_method(methods, words[0], call, err) < 0)
        return -1;
    call->words = mem_array(count, sizeof(*call->words));
    for (bool options = true; words[at]; at++) {
        const char *word = words[at];
        if (options && asks_for_help(word)) {
            add_given(call, TPRES_HELP, NULL);
            return 0;
        }
        if (options && strcmp(word, "--") == 0)
            options = false;
        else if (!options || word[0] != '-' || !word[1])
            call->words[call->nwords++] = word;
        else if (tpres_command_scan_option(call, words, &at, err) < 0)
            return -1;
    }
    return check_operands(call, err);
}

void tpres_call_clear(struct tpres_call *call)
{
    free(call->given);
    free(call->words);
}

/* ---- help ---- */

static char *help_of_method(const struct tpres_method *method)
{
    struct buf help = BUF_INIT;
    buf_printf(&help, "usage: tpres %s%s%s\n%s.\n", method->name, *method->usage ? " " : "",
               method->usage, method->about);
    if (method->help)
        buf_printf(&help, "\n%s", method->help);
    if (method->offers->help)
        buf_add_text(&help, "\n");
    for (const struct tpres_offer *offer = method->offers; offer->help; offer++) {
        const struct tpres_option_row *row = &tpres_options[offer->option];
        char letter[8] = "";
        if (row->letter)
            snprintf(letter, sizeof(letter), "-%c, ", row->letter);
        char *left = mem_format("%s--%s%s%s", letter, row->name, row->argument ? " " : "",
                                row->argument ? row->argument : "");
        buf_printf(&help, "  %-*s %s\n", HELP_COLUMNS, left, offer->help);
        free(left);
    }
    return buf_take_text(&help);
}

char *tpres_help(const struct tpres_method *methods, const struct tpres_method *method)
{
    struct buf help = BUF_INIT;
    if (method)
        return help_of_method(method);
    buf_add_text(&help, "usage: tpres METHOD [OPTION...] [FILE...]\n"
                        "Resource sets (tprun-R(5)): find, make, look at, cut and join them.\n\n");
    for (const struct tpres_method *each = methods; each->name; each++)
        buf_printf(&help, "  %-10s %s\n", each->name, each->about);
    buf_add_text(&help, "\nA FILE of - is stdin, which is also read where a FILE is left out.\n"
                        "'tpres METHOD --help' says more; tpres(1) all.\n");
    return buf_take_text(&help);
}
