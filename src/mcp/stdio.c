/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/stdio.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/peer.h"
#include "rpc/frame.h"

enum {
	/* Above this no more requests are read from a client that does not read its answers. */
	BACKLOG_MAX = 32 << 20,
	/* How long the last answers wait for a client that has stopped reading. */
	LINGER_MS = 2000,
};

struct mcp_stdio {
	struct loop *loop;
	struct loop_stream *stream;
	struct frame_reader reader;
	struct mcp_peer *peer; /* NULL once nothing can be sent any more */
	void (*ended)(void *data);
	void *data;
	struct loop_task end; /* tells of the end, outside of everything else */
	bool paused;
	bool input_ended, done, end_posted;
	bool freed;
};

/* ---- the end ---------------------------------------------------------------- */

static void tell_end(struct loop_task *task)
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
	stdio->end.run = tell_end;
	loop_post(stdio->loop, &stdio->end);
}

/* ---- messages --------------------------------------------------------------- */

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

static void on_data(void *data, struct span bytes)
{
	struct mcp_stdio *stdio = data;

	frame_feed(&stdio->reader, bytes, on_frame, stdio);
}

/* Nobody is there any more. */
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

static void on_end(void *data, int sys_errno)
{
	struct mcp_stdio *stdio = data;

	if (sys_errno) {
		on_broken(stdio, sys_errno);
		return;
	}
	/* A last line that lacks its end is a message all the same. */
	on_data(stdio, SPAN("\n"));
	if (stdio->peer)
		mcp_peer_finish(stdio->peer);
	stdio->input_ended = true;
	end_if_done(stdio);
}

static void on_drained(void *data)
{
	struct mcp_stdio *stdio = data;

	if (stdio->paused)
		loop_stream_pause(stdio->stream, false);
	stdio->paused = false;
}

static void send_message(void *data, const struct mcp_outgoing *message)
{
	struct mcp_stdio *stdio = data;
	const struct span parts[] = { message->text, SPAN("\n") };
	size_t backlog = 0;

	if (message->text.len)
		backlog = loop_stream_writev(stdio->stream, parts, ARRAY_LEN(parts));
	if (backlog > BACKLOG_MAX && !stdio->paused) {
		stdio->paused = true;
		loop_stream_pause(stdio->stream, true);
	}
	end_if_done(stdio);
}

/* ---- life ------------------------------------------------------------------- */

bool mcp_serve_stdio(struct mcp_server *server, struct loop *loop, int read_fd, int write_fd,
                     void (*ended)(void *data), void *data, struct mcp_stdio **ret,
                     struct err *err)
{
	static const struct loop_stream_events events = {
		.data = on_data, .end = on_end, .broken = on_broken, .drained = on_drained,
	};
	static const struct mcp_wire wire = { .send = send_message };
	struct mcp_stdio *stdio = mem_alloc(1, sizeof(*stdio));

	stdio->loop = loop;
	stdio->ended = ended;
	stdio->data = data;
	if (!loop_stream_open(loop, read_fd, write_fd, &events, stdio, &stdio->stream, err)) {
		free(stdio);
		return false;
	}
	frame_reader_init(&stdio->reader, LIMIT_MESSAGE_BYTES);
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
	loop_stream_close(stdio->stream, LINGER_MS);
	frame_reader_release(&stdio->reader);
	loop_unhold(stdio->loop);
	stdio->freed = true;
	if (!stdio->end_posted)
		free(stdio);
}
