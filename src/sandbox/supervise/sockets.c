/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses: what is bound and what is connected. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/plan/denial.h"
#include "sandbox/supervise/call.h"
#include "sandbox/supervise/handlers.h"
#include "sandbox/supervise/named.h"
#include "sandbox/supervise/private.h"

/* ---- the landlock level with the network off ---- */

/* Servers, on loopback alone.
 *
 * There is no namespace, so servers bind on the machine's loopback.  The supervisor makes the call,
 * on loopback whatever the process asked for (servers ask for all addresses), and remembers the
 * address: connect goes to remembered addresses and nowhere else.  What stays open: when a
 * server ends, another process of the machine may take its port, and be reached. */

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

static bool bound_has(const struct supervisor *supervisor, const struct sockaddr_storage *address)
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

void sockets_free_bound(struct supervisor *supervisor)
{
	while (supervisor->bound) {
		struct bound *bound = supervisor->bound;

		supervisor->bound = bound->next;
		free(bound);
	}
}

/* Remembers what a socket is bound to. The oldest go when there are too many. */
static void remember_bound(struct supervisor *supervisor, int fd)
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

static void address_text(const struct sockaddr_storage *address, socklen_t len, int type,
                         char *text, size_t size);

static int refuse_listen(const struct syscall *call, const struct sockaddr_storage *address,
                         socklen_t len, enum sandbox_reason reason)
{
	struct denial denial = { .kind = DENIAL_LISTEN, .reason = reason };

	address_text(address, len, SOCK_STREAM, denial.what, sizeof(denial.what));
	supervise_record_denial(call, &denial);
	return EACCES;
}

/* With the process's own working folder and umask, in the supervisor's thread, which shares neither
 * with another: getsockname shows the address as the process gave it. */
static int bind_in_folder(const struct syscall *call, int fd,
                          const struct sockaddr_storage *address, socklen_t len)
{
	_cleanup_fd_ int folder = named_open_folder(call, AT_FDCWD);
	int error = 0;

	if (folder < 0 || fchdir(folder) != 0 ||
	    bind(fd, (const struct sockaddr *)address, len) != 0)
		error = errno;
	if (chdir("/") != 0 && !error)
		error = errno;
	return error;
}

/* Where the thread cannot have a private folder: by way of /proc, which getsockname shows. */
static int bind_by_proc(int fd, const struct named *named)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char text[FD_PATH_SIZE];

	if (snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s", fd_path(named->folder, text),
	             named->name) >= (int)sizeof(un.sun_path))
		return ENAMETOOLONG;
	return bind(fd, (const struct sockaddr *)&un, sizeof(un)) ? errno : 0;
}

/* The address is bound as text, which nothing of the command can have changed meanwhile: names are
 * made and moved on this thread alone.  Another program of the user's could; so it is looked where
 * the socket came to be. */
static int bind_judged(const struct syscall *call, int fd, const struct named *named,
                       const struct sockaddr_storage *address, socklen_t len)
{
	int error;

	caller_take_umask(call);
	if (!call->supervisor->own_folder)
		return bind_by_proc(fd, named);
	error = bind_in_folder(call, fd, address, len);
	return error || named_exists(named) ? error : EACCES;
}

static int bind_path(const struct syscall *call, int fd, const char *path,
                     const struct sockaddr_storage *address, socklen_t len)
{
	_cleanup_named_ struct named named;
	struct verdict verdict;
	int error = named_find(call, AT_FDCWD, path, false, &named);

	if (!error && !call_alive(call))
		error = ESRCH;
	if (error)
		return error == EEXIST ? EADDRINUSE : error;
	supervise_judge(call, named.path, (struct name_use){ 0 }, &verdict);
	if (!verdict.allowed && named_exists(&named))
		return EADDRINUSE;
	if (verdict.refused ||
	    (!verdict.allowed && call->supervisor->plan->level == SANDBOX_LANDLOCK))
		return supervise_refuse_name(call, &verdict).error;
	supervise_report_made(call, named.path);
	error = bind_judged(call, fd, &named, address, len);
	supervise_record_verdict(call, &verdict, error);
	return error;
}

/* Whether sockets of the network may have any address: another network, or the user's own leave. */
static bool is_free(const struct sandbox_plan *plan)
{
	return plan->network || plan->own_network;
}

