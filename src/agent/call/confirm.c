/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/call.h"

#include <string.h>

#include "agent/call/gate.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "shell/analysis.h"

enum { ROOTS_MAX = 64 };

/* One question on its way. */
struct asking {
	struct asking *next;     /* in `asked` of the agent */
	struct call *call;
	struct agent *agent;
	const struct tool_question *question;
	json_t *message;         /* owned */
	json_t *outcomes;        /* of it; borrowed */
	struct tool_change change; /* owned; that is shown */
};

/* ---- what is shown ----------------------------------------------------------------- */

static json_t *exec_details(const struct asking *asking)
{
	const json_t *arguments = asking->question->arguments;
	json_t *prefixes = asking->call->verdict.prefixes;
	struct span command = json_span(json_object_get(arguments, "command"));
	_cleanup_buf_ struct buf summary = BUF_INIT(4 * LIMIT_SHELL_ALL_BYTES);
	struct span roots[ROOTS_MAX];
	struct shell_analysis analysis;
	json_t *details = json_object(), *names = json_array(), *problems = json_array();
	json_t *denials;
	size_t count;

	shell_analyse(command, &analysis);
	shell_summary(&analysis, &summary);
	count = shell_roots(&analysis, roots, ROOTS_MAX);
	for (size_t i = 0; i < count && i < ROOTS_MAX; i++)
		json_array_append_new(names, json_text(roots[i]));
	for (size_t i = 0; i < analysis.problem_count; i++)
		json_array_append_new(problems, json_string(
			shell_problem_sentence(analysis.problems[i].kind)));
	json_object_set_new(details, "type", json_string("exec"));
	json_object_set_new(details, "title", json_string("Confirm Shell Command"));
	json_object_set_new(details, "command", json_text(command));
	json_object_set_new(details, "rootCommand",
	                    count ? json_text(roots[0]) : json_string(""));
	json_object_set_new(details, "rootCommands", names);
	json_object_set_new(details, "summary", json_text(buf_view(&summary)));
	json_object_set_new(details, "problems", problems);
	if (json_array_size(prefixes))
		json_object_set(details, "commandPrefixes", prefixes);
	denials = foreseen_denials(asking->call, &analysis, arguments);
	if (denials)
		json_object_set_new(details, "denials", denials);
	shell_analysis_release(&analysis);
	return details;
}

static json_t *mcp_details(const struct asking *asking)
{
	const struct tool *tool = asking->question->tool;
	json_t *details = json_object();

	json_object_set_new(details, "type", json_string("mcp"));
	json_object_set_new(details, "title", json_string("Confirm MCP Tool Execution"));
	json_object_set_new(details, "serverName", json_cstr(tool->server));
	json_object_set_new(details, "toolName", json_cstr(tool->server_tool));
	json_object_set_new(details, "toolDisplayName",
	                    json_cstr(tool->title ? tool->title : tool->server_tool));
	if (asking->change.lines)
		json_object_set_new(details, "changed", json_text(span_str(asking->change.lines)));
	return details;
}

static json_t *info_details(const struct tool_question *question)
{
	const struct tool *tool = question->tool;
	const json_t *arguments = question->arguments;
	_cleanup_free_ char *all = tool_arguments_text(arguments, NULL);
	const char *about = question->preview ? question->preview : all ? all : "";
	json_auto_t *addresses = tool->addresses ? tool->addresses(arguments) : NULL;
	json_t *details = json_object(), *urls = json_array(), *address;
	size_t i;

	json_array_foreach(addresses, i, address)
		json_array_append(urls, json_object_get(address, "url"));
	json_object_set_new(details, "type", json_string("info"));
	json_object_set_new(details, "title", json_cstr(tool->title ? tool->title : tool->name));
	json_object_set_new(details, "prompt", json_text(span_str(about)));
	json_object_set_new(details, "urls", urls);
	if (review_may_modify(question)) {
		json_object_set_new(details, "fileName", json_string("text.md"));
		json_object_set_new(details, "originalContent", json_text(span_str(about)));
		json_object_set_new(details, "newContent", json_text(span_str(about)));
	}
	return details;
}

static bool is_shell_command(const struct tool *tool)
{
	return tool->info && tool->info->runs;
}

