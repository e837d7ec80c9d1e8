/* Cases of rank files and task maps, and where each rank has to be. */
#ifndef TESTS_UNIT_RANKFILE_CASES_H
#define TESTS_UNIT_RANKFILE_CASES_H

#include "tests/unit/world.h"

#define BIG "package:2 core:4 pu:2"
#define FLAT "core:4 pu:1"

struct rankfile_case {
    const char *machines;
    uint32_t node_count;
    struct layout_part part;
    const char *ranks;  /* of a rank file; NULL: part.taskmap has a map */
    const char *expect; /* as describe(), or the whole refusal */
    const char *claims; /* as describe_claims(); NULL: is not looked at, or it is refused */
};

static inline struct rankfile *read_ranks(const char *text)
{
    struct error err = ERROR_INIT;
    if (!text)
        return NULL;
    struct rankfile *file = rankfile_parse("ranks", text, strlen(text), &err);
    if (!file)
        fail_msg("%s: %s", text, error_text(&err));
    return file;
}

static inline void check_placed(const struct rankfile_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct world world;
        struct rankfile *file = read_ranks(cases[i].ranks);
        world_make(&world, cases[i].machines);
        world.parts[0] = cases[i].part;
        world.parts[0].rankfile = file;
        world.request.node_count = cases[i].node_count;
        struct layout *layout = make(&world);
        char *text = describe(layout), *claims = describe_claims(layout);
        if (strcmp(text, cases[i].expect) != 0)
            fail_msg("case %zu: %s, not %s", i, text, cases[i].expect);
        if (cases[i].claims && strcmp(claims, cases[i].claims) != 0)
            fail_msg("case %zu: claims %s, not %s", i, claims, cases[i].claims);
        for (uint32_t rank = 0; rank < layout->ntasks; rank++)
            assert_int_equal(taskmap_node(layout->map, rank), layout->tasks[rank].node);
        free(text);
        free(claims);
        layout_free(layout);
        rankfile_free(file);
        world_free(&world);
    }
}

static inline void check_refused(const struct rankfile_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct world world;
        struct error err = ERROR_INIT;
        struct rankfile *file = read_ranks(cases[i].ranks);
        world_make(&world, cases[i].machines);
        world.parts[0] = cases[i].part;
        world.parts[0].rankfile = file;
        world.request.node_count = cases[i].node_count;
        if (layout_make(&world.request, &err))
            fail_msg("case %zu was placed", i);
        if (strcmp(error_text(&err), cases[i].expect) != 0)
            fail_msg("case %zu: %s, not %s", i, error_text(&err), cases[i].expect);
        error_clear(&err);
        rankfile_free(file);
        world_free(&world);
    }
}

#define COUNT(cases) (sizeof(cases) / sizeof((cases)[0]))

#endif
