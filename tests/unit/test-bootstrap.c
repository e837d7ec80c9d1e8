#include "base/directory.h"
#include "base/string_list.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/tree/bootstrap.h"

/* Words in brackets, so that a blank inside one is seen. */
static char *join(char *const *words)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; words[i]; i++)
        buf_printf(&out, "%s[%s]", i ? " " : "", words[i]);
    return buf_take_text(&out);
}

static struct bootstrap boot_of(const char *method, const char *ssh, const char *agent)
{
    return (struct bootstrap){.method = mem_copy_text(method),
                              .ssh = mem_copy_text(ssh),
                              .agent = mem_copy_text(agent),
                              .fanout = 32,
                              .start_timeout = 30,
                              .node_timeout = 10};
}

#define SSH_OPTIONS                                                                                \
    "[-x] [-a] [-T] [-o] [BatchMode=yes] [-o] [LogLevel=DEBUG1] [-o] [ControlMaster=no] [-o] "     \
    "[ControlPersist=no] [--]"

static const struct {
    const char *method, *ssh, *agent, *login, *expect;
} commands[] = {
    {"ssh", "ssh", "/opt/tpagent", "node3", "[ssh] " SSH_OPTIONS " [node3] [exec '/opt/tpagent']"},
    {"auto", "ssh", "/a", "me@node3", "[ssh] " SSH_OPTIONS " [me@node3] [exec '/a']"},
    {"ssh", "ssh -p 2222", "/a", "n", "[ssh] [-p] [2222] " SSH_OPTIONS " [n] [exec '/a']"},
    {"ssh", " /usr/bin/ssh \t -v  ", "/a", "n",
     "[/usr/bin/ssh] [-v] " SSH_OPTIONS " [n] [exec '/a']"},
    {"ssh", "ssh", "/my path/tpagent", "n", "[ssh] " SSH_OPTIONS " [n] [exec '/my path/tpagent']"},
    {"ssh", "ssh", "/it's", "n", "[ssh] " SSH_OPTIONS " [n] [exec '/it'\\''s']"},
    {"ssh", "ssh", "/$(a)`b`\"\\", "n", "[ssh] " SSH_OPTIONS " [n] [exec '/$(a)`b`\"\\']"},
    {"ssh", "ssh", "/a", "-oProxyCommand=x",
     "[ssh] " SSH_OPTIONS " [-oProxyCommand=x] [exec '/a']"},
    {"lxc exec {host} -- {agent}", "", "/a b", "n", "[lxc] [exec] [n] [--] [/a b]"},
    {"enter {host}", "", "/a", "n", "[enter] [n] [/a]"},
    {"enter  host={host},{host}\t{agent} -x", "", "/a", "n", "[enter] [host=n,n] [/a] [-x]"},
    {"run {host} {user} {", "", "/a", "n", "[run] [n] [{user}] [{] [/a]"},
    {"run {host}{agent}", "", "/a", "n", "[run] [n/a]"},
    {"{agent}", "", "/a b", "n", "[/a b]"},
    {"env A=b {agent}", "", "/a", "n", "[env] [A=b] [/a]"},
    /* quotes make one word of blanks, and no shell sees it */
    {"in {host} sh -c 'exec {agent} \\$1;'", "", "/a b", "n",
     "[in] [n] [sh] [-c] [exec /a b \\$1;]"},
    {"in \"{host}\" a\\ b \"\\\"\" {agent}", "", "/a", "n", "[in] [n] [a b] [\"] [/a]"},
    {"ssh", "ssh -o 'ProxyCommand=ssh -W %h:%p gate'", "/a", "n",
     "[ssh] [-o] [ProxyCommand=ssh -W %h:%p gate] " SSH_OPTIONS " [n] [exec '/a']"},
    {"run {host} {agent}", "", "/{host}", "{agent}", "[run] [{agent}] [/{host}]"},
};

static void test_commands_are_made_word_by_word(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        struct error err = ERROR_INIT;
        struct bootstrap boot = boot_of(commands[i].method, commands[i].ssh, commands[i].agent);
        char **words = bootstrap_command(&boot, commands[i].login, &err);
        if (!words)
            fail_msg("case %zu: %s", i, error_text(&err));
        char *text = join(words);
        if (strcmp(text, commands[i].expect) != 0)
            fail_msg("case %zu: %s, not %s", i, text, commands[i].expect);
        free(text);
        string_list_free(words);
        bootstrap_clear(&boot);
    }
}

