/* The first frame of an agent, written for it and read for the manager. */
#include "launcher/protocol/hello.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/sets/short_text.h"
#include "config.h"
#include "launcher/tree/frame.h"

static int beyond(const struct idset *want, const struct idset *have, const char *what,
                  struct error *err)
{
    if (idset_within(want, have))
        return 0;
    char *want_text = idset_encode_short(want, 200), *have_text = idset_encode_short(have, 200);
    error_set(err,
              "R gives it cores %s, but this node%s only cores %s (logical numbers); give an R "
              "that says no more",
              want_text, what, have_text);
    free(want_text);
    free(have_text);
    return -1;
}

int hello_check_cores(const struct topo *topo, const char *cores, struct error *err)
{
    struct idset *want = idset_decode(cores, err);
    if (!want)
        return -1;
    struct idset *all = topo_cores(topo), *allowed = topo_allowed_cores(topo);
    int result = beyond(want, all, " has", err);
    if (result == 0)
        result = beyond(want, allowed, "'s cgroup and inherited mask allow", err);
    idset_free(all);
    idset_free(allowed);
    idset_free(want);
    return result;
}

bool hello_topology_is(const struct topo *topo, const char *digest)
{
    char *own = topo_digest(topo);
    bool same = digest && strcmp(own, digest) == 0;
    free(own);
    return same;
}

bool hello_is_as_known(const struct hello *hello)
{
    return !hello->refusal && hello->is_known && !hello->gpus && !hello->gpus_refusal;
}

json_t *hello_to_json(const struct hello *hello)
{
    json_t *value = json_pack("{s:s}", "version", PACKAGE_VERSION);
    if (hello->refusal) {
        json_object_set_new(value, "error", frame_text(hello->refusal));
        return value;
    }
    json_object_set_new(value, "machine", frame_text(hello->machine));
    if (!hello->is_known)
        json_object_set_new(value, "topology", topo_to_json(hello->topo));
    if (hello->gpus) {
        char *gpus = idset_encode(hello->gpus);
        json_object_set_new(value, "gpus", json_string(gpus));
        free(gpus);
    }
    if (hello->gpus_refusal)
        json_object_set_new(value, "no-gpus", frame_text(hello->gpus_refusal));
    return value;
}

int hello_from_json(struct hello_answer *answer, const json_t *value, struct error *err)
{
    const char *version = json_string_value(json_object_get(value, "version"));
    const char *refusal = json_string_value(json_object_get(value, "error"));
    const char *gpus = json_string_value(json_object_get(value, "gpus"));
    const json_t *topology = json_object_get(value, "topology");
    *answer =
        (struct hello_answer){.machine = json_string_value(json_object_get(value, "machine")),
                              .gpus_refusal = json_string_value(json_object_get(value, "no-gpus"))};
    if (!version || strcmp(version, PACKAGE_VERSION) != 0)
        return error_set(err,
                         "its tpagent is version %s, this tprun is %s: install the same on both",
                         version ? version : "(unknown)", PACKAGE_VERSION);
    if (refusal)
        return error_set(err, "%s", refusal);
    if (topology && !(answer->topo = topo_from_json(topology, err)))
        return -1;
    if (gpus && !(answer->gpus = idset_decode(gpus, err))) {
        topo_free(answer->topo);
        answer->topo = NULL;
        return error_prefix(err, "GPUs that its agent may give out");
    }
    return 0;
}
