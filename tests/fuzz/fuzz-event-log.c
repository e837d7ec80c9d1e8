/* A log of events: any bytes are walked to their end; events that were read are written the same. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/ledger/event_log.h"
#include "tests/fuzz/fuzz.h"

static void fuzz_again(const struct event *event)
{
    struct buf text = BUF_INIT;
    struct event_reader reader;
    struct event again;
    if (event->timestamp < 1e-6 || event->timestamp > 1e15) /* written with six places */
        return;
    event_encode(&text, event);
    event_reader_begin(&reader, buf_bytes(&text), text.len);
    if (event_reader_next(&reader, &again, NULL) != 1 || strcmp(again.name, event->name) != 0 ||
        (event->context && !json_equal(again.context, event->context)))
        abort();
    if (event_reader_next(&reader, &again, NULL) != 0 || reader.is_cut)
        abort();
    event_reader_end(&reader);
    buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct event_reader reader;
    struct event event;
    size_t lines = 0, newlines = 0;
    for (size_t i = 0; i < size; i++)
        newlines += data[i] == '\n';
    event_reader_begin(&reader, (const char *)data, size);
    for (;;) {
        struct error err = ERROR_INIT;
        int rc = event_reader_next(&reader, &event, &err);
        if ((rc < 0) != (err.text != NULL))
            abort();
        error_clear(&err);
        if (rc == 0)
            break;
        lines++;
        if (rc == 1)
            fuzz_again(&event);
    }
    if (lines != newlines || reader.is_cut != (size > 0 && data[size - 1] != '\n'))
        abort();
    event_reader_end(&reader);
    return 0;
}
