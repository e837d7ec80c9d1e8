#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/tree/connect_back.h"
#include "launcher/tree/srun.h"

struct world {
    struct ev_loop *loop;
    struct connect_back *back;
    json_t *call;
    unsigned narrived;
    char host[256];
    int fd; /* of the last that arrived */
    bool accept;
};

static void on_arrived(void *arg, int fd, const char *host)
{
    struct world *world = arg;
    world->narrived++;
    snprintf(world->host, sizeof(world->host), "%s", host);
    if (world->accept)
        assert_int_equal(connect_back_accept(world->back, fd), 0);
    world->fd = fd;
}

static void world_open(struct world *world)
{
    struct error err = ERROR_INIT;
    *world = (struct world){.loop = ev_default_loop(0), .fd = -1, .accept = true};
    world->back = connect_back_new(world->loop, (struct connect_back_ports){0, 0}, 20, on_arrived,
                                   world, &err);
    if (!world->back)
        fail_msg("%s", error_text(&err));
    world->call = connect_back_call(world->back);
    unsetenv("SLURM_LAUNCH_NODE_IPADDR");
    setenv("SLURMD_NODENAME", "rack-7", 1);
}

static void world_close(struct world *world)
{
    connect_back_free(world->back);
    json_decref(world->call);
    if (world->fd >= 0)
        close(world->fd);
}

static int port_of(const struct world *world)
{
    return (int)json_integer_value(json_object_get(world->call, "port"));
}

/* An agent in a process of its own: its exit status, 0 where it was let in, and heard "link". */
static pid_t agent_start(const json_t *call)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    char bytes[4];
    struct error err = ERROR_INIT;
    int fd = connect_back_follow(call, &err);
    if (fd < 0)
        _exit(strstr(error_text(&err), "somebody else")       ? 3
              : strstr(error_text(&err), "that is this host") ? 5
                                                              : 2);
    if (err.text)
        _exit(6);
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    _exit(poll(&poller, 1, 10000) == 1 && recv(fd, bytes, 4, MSG_WAITALL) == 4 ? 0 : 4);
}

static int agent_status(struct world *world, pid_t pid)
{
    int status;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        ev_run(world->loop, EVRUN_NOWAIT);
        usleep(1000);
    }
    return WEXITSTATUS(status);
}

static void test_an_agent_with_the_call_is_let_in_by_its_name(void **state)
{
    struct world world;
    (void)state;
    world_open(&world);
    pid_t pid = agent_start(world.call);
    while (!world.narrived)
        ev_run(world.loop, EVRUN_ONCE);
    assert_int_equal(send(world.fd, "link", 4, 0), 4);
    assert_int_equal(agent_status(&world, pid), 0);
    assert_string_equal(world.host, "rack-7");
    world_close(&world);
}

/* Sends these bytes; how many come back before the end of the connection. */
static size_t stranger(struct world *world, const void *bytes, size_t len)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port_of(world)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    size_t count = 0;
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
    for (unsigned turn = 0; turn < 5000; turn++) {
        char heard[64];
        ev_run(world->loop, EVRUN_NOWAIT);
        ssize_t n = recv(fd, heard, sizeof(heard), MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            break;
        count += n > 0 ? (size_t)n : 0;
        assert_int_not_equal(turn, 4999);
        usleep(1000);
    }
    close(fd);
    return count;
}

static void test_who_has_no_key_hears_nothing(void **state)
{
    unsigned char bytes[33 + 255];
    struct world world;
    (void)state;
    world_open(&world);
    memset(bytes, 0, sizeof(bytes));
    assert_int_equal(stranger(&world, bytes, sizeof(bytes)), 0);
    memset(bytes, 255, sizeof(bytes));
    assert_int_equal(stranger(&world, bytes, sizeof(bytes)), 0);
    assert_int_equal(stranger(&world, "GET / HTTP/1.0\r\nHost: somewhere\r\n\r\n", 35), 0);
    assert_int_equal(world.narrived, 0);
    world_close(&world);
}

static int silent(const struct world *world)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port_of(world)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

/* Nor until the time of the first of them is up. */
static void test_many_who_say_nothing_keep_no_agent_out(void **state)
{
    struct world world;
    int fds[300];
    (void)state;
    world_open(&world);
    for (size_t i = 0; i < 300; i++) {
        fds[i] = silent(&world);
        ev_run(world.loop, EVRUN_NOWAIT);
    }
    double since = ev_time();
    pid_t pid = agent_start(world.call);
    while (!world.narrived)
        ev_run(world.loop, EVRUN_ONCE);
    assert_true(ev_time() - since < CONNECT_BACK_PATIENCE / 2);
    assert_int_equal(send(world.fd, "link", 4, 0), 4);
    assert_int_equal(agent_status(&world, pid), 0);
    for (size_t i = 0; i < 300; i++)
        close(fds[i]);
    world_close(&world);
}

