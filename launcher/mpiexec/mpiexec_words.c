/* What all readers of a foreign command line use: the part that is being read, pieces of values, and words that
 * were made already. */
#include <string.h>
#include <strings.h>

#include "launcher/mpiexec/mpiexec_private.h"

const char *mpiexec_value(const struct string_list *words, const char *option)
{
    size_t len = strlen(option);
    for (size_t i = words->count; i > 0; i--)
        if (strncmp(words->list[i - 1], option, len) == 0)
            return words->list[i - 1] + len;
    return NULL;
}

struct mpiexec_text mpiexec_text_cut(const char **value, const char *ends)
{
    struct mpiexec_text text = {*value, strcspn(*value, ends)};
    *value += text.len;
    *value += **value != '\0';
    return text;
}

bool mpiexec_text_begins(struct mpiexec_text text, const char *word, size_t least)
{
    return text.len >= least && text.len <= strlen(word) &&
           strncasecmp(text.at, word, text.len) == 0;
}

struct mpiexec_part *mpiexec_part(struct mpiexec *mpiexec)
{
    return &mpiexec->parts[mpiexec->nparts - 1];
}
