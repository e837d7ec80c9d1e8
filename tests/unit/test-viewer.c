/* What the manager sends to the front end where saving stops. */
#include "launcher/manager/viewer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/mem.h"
#include "launcher/manager/saver.h"
#include "tests/unit/unit.h"

#define LONG (600 << 10) /* bytes of a text that is written at once: more than are gathered */

static struct viewer *viewer;

/* As the manager does it. */
static void on_stopped(void *owner, const struct error *why)
{
    (void)owner, (void)why;
    viewer_send_text(viewer, FRAME_SAVE, "");
}

static void on_unsaved(void *owner, const struct frame *frame)
{
    (void)owner;
    link_send(viewer_link(viewer), frame);
}

static void on_gone(void *owner)
{
    (void)owner;
}

static const struct saver_ops saver_ops = {on_stopped, on_unsaved};
static const struct viewer_ops viewer_ops = {.gone = on_gone};

/* What has come of it: the types of frames but long texts, which are "long", in order. */
static void take_frames(int fd, struct buf *seen)
{
    struct buf bytes = BUF_INIT;
    struct frame frame;
    ssize_t n;
    do {
        ev_run(ev_default_loop(0), EVRUN_NOWAIT);
        n = recv(fd, buf_reserve(&bytes, LONG), LONG, MSG_DONTWAIT);
        if (n > 0)
            buf_added(&bytes, (size_t)n);
    } while (n > 0);
    while (frame_decode(&bytes, &frame, NULL) > 0) {
        buf_printf(seen, "%s ",
                   frame.type == FRAME_SAVE   ? "stops"
                   : frame.type == FRAME_NOTE ? frame.len > 1000 ? "long" : "note"
                                              : "other");
        buf_consume(&bytes, FRAME_HEADER + frame.len);
    }
    buf_free(&bytes);
}

/* Frames before FRAME_SAVE are read from the files; those behind it are shown. */
static void test_a_note_with_which_saving_stops_is_sent_once_behind_the_word_for_it(void **state)
{
    char place[] = "/tmp/test-viewer-XXXXXX";
    struct spec *spec = spec_new();
    struct rlimit before, small;
    struct buf seen = BUF_INIT;
    int pair[2];
    (void)state;
    assert_non_null(mkdtemp(place));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    struct ev_loop *loop = ev_default_loop(0);
    struct saver *saver = saver_new(loop, spec, &saver_ops, NULL);
    viewer = viewer_new(loop, pair[0], false, &viewer_ops, NULL);
    viewer_save(viewer, saver);
    assert_int_equal(saver_open(saver, place, NULL), 0);
    char *text = mem_alloc(LONG + 1);
    memset(text, 'x', LONG);
    viewer_note(viewer, "saved");
    saver_flush(saver);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &small);
    viewer_note(viewer, "gathered"); /* there is still room for it */
    viewer_note(viewer, text);
    setrlimit(RLIMIT_FSIZE, &before);
    viewer_note(viewer, "not saved");
    take_frames(pair[1], &seen);
    assert_string_equal(buf_text(&seen), "note note long stops long note ");
    buf_free(&seen);
    free(text);
    viewer_free(viewer);
    saver_free(saver);
    spec_free(spec);
    close(pair[1]);
    assert_int_equal(directory_remove(AT_FDCWD, place), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_note_with_which_saving_stops_is_sent_once_behind_the_word_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
