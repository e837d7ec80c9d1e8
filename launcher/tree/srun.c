/* Slurm's command for agents: its words, its environment, its ports. */
#include "launcher/tree/srun.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/string_list.h"

extern char **environ;

char **srun_command(const char *hosts, size_t count, const char *agent)
{
    static const char *const options[] = {"--quiet",
                                          "--overlap",
                                          "--mem=0",
                                          "--cpu-bind=none",
                                          "--mpi=none",
                                          "--input=all",
                                          "--output=none",
                                          "--error=all",
                                          "--kill-on-bad-exit=0",
                                          "--wait=0",
                                          "--export=ALL",
                                          "--chdir=/",
                                          "--job-name=tpagent",
                                          "--distribution=block",
                                          "--ntasks-per-node=1"};
    const size_t fixed = sizeof(options) / sizeof(options[0]);
    char **words = mem_array(fixed + 6, sizeof(*words));
    size_t at = 0;
    words[at++] = mem_copy_text("srun");
    for (size_t i = 0; i < fixed; i++)
        words[at++] = mem_copy_text(options[i]);
    words[at++] = mem_format("--nodes=%zu", count);
    words[at++] = mem_format("--ntasks=%zu", count);
    words[at++] = mem_format("--nodelist=%s", hosts);
    words[at++] = mem_copy_text(agent);
    return words;
}

static bool srun_has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* srun(1), "INPUT ENVIRONMENT VARIABLES": most of SLURM_ and all of SRUN_ are options. DISPLAY and
 * XAUTHORITY are this node's: in a job with --x11 Slurm gives each node its own. */
static bool is_for_srun(const char *entry)
{
    static const char *const kept[] = {
        "SLURM_JOB_",      "SLURM_JOBID=",   "SLURM_CONF=",         "SLURM_CLUSTER_NAME=",
        "SLURM_CLUSTERS=", "SLURM_JWT=",     "SLURM_HET_",          "SLURM_NODELIST=",
        "SLURM_SUBMIT_",   "SLURM_NETWORK=", "SLURM_CPU_FREQ_REQ=", "SLURM_ACCTG_FREQ=",
        "SLURM_PROFILE="};
    if (srun_has_prefix(entry, "SRUN_") || srun_has_prefix(entry, "DISPLAY=") ||
        srun_has_prefix(entry, "XAUTHORITY="))
        return false;
    if (!srun_has_prefix(entry, "SLURM_"))
        return true;
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (srun_has_prefix(entry, kept[i]))
            return true;
    return false;
}

char **srun_environment(void)
{
    struct string_list list = {NULL, 0};
    for (char **entry = environ; *entry; entry++)
        if (is_for_srun(*entry))
            string_list_add_copy(&list, *entry);
    string_list_add_copy(&list, "SLURM_EXTERNAL_LAUNCHER=1");
    return string_list_take(&list);
}

/* "SrunPortRange=LOW-HIGH"; false: the line is about something else. */
static bool read_ports(const char *line, struct connect_back_ports *ports)
{
    static const char name[] = "SrunPortRange";
    unsigned low, high;
    line += strspn(line, " \t");
    if (strncasecmp(line, name, sizeof(name) - 1) != 0 ||
        sscanf(line + sizeof(name) - 1, " = %5u - %5u", &low, &high) != 2 || low < 1 ||
        low > high || high > UINT16_MAX)
        return false;
    *ports = (struct connect_back_ports){(uint16_t)low, (uint16_t)high};
    return true;
}

struct connect_back_ports srun_ports(void)
{
    const char *const paths[] = {getenv("SLURM_CONF"), "/etc/slurm/slurm.conf",
                                 "/run/slurm/conf/slurm.conf"};
    struct connect_back_ports ports = {0, 0};
    FILE *file = NULL;
    char *line = NULL;
    size_t room = 0;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]) && !file; i++)
        file = paths[i] ? fopen(paths[i], "re") : NULL;
    while (file && getline(&line, &room, file) >= 0)
        if (read_ports(line, &ports))
            break;
    free(line);
    if (file)
        fclose(file);
    return ports;
}
