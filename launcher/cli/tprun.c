/* tprun - start a parallel program: options in, exit status out. */
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/agent/agent.h"
#include "launcher/agent/local_hooks.h"
#include "launcher/cli/batch_script.h"
#include "launcher/cli/check_program.h"
#include "launcher/cli/instance_program.h"
#include "launcher/cli/kept_agents.h"
#include "launcher/cli/tprun_options.h"
#include "launcher/frontend/foreground.h"
#include "launcher/frontend/frontend.h"
#include "launcher/ledger/program_output.h"
#include "launcher/manager/manager.h"
#include "launcher/mpiexec/mpiexec.h"
#include "launcher/mpiexec/singleton.h"
#include "launcher/options/option_help.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/descendants.h"
#include "launcher/process/login_session.h"
#include "launcher/process/program_path.h"
#include "launcher/process/reap.h"
#include "launcher/process/terminal_modes.h"
#include "launcher/process/user_namespace.h"
#include "launcher/stdio/output.h"
#include "launcher/stdio/result_file.h"
#include "launcher/stdio/terminal.h"

#define MANAGER_LEAVES 10.0 /* s that the manager may need to clear up once all has ended */

#define BACKGROUND_FIRST 3 /* descriptor in the background of what there is besides 0 to 2 */

#define FILES_LEAST 64    /* descriptors that a run of one task needs, and some */
#define FILES_ENOUGH 1024 /* the usual soft limit */

static void tprun_complain(const char *text)
{
    terminal_complain("tprun", text, strlen(text));
}

static int tprun_refuse(struct error *err)
{
    int status = err->kind == ERROR_USAGE ? 2 : 1;
    tprun_complain(error_text(err));
    if (status == 2) {
        bool foreign = mpiexec_is_name(program_invocation_name) ||
                       batch_script_is_name(program_invocation_name);
        char *text = mem_format("'%s --help' lists the options",
                                foreign ? program_invocation_short_name : "tprun");
        tprun_complain(text);
        free(text);
    }
    error_clear(err);
    return status;
}

static int tprun_print_and_free(char *text)
{
    struct error err = ERROR_INIT;
    int failed = text ? terminal_print(STDOUT_FILENO, text, strlen(text)) : ENOMEM;
    free(text);
    if (failed == 0 || failed == EPIPE)
        return failed != 0;
    return error_set(&err, "stdout: cannot write: %s", strerror(failed)), tprun_refuse(&err);
}

static int print_spec(const struct spec *spec)
{
    json_t *value = spec_to_json(spec);
    char *text = json_dumps(value, JSON_INDENT(1));
    char *line = mem_format("%s\n", text ? text : "{}");
    free(text);
    json_decref(value);
    return tprun_print_and_free(line);
}

static int check(const struct spec *spec)
{
    struct buf out = BUF_INIT;
    bool runs = check_programs(spec, &out);
    return tprun_print_and_free(buf_take_text(&out)) || !runs;
}

/* What a manager that is gone may have left on this machine. */
struct left {
    pid_t manager;
    bool is_child; /* else it is the child of a process that is gone, */
    int pidfd;     /* and this is open on it; -1: the kernel cannot do that */
    pid_t *born;   /* children that were there before */
    size_t nborn;
    struct cgroup *cgroup;
    struct scratch *scratch;
    struct kept_agents_socket *kept; /* NULL: nobody looks for its agents */
};

/* What a process of this run has open, each 0: it has none. */
struct ends {
    int foreground; /* to the process at the terminal */
    int manager;    /* of the instance, which runs the program */
    int broker;     /* where there are agents, see manager.h */
    int listener;   /* agents are kept, and this is where runs come */
    struct kept_agents_socket *kept;
};

static bool manager_ends(const struct left *left, double seconds)
{
    return left->is_child ? reap(left->manager, seconds, NULL)
                          : reap_other(left->manager, left->pidfd, seconds);
}

/* It has nothing to do any more, or is not there for us. */
static void end_manager(struct left *left, bool lost)
{
    int pid = left->manager;
    char text[128];
    if (!lost && manager_ends(left, MANAGER_LEAVES))
        return;
    snprintf(text, sizeof(text), "the manager of this run (pid %d) does not end: it is killed",
             pid);
    if (!lost)
        tprun_complain(text);
    if (left->pidfd >= 0)
        syscall(SYS_pidfd_send_signal, left->pidfd, SIGKILL, NULL, 0);
    else
        kill(pid, SIGKILL);
    snprintf(text, sizeof(text),
             "the manager of this run (pid %d) is still there %g s after SIGKILL", pid,
             REAP_KILLED);
    if (!manager_ends(left, REAP_KILLED))
        tprun_complain(text);
}

