/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the tool because of which a provider rejects a request.
 *
 * Most errors name it by its index.  An error with the name of a tool may be about a call or a
 * result of it: the tool is left out only if it is rejected alone, too.  Otherwise the tools are
 * bisected, with requests of one sentence that are aborted as soon as the answer starts: to find k
 * of n takes about 2k log n requests, LIMIT_MODEL_TOOL_PROBES at most.  The first request has all
 * tools, the second none: if the former is accepted or the latter rejected, the tools are not the
 * cause.  The culprits are left out (tool_fit.h) and remembered by the hash of their declarations;
 * those that could not be isolated are left out for this session.
 */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/stream.h"

enum probe { PROBE_TAKEN, PROBE_REFUSED, PROBE_UNKNOWN };

struct tool_trial {
	struct endpoint *endpoint;
	const struct model_request *request;
	const json_t *tools;   /* those that are suspected */
	struct cancel stop;    /* set: a probe's reply ends with its first event */
	unsigned probes;
	size_t left_out;
};

/* Asks with a part of the suspects. */
static enum probe trial_probe(struct tool_trial *trial, size_t from, size_t count)
{
	json_auto_t *contents = json_pack("[{s:s, s:[{s:s}]}]", "role", "user", "parts", "text",
	                                  "Answer with OK.");
	json_auto_t *tools = json_array();
	struct model_request request = {
		.contents = contents, .tools = tools, .temperature = -1, .top_p = -1,
		.session_id = trial->request->session_id, .purpose = "tools",
		.cancel = trial->request->cancel, .stop = &trial->stop,
	};
	struct attempt attempt;
	struct err err = ERR_INIT;
	struct reply_sink sink;
	bool ok;

	if (trial->probes == LIMIT_MODEL_TOOL_PROBES)
		return PROBE_UNKNOWN;
	for (size_t i = from; i < from + count; i++)
		json_array_append(tools, json_array_get(trial->tools, i));
	trial->probes++;
	sink_init(&sink, NULL, NULL);
	ok = stream_attempt(trial->endpoint, &request, &sink, &attempt, &err);
	sink_release(&sink);
	if (ok || err.code == ERR_MODEL_ERROR)
		return PROBE_TAKEN;
	return err.code == ERR_INVALID_ARGUMENT ? PROBE_REFUSED : PROBE_UNKNOWN;
}

/* Of tools that stay suspects together nothing is remembered. */
static void trial_leave_out(struct tool_trial *trial, size_t from, size_t count, bool lasting)
{
	struct model_request request = *trial->request;
	struct tool_fit fit;
	json_t *tool;
	size_t i;

	request.tools = trial->tools;
	tool_fit_make(trial->endpoint->format->name, trial->endpoint->refused_tools, &request,
	              &fit);
	json_array_foreach(fit.tools, i, tool) {
		_cleanup_free_ char *key = tool_fit_key(tool);

		if (i < from || i >= from + count)
			continue;
		endpoint_leave_out_tool(trial->endpoint, key, lasting);
		trial->left_out++;
	}
	tool_fit_release(&fit);
}

/* A group of suspects of which at least one is refused. Halves: log n deep. */
static void trial_split(struct tool_trial *trial, size_t from, size_t count)
{
	const size_t half = count / 2;
	enum probe first, second;

	if (count == 1) {
		trial_leave_out(trial, from, 1, true);
		return;
	}
	first = trial_probe(trial, from, half);
	second = first == PROBE_UNKNOWN ? first : trial_probe(trial, from + half, count - half);
	if (first == PROBE_UNKNOWN || second == PROBE_UNKNOWN) {
		trial_leave_out(trial, from, count, false);
		return;
	}
	/* Each half is taken, both are not: it is their number, or their size. */
	if (first == PROBE_TAKEN && second == PROBE_TAKEN)
		trial_leave_out(trial, from + half, count - half, false);
	if (second == PROBE_REFUSED)
		trial_split(trial, from + half, count - half);
	if (first == PROBE_REFUSED)
		trial_split(trial, from, half);
}

/* The tools that were sent, by the names that the tools have. */
static json_t *suspects_of(const struct endpoint *endpoint, const struct model_request *request)
{
	struct tool_fit fit;
	json_t *all = json_array(), *tool;
	size_t i;

	tool_fit_make(endpoint->format->name, endpoint->refused_tools, request, &fit);
	json_array_foreach(request->tools, i, tool) {
		const char *name = json_string_value(json_object_get(tool, "name"));

		if (name && !json_object_get(fit.omitted, name))
			json_array_append(all, tool);
	}
	tool_fit_release(&fit);
	return all;
}

/* By the name that was sent.  `doubtful`: only if it is refused alone, and no tools are not. */
static bool leave_out_named(struct tool_trial *trial, const char *sent, bool doubtful)
{
	struct model_request request = *trial->request;
	struct tool_fit fit;
	json_t *tool;
	size_t i, found = SIZE_MAX;

	request.tools = trial->tools;
	tool_fit_make(trial->endpoint->format->name, trial->endpoint->refused_tools, &request,
	              &fit);
	json_array_foreach(fit.tools, i, tool)
		if (span_eq(json_span(json_object_get(tool, "name")), span_str(sent)))
			found = i;
	tool_fit_release(&fit);
	if (found == SIZE_MAX ||
	    (doubtful && (trial_probe(trial, found, 1) != PROBE_REFUSED ||
	                  trial_probe(trial, 0, 0) != PROBE_TAKEN)))
		return false;
	trial_leave_out(trial, found, 1, true);
	return true;
}

bool stream_settle_tools(struct endpoint *endpoint, const struct model_request *request,
                         const struct attempt *attempt, unsigned *requests)
{
	json_auto_t *suspects = suspects_of(endpoint, request);
	struct tool_trial trial = { .endpoint = endpoint, .request = request, .tools = suspects };
	const size_t count = json_array_size(suspects);
	bool found;

	/* The only tool is what the request is about. */
	if (count < 2)
		return false;
	cancel_init_lazily(&trial.stop);
	cancel_set(&trial.stop);
	found = attempt->tool[0] && endpoint->tools_refused++ < LIMIT_MODEL_TOOLS_REFUSED &&
	        leave_out_named(&trial, attempt->tool, attempt->blame != TOOL_BLAME_NAMED);
	if (!found && trial_probe(&trial, 0, count) == PROBE_REFUSED &&
	    trial_probe(&trial, 0, 0) == PROBE_TAKEN)
		trial_split(&trial, 0, count);
	*requests += trial.probes;
	cancel_release(&trial.stop);
	return trial.left_out > 0;
}
