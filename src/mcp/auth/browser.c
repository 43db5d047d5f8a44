/* SPDX-License-Identifier: Apache-2.0 */
/* The browser, and the callback that it comes back to: one path on loopback (RFC 8252, 7.3). */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "mcp/auth/private.h"

extern char **environ;

enum { POLL_STEP_MS = 100, CALLBACK_READ_MS = 5000, CALLBACK_BYTES = 16 << 10,
       PORT_TRIES = 16 };

static const char callback_path[] = "/oauth/callback";

/* ---- the address ---- */

/* Of redirectUri, or OAUTH_CALLBACK_PORT; 0: any. */
static unsigned wanted_port(const char *redirect)
{
	const char *text = getenv("OAUTH_CALLBACK_PORT");
	const struct span origin = auth_origin(redirect ? redirect : "");
	const char *colon = origin.len ? memrchr(origin.data, ':', origin.len) : NULL;
	unsigned long port;

	if (colon && ascii_is_digit(colon[1]))
		text = colon + 1;
	port = text ? strtoul(text, NULL, 10) : 0;
	return port < 65536 ? (unsigned)port : 0;
}

/* A socket that listens; -1 with errno. */
static int callback_listen(int family, unsigned port)
{
	const struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
		                        .sin_addr = { htonl(INADDR_LOOPBACK) } };
	const struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
		                         .sin6_port = htons((uint16_t)port),
		                         .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	const bool is_v4 = family == AF_INET;
	_cleanup_fd_ int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int yes = 1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (!is_v4)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	if (bind(fd, is_v4 ? (const struct sockaddr *)&v4 : (const struct sockaddr *)&v6,
	         is_v4 ? sizeof(v4) : sizeof(v6)) < 0 || listen(fd, 8) < 0)
		return -1;
	return fd_steal(&fd);
}

static unsigned callback_port(const struct auth_callback *callback)
{
	struct sockaddr_in address = { 0 };
	socklen_t len = sizeof(address);

	return getsockname(callback->listeners[0], (struct sockaddr *)&address, &len) == 0 ?
	               ntohs(address.sin_port) : 0;
}

static void callback_stop(struct auth_callback *callback)
{
	for (size_t i = 0; i < ARRAY_LEN(callback->listeners); i++) {
		fd_cleanup_close(&callback->listeners[i]);
		callback->listeners[i] = -1;
	}
}

/* `both`: of localhost; a machine without IPv6 has only the one.  False with errno. */
static bool callback_listen_on(struct auth_callback *callback, unsigned port, bool both)
{
	for (int tries = 0; tries < (port ? 1 : PORT_TRIES); tries++) {
		callback->listeners[0] = callback_listen(AF_INET, port);
		if (callback->listeners[0] < 0)
			return false;
		callback->listeners[1] = both ? callback_listen(AF_INET6, callback_port(callback)) :
		                                -1;
		if (!both || callback->listeners[1] >= 0 || errno == EADDRNOTAVAIL ||
		    errno == EAFNOSUPPORT)
			return true;
		callback_stop(callback);
	}
	return false;
}

bool auth_callback_open(const struct mcp_auth *auth, struct auth_callback *ret, struct err *err)
{
	const char *redirect = auth_setting(auth, "redirectUri");
	const struct span origin = auth_origin(redirect ? redirect : "");
	/* A client that others registered, as for Gemini CLI, has this name. */
	const bool named = redirect || auth_setting(auth, "clientId");
	const bool both = named && !(origin.len && memmem(origin.data, origin.len, "127.0.0.1", 9));

	*ret = (struct auth_callback){ { -1, -1 }, NULL };
	if (!callback_listen_on(ret, wanted_port(redirect), both))
		return err_set(err, ERR_IO_ERROR,
		               "No port on %s for the redirect of the login: %s.",
		               both ? "127.0.0.1 and ::1" : "127.0.0.1", strerror(errno));
	ret->uri = redirect ? mem_strdup(redirect) :
	                      mem_printf("http://%s:%u%s", named ? "localhost" : "127.0.0.1",
	                                 callback_port(ret), callback_path);
	return true;
}

void auth_callback_close(struct auth_callback *callback)
{
	callback_stop(callback);
	free(callback->uri);
}

/* ---- the browser ---- */

/* It may keep running, as the browser itself, or end immediately. */
static void *browser_reap(void *data)
{
	const pid_t pid = (pid_t)(intptr_t)data;

	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return NULL;
}

bool mcp_browser_open(const char *url)
{
	const char *browser = getenv("BROWSER");
	const char *const argv[] = { browser && *browser ? browser : "xdg-open", url, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t how;
	pthread_attr_t detached;
	pthread_t thread;
	pid_t pid = -1;
	bool ok;

	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	/* In a new session, so that it outlives the terminal. */
	child_attributes(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	ok = posix_spawnp(&pid, argv[0], &actions, &how, (char *const *)argv, environ) == 0;
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&actions);
	if (!ok)
		return false;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &detached, browser_reap, (void *)(intptr_t)pid) != 0)
		waitpid(pid, NULL, WNOHANG);
	pthread_attr_destroy(&detached);
	return true;
}

/* ---- the callback ---- */

static void answer_browser(int fd, bool ours)
{
	static const char page[] = "<!doctype html><title>hasp</title><p>You can close this page "
				   "and go back to hasp.";
	_cleanup_free_ char *text = mem_printf(
		"HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n"
		"Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
		"Connection: close\r\n\r\n%s",
		ours ? "200 OK" : "404 Not Found", sizeof(page) - 1, page);

	/* A browser that has disconnected must not kill hasp (SIGPIPE); the page is a courtesy. */
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		return;
}

