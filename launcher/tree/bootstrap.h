/*
 * bootstrap - how the agent of a node comes to run: the command that reaches it, and how far that
 * command got.
 *
 * Methods: ssh (default), a command template ("lxc exec {host} -- {agent}"), slurm, which is one
 * srun for the hosts of its job (srun.h), and local, which needs no command. The command of another
 * batch system (batch_bootstrap.h) is a template, too. The agent's arguments and environment never
 * stand on the command line.
 *
 * A template is cut into words as shell_words.h says, and no shell reads it; then {host} and
 * {agent} are replaced in each word. Without {agent} the agent's path is the last word; without
 * {host} it reaches this machine alone.
 *
 * With {hosts} (names with commas between them) or {ranks} (the nodes' ranks in R, likewise) one
 * command starts the agents of many hosts, which connect back (multi_host_start.h). It has to give
 * its standard input to each of them. Where it cannot, {call} in it is the name of a file that has
 * what would have come on that input; it is for the user alone, in the home directory, which the
 * hosts have to share.
 */
#ifndef LAUNCHER_TREE_BOOTSTRAP_H
#define LAUNCHER_TREE_BOOTSTRAP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "launcher/tree/batch_bootstrap.h"
#include "launcher/tree/connect_back.h"

struct bootstrap {
    char *method; /* "auto", "local", "ssh", "slurm" or a template */
    char *ssh;    /* words: "ssh", "ssh -p 2222" */
    char *agent;  /* path of tpagent on the nodes */
    uint32_t fanout;
    bool flat;            /* every host is reached from the root; not for agents */
    const char *command;  /* what messages call the command; NULL: its first word. Static */
    double start_timeout; /* seconds */
    double node_timeout;
    int verbose;
    char *batch; /* agents are those of an instance: the name of its sockets (instance_port.h);
                  NULL */
    int broker;  /* agents are had from an instance, over this descriptor (agent_broker.h); 0: not.
                   It stays here */
    int pmix;    /* 1: agents are about to need openpmix, and may make it ready meanwhile */
};

json_t *bootstrap_to_json(const struct bootstrap *boot); /* new reference */
int bootstrap_from_json(struct bootstrap *boot, const json_t *value, struct error *err);
void bootstrap_clear(struct bootstrap *boot);

/* The batch system's command becomes the method. -1 with a sentence where it is not installed. */
int bootstrap_use_batch(struct bootstrap *boot, const struct batch_bootstrap *batch,
                        struct error *err);

/* Hosts that are not this machine, too. */
bool bootstrap_reaches_others(const struct bootstrap *boot);

/* The command for one host, NULL-terminated; NULL with a sentence when a template is malformed.
 * Caller frees with string_list_free(). */
char **bootstrap_command(const struct bootstrap *boot, const char *login, struct error *err);
/* One host of several that one command is for. */
struct bootstrap_host {
    const char *login;
    uint32_t rank; /* in R */
};

/* The command that starts the agents of all these hosts, which then connect back (connect_back.h):
 * `call` is the file in place of {call}, NULL where bootstrap_wants_file() is false. Its
 * environment, which the caller frees with string_list_free(). The ports on which agents are waited
 * for. */
char **bootstrap_shared_command(const struct bootstrap *boot, const struct bootstrap_host *hosts,
                                size_t count, const char *call, struct error *err);
bool bootstrap_wants_file(const struct bootstrap *boot);
char **bootstrap_shared_environment(const struct bootstrap *boot);
struct connect_back_ports bootstrap_shared_ports(const struct bootstrap *boot);

/* Run a command that reaches hosts: in a session of its own, deaf to the signals that a batch
 * system sends to all processes of a job, killed when this process dies. fds become 0, 1 and 2. The
 * process id, or -1 with a sentence. */
pid_t bootstrap_run(char *const *command, char *const *environment, const int fds[3],
                    struct error *err);

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

/* Whether `words` are those of a shell that has not found the agent under its path. */
bool bootstrap_agent_is_missing(const struct bootstrap *boot, const char *words);

#endif