/* The word for the login shell has to survive a real one. */
static void test_the_path_survives_a_shell(void **state)
{
    static const char *const paths[] = {
        "/plain",   "/with blank", "/it's", "/''", "/$HOME/`id`/$(id)",
        "/a\\b\"c", "/new\nline",  "/*"};
    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct bootstrap boot = boot_of("ssh", "ssh", paths[i]);
        char **words = bootstrap_command(&boot, "n", NULL);
        size_t last = 0;
        while (words[last + 1])
            last++;
        assert_int_equal(strncmp(words[last], "exec ", 5), 0);
        char *script = mem_format("printf %%s %s", words[last] + 5), got[256];
        FILE *pipe = popen(script, "r");
        assert_non_null(pipe);
        got[fread(got, 1, sizeof(got) - 1, pipe)] = '\0';
        pclose(pipe);
        assert_string_equal(got, paths[i]);
        free(script);
        string_list_free(words);
        bootstrap_clear(&boot);
    }
}

static void test_what_is_no_template_is_refused(void **state)
{
    static const char *const methods[] = {"", "slurm", "rsh {agnet}", "{hos t}", "SSH", "{host"};
    (void)state;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        struct error err = ERROR_INIT;
        struct bootstrap boot = boot_of(methods[i], "ssh", "/a");
        if (bootstrap_command(&boot, "n", &err))
            fail_msg("\"%s\" was taken", methods[i]);
        assert_non_null(strstr(error_text(&err), "{host}"));
        assert_int_equal(err.kind, ERROR_USAGE);
        error_clear(&err);
        bootstrap_clear(&boot);
    }
}

static void test_a_quote_that_is_not_closed_is_refused(void **state)
{
    struct error err = ERROR_INIT;
    struct bootstrap boot = boot_of("in {host} 'sh -c {agent}", "ssh", "/a");
    (void)state;
    assert_null(bootstrap_command(&boot, "n", &err));
    assert_non_null(strstr(error_text(&err), "is not closed"));
    bootstrap_clear(&boot);
    boot = boot_of("ssh", "ssh -o \"User=x", "/a");
    assert_null(bootstrap_command(&boot, "n", &err));
    assert_non_null(strstr(error_text(&err), "--ssh: "));
    error_clear(&err);
    bootstrap_clear(&boot);
}

/* ---- batch systems ---- */

static void make_program(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(chmod(path, 0700), 0);
}

/* A directory with the commands of all of them; PALS's is in one below. */
static char *make_commands(void)
{
    static const char *const names[] = {"blaunch", "qrsh", "mpiexec", "a b/pals/mpiexec"};
    char *top = mem_copy_text("/tmp/test-bootstrap.XXXXXX");
    assert_non_null(mkdtemp(top));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *path = mem_format("%s/%s", top, names[i]);
        for (char *at = strchr(path + strlen(top) + 1, '/'); at; at = strchr(at + 1, '/')) {
            *at = '\0';
            mkdir(path, 0700);
            *at = '/';
        }
        make_program(path);
        free(path);
    }
    return top;
}

static void remove_commands(char *top)
{
    assert_int_equal(directory_remove(AT_FDCWD, top), 0);
    free(top);
}

/* %s is the directory. */
static const struct {
    const char *name, *path, *expect;
} batch_commands[] = {
    {"lsf", "/nowhere:%s", "[%s/blaunch] [n] [-no-shell] [/it's a]"},
    {"sge", "%s", "[%s/qrsh] [-inherit] [-noshell] [n] [/it's a]"},
    {"pals", "%s:%s/a b/pals/",
     "[env] [-u] [PBS_NODEFILE] [-u] [PALS_HOSTFILE] [-u] [PALS_HOSTLIST] [-u] [PALS_LABEL] [-u] "
     "[PALS_LINE_BUFFER] [%s/a b/pals//mpiexec] [-n] [1] [--ppn] [1] [--hosts] [n] [--cpu-bind] "
     "[none] [--mem-bind] [none] [--no-transfer] [/it's a]"},
};

static void replace(struct buf *out, const char *text, const char *top)
{
    buf_clear(out);
    for (const char *at = text; *at; at++) {
        bool found = at[0] == '%' && at[1] == 's';
        buf_add(out, found ? top : at, found ? strlen(top) : 1);
        at += found;
    }
}

