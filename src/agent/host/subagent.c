/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a sub-agent: its model, tools, conversation and record, its limits, and its result for
 * the call.
 *
 * It runs on the thread of the call and ends with it. Cancelling the session's work ends it; its
 * own time limit ends it alone. At a limit it is asked for a report, without calls, and has a
 * minute for it.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/call/calls.h"
#include "agent/context/surroundings.h"
#include "agent/host/private.h"
#include "agent/host/subagents.h"
#include "agent/private.h"
#include "agent/prompt/prompt.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/extensions.h"
#include "config/servers.h"
#include "data/json.h"
#include "mcp/servers/servers.h"
#include "model/content.h"
#include "tool/set.h"

enum { REPORT_MS = 60000 };

struct subagent {
	struct host *host;
	const struct agent_definition *definition;
	struct model *model;             /* that it asks */
	struct model *opened;            /* owned; the same, where it is its own; or NULL */
	struct model_choice choice;      /* of a model that the definition names */
	struct model_parameters parameters;
	struct cancel cancel;            /* follows the host's */
	bool can_cancel, is_replaying;
	struct mcp_servers *servers;     /* owned; its own; NULL: it has none */
	struct tool_set *tools;          /* owned */
	struct session session;
	struct record *record;           /* owned; or NULL */
	json_t *context;                 /* owned; the first message */
	char *system;                    /* owned */
	struct agent *agent;             /* owned */
	struct isolation *isolation;     /* owned; NULL: it works in the session's workspace */
};

/* ---- a limit of time --------------------------------------------------------------- */

struct deadline {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct cancel *cancel;
	uint64_t at_ms;
	bool started, over, reached;
};

static void *deadline_wait(void *data)
{
	struct deadline *deadline = data;
	const struct timespec until = { .tv_sec = (time_t)(deadline->at_ms / 1000),
		                        .tv_nsec = (long)(deadline->at_ms % 1000) * 1000000 };

	pthread_mutex_lock(&deadline->lock);
	while (!deadline->over && clock_monotonic_ms() < deadline->at_ms)
		pthread_cond_clockwait(&deadline->changed, &deadline->lock, CLOCK_MONOTONIC,
		                       &until);
	deadline->reached = !deadline->over;
	pthread_mutex_unlock(&deadline->lock);
	if (deadline->reached)
		cancel_set(deadline->cancel);
	return NULL;
}

/* False: no thread can be started, and so there would be no limit. */
static bool deadline_begin(struct deadline *deadline, struct cancel *cancel, unsigned ms)
{
	*deadline = (struct deadline){ .cancel = cancel, .at_ms = clock_monotonic_ms() + ms };
	pthread_mutex_init(&deadline->lock, NULL);
	pthread_cond_init(&deadline->changed, NULL);
	deadline->started = pthread_create(&deadline->thread, NULL, deadline_wait, deadline) == 0;
	return deadline->started;
}

/* Whether it was reached. */
static bool deadline_end(struct deadline *deadline)
{
	pthread_mutex_lock(&deadline->lock);
	deadline->over = true;
	pthread_cond_signal(&deadline->changed);
	pthread_mutex_unlock(&deadline->lock);
	if (deadline->started)
		pthread_join(deadline->thread, NULL);
	pthread_cond_destroy(&deadline->changed);
	pthread_mutex_destroy(&deadline->lock);
	return deadline->reached;
}

/* ---- what it works with ------------------------------------------------------------ */

/* A model answers one request at a time, so each has its own; but recorded answers are one row. */
static bool subagent_open_model(struct subagent *own, struct err *err)
{
	struct host *host = own->host;
	const char *words = own->definition->model;
	const struct model_options *options = &host->choice.options;

	own->parameters = host->choice.parameters;
	own->is_replaying = strcmp(options->provider, "replay") == 0;
	if (own->is_replaying) {
		pthread_mutex_lock(&host->replaying);
		own->model = host->model;
	} else if (words) {
		if (!model_choose(host->options.settings, words, &own->choice, err))
			return false;
		own->choice.options.recording = host->recording;
		own->choice.options.trace = host->options.trace;
		own->choice.options.trace_data = host->options.data;
		own->parameters = own->choice.parameters;
		options = &own->choice.options;
	}
	if (!own->model && !model_open(options, &own->opened, err))
		return false;
	own->model = own->model ? own->model : own->opened;
	if (own->definition->temperature >= 0)
		own->parameters.temperature = own->definition->temperature;
	return true;
}

/* Those of the conversation with the user, and what would make agents of agents. */
static bool is_of_the_user(const struct tool *tool)
{
	return tool_kind_of(tool) == TOOL_KIND_AGENT || (tool->info && tool->info->user_only);
}

