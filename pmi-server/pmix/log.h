/*
 * log - what tasks have to say to people: an abort, a text.
 */
#ifndef PMI_SERVER_PMIX_LOG_H
#define PMI_SERVER_PMIX_LOG_H

#include "pmi-server/pmix/upcall_queue.h"

/* The text of one value that was logged, ready to queue; NULL: there is none. */
struct upcall *log_line_text(const pmix_proc_t *from, const pmix_info_t *info);

/* That this directory could not be made for them. */
struct upcall *log_no_directory(const pmix_proc_t *whose, const char *path, int number);

/* A line of the host's own, "tprun: ...", printable whatever the names in it hold: nobody looks
 * through what comes as a task's output. Caller frees. */
char *log_own(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Such a line for the one who asked for something; taken. */
void log_line(struct pmix_host *host, const pmix_proc_t *to, char *line);

/* Events. */
void log_abort(struct pmix_host *host, struct upcall *event);
void log_done(struct pmix_host *host, struct upcall *event); /* the log's caller goes on */

#endif
