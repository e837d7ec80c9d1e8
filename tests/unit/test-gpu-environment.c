/* The variables that GPUs' runtimes read: what is written for a task, what is understood of the
 * caller's. */
#include <stdlib.h>
#include <string.h>

#include "affinity/topology/topo.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/environment/gpu_environment.h"
#include "launcher/spec/spec.h"
#include "tests/unit/unit.h"

#define GPU(id, vendor, more)                                                                      \
    "{\"id\":" #id ",\"name\":\"g\",\"cpus\":\"0\",\"vendor\":\"" vendor "\"" more "}"

static const struct {
    const char *name, *gpus;
} machines[] = {
    {"none", ""},
    {"nvidia", GPU(0, "nvidia", "") "," GPU(1, "nvidia", "") "," GPU(2, "nvidia", "")},
    {"amd", GPU(0, "amd", "") "," GPU(1, "amd", "") "," GPU(2, "amd", "")},
    {"intel",
     GPU(0, "intel", ",\"tiles\":2") "," GPU(1, "intel", ",\"tiles\":2") "," GPU(2, "intel", "")},
    {"mixed", GPU(0, "intel", "") "," GPU(1, "nvidia", "") "," GPU(2, "amd", "") "," GPU(
                  3, "nvidia", "") "," GPU(4, "amd", "")},
};

static struct topo *machine(const char *name)
{
    size_t i = 0;
    while (strcmp(machines[i].name, name) != 0)
        i++;
    char *text = mem_format("{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"gpus\":[%s]}",
                            machines[i].gpus);
    json_t *value = json_loads(text, 0, NULL);
    struct topo *topo = topo_from_json(value, NULL);
    assert_non_null(topo);
    json_decref(value);
    free(text);
    return topo;
}

/* "A=1 B=2" as an environment; caller frees with string_list_free(). */
static char **environment(const char *text)
{
    char **list = mem_array(strlen(text) / 2 + 2, sizeof(*list)), *copy = mem_copy_text(text);
    char *rest = copy, *word;
    size_t n = 0;
    while (*text && (word = strsep(&rest, " ")))
        list[n++] = mem_copy_text(word);
    free(copy);
    return list;
}

static const struct {
    const char *machine, *environment, *gpus; /* NULL: none */
    const char *expect;
} made[] = {
    {"nvidia", "", "0,2", "CUDA_VISIBLE_DEVICES=0,2 CUDA_DEVICE_ORDER=PCI_BUS_ID"},
    {"nvidia", "", NULL, "CUDA_VISIBLE_DEVICES=-1 CUDA_DEVICE_ORDER=PCI_BUS_ID"},
    {"nvidia", "CUDA_DEVICE_ORDER=FASTEST_FIRST", "1",
     "CUDA_VISIBLE_DEVICES=1 CUDA_DEVICE_ORDER=PCI_BUS_ID"},
    {"amd", "", "0-1", "ROCR_VISIBLE_DEVICES=0,1"},
    {"amd", "HIP_VISIBLE_DEVICES=0", "2", "ROCR_VISIBLE_DEVICES=2"},
    {"amd", "", NULL, "ROCR_VISIBLE_DEVICES="},
    {"intel", "", "1-2", "ZE_AFFINITY_MASK=1,2 ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE"},
    {"intel", "", NULL, "ZE_AFFINITY_MASK=-1 ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE"},
    {"intel", "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE", "1", "ZE_AFFINITY_MASK=1"},
    {"intel", "ZE_FLAT_DEVICE_HIERARCHY=FLAT", "1", "ZE_AFFINITY_MASK=2,3"},
    {"intel", "ZE_FLAT_DEVICE_HIERARCHY=COMBINED", "0,2", "ZE_AFFINITY_MASK=0,1,4"},
    {"intel", "ZE_FLAT_DEVICE_HIERARCHY=FLAT", NULL, "ZE_AFFINITY_MASK=-1"},
    /* each vendor counts its own */
    {"mixed", "", "3",
     "CUDA_VISIBLE_DEVICES=1 CUDA_DEVICE_ORDER=PCI_BUS_ID ROCR_VISIBLE_DEVICES= "
     "ZE_AFFINITY_MASK=-1 ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE"},
    {"mixed", "", "0-1",
     "CUDA_VISIBLE_DEVICES=0 CUDA_DEVICE_ORDER=PCI_BUS_ID ROCR_VISIBLE_DEVICES= "
     "ZE_AFFINITY_MASK=0 ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE"},
    /* CUDA_VISIBLE_DEVICES=-1 would hide AMD's from HIP */
    {"mixed", "", "4",
     "ROCR_VISIBLE_DEVICES=1 ZE_AFFINITY_MASK=-1 ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE"},
    {"mixed", "", NULL,
     "CUDA_VISIBLE_DEVICES=-1 CUDA_DEVICE_ORDER=PCI_BUS_ID ROCR_VISIBLE_DEVICES= "
     "ZE_AFFINITY_MASK=-1 ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE"},
    {"none", "", "2,5",
     "CUDA_VISIBLE_DEVICES=2,5 ZE_AFFINITY_MASK=2,5 ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE"},
    {"none", "", NULL,
     "CUDA_VISIBLE_DEVICES=-1 ZE_AFFINITY_MASK=-1 ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE"},
};

