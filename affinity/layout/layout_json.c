/* layout_print_json(): a layout as JSON text, in pieces, for `--dry-run --format=json`. */
#include <stdlib.h>
#include <string.h>

#include "affinity/layout/layout.h"
#include "base/buf.h"
#include "base/mem.h"

#define PIECE (256u << 10) /* bytes that are kept before they are put */

struct printer {
    struct buf out;
    void (*put)(void *arg, const char *text);
    void *arg;
};

static void flush(struct printer *printer)
{
    printer->put(printer->arg, buf_text(&printer->out));
    buf_clear(&printer->out);
}

static void add_value(struct printer *printer, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    buf_add_text(&printer->out, text ? text : "null");
    free(text);
    json_decref(value);
}

/* What a task has of its binding, once for all that share it. */
static char **binding_texts(const struct layout *layout)
{
    char **texts = mem_array(layout->nbindings, sizeof(*texts));
    for (uint32_t i = 0; i < layout->nbindings; i++) {
        char *cpus = idset_encode(layout->bindings[i].cpus);
        char *cores = idset_encode(layout->bindings[i].cores);
        texts[i] = mem_format("\"cpus\":\"%s\",\"cores\":\"%s\"", cpus, cores);
        free(cpus);
        free(cores);
    }
    return texts;
}

/* Where a binding has its memory, as of the machine that was asked about last: tasks next to each
 * other mostly ask about the same. */
struct memory_text {
    const struct topo *topo;
    char *text;
};

/* For tasks whose memory is bound; else nothing. */
static const char *layout_json_memory_of(struct memory_text *texts, const struct layout *layout,
                                         const struct layout_request *request,
                                         const struct layout_task *task)
{
    const struct topo *topo = request->nodes[layout->nodes[task->node].source].topo;
    struct memory_text *known = &texts[task->binding];
    if (!request->parts[task->app].local_memory)
        return "";
    if (known->topo != topo) {
        struct idset *set = topo_memory_of_cpus(topo, layout->bindings[task->binding].cpus);
        char *mems = idset_encode(set);
        free(known->text);
        *known = (struct memory_text){topo, mem_format(",\"mems\":\"%s\"", mems)};
        free(mems);
        idset_free(set);
    }
    return known->text;
}

static void add_tasks(struct printer *printer, const struct layout *layout,
                      const struct layout_request *request)
{
    char **texts = binding_texts(layout);
    /* The GPUs of each set, and behind the last what a task without any has. */
    char **gpus = mem_array(layout->ngpu_sets + 1ul, sizeof(*gpus));
    for (uint32_t i = 0; i < layout->ngpu_sets; i++)
        gpus[i] = idset_encode(layout->gpu_sets[i]);
    gpus[layout->ngpu_sets] = mem_copy_text("");
    struct memory_text *memories = mem_array(layout->nbindings, sizeof(*memories));
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        buf_printf(
            &printer->out,
            "%s\n  {\"rank\":%u,\"node\":%u,\"local_rank\":%u,\"app\":%u,%s,\"gpus\":\"%s\"%s}",
            rank ? "," : "", rank, task->node, task->local_rank, task->app, texts[task->binding],
            gpus[task->gpus == LAYOUT_NO_GPUS ? layout->ngpu_sets : task->gpus],
            layout_json_memory_of(memories, layout, request, task));
        if (printer->out.len > PIECE)
            flush(printer);
    }
    for (uint32_t i = 0; i < layout->nbindings; i++) {
        free(texts[i]);
        free(memories[i].text);
    }
    free(memories);
    for (uint32_t i = 0; i <= layout->ngpu_sets; i++)
        free(gpus[i]);
    free(texts);
    free(gpus);
}

void layout_print_json(const struct layout *layout, const struct layout_request *request,
                       const json_t *r, void (*put)(void *arg, const char *text), void *arg)
{
    struct printer printer = {.put = put, .arg = arg};
    char *mapping = taskmap_encode_pmi(layout->map);
    buf_printf(&printer.out, "{\"version\":1,\"ntasks\":%u,\n \"taskmap\":", layout->ntasks);
    add_value(&printer, taskmap_to_json(layout->map));
    buf_add_text(&printer.out, ",\n \"PMI_process_mapping\":");
    add_value(&printer, mapping ? json_string(mapping) : json_null());
    buf_add_text(&printer.out, ",\n \"nodes\":[");
    for (uint32_t i = 0; i < layout->nnodes; i++) {
        const struct layout_node *node = &request->nodes[layout->nodes[i].source];
        buf_printf(&printer.out, "%s\n  {\"id\":%u,\"host\":", i ? "," : "", i);
        add_value(&printer, json_string(node->host));
        buf_printf(&printer.out, ",\"target\":%u}", node->target);
        if (printer.out.len > PIECE)
            flush(&printer);
    }
    buf_add_text(&printer.out, "],\n \"tasks\":[");
    add_tasks(&printer, layout, request);
    buf_add_text(&printer.out, "]");
    if (r) {
        buf_add_text(&printer.out, ",\n \"R\":");
        add_value(&printer, json_incref((json_t *)(uintptr_t)r));
    }
    buf_add_text(&printer.out, "}\n");
    flush(&printer);
    buf_free(&printer.out);
    free(mapping);
}
