/* pending_requests: what waits for somebody elsewhere is found by its token, expires, and goes with who asked. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "pmi-server/protocol/pending_requests.h"
#include "tests/unit/unit.h"

struct note {
    struct pending_request request;
    char name;
};

static char expired[16], freed[16];

static void write_down(char *list, struct pending_request *request)
{
    list[strlen(list)] = ((struct note *)request)->name;
    free(request);
}

static void note_expire(struct pending_request *request)
{
    write_down(expired, request);
}

static void note_free(struct pending_request *request)
{
    write_down(freed, request);
}

static const struct pending_request_kind notes = {note_expire, note_free};
static const struct pending_request_kind others = {note_expire, note_free};

static uint64_t add(struct pending_requests *requests, char name,
                    const struct pending_request_kind *kind, const char *owner, double timeout)
{
    struct note *note = mem_alloc(sizeof(*note));
    note->name = name;
    pending_requests_add(requests, &note->request, kind, owner, timeout);
    return note->request.token;
}

static int begin(void **state)
{
    (void)state;
    memset(expired, 0, sizeof(expired));
    memset(freed, 0, sizeof(freed));
    return 0;
}

static void a_request_is_taken_once_by_its_token(void **state)
{
    struct pending_requests *requests = pending_requests_new();
    uint64_t a = add(requests, 'a', &notes, "job", 0), b = add(requests, 'b', &notes, "job", 0);
    (void)state;
    assert_int_not_equal(a, b);
    assert_int_not_equal(pending_requests_token(requests), b);
    struct pending_request *taken = pending_requests_take(requests, &notes, "job", a);
    assert_non_null(taken);
    assert_int_equal(((struct note *)taken)->name, 'a');
    free(taken);
    assert_null(pending_requests_take(requests, &notes, "job", a));
    pending_requests_free(requests);
    assert_string_equal(freed, "b");
    assert_string_equal(expired, "");
}

static void one_of_another_kind_or_owner_is_not_taken(void **state)
{
    struct pending_requests *requests = pending_requests_new();
    uint64_t a = add(requests, 'a', &notes, "job", 0);
    (void)state;
    assert_null(pending_requests_take(requests, &others, "job", a));
    assert_null(pending_requests_take(requests, &notes, "other", a));
    assert_null(pending_requests_take(requests, &notes, "job", a + 1));
    struct pending_request *taken = pending_requests_take(requests, &notes, NULL, a);
    assert_non_null(taken);
    free(taken);
    pending_requests_free(requests);
}

static void what_an_owner_asked_goes_with_it(void **state)
{
    struct pending_requests *requests = pending_requests_new();
    (void)state;
    add(requests, 'a', &notes, "job", 0);
    add(requests, 'b', &others, "job", 9);
    add(requests, 'c', &notes, "other", 0);
    add(requests, 'd', &notes, "job", 0);
    assert_int_equal(pending_requests_count(requests, &notes, "job"), 2);
    pending_requests_drop(requests, "job");
    assert_string_equal(freed, "dba");
    assert_int_equal(pending_requests_count(requests, &notes, "job"), 0);
    assert_int_equal(pending_requests_count(requests, &notes, "other"), 1);
    pending_requests_free(requests);
}

static void those_whose_end_has_passed_expire(void **state)
{
    struct pending_requests *requests = pending_requests_new();
    (void)state;
    assert_true(pending_requests_deadline(requests) == 0);
    add(requests, 'a', &notes, "job", 0);
    assert_true(pending_requests_deadline(requests) == 0);
    add(requests, 'b', &notes, "job", 60);
    add(requests, 'c', &notes, "job", 1e-3);
    double left = pending_requests_deadline(requests) - pending_requests_clock();
    assert_true(left < 1);
    usleep(5000);
    pending_requests_expire(requests);
    assert_string_equal(expired, "c");
    left = pending_requests_deadline(requests) - pending_requests_clock();
    assert_true(left > 30 && left <= 60);
    pending_requests_free(requests);
    assert_string_equal(freed, "ba");
    pending_requests_free(NULL);
}

static struct pending_requests *answering;
static uint64_t answered; /* tokens from 1 to this one */

/* Who is told answers all others. */
static void note_answer(struct pending_request *request)
{
    write_down(expired, request);
    for (uint64_t token = 1; token <= answered; token++) {
        struct pending_request *other = pending_requests_take(answering, &notes, NULL, token);
        if (other)
            write_down(freed, other);
    }
}

static void others_may_be_answered_while_one_expires(void **state)
{
    static const struct pending_request_kind telling = {note_answer, note_free};
    (void)state;
    answering = pending_requests_new();
    add(answering, 'a', &notes, "job", 0);
    add(answering, 'b', &telling, "job", 1e-3);
    add(answering, 'c', &telling, "job", 1e-3);
    answered = add(answering, 'd', &notes, "job", 0);
    usleep(5000);
    pending_requests_expire(answering);
    assert_string_equal(expired, "cb");
    assert_string_equal(freed, "ad");
    assert_true(pending_requests_deadline(answering) == 0);
    pending_requests_free(answering);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_request_is_taken_once_by_its_token, begin),
        cmocka_unit_test_setup(one_of_another_kind_or_owner_is_not_taken, begin),
        cmocka_unit_test_setup(what_an_owner_asked_goes_with_it, begin),
        cmocka_unit_test_setup(those_whose_end_has_passed_expire, begin),
        cmocka_unit_test_setup(others_may_be_answered_while_one_expires, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
