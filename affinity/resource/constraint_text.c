/* Constraints from text: the query syntax of RFC 35, or JSON. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/constraint_private.h"
#include "base/mem.h"
#include "base/text.h"

struct constraint_text {
    const char *text;
    size_t len;
    size_t at;
    size_t nhosts;
    struct error *err;
};

static struct constraint *constraint_parse_or(struct constraint_text *in, size_t depth);

static struct constraint *constraint_bad(const struct constraint_text *in, size_t at,
                                         const char *what)
{
    error_set(in->err, "constraint: %s%s", what, pointer(in->text, in->len, at).text);
    return NULL;
}

static char constraint_peek(struct constraint_text *in)
{
    in->at += strspn(in->text + in->at, " \t\r\n");
    return in->text[in->at];
}

/* The bytes up to what ends a word: `more` as well as what always does. */
static size_t constraint_word(const struct constraint_text *in, const char *more)
{
    size_t end = in->at;
    for (char c = in->text[end]; c; c = in->text[++end])
        if (strchr(" \t\r\n()&|\"'", c) || strchr(more, c))
            break;
    return end - in->at;
}

/* The keyword is next, and nothing that makes it longer. */
static bool constraint_keyword(struct constraint_text *in, const char *keyword)
{
    constraint_peek(in);
    size_t len = strlen(keyword);
    if (constraint_word(in, "") != len || strncmp(in->text + in->at, keyword, len) != 0)
        return false;
    in->at += len;
    return true;
}

/* `&`, `&&` or `and`; `|`, `||` or `or`. */
static bool constraint_take_operator(struct constraint_text *in, char sign, const char *keyword)
{
    if (constraint_peek(in) != sign)
        return constraint_keyword(in, keyword);
    in->at++;
    in->at += in->text[in->at] == sign;
    return true;
}

static const struct {
    const char *name;
    enum constraint_kind kind;
} constraint_terms[] = {
    {"host", CONSTRAINT_HOSTLIST},         {"hosts", CONSTRAINT_HOSTLIST},
    {"hostlist", CONSTRAINT_HOSTLIST},     {"rank", CONSTRAINT_RANKS},
    {"ranks", CONSTRAINT_RANKS},           {"property", CONSTRAINT_PROPERTIES},
    {"properties", CONSTRAINT_PROPERTIES},
};

/* `name:` in front of a term; a term without one is a property. */
static enum constraint_kind constraint_read_kind(struct constraint_text *in)
{
    const char *start = in->text + in->at;
    size_t len = constraint_word(in, ":");
    if (start[len] != ':')
        return CONSTRAINT_PROPERTIES;
    for (size_t i = 0; i < sizeof(constraint_terms) / sizeof(*constraint_terms); i++) {
        const char *name = constraint_terms[i].name;
        if (strlen(name) == len && strncmp(name, start, len) == 0) {
            in->at += len + 1;
            return constraint_terms[i].kind;
        }
    }
    constraint_bad(in, in->at,
                   "host:, rank: and property: are known, this is not; quotes make it "
                   "a property's name");
    return CONSTRAINT_KINDS;
}

/* What the term is about, quoted or not. Caller frees; NULL: refused. */
static char *constraint_read_operand(struct constraint_text *in)
{
    char quote = in->text[in->at];
    const char *start = in->text + in->at;
    if (quote == '"' || quote == '\'') {
        const char *end = strchr(start + 1, quote);
        if (!end) {
            constraint_bad(in, in->at, "the quote is not closed");
            return NULL;
        }
        in->at += (size_t)(end - start) + 1;
        return mem_copy_text_n(start + 1, (size_t)(end - start) - 1);
    }
    size_t len = constraint_word(in, "");
    if (!len) {
        constraint_bad(in, in->at, "a term is missing here; ssd, host:NAMES or rank:IDS is one");
        return NULL;
    }
    in->at += len;
    return mem_copy_text_n(start, len);
}

static struct constraint *constraint_parse_term(struct constraint_text *in)
{
    size_t start = in->at;
    enum constraint_kind kind = constraint_read_kind(in);
    char *operand = kind == CONSTRAINT_KINDS ? NULL : constraint_read_operand(in);
    if (!operand)
        return NULL;
    struct constraint *leaf = constraint_new(kind);
    int rc = constraint_add_value(leaf, operand, &in->nhosts, in->err);
    free(operand);
    if (rc == 0)
        return leaf;
    if (in->err && in->err->text) { /* the sentence there is, with a caret */
        struct error plain = ERROR_INIT;
        error_set(&plain, "%s%s", in->err->text, pointer(in->text, in->len, start).text);
        error_set(in->err, "%s", plain.text);
        error_clear(&plain);
    }
    constraint_free(leaf);
    return NULL;
}

/* `part` is taken; NULL stays NULL. */
static struct constraint *constraint_negate(struct constraint *part)
{
    if (!part)
        return NULL;
    struct constraint *out = constraint_new(CONSTRAINT_NOT);
    constraint_add(out, part);
    return out;
}

