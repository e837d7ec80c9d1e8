/* memory - says which rank this is, and where the kernel puts its memory: "0 bind 0,2-3".
 * memory PROGRAM ARG... - runs the program with its memory interleaved. */
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NODES = 1024, WORD = 8 * sizeof(unsigned long) };

static int has(const unsigned long *set, int node)
{
    return node < NODES && (set[node / WORD] >> node % WORD & 1);
}

static int run_interleaved(char *argv[], unsigned long *set)
{
    if (syscall(SYS_get_mempolicy, NULL, set, NODES + 1ul, NULL, (long)MPOL_F_MEMS_ALLOWED) == 0 &&
        syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, set, NODES + 1ul) == 0)
        execvp(argv[0], argv);
    perror(argv[0]);
    return 1;
}

int main(int argc, char *argv[])
{
    static const char *const words[] = {
        [MPOL_DEFAULT] = "default",       [MPOL_PREFERRED] = "preferred", [MPOL_BIND] = "bind",
        [MPOL_INTERLEAVE] = "interleave", [MPOL_LOCAL] = "local",
    };
    unsigned long set[NODES / WORD] = {0};
    const char *rank = getenv("TPRUN_RANK"), *comma = "";
    int mode = 0;
    if (argc > 1)
        return run_interleaved(argv + 1, set);
    if (syscall(SYS_get_mempolicy, &mode, set, NODES + 1ul, NULL, 0ul) < 0) {
        perror("get_mempolicy");
        return 1;
    }
    printf("%s %s ", rank ? rank : "-",
           mode >= 0 && mode <= MPOL_LOCAL && words[mode] ? words[mode] : "other");
    for (int node = 0; node < NODES; node++) {
        int first = node;
        if (!has(set, node))
            continue;
        while (has(set, node + 1))
            node++;
        printf(first == node ? "%s%d" : "%s%d-%d", comma, first, node);
        comma = ",";
    }
    printf("\n");
    return 0;
}
