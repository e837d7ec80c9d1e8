/* Saved output of a program: where it is, and how it is shown. */
#include "launcher/tpctl/tpctl_view.h"

#include <errno.h>
#include <stdlib.h>

#include "launcher/ledger/completed_output.h"
#include "launcher/tpctl/ask_manager.h"

static int open_output(void *arg, const char *name)
{
    return found_program_open_output(arg, name);
}

/* Of a program that is complete by now the other sentence is the right one. */
static int begin_saving(const struct found_program *program, struct error *err)
{
    struct control_request request = {.method = CONTROL_METHOD_SAVE};
    struct control_answer answer = {0};
    int status = ask_manager(program, &request, &answer, err);
    control_answer_clear(&answer);
    return status;
}

struct saved_reader *tpctl_view_reader(const struct found_program *program, bool begins,
                                       int *status, struct error *err)
{
    struct saved_reader *reader = saved_reader_new(open_output, (void *)(uintptr_t)program, err);
    *status = reader ? 0 : 1;
    if (reader || errno != ENOENT)
        return reader;
    if (begins && found_program_lives(program)) {
        error_clear(err);
        *status = begin_saving(program, err);
        if (*status == 0 &&
            (reader = saved_reader_new(open_output, (void *)(uintptr_t)program, err)))
            return reader;
        if (*status && found_program_lives(program))
            return NULL;
        *status = 1;
    }
    if (found_program_is_empty(program)) {
        *status = TPCTL_WRONG_STATE;
        error_set(err, "program %s is empty: it has no output yet", found_program_id(program));
        return NULL;
    }
    error_set(err,
              "the output of program %s was not saved; it is with --detach or "
              "--on-disconnect=continue",
              found_program_id(program));
    return NULL;
}

_Static_assert(SAVED_BYTE_READERS == COMPLETED_OUTPUT_READERS,
               "one byte is locked by those who read");

int tpctl_view_shut(const struct found_program *program)
{
    if (found_program_is_read(program))
        return SAVED_IS_READ;
    return saved_output_shut(open_output, (void *)(uintptr_t)program);
}

struct spec *tpctl_view_spec(const struct method_call *call, const struct found_program *program)
{
    size_t len;
    char *text = found_program_file(program, CONTEXT_SPEC, &len);
    json_t *value = text ? json_loadb(text, len, 0, NULL) : NULL;
    struct spec *spec = value ? spec_from_json(value, NULL) : NULL;
    if (!spec) /* of another version */
        spec = spec_new();
    spec->label |= method_value(call, TPCTL_LABEL) != NULL;
    spec->input = SPEC_INPUT_NONE;
    spec->pty = false;
    json_decref(value);
    free(text);
    return spec;
}
