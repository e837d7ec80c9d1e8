# Programs that cannot be executed: found out before any task is started, and said in words.
load ../lib/common
setup() { start_test; }
teardown() { nothing_left; }

# refused STATUS PATTERN PROGRAM: three tasks of it give one line that matches.
refused() {
    run "-$1" --separate-stderr tprun -n 3 "$3"
    has_line "$stderr" "$2"
    equal "$(wc -l <<<"$stderr")" 1
}
# patched FILE OFFSET BYTES: a copy of true with other bytes there.
patched() {
    cp /bin/true "$1"
    printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "an ELF file of another machine is 126, with the name of that machine, and no shell reads it" {
    [ "$(uname -m)" = x86_64 ] || skip "the bytes are those of x86_64"
    patched foreign 18 '\xb7\x00'
    refused 126 "tprun: ranks 0-2 on *: cannot run ./foreign: it is built for aarch64, this host is x86_64" ./foreign
    patched foreign 18 '\xf3\x00'
    refused 126 "tprun: * it is built for riscv64, *" ./foreign
}

@test "a broken ELF file, an object file and binary data are 126, and no shell reads them" {
    head -c 70 /bin/true >truncated
    chmod +x truncated
    refused 126 "tprun: *: cannot run ./truncated: an ELF file whose headers are cut off or wrong" ./truncated
    patched object 16 '\x01\x00'
    refused 126 "tprun: *: cannot run ./object: an ELF file that is not a program (an object file)" ./object
    printf 'data\0data' >data && chmod +x data
    refused 126 "tprun: *: cannot run ./data: neither an ELF file nor a script, but a binary file" ./data
}

@test "an ELF file whose dynamic loader is not there is 127, and the loader is named" {
    sed 's|/lib64/ld-linux-x86-64.so.2|/lib64/ld-linus-x86-64.so.2|' /bin/true >loaderless
    ! cmp -s /bin/true loaderless || skip "true has another loader"
    chmod +x loaderless
    refused 127 "tprun: *: its dynamic loader /lib64/ld-linus-x86-64.so.? is not there" ./loaderless
}

@test "a script without its interpreter is 127, and the interpreter is named" {
    printf '#!/no/such/python -u\n' >script && chmod +x script
    refused 127 "tprun: *: cannot run ./script: its interpreter /no/such/python is not there" ./script
    printf '#!/etc/passwd\n' >script
    refused 126 "tprun: *: cannot run ./script: its interpreter /etc/passwd cannot be used: Permission denied" ./script
}

@test "a script with the line ends of Windows is named as such" {
    printf '#!/bin/sh\r\necho started\r\n' >script && chmod +x script
    refused 127 'tprun: *: cannot run ./script: its first line "#!/bin/sh" ends with a carriage return*' ./script
    printf '#!/usr/bin/env sh\r\n' >script
    refused 127 'tprun: *"#!/usr/bin/env sh" ends with a carriage return*' ./script
}

@test "a directory in place of a program is 126, and is named as one" {
    mkdir folder
    refused 126 "tprun: ranks 0-2 on *: cannot run ./folder: it is a directory" ./folder
    refused 126 "tprun: ranks 0-2 on *: cannot run /: it is a directory" /
}

@test "a program in the working directory that is named without ./ is pointed to" {
    mkdir mine
    refused 127 "tprun: ranks 0-2 on *: cannot run mine: not found along PATH" mine
    rmdir mine
    printf '#!/bin/sh\n' >mine
    refused 127 "tprun: ranks 0-2 on *: cannot run mine: not found along PATH" mine
    chmod +x mine
    refused 127 "tprun: ranks 0-2 on *: cannot run mine: not found along PATH; the one in the working directory is ./mine" mine
}

@test "a working directory that is not there is named, whatever the program" {
    run -1 --separate-stderr tprun -n 1 --chdir nosuch ./program
    has_line "$stderr" "tprun: rank 0 on *: cannot enter directory $PWD/nosuch: No such file or directory"
    : >file
    run -1 --separate-stderr tprun -n 1 --chdir file true
    has_line "$stderr" "tprun: *: cannot enter directory $PWD/file: Not a directory"
}

@test "scripts, scripts for scripts and text without a first line run" {
    printf '#!/bin/sh\necho one' >one
    printf '#!%s/one\n' "$PWD" >two
    echo 'echo three' >three
    : >empty
    chmod +x one two three empty
    run -0 tprun -n 1 ./one
    equal "$output" one
    run -0 tprun -n 1 ./two
    equal "$output" one
    run -0 tprun -n 1 ./three
    equal "$output" three
    run -0 tprun -n 1 ./empty
}

@test "no task of any part runs where one part's program cannot be executed, and each reason is a line" {
    echo data >data
    run -127 --separate-stderr tprun -n 2 touch started : -n 1 ./nosuch : -n 2 ./data
    [ ! -e started ]
    equal "$(sed 's/ on [^:]*:/:/' <<<"$stderr")" "tprun: rank 2: cannot run ./nosuch: no such file
tprun: ranks 3-4: cannot run ./data: found, but not executable (chmod +x makes it so)"
}
