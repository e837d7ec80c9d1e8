/*
 * input_sender - who sends input to a program's tasks: its front end, for as long as it does; else
 * a command over the control socket. One at a time: others are refused.
 */
#ifndef LAUNCHER_MANAGER_INPUT_SENDER_H
#define LAUNCHER_MANAGER_INPUT_SENDER_H

#include "launcher/control/control_socket.h"
#include "launcher/program/program.h"

struct input_sender;

/* Both are borrowed. The front end has it at first, but in a detached program whose input is left
 * to commands. */
struct input_sender *input_sender_new(struct program *program, const struct spec *spec);
void input_sender_free(struct input_sender *sender); /* NULL is fine */

/* FRAME_STDIN or FRAME_STDIN_END of the front end. */
void input_sender_from_front_end(struct input_sender *sender, const struct frame *frame);

/* A command (`who`) wants to send input to these ranks, NULL: all. It gets an answer, and stays if
 * that is good. */
void input_sender_ask(struct input_sender *sender, struct control_peer *peer,
                      const struct idset *ranks, const char *who);
/* What the control socket says of one that stays. */
void input_sender_take(struct input_sender *sender, struct control_peer *peer,
                       const struct frame *frame);
void input_sender_left(struct input_sender *sender, const struct control_peer *peer);

/* These ranks read no more. */
void input_sender_gone(struct input_sender *sender, const struct idset *ranks);
/* Links that stdin goes down may have room. */
void input_sender_settle(struct input_sender *sender);

#endif
