/*
 * pmix_tool_proxy - PMIx tools of the user that connect to this node's host of openpmix (--tools).
 *
 * They come to a port of the agent's own, whose address is in a file of the program's scratch
 * directory, as openpmix's tools look for it; what they and the host say to each other is passed on
 * here. So whose a tool is the kernel says, a tool that dies or does not read is this file's
 * business and never openpmix's, and what waits for one is counted.
 */
#ifndef LAUNCHER_AGENT_PMIX_TOOL_PROXY_H
#define LAUNCHER_AGENT_PMIX_TOOL_PROXY_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "pmi-server/pmix/server.h"

#define TOOL_GREETING_MAX 65536 /* bytes of its first message */
#define TOOL_LAG (1u << 20)     /* bytes that wait for a tool, and output is held back */
#define TOOL_LAG_MAX (16u << 20)
#define TOOL_PATIENCE 10.0 /* s for one that lags, or has yet to say who it is */
#define TOOL_PROXY_MAX 64  /* at a time */
#define TOOL_END_PATIENCE                                                                          \
    5.0 /* s at the end for a tool to read what is for it, and to close its connection */

struct tools;

enum tool_phase {
    TOOL_GREETS, /* its first message is not whole */
    TOOL_WAITS,  /* for others that came before */
    TOOL_JOINS,  /* openpmix has its message */
    TOOL_IS_IN
};

enum tool_side { TOOL_FAR, TOOL_NEAR, TOOL_NSIDES }; /* the tool, and openpmix */

struct tool_end {
    int fd;     /* -1: not there yet, or closed */
    bool ended; /* nothing more comes from it */
    bool shut;  /* nothing more goes to it */
    ev_io reader, writer;
    struct buf out;
};

#define TOOL_HEAD 16 /* bytes before each message */

struct tool_messages { /* where in what the tool says messages begin */
    bool greeted;
    size_t nhead, rest; /* bytes of a head that is not whole; bytes that its message still has */
    char head[TOOL_HEAD];
};

struct tool {
    struct tool *next;
    struct tools *tools;
    uint32_t number;
    enum tool_phase phase;
    double moved; /* when it last was seen to do something */
    struct tool_end ends[TOOL_NSIDES];
    struct tool_messages messages;
    uint32_t question; /* tag of the last message to openpmix; 0: not asked yet */
    bool answered;     /* all that openpmix had for it before has come */
    struct buf held;   /* may be the beginning of that answer */
};

struct tool_proxy_config {
    struct ev_loop *loop;
    struct pmix_host *host;
    const char *directory; /* for the file */
    const char *name;      /* of the program, for that */
    const char *server;    /* its namespace, and its rank */
    uint32_t node;
    void (*note)(void *arg, const char *text); /* for people */
    void *arg;
};

/* All in config is borrowed during the call but loop, host and arg. NULL with a sentence. */
struct tools *tool_proxy_new(const struct tool_proxy_config *config, struct error *err);
/* Nothing more comes for tools: none is let in any more. Those that are in get all that openpmix has
 * for them, and then the end of their connection. True once all have closed theirs, or
 * TOOL_END_PATIENCE after the first call; to be called in each turn of the loop until then. */
bool tool_proxy_end(struct tools *tools);
void tool_proxy_free(struct tools *tools);
const char *tool_proxy_file(const struct tools *tools);
void tool_proxy_came(struct tools *tools, uint32_t number); /* pmix_host_ops' tool_came() */

/* pmix_tool_proxy.c: one of them, for pmix_tool_proxy.c */
struct tool *tool_new(struct tools *tools, struct ev_loop *loop, int fd);
void tool_join(struct tool *tool, struct ev_loop *loop, int fd); /* fd leads to openpmix */
void tool_free(struct tool *tool, struct ev_loop *loop);
/* Ask openpmix something whose answer comes behind all that it has for the tool; once the tool's own
 * messages are whole. Then, when the answer has come and the tool's kernel has all, end what it reads. */
void tool_finish(struct tool *tool, struct ev_loop *loop);
/* The tool itself is not heard any more; the rest follows. */
void tool_drop(struct tool *tool, struct ev_loop *loop);
/* Something came or went: pmix_tool_proxy.c looks at it. Frees it, perhaps. */
void tool_proxy_settle(struct tool *tool);

#endif
