/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/call.h"

#include <string.h>

#include "agent/call/questions.h"
#include "agent/call/gate.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "shell/analysis.h"
#include "tool/services.h"

enum { ROOTS_MAX = 64 };

/* One question on its way. */
struct confirm_request {
	struct confirm_request *next;     /* in `asked` of the agent */
	struct call *call;
	struct agent *agent;
	const struct tool_question *question;
	json_t *message;         /* owned */
	json_t *outcomes;        /* of it; borrowed */
	struct tool_change change; /* owned; that is shown */
};

/* ---- what is shown ----------------------------------------------------------------- */

static bool question_requires_more(const struct tool_question *question)
{
	return tool_requires_more(question->tool, question->arguments);
}

static json_t *exec_details(const struct confirm_request *request)
{
	const json_t *arguments = request->question->arguments;
	json_t *prefixes = request->call->verdict.prefixes;
	const struct tool_info *info = request->question->tool->info;
	struct span command = json_span(tool_command_line(info, arguments));
	_cleanup_buf_ struct buf summary = BUF_INIT(4 * LIMIT_SHELL_ALL_BYTES);
	struct span roots[ROOTS_MAX];
	struct shell_analysis analysis;
	json_t *details = json_object(), *names = json_array(), *problems = json_array();
	json_t *denials = NULL, *confinement = NULL;
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
	if (!question_requires_more(request->question)) /* else the question says what */
		denials = foreseen_denials(request->call, &analysis, arguments, &confinement);
	if (confinement)
		json_object_set_new(details, "confinement", confinement);
	if (request->call->verdict.commands)
		json_object_set(details, "commands", request->call->verdict.commands);
	if (denials)
		json_object_set_new(details, "denials", denials);
	shell_analysis_release(&analysis);
	return details;
}

static json_t *mcp_details(const struct confirm_request *request)
{
	const struct tool *tool = request->question->tool;
	_cleanup_free_ char *title = display_title(tool, tool->name);
	json_t *details = json_object();

	json_object_set_new(details, "type", json_string("mcp"));
	json_object_set_new(details, "title", json_text(span_str(title)));
	json_object_set_new(details, "serverName", json_cstr(tool->server));
	json_object_set_new(details, "toolName", json_cstr(tool->server_tool));
	json_object_set_new(details, "toolDisplayName",
	                    json_cstr(tool->title ? tool->title : tool->server_tool));
	if (request->change.lines)
		json_object_set_new(details, "changed", json_text(span_str(request->change.lines)));
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

static json_t *details_of(struct confirm_request *request)
{
	const struct tool *tool = request->question->tool;
	json_t *details;

	if (tool->server)
		return mcp_details(request);
	if (tool->plans && request->question->plan)
		details = review_details(request->call, request->question);
	else if (is_shell_command(tool))
		details = exec_details(request);
	else
		return info_details(request->question);
	put_others(details, request->question);
	return details;
}

/* ---- what may be answered ---------------------------------------------------------- */

/* What "for this session" is about. Returns NULL, or in a few words why it is not offered. */
static const char *choose_always(const struct confirm_request *request, struct scope_choice *ret)
{
	const struct agent *agent = request->agent;
	const struct call *call = request->call;

	*ret = (struct scope_choice){ 0 };
	if (call->has_verdict && call->verdict.approvals)
		return "several people must approve each such call";
	if (policy_caller(agent->options.policy))
		return "a caller's task is allowed one call at a time";
	if (!agent->may_always)
		return agent->trusted ? "the settings turn that off" :
		                        "this folder is not trusted (/permissions)";
	if (call->hook_asks)
		return "a hook asks about each such call";
	if (question_requires_more(request->question))
		return "permissions beyond the sandbox are for one call";
	if (call->has_verdict && !policy_session_helps(&call->verdict))
		return "a rule asks about each such call (/policies)";
	if (call_scope_choose(call, request->question, ret))
		return NULL;
	return call->obeyed ? "hasp follows what this file says" :
	                      "each such call is asked about";
}

static json_t *outcomes_of(const struct confirm_request *request, bool always)
{
	const bool server = request->question->tool->server != NULL;
	/* Of a command a rule in a file needs a prefix. */
	const bool narrow = !is_shell_command(request->question->tool) ||
	                    json_array_size(request->call->verdict.prefixes);
	const bool save = always && narrow && request->agent->may_save &&
	                  request->agent->options.policy_folder;
	const struct {
		const char *name;
		bool offered;
	} rows[] = {
		{ "proceed_once", true },
		{ "proceed_always", always && !server },
		{ "proceed_always_tool", always && server },
		{ "proceed_always_server", always && server },
		{ "proceed_always_and_save", save },
		{ "modify_with_editor", review_may_modify(request->question) },
		{ "cancel", true },
	};
	json_t *outcomes = json_array();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].offered)
			json_array_append_new(outcomes, json_string(rows[i].name));
	return outcomes;
}

