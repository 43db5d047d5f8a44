/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor on TCP and UDP: the machine's own servers must hear nothing, those inside must be
 * reached. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "canaries.h"

static int reach_for_the_network(void *data)
{
	const struct canaries *c = data;
	struct sockaddr_in at = c->tcp_at, any = { .sin_family = AF_INET };
	struct sockaddr_in6 mapped = { .sin6_family = AF_INET6, .sin6_port = c->tcp_at.sin_port };
	struct iovec bytes = { (char[]){ "x" }, 1 };
	struct msghdr message = { .msg_name = &at, .msg_namelen = sizeof(at), .msg_iov = &bytes,
		.msg_iovlen = 1 };
	int fd, fast = 1;

	CHECK(connect_inet(SOCK_STREAM, &c->tcp_at) == -EACCES);
	inet_pton(AF_INET, "192.0.2.1", &at.sin_addr);
	CHECK(connect_inet(SOCK_STREAM, &at) == -EACCES);
	at = c->tcp_at;
	at.sin_addr.s_addr = 0;
	CHECK(connect_inet(SOCK_STREAM, &at) == -EACCES);
	at = c->tcp_at;
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr);
	fd = socket(AF_INET6, SOCK_STREAM, 0);
	CHECK(fd < 0 || result(connect(fd, (struct sockaddr *)&mapped, sizeof(mapped))) == -EACCES);
	CHECK(connect_inet(SOCK_DGRAM, &c->udp_at) == -EPERM);
	CHECK(result(socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP)) == -EPERM);
	CHECK(result(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)) == -EPERM);
	CHECK(result(socket(AF_INET, SOCK_RAW, IPPROTO_UDP)) == -EPERM);
	/* without connect */
	fd = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(result(sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&at, sizeof(at))) == -EOPNOTSUPP);
	CHECK(result(sendmsg(fd, &message, MSG_FASTOPEN)) == -EOPNOTSUPP);
	CHECK(sendto(fd, "x", 1, MSG_NOSIGNAL, (struct sockaddr *)&at, sizeof(at)) < 0);
	setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &fast, sizeof(fast));
	CHECK(result(connect(fd, (struct sockaddr *)&at, sizeof(at))) == -EACCES);
	CHECK(send(fd, "x", 1, MSG_NOSIGNAL) < 0);
	/* listening for others */
	inet_pton(AF_INET, "192.0.2.1", &any.sin_addr);
	CHECK(result(bind(fd, (struct sockaddr *)&any, sizeof(any))) == -EACCES);
	return 0;
}

static void without_namespaces_the_machine_is_not_reached(void **state)
{
	struct canaries c;
	struct heard *heard;
	char what[64];

	(void)state;
	canaries_make(&c, SANDBOX_LANDLOCK, false);
	heard = supervised(&c.plan.plan, reach_for_the_network, &c);
	assert_int_equal(heard->status, 0);
	snprintf(what, sizeof(what), "127.0.0.1:%u/tcp", ntohs(c.tcp_at.sin_port));
	assert_non_null(heard_denial(heard, DENIAL_CONNECT, what));
	snprintf(what, sizeof(what), "192.0.2.1:%u/tcp", ntohs(c.tcp_at.sin_port));
	assert_non_null(heard_denial(heard, DENIAL_CONNECT, what));
	assert_non_null(heard_denial(heard, DENIAL_LISTEN, "192.0.2.1:0/tcp"));
	assert_int_equal(heard_denial(heard, DENIAL_CALL, "socket(AF_INET, SOCK_DGRAM, 0)")->reason,
	                 SANDBOX_REASON_NETWORK);
	heard_free(heard);
	canaries_check(&c, true);
}

/* Which address a server gets that asks for one. */
static void serve_inet(int family, const char *wanted, const char *expected, bool bound)
{
	struct sockaddr_in6 at6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in at4 = { .sin_family = AF_INET };
	struct sockaddr *at = family == AF_INET ? (void *)&at4 : (void *)&at6;
	socklen_t len = family == AF_INET ? sizeof(at4) : sizeof(at6);
	int server = socket(family, SOCK_STREAM, 0), client, flags;
	char text[INET6_ADDRSTRLEN], byte;

	CHECK(server >= 0);
	inet_pton(family, wanted, family == AF_INET ? (void *)&at4.sin_addr : (void *)&at6.sin6_addr);
	CHECK(!bound || bind(server, at, len) == 0);
	CHECK(listen(server, 4) == 0 && getsockname(server, at, &len) == 0);
	inet_ntop(family, family == AF_INET ? (void *)&at4.sin_addr : (void *)&at6.sin6_addr, text,
	          sizeof(text));
	CHECK(strcmp(text, expected) == 0);
	/* blocking, then non-blocking */
	client = socket(family, SOCK_STREAM, 0);
	CHECK(connect(client, at, len) == 0 && send(client, "x", 1, 0) == 1);
	CHECK(recv(accept(server, NULL, NULL), &byte, 1, 0) == 1 && byte == 'x');
	client = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (connect(client, at, len) != 0) {
		struct pollfd ready = { .fd = client, .events = POLLOUT };
		int error = -1;
		socklen_t size = sizeof(error);

		CHECK(errno == EINPROGRESS && poll(&ready, 1, 1000) == 1);
		CHECK(getsockopt(client, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0);
	}
	flags = fcntl(client, F_GETFL);
	CHECK(flags & O_NONBLOCK);
	CHECK(accept(server, NULL, NULL) >= 0);
}

static bool has_ipv6(void)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	bool has = fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0;

	if (fd >= 0)
		close(fd);
	return has;
}

