/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the supervisor: "daemons" of the machine, which must hear nothing. */
#ifndef HASP_TEST_CANARIES_H
#define HASP_TEST_CANARIES_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "supervised.h"

/* Sockets of "daemons": listening, and looked at in the end. */
struct canaries {
	char *root, *outside;
	char *stream, *packet, *datagram; /* paths */
	int stream_fd, packet_fd, datagram_fd;
	int tcp, udp, abstract;
	struct sockaddr_in tcp_at, udp_at;
	struct sockaddr_un abstract_at;
	socklen_t abstract_len;
	struct supervised_plan plan;
};

/* The plan has no network namespace: the machine's own loopback is what there is. */
void canaries_make(struct canaries *c, enum sandbox_level level, bool network);
/* Nobody came (inet: also not over TCP and UDP); then all goes. */
void canaries_check(struct canaries *c, bool inet);

struct sockaddr_un unix_at(const char *path);
/* In the child: socket and connect; 0 or -errno. */
long connect_unix(int type, const char *path);
long connect_inet(int type, const struct sockaddr_in *at);

#endif