/* Of a plan: the modes that it may be carried out in. */
static void put_plan_modes(const struct confirm_request *request, json_t *message)
{
	const struct tool *tool = request->question->tool;
	const struct tool_services *services = request->call->session.services;

	if (tool->info && tool->info->plan && services && services->plan_modes)
		json_object_set_new(message, "modes", services->plan_modes(services->data));
}

static json_t *question_message(struct confirm_request *request)
{
	const struct tool *tool = request->question->tool;
	const struct call *call = request->call;
	json_t *message = json_object();
	struct scope_choice choice;
	const char *why;

	if (tool->changed && !request->change.state)
		tool->changed(tool, &request->change);
	json_object_set_new(message, "callId", json_string(call->id));
	json_object_set_new(message, "toolName", json_string(tool->name));
	if (tool->server)
		json_object_set_new(message, "serverName", json_cstr(tool->server));
	if (request->agent->options.name)
		json_object_set_new(message, "agentName",
		                    json_string(request->agent->options.name));
	json_object_set(message, "arguments", (json_t *)request->question->arguments);
	json_object_set_new(message, "details", details_of(request));
	why = choose_always(request, &choice);
	if (why)
		json_object_set_new(message, "noAlways", json_string(why));
	else
		json_object_set_new(message, "scope", json_text(span_str(choice.text)));
	call_scope_choice_release(&choice);
	put_plan_modes(request, message);
	request->outcomes = outcomes_of(request, !why);
	json_object_set_new(message, "outcomes", request->outcomes);
	if (call->has_verdict)
		json_object_set_new(message, "rule", json_text(span_str(call->verdict.rule)));
	if (call->ask_reason)
		json_object_set_new(message, "reason", json_text(span_str(call->ask_reason)));
	else if (request->change.parts)
		json_object_set_new(message, "reason", json_pack(
			"s++", "This tool is not the one that was last allowed (",
			request->change.parts, ")."));
	else if (call->has_verdict && call->verdict.message[0])
		json_object_set_new(message, "reason", json_text(span_str(call->verdict.message)));
	return message;
}

/* ---- what follows ------------------------------------------------------------------ */

static void publish_update(struct confirm_request *request, const char *server, bool saved)
{
	json_auto_t *message = json_object();

	json_object_set_new(message, "toolName", json_string(request->question->tool->name));
	if (is_shell_command(request->question->tool) && request->call->verdict.prefixes)
		json_object_set(message, "commandPrefix", request->call->verdict.prefixes);
	if (server)
		json_object_set_new(message, "serverName", json_cstr(server));
	json_object_set_new(message, "saved", json_boolean(saved));
	bus_publish(request->agent->options.bus, BUS_UPDATE_POLICY, message);
}

/* Whether rules say yes, but for those on paths, which the call's own thread asks. */
static bool may_be_answered(const struct confirm_request *request)
{
	const struct tool_question *question = request->question;

	return !request->call->hook_asks && !question_requires_more(question) &&
	       gate_would_allow(request->call, question->tool, question->arguments);
}

static json_t *answer_by_policy(json_t *id)
{
	return json_pack("{s:O, s:s, s:b}", "correlationId", id, "outcome", "proceed_once",
	                 "byPolicy", 1);
}

/* Answer the other open questions that a new rule covers. */
static void answer_others(struct confirm_request *request)
{
	struct agent *top = request->agent->top;
	json_auto_t *answered = json_array();
	json_t *id;
	size_t i;

	if (!request->agent->options.asks_together)
		return;
	pthread_mutex_lock(&top->question_lock);
	for (struct confirm_request *other = top->asked; other; other = other->next)
		if (other != request && may_be_answered(other))
			json_array_append(answered,
			                  json_object_get(other->message, "correlationId"));
	pthread_mutex_unlock(&top->question_lock);
	json_array_foreach(answered, i, id) {
		json_auto_t *answer = answer_by_policy(id);

		bus_answer(request->agent->options.bus, BUS_TOOL_CONFIRMATION_RESPONSE, answer);
	}
}

