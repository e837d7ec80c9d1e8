/* The address of a control socket. */
#include "launcher/control/control_address.h"

#include <stdio.h>
#include <sys/socket.h>

#include "launcher/control/control_socket.h"

void control_address(struct sockaddr_un *address, int dir)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/" CONTROL_NAME, dir);
}
