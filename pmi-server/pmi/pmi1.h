/*
 * pmi1 - RFC 13's wire protocol as a dialect: lines of text, one reply for each.
 *
 * PMI 1.1 is spoken, and 1.2 to those whose init says pmi_subversion=2: barriers of groups, whose
 * replies bear a tag and may overtake others, and found= in the reply to a get. An init for PMI-2
 * is heard and passed on. An init for another version is answered with rc=-1 and leaves the client
 * PMI_SILENT, so that it may try again.
 */
#ifndef PMI_SERVER_PMI_PMI1_H
#define PMI_SERVER_PMI_PMI1_H

struct dialect;

extern const struct dialect pmi1_dialect;
/* Hears the first line, and speaks no PMI-1 itself. */
extern const struct dialect pmi1_greeting;

#endif
