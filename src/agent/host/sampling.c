/* SPDX-License-Identifier: Apache-2.0 */
/* What MCP servers want the session's model to answer (sampling): asked about on the bus, and
 * answered with nothing of the conversation, and no tools.
 *
 * One at a time in a session, whichever server asks: the others wait.  The client ends all that a
 * call of a tool began before the call ends (mcp/client/answers.c), so the agent is there.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "agent/host/private.h"
#include "agent/private.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bus/bus.h"
#include "data/json.h"
#include "model/content.h"

enum {
	MINUTE_MS = 60000,
	REFUSAL_NOTICES_MAX = 20, /* notices of one session */
};

#define SAMPLING_ROLE "sampling" /* of its requests in figures and on the bus */

struct samplings {
	int turn;            /* an eventfd that is readable unless one is under way, to which what
	                      * follows belongs; -1: there was no descriptor */
	struct model *model; /* owned; NULL: not opened */
	json_t *allowed;     /* {identity: true}: for this session, that very server */
	json_t *starts;       /* {server: [ms]}: when its last ones began */
	unsigned refusals;
};

struct samplings *samplings_new(void)
{
	struct samplings *own = mem_alloc(1, sizeof(*own));

	own->turn = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	own->allowed = json_object();
	own->starts = json_object();
	return own;
}

void samplings_free(struct samplings *own)
{
	if (!own)
		return;
	model_free(own->model);
	json_decref(own->allowed);
	json_decref(own->starts);
	fd_cleanup_close(&own->turn);
	free(own);
}

/* ---- one at a time ---- */

/* Sleeps until it has the turn, or the request is cancelled. */
static bool sampling_take_turn(struct samplings *own, const struct cancel *cancel, struct err *err)
{
	struct pollfd fds[] = { { .fd = own->turn, .events = POLLIN },
		                { .fd = cancel_fd(cancel), .events = POLLIN } };
	eventfd_t turn;

	if (own->turn < 0)
		return err_set(err, ERR_NO_RESOURCES, "There is no descriptor left to wait with.");
	/* Of several that see it, one reads it. */
	while (!cancelled(cancel)) {
		if (eventfd_read(own->turn, &turn) == 0)
			return true;
		fd_wait(fds, ARRAY_LEN(fds), -1);
	}
	return err_set(err, ERR_CANCELLED, "The request was cancelled.");
}

/* Counts one; those that were refused count, too. */
static bool sampling_count(struct samplings *own, const char *server, struct err *err)
{
	const json_int_t now = (json_int_t)clock_monotonic_ms();
	json_t *times = json_object_get(own->starts, server);

	if (!times) {
		times = json_array();
		json_object_set_new(own->starts, server, times);
	}
	while (json_array_size(times) &&
	       json_integer_value(json_array_get(times, 0)) <= now - MINUTE_MS)
		json_array_remove(times, 0);
	if (json_array_size(times) >= LIMIT_MCP_SAMPLINGS_MINUTE)
		return err_set(err, ERR_BUSY, "The model answers at most %d requests of a server "
		               "in a minute.", LIMIT_MCP_SAMPLINGS_MINUTE);
	json_array_append_new(times, json_integer(now));
	return true;
}

/* ---- whether it may ---- */

static bool settings_name_server(const struct host *host, const char *server)
{
	return json_lists(settings_get(host->options.settings, "hasp.servers.sampling"),
	                  span_str(server));
}

bool host_may_sample(void *data, const char *server)
{
	const struct host *host = data;

	return host->options.interactive || settings_name_server(host, server);
}

static void tell_nobody(struct host *host, const char *server)
{
	_cleanup_free_ char *text = mem_printf(
		"The MCP server \"%s\" asked the model a question, and this run has no way to ask "
		"you, so it was refused. The setting hasp.servers.sampling allows it.", server);

	if (host->samplings->refusals++ < REFUSAL_NOTICES_MAX)
		host_warn(host, text);
}

static bool sampling_refused(struct err *err)
{
	return err_set(err, ERR_DENIED_BY_USER, "The user refused to have the model answer it.");
}

static json_t *sampling_question(const struct host *host, const char *server,
                                 const struct mcp_sampling *sampling)
{
	return json_pack("{s:o, s:s, s:o, s:s, s:I}", "serverName", json_text(span_str(server)),
	                 "mode", "sampling", "message", json_text(span_str(sampling->shown)),
	                 "model", model_id(host->model), "maxTokens",
	                 (json_int_t)sampling->max_tokens);
}

static bool sampling_ask(struct host *host, const char *server, const char *identity,
                         const struct mcp_sampling *sampling, const struct cancel *cancel,
                         struct err *err)
{
	json_auto_t *question = sampling_question(host, server, sampling), *answer = NULL;