static void test_commands_of_batch_systems_are_found_and_made_word_by_word(void **state)
{
    char *top = make_commands(), *old = mem_copy_text(getenv("PATH"));
    struct buf text = BUF_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof(batch_commands) / sizeof(batch_commands[0]); i++) {
        struct error err = ERROR_INIT;
        struct bootstrap boot = boot_of("auto", "ssh", "/it's a");
        replace(&text, batch_commands[i].path, top);
        setenv("PATH", buf_text(&text), 1);
        if (bootstrap_use_batch(&boot, batch_bootstrap_named(batch_commands[i].name), &err) < 0)
            fail_msg("%s: %s", batch_commands[i].name, error_text(&err));
        assert_true(boot.flat);
        assert_true(bootstrap_reaches_others(&boot));
        assert_int_equal(bootstrap_first_stage(&boot), STAGE_EXEC);
        char **words = bootstrap_command(&boot, "n", &err);
        assert_non_null(words);
        char *got = join(words);
        replace(&text, batch_commands[i].expect, top);
        assert_string_equal(got, buf_text(&text));
        free(got);
        string_list_free(words);
        bootstrap_clear(&boot);
    }
    setenv("PATH", old, 1);
    free(old);
    buf_free(&text);
    remove_commands(top);
}

/* One command for two hosts. */
static void test_commands_for_many_hosts_name_all_of_them(void **state)
{
    static const struct {
        const char *method, *expect;
    } cases[] = {
        {"clush -w {hosts} {agent}", "[clush] [-w] [a,b.c] [/it's a]"},
        {"clush -w={hosts}", "[clush] [-w=a,b.c] [/it's a]"},
        {"exec -r {ranks} {agent} -x", "[exec] [-r] [7,4] [/it's a] [-x]"},
        {"sh -c 'exec x \"$0\" $1' {hosts} {agent}",
         "[sh] [-c] [exec x \"$0\" $1] [a,b.c] [/it's a]"},
        {"x {hosts} {agent} --call {call}", "[x] [a,b.c] [/it's a] [--call] [/home/me/f]"},
        {"x {hosts} {host} {agent}", "[x] [a,b.c] [{host}] [/it's a]"},
    };
    static const struct bootstrap_host hosts[] = {{"a", 7}, {"b.c", 4}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct bootstrap boot = boot_of(cases[i].method, "ssh", "/it's a");
        assert_true(batch_bootstrap_is_for_many(boot.method));
        assert_true(bootstrap_reaches_others(&boot));
        bool file = bootstrap_wants_file(&boot);
        assert_int_equal(file, strstr(cases[i].method, "{call}") != NULL);
        char **words = bootstrap_shared_command(&boot, hosts, 2, file ? "/home/me/f" : NULL, &err);
        if (!words)
            fail_msg("%s: %s", cases[i].method, error_text(&err));
        char *got = join(words);
        assert_string_equal(got, cases[i].expect);
        free(got);
        string_list_free(words);
        bootstrap_clear(&boot);
    }
    assert_false(batch_bootstrap_is_for_many("x {host} {agent}"));
}

static void test_a_command_that_is_not_installed_leaves_the_method_as_it_was(void **state)
{
    char *top = make_commands(), *old = mem_copy_text(getenv("PATH"));
    struct error err = ERROR_INIT;
    struct bootstrap boot = boot_of("auto", "ssh", "/a");
    (void)state;
    setenv("PATH", top, 1); /* an mpiexec is there, but not that of PALS */
    assert_int_equal(bootstrap_use_batch(&boot, batch_bootstrap_named("pals"), &err), -1);
    assert_non_null(strstr(error_text(&err), "mpiexec is not installed: it is not in PATH, in a "
                                             "directory with /pals/, nor in /opt/cray/pals/"));
    assert_string_equal(boot.method, "auto");
    assert_false(boot.flat);
    error_clear(&err);
    setenv("PATH", "/nowhere", 1);
    setenv("SGE_ROOT", "/sge", 1);
    setenv("ARC", "lx-amd64", 1);
    assert_int_equal(bootstrap_use_batch(&boot, batch_bootstrap_named("sge"), &err), -1);
    assert_string_equal(error_text(&err),
                        "qrsh is not installed: it is not in PATH, nor in /sge/bin/lx-amd64");
    error_clear(&err);
    unsetenv("ARC");
    assert_int_equal(bootstrap_use_batch(&boot, batch_bootstrap_named("sge"), &err), -1);
    assert_string_equal(error_text(&err), "qrsh is not installed: it is not in PATH");
    error_clear(&err);
    boot.flat = true;
    assert_int_equal(bootstrap_use_batch(&boot, batch_bootstrap_named("sge"), NULL), -1);
    setenv("PATH", old, 1);
    free(old);
    bootstrap_clear(&boot);
    remove_commands(top);
}

