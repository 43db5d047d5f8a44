/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that print, lie, hang, or change a recorded session: one error each, no crash, and a good
 * worker after a bad one.  The bad workers are this program, told by its arguments what to do. */
#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the first thread's stack has room */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/mem.h"
#include "live.h"
#include "part.h"
#include "worker/front/client.h"
#include "worker/front/open.h"
#include "worker/inside/inprocess.h"
#include "worker/inside/server.h"
#include "worker/wire/layout.h"

/* ---- the bad worker -------------------------------------------------------- */

static void play_until_signs(const char *folder);
static void play_bent(const char *row);

static int play(const char *what, const char *rest)
{
	const char *newer = WIRE_MAGIC "\7\0\x9\0\0\0\0\0" "9.9.9\0\0\0\0\0\0\0\0\0\0\0";

	if (strcmp(what, "banner") == 0) { /* prints, and is a good worker then */
		printf("Welcome!\n\x1b[31mhasp mail: none\n");
		fflush(stdout);
		return worker_serve(&(struct worker_serve_options){ .read_fd = 0, .write_fd = 1 });
	}
	if (strcmp(what, "newer") == 0) {
		fd_write_all(1, newer, WIRE_GREETING_BYTES);
		pause();
	}
	if (strcmp(what, "garbage") == 0) {
		static char lines[160000];

		for (size_t i = 0; i < sizeof(lines); i += 8)
			memcpy(lines + i, "garbage\n", 8);
		/* The front has read the first line when the many come. */
		fd_write_all(1, lines, 8);
		usleep(50000);
		fd_write_all(1, lines, sizeof(lines));
		pause();
	}
	if (strcmp(what, "silent") == 0)
		pause();
	if (strcmp(what, "dies") == 0) {
		fprintf(stderr, "cannot \x1b]0;evil\aconnect\nPermission denied (publickey).\n");
		return 255;
	}
	if (strcmp(what, "signs") == 0) { /* opens a workspace, hears three PINGs, and goes */
		play_until_signs(rest);
		return 0;
	}
	if (strcmp(what, "bent") == 0) /* opens a workspace, and answers a read with a row's frame */
		play_bent(rest);
	if (strcmp(what, "replay") == 0) { /* a file's bytes, whatever is asked */
		_cleanup_fd_ int fd = open(rest, O_RDONLY | O_CLOEXEC);
		static char bytes[1 << 20];
		ssize_t len = fd_read_full(fd, bytes, sizeof(bytes));

		fd_write_all(1, bytes, (size_t)len);
		while (read(0, bytes, sizeof(bytes)) > 0)
			;
	}
	return 0;
}

static bool open_bad(const char *what, const char *rest, const char *folder,
                     struct provider **ret, struct err *err)
{
	const char *const argv[] = { "/proc/self/exe", "play", what, rest, NULL };
	const char *const roots[] = { folder };
	const struct worker_options options = { .roots = roots, .root_count = 1,
		                                .level_given = true, .level = SANDBOX_PATHS,
		                                .durability = DURABILITY_RENAME };

	return local_provider_command(argv, &options, ret, err);
}

/* ---- before the first answer ----------------------------------------------- */

static void test_what_a_login_prints_is_skipped(void **state)
{
	struct live *live = *state, other = *live;
	struct err err = ERR_INIT;
	struct read_result read;

	live_write(live, "a", "x\n");
	if (!open_bad("banner", "", live->folder, &other.provider, &err))
		fail_msg("%s", err.message);
	assert_string_equal(other.provider->ops->info(other.provider)->kind, "command");
	read = live_read(&other, "a");
	assert_string_equal(read.content.data, "x\n");
	read_result_release(&read);
	provider_free(other.provider);
}

static void expect_failure(struct live *live, const char *what, const char *first,
                           const char *second)
{
	struct provider *provider;
	struct err err = ERR_INIT;

	assert_false(open_bad(what, "", live->folder, &provider, &err));
	assert_int_equal(err.code, ERR_WORKER_LOST);
	if (!strstr(err.message, first) || !strstr(err.message, second))
		fail_msg("%s: %s", what, err.message);
	assert_null(strchr(err.message, '\x1b'));
}

static void test_other_versions_are_named(void **state)
{
	expect_failure(*state, "newer", "(" HASP_VERSION ") speaks version 3", "(9.9.9) speaks 7 to 9");
}

