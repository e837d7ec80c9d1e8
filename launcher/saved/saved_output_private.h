/*
 * saved_output_private - the header of a file of saved output, for its writer and its readers.
 */
#ifndef LAUNCHER_SAVED_SAVED_OUTPUT_PRIVATE_H
#define LAUNCHER_SAVED_SAVED_OUTPUT_PRIVATE_H

#include <stdint.h>

#include "launcher/tree/frame.h"

#define SAVED_MAGIC "tprunout"
#define SAVED_VERSION 1

/* Its fields in the file: u64, little endian, in this order, behind the magic. Those from
 * SAVED_OLDEST on are used in output.0 alone, and written over. */
enum saved_field {
    SAVED_FIELD_VERSION,
    SAVED_FIELD_NUMBER, /* of the file */
    SAVED_FIELD_BEFORE, /* bytes of frames in all files before this one */
    SAVED_FIELD_OLDEST, /* file that was not removed, but for output.0 */
    SAVED_FIELD_NEWEST,
    SAVED_FIELD_STOPPED, /* errno; 0: saving goes on */
    SAVED_FIELD_LOST,    /* bytes that came after that */
    SAVED_FIELD_ENDED,   /* 1: the program is over */
    SAVED_FIELD_STATUS,  /* its exit status */
    SAVED_FIELDS
};
#define SAVED_HEADER (8 + 8 * SAVED_FIELDS)
#define SAVED_FIELD_AT(field) (8 + 8 * (field))
#define SAVED_NAME_SIZE 32

/* The byte of output.0 that who writes has locked; the next one is SAVED_BYTE_READERS. */
enum { SAVED_BYTE_WRITER };

/* Types of frames in the file: those of frame.h may get other numbers. */
static const enum frame_type saved_types[] = {
    [1] = FRAME_OUTPUT, [2] = FRAME_SHOW, [3] = FRAME_NOTE, [4] = FRAME_MAPPED, [5] = FRAME_END};
enum { SAVED_TYPES = sizeof(saved_types) / sizeof(saved_types[0]) };

#endif
