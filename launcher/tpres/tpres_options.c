/* The options of tpres, whichever method takes them. */
#include "launcher/tpres/tpres.h"

const struct method_option tpres_options[TPRES_NOPTIONS] = {
    [TPRES_CORES] = {"cores", 0, "N|IDSET"},
    [TPRES_COUNT] = {"count", 0, "N"},
    [TPRES_DRAW] = {"draw", 0, NULL},
    [TPRES_EXCLUDE] = {"exclude", 0, "HOSTLIST"},
    [TPRES_FORMAT] = {"format", 0, "text|json"},
    [TPRES_FROM] = {"from", 0, "SYSTEM"},
    [TPRES_GPUS] = {"gpus", 0, "N|IDSET"},
    [TPRES_HELD] = {"held", 0, "FILE"},
    [TPRES_HELP] = {"help", 'h', NULL},
    [TPRES_HOSTFILE] = {"hostfile", 0, "FILE"},
    [TPRES_HOSTS] = {"hosts", 0, "HOSTLIST"},
    [TPRES_NO_TOPOLOGY] = {"no-topology", 0, NULL},
    [TPRES_PROPERTY] = {"property", 0, "NAME[:RANKS]"},
    [TPRES_RANKS] = {"ranks", 0, "IDSET"},
    [TPRES_REQUIRES] = {"requires", 0, "CONSTRAINT"},
    [TPRES_RESOURCES] = {"resources", 'R', "FILE"},
    [TPRES_SLOTS] = {"slots", 0, NULL},
    [TPRES_TO] = {"to", 0, "FORM"},
    [TPRES_TOPOLOGY] = {"topology", 0, "SPEC"},
};
