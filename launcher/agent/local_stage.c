/* Staged files on a node, from their first frame to the directory that tasks find. */
#include "launcher/agent/local_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "launcher/agent/stage_writer.h"
#include "launcher/spec/field.h"

#define RECORD "staged.json" /* beside the directory: what is in it, for programs in an instance */

struct local_stage {
    struct local_stage_config config;
    struct idset *nodes; /* of those that are sent now; NULL: none are */
    uint32_t number;     /* that the manager gave this staging */
    struct stage_list list;
    struct stage_writer *writer; /* NULL: not for this node, or that has failed */
    char *above;                 /* directory of these files and hooks; NULL: not made */
    struct stage_place place;
    size_t unacknowledged; /* bytes that are given back as credit when there is room below */
};

/* ---- files of the instance ---- */

/* What tasks find is what the instance has. It was there before any program in it could begin. */
static void read_instance(struct local_stage *stage)
{
    struct stage_place *place = &stage->place;
    const char *above = scratch_directory_chosen(stage->config.instance);
    stage_place_clear(place);
    if (!above)
        return;
    char *path = mem_format("%s/" RECORD, above);
    struct buf text = BUF_INIT;
    json_t *value =
        file_read(path, &text) == 0 ? json_loadb(buf_bytes(&text), text.len, 0, NULL) : NULL;
    const json_t *directory = json_object_get(value, "directory");
    if (directory && stage_list_from_json(&place->list, json_object_get(value, "files"), NULL) == 0)
        place->directory = text_from_json(directory, NULL);
    if (!place->directory)
        stage_place_clear(place);
    json_decref(value);
    buf_free(&text);
    free(path);
}

static int stage_make_above(struct local_stage *stage, struct error *err)
{
    struct scratch *scratch = stage->config.scratch;
    const char *above = scratch_directory_name(scratch, err);
    if (!above)
        return -1;
    if (scratch_directory_make(scratch) < 0)
        return error_set(err, "cannot make %s: %s; TMPDIR may name another directory", above,
                         strerror(errno));
    free(stage->above);
    stage->above = mem_copy_text(above);
    return 0;
}

/* For programs in this one, which is an instance. */
static int write_record(const struct local_stage *stage, struct error *err)
{
    const struct stage_place *place = &stage->place;
    json_t *value = json_pack("{s:o, s:o}", "directory", text_to_json(place->directory), "files",
                              stage_list_to_json(&place->list));
    char *text = json_dumps(value, JSON_COMPACT), *path = mem_format("%s/" RECORD, stage->above);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int rc = fd < 0 ? -1 : file_write_all(fd, text, strlen(text));
    if (rc < 0)
        error_set(err, "cannot write %s, by which programs of the instance find files: %s", path,
                  strerror(errno));
    if (rc < 0 && fd >= 0)
        unlink(path);
    if (fd >= 0)
        close(fd);
    json_decref(value);
    free(path);
    free(text);
    return rc;
}

static bool has_file(const struct stage_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->files[i].kind == STAGE_FILE && strcmp(list->files[i].name, name) == 0)
            return true;
    return false;
}

/* Those of the program hide those of the instance with the same name. A link of an earlier staging may be there. */
static int link_others(struct stage_place *place, const struct stage_place *others,
                       struct error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && others->directory && i < others->list.count; i++) {
        const struct staged_file *file = &others->list.files[i];
        if (file->kind != STAGE_FILE || has_file(&place->list, file->name))
            continue;
        char *there = mem_format("%s/%s", others->directory, file->name);
        char *here = mem_format("%s/%s", place->directory, file->name);
        unlink(here);
        if (link(there, here) == 0 || symlink(there, here) == 0)
            stage_list_add(&place->list, file);
        else
            rc = error_set(err, "cannot link %s, a file of the instance, to %s: %s", here, there,
                           strerror(errno));
        free(there);
        free(here);
    }
    return rc;
}

/* ---- frames ---- */

static void stage_answer(struct local_stage *stage, const char *key, const struct error *err)
{
    struct uplink *uplink = stage->config.uplink;
    struct frame frame = {.type = FRAME_STAGED, .node = uplink_node(uplink), .rank = stage->number};
    uplink_send_json(uplink, frame,
                     err ? json_pack("{s:o}", "failed", frame_text(error_text(err)))
                         : json_pack("{s:b}", key, 1));
}

/* What has come of files that are not complete is removed, and nobody finds it by its name. */
static void stage_drop(struct local_stage *stage)
{
    if (stage->writer) {
        stage_writer_free(stage->writer);
        stage_list_clear(&stage->list);
    }
    stage->writer = NULL;
}

static void stage_fail(struct local_stage *stage, struct error *err)
{
    stage_drop(stage);
    stage_answer(stage, NULL, err);
}

