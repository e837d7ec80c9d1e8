/*
 * published_name - limits of what tasks publish, who finds it, and until when (PMIx Standard 4, "Publish and
 * Lookup").
 */
#ifndef PMI_SERVER_PROTOCOL_PUBLISHED_NAME_H
#define PMI_SERVER_PROTOCOL_PUBLISHED_NAME_H

#define HUB_NAMES_MAX 8192           /* that are published at a time */
#define HUB_NAMES_BYTES (2u << 20)   /* of their keys and values */
#define HUB_KEYS_MAX 1024            /* in one request */
#define HUB_KEY_MAX 4096             /* bytes */
#define HUB_LOOKUPS_MAX 16           /* of one task that wait at a time */
#define HUB_LOOKUP_BYTES (64u << 10) /* of the keys of one that waits */
#define HUB_SOMEBODY UINT32_MAX      /* a task of the job, whoever it was; as PMIX_RANK_UNDEF */

enum hub_range { HUB_TO_TASK, HUB_TO_NODE, HUB_TO_JOB, HUB_TO_ALL, HUB_NRANGES };

enum hub_until { HUB_UNTIL_READ, HUB_UNTIL_TASK, HUB_UNTIL_JOB, HUB_UNTIL_END, HUB_NUNTIL };

#endif
