#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/process/localhost.h"
#include "launcher/source/batch_system.h"
#include "launcher/source/enclosing_program.h"
#include "launcher/source/nodes_from_options.h"
#include "tests/unit/scratch-root.h"
#include "tests/unit/unit.h"

#define NOW 1000.0
#define R_OF(ranks, cores, hosts)                                                                  \
    "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"" ranks                                 \
    "\",\"children\":{\"core\":\"" cores "\"}}],\"nodelist\":[\"" hosts "\"]}}"

static const char *const variables[] = {
    "TPRUN_PROGRAM",
    "TPRUN_INSTANCE",
    "TPRUN_INSTANCE_ID",
    "TPRUN_R",
    "TPRUN_ENCLOSING",
    "TPRUN_ENCLOSING_R",
    "TPRUN_NNODES",
    "SLURM_JOB_ID",
    "SLURM_JOB_NODELIST",
    "SLURM_NODELIST",
    "SLURM_JOB_CPUS_PER_NODE",
    "SLURM_JOBID",
    "SLURM_HET_SIZE",
    "SLURM_JOB_NODELIST_HET_GROUP_1",
    "SLURM_JOB_NODELIST_HET_GROUP_2",
    "PBS_JOBID",
    "PBS_NODEFILE",
    "SLURM_TASKS_PER_NODE",
    "PBS_NUM_PPN",
    "LSB_JOBID",
    "LSB_DJOB_HOSTFILE",
    "LSB_MCPU_HOSTS",
    "FLUX_JOB_ID",
    "FLUX_URI",
    "PE_HOSTFILE",
    "JOB_ID",
    "K_MPI_JOB_ROLE",
    "KUBERNETES_SERVICE_HOST",
    "OMPI_MCA_orte_default_hostfile",
    "PRTE_MCA_prte_default_hostfile",
    "HYDRA_HOST_FILE",
    "I_MPI_HYDRA_HOST_FILE",
};

static int forget(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        unsetenv(variables[i]);
    return 0;
}

static int make_root(void **state)
{
    (void)state;
    return root_make((const char *const[]){NULL});
}

/* NAME=VALUE, '@' in a value being the test's directory. */
static void set(const char *assignment)
{
    struct buf value = BUF_INIT;
    size_t len = strcspn(assignment, "=");
    char *name = mem_copy_text_n(assignment, len);
    for (const char *at = assignment + len + 1; *at; at++) {
        if (*at == '@')
            buf_add_text(&value, root);
        else
            buf_add_char(&value, *at);
    }
    setenv(name, buf_text(&value), 1);
    buf_free(&value);
    free(name);
}

static void file_with(const char *name, const char *text)
{
    char *path = mem_format("%s/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

/* "host:target/limit=cores" a node, then " of " what was used; '@' is the test's directory. */
static char *shown(const struct node_list *nodes)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct node *node = &nodes->list[i];
        char *cores = node->cores ? idset_encode(node->cores) : mem_copy_text("all");
        buf_printf(&text, "%s:%u/%u=%s ", node->login, node->target, node->limit, cores);
        free(cores);
    }
    buf_printf(&text, "of %s%s", nodes->source, nodes->limits_cores ? " in cores" : "");
    return buf_take_text(&text);
}

static void assert_gives(const char *want, const char *identity)
{
    struct error err = ERROR_INIT;
    struct node_list *nodes = node_list_from_source(BATCH_SYSTEM_ALL, NOW, &err);
    if (!nodes)
        fail_msg("%s", error_text(&err));
    char *text = shown(nodes);
    assert_string_equal(text, want);
    assert_string_equal(nodes->identity, identity);
    free(text);
    node_list_free(nodes);
    forget(NULL);
}

static void assert_refused(const char *begins, const char *remedy)
{
    struct error err = ERROR_INIT;
    assert_null(node_list_from_source(BATCH_SYSTEM_ALL, NOW, &err));
    if (strncmp(error_text(&err), begins, strlen(begins)) != 0 || !strstr(error_text(&err), remedy))
        fail_msg("%s", error_text(&err));
    error_clear(&err);
    forget(NULL);
}

