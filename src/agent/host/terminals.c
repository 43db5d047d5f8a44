/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on terminals, between the jobs that run them and the bus: what they write, and whether
 * they ask for a password, is published; orders of who shows them are carried out. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/host/private.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "worker/job/job.h"

enum {
	TERMINAL_CELLS_MAX = 1000, /* of a side */
	OUTPUT_PIECE = 4096,       /* of a message */
	OUTPUT_MS = 4,             /* of an endless output, before others get their turn */
};

/* The beginning of a character that a piece of output ended in. */
struct terminal_part {
	unsigned pid;
	size_t len;
	char bytes[4];
};

struct terminals {
	struct host *host;
	struct session_terminal size;
	unsigned listeners[3];
	_Atomic uint64_t yielded_ms; /* others got their turn */
	pthread_mutex_t lock;       /* of what follows */
	struct terminal_part parts[LIMIT_JOBS_RUNNING];
};

/* ---- from commands ----------------------------------------------------------- */

static void terminal_started(void *data, unsigned id, const struct job_request *request)
{
	struct terminals *terminals = data;
	json_auto_t *message = json_pack("{s:i, s:s}", "pid", (int)id, "state", "running");

	json_object_set_new(message, "command", json_text(span_str(request->command)));
	if (request->call)
		json_object_set_new(message, "callId", json_text(span_str(request->call)));
	bus_publish(terminals->host->bus, BUS_COMMAND, message);
}

/* With the lock; NULL: so many commands do not run. */
static struct terminal_part *part_of(struct terminals *terminals, unsigned pid)
{
	struct terminal_part *free_part = NULL;

	for (size_t i = 0; i < ARRAY_LEN(terminals->parts); i++) {
		if (terminals->parts[i].pid == pid)
			return &terminals->parts[i];
		if (!terminals->parts[i].pid)
			free_part = &terminals->parts[i];
	}
	if (free_part)
		*free_part = (struct terminal_part){ .pid = pid };
	return free_part;
}

/* How many of the last bytes are the beginning of a character that may go on. */
static size_t terminal_unfinished(struct span bytes)
{
	for (size_t len = 1; len <= 3 && len <= bytes.len; len++) {
		const unsigned char c = (unsigned char)bytes.data[bytes.len - len];
		const size_t want = c >= 0xF0 && c < 0xF5 ? 4 : c >= 0xE0 ? 3 : c >= 0xC2 ? 2 : 1;

		if ((c & 0xC0) == 0x80)
			continue;
		return want > len && c < 0xF5 ? len : 0;
	}
	return 0;
}

/* One thread can take a mutex again and again while another waits for it. Release the bus long
 * enough for threads that type or draw to get it. */
static void let_others(struct terminals *terminals)
{
	const struct timespec moment = { 0, 100000 };

	if (clock_monotonic_ms() - terminals->yielded_ms < OUTPUT_MS)
		return;
	nanosleep(&moment, NULL);
	terminals->yielded_ms = clock_monotonic_ms();
}

static void terminal_piece(struct terminals *terminals, unsigned id, struct span bytes)
{
	_cleanup_buf_ struct buf text = BUF_INIT(bytes.len + 16);
	json_auto_t *message = NULL;
	struct terminal_part *part;
	size_t left = 0;

	pthread_mutex_lock(&terminals->lock);
	part = part_of(terminals, id);
	if (part)
		buf_span(&text, span_of(part->bytes, part->len));
	buf_span(&text, bytes);
	if (part) {
		left = terminal_unfinished(buf_view(&text));
		memcpy(part->bytes, text.data + text.len - left, left);
		part->len = left;
	}
	pthread_mutex_unlock(&terminals->lock);
	if (text.len == left)
		return;
	message = json_pack("{s:i, s:o}", "pid", (int)id, "text",
	                    json_text(span_head(buf_view(&text), text.len - left)));
	bus_publish(terminals->host->bus, BUS_COMMAND_OUTPUT, message);
}

