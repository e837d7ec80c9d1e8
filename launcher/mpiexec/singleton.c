/* The command line of a singleton's mpiexec, and the port at which the singleton waits. */
#include "launcher/mpiexec/singleton.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "launcher/spec/field_words.h"

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
        return error_usage(err, "-pmi_args: expected PORT INTERFACE KEY PID, got %d values", count);
    if (spec_number_decode(at[1], UINT16_MAX, &port, NULL) < 0)
        return error_usage(err, "-pmi_args: %s is not a port (expected 1 to %d)",
                           excerpt(at[1], strlen(at[1])).text, UINT16_MAX);
    return (int)port;
}

/* Its terminal, and its output, stay its own unless it is said otherwise: its caller, who waits for
 * the process and not for us, must find all that it wrote. */
char **singleton_words(char *const argv[], int port, const char *stand_in, struct error *err)
{
    const char *text = getenv("TPRUN_SINGLETON_STDIO");
    bool stdio = text && strcmp(text, "yes") == 0;
    if (text && !stdio && strcmp(text, "no") != 0) {
        error_usage(err, "TPRUN_SINGLETON_STDIO: expected yes or no, got %s",
                    excerpt(text, strlen(text)).text);
        return NULL;
    }
    const char *const options[] = {"--oversubscribe", "--ntasks=1", stdio ? NULL : "--input=none",
                                   is_verbose(argv) ? "--verbose" : NULL, stand_in};
    char **words = mem_array(9, sizeof(*words));
    size_t count = 0;
    words[count++] = mem_copy_text(argv[0]);
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (options[i])
            words[count++] = mem_copy_text(options[i]);
    words[count++] = mem_format("%d", port);
    if (stdio)
        words[count] = mem_copy_text(SINGLETON_STDIO);
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
