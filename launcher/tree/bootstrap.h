/*
 * bootstrap - how the agent of a node comes to run: the command that reaches it, and how far that
 * command got.
 *
 * Methods: ssh (default), a command template ("lxc exec {host} -- {agent}"), and local, which
 * needs no command. The agent's arguments and environment never stand on the command line.
 */
#ifndef LAUNCHER_TREE_BOOTSTRAP_H
#define LAUNCHER_TREE_BOOTSTRAP_H

#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct bootstrap {
    char *method; /* "auto", "local", "ssh" or a template */
    char *ssh;    /* words: "ssh", "ssh -p 2222" */
    char *agent;  /* path of tpagent on the nodes */
    uint32_t fanout;
    double start_timeout; /* seconds */
    double node_timeout;
    int verbose;
    int pmix; /* 1: agents are about to need openpmix, and may make it ready meanwhile */
};

json_t *bootstrap_to_json(const struct bootstrap *boot); /* new reference */
int bootstrap_from_json(struct bootstrap *boot, const json_t *value, struct error *err);
void bootstrap_clear(struct bootstrap *boot);

/* The command for one host, NULL-terminated; NULL with a sentence when a template is malformed.
 * Caller frees with bootstrap_free_words(). */
char **bootstrap_command(const struct bootstrap *boot, const char *login, struct error *err);
void bootstrap_free_words(char **words);

/* How far a start got. The stage that is named in a failure is the one that did not succeed. */
enum bootstrap_stage {
    STAGE_RESOLVE,
    STAGE_CONNECT,
    STAGE_AUTHENTICATE,
    STAGE_EXEC,
    STAGE_HELLO,
    STAGE_UP
};

const char *bootstrap_stage_name(enum bootstrap_stage stage);
enum bootstrap_stage bootstrap_first_stage(const struct bootstrap *boot);

/* Read what ssh says on stderr (it is asked to say which stage it reached): whole lines are taken
 * from `text`, stages move *stage, and what is meant for people is appended to `words`. */
void bootstrap_read_stderr(struct buf *text, enum bootstrap_stage *stage, struct buf *words);

#endif
