/* transport/tcp/socket.h - what tcp asks of the system for a socket: all are non-blocking, close-on-exec and bound to
 * the address of their rail, IPv4 or IPv6. */
#ifndef TT_TRANSPORT_TCP_SOCKET_H
#define TT_TRANSPORT_TCP_SOCKET_H

#include "transport/tcp/tcp.h"

#define TT_TCP_NAME_BYTES 80

/* Listens at the rail's address on a port that the system chooses, which is told in network order. */
tutti_status tt_tcp_socket_listen(const tt_rail *rail, in_port_t *port, int *fd);
/* The next one that waits at a listener; -1: none, errno says why. */
int tt_tcp_socket_accept(int listener);
/* Begins to connect from the rail's address; -1: it has failed at once, errno says why. */
int tt_tcp_socket_connect(const tt_rail *rail, const struct sockaddr_storage *address);
/* How a connect has ended; 0: it is established. */
int tt_tcp_socket_error(int fd);
/* Closes any of these; a fork of this process has closed its copy. */
void tt_tcp_socket_close(int fd);
/* Ends a connection so that nothing of it stays in the system. */
void tt_tcp_socket_abort(int fd);

/* For the traffic of a proven connection: no delay; a machine that does not answer is noticed within three seconds,
 * even if nothing is to be sent; what the system keeps unsent is little, so that a packet is not bound to a slow rail
 * early. */
void tt_tcp_socket_tune(int fd);

/* "10.0.0.1:40000", "[fe80::1%2]:40000". */
void tt_tcp_socket_name(const struct sockaddr_storage *address, char text[static TT_TCP_NAME_BYTES]);

#endif
