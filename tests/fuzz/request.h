/* The first frame that a process sends to the socket of an instance, which any of the user's may
 * do. */
#ifndef TESTS_FUZZ_REQUEST_H
#define TESTS_FUZZ_REQUEST_H

#include <jansson.h>

#include "launcher/tree/frame.h"
#include "tests/fuzz/fuzz.h"

/* Check it as it is, and as this key of a request of this version, which is what bytes hardly ever
 * are. Takes that request. */
static inline void request_check(const struct frame *frame, json_t *whole, const char *key,
                                 void (*check_request)(const json_t *value))
{
    json_t *value = frame_json(frame, NULL);
    if (value) {
        check_request(value);
        json_object_set(whole, key, value);
        check_request(whole);
    }
    json_decref(value);
    json_decref(whole);
}

#endif
