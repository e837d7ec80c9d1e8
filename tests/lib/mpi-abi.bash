# shellcheck shell=bash
# Libraries of the MPI ABI: stand-ins for those of MPICH and Open MPI, and the real ones.

# Stand-ins in DIR/mpich/lib, DIR/openmpi/lib and, side by side as Debian has them, DIR/both. A program that
# is linked with libmpi_abi.so.1 prints whose it has loaded, and which PMI it was offered.
abi_stand_ins() { # DIR
    local mpi name
    mkdir -p "$1/both"
    for mpi in mpich openmpi; do
        name=MPIR_stand_in
        [ $mpi = mpich ] || name=ompi_stand_in
        mkdir -p "$1/$mpi/lib"
        echo "int $name(void) { return 0; }
            const char *abi_name(void) { return \"$mpi\"; }" >"$1/$mpi.c"
        "${CC:-cc}" -shared -fPIC -Wl,-soname,libmpi_abi.so.1 -o "$1/$mpi/lib/libmpi_abi.so.1.0.0" "$1/$mpi.c"
        ln -s libmpi_abi.so.1.0.0 "$1/$mpi/lib/libmpi_abi.so.1"
        cp "$1/$mpi/lib/libmpi_abi.so.1.0.0" "$1/both/libmpi_abi_$mpi.so.1.0.0"
    done
    ln -s libmpi_abi_openmpi.so.1.0.0 "$1/both/libmpi_abi.so.1"
    cat >"$1/abi.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
const char *abi_name(void);
int main(void)
{
    printf("%s%s%s\n", abi_name(), getenv("PMI_FD") ? " pmi1" : "", getenv("PMIX_RANK") ? " pmix" : "");
    return 0;
}
END
    abi_program "$1" abi
}
abi_program() { # DIR NAME [FLAG...]
    "${CC:-cc}" -o "$1/$2" "$1/abi.c" "$1/mpich/lib/libmpi_abi.so.1" "${@:3}"
}

# Real ones, both of them. Sets $abis, and compiles a program with the header of one, or with mpicc_abi.
need_abis() {
    abis=$("$TPRUN" --check "$(command -v bash)" --mpi openmpi --format=json |
        jq -r '.programs[0].mpi_abi // [] | .[].word' | sort | paste -sd' ')
    [[ "$abis" == *mpich*openmpi* ]] || skip "no libmpi_abi.so.1 of MPICH and of Open MPI here (found: ${abis:-none})"
}
abi_compile() { # PROGRAM SOURCE
    local header
    if command -v mpicc_abi >/dev/null; then
        mpicc_abi -O2 -o "$1" "$2"
        return
    fi
    for header in /usr/lib/*/mpi_abi_mpich/include /usr/lib/*/openmpi/include/standard_abi; do
        [ -e "$header/mpi.h" ] || continue
        "${CC:-cc}" -O2 -I"$header" -o "$1" "$2" -lmpi_abi
        return
    done
    skip "no mpicc_abi and no header of the MPI ABI here"
}
