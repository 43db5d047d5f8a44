/* SPDX-License-Identifier: Apache-2.0 */
/* A command that the sandbox denied something, or a file tool that was refused what is outside of
 * the workspace, is offered to run again with just that allowed. */
#include <string.h>

#include "agent/call/call.h"
#include "agent/call/gate.h"
#include "agent/call/questions.h"
#include "agent/setup/prepare.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "data/json.h"
#include "shell/analysis.h"
#include "tool/denial.h"

enum { EXPANSION_MAX = 64 << 10 };

/* ---- whether ----------------------------------------------------------------------- */

/* What goes on in the background was not denied what it needs, and would be there twice. */
static bool denied_at_its_end(const json_t *result)
{
	return span_eq(json_span(json_object_get(result, "state")), SPAN("ended")) &&
	       !span_eq(json_span(json_object_get(result, "ended_by")), SPAN("cancelled")) &&
	       json_array_size(json_object_get(result, "denials"));
}

static bool may_ask(const struct call *call, const struct tool *tool, const json_t *result)
{
	return tool->info && tool->info->runs && denied_at_its_end(result) &&
	       call->runs + 1 < DENIED_RUNS_MAX &&
	       agent_mode(call->agent) != MODE_YOLO && confirm_can_ask(call->agent);
}

/* As a call asks for permissions (additional_permissions). */
static json_t *permissions_of(const struct tool_grant *grant)
{
	json_t *write = json_array();

	for (size_t i = 0; i < grant->file_count; i++)
		json_array_append_new(write, json_text(span_str(grant->files[i])));
	return json_pack("{s:b, s:{s:[], s:o}}", "network", grant->network, "fileSystem", "read",
	                 "write", write);
}

/* Whether the rules deny the call if it asked for this itself. */
static bool is_denied_by_rules(struct call *call, const struct tool *tool, const json_t *arguments,
                               const struct tool_grant *grant)
{
	json_auto_t *with = json_copy((json_t *)arguments);

	json_object_set_new(with, "additional_permissions", permissions_of(grant));
	return gate_decide(call, tool, with) == CALL_DENY;
}

/* ---- the question ------------------------------------------------------------------ */

static json_t *expansion_details(const struct call *call, const struct tool *tool,
                                 const json_t *arguments,
                                 const struct denial_offer *offer)
{
	struct span command = json_span(tool_command_line(tool->info, arguments)), root = { 0 };
	struct shell_analysis analysis;
	json_t *details = json_object();

	shell_analyse(command, &analysis);
	shell_roots(&analysis, &root, 1);
	json_object_set_new(details, "type", json_string("sandbox_expansion"));
	json_object_set_new(details, "title", json_string("Sandbox Expansion Request"));
	json_object_set_new(details, "command", json_text(command));
	json_object_set_new(details, "rootCommand", json_text(root));
	json_object_set_new(details, "additionalPermissions", permissions_of(&offer->grant));
	json_object_set(details, "allowed", offer->allowed);
	json_object_set(details, "stillDenied", offer->kept);
	json_object_set_new(details, "leftOut", json_size(offer->left_out));
	json_object_set_new(details, "runs", json_integer(call->runs + 1));
	shell_analysis_release(&analysis);
	return details;
}

static json_t *expansion_outcomes(const struct call *call)
{
	json_t *outcomes = json_array();

	json_array_append_new(outcomes, json_string("proceed_once"));
	if (call->agent->may_always && !(call->has_verdict && call->verdict.approvals))
		json_array_append_new(outcomes, json_string("proceed_always"));
	json_array_append_new(outcomes, json_string("cancel"));
	return outcomes;
}

