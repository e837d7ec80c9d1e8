# shellcheck shell=bash
# A terminal with somebody who types, for tests of what is shown there.
# What is started there has no TEST_MARK unless it is given one. Of each test a server of tmux of its own, whose shell is an interactive bash with the prompt "outer> ".

TERMINAL=(tmux -f /dev/null -S)
terminal() { "${TERMINAL[@]}" "$BATS_TEST_TMPDIR/tmux" "$@"; }

need_tmux() { command -v tmux >/dev/null || skip "no tmux here"; }
# open_terminal [COMMAND...]: that is run on it in place of bash
open_terminal() {
    [ $# -gt 0 ] || set -- bash --norc --noprofile -i
    env -u TEST_MARK "${TERMINAL[@]}" "$BATS_TEST_TMPDIR/tmux" new-session -d -x 80 -y 24 "exec env PS1='outer> ' $*" 3>&-
    terminal set-option -g remain-on-exit on >/dev/null
    wait_for 10 shown "outer>"
}
close_terminal() { terminal kill-server 2>/dev/null || :; }

# All that is, or was, on the screen. Lines of more than its width are joined, and with them what follows
# one of just its width; `rows` has each row for itself.
screen() { terminal capture-pane -p -J -S -; }
rows() { terminal capture-pane -p -S -; }
# PATTERN: a line of the screen, joined or as it stands there, matches this regular expression, whole.
shown() { line_shown "$1.*"; }
line_shown() { { screen && rows; } | sed 's/ *$//' | grep -Ex -- "$1" >/dev/null; }
see() { # PATTERN: such a line is there, or comes
    wait_for 15 line_shown "$1" || { screen; return 1; }
}
type_keys() { terminal send-keys "$@"; } # as tmux names them
type_line() { terminal send-keys -l -- "$1"; terminal send-keys Enter; }
resize_terminal() { terminal resize-window -x "$1" -y "$2"; } # COLUMNS ROWS