static void test_garbage_is_shown(void **state)
{
	expect_failure(*state, "garbage", "does not speak the worker's protocol",
	               "It printed: garbage | garbage");
}

static void test_last_words_are_shown_without_escapes(void **state)
{
	expect_failure(*state, "dies", "ended with status 255",
	               "cannot ?]0;evil?connect | Permission denied (publickey).");
}

/* ---- hanging --------------------------------------------------------------- */

static struct client *open_client(const struct live *live, int *ret_pid)
{
	static const char *const argv[] = { "hasp", "worker", NULL };
	static const char *const env[] = { NULL };
	const char *const roots[] = { live->folder };
	const struct wire_hello hello = { .options = { .roots = roots, .root_count = 1,
		                                       .level_given = true,
		                                       .level = SANDBOX_PATHS } };
	const struct process_start start = { .argv = argv, .envp = env, .own = true };
	/* More than a busy machine takes to start it; test_a_slow_answer_is_waited_for takes longer. */
	const struct client_options options = { .patience_ms = 2000 };
	struct wire_welcome welcome;
	struct process process;
	struct client *client;
	struct err err = ERR_INIT;

	if (!process_start(&start, &process, &err))
		fail_msg("%s", err.message);
	*ret_pid = process.child.pid;
	if (!client_open(&process, &hello, &options, &client, &welcome, &err))
		fail_msg("%s", err.message);
	wire_welcome_release(&welcome);
	return client;
}

static bool read_by(struct client *client, const char *path, struct err *err)
{
	const struct read_request request = { .path = path };
	struct wire_read_done done = { 0 };
	struct client_call call = { .request = WIRE_MESSAGE_READ, .answer = WIRE_MESSAGE_READ_DONE,
		                    .body = &request,
		                    .object = &done };
	bool ok = client_call(client, &call, err);

	read_result_release(&done.result);
	return ok;
}

static void test_a_stopped_worker_is_found_out(void **state)
{
	struct live *live = *state;
	struct client *client;
	struct err err = ERR_INIT;
	int pid;

	live_write(live, "a", "x\n");
	client = open_client(live, &pid);
	assert_true(read_by(client, "a", &err));
	kill(pid, SIGSTOP);
	assert_false(read_by(client, "a", &err));
	assert_int_equal(err.code, ERR_WORKER_LOST);
	assert_non_null(strstr(err.message, "did not answer for"));
	assert_non_null(strstr(err.message, " s. It was killed."));
	assert_false(client_alive(client));
	client_unref(client);
}

/* What the other side would refuse to read is an error of the call, and not of the connection. */
static void test_a_path_that_no_message_takes_fails_one_call(void **state)
{
	enum { LONG = 100000 };
	struct live *live = *state;
	char *path = mem_alloc(LONG + 1, 1);
	struct client *client;
	struct err err = ERR_INIT;
	int pid;

	memset(path, 'a', LONG);
	live_write(live, "a", "x\n");
	client = open_client(live, &pid);
	assert_false(read_by(client, path, &err));
	assert_int_equal(err.code, ERR_TOO_LARGE);
	assert_non_null(strstr(err.message, "65536 bytes of \"path\""));
	assert_true(read_by(client, "a", &err));
	client_unref(client);
	free(path);
}

/* A call that takes its time is no hang. */
static void test_a_slow_answer_is_waited_for(void **state)
{
	struct live *live = *state;
	const struct search_request request = { .path = ".", .threads = 1, .timeout_ms = 4500,
		                                .match.pattern = SPAN("(a|aa|aaa)+(a+)+b") };
	struct search_result found = { 0 };
	struct client_call call = { .request = WIRE_MESSAGE_SEARCH,
		                    .answer = WIRE_MESSAGE_SEARCH_DONE,
		                    .body = &request,
		                    .object = &found };
	struct client *client;
	struct err err = ERR_INIT;
	char text[4001];
	int pid;

	memset(text, 'a', 4000);
	text[4000] = '\0';
	for (int i = 0; i < 60; i++) {
		char name[16];

		snprintf(name, sizeof(name), "hard%d", i);
		live_write(live, name, text);
	}
	client = open_client(live, &pid);
	client_call(client, &call, &err);
	assert_int_not_equal(err.code, ERR_WORKER_LOST);
	assert_true(client_alive(client));
	search_result_release(&found);
	client_unref(client);
}

