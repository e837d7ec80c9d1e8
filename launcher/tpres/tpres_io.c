/* Resource sets in and out of tpres. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/resource/scheduling.h"
#include "affinity/topology/topo_treepool.h"
#include "base/buf.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/process/localhost.h"
#include "launcher/spec/field_words.h"
#include "launcher/tpres/tpres.h"

struct rset *tpres_read(struct method_call *call, const char *path, struct error *err)
{
    struct buf text = BUF_INIT;
    struct rset *R = NULL;
    bool is_stdin = strcmp(path, "-") == 0;
    if (is_stdin && call->stdin_read) {
        error_usage(err, "- is given twice: stdin can be read only once");
        return NULL;
    }
    call->stdin_read = call->stdin_read || is_stdin;
    char *name = file_text_name("R file", path);
    if (file_text_read(path, name, RSET_MAX_TEXT, &text, err) == 0) {
        R = rset_decode(buf_bytes(&text), text.len, err);
        if (!R || scheduling_check(R, err) < 0) {
            error_prefix(err, "%s", name);
            rset_free(R);
            R = NULL;
        }
    }
    buf_free(&text);
    free(name);
    return R;
}

/* Where nothing is named; NULL with a sentence on a terminal, where nobody expects to be waited for. */
static const char *default_path(const struct method_call *call, const char *what, struct error *err)
{
    if (call->nwords)
        return call->words[0];
    if (!isatty(STDIN_FILENO))
        return "-";
    error_usage(err, "missing %s; write - to read it from this terminal", what);
    return NULL;
}

struct rset *tpres_read_operand(struct method_call *call, struct error *err)
{
    const char *path = default_path(call, "the FILE of a resource set", err);
    return path ? tpres_read(call, path, err) : NULL;
}

char *tpres_read_text(struct method_call *call, size_t most, struct error *err)
{
    struct buf text = BUF_INIT;
    const char *word = default_path(call, "a TEXT", err);
    if (!word)
        return NULL;
    if (strcmp(word, "-") != 0)
        return mem_copy_text(word);
    if (file_text_read("-", "stdin", most, &text, err) < 0 ||
        (strlen(buf_text(&text)) < text.len &&
         error_set(err, "stdin: not a text: it contains a zero byte") < 0)) {
        buf_free(&text);
        return NULL;
    }
    char *all = buf_take_text(&text);
    size_t len = strlen(all);
    if (len && all[len - 1] == '\n')
        all[len - 1] = '\0';
    return all;
}

void tpres_write_json(struct method_call *call, json_t *value)
{
    json_dumpf(value, call->out, JSON_COMPACT);
    fputc('\n', call->out);
    json_decref(value);
}

int tpres_write(struct method_call *call, struct rset *R, struct error *err)
{
    if (!R)
        return -1;
    bool empty = R->nnodes == 0;
    if (!empty)
        tpres_write_json(call, rset_to_json(R));
    rset_free(R);
    return empty ? error_set(err, "the result is empty") : 0;
}

int tpres_wants_json(const struct method_call *call, struct error *err)
{
    const char *format = method_value(call, TPRES_FORMAT);
    if (!format || strcmp(format, "text") == 0)
        return 0;
    if (strcmp(format, "json") == 0)
        return 1;
    return error_usage(err, "--format: unknown value %s (expected text or json)",
                       excerpt(format, strlen(format)).text);
}

struct idset *tpres_gpus_of(const struct topo *topo)
{
    struct idset *gpus = idset_new();
    for (size_t i = 0; i < topo->ngpus; i++)
        idset_add(gpus, topo->gpus[i].id);
    return gpus;
}

struct rset *tpres_this_machine(struct error *err)
{
    struct topo *topo = topo_load_local(err);
    if (!topo)
        return NULL;
    struct rset *R = rset_new();
    struct idset *cores = topo_allowed_cores(topo), *gpus = tpres_gpus_of(topo);
    char *name = localhost_name();
    rset_append(R, 0, name, cores, gpus);
    R->scheduling = json_pack("{s:s,s:[{s:s,s:o}]}", "writer", SCHEDULING_WRITER, "children",
                              "ranks", "0", "topo", topo_to_treepool(topo, cores, gpus));
    free(name);
    idset_free(cores);
    idset_free(gpus);
    topo_free(topo);
    return R;
}

int tpres_amount_decode(const struct method_call *call, enum tpres_option option, bool zero,
                        struct tpres_amount *amount, struct error *err)
{
    const char *text = method_value(call, option), *name = tpres_options[option].name;
    *amount = (struct tpres_amount){NULL, UINT32_MAX};
    if (!text)
        return 0;
    if (zero && strcmp(text, "0") == 0) {
        amount->count = 0;
        return 0;
    }
    if (*text && strspn(text, "0123456789") == strlen(text)) {
        if (spec_number_decode(text, IDSET_MAX, &amount->count, err) == 0)
            return 0;
        return error_usage(err, "--%s: %s", name, error_text(err));
    }
    amount->ids = idset_decode(text, err);
    if (!amount->ids)
        return error_usage(err, "--%s: %s", name, error_text(err));
    if (!idset_empty(amount->ids) || zero)
        return 0;
    idset_free(amount->ids);
    return error_usage(err, "--%s: the set is empty", name);
}

struct idset *tpres_amount_of(const struct tpres_amount *amount, const struct idset *all)
{
    if (amount->ids)
        return all ? idset_intersect(amount->ids, all) : idset_copy(amount->ids);
    struct idset *first = idset_new();
    if (!all && amount->count && amount->count < UINT32_MAX)
        idset_add_range(first, 0, amount->count - 1);
    uint32_t left = all ? amount->count : 0, from, to;
    for (size_t at = 0; left && idset_range(all, &at, &from, &to);) {
        uint32_t size = to - from < left - 1 ? to - from + 1 : left;
        idset_add_range(first, from, from + (size - 1));
        left -= size;
    }
    return first;
}
