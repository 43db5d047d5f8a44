/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, one a line in both directions, and work on other threads.  What the client requests
 * goes up through acp.receive; its responses go where the request came from. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "acp/wire.h"
#include "base/mem.h"
#include "data/json.h"

enum {
	/* More than so much that the client does not read: its sessions' events wait where they
	 * are bounded (front/front.h), and its requests are not read. */
	FULL_BYTES = 4 << 20,
	/* How long the last messages wait for a client that has stopped reading. */
	LINGER_MS = 2000,
};

/* A request to the client. */
struct acp_asked {
	struct acp_asked *next;
	int64_t id;
	acp_replied *replied;
	void *data;
};

/* ---- out ------------------------------------------------------------------------- */

void acp_send(struct acp *acp, const struct buf *message)
{
	const struct span parts[] = { buf_view(message), SPAN("\n") };

	if (acp->is_broken || !acp->stream || message->overflowed)
		return;
	if (loop_stream_writev(acp->stream, parts, ARRAY_LEN(parts)) <= FULL_BYTES || acp->is_full)
		return;
	acp->is_full = true;
	loop_stream_pause(acp->stream);
}

void acp_notify(struct acp *acp, const char *method, json_t *params)
{
	_cleanup_buf_ struct buf message = BUF_INIT(2 * LIMIT_MESSAGE_BYTES);

	rpc_write_notification(&message, method, params);
	json_decref(params);
	acp_send(acp, &message);
}

int64_t acp_request_client(struct acp *acp, const char *method, json_t *params,
                           acp_replied *replied, void *data)
{
	_cleanup_buf_ struct buf message = BUF_INIT(2 * LIMIT_MESSAGE_BYTES);
	struct acp_asked *asked = mem_alloc(1, sizeof(*asked));

	*asked = (struct acp_asked){ .next = acp->asked, .id = ++acp->last_id,
		                     .replied = replied, .data = data };
	acp->asked = asked;
	rpc_write_request(&message, asked->id, method, params);
	json_decref(params);
	acp_send(acp, &message);
	return asked->id;
}

/* Takes it out of the list; the caller frees. NULL: it has been answered. */
static struct acp_asked *acp_take_asked(struct acp *acp, int64_t id)
{
	for (struct acp_asked **link = &acp->asked; *link; link = &(*link)->next) {
		struct acp_asked *asked = *link;

		if (asked->id != id)
			continue;
		*link = asked->next;
		return asked;
	}
	return NULL;
}

void acp_forget(struct acp *acp, int64_t id)
{
	struct acp_asked *asked = acp_take_asked(acp, id);

	if (asked)
		acp_notify(acp, "$/cancel_request", json_pack("{s:I}", "requestId",
		                                              (json_int_t)id));
	free(asked);
}

/* ---- in -------------------------------------------------------------------------- */

static void acp_take_response(struct acp *acp, const struct rpc_message *message)
{
	struct acp_asked *asked =
		json_is_integer(message->id) ?
			acp_take_asked(acp, json_integer_value(message->id)) : NULL;

	if (!asked)
		return;
	asked->replied(asked->data, message->kind == RPC_RESULT ? message->body : NULL,
	               message->kind == RPC_ERROR ? message->body : NULL);
	free(asked);
}

static void acp_answer_problem(struct acp *acp, const struct rpc_problem *problem)
{
	_cleanup_buf_ struct buf answer = BUF_INIT(LIMIT_RESULT_BYTES);

	if (problem->silent)
		return;
	rpc_write_error(&answer, problem->id, problem->code, problem->message, NULL);
	acp_send(acp, &answer);
}

static void acp_take_line(struct acp *acp, struct span line)
{
	struct rpc_problem problem = { 0 };
	struct rpc_message message;

	acp->line_bytes = line.len;
	if (!rpc_parse(line, &message, &problem)) {
		acp_answer_problem(acp, &problem);
		rpc_problem_release(&problem);
	} else if (message.kind == RPC_REQUEST || message.kind == RPC_NOTIFICATION) {
		acp->receive(acp, &message);
	} else {
		acp_take_response(acp, &message);
		rpc_message_release(&message);
	}
}