/* ---- a recorded session, damaged -------------------------------------------- */

struct session {
	char bytes[16384];
	size_t len;
};

static void add(struct wire *wire, enum wire_type type, uint64_t id,
                const struct wire_layout *layout, const void *body)
{
	_cleanup_wire_out_ struct wire_out out;
	struct err err = ERR_INIT;

	wire_out_init(&out);
	wire_encode(&out, layout, body);
	assert_true(wire_send(wire, type, id, &out, NULL, 0, &err));
}

/* What is written between the two ends of a connection. */
static void record(struct session *session, void (*talk)(struct wire *wire, const char *folder),
                   const char *folder)
{
	struct wire wire;
	struct err err = ERR_INIT;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	wire_init(&wire, pair[0], pair[0], WIRE_TO_FRONT);
	assert_true(wire_greet(&wire, 0, &err));
	talk(&wire, folder);
	session->len = (size_t)read(pair[1], session->bytes, sizeof(session->bytes));
	wire_release(&wire);
	close(pair[0]);
	close(pair[1]);
}

static void talk_as_worker(struct wire *wire, const char *folder)
{
	char *roots[] = { (char *)folder };
	char text[] = "ten\ntwenty\n";
	const struct wire_welcome welcome = { .roots = roots, .root_count = 1,
		                              .kind = (char *)"in-process" };
	const struct wire_read_done done = {
		.result = { .state = { .path = (char *)folder, .exists = true, .size = 11 },
			    .content = { .data = text, .len = 11 }, .line_endings = "lf",
			    .total_lines = 2, .first_line = 1, .last_line = 2 },
	};

	add(wire, WIRE_MESSAGE_WELCOME, 1, &wire_layout_welcome, &welcome);
	add(wire, WIRE_MESSAGE_READ_DONE, 2, &wire_layout_read_done, &done);
}

static void talk_as_front(struct wire *wire, const char *folder)
{
	const char *const roots[] = { folder };
	const struct wire_hello hello = { .options = { .roots = roots, .root_count = 1 } };
	const struct read_request read_it = { .path = "a" };
	const struct search_request search = { .path = ".", .match.pattern = SPAN("x") };
	struct change change = { .kind = CHANGE_WRITE, .path = "b", .text = SPAN("new\n") };
	const struct wire_edit edit = { &change, 1, { .dry_run = true } };
	const struct wire_watch watch = { "a" };

	add(wire, WIRE_MESSAGE_HELLO, 1, &wire_layout_hello, &hello);
	add(wire, WIRE_MESSAGE_READ, 2, &wire_layout_read, &read_it);
	add(wire, WIRE_MESSAGE_EDIT, 3, &wire_layout_edit, &edit);
	add(wire, WIRE_MESSAGE_SEARCH, 4, &wire_layout_search, &search);
	add(wire, WIRE_MESSAGE_WATCH, 5, &wire_layout_watch, &watch);
	add(wire, WIRE_MESSAGE_UNWATCH, 5, &wire_layout_nothing, NULL);
	add(wire, WIRE_MESSAGE_CANCEL, 4, &wire_layout_nothing, NULL);
	add(wire, WIRE_MESSAGE_PING, 6, &wire_layout_nothing, NULL);
}

/* A descriptor from which the bytes come, and then the end. */
static int feed(const char *bytes, size_t len)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(send(pair[0], bytes, len, MSG_NOSIGNAL), len);
	/* Kept open for reading, so that what is answered has a place to go. */
	shutdown(pair[0], SHUT_WR);
	assert_true(dup2(pair[0], 200) == 200);
	close(pair[0]);
	return pair[1];
}

/* The front reads such a session: whether the file arrived. */
static bool front_reads(const char *bytes, size_t len)
{
	const char *const roots[] = { "/tmp" };
	const struct wire_hello hello = { .options = { .roots = roots, .root_count = 1 } };
	const struct client_options options = { .patience_ms = 100 };
	struct process process = PROCESS_INIT;
	struct wire_welcome welcome;
	struct client *client;
	struct err err = ERR_INIT;
	bool ok;

	process.read_fd = process.write_fd = feed(bytes, len);
	ok = client_open(&process, &hello, &options, &client, &welcome, &err);
	if (ok) {
		wire_welcome_release(&welcome);
		ok = read_by(client, "a", &err);
		client_unref(client);
	}
	close(200);
	assert_true(ok || (err.code != ERR_NONE && err.message[0]));
	return ok;
}