static int bind_unix(const struct syscall *call, int fd, const struct sockaddr_storage *address,
                     socklen_t len)
{
	char path[DECODE_UNIX_PATH_SIZE];

	if (decode_unix_path(address, len, path))
		return bind_path(call, fd, path, address, len);
	if (is_free(call->supervisor->plan))
		return bind(fd, (const struct sockaddr *)address, len) ? errno : 0;
	return refuse_listen(call, address, len, SANDBOX_REASON_SOCKETS);
}

static bool address_is_loopback(const struct sockaddr_storage *address);

static int bind_inet(const struct syscall *call, int fd, struct sockaddr_storage *address,
                     socklen_t len)
{
	const struct sandbox_plan *plan = call->supervisor->plan;

	if (!is_free(plan))
		turn_to_loopback(fd, address);
	if (!is_free(plan) && !address_is_loopback(address))
		return refuse_listen(call, address, len, SANDBOX_REASON_NETWORK);
	if (bind(fd, (const struct sockaddr *)address, len) != 0)
		return errno;
	remember_bound(call->supervisor, fd);
	return 0;
}

static int domain_of(int fd)
{
	int domain = -1;
	socklen_t len = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 ? domain : -1;
}

static int call_read_address(const struct syscall *call, uint64_t at, uint64_t len,
                             struct sockaddr_storage *ret, socklen_t *ret_len);

struct call_answer supervise_bind(const struct syscall *call, const struct handler *row)
{
	struct sockaddr_storage address;
	socklen_t len;
	_cleanup_fd_ int fd = -1;
	int error, domain;

	(void)row;
	error = call_read_address(call, call->args[1], call->args[2], &address, &len);
	if (error)
		return answer_error(error);
	if (!call->supervisor->takes_descriptors && is_free(call->supervisor->plan) &&
	    address.ss_family != AF_UNIX)
		return answer_go_on(CONTINUE_INET_ONLY);
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

struct call_answer supervise_listen(const struct syscall *call, const struct handler *row)
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
		remember_bound(call->supervisor, fd);
	}
	return supervise_answer_of(listen(fd, (int)call->args[1]));
}

/* A socket of AF_UNIX is of no use where it cannot be taken over, to be connected and bound; and if
 * there is none, what is in memory does not matter for the others. */
struct call_answer supervise_socket(const struct syscall *call, const struct handler *row)
{
	int type = (int)call->args[1] & 0xf;

	if ((int)call->args[0] != AF_UNIX || (type != SOCK_STREAM && type != SOCK_SEQPACKET))
		return supervise_refuse(call, row);
	return call->supervisor->takes_descriptors ? answer_go_on(CONTINUE_SOCKET) :
	                                             answer_error(EACCES);
}

/* ---- connect ---- */

/* The address is copied once, judged, and used by the supervisor on the process's own
 * socket, so that a process which changes the address, or the descriptor, meanwhile gains nothing.
 *
 * A socket that blocks must not block the supervisor.  It is made non-blocking for the one call; if
 * the connection is then under way, the call waits in a list, and is made again when the socket is
 * ready: the second call returns what a blocking one would have.  A UNIX socket whose
 * listener is busy gives EAGAIN instead, and is tried again every few milliseconds. */

struct waiting {
	struct waiting *next;
	uint64_t id;
	pid_t thread;
	int fd;                 /* owned; the copy of the process's socket */
	int target;             /* owned; the UNIX socket's inode, -1: none */
	struct sockaddr_storage address;
	socklen_t len;
	int64_t end_ms;         /* SO_SNDTIMEO; 0: none */
};

/* How often a waiting call is looked after, in milliseconds. */
enum { RETRY_UNIX_MS = 5, LOOK_MS = 50 };

static bool address_is_loopback(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;

	if (address->ss_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 == 127;
	if (address->ss_family != AF_INET6)
		return false;
	return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ||
	       (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) && in6->sin6_addr.s6_addr[12] == 127);
}

/* What connects to this machine: 0.0.0.0 and :: mean it too. */
static bool stays_here(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;

	return address_is_loopback(address) ||
	       (address->ss_family == AF_INET && in->sin_addr.s_addr == 0) ||
	       (address->ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr));
}