/* As rpc_line_handler. */
static bool acp_on_line(void *data, struct span line, bool too_long)
{
	struct acp *acp = data;
	struct rpc_problem problem = { .code = RPC_INVALID_REQUEST };
	struct rpc_remains remains;

	if (acp->input_ended)
		return false;
	if (!too_long) {
		acp_take_line(acp, line);
		return true;
	}
	rpc_remains_read(line, &remains);
	problem.id = remains.has_id ? json_integer(remains.id) : NULL;
	problem.silent = remains.messages && !remains.is_call;
	snprintf(problem.message, sizeof(problem.message), "The message is longer than %zu bytes.",
	         LIMIT_MESSAGE_BYTES);
	acp_answer_problem(acp, &problem);
	rpc_problem_release(&problem);
	return true;
}

static void acp_on_data(void *data, struct span bytes)
{
	struct acp *acp = data;

	rpc_feed(&acp->reader, bytes, acp_on_line, acp);
}

static void acp_on_end(void *data, int sys_errno)
{
	struct acp *acp = data;

	(void)sys_errno;
	/* A last line that lacks its end is a message, too. */
	acp_on_data(acp, SPAN("\n"));
	acp->end(acp);
}

/* The client reads no more. */
static void acp_on_broken(void *data, int sys_errno)
{
	struct acp *acp = data;

	(void)sys_errno;
	acp->is_broken = true;
	acp->end(acp);
}

static void acp_on_drained(void *data)
{
	struct acp *acp = data;

	if (!acp->is_full)
		return;
	acp->is_full = false;
	acp->drained(acp);
	if (!acp->is_full && !acp->input_ended)
		loop_stream_resume(acp->stream);
}

/* ---- life ------------------------------------------------------------------------ */

bool acp_wire_open(struct acp *acp, struct err *err)
{
	static const struct loop_stream_events events = {
		.data = acp_on_data, .end = acp_on_end, .broken = acp_on_broken,
		.drained = acp_on_drained,
	};

	if (!loop_stream_open(acp->loop, acp->options->read_fd, acp->options->write_fd, &events,
	                      acp, &acp->stream, err))
		return false;
	rpc_reader_init(&acp->reader, LIMIT_MESSAGE_BYTES);
	return true;
}

void acp_wire_close(struct acp *acp)
{
	struct acp_asked *asked;

	loop_stream_close(acp->stream, LINGER_MS);
	acp->stream = NULL;
	rpc_reader_release(&acp->reader);
	while ((asked = acp->asked)) {
		acp->asked = asked->next;
		asked->replied(asked->data, NULL, NULL);
		free(asked);
	}
}

void acp_end_if_done(struct acp *acp)
{
	if (acp->is_ending && !acp->sessions && !acp->working)
		loop_stop(acp->loop);
}

/* ---- work on other threads ------------------------------------------------------- */

static void acp_work_then(struct loop_task *task)
{
	struct acp_work *work = (struct acp_work *)((char *)task - offsetof(struct acp_work, task));
	struct acp *acp = work->acp;

	acp->working--;
	work->then(work);
	loop_unhold(acp->loop);
	acp_end_if_done(acp);
}

static void acp_work_run(struct pool_job *job)
{
	struct acp_work *work = (struct acp_work *)((char *)job - offsetof(struct acp_work, job));

	work->run(work);
	loop_post(work->acp->loop, &work->task);
}

void acp_work_start(struct acp *acp, struct acp_work *work)
{
	work->acp = acp;
	work->job.run = acp_work_run;
	work->task.run = acp_work_then;
	acp->working++;
	loop_hold(acp->loop);
	pool_submit(acp->pool, &work->job);
}
