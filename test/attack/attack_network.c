/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks that carry something out: addresses and sockets that somebody outside listens to. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "attack.h"

static struct sockaddr_in address4(const char *host, const char *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((in_port_t)number(port)) };

	inet_pton(AF_INET, host, &address.sin_addr);
	return address;
}

static struct sockaddr_in6 address6(const char *host, const char *port)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6,
		.sin6_port = htons((in_port_t)number(port)) };

	inet_pton(AF_INET6, host, &address.sin6_addr);
	return address;
}

static socklen_t address_unix(const char *path, struct sockaddr_un *ret)
{
	size_t len = strlen(path);

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(ret->sun_path, path, len < sizeof(ret->sun_path) ? len : sizeof(ret->sun_path));
	if (path[0] == '@')
		ret->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (path[0] != '@'));
}

static bool connect_and_send(int fd, const void *address, socklen_t len)
{
	if (fd < 0 || connect(fd, address, len) != 0)
		return refused("connect");
	return send(fd, "ATTACK", 6, MSG_NOSIGNAL) == 6 || refused("send");
}

static bool tcp4(char **arguments) /* host, port */
{
	struct sockaddr_in to = address4(arguments[0], arguments[1]);

	return connect_and_send(socket(AF_INET, SOCK_STREAM, 0), &to, sizeof(to));
}

static bool tcp6(char **arguments)
{
	struct sockaddr_in6 to = address6(arguments[0], arguments[1]);

	return connect_and_send(socket(AF_INET6, SOCK_STREAM, 0), &to, sizeof(to));
}

static bool fast_open(char **arguments)
{
	struct sockaddr_in to = address4(arguments[0], arguments[1]);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return sendto(fd, "ATTACK", 6, MSG_FASTOPEN, (void *)&to, sizeof(to)) == 6 ||
	       refused("sendto");
}

static bool udp4(char **arguments)
{
	struct sockaddr_in to = address4(arguments[0], arguments[1]);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	return sendto(fd, "ATTACK", 6, 0, (void *)&to, sizeof(to)) == 6 || refused("sendto");
}

static bool udp4_connected(char **arguments)
{
	struct sockaddr_in to = address4(arguments[0], arguments[1]);

	return connect_and_send(socket(AF_INET, SOCK_DGRAM, 0), &to, sizeof(to));
}

static bool udp_message(char **arguments)
{
	struct sockaddr_in to = address4(arguments[0], arguments[1]);
	struct iovec bytes = { (void *)(uintptr_t)"ATTACK", 6 };
	struct msghdr message = { .msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = &bytes,
		.msg_iovlen = 1 };
	struct mmsghdr messages = { .msg_hdr = message };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	bool one = sendmsg(fd, &message, 0) == 6;

	return sendmmsg(fd, &messages, 1, 0) == 1 || one || refused("sendmsg, sendmmsg");
}

static bool udp6(char **arguments)
{
	struct sockaddr_in6 to = address6(arguments[0], arguments[1]);
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	return sendto(fd, "ATTACK", 6, 0, (void *)&to, sizeof(to)) == 6 || refused("sendto");
}

static bool multicast(char **arguments) /* group, port */
{
	struct sockaddr_in to = address4(arguments[0], arguments[1]);
	struct in_addr local = { htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &local, sizeof(local)) != 0)
		return refused("IP_MULTICAST_IF");
	return sendto(fd, "ATTACK", 6, 0, (void *)&to, sizeof(to)) == 6 || refused("sendto");
}

static bool unix_stream(char **path)
{
	struct sockaddr_un to;
	socklen_t len = address_unix(path[0], &to);

	return connect_and_send(socket(AF_UNIX, SOCK_STREAM, 0), &to, len);
}

/* What is sent to a datagram socket: by an address, from a socket or from one of a pair. */
static bool unix_datagram(char **path)
{
	struct sockaddr_un to;
	socklen_t len = address_unix(path[0], &to);
	int pair[2] = { -1, -1 }, fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	bool any = fd >= 0 && sendto(fd, "ATTACK", 6, 0, (void *)&to, len) == 6;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0)
		any |= sendto(pair[0], "ATTACK", 6, 0, (void *)&to, len) == 6;
	return any || refused("sendto");
}