/* The query if it has our state. The caller frees; NULL: it has not. */
static char *query_of_state(struct span query, const char *state)
{
	_cleanup_free_ char *said = auth_form_get(query, "state");

	return said && !strcmp(said, state) ? mem_dup(query.data, query.len) : NULL;
}

/* The same of a request for the callback. */
static char *callback_query(struct span head, const char *state)
{
	const size_t path = strlen(callback_path);
	struct span query;

	if (!span_starts(head, SPAN("GET ")))
		return NULL;
	head = span_skip(head, 4);
	if (head.len <= path || memcmp(head.data, callback_path, path) || head.data[path] != '?')
		return NULL;
	query = span_skip(head, path + 1);
	return query_of_state(span_head(query, strcspn(query.data, " \r\n")), state);
}

/* The same of an address that the user has pasted. */
static char *pasted_query(const char *pasted, const char *state)
{
	const char *query = strchr(pasted, '?');

	query = query ? query + 1 : "";
	return query_of_state(span_of(query, strcspn(query, "# \t\r\n")), state);
}

/* One connection: other programs on this machine do not know the state. */
static char *callback_take(int listener, const char *state)
{
	_cleanup_fd_ int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	_cleanup_free_ char *head = mem_alloc(CALLBACK_BYTES + 1, 1);
	const uint64_t until = clock_monotonic_ms() + CALLBACK_READ_MS;
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	size_t len = 0;
	char *query;

	while (fd >= 0 && len < CALLBACK_BYTES && !strstr(head, "\r\n\r\n") &&
	       clock_monotonic_ms() < until && poll(&poller, 1, POLL_STEP_MS) >= 0) {
		ssize_t got = read(fd, head + len, CALLBACK_BYTES - len);

		if (!got || (got < 0 && errno != EAGAIN && errno != EINTR))
			break;
		len += got > 0 ? (size_t)got : 0;
	}
	query = callback_query(span_of(head, strlen(head)), state);
	if (fd >= 0)
		answer_browser(fd, query != NULL);
	return query;
}

/* ---- the user ---- */

/* The question, on a separate thread while the callback is awaited. */
struct browser_login {
	struct mcp_auth *auth;
	struct mcp_login login;
	struct cancel over;
	pthread_t thread;
	bool runs;
	_Atomic bool done;
	bool ok;             /* what follows is the thread's until it is done */
	char *pasted;        /* owned */
	struct err err;
};

static void *question_thread(void *data)
{
	struct browser_login *question = data;

	question->ok = question->auth->login(question->auth->data, &question->login,
	                                     &question->pasted, &question->err);
	atomic_store(&question->done, true);
	return NULL;
}

static bool question_begin(struct browser_login *question, struct err *err)
{
	atomic_store(&question->done, false);
	question->runs = pthread_create(&question->thread, NULL, question_thread, question) == 0;
	return question->runs ||
	       err_set(err, ERR_NO_RESOURCES, "No more threads can be started.");
}

static void question_end(struct browser_login *question)
{
	if (question->runs)
		pthread_join(question->thread, NULL);
	question->runs = false;
}

/* It is answered.  False: there will be no login. *ret: the query, if that was the answer. */
static bool question_take(struct browser_login *question, const char *state, char **ret,
                        struct err *err)
{
	_cleanup_free_ char *pasted = NULL;

	question_end(question);
	pasted = mem_steal(&question->pasted);
	if (!question->ok) {
		atomic_store(&question->auth->refused, question->err.code == ERR_DENIED_BY_USER);
		*err = question->err;
		return false;
	}
	if (!pasted)
		return true;
	*ret = pasted_query(pasted, state);
	explicit_bzero(pasted, strlen(pasted));
	question->login.problem = "That is not the address that this login page leads to, with "
				"\"code\" and \"state\" in it.";
	return *ret || question_begin(question, err);
}

static bool await_callback(struct browser_login *question, const struct auth_callback *callback,
                           const char *state, const struct auth_wait *wait, char **ret,
                           struct err *err)
{
	const uint64_t until = clock_monotonic_ms() + AUTH_LOGIN_MS;
	struct pollfd pollers[] = { { .fd = callback->listeners[0], .events = POLLIN },
		                    { .fd = callback->listeners[1], .events = POLLIN } };

	while (!*ret && clock_monotonic_ms() < until) {
		if (auth_wait_is_over(wait))
			return err_set(err, ERR_CANCELLED, "The login was cancelled.");
		if (poll(pollers, ARRAY_LEN(pollers), POLL_STEP_MS) > 0)
			*ret = callback_take(pollers[pollers[0].revents ? 0 : 1].fd, state);
		else if (question->runs && atomic_load(&question->done) &&
		         !question_take(question, state, ret, err))
			return false;
	}
	return *ret || err_set(err, ERR_CANCELLED,
	                       "The login at the %s was not completed.",
	                       question->auth->called);
}

bool auth_browse(struct mcp_auth *auth, const struct auth_callback *callback, const char *url,
                 const char *state, const struct auth_wait *wait, char **ret, struct err *err)
{
	struct browser_login question = { .auth = auth, .err = ERR_INIT,
		                        .login = { .server = auth->name, .url = url,
		                        .is_agent = auth->is_agent } };
	bool ok;

	*ret = NULL;
	if (!cancel_init(&question.over, err))
		return false;
	question.login.cancel = &question.over;
	ok = !auth_wait_is_over(wait) ? question_begin(&question, err) :
	     err_set(err, ERR_CANCELLED, "The login was cancelled.");
	ok = ok &&
	     await_callback(&question, callback, state, wait, ret, err);
	cancel_set(&question.over);
	question_end(&question);
	cancel_release(&question.over);
	free(question.pasted);
	return ok;
}
