#include "base/directory.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "affinity/topology/topo.h"
#include "affinity/topology/topo_gpu.h"
#include "base/buf.h"
#include "base/mem.h"

/* "0 cuda0 nvidia 0000:07:00.0 48-63;1 ...", " x2" behind a GPU of two tiles. */
static char *describe(const struct topo *topo)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < topo->ngpus; i++) {
        const struct topo_gpu *gpu = &topo->gpus[i];
        char *cpus = idset_encode(gpu->cpus);
        buf_printf(&out, "%s%u %s %s %s %s", i ? ";" : "", gpu->id, gpu->name,
                   topo_vendor_name(gpu->vendor), gpu->pci, cpus);
        if (gpu->tiles != 1)
            buf_printf(&out, " x%u", gpu->tiles);
        free(cpus);
    }
    return buf_take_text(&out);
}

static void check_gpus(const struct topo *topo, const char *expect)
{
    char *text = describe(topo);
    if (strcmp(text, expect) != 0)
        fail_msg("%s\nnot %s", text, expect);
    free(text);
}

static struct topo *load_file(const char *name)
{
    struct error err = ERROR_INIT;
    char *path = mem_format("%s/%s", TEST_DATA_DIR, name);
    struct topo *topo = topo_load_xml(path, &err);
    if (!topo)
        fail_msg("%s", error_text(&err));
    free(path);
    return topo;
}

/* ---- files of real machines ---- */

static const struct {
    const char *file, *gpus;
} files[] = {
    {"topology-gpu-nvidia.xml", "0 cuda0 nvidia 0000:07:00.0 48-63,176-191;"
                                "1 cuda1 nvidia 0000:0f:00.0 48-63,176-191;"
                                "2 cuda2 nvidia 0000:47:00.0 16-31,144-159;"
                                "3 cuda3 nvidia 0000:4e:00.0 16-31,144-159;"
                                "4 cuda4 nvidia 0000:87:00.0 112-127,240-255;"
                                "5 cuda5 nvidia 0000:90:00.0 112-127,240-255;"
                                "6 cuda6 nvidia 0000:b7:00.0 80-95,208-223;"
                                "7 cuda7 nvidia 0000:bd:00.0 80-95,208-223"},
    {"topology-gpu-amd.xml", "0 rsmi0 amd 0000:c1:00.0 48-63,112-127;"
                             "1 rsmi1 amd 0000:c6:00.0 48-63,112-127;"
                             "2 rsmi2 amd 0000:c9:00.0 16-31,80-95;"
                             "3 rsmi3 amd 0000:ce:00.0 16-31,80-95;"
                             "4 rsmi4 amd 0000:d1:00.0 0-15,64-79;"
                             "5 rsmi5 amd 0000:d6:00.0 0-15,64-79;"
                             "6 rsmi6 amd 0000:d9:00.0 32-47,96-111;"
                             "7 rsmi7 amd 0000:de:00.0 32-47,96-111"},
    {"topology-gpu-intel.xml", "0 ze0 intel 0000:18:00.0 0-51,104-155 x2;"
                               "1 ze1 intel 0000:42:00.0 0-51,104-155 x2;"
                               "2 ze2 intel 0000:6c:00.0 0-51,104-155 x2;"
                               "3 ze3 intel 0001:18:00.0 52-103,156-207 x2;"
                               "4 ze4 intel 0001:42:00.0 52-103,156-207 x2;"
                               "5 ze5 intel 0001:6c:00.0 52-103,156-207 x2"},
    {"topology-2x2x4.xml", ""},
};

static void test_gpus_of_real_machines_are_numbered_by_their_addresses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct topo *topo = load_file(files[i].file);
        check_gpus(topo, files[i].gpus);
        topo_free(topo);
    }
}

static void test_gpus_come_back_from_the_wire_and_count_in_the_digest(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct error err = ERROR_INIT;
        struct topo *topo = load_file(files[i].file);
        json_t *value = topo_to_json(topo);
        struct topo *again = topo_from_json(value, &err);
        if (!again)
            fail_msg("%s: %s", files[i].file, error_text(&err));
        check_gpus(again, files[i].gpus);
        json_object_del(value, "gpus");
        struct topo *without = topo_from_json(value, &err);
        char *a = topo_digest(topo), *b = topo_digest(again), *c = topo_digest(without);
        assert_string_equal(a, b);
        assert_true((strcmp(a, c) != 0) == (topo->ngpus > 0));
        free(a);
        free(b);
        free(c);
        topo_free(without);
        topo_free(again);
        json_decref(value);
        topo_free(topo);
    }
}

