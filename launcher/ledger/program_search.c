/* Programs looked for in all places where something of them may be: instances, their records that were not moved
 * yet, and the state directory. */
#include "launcher/ledger/program_search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/number.h"
#include "launcher/ledger/claims_file.h"
#include "launcher/ledger/completed.h"
#include "launcher/ledger/completed_output.h"
#include "launcher/ledger/context_directory.h"
#include "launcher/ledger/empty_programs.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/ledger/private_directory.h"
#include "launcher/ledger/program_output.h"
#include "launcher/ledger/state_directory.h"
#include "launcher/ledger/state_index.h"

#define ENDING_LOOKS 100
#define ENDING_PAUSE                                                                               \
    2000 /* microseconds between them: longer than that only one that was stopped takes */

enum place {
    PLACE_KEPT,    /* in the state directory */
    PLACE_WAITING, /* a record that is to be moved there */
    PLACE_ENDING,  /* a directory of its instance, for the record of which there is no space */
    PLACE_LIVE,    /* a directory of its instance */
    PLACE_EMPTY    /* in the state directory, with those that are empty */
};

struct searched { /* an instance */
    char *name, *identity;
    struct instance *instance; /* NULL: there is none in the file system */
    int state;                 /* its part of the state directory; -1: there is none */
    int empty;                 /* of that, those that are empty; -1 */
    struct state_index *index; /* of that; NULL: not all of it is wanted */
    struct buf waiting;
    size_t nprograms;
};

struct found_program {
    char *id;
    uint64_t number;
    struct searched *where;
    enum place place;
    struct completed_context record;     /* of PLACE_WAITING */
    uint64_t inode;                      /* of PLACE_KEPT; 0: not known */
    const struct state_index_line *line; /* of PLACE_KEPT, or NULL */
};

struct program_search {
    struct searched **searched;
    size_t nsearched;
    struct found_program **programs;
    size_t count;
    bool has_kept;
    struct buf warnings;
};

/* ---- gathering ---- */

static void warn(struct program_search *search, struct error *err)
{
    if (err->text)
        buf_printf(&search->warnings, "%s\n", error_text(err));
    error_clear(err);
}

static struct searched *search_named(struct program_search *search, const char *name)
{
    for (size_t i = 0; i < search->nsearched; i++)
        if (strcmp(search->searched[i]->name, name) == 0)
            return search->searched[i];
    struct searched *where = mem_alloc(sizeof(*where));
    *where = (struct searched){
        .name = mem_copy_text(name), .identity = mem_copy_text(""), .state = -1, .empty = -1};
    search->searched = array_grow(search->searched, search->nsearched, sizeof(*search->searched));
    search->searched[search->nsearched++] = where;
    return where;
}

static void add_instance(void *arg, const char *path)
{
    struct program_search *search = arg;
    struct error err = ERROR_INIT;
    struct instance *instance = instance_open_path(path, &err);
    warn(search, &err);
    if (!instance)
        return;
    struct searched *where = search_named(search, instance_name(instance));
    instance_close(where->instance);
    free(where->identity);
    where->instance = instance;
    where->identity = instance_identity(instance);
}

static void add_kept_instance(void *arg, const char *name)
{
    search_named(arg, name);
}

static struct found_program *add_found(struct program_search *search, struct searched *where,
                                       const char *id, enum place place,
                                       const struct completed_context *record)
{
    uint64_t number = 0;
    number_read(id, NULL, UINT64_MAX - 2, &number);
    search->programs = array_grow(search->programs, search->count, sizeof(*search->programs));
    struct found_program *program = mem_alloc(sizeof(*program));
    *program = (struct found_program){
        .id = mem_copy_text(id), .number = number, .where = where, .place = place};
    search->programs[search->count++] = program;
    if (record)
        program->record = *record;
    return program;
}