/* Somebody outside hands over a descriptor that is open for writing. */
static bool receive_descriptor(char **path)
{
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec bytes = { &byte, 1 };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room,
		.msg_controllen = sizeof(room) };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), received;
	struct sockaddr_un to;
	socklen_t len = address_unix(path[0], &to);

	if (fd < 0 || connect(fd, (void *)&to, len) != 0)
		return refused("connect");
	if (recvmsg(fd, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
		return refused("recvmsg");
	memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(received));
	return deface(received);
}

static bool inherited(char **fd)
{
	return send((int)number(fd[0]), "ATTACK", 6, MSG_NOSIGNAL) == 6 || refused("send");
}

/* Waits to be connected to from outside. */
static bool listen_to_all(char **arguments) /* port, milliseconds */
{
	struct sockaddr_in at = address4("0.0.0.0", arguments[0]);
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1, other;
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (void *)&at, sizeof(at)) != 0 || listen(fd, 1) != 0)
		return refused("bind or listen");
	if (poll(&wait, 1, (int)number(arguments[1])) <= 0)
		return false;
	other = accept(fd, NULL, NULL);
	return other >= 0 && send(other, "ATTACK", 6, MSG_NOSIGNAL) == 6;
}

/* The same, by a socket that is a file. */
static bool listen_unix(char **arguments) /* path, milliseconds */
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), other;
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", arguments[0]);
	if (bind(fd, (void *)&at, sizeof(at)) != 0 || listen(fd, 1) != 0)
		return refused("bind or listen");
	if (poll(&wait, 1, (int)number(arguments[1])) <= 0)
		return false;
	other = accept(fd, NULL, NULL);
	return other >= 0 && send(other, "ATTACK", 6, MSG_NOSIGNAL) == 6;
}

/* An address more on the loopback device (netlink(7), rtnetlink(7)). */
static bool add_address(char **host)
{
	struct {
		struct nlmsghdr header;
		struct ifaddrmsg message;
		struct rtattr attribute;
		struct in_addr address;
	} request = {
		.header = { sizeof(request), RTM_NEWADDR,
		            NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, 1, 0 },
		.message = { AF_INET, 32, 0, RT_SCOPE_HOST, if_nametoindex("lo") },
		.attribute = { RTA_LENGTH(sizeof(struct in_addr)), IFA_LOCAL },
	};
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char room[256];
	} answer = { .error.error = -EIO };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	inet_pton(AF_INET, host[0], &request.address);
	if (fd < 0 || send(fd, &request, sizeof(request), 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) < 0)
		return refused("netlink");
	errno = -answer.error.error;
	return errno == 0 || refused("RTM_NEWADDR");
}

/* Whether a socket of this kind can be had at all. */
static bool make_socket(char **arguments) /* family, type, protocol */
{
	return socket((int)number(arguments[0]), (int)number(arguments[1]),
	              (int)number(arguments[2])) >= 0 || refused("socket");
}

const struct attack network_attacks[] = {
	{ "tcp4", 2, tcp4 },
	{ "tcp6", 2, tcp6 },
	{ "fast-open", 2, fast_open },
	{ "udp4", 2, udp4 },
	{ "udp4-connected", 2, udp4_connected },
	{ "udp-message", 2, udp_message },
	{ "udp6", 2, udp6 },
	{ "multicast", 2, multicast },
	{ "unix-stream", 1, unix_stream },
	{ "unix-datagram", 1, unix_datagram },
	{ "receive-descriptor", 1, receive_descriptor },
	{ "send-inherited", 1, inherited },
	{ "listen", 2, listen_to_all },
	{ "listen-unix", 2, listen_unix },
	{ "add-address", 1, add_address },
	{ "socket", 3, make_socket },
	{ NULL, 0, NULL },
};
