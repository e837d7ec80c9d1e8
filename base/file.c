/* Small files read and written whole. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FILE_PIECE 4096

static int file_close(int fd, int result)
{
    int number = errno;
    close(fd);
    errno = number;
    return result;
}

int file_read(const char *path, struct buf *out)
{
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    while ((n = read(fd, buf_reserve(out, FILE_PIECE), FILE_PIECE)) > 0 ||
           (n < 0 && errno == EINTR))
        if (n > 0)
            buf_added(out, (size_t)n);
    return file_close(fd, n < 0 ? -1 : 0);
}

int file_write(const char *path, const char *text)
{
    size_t len = strlen(text);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = write(fd, text, len);
    if (n >= 0 && (size_t)n < len)
        errno = EIO;
    return file_close(fd, n == (ssize_t)len ? 0 : -1);
}

int file_write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}
