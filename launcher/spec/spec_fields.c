/* The parameters of a spec and of its parts, a row each: JSON key, type, member, check. The JSON form, what an
 * option's text means and what is freed all follow from the row. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/text.h"
#include "launcher/process/terminal_modes.h"
#include "launcher/spec/field.h"
#include "launcher/spec/field_words.h"
#include "launcher/spec/spec.h"
#include "launcher/spec/spec_build.h"
#include "launcher/spec/spec_check.h"
#include "launcher/spec/spec_file.h"

#define SPEC_VERSION 1

static int check_variable(const char *text, struct error *err)
{
    const char *equals = strchr(text, '=');
    return equals && equals != text ? 0 : error_set(err, "\"%s\" is not NAME=VALUE", text);
}

static json_t *get_topologies(const void *base, const struct field *field)
{
    const struct spec *spec = base;
    (void)field;
    json_t *list = spec->ntopologies ? json_array() : NULL;
    for (size_t i = 0; i < spec->ntopologies; i++)
        json_array_append_new(list, text_to_json(spec->topologies[i]));
    return list;
}

static int set_topologies(void *base, const struct field *field, const json_t *value,
                          struct error *err)
{
    struct field list = {.check = spec_topology_check};
    char **texts = NULL;
    (void)field;
    if (field_list.set(&texts, &list, value, err) < 0)
        return -1;
    for (char **text = texts; *text; text++)
        spec_add_topology(base, *text);
    string_list_free(texts);
    return 0;
}

static void clear_topologies(void *base, const struct field *field)
{
    struct spec *spec = base;
    (void)field;
    for (size_t i = 0; i < spec->ntopologies; i++)
        free(spec->topologies[i]);
    free(spec->topologies);
    spec->topologies = NULL;
    spec->ntopologies = 0;
}

static const struct field_type topologies_type = {get_topologies, set_topologies, NULL,
                                                  clear_topologies};

/* --- environment rules and limits ---------------------------------------------------------- */

static json_t *get_env(const void *base, const struct field *field)
{
    const struct spec_part *part = base;
    (void)field;
    json_t *list = part->nenv ? json_array() : NULL;
    for (size_t i = 0; i < part->nenv; i++) {
        const struct env *rule = &part->env[i];
        json_t *entry = json_object();
        json_object_set_new(entry, rule->kind == ENV_SET ? "set" : "remove",
                            text_to_json(rule->name));
        if (rule->kind == ENV_SET)
            json_object_set_new(entry, "value", text_to_json(rule->value));
        json_array_append_new(list, entry);
    }
    return list;
}

static int set_env_rule(struct spec_part *part, const json_t *entry, struct error *err)
{
    const json_t *set = json_object_get(entry, "set"), *remove = json_object_get(entry, "remove");
    const json_t *value = json_object_get(entry, "value");
    if (!set == !remove || !set != !value || json_object_size(entry) != (set ? 2 : 1))
        return error_set(err, "each must be {\"set\": NAME, \"value\": TEXT} or "
                              "{\"remove\": GLOB}");
    char *name = text_from_json(set ? set : remove, err);
    char *text = name && value ? text_from_json(value, err) : NULL;
    int rc = name && (text || remove) ? 0 : -1;
    if (rc == 0 && (!name[0] || (set && strchr(name, '='))))
        rc = error_set(err, "\"%s\" is not the name of a variable", name);
    if (rc == 0)
        spec_add_env(part, set ? ENV_SET : ENV_REMOVE, name, strlen(name), text);
    free(name);
    free(text);
    return rc;
}

static int set_env(void *base, const struct field *field, const json_t *value, struct error *err)
{
    size_t i;
    json_t *entry;
    (void)field;
    if (!json_is_array(value))
        return field_wants("an array", value, err);
    json_array_foreach(value, i, entry)
    {
        if (set_env_rule(base, entry, err) < 0)
            return -1;
    }
    return 0;
}

