/* Texts of tasks and of this host, on their way to the owner's op `log`. */
#include "pmi-server/pmix/log.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/printable.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/tools_private.h"

#define WORD_MIN 4 /* printable bytes in a row that are text, not the packing around it */

static struct pmix_job *reporter(const struct pmix_host *host, const struct upcall *event)
{
    struct pmix_job *job = namespace_find(host, event->proc.nspace);
    return job && event->proc.rank < job->map->ntasks ? job : NULL;
}

void log_abort(struct pmix_host *host, struct upcall *event)
{
    struct pmix_job *job = reporter(host, event);
    if (!job)
        return;
    host->ops->abort(host->arg, job, event->proc.rank, event->status,
                     event->bytes ? event->bytes : "");
}

static void report_log(struct pmix_host *host, struct upcall *event)
{
    struct pmix_job *job = reporter(host, event);
    if (job)
        host->ops->log(host->arg, job, event->proc.rank, event->error, event->bytes);
}

char *log_own(const char *format, ...)
{
    struct buf line = BUF_INIT;
    char *text;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    buf_add_text(&line, "tprun: ");
    if (len > 0)
        printable_add(&line, text, (size_t)len, PRINTABLE_WORD);
    if (len >= 0)
        free(text);
    buf_add_char(&line, '\n');
    return buf_take_text(&line);
}

void log_line(struct pmix_host *host, const pmix_proc_t *to, char *line)
{
    struct pmix_job *job = namespace_find(host, to->nspace);
    if (job && to->rank < job->map->ntasks)
        host->ops->log(host->arg, job, to->rank, true, line);
    free(line);
}

/* What a tool says goes nowhere: it has a place of its own for that. */
void log_done(struct pmix_host *host, struct upcall *event)
{
    if (event->done && namespace_find(host, event->proc.nspace))
        event->done(PMIX_SUCCESS, event->cbdata);
    else if (event->done && caller_is_known(host, event->proc.nspace))
        event->done(PMIX_ERR_NOT_SUPPORTED, event->cbdata);
}

/* Open MPI's messages come packed in a way of its own: strings with lengths between them. */
static char *printable(const char *bytes, size_t len)
{
    struct buf text = BUF_INIT;
    for (size_t at = 0, end; at < len; at = end + 1) {
        for (end = at; end < len; end++) {
            unsigned char c = (unsigned char)bytes[end];
            if (!isprint(c) && c != '\n' && c != '\t' && c < 0x80)
                break;
        }
        if (end - at < WORD_MIN)
            continue;
        buf_add(&text, bytes + at, end - at);
        if (bytes[end - 1] != '\n')
            buf_add_char(&text, '\n');
    }
    return buf_take_text(&text);
}

static char *whole_lines(const char *text)
{
    size_t len = strlen(text);
    return len && text[len - 1] == '\n' ? mem_copy_text(text) : mem_format("%s\n", text);
}

static char *log_text_of(const pmix_info_t *info)
{
    const pmix_value_t *value = &info->value;
    if (!strcmp(info->key, PMIX_LOG_STDERR) || !strcmp(info->key, PMIX_LOG_STDOUT))
        return value->type == PMIX_STRING && value->data.string ? whole_lines(value->data.string)
                                                                : NULL;
    if (strcmp(info->key, PMIX_LOG_MSG) != 0)
        return NULL;
    if (value->type == PMIX_STRING && value->data.string)
        return whole_lines(value->data.string);
    if (value->type == PMIX_BYTE_OBJECT)
        return value->data.bo.bytes ? printable(value->data.bo.bytes, value->data.bo.size) : NULL;
    return NULL;
}

struct upcall *log_line_text(const pmix_proc_t *from, const pmix_info_t *info)
{
    char *text = log_text_of(info);
    if (!text)
        return NULL;
    struct upcall *event = upcall_new(report_log, from);
    event->bytes = text;
    event->error = strcmp(info->key, PMIX_LOG_STDOUT) != 0;
    return event;
}

struct upcall *log_no_directory(const pmix_proc_t *whose, const char *path, int number)
{
    struct upcall *event = upcall_new(report_log, whose);
    event->bytes = log_own("cannot make the directory %s, for the files of programs with PMIx: %s; "
                           "TMPDIR may name another place",
                           path, strerror(number));
    event->error = true;
    return event;
}
