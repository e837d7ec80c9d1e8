/* A command as one message. */
#include "launcher/protocol/remote_command_request.h"

#include <string.h>

#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/process/terminal_modes.h"
#include "launcher/protocol/instance_request.h"
#include "launcher/spec/field.h"

static const char *const stream_words[] = {"none", "bytes", "terminal"};

/* What decides how a command prints. */
static const char *const looks[] = {"TERM",        "NO_COLOR", "TZ",      "LANG",      "LC_ALL",
                                    "LC_MESSAGES", "LC_CTYPE", "LC_TIME", "LC_NUMERIC"};
enum { NLOOKS = sizeof(looks) / sizeof(looks[0]) };

json_t *remote_command_request_to_json(const struct remote_command_request *request)
{
    json_t *value = instance_request_new(), *words = json_array(), *streams = json_array();
    for (char **word = request->words; word && *word; word++)
        json_array_append_new(words, text_to_json(*word));
    for (int i = 0; i < 3; i++)
        json_array_append_new(streams, json_string(stream_words[request->streams[i]]));
    json_t *command =
        json_pack("{s:o, s:o, s:b, s:o}", "words", words, "streams", streams, "merged",
                  request->merged, "environment", instance_request_variables(looks, NLOOKS));
    if (request->terminal)
        json_object_set_new(command, "terminal", json_string(request->terminal));
    json_object_set_new(value, "command", command);
    return value;
}

static int take_words(struct remote_command_request *request, const json_t *words,
                      struct error *err)
{
    struct string_list list = {0};
    size_t i;
    json_t *value;
    if (!json_is_array(words) || json_array_size(words) > COMMAND_WORDS_MAX)
        return error_set(err, "words: expected an array of at most %d texts", COMMAND_WORDS_MAX);
    json_array_foreach(words, i, value)
    {
        char *word = text_from_json(value, err);
        if (!word) {
            string_list_clear(&list);
            return error_prefix(err, "words");
        }
        string_list_add(&list, word);
    }
    request->words = string_list_take(&list);
    return 0;
}

static int take_streams(struct remote_command_request *request, const json_t *streams,
                        struct error *err)
{
    for (size_t i = 0; i < 3; i++) {
        const char *word = json_string_value(json_array_get(streams, i));
        size_t at = 0;
        while (at < 3 && (!word || strcmp(stream_words[at], word) != 0))
            at++;
        if (at == 3)
            return error_set(err, "streams: expected three of none, bytes and terminal");
        if (at == COMMAND_STREAM_TERMINAL && !request->terminal)
            return error_set(err, "streams: there is no terminal");
        request->streams[i] = (enum command_stream)at;
    }
    return 0;
}

int remote_command_request_take(struct remote_command_request *request, const json_t *value,
                                struct error *err)
{
    *request = (struct remote_command_request){0};
    if (instance_request_take(value, err) < 0)
        return -1;
    const json_t *command = json_object_get(value, "command");
    const json_t *terminal = json_object_get(command, "terminal");
    const char *modes = json_string_value(terminal);
    int rc = json_is_object(command) && (!terminal || modes)
                 ? 0
                 : error_set(err, "expected an object command");
    if (rc == 0 && modes && (rc = terminal_modes_check(modes, err)) < 0)
        error_prefix(err, "terminal");
    if (rc == 0 && modes)
        request->terminal = mem_copy_text(modes);
    if (rc == 0)
        rc = take_words(request, json_object_get(command, "words"), err);
    if (rc == 0)
        rc = take_streams(request, json_object_get(command, "streams"), err);
    if (rc < 0)
        return error_prefix(err, "what to run was not understood");
    request->merged = json_is_true(json_object_get(command, "merged"));
    instance_request_set_variables(json_object_get(command, "environment"), looks, NLOOKS);
    return 0;
}

void remote_command_request_clear(struct remote_command_request *request)
{
    string_list_free(request->words);
    free(request->terminal);
    *request = (struct remote_command_request){0};
}