static void test_bad_gpus_of_the_wire_are_refused(void **state)
{
    static const char *const bad[] = {
        "{\"id\":0,\"name\":\"a\"}",
        "{\"id\":0,\"name\":\"a\",\"cpus\":\"\"}",
        "{\"id\":0,\"name\":\"a\",\"cpus\":\"0-4\"}",
        "{\"id\":0,\"name\":7,\"cpus\":\"0\"}",
        "{\"id\":\"0\",\"name\":\"a\",\"cpus\":\"0\"}",
        "{\"id\":2147483648,\"name\":\"a\",\"cpus\":\"0\"}",
        "{\"id\":0,\"name\":\"a\",\"cpus\":\"0\",\"pci\":1}",
        "{\"id\":0,\"name\":\"a\",\"cpus\":\"0\",\"vendor\":\"matrox\"}",
        "{\"id\":0,\"name\":\"a\",\"cpus\":\"0\",\"vendor\":null}",
        "{\"id\":0,\"name\":\"a\",\"cpus\":\"0\",\"tiles\":0}",
        "{\"id\":0,\"name\":\"a\",\"cpus\":\"0\",\"tiles\":1025}",
        "{\"id\":0,\"name\":\"a\",\"cpus\":\"0\",\"tiles\":\"2\"}",
        "{\"id\":1,\"name\":\"a\",\"cpus\":\"0\"},{\"id\":1,\"name\":\"b\",\"cpus\":\"0\"}",
        "{\"id\":1,\"name\":\"a\",\"cpus\":\"0\"},{\"id\":0,\"name\":\"b\",\"cpus\":\"0\"}",
        "0",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;
        char *text =
            mem_format("{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"gpus\":[%s]}", bad[i]);
        json_t *value = json_loads(text, 0, NULL);
        assert_non_null(value);
        struct topo *topo = topo_from_json(value, &err);
        if (topo)
            fail_msg("taken: %s", bad[i]);
        assert_non_null(strstr(error_text(&err), "gpus"));
        error_clear(&err);
        json_decref(value);
        free(text);
    }
}

/* ---- what counts ---- */

struct device_case {
    uint32_t bus;
    uint16_t class_id, vendor_id;
    bool compute, render;
};

static const struct {
    const char *what;
    struct device_case devices[4];
    const char *expect; /* buses of what counts, in hex */
} counted[] = {
    {"a management chip's ASPEED", {{3, 0x0300, 0x1a03, false, false}}, ""},
    {"a Matrox", {{3, 0x0300, 0x102b, false, false}}, ""},
    {"an old server's ATI display", {{3, 0x0300, 0x1002, false, false}}, ""},
    {"a virtual machine's display", {{3, 0x0300, 0x1af4, false, true}}, ""},
    {"a workstation's NVIDIA", {{3, 0x0300, 0x10de, false, false}}, "03"},
    {"a workstation's AMD", {{3, 0x0300, 0x1002, false, true}}, "03"},
    {"its sound is no GPU",
     {{3, 0x0300, 0x10de, false, false}, {4, 0x0403, 0x10de, false, false}},
     "03"},
    {"an Intel card that is a VGA adapter, too", {{3, 0x0300, 0x8086, false, true}}, "03"},
    {"a processor's own graphics alone", {{0, 0x0300, 0x8086, false, true}}, "00"},
    {"beside another GPU", {{0, 0x0300, 0x8086, true, true}, {1, 0x0300, 0x10de}}, "01"},
    {"beside a display only", {{0, 0x0300, 0x8086, true, true}, {1, 0x0300, 0x1a03}}, "00"},
    {"3D controllers, in any order",
     {{0xb7, 0x0302, 0x10de}, {7, 0x0302, 0x10de}, {0x4e, 0x0302, 0x10de}},
     "07 4e b7"},
    {"an AMD accelerator by its class", {{5, 0x1200, 0x1002}}, "05"},
    {"other accelerators are none", {{5, 0x1200, 0x8086}, {6, 0x1200, 0x10ee}}, ""},
    {"whatever a runtime has a device on", {{5, 0x1200, 0x10ee, true, false}}, "05"},
};

static void test_gpus_count_and_displays_do_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
        struct topo *topo = topo_load_synthetic("core:2 pu:1", NULL);
        struct gpu_devices devices = {NULL, 0};
        for (const struct device_case *from = counted[i].devices; from->class_id; from++) {
            struct gpu_device *device = gpu_devices_add(&devices);
            device->on_pci = true;
            device->pci.bus = from->bus;
            device->class_id = from->class_id;
            device->vendor_id = from->vendor_id;
            device->compute = from->compute;
            device->render = from->render;
        }
        gpus_add(topo, &devices);
        struct buf out = BUF_INIT;
        for (size_t g = 0; g < topo->ngpus; g++)
            buf_printf(&out, "%s%.2s", g ? " " : "", topo->gpus[g].pci + 5);
        if (strcmp(buf_text(&out), counted[i].expect) != 0)
            fail_msg("%s: %s", counted[i].what, buf_text(&out));
        buf_free(&out);
        topo_free(topo);
    }
}

/* ---- a machine's own files ---- */

static void put(const char *root, const char *path, const char *text)
{
    char *whole = mem_format("%s/%s", root, path);
    for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(whole, 0700);
    }
    FILE *file = fopen(whole, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(whole);
}

