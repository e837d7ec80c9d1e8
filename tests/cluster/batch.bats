# Agents that a batch system's own command starts. The batch systems are made up, and their commands
# are stand-ins that hold to the documentation: see standins/.
load common
setup_file() { start_cluster 2; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    unset TPRUN_OPTIONS
    STANDINS=$ROOT/tests/cluster/standins
    printf 'node0\nnode1\n' >nodes
    printf 'node0 1 all.q@node0 UNDEFINED\nnode1 1 all.q@node1 UNDEFINED\n' >nodes.sge
    export STANDIN_LOG=$PWD/calls
}
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    hosts_clean 8
}

# The environment of a job on node0 and node1 with a slot on each, and what starts its agents.
pals_job() { job=(PBS_JOBID=18.server PBS_NODEFILE="$PWD/nodes" PATH="$STANDINS/pals/bin:$PATH"); }
lsf_job() { job=(LSB_JOBID=19 LSB_DJOB_HOSTFILE="$PWD/nodes" LSB_MCPU_HOSTS='node0 1 node1 1 ' PATH="$STANDINS:$PATH"); }
sge_job() { job=(JOB_ID=20 PE_HOSTFILE="$PWD/nodes.sge" PATH="$STANDINS:$PATH"); }
# Hosts have homes of their own: the one that PBS's share is the test's directory.
pbs_job() { job=(PBS_JOBID=18.server PBS_NODEFILE="$PWD/nodes" HOME="$PWD" PATH="$STANDINS:$PATH"); }
flux_job() { job=(FLUX_URI=local:///run/flux PATH="$STANDINS:$PATH"); }
SYSTEMS='pals:mpiexec pbs:pbs_tmrsh flux:flux lsf:blaunch sge:qrsh'

in_job() { # -STATUS ARGUMENTS...: in $job, with no ssh that would do
    local want=$1
    shift
    run "$want" --separate-stderr "$CLUSTER" exec head env "${job[@]}" STANDIN_LOG="$STANDIN_LOG" \
        timeout --foreground -k 5 "${LIMIT:-60}" "$TPRUN" --ssh "$PWD/no-ssh" "$@"
}

@test "in a job agents are started by the batch system's own command, one on each host, without ssh" {
    local system job
    for system in $SYSTEMS; do
        rm -f calls
        "${system%:*}_job"
        in_job -0 -v -n 2 sh -c 'echo $TPRUN_RANK $(hostname)'
        equal "$(sort <<<"$output")" "$(printf '0 node0\n1 node1')"
        has_line "$stderr" "tprun: agents: started by ${system#*:} of *, --bootstrap ${system%:*}"
        equal "$(cut -d' ' -f 1,2 calls)" "$(printf "head ${system#*:}\nhead ${system#*:}")"
    done
}

@test "the caller's screen does not reach other hosts with the agents; what an agent was given there does" {
    local system job show='echo "$(hostname) ${DISPLAY-unset} ${XAUTHORITY-unset}"'
    export DISPLAY=:7 XAUTHORITY=/home/a
    for system in $SYSTEMS; do
        "${system%:*}_job"
        in_job -0 -n 2 sh -c "$show"
        equal "$(sort <<<"$output")" "$(printf 'node0 unset unset\nnode1 unset unset')"
    done
    lsf_job
    in_job -0 -n 2 --bootstrap 'blaunch {host} env DISPLAY=:9 XAUTHORITY=/b {agent}' -x XAUTHORITY=/c sh -c "$show"
    equal "$(sort <<<"$output")" "$(printf 'node0 :9 /c\nnode1 :9 /c')"
    # a command that passes its environment on, which the stand-ins do not
    printf '#!/bin/bash\nmapfile -t all < <(env | grep -E "^(DISPLAY|XAUTHORITY|TPRUN_)")\n%s\n' \
        'exec blaunch "$1" -no-shell env "${all[@]}" "${@:2}"' >passing
    chmod +x passing
    in_job -0 -n 2 --bootstrap './passing {host} {agent}' sh -c "$show"
    equal "$(sort <<<"$output")" "$(printf 'node0 unset unset\nnode1 unset unset')"
    in_job -0 -n 2 --bootstrap './passing {host} env DISPLAY=:9 {agent}' sh -c "$show"
    equal "$(sort <<<"$output")" "$(printf 'node0 :9 unset\nnode1 :9 unset')"
}

@test "all hosts are reached from the first, however small the fan-out is" {
    lsf_job
    in_job -0 --fanout 1 -n 2 hostname
    equal "$(sort calls)" "$(printf 'head blaunch node%s -no-shell %s\n' 0 "$PWD/agent" 1 "$PWD/agent" |
        sed "s|$PWD/agent|$(dirname "$TPRUN")/tpagent|")"
}

@test "a path of the agent with blanks and a quote in it is one word for every command" {
    local system job agent="$PWD/it's here/tp agent"
    mkdir "${agent%/*}"
    ln -s "$(dirname "$TPRUN")/tpagent" "$agent"
    for system in $SYSTEMS; do
        "${system%:*}_job"
        in_job -0 --agent "$agent" -n 2 hostname
        equal "$(sort <<<"$output")" "$(printf 'node0\nnode1')"
    done
}

@test "what PALS reads from the environment does not change what is started, nor what tasks read" {
    pals_job
    job+=(PALS_LABEL=1 PALS_HOSTFILE="$PWD/nodes")
    in_job -0 -n 2 sh -c 'echo $(hostname) $PBS_NODEFILE'
    equal "$(sort <<<"$output")" "$(printf "node%s $PWD/nodes\n" 0 1)"
}

@test "all bytes pass, both ways" {
    local system job
    head -c 300000 /dev/urandom >bytes
    for system in pals pbs lsf; do
        "${system}_job"
        "$CLUSTER" exec head env "${job[@]}" timeout -k 5 60 "$TPRUN" --ssh "$PWD/no-ssh" -n 1 cat <bytes >back
        cmp bytes back
    done
}

@test "the hosts of one's own list are reached so, too, as long as they are the job's" {
    lsf_job
    in_job -0 -v -n 1 --hosts node1 hostname
    equal "$output" node1
    has_line "$stderr" 'tprun: agents: started by blaunch *'
    echo node0 >nodes
    in_job -1 -n 1 --hosts node1 hostname
    has_line "$stderr" "tprun: node1: *no-ssh*"
}

@test "where the command is not installed ssh is used, as without a job" {
    local system job
    for system in pals lsf sge; do
        "${system}_job"
        run -0 --separate-stderr on head env "${job[@]}" PATH="$PATH" "$TPRUN" -v -n 2 hostname
        equal "$(sort <<<"$output")" "$(printf 'node0\nnode1')"
        [[ "$stderr" != *'agents: started by'* ]]
    done
    # An mpiexec that is not PALS's is nobody's remote start.
    mkdir bin
    printf "#!/bin/sh\ntouch %s/called\nexit 1\n" "$PWD" >bin/mpiexec
    chmod +x bin/mpiexec
    pals_job
    run -0 --separate-stderr on head env "${job[@]}" PATH="$PWD/bin:$PATH" "$TPRUN" -n 2 hostname
    equal "$(sort <<<"$output")" "$(printf 'node0\nnode1')"
    [ ! -e called ]
}

@test "a batch system that was named has to be there, and its command too" {
    run_tprun -1 --bootstrap lsf --hosts node0 true
    has_line "$stderr" 'tprun: --bootstrap lsf: this is not inside a job of LSF: LSB_JOBID is not set (auto takes ssh where there is no job)'
    lsf_job
    job+=(PATH="$PATH")
    in_job -1 --bootstrap lsf true
    has_line "$stderr" 'tprun: --bootstrap lsf: blaunch is not installed: it is not in PATH'
    job+=(LSF_BINDIR="$PWD/bin")
    in_job -1 --bootstrap lsf true
    has_line "$stderr" "tprun: --bootstrap lsf: blaunch is not installed: it is not in PATH, nor in $PWD/bin"
    job+=(LSF_BINDIR="$STANDINS")
    in_job -0 --bootstrap lsf -n 1 hostname
    equal "$output" node0
    run_tprun -2 --bootstrap torque true
    has_line "$stderr" 'tprun: --bootstrap: unknown value "torque" (expected auto, local, ssh, slurm, pals, pbs, flux, lsf, sge or kubernetes, or a command template *'
}

@test "ssh can be named in a job" {
    lsf_job
    run -0 --separate-stderr on head env "${job[@]}" "$TPRUN" --bootstrap ssh -n 2 hostname
    equal "$(sort <<<"$output")" "$(printf 'node0\nnode1')"
    [ ! -e calls ]
}

@test "a command that fails, and one that ends at once, is told with its own words or its status" {
    lsf_job
    job+=(STANDIN_DOES=fail)
    in_job -1 -n 2 true
    has_line "$stderr" 'tprun: node?0-1?: not started: exec: blaunch: cannot contact the daemon on any host*'
    has_line "$stderr" 'tprun: 2 of 2 hosts did not start; nothing was run'
    job+=(STANDIN_DOES=quit)
    in_job -1 -n 2 true
    has_line "$stderr" 'tprun: node?0-1?: not started: exec: the command that reaches it exited with status 0*'
}

@test "a command that hangs is given up at the deadline, and does not stay" {
    lsf_job
    job+=(STANDIN_DOES=hang)
    in_job -1 --start-timeout 1s -n 2 true
    has_line "$stderr" 'tprun: node?0-1?: not started: exec: no answer within * s*'
}

@test "what a command prints before the agent speaks is skipped" {
    lsf_job
    job+=(STANDIN_DOES=noise)
    in_job -0 -n 2 hostname
    equal "$(sort <<<"$output")" "$(printf 'node0\nnode1')"
    equal "$stderr" ""
}

@test "a command that is killed is a lost host, and nothing stays on it" {
    lsf_job
    start_on head env "${job[@]}" "$TPRUN" --ssh "$PWD/no-ssh" -n 2 sh -c 'echo up; exec sleep 60'
    wait_for 20 lines_are out 2
    kill -KILL "$(processes head ssh node1 | head -n 1)"
    local rc=0
    wait "$job" || rc=$?
    equal "$rc" 1
    has_line "$(cat err)" 'tprun: node1: lost: *'
}

@test "a job half there is refused by the variable that is missing or the file that is empty" {
    : >empty
    lsf_job
    job+=(LSB_DJOB_HOSTFILE="$PWD/empty")
    in_job -1 -n 1 true
    has_line "$stderr" "tprun: LSB_DJOB_HOSTFILE of LSF job 19: $PWD/empty: it names no host; unset LSB_JOBID *"
    job+=(LSB_DJOB_HOSTFILE= LSB_MCPU_HOSTS=)
    in_job -1 -n 1 true
    has_line "$stderr" 'tprun: LSB_JOBID says that this is a job of LSF, but LSB_MCPU_HOSTS is not set: *'
    # The hosts were named, and that the job's own list is of no use does not matter.
    run -0 --separate-stderr on head env "${job[@]}" "$TPRUN" -n 1 --hosts node0 hostname
    equal "$output" node0
    sge_job
    job+=(JOB_ID=)
    in_job -1 -n 2 true
    has_line "$stderr" 'tprun: node?0-1?: not started: exec: qrsh: JOB_ID is not set*'
    [ ! -e "$PWD/started" ]
}

# ---- one command for many hosts ----

# Nothing of the call is in an argument or stays in a file.
@test "the word that is left for PBS's agents is the user's alone, and goes when they have come" {
    pbs_job
    in_job -0 -n 2 --map-by node sh -c 'tr "\0" " " </proc/$PPID/cmdline; echo'
    local words
    mapfile -t words < <(sort -u <<<"$output" | tr ' ' '\n')
    equal "${#words[@]} ${words[1]} ${words[2]%.*}" "4 --call $PWD/.tprun-call"
    equal "$(find . -name '.tprun-call*')" ""
    job+=(STANDIN_DOES=hang)
    start_on head env "${job[@]}" "$TPRUN" --start-timeout 3s -n 2 true
    wait_for 10 eval 'ls .tprun-call.*'
    equal "$(stat -c '%a %h' .tprun-call.*)" '600 1'
    local rc=0
    wait "$job" || rc=$?
    equal "$rc" 1
    equal "$(find . -name '.tprun-call*')" ""
}

@test "where PBS's hosts do not share the home directory, each agent says so in the job's output" {
    pbs_job
    job+=(HOME=/root STANDIN_OUTPUT="$PWD/job.out")
    in_job -1 --start-timeout 20s -n 2 true
    has_line "$stderr" 'tprun: node?0-1?: not started: exec: pbs_tmrsh, which starts the agent, ended with status 0*'
    has_line "$(cat job.out)" 'node?: /root/.tprun-call.*: No such file or directory: *has to share that file system'
}

@test "a host that PBS does not reach is told with pbs_tmrsh's words" {
    pbs_job
    job+=(STANDIN_FAILS=node1)
    in_job -1 --start-timeout 4s -n 2 --map-by node true
    has_line "$stderr" 'tprun: node1: not started: exec: no answer within 4 s; pbs_tmrsh: tm_spawn: host "node1" err TM_ENOTCONNECTED *'
    equal "$(wc -l <<<"$stderr")" 2
}

@test "in a job of a larger Flux instance agents are not started by it, nor on hosts of a list of one's own" {
    flux_job
    job+=(FLUX_JOB_ID=f21)
    in_job -1 -n 2 hostname
    has_line "$stderr" 'tprun: node?0-1?: *no-ssh*'
    flux_job
    in_job -1 -n 1 --hosts node1 hostname
    has_line "$stderr" 'tprun: node1: *no-ssh*'
    in_job -1 --bootstrap flux -n 1 --hosts node1 hostname
    has_line "$stderr" 'tprun: --bootstrap flux: --hosts names no ranks of Flux: leave it out'
}

@test "a template with {hosts} starts the agents of all hosts by one command" {
    run_tprun -0 --bootstrap "$STANDINS/everywhere {hosts} {agent}" -n 2 --hosts 'node[0-1]' --map-by node sh -c 'echo $TPRUN_RANK $(hostname)'
    equal "$(sort <<<"$output")" "$(printf '0 node0\n1 node1')"
    equal "$stderr" ""
    equal "$(cat calls)" "head everywhere node0,node1 $(dirname "$TPRUN")/tpagent"
    # A shell of one's own makes other forms of the list.
    rm calls
    run_tprun -0 --bootstrap "sh -c 'IFS=,; for host in \$0; do set -- \"\$@\" \$host; done; exec \"$STANDINS/everywhere\" \$2,\$3 \$1' {hosts} {agent}" \
        -n 1 --hosts 'node[0-1]' hostname
    equal "$output" node0
    equal "$(cat calls)" "head everywhere node0,node1 $(dirname "$TPRUN")/tpagent"
}

# Those of --bootstrap in tprun(1), as they stand there. Containers are hosts here.
@test "every template that the manual shows starts the agents" {
    local line template where job options
    mkdir bin
    # The commands by what they share with the stand-ins. clush broadcasts its input; pdsh has none.
    printf '#!/bin/bash\nhost=$2; . %q\nshift 3; in_shell "$@"\n' "$STANDINS/reach" >bin/lxc
    printf '#!/bin/bash\nhost=$3; . %q\nshift 3; on_host "$@"\n' "$STANDINS/reach" >bin/docker
    printf '#!/bin/bash\nshift; exec %q "$@"\n' "$STANDINS/everywhere" >bin/clush
    printf '#!/bin/bash\nshift; exec %q "$@" </dev/null\n' "$STANDINS/everywhere" >bin/pdsh
    chmod +x bin/*
    awk '/^tprun --bootstrap / { sub(/ [^ ]*$/, ""); gsub(/\\e/, "\\"); sub(/^tprun --bootstrap /, ""); print }' \
        "$ROOT/man/tprun.1" >templates
    cat templates
    equal "$(wc -l <templates)" 7
    while read -r line; do
        eval "template=$line" # as a shell reads the page's line
        where='node0 node1' job=(HOME="$PWD" PATH="$PWD/bin:$PATH") options=(--hosts 'node[0-1]' --map-by node)
        case $template in
        flux*) flux_job && options=() ;;
        nice*) where='head head' options=() ;;
        esac
        in_job -0 --bootstrap "$template" "${options[@]}" -n 2 hostname
        equal "$(sort <<<"$output" | paste -sd' ')" "$where"
    done <templates
}

@test "a name with or without its domain is the same host to an agent that connects" {
    run_tprun -0 --bootstrap "sh -c 'exec \"$STANDINS/everywhere\" node0,node1 \$1' {hosts} {agent}" -n 2 \
        --hosts 'node[0-1].rack.example' --map-by node hostname
    equal "$(sort <<<"$output")" "$(printf 'node0\nnode1')"
}

@test "an agent of another host than was asked for is not let in, and that is said" {
    run_tprun -1 --start-timeout 4s --bootstrap "sh -c 'exec \"$STANDINS/everywhere\" node1 \$1' {hosts} {agent}" -n 1 --hosts node0 hostname
    has_line "$stderr" 'tprun: node0: not started: exec: *an agent connected from node1, which is none of these hosts*'
}

@test "of one command for many a host that fails, and its end, are told" {
    STANDIN_FAILS=node1 run_tprun -1 --start-timeout 4s --bootstrap "$STANDINS/everywhere {hosts} {agent}" -n 2 \
        --hosts 'node[0-1]' --map-by node true
    has_line "$stderr" 'tprun: node1: not started: exec: no answer within 4 s; everywhere: node1: unreachable *'
    equal "$(wc -l <<<"$stderr")" 2
    start_on head "$TPRUN" --bootstrap "$STANDINS/everywhere {hosts} {agent}" -n 2 --hosts 'node[0-1]' --map-by node sh -c 'echo up; exec sleep 60'
    wait_for 20 lines_are out 2
    kill -KILL "$(processes head everywhere | head -n 1)"
    local rc=0
    wait "$job" || rc=$?
    equal "$rc" 1
    has_line "$(cat err)" 'tprun: node*: lost: everywhere, which started the agent, was killed by signal 9 (Killed)*'
}

# ---- Kubernetes' MPI Operator ----

# Its launcher's environment: today's operators, for Open MPI or MPICH; those up to version 1.
operator_job() { # [VARIABLE=VALUE...]
    printf 'node0 slots=1\nnode1 slots=1\n' >hostfile
    job=(K_MPI_JOB_ROLE=launcher OMPI_MCA_orte_default_hostfile="$PWD/hostfile"
        OMPI_MCA_orte_keep_fqdn_hostnames=true "$@")
}
old_operator_job() {
    operator_job KUBERNETES_SERVICE_HOST=10.0.0.1 OMPI_MCA_plm_rsh_agent=/etc/mpi/kubexec.sh PATH="$STANDINS:$PATH"
    unset "job[0]"
}

@test "the launcher of an MPI Operator runs on its workers, by ssh with the arguments that it gives" {
    operator_job OMPI_MCA_plm_rsh_args='-o ConnectionAttempts=10'
    cat >ssh <<END
#!/bin/sh
for word; do all="\$all[\$word]"; done
echo "\$all" >>$PWD/calls # at once: several are at it
exec /usr/bin/ssh "\$@"
END
    chmod +x ssh
    job+=(PATH="$PWD:$PATH")
    run -0 --separate-stderr on head env "${job[@]}" "$TPRUN" -v -n 2 hostname
    equal "$(sort <<<"$output")" "$(printf 'node0\nnode1')"
    has_line "$stderr" "tprun: resources: MPI Operator job head ($PWD/hostfile), 2 nodes; *"
    equal "$(grep -c '^\[-o\]\[ConnectionAttempts=10\]\[-x\]' calls)" 2
    # What cannot be cut into words is refused under the variable's name.
    run -1 --separate-stderr on head env "${job[@]}" OMPI_MCA_plm_rsh_args="-o 'x" "$TPRUN" -n 2 hostname
    equal "$stderr" "tprun: OMPI_MCA_plm_rsh_args in the environment: the quote at 'x is not closed"
    # What was said of ssh is left alone.
    rm calls
    run -0 on head env "${job[@]}" "$TPRUN" --ssh 'ssh -4' -n 2 hostname
    equal "$(grep -c '^\[-4\]\[-x\]' calls)" 2
}

@test "the operator's own list is found without a variable, and where there is none that is said" {
    job=(K_MPI_JOB_ROLE=launcher)
    run -1 --separate-stderr on head env "${job[@]}" "$TPRUN" true
    has_line "$stderr" 'tprun: the workers of MPI Operator job head: /etc/mpi/hostfile: *; unset K_MPI_JOB_ROLE *'
    on head mkdir -p /etc/mpi
    echo node1:1 >list
    on head cp list /etc/mpi/hostfile
    run -0 on head env "${job[@]}" "$TPRUN" -n 1 hostname
    equal "$output" node1
    run -0 on head env KUBERNETES_SERVICE_HOST=10.0.0.1 "$TPRUN" -n 1 hostname
    equal "$output" node1
    run -0 on head env K_MPI_JOB_ROLE=worker KUBERNETES_SERVICE_HOST=10.0.0.1 "$TPRUN" -n 1 hostname
    equal "$output" head
    on head rm -r /etc/mpi
}

@test "workers without an sshd, as up to version 1 of the operator, are reached by kubectl" {
    old_operator_job
    in_job -0 -v -n 2 hostname
    equal "$(sort <<<"$output")" "$(printf 'node0\nnode1')"
    has_line "$stderr" 'tprun: agents: started by kubectl of MPI Operator, --bootstrap kubernetes'
    equal "$(wc -l <calls)" 2
    ln -s "$TPRUN" mpirun
    run -0 on head env "${job[@]}" "$PWD/mpirun" -n 2 hostname
    equal "$(sort <<<"$output")" "$(printf 'node0\nnode1')"
    equal "$(wc -l <calls)" 4
}

@test "tpbatch needs no options in a job: its programs start no further agents" {
    local system job
    mkdir bin
    ln -s "$TPRUN" bin/tpbatch
    printf '#!/bin/sh\nuname -n\nfor i in 1 2; do "$TPRUN" -N 2 -n 2 sh -c '\''echo "task $(uname -n)"'\''; done\nexit 5\n' >s
    chmod +x s
    for system in $SYSTEMS; do
        rm -f calls
        "${system%:*}_job"
        run -5 --separate-stderr "$CLUSTER" exec head env "${job[@]}" STANDIN_LOG="$STANDIN_LOG" TPRUN="$TPRUN" \
            timeout --foreground -k 5 60 bin/tpbatch --ssh "$PWD/no-ssh" ./s
        echo "$system: $output"
        echo "$stderr"
        equal "$(sort <<<"$output")" "$(printf 'node0\ntask node0\ntask node0\ntask node1\ntask node1')"
        equal "$(cut -d' ' -f 1,2 calls)" "$(printf "head ${system#*:}\nhead ${system#*:}")"
    done
}
