/*
 * accept() of one library, here of this program itself: it comes in two forms, of which the sealed one has
 * all that it imports in pages that are read-only.
 */
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmi-server/pmix/accept_check.h"

static struct sockaddr_in at;

static int listen_somewhere(void)
{
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(fd, 10), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    return fd;
}

static int dial(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

static void one_is_refused(int door)
{
    errno = 0;
    assert_int_equal(accept(door, NULL, NULL), -1);
    assert_int_equal(errno, EAGAIN);
}

static void a_connection_of_the_same_user_is_accepted(void **state)
{
    (void)state;
    struct sockaddr_in from = {0};
    socklen_t len = sizeof(from);
    int door = listen_somewhere(), far = dial();
    int near = accept(door, (struct sockaddr *)&from, &len);
    assert_true(near >= 0);
    assert_int_equal(len, sizeof(from));
    assert_int_equal(from.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    one_is_refused(door); /* there is none */
    close(near);
    close(far);
    close(door);
}

static void a_connection_that_was_closed_is_not_accepted(void **state)
{
    (void)state;
    int door = listen_somewhere(), far = dial();
    assert_int_equal(write(far, "hello", 5), 5);
    close(far);
    one_is_refused(door);
    close(door);
}

static void a_connection_of_another_user_is_closed(void **state)
{
    (void)state;
    char byte;
    if (geteuid())
        skip();
    int door = listen_somewhere(), status;
    pid_t pid = fork();
    if (!pid) {
        int far = setuid(65534) ? -1 : dial();
        _exit(far < 0 || write(far, "a", 1) != 1 || read(far, &byte, 1) > 0);
    }
    int flags = fcntl(door, F_GETFL);
    fcntl(door, F_SETFL,
          flags & ~O_NONBLOCK); /* waits for the connection, and not for what follows it */
    one_is_refused(door);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(door);
}

static void a_greeting_that_stops_is_taken_for_one_that_was_closed(void **state)
{
    (void)state;
    static const struct timeval limit = {.tv_usec = 20000};
    char head[4];
    int door = listen_somewhere(), far = dial();
    int near = accept(door, NULL, NULL);
    assert_true(near >= 0);
    assert_int_equal(setsockopt(near, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
    assert_int_equal(write(far, "whole", 5), 5);
    assert_int_equal(recv(near, head, 4, MSG_WAITALL), 4);
    assert_int_equal(recv(near, head, 4, MSG_WAITALL), 0); /* one byte of four */
    assert_int_equal(recv(near, head, 4, MSG_WAITALL), 0); /* none */
    close(near);
    assert_int_equal(recv(near, head, 4, MSG_WAITALL), -1);
    close(far);
    close(door);
}

static void a_library_that_does_not_import_it_is_refused(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    void *handle = dlopen("libm.so.6", RTLD_NOW);
    if (!handle)
        skip();
    assert_int_equal(accept_check_install(handle, &err), -1);
    assert_non_null(strstr(error_text(&err), "accept()"));
    error_clear(&err);
    dlclose(handle);
}

static int install(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    /* This program was not opened with RTLD_NOW: the first call writes recv()'s address. */
    recv(-1, &at, 1, 0);
    if (accept_check_install(dlopen(NULL, RTLD_NOW), &err) == 0)
        return 0;
    fprintf(stderr, "%s\n", error_text(&err));
    error_clear(&err);
    return -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_of_the_same_user_is_accepted),
        cmocka_unit_test(a_connection_that_was_closed_is_not_accepted),
        cmocka_unit_test(a_connection_of_another_user_is_closed),
        cmocka_unit_test(a_greeting_that_stops_is_taken_for_one_that_was_closed),
        cmocka_unit_test(a_library_that_does_not_import_it_is_refused),
    };
    return cmocka_run_group_tests(tests, install, NULL);
}