static void test_without_any_of_them_it_is_this_machine(void **state)
{
    char *own = localhost_name();
    char *want = mem_format("%s:0/0=all of this machine", own);
    (void)state;
    assert_gives(want, "this machine");
    assert_null(batch_system_find(BATCH_SYSTEM_ENCLOSING | BATCH_SYSTEM_FILE | BATCH_SYSTEM_BATCH));
    set("SLURM_JOB_ID="); /* empty is unset */
    assert_gives(want, "this machine");
    free(want);
    free(own);
}

static void test_the_first_that_is_there_is_used(void **state)
{
    static const char *const order[] = {
        "TPRUN_PROGRAM=1", "TPRUN_R=/x",   "FLUX_URI=local:///x", "SLURM_JOB_ID=17",
        "PBS_JOBID=18",    "LSB_JOBID=19", "PE_HOSTFILE=/x",      "K_MPI_JOB_ROLE=launcher",
    };
    static const char *const names[] = {
        "the enclosing program", "an R file",    "Flux", "Slurm", "PBS", "LSF",
        "Grid Engine",           "MPI Operator",
    };
    (void)state;
    for (size_t i = sizeof(order) / sizeof(order[0]); i-- > 0;) {
        set(order[i]);
        const struct batch_system *source = batch_system_find(BATCH_SYSTEM_ALL);
        assert_string_equal(batch_system_name(source), names[i]);
        assert_int_equal(strncmp(batch_system_variable(source), order[i], strcspn(order[i], "=")),
                         0);
    }
    assert_string_equal(batch_system_name(batch_system_find(BATCH_SYSTEM_BATCH)), "Flux");
    assert_string_equal(batch_system_name(batch_system_find(BATCH_SYSTEM_MACHINE)), "this machine");
}

static void test_a_job_of_Slurm(void **state)
{
    (void)state;
    set("SLURM_JOB_ID=17");
    set("SLURM_JOB_NODELIST=a[1-2].invalid,b.invalid");
    set("SLURM_JOB_CPUS_PER_NODE=16(x2),8");
    set("SLURM_TASKS_PER_NODE=1(x3)");
    assert_gives("a1.invalid:0/16=all a2.invalid:1/16=all b.invalid:2/8=all of Slurm job 17 "
                 "(SLURM_JOB_NODELIST) in cores",
                 "Slurm job 17");
    set("SLURM_JOBID=17");
    set("SLURM_NODELIST=a.invalid");
    set("SLURM_TASKS_PER_NODE=3");
    assert_gives("a.invalid:0/3=all of Slurm job 17 (SLURM_NODELIST) in cores", "Slurm job 17");
    set("SLURM_JOB_ID=17");
    set("SLURM_JOB_NODELIST=a.invalid");
    assert_gives("a.invalid:0/0=all of Slurm job 17 (SLURM_JOB_NODELIST) in cores", "Slurm job 17");
}

