/*
 * mpi-feature FEATURE - one thing that an MPI asks its launcher for, between all tasks. Rank 0 says
 * "FEATURE of N tasks: right", and the status is 0, where what came of it is right; 1: it is wrong;
 * 77: this MPI does not have it.
 *   init     MPI_Init and MPI_Finalize
 *   fence    barriers and a sum
 *   modex    each task sends to each
 *   spawn    MPI_Comm_spawn of two more, which add to a sum
 *   connect  MPI_Comm_accept and MPI_Comm_connect between the even ranks and the odd ones
 *   publish  MPI_Publish_name, MPI_Lookup_name, MPI_Unpublish_name
 *   groups   MPI_Comm_create_from_group in a session of MPI 4
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABSENT 77

/* Whether the ranks' sum is right. */
static int adds_up(MPI_Comm comm)
{
    int rank, size, sum;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum == size * (size - 1) / 2;
}

static int init(int rank, int size)
{
    return rank < size;
}

static int fence(int rank, int size)
{
    (void)rank;
    (void)size;
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return adds_up(MPI_COMM_WORLD);
}

static int modex(int rank, int size)
{
    int right = 1;
    int *out = calloc((size_t)size, sizeof(int)), *in = calloc((size_t)size, sizeof(int));
    for (int i = 0; i < size; i++)
        out[i] = rank * size + i;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        right &= in[i] == i * size + rank;
    free(out);
    free(in);
    return right;
}

static const char *program;

/* Also of those that were spawned: both sides join. */
static int join(MPI_Comm other, int high)
{
    MPI_Comm all;
    MPI_Intercomm_merge(other, high, &all);
    int right = adds_up(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
    return right;
}

static int spawn(int rank, int size)
{
    MPI_Comm children;
    char *arguments[] = {"spawned", NULL};
    (void)rank;
    (void)size;
    MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
    return join(children, 0);
}

static int connect(int rank, int size)
{
    MPI_Comm mine, other;
    int odd = rank % 2, port_tag = 1;
    char port[MPI_MAX_PORT_NAME] = "";
    if (size < 2)
        return 0;
    MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &mine);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, port_tag, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, port_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    (odd ? MPI_Comm_connect : MPI_Comm_accept)(port, MPI_INFO_NULL, 0, mine, &other);
    MPI_Comm_free(&mine);
    return join(other, odd);
}

static int publish(int rank, int size)
{
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
    (void)size;
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("tprun-mpi-feature", MPI_INFO_NULL, port);
    }
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Lookup_name("tprun-mpi-feature", MPI_INFO_NULL, found);
    int right = port[0] && !strcmp(port, found);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Unpublish_name("tprun-mpi-feature", MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
    return right;
}

static int groups(int rank, int size)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group world;
    MPI_Comm comm;
    (void)rank;
    (void)size;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Comm_create_from_group(world, "tprun", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    int right = adds_up(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&world);
    MPI_Session_finalize(&session);
    return right;
#else
    (void)rank;
    (void)size;
    return -1;
#endif
}

static const struct feature {
    const char *name;
    int (*run)(int rank, int size); /* 1: right; 0: wrong; -1: not there */
} features[] = {
    {"init", init},       {"fence", fence},     {"modex", modex},   {"spawn", spawn},
    {"connect", connect}, {"publish", publish}, {"groups", groups},
};

static int run(const struct feature *feature)
{
    int rank, size, all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = feature->run(rank, size);
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0 && all == 1)
        printf("%s of %d tasks: right\n", feature->name, size);
    return all == 1 ? 0 : all == 0 ? 1 : ABSENT;
}

int main(int argc, char *argv[])
{
    MPI_Comm parent;
    int status = 2;
    program = argv[0];
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        status = !join(parent, 1);
    for (size_t i = 0; argc > 1 && i < sizeof(features) / sizeof(features[0]); i++)
        if (!strcmp(argv[1], features[i].name))
            status = run(&features[i]);
    MPI_Finalize();
    return status;
}