static void address_text(const struct sockaddr_storage *address, socklen_t len, int type,
                         char *text, size_t size)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	const struct sockaddr_un *un = (const void *)address;
	const char *kind = type == SOCK_DGRAM ? "udp" : "tcp";
	char host[INET6_ADDRSTRLEN] = "?";
	size_t n = len > offsetof(struct sockaddr_un, sun_path) ?
	           len - offsetof(struct sockaddr_un, sun_path) : 0;

	switch (address->ss_family) {
	case AF_INET:
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(text, size, "%s:%u/%s", host, ntohs(in->sin_port), kind);
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(text, size, "[%s]:%u/%s", host, ntohs(in6->sin6_port), kind);
		break;
	case AF_UNIX:
		if (n && un->sun_path[0] == '\0')
			snprintf(text, size, "unix:@%.*s", (int)(n - 1), un->sun_path + 1);
		else
			snprintf(text, size, "unix:%.*s", (int)n, un->sun_path);
		break;
	default:
		snprintf(text, size, "family %d", address->ss_family);
	}
}

/* Reads an address argument: 0 or an errno. */
static int call_read_address(const struct syscall *call, uint64_t at, uint64_t len,
                             struct sockaddr_storage *ret, socklen_t *ret_len)
{
	unsigned char bytes[sizeof(*ret)];
	uint32_t length = (uint32_t)len; /* the kernel takes an int */
	int error;

	if (length > sizeof(bytes))
		return EINVAL;
	error = length ? call_read(call, at, bytes, length) : 0;
	*ret_len = length;
	return error ? error : decode_address(bytes, length, ret);
}

/* ---- making the connection ---- */

/* The command's second layer of Landlock keeps abstract sockets among its own processes, but the
 * supervisor is outside of it: the worker itself, and another command's process, which has no
 * number in this namespace, are not reached. */
static bool peer_is_own(int fd)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.pid > 0 &&
	       peer.pid != getpid();
}

static int try_connect(const struct waiting *wait)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char text[FD_PATH_SIZE];

	if (wait->target < 0) {
		if (connect(wait->fd, (const void *)&wait->address, wait->len) != 0)
			return errno;
		if (wait->address.ss_family != AF_UNIX || peer_is_own(wait->fd))
			return 0;
		shutdown(wait->fd, SHUT_RDWR);
		return EPERM;
	}
	fd_path(wait->target, text);
	memcpy(un.sun_path, text, strlen(text) + 1);
	return connect(wait->fd, (const struct sockaddr *)&un, sizeof(un)) ? errno : 0;
}

/* One try that does not block; the process would see O_NONBLOCK, so it is taken off immediately. */
static int try_without_blocking(const struct waiting *wait, int flags)
{
	int error;

	if (fcntl(wait->fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return errno;
	error = try_connect(wait);
	fcntl(wait->fd, F_SETFL, flags);
	return error;
}

static bool is_under_way(const struct waiting *wait, int error)
{
	if (wait->target >= 0)
		return error == EAGAIN;
	return error == EINPROGRESS || error == EALREADY;
}

static int option(int fd, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, name, &value, &len) == 0 ? value : -1;
}

static int64_t send_timeout_end(int fd)
{
	struct timeval limit = { 0 };
	socklen_t len = sizeof(limit);

	if (getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &len) != 0 ||
	    (!limit.tv_sec && !limit.tv_usec))
		return 0;
	return (int64_t)clock_monotonic_ms() + (int64_t)limit.tv_sec * 1000 +
	       limit.tv_usec / 1000 + 1;
}

static void waiting_close(struct waiting *wait)
{
	fd_cleanup_close(&wait->fd);
	fd_cleanup_close(&wait->target);
}

static bool is_ready(const struct waiting *wait)
{
	struct pollfd ready = { .fd = wait->fd, .events = POLLOUT };

	return poll(&ready, 1, 0) > 0;
}

/* Takes over both descriptors of `wait`. */
static struct call_answer make_connection(const struct syscall *call, struct waiting wait)
{
	struct supervisor *supervisor = call->supervisor;
	int flags = fcntl(wait.fd, F_GETFL), error;
	struct waiting *kept;

