# What a terminal would obey is never written to it, whatever it came in by.
load ../lib/common
setup_file() {
    build_programs
    ln -s "$TPRUN" "$BATS_FILE_TMPDIR/mpiexec"
}
setup() {
    start_test
    TPRES=$(dirname "$TPRUN")/tpres
    unset "${!SLURM_@}" "${!PBS_@}" "${!LSB_@}" "${!FLUX_@}" PE_HOSTFILE
}
teardown() { nothing_left; }

# Two texts: in UTF-8, with ESC, U+009B, DEL, U+202E and U+2028; and bytes that are no UTF-8.
UTF8=$'\e[31mE\xc2\x9b32m\x7f\xe2\x80\xae\xe2\x80\xa8'
BYTES=$'\x9b33mE\xff'
# What stands in their place; "?" in a text that points at a byte.
SHOWN='\\(x1b|x9b|xc2|xff|u001b|u009b|u202e)|\?\[31mE|\?33mE|0x(1b|9b)|"9b33'

# raw FILE: shows a line that is not printable.
raw() {
    LC_ALL=C grep -naP \
        '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]' "$1" |
        cat -v
    iconv -f UTF-8 -t UTF-8 "$1" >/dev/null || echo "not UTF-8"
}

# ways N: each line of stdin is a way in: a command that uses $E, at least N of them. What it prints
# shows the text, but not raw. Of a command behind "- " the text need not be shown.
ways() {
    local line bad=0 n=0 text
    while IFS= read -r line; do
        [ -n "$line" ] || continue
        for text in "$UTF8" "$BYTES"; do
            n=$((n + 1))
            (E=$text; eval "${line#- }") >said 2>&1 </dev/null || true
            if [ ! -s said ] || [ -n "$(raw said)" ] ||
                { [ "$line" = "${line#- }" ] && ! LC_ALL=C grep -qE "$SHOWN" said; }; then
                printf 'way: %s\n' "$line"
                cat -v said
                bad=$((bad + 1))
            fi
        done
    done
    echo "$n ways, $bad bad"
    [ $bad = 0 ] && [ $n -ge $((2 * $1)) ]
}

tpres() { timeout --foreground -k 5 60 "$TPRES" "$@"; }
mpiexec() { timeout --foreground -k 5 60 "$BATS_FILE_TMPDIR/mpiexec" "$@"; }
# with TEXT COMMAND...: FILE holds the text
with() {
    printf '%s' "$1" >file
    "${@:2}"
}
# An R of this machine whose properties, hosts or more are what the first arguments say.
R() { # NODELIST [MORE]
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}],"nodelist":["%s"]%s}}' "$1" "${2-}"
}

@test "options' values are printable in what is said of them" {
    ways 45 <<'END'
tprun -n "$E" true
tprun -N "$E" true
tprun -c "$E" true
tprun -g "$E" true
tprun --per "$E" true
tprun --per "2:$E" true
tprun --shape "$E" true
tprun --shape "slot=1/$E" true
tprun -R "$E" true
tprun --hosts "$E" true
tprun --hosts "node[$E]" true
tprun --hostfile "$E" true
tprun --exclude "$E" true
tprun --requires "$E" true
tprun --requires "host:$E" true
tprun --requires "a and ($E" true
tprun --on "$E" true
tprun --wait="$E" true
tprun --map-by "$E" true
tprun --map-by "numa:$E" true
tprun --bind-to "$E" true
tprun --gpu-bind "$E" true
tprun --order "$E" true
tprun --rank-by "$E" true
tprun --mppr "$E" true
tprun --mppr "1:$E" true
tprun --rankfile "$E" true
tprun --taskmap "$E" true
tprun --taskmap "manual:$E" true
tprun --mem-bind "$E" true
tprun --display "$E" true
tprun --draw "nowhere/$E" true
tprun --format "$E" true
tprun --dry-run --topology "$E" true
tprun --dry-run --topology "n0=$E" true
tprun --dry-run --topology "n0=@$E" true
tprun --dry-run --topology "$E=core:1" true
tprun -o "x%$E" true
tprun -o "$E/file" true
tprun -e "x%$E" true
tprun -i "./$E" true
tprun -x "=$E" true
tprun --chdir "$E" true
tprun --umask "$E" true
tprun --rlimit "$E=1" true
tprun --rlimit "core=$E" true
tprun --time-limit "$E" true
tprun --on-failure "$E" true
tprun --kill-grace "$E" true
tprun --pmi "$E" true
tprun --pset "a $E" true
tprun --bootstrap "$E" true
tprun --bootstrap "/$E {agent}" --hosts a true
tprun --ssh "/$E" --hosts nowhere.invalid true
- tprun --agent "/$E" --bootstrap 'env X={host} {agent}' --hosts nowhere.invalid true
tprun --fanout "$E" true
tprun --start-timeout "$E" true
tprun --node-timeout "$E" true
tprun --spec "$E"
tprun --spec file "$E"
tprun --help="$E"
tprun --"$E"
tprun -"$E"
- tprun -hosts="$E" true
tprun --oversubscribe="$E" true
END
}