static void terminal_output(void *data, unsigned id, struct span bytes)
{
	struct terminals *terminals = data;

	while (bytes.len) {
		const struct span piece = span_head(bytes, OUTPUT_PIECE);

		terminal_piece(terminals, id, piece);
		let_others(terminals);
		bytes = span_skip(bytes, piece.len);
	}
}

static void terminal_secret(void *data, unsigned id, bool secret)
{
	struct terminals *terminals = data;
	json_auto_t *message = json_pack("{s:i, s:s, s:b}", "pid", (int)id, "state", "running",
	                                 "secret", secret);

	bus_publish(terminals->host->bus, BUS_COMMAND, message);
}

static void terminal_over(void *data, unsigned id)
{
	struct terminals *terminals = data;
	json_auto_t *message = json_pack("{s:i, s:s}", "pid", (int)id, "state", "ended");

	pthread_mutex_lock(&terminals->lock);
	for (size_t i = 0; i < ARRAY_LEN(terminals->parts); i++)
		if (terminals->parts[i].pid == id)
			terminals->parts[i].pid = 0;
	pthread_mutex_unlock(&terminals->lock);
	bus_publish(terminals->host->bus, BUS_COMMAND, message);
}

static const struct jobs_watch terminal_watch = {
	.started = terminal_started,
	.output = terminal_output,
	.secret = terminal_secret,
	.ended = terminal_over,
};

/* ---- to commands ------------------------------------------------------------- */

static unsigned terminal_side(const json_t *message, const char *name)
{
	const json_int_t cells = json_integer_value(json_object_get(message, name));

	return cells < 1 ? 1 : cells > TERMINAL_CELLS_MAX ? TERMINAL_CELLS_MAX : (unsigned)cells;
}

static void order_take(void *data, enum bus_topic topic, const json_t *message)
{
	struct terminals *terminals = data;
	const json_t *pid = json_object_get(message, "pid");
	struct err ignored = ERR_INIT;
	struct job *job;

	if (!bus_check(topic, message, &ignored))
		return;
	if (!pid) {
		terminals->size.columns = terminal_side(message, "columns");
		terminals->size.rows = terminal_side(message, "rows");
		return;
	}
	if (json_integer_value(pid) <= 0 || json_integer_value(pid) > UINT32_MAX)
		return;
	job = jobs_find(terminals->host->jobs, (unsigned)json_integer_value(pid));
	if (!job)
		return;
	if (topic == BUS_COMMAND_INPUT)
		job_type(job, json_span(json_object_get(message, "text")),
		         json_is_true(json_object_get(message, "answer")));
	else if (topic == BUS_COMMAND_RESIZE)
		job_resize(job, terminal_side(message, "rows"), terminal_side(message, "columns"));
	else
		job_send_away(job);
	job_release(job);
}

/* ---- both -------------------------------------------------------------------- */

struct terminals *terminals_new(struct host *host)
{
	static const enum bus_topic orders[] = { BUS_COMMAND_INPUT, BUS_COMMAND_RESIZE,
		                                 BUS_COMMAND_BACKGROUND };
	struct terminals *terminals = mem_alloc(1, sizeof(*terminals));

	terminals->host = host;
	pthread_mutex_init(&terminals->lock, NULL);
	for (size_t i = 0; i < ARRAY_LEN(orders); i++)
		terminals->listeners[i] = bus_subscribe(host->bus, orders[i], order_take,
		                                        terminals);
	return terminals;
}

void terminals_free(struct terminals *terminals)
{
	if (!terminals)
		return;
	for (size_t i = 0; i < ARRAY_LEN(terminals->listeners); i++)
		bus_unsubscribe(terminals->host->bus, terminals->listeners[i]);
	pthread_mutex_destroy(&terminals->lock);
	free(terminals);
}

const struct jobs_watch *terminals_watch(void)
{
	return &terminal_watch;
}

struct session_terminal *terminals_size(struct terminals *terminals)
{
	return &terminals->size;
}