static void test_the_components_of_a_job_of_Slurm_that_are_not_used_are_named(void **state)
{
    static const struct {
        const char *size, *second, *third, *note;
    } cases[] = {
        {"SLURM_HET_SIZE=3", "SLURM_JOB_NODELIST_HET_GROUP_1=b[1-2]",
         "SLURM_JOB_NODELIST_HET_GROUP_2=c",
         "Slurm job 17 has 3 components: the nodes of the first are used, b[1-2],c "
         "are not"},
        {"SLURM_HET_SIZE=2", "SLURM_JOB_NODELIST_HET_GROUP_1=b.invalid",
         "SLURM_JOB_NODELIST_HET_GROUP_2=c",
         "Slurm job 17 has 2 components: the nodes of the first are used, b.invalid is not"},
        /* a node may be in several components */
        {"SLURM_HET_SIZE=3", "SLURM_JOB_NODELIST_HET_GROUP_1=a.invalid,b",
         "SLURM_JOB_NODELIST_HET_GROUP_2=b",
         "Slurm job 17 has 3 components: the nodes of the first are used, b is not"},
        {"SLURM_HET_SIZE=2", "SLURM_JOB_NODELIST_HET_GROUP_1=a.invalid", NULL, NULL},
        {"SLURM_HET_SIZE=1", "SLURM_JOB_NODELIST_HET_GROUP_1=b.invalid", NULL, NULL},
        {"SLURM_HET_SIZE=two", "SLURM_JOB_NODELIST_HET_GROUP_1=b.invalid", NULL, NULL},
        {"SLURM_HET_SIZE=2", "SLURM_JOB_NODELIST_HET_GROUP_1=b[", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        forget(NULL);
        set("SLURM_JOB_ID=17");
        set("SLURM_JOB_NODELIST=a.invalid");
        set(cases[i].size);
        set(cases[i].second);
        if (cases[i].third)
            set(cases[i].third);
        struct node_list *nodes = node_list_from_source(BATCH_SYSTEM_ALL, 0, &err);
        assert_non_null(nodes);
        assert_int_equal(nodes->count, 1);
        if (cases[i].note)
            assert_string_equal(nodes->note, cases[i].note);
        else
            assert_null(nodes->note);
        node_list_free(nodes);
    }
}

static void test_notes_of_a_job_and_of_a_constraint_are_both_kept(void **state)
{
    struct spec *spec = spec_new();
    struct error err = ERROR_INIT;
    (void)state;
    spec->requires = mem_copy_text("host:a.invalid or slow");
    set("SLURM_JOB_ID=17");
    set("SLURM_JOB_NODELIST=a.invalid");
    set("SLURM_HET_SIZE=2");
    set("SLURM_JOB_NODELIST_HET_GROUP_1=b.invalid");
    struct node_list *nodes = node_list_from_spec(spec, NULL, 0, &err);
    assert_non_null(nodes);
    assert_string_equal(
        nodes->note,
        "Slurm job 17 has 2 components: the nodes of the first are used, b.invalid is not\n"
        "--requires: no node of Slurm job 17 (SLURM_JOB_NODELIST) has the property \"slow\": "
        "properties come from an R (-R FILE)");
    node_list_free(nodes);
    spec_free(spec);
}

static void test_a_job_of_Slurm_that_is_not_whole_is_refused(void **state)
{
    (void)state;
    set("SLURM_JOB_ID=17");
    assert_refused("SLURM_JOB_ID says that this is a job of Slurm, but SLURM_JOB_NODELIST is not "
                   "set",
                   "unset SLURM_JOB_ID to run on this machine, or name nodes with --hosts or -R");
    set("SLURM_JOB_ID=17");
    set("SLURM_JOB_NODELIST=a[");
    assert_refused("SLURM_JOB_NODELIST of Slurm job 17: hostlist: ", "; unset SLURM_JOB_ID");
    set("SLURM_JOB_ID=17");
    set("SLURM_JOB_NODELIST=a,b");
    set("SLURM_JOB_CPUS_PER_NODE=1");
    assert_refused("SLURM_JOB_CPUS_PER_NODE of Slurm job 17: has counts for 1 of the 2 nodes",
                   "; unset SLURM_JOB_ID");
}

static void test_a_job_of_PBS(void **state)
{
    (void)state;
    file_with("nodes", "a.invalid\na.invalid\nb.invalid\na.invalid\n");
    set("PBS_JOBID=18.server");
    set("PBS_NODEFILE=@/nodes");
    assert_gives("a.invalid:0/3=all b.invalid:1/1=all of PBS job 18.server (PBS_NODEFILE)",
                 "PBS job 18.server");
    set("PBS_JOBID=18");
    set("PBS_NODEFILE=@/nodes");
    set("PBS_NUM_PPN=2");
    assert_gives("a.invalid:0/3=all b.invalid:1/1=all of PBS job 18 (PBS_NODEFILE) in cores",
                 "PBS job 18");
    file_with("nodes", "a.invalid\nb.invalid\n");
    set("PBS_JOBID=18");
    set("PBS_NODEFILE=@/nodes");
    set("PBS_NUM_PPN=8");
    assert_gives("a.invalid:0/8=all b.invalid:1/8=all of PBS job 18 (PBS_NODEFILE) in cores",
                 "PBS job 18");
}

static void test_a_job_of_PBS_that_is_not_whole_is_refused(void **state)
{
    (void)state;
    set("PBS_JOBID=18");
    assert_refused("PBS_JOBID says that this is a job of PBS, but PBS_NODEFILE is not set",
                   "unset PBS_JOBID");
    set("PBS_JOBID=18");
    set("PBS_NODEFILE=/does/not/exist");
    assert_refused("PBS_NODEFILE of PBS job 18: /does/not/exist: cannot be opened: No such file",
                   "unset PBS_JOBID");
    set("PBS_JOBID=18");
    set("PBS_NODEFILE=-");
    assert_refused("PBS_NODEFILE of PBS job 18: \"-\" is not the name of a file",
                   "unset PBS_JOBID");
    file_with("nodes", "a.invalid\n");
    set("PBS_JOBID=18");
    set("PBS_NODEFILE=@/nodes");
    set("PBS_NUM_PPN=many");
    assert_refused("PBS_NODEFILE of PBS job 18: PBS_NUM_PPN: \"many\" is not a number",
                   "unset PBS_JOBID");
}

static void test_a_job_of_LSF(void **state)
{
    (void)state;
    file_with("nodes", "a.invalid\na.invalid\nb.invalid\n");
    set("LSB_JOBID=19");
    set("LSB_DJOB_HOSTFILE=@/nodes");
    set("LSB_MCPU_HOSTS=c.invalid 1");
    assert_gives("a.invalid:0/2=all b.invalid:1/1=all of LSF job 19 (LSB_DJOB_HOSTFILE) in cores",
                 "LSF job 19");
    set("LSB_JOBID=19");
    set("LSB_MCPU_HOSTS=a.invalid 4 b.invalid 2 ");
    assert_gives("a.invalid:0/4=all b.invalid:1/2=all of LSF job 19 (LSB_MCPU_HOSTS) in cores",
                 "LSF job 19");
    set("LSB_JOBID=19");
    assert_refused("LSB_JOBID says that this is a job of LSF, but LSB_MCPU_HOSTS is not set",
                   "unset LSB_JOBID");
    set("LSB_JOBID=19");
    set("LSB_MCPU_HOSTS=a.invalid");
    assert_refused("LSB_MCPU_HOSTS of LSF job 19: missing count after", "unset LSB_JOBID");
}

static void test_a_job_of_Grid_Engine(void **state)
{
    (void)state;
    file_with("nodes", "a.invalid 4 all.q@a UNDEFINED\nb.invalid 2 all.q@b 0,0:0,1\n");
    set("JOB_ID=20");
    assert_string_equal(batch_system_name(batch_system_find(BATCH_SYSTEM_ALL)), "this machine");
    set("PE_HOSTFILE=@/nodes");
    assert_gives("a.invalid:0/4=all b.invalid:1/2=all of Grid Engine job 20 (PE_HOSTFILE) in cores",
                 "Grid Engine job 20");
    set("JOB_ID=20");
    set("PE_HOSTFILE=/does/not/exist");
    assert_refused("PE_HOSTFILE of Grid Engine job 20: /does/not/exist: cannot be opened",
                   "unset PE_HOSTFILE");
}

/* A command `flux` that says what it was asked, beside the R in the file. */
static void make_flux(const char *script)
{
    char *path = mem_format("%s/bin/flux", root), *bin = mem_format("%s/bin", root);
    char *search = mem_format("%s:/usr/bin:/bin", bin);
    mkdir(bin, 0700);
    file_with("bin/flux", script);
    chmod(path, 0700);
    setenv("PATH", search, 1);
    free(search);
    free(bin);
    free(path);
}

/* As the operator writes them: for Open MPI, and for MPICH and Intel MPI. */
static void test_a_job_of_Kubernetes_MPI_Operator(void **state)
{
    static const struct {
        const char *variable, *text;
    } lists[] = {
        {"OMPI_MCA_orte_default_hostfile",
         "pi-worker-0.pi.invalid slots=2\npi-worker-1.pi.invalid slots=2\n"},
        {"PRTE_MCA_prte_default_hostfile",
         "pi-worker-0.pi.invalid slots=2\npi-worker-1.pi.invalid slots=2\n"},
        {"HYDRA_HOST_FILE", "pi-worker-0.pi.invalid:2\npi-worker-1.pi.invalid:2\n"},
        {"I_MPI_HYDRA_HOST_FILE", "pi-worker-0.pi.invalid:2\npi-worker-1.pi.invalid:2\n"},
    };
    char *name = localhost_name(), *job = mem_format("MPI Operator job %s", name);
    char *want = mem_format("pi-worker-0.pi.invalid:0/2=all pi-worker-1.pi.invalid:1/2=all of %s "
                            "(%s/hostfile)",
                            job, root);
    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        char *list = mem_format("%s=@/hostfile", lists[i].variable);
        file_with("hostfile", lists[i].text);
        set("K_MPI_JOB_ROLE=launcher");
        set(list);
        assert_gives(want, job);
        set("KUBERNETES_SERVICE_HOST=10.0.0.1"); /* before it said so */
        set(list);
        assert_gives(want, job);
        free(list);
    }
    free(name);
    free(job);
    free(want);
}