static void clear_env(void *base, const struct field *field)
{
    struct spec_part *part = base;
    (void)field;
    for (size_t i = 0; i < part->nenv; i++) {
        free(part->env[i].name);
        free(part->env[i].value);
    }
    free(part->env);
    part->env = NULL;
    part->nenv = 0;
}

static const struct field_type env_type = {get_env, set_env, NULL, clear_env};

static void limit_to_json(json_t *limits, int resource, uint64_t soft)
{
    const char *name = spec_word_name(spec_rlimit_words, (unsigned)resource);
    if (!name)
        return;
    if (soft == RLIM_INFINITY || soft > INT64_MAX)
        json_object_set_new(limits, name, json_string("unlimited"));
    else
        json_object_set_new(limits, name, json_integer((json_int_t)soft));
}

static int limit_from_json(const char *name, const json_t *value, int *resource, uint64_t *soft,
                           struct error *err)
{
    unsigned number;
    if (!spec_word_find(spec_rlimit_words, name, strlen(name), &number)) {
        char *list = spec_words_list(spec_rlimit_words);
        error_set(err, "unknown limit \"%s\" (expected %s)", name, list);
        free(list);
        return -1;
    }
    *resource = (int)number;
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        *soft = (uint64_t)json_integer_value(value);
    else if (json_is_string(value) && strcmp(json_string_value(value), "unlimited") == 0)
        *soft = RLIM_INFINITY;
    else
        return error_set(err, "%s must be a number from 0 on or \"unlimited\"", name);
    return 0;
}

static json_t *get_part_rlimits(const void *base, const struct field *field)
{
    const struct spec_part *part = base;
    (void)field;
    json_t *limits = part->nrlimits ? json_object() : NULL;
    for (size_t i = 0; i < part->nrlimits; i++)
        limit_to_json(limits, part->rlimits[i].resource, part->rlimits[i].soft);
    return limits;
}

static int set_part_rlimits(void *base, const struct field *field, const json_t *value,
                            struct error *err)
{
    const char *name;
    json_t *limit;
    int resource = 0;
    uint64_t soft = 0;
    (void)field;
    if (!json_is_object(value))
        return field_wants("an object", value, err);
    json_object_foreach((json_t *)value, name, limit)
    {
        if (limit_from_json(name, limit, &resource, &soft, err) < 0)
            return -1;
        spec_add_rlimit(base, resource, soft);
    }
    return 0;
}

static void clear_part_rlimits(void *base, const struct field *field)
{
    struct spec_part *part = base;
    (void)field;
    free(part->rlimits);
    part->rlimits = NULL;
    part->nrlimits = 0;
}

static const struct field_type part_rlimits_type = {get_part_rlimits, set_part_rlimits, NULL,
                                                    clear_part_rlimits};

static json_t *get_rlimits(const void *base, const struct field *field)
{
    const struct spec *spec = base;
    json_t *limits = json_object();
    (void)field;
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (spec_has_rlimit(spec, i))
            limit_to_json(limits, i, spec->rlimits[i].rlim_cur);
    if (json_object_size(limits))
        return limits;
    json_decref(limits);
    return NULL;
}

static int set_rlimits(void *base, const struct field *field, const json_t *value,
                       struct error *err)
{
    struct spec *spec = base;
    const char *name;
    json_t *limit;
    int resource;
    uint64_t soft;
    (void)field;
    if (!json_is_object(value))
        return field_wants("an object", value, err);
    json_object_foreach((json_t *)value, name, limit)
    {
        if (limit_from_json(name, limit, &resource, &soft, err) < 0)
            return -1;
        spec->rlimits[resource] = (struct rlimit){.rlim_cur = soft, .rlim_max = RLIM_INFINITY};
    }
    return 0;
}

static const struct field_type rlimits_type = {get_rlimits, set_rlimits, NULL, NULL};

/* --- the tables --------------------------------------------------------------------------- */

#define PART(member) offsetof(struct spec_part, member)

