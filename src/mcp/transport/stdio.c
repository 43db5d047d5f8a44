/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/transport/transport.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/protocol/peer.h"
#include "net/rpc/rpc.h"

enum {
	/* Above this no more requests are read from a client that does not read its answers; with
	 * many calls under way, whose answers will come on top, already above the lesser one. A
	 * client that writes some hundred requests before it reads gets along with that. */
	BACKLOG_MAX = 32 << 20,
	BACKLOG_BUSY = 8 << 20,
	CALLS_BUSY = 64,
	/* With so many under way reading goes on when half of them are done.  Or so many more are
	 * taken after a moment: they may wait for something that the client has still to send. */
	CALLS_MAX = 128,
	MOMENT_MS = 200,
	/* Lines are taken in pieces of at least this length: one chunk may hold a thousand. */
	PIECE = 4 << 10,
	/* How long the last answers wait for a client that has stopped reading. */
	LINGER_MS = 2000,
};

struct mcp_stdio {
	struct loop *loop;
	struct loop_stream *stream;
	struct rpc_reader reader;
	struct mcp_peer *peer; /* NULL once nothing can be sent any more */
	void (*ended)(void *data);
	void *data;
	struct loop_task end; /* reports the end, outside of everything else */
	enum { READING, PAUSED_FOR_CALLS, PAUSED_FOR_BACKLOG } state;
	struct loop_timer *moment;
	size_t calls_max;
	struct buf rest; /* read, but not taken before the pause */
	bool input_ended, done, end_posted;
	bool freed;
};

/* ---- the end ---------------------------------------------------------------- */

static void report_end_of_input(struct loop_task *task)
{
	struct mcp_stdio *stdio =
		(struct mcp_stdio *)((char *)task - offsetof(struct mcp_stdio, end));

	stdio->end_posted = false;
	if (stdio->freed)
		free(stdio);
	else
		stdio->ended(stdio->data);
}

/* After the end of the input the last answer is the end of everything. */
static void end_if_done(struct mcp_stdio *stdio)
{
	if (!stdio->input_ended || stdio->done || (stdio->peer && mcp_peer_calls(stdio->peer)))
		return;
	stdio->done = stdio->end_posted = true;
	stdio->end.run = report_end_of_input;
	loop_post(stdio->loop, &stdio->end);
}

/* ---- messages --------------------------------------------------------------- */

static bool is_too_much(const struct mcp_stdio *stdio, size_t backlog)
{
	return backlog > BACKLOG_MAX ||
	       (backlog > BACKLOG_BUSY && mcp_peer_calls(stdio->peer) > CALLS_BUSY);
}

static void pause_for_backlog(struct mcp_stdio *stdio)
{
	loop_timer_stop(stdio->moment);
	stdio->moment = NULL;
	stdio->state = PAUSED_FOR_BACKLOG; /* until on_drained */
	loop_stream_pause(stdio->stream);
}

static void on_pause_over(void *data);

static bool on_frame(void *data, struct span line, bool too_long)
{
	struct mcp_stdio *stdio = data;

	if (!stdio->peer)
		return false;
	if (too_long)
		mcp_peer_receive_too_long(stdio->peer, line);
	else
		mcp_peer_receive_text(stdio->peer, line);
	return true;
}

/* Whole lines, and not much more than PIECE; or all there is. */
static struct span next_piece(struct span bytes)
{
	struct span beyond = span_skip(bytes, PIECE);
	const char *end = beyond.len ? memchr(beyond.data, '\n', beyond.len) : NULL;

	return end ? span_head(bytes, (size_t)(end - bytes.data) + 1) : bytes;
}

/* Takes messages until it has to pause; keeps what is left. */
static void take_messages(struct mcp_stdio *stdio, struct span bytes)
{
	while (bytes.len && stdio->state == READING) {
		struct span piece = next_piece(bytes);

		bytes = span_skip(bytes, piece.len);
		rpc_feed(&stdio->reader, piece, on_frame, stdio);
		if (stdio->state == READING && stdio->peer &&
		    mcp_peer_calls(stdio->peer) > stdio->calls_max) {
			stdio->state = PAUSED_FOR_CALLS;
			stdio->moment =
				loop_timer_start(stdio->loop, MOMENT_MS, 0, on_pause_over, stdio);
			loop_stream_pause(stdio->stream);
		}
	}
	if (bytes.len)
		buf_span(&stdio->rest, bytes);
}