/* Directories of programs. What no manager lives for is put to what is over first. */
static void add_live(struct program_search *search, struct searched *where)
{
    int fd = openat(where->instance->programs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    uint64_t number;
    for (const struct dirent *entry; stream && (entry = readdir(stream));) {
        size_t digits = number_read(entry->d_name, NULL, UINT64_MAX - 2, &number);
        if (!digits || entry->d_name[digits])
            continue;
        if (ledger_is_alive(where->instance, number))
            add_found(search, where, entry->d_name, PLACE_LIVE, NULL);
        else
            ledger_bury(where->instance, number);
    }
    if (stream)
        closedir(stream);
    else if (fd >= 0)
        close(fd);
}

struct adding {
    struct program_search *search;
    struct searched *where;
};

static void add_ending(void *arg, const char *id, const struct error *why)
{
    const struct adding *adding = arg;
    buf_printf(&adding->search->warnings, "%s\n", error_text(why));
    add_found(adding->search, adding->where, id, PLACE_ENDING, NULL);
}

/* A directory that is being given up, the record of which may not be written yet: found in neither place. */
static void wait_for_endings(struct searched *where)
{
    for (int i = 0; i < ENDING_LOOKS && !ledger_finish_contexts(where->instance, NULL, NULL); i++)
        usleep(ENDING_PAUSE);
}

static void add_waiting(struct program_search *search, struct searched *where)
{
    struct completed_context record;
    struct error err = ERROR_INIT;
    size_t at = 0;
    if (completed_move(where->instance, &err) < 0)
        error_prefix(&err, "what is known of complete programs stays in %s", where->instance->path);
    warn(search, &err);
    completed_read(where->instance, &where->waiting, &err);
    warn(search, &err);
    while (context_record_next(buf_bytes(&where->waiting), where->waiting.len, &at, &record))
        add_found(search, where, record.id, PLACE_WAITING, &record);
}

static void add_kept(void *arg, const char *name, uint64_t inode)
{
    const struct adding *adding = arg;
    struct found_program *program =
        add_found(adding->search, adding->where, name, PLACE_KEPT, NULL);
    program->inode = inode;
    program->line = state_index_find(adding->where->index, name, inode);
}

static void add_empty(void *arg, const char *name, uint64_t inode)
{
    const struct adding *adding = arg;
    (void)inode;
    add_found(adding->search, adding->where, name, PLACE_EMPTY, NULL);
}

static void search_empty(struct program_search *search, struct searched *where)
{
    struct adding adding = {search, where};
    struct error err = ERROR_INIT;
    where->empty = state_directory_open_empty(where->state, false, &err);
    warn(search, &err);
    if (where->empty < 0)
        return;
    empty_programs_finish(where->state, where->empty);
    state_directory_each(where->empty, add_empty, &adding);
}

static void search_in(struct program_search *search, struct searched *where)
{
    struct adding adding = {search, where};
    struct error err = ERROR_INIT;
    if (where->instance) {
        add_live(search, where);
        wait_for_endings(where);
        ledger_finish_contexts(where->instance, add_ending, &adding);
        add_waiting(search, where);
    }
    where->state = state_directory_open(where->name, false, &err);
    warn(search, &err);
    if (where->state >= 0)
        search_empty(search, where);
}

/* ---- order ---- */

static int compare_programs(const void *a, const void *b)
{
    const struct found_program *one = *(struct found_program *const *)a;
    const struct found_program *other = *(struct found_program *const *)b;
    int order = one->where == other->where ? 0 : strcmp(one->where->name, other->where->name);
    if (order == 0)
        order = (one->number > other->number) - (one->number < other->number);
    if (order == 0)
        order = strcmp(one->id, other->id);
    return order ? order : (int)one->place - (int)other->place;
}

static void free_found(struct found_program *program)
{
    free(program->id);
    free(program);
}

/* One that ended, or is empty no more, while it was looked for is found in two places: what came last counts. */
static void sort_programs(struct program_search *search)
{
    size_t kept = 0;
    if (search->count)
        qsort(search->programs, search->count, sizeof(*search->programs), compare_programs);
    for (size_t i = 0; i < search->nsearched; i++)
        search->searched[i]->nprograms = 0;
    for (size_t i = 0; i < search->count; i++) {
        struct found_program *program = search->programs[i];
        const struct found_program *last = kept ? search->programs[kept - 1] : NULL;
        if (last && last->where == program->where && strcmp(last->id, program->id) == 0) {
            free_found(program);
            continue;
        }
        search->programs[kept++] = program;
        program->where->nprograms++;
    }
    search->count = kept;
}

struct program_search *program_search_new(const char *instance, struct error *err)
{
    struct program_search *search = mem_alloc(sizeof(*search));
    struct error why = ERROR_INIT;
    instance_each(add_instance, search, &why);
    warn(search, &why);
    state_directory_instances(add_kept_instance, search);
    bool found = !instance;
    if (instance && strchr(instance, '/')) {
        add_instance(search, instance);
        const char *slash = strrchr(instance, '/');
        instance = slash[1] ? slash + 1 : instance;
    }
    for (size_t i = 0; i < search->nsearched; i++) {
        bool meant = !instance || strcmp(search->searched[i]->name, instance) == 0;
        found = found || meant;
        if (meant)
            search_in(search, search->searched[i]);
    }
    sort_programs(search);
    if (found)
        return search;
    if (search->warnings.len)
        error_set(err, "%.*s", (int)search->warnings.len - 1, buf_text(&search->warnings));
    else
        error_set(err,
                  "%s: there is no such instance; \"tpctl list -a --format=json\" has their names",
                  instance);
    program_search_free(search);
    return NULL;
}

void program_search_add_kept(struct program_search *search)
{
    for (size_t i = 0; i < search->nsearched && !search->has_kept; i++) {
        struct adding adding = {search, search->searched[i]};
        if (adding.where->state < 0)
            continue;
        adding.where->index = state_index_open(adding.where->state);
        state_directory_each(adding.where->state, add_kept, &adding);
    }
    search->has_kept = true;
    sort_programs(search);
}

void program_search_free(struct program_search *search)
{
    if (!search)
        return;
    for (size_t i = 0; i < search->count; i++)
        free_found(search->programs[i]);
    for (size_t i = 0; i < search->nsearched; i++) {
        struct searched *where = search->searched[i];
        state_index_close(where->index);
        if (where->state >= 0)
            close(where->state);
        if (where->empty >= 0)
            close(where->empty);
        instance_close(where->instance);
        buf_free(&where->waiting);
        free(where->identity);
        free(where->name);
        free(where);
    }
    free(search->programs);
    free(search->searched);
    buf_free(&search->warnings);
    free(search);
}

const char *program_search_warnings(const struct program_search *search)
{
    return buf_text(&search->warnings);
}

size_t program_search_count(const struct program_search *search)
{
    return search->count;
}

const struct found_program *program_search_nth(const struct program_search *search, size_t n)
{
    return search->programs[n];
}

size_t program_search_instances(const struct program_search *search)
{
    size_t count = 0;
    for (size_t i = 0; i < search->nsearched; i++)
        count += search->searched[i]->nprograms > 0;
    return count;
}

/* ---- by id ---- */

static bool is_usual(const struct searched *where, const char *usual)
{
    return usual && (strcmp(where->name, usual) == 0 || strcmp(where->identity, usual) == 0);
}

static struct found_program *find_in_instance(const struct program_search *search,
                                              const struct searched *where, const char *number)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->programs[i]->where == where && strcmp(search->programs[i]->id, number) == 0)
            return search->programs[i];
    return NULL;
}

