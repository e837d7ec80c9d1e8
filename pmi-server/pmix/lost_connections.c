/* What openpmix calls in place of read() and writev(). */
#include "pmi-server/pmix/lost_connections.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "pmi-server/pmix/imported_symbols.h"

static const struct pmix_library *library;
static ssize_t (*library_read)(int fd, void *bytes, size_t size);
static ssize_t (*library_writev)(int fd, const struct iovec *parts, int count);
static bool (*_Atomic may_be_read)(int fd);
static atomic_bool settling; /* a loss may not be answered yet */

/* The event of an answer is queued by whoever gets the loss, after the first of these, and before the
 * second. */
static void second_turn(pmix_status_t status, void *arg)
{
    (void)status, (void)arg;
    settling = false;
}

static void first_turn(pmix_status_t status, void *arg)
{
    (void)status;
    library_in_progress_thread(library, second_turn, arg);
}

/* What a call on a connection returned that may be lost: "not now" in place of a loss that has to wait. */
static ssize_t one_loss_at_a_time(int fd, ssize_t result)
{
    int type, number = errno;
    socklen_t len = sizeof(type);
    bool lost = result == 0 || (number != EAGAIN && number != EWOULDBLOCK && number != EINTR);
    if (result > 0 || !lost || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0) {
        errno = number; /* no loss, or no socket */
        return result;
    }
    bool (*ask)(int fd) = may_be_read;
    if (settling || (ask && !ask(fd))) {
        errno = EAGAIN;
        return -1;
    }
    settling = true;
    library_in_progress_thread(library, first_turn, NULL);
    errno = number;
    return result;
}

static ssize_t read_one_loss(int fd, void *bytes, size_t size)
{
    ssize_t got = library_read(fd, bytes, size);
    return got > 0 || !size ? got : one_loss_at_a_time(fd, got);
}

static ssize_t writev_one_loss(int fd, const struct iovec *parts, int count)
{
    ssize_t put = library_writev(fd, parts, count);
    return put >= 0 ? put : one_loss_at_a_time(fd, put);
}

void lost_connections_ask(bool (*answer)(int fd))
{
    may_be_read = answer;
}

void lost_connections_install(void *handle, const struct pmix_library *opened)
{
    library = opened;
    library_read = read;
    library_writev = writev;
    imported_function_replace(handle, "read", (imported_function *)read_one_loss, NULL);
    imported_function_replace(handle, "writev", (imported_function *)writev_one_loss, NULL);
}
