# shellcheck disable=SC2154,SC2016 # bats sets stderr; $0 is for the tasks' shells
# tprun first in PATH by the names of other launchers.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS # more tasks than cores go without it
    mkdir bin
    for name in mpiexec mpirun mpiexec.hydra mpi{exec,run}.{mpich,openmpi} \
        mpirun.mpi_abi_mpich orterun prterun oshrun shmemrun; do
        ln -s "$TPRUN" "bin/$name"
    done
    export PATH=$PWD/bin:$PATH
}
teardown() { nothing_left 4; }

launch() { timeout --foreground -k 5 60 "$@"; }

@test "tprun takes the options of other launchers by each of their names" {
    for name in bin/*; do
        name=${name##*/}
        run -0 --separate-stderr launch "$name" -np 1 -wdir / sh -c 'echo $PWD $TPRUN_SIZE'
        equal "$output$stderr" "/ 1"
        run -2 --separate-stderr launch "$name" -bogus true
        has_line "$stderr" "tprun: '$name --help' lists the options"
    done
}

@test "the first line of --version tells scripts which launcher's options to write" {
    for name in mpirun.openmpi mpiexec.openmpi orterun oshrun; do
        run -0 "$name" --version
        [[ "${lines[0]}" =~ ^"$name (Open MPI) "[0-9]+\.[0-9]+\.[0-9]+$ ]]
        has_line "$output" "tprun *"
    done
    run -0 prterun --version
    [[ "${lines[0]}" =~ ^"prterun (PRRTE) "[0-9]+\.[0-9]+\.[0-9]+$ ]]
    for name in mpiexec.hydra mpiexec.mpich mpirun.mpich; do
        run -0 "$name" --version
        equal "${lines[0]}" "HYDRA build details:"
        [[ "${lines[1]}" =~ ^\ +Version:\ +[0-9]+\.[0-9]+\.[0-9]+$ ]]
        has_line "$output" "tprun *"
    done
}

@test "mpirun --version says what the next mpirun in PATH would say" {
    mkdir hydra openmpi
    printf '#!/bin/sh\nexit 9\n' >hydra/mpiexec.hydra
    chmod +x hydra/mpiexec.hydra
    ln -s mpiexec.hydra hydra/mpirun
    cp hydra/mpiexec.hydra openmpi/orterun
    ln -s orterun openmpi/mpirun
    PATH=$PWD/bin:$PWD/hydra:$PWD/openmpi:$PATH run -0 mpirun --version
    equal "${lines[0]}" "HYDRA build details:"
    PATH=$PWD/bin:$PWD/openmpi:$PWD/hydra:$PATH run -0 mpirun -V
    [[ "${lines[0]}" == "mpirun (Open MPI) "* ]]
    PATH=$PWD/bin run -0 bin/mpiexec --version
    [[ "${lines[0]}" == "mpiexec (Open MPI) "* ]]
}

# It draws from the cores of the task that calls it.
@test "a task, a script and a wrapper that tprun started call mpirun, and ranks begin anew" {
    run -0 --separate-stderr launch mpirun -n 2 sh -c 'mpirun -n 2 sh -c "echo \$PMI_RANK/\$PMI_SIZE"'
    equal "$(sort <<<"$output")" "$(printf '0/2\n0/2\n1/2\n1/2')"
    equal "$stderr" ""
    printf '#!/bin/sh\nexec mpiexec -n 3 "$@"\n' >wrapper
    printf '#!/bin/sh\nmpirun -n 1 ./wrapper sh -c %s\n' "'echo \$PMI_RANK/\$PMI_SIZE'" >job
    chmod +x wrapper job
    run -0 --separate-stderr launch mpirun -np 1 ./job
    equal "$(sort <<<"$output")" "$(printf '%d/3\n' 0 1 2)"
}
