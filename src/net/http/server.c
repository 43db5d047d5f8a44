/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon in the loop: its life, its connections, time.
 *
 * The daemon has work when its epoll says so, with every tick (its timeouts), and when a
 * connection was resumed, which its epoll does not show. */
#include "net/http/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http/server_private.h"
#include "net/http/sse.h"

/* ---- the library ---- */

static const struct library_symbol symbols[] = {
	{ "MHD_start_daemon", offsetof(struct http_library, start_daemon) },
	{ "MHD_stop_daemon", offsetof(struct http_library, stop_daemon) },
	{ "MHD_get_daemon_info", offsetof(struct http_library, get_daemon_info) },
	{ "MHD_run", offsetof(struct http_library, run) },
	{ "MHD_get_timeout", offsetof(struct http_library, get_timeout) },
	{ "MHD_get_connection_info", offsetof(struct http_library, get_connection_info) },
	{ "MHD_get_connection_values", offsetof(struct http_library, get_connection_values) },
	{ "MHD_lookup_connection_value",
	  offsetof(struct http_library, lookup_connection_value) },
	{ "MHD_suspend_connection", offsetof(struct http_library, suspend_connection) },
	{ "MHD_resume_connection", offsetof(struct http_library, resume_connection) },
	{ "MHD_create_response_from_buffer",
	  offsetof(struct http_library, create_response_from_buffer) },
	{ "MHD_create_response_from_callback",
	  offsetof(struct http_library, create_response_from_callback) },
	{ "MHD_add_response_header", offsetof(struct http_library, add_response_header) },
	{ "MHD_queue_response", offsetof(struct http_library, queue_response) },
	{ "MHD_destroy_response", offsetof(struct http_library, destroy_response) },
};

static const struct library row = { { "libmicrohttpd.so.12" }, "HTTP needs",
                                    "libmicrohttpd12", symbols, ARRAY_LEN(symbols) };

/* Turns of the daemon before the loop gets its turn. */
enum { ROUNDS = 32, HANGUP_EVENTS = 64 };

static uint64_t clock_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec;
}

/* ---- the daemon's turns ---- */

static bool daemon_has_more(struct http_server *server)
{
	MHD_UNSIGNED_LONG_LONG wait;

	/* Timeouts are looked at with every tick; only work that is there counts here. */
	return server->lib.get_timeout(server->daemon, &wait) == MHD_YES && wait == 0;
}

static void run_daemon(struct http_server *server)
{
	int rounds = ROUNDS;

	do
		server->lib.run(server->daemon);
	while (daemon_has_more(server) && --rounds);
	if (!rounds)
		http_server_wake(server);
}

static void on_ready(void *data)
{
	run_daemon(data);
}

static void on_again(struct loop_task *task)
{
	struct http_server *server =
		(struct http_server *)((char *)task - offsetof(struct http_server, again));

	server->again_posted = false;
	if (server->ended)
		free(server);
	else
		run_daemon(server);
}

/* ---- connections ---- */

/* The daemon does not see the end of a suspended connection, nor that of one in the middle of
 * its request line. */
static void watch_for_hangup(struct http_connection *connection)
{
	struct epoll_event event = { .events = EPOLLRDHUP | EPOLLET, .data.ptr = connection };

	connection->watched = epoll_ctl(connection->server->hangups, EPOLL_CTL_ADD,
	                                connection->fd, &event) == 0;
}

/* Ends it: libmicrohttpd finds out by itself. */
static void connection_shut(struct http_connection *connection)
{
	if (connection->shut)
		return;
	connection->shut = true;
	connection->server->strangers -= !connection->known;
	shutdown(connection->fd, SHUT_RDWR);
}

/* Connections that have shown no token must not keep out others: close the oldest of them. */
static void strangers_bound(struct http_server *server)
{
	struct http_connection *connection = server->connections.next;

	while (server->strangers > LIMIT_HTTP_STRANGERS && connection != &server->connections) {
		if (!connection->known)
			connection_shut(connection);
		connection = connection->next;
	}
}

