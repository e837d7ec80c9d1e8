/* The directives of PMIx_Publish(), PMIx_Lookup() and PMIx_Unpublish(), read by a table. */
#include "pmi-server/pmix/publish_options.h"

#include <string.h>

#include "pmi-server/pmix/info.h"

#define UNSUPPORTED (-1)
#define DEFAULT (-2)

/* By PMIX_RANGE_... A session is what the program and others of its instance are. */
static const int ranges[] = {
    [PMIX_RANGE_UNDEF] = DEFAULT,        [PMIX_RANGE_RM] = UNSUPPORTED,
    [PMIX_RANGE_LOCAL] = RANGE_NODE,     [PMIX_RANGE_NAMESPACE] = RANGE_JOB,
    [PMIX_RANGE_SESSION] = RANGE_ALL,    [PMIX_RANGE_GLOBAL] = RANGE_ALL,
    [PMIX_RANGE_CUSTOM] = UNSUPPORTED, /* openpmix has no words for whom */
    [PMIX_RANGE_PROC_LOCAL] = RANGE_TASK};

static const int untils[] = {[PMIX_PERSIST_INDEF] = PERSIST_END,
                             [PMIX_PERSIST_FIRST_READ] = PERSIST_READ,
                             [PMIX_PERSIST_PROC] = PERSIST_TASK,
                             [PMIX_PERSIST_APP] = PERSIST_JOB,
                             [PMIX_PERSIST_SESSION] = PERSIST_END};

/* DEFAULT: that is its value now. */
static int take_word(const int *words, size_t count, int64_t number)
{
    if (number == UINT8_MAX) /* PMIX_RANGE_INVALID, PMIX_PERSIST_INVALID */
        return DEFAULT;
    return number >= 0 && (size_t)number < count ? words[number] : UNSUPPORTED;
}

/* No name is in a range that is not served: who looks there looks everywhere. MPI_Lookup_name() of Open
 * MPI 5.0 and 6.0 passes whatever its stack held. */
static int take_range(struct publish_options *options, int64_t number)
{
    int word = take_word(ranges, sizeof(ranges) / sizeof(*ranges), number);
    if (word == UNSUPPORTED && options->looks)
        return 0;
    if (word >= 0)
        options->range = (enum publish_range)word;
    options->ranged = options->ranged || word >= 0;
    return word == UNSUPPORTED ? -1 : 0;
}

static int take_persistence(struct publish_options *options, int64_t number)
{
    int word = take_word(untils, sizeof(untils) / sizeof(*untils), number);
    if (word >= 0)
        options->until = (enum publish_persistence)word;
    return word == UNSUPPORTED ? -1 : 0;
}

/* As a number it is how many; as a truth (Open MPI's) it is all. */
static int take_wait(struct publish_options *options, int64_t number)
{
    options->waits = true;
    options->wanted = number > 0 && number < UINT32_MAX ? (uint32_t)number : 0;
    return 0;
}

static int take_timeout(struct publish_options *options, int64_t number)
{
    options->timeout = number > 0 ? (double)number : 0;
    return 0;
}

static int pass_over(struct publish_options *options, int64_t number)
{
    (void)options, (void)number;
    return 0;
}

static const struct {
    const char *key;
    int (*take)(struct publish_options *options, int64_t number);
} option_table[] = {
    {PMIX_RANGE, take_range}, {PMIX_PERSISTENCE, take_persistence},
    {PMIX_WAIT, take_wait},   {PMIX_TIMEOUT, take_timeout},
    {PMIX_USERID, pass_over}, /* all are one user's; the library adds it */
    {PMIX_GRPID, pass_over},
};

#define NOPTIONS (sizeof(option_table) / sizeof(*option_table))

/* Its row, NOPTIONS: it is none. */
static size_t option_of(const pmix_info_t *info)
{
    size_t i = 0;
    while (i < NOPTIONS && strncmp(info->key, option_table[i].key, PMIX_MAX_KEYLEN) != 0)
        i++;
    return i;
}

bool publish_is_option(const pmix_info_t *info)
{
    return option_of(info) < NOPTIONS;
}

pmix_status_t publish_options(struct publish_options *options, const pmix_info_t info[],
                              size_t ninfo)
{
    *options =
        (struct publish_options){.range = RANGE_ALL, .until = PERSIST_JOB, .looks = options->looks};
    for (size_t i = 0; i < ninfo; i++) {
        size_t row = option_of(&info[i]);
        const pmix_value_t *value = &info[i].value;
        if (row == NOPTIONS || (value->type == PMIX_BOOL && !value->data.flag))
            continue;
        /* A truth that is one, or nothing, is as 0: of PMIX_WAIT all, of others what they have anyhow. */
        int64_t number = 0;
        if (value->type != PMIX_BOOL && value->type != PMIX_UNDEF &&
            !info_value_number(value, &number))
            return PMIX_ERR_BAD_PARAM;
        if (option_table[row].take(options, number) < 0)
            return PMIX_ERR_NOT_SUPPORTED;
    }
    return PMIX_SUCCESS;
}
