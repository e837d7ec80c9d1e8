/*
 * pmi-hello - a parallel program with PMI-1 and nothing else: every task puts a card, meets the
 * others in a barrier, reads everybody's card, and prints who stands left and right of it and who
 * shares its node.
 *
 *     cc pmi-hello.c -o pmi-hello $(pkg-config --cflags --libs tprun-pmi)
 *     tprun -n 4 ./pmi-hello
 *     mpiexec.hydra -n 4 ./pmi-hello
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmi.h>

struct hello {
    int rank, size;
    char *space; /* the name of our key-value space */
    char *card;  /* room for the longest value */
    int card_max;
};

static void check(int rc, const char *what)
{
    char text[80];
    if (rc == PMI_SUCCESS)
        return;
    snprintf(text, sizeof(text), "pmi-hello: %s: PMI error %d", what, rc);
    PMI_Abort(1, text);
}

static void hello_init(struct hello *hello)
{
    int spawned, name_max;
    check(PMI_Init(&spawned), "PMI_Init");
    check(PMI_Get_rank(&hello->rank), "PMI_Get_rank");
    check(PMI_Get_size(&hello->size), "PMI_Get_size");
    check(PMI_KVS_Get_name_length_max(&name_max), "PMI_KVS_Get_name_length_max");
    check(PMI_KVS_Get_value_length_max(&hello->card_max), "PMI_KVS_Get_value_length_max");
    hello->space = malloc((size_t)name_max);
    hello->card = malloc((size_t)hello->card_max);
    if (!hello->space || !hello->card)
        PMI_Abort(1, "pmi-hello: out of memory");
    check(PMI_KVS_Get_my_name(hello->space, name_max), "PMI_KVS_Get_my_name");
}

static void put_card(struct hello *hello)
{
    char key[32], host[256] = "";
    gethostname(host, sizeof(host) - 1);
    snprintf(key, sizeof(key), "card-%d", hello->rank);
    snprintf(hello->card, (size_t)hello->card_max, "%d:%s:%ld", hello->rank, host, (long)getpid());
    check(PMI_KVS_Put(hello->space, key, hello->card), "PMI_KVS_Put");
    check(PMI_KVS_Commit(hello->space), "PMI_KVS_Commit");
}

static const char *get_card(struct hello *hello, int rank)
{
    char key[32];
    snprintf(key, sizeof(key), "card-%d", rank);
    check(PMI_KVS_Get(hello->space, key, hello->card, hello->card_max), "PMI_KVS_Get");
    if (atoi(hello->card) != rank)
        PMI_Abort(1, "pmi-hello: this is somebody else's card");
    return hello->card;
}

/* One line, so that many tasks may write at once. */
static void print_neighbours(struct hello *hello)
{
    char line[4096];
    int len = snprintf(line, sizeof(line), "rank %d of %d:", hello->rank, hello->size);
    for (int side = -1; side <= 1; side += 2) {
        int other = (hello->rank + side + hello->size) % hello->size;
        len += snprintf(line + len, sizeof(line) - (size_t)len, " %s %.300s,",
                        side < 0 ? "left" : "right", get_card(hello, other));
    }
    int count;
    check(PMI_Get_clique_size(&count), "PMI_Get_clique_size");
    int *ranks = calloc((size_t)count, sizeof(*ranks));
    if (!ranks)
        PMI_Abort(1, "pmi-hello: out of memory");
    check(PMI_Get_clique_ranks(ranks, count), "PMI_Get_clique_ranks");
    len += snprintf(line + len, sizeof(line) - (size_t)len, " clique");
    for (int i = 0; i < count && len < (int)sizeof(line) - 16; i++)
        len += snprintf(line + len, sizeof(line) - (size_t)len, "%c%d", i ? ',' : ' ', ranks[i]);
    free(ranks);
    puts(line);
}

int main(void)
{
    struct hello hello = {0};
    hello_init(&hello);
    put_card(&hello);
    check(PMI_Barrier(), "PMI_Barrier");
    for (int rank = 0; rank < hello.size; rank++)
        get_card(&hello, rank);
    print_neighbours(&hello);
    check(PMI_Finalize(), "PMI_Finalize");
    free(hello.space);
    free(hello.card);
    return 0;
}