static void test_batch_systems_are_found_by_name_and_by_system(void **state)
{
    const struct batch_bootstrap *one = batch_bootstrap_of("LSF", NULL);
    (void)state;
    assert_ptr_equal(one, batch_bootstrap_named("lsf"));
    assert_null(batch_bootstrap_of("LSF", one));
    assert_null(batch_bootstrap_of("LoadLeveler", NULL));
    assert_null(batch_bootstrap_named("LSF"));
    assert_null(batch_bootstrap_named("ls"));
}

static void test_only_what_knows_the_host_reaches_others(void **state)
{
    static const struct {
        const char *method;
        bool others;
    } cases[] = {{"auto", true},     {"ssh", true},          {"local", false},
                 {"{agent}", false}, {"env {agent}", false}, {"rsh {host} {agent}", true}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bootstrap boot = boot_of(cases[i].method, "ssh", "/a");
        assert_int_equal(bootstrap_reaches_others(&boot), cases[i].others);
        bootstrap_clear(&boot);
    }
}

/* ---- what OpenSSH 9.2 says with LogLevel=DEBUG1 ---- */

#define CONFIG                                                                                     \
    "debug1: Reading configuration data /etc/ssh/ssh_config\r\n"                                   \
    "debug1: /etc/ssh/ssh_config line 19: include /etc/ssh/ssh_config.d/*.conf matched no "        \
    "files\r\n"
#define CONNECTING "debug1: Connecting to node3 [10.0.0.3] port 22.\r\n"
#define ESTABLISHED                                                                                \
    "debug1: fd 3 clearing O_NONBLOCK\r\n"                                                         \
    "debug1: Connection established.\r\n"                                                          \
    "debug1: identity file /home/me/.ssh/id_ed25519 type 3\r\n"                                    \
    "debug1: Local version string SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u10\r\n"
#define BANNER                                                                                     \
    "debug1: Remote protocol version 2.0, remote software version OpenSSH_9.2p1 "                  \
    "Debian-2+deb12u10\r\n"                                                                        \
    "debug1: compat_banner: match: OpenSSH_9.2p1 Debian-2+deb12u10 pat OpenSSH* compat "           \
    "0x04000000\r\n"                                                                               \
    "debug1: Authenticating to node3:22 as 'me'\r\n"                                               \
    "debug1: SSH2_MSG_KEXINIT sent\r\n"                                                            \
    "debug1: Server host key: ssh-ed25519 SHA256:psNfXAFEiW9CuQy3tu2nkkWKD49WTTasKLB0iG8GMhk\r\n"
#define OFFERING                                                                                   \
    "debug1: SSH2_MSG_SERVICE_ACCEPT received\r\n"                                                 \
    "debug1: Authentications that can continue: publickey\r\n"                                     \
    "debug1: Next authentication method: publickey\r\n"                                            \
    "debug1: Offering public key: /home/me/.ssh/id_ed25519 ED25519 "                               \
    "SHA256:lAgH5GJexw7Ft8fmlYKNG4ju8KoYbJoTYGiAbyDwCvY explicit\r\n"
#define ACCEPTED                                                                                   \
    "Authenticated to node3 ([10.0.0.3]:22) using \"publickey\".\r\n"                              \
    "debug1: channel 0: new session [client-session] (inactive timeout: 0)\r\n"                    \
    "debug1: Entering interactive session.\r\n"                                                    \
    "debug1: Sending command: exec '/opt/tpagent'\r\n"                                             \
    "debug1: pledge: fork\r\n"
#define FREED                                                                                      \
    "debug1: client_input_channel_req: channel 0 rtype exit-status reply 0\r\n"                    \
    "debug1: channel 0: free: client-session, nchannels 1\r\n"                                     \
    "Transferred: sent 3496, received 3380 bytes, in 0.2 seconds\r\n"                              \
    "Bytes per second: sent 23138.6, received 22370.9\r\n"

