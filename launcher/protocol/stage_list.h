/*
 * stage_list - the files that are copied to the nodes of a program before it starts: --stage,
 * --prolog, --epilog.
 *
 * Their bytes follow each other in one stream, in the order of the list. In a FRAME_STAGE the list
 * is
 *
 *     {"nodes": "0-3", "files": [{"kind": "file", "name": "app", "path": "/home/a/app",
 *                                 "mode": 493, "size": 16384}, ...]}
 *
 * and the FRAME_STAGE_END behind the stream has {"sums": ["ef46db3751d8e999", ...]} (xxhash64.h),
 * or {"failed": TEXT} where the bytes could not be read. A node answers with FRAME_STAGED:
 * {"ready": true} once there is room for them, {"done": true} once they are there, or {"failed":
 * TEXT}.
 */
#ifndef LAUNCHER_PROTOCOL_STAGE_LIST_H
#define LAUNCHER_PROTOCOL_STAGE_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/error.h"

#define STAGE_MODE 0777u /* the bits of a mode that are kept */

enum stage_kind { STAGE_FILE, STAGE_PROLOG, STAGE_EPILOG, STAGE_NKINDS };

struct staged_file {
    enum stage_kind kind;
    char *name;    /* on the nodes; of a file without '/' */
    char *path;    /* absolute, where it is from */
    unsigned mode; /* of STAGE_MODE */
    uint64_t size; /* bytes */
};

struct stage_list { /* zeroed: empty */
    struct staged_file *files;
    size_t count;
    uint64_t size; /* of all */
};

/* The names are copied. */
void stage_list_add(struct stage_list *list, const struct staged_file *file);
void stage_list_clear(struct stage_list *list);
const char *stage_kind_word(enum stage_kind kind);
bool stage_list_has(const struct stage_list *list, enum stage_kind kind);

json_t *stage_list_to_json(const struct stage_list *list); /* "files"; new reference */
/* Into an empty list; it is to be cleared in any case. 0, or -1 with a sentence. */
int stage_list_from_json(struct stage_list *list, const json_t *value, struct error *err);

/* A FRAME_STAGE: *nodes (caller frees) and the list, as above. */
json_t *stage_order_to_json(const struct stage_list *list, const struct idset *nodes);
int stage_order_from_json(struct stage_list *list, struct idset **nodes, const json_t *value,
                          struct error *err);

/* A FRAME_STAGE_END. */
json_t *stage_sums_to_json(const uint64_t *sums, size_t count);
/* Of so many files. 0, or -1 with the sentence of who could not read them, or one about the
 * message. */
int stage_sums_from_json(uint64_t *sums, size_t count, const json_t *value, struct error *err);

/* ---- on a node ---- */

struct stage_place { /* what is staged there; zeroed: nothing */
    char *directory; /* NULL: nothing is */
    struct stage_list list;
};

void stage_place_clear(struct stage_place *place);
/* Where the staged copy of a program is that is called by this name in that directory; NULL: it is
 * not staged. By its name there, or by the path that it was staged from. Caller frees. */
char *stage_place_find(const struct stage_place *place, const char *program, const char *directory);

/* An absolute path without "." and doubled slashes: of `path` in that directory. Caller frees. */
char *stage_path(const char *path, const char *directory);

#endif