	if (flags < 0 || (flags & O_NONBLOCK) || option(wait.fd, SO_TYPE) == SOCK_DGRAM) {
		error = try_connect(&wait);
		flags = -1; /* whatever it says is the answer */
	} else {
		error = try_without_blocking(&wait, flags);
		/* On loopback it is done by now. */
		if (error == EINPROGRESS && is_ready(&wait))
			error = try_without_blocking(&wait, flags);
	}
	if (flags < 0 || !is_under_way(&wait, error)) {
		waiting_close(&wait);
		return answer_made(error);
	}
	if (supervisor->waiting_count >= LIMIT_WAITING_CONNECTS) {
		waiting_close(&wait);
		return answer_error(EAGAIN);
	}
	wait.end_ms = send_timeout_end(wait.fd);
	kept = mem_alloc(1, sizeof(*kept));
	*kept = wait;
	kept->next = supervisor->waiting;
	supervisor->waiting = kept;
	supervisor->waiting_count++;
	return (struct call_answer){ .kind = ANSWER_LATER };
}

/* ---- those that wait ---- */

/* True when it is done with; *ret_answer is the answer, or none if the caller has ended. */
static bool waiting_is_done(struct supervisor *supervisor, struct waiting *wait,
                            struct call_answer *ret_answer)
{
	struct syscall call = { .supervisor = supervisor, .id = wait->id,
		.thread = wait->thread };
	int flags, error;

	*ret_answer = (struct call_answer){ .kind = ANSWER_LATER };
	if (!call_alive(&call))
		return true;
	if (wait->target >= 0 || is_ready(wait)) {
		flags = fcntl(wait->fd, F_GETFL);
		error = try_without_blocking(wait, flags & ~O_NONBLOCK);
		*ret_answer = answer_made(error);
		if (!is_under_way(wait, error))
			return true;
	}
	if (wait->end_ms && (int64_t)clock_monotonic_ms() >= wait->end_ms)
		*ret_answer = answer_error(wait->target >= 0 ? EAGAIN : EINPROGRESS);
	else if (call_is_interrupted(&call))
		*ret_answer = answer_error(EINTR);
	else
		return false;
	return true;
}

static void waiting_remove(struct supervisor *supervisor, struct waiting **at)
{
	struct waiting *wait = *at;

	*at = wait->next;
	waiting_close(wait);
	free(wait);
	supervisor->waiting_count--;
}

int sockets_poll_connects(const struct supervisor *supervisor, struct pollfd *polls,
                          unsigned *count)
{
	int after = supervisor->waiting ? LOOK_MS : -1;

	for (const struct waiting *wait = supervisor->waiting; wait; wait = wait->next) {
		if (wait->target >= 0)
			after = RETRY_UNIX_MS;
		else
			polls[(*count)++] = (struct pollfd){ .fd = wait->fd, .events = POLLOUT };
	}
	return after;
}

void sockets_continue_connects(struct supervisor *supervisor)
{
	for (struct waiting **at = &supervisor->waiting; *at;) {
		struct call_answer answer;
		uint64_t id = (*at)->id;

		if (!waiting_is_done(supervisor, *at, &answer)) {
			at = &(*at)->next;
			continue;
		}
		waiting_remove(supervisor, at);
		if (answer.kind == ANSWER_RESULT)
			supervise_answer(supervisor, id, answer);
	}
}

void sockets_free_connects(struct supervisor *supervisor)
{
	while (supervisor->waiting)
		waiting_remove(supervisor, &supervisor->waiting);
}

/* ---- judging ---- */

static void record_connect(const struct syscall *call, enum sandbox_reason reason, const char *what,
                           const char *rule)
{
	struct denial denial = { .kind = DENIAL_CONNECT, .reason = reason };

	snprintf(denial.what, sizeof(denial.what), "%.*s", (int)sizeof(denial.what) - 1, what);
	snprintf(denial.rule, sizeof(denial.rule), "%s", rule);
	supervise_record_denial(call, &denial);
}

/* Services that the C library asks before it reads the files itself, in nearly every program: they
 * are refused like all others, but not reported. */
static bool is_asked_by_libc(const char *path)
{
	return strcmp(path, "/run/nscd/socket") == 0 ||
	       strncmp(path, "/run/systemd/userdb/", strlen("/run/systemd/userdb/")) == 0;
}

