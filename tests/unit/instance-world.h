/*
 * instance-world - an instance of hosts n0, n1, ... that exist in an R file only, for tests of what
 * decides about them: nothing is started.
 */
#ifndef TESTS_UNIT_INSTANCE_WORLD_H
#define TESTS_UNIT_INSTANCE_WORLD_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "base/mem.h"
#include "launcher/instance/resources.h"
#include "launcher/ledger/claim.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/spec/spec.h"
#include "tests/unit/unit.h"

static char world[64];

static int make_world(void **state)
{
    char runtime[96];
    (void)state;
    snprintf(world, sizeof(world), "/tmp/test-instance-XXXXXX");
    if (!mkdtemp(world))
        return -1;
    snprintf(runtime, sizeof(runtime), "%s/tprun", world);
    return setenv("TPRUN_RUNTIME_DIR", runtime, 1);
}

static int end_world(void **state)
{
    (void)state;
    directory_remove(AT_FDCWD, world);
    return 0;
}

/* R of so many hosts of four cores each. Caller frees the path. */
static char *write_R(unsigned count)
{
    char *path = mem_format("%s/R", world);
    struct idset *ranks = idset_new();
    idset_add_range(ranks, 0, count - 1);
    char *text = idset_encode(ranks);
    FILE *file = fopen(path, "w");
    fprintf(file,
            "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"%s\",\"children\":{\"core\":"
            "\"0-3\"}}],\"nodelist\":[\"n[%s]\"],\"starttime\":0,\"expiration\":0}}",
            text, text);
    fclose(file);
    free(text);
    idset_free(ranks);
    return path;
}

/* A spec of JSON with ' for ", on these hosts. */
static struct spec *spec_on(unsigned count, const char *json)
{
    struct error err = ERROR_INIT;
    char *text = mem_copy_text(json), *path = write_R(count);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *value = json_loads(text, 0, NULL);
    assert_non_null(value);
    json_object_set_new(value, "version", json_integer(1));
    json_object_set_new(value, "resources", json_string(path));
    struct spec *spec = spec_from_json(value, &err);
    if (!spec)
        fail_msg("%s: %s", text, error_text(&err));
    json_decref(value);
    free(path);
    free(text);
    return spec;
}

__attribute__((unused)) static struct resources *open_resources(const struct spec *spec)
{
    struct error err = ERROR_INIT;
    struct resources *resources = resources_open(spec, NULL, &err);
    if (!resources || resources_refresh(resources, &err) < 0)
        fail_msg("%s", error_text(&err));
    return resources;
}

/* Another program of the instance, which holds these cores of these hosts. */
__attribute__((unused)) static struct ledger_entry *
hold(struct resources *resources, unsigned first, unsigned last, const char *cores)
{
    struct error err = ERROR_INIT;
    struct ledger_entry *other = entry_new(resources_instance(resources), "./other", &err);
    struct rset *claim = rset_new();
    struct idset *ids = idset_decode(cores, &err);
    for (unsigned i = first; i <= last; i++) {
        char *host = mem_format("n%u", i);
        rset_append(claim, i, host, ids, NULL);
        free(host);
    }
    if (!other || entry_claim(other, claim, &err) != 0)
        fail_msg("%s", error_text(&err));
    idset_free(ids);
    rset_free(claim);
    return other;
}

#endif