/* As tool_set_choose has it. */
static bool subagent_has_tool(void *data, const struct tool *tool)
{
	const struct subagent *own = data;

	return !is_of_the_user(tool) && agent_definition_requires(own->definition, tool->name);
}

static bool subagent_refuses(void *data, const struct tool *tool)
{
	const struct subagent *own = data;

	return agent_definition_refuses(own->definition, tool->name);
}

/* The agent works without servers that failed; warn the user. */
static void tell_failed_servers(const struct subagent *own)
{
	json_auto_t *rows = mcp_servers_list(own->servers);
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) {
		_cleanup_free_ char *text = NULL;

		if (!span_eq(json_span(json_object_get(row, "state")), SPAN("failed")))
			continue;
		text = mem_printf("The agent %s works without its MCP server \"%s\": %.600s",
		                  own->definition->name,
		                  json_string_value(json_object_get(row, "name")),
		                  json_string_value(json_object_get(row, "problem")));
		host_warn(own->host, text);
	}
}

/* Starts the agent's servers and waits until each is ready or has failed. The user was asked
 * before. */
static bool subagent_open_servers(struct subagent *own, struct err *err)
{
	const struct agent_definition *definition = own->definition;
	const struct settings *settings = own->host->servers_settings;
	json_auto_t *warnings = json_array(), *rows = NULL;

	if (!definition->servers)
		return true;
	rows = servers_of_agent(settings ? settings : own->host->options.settings,
	                        definition->servers, definition->file,
	                        definition->from != AGENTS_PROJECT, warnings);
	host_warn_all(own->host, warnings);
	own->servers = host_servers_open(own->host, rows);
	mcp_servers_wait(own->servers, &own->cancel);
	tell_failed_servers(own);
	return !cancelled(&own->cancel) ||
	       err_set(err, ERR_CANCELLED, "The call was cancelled.");
}

/* The tools of the agent's servers are always added to its list. */
static void subagent_add_servers(struct subagent *own)
{
	json_auto_t *excluded = extensions_excluded_tools(own->host->options.settings);

	tool_set_limit(own->tools, NULL, excluded);
	mcp_servers_add(own->servers, own->tools);
	tool_set_withdraw(own->tools, subagent_refuses, own);
	host_defer_tools(own->host, own->tools);
}

static void subagent_open_session(struct subagent *own)
{
	const struct session *session = &own->host->chat.session;

	own->tools = tool_set_choose(own->host->chat.tools, subagent_has_tool, own);
	if (host_lists_documents(own->definition))
		host_add_documents_tool(own->host, own->tools);
	if (own->servers)
		subagent_add_servers(own);
	session_branch(&own->session, session);
	own->session.tools = own->tools;
	own->session.terminal = NULL; /* its commands are none that the user types into */
	if (own->isolation)
		isolation_attach(own->isolation, &own->session);
}

static void subagent_trouble(void *data, const struct err *err)
{
	host_warn(data, err->message);
}

static void subagent_open_record(struct subagent *own)
{
	const struct record_options options = {
		.home = own->host->home,
		.agent_of = record_session_id(own->host->chat.record),
		.trouble = subagent_trouble,
		.data = own->host,
	};
	struct err err = ERR_INIT;

	if (!record_open(&options, &own->record, &err))
		host_warn(own->host, err.message);
}

static bool subagent_announces(void *data, const struct tool *tool)
{
	(void)data;
	(void)tool;
	return true;
}

/* Builds the start of its conversation: its instructions, the working directory, and the project's
 * instructions. */
static void subagent_open_prompt(struct subagent *own)
{
	struct host *host = own->host;
	struct prompt_options options = host_prompt_options(host);
	json_auto_t *around = host_surroundings(host, agent_mode(host->chat.agent));
	_cleanup_free_ char *tools = tool_set_announce(own->tools, subagent_announces, NULL);

	surroundings_set(json_object_get(around, "context"), PIECE_TOOLS,
	                 span_str(tools ? tools : ""));
	if (own->servers) {
		_cleanup_free_ char *session = mcp_servers_instructions(host->servers);
		_cleanup_free_ char *said = mcp_servers_instructions(own->servers);
		_cleanup_free_ char *both = mem_printf("%s%s", session, said);

		surroundings_set(json_object_get(around, "context"), PIECE_SERVERS,
		                 span_str(both));
	}
	if (own->isolation) {
		_cleanup_free_ char *words = isolation_words(own->isolation);

		surroundings_set(json_object_get(around, "context"), PIECE_FOLDERS,
		                 span_str(words));
	}
	own->context = surroundings_message(around);
	options.tools = own->tools;
	options.model = model_id(own->model);
	own->system = prompt_agent_text(&options, own->definition->prompt);
}