static void test_many_who_say_nothing_keep_no_agent_out_where_descriptors_are_few(void **state)
{
    struct world world;
    struct rlimit before, few;
    int fds[20];
    (void)state;
    world_open(&world);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (size_t i = 0; i < 20; i++)
        fds[i] = silent(&world);
    double since = ev_time();
    pid_t pid = agent_start(world.call);
    few = (struct rlimit){(rlim_t)fds[19] + 5, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (!world.narrived)
        ev_run(world.loop, EVRUN_ONCE);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(ev_time() - since < CONNECT_BACK_PATIENCE / 2);
    assert_int_equal(send(world.fd, "link", 4, 0), 4);
    assert_int_equal(agent_status(&world, pid), 0);
    for (size_t i = 0; i < 20; i++)
        close(fds[i]);
    world_close(&world);
}

/* The other key of the call is not the agent's. */
static void test_the_parents_key_lets_nobody_in(void **state)
{
    struct world world;
    (void)state;
    world_open(&world);
    json_t *swapped = json_deep_copy(world.call);
    json_object_set(swapped, "key", json_object_get(world.call, "answer"));
    assert_int_equal(agent_status(&world, agent_start(swapped)), 2);
    assert_int_equal(world.narrived, 0);
    json_decref(swapped);
    world_close(&world);
}

static void test_an_agent_does_not_trust_who_lacks_the_parents_key(void **state)
{
    struct world world;
    (void)state;
    world_open(&world);
    json_t *other = json_deep_copy(world.call);
    json_object_set(other, "answer", json_object_get(world.call, "key"));
    assert_int_equal(agent_status(&world, agent_start(other)), 3);
    json_decref(other);
    world_close(&world);
}

/* Every address of this machine leads here: somebody might listen on it. */
static void
test_an_agent_keeps_its_key_from_its_own_host_where_the_parent_is_on_another(void **state)
{
    struct world world;
    (void)state;
    world_open(&world);
    json_t *other = json_deep_copy(world.call);
    json_object_set_new(other, "network", json_string("of another host"));
    assert_int_equal(agent_status(&world, agent_start(other)), 5);
    json_object_set_new(other, "network", json_string(""));
    setenv("SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1", 1);
    assert_int_equal(agent_status(&world, agent_start(other)), 5);
    assert_int_equal(world.narrived, 0);
    json_decref(other);
    world_close(&world);
}

static void test_malformed_calls_are_refused(void **state)
{
    static const char *const cases[] = {
        "{}",
        "[]",
        "{\"port\": \"80\", \"key\": \"\", \"answer\": \"\", \"addresses\": [], \"patience\": 1}",
        "{\"port\": 80, \"key\": \"\", \"answer\": \"\", \"addresses\": [], \"patience\": 1}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        json_t *call = json_loads(cases[i], 0, NULL);
        assert_non_null(call);
        assert_int_equal(connect_back_follow(call, &err), -1);
        assert_non_null(err.text);
        error_clear(&err);
        json_decref(call);
    }
}

static void test_bad_ports_keys_and_addresses_are_refused(void **state)
{
    struct world world;
    (void)state;
    world_open(&world);
    const struct {
        const char *name;
        json_t *value;
    } cases[] = {
        {"port", json_integer(0)},
        {"port", json_integer(65536)},
        {"port", json_integer(-1)},
        {"key", json_string("00")},
        {"answer", json_string("zz")},
        {"addresses", json_array()},
        {"network", json_null()},
        {"addresses", json_string("x")},
        {"addresses", json_pack("[i, n, s]", 7, "no address")},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        json_t *call = json_deep_copy(world.call);
        json_object_set_new(call, cases[i].name, cases[i].value);
        assert_int_equal(connect_back_follow(call, &err), -1);
        assert_non_null(err.text);
        error_clear(&err);
        json_decref(call);
    }
    world_close(&world);
}

static void test_a_failure_is_told_of_the_first_address(void **state)
{
    struct world world;
    struct error err = ERROR_INIT;
    char *text;
    (void)state;
    world_open(&world);
    text = mem_format("cannot connect back to first, port %d: ", port_of(&world));
    json_object_set_new(world.call, "addresses", json_pack("[s, s]", "first", "second"));
    assert_int_equal(connect_back_follow(world.call, &err), -1);
    assert_int_equal(strncmp(error_text(&err), text, strlen(text)), 0);
    error_clear(&err);
    free(text);
    world_close(&world);
}

/* The caller's error is empty where another address did. */
static void test_a_later_address_is_used_where_the_first_fails(void **state)
{
    struct world world;
    (void)state;
    world_open(&world);
    json_array_insert_new(json_object_get(world.call, "addresses"), 0, json_string("first"));
    pid_t pid = agent_start(world.call);
    while (!world.narrived)
        ev_run(world.loop, EVRUN_ONCE);
    assert_int_equal(send(world.fd, "link", 4, 0), 4);
    assert_int_equal(agent_status(&world, pid), 0);
    world_close(&world);
}

/* A network of its own, where an interface takes packets for 192.0.2.7 and nobody hears them. */
static bool enter_deaf_network(void)
{
    return unshare(CLONE_NEWNET) == 0 &&
           system("{ ip link set lo up && ip link add drop type veth peer name deaf &&"
                  "ip link set drop arp off && ip address add 192.0.2.1/24 dev drop &&"
                  "ip link set deaf up && ip link set drop up; } 2>/dev/null") == 0;
}

static void test_addresses_that_do_not_answer_delay_no_later_one(void **state)
{
    struct world world;
    (void)state;
    int network = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (!enter_deaf_network()) {
        setns(network, CLONE_NEWNET);
        close(network);
        skip();
    }
    world_open(&world);
    json_t *addresses = json_object_get(world.call, "addresses");
    json_array_insert_new(addresses, 0, json_string("192.0.2.7"));
    json_array_insert_new(addresses, 0, json_string("192.0.2.8"));
    double since = ev_time();
    pid_t pid = agent_start(world.call);
    while (!world.narrived)
        ev_run(world.loop, EVRUN_ONCE);
    assert_true(ev_time() - since < CONNECT_BACK_PATIENCE);
    assert_int_equal(send(world.fd, "link", 4, 0), 4);
    assert_int_equal(agent_status(&world, pid), 0);
    world_close(&world);
    setns(network, CLONE_NEWNET);
    close(network);
}

static void test_the_port_is_one_of_those_given(void **state)
{
    struct world world = {.loop = ev_default_loop(0)};
    struct connect_back *backs[3];
    struct error err = ERROR_INIT;
    struct connect_back_ports ports = {28317, 28319};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        backs[i] = connect_back_new(world.loop, ports, 1, on_arrived, &world, &err);
        if (!backs[i])
            skip(); /* somebody else uses them */
        world.call = connect_back_call(backs[i]);
        assert_uint_in_range(port_of(&world), ports.low, ports.high);
        json_decref(world.call);
    }
    assert_null(connect_back_new(world.loop, ports, 1, on_arrived, &world, &err));
    assert_string_equal(error_text(&err), "cannot listen for agents on ports 28317 to 28319 "
                                          "(SrunPortRange): Address already in use");
    for (size_t i = 0; i < 3; i++)
        connect_back_free(backs[i]);
    error_clear(&err);
}

