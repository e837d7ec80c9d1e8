/* where - says which rank this is, on which host, and what processors it may use (RFC 22 idset). */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print_cpus(const cpu_set_t *set, int most)
{
    const char *comma = "";
    for (int i = 0; i < most; i++) {
        int first = i;
        if (!CPU_ISSET_S(i, CPU_ALLOC_SIZE(most), set))
            continue;
        while (i + 1 < most && CPU_ISSET_S(i + 1, CPU_ALLOC_SIZE(most), set))
            i++;
        printf(first == i ? "%s%d" : "%s%d-%d", comma, first, i);
        comma = ",";
    }
}

int main(void)
{
    enum { MOST = 4096 };
    cpu_set_t *set = CPU_ALLOC(MOST);
    char host[256] = "?";
    const char *rank = getenv("TPRUN_RANK");
    if (!set || sched_getaffinity(0, CPU_ALLOC_SIZE(MOST), set))
        return 1;
    gethostname(host, sizeof(host) - 1);
    printf("%s %s ", rank ? rank : "-", host);
    print_cpus(set, MOST);
    printf("\n");
    CPU_FREE(set);
    return 0;
}
