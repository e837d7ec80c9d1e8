/*
 * Slot lists, as Open MPI has them: cores ("1", "0-3,6", "*"), or cores of sockets ("1:0-2",
 * "0:1,3", "1:*"). Behind a comma without a socket the one before holds on; ";" begins anew. With a
 * p in front the numbers are OS indexes.
 */
#include <stdbool.h>

#include "affinity/layout/rankfile.h"
#include "affinity/resource/idset.h"
#include "affinity/topology/topo.h"

static char slot_peek(const struct slot_reader *reader)
{
    return reader->at < reader->len ? reader->list[reader->at] : '\0';
}

static bool slot_skip(struct slot_reader *reader, char c)
{
    bool there = slot_peek(reader) == c;
    reader->at += there;
    return there;
}

static int slot_number(struct slot_reader *reader, uint32_t *number, const char **why)
{
    const uint64_t most = reader->physical ? IDSET_MAX : TOPO_MAX_PUS - 1;
    uint64_t value = 0;
    uint32_t start = reader->at;
    for (; slot_peek(reader) >= '0' && slot_peek(reader) <= '9'; reader->at++) {
        value = value * 10 + (uint64_t)(slot_peek(reader) - '0');
        if (value > most) {
            reader->at = start;
            *why = "the number is larger than any machine has";
            return -1;
        }
    }
    *number = (uint32_t)value;
    if (reader->at > start)
        return 0;
    *why = "a number is missing";
    return -1;
}

/* N, N-M or "*" */
static int slot_range(struct slot_reader *reader, uint32_t *first, uint32_t *last, const char **why)
{
    uint32_t start = reader->at;
    *first = 0;
    *last = SLOT_LAST;
    if (!reader->physical && slot_skip(reader, '*'))
        return 0;
    if (slot_number(reader, first, why) < 0)
        return -1;
    *last = *first;
    if (!slot_skip(reader, '-'))
        return 0;
    if (slot_number(reader, last, why) < 0)
        return -1;
    if (*first <= *last)
        return 0;
    reader->at = start;
    *why = "the range runs backwards";
    return -1;
}

static int slot_element(struct slot_reader *reader, struct slot_item *item, const char **why)
{
    item->at = reader->at;
    if (slot_range(reader, &item->first, &item->last, why) < 0)
        return -1;
    if (slot_peek(reader) == ':' && reader->physical) {
        *why = "OS indexes do not count in sockets";
        return -1;
    }
    if (slot_skip(reader, ':')) {
        item->in_socket = true;
        item->socket_first = item->first;
        item->socket_last = item->last;
        if (slot_range(reader, &item->first, &item->last, why) < 0)
            return -1;
    }
    item->len = reader->at - item->at;
    return 1;
}

int slot_next(struct slot_reader *reader, struct slot_item *item, const char **why)
{
    *item = reader->before;
    if (reader->at == 0) {
        reader->physical = slot_skip(reader, 'p') || slot_skip(reader, 'P');
    } else if (reader->at == reader->len) {
        return 0;
    } else if (slot_skip(reader, ';')) {
        item->in_socket = false;
    } else if (!slot_skip(reader, ',')) {
        *why = "a comma is missing, or this is not part of a list";
        return -1;
    }
    int rc = slot_element(reader, item, why);
    reader->before = *item;
    return rc;
}
