/* tprun - start a parallel program: options in, exit status out. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/agent/agent.h"
#include "launcher/cli/check.h"
#include "launcher/cli/frontend.h"
#include "launcher/cli/mpiexec.h"
#include "launcher/cli/options.h"
#include "launcher/cli/singleton.h"
#include "launcher/manager/manager.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/descend.h"
#include "launcher/program/picture.h"
#include "launcher/stdio/output.h"

static void complain(const char *text)
{
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        fprintf(stderr, "tprun: %.*s\n", (int)len, line);
        line += len + (line[len] == '\n');
    }
}

static int refuse(struct error *err)
{
    int status = err->kind == ERROR_USAGE ? 2 : 1;
    complain(error_text(err));
    if (status == 2)
        fprintf(stderr, "tprun: '%s --help' lists the options\n",
                mpiexec_is_name(program_invocation_name) ? "mpiexec" : "tprun");
    error_clear(err);
    return status;
}

/* A program of ours. In the build tree and in a moved installation it is beside this one or under
 * its prefix; else where it was installed. Caller frees. */
static char *find_program(const char *name)
{
    static const char *const places[] = {"", "../libexec/tprun/"};
    static const char agent[] = TPRUN_AGENT_PATH;
    char self[4096];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (len > 0) {
        self[len] = '\0';
        *(strrchr(self, '/') + 1) = '\0';
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
            char *path = mem_format("%s%s%s", self, places[i], name);
            if (access(path, X_OK) == 0)
                return path;
            free(path);
        }
    }
    return mem_format("%.*s/%s", (int)(strrchr(agent, '/') - agent), agent, name);
}

static int print_and_free(char *text)
{
    if (!text || fputs(text, stdout) < 0 || fflush(stdout) < 0)
        return 1;
    free(text);
    return 0;
}

static int print_spec(const struct spec *spec)
{
    json_t *value = spec_to_json(spec);
    char *text = json_dumps(value, JSON_INDENT(1));
    char *line = mem_format("%s\n", text ? text : "{}");
    free(text);
    json_decref(value);
    return print_and_free(line);
}

static int finish(struct frontend_result *result)
{
    if (result->quiet) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    if (result->inside_line && result->messages.len)
        fputc('\n', stderr);
    complain(buf_text(&result->messages));
    buf_free(&result->messages);
    return result->status;
}

static int check(const struct spec *spec)
{
    struct buf out = BUF_INIT;
    bool runs = check_programs(spec, &out);
    return print_and_free(buf_take_text(&out)) || !runs;
}

/* The manager is this very program: forked, not executed. Closing our copies of what the caller
 * left open is the kernel's work at exec: tasks get 0, 1 and 2 and no more. */
static int run(struct spec *spec)
{
    struct error err = ERROR_INIT;
    struct frontend_result result = {0};
    int pair[2];
    struct cgroup *cgroup = cgroup_new();
    struct scratch *scratch = scratch_new();
    size_t nborn;
    pid_t *born = descend_children(&nborn);
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    descend_adopt();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return error_set(&err, "cannot make a socket pair"), refuse(&err);
    pid_t manager = fork();
    if (manager == 0) {
        close(pair[0]);
        _exit(manager_run(spec, pair[1], cgroup, scratch));
    }
    close(pair[1]);
    if (manager < 0)
        return error_set(&err, "cannot fork"), refuse(&err);
    int lost = frontend_run(spec, pair[0], &result, &err);
    waitpid(manager, NULL, 0);
    if (lost < 0) {
        descend_end(AGENT_LOST_GRACE, born, nborn, cgroup);
        scratch_remove(scratch);
    }
    free(born);
    spec_free(spec);
    return lost < 0 ? refuse(&err) : finish(&result);
}

/* A caller may have blocked signals, SIGCHLD for one: nothing here could do with that. */
static void clear_mask(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A descriptor that the caller closed must not be taken by something else. */
static void open_standard(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", fd ? O_WRONLY : O_RDONLY);
}

static int check_files(const struct spec *spec, struct error *err)
{
    if (spec->draw && strcmp(spec->draw, "-") != 0 && picture_check(spec->draw, err) < 0)
        return -1;
    if (spec->output && output_check_template(spec->output, err) < 0)
        return error_prefix(err, "--output");
    if (spec->error && output_check_template(spec->error, err) < 0)
        return error_prefix(err, "--error");
    return 0;
}

static int count_words(char *const *words)
{
    int count = 0;
    while (words && words[count])
        count++;
    return count;
}

/* By the name of mpiexec, its options are said in our own words first; a process that waits for a
 * launcher at *port becomes a program of ours. */
static int parse(int argc, char *argv[], struct spec *spec, int *port, struct error *err)
{
    if (!mpiexec_is_name(argv[0]))
        return options_parse(argc, argv, spec, err);
    char *stand_in = find_program("tpsingleton");
    *port = singleton_port(argv, err);
    if (*port > 0)
        singleton_close_inherited();
    char **words = *port < 0 ? NULL
                   : *port   ? singleton_words(argv, *port, stand_in, err)
                             : mpiexec_translate(argv, err);
    int action = words ? options_parse(count_words(words), words, spec, err) : -1;
    spec_free_words(words);
    free(stand_in);
    return action;
}

static int start(int argc, char *argv[], int *port)
{
    struct error err = ERROR_INIT;
    struct spec *spec = spec_new();
    int action = parse(argc, argv, spec, port, &err);
    if (action < 0 || check_files(spec, &err) < 0 ||
        ((action == OPTIONS_RUN || action == OPTIONS_CHECK) && spec_inherit(spec, &err) < 0)) {
        spec_free(spec);
        return refuse(&err);
    }
    if (!spec->agent)
        spec->agent = find_program("tpagent");
    if (action == OPTIONS_RUN)
        return run(spec);
    int status = action == OPTIONS_CHECK          ? check(spec)
                 : action == OPTIONS_HELP         ? print_and_free(options_help())
                 : action == OPTIONS_HELP_LAYOUT  ? print_and_free(options_help_layout())
                 : action == OPTIONS_HELP_MPIEXEC ? print_and_free(mpiexec_help())
                 : action == OPTIONS_VERSION      ? print_and_free(options_version())
                                                  : print_spec(spec);
    spec_free(spec);
    return status;
}

int main(int argc, char *argv[])
{
    int port = 0;
    open_standard();
    clear_mask();
    int status = start(argc, argv, &port);
    if (port > 0)
        singleton_release(port);
    return status;
}