@test "programs' names and what starts them are printable" {
    mkdir "$UTF8" "$BYTES"
    ways 14 <<'END'
tprun "$E-gone"
tprun "./$E-gone"
tprun "./$E"
- printf '#!/%s\n' "$E" >script; chmod +x script; tprun ./script
printf '#!/%s\n' "$E" >script; chmod +x script; tprun --check ./script
printf '#!/bin/sh\n' >"$E-script"; chmod +x "$E-script"; tprun --check "./$E-script"
tprun --check "$E"
tprun --format json --check "$E"
tprun --print-spec "$E" a "$E"
cp /bin/false "$E-false"; (exec -a "$E" "$TPRUN" "./$E-gone")
PATH=$PATH:/$E tprun --chdir "/$E" pwd
tprun --dry-run --display all "./$E" : true
tprun --dry-run --draw - "./$E"
tprun --dry-run --display map --shape slot=1/core "./$E" : --shape slot=1/core true
tprun --draw "x.svg" "./$E" ; cat x.svg
END
}

@test "what files hold is printable" {
    local host
    host=$(hostname)
    ways 24 <<'END'
with "$E" tprun --hostfile file true
with "node0 slots=$E" tprun --hostfile file true
with "node0 $E=3" tprun --hostfile file true
with "node0:$E" tprun --hostfile file true
with "$E" tprun --rankfile file true
with "0 $E 0" tprun --rankfile file true
with "0 $host $E" tprun --rankfile file true
with "rank 0=$E slot=0" tprun --rankfile file true
with "rank 0=$host slot=$E" tprun --rankfile file true
with "$E" tprun -R file true
with "{\"$E" tprun -R file true
with "{\"version\":1,\"$E\":" tprun -R file true
- with "$(R "a$UTF8")" tprun -R file true; echo "$SHOWN" | head -c 0
with "$(R "a\\u001b\\u009b")" tprun -R file true
- with "$(R a ',"\u001bE":1')" tprun -R file true
with "$(R a ',"properties":{"\u001b\u009bE":"0-"}')" tprun -R file true
- with "$(R a ',"properties":{"a\u009bE":"0"}')" tpres show file
- with "$(R a ',"properties":{"a\u009bE":"0"}')" tpres show --draw file
- with "$(R a ',"properties":{"a\u009bE":"0"}')" tpres select --requires "b$E" file
- with "$E" tprun --dry-run --topology "n0=@file" true
- with "<topology version=\"$E\"><$E></topology>" tprun --dry-run --topology "n0=@file" true
with "$E" tprun --spec file
with "{\"$E\":" tprun --spec file
with '{"version":1,"\u001b\u009bE":3}' tprun --spec file
tprun --print-spec true | sed 's/"true"/"\\u001b\\u009bE"/' >file; tprun --spec file
with "-n 1 $E" mpiexec -configfile file
END
}

@test "variables are printable in what is said of them" {
    ways 14 <<'END'
TPRUN_OPTIONS="$E" tprun true
TPRUN_OPTIONS="--$E" tprun true
TPRUN_OPTIONS="-n $E" tprun true
- TPRUN_OPTIONS="'$E" tprun true
TPRUN_R="$E" tprun true
MPIEXEC_TIMEOUT="$E" tprun true
SLURM_JOB_ID=1 SLURM_JOB_NODELIST="$E" SLURM_JOB_CPUS_PER_NODE=1 tprun true
PBS_JOBID=1 PBS_NODEFILE="$E" tprun true
LSB_JOBID=1 LSB_DJOB_HOSTFILE="$E" tprun true
LSB_JOBID=1 LSB_MCPU_HOSTS="$E 1" tprun true
PE_HOSTFILE="$E" tprun true
- CUDA_VISIBLE_DEVICES="$E" tprun -g 1 true
TPRUN_RUNTIME_DIR="nowhere/$E" tprun true
TPRUN_RUNTIME_DIR="/proc/$E" tprun true
- TPRUN_PROGRAM="$E" TPRUN_INSTANCE="/$E" tprun -v true
END
}

