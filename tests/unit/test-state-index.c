/* The index of what is kept: it never says anything that the logs do not, however it was left. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/file.h"
#include "launcher/ledger/program_search.h"
#include "launcher/ledger/state_directory.h"
#include "launcher/ledger/state_index.h"

static char world[64];
static int state_fd;

static const char log_text[] =
    "{\"timestamp\":100.5,\"name\":\"new\",\"context\":{\"id\":\"7\",\"command\":[\"a\",\"b "
    "c\"]}}\n"
    "{\"timestamp\":101,\"name\":\"pending\"}\n"
    "{\"timestamp\":103,\"name\":\"starting\"}\n"
    "{\"timestamp\":104,\"name\":\"launch\",\"context\":{\"group\":0,\"taskmap\":{\"version\":1,"
    "\"map\":[[0,2,2,1]]},\"sizes\":[4],\"hosts\":\"n[0-1]\",\"kinds\":[]}}\n"
    "{\"timestamp\":106.25,\"name\":\"running\"}\n"
    "{\"timestamp\":109,\"name\":\"complete\",\"context\":{\"status\":3,\"reason\":\"rank "
    "0\\n\"}}\n";

static int make_states(void **state)
{
    char path[96];
    (void)state;
    snprintf(world, sizeof(world), "/tmp/test-index-XXXXXX");
    if (!mkdtemp(world))
        return -1;
    snprintf(path, sizeof(path), "%s/run", world);
    setenv("TPRUN_RUNTIME_DIR", path, 1);
    snprintf(path, sizeof(path), "%s/state", world);
    setenv("XDG_STATE_HOME", path, 1);
    state_fd = state_directory_open("test", true, NULL);
    return state_fd < 0 ? -1 : 0;
}

static int end_states(void **state)
{
    (void)state;
    close(state_fd);
    directory_remove(AT_FDCWD, world);
    return 0;
}

static void keep(const char *id, const char *log, size_t len)
{
    struct completed_context context = {.files[CONTEXT_EVENTS] = log, .lens[CONTEXT_EVENTS] = len};
    struct kept_context kept;
    snprintf(context.id, sizeof(context.id), "%s", id);
    assert_int_equal(state_directory_put(state_fd, &context, -1, &kept, NULL), 0);
    assert_string_equal(kept.name, id);
}

static void write_index(const char *bytes, size_t len)
{
    int fd = openat(state_fd, STATE_INDEX_FILE, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(file_write_all(fd, bytes, len), 0);
    close(fd);
}

static struct buf read_index(void)
{
    struct buf bytes = BUF_INIT;
    char path[64];
    int fd = openat(state_fd, STATE_INDEX_FILE, O_RDONLY);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (fd >= 0)
        assert_int_equal(file_read(path, &bytes), 0);
    if (fd >= 0)
        close(fd);
    return bytes;
}

/* "ID STATE STATUS NTASKS COMMAND;" of all. */
static void expect_list(const char *want)
{
    struct buf list = BUF_INIT;
    struct program_search *search = program_search_new(NULL, NULL);
    program_search_add_kept(search);
    for (size_t i = 0; i < program_search_count(search); i++) {
        const struct found_program *program = program_search_nth(search, i);
        struct program_record *record = found_program_record(program, false, NULL);
        assert_non_null(record);
        buf_printf(&list, "%s %s%s %d %u %zu;", found_program_id(program),
                   record_state_name(record->state), record->is_lost ? " lost" : "", record->status,
                   record->ntasks, json_array_size(record->command));
        program_record_free(record);
    }
    assert_string_equal(buf_text(&list), want);
    program_search_free(search);
    buf_free(&list);
}

static size_t count_lines(void)
{
    struct buf bytes = read_index();
    size_t count = 0;
    for (size_t i = 0; i < bytes.len; i++)
        count += buf_bytes(&bytes)[i] == '\n';
    buf_free(&bytes);
    return count;
}

#define TWO "7 complete 3 4 2;12 complete 3 4 2;"

static void test_a_line_gives_the_record_that_it_was_made_of(void **state)
{
    struct buf lines = BUF_INIT;
    struct program_record *record = program_record_read(log_text, sizeof(log_text) - 1, false);
    (void)state;
    state_index_encode(&lines, "7", 42, record);
    state_index_append(state_fd, &lines);
    struct state_index *index = state_index_open(state_fd);
    assert_null(state_index_find(index, "7", 43)); /* another directory of this name */
    assert_null(state_index_find(index, "8", 42));
    const struct state_index_line *line = state_index_find(index, "7", 42);
    assert_non_null(line);
    struct program_record *again = state_index_record(line);
    assert_int_equal(again->state, RECORD_COMPLETE);
    assert_int_equal(again->status, 3);
    assert_int_equal(again->ntasks, 4);
    assert_int_equal(again->nnodes, 2);
    assert_string_equal(again->reason, "rank 0\n");
    assert_true(json_equal(again->command, record->command));
    assert_true(again->t_new == 100.5 && again->t_start == 106.25 && again->t_end == 109);
    assert_false(again->is_lost);
    state_index_close(index);
    program_record_free(again);
    program_record_free(record);
    buf_free(&lines);
}

