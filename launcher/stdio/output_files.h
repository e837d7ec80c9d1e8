/*
 * output_files - the destinations of one run's output: descriptors it was born with, and files by
 * name.
 *
 * What is one file is one destination, whatever names lead there (compared by device and inode),
 * so that its lines are not mixed. Files are created (0666 less umask) and truncated at first use;
 * directories (0777 less umask) are made only where make_dirs says so. At most half of the
 * descriptors that this process may have are spent on files: beyond, or when there are none left,
 * the one that was written longest ago is closed, and opened again to append when it is needed.
 */
#ifndef LAUNCHER_STDIO_OUTPUT_FILES_H
#define LAUNCHER_STDIO_OUTPUT_FILES_H

#include <ev.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "base/error.h"
#include "launcher/stdio/line_writer.h"

struct file {
    struct line_writer dest; /* first: a dest of these files is a file */
    char *name;              /* its path, or stdout, stderr */
    bool descriptor;         /* one that this process was born with */
    bool closable;           /* closing and opening it again loses nothing */
    bool told;               /* for the user: its failure was reported */
    bool used;               /* for the user: tasks write there */
    dev_t dev;
    ino_t ino;
    TAILQ_ENTRY(file) next;
    TAILQ_ENTRY(file) recent; /* while it is open and closable */
};

TAILQ_HEAD(file_list, file);

struct output_files {
    struct ev_loop *loop;
    unsigned labels; /* LINE_LABEL_* */
    bool raw;
    bool make_dirs; /* those that are not there, for the user to set */
    double patience;
    void (*changed)(void *arg, struct line_writer *dest);
    void *arg;
    struct file_list all;
    struct file_list recent; /* the most recently used first */
    void *by_name, *by_id;   /* tsearch() trees */
    size_t open, most;       /* closable files that are open, and that may be */
};

/* The last five are given to each destination (line_writer.h). */
void output_files_init(struct output_files *files, struct ev_loop *loop, unsigned labels, bool raw,
                       double patience, void (*changed)(void *arg, struct line_writer *dest),
                       void *arg);
/* All below are borrowed: they live as long as the files. */
struct file *output_files_descriptor(struct output_files *files, int fd, const char *name);
/* NULL with a sentence when it cannot be opened. */
struct file *output_files_named(struct output_files *files, const char *path, struct error *err);
/* To be called before writing: open it again if it was closed. */
int output_files_ready(struct output_files *files, struct file *file, struct error *err);
/* Write all that waits, blocking, and close the files (some file systems say only then that
 * they are full); they open again when written to. */
void output_files_flush(struct output_files *files);
void output_files_free(struct output_files *files);

#endif