static void test_no_job_of_Kubernetes_MPI_Operator(void **state)
{
    (void)state;
    file_with("hostfile", "a.invalid:2\n");
    set("HYDRA_HOST_FILE=@/hostfile"); /* for MPICH alone, where this is no pod */
    assert_string_equal(batch_system_name(batch_system_find(BATCH_SYSTEM_ALL)), "this machine");
    set("KUBERNETES_SERVICE_HOST=10.0.0.1");
    set("K_MPI_JOB_ROLE=worker");
    assert_string_equal(batch_system_name(batch_system_find(BATCH_SYSTEM_ALL)), "this machine");
    forget(NULL);
    set("KUBERNETES_SERVICE_HOST=10.0.0.1"); /* some pod */
    assert_string_equal(batch_system_name(batch_system_find(BATCH_SYSTEM_ALL)), "this machine");
}

static void test_a_job_half_there_of_Kubernetes_MPI_Operator(void **state)
{
    (void)state;
    set("K_MPI_JOB_ROLE=launcher");
    assert_refused("the workers of MPI Operator job ", "/etc/mpi/hostfile: cannot be opened");
    set("K_MPI_JOB_ROLE=launcher");
    assert_refused("the workers of MPI Operator job ", "unset K_MPI_JOB_ROLE");
    file_with("hostfile", "");
    set("K_MPI_JOB_ROLE=launcher");
    set("HYDRA_HOST_FILE=@/hostfile");
    assert_refused("the workers of MPI Operator job ", "it names no host");
    set("K_MPI_JOB_ROLE=launcher");
    set("HYDRA_HOST_FILE=@/hostfile"); /* without which there would still be a job */
    assert_refused("the workers of MPI Operator job ", "unset K_MPI_JOB_ROLE");
    set("KUBERNETES_SERVICE_HOST=10.0.0.1");
    set("HYDRA_HOST_FILE=@/hostfile");
    assert_refused("the workers of MPI Operator job ", "unset HYDRA_HOST_FILE");
    file_with("hostfile", "a.invalid slots=x\n");
    set("K_MPI_JOB_ROLE=launcher");
    set("HYDRA_HOST_FILE=@/hostfile");
    assert_refused("the workers of MPI Operator job ", "hostfile:1: ");
}