/* The arguments that the kind of question itself has no place for. */
static void put_others(json_t *details, const struct tool_question *question)
{
	static const char *const of_command[] = { "command", "description", "dir_path",
		                                  "is_background", "additional_permissions",
		                                  NULL };
	_cleanup_free_ char *others =
		tool_arguments_text(question->arguments, question->plan ? tool_arguments_of_edit
		                                                       : of_command);

	if (others && *others)
		json_object_set_new(details, "otherArguments", json_text(span_str(others)));
}

static json_t *details_of(struct asking *asking)
{
	const struct tool *tool = asking->question->tool;
	json_t *details;

	if (tool->server)
		return mcp_details(asking);
	if (tool->plans && asking->question->plan)
		details = review_details(asking->call, asking->question);
	else if (is_shell_command(tool))
		details = exec_details(asking);
	else
		return info_details(asking->question);
	put_others(details, asking->question);
	return details;
}

/* ---- what may be answered ---------------------------------------------------------- */

/* What "for this session" is about. False: it is not offered. */
static bool can_always(const struct asking *asking, struct scope_choice *ret)
{
	const struct call *call = asking->call;

	*ret = (struct scope_choice){ 0 };
	/* A hook would ask again, and so would a rule that is above; permissions beyond the sandbox
	 * are for one command. */
	if (!asking->agent->may_always || call->hook_asks || !asking->agent->options.policy ||
	    tool_requires_more(asking->question->arguments) ||
	    (call->has_verdict && !policy_session_helps(&call->verdict)))
		return false;
	return call_scope_choose(call, asking->question, ret);
}

static json_t *outcomes_of(const struct asking *asking, bool always)
{
	const bool server = asking->question->tool->server != NULL;
	const bool save = always && asking->agent->may_save &&
	                  asking->agent->options.policy_folder;
	const struct {
		const char *name;
		bool offered;
	} rows[] = {
		{ "proceed_once", true },
		{ "proceed_always", always && !server },
		{ "proceed_always_tool", always && server },
		{ "proceed_always_server", always && server },
		{ "proceed_always_and_save", save },
		{ "modify_with_editor", review_may_modify(asking->question) },
		{ "cancel", true },
	};
	json_t *outcomes = json_array();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].offered)
			json_array_append_new(outcomes, json_string(rows[i].name));
	return outcomes;
}

static json_t *question_message(struct asking *asking)
{
	const struct tool *tool = asking->question->tool;
	const struct call *call = asking->call;
	json_t *message = json_object();
	struct scope_choice choice;
	bool always;

	if (tool->changed && !asking->change.state)
		tool->changed(tool, &asking->change);
	json_object_set_new(message, "callId", json_string(call->id));
	json_object_set_new(message, "toolName", json_string(tool->name));
	if (tool->server)
		json_object_set_new(message, "serverName", json_cstr(tool->server));
	if (asking->agent->options.name)
		json_object_set_new(message, "agentName", json_string(asking->agent->options.name));
	json_object_set(message, "arguments", (json_t *)asking->question->arguments);
	json_object_set_new(message, "details", details_of(asking));
	always = can_always(asking, &choice);
	if (always)
		json_object_set_new(message, "scope", json_text(span_str(choice.text)));
	call_scope_choice_release(&choice);
	asking->outcomes = outcomes_of(asking, always);
	json_object_set_new(message, "outcomes", asking->outcomes);
	if (call->ask_reason)
		json_object_set_new(message, "reason", json_text(span_str(call->ask_reason)));
	else if (asking->change.parts)
		json_object_set_new(message, "reason", json_pack(
			"s++", "This tool is not the one that was last allowed (",
			asking->change.parts, ")."));
	else if (call->has_verdict && call->verdict.message[0])
		json_object_set_new(message, "reason", json_text(span_str(call->verdict.message)));
	return message;
}

/* ---- what follows ------------------------------------------------------------------ */

