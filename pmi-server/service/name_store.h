/*
 * names - what tasks publish for others to look up (PMIx Standard 4, "Publish and Lookup"; PMI's
 * names are in the same place).
 *
 * The hub has those of its program. Whoever owns it may know those of other programs, and show this
 * program's to them (struct hub_names_ops).
 */
#ifndef PMI_SERVER_SERVICE_NAME_STORE_H
#define PMI_SERVER_SERVICE_NAME_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmi-server/protocol/message.h"
#include "pmi-server/protocol/published_name.h"

struct hub;

struct hub_name {
    struct hub_name *next;
    char *key;
    void *value; /* a zero byte follows */
    size_t len;
    bool text; /* and has no zero byte in it; else bytes that hosts know the meaning of */
    char *job; /* whose task has published it */
    uint32_t rank, node;
    enum hub_range range; /* those that find it, of those beside the task that has published it */
    enum hub_until until;
    uint64_t id;      /* in its program */
    uint64_t program; /* the owner's number for it; 0: this one */
};

/* Where there are other programs. Only names of HUB_TO_ALL are theirs to see. */
struct hub_names_ops {
    /* The first `fresh` of hub_names() are to be shown as well as the rest; none: some have gone.
     * 0; 1: another program has published one of the fresh ones; -1: they cannot be shown. */
    int (*show)(void *arg, size_t fresh);
    /* Those of other programs as they are now, the owner's until it is asked again. */
    const struct hub_name *(*others)(void *arg);
    /* One with HUB_UNTIL_READ, of this program or another, is about to be read; false: another was
     * faster. */
    bool (*take)(void *arg, const struct hub_name *name);
    /* One of this program with HUB_UNTIL_READ has not been read by another. */
    bool (*kept)(void *arg, const struct hub_name *name);
    /* Somebody waits for names of other programs: hub_names_changed() is wanted. */
    void (*watch)(void *arg, bool on);
};

void hub_names_use(struct hub *hub, const struct hub_names_ops *ops, void *arg); /* borrowed */
const struct hub_name *hub_names(const struct hub *hub); /* this program's, linked */
void hub_names_changed(struct hub *hub);                 /* other programs' */

/* PMI's: of text, for all, until the end, by no task in particular. */
enum hub_status hub_publish_text(struct hub *hub, const char *job, const char *key,
                                 const char *text);
enum hub_status hub_unpublish_text(struct hub *hub, const char *key);
/* The caller frees the text. HUB_UNSUPPORTED: it is none. */
enum hub_status hub_lookup_text(struct hub *hub, const char *job, const char *key, char **text);

struct hub_name *hub_name_new(const char *key, const void *value, size_t len);
void hub_names_free(struct hub_name *names); /* and all that follow */

#endif