static void test_R_of_Flux_is_asked_for(void **state)
{
    char *search = mem_copy_text(getenv("PATH"));
    (void)state;
    file_with("R", R_OF("0,2", "1-3", "a.invalid,b.invalid"));
    make_flux("#!/bin/sh\n[ \"$*\" = 'resource R -s up' ] && exec cat ${0%/bin/flux}/R\nexit 9\n");
    set("FLUX_URI=local:///run/flux/local");
    assert_gives("a.invalid:0/0=1-3 b.invalid:2/0=1-3 of Flux instance local:///run/flux/local "
                 "(FLUX_URI)",
                 "Flux instance local:///run/flux/local");
    make_flux("#!/bin/sh\n[ \"$*\" = 'job info f23 R' ] && exec cat ${0%/bin/flux}/R\nexit 9\n");
    set("FLUX_URI=local:///run/flux/local");
    set("FLUX_JOB_ID=f23");
    assert_gives("a.invalid:0/0=1-3 b.invalid:2/0=1-3 of Flux job f23 (FLUX_JOB_ID)",
                 "Flux job f23");
    setenv("PATH", search, 1);
    free(search);
}

static void test_a_Flux_that_does_not_answer_is_refused(void **state)
{
    char *search = mem_copy_text(getenv("PATH"));
    (void)state;
    make_flux("#!/bin/sh\necho 'flux: no broker' >&2; exit 1\n");
    set("FLUX_URI=local:///x");
    assert_refused("the R of Flux instance local:///x: flux: it ended with status 1: flux: no "
                   "broker",
                   "; unset FLUX_URI");
    make_flux("#!/bin/sh\necho '{}'\n");
    set("FLUX_JOB_ID=f23");
    assert_refused("the R of Flux job f23: ", "; unset FLUX_JOB_ID");
    set("FLUX_JOB_ID=-x");
    assert_refused("the R of Flux job -x: \"-x\" is not the number of a job", "unset FLUX_JOB_ID");
    setenv("PATH", "/does/not/exist", 1);
    set("FLUX_JOB_ID=f23");
    assert_refused("the R of Flux job f23: flux: it cannot be run: No such file", "FLUX_JOB_ID");
    setenv("PATH", search, 1);
    free(search);
}