static const struct {
    const char *text;
    enum bootstrap_stage stage; /* that did not succeed */
    const char *words;
} transcripts[] = {
    {"", STAGE_RESOLVE, ""},
    {CONFIG, STAGE_RESOLVE, ""},
    {CONFIG "ssh: Could not resolve hostname node3: Name or service not known\r\n", STAGE_RESOLVE,
     "ssh: Could not resolve hostname node3: Name or service not known"},
    {CONFIG CONNECTING, STAGE_CONNECT, ""},
    {CONFIG CONNECTING "debug1: connect to address 10.0.0.3 port 22: Connection refused\r\n"
                       "ssh: connect to host node3 port 22: Connection refused\r\n",
     STAGE_CONNECT, "ssh: connect to host node3 port 22: Connection refused"},
    {CONFIG CONNECTING ESTABLISHED "Connection timed out during banner exchange\r\n"
                                   "Connection to 10.0.0.3 port 22 timed out\r\n",
     STAGE_CONNECT,
     "Connection timed out during banner exchange; Connection to 10.0.0.3 port 22 timed out"},
    {CONFIG "debug1: Executing proxy command: exec false\r\n"
            "debug1: Local version string SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u10\r\n"
            "kex_exchange_identification: Connection closed by remote host\r\n"
            "Connection closed by UNKNOWN port 65535\r\n",
     STAGE_CONNECT,
     "kex_exchange_identification: Connection closed by remote host; "
     "Connection closed by UNKNOWN port 65535"},
    {CONFIG CONNECTING ESTABLISHED BANNER "Host key verification failed.\r\n", STAGE_AUTHENTICATE,
     "Host key verification failed."},
    {CONFIG CONNECTING ESTABLISHED BANNER
     "Warning: Permanently added 'node3' (ED25519) to the list of known hosts.\r\n" OFFERING
     "debug1: No more authentication methods to try.\r\n"
     "me@node3: Permission denied (publickey).\r\n",
     STAGE_AUTHENTICATE, "me@node3: Permission denied (publickey)."},
    {CONFIG CONNECTING ESTABLISHED BANNER OFFERING ACCEPTED, STAGE_EXEC, ""},
    {CONFIG CONNECTING ESTABLISHED BANNER OFFERING ACCEPTED
     "bash: line 1: /opt/tpagent: No such file or directory\n" FREED "debug1: Exit status 127\r\n",
     STAGE_EXEC, "bash: line 1: /opt/tpagent: No such file or directory"},
    /* over a connection that is shared */
    {"debug1: auto-mux: Trying existing master\r\n"
     "debug1: mux_client_request_session: master session id: 2\r\n"
     "bash: line 1: /opt/tpagent: No such file or directory\n",
     STAGE_EXEC, "bash: line 1: /opt/tpagent: No such file or directory"},
    {"OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026\r\n" CONFIG, STAGE_RESOLVE, ""},
    /* a line without an end is not yet one */
    {CONFIG "ssh: Could not resolve hostname", STAGE_RESOLVE, ""},
    {"\n\r\n\n", STAGE_RESOLVE, ""},
    {"one\n\ntwo\r\n", STAGE_RESOLVE, "one; two"},
};

static void test_ssh_says_which_stage_was_reached(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(transcripts) / sizeof(transcripts[0]); i++) {
        struct buf text = BUF_INIT, words = BUF_INIT;
        enum bootstrap_stage stage = STAGE_RESOLVE;
        buf_add_text(&text, transcripts[i].text);
        bootstrap_read_stderr(&text, &stage, &words);
        if (stage != transcripts[i].stage)
            fail_msg("case %zu: stage %s, not %s", i, bootstrap_stage_name(stage),
                     bootstrap_stage_name(transcripts[i].stage));
        if (strcmp(buf_text(&words), transcripts[i].words) != 0)
            fail_msg("case %zu: \"%s\"", i, buf_text(&words));
        assert_null(memchr(buf_bytes(&text), '\n', text.len));
        buf_free(&text);
        buf_free(&words);
    }
}

static void test_output_in_pieces_of_any_size_is_understood(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(transcripts) / sizeof(transcripts[0]); i++) {
        struct buf text = BUF_INIT, words = BUF_INIT;
        enum bootstrap_stage stage = STAGE_RESOLVE;
        for (const char *at = transcripts[i].text; *at; at++) {
            buf_add_char(&text, *at);
            bootstrap_read_stderr(&text, &stage, &words);
        }
        assert_int_equal(stage, transcripts[i].stage);
        assert_string_equal(buf_text(&words), transcripts[i].words);
        buf_free(&text);
        buf_free(&words);
    }
}

