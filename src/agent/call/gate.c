/* SPDX-License-Identifier: Apache-2.0 */
/* The gate before and after each call: hooks, policy, the question. */
#include "agent/call/gate.h"

#include <string.h>

#include "agent/call/call.h"
#include "agent/call/hooked.h"
#include "agent/call/path_rules.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "tool/tool.h"

/* ---- the gate ---------------------------------------------------------------- */

/* Of arguments that were taken for another type, what is named. */
enum { TAKEN_BYTES = 1024 };

static bool hooked_any(void *data, enum hook_event event, const char *matched)
{
	const struct call *call = data;

	return agent_has_hooks(call->agent, event, matched);
}

static bool hooked_fire(void *data, enum hook_event event, const char *matched, const json_t *input,
                        struct hook_outcome *ret)
{
	struct call *call = data;

	if (event == HOOK_BEFORE_TOOL)
		call_round_settle(call); /* a hook may take its time */
	return agent_fire(call->agent, event, matched, input, ret);
}

/* `bare` is the workspace without rules and questions. Hooks get the model's name for the tool, if
 * that is one of ours. */
static struct hooked_call hooked_as(struct call *call, const struct tool *tool,
                                    struct session *bare)
{
	*bare = call->session;
	bare->provider = call->agent->options.session->provider;
	bare->hooks = (struct call_hooks){ .cancel = call->session.hooks.cancel };
	return (struct hooked_call){
		.any = hooked_any, .fire = hooked_fire, .data = call, .session = bare,
		.id = call->id,
		.name = tool == call->tool ? call->name : tool->name,
		.original = tool == call->tool ? NULL : call->name,
	};
}

/* Adds the tool's explanation to an error. */
static json_t *explained(struct call *call, const struct tool *tool, const json_t *arguments,
                         json_t *result)
{
	if (result && tool_result_failed(result) && tool->explain)
		tool->explain(&call->session, arguments, result);
	return result;
}

static void add_context(struct call *call, const char *text)
{
	char *joined;

	if (!text || !*text)
		return;
	joined = call->context ? mem_printf("%s\n%s", call->context, text) : mem_strdup(text);
	free(call->context);
	call->context = joined;
}

void call_ran_with(struct call *call, const json_t *arguments)
{
	json_decref(call->ran_args);
	call->ran_args = json_is_object(arguments) ? json_copy((json_t *)arguments) : NULL;
}

static void note_hook(char **name, const struct hook_outcome *outcome)
{
	free(*name);
	*name = mem_strdup(outcome->by);
}

static json_t *before_outcome(struct call *call, const struct tool *tool, const json_t *arguments,
                              const struct hook_outcome *outcome, bool *ask)
{
	add_context(call, outcome->additional_context);
	if (outcome->stop || outcome->denied || outcome->error) {
		call->decision = DECISION_REJECT;
		note_hook(&call->denied_hook, outcome);
	} else if (outcome->ask && !outcome->alternative) {
		*ask = call->hook_asks = true;
		note_hook(&call->confirm_hook, outcome);
		call->ask_reason = mem_strdup(outcome->system_message ? outcome->system_message :
		                                                        outcome->reason);
	}
	return explained(call, tool, arguments, hooked_ended(outcome));
}

/* Validation took some arguments for what they were meant as: the model learns of it. */
static void note_taken(struct call *call, const json_t *arguments)
{
	_cleanup_buf_ struct buf words = BUF_INIT(TAKEN_BYTES);
	const char *name;
	json_t *sent;

	json_object_foreach(call->args, name, sent) {
		const json_t *taken = json_object_get(arguments, name);

		if (taken && json_typeof(taken) != json_typeof(sent) &&
		    (json_is_string(taken) || json_is_string(sent)))
			buf_printf(&words, "%s%.60s taken as %s", words.len ? ", " : "", name,
			           json_type_phrase(taken));
	}
	if (words.len && !call->taken)
		call->taken = buf_steal(&words);
}

static json_t *gate_before(void *data, const struct tool *tool, json_t **arguments, bool *ask)
{
	struct call *call = data;
	struct session bare;
	const struct hooked_call hooked = hooked_as(call, tool, &bare);
	struct hook_outcome outcome;
	json_t *ended;

	note_taken(call, *arguments);
	if (!hooked_before(&hooked, tool, arguments, &outcome))
		return NULL;
	ended = before_outcome(call, tool, *arguments, &outcome, ask);
	if (outcome.tool_input)
		call_ran_with(call, *arguments);
	hook_outcome_release(&outcome);
	return ended;
}

/* ---- after ------------------------------------------------------------------------- */

static json_t *tool_response(const struct tool *tool, const json_t *result)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_free_ char *display = display_result(tool, result);
	json_t *response = json_object(), *error;

	json_print(&text, result, 0);
	json_object_set_new(response, "llmContent", json_text(buf_view(&text)));
	json_object_set_new(response, "returnDisplay", json_text(span_str(display)));
	if (tool_result_failed(result)) {
		_cleanup_free_ char *message = call_error_text(result);

		error = json_object();
		json_object_set_new(error, "type", json_string(call_error_type(tool, result)));
		json_object_set_new(error, "message", json_text(span_str(message)));
		json_object_set_new(response, "error", error);
	}
	return response;
}

