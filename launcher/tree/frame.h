/*
 * frame - the one message format between front end, manager and agents.
 *
 * A header of FRAME_HEADER bytes (little endian: payload length u32, type u16, flags u16, node
 * u32, rank u32, group u32), then the payload: JSON for what people could have written, plain bytes
 * for what tasks wrote. What node, rank and flags mean is said beside each type. Frames come from
 * other machines: the reader checks type and length before anything is kept.
 *
 * A program's tasks are started in groups, numbered from 0 (the launch of the command line). A
 * frame about one of them has its number; in the others it is 0.
 */
#ifndef LAUNCHER_TREE_FRAME_H
#define LAUNCHER_TREE_FRAME_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define FRAME_HEADER 20
#define FRAME_MAX (64u << 20) /* payload bytes */
#define FRAME_ALL UINT32_MAX  /* in node, rank or group: every one */

enum frame_type {
    /* every link */
    FRAME_PING = 1, /* payload: u64 sender's clock, ns */
    FRAME_PONG,     /* payload: u64 echoed, u64 answerer's clock, ns */
    FRAME_CREDIT,   /* rank: bytes of bulk payload that may be sent again */
    /* down the tree */
    FRAME_WELCOME, /* JSON: who the agent is, what it starts below itself; first frame */
    FRAME_LAUNCH,  /* group; JSON and an environment: see launcher/protocol/launch.h. flags:
                       FRAME_LAUNCH_EARLY: sent before the agent's hello, it counts where that is
                       hello_is_as_known(). The program is on this node only, and over with its
                       tasks unless they ask for something: the agent may end its link behind
                       FRAME_DONE */
    FRAME_GO,      /* group; each of its nodes can start it: start it. With one node nobody waits
                         for this */
    FRAME_SIGNAL,  /* flags: signal number, to every task; rank: FRAME_SIGNAL_END where it asks them
                         to end. Of the front end, bytes: who sent it */
    FRAME_TERMINATE, /* rank: grace in ms; TERM, grace, KILL. group: FRAME_ALL ends the program;
                         one that failed to start goes at once. Of a front end, flags: the signal
                         that asked for it, or 0 */
    FRAME_STDIN,     /* bulk; bytes for the tasks that read input, or those that were chosen last */
    FRAME_STDIN_END, /* bulk; of who sends input, flags: FRAME_STDIN_STAYS where only the sender has
                        ended */
    FRAME_STDIN_CHOOSE, /* bulk; from now on stdin is for these ranks; rank: number of the choice;
                           JSON: see launcher/protocol/input_choice.h */
    FRAME_STDIN_LEFT,   /* who sent input has ended: what its tasks have not read holds up nobody */
    FRAME_TERMINAL,     /* of the user, for that of rank 0; u64 its size has become that, see
                       terminal_size(); without bytes: it is gone */
    FRAME_FENCE_DOWN,   /* group; u64 id, then bytes */
    FRAME_CALL,    /* JSON: in place of a welcome, to an agent that is to connect to its parent: see
                         launcher/tree/connect_back.h */
    FRAME_ANSWER,  /* to a FRAME_ASK of this node and number; JSON */
    FRAME_INQUIRY, /* a question about tasks, or a signal for some; rank: its number; JSON: see
                      launcher/protocol/inquiry.h */
    /* up the tree; node: the agent it is from */
    FRAME_HELLO,     /* JSON: version, topology or its digest */
    FRAME_UNREACHED, /* JSON: a host that did not start: stage, text; node: which */
    FRAME_PREPARED,  /* group of several nodes; whether this one can start its tasks. JSON:
                       {"failed": as below, "mpis": [[FAMILY, PART], ...], "host": where} */
    FRAME_STARTED,   /* group; every task of it has been started on the node, or has failed to; with
                       what the kernel bound them to {"bindings": [[CPUS, RANKS], ...]} where that
                       is to be shown, and of a spawned group {"failed": [[STATUS, TEXT, RANKS]]} */
    FRAME_OUTPUT,    /* bulk; rank; flags: FRAME_STDERR, FRAME_UNFINISHED; without bytes: that
                           stream has ended inside a line */
    FRAME_ENDED,     /* group; ranks ended badly, told at once; u64 time, then JSON: ranks, why,
                           status, text. Whoever passes it on turns the time into its own clock */
    FRAME_DONE,     /* bulk; group; its tasks of node's subtree have ended, and where no other group
                           was left nothing is: JSON, statuses merged */
    FRAME_FENCE_UP, /* group; rank: weight; u64 id, then bytes */
    FRAME_MISSING,  /* both ways; group; its rank will enter no PMI barrier from a number on: u64
                           number. flags: FRAME_MISSING_GROUPS, FRAME_MISSING_PMIX: no PMIx fence */
    FRAME_ASK,      /* group; a task asks something of its program; rank: number of the question;
                           JSON: see launcher/protocol/task_request.h */
    FRAME_POST,     /* both ways, to `node` from node id `rank` of the group: bytes between their
                       hosts of openpmix */
    FRAME_SERVICE,  /* both ways, to and from the host of openpmix of `node`: bytes that the
                      program's service says or is asked */
    FRAME_LOST,     /* JSON: nodes (idset), text: their link is gone */
    FRAME_NOTE,     /* text for people, to stderr */
    FRAME_RUNNING,  /* after FRAME_SIGNAL or FRAME_TERMINATE; rank: how many tasks run on the node;
                        flags: FRAME_RUNNING_FIRST: when it came */
    FRAME_SURVIVORS,      /* text: what SIGKILL does not end on the node; it is not waited for */
    FRAME_INQUIRY_ANSWER, /* of this node to the FRAME_INQUIRY with the number `rank`; JSON */
    FRAME_STDIN_GONE, /* of the choice with the number `rank`: tasks here that read no more; JSON:
                         ranks */
    /* manager to front end */
    FRAME_SHOW,     /* text; flags: FRAME_STDERR */
    FRAME_PROGRESS, /* JSON: of a start that takes long, how many hosts of how many were reached,
                       and which are missing; whatever is shown next takes its place */
    FRAME_SAVE, /* text: a program's directory, where output is saved from now on; without bytes: it
                       cannot be saved any more, and is sent */
    FRAME_MAPPED, /* JSON: program, ntasks, hosts, taskmap */
    FRAME_RUNS,   /* the first tasks of a detached program are all started */
    FRAME_RESULT, /* bytes of a file that an option names, which the front end writes; rank: enum
                     frame_result. flags: FRAME_RESULT_END: that was the last of it */
    FRAME_END,    /* bulk; JSON: status, messages. Back from the front end: what is saved of it */
    /* between an instance's manager and its agents, both ways */
    FRAME_CHANNEL, /* rank: number of the channel of `node`; bytes of it. flags: FRAME_CHANNEL_OPEN:
                      it is new, bytes: for what; FRAME_CHANNEL_END: that was the last of them;
                      FRAME_CHANNEL_PMIX: of a new one, see agent_broker_ask() */
    FRAME_CHANNEL_CREDIT, /* rank: number of the channel; u64 bytes that may be sent again. flags:
                             FRAME_CHANNEL_CLOSED: none are taken any more */
    /* to an instance's manager, the first on a channel */
    FRAME_PROGRAM, /* JSON and an environment: what to run, see launcher/protocol/program_request.h */
    FRAME_COMMAND, /* JSON: the same of a tpctl, and what goes both ways behind it: see
                      launcher/protocol/remote_command_request.h */
    /* between the manager and who connects to its control socket */
    FRAME_CONTROL, /* JSON: a request, see launcher/protocol/control_request.h; and its answer */
    /* to a front end that leaves, which has asked for it with a FRAME_SAVE of its own */
    FRAME_SENT, /* bulk; all output that is not saved was sent before */
    /* files that are staged (launcher/protocol/stage_list.h): down the tree, and the bytes also
     * behind a FRAME_PROGRAM */
    FRAME_STAGE,      /* bulk; rank: number of the staging; JSON: which come, and to which nodes */
    FRAME_STAGE_DATA, /* bulk; bytes of them */
    FRAME_STAGE_END,  /* bulk; JSON: their checksums */
    FRAME_STAGED,     /* up; of this node, to the staging with the number `rank`; JSON: it has room
                         for them, has them, or has failed */
    /* executables of the user's on each node (launcher/protocol/hook_message.h) */
    FRAME_HOOK, /* down, to `node`; JSON: run it; flags: FRAME_HOOK_EPILOG: it is the epilog */
    FRAME_HOOK_ENDED, /* up; of this node; JSON: how it ended */
    FRAME_EPILOGS,    /* down, the last of an instance; rank: ms that epilogs of programs in it take
                         at most, on whichever nodes */
    FRAME_NTYPES
};

