/*
 * dialects - what can be served: lists for struct pmi_config, each begun by the one that hears a
 * client's first line.
 */
#ifndef PMI_SERVER_DIALECTS_H
#define PMI_SERVER_DIALECTS_H

struct dialect;

extern const struct dialect *const pmi_dialects[]; /* all there are */

#endif
