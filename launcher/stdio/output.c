/* Finds where the output of each rank goes, and tells the front end what became of it. */
#include "launcher/stdio/output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/printable.h"
#include "launcher/stdio/filename_template.h"
#include "launcher/stdio/line_label.h"
#include "launcher/stdio/output_files.h"

struct output {
    struct output_config config; /* its texts are our own */
    struct output_ops ops;
    void *arg;
    struct output_files files;
    struct file *standard[2]; /* stdout and stderr */
    struct file *own[2];      /* the same, by stream, where there is no template */
    uint32_t width;           /* as many tasks say how wide %R is */
    struct file **task[2];    /* by stream and rank, where there is; NULL until first used */
    size_t pending;
};

static const char *const output_options[] = {"--output", "--error"};
static const char *const output_names[] = {"stdout", "stderr"};

static int output_check_directory(const char *path, struct error *err)
{
    struct stat info;
    if (stat(path, &info) < 0 && errno == ENOENT)
        return error_set(err, "no directory %s: make it first, or add --make-dirs", path);
    if (stat(path, &info) < 0)
        return error_set(err, "directory %s: %s", path, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return error_set(err, "%s is not a directory", path);
    if (access(path, W_OK | X_OK) < 0)
        return error_set(err, "cannot make files in directory %s: %s", path, strerror(errno));
    return 0;
}

static bool is_missing(const char *text, size_t len)
{
    struct stat info;
    char *path = mem_copy_text_n(text, len);
    bool missing = stat(path, &info) < 0 && errno == ENOENT;
    free(path);
    return missing;
}

int output_check_template(const char *text, bool make_dirs, struct error *err)
{
    if (filename_template_check(text, err) < 0)
        return -1;
    size_t len = strcspn(text, "%");
    bool varies = text[len];
    struct stat info;
    if (!varies && stat(text, &info) == 0 && !S_ISDIR(info.st_mode)) /* also /dev/null, a fifo */
        return access(text, W_OK) == 0
                   ? 0
                   : error_set(err, "cannot write to %s: %s", text, strerror(errno));
    if (!varies && stat(text, &info) == 0)
        return error_set(err, "%s is a directory, not a file", text);
    while (len && (text[len - 1] != '/' || (make_dirs && is_missing(text, len))))
        len--;
    char *directory = len ? mem_format("%.*s", (int)len, text) : mem_copy_text(".");
    int result = output_check_directory(directory, err);
    free(directory);
    return result;
}

static void output_tell_failure(struct output *output, struct file *file)
{
    struct error err = ERROR_INIT;
    const struct nonblocking_writer *sink = &file->dest.sink;
    /* A terminal that was hung up says EIO, and a socket's peer may reset it. */
    bool reader_gone =
        sink->error == EPIPE || sink->error == ECONNRESET || (sink->tty && sink->error == EIO);
    if (file->descriptor && reader_gone) {
        output->ops.closed(output->arg,
                           file == output->standard[OUTPUT_STDOUT] ? OUTPUT_STDOUT : OUTPUT_STDERR);
        return;
    }
    error_set(&err, "%s: cannot write: %s", file->name, strerror(sink->error));
    output->ops.failed(output->arg, &err);
    error_clear(&err);
}

/* Tell the user what became of a destination. Last in every call: nothing here is in a state
 * between, whatever the user does now. */
static void output_tell(struct output *output, struct file *file)
{
    size_t left = file->dest.sink.left;
    file->dest.sink.left = 0;
    output->pending -= left;
    bool counts = file->used || file == output->standard[OUTPUT_STDOUT];
    if (file->dest.sink.error && !file->told && counts) {
        file->told = true;
        output_tell_failure(output, file);
    }
    if (left)
        output->ops.drained(output->arg, left);
}

static void output_changed(void *arg, struct line_writer *dest)
{
    output_tell(arg, (struct file *)dest);
}

struct output *output_new(struct ev_loop *loop, const struct output_config *config,
                          const struct output_ops *ops, void *arg, struct error *err)
{
    for (int stream = 0; stream < 2; stream++)
        if (config->templates[stream] &&
            filename_template_check(config->templates[stream], err) < 0) {
            error_prefix(err, "%s", output_options[stream]);
            return NULL;
        }
    struct output *output = mem_alloc(sizeof(*output));
    output->config = *config;
    output->width = config->ntasks;
    output->config.program = mem_copy_text(config->program);
    output->ops = *ops;
    output->arg = arg;
    unsigned labels =
        (config->label ? LINE_LABEL_RANK : 0) | (unsigned)(config->timestamp ? LINE_LABEL_TIME : 0);
    output_files_init(&output->files, loop, labels, config->raw, OUTPUT_PATIENCE, output_changed,
                      output);
    output->files.make_dirs = config->make_dirs;
    for (int stream = 0; stream < 2; stream++) {
        output->config.templates[stream] = mem_copy_text(config->templates[stream]);
        output->standard[stream] =
            output_files_descriptor(&output->files, stream + 1, output_names[stream]);
        if (config->templates[stream])
            output->task[stream] = mem_array(config->ntasks, sizeof(struct file *));
        else
            output->own[stream] = output->standard[stream];
    }
    output->standard[OUTPUT_STDOUT]->dest.pty = config->pty; /* which may be that of stderr, too */
    return output;
}

void output_free(struct output *output)
{
    if (!output)
        return;
    output_files_free(&output->files);
    for (int stream = 0; stream < 2; stream++) {
        free((char *)output->config.templates[stream]);
        free(output->task[stream]);
    }
    free((char *)output->config.program);
    free(output);
}

void output_grow(struct output *output, uint32_t ntasks)
{
    uint32_t had = output->config.ntasks;
    if (ntasks <= had)
        return;
    if (!had)
        output->width = ntasks;
    for (int stream = 0; stream < 2; stream++) {
        if (!output->task[stream])
            continue;
        output->task[stream] =
            mem_resize(output->task[stream], ntasks, sizeof(*output->task[stream]));
        memset(output->task[stream] + had, 0, (ntasks - had) * sizeof(*output->task[stream]));
    }
    output->config.ntasks = ntasks;
}

void output_name(struct output *output, const char *program)
{
    free((char *)output->config.program);
    output->config.program = mem_copy_text(program);
}

/* Where the stream ends, open and ready to be written. */
static struct file *output_find(struct output *output, uint32_t rank, enum output_stream stream,
                                struct error *err)
{
    if (output->own[stream])
        return output->own[stream];
    const struct output_config *config = &output->config;
    struct file **file = &output->task[stream][rank];
    if (!*file) {
        struct filename_template_fields fields = {
            .rank = rank,
            .ntasks = output->width,
            .node = config->node(output->arg, rank),
            .host = config->host(output->arg, rank),
            .program = config->program,
        };
        char *path = filename_template_expand(config->templates[stream], &fields);
        *file = output_files_named(&output->files, path, err);
        free(path);
    }
    if (*file && output_files_ready(&output->files, *file, err) == 0)
        return *file;
    error_prefix(err, "%s \"%s\", rank %u", output_options[stream], config->templates[stream],
                 rank);
    return NULL;
}

/* Which of the two a stream goes to. */
static enum output_stream output_way(const struct output *output, enum output_stream stream)
{
    return output->config.merge ? OUTPUT_STDOUT : stream;
}

static bool is_terminal(const struct output *output, uint32_t rank, enum output_stream stream)
{
    return output->config.pty && LINE_WRITER_WRITER(rank, stream) == LINE_WRITER_PTY;
}

static void output_put(struct output *output, struct file *file, uint64_t writer, const void *bytes,
                       size_t len, bool unfinished)
{
    output->pending += len;
    file->used = true;
    line_writer_put(&file->dest, writer, bytes, len, unfinished);
    output_tell(output, file);
}

int output_write(struct output *output, uint32_t rank, enum output_stream stream, const void *bytes,
                 size_t len, bool unfinished, struct error *err)
{
    if (rank >= output->config.ntasks)
        return error_set(err, "output of rank %u: there are %u tasks", rank, output->config.ntasks);
    enum output_stream way = output_way(output, stream);
    struct file *standard = output->standard[way];
    bool terminal = is_terminal(output, rank, stream);
    struct file *file = terminal && !output->config.tee ? standard /* it is for the eye */
                                                        : output_find(output, rank, way, err);
    if (!file)
        return -1;
    if (terminal) /* nobody waits for the end of a line of it */
        unfinished = false;
    if (output->config.tee && file != standard)
        output_put(output, standard, LINE_WRITER_WRITER(rank, stream), bytes, len, unfinished);
    output_put(output, file, LINE_WRITER_WRITER(rank, stream), bytes, len, unfinished);
    return 0;
}

void output_end(struct output *output, uint32_t rank, enum output_stream stream)
{
    if (rank >= output->config.ntasks)
        return;
    enum output_stream way = output_way(output, stream);
    struct file *file = output->own[way] ? output->own[way] : output->task[way][rank];
    if (!file)
        return;
    if (output->config.tee && file != output->standard[way]) {
        line_writer_end(&output->standard[way]->dest, LINE_WRITER_WRITER(rank, stream));
        output_tell(output, output->standard[way]);
    }
    line_writer_end(&file->dest, LINE_WRITER_WRITER(rank, stream));
    output_tell(output, file);
}

void output_say(struct output *output, enum output_stream stream, const char *bytes, size_t len)
{
    struct file *file = output->standard[stream];
    struct buf shown = BUF_INIT;
    printable_add(&shown, bytes, len, PRINTABLE_LINES);
    output->pending += shown.len;
    line_writer_put(&file->dest, LINE_WRITER_TPRUN, buf_bytes(&shown), shown.len, false);
    output_tell(output, file);
    buf_free(&shown);
}

void output_end_all(struct output *output)
{
    struct file *file, *next;
    for (file = TAILQ_FIRST(&output->files.all); file; file = next) {
        next = TAILQ_NEXT(file, next);
        line_writer_end_all(&file->dest);
        output_tell(output, file);
    }
}

void output_break(struct output *output)
{
    output_typed(output);
    output_say(output, OUTPUT_STDERR, "\n", 1);
}

void output_typed(struct output *output)
{
    for (int stream = 0; stream < 2; stream++)
        line_writer_typed(&output->standard[stream]->dest);
}

void output_set_raw_terminal(struct output *output, bool raw)
{
    for (int stream = 0; stream < 2; stream++) {
        struct nonblocking_writer *sink = &output->standard[stream]->dest.sink;
        sink->returns = raw && sink->tty;
    }
}

double output_idle(int fd, const char *template)
{
    struct stat info;
    bool known = template ? stat(template, &info) == 0 : fstat(fd, &info) == 0;
    if (!known || S_ISREG(info.st_mode))
        return INFINITY;
    return !template && isatty(fd) ? OUTPUT_IDLE_TERMINAL : OUTPUT_IDLE;
}

static void output_drop(struct output *output, bool descriptors)
{
    struct file *file, *next;
    for (file = TAILQ_FIRST(&output->files.all); file; file = next) {
        next = TAILQ_NEXT(file, next);
        if (file->descriptor != descriptors)
            continue;
        file->told = true;
        line_writer_drop(&file->dest);
        output_tell(output, file);
    }
}

void output_keep_files(struct output *output)
{
    output_drop(output, true);
}

void output_keep_descriptors(struct output *output)
{
    output_drop(output, false);
}

size_t output_pending(const struct output *output)
{
    return output->pending;
}

void output_flush(struct output *output)
{
    struct file *file, *next;
    output_files_flush(&output->files);
    for (file = TAILQ_FIRST(&output->files.all); file; file = next) {
        next = TAILQ_NEXT(file, next);
        output_tell(output, file);
    }
}