/* What is over by now counts. */
static struct found_program *find_or_add_kept(struct program_search *search, struct searched *where,
                                              const char *number)
{
    struct found_program *program = find_in_instance(search, where, number);
    if (search->has_kept || where->state < 0 || !state_directory_has(where->state, number))
        return program;
    if (program) {
        program->place = PLACE_KEPT;
        return program;
    }
    return add_found(search, where, number, PLACE_KEPT, NULL);
}

int program_search_find(struct program_search *search, const char *id, const char *usual,
                        const struct found_program **found, struct error *err)
{
    const char *slash = strrchr(id, '/'), *number = slash ? slash + 1 : id;
    struct buf names = BUF_INIT;
    size_t hits = 0;
    *found = NULL;
    for (size_t i = 0; i < search->nsearched; i++) {
        struct searched *where = search->searched[i];
        bool here = !slash || (strlen(where->name) == (size_t)(slash - id) &&
                               memcmp(where->name, id, (size_t)(slash - id)) == 0);
        const struct found_program *program = here ? find_or_add_kept(search, where, number) : NULL;
        if (!program)
            continue;
        buf_printf(&names, "%s%s/%s", hits ? ", " : "", where->name, number);
        if (!hits++ || is_usual(where, usual))
            *found = program;
    }
    bool clear = *found && (hits == 1 || is_usual((*found)->where, usual));
    if (!hits)
        error_set(err, "there is no program %s", id);
    else if (!clear)
        error_set(err, "several instances have a program %s: write one of %s", id,
                  buf_text(&names));
    buf_free(&names);
    return clear ? 1 : hits ? -1 : 0;
}

