# The requirements of RFC 8: each has its tests, or says why it has none.
load ../lib/common

TABLE=$ROOT/tests/data/rfc8.tsv
ROWS="1 2 3 4 5 9 10 11 12 13 14 15 16 17 18 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 49 50 51 52 53 54 55 56 57 58 59 60 trap"
rows() { grep -v '^#' "$TABLE"; }

# FILE TITLE: it is there, as a test of bats or of cmocka.
is_test() {
    local file=$ROOT/tests/$1
    case $1 in
    *.bats) grep -qFx "@test \"$2\" {" "$file" ;;
    *.c) grep -qE "^ +cmocka_unit_test[a-z_]*\($2[,)]" "$file" ;;
    *) return 1 ;;
    esac
}

@test "each requirement of RFC 8 names a test that exists, or says what is missing" {
    local number keyword requirement how more bad=0
    while IFS=$'\t' read -r number keyword requirement how more; do
        case $how in
        "partly: "?* | "not offered: "?*) ;;
        *) is_test "${how%%: *}" "${how#*: }" || { echo "row $number: there is no test \"$how\""; bad=1; } ;;
        esac
        [[ $keyword =~ ^(SHALL|MUST|RECOMMENDED|MAY|-)$ && -n $requirement && -z $more ]] ||
            { echo "row $number: expected number, keyword, requirement and test"; bad=1; }
    done < <(rows)
    [ "$bad" = 0 ]
}

@test "every requirement of RFC 8 that the table is about has a row, in order" {
    equal "$(rows | cut -f1 | uniq | paste -sd' ')" "$ROWS"
}