/* As its parent is, but for what is its own. */
static void subagent_open_agent(struct subagent *own, const char *call)
{
	struct agent *parent = own->host->chat.agent;
	struct agent_options options = parent->options;

	options.name = own->definition->name;
	options.parent = parent;
	options.parent_call = call ? call : "";
	options.model = own->model;
	options.parameters = &own->parameters;
	options.session = &own->session;
	options.record = own->record;
	options.session_id = own->record ? record_session_id(own->record) : options.session_id;
	options.surroundings = NULL;
	options.sent = options.history = NULL;
	options.first_prompt = NULL;
	options.context_for = NULL;
	options.context_lost = NULL;
	options.steer_message = NULL;
	if (own->isolation)
		options.before_edit = NULL; /* git has its files as they were */
	options.system = span_str(own->system);
	options.context = own->context;
	options.max_turns = own->definition->max_turns;
	options.cancel = &own->cancel;
	own->agent = agent_new(&options);
}

static bool subagent_open(struct subagent *own, const char *call, struct err *err)
{
	own->can_cancel = cancel_init(&own->cancel, err);
	if (!own->can_cancel || !cancel_follow(&own->cancel, &own->host->cancel, err) ||
	    !subagent_open_servers(own, err) || !subagent_open_model(own, err))
		return false;
	if (own->definition->isolated &&
	    !isolation_open(own->host, own->definition->name, &own->cancel, &own->isolation, err))
		return false;
	subagent_open_session(own);
	subagent_open_record(own);
	subagent_open_prompt(own);
	subagent_open_agent(own, call);
	return true;
}

static void subagent_close(struct subagent *own)
{
	agent_free(own->agent);
	record_close(own->record);
	if (own->session.shared)
		session_release(&own->session);
	tool_set_free(own->tools);
	mcp_servers_close(own->servers);
	json_decref(own->context);
	free(own->system);
	model_free(own->opened);
	if (own->choice.store)
		model_choice_release(&own->choice);
	if (own->is_replaying)
		pthread_mutex_unlock(&own->host->replaying);
	if (own->can_cancel) {
		cancel_unfollow(&own->cancel);
		cancel_release(&own->cancel);
	}
}

/* ---- its work ---------------------------------------------------------------------- */

/* How it ended, and what it said. */
struct subagent_end {
	enum agent_end end;
	bool timed_out;
	struct agent_outcome outcome;
	unsigned turns;
	struct err err;
};

/* "30 turns", "10 minutes". */
static char *limit_words(const struct subagent *own, bool time)
{
	const unsigned ms = own->definition->timeout_ms, turns = own->definition->max_turns;

	if (!time)
		return mem_printf("%u turn%s", turns, turns == 1 ? "" : "s");
	if (ms < 60000)
		return mem_printf("%.3g seconds", ms / 1000.0);
	return mem_printf("%.3g minute%s", ms / 60000.0, ms == 60000 ? "" : "s");
}

/* What it says now takes the place of what it said last. */
static void subagent_conclude(struct subagent *own, struct subagent_end *end)
{
	_cleanup_free_ char *limit = limit_words(own, end->timed_out);
	_cleanup_free_ char *text = mem_printf(
		"You have reached your limit of %s, and can make no more calls. Report now what "
		"you have found and done, and what is not done.", limit);
	struct agent_outcome report;
	struct deadline deadline;
	struct err ignored = ERR_INIT;

	cancel_reset(&own->cancel);
	if (cancelled(&own->cancel))
		return;
	if (deadline_begin(&deadline, &own->cancel, REPORT_MS)) {
		agent_conclude(own->agent, text, &report, &ignored);
		end->turns += report.turns;
		if (report.end == AGENT_ANSWERED) {
			free(end->outcome.text);
			end->outcome.text = mem_steal(&report.text);
		}
		agent_outcome_release(&report);
	}
	deadline_end(&deadline);
}

static void subagent_work(struct subagent *own, const char *task, struct subagent_end *end)
{
	json_auto_t *said = content_user_text(span_str(task)), *content = NULL;
	struct deadline deadline;

	content = json_show_unseen(said, NULL);
	if (!deadline_begin(&deadline, &own->cancel, own->definition->timeout_ms)) {
		err_set(&end->err, ERR_NO_RESOURCES, "No thread can be started for the agent.");
		end->end = AGENT_FAILED;
	} else {
		agent_prompt(own->agent, content, &end->outcome, &end->err);
		end->end = end->outcome.end;
		end->turns = end->outcome.turns;
	}
	end->timed_out = deadline_end(&deadline) && end->end == AGENT_CANCELLED &&
	                 !cancelled(&own->host->cancel);
	if (end->timed_out || end->end == AGENT_TURN_LIMIT)
		subagent_conclude(own, end);
}

/* ---- what comes of it -------------------------------------------------------------- */