@test "what ssh says and what answers in an agent's place is printable" {
    cat >ssh.sh <<'END'
#!/bin/sh
printf '%s\n' "$SAYS" >&2
exit 255
END
    cat >agent.sh <<'END'
#!/bin/sh
printf '%s\n' "$SAYS"
END
    chmod +x ssh.sh agent.sh
    ways 4 <<'END'
SAYS="$E" tprun --ssh "$PWD/ssh.sh" --hosts nowhere.invalid true
SAYS="Permission denied $E" tprun -v --ssh "$PWD/ssh.sh" --hosts nowhere.invalid true
- SAYS="$E" tprun --ssh "$PWD/agent.sh" --hosts nowhere.invalid true
SAYS="$E" tprun --bootstrap "$PWD/ssh.sh {host} {agent}" --hosts nowhere.invalid true
END
}

@test "tpres and mpiexec say and print what is printable" {
    ways 16 <<'END'
tpres "$E"
tpres show "$E"
tpres show --"$E"
tpres show --format "$E" file
tpres make --hosts "$E"
tpres make --hosts a --cores "$E"
tpres make --hosts a --cores 1 --property "$E"
tpres make --topology "a=$E"
tpres idset "$E"
tpres hostlist "$E"
tpres taskmap "$E"
tpres shape "$E"
tpres shape --to "$E" slot=1/core
tpres alloc -R "$E" slot=1/core
tpres check "$E"
tpres make --from "$E"
mpiexec -"$E" true
mpiexec -host "$E" true
mpiexec -n "$E" true
mpiexec "$E"
mpiexec -configfile "$E"
END
}

@test "a control group's path is printable" {
    local groups
    groups=$(findmnt -rnt cgroup2 -o TARGET | head -n 1)
    [ -n "$groups" ] || skip "cgroup2 is not mounted"
    groups=$groups$(sed -n 's/^0:://p' /proc/self/cgroup)
    mkdir "$groups/$UTF8" 2>/dev/null || skip "cannot make a control group in $groups"
    # shellcheck disable=SC2016 # for the shell inside
    bash -c 'echo 0 >"$1/cgroup.procs" && exec "$2" -v true' bash "$groups/$UTF8" "$TPRUN" >said 2>&1 || true
    wait_for 5 rmdir "$groups/$UTF8"
    cat -v said
    equal "$(raw said)" ""
    grep -q 'x1b.31mE' said
}

@test "what a PMIx server says among a task's output is printable" {
    need_pmix_programs
    mkdir -p -- "$UTF8" "$BYTES"
    ways 2 <<'END'
tprun "$PROGRAMS/pmix-spawn" 1 "./$E-gone"
tprun "$PROGRAMS/pmix-spawn" 1 "./$E"
tprun "$PROGRAMS/pmix-spawn" "pmix.host=$E" 1 true
tprun "$PROGRAMS/pmix-spawn" "pmix.mapby=$E" 1 true
tprun "$PROGRAMS/pmix-spawn" "pmix.hostfile=$E" 1 true
tprun "$PROGRAMS/pmix-spawn" "pmix.wdir=$E-gone" 1 true
tprun "$PROGRAMS/pmix-spawn" "pmix.$E!=x" 1 true
END
}

@test "what tasks write is never changed" {
    tprun printf '%s' "$UTF8$BYTES" >said
    equal "$(cat said)" "$UTF8$BYTES"
    tprun sh -c 'printf "%s" "$1" >&2' sh "$UTF8$BYTES" 2>said
    equal "$(cat said)" "$UTF8$BYTES"
}

@test "only one source file writes what tprun says" {
    grep -nE '\b(printf|vprintf|puts|putchar|perror|dprintf)\(|\b(stderr|stdout)\b *[,);]|write(_all)?\((1|2|STD)' \
        "$ROOT"/{affinity,launcher,pmi-server}/*/*.c | grep -v '/\*\|: \*\|^[^:]*/launcher/\(frontend/progress\|tpctl/tpctl_top\)\.c:\|/pmi-server/client/\|/pmi-server/pmix/library\.c:' >found || true
    equal "$(cat found)" ""
    # and one makes what it says of its own among tasks' output
    grep -n '"tprun: ' "$ROOT"/{launcher/agent,launcher/task,pmi-server/*}/*.c |
        grep -v '^[^:]*/pmi-server/\(client/\|pmix/log\.c:\)' >found || true
    equal "$(cat found)" ""
}