/* ---- one of them ---- */

const char *found_program_id(const struct found_program *program)
{
    return program->id;
}

const char *found_program_instance(const struct found_program *program)
{
    return program->where->name;
}

const char *found_program_identity(const struct found_program *program)
{
    return program->where->identity;
}

const char *found_program_instance_path(const struct found_program *program)
{
    return program->where->instance ? program->where->instance->path : NULL;
}

bool found_program_is_live(const struct found_program *program)
{
    return program->place == PLACE_LIVE || program->place == PLACE_EMPTY;
}

bool found_program_is_empty(const struct found_program *program)
{
    return program->place == PLACE_EMPTY;
}

bool found_program_lives(const struct found_program *program)
{
    return program->place == PLACE_LIVE &&
           private_directory_is_locked(program->where->instance->alive, program->number);
}

bool found_program_other_lives(const struct found_program *program, const char *id)
{
    const struct instance *instance = program->where->instance;
    uint64_t number;
    return instance && number_read(id, NULL, UINT64_MAX - 2, &number) &&
           private_directory_is_locked(instance->alive, number);
}

bool found_program_find_waiter(const struct found_program *program, struct waiter *waiter)
{
    return program->place == PLACE_LIVE &&
           instance_find_waiter(program->where->instance, program->number, waiter);
}

/* A program begins after those that it is a task of: the innermost has the highest number. */
int found_program_parent(const struct found_program *program, uint64_t *number, struct error *err)
{
    const struct searched *where = program->where;
    if (!where->instance)
        return error_set(err, "program %s is over", program->id);
    struct claims *claims = ledger_read(where->instance, err);
    if (!claims)
        return -1;
    const struct claims_row *row = claims_find(claims, program->number);
    struct idset *within = row ? idset_decode(row->within, NULL) : NULL;
    bool has = within && !idset_empty(within);
    *number = has ? idset_last(within) : 0;
    idset_free(within);
    claims_free(claims);
    if (has)
        return 0;
    size_t len = strlen(INSTANCE_OF_TASKS);
    if (strncmp(where->identity, INSTANCE_OF_TASKS, len) == 0)
        return error_set(
            err, "program %s was started by a task of program %s, which is not on this machine",
            program->id, where->identity + len);
    return error_set(err, "program %s is a task of no other", program->id);
}