static const struct field part_fields[] = {
    {"argv", &field_list, PART(argv)},
    {"ntasks", &field_number, PART(ntasks)},
    {"fill", &field_flag, PART(fill)},
    {"cores_per_task", &field_number, PART(cores_per_task)},
    {"gpus_per_task", &field_number, PART(gpus_per_task)},
    {"map", &field_text, PART(map)},
    {"bind", &field_text, PART(bind)},
    {"order", &field_text, PART(order)},
    {"mppr", &field_text, PART(mppr)},
    {"per", &field_text, PART(per)},
    {"gpu_bind", &field_text, PART(gpu_bind)},
    {"taskmap", &field_text, PART(taskmap)},
    {"shape", &field_text, PART(shape), .check = spec_shape_check},
    {"rankfile", &field_text, PART(rankfile)},
    {"rankfile_name", &field_text, PART(rankfile_name)},
    {"oversubscribe", &field_flag, PART(oversubscribe)},
    {"mem_bind", &field_word, PART(memory), spec_memory_words, .silent_zero = true},
    {"no_omp", &field_flag, PART(no_omp)},
    {"pset", &field_text, PART(pset), .check = spec_pset_check},
    {"chdir", &field_text, PART(chdir)},
    {"umask", &field_umask, PART(umask)},
    {"env", &env_type},
    {"rlimits", &part_rlimits_type},
    {NULL},
};

static json_t *get_parts(const void *base, const struct field *field)
{
    const struct spec *spec = base;
    json_t *list = json_array();
    (void)field;
    for (size_t i = 0; i < spec->nparts; i++)
        json_array_append_new(list, fields_to_json(&spec->parts[i], part_fields));
    return list;
}

static int set_parts(void *base, const struct field *field, const json_t *value, struct error *err)
{
    size_t i;
    json_t *entry;
    (void)field;
    if (!json_is_array(value) || !json_array_size(value))
        return error_set(err, "must be an array of at least one part");
    json_array_foreach(value, i, entry)
    {
        struct spec_part *part = spec_add_part(base);
        if (fields_from_json(part, part_fields, entry, "", err) < 0)
            return error_prefix(err, "part %zu", i);
        if (!part->argv)
            part->argv = mem_array(1, sizeof(char *));
    }
    return 0;
}

static void clear_parts(void *base, const struct field *field)
{
    struct spec *spec = base;
    (void)field;
    for (size_t i = 0; i < spec->nparts; i++)
        fields_clear(&spec->parts[i], part_fields);
    free(spec->parts);
    spec->parts = NULL;
    spec->nparts = 0;
}

static const struct field_type parts_type = {get_parts, set_parts, NULL, clear_parts};

static int set_pmi(void *base, const struct field *field, const json_t *value, struct error *err)
{
    const struct spec *spec = base;
    return field_word_set.set(base, field, value, err) < 0 ? -1 : spec_pmi_check(spec->pmi, err);
}

static json_t *get_pmi(const void *base, const struct field *field)
{
    return field_word_set.get(base, field);
}

static const struct field_type pmi_type = {get_pmi, set_pmi, NULL, NULL};

static json_t *get_signal(const void *base, const struct field *field)
{
    const struct spec *spec = base;
    (void)field;
    if (!spec->warn_signal)
        return NULL;
    char *text = spec_signal_encode(spec->warn_signal, spec->warn_before);
    json_t *value = json_string(text);
    free(text);
    return value;
}

static int set_signal(void *base, const struct field *field, const json_t *value, struct error *err)
{
    struct spec *spec = base;
    (void)field;
    if (!json_is_string(value))
        return field_wants("a signal and a duration such as \"USR1@60s\"", value, err);
    return spec_signal_decode(json_string_value(value), &spec->warn_signal, &spec->warn_before,
                              err);
}

static const struct field_type signal_type = {get_signal, set_signal, NULL, NULL};

/* The default is not written. */
static json_t *get_save_limit(const void *base, const struct field *field)
{
    const struct spec *spec = base;
    (void)field;
    if (spec->save_limit == SPEC_SAVE_LIMIT)
        return NULL;
    return spec->save_limit > INT64_MAX ? json_string("unlimited")
                                        : json_integer((json_int_t)spec->save_limit);
}

