/*
 * pmi2-hello - a parallel program with PMI-2 and nothing else: every task puts a card, meets the
 * others in a fence, reads everybody's card; the first of each node tells its neighbours a secret.
 *
 *     cc pmi2-hello.c -o pmi2-hello $(pkg-config --cflags --libs tprun-pmi2)
 *     tprun -n 4 ./pmi2-hello
 *     mpiexec.hydra -n 4 ./pmi2-hello
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmi2.h>

static void check(int rc, const char *what)
{
    char text[80];
    if (rc == PMI2_SUCCESS)
        return;
    snprintf(text, sizeof(text), "pmi2-hello: %s: PMI error %d", what, rc);
    PMI2_Abort(1, text);
}

static void put_card(int rank)
{
    char key[PMI2_MAX_KEYLEN], card[PMI2_MAX_VALLEN];
    snprintf(key, sizeof(key), "card-%d", rank);
    snprintf(card, sizeof(card), "process %ld = rank %d", (long)getpid(), rank);
    check(PMI2_KVS_Put(key, card), "PMI2_KVS_Put");
    check(PMI2_KVS_Fence(), "PMI2_KVS_Fence");
}

/* Everybody's card is there, and says what it should. */
static void read_cards(const char *job, int size)
{
    char key[PMI2_MAX_KEYLEN], card[PMI2_MAX_VALLEN], end[32];
    int len;
    for (int rank = 0; rank < size; rank++) {
        snprintf(key, sizeof(key), "card-%d", rank);
        snprintf(end, sizeof(end), " = rank %d", rank);
        check(PMI2_KVS_Get(job, rank, key, card, sizeof(card), &len), "PMI2_KVS_Get");
        if (len < (int)strlen(end) || strcmp(card + len - strlen(end), end) != 0)
            PMI2_Abort(1, "pmi2-hello: a card is not what was put");
    }
}

/* The one who begins tells, the others wait until they are told. */
static void share_secret(int rank, int begins, char secret[32])
{
    int found;
    if (begins) {
        snprintf(secret, 32, "%d", 1000 + rank);
        check(PMI2_Info_PutNodeAttr("secret", secret), "PMI2_Info_PutNodeAttr");
    }
    check(PMI2_Info_GetNodeAttr("secret", secret, 32, &found, 1), "PMI2_Info_GetNodeAttr");
}

int main(void)
{
    char job[256], secret[32], map[PMI2_MAX_ATTRVALUE] = "unknown";
    int spawned, size, rank, appnum, found;
    check(PMI2_Init(&spawned, &size, &rank, &appnum), "PMI2_Init");
    check(PMI2_Job_GetId(job, sizeof(job)), "PMI2_Job_GetId");
    put_card(rank);
    read_cards(job, size);
    check(PMI2_Info_GetJobAttr("PMI_process_mapping", map, sizeof(map), &found),
          "PMI2_Info_GetJobAttr");
    const char *local = size > 1 ? getenv("MPI_LOCALRANKID") : "0"; /* alone, others' say nothing */
    if (!local)
        local = getenv("SLURM_LOCALID"); /* srun's name for it */
    share_secret(rank, local ? !atoi(local) : !rank, secret);
    printf("%d of %d: read %d cards; secret %s; mapping %s\n", rank, size, size, secret, map);
    check(PMI2_Finalize(), "PMI2_Finalize");
    return 0;
}
