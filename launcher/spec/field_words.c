/* The words of a spec, and readers of its values: for the options and for the JSON form. */
#include "launcher/spec/field_words.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "affinity/layout/layout.h"
#include "affinity/sets/hostlist.h"
#include "affinity/sets/idset.h"
#include "base/buf.h"
#include "base/duration.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "config.h"
#include "launcher/process/signal_name.h"
#include "launcher/spec/spec.h"

#ifdef HAVE_PMIX
const unsigned spec_pmi_served = SPEC_PMI_1 | SPEC_PMI_2 | SPEC_PMI_X;
#else
const unsigned spec_pmi_served = SPEC_PMI_1 | SPEC_PMI_2;
#endif

const struct spec_word spec_display_words[] = {
    {"alloc", LAYOUT_SHOW_ALLOC},
    {"topo", LAYOUT_SHOW_TOPO},
    {"map", LAYOUT_SHOW_MAP},
    {"bind", LAYOUT_SHOW_BIND},
    {"all", LAYOUT_SHOW_ALLOC | LAYOUT_SHOW_TOPO | LAYOUT_SHOW_MAP | LAYOUT_SHOW_BIND},
    {NULL, 0},
};

const struct spec_word spec_format_words[] = {
    {"text", SPEC_SHOW_TEXT},
    {"json", SPEC_SHOW_JSON},
    {NULL, 0},
};

const struct spec_word spec_input_words[] = {
    {"ranks", SPEC_INPUT_RANKS}, {"all", SPEC_INPUT_ALL},     {"none", SPEC_INPUT_NONE},
    {"file", SPEC_INPUT_FILE},   {"tools", SPEC_INPUT_TOOLS}, {NULL, 0},
};

const struct spec_word spec_disconnect_words[] = {
    {"terminate", SPEC_DISCONNECT_TERMINATE},
    {"continue", SPEC_DISCONNECT_CONTINUE},
    {NULL, 0},
};

const struct spec_word spec_failure_words[] = {
    {"kill", SPEC_FAILURE_KILL},
    {"continue", SPEC_FAILURE_CONTINUE},
    {NULL, 0},
};

const struct spec_word spec_memory_words[] = {
    {"none", SPEC_MEMORY_NONE},
    {"local", SPEC_MEMORY_LOCAL},
    {NULL, 0},
};

const struct spec_word spec_pmi_words[] = {
    {"pmi1", SPEC_PMI_1},
    {"pmi2", SPEC_PMI_2},
    {"pmix", SPEC_PMI_X},
    {"auto", SPEC_PMI_AUTO},
    {NULL, 0},
};

const struct spec_word spec_rlimit_words[] = {
    {"as", RLIMIT_AS},
    {"core", RLIMIT_CORE},
    {"cpu", RLIMIT_CPU},
    {"data", RLIMIT_DATA},
    {"fsize", RLIMIT_FSIZE},
    {"locks", RLIMIT_LOCKS},
    {"memlock", RLIMIT_MEMLOCK},
    {"msgqueue", RLIMIT_MSGQUEUE},
    {"nice", RLIMIT_NICE},
    {"nofile", RLIMIT_NOFILE},
    {"nproc", RLIMIT_NPROC},
    {"rss", RLIMIT_RSS},
    {"rtprio", RLIMIT_RTPRIO},
    {"rttime", RLIMIT_RTTIME},
    {"sigpending", RLIMIT_SIGPENDING},
    {"stack", RLIMIT_STACK},
    {NULL, 0},
};

bool spec_word_find(const struct spec_word *words, const char *text, size_t len, unsigned *value)
{
    for (; words->word; words++) {
        if (strlen(words->word) == len && memcmp(words->word, text, len) == 0) {
            *value = words->value;
            return true;
        }
    }
    return false;
}

const char *spec_word_name(const struct spec_word *words, unsigned value)
{
    for (; words->word; words++)
        if (words->value == value)
            return words->word;
    return NULL;
}