static void connection_open(struct http_server *server, struct MHD_Connection *mhd, void **socket)
{
	struct http_connection *connection = mem_alloc(1, sizeof(*connection));

	connection->server = server;
	connection->since = clock_seconds();
	connection->fd =
		server->lib.get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	connection->next = &server->connections;
	connection->prev = server->connections.prev;
	connection->prev->next = connection->next->prev = connection;
	*socket = connection;
	watch_for_hangup(connection);
	server->strangers++;
	strangers_bound(server);
}

static void connection_close(struct http_connection *connection)
{
	if (connection->watched)
		epoll_ctl(connection->server->hangups, EPOLL_CTL_DEL, connection->fd, NULL);
	connection->prev->next = connection->next;
	connection->next->prev = connection->prev;
	connection->server->strangers -= !connection->known && !connection->shut;
	free(connection);
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **socket,
                          enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		connection_open(cls, mhd, socket);
	else if (*socket)
		connection_close(*socket);
}

static void connection_hung_up(struct http_connection *connection)
{
	connection->hung_up = true;
	connection->hung_up_since = connection->server->now;
	if (connection->request && connection->request->suspended)
		http_request_drop(connection->request);
}

static void on_hangups(void *data)
{
	struct http_server *server = data;
	struct epoll_event events[HANGUP_EVENTS];
	int count = epoll_wait(server->hangups, events, HANGUP_EVENTS, 0);

	/* Nothing is freed meanwhile: connections are only marked. */
	for (int i = 0; i < count; i++)
		connection_hung_up(events[i].data.ptr);
}

/* ---- time ---- */

static bool is_overdue(const struct http_server *server, const struct http_connection *connection)
{
	const struct http_request *request = connection->request;

	if (connection->hung_up && !(request && request->delivered) &&
	    server->now > connection->hung_up_since + HUNG_UP_SECONDS)
		return true;
	if (!request)
		return server->now > connection->since + (connection->known ?
		                                          HEAD_SECONDS : STRANGER_HEAD_SECONDS);
	return !request->delivered && server->now > request->since + BODY_SECONDS;
}

/* With every tick.  libmicrohttpd takes what is there unless it has no room for it. */
static bool body_is_stalled(struct http_request *request)
{
	const size_t bytes = request->body.len + request->discarded;
	int waiting = 0;

	if (request->delivered || request->held || bytes != request->seen_bytes ||
	    ioctl(request->connection->fd, FIONREAD, &waiting) != 0 || !waiting)
		request->stalled = 0;
	else
		request->stalled++;
	request->seen_bytes = bytes;
	return request->stalled >= STALLED_TICKS;
}

