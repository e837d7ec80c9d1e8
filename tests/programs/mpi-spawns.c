/*
 * mpi-spawns - tasks that spawn others, in ways that mpi-spawn does not:
 *
 *     several HOST HOST   spawn_multiple: one task on the first host, in directory "/", and two on
 *                         the second; each says who it is ("-" names no host)
 *     nested DEPTH        each level spawns one more; the last has to add up all of them
 *     fails COMMAND [KEY=VALUE]
 *                         spawn it under MPI_ERRORS_RETURN; the error's class and text
 *     loop COUNT          one after the other; what the agent needs of memory and descriptors
 */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Comm parent;
static char *self;

static void say(const char *what)
{
    char host[MPI_MAX_PROCESSOR_NAME], directory[4096];
    int rank, size, len, *app, there;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &len);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &there);
    printf("%s %d of %d, app %d, on %s, in %s\n", what, rank, size, there ? *app : -1, host,
           getcwd(directory, sizeof(directory)));
}

static int is_root(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

static MPI_Info info_of(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (value && strcmp(value, "-") != 0)
        MPI_Info_set(info, key, value);
    return info;
}

static void several(char **hosts)
{
    char *commands[] = {self, self}, *args[] = {"several", NULL}, **argvs[] = {args, args};
    int counts[] = {1, 2}, codes[3] = {-1, -1, -1}, size;
    MPI_Info infos[2];
    MPI_Comm children;
    if (parent != MPI_COMM_NULL) {
        say("child");
        MPI_Comm_disconnect(&parent);
        return;
    }
    infos[0] = info_of("host", hosts[0]);
    infos[1] = info_of("host", hosts[1]);
    MPI_Info_set(infos[0], "wdir", "/");
    MPI_Comm_spawn_multiple(2, commands, argvs, counts, infos, 0, MPI_COMM_WORLD, &children, codes);
    MPI_Comm_remote_size(children, &size);
    if (is_root())
        printf("%d children, codes %d %d %d\n", size, codes[0], codes[1], codes[2]);
    MPI_Comm_disconnect(&children);
}

/* Sizes are added up on the way back. */
static void nested(char **rest)
{
    int depth = atoi(rest[0]), sum = 1, below = 0;
    char text[16], *args[] = {"nested", text, NULL};
    MPI_Comm children;
    snprintf(text, sizeof(text), "%d", depth - 1);
    if (depth > 0) {
        MPI_Comm_spawn(self, args, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
        if (is_root())
            MPI_Recv(&below, 1, MPI_INT, 0, 0, children, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&children);
    }
    sum += below;
    if (parent == MPI_COMM_NULL) {
        if (is_root())
            printf("%d worlds\n", sum);
        return;
    }
    MPI_Send(&sum, 1, MPI_INT, 0, 0, parent);
    MPI_Comm_disconnect(&parent);
}

static void fails(char **rest)
{
    MPI_Comm children;
    char text[MPI_MAX_ERROR_STRING], *equals = rest[1] ? strchr(rest[1], '=') : NULL;
    int codes[2] = {0, 0}, class = MPI_SUCCESS, len;
    if (equals)
        *equals++ = '\0';
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc = MPI_Comm_spawn(rest[0], MPI_ARGV_NULL, 2, info_of(rest[1], equals), 0, MPI_COMM_WORLD,
                            &children, codes);
    MPI_Error_class(rc, &class);
    MPI_Error_string(rc, text, &len);
    printf("%s %s: %s\n", rc == MPI_SUCCESS ? "no error" : "an error",
           class == MPI_ERR_SPAWN ? "of spawn" : "of another class", text);
}

/* ---- many ---- */

static void agent(long *kib, int *descriptors)
{
    char path[64], line[256];
    *kib = *descriptors = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", getppid());
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        sscanf(line, "VmRSS: %ld", kib);
    if (file)
        fclose(file);
    snprintf(path, sizeof(path), "/proc/%d/fd", getppid());
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        ++*descriptors;
    if (dir)
        closedir(dir);
}

static void loop(char **rest)
{
    char *args[] = {"loop", "0", NULL};
    int count = atoi(rest[0]), descriptors;
    long kib;
    MPI_Comm children;
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
        return;
    }
    for (int i = 1; i <= count; i++) {
        MPI_Comm_spawn(self, args, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
        MPI_Comm_disconnect(&children);
        agent(&kib, &descriptors);
        if (i == count / 2 || i == count)
            printf("%d %ld %d\n", i, kib, descriptors);
    }
}

static const struct {
    const char *name;
    void (*run)(char **rest);
} modes[] = {{"several", several}, {"nested", nested}, {"fails", fails}, {"loop", loop}};

int main(int argc, char **argv)
{
    self = argv[0];
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (argc > 1 && !strcmp(argv[1], modes[i].name))
            modes[i].run(argv + 2);
    MPI_Finalize();
    return 0;
}
