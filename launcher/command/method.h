/*
 * method - the command line of a program that has methods: PROGRAM METHOD [OPTION...] [WORD...].
 * Options may also stand before the method.
 *
 * A program is a table of methods and a table of options. method_main() is its main(): it sorts the
 * command line into options and operands, has the method run, prints its sentence, and knows --help
 * and --version.
 */
#ifndef LAUNCHER_COMMAND_METHOD_H
#define LAUNCHER_COMMAND_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

struct method_given {
    int option;
    const char *value; /* NULL where it takes none; else borrowed */
};

struct method_call {
    const struct method_program *program;
    const struct method *method;
    struct method_given *given; /* in order */
    size_t ngiven;
    const char **words; /* operands */
    size_t nwords;
    bool stdin_read; /* by an operand before */
    FILE *out;       /* what is printed; lost writes are told behind the method */
};

struct method_offer { /* an option that a method takes */
    int option;
    const char *help; /* NULL: the end of the list */
};

struct method {
    const char *name; /* NULL: the end of the table */
    const char *usage;
    const char *about;  /* a line for the list of methods */
    const char *help;   /* more lines; or NULL */
    size_t least, most; /* operands */
    const struct method_offer *offers;
    /* 0; -1 with a sentence: exit status 1, or 2 for one of kind ERROR_USAGE; or another exit
     * status, with a sentence or without. */
    int (*run)(struct method_call *call, struct error *err);
};

#define METHOD_ANY ((size_t)-1) /* operands, at most */
#define METHOD_ALL                                                                                 \
    ((size_t)-2) /* all words behind its name are operands, options too: it reads them itself */

struct method_option {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: takes none */
};

struct method_hint {           /* what another program calls a method */
    const char *word, *method; /* NULL: the end of the list */
};

struct method_program {
    const char *name;
    const struct method *methods;
    const struct method_option *options; /* [noptions], by number */
    int noptions;
    int help;                            /* the number of --help */
    const struct method_hint *hints;     /* for who writes the word of another program; or NULL */
    const char *usage, *about, *closing; /* of --help */
    char *(*version)(void);              /* text for --version, which is freed */
};

/* `words` is argv without the program's name. Returns the exit status. */
int method_main(const struct method_program *program, char *const *words);

/* The value of the last such option, "" of one that takes none; NULL: it is not there. */
const char *method_value(const struct method_call *call, int option);
/* The next value of an option that may come again; *at starts at 0; NULL behind the last. */
const char *method_next(const struct method_call *call, int option, size_t *at);

/* ---- for method_main() and tests ---- */

/* words[] ends at a NULL; the first that is no option names one of the methods. 0, or -1 with a
 * sentence of kind ERROR_USAGE. With --help the rest is not looked at. method_call_clear() either
 * way. */
int method_scan(const struct method_program *program, char *const *words, struct method_call *call,
                struct error *err);
void method_call_clear(struct method_call *call);
/* Of one of the methods (NULL: of all); caller frees. */
char *method_help(const struct method_program *program, const struct method *method);

#endif