/* Its head was understood, so that an answer can be: but libmicrohttpd has no way to it. */
static void refuse_stalled(struct http_connection *connection)
{
	static const char answer[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n"
				     "Connection: close\r\n\r\n";

	if (send(connection->fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		connection_shut(connection);
}

static void keep_alive(struct http_request *request)
{
	struct http_server *server = request->server;
	_cleanup_buf_ struct buf comment = BUF_INIT(16);

	if (!request->streaming || request->stream_ended || !request->suspended ||
	    server->now < request->written + KEEP_ALIVE_SECONDS)
		return;
	sse_write_keep_alive(&comment);
	http_stream_write(request, buf_view(&comment));
}

static void on_tick(void *data)
{
	struct http_server *server = data;
	struct http_connection *connection = server->connections.next;

	server->now = clock_seconds();
	for (; connection != &server->connections; connection = connection->next) {
		if (connection->request)
			keep_alive(connection->request);
		if (!connection->shut && connection->request &&
		    body_is_stalled(connection->request))
			refuse_stalled(connection);
		if (is_overdue(server, connection))
			connection_shut(connection);
	}
	run_daemon(server);
}

/* ---- life ---- */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool parse_address(const char *text, uint16_t port, union address *ret, socklen_t *ret_len)
{
	*ret = (union address){ .any.sa_family = AF_UNSPEC };
	if (inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons(port);
		*ret_len = sizeof(ret->v4);
		return true;
	}
	ret->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
	*ret_len = sizeof(ret->v6);
	return inet_pton(AF_INET6, text, &ret->v6.sin6_addr) == 1;
}

/* A listening socket; -1 with errno. */
static int listen_on(union address *address, socklen_t len)
{
	_cleanup_fd_ int fd = socket(address->any.sa_family,
	                             SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0)
		return -1;
	/* Without it a port cannot be had again for a minute after its last connection. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address->any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, &address->any, len) != 0 || listen(fd, SOMAXCONN) != 0 ||
	    getsockname(fd, &address->any, &len) != 0)
		return -1;
	return fd_steal(&fd);
}

/* The file of one that no process listens to any more is replaced. */
static bool remove_dead_socket(const struct sockaddr_un *address, struct err *err)
{
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	if (lstat(address->sun_path, &st) != 0)
		return true;
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, ERR_INVALID_ARGUMENT, "%s exists and is no socket.",
		               address->sun_path);
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
	    errno != ECONNREFUSED)
		return err_set(err, ERR_BUSY, "Another process listens on %s.", address->sun_path);
	unlink(address->sun_path);
	return true;
}

/* A path that is too long for an address (unix(7)) is named by its folder's descriptor. */
static bool name_socket(const char *path, struct sockaddr_un *ret, int *ret_folder, struct err *err)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder = slash ? mem_dup(path, (size_t)(slash - path) + 1) : NULL;
	_cleanup_free_ char *name = NULL;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(ret->sun_path) && folder) {
		*ret_folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (*ret_folder < 0)
			return err_set_errno(err, errno, "The folder %s cannot be opened", folder);
		name = mem_printf("/proc/self/fd/%d/%s", *ret_folder, slash + 1);
	} else {
		name = mem_strdup(path);
	}
	if (strlen(name) >= sizeof(ret->sun_path))
		return err_set(err, ERR_INVALID_ARGUMENT, "The name of the socket %s is too long.",
		               path);
	memcpy(ret->sun_path, name, strlen(name) + 1);
	return true;
}

static bool open_unix_socket(struct http_server *server, int *ret, struct err *err)
{
	const char *path = server->options.socket;
	_cleanup_fd_ int fd = -1, folder = -1;
	struct sockaddr_un address;

	if (!name_socket(path, &address, &folder, err) || !remove_dead_socket(&address, err))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* What connects between the two is refused: nothing listens yet. */
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
		return err_set_errno(err, errno, "The socket %s cannot be made", path);
	server->socket = mem_strdup(path);
	if (chmod(path, 0600) != 0 || listen(fd, SOMAXCONN) != 0)
		return err_set_errno(err, errno, "The socket %s cannot be served", path);
	*ret = fd_steal(&fd);
	return true;
}

static bool open_socket(struct http_server *server, int *ret, struct err *err)
{
	const struct http_options *options = &server->options;
	union address address;
	socklen_t len;
	int fd;

	if (options->socket)
		return open_unix_socket(server, ret, err);
	if (!parse_address(options->address, options->port, &address, &len))
		return err_set(err, ERR_INVALID_ARGUMENT, "\"%s\" is not an IP address.",
		               options->address);
	fd = listen_on(&address, len);
	if (fd < 0)
		return err_set_errno(err, errno, "Port %u of %s cannot be served", options->port,
		                     options->address);
	server->guard.port = ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port :
	                                                              address.v6.sin6_port);
	*ret = fd;
	return true;
}