/* In a fork of the process that started the manager, which ends now: the manager becomes the child of another. */
static void guard_from_now_on(void *arg)
{
    struct left *left = arg;
    left->pidfd = (int)syscall(SYS_pidfd_open, left->manager, 0);
    left->is_child = false;
}

static char *end_left(void *arg)
{
    struct left *left = arg;
    end_manager(left, true);
    left->manager = 0;
    char *survivors = descendants_end(hooks_grace(left->scratch, AGENT_LOST_GRACE), left->born,
                                      left->nborn, left->cgroup);
    local_hooks_run_owed(left->scratch);
    scratch_directory_remove(left->scratch);
    if (left->kept)
        kept_agents_withdraw(left->kept);
    return survivors;
}

/* Of an agent of this machine that was killed: the manager leaves its epilog to this process, which may wait. */
static void end_scratch(struct left *left)
{
    if (scratch_directory_epilog(left->scratch) == EPILOG_NONE)
        return;
    local_hooks_run_owed(left->scratch);
    scratch_directory_remove(left->scratch);
}

/* A soft limit that is too low is raised: tasks have the caller's, which the spec holds. Below
 * FILES_LEAST libraries end the process. */
static int reserve_files(struct error *err)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= FILES_ENOUGH)
        return 0;
    files.rlim_cur = files.rlim_max < FILES_ENOUGH ? files.rlim_max : FILES_ENOUGH;
    if (files.rlim_cur < FILES_LEAST)
        return error_set(err,
                         "the limit of open files (ulimit -n) is %llu, which is too "
                         "low to start anything: must be at least %d",
                         (unsigned long long)files.rlim_cur, FILES_LEAST);
    setrlimit(RLIMIT_NOFILE, &files);
    return 0;
}

/* Beside the manager of an instance. */
static int serve_program(int frontend, int broker, struct scratch *scratch)
{
    return instance_program_serve(frontend, broker, scratch, serve_program);
}

/* In the background stderr is nobody's: the process at the terminal says it. */
static int refuse_run(int foreground, struct error *err)
{
    if (!foreground)
        return tprun_refuse(err);
    foreground_refuse(foreground, error_text(err));
    error_clear(err);
    return 1;
}

/* The manager is this very program: forked, not executed. Closing our copies of what the caller
 * left open is the kernel's work at exec: tasks get 0, 1 and 2 and no more. */
static int run_manager(struct spec *spec, enum frontend_role role, struct ends ends)
{
    struct error err = ERROR_INIT;
    int pair[2];
    struct left left = {.is_child = true,
                        .pidfd = -1,
                        .cgroup = cgroup_new(),
                        .scratch = scratch_directory_new(NULL),
                        .kept = ends.kept};
    left.born = descendants_children(&left.nborn);
    for (int fd = 0; spec->pty && !spec->terminal && fd <= 2; fd++)
        spec->terminal = terminal_modes_of(fd);
    descriptors_close_on_exec(3);
    descendants_adopt();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return error_set(&err, "cannot make a socket pair: %s", strerror(errno)),
               refuse_run(ends.foreground, &err);
    pid_t manager = fork();
    if (manager == 0) {
        close(pair[0]);
        const struct manager_config config = {.spec = spec,
                                              .fd = pair[1],
                                              .cgroup = left.cgroup,
                                              .scratch = left.scratch,
                                              .broker = ends.broker,
                                              .program = serve_program,
                                              .listener = ends.listener,
                                              .withdraw = kept_agents_withdraw,
                                              .withdraw_arg = ends.kept};
        mem_exit(manager_run(&config));
    }
    if (ends.broker)
        close(ends.broker);
    if (ends.listener)
        close(ends.listener);
    if (manager < 0)
        return error_set(&err, "cannot start the manager of this run: %s%s", strerror(errno),
                         errno == EAGAIN ? " (\"ulimit -u\" limits processes)" : ""),
               refuse_run(ends.foreground, &err);
    close(pair[1]);
    left.manager = manager;
    struct frontend_config config = {.spec = spec,
                                     .role = role,
                                     .fd = pair[0],
                                     .foreground = ends.foreground ? ends.foreground : -1,
                                     .lost = end_left,
                                     .on_guard = guard_from_now_on,
                                     .lost_arg = &left};
    struct frontend_result result = frontend_run(&config);
    if (left.manager && !result.goes_on)
        end_manager(&left, false);
    if (!result.goes_on)
        end_scratch(&left);
    free(left.born);
    spec_free(spec);
    return frontend_status(&result);
}