static void limit_error(const struct subagent *own, bool time, struct err *err)
{
	_cleanup_free_ char *limit = limit_words(own, time);

	err_set(err, ERR_LIMIT_REACHED, "The agent %s reached its limit of %s before it was done. "
	        "What it reports in \"output\" is what it has so far.", own->definition->name,
	        limit);
}

/* False: it has answered. */
static bool end_error(const struct subagent *own, const struct subagent_end *end, struct err *err)
{
	const char *name = own->definition->name;
	const char *reason = end->outcome.reason;

	switch (end->end) {
	case AGENT_ANSWERED:
		return false;
	case AGENT_TURN_LIMIT:
		limit_error(own, false, err);
		break;
	case AGENT_CANCELLED:
		if (end->timed_out)
			limit_error(own, true, err);
		else if (cancelled(&own->host->cancel))
			err_set(err, ERR_CANCELLED, "The call was cancelled; what the agent %s had "
			        "done stays done.", name);
		else
			err_set(err, ERR_DENIED_BY_USER, "The agent %s stopped. %s", name,
			        reason ? reason : "The user declined its call.");
		break;
	case AGENT_LOOP:
		err_set(err, ERR_TOOL_FAILED, "The agent %s went in circles and was stopped. %s",
		        name, reason ? reason : "");
		break;
	case AGENT_HOOK_STOPPED:
		err_set(err, ERR_DENIED_BY_POLICY, "A hook stopped the agent %s. %s", name,
		        reason ? reason : "");
		break;
	case AGENT_FAILED:
	case AGENT_FATAL_TOOL:
		err_set(err, end->err.code ? end->err.code : ERR_TOOL_FAILED,
		        "The agent %s failed: %s", name,
		        end->err.code ? end->err.message : "no reason is known.");
		break;
	}
	return true;
}

static const char *subagent_end_word(const struct subagent_end *end)
{
	return end->timed_out ? "time_limit" : agent_end_name(end->end);
}

static json_t *subagent_result(const struct subagent *own, const struct subagent_end *end)
{
	const struct span text = utf8_head(span_str(end->outcome.text ? end->outcome.text : ""),
	                                   LIMIT_AGENT_ANSWER);
	struct err err = ERR_INIT;
	json_t *result = end_error(own, end, &err) ? tool_failure(&err) :
	                                             json_pack("{s:b}", "success", 1);

	json_object_set_new(result, "agent", json_cstr(own->definition->name));
	json_object_set_new(result, "end", json_string(subagent_end_word(end)));
	json_object_set_new(result, "turns", json_integer(end->turns));
	json_object_set_new(result, "calls", json_integer(agent_calls(own->agent)));
	if (text.len)
		json_object_set_new(result, "output", json_text(text));
	return result;
}

static json_t *subagent_failure(const struct subagent *own, const struct err *err)
{
	json_t *result;
	struct err said = ERR_INIT;

	err_set(&said, err->code, "The agent %s cannot begin: %s", own->definition->name,
	        err->message);
	result = tool_failure(&said);
	json_object_set_new(result, "agent", json_cstr(own->definition->name));
	return result;
}

void host_report_run(const struct host *host, struct agent_run *run)
{
	json_auto_t *message = json_pack("{s:s, s:s, s:s, s:s}", "agentName", run->agent, "callId",
	                                 run->call ? run->call : "", "agentId",
	                                 run->id ? run->id : "", "state",
	                                 run->end ? "ended" : "started");

	if (!run->end) {
		run->began_ms = clock_monotonic_ms();
	} else {
		json_object_set_new(message, "durationMs", json_integer((json_int_t)
			(clock_monotonic_ms() - run->began_ms)));
		json_object_set_new(message, "turns", json_integer(run->turns));
		json_object_set_new(message, "end", json_string(run->end));
	}
	bus_publish(host->bus, BUS_AGENT_RUN, message);
}

json_t *host_run_subagent(struct host *host, const struct agent_definition *definition,
                          const char *task, const char *call)
{
	struct subagent own = { .host = host, .definition = definition };
	struct subagent_end end = { .err = ERR_INIT };
	struct agent_run run = { .agent = definition->name, .call = call };
	struct isolation *isolation;
	struct err err = ERR_INIT;
	json_t *result;

	if (subagent_open(&own, call, &err)) {
		run.id = own.record ? record_session_id(own.record) : NULL;
		host_report_run(host, &run);
		subagent_work(&own, task, &end);
		run.end = subagent_end_word(&end);
		run.turns = end.turns;
		host_report_run(host, &run);
		missing_pass_on(own.agent);
		result = subagent_result(&own, &end);
		agent_outcome_release(&end.outcome);
	} else {
		result = subagent_failure(&own, &err);
	}
	isolation = mem_steal(&own.isolation);
	subagent_close(&own);
	isolation_close(isolation, result);
	return result;
}