enum {
    FRAME_STDERR = 1,
    FRAME_UNFINISHED = 2,
    FRAME_MISSING_GROUPS = 4,
    FRAME_MISSING_PMIX = 8,
    FRAME_RUNNING_FIRST = 16,
    FRAME_CHANNEL_OPEN = 32,
    FRAME_CHANNEL_END = 64,
    FRAME_CHANNEL_CLOSED = 128,
    FRAME_STDIN_STAYS = 256,
    FRAME_RESULT_END = 512,
    FRAME_HOOK_EPILOG = 1024,
    FRAME_CHANNEL_PMIX = 2048,
    FRAME_LAUNCH_EARLY = 4096
};
enum {
    FRAME_SIGNAL_END = 1,
    FRAME_SIGNAL_TYPED = 2 /* of a command: with a key of its terminal */
};

enum frame_result { FRAME_RESULT_DRAW, FRAME_RESULT_REPORT, FRAME_RESULTS };

struct frame {
    enum frame_type type;
    uint16_t flags;
    uint32_t node;
    uint32_t rank;
    uint32_t group;
    const void *bytes; /* borrowed */
    size_t len;
};

/* Bulk frames count against a link's credit and keep their order among themselves. */
int frame_is_bulk(enum frame_type type);

/* Nobody waits for it: it may go a little later, with what is sent next. */
bool frame_may_wait(const struct frame *frame);

void frame_encode_header(const struct frame *frame, unsigned char header[FRAME_HEADER]);

/* The next whole frame at the front of `in` (its bytes point there): 1, 0 when more bytes are
 * needed, -1 with a sentence. The caller consumes FRAME_HEADER + len bytes afterwards. */
int frame_decode(const struct buf *in, struct frame *frame, struct error *err);

/* Bytes of the payload whose header stands at the front of `in`. */
size_t frame_length(const struct buf *in);

/* Text of unknown origin as a JSON string (new reference). One with bytes that are not UTF-8 is
 * made printable, so that a message about them is never lost. NULL gives null. */
json_t *frame_text(const char *text);

/* The payload as JSON (new reference), or NULL with a sentence. */
json_t *frame_json(const struct frame *frame, struct error *err);

/* Seconds of grace as FRAME_TERMINATE has them: milliseconds; FRAME_ALL is for ever. */
uint32_t frame_grace(double seconds);

void frame_put_u64(unsigned char *bytes, uint64_t value);
uint64_t frame_get_u64(const unsigned char *bytes);

#endif
