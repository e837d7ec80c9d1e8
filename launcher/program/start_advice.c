/* What helps where a node lacks the program or the working directory of a task. */
#include "launcher/program/start_advice.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

char *start_advice(const struct spec *spec, const char *text)
{
    static const char no_directory[] = "cannot enter directory ";
    char *advice = NULL;
    for (size_t i = 0; text && !advice && i < spec->nparts; i++) {
        const char *name = spec->parts[i].argv[0];
        char *missing = mem_format("cannot run %s: no such file", name);
        if (strcmp(text, missing) == 0 && access(name, X_OK) == 0)
            advice = mem_format("%s there; --stage %s copies it from this machine", text, name);
        else if (strncmp(text, no_directory, strlen(no_directory)) == 0 && !spec->parts[i].chdir)
            advice = mem_format("%s; --chdir names another", text);
        free(missing);
    }
    return advice;
}
