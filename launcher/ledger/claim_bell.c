/* The bells of programs that wait: FIFOs in their directories. */
#include "launcher/ledger/claim_bell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/ledger/claims_file.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/private_directory.h"

#define BELL_LINES 16 /* that are told apart; in further ones all are woken */

struct bell_lines {
    struct bell_line { /* of programs that wait for just the same */
        const char *within, *sets;
        unsigned rung;
    } list[BELL_LINES];
    size_t count;
};

int claim_bell_open(int dir)
{
    if (renameat(dir, PRIVATE_DIRECTORY_DRAFT(CLAIM_BELL), dir, CLAIM_BELL) < 0 &&
        mkfifoat(dir, CLAIM_BELL, 0600) < 0 && errno != EEXIST)
        return -1;
    /* For writing, too: else it would be readable once somebody who rang has closed it. */
    return openat(dir, CLAIM_BELL, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
}

/* NULL: there are too many. */
static struct bell_line *bell_line_of(struct bell_lines *lines, const struct claims_row *row)
{
    for (size_t i = 0; i < lines->count; i++)
        if (strcmp(lines->list[i].sets, row->sets) == 0 &&
            strcmp(lines->list[i].within, row->within) == 0)
            return &lines->list[i];
    if (lines->count == BELL_LINES)
        return NULL;
    struct bell_line *line = &lines->list[lines->count++];
    *line = (struct bell_line){.within = row->within, .sets = row->sets};
    return line;
}

static void bell_ring(const struct instance *instance, uint64_t number)
{
    char path[64];
    snprintf(path, sizeof(path), "%llu/" CLAIM_BELL, (unsigned long long)number);
    int fd = openat(instance->programs, path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return; /* it has not begun to wait, or waits no longer */
    (void)!write(fd, "", 1);
    close(fd);
}

void claim_bell_ring(struct instance *instance, const struct claims *claims, unsigned turns,
                     uint64_t self)
{
    struct bell_lines lines = {.count = 0};
    for (size_t i = 0; i < claims->count; i++) {
        const struct claims_row *row = &claims->rows[i];
        struct bell_line *line = row->state == CLAIMS_WAITS ? bell_line_of(&lines, row) : NULL;
        if (row->state != CLAIMS_WAITS || (line && line->rung == turns) ||
            !ledger_is_alive(instance, row->number))
            continue;
        if (row->number != self)
            bell_ring(instance, row->number);
        if (line)
            line->rung++;
    }
}