static int set_save_limit(void *base, const struct field *field, const json_t *value,
                          struct error *err)
{
    struct spec *spec = base;
    (void)field;
    if (json_is_integer(value) && json_integer_value(value) > 0)
        spec->save_limit = (uint64_t)json_integer_value(value);
    else if (json_is_string(value) && strcmp(json_string_value(value), "unlimited") == 0)
        spec->save_limit = RLIM_INFINITY;
    else
        return error_set(err, "must be a number of bytes from 1 on or \"unlimited\"");
    return 0;
}

static int read_save_limit(void *base, const struct field *field, const char *text,
                           struct error *err)
{
    struct spec *spec = base;
    uint64_t limit;
    (void)field;
    if (spec_limit_decode(text, &limit, err) < 0)
        return -1;
    if (!limit)
        return error_set(err, "0 saves nothing: must be at least 1M");
    spec->save_limit = limit;
    return 0;
}

static const struct field_type save_limit_type = {get_save_limit, set_save_limit, read_save_limit,
                                                  NULL};

/* Likewise. */
static json_t *get_hook_timeout(const void *base, const struct field *field)
{
    const struct spec *spec = base;
    return spec->hook_timeout == SPEC_HOOK_TIMEOUT ? NULL : field_duration.get(base, field);
}

static int set_hook_timeout(void *base, const struct field *field, const json_t *value,
                            struct error *err)
{
    return field_duration.set(base, field, value, err);
}

static const struct field_type hook_timeout_type = {get_hook_timeout, set_hook_timeout, NULL, NULL};

/* A time that ends. 0 is not written. */
static int read_keep_agents(void *base, const struct field *field, const char *text,
                            struct error *err)
{
    struct spec *spec = base;
    double seconds;
    (void)field;
    if (duration_decode(text, &seconds, err) < 0)
        return -1;
    if (isinf(seconds))
        return error_set(err, "%s: agents are kept for a time that ends, such as 5m",
                         excerpt(text, strlen(text)).text);
    spec->keep_agents = seconds;
    return 0;
}

static int set_keep_agents(void *base, const struct field *field, const json_t *value,
                           struct error *err)
{
    if (!json_is_string(value))
        return field_wants("a duration such as \"5m\"", value, err);
    return read_keep_agents(base, field, json_string_value(value), err);
}

static json_t *get_keep_agents(const void *base, const struct field *field)
{
    return ((const struct spec *)base)->keep_agents > 0 ? field_duration.get(base, field) : NULL;
}

static const struct field_type keep_agents_type = {get_keep_agents, set_keep_agents,
                                                   read_keep_agents, NULL};

/* They are written with the program's context alone. */
static json_t *get_origins(const void *base, const struct field *field)
{
    (void)base, (void)field;
    return NULL;
}

static int set_origins(void *base, const struct field *field, const json_t *value,
                       struct error *err)
{
    struct spec *spec = base;
    size_t i;
    json_t *entry;
    (void)field;
    if (!json_is_array(value))
        return field_wants("an array", value, err);
    json_array_foreach(value, i, entry)
    {
        if (!json_is_string(json_object_get(entry, "option")))
            return error_set(err, "each must be an object with an \"option\"");
        spec_add_origin(spec, json_incref(entry));
    }
    return 0;
}

static void clear_origins(void *base, const struct field *field)
{
    struct spec *spec = base;
    (void)field;
    json_decref(spec->origins);
    spec->origins = NULL;
}

static const struct field_type origins_type = {get_origins, set_origins, NULL, clear_origins};

#define SPEC(member) offsetof(struct spec, member)