static void gate_after(void *data, const struct tool *tool, const json_t *arguments,
                       json_t **result)
{
	struct call *call = data;
	struct session bare;
	const struct hooked_call hooked = hooked_as(call, tool, &bare);
	struct hook_outcome outcome;
	json_t *instead;

	if (!hooked_after(&hooked, tool, arguments, *result, tool_response, &outcome))
		return;
	add_context(call, outcome.additional_context);
	instead = explained(call, tool, arguments, hooked_replaced(&outcome));
	if (instead) {
		note_hook(&call->denied_hook, &outcome);
		json_decref(*result);
		*result = instead;
	} else if (outcome.tail_call) {
		json_decref(call->tail);
		call->tail = json_incref(outcome.tail_call);
	}
	hook_outcome_release(&outcome);
}

/* ---- a command's output ------------------------------------------------------------ */

static void gate_output(void *data, enum run_stream stream, struct span bytes)
{
	struct call *call = data;
	json_auto_t *message = json_object();

	(void)stream; /* both streams are shown as one text, in order of arrival */
	json_object_set_new(message, "callId", json_string(call->id));
	json_object_set_new(message, "text", json_text(bytes));
	agent_publish(call->agent, BUS_TOOL_OUTPUT, message);
}

/* ---- what a server reports of a call ----------------------------------------------- */

static json_t *reported_number(double value)
{
	const long long whole = value > -1e15 && value < 1e15 ? (long long)value : 0;

	return (double)whole == value ? json_integer(whole) : json_real(value);
}

static void gate_reported(void *data, double done, double total, const char *said)
{
	struct call *call = data;
	json_auto_t *message = json_pack("{s:s, s:o, s:s*}", "callId", call->id, "progress",
	                                 reported_number(done), "message", said);

	if (total > 0)
		json_object_set_new(message, "total", reported_number(total));
	agent_publish(call->agent, BUS_TOOL_PROGRESS, message);
}

/* ---- what tool_call asks ------------------------------------------------------------ */

/* It is on, and by its name in the last request: a hook may have made the choice smaller. */
static bool tool_was_offered(void *data, const struct tool *tool)
{
	const struct call *call = data;
	const char *as = dialect_name_for(call->session.dialect, tool->name);
	size_t i;
	json_t *declaration;

	if (!as || gate_hides(call->agent, tool))
		return false;
	json_array_foreach(call->agent->offered, i, declaration) {
		const char *name = json_string_value(json_object_get(declaration, "name"));

		if (name && strcmp(name, as) == 0)
			return true;
	}
	return false;
}

/* A user who trusts the server, or has a rule for the tool, does not expect a question. */
static void warn_of_change(struct call *call, const struct tool *tool)
{
	_cleanup_free_ char *text = NULL;

	if (!call->change.parts || !call->has_verdict ||
	    call->verdict.decision != POLICY_ALLOW)
		return;
	text = mem_printf("The tool \"%s\" of the MCP server \"%s\" is not the one that was "
	                  "last allowed (%s): what allows it does not count until you have "
	                  "said yes.", tool->title, tool->server, call->change.parts);
	agent_notice(call->agent, SEVERITY_WARNING, text);
}

static enum call_decision decide_call(void *data, const struct tool *tool, const json_t *arguments,
                                      struct err *err)
{
	struct call *call = data;
	enum call_decision decision;
	bool allowed;

	outside_begin(&call->outside, tool);
	call_scope_note(call, tool, arguments, NULL);
	decision = gate_decide(call, tool, arguments);
	allowed = decision == CALL_ALLOW && !call->hook_asks &&
	          !tool_requires_more(tool, arguments);
	warn_of_change(call, tool);
	if (decision == CALL_DENY || tool->asks || allowed)
		call_round_settle(call);
	if (decision == CALL_DENY) {
		gate_deny(call, tool, arguments, err);
	} else if (allowed) {
		call->decision = DECISION_AUTO;
		gate_note_allowed(call, tool);
		gate_about_to_run(call, tool, arguments);
	}
	return decision;
}

static bool call_is_denied(void *data, const struct tool *tool, const json_t *arguments,
                           struct err *err)
{
	struct call *call = data;

	outside_begin(&call->outside, tool);
	call_scope_note(call, tool, arguments, NULL);
	if (gate_decide(call, tool, arguments) != CALL_DENY)
		return false;
	call_round_settle(call);
	gate_deny(call, tool, arguments, err);
	return true;
}

void gate_attach(struct call *call)
{
	struct agent *agent = call->agent;
	struct policy_call who = {
		.subagent = agent->options.name, .mode = agent_mode(agent),
		.interactive = agent->options.interactive, .trusted = agent->trusted,
	};

	outside_init(&call->outside, call->session.provider, session_outside(&call->session));
	call->session.provider = &call->outside.front.provider;
	path_rules_init(&call->paths, agent->options.policy, call->session.provider, &who);
	call->session.provider = &call->paths.front.provider;
	call->session.hooks = (struct call_hooks){
		.before = gate_before,
		.decide = decide_call,
		.denies = call_is_denied,
		.confirm = agent_confirm_ask,
		.again = denied_ask,
		.after = gate_after,
		.offered = tool_was_offered,
		.call = call->id,
		.output = gate_output,
		.reported = gate_reported,
		.cancel = call->agent->options.cancel,
		.data = call,
	};
}