/* "Always": for what is left of the session, within what the choice says. */
static void allow_for_session(struct confirm_request *request, const char *server)
{
	_cleanup_free_ char *all = server ? mem_printf("all tools of the server %s", server) : NULL;
	struct scope_choice choice;

	if (!call_scope_choose(request->call, request->question, &choice))
		return;
	choice.scope.server = server;
	if (all)
		choice.scope.text = all;
	policy_allow_for_session(request->agent->options.policy, &choice.scope);
	call_asked_allowed(request->call, request->question->tool, &choice.scope);
	call_scope_choice_release(&choice);
	answer_others(request);
	publish_update(request, server, false);
}

static void wait_notice(void *data, enum severity severity, const char *message)
{
	agent_notice(data, severity, message);
}

static void save_rule(struct confirm_request *request)
{
	const struct agent_options *options = &request->agent->options;
	const struct file_lock_wait wait = { .cancel = options->cancel,
		                             .max_ms = settings_lock_wait_ms(options->settings),
		                             .notices = { wait_notice, request->agent } };
	const struct tool *tool = request->question->tool;
	/* An edit that is always allowed is so for its file. */
	_cleanup_free_ char *pattern =
		tool->plans ? call_scope_pattern(request->question->arguments, "file_path") : NULL;
	struct err err = ERR_INIT;

	if (policy_save(options->policy, options->policy_folder, tool->name,
	                is_shell_command(tool) ? request->call->verdict.prefixes : NULL, NULL,
	                pattern,
	                agent_mode(request->agent), &wait, &err)) {
		answer_others(request);
		publish_update(request, NULL, true);
		return;
	}
	agent_notice(request->agent, SEVERITY_WARNING, err.message);
	allow_for_session(request, NULL);
}

static bool decline_call(struct confirm_request *request, const json_t *answer, struct err *err)
{
	struct span said = span_trim(json_span(json_object_get(answer, "message")));
	const char *by = json_string_value(json_object_get(answer, "vetoedBy"));
	struct call *call = request->call;

	call->decision = DECISION_REJECT;
	call->refused = !said.len && !json_array_size(call->comments);
	free(call->said);
	call->said = said.len ? mem_dup(said.data, said.len) : NULL;
	free(call->vetoed_by);
	call->vetoed_by = mem_strdup(by);
	return err_set(err, ERR_DENIED_BY_USER, "Denied By User: %s declined this call.",
	               by ? by : "The user");
}

/* Too few people are left who could approve it. */
static bool refuse_unmet(struct confirm_request *request, const char *why, struct err *err)
{
	request->call->decision = DECISION_REJECT;
	return err_set(err, ERR_DENIED_BY_POLICY, "%s", why);
}

/* The mode that the user has chosen for what follows a plan. False: it was not offered. */
static bool follow_plan_mode(const struct confirm_request *request, const json_t *answer)
{
	const struct tool_services *services = request->call->session.services;
	const char *mode = json_string_value(json_object_get(answer, "mode"));

	return !mode || (json_object_get(request->message, "modes") &&
	                 services->plan_leads_to(services->data, mode));
}

static bool follow_answer(struct confirm_request *request, const json_t *answer, struct err *err)
{
	const struct tool *tool = request->question->tool;
	const char *outcome = json_string_value(json_object_get(answer, "outcome"));
	const json_t *details = json_object_get(request->message, "details");
	const bool offered = json_lists(request->outcomes, span_str(outcome));
	const char *unmet = json_string_value(json_object_get(answer, "unmet"));
	bool none = false;

	if (unmet)
		return refuse_unmet(request, unmet, err);
	request->call->decision = DECISION_REJECT;
	json_decref(request->call->comments);
	request->call->comments = json_incref(json_object_get(answer, "comments"));
	comments_follow(request->call, request->message, answer);
	if (offered &&
	    !review_take(request->call, request->question, details, answer, &none, err))
		return false;
	if (!offered || none || !strcmp(outcome, "cancel") || !follow_plan_mode(request, answer))
		return decline_call(request, answer, err);
	request->call->decision = !strcmp(outcome, "modify_with_editor") ? DECISION_MODIFY :
	                                                                  DECISION_ACCEPT;
	if (tool->allowed && request->change.state)
		tool->allowed(tool, &request->change);
	if (!strcmp(outcome, "proceed_always") || !strcmp(outcome, "proceed_always_tool"))
		allow_for_session(request, NULL);
	else if (!strcmp(outcome, "proceed_always_server"))
		allow_for_session(request, tool->server);
	else if (!strcmp(outcome, "proceed_always_and_save"))
		save_rule(request);
	return true;
}

