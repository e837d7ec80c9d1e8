#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/environment/environment.h"
#include "launcher/spec/field.h"
#include "launcher/spec/spec.h"
#include "launcher/spec/spec_build.h"
#include "tests/unit/unit.h"

#define PROGRAM "'version':1,'parts':[{'argv':['a']}]"

static json_t *load(const char *text)
{
    json_error_t where;
    char *quoted = mem_copy_text(text);
    for (char *c = quoted; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *value = json_loads(quoted, JSON_DECODE_ANY, &where);
    if (!value)
        fail_msg("%s: %s", quoted, where.text);
    free(quoted);
    return value;
}

static void test_a_new_spec_has_the_defaults_of_the_command_line(void **state)
{
    struct spec *spec = spec_new();
    (void)state;
    assert_int_equal(spec->nparts, 0);
    assert_true(isinf(spec->time_limit));
    assert_true(spec->kill_grace == 5 && spec->start_timeout == 30 && spec->node_timeout == 10);
    assert_int_equal(spec->fanout, 32);
    assert_string_equal(spec->ssh, "ssh");
    assert_string_equal(spec->bootstrap, "auto");
    assert_string_equal(spec->input_arg, "0");
    assert_int_equal(spec->input, SPEC_INPUT_RANKS);
    assert_int_equal(spec->on_failure, SPEC_FAILURE_KILL);
    assert_int_equal(spec->pmi, SPEC_PMI_AUTO);
    assert_int_equal(spec->umask, -1);
    spec_free(spec);
}

static void test_json_that_was_read_is_written_again(void **state)
{
    static const char *const texts[] = {
        "{" PROGRAM "}",
        ("{'version':1,'parts':[{'argv':['a','b c',''],'ntasks':3,'cores_per_task':2,'map':'numa',"
         "'bind':'core','order':'s','pset':'left','mppr':'1:c','oversubscribe':true,'mem_bind':'"
         "local','no_omp':"
         "true,'chdir':'/x',"
         "'umask':'0027','gpus_per_task':2,'per':'1:gpu','gpu_bind':'closest',"
         "'env':[{'set':'A','value':''},{'remove':'B*'}],'rlimits':{'core':'unlimited','as':7}},"
         "{'argv':['b']}]}"),
        ("{'version':1,'parts':[{'argv':['a'],'shape':'node=2/slot=2/[core=3;gpu=1]'}],"
         "'requires':'ssd and not host:n7'}"),
        ("{" PROGRAM ",'nnodes':2,'resources':'R','exclude':'a[1-2]','overlap':true,"
         "'display':['map','bind'],'format':'json','label':true,'unbuffered':true,'tools':true,'"
         "memory_kinds':'system,cuda:device','output':'o%r',"
         "'error':'e','input':'file','input_arg':'in','pty':true,'terminal':'24x80 -ixon "
         "erase=^?','time_limit':'90m','kill_grace':'500ms',"
         "'start_timeout':'inf','node_timeout':'1d','on_failure':'continue','abort_may_succeed':"
         "true,'pmi':[],"
         "'bootstrap':'local','ssh':'ssh -v','fanout':3,'agent':'/a','verbose':2,"
         "'environment':['A=b','C='],'screen_machine':'m','directory':'/"
         "d','umask':'0022','rlimits':{'nofile':64}}"),
        ("{'version':1,'parts':[{'argv':[]}],'dry_run':true,'topologies':['n=core:2'],"
         "'hosts':'a,b'}"),
        "{'version':1,'parts':[{'argv':[{'hex':'61ff'},'\\u00fc']}],'hostfile':'f','input':'all'}",
        "{" PROGRAM ",'pmi':['auto']}",
        "{" PROGRAM ",'pmi':['pmi1','pmi2']}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct error err = ERROR_INIT;
        json_t *value = load(texts[i]);
        struct spec *spec = spec_from_json(value, &err);
        if (!spec)
            fail_msg("%s: %s", texts[i], error_text(&err));
        json_t *again = spec_to_json(spec), *all = json_copy(again);
        json_object_update(all, value);
        if (!json_equal(all, again))
            fail_msg("%s: became %s", texts[i], json_dumps(again, 0));
        spec_free(spec);
        json_decref(value);
        json_decref(again);
        json_decref(all);
    }
}

static void test_the_order_of_keys_does_not_matter(void **state)
{
    static const char *const texts[] = {"{" PROGRAM ",'kill_grace':'1s','stop_grace':'9s'}",
                                        "{" PROGRAM ",'stop_grace':'9s','kill_grace':'1s'}"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        json_t *value = load(texts[i]);
        struct spec *spec = spec_from_json(value, NULL);
        assert_true(spec && spec->kill_grace == 1 && spec->stop_grace == 9);
        spec_free(spec);
        json_decref(value);
    }
    json_t *value = load("{" PROGRAM ",'kill_grace':'1s'}");
    struct spec *spec = spec_from_json(value, NULL);
    assert_true(spec && spec->kill_grace == 1 && spec->stop_grace == 1);
    spec_free(spec);
    json_decref(value);
}

static void test_bytes_that_are_not_utf8_survive(void **state)
{
    struct error err = ERROR_INIT;
    struct spec *spec = spec_new();
    (void)state;
    struct spec_part *part = spec_add_part(spec);
    part->argv = mem_array(2, sizeof(char *));
    part->argv[0] = mem_copy_text("\xff\x01z");
    spec_add_env(part, ENV_SET, "A\xfe", 2, "\x80");
    json_t *value = spec_to_json(spec);
    spec_free(spec);
    spec = spec_from_json(value, &err);
    assert_non_null(spec);
    assert_string_equal(spec->parts[0].argv[0], "\xff\x01z");
    assert_string_equal(spec->parts[0].env[0].name, "A\xfe");
    assert_string_equal(spec->parts[0].env[0].value, "\x80");
    json_decref(value);
    spec_free(spec);
}

static void test_bad_specs_are_refused_by_key(void **state)
{
    static const char *const cases[][2] = {
        {"[]", "must be an object, not an array"},
        {"3", "must be an object, not an integer"},
        {"{}", "version: must be 1"},
        {"{'version':1}", "missing key parts: expected an array of at least one part"},
        {"{'version':2,'parts':[{'argv':['a']}]}", "version: must be 1"},
        {"{'version':2,'parts':[],'later':true}", "version: must be 1"},
        {"{'version':'1','parts':[{'argv':['a']}]}", "version: must be 1"},
        {"{" PROGRAM ",'pmi':['auto','pmi1']}", "pmi: auto cannot stand beside other values"},
        {"{" PROGRAM ",'colour':1}", "unknown key \"colour\""},
        {"{'version':1,'parts':{}}", "parts: must be an array of at least one part"},
        {"{'version':1,'parts':[]}", "parts: must be an array of at least one part"},
        {"{'version':1,'parts':[3]}", "parts: part 0: must be an object, not an integer"},
        {"{'version':1,'parts':[{'argv':['a'],'x':1}]}", "parts: part 0: unknown key \"x\""},
        {"{'version':1,'parts':[{}]}", "parts: part 0: argv must begin with a program"},
        {"{'version':1,'parts':[{'argv':[]}]}", "parts: part 0: argv must begin with a program"},
        {"{'version':1,'parts':[{'argv':['']}]}", "parts: part 0: argv must begin with a program"},
        {"{'version':1,'parts':[{'argv':'a'}]}",
         "parts: part 0: argv: must be an array of strings, not a string"},
        {"{'version':1,'parts':[{'argv':['a',3]}]}",
         "parts: part 0: argv: must be a string, not an integer"},
        {"{'version':1,'parts':[{'argv':['a'],'ntasks':0}]}",
         "parts: part 0: ntasks: must be from 1 to 16777216, not 0"},
        {"{'version':1,'parts':[{'argv':['a'],'ntasks':4294967297}]}",
         "parts: part 0: ntasks: must be from 1 to 16777216, not 4294967297"},
        {"{'version':1,'parts':[{'argv':['a'],'ntasks':1.0}]}",
         "parts: part 0: ntasks: must be an integer, not a real"},
        {"{'version':1,'parts':[{'argv':['a'],'map':''}]}",
         "parts: part 0: map: must not be empty"},
        {"{'version':1,'parts':[{'argv':['a'],'oversubscribe':1}]}",
         "parts: part 0: oversubscribe: must be true or false, not an integer"},
        {"{'version':1,'parts':[{'argv':['a'],'mem_bind':'near'}]}",
         "parts: part 0: mem_bind: unknown value \"near\" (expected none or local)"},
        {"{'version':1,'parts':[{'argv':['a'],'pset':'a,b'}]}",
         "parts: part 0: pset: \"a,b\" is not the name of a set (expected 1 to 255 bytes without "
         "blanks and "
         "commas)"},
        {"{'version':1,'parts':[{'argv':['a'],'umask':'8'}]}",
         "parts: part 0: umask: \"8\" is not an octal number from 0 to 0777"},
        {"{'version':1,'parts':[{'argv':['a'],'umask':18}]}",
         "parts: part 0: umask: must be an octal number in a string, such as \"0022\", not an "
         "integer"},
        {"{'version':1,'parts':[{'argv':['a'],'env':[{'set':'A'}]}]}",
         "parts: part 0: env: each must be {\"set\": NAME, \"value\": TEXT} or {\"remove\": GLOB}"},
        {"{'version':1,'parts':[{'argv':['a'],'env':[{'set':'A=','value':'b'}]}]}",
         "parts: part 0: env: \"A=\" is not the name of a variable"},
        {"{'version':1,'parts':[{'argv':['a'],'env':[{'remove':3}]}]}",
         "parts: part 0: env: must be a string, not an integer"},
        {"{'version':1,'parts':[{'argv':['a'],'rlimits':{'core':-1}}]}",
         "parts: part 0: rlimits: core must be a number from 0 on or \"unlimited\""},
        {"{" PROGRAM ",'nnodes':-1}", "nnodes: must be from 1 to 16777216, not -1"},
        {"{" PROGRAM ",'resources':null}", "resources: must be a string, not null"},
        {"{" PROGRAM ",'resources':'a','hosts':'b'}",
         "resources, hosts, hostfile: only one of them may be given"},
        {"{" PROGRAM ",'exclude':',,'}", NULL},
        {"{" PROGRAM ",'requires':'ssd and'}", NULL},
        {"{'version':1,'parts':[{'argv':['a'],'shape':'slot=2'}]}", NULL},
        {"{'version':1,'parts':[{'argv':['a'],'shape':'slot/node=2/core'}]}", NULL},
        {"{" PROGRAM ",'display':['map','x']}",
         "display: unknown value \"x\" (expected alloc, topo, map, bind or all)"},
        {"{" PROGRAM ",'display':'map'}", "display: must be an array of words, not a string"},
        {"{" PROGRAM ",'format':3}", "format: expected text or json, got an integer"},
        {"{" PROGRAM ",'time_limit':'x'}",
         "time_limit: \"x\" is not a duration (expected a number with ms, s, m, h or d, or inf)"},
        {"{" PROGRAM ",'time_limit':3}",
         "time_limit: must be a duration such as \"30s\", not an integer"},
        {"{" PROGRAM ",'input':'file'}", "input_arg: must name the file of \"input\": \"file\""},
        {"{" PROGRAM ",'input_arg':'x'}", NULL},
        {"{" PROGRAM ",'environment':['A']}", "environment: \"A\" is not NAME=VALUE"},
        {"{" PROGRAM ",'environment':['=A']}", "environment: \"=A\" is not NAME=VALUE"},
        {"{" PROGRAM ",'topologies':['x']}", NULL},
        {"{" PROGRAM ",'verbose':99999999999}", "verbose: must be from 1 to 2147483647, not "
                                                "99999999999"},
        {"{" PROGRAM ",'agent':{'hex':'6'}}",
         "agent: \"6\" is not an even number of hex digits without a zero byte"},
        {"{" PROGRAM ",'agent':{'hex':'6100'}}",
         "agent: \"6100\" is not an even number of hex digits without a zero byte"},
        {"{" PROGRAM ",'agent':{'hex':'6G'}}",
         "agent: \"6G\" is not an even number of hex digits without a zero byte"},
        {"{" PROGRAM ",'agent':{'hex':'61','x':1}}", "agent: must be a string, not an object"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        json_t *value = load(cases[i][0]);
        if (spec_from_json(value, &err))
            fail_msg("%s: is not refused", cases[i][0]);
        if (cases[i][1] && strcmp(error_text(&err), cases[i][1]) != 0)
            fail_msg("%s:\n  %s", cases[i][0], error_text(&err));
        assert_non_null(err.text);
        error_clear(&err);
        json_decref(value);
    }
}

static const char *find(char *const *list, const char *name)
{
    size_t len = strlen(name);
    for (; *list; list++)
        if (strncmp(*list, name, len) == 0 && (*list)[len] == '=')
            return *list + len + 1;
    return NULL;
}

static void test_variables_of_the_callers_own_place_are_scrubbed(void **state)
{
    static const char *const gone[] = {
        "PMI_RANK",
        "PMI_FD",
        "PMI_",
        "PMI2_X",
        "PMIX_RANK",
        "PMIX_SERVER_URI41",
        "MPI_LOCALNRANKS",
        "MPI_LOCALRANKID",
        "HYDI_CONTROL_FD",
        "SLURM_PROCID",
        "SLURM_LOCALID",
        "SLURM_NODEID",
        "SLURM_STEP_ID",
        "SLURM_STEPID",
        "SLURM_STEP_NODELIST",
        "SLURM_TASK_PID",
        "SLURM_GTIDS",
        "SLURM_SRUN_COMM_HOST",
        "SLURM_LAUNCH_NODE_IPADDR",
        "SLURM_CPU_BIND",
        "SLURM_CPU_BIND_LIST",
        "SLURM_DISTRIBUTION",
        "SLURM_MPI_TYPE",
        "SLURM_PMIX_DIRECT_CONN",
        "SLURMD_NODENAME",
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        "OMPI_UNIVERSE_SIZE",
        "OMPI_MCA_ess",
        "OMPI_MCA_ess_base_jobid",
        "OMPI_MCA_orte_hnp_uri",
        "OMPI_MCA_orte_launch",
        "OMPI_MCA_orte_ess_num_procs",
        "OMPI_APP_SIZES",
        "OMPI_ARGV",
        "PRTE_LAUNCHED",
        "PRTE_MCA_ess_base_vpid",
        "MV2_COMM_WORLD_RANK",
        "JSM_JSRUN_PORT",
        "JSM_NAMESPACE_RANK",
        "ALPS_APP_PE",
        "OMPI_COMMAND",
        "OMPI_FIRST_RANKS",
        "FLUX_TASK_RANK",
        "FLUX_TASK_LOCAL_ID",
        "FLUX_JOB_ID",
        "FLUX_JOB_SIZE",
        "FLUX_KVS_NAMESPACE",
        "PALS_RANKID",
        "TPRUN_RANK",
        "TPRUN_SIZE",
        "TPRUN_INSTANCE",
        "TPRUN_TASKMAP",
        "TPRUN_OPTIONSX",
        "SSH_CLIENT",
        "SSH_AUTH_SOCK",
        "SSH_TTY",
    };
    static const char *const stays[] = {
        "PATH",
        "HOME",
        "PMI",
        "MPICH_OFI_X",
        "SLURM_JOB_ID",
        "SLURM_NNODES",
        "SLURM_NODELIST",
        "SLURM_TASKS_PER_NODE",
        "OMPI_MCA_btl",
        "OMPI_MCA_essential",
        "OMPI_MCA_schizo",
        "OMPI_MCA_orte_tmpdir_base",
        "OMPI_MCA_orte_base_help_aggregate",
        "OMPI_ALLOW_RUN_AS_ROOT",
        "PRTE_MCA_rmaps_default_mapping_policy",
        "PRTE_ALLOW_RUN_AS_ROOT",
        "MV2_USE_CUDA",
        "MPIR_CVAR_PMI_VERSION",
        "FLUX_URI",
        "TPRUN_OPTIONS",
        "TPRUN_R",
        "SSHX",
        "DISPLAY",
        "DISPLAYS",
        "XAUTHORITY",
        "MY_PMI_RANK",
        "OMP_NUM_THREADS",
        "HYDRA_HOST_FILE",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        if (!env_is_local(gone[i], strlen(gone[i])))
            fail_msg("%s stays", gone[i]);
    for (size_t i = 0; i < sizeof(stays) / sizeof(stays[0]); i++)
        if (env_is_local(stays[i], strlen(stays[i])))
            fail_msg("%s is gone", stays[i]);
}

static void test_a_scrubbed_list_keeps_its_order_and_drops_what_has_no_name(void **state)
{
    const char *list[] = {"B=2", "PMI_RANK=3", "=x", "noequals", "A=1=", "SSH_TTY=x", NULL};
    char **kept = env_scrub((char *const *)list);
    (void)state;
    assert_string_equal(kept[0], "B=2");
    assert_string_equal(kept[1], "A=1=");
    assert_null(kept[2]);
    string_list_free(kept);
}

static void test_what_an_outer_launcher_told_openmp_and_mpis_is_scrubbed(void **state)
{
    const char *list[] = {"OMP_NUM_THREADS=4",
                          "OMPI_MCA_schizo=^orte",
                          "MPIR_CVAR_PMI_VERSION=1",
                          "OMP_PLACES={0},{1}",
                          "OMP_STACKSIZE=8M",
                          "TPRUN_DEFAULTS=OMPI_MCA_schizo=^orte MPIR_CVAR_PMI_VERSION=1 "
                          "OMP_NUM_THREADS=4 OMP_PLACES={0} OMP_STACKSIZE=8",
                          "TPRUN_OPTIONS=A=1",
                          "A=1",
                          NULL};
    static const char *const stays[] = {"OMP_PLACES={0},{1}", "OMP_STACKSIZE=8M",
                                        "TPRUN_OPTIONS=A=1", "A=1"};
    char **kept = env_scrub((char *const *)list);
    (void)state;
    for (size_t i = 0; i < sizeof(stays) / sizeof(stays[0]); i++)
        assert_string_equal(kept[i], stays[i]);
    assert_null(kept[4]);
    string_list_free(kept);
}

static void test_a_spec_inherits_what_the_caller_has(void **state)
{
    struct error err = ERROR_INIT;
    struct spec *spec = spec_new();
    char *here = get_current_dir_name();
    mode_t old = umask(0071);
    struct rlimit files;
    (void)state;
    setenv("KEPT_FOR_TASKS", "yes", 1);
    setenv("PMI_RANK", "7", 1);
    assert_int_equal(spec_inherit(spec, &err), 0);
    assert_int_equal(umask(old), 0071);
    assert_int_equal(spec->umask, 0071);
    assert_string_equal(spec->directory, here);
    assert_string_equal(find(spec->environment, "KEPT_FOR_TASKS"), "yes");
    assert_null(find(spec->environment, "PMI_RANK"));
    getrlimit(RLIMIT_NOFILE, &files);
    assert_true(spec->rlimits[RLIMIT_NOFILE].rlim_cur == files.rlim_cur);
    free(here);
    spec_free(spec);
}

static void test_values_of_a_spec_file_are_kept_and_not_inherited(void **state)
{
    struct error err = ERROR_INIT;
    json_t *value = load("{" PROGRAM ",'environment':['A=1'],'directory':'/d','umask':'0123',"
                         "'rlimits':{'nofile':77}}");
    struct spec *spec = spec_from_json(value, &err);
    (void)state;
    json_decref(value);
    assert_non_null(spec);
    assert_false(spec_has_rlimit(spec, RLIMIT_CORE));
    assert_int_equal(spec_inherit(spec, &err), 0);
    assert_string_equal(spec->environment[0], "A=1");
    assert_null(spec->environment[1]);
    assert_string_equal(spec->directory, "/d");
    assert_int_equal(spec->umask, 0123);
    assert_int_equal(spec->rlimits[RLIMIT_NOFILE].rlim_cur, 77);
    assert_true(spec_has_rlimit(spec, RLIMIT_CORE));
    spec_free(spec);
}

static void test_a_spec_that_replaces_another_keeps_what_was_inherited(void **state)
{
    struct error err = ERROR_INIT;
    struct spec *spec = spec_new();
    json_t *value = load("{" PROGRAM ",'directory':'/d','label':true}");
    (void)state;
    assert_int_equal(spec_inherit(spec, &err), 0);
    spec->hosts = mem_copy_text("gone");
    spec_replace(spec, spec_from_json(value, &err));
    json_decref(value);
    assert_null(spec->hosts);
    assert_true(spec->label);
    assert_string_equal(spec->directory, "/d");
    assert_non_null(spec->environment);
    assert_true(spec->umask >= 0);
    assert_true(spec_has_rlimit(spec, RLIMIT_NOFILE));
    assert_int_equal(spec->nparts, 1);
    spec_free(spec);
}

/* Caller frees: the values of DISPLAY and XAUTHORITY, or -. */
static char *screen_of(const struct spec *spec)
{
    char **list = spec_part_environment(spec, &spec->parts[0]);
    const char *display = find(list, "DISPLAY"), *authority = find(list, "XAUTHORITY");
    char *both = mem_format("%s %s", display ? display : "-", authority ? authority : "-");
    string_list_free(list);
    return both;
}

static void test_the_screen_is_inherited_on_its_machine_and_given_everywhere(void **state)
{
    static const struct {
        /* elsewhere, where the environment is the caller's, and where that process has its own */
        const char *rules, *here, *passed_on, *own;
    } cases[] = {
        {"[]", ":7 /a", "- -", ":7 /a"},
        {"[{'set':'DISPLAY','value':'far:1'}]", "far:1 /a", "far:1 -", "far:1 -"},
        {"[{'set':'XAUTHORITY','value':'/b'}]", ":7 /b", "- /b", ":7 /b"},
        {"[{'remove':'DISPLAY'}]", "- /a", "- -", "- /a"},
        {"[{'remove':'*'}]", "- -", "- -", "- -"},
        {"[{'remove':'*'},{'set':'DISPLAY','value':':8'}]", ":8 -", ":8 -", ":8 -"},
    };
    (void)state;
    setenv("DISPLAY", ":7", 1);
    setenv("XAUTHORITY", "/a", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), "{'version':1,'parts':[{'argv':['a'],'env':%s}]}",
                 cases[i].rules);
        json_t *value = load(text);
        struct spec *spec = spec_from_json(value, NULL);
        assert_int_equal(spec_inherit(spec, NULL), 0);
        assert_non_null(spec->screen_machine);
        char *here = screen_of(spec);
        spec->screen_machine[0] ^= 1;
        char *own = screen_of(spec), **was = environ;
        environ = env_for_agents(was);
        char *passed_on = screen_of(spec);
        char **entry = environ;
        while (strcmp(*entry, "XAUTHORITY=/a") != 0)
            entry++;
        (*entry)[sizeof("XAUTHORITY=/a") - 2] = 'c';
        char *key = screen_of(spec); /* is for no server that is known there */
        string_list_free(environ);
        environ = was;
        assert_string_equal(here, cases[i].here);
        assert_string_equal(own, cases[i].own);
        assert_string_equal(passed_on, cases[i].passed_on);
        assert_string_equal(key, cases[i].passed_on);
        free(here);
        free(own);
        free(passed_on);
        free(key);
        spec_free(spec);
        json_decref(value);
    }
    unsetenv("DISPLAY");
    unsetenv("XAUTHORITY");
}

static void test_rules_of_a_part_change_its_environment_in_order(void **state)
{
    struct error err = ERROR_INIT;
    json_t *value = load("{'version':1,'parts':[{'argv':['a'],'env':[{'set':'B','value':'new'},"
                         "{'remove':'OMP_*'},{'set':'OMP_X','value':'4'},{'set':'D','value':'5'},"
                         "{'remove':'D'},{'remove':'[AE]'}]},{'argv':['b']}],"
                         "'environment':['A=1','B=2','OMP_NUM_THREADS=3','B=again','C=6']}");
    struct spec *spec = spec_from_json(value, &err);
    (void)state;
    json_decref(value);
    assert_non_null(spec);
    char **list = spec_part_environment(spec, &spec->parts[0]);
    assert_string_equal(list[0], "B=new");
    assert_string_equal(list[1], "C=6");
    assert_string_equal(list[2], "OMP_X=4");
    assert_null(list[3]);
    string_list_free(list);
    list = spec_part_environment(spec, &spec->parts[1]);
    assert_string_equal(find(list, "OMP_NUM_THREADS"), "3");
    string_list_free(list);
    spec_free(spec);
}

static void bytes_are_written_as_digits_and_read_again(void **state)
{
    static const char *const wrong[] = {"0", "0g", "AB", "00 1"};
    size_t len;
    (void)state;
    json_t *value = bytes_to_json("a\0\xff", 3);
    assert_string_equal(json_string_value(value), "6100ff");
    char *bytes = bytes_from_json(value, &len);
    assert_int_equal(len, 3);
    assert_memory_equal(bytes, "a\0\xff", 4);
    free(bytes);
    json_decref(value);
    assert_null(bytes_from_json(NULL, &len));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        value = json_string(wrong[i]);
        assert_null(bytes_from_json(value, &len));
        json_decref(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_written_as_digits_and_read_again),
        cmocka_unit_test(test_a_new_spec_has_the_defaults_of_the_command_line),
        cmocka_unit_test(test_json_that_was_read_is_written_again),
        cmocka_unit_test(test_the_order_of_keys_does_not_matter),
        cmocka_unit_test(test_bytes_that_are_not_utf8_survive),
        cmocka_unit_test(test_bad_specs_are_refused_by_key),
        cmocka_unit_test(test_variables_of_the_callers_own_place_are_scrubbed),
        cmocka_unit_test(test_a_scrubbed_list_keeps_its_order_and_drops_what_has_no_name),
        cmocka_unit_test(test_what_an_outer_launcher_told_openmp_and_mpis_is_scrubbed),
        cmocka_unit_test(test_a_spec_inherits_what_the_caller_has),
        cmocka_unit_test(test_values_of_a_spec_file_are_kept_and_not_inherited),
        cmocka_unit_test(test_a_spec_that_replaces_another_keeps_what_was_inherited),
        cmocka_unit_test(test_the_screen_is_inherited_on_its_machine_and_given_everywhere),
        cmocka_unit_test(test_rules_of_a_part_change_its_environment_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