/* It is for this node. */
static void stage_begin(struct local_stage *stage, struct stage_list *list)
{
    struct error err = ERROR_INIT;
    stage_list_clear(&stage->list);
    stage->list = *list;
    *list = (struct stage_list){0};
    read_instance(stage);
    if (stage_make_above(stage, &err) == 0)
        stage->writer = stage_writer_new(&stage->list, stage->above, &err);
    if (stage->writer) {
        stage_answer(stage, "ready", NULL);
    } else {
        stage_list_clear(&stage->list);
        stage_fail(stage, &err);
    }
    error_clear(&err);
}

static void on_stage(struct local_stage *stage, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    struct stage_list list = {0};
    json_t *value = frame_json(frame, &err);
    stage_drop(stage);
    idset_free(stage->nodes);
    stage->nodes = NULL;
    stage->number = frame->rank;
    int rc = value ? stage_order_from_json(&list, &stage->nodes, value, &err) : -1;
    if (rc < 0)
        stage_fail(stage, &err);
    else
        downlink_send_nodes(stage->config.downlink, stage->nodes, frame);
    if (rc == 0 && idset_has(stage->nodes, uplink_node(stage->config.uplink)))
        stage_begin(stage, &list);
    stage_list_clear(&list);
    error_clear(&err);
    json_decref(value);
}

static void on_data(struct local_stage *stage, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    if (stage->nodes)
        downlink_send_nodes(stage->config.downlink, stage->nodes, frame);
    if (stage->writer && stage_writer_add(stage->writer, frame->bytes, frame->len, &err) < 0)
        stage_fail(stage, &err);
    error_clear(&err);
}

/* Tasks find them, beside those of the instance, which they have found until now. */
static int stage_complete(struct local_stage *stage, struct error *err)
{
    struct stage_place place = {0};
    if (!stage_list_has(&stage->list, STAGE_FILE))
        return 0;
    place.directory = mem_format("%s/stage", stage->above);
    for (size_t i = 0; i < stage->list.count; i++)
        stage_list_add(&place.list, &stage->list.files[i]);
    int rc = link_others(&place, &stage->place, err);
    stage_place_clear(&stage->place);
    stage->place = place;
    if (rc == 0 && stage->config.is_instance)
        rc = write_record(stage, err);
    if (rc < 0)
        read_instance(stage);
    return rc;
}

static void on_end(struct local_stage *stage, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    if (stage->nodes)
        downlink_send_nodes(stage->config.downlink, stage->nodes, frame);
    if (!stage->writer)
        return;
    uint64_t *sums = mem_array(stage->list.count, sizeof(*sums));
    json_t *value = frame_json(frame, &err);
    if (value && stage_sums_from_json(sums, stage->list.count, value, &err) == 0 &&
        stage_writer_end(stage->writer, sums, &err) == 0 && stage_complete(stage, &err) == 0) {
        stage_writer_keep(stage->writer);
        stage->writer = NULL;
        stage_answer(stage, "done", NULL);
    } else {
        stage_fail(stage, &err);
    }
    json_decref(value);
    free(sums);
    error_clear(&err);
}

void local_stage_take(struct local_stage *stage, const struct frame *frame)
{
    if (frame->type == FRAME_STAGE)
        on_stage(stage, frame);
    else if (frame->type == FRAME_STAGE_DATA)
        on_data(stage, frame);
    else
        on_end(stage, frame);
    stage->unacknowledged += link_weight(frame);
    local_stage_settle(stage);
}

void local_stage_settle(struct local_stage *stage)
{
    struct uplink *uplink = stage->config.uplink;
    if (!stage->unacknowledged || uplink_is_lost(uplink))
        return;
    if (stage->nodes && !downlink_has_room(stage->config.downlink, stage->nodes))
        return;
    uplink_consumed(uplink, stage->unacknowledged);
    stage->unacknowledged = 0;
}

/* ---- what there is ---- */

const struct stage_place *local_stage_place(const struct local_stage *stage)
{
    return &stage->place;
}

char *local_stage_hook(const struct local_stage *stage, enum stage_kind kind)
{
    for (size_t i = 0; stage->above && i < stage->list.count; i++)
        if (stage->list.files[i].kind == kind)
            return stage_writer_path(stage->above, &stage->list.files[i]);
    return NULL;
}

struct local_stage *local_stage_new(const struct local_stage_config *config)
{
    struct local_stage *stage = mem_alloc(sizeof(*stage));
    *stage = (struct local_stage){.config = *config};
    read_instance(stage);
    if (config->is_instance && stage->place.directory && stage_make_above(stage, NULL) == 0)
        write_record(stage, NULL);
    return stage;
}

void local_stage_free(struct local_stage *stage)
{
    if (!stage)
        return;
    idset_free(stage->nodes);
    stage_writer_free(stage->writer);
    stage_list_clear(&stage->list);
    stage_place_clear(&stage->place);
    free(stage->above);
    free(stage);
}