/* Takes over the details. */
static json_t *expansion_message(const struct call *call, const struct tool *tool,
                                 const json_t *arguments, json_t *details)
{
	json_t *message = json_object();

	json_object_set_new(message, "callId", json_string(call->id));
	json_object_set_new(message, "toolName", json_string(tool->name));
	if (call->agent->options.name)
		json_object_set_new(message, "agentName", json_string(call->agent->options.name));
	json_object_set(message, "arguments", (json_t *)arguments);
	json_object_set_new(message, "details", details);
	json_object_set_new(message, "outcomes", expansion_outcomes(call));
	return message;
}

/* ---- what follows ------------------------------------------------------------------ */

/* "write /srv/notes; the network (192.0.2.1:443/tcp)". */
static void put_allowed(struct buf *out, const struct denial_offer *offer)
{
	size_t i;
	json_t *item;

	json_array_foreach(offer->allowed, i, item) {
		struct span what = json_span(json_object_get(item, "what"));
		bool network = span_eq(json_span(json_object_get(item, "kind")), SPAN("network"));

		buf_str(out, i ? "; " : "");
		buf_str(out, network ? "the network (" : "write ");
		buf_span(out, what);
		buf_str(out, network ? ")" : "");
	}
}

static void tell_model(struct call *call, struct buf *text)
{
	free(call->expansion);
	call->expansion = buf_steal(text);
}

static void allow_again(struct call *call, const struct denial_offer *offer, bool session)
{
	_cleanup_buf_ struct buf text = BUF_INIT(EXPANSION_MAX);

	tool_grant_join(&call->grant, &offer->grant);
	call->session.grant = &call->grant;
	if (session) {
		session_grant(&call->session, &offer->grant);
		call_asked_allowed_places(call, ASKED_SANDBOX, offer->allowed);
	}
	call->runs++;
	if (call->expansion)
		buf_printf(&text, "%s ", call->expansion);
	buf_printf(&text, "Run %u was denied: ", call->runs);
	put_allowed(&text, offer);
	buf_printf(&text, ". The user allowed that %s, and the command ran again from its "
	                  "beginning; this is the result of run %u. What the earlier run changed "
	                  "stands: look whether anything was done twice.",
	           session ? "for all commands of this session" : "for this one command",
	           call->runs + 1);
	tell_model(call, &text);
}

static void decline_again(struct call *call, const struct denial_offer *offer,
                          const json_t *answer)
{
	struct span said = span_trim(json_span(json_object_get(answer, "message")));
	_cleanup_buf_ struct buf text = BUF_INIT(EXPANSION_MAX);

	if (!said.len)
		return;
	if (call->expansion)
		buf_printf(&text, "%s ", call->expansion);
	buf_str(&text, "The user was asked whether to allow this and run the command again: ");
	put_allowed(&text, offer);
	buf_str(&text, ". They declined, and say: ");
	buf_span(&text, said);
	tell_model(call, &text);
}

/* Whether it is a yes that was offered. */
static bool expansion_answer(const json_t *outcomes, const json_t *answer)
{
	struct span outcome = json_span(json_object_get(answer, "outcome"));

	return json_lists(outcomes, outcome) && !span_eq(outcome, SPAN("cancel"));
}

static bool expansion_for_session(const json_t *answer)
{
	return span_eq(json_span(json_object_get(answer, "outcome")), SPAN("proceed_always"));
}

static bool follow_expansion(struct call *call, const struct denial_offer *offer,
                             const json_t *outcomes, const json_t *answer)
{
	if (!expansion_answer(outcomes, answer)) {
		decline_again(call, offer, answer);
		return false;
	}
	allow_again(call, offer, expansion_for_session(answer));
	return true;
}

/* With question_lock. */
static enum bus_reply put_expansion(struct call *call, const struct tool *tool, json_t *message,
                                    json_t **ret_answer)
{
	return cancelled(call->agent->options.cancel) ?
		       BUS_CANCELLED : confirm_put(call, tool, message, ret_answer);
}