static void publish_update(struct asking *asking, const char *server, bool saved)
{
	json_auto_t *message = json_object();

	json_object_set_new(message, "toolName", json_string(asking->question->tool->name));
	if (is_shell_command(asking->question->tool) && asking->call->verdict.prefixes)
		json_object_set(message, "commandPrefix", asking->call->verdict.prefixes);
	if (server)
		json_object_set_new(message, "serverName", json_cstr(server));
	json_object_set_new(message, "saved", json_boolean(saved));
	bus_publish(asking->agent->options.bus, BUS_UPDATE_POLICY, message);
}

/* Whether rules say yes, but for those on paths, which the call's own thread asks. */
static bool may_be_answered(const struct asking *asking)
{
	return !asking->call->hook_asks && !tool_requires_more(asking->question->arguments) &&
	       gate_would_allow(asking->call, asking->question->tool, asking->question->arguments);
}

static json_t *answer_by_policy(json_t *id)
{
	return json_pack("{s:O, s:s, s:b}", "correlationId", id, "outcome", "proceed_once",
	                 "byPolicy", 1);
}

/* There is a new rule: whom else it answers. */
static void answer_others(struct asking *asking)
{
	struct agent *top = asking->agent->top;
	json_auto_t *answered = json_array();
	json_t *id;
	size_t i;

	if (!asking->agent->options.asks_together)
		return;
	pthread_mutex_lock(&top->asking);
	for (struct asking *other = top->asked; other; other = other->next)
		if (other != asking && may_be_answered(other))
			json_array_append(answered,
			                  json_object_get(other->message, "correlationId"));
	pthread_mutex_unlock(&top->asking);
	json_array_foreach(answered, i, id) {
		json_auto_t *answer = answer_by_policy(id);

		bus_answer(asking->agent->options.bus, BUS_TOOL_CONFIRMATION_RESPONSE, answer);
	}
}

/* "Always": for what is left of the session, within what the choice says. */
static void allow_for_session(struct asking *asking, const char *server)
{
	_cleanup_free_ char *all = server ? mem_printf("all tools of the server %s", server) : NULL;
	struct scope_choice choice;

	if (!call_scope_choose(asking->call, asking->question, &choice))
		return;
	choice.scope.server = server;
	if (all)
		choice.scope.text = all;
	policy_allow_for_session(asking->agent->options.policy, &choice.scope);
	call_scope_choice_release(&choice);
	answer_others(asking);
	publish_update(asking, server, false);
}

static void wait_notice(void *data, enum severity severity, const char *message)
{
	agent_notice(data, severity, message);
}

static void save_rule(struct asking *asking)
{
	const struct agent_options *options = &asking->agent->options;
	const struct file_lock_wait wait = { .cancel = options->cancel,
		                             .max_ms = settings_lock_wait_ms(options->settings),
		                             .notices = { wait_notice, asking->agent } };
	const struct tool *tool = asking->question->tool;
	/* An edit that is always allowed is so for its file. */
	_cleanup_free_ char *pattern =
		tool->plans ? call_scope_pattern(asking->question->arguments, "file_path") : NULL;
	struct err err = ERR_INIT;

	if (policy_save(options->policy, options->policy_folder, tool->name,
	                is_shell_command(tool) ? asking->call->verdict.prefixes : NULL, NULL,
	                pattern,
	                agent_mode(asking->agent), &wait, &err)) {
		answer_others(asking);
		publish_update(asking, NULL, true);
		return;
	}
	agent_notice(asking->agent, SEVERITY_WARNING, err.message);
	allow_for_session(asking, NULL);
}

static bool decline_call(struct asking *asking, const json_t *answer, struct err *err)
{
	struct span said = span_trim(json_span(json_object_get(answer, "message")));

	asking->call->decision = DECISION_REJECT;
	asking->call->refused = !said.len;
	free(asking->call->said);
	asking->call->said = said.len ? mem_dup(said.data, said.len) : NULL;
	return err_set(err, ERR_DENIED_BY_USER, "Denied By User: The user declined this call.");
}

