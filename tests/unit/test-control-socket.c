#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/directory.h"
#include "base/mem.h"
#include "launcher/control/authorize.h"
#include "launcher/control/control_address.h"
#include "launcher/control/control_client.h"
#include "launcher/control/control_socket.h"
#include "launcher/tree/link.h"
#include "tests/unit/unit.h"

/* A manager in a process of its own: it answers "ps" with who asked, never answers "save", ends at "terminate", and
 * counts the bytes of "input", which it says at FRAME_STDIN_END. Ranks: how many it takes before it gives credit no
 * more. At "signal" it answers how many of those who sent input have left without an end. */
struct world {
    char path[64];
    int dir;
    pid_t manager;
};

static struct {
    size_t bytes, most;
    int left;
} input; /* of the manager's process */

static void on_input(void *owner, struct control_peer *peer, const struct frame *frame)
{
    struct control_answer answer = {0};
    (void)owner;
    input.bytes += frame->len;
    if (frame->type == FRAME_STDIN_END) {
        control_answer_refuse(&answer, CONTROL_NOT_NOW, "%zu", input.bytes);
        control_peer_answer(peer, &answer);
        control_answer_clear(&answer);
    } else if (input.bytes <= input.most) {
        control_peer_settle(peer);
    }
}

static void on_left(void *owner, struct control_peer *peer)
{
    (void)owner, (void)peer;
    input.left++;
}

static void on_request(void *owner, struct control_peer *peer,
                       const struct control_request *request, const char *who)
{
    struct control_answer answer = {0};
    (void)owner;
    if (request->method == CONTROL_METHOD_INPUT) {
        input.bytes = 0;
        input.most = request->ranks ? idset_last(request->ranks) : SIZE_MAX;
        control_peer_stay(peer, &answer);
        return;
    }
    if (request->method == CONTROL_METHOD_SIGNAL) {
        control_answer_refuse(&answer, CONTROL_NOT_NOW, "%d", input.left);
        control_peer_answer(peer, &answer);
        control_answer_clear(&answer);
        return;
    }
    if (request->method == CONTROL_METHOD_SAVE)
        return;
    if (request->method == CONTROL_METHOD_TERMINATE)
        _exit(0);
    control_answer_refuse(&answer, CONTROL_NOT_NOW, "%s", who);
    control_peer_answer(peer, &answer);
    control_answer_clear(&answer);
}

static const struct control_socket_ops ops = {on_request, on_input, on_left};

static void manage(struct world *world)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    world->manager = fork();
    if (!world->manager) {
        struct ev_loop *loop = ev_loop_new(0);
        signal(SIGPIPE, SIG_IGN);
        struct control_socket *control = control_socket_open(loop, world->dir, &ops, NULL, NULL);
        if (control && write(ready[1], "r", 1) == 1)
            ev_run(loop, 0);
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
}

static void end_manager(struct world *world, int number)
{
    if (world->manager <= 0)
        return;
    kill(world->manager, number);
    waitpid(world->manager, NULL, 0);
    world->manager = 0;
}