static void test_slurm_conf_says_which_ports_there_are(void **state)
{
    static const struct {
        const char *text;
        uint16_t low, high;
    } cases[] = {
        {"ClusterName=x\nSrunPortRange=60001-63000\n", 60001, 63000},
        {" srunportrange = 1-65535 # all", 1, 65535},
        {"#SrunPortRange=1-2\n", 0, 0},
        {"SrunPortRange=7-6\n", 0, 0},
        {"SrunPortRange=0-6\n", 0, 0},
        {"SrunPortRange=70000-70001\n", 0, 0},
        {"SrunPortRange=\n", 0, 0},
    };
    char path[] = "/tmp/slurm.conf.XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    setenv("SLURM_CONF", path, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, cases[i].text, strlen(cases[i].text), 0),
                         strlen(cases[i].text));
        struct connect_back_ports ports = srun_ports();
        assert_int_equal(ports.low, cases[i].low);
        assert_int_equal(ports.high, cases[i].high);
    }
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_agent_with_the_call_is_let_in_by_its_name),
        cmocka_unit_test(test_who_has_no_key_hears_nothing),
        cmocka_unit_test(test_many_who_say_nothing_keep_no_agent_out),
        cmocka_unit_test(test_many_who_say_nothing_keep_no_agent_out_where_descriptors_are_few),
        cmocka_unit_test(test_the_parents_key_lets_nobody_in),
        cmocka_unit_test(test_an_agent_does_not_trust_who_lacks_the_parents_key),
        cmocka_unit_test(
            test_an_agent_keeps_its_key_from_its_own_host_where_the_parent_is_on_another),
        cmocka_unit_test(test_malformed_calls_are_refused),
        cmocka_unit_test(test_bad_ports_keys_and_addresses_are_refused),
        cmocka_unit_test(test_a_failure_is_told_of_the_first_address),
        cmocka_unit_test(test_a_later_address_is_used_where_the_first_fails),
        cmocka_unit_test(test_addresses_that_do_not_answer_delay_no_later_one),
        cmocka_unit_test(test_the_port_is_one_of_those_given),
        cmocka_unit_test(test_slurm_conf_says_which_ports_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