static void test_an_R_file_of_the_environment(void **state)
{
    char *want = mem_format("a.invalid:3/0=0-1 of R file %s/R", root);
    char *identity = mem_format("R file %s/R", root);
    (void)state;
    file_with("R", R_OF("3", "0-1", "a.invalid"));
    setenv("TPRUN_R", identity + strlen("R file "), 1);
    set("SLURM_JOB_ID=17");
    assert_gives(want, identity);
    set("TPRUN_R=/does/not/exist");
    assert_refused("TPRUN_R in the environment: R file /does/not/exist: cannot be opened", "");
    free(identity);
    free(want);
}

/* One file by two names is one instance. */
static void test_an_R_file_is_known_by_its_real_path(void **state)
{
    char *link = mem_format("%s/link", root), *target = mem_format("%s/R", root);
    char *want = mem_format("a.invalid:3/0=0-1 of R file %s", link);
    char *identity = mem_format("R file %s", target);
    (void)state;
    file_with("R", R_OF("3", "0-1", "a.invalid"));
    assert_int_equal(symlink(target, link), 0);
    setenv("TPRUN_R", link, 1);
    assert_gives(want, identity);
    free(link);
    free(target);
    free(want);
    free(identity);
}

#define ID "0123456789abcdef"

static void be_a_task(void)
{
    set("TPRUN_INSTANCE=@");
    set("TPRUN_INSTANCE_ID=" ID);
    set("TPRUN_PROGRAM=7");
    set("TPRUN_ENCLOSING=7");
}

static void make_instance(const char *R)
{
    char *path = mem_format("%s/programs", root), *program = mem_format("%s/7", path);
    mkdir(path, 0700);
    mkdir(program, 0700);
    file_with("identity", "Slurm job 4\n");
    file_with("id", ID);
    file_with("programs/7/R.json", R);
    free(program);
    free(path);
}