static const struct field spec_fields[] = {
    {"parts", &parts_type},
    {"nnodes", &field_number, SPEC(nnodes)},
    {"resources", &field_text, SPEC(resources)},
    {"hosts", &field_text, SPEC(hosts), .check = spec_hosts_check},
    {"hostfile", &field_text, SPEC(hostfile)},
    {"exclude", &field_text, SPEC(exclude), .check = spec_hosts_check},
    {"requires", &field_text, SPEC(requires), .check = spec_requires_check},
    {"overlap", &field_flag, SPEC(overlap)},
    {"on", &field_text, SPEC(on)},
    {"after", &field_list, SPEC(after), .check = spec_after_check},
    {"wait", &field_duration, SPEC(wait)},
    {"dry_run", &field_flag, SPEC(dry_run)},
    {"display", &field_word_set, SPEC(display), spec_display_words},
    {"draw", &field_text, SPEC(draw)},
    {"format", &field_word, SPEC(format), spec_format_words},
    {"topologies", &topologies_type},
    {"label", &field_flag, SPEC(label)},
    {"timestamp", &field_flag, SPEC(timestamp)},
    {"unbuffered", &field_flag, SPEC(unbuffered)},
    {"merge", &field_flag, SPEC(merge)},
    {"tee", &field_flag, SPEC(tee)},
    {"make_dirs", &field_flag, SPEC(make_dirs)},
    {"output", &field_text, SPEC(output)},
    {"error", &field_text, SPEC(error)},
    {"output_idle", &field_duration, SPEC(output_idle)},
    {"error_idle", &field_duration, SPEC(error_idle)},
    {"pty", &field_flag, SPEC(pty)},
    {"terminal", &field_text, SPEC(terminal), .check = terminal_modes_check},
    {"input", &field_word, SPEC(input), spec_input_words},
    {"input_arg", &field_text, SPEC(input_arg)},
    {"input_stays", &field_flag, SPEC(input_stays)},
    {"prolog", &field_text, SPEC(prolog)},
    {"epilog", &field_text, SPEC(epilog)},
    {"hook_timeout", &hook_timeout_type, SPEC(hook_timeout)},
    {"stage", &field_list, SPEC(stage), .check = spec_stage_check},
    {"time_limit", &field_duration, SPEC(time_limit)},
    {"signal", &signal_type},
    {"kill_grace", &field_duration, SPEC(kill_grace)},
    {"stop_grace", &field_duration, SPEC(stop_grace)},
    {"start_timeout", &field_duration, SPEC(start_timeout)},
    {"node_timeout", &field_duration, SPEC(node_timeout)},
    {"on_failure", &field_word, SPEC(on_failure), spec_failure_words},
    {"report", &field_text, SPEC(report)},
    {"timing", &field_flag, SPEC(timing)},
    {"abort_may_succeed", &field_flag, SPEC(abort_may_succeed)},
    {"initial_program", &field_flag, SPEC(initial_program)},
    {"detach", &field_flag, SPEC(detach)},
    {"on_disconnect", &field_word, SPEC(on_disconnect), spec_disconnect_words, .silent_zero = true},
    {"save_limit", &save_limit_type, SPEC(save_limit)},
    {"pmi", &pmi_type, SPEC(pmi), spec_pmi_words},
    {"tools", &field_flag, SPEC(tools)},
    {"mpi", &field_text, SPEC(mpi), .check = spec_check_mpi},
    {"mpi_is_default", &field_flag, SPEC(mpi_is_default)},
    {"memory_kinds", &field_text, SPEC(memory_kinds), .check = spec_memory_kinds_check},
    {"bootstrap", &field_text, SPEC(bootstrap)},
    {"ssh", &field_text, SPEC(ssh)},
    {"fanout", &field_number, SPEC(fanout)},
    {"agent", &field_text, SPEC(agent)},
    {"keep_agents", &keep_agents_type, SPEC(keep_agents)},
    {"verbose", &field_number, SPEC(verbose), .max = INT_MAX},
    {"environment", &field_list, SPEC(environment), .check = check_variable},
    {"screen_machine", &field_text, SPEC(screen_machine)},
    {"directory", &field_text, SPEC(directory)},
    {"umask", &field_umask, SPEC(umask)},
    {"rlimits", &rlimits_type},
    {"origins", &origins_type},
    {NULL},
};