static bool start_daemon(struct http_server *server, struct err *err)
{
	int fd = -1;
	const bool tls = server->options.certificate;
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO |
	                 (tls ? MHD_USE_TLS : 0);
	const struct MHD_OptionItem secrets[] = {
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)server->options.key },
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)server->options.certificate },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)"NORMAL:-VERS-ALL:"
		                                  "+VERS-TLS1.3:+VERS-TLS1.2" },
		{ server->options.client_authority ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0,
		  (void *)(uintptr_t)server->options.client_authority },
		{ MHD_OPTION_END, 0, NULL },
	};

	if (!open_socket(server, &fd, err))
		return false;
	server->daemon = server->lib.start_daemon(
		flags, 0, NULL, NULL, http_on_access, server, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_NOTIFY_COMPLETED, http_on_completed, server,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)LIMIT_HTTP_CONNECTIONS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)QUIET_SECONDS,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
		MHD_OPTION_ARRAY, tls ? secrets : &secrets[ARRAY_LEN(secrets) - 1], MHD_OPTION_END);
	if (server->daemon)
		return true;
	close(fd);
	return tls ? err_set(err, ERR_INVALID_ARGUMENT, "The HTTPS server could not be started: "
	                     "its certificate or key is not usable.") :
	             err_set(err, ERR_IO_ERROR, "The HTTP server could not be started.");
}

/* The daemon's own epoll is a descriptor like any other to the loop. */
static bool join_loop(struct http_server *server, struct err *err)
{
	int fd = server->lib.get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;

	server->hangups = epoll_create1(EPOLL_CLOEXEC);
	if (server->hangups < 0)
		return err_set_errno(err, errno, "The HTTP server cannot watch its connections");
	server->watch = loop_watch_start(server->loop, fd, on_ready, server);
	server->hangup_watch =
		loop_watch_start(server->loop, server->hangups, on_hangups, server);
	if (!server->watch || !server->hangup_watch)
		return err_set_errno(err, errno, "The HTTP server cannot watch its connections");
	server->tick = loop_timer_start(server->loop, TICK_MS, TICK_MS, on_tick, server);
	run_daemon(server); /* puts the listening socket into its epoll */
	return true;
}

bool http_server_new(struct loop *loop, const struct http_options *options,
                     struct http_server **ret, struct err *err)
{
	struct http_server *server = mem_alloc(1, sizeof(*server));

	server->loop = loop;
	server->options = *options;
	server->guard = (struct http_guard){
		.hosts = options->hosts,
		.host_count = options->host_count,
		.names = options->names,
		.name_count = options->name_count,
		.origins = options->origins,
		.origin_count = options->origin_count,
		.token = options->token,
		.listed_only = options->listed_hosts_only,
	};
	server->connections.prev = server->connections.next = &server->connections;
	server->again.run = on_again;
	server->hangups = -1;
	server->now = clock_seconds();
	if (!library_load(&row, &server->lib, err) || !start_daemon(server, err) ||
	    !join_loop(server, err)) {
		http_server_free(server, 0);
		return false;
	}
	*ret = server;
	return true;
}

uint16_t http_server_port(const struct http_server *server)
{
	return server->guard.port;
}

static void close_connections(struct http_server *server)
{
	for (struct http_connection *connection = server->connections.next;
	     connection != &server->connections; connection = connection->next)
		if (connection->request && connection->request->suspended)
			http_request_drop(connection->request);
	run_daemon(server);
}

void http_server_free(struct http_server *server, unsigned drain_ms)
{
	if (!server)
		return;
	loop_watch_stop(server->watch);
	loop_watch_stop(server->hangup_watch);
	loop_timer_stop(server->tick);
	server->ended = true; /* refuses what still comes */
	if (server->daemon) {
		/* Runs the daemon until no answer is being sent any more, at most for
		 * `drain_ms`. */
		const struct timespec pause = { .tv_nsec = 1000000 };
		bool sending = true;

		for (unsigned ms = 0; sending && ms <= drain_ms; ms++) {
			if (ms)
				nanosleep(&pause, NULL);
			run_daemon(server);
			sending = false;
			for (struct http_connection *connection = server->connections.next;
			     connection != &server->connections; connection = connection->next)
				if (connection->request && connection->request->status &&
				    !connection->request->suspended)
					sending = true;
		}
		close_connections(server);
		server->lib.stop_daemon(server->daemon);
	}
	if (server->hangups >= 0)
		close(server->hangups);
	if (server->socket)
		unlink(server->socket);
	free(server->socket);
	if (!server->again_posted)
		free(server);
}