static void test_a_task_has_what_its_program_holds(void **state)
{
    (void)state;
    make_instance(R_OF("3,5", "2", "a.invalid,b.invalid"));
    set("TPRUN_R=/does/not/exist");
    be_a_task();
    set("TPRUN_NNODES=1"); /* that have tasks */
    assert_gives("a.invalid:0/0=2 b.invalid:1/0=2 of program 7 (TPRUN_PROGRAM)", "Slurm job 4");
    be_a_task();
    setenv("TPRUN_ENCLOSING_R", R_OF("3", "0", "c.invalid"), 1); /* before what is in the file */
    assert_gives("c.invalid:0/0=0 of program 7 (TPRUN_PROGRAM)", "Slurm job 4");
}

/* The program runs: that its R begins at some time is of no interest any more, wherever it is read. */
static void test_a_task_takes_its_programs_R_with_times_from_both_places(void **state)
{
    static const char R[] =
        "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"3\",\"children\":"
        "{\"core\":\"2\"}}],\"nodelist\":[\"a.invalid\"],\"starttime\":100,"
        "\"expiration\":4000000000}}";
    (void)state;
    make_instance(R);
    be_a_task();
    assert_gives("a.invalid:0/0=2 of program 7 (TPRUN_PROGRAM)", "Slurm job 4");
    be_a_task();
    setenv("TPRUN_ENCLOSING_R", R, 1);
    assert_gives("a.invalid:0/0=2 of program 7 (TPRUN_PROGRAM)", "Slurm job 4");
}

static void read_ahead(void)
{
    struct enclosing_program *program = enclosing_program_read_ahead();
    assert_non_null(program);
    assert_true(program->was_read_ahead);
    enclosing_program_free(program);
}

static void assert_read_ahead(bool want, const char *cores)
{
    struct enclosing_program *program = enclosing_program_open(NULL);
    assert_non_null(program);
    assert_int_equal(program->was_read_ahead, want);
    struct node_list *nodes = enclosing_program_take_nodes(program);
    assert_int_equal(nodes->list[0].target, 0); /* R's is 3 */
    char *text = idset_encode(nodes->list[0].cores);
    assert_string_equal(text, cores);
    free(text);
    node_list_free(nodes);
    enclosing_program_free(program);
}

/* Whatever says that it is another program, or that it holds something else, is looked at. This test
 * is the last: what is read ahead stays. */
static void test_what_a_program_holds_is_read_ahead_for_its_tasks_alone(void **state)
{
    static const char *const others[] = {"TPRUN_PROGRAM=17", "TPRUN_ENCLOSING=7,17",
                                         "TPRUN_INSTANCE_ID=" ID ":x"};
    (void)state;
    make_instance(R_OF("3,5", "2", "a.invalid,b.invalid"));
    assert_null(enclosing_program_read_ahead()); /* no task */
    be_a_task();
    set("TPRUN_INSTANCE=/not/there");
    setenv("TPRUN_ENCLOSING_R", R_OF("3,5", "1", "a.invalid,b.invalid"), 1);
    assert_null(enclosing_program_read_ahead()); /* another host's */
    forget(NULL);

    be_a_task();
    read_ahead(); /* what is too long for the environment */
    assert_read_ahead(true, "2");
    assert_read_ahead(true, "2"); /* the first has changed nothing */
    file_with("programs/7/R.json", R_OF("3,5", "1", "a.invalid,b.invalid"));
    assert_read_ahead(false, "1");
    setenv("TPRUN_ENCLOSING_R", R_OF("3,5", "2", "a.invalid,b.invalid"), 1);
    assert_read_ahead(true, "2");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        be_a_task();
        set(others[i]);
        assert_read_ahead(false, "2");
    }
    be_a_task();
    setenv("TPRUN_ENCLOSING_R", R_OF("3,5", "0", "a.invalid,b.invalid"), 1);
    assert_read_ahead(false, "0");
    read_ahead(); /* of another one, as in an instance within the first */
    assert_read_ahead(true, "0");
    setenv("TPRUN_ENCLOSING_R", R_OF("3,5", "2", "a.invalid,b.invalid"), 1);
    assert_read_ahead(false, "2");

    setenv("TPRUN_ENCLOSING_R", R_OF("3,5", "0", "a.invalid,b.invalid"), 1);
    file_with("id", "another instance"); /* the one that it was read for is gone */
    struct enclosing_program *program = enclosing_program_open(NULL);
    assert_non_null(program);
    assert_false(program->was_read_ahead);
    assert_int_equal(program->R->nnodes, 0); /* none of its hosts is this machine */
    enclosing_program_free(program);
}