static void test_every_damage_to_a_workers_words_is_survived(void **state)
{
	struct live *live = *state;
	struct session session;

	record(&session, talk_as_worker, live->folder);
	assert_true(front_reads(session.bytes, session.len));
	for (size_t len = 0; len < session.len; len++)
		assert_false(front_reads(session.bytes, len));
	for (size_t bit = 0; bit < 8 * session.len; bit++) {
		session.bytes[bit / 8] = (char)(session.bytes[bit / 8] ^ (1 << bit % 8));
		front_reads(session.bytes, session.len);
		session.bytes[bit / 8] = (char)(session.bytes[bit / 8] ^ (1 << bit % 8));
	}
}

static bool open_inprocess(void *data, const struct wire_hello *hello, struct provider **ret,
                           struct err *err)
{
	const struct inprocess_options options = { .roots = hello->options.roots,
		                                   .root_count = hello->options.root_count };

	(void)data;
	return inprocess_provider(&options, ret, err);
}

static void worker_hears(const char *bytes, size_t len)
{
	int fd = feed(bytes, len);

	serve_connection(&(struct serve_connection){ .read_fd = fd, .write_fd = fd,
		                                     .open = open_inprocess });
	close(fd);
	close(200);
}

static void test_every_damage_to_the_fronts_words_is_survived(void **state)
{
	struct live *live = *state;
	struct session session;

	live_write(live, "a", "x\n");
	record(&session, talk_as_front, live->folder);
	worker_hears(session.bytes, session.len);
	for (size_t len = 0; len < session.len; len += 3 * part_step(6))
		worker_hears(session.bytes, len);
	for (size_t bit = 0; bit < 8 * session.len; bit += 3 * part_step(10)) {
		session.bytes[bit / 8] = (char)(session.bytes[bit / 8] ^ (1 << bit % 8));
		worker_hears(session.bytes, session.len);
		session.bytes[bit / 8] = (char)(session.bytes[bit / 8] ^ (1 << bit % 8));
	}
}

/* ---- answers that are none ---------------------------------------------------- */

/* What comes in place of READ_DONE, and nothing after it: the connection stays open.  `id` counts
 * from that of the READ. */
static const struct bent {
	const char *name;
	unsigned number;     /* of the message */
	int id;
	uint32_t fields_len; /* as the header says; 0: as many as there are */
	uint64_t blob_len;
	const char *fields;
	size_t len;          /* of what is sent: the header's and the fields' bytes; 0: all */
} bents[] = {
#define TEN "0123456789"
	{ "an answer to nothing", WIRE_MESSAGE_WALK_DONE, 7, 0, 0, "", 0 },
	{ "an answer to a request before", WIRE_MESSAGE_WELCOME, -1, 0, 0, "", 0 },
	{ "another answer", WIRE_MESSAGE_WALK_DONE, 0, 0, 0, TEN, 0 },
	{ "an answer without fields", WIRE_MESSAGE_READ_DONE, 0, 0, 0, "", 0 },
	{ "an answer of other fields", WIRE_MESSAGE_READ_DONE, 0, 0, 0, TEN, 0 },
	{ "an error without fields", WIRE_MESSAGE_ERROR, 0, 0, 0, "", 0 },
	{ "an error that is none", WIRE_MESSAGE_ERROR, 0, 0, 0, "\4\0\0\0none\0\0\0\0\0\0\0\0\0\0\0", 0 },
	{ "an error of nothing", WIRE_MESSAGE_ERROR, 9, 0, 0, TEN, 0 },
	{ "more fields than a message has", WIRE_MESSAGE_READ_DONE, 0, 0xfffffff0, 0, "", 0 },
	{ "more of a blob than a message has", WIRE_MESSAGE_READ_DONE, 0, 0, ~0ull, "", 0 },
	{ "a blob where there is none", WIRE_MESSAGE_PONG, 0, 0, 10, TEN, 0 },
	{ "a message that there is not", 250, 0, 0, 0, "", 0 },
	{ "a message to a worker", WIRE_MESSAGE_READ, 0, 0, 0, TEN, 0 },
	{ "a welcome", WIRE_MESSAGE_WELCOME, 0, 0, 0, "", 0 },
	{ "a change of what is read", WIRE_MESSAGE_CHANGED, 0, 0, 0, "", 0 },
	{ "a change of what comes later", WIRE_MESSAGE_CHANGED, 3, 0, 0, "", 0 },
	{ "output of what is read", WIRE_MESSAGE_RUN_OUTPUT, 0, 0, 0, "\0\0\0\0\0", 0 },
	{ "the end of what is read", WIRE_MESSAGE_RUN_ENDED, 0, 0, 0, TEN, 0 },
	{ "a command that runs", WIRE_MESSAGE_RUNNING, 0, 0, 0, "", 0 },
	{ "a watch that begins", WIRE_MESSAGE_WATCHING, 0, 0, 0, "", 0 },
	{ "a pong for what is read", WIRE_MESSAGE_PONG, 0, 0, 0, "", 0 },
	{ "half a header", WIRE_MESSAGE_READ_DONE, 0, 100, 0, "", 11 },
	{ "half of the fields", WIRE_MESSAGE_READ_DONE, 0, 100, 0, TEN, 0 },
	{ "fields that never come", WIRE_MESSAGE_READ_DONE, 0, 1 << 20, 0, "", 0 },
};

