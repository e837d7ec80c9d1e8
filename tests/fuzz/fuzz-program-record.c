/* The fold of a program's log: any bytes give a record, the same with and without tasks. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "launcher/ledger/program_record.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct program_record *short_one = program_record_read((const char *)data, size, false);
    if (short_one->ntasks < 1u << 16) { /* a few bytes launch four million */
        struct program_record *record = program_record_read((const char *)data, size, true);
        if (record->state != short_one->state || record->ntasks != short_one->ntasks ||
            record->status != short_one->status)
            abort();
        for (uint32_t rank = 0; rank < record->ntasks; rank++)
            if (!program_record_host(record, rank) || !record->tasks[rank].cpus)
                abort();
        program_record_free(record);
    }
    program_record_free(short_one);
    return 0;
}