	bus_identify(question);
	switch (bus_ask(host->bus, BUS_ELICITATION_REQUEST, question, 0, cancel, &answer)) {
	case BUS_ANSWERED:
		if (!span_eq(json_span(json_object_get(answer, "action")), SPAN("accept")))
			return sampling_refused(err);
		if (json_is_true(json_object_get(answer, "session")))
			json_object_set_new(host->samplings->allowed, identity, json_true());
		return true;
	case BUS_NOBODY:
		tell_nobody(host, server);
		return sampling_refused(err);
	case BUS_TIMED_OUT:
	case BUS_CANCELLED:
		break;
	}
	host_elicit_withdraw(host, question);
	return err_set(err, ERR_CANCELLED, "The request was cancelled.");
}

/* ---- the answer ---- */

/* The reply so far; `stop` is set at a stop sequence. */
struct sampling_reply {
	const struct mcp_sampling *sampling;
	struct buf text;
	struct cancel stop;
};

static void sampling_hear(void *data, const struct model_event *event)
{
	struct sampling_reply *reply = data;
	size_t len;

	if (event->kind == MODEL_RESTART)
		buf_clear(&reply->text);
	if (event->kind != MODEL_TEXT)
		return;
	buf_span(&reply->text, event->text);
	if (mcp_sampling_stops(reply->sampling, buf_view(&reply->text), &len))
		cancel_set(&reply->stop);
}

/* Its own, so that the agent's is free; but recorded answers are one row, and then the agent's is
 * free because it waits for the call. */
static struct model *sampling_model(struct host *host, struct err *err)
{
	struct samplings *own = host->samplings;

	if (!strcmp(host->choice.options.provider, "replay"))
		return host->model;
	if (!own->model && !model_open(&host->choice.options, &own->model, err))
		return NULL;
	return own->model;
}

static const char *sampling_reason(enum model_finish finish)
{
	return finish == MODEL_FINISH_STOP   ? "endTurn" :
	       finish == MODEL_FINISH_LENGTH ? "maxTokens" : model_finish_name(finish);
}

static json_t *sampling_run(struct host *host, const struct mcp_sampling *sampling,
                            const struct cancel *cancel, struct err *err)
{
	struct sampling_reply partial = { .sampling = sampling,
		                          .text = BUF_INIT(LIMIT_MODEL_REPLY_BYTES) };
	const struct model_request request = {
		.system = json_span(sampling->system),
		.contents = sampling->contents,
		.temperature = sampling->temperature,
		.top_p = -1,
		.max_output_tokens = sampling->max_tokens,
		.thinking = MODEL_THINK_OFF,
		.session_id = record_session_id(host->chat.record),
		.purpose = SAMPLING_ROLE,
		.cancel = cancel,
		.stop = &partial.stop,
	};
	struct agent *agent = host->chat.agent;
	struct model *model = sampling_model(host, err);
	struct model_reply reply = { 0 };
	json_t *result = NULL;

	if (!model)
		return NULL;
	cancel_init_lazily(&partial.stop);
	agent_report_request(agent, SAMPLING_ROLE, NULL);
	if (model_stream(model, &request, sampling_hear, &partial, &reply, err)) {
		agent_report_reply(agent, SAMPLING_ROLE, &reply);
		buf_clear(&partial.text);
		content_text(reply.content, &partial.text);
		result = mcp_sampling_result(sampling, buf_view(&partial.text), reply.model,
		                             sampling_reason(reply.finish));
	} else if (err->code != ERR_CANCELLED) {
		/* Why is the user's, and not the server's. */
		agent_report_failure(agent, SAMPLING_ROLE, err, 0);
		*err = (struct err)ERR_INIT;
		err_set(err, ERR_MODEL_ERROR, "The model could not answer.");
	}
	model_reply_release(&reply);
	buf_release(&partial.text);
	cancel_release(&partial.stop);
	return result;
}

json_t *host_sample(struct host *host, const char *server, const char *identity,
                    const json_t *params, const struct cancel *cancel, struct err *err)
{
	struct samplings *own = host->samplings;
	struct mcp_sampling sampling;
	json_t *result = NULL;

	if (!mcp_sampling_read(params, &sampling, err))
		return NULL;
	if (sampling_take_turn(own, cancel, err)) {
		if (sampling_count(own, server, err) &&
		    (settings_name_server(host, server) ||
		     json_object_get(own->allowed, identity) ||
		     sampling_ask(host, server, identity, &sampling, cancel, err)))
			result = sampling_run(host, &sampling, cancel, err);
		fd_ring(own->turn);
	}
	mcp_sampling_release(&sampling);
	return result;
}
