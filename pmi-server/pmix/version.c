/* The versions of openpmix that are known, and the structs that each of them reads. */
#include "pmi-server/pmix/version.h"

#include <stdlib.h>
#include <string.h>

#define V(major, minor, release) ((major) << 16 | (minor) << 8 | (release))

/* Of the versions `first` to `last`, whose headers say it; 0 where they do not have an upcall. */
static const struct layout {
    unsigned first, last;
    struct module_layout module;
} layouts[] = {
    {V(4, 2, 0), V(4, 2, 9), {28, 0, 0, 0}},    {V(5, 0, 0), V(5, 0, 11), {29, 0, 0, 28}},
    {V(6, 0, 0), V(6, 0, 0), {30, 0, 0, 28}},   {V(6, 1, 0), V(6, 1, 1), {32, 28, 29, 30}},
    {V(7, 0, 0), V(7, 0, 0), {32, 28, 29, 30}},
};
#define NLAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

/* Some candidates of these releases have the struct of a later version. */
static const unsigned doubtful[] = {V(4, 2, 3), V(5, 0, 10)};

static unsigned number_of(const struct pmix_version *version)
{
    return V(version->major, version->minor, version->release);
}

struct pmix_version pmix_version_of(const char *text)
{
    struct pmix_version version = {0};
    unsigned *const parts[] = {&version.major, &version.minor, &version.release};
    text += strcspn(text, "0123456789(");
    size_t len = strcspn(text, " ,("), at = 0;
    if (len >= sizeof(version.text))
        len = sizeof(version.text) - 1;
    memcpy(version.text, text, len);
    for (size_t i = 0; i < 3; i++) {
        char *end;
        unsigned long part = strtoul(version.text + at, &end, 10);
        *parts[i] = part > 255 ? 255 : (unsigned)part;
        at = (size_t)(end - version.text) + (*end == '.');
    }
    version.candidate = version.text[at] != '\0';
    return version;
}

bool pmix_version_known(const struct pmix_version *version)
{
    return number_of(version) >= layouts[0].first &&
           version->major <= layouts[NLAYOUTS - 1].first >> 16;
}

const struct module_layout *pmix_version_layout(const struct pmix_version *version)
{
    unsigned number = number_of(version);
    for (size_t i = 0; i < sizeof(doubtful) / sizeof(doubtful[0]); i++)
        if (version->candidate && number == doubtful[i])
            return NULL;
    for (size_t i = 0; i < NLAYOUTS; i++)
        if (number >= layouts[i].first && number <= layouts[i].last)
            return &layouts[i].module;
    return NULL;
}