/* They become descriptors from BACKGROUND_FIRST on, and all others above are closed. */
static void move_ends(struct ends *ends)
{
    int *all[] = {&ends->foreground, &ends->manager, &ends->listener};
    const int count = sizeof(all) / sizeof(all[0]);
    for (int i = 0; i < count; i++) /* out of the way of each other first */
        if (*all[i])
            *all[i] = fcntl(*all[i], F_DUPFD_CLOEXEC, BACKGROUND_FIRST + count);
    for (int i = 0; i < count; i++) {
        if (*all[i])
            *all[i] = dup3(*all[i], BACKGROUND_FIRST + i, O_CLOEXEC);
        else
            close(BACKGROUND_FIRST + i);
    }
    descriptors_close(BACKGROUND_FIRST + (unsigned)count);
}

/* A process that has nothing of the caller's but its directory: no terminal, no descriptor. Without a manager it starts
 * one. */
static int in_background(struct spec *spec, struct ends ends)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    setsid();
    for (int fd = 0; fd <= 2; fd++)
        dup2(null, fd);
    move_ends(&ends);
    if (!ends.manager)
        return run_manager(spec, FRONTEND_BACKGROUND, ends);
    struct frontend_config config = {.spec = spec,
                                     .role = FRONTEND_BACKGROUND,
                                     .fd = ends.manager,
                                     .foreground = ends.foreground,
                                     .guarded = true,
                                     .shows = !spec->detach};
    struct frontend_result result = frontend_run(&config);
    spec_free(spec);
    return result.status;
}

/* Fork one, and be at the terminal of it until it runs or ends. The ends are taken. */
static struct frontend_result start_in_background(struct spec *spec, struct ends ends)
{
    struct error err = ERROR_INIT;
    int pair[2] = {-1, -1};
    pid_t pid = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ? -1 : fork();
    if (pid == 0) {
        close(pair[0]);
        ends.foreground = pair[1];
        mem_exit(in_background(spec, ends));
    }
    int why = errno;
    close(pair[1]);
    if (ends.manager)
        close(ends.manager);
    if (ends.listener)
        close(ends.listener);
    if (pid < 0) {
        error_set(&err, "cannot start a process in the background: %s", strerror(why));
        close(pair[0]);
        return (struct frontend_result){.status = tprun_refuse(&err)};
    }
    struct frontend_config config = {.spec = spec,
                                     .role = spec->detach ? FRONTEND_STARTER : FRONTEND_VIEWER,
                                     .fd = pair[0],
                                     .foreground = -1,
                                     .open_saved = program_output_open_path};
    struct frontend_result result = frontend_run(&config);
    if (!result.goes_on) /* what the program held is free when this returns */
        reap(pid, MANAGER_LEAVES, NULL);
    return result;
}

/* With the link to the manager of an instance, which is taken, or 0. */
static int run_in_background(struct spec *spec, int manager)
{
    /* before there is anything that it could not move */
    char *warning = manager ? NULL : login_session_outlive();
    if (warning)
        tprun_complain(warning);
    free(warning);
    struct frontend_result result = start_in_background(spec, (struct ends){.manager = manager});
    spec_free(spec);
    return frontend_status(&result);
}

/* A path below TPRUN_STAGE_DIR is one of this node: on others the same file has another. */
static void use_staged_names(struct spec *spec)
{
    const char *directory = getenv("TPRUN_STAGE_DIR");
    size_t len = directory ? strlen(directory) : 0;
    for (size_t i = 0; i < spec->nparts && len; i++) {
        char **program = &spec->parts[i].argv[0];
        if (!*program || strncmp(*program, directory, len) != 0 || (*program)[len] != '/' ||
            strchr(*program + len + 1, '/'))
            continue;
        char *name = mem_copy_text(*program + len + 1);
        free(*program);
        *program = name;
    }
}

/* ---- agents that are kept ---- */