/* What an agent that is up writes cannot take it back to an earlier stage. */
static void test_stages_only_go_forward(void **state)
{
    struct buf text = BUF_INIT, words = BUF_INIT;
    enum bootstrap_stage stage = STAGE_UP;
    (void)state;
    buf_add_text(&text, CONNECTING ESTABLISHED BANNER ACCEPTED);
    bootstrap_read_stderr(&text, &stage, &words);
    assert_int_equal(stage, STAGE_UP);
    stage = STAGE_EXEC;
    buf_add_text(&text, CONNECTING);
    bootstrap_read_stderr(&text, &stage, &words);
    assert_int_equal(stage, STAGE_EXEC);
    buf_free(&text);
    buf_free(&words);
}

/* A login that writes for ever does not fill the memory of who listens. */
static void test_a_bounded_part_of_the_output_is_kept(void **state)
{
    struct buf text = BUF_INIT, words = BUF_INIT;
    enum bootstrap_stage stage = STAGE_RESOLVE;
    char junk[1000];
    (void)state;
    memset(junk, 'x', sizeof(junk));
    for (int i = 0; i < 1000; i++) {
        buf_add(&text, junk, sizeof(junk));
        bootstrap_read_stderr(&text, &stage, &words);
        assert_true(text.len <= 8192);
    }
    for (int i = 0; i < 1000; i++) {
        buf_add(&text, junk, sizeof(junk));
        buf_add_char(&text, '\n');
        bootstrap_read_stderr(&text, &stage, &words);
    }
    assert_true(words.len <= 16384);
    assert_true(words.len >= sizeof(junk));
    buf_free(&text);
    buf_free(&words);
}