static int serve_on_loopback(void *data)
{
	const bool *ipv6 = data;
	struct sockaddr_in at = { .sin_family = AF_INET };
	int fd;

	serve_inet(AF_INET, "127.0.0.1", "127.0.0.1", true);
	serve_inet(AF_INET, "0.0.0.0", "127.0.0.1", true);
	serve_inet(AF_INET, "0.0.0.0", "127.0.0.1", false); /* listen without bind */
	if (*ipv6) {
		serve_inet(AF_INET6, "::1", "::1", true);
		serve_inet(AF_INET6, "::", "::ffff:127.0.0.1", true);
		serve_inet(AF_INET6, "::", "::ffff:127.0.0.1", false);
	}
	/* a server that is gone: refused as by any machine */
	fd = socket(AF_INET, SOCK_STREAM, 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&at, &(socklen_t){ sizeof(at) }) == 0);
	CHECK(connect_inet(SOCK_STREAM, &at) == -ECONNREFUSED);
	return 0;
}

static void without_namespaces_servers_inside_are_reached_on_loopback(void **state)
{
	struct canaries c;
	struct heard *heard;
	bool ipv6 = has_ipv6();

	(void)state;
	canaries_make(&c, SANDBOX_LANDLOCK, false);
	heard = supervised(&c.plan.plan, serve_on_loopback, &ipv6);
	assert_int_equal(heard->status, 0);
	assert_int_equal(heard->count, 0);
	heard_free(heard);
	canaries_check(&c, true);
}

/* At full with a network namespace the kernel says what there is; the rest is for the record. */
static int ask_the_network(void *data)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(53) };
	int fd;

	(void)data;
	/* a broadcast that was not asked for is never sent; nor is anything by connecting */
	at.sin_addr.s_addr = htonl(INADDR_BROADCAST);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	CHECK(fd >= 0);
	CHECK(sendto(fd, "x", 1, 0, (struct sockaddr *)&at, sizeof(at)) < 0);
	inet_pton(AF_INET, "192.0.2.1", &at.sin_addr);
	at.sin_port = htons(80);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	connect(fd, (struct sockaddr *)&at, sizeof(at));
	return 0;
}

static void with_namespaces_other_addresses_are_told(void **state)
{
	struct canaries c;
	struct heard *heard;

	(void)state;
	canaries_make(&c, SANDBOX_FULL, false);
	c.plan.plan.own_network = true;
	heard = supervised(&c.plan.plan, ask_the_network, NULL);
	assert_int_equal(heard->status, 0);
	assert_non_null(heard_denial(heard, DENIAL_CONNECT, "255.255.255.255:53/udp"));
	assert_non_null(heard_denial(heard, DENIAL_CONNECT, "192.0.2.1:80/udp"));
	heard_free(heard);
	canaries_check(&c, true);
}

static int use_the_network(void *data)
{
	const struct canaries *c = data;

	CHECK(connect_inet(SOCK_STREAM, &c->tcp_at) == 0);
	CHECK(connect_inet(SOCK_DGRAM, &c->udp_at) == 0);
	return 0;
}

static void with_the_network_on_addresses_are_free(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct canaries c;
		struct heard *heard;

		canaries_make(&c, i ? SANDBOX_FULL : SANDBOX_LANDLOCK, true);
		heard = supervised(&c.plan.plan, use_the_network, &c);
		assert_int_equal(heard->status, 0);
		assert_int_equal(heard->count, 0);
		heard_free(heard);
		canaries_check(&c, false);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_namespaces_the_machine_is_not_reached),
		cmocka_unit_test(without_namespaces_servers_inside_are_reached_on_loopback),
		cmocka_unit_test(with_namespaces_other_addresses_are_told),
		cmocka_unit_test(with_the_network_on_addresses_are_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
