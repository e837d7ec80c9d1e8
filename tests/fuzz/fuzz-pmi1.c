/* Clients that speak PMI 1.1, or 1.2 where the second bit of the first byte is set. */
#include "tests/fuzz/pmi-turns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *turns_greeting(uint8_t first)
{
    return first & 2 ? "cmd=init pmi_version=1 pmi_subversion=2\n"
                     : "cmd=init pmi_version=1 pmi_subversion=1\n";
}

static bool turns_are_whole(const struct buf *output)
{
    return buf_bytes(output)[output->len - 1] == '\n';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_server(data, size);
    return 0;
}