static void play_bent(const char *row)
{
	const struct bent *bent = &bents[strtoul(row, NULL, 10)];
	char *roots[] = { (char *)"/" };
	const struct wire_welcome welcome = { .roots = roots, .root_count = 1,
		                              .kind = (char *)"in-process" };
	/* "an error that is none" has NULs; the others end with their first. */
	const size_t len = bent->number == WIRE_MESSAGE_ERROR && bent->fields[0] == 4 ? 18 :
	                   bent->fields[0] ? strlen(bent->fields) :
	                   bent->number == WIRE_MESSAGE_RUN_OUTPUT ? 5 : 0;
	char frame[WIRE_HEADER_BYTES + 64];
	struct wire wire;
	struct err err = ERR_INIT;

	wire_init(&wire, 0, 1, WIRE_TO_WORKER);
	wire_greet(&wire, 0, &err);
	wire_greeted(&wire, NULL, 0);
	wire_next(&wire);
	wire_done(&wire);
	add(&wire, WIRE_MESSAGE_WELCOME, 1, &wire_layout_welcome, &welcome);
	wire_next(&wire);
	bytes_put(frame, bent->fields_len ? bent->fields_len : len, 4);
	bytes_put(frame + 4, bent->number, 4);
	bytes_put(frame + 8, wire.frame.id + (uint64_t)bent->id, 8);
	bytes_put(frame + 16, bent->blob_len, 8);
	memcpy(frame + WIRE_HEADER_BYTES, bent->fields, len);
	fd_write_all(1, frame, bent->len ? bent->len : WIRE_HEADER_BYTES + len);
	pause();
}

/* One that waited for its patience to end would not end while this test may run. */
static void test_an_answer_that_is_none_is_an_error_without_waiting(void **state)
{
	const char *const roots[] = { "/" };
	const struct wire_hello hello = { .options = { .roots = roots, .root_count = 1 } };
	static const char *const env[] = { NULL };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bents); i++) {
		const bool half = bents[i].len || bents[i].fields_len;
		const bool cut = half && bents[i].fields_len != 0xfffffff0;
		const struct client_options options = { .patience_ms = cut ? 1000 : 1000000 };
		char row[8];
		const char *const argv[] = { "/proc/self/exe", "play", "bent", row, NULL };
		const struct process_start start = { .argv = argv, .envp = env };
		struct wire_welcome welcome;
		struct process process;
		struct client *client = NULL;
		struct err err = ERR_INIT;

		snprintf(row, sizeof(row), "%zu", i);
		if (!process_start(&start, &process, &err) ||
		    !client_open(&process, &hello, &options, &client, &welcome, &err))
			fail_msg("%s: %s", bents[i].name, err.message);
		wire_welcome_release(&welcome);
		if (read_by(client, "a", &err) || err.code != ERR_WORKER_LOST ||
		    !strstr(err.message, "broke the protocol"))
			fail_msg("%s: %s", bents[i].name, err.message);
		client_unref(client);
	}
}

/* ---- connections that outlive their other end ------------------------------- */

struct held {
	int read_fd, write_fd;
	_Atomic bool ended;
};

static void *serve_held(void *data)
{
	struct held *held = data;

	serve_connection(&(struct serve_connection){ .read_fd = held->read_fd,
		                                     .write_fd = held->write_fd,
		                                     .open = open_inprocess, .silence_ms = 500 });
	held->ended = true;
	return NULL;
}