static bool follow_answer(struct asking *asking, const json_t *answer, struct err *err)
{
	const struct tool *tool = asking->question->tool;
	const char *outcome = json_string_value(json_object_get(answer, "outcome"));
	const json_t *details = json_object_get(asking->message, "details");
	const bool offered = json_lists(asking->outcomes, span_str(outcome));
	bool none = false;

	asking->call->decision = DECISION_REJECT;
	if (offered &&
	    !review_take(asking->call, asking->question, details, answer, &none, err))
		return false;
	if (!offered || none || !strcmp(outcome, "cancel"))
		return decline_call(asking, answer, err);
	asking->call->decision = !strcmp(outcome, "modify_with_editor") ? DECISION_MODIFY :
	                                                                  DECISION_ACCEPT;
	if (tool->allowed && asking->change.state)
		tool->allowed(tool, &asking->change);
	if (!strcmp(outcome, "proceed_always") || !strcmp(outcome, "proceed_always_tool"))
		allow_for_session(asking, NULL);
	else if (!strcmp(outcome, "proceed_always_server"))
		allow_for_session(asking, tool->server);
	else if (!strcmp(outcome, "proceed_always_and_save"))
		save_rule(asking);
	return true;
}

static bool refuse_unasked(struct asking *asking, struct err *err)
{
	const struct tool *tool = asking->question->tool;
	const char *mode = tool_kind_of(tool) == TOOL_KIND_EDIT ? "auto_edit" : "yolo";
	const struct tool_change *change = &asking->call->change;

	asking->call->decision = DECISION_REJECT;
	asking->call->wants = tool_requires_more(asking->question->arguments) ? CALL_WANTS_FLAGS :
	                      asking->call->hook_asks ? CALL_WANTS_HOOK :
	                      change->parts ? CALL_WANTS_LOOK : CALL_WANTS_RULE;
	if (asking->call->wants == CALL_WANTS_FLAGS)
		return err_set(err, ERR_DENIED_BY_USER,
		               "Denied By User: This run has no way to ask for additional "
		               "permissions. The user can grant them when starting hasp: --net, "
		               "--write PATH, --read PATH. Nothing was run.");
	if (asking->call->wants == CALL_WANTS_HOOK)
		return err_set(err, ERR_DENIED_BY_USER,
		               "Denied By User: A hook requires confirmation for this call, but "
		               "this run has no way to ask%s%s",
		               asking->call->ask_reason ? ". It says: " : ".",
		               asking->call->ask_reason ? asking->call->ask_reason : "");
	if (asking->call->wants == CALL_WANTS_LOOK)
		return err_set(err, ERR_DENIED_BY_USER,
		               "Denied By User: This tool of the MCP server \"%s\" differs from "
		               "the one that was last allowed (%s), so no rule allows it, and this "
		               "run has no way to ask. \"hasp mcp test %s\" shows the user what "
		               "changed; \"hasp mcp allow %s\" allows it. Nothing was called.",
		               tool->server, change->parts, tool->server, tool->server);
	return err_set(err, ERR_DENIED_BY_USER,
	               "Denied By User: %s must be confirmed, but this run has no way to ask. The "
	               "user can allow it beforehand: by a policy rule, with --allowed-tools %s, "
	               "or with --approval-mode %s.",
	               tool->name, tool->name, mode);
}

/* ---- asking ------------------------------------------------------------------------ */

bool confirm_can_ask(const struct agent *agent)
{
	return agent->options.interactive && agent->options.bus &&
	       bus_has_listener(agent->options.bus, BUS_TOOL_CONFIRMATION_REQUEST);
}

static void notify_hooks(struct agent *agent, const struct tool *tool, const json_t *message)
{
	json_auto_t *input = NULL;
	struct hook_outcome outcome;

	if (!agent_has_hooks(agent, HOOK_NOTIFICATION, "ToolPermission"))
		return;
	input = json_object();
	json_object_set_new(input, "notification_type", json_string("ToolPermission"));
	json_object_set_new(input, "message",
	                    json_pack("s++", "Tool ", tool->name, " requires confirmation"));
	json_object_set(input, "details", json_object_get(message, "details"));
	if (agent_fire(agent, HOOK_NOTIFICATION, "ToolPermission", input, &outcome))
		hook_outcome_release(&outcome);
}

enum bus_reply confirm_put(struct agent *agent, const struct tool *tool, json_t *message,
                           json_t **ret_answer)
{
	notify_hooks(agent, tool, message);
	return bus_ask(agent->options.bus, BUS_TOOL_CONFIRMATION_REQUEST, message, 0,
	               agent->options.cancel, ret_answer);
}

