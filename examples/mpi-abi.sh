#!/bin/sh
# examples/mpi-abi.sh [TASKS] - compile examples/mpi-ring.c once, for the ABI of MPI 5, and run that one
# binary with the library of each MPI that is installed. Ends with 77, and says what is missing, where
# there is no compiler for the ABI or no library of it. TPRUN may name another tprun, CC a compiler.
set -eu
source=$(cd "$(dirname "$0")" && pwd)/mpi-ring.c
tasks=${1:-4} tprun=${TPRUN:-tprun}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skip() {
    echo "mpi-abi: skipped: $*" >&2
    exit 77
}

# An MPI's own mpicc_abi; else Debian's headers, for which it has no such command.
compile() {
    if command -v mpicc_abi >/dev/null; then
        mpicc_abi -O2 -o "$work/ring" "$source"
        return
    fi
    for include in /usr/lib/*/mpi_abi_mpich/include /usr/lib/*/openmpi/include/standard_abi; do
        [ -e "$include/mpi.h" ] || continue
        "${CC:-cc}" -O2 -I"$include" -o "$work/ring" "$source" -lmpi_abi
        return
    done
    skip "no mpicc_abi and no header of the MPI ABI here (Open MPI 6 and MPICH 5 have them)"
}

command -v "$tprun" >/dev/null || skip "no $tprun here: TPRUN may name one"
compile
"$tprun" --check "$work/ring" >"$work/check" || true
cat "$work/check"
mpis=$(sed -n 's/^  --mpi    \([a-z0-9]*\): .*/\1/p' "$work/check")
[ -n "$mpis" ] || skip "no libmpi_abi.so.1 here"
for mpi in $mpis; do
    echo "tprun --mpi $mpi -n $tasks ./ring"
    "$tprun" --mpi "$mpi" --oversubscribe -n "$tasks" "$work/ring"
done
