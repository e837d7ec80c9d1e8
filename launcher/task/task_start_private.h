/*
 * task_start_private - a start while it goes on. Private to task_start.c and task_launch.c.
 */
#ifndef LAUNCHER_TASK_TASK_START_PRIVATE_H
#define LAUNCHER_TASK_TASK_START_PRIVATE_H

#include "launcher/task/memory_binding.h"
#include "launcher/task/part_setup.h"
#include "launcher/task/task_binding.h"
#include "launcher/task/task_launch.h"
#include "launcher/task/task_start.h"

struct task_start {
    struct task_start_config config;
    const struct task_start_ops *ops;
    void *owner;
    struct task_launching launching[TASK_START_MAX];
    uint32_t next; /* task to begin */
    bool stop;     /* begin no more for now: one has failed */
    bool sockets;  /* of PMI-1 and PMI-2 are served */
    ev_timer turn;
    struct part_setup *parts;
    struct task_binding bindings;
    struct exec_memory *memory; /* by binding of the launch; NULL: no part asks */
    struct start_failures failures;
    char *texts[TASK_ENVIRONMENT_LONG];
    int null;
};

#endif