static void make_question(struct asking *asking)
{
	asking->message = question_message(asking);
	notify_hooks(asking->agent, asking->question->tool, asking->message);
}

static enum bus_reply ask_user(struct asking *asking, json_t **answer)
{
	const uint64_t began = clock_monotonic_ms();
	const enum bus_reply reply =
		bus_ask(asking->agent->options.bus, BUS_TOOL_CONFIRMATION_REQUEST, asking->message,
	                0, asking->agent->options.cancel, answer);

	asking->call->waited_ms += clock_monotonic_ms() - began;
	return reply;
}

static bool follow_reply(struct asking *asking, enum bus_reply reply, const json_t *answer,
                         struct err *err)
{
	if (reply == BUS_ANSWERED)
		return follow_answer(asking, answer, err);
	if (reply == BUS_CANCELLED)
		return err_set(err, ERR_CANCELLED, "The call was cancelled; nothing was done.");
	return refuse_unasked(asking, err);
}

static bool put_question(struct asking *asking, struct err *err)
{
	json_auto_t *answer = NULL;
	enum bus_reply reply;

	make_question(asking);
	reply = ask_user(asking, &answer);
	return follow_reply(asking, reply, answer, err);
}

/* What was answered about another call in the meantime may answer this one. */
static bool answered_by_now(struct asking *asking)
{
	if (asking->call->hook_asks || tool_requires_more(asking->question->arguments) ||
	    gate_decide(asking->call, asking->question->tool, asking->question->arguments) !=
	            CALL_ALLOW)
		return false;
	asking->call->decision = DECISION_AUTO;
	gate_note_allowed(asking->call, asking->question->tool);
	return true;
}

static bool ask_in_turn(struct asking *asking, struct err *err)
{
	bool yes;

	pthread_mutex_lock(&asking->agent->top->asking);
	if (cancelled(asking->agent->options.cancel))
		yes = err_set(err, ERR_CANCELLED, "The call was cancelled; nothing was done.");
	else
		yes = answered_by_now(asking) || put_question(asking, err);
	pthread_mutex_unlock(&asking->agent->top->asking);
	return yes;
}

/* ---- asking about several calls together ---------------------------------------------- */

void call_round_init(struct call_round *round, pthread_mutex_t *lock, pthread_cond_t *changed)
{
	*round = (struct call_round){ .lock = lock, .changed = changed, .may_begin = true };
	pthread_cond_init(&round->released, NULL);
}

void call_round_release(struct call_round *round)
{
	pthread_cond_destroy(&round->released);
}

/* Puts the questions, if nobody can join them any more. The calls of a reply are an array. */
static void round_put_if_complete(struct call_round *round)
{
	if (round->awaited || round->may_begin || !round->gathered)
		return;
	for (struct call *call = round->gathered; call; call = call->gathered) {
		call->place = call->together = 0;
		for (struct call *other = round->gathered; other; other = other->gathered) {
			call->place += other < call;
			call->together++;
		}
	}
	round->number++;
	round->id = ++round->gathered->agent->top->rounds;
	round->gathered = NULL;
	pthread_cond_broadcast(&round->released);
}

void call_round_begin(struct call *call)
{
	call->awaited = true;
	call->round->awaited++;
}

void call_round_set_may_begin(struct call_round *round, bool may)
{
	round->may_begin = may;
	round_put_if_complete(round);
}

void call_round_settle_locked(struct call *call)
{
	if (!call->awaited)
		return;
	call->awaited = false;
	call->round->awaited--;
	round_put_if_complete(call->round);
}

void call_round_settle(struct call *call)
{
	if (!call->round)
		return;
	pthread_mutex_lock(call->round->lock);
	call_round_settle_locked(call);
	pthread_mutex_unlock(call->round->lock);
}

/* Waits for the other questions; a new reference to `together`. */
static json_t *round_gather(struct call *call)
{
	json_t *together;

	struct call_round *round = call->round;
	unsigned before;

	pthread_mutex_lock(round->lock);
	before = round->number;
	call->gathered = round->gathered;
	round->gathered = call;
	round->asking++;
	round->may_begin = round->may_begin || round->full;
	call_round_settle_locked(call);
	round_put_if_complete(round);
	pthread_cond_signal(round->changed); /* one more may have a place now */
	while (round->number == before)
		pthread_cond_wait(&round->released, round->lock);
	together = json_pack("{s:I, s:I, s:I}", "id", (json_int_t)round->id, "index",
	                     (json_int_t)call->place, "count", (json_int_t)call->together);
	pthread_mutex_unlock(round->lock);
	return together;
}