/* Opens what a UNIX address names and judges it; the descriptor, or -1 with errno set. */
static int open_target(const struct syscall *call, const char *path)
{
	_cleanup_fd_ int fd = -1;
	struct denial denial;
	struct named named;
	_cleanup_free_ char *what = NULL;
	struct stat st;

	fd = named_open(call, AT_FDCWD, path, true, &named);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode)) {
		errno = ECONNREFUSED;
		return -1;
	}
	if (plan_judge(call->supervisor->plan, named.path, SANDBOX_WRITE, false, &denial))
		return fd_steal(&fd);
	what = mem_printf("unix:%s", named.path);
	if (!is_asked_by_libc(named.path))
		record_connect(call, denial.reason == SANDBOX_REASON_DENY ||
		                     denial.reason == SANDBOX_REASON_KEPT ?
		                     denial.reason : SANDBOX_REASON_SOCKETS,
		               what, denial.rule);
	errno = EACCES;
	return -1;
}

/* UNIX: 0, and *ret_target -1 for a name in a namespace of our own; or an errno. */
static int judge_unix(const struct syscall *call, const struct sockaddr_storage *address,
                      socklen_t len, int *ret_target)
{
	char path[DECODE_UNIX_PATH_SIZE], what[160];

	if (decode_unix_path(address, len, path)) {
		*ret_target = open_target(call, path);
		return *ret_target < 0 ? errno : 0;
	}
	if (call->supervisor->plan->own_network)
		return 0;
	address_text(address, len, SOCK_STREAM, what, sizeof(what));
	record_connect(call, SANDBOX_REASON_SOCKETS, what, "");
	return EPERM;
}

/* TCP and UDP: 0 or an errno. With a network namespace the kernel says what there is. */
static int judge_inet(const struct syscall *call, const struct sockaddr_storage *address,
                      socklen_t len, int type)
{
	const struct sandbox_plan *plan = call->supervisor->plan;
	char what[80];

	if (plan->network || (plan->own_network && stays_here(address)) ||
	    (!plan->own_network && bound_has(call->supervisor, address)))
		return 0;
	address_text(address, len, type, what, sizeof(what));
	record_connect(call, SANDBOX_REASON_NETWORK, what, "");
	return plan->own_network ? 0 : EACCES;
}

struct call_answer supervise_connect(const struct syscall *call, const struct handler *row)
{
	struct waiting wait = { .id = call->id, .thread = call->thread, .fd = -1, .target = -1 };
	int error, domain;

	(void)row;
	error = call_read_address(call, call->args[1], call->args[2], &wait.address, &wait.len);
	if (error)
		return answer_error(error);
	/* A container that forbids pidfd_getfd: no process has a socket of AF_UNIX there that could
	 * be connected (supervise_socket), and with the network on the others may go anywhere. */
	if (!call->supervisor->takes_descriptors && call->supervisor->plan->network &&
	    wait.address.ss_family != AF_UNIX)
		return answer_go_on(CONTINUE_INET_ONLY);
	wait.fd = call_descriptor(call, (int)call->args[0]);
	if (wait.fd < 0)
		return answer_error(errno == EPERM ? EACCES : errno);
	domain = option(wait.fd, SO_DOMAIN);
	if (domain < 0)
		error = errno; /* ENOTSOCK */
	else if (wait.address.ss_family == AF_UNIX && domain == AF_UNIX)
		error = judge_unix(call, &wait.address, wait.len, &wait.target);
	else if (wait.address.ss_family == AF_INET || wait.address.ss_family == AF_INET6)
		error = judge_inet(call, &wait.address, wait.len, option(wait.fd, SO_TYPE));
	else if (domain == AF_UNIX)
		error = EINVAL; /* as the kernel has it */
	if (error) {
		waiting_close(&wait);
		return answer_error(error);
	}
	return make_connection(call, wait);
}

/* Datagrams with an address, where only loopback can be reached: for the record. */
struct call_answer supervise_sendto(const struct syscall *call, const struct handler *row)
{
	struct sockaddr_storage address;
	socklen_t len;
	char what[80];

	if ((uint32_t)call->args[3] & 0x20000000 /* MSG_FASTOPEN */)
		return supervise_refuse(call, row);
	if (call_read_address(call, call->args[4], call->args[5], &address, &len) == 0 &&
	    (address.ss_family == AF_INET || address.ss_family == AF_INET6) &&
	    !stays_here(&address)) {
		address_text(&address, len, SOCK_DGRAM, what, sizeof(what));
		record_connect(call, SANDBOX_REASON_NETWORK, what, "");
	}
	return answer_go_on(CONTINUE_LOOPBACK);
}
