/* Whose the far ends of connections are. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pmi-server/pmix/tcp_peers.h"
#include "tests/unit/unit.h"

#define REST                                                                                       \
    " 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000000000000000 20 4 30 10 -1"

static void a_line_of_the_kernel_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        bool good;
    } rows[] = {
        {"  25: 0100007F:B000 0100007F:A749 01" REST, true},
        {"  25: 0000000000000000FFFF00000100007F:B000 0000000000000000FFFF00000100007F:A749 "
         "01" REST,
         true},
        {"  25: 0100007F:B000 0100007F:A749 08" REST, false}, /* the near end is closed */
        {"  25: 0100007F:B000 0100007F:A749 02" REST, false}, /* is on its way */
        {"  25: 0100007F:B000 0100007F:A748 01" REST, false}, /* another port */
        {"  25: 0100007F:B000 0200007F:A749 01" REST, false}, /* another address */
        {"  25: 0200007F:B000 0100007F:A749 01" REST, false}, /* from another one */
        {"  25: 0100007F:B000 0100007F:A749 06" REST, false}, /* both ends are closed */
        {"  25: 0100007F:A749 00000000:0000 0A" REST, false}, /* listens */
        {"  25: 00000000000000000000000001000000:B000 00000000000000000000000001000000:A749 "
         "01" REST,
         false}, /* ::1 */
        {"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid",
         false},
        {"  25: 0100007F:B000 0100007F:A749 01 00000000:00000000", false},
        {"  25: 0100007F:B000 0100007F:A749", false},
        {"", false},
        {"\n", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct tcp_peer end = {0};
        bool good = tcp_peers_read_line(rows[i].line, 0xa749, &end);
        if (htonl(1) ==
            1) /* the kernel writes words as they are in memory: rows for the other kind */
            continue;
        assert_int_equal(good, rows[i].good);
        assert_int_equal(end.port, good ? 0xb000 : 0);
        assert_int_equal(end.owner, good ? 1000 : 0);
        assert_int_equal(end.inode, good ? 4711 : 0);
    }
}

static int connected(int far[1], uint16_t *port, uint16_t *far_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int door = socket(AF_INET, SOCK_STREAM, 0);
    far[0] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(door, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(door, 1), 0);
    assert_int_equal(getsockname(door, (struct sockaddr *)&at, &len), 0);
    *port = ntohs(at.sin_port);
    assert_int_equal(connect(far[0], (struct sockaddr *)&at, len), 0);
    int near = accept(door, (struct sockaddr *)&at, &len);
    *far_port = ntohs(at.sin_port);
    close(door);
    return near;
}

static void the_far_end_of_a_connection_has_an_owner(void **state)
{
    (void)state;
    uint16_t port, far_port;
    int far, near = connected(&far, &port, &far_port);
    if (access("/proc/net/tcp", R_OK) < 0)
        skip();
    assert_true(tcp_peers_is_own(near));
    assert_true(tcp_peers_is_own(far));
    assert_true(tcp_peers_is_own_listed(near));
    assert_true(tcp_peers_is_own_listed(far));
    close(far);
    assert_false(tcp_peers_is_own(near));
    assert_false(tcp_peers_is_own_listed(near));
    close(near);
}

static void another_users_far_end_is_not_ones_own(void **state)
{
    (void)state;
    uint16_t port, far_port;
    int far, near = connected(&far, &port, &far_port);
    if (geteuid() || fchown(far, 65534, (gid_t)-1) < 0)
        skip(); /* only root can give a socket away */
    assert_false(tcp_peers_is_own(near));
    assert_false(tcp_peers_is_own_listed(near));
    close(far);
    close(near);
}

/* While it is only half open nobody can tell what else will have its port. */
static void a_far_end_that_says_nothing_more_is_not_ones_own(void **state)
{
    (void)state;
    uint16_t port, far_port;
    int far, near = connected(&far, &port, &far_port);
    shutdown(far, SHUT_WR);
    assert_false(tcp_peers_is_own(near));
    assert_false(tcp_peers_is_own_listed(near));
    close(far);
    close(near);
}

