/* --help layout. What its pictures show, tprun prints: a command test holds them to it. */
#include "base/mem.h"
#include "launcher/options/help_layout.h"

/* clang-format off: a line a line of the screen */
static const char help[] =
    "tprun places one task after the other. On a node of two sockets with four cores\n"
    "(each shows the rank that has it, ~ if several share it, . if it is idle):\n"
    "\n"
    "  tprun -n 6 --map-by core                        [ 0 1 2 3 ]  [ 4 5 . . ]\n"
    "  tprun -n 6 --map-by socket                      [ 0 2 4 ~ ]  [ 1 3 5 ~ ]\n"
    "  tprun -n 6 --map-by socket --order sequential   [ 0 1 2 ~ ]  [ 3 4 5 ~ ]\n"
    "  tprun -n 4 --map-by socket -c 2                 [ 0 0 2 2 ]  [ 1 1 3 3 ]\n"
    "\n"
    "--map-by LEVEL   each LEVEL in turn gets a task; one node is filled before the\n"
    "                 next, unless LEVEL is node, or :span is behind it (socket:span)\n"
    "--bind-to LEVEL  a task may use the LEVEL around its place; without this, that\n"
    "                 of --map-by; 2c is two cores; with none it is not bound\n"
    "--order WHICH    natural ranks follow the placing, sequential ones the hardware\n"
    "-c N             N cores next to each other for each task; OpenMP is told so\n"
    "--per N:LEVEL    N tasks on each LEVEL that there is: 1:numa, 8:node, 1:gpu\n"
    "--mppr LIMITS    2:s,1:c: at most two a socket and one a core (default 1:c)\n"
    "--oversubscribe  more than that\n"
    "\n"
    "LEVEL: hwthread, core, l1cache, l2cache, l3cache, numa, socket, board or node.\n"
    "Their letters h c L1 L2 L3 N s b n say any order of loops: --map-by scnh.\n"
    "\n"
    "  tprun --dry-run -n 6 --map-by socket --topology 'n[0-1]=package:2 core:4 pu:2'\n"
    "\n"
    "shows it first; without --topology, on your own nodes. See man tprun-layout.\n";
/* clang-format on */

char *options_help_layout(void)
{
    return mem_copy_text(help);
}
