/*
 * published_name - limits of what tasks publish, who finds it, and until when (PMIx Standard 4,
 * "Publish and Lookup").
 */
#ifndef PMI_SERVER_PROTOCOL_PUBLISHED_NAME_H
#define PMI_SERVER_PROTOCOL_PUBLISHED_NAME_H

#define SERVICE_NAMES_MAX 8192           /* that are published at a time */
#define SERVICE_NAMES_BYTES (2u << 20)   /* of their keys and values */
#define SERVICE_KEYS_MAX 1024            /* in one request */
#define SERVICE_KEY_MAX 4096             /* bytes */
#define SERVICE_LOOKUPS_MAX 16           /* of one task that wait at a time */
#define SERVICE_LOOKUP_BYTES (64u << 10) /* of the keys of one that waits */
#define SERVICE_SOMEBODY UINT32_MAX      /* a task of the job, whoever it was; as PMIX_RANK_UNDEF */

enum publish_range { RANGE_TASK, RANGE_NODE, RANGE_JOB, RANGE_ALL, RANGE_NRANGES };

enum publish_persistence { PERSIST_READ, PERSIST_TASK, PERSIST_JOB, PERSIST_END, PERSIST_NUNTIL };

#endif
