/* Words, times and JSON as tpctl prints them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/tpctl/tpctl.h"

int tpctl_wants_json(const struct method_call *call, struct error *err)
{
    const char *format = method_value(call, TPCTL_FORMAT);
    if (!format || strcmp(format, "text") == 0)
        return 0;
    if (strcmp(format, "json") == 0)
        return 1;
    return error_usage(err, "--format: unknown format %s (expected text or json)",
                       excerpt(format, strlen(format)).text);
}

void tpctl_print_json(struct method_call *call, json_t *value)
{
    char *text = json_dumps(value, JSON_REAL_PRECISION(16));
    fprintf(call->out, "%s\n", text ? text : "null");
    free(text);
    json_decref(value);
}

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";
    return *word && !word[strspn(word, plain)];
}

char *tpctl_command_text(const json_t *command)
{
    struct buf text = BUF_INIT;
    size_t i;
    json_t *value;
    json_array_foreach(command, i, value)
    {
        const char *word = json_string_value(value);
        buf_add_text(&text, i ? " " : "");
        if (word && is_plain(word)) {
            buf_add_text(&text, word);
            continue;
        }
        buf_add_char(&text, '\'');
        for (const char *at = word ? word : ""; *at; at++)
            if (*at == '\'')
                buf_add_text(&text, "'\\''");
            else
                buf_add_char(&text, *at);
        buf_add_char(&text, '\'');
    }
    return buf_take_text(&text);
}

char *tpctl_duration_text(double seconds)
{
    long long whole = seconds > 0 ? llround(seconds) : 0;
    if (seconds < 99.95)
        return mem_format("%.1fs", seconds > 0 ? seconds : 0);
    if (whole < 3600)
        return mem_format("%lldm%02llds", whole / 60, whole % 60);
    if (whole < 86400)
        return mem_format("%lldh%02lldm", whole / 3600, whole / 60 % 60);
    return mem_format("%lldd%02lldh", whole / 86400, whole / 3600 % 24);
}

char *tpctl_time_text(double seconds)
{
    char text[32];
    time_t whole = (time_t)seconds;
    struct tm parts;
    if (!(seconds > 0) || !localtime_r(&whole, &parts) ||
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts) == 0)
        return mem_copy_text("-");
    return mem_copy_text(text);
}

char *tpctl_kept_text(const struct program_record *record)
{
    if (!record->agents || record->state == RECORD_COMPLETE)
        return NULL;
    char *time = tpctl_time_text(record->idle_until);
    char *text = record->idle_until > 0 ? mem_format("not in use, kept until %s", time)
                                        : mem_copy_text("in use");
    free(time);
    return text;
}
