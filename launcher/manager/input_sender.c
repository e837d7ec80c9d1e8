/* Whose input is passed on to a program's tasks. */
#include "launcher/manager/input_sender.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/program/program_control.h"

struct input_sender {
    struct program *program;
    const struct spec *spec;
    bool front_end;            /* it sends, or may */
    struct control_peer *peer; /* who does, or has asked to; NULL: nobody */
    char *who;
    bool sends;          /* it may: its tasks were asked */
    struct idset *ranks; /* that read what it sends */
    struct program_asker asker;
};

struct input_sender *input_sender_new(struct program *program, const struct spec *spec)
{
    struct input_sender *sender = mem_alloc(sizeof(*sender));
    *sender = (struct input_sender){.program = program, .spec = spec};
    sender->front_end = spec->input != SPEC_INPUT_NONE && spec->input != SPEC_INPUT_TOOLS &&
                        !(spec->detach && spec->input_stays);
    return sender;
}

/* Nobody sends any more. */
static void input_sender_release(struct input_sender *sender)
{
    if (sender->sends)
        program_input_left(sender->program);
    idset_free(sender->ranks);
    free(sender->who);
    sender->ranks = NULL;
    sender->who = NULL;
    sender->peer = NULL;
    sender->sends = false;
}

void input_sender_free(struct input_sender *sender)
{
    if (!sender)
        return;
    idset_free(sender->ranks);
    free(sender->who);
    free(sender);
}

void input_sender_from_front_end(struct input_sender *sender, const struct frame *frame)
{
    bool end = frame->type == FRAME_STDIN_END;
    if (!sender->front_end)
        return;
    sender->front_end = !end;
    if (end && frame->flags & FRAME_STDIN_STAYS)
        program_input_left(sender->program);
    else
        program_input(sender->program, frame);
}

/* ---- a command asks ---- */

static void on_asked(void *owner, const struct control_answer *answer)
{
    struct input_sender *sender = owner;
    if (answer->status) {
        struct control_peer *peer = sender->peer;
        input_sender_release(sender);
        control_peer_answer(peer, answer);
    } else if (control_peer_stay(sender->peer, answer)) {
        sender->ranks = idset_copy(answer->reached);
        sender->sends = true;
        program_input_choose(sender->program, sender->ranks);
    } else {
        input_sender_release(sender);
    }
}

static void input_refuse(struct control_peer *peer, const char *why)
{
    struct control_answer answer = {0};
    control_answer_refuse(&answer, CONTROL_REFUSED, "%s", why);
    control_peer_answer(peer, &answer);
    control_answer_clear(&answer);
}

void input_sender_ask(struct input_sender *sender, struct control_peer *peer,
                      const struct idset *ranks, const char *who)
{
    if (sender->peer) {
        char *why = mem_format("%s sends input to it: only one can at a time", sender->who);
        input_refuse(peer, why);
        free(why);
        return;
    }
    if (sender->front_end && !program_is_pending(sender->program)) {
        input_refuse(
            peer,
            sender->spec->input == SPEC_INPUT_FILE
                ? "its input comes from the file of --input"
                : "its input comes from the tprun that started it (--detach --input leaves that "
                  "to others)");
        return;
    }
    sender->peer = peer;
    sender->who = mem_copy_text(who);
    sender->asker = (struct program_asker){on_asked, sender};
    program_control_input(sender->program, ranks, &sender->asker);
}

/* ---- it sends ---- */

/* The last word for it. */
static void input_sender_end(struct input_sender *sender, const char *why)
{
    struct control_peer *peer = sender->peer;
    struct control_answer answer = {0};
    input_sender_release(sender);
    if (why)
        control_answer_refuse(&answer, CONTROL_NOT_NOW, "%s", why);
    control_peer_answer(peer, &answer);
    control_answer_clear(&answer);
}

void input_sender_take(struct input_sender *sender, struct control_peer *peer,
                       const struct frame *frame)
{
    bool end = frame->type == FRAME_STDIN_END;
    if (peer != sender->peer)
        return;
    if (!end || !(frame->flags & FRAME_STDIN_STAYS))
        program_input(sender->program, frame);
    if (end)
        input_sender_end(sender, NULL);
    else
        input_sender_settle(sender);
}

void input_sender_left(struct input_sender *sender, const struct control_peer *peer)
{
    if (peer == sender->peer)
        input_sender_release(sender);
}

void input_sender_settle(struct input_sender *sender)
{
    if (sender->sends && program_takes_input(sender->program))
        control_peer_settle(sender->peer);
}

void input_sender_gone(struct input_sender *sender, const struct idset *ranks)
{
    struct idset *gone = sender->sends ? idset_intersect(sender->ranks, ranks) : idset_new();
    if (!idset_empty(gone)) {
        bool several = idset_count(gone) > 1;
        char *names = idset_encode(gone);
        char *text = mem_format("rank%s %s read%s no more input", several ? "s" : "", names,
                                several ? "" : "s");
        idset_remove_set(sender->ranks, gone);
        if (idset_empty(sender->ranks))
            input_sender_end(sender, text);
        else
            control_peer_note(sender->peer, text);
        free(text);
        free(names);
    }
    idset_free(gone);
}