static void test_a_shell_that_finds_no_agent_is_known_by_its_words(void **state)
{
    static const char *const missing[] = {
        "bash: line 1: /opt/tpagent: No such file or directory", "sh: 1: /opt/tpagent: not found",
        "zsh:1: no such file or directory: /opt/tpagent", "/opt/tpagent: Command not found.",
        "fish: Unknown command: /opt/tpagent"};
    static const char *const others[] = {
        "", "ssh: Could not resolve hostname n0: Name or service not known",
        "bash: line 1: /opt/tpagent: Permission denied",
        "bash: /etc/profile.d/site.sh: No such file or directory",
        "/opt/tpagent: error while loading shared libraries: libev.so.4: cannot open shared object "
        "file: No such file or directory"};
    (void)state;
    struct bootstrap boot = boot_of("ssh", "ssh", "/opt/tpagent");
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
        assert_true(bootstrap_agent_is_missing(&boot, missing[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(bootstrap_agent_is_missing(&boot, others[i]));
    bootstrap_clear(&boot);
}

static void test_stages_have_names_and_a_first_one(void **state)
{
    static const char *const names[] = {"resolve", "connect", "authenticate",
                                        "exec",    "hello",   "up"};
    static const struct {
        const char *method;
        enum bootstrap_stage first;
    } firsts[] = {{"auto", STAGE_RESOLVE},
                  {"ssh", STAGE_RESOLVE},
                  {"local", STAGE_EXEC},
                  {"lxc exec {host} -- {agent}", STAGE_EXEC}};
    (void)state;
    for (int i = STAGE_RESOLVE; i <= STAGE_UP; i++)
        assert_string_equal(bootstrap_stage_name((enum bootstrap_stage)i), names[i]);
    for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
        struct bootstrap boot = boot_of(firsts[i].method, "ssh", "/a");
        assert_int_equal(bootstrap_first_stage(&boot), firsts[i].first);
        bootstrap_clear(&boot);
    }
}

/* ---- as JSON ---- */

static void test_json_brings_everything_back(void **state)
{
    struct error err = ERROR_INIT;
    struct bootstrap boot = boot_of("in {host} {agent}", "ssh -p 22", "/opt/it's \"here\""), again;
    (void)state;
    boot.fanout = 7;
    boot.start_timeout = 1.25;
    boot.node_timeout = 0.5;
    boot.verbose = 2;
    boot.pmix = 1;
    json_t *value = bootstrap_to_json(&boot);
    assert_non_null(value);
    memset(&again, 0, sizeof(again));
    assert_int_equal(bootstrap_from_json(&again, value, &err), 0);
    assert_string_equal(again.method, boot.method);
    assert_string_equal(again.ssh, boot.ssh);
    assert_string_equal(again.agent, boot.agent);
    assert_int_equal(again.fanout, 7);
    assert_true(again.start_timeout == 1.25);
    assert_true(again.node_timeout == 0.5);
    assert_int_equal(again.verbose, 2);
    assert_int_equal(again.pmix, 1);
    json_decref(value);
    bootstrap_clear(&boot);
    bootstrap_clear(&again);
    assert_null(again.method);
}

/* A timeout of "inf" is what --node-timeout allows; JSON has no such number. */
static void test_json_brings_infinite_patience_back(void **state)
{
    struct error err = ERROR_INIT;
    struct bootstrap boot = boot_of("ssh", "ssh", "/a"), again = {0};
    (void)state;
    boot.start_timeout = boot.node_timeout = INFINITY;
    json_t *value = bootstrap_to_json(&boot);
    if (!value)
        fail_msg("there is no JSON for it");
    if (bootstrap_from_json(&again, value, &err) < 0)
        fail_msg("%s", error_text(&err));
    assert_true(isinf(again.node_timeout));
    assert_true(isinf(again.start_timeout));
    json_decref(value);
    bootstrap_clear(&boot);
    bootstrap_clear(&again);
}

#define HEAD "\"method\":\"ssh\",\"ssh\":\"ssh\",\"agent\":\"/a\""
#define TIMES "\"start_timeout\":1,\"node_timeout\":2,\"verbose\":0,\"pmix\":false"

static void test_malformed_json_is_refused(void **state)
{
    static const char *const cases[] = {
        "null",
        "[]",
        "\"ssh\"",
        "{}",
        "{" HEAD "}",
        "{" HEAD "," TIMES "}",
        "{" HEAD ",\"fanout\":0," TIMES "}",
        "{" HEAD ",\"fanout\":-1," TIMES "}",
        "{" HEAD ",\"fanout\":\"2\"," TIMES "}",
        "{" HEAD ",\"fanout\":2.5," TIMES "}",
        "{" HEAD ",\"fanout\":2,\"start_timeout\":\"1\",\"node_timeout\":2,\"verbose\":0,"
        "\"pmix\":false}",
        "{" HEAD
        ",\"fanout\":2,\"start_timeout\":1,\"node_timeout\":2,\"verbose\":0,\"pmix\":\"yes\"}",
        "{\"method\":7,\"ssh\":\"ssh\",\"agent\":\"/a\",\"fanout\":2," TIMES "}",
        "{\"method\":null,\"ssh\":\"ssh\",\"agent\":\"/a\",\"fanout\":2," TIMES "}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct bootstrap boot = {0};
        json_t *value = json_loads(cases[i], JSON_DECODE_ANY, NULL);
        assert_non_null(value);
        if (bootstrap_from_json(&boot, value, &err) == 0)
            fail_msg("case %zu was taken: %s", i, cases[i]);
        assert_non_null(strstr(error_text(&err), "bootstrap"));
        assert_null(boot.method);
        error_clear(&err);
        json_decref(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands_are_made_word_by_word),
        cmocka_unit_test(test_the_path_survives_a_shell),
        cmocka_unit_test(test_what_is_no_template_is_refused),
        cmocka_unit_test(test_a_quote_that_is_not_closed_is_refused),
        cmocka_unit_test(test_commands_of_batch_systems_are_found_and_made_word_by_word),
        cmocka_unit_test(test_commands_for_many_hosts_name_all_of_them),
        cmocka_unit_test(test_a_command_that_is_not_installed_leaves_the_method_as_it_was),
        cmocka_unit_test(test_batch_systems_are_found_by_name_and_by_system),
        cmocka_unit_test(test_only_what_knows_the_host_reaches_others),
        cmocka_unit_test(test_ssh_says_which_stage_was_reached),
        cmocka_unit_test(test_output_in_pieces_of_any_size_is_understood),
        cmocka_unit_test(test_stages_only_go_forward),
        cmocka_unit_test(test_a_bounded_part_of_the_output_is_kept),
        cmocka_unit_test(test_a_shell_that_finds_no_agent_is_known_by_its_words),
        cmocka_unit_test(test_stages_have_names_and_a_first_one),
        cmocka_unit_test(test_json_brings_everything_back),
        cmocka_unit_test(test_json_brings_infinite_patience_back),
        cmocka_unit_test(test_malformed_json_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
