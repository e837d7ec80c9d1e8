/*
 * pmi2.h - PMI-2, as the MPICH and Slurm libraries of that name offer it.
 *
 * libpmi2.so.0 speaks the PMI-2 wire protocol on the descriptor that PMI_FD names, so a program
 * linked with it runs under any launcher that offers this (tprun, mpiexec.hydra). Without PMI_FD
 * the process is a singleton: rank 0 of 1, with a key-value space and node attributes of its own.
 *
 * Functions return PMI2_SUCCESS or one of the codes below, and PMI2_ERR_INIT before PMI2_Init and
 * after PMI2_Finalize. Buffer sizes count the terminating NUL; texts that do not fit are cut, and
 * PMI2_KVS_Get alone tells. Keys are visible ASCII without '=' and ';'; values hold anything but a
 * NUL. Some launchers do not get ';' in a value right.
 *
 * Of this header's versions in the world MPICH's and Slurm's differ in the type of info arguments;
 * this is MPICH's. Info arguments of names are ignored.
 *
 * Threads: any thread may call any function; one mutex covers the library, so that while one thread
 * waits (PMI2_KVS_Fence, PMI2_Info_GetNodeAttr) all others wait for it; PMI2_Abort alone does not.
 * After fork() only one of the two processes may go on using the library.
 */
#ifndef PMI2_H
#define PMI2_H

#ifdef __cplusplus
extern "C" {
#endif

#define PMI2_MAX_KEYLEN 64
#define PMI2_MAX_VALLEN 1024
#define PMI2_MAX_ATTRVALUE 1024
#define PMI2_ID_NULL (-1)

#define PMI2_SUCCESS 0
#define PMI2_FAIL (-1)
#define PMI2_ERR_INIT 1
#define PMI2_ERR_NOMEM 2
#define PMI2_ERR_INVALID_ARG 3
#define PMI2_ERR_INVALID_KEY 4
#define PMI2_ERR_INVALID_KEY_LENGTH 5
#define PMI2_ERR_INVALID_VAL 6
#define PMI2_ERR_INVALID_VAL_LENGTH 7
#define PMI2_ERR_INVALID_LENGTH 8
#define PMI2_ERR_INVALID_NUM_ARGS 9
#define PMI2_ERR_INVALID_ARGS 10
#define PMI2_ERR_INVALID_NUM_PARSED 11
#define PMI2_ERR_INVALID_KEYVALP 12
#define PMI2_ERR_INVALID_SIZE 13
#define PMI2_ERR_OTHER 14

typedef struct PMI2_keyval_t {
    const char *key;
    const char *val;
} PMI2_keyval_t;

typedef struct PMI2_Connect_comm {
    int (*read)(void *buf, int maxlen, void *ctx);
    int (*write)(const void *buf, int len, void *ctx);
    void *ctx;
    int isMain;
} PMI2_Connect_comm_t;

/* Life. A second PMI2_Init while initialized tells the same again. After PMI2_Finalize the
 * connection is closed: only a singleton can be initialized once more. appnum is -1 in one. */
int PMI2_Init(int *spawned, int *size, int *rank, int *appnum);
int PMI2_Initialized(void); /* 1 or 0 */
int PMI2_Finalize(void);
/* Prints msg (may be NULL) to stderr, asks for the end of the program if flag is not 0, exits with
 * flag. */
int PMI2_Abort(int flag, const char msg[]);

/* The job. */
int PMI2_Job_GetId(char jobid[], int jobid_size);
int PMI2_Job_GetRank(int *rank);
int PMI2_Info_GetSize(int *size);

/* The key-value space. What was put is seen by others after PMI2_KVS_Fence, in which all meet.
 * jobid may be NULL: this job. *vallen is the length of the value, negative when it was cut. A key
 * that is not there is PMI2_FAIL. */
int PMI2_KVS_Put(const char key[], const char value[]);
int PMI2_KVS_Fence(void);
int PMI2_KVS_Get(const char *jobid, int src_pmi_id, const char key[], char value[], int maxvalue,
                 int *vallen);

/* Attributes of the node, seen by the job's tasks there at once, and of the job (universeSize,
 * PMI_process_mapping). *found tells whether there is one; with waitfor the call returns once there
 * is. The arrays are of numbers with commas between. */
int PMI2_Info_GetNodeAttr(const char name[], char value[], int valuelen, int *found, int waitfor);
int PMI2_Info_GetNodeAttrIntArray(const char name[], int array[], int arraylen, int *outlen,
                                  int *found);
int PMI2_Info_PutNodeAttr(const char name[], const char value[]);
int PMI2_Info_GetJobAttr(const char name[], char value[], int valuelen, int *found);
int PMI2_Info_GetJobAttrIntArray(const char name[], int array[], int arraylen, int *outlen,
                                 int *found);

/* All tasks in a ring, those of a node side by side: the caller's place, and what its neighbours
 * brought. Of Slurm and tprun; others refuse it. */
int PMIX_Ring(const char value[], int *rank, int *ranks, char left[], char right[], int maxvalue);

/* Dynamic processes, where the launcher offers them. `errors` (may be NULL) takes a code for each
 * process asked for. */
int PMI2_Nameserv_publish(const char service_name[], const PMI2_keyval_t *info_ptr,
                          const char port[]);
int PMI2_Nameserv_lookup(const char service_name[], const PMI2_keyval_t *info_ptr, char port[],
                         int portLen);
int PMI2_Nameserv_unpublish(const char service_name[], const PMI2_keyval_t *info_ptr);
int PMI2_Job_Spawn(int count, const char *cmds[], int argcs[], const char **argvs[],
                   const int maxprocs[], const int info_keyval_sizes[],
                   const PMI2_keyval_t *info_keyval_vectors[], int preput_keyval_size,
                   const PMI2_keyval_t preput_keyval_vector[], char jobId[], int jobIdSize,
                   int errors[]);
int PMI2_Job_Connect(const char jobid[], PMI2_Connect_comm_t *conn);
int PMI2_Job_Disconnect(const char jobid[]);

#ifdef __cplusplus
}
#endif

#endif
