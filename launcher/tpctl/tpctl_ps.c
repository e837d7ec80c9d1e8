/* tpctl ps: what the tasks of a program use now. */
#include <stdlib.h>
#include <string.h>

#include "launcher/tpctl/ask_manager.h"
#include "launcher/tpctl/task_list.h"
#include "launcher/tpctl/tpctl.h"

static int say_silent_hosts(const struct found_program *program,
                            const struct control_answer *answer, struct error *err)
{
    if (!answer->silent)
        return 0;
    error_set(err, "program %s: %s: no answer in time, so what runs there is not shown",
              found_program_id(program), answer->silent);
    return 1;
}

int tpctl_ps(struct method_call *call, struct error *err)
{
    struct control_request request = {.method = CONTROL_METHOD_PS};
    struct control_answer answer = {0};
    const struct found_program *program;
    struct program_search *search = NULL;
    int json = tpctl_wants_json(call, err), status = json < 0 ? -1 : 0;
    if (status == 0)
        status = (search = tpctl_search(call, err)) ? 0 : -1;
    if (status == 0)
        status = tpctl_find(call, search, call->words[0], &program, err);
    if (status == 0)
        status = ask_manager(program, &request, &answer, err);
    if (status == 0 && json) {
        tpctl_print_json(call, task_list_json(&answer, found_program_id(program)));
    } else if (status == 0) {
        struct buf text = BUF_INIT;
        task_list_text(&text, &answer);
        fputs(buf_text(&text), call->out);
        buf_free(&text);
    }
    if (status == 0)
        status = say_silent_hosts(program, &answer, err);
    control_answer_clear(&answer);
    program_search_free(search);
    return status;
}