static void round_leave(struct call *call)
{
	pthread_mutex_lock(call->round->lock);
	call->round->asking--;
	pthread_mutex_unlock(call->round->lock);
}

/* From here on a rule may answer it. */
static void asked_add(struct asking *asking)
{
	struct agent *top = asking->agent->top;

	pthread_mutex_lock(&top->asking);
	bus_identify(asking->message);
	asking->next = top->asked;
	top->asked = asking;
	pthread_mutex_unlock(&top->asking);
}

static void asked_remove(struct asking *asking)
{
	struct agent *top = asking->agent->top;
	struct asking **at;

	pthread_mutex_lock(&top->asking);
	for (at = &top->asked; *at != asking; at = &(*at)->next)
		;
	*at = asking->next;
	pthread_mutex_unlock(&top->asking);
}

/* It was announced with the others, and needs no answer by now: who shows it takes it away. */
static void publish_answered(struct asking *asking)
{
	struct bus *bus = asking->agent->options.bus;
	json_auto_t *answer =
		answer_by_policy(json_object_get(asking->message, "correlationId"));

	bus_publish(bus, BUS_TOOL_CONFIRMATION_REQUEST, asking->message);
	bus_publish(bus, BUS_TOOL_CONFIRMATION_RESPONSE, answer);
}

/* True: a rule says yes. False: as *reply and *answer say. */
static bool ask_in_round(struct asking *asking, enum bus_reply *reply, json_t **answer)
{
	bool answered;

	json_object_set_new(asking->message, "together", round_gather(asking->call));
	if (cancelled(asking->agent->options.cancel)) {
		round_leave(asking->call);
		*reply = BUS_CANCELLED;
		return false;
	}
	asked_add(asking);
	answered = answered_by_now(asking);
	if (answered)
		publish_answered(asking);
	else
		*reply = ask_user(asking, answer);
	asked_remove(asking);
	round_leave(asking->call);
	return answered;
}

static bool ask_together(struct asking *asking, struct err *err)
{
	enum bus_reply reply = BUS_NOBODY;

	make_question(asking);
	while (true) {
		json_auto_t *answer = NULL;

		if (ask_in_round(asking, &reply, &answer))
			return true;
		if (!json_is_true(json_object_get(answer, "byPolicy")))
			return follow_reply(asking, reply, answer, err);
		if (answered_by_now(asking))
			return true;
	}
}

/* A person can be shown only so much, and nothing runs that was not shown. */
static bool confirm_can_show(const struct tool_question *question, struct err *err)
{
	_cleanup_free_ char *all = question->plan ? NULL :
	                                            tool_arguments_text(question->arguments, NULL);

	return all || question->plan ||
	       err_set(err, ERR_TOO_LARGE,
	               "This call requires approval, but its arguments are longer than a question "
	               "can show (%zu bytes, %zu lines). Nothing was done.",
	               LIMIT_QUESTION_BYTES, LIMIT_QUESTION_LINES);
}

bool agent_confirm_ask(void *data, const struct tool_question *question, struct err *err)
{
	struct call *call = data;
	struct asking asking = { .call = call, .agent = call->agent, .question = question };
	bool yes;

	call_scope_note(call, question->tool, question->arguments, question->plan);
	if (!confirm_can_ask(call->agent))
		yes = refuse_unasked(&asking, err);
	else if (answered_by_now(&asking)) {
		call_round_settle(call);
		yes = true;
	} else if (!confirm_can_show(question, err))
		yes = false;
	else if (call->agent->options.asks_together && call->round)
		yes = ask_together(&asking, err);
	else
		yes = ask_in_turn(&asking, err);

	if (yes)
		gate_about_to_run(call, question->tool, question->arguments);
	tool_change_release(&asking.change);
	json_decref(asking.message);
	return yes;
}