/* Asks until an answer finds no room: whoever reads the connection waits for that, too. */
static void ask_until_it_ends(struct wire *wire, const struct held *held)
{
	int before, waiting = 0;
	unsigned id = 3;

	while (!held->ended) {
		before = waiting;
		add(wire, WIRE_MESSAGE_PING, id++, &wire_layout_nothing, NULL);
		while (waiting == before && !held->ended) {
			usleep(100);
			assert_int_equal(ioctl(wire->read_fd, FIONREAD, &waiting), 0);
		}
	}
}

/* A connection that stays open, and on which nothing is said or read any more. */
static void go_silent(const struct live *live, unsigned features, const char *const *command)
{
	const char *const roots[] = { live->folder };
	const struct wire_hello hello = { .options = { .roots = roots, .root_count = 1 } };
	const struct run_request run = { .argv = command, .no_input = true };
	struct held held;
	struct wire wire;
	struct err err = ERR_INIT;
	pthread_t thread;
	int to[2], from[2];

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	held = (struct held){ to[0], from[1], false };
	wire_init(&wire, from[0], to[1], WIRE_TO_FRONT);
	if (command) {
		assert_true(wire_greet(&wire, features, &err));
		add(&wire, WIRE_MESSAGE_HELLO, 1, &wire_layout_hello, &hello);
		add(&wire, WIRE_MESSAGE_RUN, 2, &wire_layout_run, &run);
	}
	pthread_create(&thread, NULL, serve_held, &held);
	if (features & WIRE_FEATURE_LEASE)
		ask_until_it_ends(&wire, &held);
	if (!(features & WIRE_FEATURE_LEASE) && command) { /* an older front: stays, and is answered */
		usleep(1500000);
		assert_false(held.ended);
		close(to[1]);
	}
	pthread_join(thread, NULL);
	wire_release(&wire);
	if ((features & WIRE_FEATURE_LEASE) || !command)
		close(to[1]);
	close(to[0]);
	close(from[0]);
	close(from[1]);
}

static void test_a_held_connection_ends_with_its_lease(void **state)
{
	static const char *const endless[] = { "sh", "-c", "echo $$ > pid; exec yes", NULL };
	const struct live *live = *state;
	struct read_result pid;

	go_silent(live, WIRE_FEATURE_LEASE, endless);
	pid = live_read(live, "pid");
	assert_int_equal(kill((pid_t)strtol(pid.content.data, NULL, 10), 0), -1);
	read_result_release(&pid);
	go_silent(live, 0, NULL); /* one who never greets */
}

static void test_an_older_front_may_be_silent(void **state)
{
	static const char *const quiet[] = { "sleep", "1000", NULL };

	go_silent(*state, 0, quiet);
}

static void play_until_signs(const char *folder)
{
	char *roots[] = { (char *)folder };
	const struct wire_welcome welcome = { .roots = roots, .root_count = 1,
		                              .kind = (char *)"in-process" };
	struct wire wire;
	struct err err = ERR_INIT;
	int signs = 0;

	wire_init(&wire, 0, 1, WIRE_TO_WORKER);
	wire_greet(&wire, WIRE_FEATURE_LEASE, &err);
	wire_greeted(&wire, NULL, 0);
	wire_next(&wire);
	wire_done(&wire);
	add(&wire, WIRE_MESSAGE_WELCOME, 1, &wire_layout_welcome, &welcome);
	while (signs < 3 && wire_next(&wire) == WIRE_FRAME) {
		signs += wire.frame.message->number == WIRE_MESSAGE_PING;
		add(&wire, WIRE_MESSAGE_PONG, wire.frame.id, &wire_layout_nothing, NULL);
		wire_done(&wire);
	}
	fprintf(stderr, "%d signs\n", signs);
	wire_release(&wire);
}

