/* SPDX-License-Identifier: Apache-2.0 */
/* The landlock level with the network off: servers, on loopback alone.
 *
 * There is no namespace, so what is bound is the machine's loopback.  bind is made by the
 * supervisor, on loopback whatever the process asked for (servers ask for all addresses), and
 * remembered: connect goes to remembered addresses and nowhere else.  What stays open: when a
 * server ends, another process of the machine may take its port, and be reached.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/plan/judge.h"
#include "sandbox/supervise/internal.h"

struct bound {
	struct bound *next;
	struct in6_addr address; /* IPv4 as a mapped one */
	in_port_t port;
};

/* False for other families. */
static bool endpoint(const struct sockaddr_storage *address, struct in6_addr *ret, in_port_t *port)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;

	if (address->ss_family == AF_INET) {
		memset(ret, 0, sizeof(*ret));
		ret->s6_addr[10] = ret->s6_addr[11] = 0xff;
		memcpy(&ret->s6_addr[12], &in->sin_addr, 4);
		*port = in->sin_port;
	} else if (address->ss_family == AF_INET6) {
		*ret = in6->sin6_addr;
		*port = in6->sin6_port;
	}
	return address->ss_family == AF_INET || address->ss_family == AF_INET6;
}

bool bound_has(const struct supervisor *supervisor, const struct sockaddr_storage *address)
{
	struct in6_addr wanted;
	in_port_t port;

	if (!endpoint(address, &wanted, &port))
		return false;
	for (const struct bound *bound = supervisor->bound; bound; bound = bound->next) {
		if (bound->port == port && memcmp(&bound->address, &wanted, sizeof(wanted)) == 0)
			return true;
	}
	return false;
}

void bound_free(struct supervisor *supervisor)
{
	while (supervisor->bound) {
		struct bound *bound = supervisor->bound;

		supervisor->bound = bound->next;
		free(bound);
	}
}

/* Remembers what a socket is bound to. The oldest go when there are too many. */
static void remember(struct supervisor *supervisor, int fd)
{
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);
	struct bound *bound, **last;
	struct in6_addr at;
	in_port_t port;

	if (getsockname(fd, (struct sockaddr *)&address, &len) != 0 ||
	    !endpoint(&address, &at, &port) || bound_has(supervisor, &address))
		return;
	bound = mem_alloc(1, sizeof(*bound));
	*bound = (struct bound){ .next = supervisor->bound, .address = at, .port = port };
	supervisor->bound = bound;
	if (++supervisor->bound_count <= LIMIT_BOUND_ADDRESSES)
		return;
	for (last = &supervisor->bound; (*last)->next; last = &(*last)->next)
		;
	free(*last);
	*last = NULL;
	supervisor->bound_count--;
}

/* "All addresses" becomes loopback; of a socket for both versions, that of the older, which more
 * clients try. Others are as they are. */
static void turn_to_loopback(int fd, struct sockaddr_storage *address)
{
	struct sockaddr_in *in = (void *)address;
	struct sockaddr_in6 *in6 = (void *)address;
	int only = 1;
	socklen_t len = sizeof(only);

	if (address->ss_family == AF_INET && in->sin_addr.s_addr == htonl(INADDR_ANY)) {
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	} else if (address->ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr)) {
		getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, &len);
		in6->sin6_addr = in6addr_loopback;
		if (!only)
			inet_pton(AF_INET6, "::ffff:127.0.0.1", &in6->sin6_addr);
	}
}

static int refuse_listen(const struct call *call, const struct sockaddr_storage *address,
                         socklen_t len, enum sandbox_reason reason)
{
	struct denial denial = { .kind = DENIAL_LISTEN, .reason = reason };

	address_text(address, len, SOCK_STREAM, denial.what, sizeof(denial.what));
	record_denial(call, &denial);
	return EACCES;
}

/* With the process's own working folder and umask, in the supervisor's thread, which shares neither
 * with another. */
static int bind_in_folder(const struct call *call, int fd, int folder,
                          const struct sockaddr_storage *address, socklen_t len)
{
	mode_t before = umask(call_umask(call));
	int error = 0;

	if (fchdir(folder) != 0 || bind(fd, (const struct sockaddr *)address, len) != 0)
		error = errno;
	umask(before);
	if (chdir("/") != 0 && !error)
		error = errno;
	return error;
}

