/*
 * What openpmix calls in place of close(), event_add() and event_del(), taken from it and called here, with the
 * libevent that it has.
 */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pmi-server/pmix/imported_symbols.h"
#include "pmi-server/pmix/library.h"

enum { READS = 0x02, WRITES = 0x04, PERSISTS = 0x10, ONCE = 1, AT_ONCE = 2 }; /* libevent's */

struct event;
struct event_base;
struct timeval;
typedef void event_callback(int fd, short what, void *arg);

static struct {
    struct event_base *(*base_new)(void);
    int (*base_loop)(struct event_base *base, int flags);
    struct event *(*event_new)(struct event_base *base, int fd, short what, event_callback *call,
                               void *arg);
    int (*assign)(struct event *event, struct event_base *base, int fd, short what,
                  event_callback *call, void *arg);
    void (*event_free)(struct event *event);
    int (*pending)(const struct event *event, short what, struct timeval *due);
} libevent;
static int (*library_add)(struct event *event, const struct timeval *timeout);
static int (*library_del)(struct event *event);
static int (*library_close)(int fd);
static struct event_base *base;

static void count_call(int fd, short what, void *arg)
{
    char byte;
    if (what & READS)
        (void)!read(fd, &byte, 1);
    ++*(int *)arg;
}

struct connection {
    int near, far, calls;
    struct event *event;
};

/* It gets the lowest numbers that are free. */
static void connection_open(struct connection *connection, short what)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    *connection = (struct connection){.near = pair[0], .far = pair[1]};
    connection->event =
        libevent.event_new(base, connection->near, what, count_call, &connection->calls);
    assert_int_equal(library_add(connection->event, NULL), 0);
}

static void one_is_read(struct connection *connection)
{
    assert_int_equal(write(connection->far, "a", 1), 1);
    libevent.base_loop(base, ONCE | AT_ONCE);
    assert_int_equal(connection->calls, 1);
}

static void connection_end(struct connection *connection)
{
    libevent.event_free(connection->event);
    close(connection->far);
}

/* The far end stays open: the loop does not see that the first one is over. */
static void the_next_connection_of_a_number_is_read(void **state)
{
    struct connection first, next;
    (void)state;
    connection_open(&first, READS | PERSISTS);
    libevent.base_loop(base, ONCE | AT_ONCE);
    library_close(first.near);
    connection_open(&next, READS | PERSISTS);
    assert_int_equal(next.near, first.near);
    one_is_read(&next);
    assert_int_equal(first.calls, 0);
    library_close(next.near);
    connection_end(&next);
    connection_end(&first);
}

static void both_events_of_a_connection_are_taken_from_the_loop(void **state)
{
    struct connection connection;
    int written = 0;
    (void)state;
    connection_open(&connection, READS | PERSISTS);
    struct event *writes =
        libevent.event_new(base, connection.near, WRITES | PERSISTS, count_call, &written);
    assert_int_equal(library_add(writes, NULL), 0);
    assert_int_equal(library_add(writes, NULL), 0); /* it is there already */
    library_close(connection.near);
    assert_false(libevent.pending(connection.event, READS, NULL));
    assert_false(libevent.pending(writes, WRITES, NULL));
    libevent.event_free(writes);
    connection_end(&connection);
}

/* Whoever took it from the loop, or had it for one call, may have freed it: it is another's here. */
static void an_event_that_the_loop_does_not_have_is_not_touched(void **state)
{
    const short kinds[] = {READS | PERSISTS, READS};
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct connection connection, other;
        connection_open(&connection, kinds[i]);
        one_is_read(&connection);
        if (kinds[i] & PERSISTS)
            library_del(connection.event);
        connection_open(&other, READS | PERSISTS);
        assert_int_equal(
            libevent.assign(connection.event, base, other.far, READS, count_call, &other.calls), 0);
        library_add(connection.event, NULL);
        library_close(connection.near);
        assert_true(libevent.pending(connection.event, READS, NULL));
        library_close(other.near);
        connection_end(&connection);
        connection_end(&other);
    }
}

static void a_number_that_no_connection_has_is_closed_as_any(void **state)
{
    int pair[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(library_close(pair[0]), 0);
    assert_int_equal(library_close(pair[0]), -1);
    assert_int_equal(library_close(-1), -1);
    assert_int_equal(library_close(100000), -1);
    close(pair[1]);
}

static void never_called(void)
{
}

static bool take(void *handle, const char *name, void *function)
{
    *(imported_function **)function =
        imported_function_replace(handle, name, (imported_function *)never_called, NULL);
    return *(imported_function **)function;
}

/* Why there is nothing to test here; NULL: there is. */
static const char *open_library(struct error *err)
{
    void *handle = pmix_library(err) ? dlopen("libpmix.so.2", RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!handle)
        return error_text(err);
    *(void **)&libevent.base_new = dlsym(handle, "event_base_new");
    *(void **)&libevent.base_loop = dlsym(handle, "event_base_loop");
    *(void **)&libevent.event_new = dlsym(handle, "event_new");
    *(void **)&libevent.assign = dlsym(handle, "event_assign");
    *(void **)&libevent.event_free = dlsym(handle, "event_free");
    *(void **)&libevent.pending = dlsym(handle, "event_pending");
    if (!libevent.base_new || !take(handle, "event_add", (void *)&library_add) ||
        !take(handle, "event_del", (void *)&library_del) ||
        !take(handle, "close", (void *)&library_close))
        return "the libpmix that is installed does not use a libevent";
    base = libevent.base_new();
    return NULL;
}

int main(void)
{
    struct error err = ERROR_INIT;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_connection_of_a_number_is_read),
        cmocka_unit_test(both_events_of_a_connection_are_taken_from_the_loop),
        cmocka_unit_test(an_event_that_the_loop_does_not_have_is_not_touched),
        cmocka_unit_test(a_number_that_no_connection_has_is_closed_as_any),
    };
    const char *why = open_library(&err);
    if (!why)
        return cmocka_run_group_tests(tests, NULL, NULL);
    printf("skipped: %s\n", why);
    error_clear(&err);
    return 77;
}