static struct constraint *constraint_parse_group(struct constraint_text *in, size_t depth)
{
    size_t open = in->at++;
    struct constraint *inside = constraint_parse_or(in, depth + 1);
    if (!inside)
        return NULL;
    if (constraint_peek(in) == ')') {
        in->at++;
        return inside;
    }
    constraint_free(inside);
    return constraint_bad(in, open, "this parenthesis is not closed");
}

static struct constraint *constraint_parse_one(struct constraint_text *in, size_t depth)
{
    size_t start = in->at;
    if (depth > CONSTRAINT_MAX_DEPTH)
        return constraint_bad(in, in->at, "it is nested more than 64 deep");
    if (constraint_keyword(in, "not"))
        return constraint_negate(constraint_parse_one(in, depth + 1));
    if (constraint_keyword(in, "and") || constraint_keyword(in, "or"))
        return constraint_bad(in, start + strspn(in->text + start, " \t\r\n"),
                              "something to join is missing in front of this");
    char c = constraint_peek(in);
    if (c == '(')
        return constraint_parse_group(in, depth);
    if (c != '-')
        return constraint_parse_term(in);
    c = in->text[++in->at];
    if (!c || strchr("( \t\r\n-", c))
        return constraint_bad(in, in->at - 1,
                              "a '-' stands right in front of a term; not (...) negates more");
    return constraint_negate(constraint_parse_term(in));
}

/* `first` and `more` joined; both are taken, either may be NULL: then so is what comes back. */
static struct constraint *constraint_joined(enum constraint_kind kind, struct constraint *list,
                                            struct constraint *first, struct constraint *more)
{
    if (!more) {
        constraint_free(list ? list : first);
        return NULL;
    }
    if (!list) {
        list = constraint_new(kind);
        constraint_add(list, first);
    }
    constraint_add(list, more);
    return list;
}

/* Another term follows: by an operator, or simply so. */
static bool constraint_goes_on(struct constraint_text *in)
{
    if (constraint_take_operator(in, '&', "and"))
        return true;
    size_t at = in->at;
    char c = constraint_peek(in);
    bool is_or = constraint_keyword(in, "or");
    in->at = at;
    return c && c != '|' && c != ')' && !is_or;
}

static struct constraint *constraint_parse_and(struct constraint_text *in, size_t depth)
{
    struct constraint *first = constraint_parse_one(in, depth), *list = NULL;
    while (first && constraint_goes_on(in)) {
        list = constraint_joined(CONSTRAINT_AND, list, first, constraint_parse_one(in, depth));
        if (!list)
            return NULL;
    }
    return list ? list : first;
}

static struct constraint *constraint_parse_or(struct constraint_text *in, size_t depth)
{
    struct constraint *first = constraint_parse_and(in, depth), *list = NULL;
    while (first && constraint_take_operator(in, '|', "or")) {
        list = constraint_joined(CONSTRAINT_OR, list, first, constraint_parse_and(in, depth));
        if (!list)
            return NULL;
    }
    return list ? list : first;
}

/* A level of parentheses may be two of the tree, which has the same limit from JSON. */
static bool constraint_is_shallow(const struct constraint *constraint, size_t left)
{
    if (!left)
        return false;
    for (size_t i = 0; i < constraint->nparts; i++)
        if (!constraint_is_shallow(constraint->parts[i], left - 1))
            return false;
    return true;
}

static struct constraint *constraint_parse(const char *text, size_t len, struct error *err)
{
    struct constraint_text in = {.text = text, .len = len, .err = err};
    json_t *valid = json_stringn(text, len);
    json_decref(valid);
    if (!valid)
        return constraint_bad(&in, 0, "the text is not UTF-8");
    struct constraint *all = constraint_parse_or(&in, 1);
    const char *why = NULL;
    if (all && constraint_peek(&in))
        why = "this closes nothing";
    else if (all && !constraint_is_shallow(all, CONSTRAINT_MAX_DEPTH))
        why = "it is nested more than 64 deep";
    if (!why)
        return all;
    constraint_free(all);
    return constraint_bad(&in, in.at, why);
}

static struct constraint *constraint_decode_json(const char *text, size_t len, struct error *err)
{
    json_error_t bad;
    json_t *value = json_loadb(text, len, JSON_REJECT_DUPLICATES, &bad);
    if (!value) {
        size_t at = bad.position < 0 || (size_t)bad.position > len ? len : (size_t)bad.position;
        error_set(err, "constraint: not JSON: %s%s", bad.text, pointer(text, len, at).text);
        return NULL;
    }
    struct constraint *constraint = constraint_from_json(value, err);
    json_decref(value);
    return constraint;
}

struct constraint *constraint_decode(const char *text, struct error *err)
{
    size_t len = strnlen(text, CONSTRAINT_MAX_TEXT + 1);
    if (len > CONSTRAINT_MAX_TEXT) {
        error_set(err, "constraint: the text is longer than %u bytes", CONSTRAINT_MAX_TEXT);
        return NULL;
    }
    if (text[strspn(text, " \t\r\n")] == '{')
        return constraint_decode_json(text, len, err);
    return constraint_parse(text, len, err);
}