char *spec_words_list(const struct spec_word *words)
{
    struct buf list = BUF_INIT;
    for (const struct spec_word *word = words; word->word; word++)
        buf_printf(&list, "%s%s", word == words ? "" : word[1].word ? ", " : " or ", word->word);
    return buf_take_text(&list);
}

int spec_word_decode(const struct spec_word *words, const char *text, size_t len, unsigned *value,
                     struct error *err)
{
    if (spec_word_find(words, text, len, value))
        return 0;
    char *list = spec_words_list(words);
    error_set(err, "unknown value %s (expected %s)", excerpt(text, len).text, list);
    free(list);
    return -1;
}

int spec_words_decode(const struct spec_word *words, const char *text, unsigned *set,
                      struct error *err)
{
    unsigned value = 0, all = 0;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        if (spec_word_decode(words, at, len, &value, err) < 0)
            return -1;
        all |= value;
        at += len;
        if (!*at)
            break;
    }
    *set = all;
    return 0;
}

int spec_number_decode(const char *text, uint32_t max, uint32_t *value, struct error *err)
{
    uint64_t number;
    if (!number_parse(text, max, &number) || !number)
        return error_set(err, "%s is not a number from 1 to %u", excerpt(text, strlen(text)).text,
                         max);
    *value = (uint32_t)number;
    return 0;
}

int spec_umask_decode(const char *text, int *value, struct error *err)
{
    int mask = 0;
    size_t len = strlen(text);
    for (const char *at = text; *at >= '0' && *at <= '7' && len <= 4; at++, len--)
        mask = mask * 8 + (*at - '0');
    if (len || !text[0] || mask > 0777)
        return error_set(err, "%s is not an octal number from 0 to 0777",
                         excerpt(text, strlen(text)).text);
    *value = mask;
    return 0;
}

int spec_signal_decode(const char *text, int *number, double *before, struct error *err)
{
    const char *at = strchr(text, '@');
    int found = at ? signal_number(text, (size_t)(at - text)) : 0;
    if (!at || !at[1])
        return error_set(
            err, "%s is not SIGNAL@DURATION, such as USR1@60s for a minute before the limit",
            excerpt(text, strlen(text)).text);
    if (!found || found == SIGSTOP)
        return error_set(err, "%s: expected the name or number of a signal before the @",
                         excerpt(text, strlen(text)).text);
    if (duration_decode(at + 1, before, err) < 0)
        return -1;
    if (!isfinite(*before) || *before <= 0)
        return error_set(err, "\"%s\" must be more than 0s and less than the limit", at + 1);
    *number = found;
    return 0;
}

char *spec_signal_encode(int number, double before)
{
    const char *name = signal_name(number);
    char *time = duration_encode(before);
    char *text = strncmp(name, "SIG", 3) == 0 ? mem_format("%s@%s", name + 3, time)
                                              : mem_format("%d@%s", number, time);
    free(time);
    return text;
}

static int spec_limit_bad(const char *text, struct error *err)
{
    return error_set(err,
                     "%s is not a limit (expected a number, with K, M, G or T for powers of 1024, "
                     "or unlimited)",
                     excerpt(text, strlen(text)).text);
}

int spec_limit_decode(const char *text, uint64_t *soft, struct error *err)
{
    static const char units[] = "KMGT";
    uint64_t value = 0;
    const char *at = text;
    if (strcmp(text, "unlimited") == 0) {
        *soft = RLIM_INFINITY;
        return 0;
    }
    for (; isdigit((unsigned char)*at); at++) {
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return spec_limit_bad(text, err);
    }
    if (at == text)
        return spec_limit_bad(text, err);
    const char *unit = *at ? strchr(units, *at) : NULL;
    if (*at && (!unit || at[1]))
        return spec_limit_bad(text, err);
    if (unit && __builtin_mul_overflow(value, UINT64_C(1) << (10 * (unit - units + 1)), &value))
        return spec_limit_bad(text, err);
    *soft = value;
    return 0;
}