int found_program_open(const struct found_program *program)
{
    const struct searched *where = program->where;
    if (program->place == PLACE_WAITING)
        return -1;
    char name[64];
    snprintf(name, sizeof(name), "%s%s", program->place == PLACE_ENDING ? CONTEXT_ENDING : "",
             program->id);
    int dir = program->place == PLACE_KEPT    ? where->state
              : program->place == PLACE_EMPTY ? where->empty
                                              : where->instance->programs;
    return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int found_program_open_output(const struct found_program *program, const char *name)
{
    const struct searched *where = program->where;
    return program_output_open(program->place == PLACE_KEPT ? NULL : where->instance, where->name,
                               program->id, name);
}

static bool has_directory(const struct found_program *program)
{
    int dir = found_program_open(program);
    if (dir >= 0)
        close(dir);
    return dir >= 0 || errno != ENOENT;
}

/* One that ended since it was found is in the state directory by now, if it is kept. */
static struct found_program where_it_is_now(const struct found_program *program)
{
    struct found_program now = *program;
    struct searched *where = program->where;
    if (program->place != PLACE_LIVE || has_directory(program))
        return now;
    wait_for_endings(where);
    completed_move(where->instance, NULL);
    if (where->state < 0)
        where->state = state_directory_open(where->name, false, NULL);
    if (where->state >= 0 && state_directory_has(where->state, now.id))
        now.place = PLACE_KEPT;
    return now;
}

static char *read_context_file(const struct found_program *program, int file, size_t *len)
{
    *len = 0;
    if (program->place == PLACE_WAITING) {
        if (!program->record.files[file])
            return NULL;
        *len = program->record.lens[file];
        return mem_copy_text_n(program->record.files[file], *len);
    }
    int dir = found_program_open(program);
    char *text =
        dir < 0 ? NULL : private_directory_read(dir, context_file_names[file], CONTEXT_MAX, len);
    int why = errno;
    if (dir >= 0)
        close(dir);
    errno = why;
    return text;
}

char *found_program_file(const struct found_program *program, int file, size_t *len)
{
    const struct found_program now = where_it_is_now(program);
    return read_context_file(&now, file, len);
}

/* Of its log, for messages. A program of PLACE_WAITING has none. */
static char *log_path(const struct found_program *program)
{
    const char *name = context_file_names[CONTEXT_EVENTS];
    bool ends = program->place == PLACE_ENDING;
    if (program->place == PLACE_LIVE || ends)
        return mem_format("%s/programs/%s%s/%s", program->where->instance->path,
                          ends ? CONTEXT_ENDING : "", program->id, name);
    char *instance = state_directory_instance_path(program->where->name);
    char *path = mem_format("%s/%s%s/%s", instance ? instance : "",
                            program->place == PLACE_EMPTY ? "empty/" : "", program->id, name);
    free(instance);
    return path;
}

/* Removed while it was looked for, or it was never there: errno is ENOENT then. */
static int refuse_log(const struct found_program *program, int why, struct error *err)
{
    bool is_gone = !has_directory(program);
    char *path = log_path(program);
    if (is_gone)
        error_set(err, "program %s is not kept any more", program->id);
    else
        error_set(err, "the log of program %s cannot be read: %s: %s", program->id, path,
                  why == ENOENT ? "it is missing" : strerror(why));
    free(path);
    errno = is_gone ? ENOENT : EIO;
    return -1;
}

struct program_record *found_program_record(const struct found_program *program, bool with_tasks,
                                            struct error *err)
{
    size_t len;
    struct program_record *record =
        program->line && !with_tasks ? state_index_record(program->line) : NULL;
    if (record)
        return record;
    const struct found_program now = where_it_is_now(program);
    char *text = read_context_file(&now, CONTEXT_EVENTS, &len);
    if (!text && (errno != ENOENT || now.place != PLACE_LIVE || !has_directory(&now))) {
        refuse_log(&now, errno, err);
        return NULL;
    }
    record = program_record_read(text ? text : "", len, with_tasks);
    free(text);
    if (!found_program_is_live(&now) && record->state != RECORD_COMPLETE) {
        record->state = RECORD_COMPLETE;
        record->is_lost = true;
    }
    if (program->place == PLACE_KEPT && program->where->index && program->inode)
        state_index_add(program->where->index, program->id, program->inode, record);
    return record;
}

int found_program_end_empty(const struct found_program *program, int status, const char *reason,
                            struct error *err)
{
    int rc = empty_program_end(program->where->state, program->id, status, reason, err);
    return rc < 0 ? error_prefix(err, "program %s", program->id) : 0;
}

bool found_program_is_read(const struct found_program *program)
{
    struct instance *instance = program->where->instance;
    return instance && program->place == PLACE_KEPT &&
           completed_output_is_read(instance, program->id);
}

int found_program_remove(const struct found_program *program, struct error *err)
{
    if (program->place == PLACE_KEPT)
        return state_directory_remove(program->where->state, program->id, err);
    if (found_program_is_live(program))
        return error_set(err, "program %s is not over", program->id);
    return error_set(err, "program %s cannot be removed before it is moved to the state directory",
                     program->id);
}
