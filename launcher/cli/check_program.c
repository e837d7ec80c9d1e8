/* What --check says of each part's program: a finding, written as text or as JSON. */
#include "launcher/cli/check_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/string_list.h"
#include "launcher/linkage/mpi_abi.h"
#include "launcher/linkage/mpi_library.h"
#include "launcher/linkage/part_linkage.h"
#include "launcher/linkage/pmi_choice.h"
#include "launcher/spec/field.h"
#include "launcher/spec/field_words.h"

#define MAX_SHOWN 12 /* missing files that the text names: it is a screen */

/* What was found out of one program. */
struct finding {
    const char *program;
    struct shared_libraries *linkage; /* NULL: it cannot be run, for the reason in err */
    struct error err;
    struct mpi_library use;
    unsigned offered;          /* set of enum spec_pmi */
    bool served;               /* its PMI, or there is none to serve */
    struct buf pmi;            /* what becomes of it */
    const struct library *abi; /* libmpi_abi.so.1; NULL: it does not need that */
    char *chosen;              /* by --mpi for what it starts; NULL: nothing was, or it is linked */
    struct mpi_abi_list abis;  /* what else there is for it */
};

/* NULL: none, or it is missing. */
static const char *used_abi(const struct finding *finding)
{
    return finding->abi ? finding->abi->path : finding->chosen;
}

/* What --mpi may choose from. */
static void find_abis(struct finding *finding, const struct spec *spec,
                      const struct spec_part *part)
{
    for (size_t i = 0; i < finding->linkage->count && !finding->abi; i++)
        if (library_is_mpi_abi(finding->linkage->libraries[i].name))
            finding->abi = &finding->linkage->libraries[i];
    if (!finding->abi && !spec->mpi)
        return;
    char **environment = spec_part_environment(spec, part);
    finding->chosen = finding->abi ? NULL : mpi_abi_find(spec->mpi, environment, NULL);
    mpi_abi_list_read(&finding->abis, environment);
    const char *used = used_abi(finding);
    if (used)
        mpi_abi_list_add(&finding->abis, used);
    string_list_free(environment);
}

static void finding_open(struct finding *finding, const struct spec *spec,
                         const struct spec_part *part)
{
    *finding = (struct finding){.program = part->argv[0], .err = ERROR_INIT, .served = true};
    finding->linkage = part_linkage_read(spec, part, NULL, &finding->err);
    if (!finding->linkage)
        return;
    find_abis(finding, spec, part);
    finding->use = mpi_library_of(finding->linkage);
    finding->offered = pmi_choice_of(spec->pmi, spec_pmi_served & SPEC_PMI_X, finding->linkage);
    if (finding->use.how) {
        finding->served =
            mpi_library_say(&finding->use, finding->offered, spec_pmi_served, &finding->pmi);
        return;
    }
    /* It is not known what the program needs. */
    buf_add_text(&finding->pmi, finding->offered ? "tasks are offered " : "tasks are offered none");
    bool first = true;
    for (const struct spec_word *word = spec_pmi_words; word->word; word++) {
        if (!(finding->offered & word->value))
            continue;
        buf_printf(&finding->pmi, "%s%s", first ? "" : ", ", word->word);
        first = false;
    }
}

static void finding_close(struct finding *finding)
{
    shared_libraries_free(finding->linkage);
    mpi_abi_list_clear(&finding->abis);
    free(finding->chosen);
    error_clear(&finding->err);
    buf_free(&finding->pmi);
}

static bool finding_runs(const struct finding *finding)
{
    const struct shared_libraries *linkage = finding->linkage;
    return linkage && !linkage->foreign && !shared_libraries_missing(linkage) && finding->served;
}

/* ---- text ---- */

static void say_library(struct buf *out, const struct library *library)
{
    if (!library)
        return;
    const char *slash = library->path ? strrchr(library->path, '/') : NULL;
    if (slash)
        buf_printf(out, ": %s in %.*s", library->name, (int)(slash - library->path), library->path);
    else
        buf_printf(out, ": %s, which is missing", library->name);
}

/* The link libmpi_abi.so.1 says nothing of what it leads to. */
static void say_file(struct buf *out, const struct library *library)
{
    char *real = library->path ? realpath(library->path, NULL) : NULL;
    const char *name = real ? strrchr(real, '/') + 1 : library->name;
    if (strcmp(name, library->name) != 0)
        buf_printf(out, " (%s)", name);
    free(real);
}

