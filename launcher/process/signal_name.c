/* The table of signals that have names, for options and messages. */
#include "launcher/process/signal_name.h"
#include "base/number.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    int number;
} signals[] = {
    {"SIGHUP", SIGHUP},     {"SIGINT", SIGINT},   {"SIGQUIT", SIGQUIT},    {"SIGABRT", SIGABRT},
    {"SIGKILL", SIGKILL},   {"SIGUSR1", SIGUSR1}, {"SIGUSR2", SIGUSR2},    {"SIGPIPE", SIGPIPE},
    {"SIGALRM", SIGALRM},   {"SIGTERM", SIGTERM}, {"SIGCONT", SIGCONT},    {"SIGSTOP", SIGSTOP},
    {"SIGTSTP", SIGTSTP},   {"SIGTTIN", SIGTTIN}, {"SIGTTOU", SIGTTOU},    {"SIGURG", SIGURG},
    {"SIGXCPU", SIGXCPU},   {"SIGXFSZ", SIGXFSZ}, {"SIGPROF", SIGPROF},    {"SIGPWR", SIGPWR},
    {"SIGWINCH", SIGWINCH}, {"SIGIO", SIGIO},     {"SIGVTALRM", SIGVTALRM}};
enum { NSIGNALS = sizeof(signals) / sizeof(signals[0]) };

const char *signal_name(int number)
{
    static char other[32];
    for (size_t i = 0; i < NSIGNALS; i++)
        if (signals[i].number == number)
            return signals[i].name;
    snprintf(other, sizeof(other), "signal %d", number);
    return other;
}

int signal_number(const char *text, size_t len)
{
    for (size_t i = 0; i < NSIGNALS; i++) {
        const char *name = signals[i].name;
        bool whole = strlen(name) == len && strncasecmp(name, text, len) == 0;
        bool rest = strlen(name) == len + 3 && strncasecmp(name + 3, text, len) == 0;
        if (whole || rest)
            return signals[i].number;
    }
    uint64_t number;
    if (number_read(text, text + len, (uint64_t)SIGRTMAX, &number) != len)
        return 0;
    return number <= (uint64_t)SIGRTMAX ? (int)number : 0;
}

bool signal_asks_for_end(int number)
{
    static const int asking[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof(asking) / sizeof(asking[0]); i++)
        if (asking[i] == number)
            return true;
    return false;
}