static void test_each_vendor_has_its_variable(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        struct topo *topo = machine(made[i].machine);
        struct idset *gpus = made[i].gpus ? idset_decode(made[i].gpus, NULL) : NULL;
        char **before = environment(made[i].environment);
        char **list = gpu_environment_make(topo, gpus, before);
        struct buf out = BUF_INIT;
        for (char **entry = list; *entry; entry++) {
            buf_printf(&out, "%s%s", out.len ? " " : "", *entry);
            if (strncmp(*entry, "ZE_FLAT", 7) != 0)
                assert_true(gpu_environment_says(*entry));
        }
        if (strcmp(buf_text(&out), made[i].expect) != 0)
            fail_msg("case %zu: %s", i, buf_text(&out));
        buf_free(&out);
        string_list_free(list);
        string_list_free(before);
        idset_free(gpus);
        topo_free(topo);
    }
}

static void test_variables_that_select_gpus_are_told_from_others(void **state)
{
    static const char *const says[] = {"CUDA_VISIBLE_DEVICES=",  "CUDA_DEVICE_ORDER=x",
                                       "ROCR_VISIBLE_DEVICES=0", "HIP_VISIBLE_DEVICES=1",
                                       "GPU_DEVICE_ORDINAL=0,1", "ZE_AFFINITY_MASK=0.1"};
    static const char *const says_not[] = {"CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICESX=1",
                                           "CUDA_HOME=/x",         "ZE_FLAT_DEVICE_HIERARCHY=FLAT",
                                           "HIP_PLATFORM=amd",     ""};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        assert_true(gpu_environment_says(says[i]));
        assert_false(gpu_environment_says(says_not[i]));
    }
}

static const struct {
    const char *machine, *gpus, *environment;
    const char *expect; /* NULL: refused */
} allowed[] = {
    {"nvidia", "0-2", "", "0-2"},
    {"nvidia", "0-2", "CUDA_VISIBLE_DEVICES=2,0", "0,2"},
    {"nvidia", "1-2", "CUDA_VISIBLE_DEVICES=0,1", "1"},
    {"nvidia", "0-2", "CUDA_VISIBLE_DEVICES=", ""},
    {"nvidia", "0-2", "CUDA_VISIBLE_DEVICES=-1", ""},
    {"nvidia", "0-2", "CUDA_VISIBLE_DEVICES=NoDevFiles", ""},
    {"nvidia", "0-2", "CUDA_VISIBLE_DEVICES=1,-1,0", "1"},
    {"nvidia", "0-2", "CUDA_VISIBLE_DEVICES=1,3,0", "1"},
    {"nvidia", "0-2", "CUDA_VISIBLE_DEVICES=99999999999999999999", ""},
    {"nvidia", "0-2", "CUDA_VISIBLE_DEVICES=GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", NULL},
    {"nvidia", "0-2", "CUDA_VISIBLE_DEVICES=MIG-GPU-1/0/0", NULL},
    {"nvidia", "0-2", "ROCR_VISIBLE_DEVICES=0 ZE_AFFINITY_MASK=1", "0-2"},
    {"amd", "0-2", "CUDA_VISIBLE_DEVICES=GPU-8932f937", "0-2"},
    {"amd", "0-2", "ROCR_VISIBLE_DEVICES=1,2", "1-2"},
    {"amd", "0-2", "ROCR_VISIBLE_DEVICES=", ""},
    {"amd", "0-2", "ROCR_VISIBLE_DEVICES=1,2 HIP_VISIBLE_DEVICES=1", "2"},
    {"amd", "0-2", "HIP_VISIBLE_DEVICES=1", "1"},
    {"amd", "0-2", "HIP_VISIBLE_DEVICES=", "0-2"},
    {"amd", "0-2", "ROCR_VISIBLE_DEVICES=GPU-DEADBEEFDEADBEEF", NULL},
    {"intel", "0-2", "ZE_AFFINITY_MASK=", "0-2"},
    {"intel", "0-2", "ZE_AFFINITY_MASK=-1", ""},
    {"intel", "0-2", "ZE_AFFINITY_MASK=1 ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE", "1"},
    {"intel", "0-2", "ZE_AFFINITY_MASK=1.0,2 ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE", "1-2"},
    {"intel", "0-2", "ZE_AFFINITY_MASK=1", "0"}, /* tiles by default: the second of the first */
    {"intel", "0-2", "ZE_AFFINITY_MASK=2,4", "1-2"},
    {"intel", "0-2", "ZE_AFFINITY_MASK=5", ""},
    {"mixed", "0-4", "CUDA_VISIBLE_DEVICES=1 ROCR_VISIBLE_DEVICES=0", "0,2-3"},
    {"none", "2-5", "CUDA_VISIBLE_DEVICES=3,5", "3,5"},
    {"none", "2-5", "", "2-5"},
    {"none", "2-5", "CUDA_VISIBLE_DEVICES=-1", ""},
};

