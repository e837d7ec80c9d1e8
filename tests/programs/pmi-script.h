/* The cases of tests/data/pmi-wire.txt: how they are read, written out, and compared. */
#ifndef TESTS_PROGRAMS_PMI_SCRIPT_H
#define TESTS_PROGRAMS_PMI_SCRIPT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT_TEXT 70000
#define SCRIPT_STEPS 32

struct script_step {
    char kind;  /* '>' or '<' */
    size_t pad; /* bytes of the whole request, or 0 */
    char *text;
};

struct script {
    char name[64];
    bool frames; /* PMI-2 */
    bool later;  /* PMI 1.2 */
    bool others;
    struct script_step steps[SCRIPT_STEPS];
    int count;
};

struct script_self { /* who speaks */
    int rank, size;
    char space[300];
};

static inline void script_free(struct script *script)
{
    for (int i = 0; i < script->count; i++)
        free(script->steps[i].text);
    script->count = 0;
}

static inline void script_add(struct script *script, char kind, size_t pad, const char *text)
{
    if (script->count < SCRIPT_STEPS)
        script->steps[script->count++] =
            (struct script_step){.kind = kind, .pad = pad, .text = strdup(text)};
}

/* The next case; false at the end. *ahead is its "case" line, and then the one behind it. */
static inline bool script_read(FILE *file, char ahead[256], struct script *script)
{
    char line[1024], dialect[8] = "", others[16] = "";
    int used;
    size_t pad;
    script_free(script);
    while (strncmp(ahead, "case ", 5) != 0)
        if (!fgets(ahead, 256, file))
            return false;
    sscanf(ahead, "case %63s %7s %15s", script->name, dialect, others);
    script->frames = dialect[0] == '2';
    script->later = !strcmp(dialect, "1.2");
    script->others = *others;
    *ahead = '\0';
    while (fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "case ", 5)) {
            snprintf(ahead, 256, "%.255s", line);
            break;
        }
        if (line[0] == '>' || line[0] == '<')
            script_add(script, line[0], 0, line + 2);
        else if (sscanf(line, "pad %zu %n", &pad, &used) == 1)
            script_add(script, '>', pad, line + used);
    }
    return true;
}

/* %r, %n, %p, %s and %k. */
static inline void script_expand(const struct script_self *self, const char *text, char *to)
{
    for (; *text; text++) {
        if (*text != '%') {
            *to++ = *text;
            continue;
        }
        text++;
        int rank = self->rank + (*text == 'n') + (*text == 'p') * (self->size - 1);
        to += *text == 'k'   ? sprintf(to, "%s", self->space)
              : *text == 's' ? sprintf(to, "%d", self->size)
                             : sprintf(to, "%d", rank % self->size);
    }
    *to = '\0';
}

/* A request as it goes over the wire; its length. */
static inline size_t script_request(const struct script *script, const struct script_step *step,
                                    const struct script_self *self, char *to)
{
    char *text = malloc(SCRIPT_TEXT);
    script_expand(self, step->text, text);
    size_t len = strlen(text), end = script->frames ? 6 : 1;
    if (step->pad > len + end) {
        const char *junk = script->frames ? "junk=" : " junk=";
        strcpy(text + len, junk);
        len += strlen(junk);
        memset(text + len, 'j', step->pad - end - len);
        len = step->pad - end;
        if (script->frames)
            text[len - 1] = ';';
        text[len] = '\0';
    }
    len = (size_t)(script->frames ? sprintf(to, "%-6zu%s", len, text) : sprintf(to, "%s\n", text));
    free(text);
    return len;
}

/* The value of a field, as far as `end`; NULL when there is none. */
static inline const char *field_value(const char *text, const char *field, size_t name_len,
                                      bool frames, size_t *len)
{
    char separator = frames ? ';' : ' ';
    for (const char *at = text; at; at = strchr(at, separator)) {
        at += *at == separator;
        if (strncmp(at, field, name_len) != 0 || at[name_len] != '=')
            continue;
        at += name_len + 1;
        bool tail = !frames && (!strncmp(field, "value=", 6) || !strncmp(field, "size=", 5));
        *len = tail ? strlen(at) : strcspn(at, frames ? ";" : " ");
        return at;
    }
    return NULL;
}

/* A field of the expected reply is in the other. */
static inline bool field_matches(const char *field, size_t name_len, const char *expected,
                                 const char *got, bool frames, bool loose)
{
    size_t want_len = 0, got_len = 0;
    const char *want = field_value(expected, field, name_len, frames, &want_len);
    const char *value = field_value(got, field, name_len, frames, &got_len);
    bool rc = name_len == 2 && !strncmp(field, "rc", 2);
    if (loose && rc)
        return (strtol(want, NULL, 10) == 0) == (!value || strtol(value, NULL, 10) == 0);
    if (loose && (!strncmp(field, "msg=", 4) || !strncmp(field, "errmsg=", 7) ||
                  !strncmp(field, "info=", 5) || !strncmp(field, "value=unknown", 13)))
        return true;
    if (!value)
        return false;
    if (loose && got_len > 11 && !strncmp(value + got_len - 11, " found=TRUE", 11))
        got_len -= 11; /* hydra's of MPICH 4.2 */
    if (want_len == 1 && *want == '*')
        return true;
    return want_len == got_len && !strncmp(want, value, want_len);
}

/* Whether a reply, without its frame, is what was expected. With `loose` as of another launcher. */
static inline bool script_matches(const struct script *script, const char *expected,
                                  const char *got, bool loose)
{
    char separator = script->frames ? ';' : ' ';
    if (!loose && !strchr(expected, '*'))
        return strcmp(expected, got) == 0;
    for (const char *at = expected; at && *at; at = strchr(at, separator)) {
        at += *at == separator;
        size_t len = strcspn(at, "=;");
        if (at[len] == '=' && !field_matches(at, len, expected, got, script->frames, loose))
            return false;
        if (!script->frames && !strncmp(at, "value=", 6))
            break;
    }
    return true;
}

#endif