static void test_without_an_index_logs_are_read_and_it_is_made(void **state)
{
    (void)state;
    keep("7", log_text, sizeof(log_text) - 1);
    keep("12", log_text, sizeof(log_text) - 1);
    expect_list(TWO);
    assert_int_equal(count_lines(), 2);
    expect_list(TWO);
    assert_int_equal(count_lines(), 2);
}

static void test_an_index_that_is_cut_at_any_byte_is_mended(void **state)
{
    (void)state;
    keep("7", log_text, sizeof(log_text) - 1);
    keep("12", log_text, sizeof(log_text) - 1);
    expect_list(TWO);
    struct buf whole = read_index();
    for (size_t len = 0; len <= whole.len; len++) {
        write_index(buf_bytes(&whole), len);
        expect_list(TWO);
        expect_list(TWO); /* what came behind the cut */
    }
    for (size_t i = 0; i < whole.len; i++) { /* a byte of it is another; the id stands twice */
        struct buf changed = BUF_INIT;
        buf_add(&changed, buf_bytes(&whole), whole.len);
        changed.data[changed.start + i] ^= '\x80';
        write_index(buf_bytes(&changed), changed.len);
        struct program_search *search = program_search_new(NULL, NULL);
        program_search_add_kept(search);
        assert_int_equal(program_search_count(search), 2);
        for (size_t k = 0; k < 2; k++) {
            struct program_record *record =
                found_program_record(program_search_nth(search, k), false, NULL);
            assert_non_null(record);
            program_record_free(record);
        }
        program_search_free(search);
        buf_free(&changed);
    }
    buf_free(&whole);
}

static void test_a_log_that_is_cut_at_any_byte_is_complete_and_lost(void **state)
{
    size_t len = sizeof(log_text) - 1;
    (void)state;
    for (size_t cut = 0; cut <= len; cut++) {
        keep("7", log_text, cut);
        unlinkat(state_fd, STATE_INDEX_FILE, 0);
        for (int again = 0; again < 2; again++) {
            struct program_search *search = program_search_new(NULL, NULL);
            const struct found_program *program;
            program_search_add_kept(search);
            assert_int_equal(program_search_find(search, "7", NULL, &program, NULL), 1);
            struct program_record *record = found_program_record(program, false, NULL);
            assert_int_equal(record->state, RECORD_COMPLETE);
            assert_int_equal(record->is_lost, cut < len);
            program_record_free(record);
            program_search_free(search);
        }
        assert_int_equal(state_directory_remove(state_fd, "7", NULL), 0);
    }
}

static void test_a_number_that_is_used_anew_has_its_own_line(void **state)
{
    (void)state;
    keep("7", log_text, sizeof(log_text) - 1);
    expect_list("7 complete 3 4 2;");
    assert_int_equal(state_directory_remove(state_fd, "7", NULL), 0);
    keep("8", log_text, 10); /* so that 7 gets another inode */
    keep("7", log_text, 100);
    expect_list("7 complete lost -1 0 2;8 complete lost -1 0 0;");
}

static void test_lines_of_what_is_removed_do_not_add_up(void **state)
{
    struct buf lines = BUF_INIT;
    struct program_record *record = program_record_read(log_text, sizeof(log_text) - 1, false);
    (void)state;
    keep("7", log_text, sizeof(log_text) - 1);
    for (unsigned i = 0; i < 1200; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%u", 100 + i);
        state_index_encode(&lines, name, i, record);
    }
    state_index_append(state_fd, &lines);
    expect_list("7 complete 3 4 2;");
    assert_int_equal(count_lines(), 1);
    expect_list("7 complete 3 4 2;");
    program_record_free(record);
    buf_free(&lines);
}

static void test_an_index_that_cannot_be_read_or_written_harms_nothing(void **state)
{
    (void)state;
    keep("7", log_text, sizeof(log_text) - 1);
    assert_int_equal(mkdirat(state_fd, STATE_INDEX_FILE, 0700), 0);
    expect_list("7 complete 3 4 2;");
    unlinkat(state_fd, STATE_INDEX_FILE, AT_REMOVEDIR);
    assert_int_equal(mkfifoat(state_fd, STATE_INDEX_FILE, 0600), 0);
    expect_list("7 complete 3 4 2;");
    unlinkat(state_fd, STATE_INDEX_FILE, 0);
    assert_int_equal(symlinkat("/dev/full", state_fd, STATE_INDEX_FILE), 0);
    expect_list("7 complete 3 4 2;");
}

#define IN_A_STATE(test) cmocka_unit_test_setup_teardown(test, make_states, end_states)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_STATE(test_a_line_gives_the_record_that_it_was_made_of),
        IN_A_STATE(test_without_an_index_logs_are_read_and_it_is_made),
        IN_A_STATE(test_an_index_that_is_cut_at_any_byte_is_mended),
        IN_A_STATE(test_a_log_that_is_cut_at_any_byte_is_complete_and_lost),
        IN_A_STATE(test_a_number_that_is_used_anew_has_its_own_line),
        IN_A_STATE(test_lines_of_what_is_removed_do_not_add_up),
        IN_A_STATE(test_an_index_that_cannot_be_read_or_written_harms_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
