/*
 * process_mapping - who shares a node, from PMI_process_mapping (RFC 13, Local Process Group
 * Information).
 *
 * "(vector,(node,nnodes,ppn),...)": each block hands ppn consecutive ranks to each of nnodes
 * consecutive nodes; where ranks remain the vector begins again.
 */
#ifndef PMI_SERVER_CLIENT_PROCESS_MAPPING_H
#define PMI_SERVER_CLIENT_PROCESS_MAPPING_H

/* How many of the ranks [0, size) are on the node of `rank`, itself included, or -1 when the
 * mapping is malformed. The first `room` of them, ascending, go into ranks. */
int process_mapping_clique_find(const char *mapping, int rank, int size, int ranks[], int room);

#endif
