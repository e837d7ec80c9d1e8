/*
 * control_address - where a program's control socket is, for those who bind it and those who
 * connect.
 */
#ifndef LAUNCHER_CONTROL_CONTROL_ADDRESS_H
#define LAUNCHER_CONTROL_CONTROL_ADDRESS_H

#include <sys/un.h>

/* In this open directory, which may have a path of any length. */
void control_address(struct sockaddr_un *address, int dir);

#endif
