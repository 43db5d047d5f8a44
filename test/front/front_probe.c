/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions with fronts, for tests.
 *
 *   front_probe tui SOCKET           the terminal, and line fronts that connect to SOCKET
 *   front_probe lines SOCKET FOLDER...   a session for each folder and no terminal: each connection
 *                                    begins with the number of a folder, from 0; ends with its input.
 *                                    Prints "listening" when it accepts connections
 *
 * $HASP is the program that has the workers.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "line_front.h"
#include "tui/tui.h"

enum { SESSIONS_MAX = 8, CONNECTIONS_MAX = 256 };

struct probe {
	size_t count;
	struct front_runner *runners[SESSIONS_MAX];
	int listener;
	pthread_t accepts;
	pthread_t threads[CONNECTIONS_MAX];
	size_t thread_count;
};

struct connection {
	struct probe *probe;
	int fd;
};

static void *serve(void *data)
{
	struct connection *connection = data;
	struct probe *probe = connection->probe;
	size_t which = 0;
	char digit;

	if (probe->count > 1 && read(connection->fd, &digit, 1) == 1)
		which = (size_t)(digit - '0') % probe->count;
	line_front_serve(probe->runners[which], connection->fd);
	free(connection);
	return NULL;
}

static void *accept_all(void *data)
{
	struct probe *probe = data;
	int fd;

	while (probe->thread_count < CONNECTIONS_MAX &&
	       (fd = accept(probe->listener, NULL, NULL)) >= 0) {
		struct connection *connection = malloc(sizeof(*connection));

		*connection = (struct connection){ probe, fd };
		pthread_create(&probe->threads[probe->thread_count++], NULL, serve, connection);
	}
	return NULL;
}

static bool probe_listen(struct probe *probe, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	probe->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return bind(probe->listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	       listen(probe->listener, 64) == 0;
}

/* As tui_options.attached. */
static void probe_attached(void *data, struct front_runner *runner)
{
	struct probe *probe = data;

	probe->runners[probe->count++] = runner;
	pthread_create(&probe->accepts, NULL, accept_all, probe);
}

/* As tui_options.detached. */
static void probe_detached(void *data)
{
	struct probe *probe = data;

	shutdown(probe->listener, SHUT_RDWR);
	pthread_join(probe->accepts, NULL);
	for (size_t i = 0; i < probe->thread_count; i++)
		pthread_join(probe->threads[i], NULL);
	close(probe->listener);
}

static void print_notice(void *data, enum severity severity, const char *message)
{
	(void)data;
	fprintf(stderr, "%s: %s\n", notices_severity_name(severity), message);
}

static int run_terminal(struct probe *probe)
{
	struct cancel cancel;
	struct session_request request = {
		.program = getenv("HASP"), .interactive = true, .asks_together = true,
		.cancel = &cancel, .notices = { print_notice, NULL },
	};
	struct front_session *session;
	struct tui_options options = { .cancel = &cancel, .local = true,
		                       .attached = probe_attached, .detached = probe_detached,
		                       .data = probe };
	struct err err = ERR_INIT;
	int code = 1;

	if (!cancel_init(&cancel, &err))
		return 1;
	options.session = session = session_new(&request);
	if (session_load(session, &err))
		code = tui_run(&options);
	else
		fprintf(stderr, "%s\n", err.message);
	session_free(session);
	cancel_release(&cancel);
	return code;
}

static int run_lines(struct probe *probe, char **folders, size_t count)
{
	struct cancel cancels[SESSIONS_MAX];
	struct front_session *sessions[SESSIONS_MAX];
	struct err err = ERR_INIT;
	char byte;

	for (size_t i = 0; i < count; i++) {
		const struct session_request request = {
			.folder = folders[i], .program = getenv("HASP"), .interactive = true,
			.cancel = &cancels[i], .notices = { print_notice, NULL },
		};

		sessions[i] = session_new(&request);
		if (!cancel_init(&cancels[i], &err) || !session_load(sessions[i], &err) ||
		    !front_runner_new(&(struct front_runner_options){
			    .session = sessions[i], .cancel = &cancels[i] }, &probe->runners[i],
		                      &err))
			return 1;
		front_runner_begin(probe->runners[i]);
	}
	probe->count = count;
	printf("listening\n");
	fflush(stdout);
	pthread_create(&probe->accepts, NULL, accept_all, probe);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	for (size_t i = 0; i < count; i++)
		front_runner_end(probe->runners[i], "exit");
	probe_detached(probe);
	for (size_t i = 0; i < count; i++) {
		front_runner_free(probe->runners[i]);
		session_free(sessions[i]);
		cancel_release(&cancels[i]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct probe probe = { 0 };

	signal(SIGPIPE, SIG_IGN);
	if (argc < 3 || !probe_listen(&probe, argv[2]))
		return 2;
	if (strcmp(argv[1], "tui") == 0)
		return run_terminal(&probe);
	return run_lines(&probe, argv + 3, (size_t)argc - 3);
}
