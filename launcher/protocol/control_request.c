/* Requests to a manager, written and read. */
#include "launcher/protocol/control_request.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

enum { TAKES_RANKS = 1, TAKES_NUMBER = 2, TAKES_GRACE = 4 };

static const struct {
    const char *name;
    unsigned takes;
} methods[CONTROL_NMETHODS] = {
    [CONTROL_METHOD_SIGNAL] = {"signal", TAKES_RANKS | TAKES_NUMBER},
    [CONTROL_METHOD_TERMINATE] = {"terminate", TAKES_GRACE},
    [CONTROL_METHOD_PS] = {"ps", 0},
    [CONTROL_METHOD_SAVE] = {"save", 0},
    [CONTROL_METHOD_INPUT] = {"input", TAKES_RANKS},
};

const char *control_method_name(enum control_method method)
{
    return methods[method].name;
}

json_t *control_request_to_json(const struct control_request *request)
{
    unsigned takes = methods[request->method].takes;
    json_t *value = json_pack("{s:i, s:s}", "version", CONTROL_VERSION, "method",
                              methods[request->method].name);
    if (takes & TAKES_NUMBER)
        json_object_set_new(value, "number", json_integer(request->number));
    if (takes & TAKES_RANKS && request->ranks)
        json_object_set_new(value, "ranks", idset_to_json(request->ranks));
    if (takes & TAKES_GRACE && request->grace >= 0)
        json_object_set_new(value, "grace",
                            isinf(request->grace) ? json_string("inf") : json_real(request->grace));
    return value;
}

static int read_method(struct control_request *request, const json_t *value, struct error *err)
{
    const char *name = json_string_value(json_object_get(value, "method"));
    if (!name)
        return error_set(err, "method: expected a word");
    for (int i = 0; i < CONTROL_NMETHODS; i++) {
        if (strcmp(name, methods[i].name) != 0)
            continue;
        request->method = (enum control_method)i;
        return 0;
    }
    return error_set(err, "unknown method %s", excerpt(name, strlen(name)).text);
}

static int read_signal(struct control_request *request, const json_t *value, struct error *err)
{
    const json_t *number = json_object_get(value, "number");
    json_int_t read = json_integer_value(number);
    if (read < 1 || read > SIGRTMAX)
        return error_set(err, "number: expected a signal from 1 to %d", SIGRTMAX);
    request->number = (int)read;
    return 0;
}

static int read_request_ranks(struct control_request *request, const json_t *value,
                              struct error *err)
{
    const json_t *ranks = json_object_get(value, "ranks");
    if (!ranks)
        return 0;
    if (!json_is_string(ranks))
        return error_set(err, "ranks: expected a set of numbers");
    request->ranks = idset_decode(json_string_value(ranks), err);
    if (!request->ranks)
        return error_prefix(err, "ranks");
    if (idset_empty(request->ranks))
        return error_set(err, "ranks: expected at least one");
    return 0;
}

static int read_grace(struct control_request *request, const json_t *value, struct error *err)
{
    const json_t *grace = json_object_get(value, "grace");
    const char *word = json_string_value(grace);
    if (!grace)
        return 0;
    request->grace = word && strcmp(word, "inf") == 0 ? INFINITY : json_number_value(grace);
    if ((!word && !json_is_number(grace)) || (word && !isinf(request->grace)) || request->grace < 0)
        return error_set(err, "grace: expected seconds, 0 or more");
    return 0;
}

int control_request_from_json(struct control_request *request, const json_t *value,
                              struct error *err)
{
    const json_t *version = json_object_get(value, "version");
    *request = (struct control_request){.grace = -1};
    if (!json_is_object(value))
        return error_set(err, "expected an object");
    if (json_integer_value(version) != CONTROL_VERSION)
        return error_set(err, "version: expected %d, as of the tprun that runs the program",
                         CONTROL_VERSION);
    if (read_method(request, value, err) < 0)
        return -1;
    unsigned takes = methods[request->method].takes;
    if (takes & TAKES_NUMBER && read_signal(request, value, err) < 0)
        return -1;
    if (takes & TAKES_RANKS && read_request_ranks(request, value, err) < 0)
        return -1;
    return takes & TAKES_GRACE ? read_grace(request, value, err) : 0;
}

void control_request_clear(struct control_request *request)
{
    idset_free(request->ranks);
    request->ranks = NULL;
}