/* In the background, for this run and others. -1 with a sentence, or it was said and *status is what to exit with. */
static int start_keeper(const struct spec *spec, int *status, struct error *err)
{
    struct kept_agents_socket kept = {0};
    int listener = kept_agents_listen(spec, &kept, err);
    if (listener <= 0) {
        kept_agents_socket_clear(&kept);
        return listener;
    }
    struct spec *own = kept_agents_program(spec);
    struct frontend_result result =
        start_in_background(own, (struct ends){.listener = listener, .kept = &kept});
    ev_loop_destroy(ev_default_loop(0)); /* the manager of this run has one of its own */
    spec_free(own);
    if (!result.goes_on)
        kept_agents_withdraw(&kept);
    kept_agents_socket_clear(&kept);
    *status = result.status;
    return result.goes_on ? 0 : -1;
}

/* Where this run is lent its agents; 0: it starts them itself; -1: *status is what to exit with. */
static int find_kept_agents(const struct spec *spec, int *status)
{
    struct error err = ERROR_INIT;
    int broker = kept_agents_are_wanted(spec) ? kept_agents_connect(spec, &err) : 0;
    if (broker == 0 && kept_agents_are_wanted(spec))
        broker = start_keeper(spec, status, &err) < 0 ? -1 : kept_agents_connect(spec, &err);
    if (err.text)
        *status = tprun_refuse(&err);
    return broker;
}

/* The instance that this run is in has its manager. */
static int run_in_instance(struct spec *spec)
{
    struct error err = ERROR_INIT;
    for (int fd = 0; spec->pty && !spec->terminal && fd <= 2; fd++)
        spec->terminal = terminal_modes_of(fd);
    use_staged_names(spec);
    int fd = instance_program_ask(spec, &err);
    if (fd < 0) {
        spec_free(spec);
        return tprun_refuse(&err);
    }
    if (spec_saves(spec))
        return run_in_background(spec, fd);
    struct frontend_config config = {
        .spec = spec, .role = FRONTEND_ATTACHED, .fd = fd, .foreground = -1};
    struct frontend_result result = frontend_run(&config);
    spec_free(spec);
    return frontend_status(&result);
}

/* Nothing comes, so nothing is passed on: no pipe, and no message that it has ended. */
static void leave_out_null_input(struct spec *spec)
{
    struct stat own;
    bool for_rank_0 = spec->input == SPEC_INPUT_RANKS && strcmp(spec->input_arg, "0") == 0;
    if (for_rank_0 && !spec->pty && !spec_saves(spec) && fstat(STDIN_FILENO, &own) == 0 &&
        S_ISCHR(own.st_mode) && own.st_rdev == makedev(1, 3))
        spec->input = SPEC_INPUT_NONE;
}

static int tprun_run(struct spec *spec)
{
    struct error err = ERROR_INIT;
    if (user_namespace_check(&err) < 0 || reserve_files(&err) < 0) {
        spec_free(spec);
        return tprun_refuse(&err);
    }
    leave_out_null_input(spec);
    /* where the spec leaves it to what tasks' output goes to */
    if (spec->output_idle == 0)
        spec->output_idle =
            spec->detach && !spec->output ? OUTPUT_IDLE : output_idle(1, spec->output);
    if (spec->error_idle == 0)
        spec->error_idle = spec->detach && !spec->error ? OUTPUT_IDLE : output_idle(2, spec->error);
    if (instance_program_is_inside())
        return run_in_instance(spec);
    int status = 1, broker = find_kept_agents(spec, &status);
    if (broker < 0) {
        spec_free(spec);
        return status;
    }
    return spec_saves(spec) ? run_in_background(spec, 0)
                            : run_manager(spec, FRONTEND_ATTACHED, (struct ends){.broker = broker});
}

/* Before anything is begun; they are opened again by who reads them. */
static int check_stage(const struct spec *spec, struct error *err)
{
    struct stage_source *source = stage_source_open(spec, err);
    stage_source_free(source);
    return source ? 0 : -1;
}

static int check_files(const struct spec *spec, struct error *err)
{
    if (spec->draw && strcmp(spec->draw, "-") != 0 &&
        result_file_check("--draw", spec->draw, err) < 0)
        return -1;
    if (spec->report && result_file_check("--report", spec->report, err) < 0)
        return -1;
    if (spec->output && output_check_template(spec->output, spec->make_dirs, err) < 0)
        return error_prefix(err, "--output");
    if (spec->error && output_check_template(spec->error, spec->make_dirs, err) < 0)
        return error_prefix(err, "--error");
    return 0;
}

/* By the name of mpiexec, its options are said in our own words first; a process that waits for a
 * launcher at *port becomes a program of ours. */
