/*
 * stream write RANK BYTES - lines that say whose they are, which number, and what follows
 * stream check TASKS BYTES - reads the lines of TASKS writers in any interleaving, and fails if
 *                            one is torn, altered, missing, doubled or out of order
 * A line has 128 bytes, so BYTES (a task's) is a multiple of 128.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 128, HEAD = 20, BLOCK = 512 };

static void fill(char *line, unsigned rank, unsigned long number)
{
    char head[HEAD + 1];
    snprintf(head, sizeof(head), "%06u %012lu ", rank % 1000000, number);
    memcpy(line, head, HEAD);
    for (int i = HEAD; i < LINE - 1; i++)
        line[i] = (char)('!' + (i * 7 + number + rank) % 94);
    line[LINE - 1] = '\n';
}

static int write_lines(unsigned rank, unsigned long lines)
{
    static char block[BLOCK * LINE];
    for (unsigned long done = 0; done < lines;) {
        unsigned long n = lines - done < BLOCK ? lines - done : BLOCK;
        for (unsigned long i = 0; i < n; i++)
            fill(block + i * LINE, rank, done + i);
        if (fwrite(block, LINE, n, stdout) != n)
            return perror("stream"), 1;
        done += n;
    }
    return fflush(stdout) != 0;
}

static int complain(const char *what, unsigned long line)
{
    fprintf(stderr, "stream: %s at line %lu\n", what, line);
    return 1;
}

static int check_lines(unsigned tasks, unsigned long lines)
{
    unsigned long *next = calloc(tasks, sizeof(*next));
    char line[LINE], right[LINE];
    unsigned long seen = 0;
    for (size_t got; (got = fread(line, 1, LINE, stdin)) > 0; seen++) {
        unsigned rank = (unsigned)strtoul(line, NULL, 10);
        if (got != LINE || rank >= tasks)
            return complain("a torn line", seen);
        fill(right, rank, next[rank]++);
        if (memcmp(line, right, LINE) != 0)
            return complain("an altered, missing or doubled line", seen);
    }
    for (unsigned i = 0; i < tasks; i++)
        if (next[i] != lines)
            return complain("an end too early or too late", seen);
    free(next);
    printf("%lu lines of %u tasks are right\n", seen, tasks);
    return 0;
}

int main(int argc, char *argv[])
{
    if (argc != 4)
        return 2;
    static char big[1 << 20];
    unsigned who = (unsigned)strtoul(argv[2], NULL, 10);
    unsigned long lines = strtoul(argv[3], NULL, 10) / LINE;
    if (!strcmp(argv[1], "write")) {
        setvbuf(stdout, NULL, _IONBF, 0);
        return write_lines(who, lines);
    }
    setvbuf(stdin, big, _IOFBF, sizeof(big));
    return check_lines(who, lines);
}
