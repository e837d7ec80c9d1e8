/* pmi2_reply - a frame into a client's output, field by field. */
#ifndef PMI_SERVER_PMI_PMI2_REPLY_H
#define PMI_SERVER_PMI_PMI2_REPLY_H

#include "pmi-server/pmi/connection.h"

/* What pmi2.h calls these. */
enum pmi2_rc {
    PMI2_RC_OK = 0,
    PMI2_RC_INVALID_ARG = 3,
    PMI2_RC_INVALID_KEY_LENGTH = 5,
    PMI2_RC_INVALID_VAL_LENGTH = 7,
    PMI2_RC_OTHER = 14,
};

struct pmi2_reply {
    struct pmi_client *client;
    size_t start; /* of its length in the output */
};

/* "cmd=NAME-response", and thrid= if there is one. */
struct pmi2_reply pmi2_reply_begin(struct pmi_client *client, const char *name, const char *thrid);
void pmi2_reply_text(struct pmi2_reply *reply, const char *name, const char *value);
void pmi2_reply_int(struct pmi2_reply *reply, const char *name, long value);
/* found=, and value= if there is one. Libraries have room for PMI_VALLEN_MAX bytes of it, whoever
 * put it: a longer one is not found. False then. */
bool pmi2_reply_found(struct pmi2_reply *reply, const char *value); /* NULL: it is not */
void pmi2_reply_value(struct pmi2_reply *reply, const char *value); /* that, and the end */
/* rc=, and errmsg= if there is one, and the length. */
void pmi2_reply_end(struct pmi2_reply *reply, enum pmi2_rc rc, const char *errmsg);

#endif