static int setup(void **state)
{
    struct world *world = mem_alloc(sizeof(*world));
    strcpy(world->path, "/tmp/test-control-XXXXXX");
    assert_non_null(mkdtemp(world->path));
    world->dir = open(world->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    manage(world);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    end_manager(world, SIGKILL);
    close(world->dir);
    directory_remove(AT_FDCWD, world->path);
    free(world);
    return 0;
}

static bool is_alive(void *arg)
{
    return *(bool *)arg;
}

static enum control_outcome ask(struct world *world, enum control_method method, double patience,
                                struct control_answer *answer, struct error *err)
{
    struct control_request request = {.method = method, .grace = -1};
    bool alive = false;
    return control_ask(world->dir, &request, patience, is_alive, &alive, answer, err);
}

static void check_answers(struct world *world)
{
    struct control_answer answer;
    struct error err = ERROR_INIT;
    char *who = mem_format(" (pid %d)", (int)getpid());
    if (ask(world, CONTROL_METHOD_PS, 20, &answer, &err) != CONTROL_SAID)
        fail_msg("no answer: %s", error_text(&err));
    assert_int_equal(answer.status, CONTROL_NOT_NOW);
    assert_non_null(strstr(answer.error, who));
    control_answer_clear(&answer);
    free(who);
}

static int connect_to(struct world *world)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    control_address(&address, world->dir);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* The manager closes the connection within so many s; what it says is passed over. */
static bool is_closed_within(int fd, double seconds)
{
    char bytes[4096];
    double end = clock_monotonic_seconds() + seconds;
    struct timeval limit = {.tv_usec = 100000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    while (clock_monotonic_seconds() < end) {
        ssize_t n = read(fd, bytes, sizeof(bytes));
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return true;
    }
    return false;
}

/* A connection that stays, over which input is sent. */
static int begin_input(struct world *world, const char *ranks)
{
    struct control_request request = {.method = CONTROL_METHOD_INPUT,
                                      .ranks = ranks ? idset_decode(ranks, NULL) : NULL};
    struct control_answer answer;
    bool alive = false;
    int fd;
    assert_int_equal(
        control_ask_and_stay(world->dir, &request, 4, is_alive, &alive, &answer, &fd, NULL),
        CONTROL_SAID);
    assert_int_equal(answer.status, 0);
    assert_true(fd >= 0);
    const struct timeval patience = {.tv_sec = 20};
    fcntl(fd, F_SETFL, 0); /* what is read is waited for */
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    control_answer_clear(&answer);
    control_request_clear(&request);
    return fd;
}

/* How many bytes of so many could be sent within so many seconds, in frames of 64 KiB. */
static size_t send_input(int fd, size_t most, double patience)
{
    static char bytes[FRAME_HEADER + 65536];
    struct frame frame = {.type = FRAME_STDIN, .len = 65536};
    double end = clock_monotonic_seconds() + patience;
    size_t sent = 0, part = 0;
    frame_encode_header(&frame, (unsigned char *)bytes);
    while (sent < most && clock_monotonic_seconds() < end) {
        ssize_t n = send(fd, bytes + part, sizeof(bytes) - part, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN)
            break;
        part += n > 0 ? (size_t)n : 0;
        if (part < sizeof(bytes))
            continue;
        part = 0;
        sent += frame.len;
    }
    return sent;
}

/* The same without more under way than the manager gives credit for, which is read into `got`; and all of it. */
static void send_input_with_credit(int fd, size_t most, struct buf *got)
{
    size_t room = LINK_WINDOW, piece = FRAME_HEADER + 65536, seen = 0;
    for (size_t sent = 0; sent < most; sent += 65536) {
        while (room < piece) {
            ssize_t n = read(fd, buf_reserve(got, 4096), 4096);
            assert_true(n > 0);
            buf_added(got, (size_t)n);
            for (; seen + FRAME_HEADER <= got->len; seen += FRAME_HEADER) {
                struct buf view = {
                    .data = got->data, .start = got->start + seen, .len = FRAME_HEADER};
                struct frame credit;
                assert_int_equal(frame_decode(&view, &credit, NULL), 1);
                assert_int_equal(credit.type, FRAME_CREDIT);
                room += credit.rank;
            }
        }
        assert_int_equal(send_input(fd, 65536, 20), 65536);
        room -= piece;
    }
}

/* What the manager answers to `method`, and nothing else. */
static void check_says(struct world *world, enum control_method method, const char *text)
{
    struct control_request request = {.method = method, .number = SIGTERM};
    struct control_answer answer;
    bool alive = false;
    assert_int_equal(control_ask(world->dir, &request, 4, is_alive, &alive, &answer, NULL),
                     CONTROL_SAID);
    assert_string_equal(answer.error, text);
    control_answer_clear(&answer);
}

/* ---- tests ---- */

static void test_who_sends_input_stays_to_its_end(void **state)
{
    struct world *world = *state;
    unsigned char end[FRAME_HEADER];
    struct buf got = BUF_INIT;
    struct frame frame = {0};
    size_t credit = 0;
    int fd = begin_input(world, NULL);
    send_input_with_credit(fd, 4 << 20, &got);
    check_answers(world); /* others are heard meanwhile */
    frame_encode_header(&(struct frame){.type = FRAME_STDIN_END}, end);
    assert_int_equal(write(fd, end, FRAME_HEADER), FRAME_HEADER);
    for (ssize_t n; (n = read(fd, buf_reserve(&got, 4096), 4096)) > 0;)
        buf_added(&got, (size_t)n);
    while (frame_decode(&got, &frame, NULL) > 0 && frame.type == FRAME_CREDIT) {
        credit += frame.rank;
        buf_consume(&got, FRAME_HEADER + frame.len);
    }
    assert_true(credit > (4 << 20) - LINK_WINDOW);
    assert_int_equal(frame.type, FRAME_CONTROL);
    assert_non_null(memmem(frame.bytes, frame.len, "\"4194304\"", 9));
    buf_free(&got);
    close(fd);
    check_says(world, CONTROL_METHOD_SIGNAL, "0");
}

static void test_who_sends_more_input_than_is_taken_is_closed(void **state)
{
    struct world *world = *state;
    int fd = begin_input(world, "100000");
    assert_true(send_input(fd, 64 << 20, 1) < 8 << 20);
    assert_true(is_closed_within(fd, 4));
    close(fd);
    check_says(world, CONTROL_METHOD_SIGNAL, "1");
}

static void test_who_sends_input_and_dies_is_missed(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 3; i++)
        close(begin_input(world, NULL));
    check_answers(world);
    check_says(world, CONTROL_METHOD_SIGNAL, "3");
}

static void test_many_that_say_nothing_do_not_push_out_who_sends_input(void **state)
{
    struct world *world = *state;
    struct buf got = BUF_INIT;
    int fd = begin_input(world, NULL), fds[100];
    for (size_t i = 0; i < 100; i++)
        fds[i] = connect_to(world);
    check_answers(world);
    send_input_with_credit(fd, 1 << 20, &got);
    buf_free(&got);
    assert_false(is_closed_within(fd, 0.2));
    for (size_t i = 0; i < 100; i++)
        close(fds[i]);
    close(fd);
}

static void test_a_request_is_answered(void **state)
{
    struct world *world = *state;
    check_answers(world);
    check_answers(world);
}

static void test_nobody_else_may_use_the_file(void **state)
{
    struct world *world = *state;
    struct stat st;
    assert_int_equal(fstatat(world->dir, CONTROL_NAME, &st, 0), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_owners_are_authorized_and_nobody_else(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    assert_int_equal(authorize("signal", 1000, 1000, NULL), 0);
    assert_int_equal(authorize("signal", 0, 0, NULL), 0);
    assert_int_equal(authorize("signal", 0, 1000, &err), -1);
    assert_string_equal(error_text(&err),
                        "signal: the program is of user 1000, and user 0 may not");
    assert_int_equal(authorize("ps", 1000, 1001, NULL), -1);
    error_clear(&err);
}

static void test_an_answer_that_does_not_come_is_waited_for_no_longer_than_asked(void **state)
{
    struct world *world = *state;
    struct control_answer answer;
    struct error err = ERROR_INIT;
    char *sentence =
        mem_format("its manager (pid %d) does not answer within 0.2 s: it is stopped or busy",
                   (int)world->manager);
    assert_int_equal(ask(world, CONTROL_METHOD_SAVE, 0.2, &answer, &err), CONTROL_SILENT);
    assert_string_equal(error_text(&err), sentence);
    check_answers(world); /* who went without its answer harms nothing */
    free(sentence);
    error_clear(&err);
}

static void test_a_manager_that_is_stopped_is_not_waited_for(void **state)
{
    struct world *world = *state;
    struct control_answer answer;
    kill(world->manager, SIGSTOP);
    assert_int_equal(ask(world, CONTROL_METHOD_PS, 0.2, &answer, NULL), CONTROL_SILENT);
    kill(world->manager, SIGCONT);
    check_answers(world);
}

static void test_a_manager_that_goes_is_gone(void **state)
{
    struct world *world = *state;
    struct control_answer answer;
    assert_int_equal(ask(world, CONTROL_METHOD_TERMINATE, 4, &answer, NULL), CONTROL_GONE);
    assert_int_equal(ask(world, CONTROL_METHOD_PS, 4, &answer, NULL), CONTROL_GONE);
    end_manager(world, SIGKILL);
    manage(world); /* the file that it left is replaced */
    check_answers(world);
}

static void test_a_socket_that_is_not_there_is_waited_for_while_the_program_lives(void **state)
{
    struct world *world = *state;
    struct control_answer answer;
    struct control_request request = {.method = CONTROL_METHOD_PS};
    struct error err = ERROR_INIT;
    bool alive = true;
    end_manager(world, SIGKILL);
    unlinkat(world->dir, CONTROL_NAME, 0);
    assert_int_equal(ask(world, CONTROL_METHOD_PS, 4, &answer, NULL), CONTROL_GONE);
    assert_int_equal(control_ask(world->dir, &request, 0.1, is_alive, &alive, &answer, &err),
                     CONTROL_SILENT);
    assert_string_equal(error_text(&err), "its manager does not listen yet");
    error_clear(&err);
}

static void test_many_that_say_nothing_keep_nobody_from_asking(void **state)
{
    struct world *world = *state;
    int fds[100];
    for (size_t i = 0; i < 100; i++)
        fds[i] = connect_to(world);
    check_answers(world);
    for (size_t i = 0; i < 100; i++)
        close(fds[i]);
}

static void test_many_that_ask_at_once_are_all_answered(void **state)
{
    struct world *world = *state;
    pid_t pids[150];
    int status;
    for (size_t i = 0; i < 150; i++) {
        pids[i] = fork();
        if (!pids[i]) {
            struct control_answer answer;
            _exit(ask(world, CONTROL_METHOD_PS, 60, &answer, NULL) != CONTROL_SAID);
        }
    }
    for (size_t i = 0; i < 150; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
}

static int listen_in(struct world *world)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    control_address(&address, world->dir);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 64), 0);
    return fd;
}

static void test_what_is_closed_before_it_was_read_is_asked_again(void **state)
{
    struct world *world = *state;
    end_manager(world, SIGKILL);
    unlinkat(world->dir, CONTROL_NAME, 0);
    int listener = listen_in(world);
    world->manager = fork();
    if (!world->manager) {
        struct ev_loop *loop = ev_loop_new(0);
        int first = accept(listener, NULL, NULL);
        control_socket_open(loop, world->dir, &ops, NULL, NULL);
        close(listener);
        close(first);
        ev_run(loop, 0);
        _exit(1);
    }
    close(listener);
    check_answers(world);
}

static void test_a_manager_that_lets_nobody_in_is_waited_for_no_longer_than_asked(void **state)
{
    struct world *world = *state;
    struct control_answer answer;
    struct error err = ERROR_INIT;
    end_manager(world, SIGKILL);
    unlinkat(world->dir, CONTROL_NAME, 0);
    int listener = listen_in(world), fds[65];
    for (size_t i = 0; i < 65; i++) /* one more than it lets wait */
        fds[i] = connect_to(world);
    assert_int_equal(ask(world, CONTROL_METHOD_PS, 0.1, &answer, &err), CONTROL_SILENT);
    assert_string_equal(error_text(&err),
                        "its manager does not take new requests: it is stopped or busy");
    error_clear(&err);
    for (size_t i = 0; i < 65; i++)
        close(fds[i]);
    close(listener);
}

static void test_nonsense_is_closed(void **state)
{
    struct world *world = *state;
    static const char http[] = "GET / HTTP/1.0\r\n\r\n          ";
    int fd = connect_to(world);
    assert_int_equal(write(fd, http, sizeof(http)), sizeof(http));
    assert_true(is_closed_within(fd, 4));
    close(fd);
    check_answers(world);
}

static void test_a_frame_that_announces_too_much_is_closed(void **state)
{
    struct world *world = *state;
    static char bytes[65536];
    unsigned char header[FRAME_HEADER];
    struct frame frame = {.type = FRAME_CONTROL, .len = FRAME_MAX};
    size_t sent = 0;
    int fd = connect_to(world);
    frame_encode_header(&frame, header);
    assert_int_equal(write(fd, header, FRAME_HEADER), FRAME_HEADER);
    while (sent < FRAME_MAX / 2) {
        ssize_t n = send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
        if (n <= 0)
            break;
        sent += (size_t)n;
    }
    assert_true(sent < FRAME_MAX / 2);
    close(fd);
    check_answers(world);
}

/* Its answers are not read. */
static void test_pings_without_end_are_closed(void **state)
{
    struct world *world = *state;
    static char bytes[(FRAME_HEADER + 8) * 1000];
    struct frame frame = {.type = FRAME_PING, .len = 8};
    size_t sent = 0;
    int fd = connect_to(world);
    for (size_t i = 0; i < 1000; i++)
        frame_encode_header(&frame, (unsigned char *)bytes + i * (FRAME_HEADER + 8));
    while (sent < FRAME_MAX) {
        ssize_t n = send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
        if (n <= 0)
            break;
        sent += (size_t)n;
        if ((size_t)n < sizeof(bytes)) /* in the middle of a frame from now on */
            break;
    }
    assert_true(sent < FRAME_MAX);
    close(fd);
    check_answers(world);
}

static void test_a_second_request_is_closed(void **state)
{
    struct world *world = *state;
    static const char text[] = "{\"version\":1,\"method\":\"save\"}";
    unsigned char header[FRAME_HEADER];
    struct frame frame = {.type = FRAME_CONTROL, .len = sizeof(text) - 1};
    int fd = connect_to(world);
    frame_encode_header(&frame, header);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(write(fd, header, FRAME_HEADER), FRAME_HEADER);
        assert_int_equal(write(fd, text, frame.len), frame.len);
    }
    assert_true(is_closed_within(fd, 4));
    close(fd);
    check_answers(world);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_request_is_answered),
        CASE(test_nobody_else_may_use_the_file),
        CASE(test_owners_are_authorized_and_nobody_else),
        CASE(test_an_answer_that_does_not_come_is_waited_for_no_longer_than_asked),
        CASE(test_a_manager_that_is_stopped_is_not_waited_for),
        CASE(test_a_manager_that_goes_is_gone),
        CASE(test_a_socket_that_is_not_there_is_waited_for_while_the_program_lives),
        CASE(test_many_that_say_nothing_keep_nobody_from_asking),
        CASE(test_many_that_ask_at_once_are_all_answered),
        CASE(test_what_is_closed_before_it_was_read_is_asked_again),
        CASE(test_a_manager_that_lets_nobody_in_is_waited_for_no_longer_than_asked),
        CASE(test_nonsense_is_closed),
        CASE(test_a_frame_that_announces_too_much_is_closed),
        CASE(test_pings_without_end_are_closed),
        CASE(test_a_second_request_is_closed),
        CASE(test_who_sends_input_stays_to_its_end),
        CASE(test_who_sends_more_input_than_is_taken_is_closed),
        CASE(test_who_sends_input_and_dies_is_missed),
        CASE(test_many_that_say_nothing_do_not_push_out_who_sends_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
