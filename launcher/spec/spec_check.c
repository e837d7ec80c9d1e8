/* --shape, --requires and --mpi as texts, and shapes of several parts beside each other. */
#include "launcher/spec/spec_check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/constraint.h"
#include "affinity/sets/idset.h"
#include "affinity/shape/shape.h"
#include "affinity/treepool/request.h"
#include "base/mem.h"
#include "base/text.h"

/* Who calls says what it is, and the noun need not stand there twice. */
static int without_noun(const char *noun, struct error *err)
{
    size_t len = strlen(noun);
    const char *text = error_text(err);
    return error_set(err, "%s", strncmp(text, noun, len) == 0 ? text + len : text);
}

int spec_shape_check(const char *text, struct error *err)
{
    struct shape *shape = shape_decode(text, err);
    struct request *request = shape ? request_from_shape(shape, err) : NULL;
    int rc = request ? 0 : without_noun("shape: ", err);
    request_free(request);
    shape_free(shape);
    return rc;
}

int spec_requires_check(const char *text, struct error *err)
{
    struct constraint *constraint = constraint_decode(text, err);
    int rc = constraint ? 0 : without_noun("constraint: ", err);
    constraint_free(constraint);
    return rc;
}

bool spec_has_shape(const struct spec *spec)
{
    return spec->nparts && spec->parts[0].shape;
}

int spec_check_shapes(const struct spec *spec, struct error *err)
{
    bool shaped = spec_has_shape(spec);
    for (size_t i = 1; i < spec->nparts; i++)
        if (shaped != !!spec->parts[i].shape)
            return error_usage(err,
                               "--shape says what part %zu gets, and part %zu has none: give every "
                               "part a shape, or none of them",
                               shaped ? 1 : i + 1, shaped ? i + 1 : 1);
    if (shaped && spec->nnodes)
        return error_usage(err,
                           "-N %u: --shape says on how many nodes, as in node=%u/slot/core: leave "
                           "out -N",
                           spec->nnodes, spec->nnodes);
    if (shaped && spec->on)
        return error_usage(err, "--on and --shape both say what is allocated: leave one of them "
                                "out, or allocate from that R (-R)");
    /* Once tasks are mapped over it, nothing tells what is allocated to one part from what is
     * allocated to the others. */
    for (size_t i = 0; shaped && spec->nparts > 1 && i < spec->nparts; i++) {
        const struct spec_part *part = &spec->parts[i];
        if (part->map || part->bind)
            return error_usage(err,
                               "part %zu: %s beside --shape is for a program of one part: leave it "
                               "out, and each task is bound to its slot",
                               i + 1, part->map ? "--map-by" : "--bind-to");
    }
    return 0;
}

static bool is_rank_0(const char *ranks)
{
    struct idset *set = ranks ? idset_decode(ranks, NULL) : NULL;
    bool alone = !ranks || (set && idset_count(set) == 1 && idset_has(set, 0));
    idset_free(set);
    return alone;
}

int spec_check_pty(const struct spec *spec, struct error *err)
{
    static const char *const others[] = {
        [SPEC_INPUT_ALL] = "all", [SPEC_INPUT_NONE] = "none", [SPEC_INPUT_TOOLS] = "tools"};
    if (!spec->pty || spec->input == SPEC_INPUT_FILE ||
        (spec->input == SPEC_INPUT_RANKS && is_rank_0(spec->input_arg)))
        return 0;
    return error_usage(
        err,
        "--pty: --input %s: with a terminal on rank 0 that rank reads, and no other: "
        "leave out --input, or name a file",
        spec->input == SPEC_INPUT_RANKS ? spec->input_arg : others[spec->input]);
}

int spec_check_mpi(const char *choice, struct error *err)
{
    bool good = choice[0] == '/' || (isalpha((unsigned char)choice[0]) && !strchr(choice, '/'));
    for (const char *at = choice; good && *at && choice[0] != '/'; at++)
        good = isalnum((unsigned char)*at) || strchr("-_. ", *at);
    return good ? 0
                : error_set(err,
                            "%s is not the name of an MPI, such as mpich or openmpi, or an "
                            "absolute path",
                            excerpt(choice, strlen(choice)).text);
}

/* A colon that a '/' follows is part of a path. */
void spec_stage_split(const char *text, char **file, char **name)
{
    const char *colon = strrchr(text, ':');
    bool named = colon && !strchr(colon, '/');
    *file = mem_copy_text_n(text, named ? (size_t)(colon - text) : strlen(text));
    const char *slash = strrchr(*file, '/');
    *name = mem_copy_text(named ? colon + 1 : slash ? slash + 1 : *file);
}

int spec_stage_check(const char *text, struct error *err)
{
    char *file, *name;
    int rc = 0;
    spec_stage_split(text, &file, &name);
    const struct excerpt shown = excerpt(text, strlen(text));
    bool is_entry = *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
    if (!*file)
        rc = error_set(err, "%s names no file: expected FILE or FILE:NAME", shown.text);
    else if (!is_entry && strlen(file) < strlen(text))
        rc = error_set(err, "%s: the name behind the colon is not that of a file", shown.text);
    else if (!is_entry)
        rc = error_set(err, "%s is a directory, and only files are staged", shown.text);
    free(file);
    free(name);
    return rc;
}

int spec_check_stage(const struct spec *spec, struct error *err)
{
    size_t count = 0;
    int rc = 0;
    while (spec->stage && spec->stage[count])
        count++;
    char **names = mem_array(count + 1, sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        char *file;
        spec_stage_split(spec->stage[i], &file, &names[i]);
        free(file);
        for (size_t other = 0; other < i && rc == 0; other++)
            if (strcmp(names[i], names[other]) == 0)
                rc = error_usage(err,
                                 "two files are called %s on the nodes: give one of them another "
                                 "name (--stage FILE:NAME)",
                                 excerpt(names[i], strlen(names[i])).text);
    }
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return rc;
}
