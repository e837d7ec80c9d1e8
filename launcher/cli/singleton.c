#include "launcher/cli/singleton.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "affinity/resource/excerpt.h"
#include "base/mem.h"
#include "launcher/program/spec_words.h"

#define SINGLETON_VALUES 4 /* behind -pmi_args */

static bool is_verbose(char *const argv[])
{
    return argv[0] && argv[1] && strcmp(argv[1], "-v") == 0;
}

int singleton_port(char *const argv[], struct error *err)
{
    char *const *at = argv + (argv[0] != NULL) + is_verbose(argv);
    uint32_t port;
    int count = 0;
    if (!*at || strcmp(*at, "-pmi_args") != 0)
        return 0;
    while (at[1 + count])
        count++;
    if (count != SINGLETON_VALUES)
        return error_usage(err,
                           "-pmi_args: has %d values, not PORT INTERFACE KEY PID, which a process "
                           "without a launcher gives",
                           count);
    if (spec_number_decode(at[1], UINT16_MAX, &port, NULL) < 0)
        return error_usage(err, "-pmi_args: %s is no port: 1 to %d are",
                           excerpt(at[1], strlen(at[1])).text, UINT16_MAX);
    return (int)port;
}

/* Its terminal, and its output, stay its own. */
char **singleton_words(char *const argv[], int port, const char *stand_in)
{
    const char *const options[] = {"--oversubscribe", "--input=none", "--ntasks=1"};
    char **words = mem_array(8, sizeof(*words));
    size_t count = 0;
    words[count++] = mem_copy_text(argv[0]);
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        words[count++] = mem_copy_text(options[i]);
    if (is_verbose(argv))
        words[count++] = mem_copy_text("--verbose");
    words[count++] = mem_copy_text(stand_in);
    words[count] = mem_format("%d", port);
    return words;
}

int singleton_connect(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;
    if (fd < 0)
        return -1;
    do
        rc = connect(fd, (struct sockaddr *)&address, sizeof(address));
    while (rc < 0 && errno == EINTR);
    if (rc == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

void singleton_release(int port)
{
    int fd = singleton_connect(port);
    if (fd >= 0)
        close(fd);
}