static void test_a_task_whose_program_holds_nothing_here_has_its_machine(void **state)
{
    static const char *const cases[] = {
        "TPRUN_PROGRAM=8",           "TPRUN_PROGRAM=../7", "TPRUN_INSTANCE_ID=0123456789abcdee",
        "TPRUN_INSTANCE=/not/there", "TPRUN_INSTANCE=",    "TPRUN_ENCLOSING=",
    };
    (void)state;
    make_instance(R_OF("3,5", "2", "a.invalid,b.invalid"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        be_a_task();
        set(cases[i]);
        struct node_list *nodes = node_list_from_source(BATCH_SYSTEM_ALL, NOW, &err);
        assert_non_null(nodes);
        assert_int_equal(nodes->count, 1);
        assert_true(nodes->list[0].here);
        assert_null(nodes->list[0].cores);
        node_list_free(nodes);
        forget(NULL);
    }
}

static void test_hosts_that_are_named_belong_to_the_job_they_are_named_in(void **state)
{
    struct error err = ERROR_INIT;
    struct spec *spec = spec_new();
    (void)state;
    spec->hosts = mem_copy_text("x.invalid");
    set("SLURM_JOB_ID=17");
    struct node_list *nodes = node_list_from_spec(spec, NULL, NOW, &err);
    assert_non_null(nodes);
    assert_string_equal(nodes->identity, "Slurm job 17");
    assert_string_equal(nodes->source, "--hosts");
    node_list_free(nodes);
    spec_free(spec);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, forget)
    const struct CMUnitTest tests[] = {
        CASE(test_without_any_of_them_it_is_this_machine),
        CASE(test_the_first_that_is_there_is_used),
        CASE(test_a_job_of_Kubernetes_MPI_Operator),
        CASE(test_no_job_of_Kubernetes_MPI_Operator),
        CASE(test_a_job_half_there_of_Kubernetes_MPI_Operator),
        CASE(test_a_job_of_Slurm),
        CASE(test_the_components_of_a_job_of_Slurm_that_are_not_used_are_named),
        CASE(test_notes_of_a_job_and_of_a_constraint_are_both_kept),
        CASE(test_a_job_of_Slurm_that_is_not_whole_is_refused),
        CASE(test_a_job_of_PBS),
        CASE(test_a_job_of_PBS_that_is_not_whole_is_refused),
        CASE(test_a_job_of_LSF),
        CASE(test_a_job_of_Grid_Engine),
        CASE(test_R_of_Flux_is_asked_for),
        CASE(test_a_Flux_that_does_not_answer_is_refused),
        CASE(test_an_R_file_of_the_environment),
        CASE(test_an_R_file_is_known_by_its_real_path),
        CASE(test_a_task_has_what_its_program_holds),
        CASE(test_a_task_takes_its_programs_R_with_times_from_both_places),
        CASE(test_a_task_whose_program_holds_nothing_here_has_its_machine),
        CASE(test_hosts_that_are_named_belong_to_the_job_they_are_named_in),
        CASE(test_what_a_program_holds_is_read_ahead_for_its_tasks_alone),
    };
    return cmocka_run_group_tests(tests, make_root, root_remove);
}