static void put_device(const char *root, const char *pci, const char *class, const char *vendor,
                       const char *cpus)
{
    const char *const files_of[][2] = {
        {"class", class}, {"vendor", vendor}, {"local_cpulist", cpus}};
    for (size_t i = 0; i < 3; i++) {
        char *path = mem_format("sys/bus/pci/devices/%s/%s", pci, files_of[i][0]);
        char *line = mem_format("%s\n", files_of[i][1]);
        put(root, path, line);
        free(line);
        free(path);
    }
}

static void put_render_node(const char *root, const char *name, const char *pci)
{
    char *here = mem_format("sys/class/drm/%s/dev", name);
    put(root, here, "226:128\n");
    char *link = mem_format("%s/sys/class/drm/%s/device", root, name);
    char *target = mem_format("../../../bus/pci/devices/%s", pci);
    assert_int_equal(symlink(target, link), 0);
    free(target);
    free(link);
    free(here);
}

static void check_system(void (*make)(const char *root), const char *expect)
{
    char root[] = "/tmp/test-topo-gpu-XXXXXX";
    assert_non_null(mkdtemp(root));
    make(root);
    struct topo *topo = topo_load_synthetic("numa:2 core:4 pu:1", NULL);
    gpus_add_system(topo, root);
    check_gpus(topo, expect);
    topo_free(topo);
    assert_int_equal(directory_remove(AT_FDCWD, root), 0);
}

static void make_nothing(const char *root)
{
    (void)root;
}

/* Without nvidia-drm the driver's own list is all there is; the management chip's display has no
 * render node. */
static void make_nvidia(const char *root)
{
    put_device(root, "0000:03:00.0", "0x030000", "0x1a03", "0-3");
    put_device(root, "0000:c1:00.0", "0x030200", "0x10de", "4-7");
    put_device(root, "0000:41:00.0", "0x030200", "0x10de", "0-3");
    put(root, "proc/driver/nvidia/gpus/0000:c1:00.0/information", "Model: ...\n");
    put(root, "proc/driver/nvidia/gpus/0000:41:00.0/information", "Model: ...\n");
    put_render_node(root, "renderD128", "0000:41:00.0");
    put(root, "sys/class/drm/card0/dev", "226:0\n");
}

/* A device without a node, a device elsewhere than on PCI, and one whose place is not known. */
static void make_amd(const char *root)
{
    put_device(root, "0000:d1:00.0", "0x038000", "0x1002", "0-3");
    put_device(root, "0000:c1:00.0", "0x120000", "0x1002", "");
    put_device(root, "0000:c6:00.0", "0x038000", "0x1002", "4-7");
    put_render_node(root, "renderD129", "0000:d1:00.0");
    put_render_node(root, "renderD128", "0000:c1:00.0");
    put_render_node(root, "renderD130", "vgem");
}

static void make_intel(const char *root)
{
    put_device(root, "0001:18:00.0", "0x038000", "0x8086", "4-7,12-15");
    put_device(root, "0000:18:00.0", "0x038000", "0x8086", "0-3,8-11");
    put_device(root, "0000:6c:00.0", "0x030000", "0x8086", "0-3,8-11");
    put_render_node(root, "renderD128", "0000:18:00.0");
    put_render_node(root, "renderD129", "0000:6c:00.0");
    put_render_node(root, "renderD130", "0001:18:00.0");
    put(root, "sys/bus/pci/devices/0000:18:00.0/tile0/x", ""); /* as xe shows them */
    put(root, "sys/bus/pci/devices/0000:18:00.0/tile1/x", "");
    put(root, "sys/bus/pci/devices/0001:18:00.0/drm/card2/gt/gt0/x", ""); /* as i915 does */
    put(root, "sys/bus/pci/devices/0001:18:00.0/drm/card2/gt/gt1/x", "");
    put(root, "sys/bus/pci/devices/0000:6c:00.0/drm/card1/gt/gt0/x", ""); /* gt1 is for media */
    put(root, "sys/bus/pci/devices/0000:6c:00.0/drm/card1/gt/gt1/x", "");
}

static void test_this_machine_s_gpus_are_those_that_a_driver_serves(void **state)
{
    (void)state;
    check_system(make_nothing, "");
    check_system(make_nvidia, "0 0000:41:00.0 nvidia 0000:41:00.0 0-3;"
                              "1 0000:c1:00.0 nvidia 0000:c1:00.0 4-7");
    check_system(make_amd, "0 0000:c1:00.0 amd 0000:c1:00.0 0-7;"
                           "1 0000:d1:00.0 amd 0000:d1:00.0 0-3");
    check_system(make_intel, "0 0000:18:00.0 intel 0000:18:00.0 0-3 x2;"
                             "1 0000:6c:00.0 intel 0000:6c:00.0 0-3;"
                             "2 0001:18:00.0 intel 0001:18:00.0 4-7 x2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpus_of_real_machines_are_numbered_by_their_addresses),
        cmocka_unit_test(test_gpus_come_back_from_the_wire_and_count_in_the_digest),
        cmocka_unit_test(test_bad_gpus_of_the_wire_are_refused),
        cmocka_unit_test(test_gpus_count_and_displays_do_not),
        cmocka_unit_test(test_this_machine_s_gpus_are_those_that_a_driver_serves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