static int parse(int argc, char *argv[], struct spec *spec, int *port, struct error *err)
{
    if (!mpiexec_is_name(argv[0]))
        return options_parse(argc, argv, spec, err);
    char *stand_in = program_path("tpsingleton");
    *port = singleton_port(argv, err);
    /* The process runs mpiexec with all that it has open. The port at which it listens would stay open here when
     * it is gone. */
    if (*port > 0)
        descriptors_close(3);
    char **words = *port < 0 ? NULL
                   : *port   ? singleton_words(argv, *port, stand_in, err)
                             : mpiexec_translate(argv, err);
    int count = 0;
    while (words && words[count])
        count++;
    int action = words ? options_parse(count, words, spec, err) : -1;
    if (words && action < 0 && !*port)
        mpiexec_name_typed(argv, err);
    char *ignored = action < 0 || *port || !spec->verbose ? NULL : mpiexec_ignored(words);
    if (ignored)
        tprun_complain(ignored);
    if (action >= 0 && !*port)
        mpiexec_adapt(spec);
    free(ignored);
    string_list_free(words);
    free(stand_in);
    return action;
}

/* Nothing says how much of the nodes it is to hold: all of it. */
static void fill_by_default(struct spec *spec)
{
    struct spec_part *part = &spec->parts[0];
    bool said =
        part->ntasks || part->shape || part->mppr || part->per || part->taskmap || part->rankfile;
    part->fill |= !said;
}

/* A script has no PMI of its own, and a terminal where there is one. */
static int parse_batch(int argc, char *argv[], struct spec *spec, struct error *err)
{
    int action = options_parse_batch(argc, argv, spec, err);
    if (spec->pmi == SPEC_PMI_AUTO)
        spec->pmi = 0;
    if (spec->nparts)
        fill_by_default(spec);
    if (action == OPTIONS_RUN && !spec_saves(spec) && !spec->dry_run)
        spec->pty |= isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    return action;
}

static char *version(const char *program)
{
    char *own = options_version();
    if (!mpiexec_is_name(program))
        return own;
    char *text = mpiexec_version(program, own);
    free(own);
    return text;
}

/* What can be found out before anything starts. */
static int check_spec(struct spec *spec, int action, struct error *err)
{
    if (check_files(spec, err) < 0 ||
        (action == OPTIONS_RUN && !spec->dry_run && check_stage(spec, err) < 0))
        return -1;
    return action == OPTIONS_RUN || action == OPTIONS_CHECK ? spec_inherit(spec, err) : 0;
}

static int start(int argc, char *argv[], int *port)
{
    struct error err = ERROR_INIT;
    struct spec *spec = spec_new();
    bool batch = batch_script_is_name(argv[0]);
    int action = batch ? parse_batch(argc, argv, spec, &err) : parse(argc, argv, spec, port, &err);
    int rc = action < 0 ? -1 : check_spec(spec, action, &err);
    if (rc < 0) {
        if (action >= 0 && mpiexec_is_name(argv[0]) && *port <= 0)
            mpiexec_name_typed(argv, &err);
        spec_free(spec);
        return tprun_refuse(&err);
    }
    if (!spec->agent)
        spec->agent = program_path("tpagent");
    if (action == OPTIONS_RUN)
        return tprun_run(spec);
    int status = action == OPTIONS_CHECK           ? check(spec)
                 : action == OPTIONS_HELP && batch ? tprun_print_and_free(batch_script_help())
                 : action == OPTIONS_HELP          ? tprun_print_and_free(options_help())
                 : action == OPTIONS_HELP_LAYOUT   ? tprun_print_and_free(options_help_layout())
                 : action == OPTIONS_HELP_LIST     ? tprun_print_and_free(options_help_list())
                 : action == OPTIONS_HELP_MPIEXEC  ? tprun_print_and_free(mpiexec_help())
                 : action == OPTIONS_VERSION       ? tprun_print_and_free(version(argv[0]))
                                                   : print_spec(spec);
    spec_free(spec);
    return status;
}

int main(int argc, char *argv[])
{
    int port = 0;
    sigset_t none;
    /* A descriptor that the caller closed must not be taken by something else. */
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", fd ? O_WRONLY : O_RDONLY);
    /* The caller may have blocked signals, SIGCHLD for one, which are needed here. */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of write(), with a message */
    int status = start(argc, argv, &port);
    if (port > 0)
        singleton_release(port);
    return status;
}
