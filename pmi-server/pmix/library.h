/*
 * library - openpmix, opened when it is first asked for.
 *
 * Its own names stay its own: libpmix brings a libevent along, and other libraries of this process
 * (libev) export functions of the same names.
 */
#ifndef PMI_SERVER_PMIX_LIBRARY_H
#define PMI_SERVER_PMIX_LIBRARY_H

#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "pmi-server/pmix/version.h"

/* What is called of it: all of it is in 4.2 and in 5.0. */
#define PMIX_LIBRARY_FUNCTIONS(X)                                                                  \
    X(get_version, PMIx_Get_version)                                                               \
    X(error_string, PMIx_Error_string)                                                             \
    X(info_load, PMIx_Info_load)                                                                   \
    X(data_pack, PMIx_Data_pack)                                                                   \
    X(data_unpack, PMIx_Data_unpack)                                                               \
    X(notify_event, PMIx_Notify_event)                                                             \
    X(value_destruct, PMIx_Value_destruct)                                                         \
    X(generate_regex, PMIx_generate_regex)                                                         \
    X(generate_ppn, PMIx_generate_ppn)                                                             \
    X(init, PMIx_server_init)                                                                      \
    X(finalize, PMIx_server_finalize)                                                              \
    X(register_nspace, PMIx_server_register_nspace)                                                \
    X(deregister_nspace, PMIx_server_deregister_nspace)                                            \
    X(register_client, PMIx_server_register_client)                                                \
    X(deregister_client, PMIx_server_deregister_client)                                            \
    X(setup_local_support, PMIx_server_setup_local_support)                                        \
    X(setup_fork, PMIx_server_setup_fork)                                                          \
    X(define_process_set, PMIx_server_define_process_set)                                          \
    X(delete_process_set, PMIx_server_delete_process_set)                                          \
    X(dmodex_request, PMIx_server_dmodex_request)                                                  \
    X(get_nb, PMIx_Get_nb)                                                                         \
    X(iof_deliver, PMIx_server_IOF_deliver)                                                        \
    X(generate_locality_string, PMIx_server_generate_locality_string)

struct pmix_library {
#define PMIX_LIBRARY_MEMBER(name, symbol) __typeof__(symbol) *name;
    PMIX_LIBRARY_FUNCTIONS(PMIX_LIBRARY_MEMBER)
#undef PMIX_LIBRARY_MEMBER
    int (*init_util)(pmix_info_t *infos, size_t count,
                     char *nothing); /* or NULL; process_setup.h */
    const char *path;
    struct pmix_version version;
    bool same_hwloc; /* as this program's: topologies may be handed over */
};

/* Opened once, never closed; any thread. NULL with a sentence. */
const struct pmix_library *pmix_library(struct error *err);

/* The files of its components, in the folder beside it that they are in by default, are opened: a
 * server then finds them so. */
void library_open_components(const struct pmix_library *library);

/* What the library writes to its stderr goes to this stream, which stays open for good. No thread
 * of the library runs. One that writes in another way is left as it is. */
void library_write_errors_to(FILE *stream);

/* then(whatever, arg) in openpmix's thread, where some of its callbacks have to be called. openpmix
 * 4.2 to 6.0: they are about a connection of that thread, but run in whatever thread calls them. It
 * comes by for a client that there is not, and that it is to forget. */
static inline void library_in_progress_thread(const struct pmix_library *library,
                                              pmix_op_cbfunc_t then, void *arg)
{
    static const pmix_proc_t nobody = {.rank = PMIX_RANK_INVALID};
    library->deregister_client(&nobody, then, arg);
}

/* What openpmix's thread is asked for several times at once, and the wait for all of it: a wait for
 * each would be two turns of the scheduler a task. */
struct library_calls {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    size_t pending;
    pmix_status_t status; /* of the first that failed */
};

#define LIBRARY_CALLS_INIT                                                                         \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, PMIX_SUCCESS                       \
    }

/* Before a call, which is given library_calls_end and these; and what it returned, after it. */
void library_calls_begin(struct library_calls *calls);
void library_calls_begun(struct library_calls *calls, pmix_status_t status);
void library_calls_end(pmix_status_t status, void *calls); /* openpmix's thread */
/* Until all have ended. */
pmix_status_t library_calls_wait(struct library_calls *calls);
/* Does nothing: for a call whose end nobody waits for, and which openpmix wants a callback of. */
void library_ignore_end(pmix_status_t status, void *arg);

/* Answers a fence or a direct modex with a copy of these bytes, which openpmix frees. */
void library_answer_modex(pmix_modex_cbfunc_t done, void *cbdata, pmix_status_t status,
                          const void *bytes, size_t len);

/* What was packed, to be unpacked; bytes are borrowed. */
static inline pmix_data_buffer_t library_packed(char *bytes, size_t len)
{
    return (pmix_data_buffer_t){.base_ptr = bytes,
                                .unpack_ptr = bytes,
                                .pack_ptr = bytes + len,
                                .bytes_allocated = len,
                                .bytes_used = len};
}

#endif