/* --- a whole spec ------------------------------------------------------------------------- */

static void spec_clear(struct spec *spec)
{
    fields_clear(spec, spec_fields);
    spec_files_clear(spec);
}

void spec_free(struct spec *spec)
{
    int saved = errno;
    if (spec)
        spec_clear(spec);
    free(spec);
    errno = saved;
}

void spec_replace(struct spec *spec, struct spec *with)
{
    struct spec old = *spec;
    *spec = *with;
    free(with);
    if (!spec->directory) {
        spec->directory = old.directory;
        old.directory = NULL;
    }
    if (!spec->environment) {
        spec->environment = old.environment;
        old.environment = NULL;
        free(spec->screen_machine);
        spec->screen_machine = old.screen_machine;
        old.screen_machine = NULL;
    }
    if (spec->umask < 0)
        spec->umask = old.umask;
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (!spec_has_rlimit(spec, i))
            spec->rlimits[i] = old.rlimits[i];
    spec_clear(&old);
}

int spec_read_member(struct spec *spec, struct spec_part *part, size_t offset, const char *text,
                     struct error *err)
{
    const struct field *field = part ? part_fields : spec_fields;
    while (field->key && !(field->offset == offset && field->type->read))
        field++;
    if (!field->key)
        return error_set(err, "this parameter is not read from text");
    return field->type->read(part ? (void *)part : spec, field, text, err);
}

json_t *spec_to_json(const struct spec *spec)
{
    json_t *object = json_pack("{s:i}", "version", SPEC_VERSION);
    json_t *fields = fields_to_json(spec, spec_fields);
    json_object_update(object, fields);
    json_decref(fields);
    return object;
}

/* Before any other key: in another version they may mean something else. */
static int check_version(const json_t *value, struct error *err)
{
    const json_t *version = json_object_get(value, "version");
    if (!json_is_object(value) ||
        (json_is_integer(version) && json_integer_value(version) == SPEC_VERSION))
        return 0;
    return error_set(err, "version: must be %d", SPEC_VERSION);
}

/* What no single key can know. */
static int spec_check(const struct spec *spec, const json_t *value, struct error *err)
{
    int named = !!spec->resources + !!spec->hosts + !!spec->hostfile;
    if (!spec->nparts)
        return error_set(err, "missing key parts: expected an array of at least one part");
    if (spec->initial_program && spec->nparts > 1)
        return error_set(err, "initial_program: parts must be one, which says what it runs on");
    for (size_t i = 0; i < spec->nparts && !spec->dry_run; i++)
        if (!spec->parts[i].argv[0] || !spec->parts[i].argv[0][0])
            return error_set(err, "parts: part %zu: argv must begin with a program", i);
    if (named > 1)
        return error_set(err, "resources, hosts, hostfile: only one of them may be given");
    if (spec->input == SPEC_INPUT_FILE && !json_object_get(value, "input_arg"))
        return error_set(err, "input_arg: must name the file of \"input\": \"file\"");
    if (spec->input == SPEC_INPUT_TOOLS && !spec->tools)
        return error_set(err, "input: \"tools\" needs \"tools\": true");
    if (spec->input == SPEC_INPUT_RANKS && spec_ranks_check(spec->input_arg, err) < 0)
        return error_prefix(err, "input_arg");
    if (spec_check_stage(spec, err) < 0)
        return error_prefix(err, "stage");
    return spec_check_pty(spec, err);
}

struct spec *spec_from_json(const json_t *value, struct error *err)
{
    struct spec *spec = spec_new();
    int rc = check_version(value, err);
    if (rc == 0)
        rc = fields_from_json(spec, spec_fields, value, "version", err);
    /* One time for both ends of a run where the second is not given, in whatever order the keys stand. */
    if (json_object_get(value, "kill_grace") && !json_object_get(value, "stop_grace"))
        spec->stop_grace = spec->kill_grace;
    if (rc == 0 && spec_check(spec, value, err) == 0)
        return spec;
    spec_free(spec);
    return NULL;
}