static bool check_program_is_used(const struct finding *finding, const struct mpi_abi *abi)
{
    const char *path = used_abi(finding);
    return path && mpi_abi_is_same(path, abi->path);
}

static void say_abis(struct buf *out, const struct finding *finding)
{
    for (size_t i = 0; i < finding->abis.count; i++) {
        const struct mpi_abi *abi = &finding->abis.list[i];
        buf_printf(out, "  --mpi    %s%s%s%s%s%s\n", abi->word ?: "", abi->word ? ": " : "",
                   abi->path, abi->word ? "" : ": ", abi->word ? "" : abi->mpi,
                   !check_program_is_used(finding, abi) ? ""
                   : finding->abi                       ? ", which is used"
                                                        : ", which programs use that it starts");
    }
}

static void say_mpi(struct buf *out, const struct finding *finding)
{
    const struct shared_libraries *linkage = finding->linkage;
    buf_add_text(out, "  MPI      ");
    if (linkage->kind == SHARED_LIBRARIES_SCRIPT)
        buf_printf(out, "not known: this is a script for %s, which may start anything",
                   linkage->loader);
    else if (linkage->kind == SHARED_LIBRARIES_STATIC)
        buf_add_text(out, "not known: this is linked statically, and has no libraries to tell by");
    else
        buf_add_text(out, finding->use.mpi ? finding->use.mpi : "none that is known");
    say_library(out, finding->use.mpi_library);
    if (finding->abi && finding->abi == finding->use.mpi_library)
        say_file(out, finding->abi);
    buf_add_text(out, "\n  PMI      ");
    if (linkage->kind != SHARED_LIBRARIES_DYNAMIC)
        buf_add_text(out, "not known");
    else if (linkage->closed)
        buf_add_text(out, "none: it can neither open libraries nor start programs");
    else
        buf_add_text(out, finding->use.how ? finding->use.how : "none that is known");
    say_library(out, finding->use.pmi_library);
    buf_printf(out, "; %s\n", buf_text(&finding->pmi));
}

static void say_missing(struct buf *out, const struct shared_libraries *linkage)
{
    size_t shown = 0, missing = shared_libraries_missing(linkage);
    if (linkage->foreign)
        buf_add_text(out, "  missing  a machine to run it: it is for another kind than this one\n");
    if (linkage->loader_absent)
        buf_printf(out, "  missing  %s, which starts it\n", linkage->loader);
    for (size_t i = 0; i < linkage->count && shown < MAX_SHOWN; i++) {
        const struct library *library = &linkage->libraries[i];
        if (!library_missing(library))
            continue;
        buf_printf(out, "  missing  %s", library->name);
        if (library->fault)
            buf_printf(out, " (%s: %s)", library->path, library->fault);
        if (library->by < linkage->count)
            buf_printf(out, ", which %s needs", linkage->libraries[library->by].name);
        buf_add_char(out, '\n');
        shown++;
    }
    shown += linkage->loader_absent;
    if (missing > shown)
        buf_printf(out, "  missing  %zu more\n", missing - shown);
    if (!missing && !linkage->foreign && linkage->kind == SHARED_LIBRARIES_DYNAMIC)
        buf_printf(out, "  missing  nothing: all %zu%s libraries are here\n", linkage->count,
                   linkage->cut ? " or more" : "");
}

static void say_finding(struct buf *out, const struct finding *finding)
{
    if (!finding->linkage) {
        buf_printf(out, "%s\n", error_text(&finding->err));
        return;
    }
    buf_printf(out, "%s\n", finding->linkage->path);
    say_mpi(out, finding);
    say_abis(out, finding);
    say_missing(out, finding->linkage);
    if (!finding->served && finding->use.mpi && !(finding->use.speaks & spec_pmi_served))
        buf_add_text(out, "  so       each task would run by itself, as rank 0 of 1\n");
}

/* ---- JSON ---- */

static json_t *check_program_text_or_null(const char *text)
{
    return text ? text_to_json(text) : json_null();
}

static json_t *library_name_json(const struct library *library)
{
    return check_program_text_or_null(library ? library->name : NULL);
}