/* Where the thread cannot have those: by way of /proc, which getsockname shows. */
static int bind_by_proc(const struct call *call, int fd, const struct named *named)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	const char *name = strrchr(named->path, '/') + 1;
	_cleanup_free_ char *parent = mem_dup(named->path, (size_t)(name - named->path));
	_cleanup_fd_ int folder = open(parent, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char text[FD_PATH_SIZE];

	if (folder < 0)
		return errno;
	if (snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s", fd_path(folder, text), name) >=
	    (int)sizeof(un.sun_path))
		return ENAMETOOLONG;
	if (bind(fd, (const struct sockaddr *)&un, sizeof(un)) != 0)
		return errno;
	return fchmodat(folder, name, 0777 & ~call_umask(call), 0) ? errno : 0;
}

static int bind_path(const struct call *call, int fd, const struct sockaddr_storage *address,
                     socklen_t len)
{
	const struct sockaddr_un *un = (const void *)address;
	size_t max = len - offsetof(struct sockaddr_un, sun_path);
	_cleanup_free_ char *path = mem_dup(un->sun_path, strnlen(un->sun_path, max));
	_cleanup_fd_ int folder = named_open_folder(call);
	struct denial denial = { 0 };
	struct named named;
	int error = folder < 0 ? errno : named_find(call, AT_FDCWD, path, false, &named);

	if (error)
		return error;
	if (!call_alive(call))
		return ESRCH;
	if (!plan_judge(call->supervisor->plan, named.path, SANDBOX_WRITE, false, &denial)) {
		if (named_exists(&named))
			return EADDRINUSE;
		record_denial(call, &denial);
		return EACCES;
	}
	if (!call->supervisor->own_folder)
		return bind_by_proc(call, fd, &named);
	return bind_in_folder(call, fd, folder, address, len);
}

static int bind_unix(const struct call *call, int fd, const struct sockaddr_storage *address,
                     socklen_t len)
{
	const struct sockaddr_un *un = (const void *)address;

	if (len <= offsetof(struct sockaddr_un, sun_path) || un->sun_path[0] == '\0')
		return refuse_listen(call, address, len, SANDBOX_REASON_SOCKETS);
	return bind_path(call, fd, address, len);
}

static int bind_inet(const struct call *call, int fd, struct sockaddr_storage *address,
                     socklen_t len)
{
	turn_to_loopback(fd, address);
	if (!address_is_loopback(address))
		return refuse_listen(call, address, len, SANDBOX_REASON_NETWORK);
	if (bind(fd, (const struct sockaddr *)address, len) != 0)
		return errno;
	remember(call->supervisor, fd);
	return 0;
}

static int domain_of(int fd)
{
	int domain = -1;
	socklen_t len = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 ? domain : -1;
}

struct answer handle_bind(const struct call *call, const struct handler *row)
{
	struct sockaddr_storage address;
	socklen_t len;
	_cleanup_fd_ int fd = -1;
	int error, domain;

	(void)row;
	error = call_read_address(call, call->args[1], call->args[2], &address, &len);
	if (error)
		return answer_error(error);
	fd = call_descriptor(call, (int)call->args[0]);
	domain = fd < 0 ? -1 : domain_of(fd);
	if (domain < 0)
		return answer_error(errno == EPERM ? EACCES : errno);
	if (domain == AF_UNIX && address.ss_family == AF_UNIX)
		error = bind_unix(call, fd, &address, len);
	else if (domain == AF_INET || domain == AF_INET6)
		error = bind_inet(call, fd, &address, len);
	else
		error = bind(fd, (const struct sockaddr *)&address, len) ? errno : 0;
	return answer_made(error);
}

/* listen binds a socket that is not bound to a port of all addresses. */
static int bind_first(int fd, struct sockaddr_storage *address)
{
	socklen_t len = address->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
	                                                sizeof(struct sockaddr_in6);

	turn_to_loopback(fd, address);
	return bind(fd, (const struct sockaddr *)address, len) ? errno : 0;
}

struct answer handle_listen(const struct call *call, const struct handler *row)
{
	_cleanup_fd_ int fd = call_descriptor(call, (int)call->args[0]);
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);
	struct in6_addr at;
	in_port_t port;
	int error = 0;

	(void)row;
	if (fd < 0)
		return answer_error(errno == EPERM ? EACCES : errno);
	if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
		return answer_error(errno);
	if (endpoint(&address, &at, &port)) {
		if (!port)
			error = bind_first(fd, &address);
		else if (!address_is_loopback(&address))
			error = refuse_listen(call, &address, len, SANDBOX_REASON_NETWORK);
		if (error)
			return answer_error(error);
		remember(call->supervisor, fd);
	}
	return answer_of(listen(fd, (int)call->args[1]));
}