/* Nobody calls, nobody waits: the worker hears all the same that the front is there. */
static void test_a_front_gives_signs_of_life(void **state)
{
	const struct live *live = *state;
	const char *const argv[] = { "/proc/self/exe", "play", "signs", live->folder, NULL };
	static const char *const env[] = { NULL };
	const char *const roots[] = { live->folder };
	const struct wire_hello hello = { .options = { .roots = roots, .root_count = 1 } };
	const struct process_start start = { .argv = argv, .envp = env };
	const struct client_options options = { .lease = true, .sign_ms = 20 };
	struct wire_welcome welcome;
	struct process process;
	struct client *client = NULL;
	struct err err = ERR_INIT;

	if (!process_start(&start, &process, &err) ||
	    !client_open(&process, &hello, &options, &client, &welcome, &err))
		fail_msg("%s", err.message);
	wire_welcome_release(&welcome);
	while (client_alive(client))
		usleep(1000);
	client_why(client, &err);
	assert_non_null(strstr(err.message, "It said: 3 signs"));
	client_unref(client);
}

/* ---- order ----------------------------------------------------------------- */

static void *serve_pair(void *data)
{
	const int fd = *(const int *)data;

	serve_connection(&(struct serve_connection){ .read_fd = fd, .write_fd = fd,
		                                     .open = open_inprocess });
	return NULL;
}

/* Waits for so many answers of that kind. */
static void take_answers(struct wire *wire, enum wire_type type, int count)
{
	assert_int_equal(wire_greeted(wire, NULL, 0), WIRE_FRAME);
	while (count) {
		assert_int_equal(wire_next(wire), WIRE_FRAME);
		count -= wire->frame.message->number == (unsigned)type;
		assert_int_equal(wire_done(wire), WIRE_FRAME);
	}
}

static void test_edits_of_one_file_are_made_in_order(void **state)
{
	enum { EDITS = 50 };
	struct live *live = *state;
	const char *const roots[] = { live->folder };
	const struct wire_hello hello = { .options = { .roots = roots, .root_count = 1 } };
	static char numbers[EDITS + 1][16];
	struct read_result read_back;
	struct wire wire;
	struct err err = ERR_INIT;
	pthread_t thread;
	int pair[2];

	live_write(live, "list", "0");
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	wire_init(&wire, pair[0], pair[0], WIRE_TO_FRONT);
	assert_true(wire_greet(&wire, 0, &err));
	add(&wire, WIRE_MESSAGE_HELLO, 1, &wire_layout_hello, &hello);
	for (int i = 0; i <= EDITS; i++)
		snprintf(numbers[i], sizeof(numbers[i]), "%d", i);
	for (int i = 0; i < EDITS; i++) { /* each fits only what the one before made */
		struct change change = { .kind = CHANGE_UPDATE, .path = i % 2 ? "list" : "./list",
			                 .old_text = span_str(numbers[i]),
			                 .text = span_str(numbers[i + 1]) };
		const struct wire_edit edit = { &change, 1, { 0 } };

		add(&wire, WIRE_MESSAGE_EDIT, 2 + (uint64_t)i, &wire_layout_edit, &edit);
	}
	pthread_create(&thread, NULL, serve_pair, &pair[1]);
	take_answers(&wire, WIRE_MESSAGE_EDIT_DONE, EDITS);
	shutdown(pair[0], SHUT_WR);
	pthread_join(thread, NULL);
	read_back = live_read(live, "list");
	assert_string_equal(read_back.content.data, numbers[EDITS]);
	read_result_release(&read_back);
	wire_release(&wire);
	close(pair[0]);
	close(pair[1]);
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "play") == 0)
		return play(argv[2], argc > 3 ? argv[3] : "");
	live_main(argc, argv);
	signal(SIGPIPE, SIG_IGN);
#define LIVE(name) cmocka_unit_test_setup_teardown(name, live_setup, live_teardown)
	const struct CMUnitTest tests[] = {
		LIVE(test_what_a_login_prints_is_skipped),
		LIVE(test_other_versions_are_named),
		LIVE(test_garbage_is_shown),
		LIVE(test_last_words_are_shown_without_escapes),
		LIVE(test_a_stopped_worker_is_found_out),
		LIVE(test_a_path_that_no_message_takes_fails_one_call),
		LIVE(test_a_slow_answer_is_waited_for),
		LIVE(test_every_damage_to_a_workers_words_is_survived),
		LIVE(test_every_damage_to_the_fronts_words_is_survived),
		LIVE(test_an_answer_that_is_none_is_an_error_without_waiting),
		LIVE(test_a_held_connection_ends_with_its_lease),
		LIVE(test_an_older_front_may_be_silent),
		LIVE(test_a_front_gives_signs_of_life),
		LIVE(test_edits_of_one_file_are_made_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
