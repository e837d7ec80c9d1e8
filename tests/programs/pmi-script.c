/*
 * pmi-script FILE CASE|all|others [whole|bytes|ahead] [loose] - speaks a case of a file like
 * tests/data/pmi-wire.txt on PMI_FD, and compares the replies. With "all" it says the names of the
 * cases, one a line, with "others" of those for other launchers.
 *   bytes  every byte in a write of its own
 *   ahead  all requests in one write; not in PMI 1.2, where replies may overtake others
 */
#include <poll.h>
#include <unistd.h>

#include "pmi-script.h"

static struct script_self self;
static int fd = -1;

static void die(const char *what, const char *text)
{
    fprintf(stderr, "pmi-script: rank %d: %s%s\n", self.rank, what, text);
    exit(1);
}

static void put(const char *bytes, size_t len, bool single)
{
    while (len) {
        ssize_t n = write(fd, bytes, single ? 1 : len);
        if (n <= 0)
            die("cannot write", "");
        bytes += n;
        len -= (size_t)n;
    }
}

static void get(char *bytes, size_t len)
{
    while (len) {
        struct pollfd poller = {.fd = fd, .events = POLLIN};
        if (poll(&poller, 1, 10000) != 1)
            die("no reply in 10 s", "");
        ssize_t n = read(fd, bytes, len);
        if (n <= 0)
            die("the launcher hung up", "");
        bytes += n;
        len -= (size_t)n;
    }
}

static void hear(bool frame, char *text)
{
    size_t len = 0;
    if (frame) {
        char head[7] = "";
        get(head, 6);
        len = strtoul(head, NULL, 10);
        if (!len || len >= SCRIPT_TEXT)
            die("no length: ", head);
        get(text, len);
    } else {
        do {
            if (len + 1 >= SCRIPT_TEXT)
                die("a line without end", "");
            get(text + len, 1);
        } while (text[len++] != '\n');
        len--;
    }
    text[len] = '\0';
}

static void ask(const char *request, bool frame, char *reply)
{
    char bytes[300];
    int len = frame ? sprintf(bytes, "%-6zu%s", strlen(request), request)
                    : sprintf(bytes, "%s\n", request);
    put(bytes, (size_t)len, false);
    hear(frame, reply);
}

static void learn_space(const char *reply, const char *field, char end)
{
    const char *at = strstr(reply, field);
    if (!at)
        die("no name of a space: ", reply);
    at += strlen(field);
    sprintf(self.space, "%.*s", (int)(strchr(at, end) ? strchr(at, end) - at : 299), at);
}

static void greet(const struct script *script, char *reply)
{
    char request[64];
    ask(script->frames  ? "cmd=init pmi_version=2 pmi_subversion=0"
        : script->later ? "cmd=init pmi_version=1 pmi_subversion=2"
                        : "cmd=init pmi_version=1 pmi_subversion=1",
        false, reply);
    if (!strstr(reply, script->frames ? "pmi_version=2" : "pmi_version=1") ||
        (script->later && !strstr(reply, "pmi_subversion=2")) || !strstr(reply, "rc=0"))
        die("a bad greeting: ", reply);
    if (script->frames) {
        sprintf(request, "cmd=fullinit;pmirank=%d;threaded=FALSE;", self.rank);
        ask(request, true, reply);
        ask("cmd=job-getid;", true, reply);
        learn_space(reply, "jobid=", ';');
    } else {
        ask("cmd=get_my_kvsname", false, reply);
        learn_space(reply, "kvsname=", ' ');
    }
}

static void expect(const struct script *script, const struct script_step *step, bool loose,
                   char *reply)
{
    char expected[2048];
    script_expand(&self, step->text, expected);
    hear(script->frames, reply);
    if (!script_matches(script, expected, reply, loose)) {
        fprintf(stderr, "pmi-script: rank %d, case %s: expected\n%s\nbut heard\n", self.rank,
                script->name, expected);
        die(reply, "");
    }
}

static void say(const struct script *script, const char *how, char *bytes)
{
    size_t len = 0;
    for (int i = 0; i < script->count; i++)
        if (script->steps[i].kind == '>')
            len += script_request(script, &script->steps[i], &self, bytes + len);
    put(bytes, len, !strcmp(how, "bytes"));
}

static void speak(const struct script *script, const char *how, bool loose)
{
    char *bytes = malloc(4 * SCRIPT_TEXT), *reply = malloc(SCRIPT_TEXT);
    bool ahead = !strcmp(how, "ahead") && !script->later;
    greet(script, reply);
    if (ahead)
        say(script, how, bytes);
    for (int i = 0; i < script->count; i++) {
        const struct script_step *step = &script->steps[i];
        if (step->kind == '<')
            expect(script, step, loose, reply);
        else if (!ahead)
            put(bytes, script_request(script, step, &self, bytes), !strcmp(how, "bytes"));
    }
    ask(script->frames ? "cmd=finalize;" : "cmd=finalize", script->frames, reply);
    if (!strstr(reply, script->frames ? "finalize-response" : "finalize_ack"))
        die("no end: ", reply);
    free(bytes);
    free(reply);
}

int main(int argc, char **argv)
{
    struct script script = {.count = 0};
    char ahead[256] = "";
    FILE *file = argc > 2 ? fopen(argv[1], "r") : NULL;
    if (!file)
        die("usage: pmi-script FILE CASE|all|others [bytes|ahead] [loose]", "");
    bool list = !strcmp(argv[2], "all"), others = !strcmp(argv[2], "others");
    self.rank = getenv("PMI_RANK") ? atoi(getenv("PMI_RANK")) : 0;
    self.size = getenv("PMI_SIZE") ? atoi(getenv("PMI_SIZE")) : 1;
    fd = getenv("PMI_FD") ? atoi(getenv("PMI_FD")) : -1;
    while (script_read(file, ahead, &script)) {
        if (list || (others && script.others))
            puts(script.name);
        if (strcmp(script.name, argv[2]) != 0)
            continue;
        speak(&script, argc > 3 ? argv[3] : "", argc > 4);
        script_free(&script);
        return 0;
    }
    script_free(&script);
    if (!list && !others)
        die("no such case: ", argv[2]);
    return 0;
}