static bool put_offer(struct call *call, const struct tool *tool, const json_t *arguments,
                      const struct denial_offer *offer)
{
	json_auto_t *message = expansion_message(call, tool, arguments,
	                                         expansion_details(call, tool, arguments, offer));
	json_auto_t *answer = NULL;
	enum bus_reply reply;

	pthread_mutex_lock(&call->agent->top->question_lock);
	reply = put_expansion(call, tool, message, &answer);
	pthread_mutex_unlock(&call->agent->top->question_lock);
	return reply == BUS_ANSWERED &&
	       follow_expansion(call, offer, json_object_get(message, "outcomes"), answer);
}

/* ---- files outside of the workspace ------------------------------------------------ */

static json_t *outside_permissions(const struct outside_places *places)
{
	json_t *read = json_array(), *write = json_array();

	for (size_t i = 0; i < places->count; i++) {
		json_array_append_new(places->all[i].kind >= OUTSIDE_WRITE ? write : read,
		                      json_name(places->all[i].path));
		if (places->all[i].to)
			json_array_append_new(write, json_name(places->all[i].to));
	}
	return json_pack("{s:b, s:{s:o, s:o}}", "network", 0, "fileSystem", "read", read, "write",
	                 write);
}

static json_t *outside_details(const struct call *call, const struct outside_offer *offer)
{
	json_t *details = json_pack(
		"{s:s, s:s, s:o, s:O, s:O, s:o, s:i}", "type", "sandbox_expansion", "title",
		"Sandbox Expansion Request", "additionalPermissions",
		outside_permissions(&offer->places), "allowed", offer->allowed, "stillDenied",
		offer->kept, "leftOut", json_size(offer->left_out), "runs",
		(int)call->outside_runs + 1);

	if (offer->changes) /* checkpoints do not cover files outside */
		json_object_set_new(details, "canRewind", json_false());
	return details;
}

/* "read /srv/notes.md; list /srv; move /srv/a to /srv/b". */
static void put_outside(struct buf *out, const json_t *allowed)
{
	size_t i;
	json_t *item;

	json_array_foreach((json_t *)allowed, i, item) {
		buf_str(out, i ? "; " : "");
		buf_span(out, json_span(json_object_get(item, "kind")));
		buf_char(out, ' ');
		buf_span(out, json_span(json_object_get(item, "what")));
		if (json_object_get(item, "to")) {
			buf_str(out, " to ");
			buf_span(out, json_span(json_object_get(item, "to")));
		}
	}
}

static void allow_outside(struct call *call, const struct outside_offer *offer, bool session)
{
	_cleanup_buf_ struct buf text = BUF_INIT(EXPANSION_MAX);

	outside_allow(&call->outside, &offer->places, session);
	if (session)
		call_asked_allowed_places(call, ASKED_OUTSIDE, offer->allowed);
	call->decision = DECISION_ACCEPT;
	if (call->expansion)
		buf_printf(&text, "%s ", call->expansion);
	buf_str(&text, "This is outside the workspace: ");
	put_outside(&text, offer->allowed);
	buf_printf(&text, ". The user was asked, and allowed just that %s.",
	           session ? "for this session" : "for this one call");
	tell_model(call, &text);
}

/* The refusals become the user's. Of many files each has its own. */
static void decline_outside(struct call *call, const struct outside_offer *offer,
                            const json_t *answer, json_t *result)
{
	struct span said = span_trim(json_span(json_object_get(answer, "message")));
	_cleanup_buf_ struct buf text = BUF_INIT(EXPANSION_MAX);
	struct err err = ERR_INIT;
	json_t *entry;
	size_t i;

	call->decision = DECISION_REJECT;
	buf_str(&text, "Denied By User: This is outside the workspace: ");
	put_outside(&text, offer->allowed);
	buf_str(&text, ". The user was asked whether to allow just that, and declined; nothing of "
	               "it was done. ");
	if (said.len) {
		buf_str(&text, "They say: ");
		buf_span(&text, said);
	} else {
		buf_str(&text, "Do not reach it by another way: go on without it, or say what it "
		               "is needed for.");
	}
	if (!tool_result_failed(result) && json_is_object(result)) {
		tell_model(call, &text); /* the rest was done */
		return;
	}
	err_set(&err, ERR_DENIED_BY_USER, "Denied By User.");
	if (json_is_object(result)) {
		json_object_set_new(result, "message", json_text(buf_view(&text)));
		json_object_set_new(result, "error", tool_error(&err));
		if (said.len)
			call_error_instruct(json_object_get(result, "error"));
		return;
	}
	json_array_foreach(result, i, entry) {
		const json_t *error = json_object_get(entry, "error");

		if (!span_eq(json_span(json_object_get(error, "code")), SPAN("outside_workspace")))
			continue;
		json_object_set_new(entry, "error", tool_error(&err));
		json_object_set_new(json_object_get(entry, "error"), "message",
		                    json_text(buf_view(&text)));
		if (said.len)
			call_error_instruct(json_object_get(entry, "error"));
	}
}

