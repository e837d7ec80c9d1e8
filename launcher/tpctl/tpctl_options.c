/* The options of tpctl, whichever method takes them. */
#include "launcher/tpctl/tpctl.h"

const struct method_option tpctl_options[TPCTL_NOPTIONS] = {
    [TPCTL_ALL] = {"all", 'a', NULL},
    [TPCTL_ARCHIVE] = {"archive", 0, "FILE.tar"},
    [TPCTL_DELAY] = {"delay", 'd', "FSD"},
    [TPCTL_EOF] = {"eof", 0, NULL},
    [TPCTL_FOLLOW] = {"follow", 'f', NULL},
    [TPCTL_FOR] = {"for", 0, "WHAT"},
    [TPCTL_FORMAT] = {"format", 0, "text|json"},
    [TPCTL_HELP] = {"help", 'h', NULL},
    [TPCTL_INPUT] = {"input", 'i', "WHAT"},
    [TPCTL_INSTANCE] = {"instance", 0, "DIR"},
    [TPCTL_KILL_GRACE] = {"kill-grace", 0, "FSD"},
    [TPCTL_NO_WAIT] = {"no-wait", 0, NULL},
    [TPCTL_LABEL] = {"label-io", 'l', NULL},
    [TPCTL_OLDER] = {"older", 0, "FSD"},
    [TPCTL_PARENT] = {"parent", 0, NULL},
    [TPCTL_RANKS] = {"ranks", 0, "IDSET"},
    [TPCTL_STATUS] = {"status", 0, NULL},
    [TPCTL_STDERR] = {"stderr", 0, NULL},
    [TPCTL_STDOUT] = {"stdout", 0, NULL},
    [TPCTL_TIMEOUT_AFTER] = {"timeout", 0, "FSD"},
    [TPCTL_WHY] = {"why", 0, "OPTION"},
};
