/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "canaries.h"

struct sockaddr_un unix_at(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	return at;
}

static int listen_unix(const char *path, int type)
{
	struct sockaddr_un at = unix_at(path);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_true(type == SOCK_DGRAM || listen(fd, 16) == 0);
	return fd;
}

static int listen_inet(int type, struct sockaddr_in *ret_at)
{
	socklen_t len = sizeof(*ret_at);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	*ret_at = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_int_equal(bind(fd, (struct sockaddr *)ret_at, sizeof(*ret_at)), 0);
	assert_true(type == SOCK_DGRAM || listen(fd, 16) == 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)ret_at, &len), 0);
	return fd;
}

void canaries_make(struct canaries *c, enum sandbox_level level, bool network)
{
	c->root = temp_make();
	c->outside = temp_make();
	c->stream = mem_printf("%s/stream", c->outside);
	c->packet = mem_printf("%s/packet", c->outside);
	c->datagram = mem_printf("%s/datagram", c->outside);
	c->stream_fd = listen_unix(c->stream, SOCK_STREAM);
	c->packet_fd = listen_unix(c->packet, SOCK_SEQPACKET);
	c->datagram_fd = listen_unix(c->datagram, SOCK_DGRAM);
	c->tcp = listen_inet(SOCK_STREAM, &c->tcp_at);
	c->udp = listen_inet(SOCK_DGRAM, &c->udp_at);
	c->abstract = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	c->abstract_at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(c->abstract_at.sun_path + 1, 64, "hasp-canary-%d-%s", getpid(), c->root + 5);
	c->abstract_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	                              strlen(c->abstract_at.sun_path + 1));
	assert_int_equal(bind(c->abstract, (struct sockaddr *)&c->abstract_at, c->abstract_len), 0);
	assert_int_equal(listen(c->abstract, 4), 0);
	supervised_plan_init(&c->plan, level, c->root);
	c->plan.plan.network = network;
	c->plan.plan.own_network = false; /* the machine's own loopback is what there is in this test */
}

static void assert_silent(int fd, const char *which)
{
	struct pollfd heard = { .fd = fd, .events = POLLIN };

	if (poll(&heard, 1, 0) != 0)
		fail_msg("the %s canary heard something", which);
}

void canaries_check(struct canaries *c, bool inet)
{
	assert_silent(c->stream_fd, "stream");
	assert_silent(c->packet_fd, "packet");
	assert_silent(c->datagram_fd, "datagram");
	assert_silent(c->abstract, "abstract");
	if (inet) {
		assert_silent(c->tcp, "tcp");
		assert_silent(c->udp, "udp");
	}
	close(c->stream_fd);
	close(c->packet_fd);
	close(c->datagram_fd);
	close(c->tcp);
	close(c->udp);
	close(c->abstract);
	free(c->stream);
	free(c->packet);
	free(c->datagram);
	temp_remove(c->root);
	temp_remove(c->outside);
}

long connect_unix(int type, const char *path)
{
	struct sockaddr_un at = unix_at(path);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	long done;

	if (fd < 0) /* where a container forbids what it takes to judge them */
		return -errno;
	done = result(connect(fd, (struct sockaddr *)&at, sizeof(at)));
	close(fd);
	return done;
}

long connect_inet(int type, const struct sockaddr_in *at)
{
	int fd = socket(AF_INET, type, 0);
	long done;

	if (fd < 0)
		return -errno;
	done = result(connect(fd, (const struct sockaddr *)at, sizeof(*at)));
	close(fd);
	return done;
}