static void test_a_step_of_Slurm_limits_its_node_by_the_variables_that_it_sets(void **state)
{
    static const struct {
        const char *machine, *environment, *expect; /* "-": no limit; NULL: refused */
    } cases[] = {
        {"amd", "ROCR_VISIBLE_DEVICES=1", "-"}, /* of the host where srun was started */
        {"amd", "SLURM_STEP_GPUS= ROCR_VISIBLE_DEVICES=1", "-"},
        {"amd", "SLURM_STEP_GPUS=3 ROCR_VISIBLE_DEVICES=1", "1"},
        {"none", "SLURM_STEP_GPUS=2,5 CUDA_VISIBLE_DEVICES=2,5", "2,5"},
        {"none", "SLURM_STEP_GPUS=0 CUDA_VISIBLE_DEVICES=GPU-1234", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct topo *topo = machine(cases[i].machine);
        char **list = environment(cases[i].environment);
        struct idset *granted = gpu_environment_of_step(topo, list, &err);
        char *text = granted ? idset_encode(granted) : mem_copy_text(err.text ? NULL : "-");
        if (!text != !cases[i].expect || (text && strcmp(text, cases[i].expect) != 0))
            fail_msg("case %zu: %s", i, text ? text : "refused");
        assert_true(text || strstr(error_text(&err), "by UUID"));
        error_clear(&err);
        free(text);
        idset_free(granted);
        string_list_free(list);
        topo_free(topo);
    }
}

static void test_the_caller_s_variables_limit_what_is_given_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        struct error err = ERROR_INIT;
        struct topo *topo = machine(allowed[i].machine);
        struct idset *gpus = idset_decode(allowed[i].gpus, NULL);
        char **list = environment(allowed[i].environment);
        struct idset *left = gpu_environment_allowed(topo, gpus, list, &err);
        char *text = left ? idset_encode(left) : NULL;
        if (!text != !allowed[i].expect || (text && strcmp(text, allowed[i].expect) != 0))
            fail_msg("case %zu (%s): %s", i, allowed[i].environment, text ? text : "refused");
        assert_true(text || strstr(error_text(&err), "by UUID"));
        error_clear(&err);
        free(text);
        idset_free(left);
        idset_free(gpus);
        string_list_free(list);
        topo_free(topo);
    }
}

/* What one tprun writes for its tasks is what another one started by a task reads. */
static void test_what_is_written_is_what_is_read(void **state)
{
    static const char *const names[] = {"nvidia", "amd", "intel", "mixed"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct topo *topo = machine(names[i]);
        struct idset *all = idset_new();
        for (size_t g = 0; g < topo->ngpus; g++)
            idset_add(all, topo->gpus[g].id);
        for (uint32_t bits = 0; bits < 1u << topo->ngpus; bits++) {
            struct idset *some = idset_new();
            for (uint32_t g = 0; g < topo->ngpus; g++)
                if (bits >> g & 1)
                    idset_add(some, g);
            char *none[] = {NULL};
            char **list = gpu_environment_make(topo, some, none);
            struct idset *left = gpu_environment_allowed(topo, all, list, NULL);
            bool only_amd = strcmp(names[i], "mixed") == 0 && !(bits & 0xa) && (bits & 0x14);
            if (!only_amd && !idset_equal(left, some))
                fail_msg("%s: %s of %s", names[i], idset_encode(left), idset_encode(some));
            idset_free(left);
            idset_free(some);
            string_list_free(list);
        }
        idset_free(all);
        topo_free(topo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_vendor_has_its_variable),
        cmocka_unit_test(test_variables_that_select_gpus_are_told_from_others),
        cmocka_unit_test(test_the_caller_s_variables_limit_what_is_given_out),
        cmocka_unit_test(test_a_step_of_Slurm_limits_its_node_by_the_variables_that_it_sets),
        cmocka_unit_test(test_what_is_written_is_what_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