static void connect_within(const char *address)
{
    struct sockaddr_storage at = {0};
    socklen_t len = sizeof(at);
    int door = socket(AF_INET6, SOCK_STREAM, 0), far = socket(AF_INET6, SOCK_STREAM, 0);
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    inet_pton(AF_INET6, address, &six.sin6_addr);
    if (door < 0 || bind(door, (struct sockaddr *)&six, sizeof(six)) < 0)
        return; /* no IPv6 here */
    assert_int_equal(listen(door, 1), 0);
    assert_int_equal(getsockname(door, (struct sockaddr *)&at, &len), 0);
    assert_int_equal(connect(far, (struct sockaddr *)&at, len), 0);
    int near = accept(door, NULL, NULL);
    assert_true(tcp_peers_is_own(near));
    close(door);
    close(far);
    assert_false(tcp_peers_is_own(near));
    close(near);
}

static void the_far_end_of_a_connection_by_ipv6_has_an_owner(void **state)
{
    (void)state;
    connect_within("::1");
    connect_within("::ffff:127.0.0.1");
}

static void what_is_no_connection_is_not_ones_own(void **state)
{
    (void)state;
    int pair[2], lone = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_false(tcp_peers_is_own(pair[0]));
    assert_false(tcp_peers_is_own(lone));
    assert_false(tcp_peers_is_own(-1));
    close(pair[0]);
    close(pair[1]);
    close(lone);
}

static void a_connection_whose_far_end_is_closed_has_ended_until_this_end_is_closed(void **state)
{
    (void)state;
    uint16_t port, far_port;
    for (int unread = 0; unread < 2; unread++) { /* with bytes left to read the far end resets it */
        int far, near = connected(&far, &port, &far_port);
        int other = dup(far);
        assert_int_equal(write(near, "a", (size_t)unread), unread);
        assert_false(tcp_peers_have_ended(port));
        close(far);
        assert_false(tcp_peers_have_ended(port)); /* another descriptor has it */
        close(other);
        assert_true(tcp_peers_have_ended(port));
        assert_false(tcp_peers_have_ended(far_port));
        close(near);
        assert_false(tcp_peers_have_ended(port));
    }
}

static void a_greeting_that_was_read_and_not_answered_is_found(void **state)
{
    (void)state;
    uint16_t port, far_port;
    char byte;
    int far, near = connected(&far, &port, &far_port);
    assert_int_equal(tcp_peers_unanswered(port), 0); /* nothing was said */
    assert_int_equal(write(far, "a", 1), 1);
    assert_int_equal(tcp_peers_unanswered(port), 0); /* it is not read yet */
    assert_int_equal(read(near, &byte, 1), 1);
    assert_int_equal(tcp_peers_unanswered(port), far_port);
    assert_int_equal(write(near, "a", 1), 1);
    assert_int_equal(tcp_peers_unanswered(port), 0);
    close(far);
    close(near);
}

static void a_connection_is_shut_by_its_ports(void **state)
{
    (void)state;
    uint16_t port, far_port;
    int far, near = connected(&far, &port, &far_port);
    char byte;
    tcp_peers_shut(port, (uint16_t)(far_port + 1));
    assert_int_equal(write(near, "a", 1), 1);
    assert_int_equal(read(far, &byte, 1), 1);
    tcp_peers_shut(port, far_port);
    assert_int_equal(read(far, &byte, 1), 0);
    close(far);
    close(near);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_the_kernel_is_read),
        cmocka_unit_test(the_far_end_of_a_connection_has_an_owner),
        cmocka_unit_test(another_users_far_end_is_not_ones_own),
        cmocka_unit_test(a_far_end_that_says_nothing_more_is_not_ones_own),
        cmocka_unit_test(the_far_end_of_a_connection_by_ipv6_has_an_owner),
        cmocka_unit_test(what_is_no_connection_is_not_ones_own),
        cmocka_unit_test(a_connection_whose_far_end_is_closed_has_ended_until_this_end_is_closed),
        cmocka_unit_test(a_greeting_that_was_read_and_not_answered_is_found),
        cmocka_unit_test(a_connection_is_shut_by_its_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