/* Explain to the model, after the tool's error, why no permission was offered. */
static void refuse_outside(const struct outside_offer *offer, json_t *result)
{
	_cleanup_buf_ struct buf text = BUF_INIT(EXPANSION_MAX);

	if (!json_is_object(result))
		return;
	buf_span(&text, json_span(json_object_get(result, "message")));
	buf_str(&text, " ");
	buf_str(&text, offer->refused);
	json_object_set_new(result, "message", json_text(buf_view(&text)));
}

/* With question_lock: permissions that another call got for the session meanwhile count. */
static bool put_outside_offer(struct call *call, const struct tool *tool, const json_t *arguments,
                              json_t *result)
{
	struct outside_offer offer;
	json_auto_t *message = NULL, *answer = NULL;
	enum bus_reply reply;
	bool again;

	outside_offer_make(&call->outside, &offer);
	again = offer.covered;
	if (offer.refused)
		refuse_outside(&offer, result);
	if (offer.places.count) {
		message = expansion_message(call, tool, arguments, outside_details(call, &offer));
		reply = put_expansion(call, tool, message, &answer);
		again = reply == BUS_ANSWERED &&
		        expansion_answer(json_object_get(message, "outcomes"), answer);
		if (again)
			allow_outside(call, &offer, expansion_for_session(answer));
		else if (reply == BUS_ANSWERED)
			decline_outside(call, &offer, answer, result);
	}
	outside_offer_release(&offer);
	return again;
}

static bool ask_outside(struct call *call, const struct tool *tool, const json_t *arguments,
                        json_t *result)
{
	bool again;

	if (call->outside_runs + 1 >= DENIED_RUNS_MAX || agent_mode(call->agent) == MODE_YOLO ||
	    !confirm_can_ask(call->agent))
		return false;
	call_round_settle(call); /* others are asked about meanwhile */
	pthread_mutex_lock(&call->agent->top->question_lock);
	again = put_outside_offer(call, tool, arguments, result);
	pthread_mutex_unlock(&call->agent->top->question_lock);
	call->outside_runs += again;
	return again;
}

/* ---- the hook ---------------------------------------------------------------------- */

bool denied_ask(void *data, const struct tool *tool, const json_t *arguments, json_t *result)
{
	struct call *call = data;
	struct denial_offer offer;
	bool again;

	if (call->outside.wanted.count)
		return ask_outside(call, tool, arguments, result);
	if (!may_ask(call, tool, result))
		return false;
	denial_offer_make(&call->session, result,
	                  prepare_may_network(call->agent->options.settings), &offer);
	again = json_array_size(offer.allowed) &&
	        !is_denied_by_rules(call, tool, arguments, &offer.grant) &&
	        put_offer(call, tool, arguments, &offer);
	denial_offer_release(&offer);
	return again;
}

void denied_forget(struct call *call)
{
	call->session.grant = NULL;
	tool_grant_release(&call->grant);
	free(mem_steal(&call->expansion));
	call->runs = call->outside_runs = 0;
}