static json_t *abis_json(const struct finding *finding)
{
    json_t *list = json_array();
    for (size_t i = 0; i < finding->abis.count; i++) {
        const struct mpi_abi *abi = &finding->abis.list[i];
        json_array_append_new(list, json_pack("{s:o, s:s, s:o, s:b}", "word",
                                              check_program_text_or_null(abi->word), "name",
                                              abi->mpi, "path", text_to_json(abi->path), "used",
                                              check_program_is_used(finding, abi)));
    }
    return list;
}

static json_t *dialects_json(unsigned set)
{
    json_t *list = json_array();
    for (const struct spec_word *word = spec_pmi_words; word->word; word++)
        if (set & word->value)
            json_array_append_new(list, json_string(word->word));
    return list;
}

static json_t *pmi_json(const struct finding *finding)
{
    if (!finding->use.how)
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:b, s:s}", "name", finding->use.how, "speaks",
                     dialects_json(finding->use.speaks), "library",
                     library_name_json(finding->use.pmi_library), "served", finding->served, "text",
                     buf_text(&finding->pmi));
}

static json_t *libraries_json(const struct shared_libraries *linkage)
{
    json_t *list = json_array();
    for (size_t i = 0; i < linkage->count; i++) {
        const struct library *library = &linkage->libraries[i];
        const char *by = library->by < linkage->count ? linkage->libraries[library->by].name : NULL;
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:b, s:o}", "name", text_to_json(library->name),
                            "path", check_program_text_or_null(library->path), "needed_by",
                            check_program_text_or_null(by), "missing", library_missing(library),
                            "fault", check_program_text_or_null(library->fault)));
    }
    return list;
}

static json_t *finding_json(const struct finding *finding)
{
    static const char *const kinds[] = {[SHARED_LIBRARIES_DYNAMIC] = "dynamic",
                                        [SHARED_LIBRARIES_STATIC] = "static",
                                        [SHARED_LIBRARIES_SCRIPT] = "script"};
    const struct shared_libraries *linkage = finding->linkage;
    const struct mpi_library *use = &finding->use;
    json_t *value = json_pack("{s:o, s:b}", "program", text_to_json(finding->program), "runs",
                              finding_runs(finding));
    if (!linkage) {
        json_object_set_new(value, "error", text_to_json(error_text(&finding->err)));
        return value;
    }
    json_t *mpi = use->mpi ? json_pack("{s:s, s:o}", "name", use->mpi, "library",
                                       library_name_json(use->mpi_library))
                           : json_null();
    json_t *more = json_pack(
        "{s:o, s:s, s:o, s:b, s:b, s:o, s:o, s:o, s:b}", "path", text_to_json(linkage->path),
        "kind", kinds[linkage->kind], "loader", check_program_text_or_null(linkage->loader),
        "loader_missing", linkage->loader_absent, "foreign", linkage->foreign, "mpi", mpi, "pmi",
        pmi_json(finding), "libraries", libraries_json(linkage), "cut", linkage->cut);
    json_object_set_new(more, "closed", json_boolean(linkage->closed));
    json_object_set_new(more, "offered", dialects_json(finding->offered));
    if (finding->abi || finding->chosen)
        json_object_set_new(more, "mpi_abi", abis_json(finding));
    json_object_update(value, more);
    json_decref(more);
    return value;
}

bool check_programs(const struct spec *spec, struct buf *out)
{
    json_t *programs = json_array();
    bool runs = true;
    for (size_t i = 0; i < spec->nparts; i++) {
        struct finding finding;
        finding_open(&finding, spec, &spec->parts[i]);
        runs &= finding_runs(&finding);
        if (spec->format == SPEC_SHOW_JSON)
            json_array_append_new(programs, finding_json(&finding));
        else
            say_finding(out, &finding);
        finding_close(&finding);
    }
    if (spec->format == SPEC_SHOW_JSON) {
        json_t *value =
            json_pack("{s:i, s:b, s:O}", "version", 1, "runs", runs, "programs", programs);
        char *text = json_dumps(value, JSON_INDENT(1));
        buf_printf(out, "%s\n", text ? text : "{}");
        free(text);
        json_decref(value);
    }
    json_decref(programs);
    return runs;
}