static void go_on_reading(struct mcp_stdio *stdio, size_t calls_max)
{
	_cleanup_buf_ struct buf rest = stdio->rest;

	stdio->rest = (struct buf)BUF_INIT(rest.max);
	loop_timer_stop(stdio->moment);
	stdio->moment = NULL;
	stdio->calls_max = calls_max;
	stdio->state = READING;
	take_messages(stdio, buf_view(&rest));
	if (stdio->state == READING)
		loop_stream_resume(stdio->stream);
}

static void on_pause_over(void *data)
{
	struct mcp_stdio *stdio = data;
	size_t calls = stdio->peer ? mcp_peer_calls(stdio->peer) : 0;

	go_on_reading(stdio, calls + CALLS_MAX);
}

static void on_data(void *data, struct span bytes)
{
	take_messages(data, bytes);
}

/* The client has closed the output. */
static void on_broken(void *data, int sys_errno)
{
	struct mcp_stdio *stdio = data;

	(void)sys_errno;
	if (stdio->peer)
		mcp_peer_close(stdio->peer);
	stdio->peer = NULL;
	stdio->input_ended = true;
	end_if_done(stdio);
}

static void on_input_end(void *data, int sys_errno)
{
	struct mcp_stdio *stdio = data;

	if (sys_errno) {
		on_broken(stdio, sys_errno);
		return;
	}
	/* A last line without a newline is still a message. */
	on_data(stdio, SPAN("\n"));
	if (stdio->peer)
		mcp_peer_finish(stdio->peer);
	stdio->input_ended = true;
	end_if_done(stdio);
}

static void on_drained(void *data)
{
	struct mcp_stdio *stdio = data;

	if (stdio->state == PAUSED_FOR_BACKLOG)
		go_on_reading(stdio, CALLS_MAX);
}

static void send_message(void *data, const struct mcp_outgoing *message)
{
	struct mcp_stdio *stdio = data;
	const struct span parts[] = { message->text, SPAN("\n") };
	size_t backlog = 0;

	if (message->text.len)
		backlog = loop_stream_gather(stdio->stream, parts, ARRAY_LEN(parts));
	if (stdio->state != PAUSED_FOR_BACKLOG && is_too_much(stdio, backlog))
		pause_for_backlog(stdio);
	else if (stdio->state == PAUSED_FOR_CALLS && mcp_peer_calls(stdio->peer) < CALLS_MAX / 2)
		go_on_reading(stdio, CALLS_MAX);
	end_if_done(stdio);
}

/* ---- life ------------------------------------------------------------------- */

bool mcp_serve_stdio(struct mcp_server *server, struct loop *loop, int read_fd, int write_fd,
                     void (*ended)(void *data), void *data, struct mcp_stdio **ret,
                     struct err *err)
{
	static const struct loop_stream_events events = {
		.data = on_data, .end = on_input_end, .broken = on_broken, .drained = on_drained,
	};
	static const struct mcp_wire wire = { .send = send_message };
	struct mcp_stdio *stdio = mem_alloc(1, sizeof(*stdio));

	stdio->loop = loop;
	stdio->ended = ended;
	stdio->calls_max = CALLS_MAX;
	stdio->rest.max = LIMIT_MESSAGE_BYTES;
	stdio->data = data;
	if (!loop_stream_open(loop, read_fd, write_fd, &events, stdio, &stdio->stream, err)) {
		free(stdio);
		return false;
	}
	rpc_reader_init(&stdio->reader, LIMIT_MESSAGE_BYTES);
	stdio->peer = mcp_peer_open(server, &wire, stdio);
	loop_hold(loop);
	*ret = stdio;
	return true;
}

void mcp_stdio_free(struct mcp_stdio *stdio)
{
	if (!stdio)
		return;
	if (stdio->peer)
		mcp_peer_close(stdio->peer);
	loop_timer_stop(stdio->moment);
	loop_stream_close(stdio->stream, LINGER_MS);
	rpc_reader_release(&stdio->reader);
	buf_release(&stdio->rest);
	loop_unhold(stdio->loop);
	stdio->freed = true;
	if (!stdio->end_posted)
		free(stdio);
}