bool spec_host_has_count(const char *name)
{
    struct in6_addr address;
    const char *at = strrchr(name, '@'), *host = at ? at + 1 : name;
    if (!strchr(host, ':'))
        return false;
    char *text = mem_copy_text_n(host, strcspn(host, "%"));
    bool is_address = inet_pton(AF_INET6, text, &address) == 1;
    free(text);
    return !is_address;
}

int spec_hosts_check(const char *text, struct error *err)
{
    struct hostlist *list = hostlist_decode(text, err);
    if (!list)
        return -1;
    size_t count = hostlist_count(list);
    int rc = count ? 0
                   : error_set(err, "%s names no host (expected a list such as node[0-3])",
                               excerpt(text, strlen(text)).text);
    for (size_t i = 0; i < count && rc == 0; i++) {
        const char *name = hostlist_nth(list, i);
        if (spec_host_has_count(name))
            rc = error_set(err,
                           "%s: a count belongs in a hostfile (--hostfile FILE, with a line such "
                           "as node0:2), a port in ssh's configuration",
                           excerpt(name, strlen(name)).text);
    }
    hostlist_free(list);
    return rc;
}

/* Sets are listed with commas between them. */
int spec_pset_check(const char *text, struct error *err)
{
    size_t len = strlen(text);
    bool good = len >= 1 && len <= SPEC_PSET_MAX;
    for (size_t i = 0; good && i < len; i++)
        good = (unsigned char)text[i] > ' ' && text[i] != ',' && text[i] != 0x7f;
    return good ? 0
                : error_set(err,
                            "%s is not the name of a set (expected 1 to %d bytes without blanks "
                            "and commas)",
                            excerpt(text, len).text, SPEC_PSET_MAX);
}

int spec_memory_kinds_check(const char *text, struct error *err)
{
    size_t len = strlen(text);
    bool good = len >= 1 && len <= SPEC_MEMORY_KINDS_MAX;
    for (size_t i = 0; good && i < len; i++)
        good = (unsigned char)text[i] > ' ' && text[i] != 0x7f &&
               (text[i] != ',' || (i > 0 && i + 1 < len && text[i - 1] != ','));
    return good ? 0
                : error_set(err,
                            "%s is not a list of memory kinds (expected words separated by commas, "
                            "without blanks, up to %d bytes, such as system,cuda:device)",
                            excerpt(text, len).text, SPEC_MEMORY_KINDS_MAX);
}

int spec_after_check(const char *text, struct error *err)
{
    size_t len = strcspn(text, ":");
    if (len && (!text[len] || strcmp(text + len, ":ok") == 0 || strcmp(text + len, ":any") == 0))
        return 0;
    return error_set(err, "%s is not ID, ID:ok or ID:any, such as \"17:ok\"",
                     excerpt(text, strlen(text)).text);
}

int spec_topology_check(const char *text, struct error *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1] || strcmp(equals, "=@") == 0)
        return error_set(err,
                         "%s is not HOSTLIST=DESCRIPTION or HOSTLIST=@FILE.xml, such as "
                         "\"n[0-1]=package:2 core:4 pu:2\"",
                         excerpt(text, strlen(text)).text);
    char *hosts = mem_copy_text_n(text, (size_t)(equals - text));
    int rc = spec_hosts_check(hosts, err);
    free(hosts);
    return rc;
}

int spec_pmi_check(unsigned set, struct error *err)
{
    if ((set & SPEC_PMI_AUTO) && set != SPEC_PMI_AUTO)
        return error_set(err, "auto cannot stand beside other values");
    if (set & ~(spec_pmi_served | SPEC_PMI_AUTO))
        return error_set(err, "this build has no PMIx (expected auto, pmi1, pmi2 or none)");
    return 0;
}

int spec_ranks_check(const char *text, struct error *err)
{
    struct idset *ranks = idset_decode(text, err);
    if (!ranks)
        return -1;
    bool empty = idset_empty(ranks);
    idset_free(ranks);
    return empty ? error_set(err, "%s names no rank (expected ranks such as 0 or 0-3,7)",
                             excerpt(text, strlen(text)).text)
                 : 0;
}
