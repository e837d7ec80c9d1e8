/*
 * pmi.h - PMI-1, the API of RFC 13.
 *
 * libpmi.so.0 speaks the PMI-1 wire protocol on the descriptor that PMI_FD names, so a program
 * linked with it runs under any launcher that offers this (tprun, mpiexec.hydra). Without PMI_FD
 * the process is a singleton: rank 0 of 1, with a key-value space of its own.
 *
 * Functions return PMI_SUCCESS or one of the codes below, and PMI_ERR_INIT before PMI_Init and
 * after PMI_Finalize. Lengths and buffer sizes count the terminating NUL. Nothing is printed, but
 * for PMI_Abort's message.
 *
 * Threads: any thread may call any function. The protocol has one request at a time, so one mutex
 * covers the library: a call waits for those of other threads, and while one thread is in
 * PMI_Barrier all others wait for it; PMI_Abort alone does not. After fork() only one of the two
 * processes may go on using the library.
 */
#ifndef PMI_H
#define PMI_H

#ifdef __cplusplus
extern "C" {
#endif

#define PMI_SUCCESS 0
#define PMI_FAIL (-1)
#define PMI_ERR_INIT 1
#define PMI_ERR_NOMEM 2
#define PMI_ERR_INVALID_ARG 3
#define PMI_ERR_INVALID_KEY 4
#define PMI_ERR_INVALID_KEY_LENGTH 5
#define PMI_ERR_INVALID_VAL 6
#define PMI_ERR_INVALID_VAL_LENGTH 7
#define PMI_ERR_INVALID_LENGTH 8
#define PMI_ERR_INVALID_NUM_ARGS 9
#define PMI_ERR_INVALID_ARGS 10
#define PMI_ERR_INVALID_NUM_PARSED 11
#define PMI_ERR_INVALID_KEYVALP 12
#define PMI_ERR_INVALID_SIZE 13
#define PMI_ERR_INVALID_KVS 14

typedef struct {
    const char *key;
    char *val;
} PMI_keyval_t;

/* Life. PMI_Init may be called again while initialized, and then only tells `spawned`. After
 * PMI_Finalize the connection is closed: only a singleton can be initialized once more. */
int PMI_Init(int *spawned);
int PMI_Initialized(int *initialized);
int PMI_Finalize(void);
/* Prints error_msg (may be NULL) to stderr, asks for the end of the program, exits. */
int PMI_Abort(int exit_code, const char error_msg[]);

/* The group. The universe size is -1 where the launcher knows no limit. */
int PMI_Get_size(int *size);
int PMI_Get_rank(int *rank);
int PMI_Get_universe_size(int *size);
int PMI_Get_appnum(int *appnum);

/* The ranks on this process's node, ascending, from PMI_process_mapping. Where the launcher gives
 * no mapping no other process is known to be near: the clique is this rank alone. */
int PMI_Get_clique_size(int *size);
int PMI_Get_clique_ranks(int ranks[], int length);

/* The key-value space. Keys are visible ASCII without '='. Values may hold spaces, but some
 * launchers cut them there; they may not hold control characters other than a tab. What was put is
 * seen by others after PMI_KVS_Commit and PMI_Barrier. A key that is not there is PMI_FAIL. */
int PMI_KVS_Get_my_name(char kvsname[], int length);
int PMI_KVS_Get_name_length_max(int *length);
int PMI_KVS_Get_key_length_max(int *length);
int PMI_KVS_Get_value_length_max(int *length);
int PMI_KVS_Put(const char kvsname[], const char key[], const char value[]);
int PMI_KVS_Commit(const char kvsname[]);
int PMI_KVS_Get(const char kvsname[], const char key[], char value[], int length);
int PMI_Barrier(void);

/* Aliases of the above that MPICH's header dropped in 2011. */
int PMI_Get_id_length_max(int *length);
int PMI_Get_id(char kvsname[], int length);
int PMI_Get_kvs_domain_id(char kvsname[], int length);

/* Dynamic processes. PMI_FAIL where the launcher refuses. `port` needs room for the longest value.
 * `errors` (may be NULL) takes a code for each process asked for. */
int PMI_Publish_name(const char service_name[], const char port[]);
int PMI_Unpublish_name(const char service_name[]);
int PMI_Lookup_name(const char service_name[], char port[]);
int PMI_Spawn_multiple(int count, const char *cmds[], const char **argvs[], const int maxprocs[],
                       const int info_keyval_sizesp[], const PMI_keyval_t *info_keyval_vectors[],
                       int preput_keyval_size, const PMI_keyval_t preput_keyval_vector[],
                       int errors[]);

/* Optional in RFC 13, and dropped from MPICH's header: these return PMI_FAIL and do nothing. */
int PMI_KVS_Create(char kvsname[], int length);
int PMI_KVS_Destroy(const char kvsname[]);
int PMI_KVS_Iter_first(const char kvsname[], char key[], int key_len, char val[], int val_len);
int PMI_KVS_Iter_next(const char kvsname[], char key[], int key_len, char val[], int val_len);
int PMI_Parse_option(int num_args, char *args[], int *num_parsed, PMI_keyval_t **keyvalp,
                     int *size);
int PMI_Args_to_keyval(int *argcp, char *((*argvp)[]), PMI_keyval_t **keyvalp, int *size);
int PMI_Free_keyvals(PMI_keyval_t keyvalp[], int size);
int PMI_Get_options(char *str, int *length);

#ifdef __cplusplus
}
#endif

#endif