static bool refuse_unasked(struct confirm_request *request, struct err *err)
{
	const struct tool *tool = request->question->tool;
	const char *mode = tool_kind_of(tool) == TOOL_KIND_EDIT ? "auto_edit" : "yolo";
	const struct tool_change *change = &request->call->change;

	request->call->decision = DECISION_REJECT;
	request->call->missing =
		question_requires_more(request->question) ? CALL_MISSING_FLAGS :
		request->call->hook_asks ? CALL_MISSING_HOOK_ANSWER :
		change->parts ? CALL_MISSING_REVIEW : CALL_MISSING_RULE;
	if (request->call->missing == CALL_MISSING_FLAGS)
		return err_set(err, ERR_DENIED_BY_USER,
		               "Denied By User: This run has no way to ask for additional "
		               "permissions. The user can grant them when starting hasp: --net, "
		               "--write PATH, --read PATH. Nothing was run.");
	if (request->call->missing == CALL_MISSING_HOOK_ANSWER)
		return err_set(err, ERR_DENIED_BY_USER,
		               "Denied By User: A hook requires confirmation for this call, but "
		               "this run has no way to ask%s%s",
		               request->call->ask_reason ? ". It says: " : ".",
		               request->call->ask_reason ? request->call->ask_reason : "");
	if (request->call->missing == CALL_MISSING_REVIEW)
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
	return agent->options.interactive &&
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

enum bus_reply confirm_put(struct call *call, const struct tool *tool, json_t *message,
                           json_t **ret_answer)
{
	struct votes votes;
	enum bus_reply reply;

	notify_hooks(call->agent, tool, message);
	votes_init(&votes, call, message, NULL);
	reply = votes_ask(&votes, ret_answer);
	votes_release(&votes);
	return reply;
}

static void make_question(struct confirm_request *request)
{
	request->message = question_message(request);
	comments_put_round(request->call, request->message);
	notify_hooks(request->agent, request->question->tool, request->message);
}

static enum bus_reply ask_user(struct confirm_request *request, json_t **answer)
{
	struct votes votes;
	enum bus_reply reply;

	votes_init(&votes, request->call, request->message, request->question->plan);
	reply = votes_ask(&votes, answer);
	votes_release(&votes);
	return reply;
}

static bool follow_reply(struct confirm_request *request, enum bus_reply reply,
                         const json_t *answer, struct err *err)
{
	if (reply == BUS_ANSWERED)
		return follow_answer(request, answer, err);
	if (reply == BUS_CANCELLED)
		return err_set(err, ERR_CANCELLED, "The call was cancelled; nothing was done.");
	return refuse_unasked(request, err);
}

static bool put_question(struct confirm_request *request, struct err *err)
{
	json_auto_t *answer = NULL;
	enum bus_reply reply;

	make_question(request);
	reply = ask_user(request, &answer);
	return follow_reply(request, reply, answer, err);
}

/* Of what a reviewer changed: the rules that asked for several people still do. */
static void keep_quorum(struct call *call)
{
	const struct policy_verdict before = { .approvals = call->quorum };

	if (call->has_verdict && call->proposer)
		policy_verdict_join(&call->verdict, &before);
}

/* What was answered about another call in the meantime may answer this one, unless a reviewer has
 * changed it. */
static bool answered_by_now(struct confirm_request *request)
{
	const struct tool_question *question = request->question;
	enum call_decision decision;

	if (request->call->hook_asks || question_requires_more(question))
		return false;
	decision = gate_decide(request->call, question->tool, question->arguments);
	keep_quorum(request->call);
	if (decision != CALL_ALLOW || request->call->proposer)
		return false;
	request->call->decision = DECISION_AUTO;
	gate_note_allowed(request->call, request->question->tool);
	return true;
}

static bool ask_in_turn(struct confirm_request *request, struct err *err)
{
	bool yes;

	pthread_mutex_lock(&request->agent->top->question_lock);
	if (cancelled(request->agent->options.cancel))
		yes = err_set(err, ERR_CANCELLED, "The call was cancelled; nothing was done.");
	else
		yes = answered_by_now(request) || put_question(request, err);
	pthread_mutex_unlock(&request->agent->top->question_lock);
	return yes;
}

/* ---- asking about several calls together ---------------------------------------------- */

/* From here on a rule may answer it. */
static void asked_add(struct confirm_request *request)
{
	struct agent *top = request->agent->top;

	pthread_mutex_lock(&top->question_lock);
	bus_identify(request->message);
	request->next = top->asked;
	top->asked = request;
	pthread_mutex_unlock(&top->question_lock);
}

static void asked_remove(struct confirm_request *request)
{
	struct agent *top = request->agent->top;
	struct confirm_request **at;

	pthread_mutex_lock(&top->question_lock);
	for (at = &top->asked; *at != request; at = &(*at)->next)
		;
	*at = request->next;
	pthread_mutex_unlock(&top->question_lock);
}

/* It was announced with the others, and needs no answer by now: who shows it takes it away. */
static void publish_answered(struct confirm_request *request)
{
	struct bus *bus = request->agent->options.bus;
	json_auto_t *answer =
		answer_by_policy(json_object_get(request->message, "correlationId"));

	bus_publish(bus, BUS_TOOL_CONFIRMATION_REQUEST, request->message);
	bus_publish(bus, BUS_TOOL_CONFIRMATION_RESPONSE, answer);
}

/* True: a rule says yes. False: as *reply and *answer say. */
static bool ask_in_round(struct confirm_request *request, enum bus_reply *reply, json_t **answer)
{
	bool answered;

	json_object_set_new(request->message, "together", call_round_gather(request->call));
	if (cancelled(request->agent->options.cancel)) {
		call_round_leave(request->call);
		*reply = BUS_CANCELLED;
		return false;
	}
	asked_add(request);
	answered = answered_by_now(request);
	if (answered)
		publish_answered(request);
	else
		*reply = ask_user(request, answer);
	asked_remove(request);
	call_round_leave(request->call);
	return answered;
}

static bool ask_together(struct confirm_request *request, struct err *err)
{
	enum bus_reply reply = BUS_NOBODY;

	make_question(request);
	while (true) {
		json_auto_t *answer = NULL;

		if (ask_in_round(request, &reply, &answer))
			return true;
		if (!json_is_true(json_object_get(answer, "byPolicy")))
			return follow_reply(request, reply, answer, err);
		if (answered_by_now(request))
			return true;
	}
}

/* The reviewer's approval was for the call that runs now, and for nothing that it asks later. */
static void forget_quorum(struct call *call)
{
	json_decref(call->proposer);
	json_decref(call->quorum);
	call->proposer = call->quorum = NULL;
}

/* The size of a question is limited, and nothing may run that was not shown. */
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

/* A change by one of several reviewers may be one that the rules deny. */
static bool change_is_denied(struct call *call, const struct tool_question *question,
                             struct err *err)
{
	if (!call->proposer ||
	    gate_decide(call, question->tool, question->arguments) != CALL_DENY)
		return false;
	gate_deny(call, question->tool, question->arguments, err);
	return true;
}

/* All ways to an answer. */
static bool confirm_settle(struct confirm_request *request, struct err *err)
{
	struct call *call = request->call;
	_cleanup_free_ char *unmet = NULL;

	if (!confirm_can_ask(call->agent))
		return refuse_unasked(request, err);
	if (change_is_denied(call, request->question, err))
		return false;
	if (answered_by_now(request)) {
		call_round_settle(call);
		return true;
	}
	if ((unmet = votes_unmet(call)))
		return refuse_unmet(request, unmet, err);
	if (!confirm_can_show(request->question, err))
		return false;
	return call->agent->options.asks_together && call->round ? ask_together(request, err) :
	                                                           ask_in_turn(request, err);
}

bool agent_confirm_ask(void *data, const struct tool_question *question, struct err *err)
{
	struct call *call = data;
	struct confirm_request request = { .call = call, .agent = call->agent,
		                           .question = question };
	bool yes;

	call_scope_note(call, question->tool, question->arguments, question->plan);
	yes = confirm_settle(&request, err);
	/* What several people must approve is asked about again when one of them has changed it. */
	*question->again = yes && *question->modified && call->proposer;
	if (!*question->again)
		forget_quorum(call);
	if (yes && !*question->again)
		gate_about_to_run(call, question->tool, question->arguments);
	tool_change_release(&request.change);
	json_decref(request.message);
	return yes;
}
