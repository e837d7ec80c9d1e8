# shellcheck shell=bash
# The lines that tprun-migrate(7) shows, for tests of what it says.

export PAGE=$ROOT/man/tprun-migrate.7
export NODE='package:2 numa:2 core:4 pu:1' # a node as the page has it

# The common lines of one launcher: its line, tprun's and the cores, with tabs between.
common_lines() { # LAUNCHER
    awk -v launcher="$1" '
        /^\.Bd -literal/ { on = 1; next }
        /^\.Ed/ { on = 0 }
        !on { next }
        /^[a-z]/ && !/^tprun / { line = $0; next }
        /^tprun / { own = $0; show = line; line = ""; cores = "" }
        /^    n[01]: / { cores = substr($0, 5) }
        show && (/^    n[01]: / || !/^tprun /) { give() }
        function give() { if (index(show, launcher " ") == 1) print show "\t" own "\t" cores; show = "" }
    ' <(sed 's/^\.Ed/\n&/; s/\\e/\\/g' "$PAGE")
}

# Lines of 1 (or B) and 0 (or anything else), one a core: as lists of cores.
lists() {
    awk '{
        out = ""; on = 0
        for (i = 1; i <= length($0) + 1; i++) {
            set = substr($0, i, 1) ~ /[1B]/
            if (set && !on) first = i - 1
            if (!set && on) out = out (out == "" ? "" : ",") (first == i - 2 ? first : first "-" i - 2)
            on = set
        }
        print out == "" ? "0-" length($0) - 1 : out
    }'
}
