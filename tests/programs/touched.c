/* touched - says which rank this is, and in which NUMA nodes 2 MiB lie that it has written to: "3 1". */
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NODES = 1024, SIZE = 2 << 20 };

static int find_nodes(char *pages, char *seen)
{
    long step = sysconf(_SC_PAGESIZE);
    for (long at = 0; at < SIZE; at += step) {
        int node;
        pages[at] = 1;
        if (syscall(SYS_get_mempolicy, &node, NULL, 0ul, pages + at, MPOL_F_NODE | MPOL_F_ADDR) <
                0 ||
            node >= NODES)
            return -1;
        seen[node] = 1;
    }
    return 0;
}

int main(void)
{
    static char seen[NODES];
    const char *rank = getenv("TPRUN_RANK"), *comma = "";
    char *pages = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || find_nodes(pages, seen) < 0) {
        perror("touched");
        return 1;
    }
    printf("%s ", rank ? rank : "-");
    for (int node = 0; node < NODES; node++) {
        if (!seen[node])
            continue;
        printf("%s%d", comma, node);
        comma = ",";
    }
    printf("\n");
    return 0;
}
