/*
 * ask_manager - a request to the manager of a program, with the exit status that tpctl has for what
 * comes of it.
 */
#ifndef LAUNCHER_TPCTL_ASK_MANAGER_H
#define LAUNCHER_TPCTL_ASK_MANAGER_H

#include "base/error.h"
#include "launcher/protocol/control_answer.h"
#include "launcher/protocol/control_request.h"
#include "launcher/ledger/program_search.h"

/* 0; or the exit status with a sentence that names the program: 1 refused, 4 the program is
 * complete, or not in a state for that. The answer is the caller's to clear in any case. */
int ask_manager(const struct found_program *program, const struct control_request *request,
                struct control_answer *answer, struct error *err);
/* The same of a request after which one stays: *kept is the connection, or -1. Caller closes. */
int ask_manager_and_stay(const struct found_program *program, const struct control_request *request,
                         struct control_answer *answer, int *kept, struct error *err);

#endif
