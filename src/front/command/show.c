/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that show what there is: versions, tools, rules, figures, background commands. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "data/json.h"
#include "diff/diff.h"
#include "model/prices.h"
#include "sandbox/plan/plan.h"
#include "tool/services.h"
#include "tool/set.h"
#include "front/command/private.h"
#include "worker/job/job.h"
#include "worker/provider.h"

/* ---- memory ---------------------------------------------------------------------- */

static void memory_list(struct command_call *call)
{
	const json_t *files = host_facts(call->context->host).memory_files;
	size_t i;
	json_t *file;

	if (!json_array_size(files)) {
		command_say(call, STYLE(ROLE_TEXT), "There are no files of instructions "
		            "(GEMINI.md, AGENTS.md, CLAUDE.md and others). /init has the model "
		            "write one.");
		return;
	}
	command_heading(call, "Files of instructions");
	json_array_foreach((json_t *)files, i, file)
		command_text(call, STYLE(ROLE_TEXT), json_span(file));
}

void command_memory(struct command_call *call)
{
	struct host *host = call->context->host;
	struct span word = command_word(&call->arguments);
	struct err err = ERR_INIT;

	if (!word.len || command_word_is(word, "show")) {
		memory_list(call);
		command_text(call, STYLE(ROLE_DIM), host_facts(host).memory_global);
		command_text(call, STYLE(ROLE_DIM), host_facts(host).memory_project);
		call->result->pager = true;
	} else if (command_word_is(word, "list")) {
		memory_list(call);
	} else if (host_memory_reload(host, &err)) {
		memory_list(call);
	} else {
		command_fail(call, "%s", err.message);
	}
}

/* ---- hooks ------------------------------------------------------------- */

static const char *row_word(const json_t *row, const char *name)
{
	const char *text = json_string_value(json_object_get(row, name));

	return text ? text : "";
}

/* What a user calls it: its name, or its command where it has none. */
static const char *hook_known_as(const json_t *row)
{
	return *row_word(row, "name") ? row_word(row, "name") : row_word(row, "command");
}

static const char *hook_state(const json_t *row)
{
	return json_is_true(json_object_get(row, "enabled"))  ? "on" :
	       json_is_true(json_object_get(row, "trusted")) ? "disabled" : "not trusted";
}

static void put_hook(struct command_call *call, const json_t *row)
{
	const char *state = hook_state(row), *command = row_word(row, "command");
	const char *matcher = row_word(row, "matcher");
	_cleanup_free_ char *text = mem_printf("%s, %s%s%s, from %s", state, row_word(row, "event"),
	                                       *matcher ? " of " : "", matcher,
	                                       row_word(row, "source"));

	command_term(call, hook_known_as(row), 24, span_str(text),
	             STYLE(!strcmp(state, "on") ? ROLE_TEXT : ROLE_DIM));
	if (*command && strcmp(command, hook_known_as(row)) != 0)
		command_term(call, "", 24, span_str(command), STYLE(ROLE_DIM));
}

/* What is different of a file, {path, action, reason, diff?} (command_result). */
static json_t *hook_file_change(const json_t *row)
{
	const json_t *old = json_object_get(json_object_get(row, "before"), "text");
	const json_t *new = json_object_get(json_object_get(row, "now"), "text");
	_cleanup_buf_ struct buf diff = BUF_INIT(LIMIT_RESULT_BYTES);
	json_t *change = json_pack("{s:s, s:s}", "path", row_word(row, "file"), "action",
	                           row_word(row, "state"));

	if (*row_word(row, "why"))
		json_object_set_new(change, "reason", json_string(row_word(row, "why")));
	if (old && new && diff_print(&diff, row_word(row, "file"), json_span(old),
	                                     json_span(new)))
		json_object_set_new(change, "diff", json_text(buf_view(&diff)));
	else if (json_is_object(json_object_get(row, "before")) &&
	         json_is_object(json_object_get(row, "now")))
		json_object_set_new(change, "reason", json_string(
			"the difference cannot be shown: hasp keeps texts up to 64 KiB"));
	return change;
}

/* Of the files that commands outside of the sandbox name, those that are not as they were trusted:
 * said, and as changes to look at. */
static json_t *hook_file_changes(struct command_call *call, const json_t *held)
{
	json_t *changes = json_array();
	size_t i;
	json_t *row;

	json_array_foreach((json_t *)held, i, row) {
		const char *state = row_word(row, "state");

		if (!strcmp(state, "trusted"))
			continue;
		command_say(call, STYLE(ROLE_WARNING), "%s %s. Hooks and commands that name it do "
		            "not run until you trust it.", row_word(row, "file"),
		            hooks_held_sentence(state));
		json_array_append_new(changes, hook_file_change(row));
	}
	return changes;
}

/* Of what would be trusted, as it is now. */
static void trust_digest(const json_t *held, const json_t *untrusted,
                         char digest[static SHA256_HEX_SIZE])
{
	json_auto_t *all = json_pack("[O, O]", held, untrusted);
	_cleanup_free_ char *text = json_dumps(all, JSON_SORT_KEYS | JSON_COMPACT);
	struct sha256 sum = sha256_of(span_str(text ? text : ""));

	sha256_hex(&sum, digest);
}

static void offer_hooks_trust(struct command_call *call, const json_t *held,
                              const json_t *untrusted)
{
	char digest[SHA256_HEX_SIZE];

	if (!(call->context->can & 1u << COMMAND_CHOOSE)) {
		command_say(call, STYLE(ROLE_TEXT), "In a shell: hasp hooks trust");
		return;
	}
	trust_digest(held, untrusted, digest);
	command_choice(call, SPAN("Not now"), SPAN("they do not run"), mem_strdup(""), false);
	command_choice(call, SPAN("Trust them"), SPAN("as they are shown here"),
	               mem_printf("/hooks trust %s", digest), false);
	call->result->question = "Trust this project's hooks and the files that they name?";
	call->result->then = COMMAND_CHOOSE;
	call->result->shows_changes = true;
}

static void hooks_show(struct command_call *call)
{
	json_auto_t *rows = hooks_list(host_facts(call->context->host).hooks);
	json_auto_t *untrusted = hooks_untrusted(host_facts(call->context->host).hooks);
	json_auto_t *held = hooks_held(host_facts(call->context->host).hooks, NULL);
	size_t i;
	json_t *row;

	if (!json_array_size(rows))
		command_say(call, STYLE(ROLE_TEXT), "There are no hooks. /docs hooks says how to "
		            "add one.");
	json_array_foreach(rows, i, row)
		put_hook(call, row);
	if (json_array_size(untrusted))
		command_say(call, STYLE(ROLE_WARNING),
		            "Hooks of this project run once you trust them: /hooks trust");
	json_decref(call->result->changes);
	call->result->changes = hook_file_changes(call, held);
	if (json_array_size(untrusted) || json_array_size(call->result->changes))
		offer_hooks_trust(call, held, untrusted);
}

/* What was shown and chosen, and nothing that has taken its place since. */
static void trust_shown(struct command_call *call, struct span shown)
{
	struct host *host = call->context->host;
	json_auto_t *held = hooks_held(host_facts(host).hooks, NULL);
	json_auto_t *untrusted = hooks_untrusted(host_facts(host).hooks);
	char digest[SHA256_HEX_SIZE];
	struct err err = ERR_INIT;

	trust_digest(held, untrusted, digest);
	if (!span_eq(shown, span_str(digest)))
		command_fail(call, "The hooks, or files that they name, have changed since they "
		                   "were shown. /hooks shows them again.");
	else if (call->context->busy)
		command_fail(call, "/hooks trust has to wait until hasp is done.");
	else if (!host_hooks_trust(host, held, &err))
		command_fail(call, "%s", err.message);
	else
		command_say(call, STYLE(ROLE_TEXT), "Trusted. These files are compared before "
		                                    "each run.");
}

/* Whether there is a hook of this name. */
static bool hook_is_known(struct host *host, const char *name)
{
	json_auto_t *rows = hooks_list(host_facts(host).hooks);
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
		if (!strcmp(hook_known_as(row), name))
			return true;
	return false;
}

void command_hooks(struct command_call *call)
{
	struct host *host = call->context->host;
	const struct span word = command_word(&call->arguments);
	const bool enable = command_word_is(word, "enable");
	_cleanup_free_ char *name = mem_dup(call->arguments.data, call->arguments.len);
	struct err err = ERR_INIT;

	if (command_word_is(word, "trust") && *name)
		trust_shown(call, span_str(name));
	else if (!*name)
		hooks_show(call);
	else if (!hook_is_known(host, name))
		command_fail(call, "There is no hook \"%s\". /hooks lists them.", name);
	else if (call->context->busy)
		command_fail(call, "/hooks %s has to wait until hasp is done.",
		             enable ? "enable" : "disable");
	else if (!host_hook_switch(host, name, enable, &err))
		command_fail(call, "%s", err.message);
	else
		command_say(call, STYLE(ROLE_TEXT), "The hook \"%s\" is %s.", name,
		            enable ? "enabled" : "disabled");
}

void command_complete_hooks(struct command_completion *completion)
{
	json_auto_t *rows = hooks_list(host_facts(completion->context->host).hooks);
	const bool enable = command_word_is(completion->before, "enable");
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
		if (enable == !strcmp(hook_state(row), "disabled"))
			completion->add(completion, hook_known_as(row), row_word(row, "event"));
}

/* ---- stats ----------------------------------------------------------------------- */

static void put_count(struct command_call *call, const char *name, const json_t *object,
                      const char *member)
{
	char text[64];

	snprintf(text, sizeof(text), "%lld",
	         (long long)json_integer_value(json_object_get(object, member)));
	command_term(call, name, 22, span_str(text), STYLE(ROLE_TEXT));
}

static void put_cost(struct command_call *call, const char *model, const json_t *used)
{
	json_auto_t *tokens = json_pack(
		"{s:O, s:O, s:O, s:O, s:O}", "input", json_object_get(used, "prompt"), "cached",
		json_object_get(used, "cached"), "output", json_object_get(used, "candidates"),
		"thoughts", json_object_get(used, "thoughts"), "tool",
		json_object_get(used, "tool"));
	const json_t *prices = settings_get(call->context->settings, "hasp.prices");
	json_int_t cost;
	char text[32];

	if (!prices_count(prices, model, tokens, &cost))
		return;
	prices_print(cost, text, sizeof(text));
	command_term(call, "cost", 22, span_str(text), STYLE(ROLE_TEXT));
}

static void stats_models(struct command_call *call, const json_t *stats)
{
	const char *name;
	json_t *model;

	json_object_foreach(json_object_get(stats, "models"), name, model) {
		const json_t *api = json_object_get(model, "api");
		const json_t *tokens = json_object_get(model, "tokens");

		command_heading(call, name);
		put_count(call, "requests", api, "totalRequests");
		put_count(call, "requests that failed", api, "totalErrors");
		put_count(call, "time (ms)", api, "totalLatencyMs");
		put_count(call, "tokens in", tokens, "prompt");
		put_count(call, "  from the cache", tokens, "cached");
		put_count(call, "tokens out", tokens, "candidates");
		put_count(call, "  of thinking", tokens, "thoughts");
		put_cost(call, name, tokens);
	}
	if (!json_object_size(json_object_get(stats, "models")))
		command_say(call, STYLE(ROLE_TEXT), "No model was asked yet.");
}

static void stats_tools(struct command_call *call, const json_t *stats)
{
	const json_t *tools = json_object_get(stats, "tools");
	const char *name;
	json_t *tool;

	command_heading(call, "Calls of tools");
	put_count(call, "all", tools, "totalCalls");
	put_count(call, "that failed", tools, "totalFail");
	json_object_foreach(json_object_get(tools, "byName"), name, tool) {
		_cleanup_free_ char *text = mem_printf(
			"%lld, %lld failed, %lld declined, %lld ms",
			(long long)json_integer_value(json_object_get(tool, "count")),
			(long long)json_integer_value(json_object_get(tool, "fail")),
			(long long)(json_integer_value(json_object_get(tool, "count")) -
			            json_integer_value(json_object_get(tool, "success")) -
			            json_integer_value(json_object_get(tool, "fail"))),
			(long long)json_integer_value(json_object_get(tool, "durationMs")));

		command_term(call, name, 22, span_str(text), STYLE(ROLE_TEXT));
	}
}

/* By model and dialect, with the code that refusals had most often. */
static void stats_edits(struct command_call *call, const json_t *stats)
{
	const char *model, *dialect, *code, *most;
	json_t *dialects, *row, *count;

	json_object_foreach(json_object_get(stats, "edits"), model, dialects) {
		_cleanup_free_ char *title = mem_printf("Edits of %s", model);

		command_heading(call, title);
		json_object_foreach(dialects, dialect, row) {
			const json_t *codes = json_object_get(row, "codes");
			_cleanup_free_ char *text = NULL;
			json_int_t times = 0;

			most = NULL;
			json_object_foreach((json_t *)codes, code, count)
				if (json_integer_value(count) > times) {
					times = json_integer_value(count);
					most = code;
				}
			text = mem_printf("%lld right, %lld repaired, %lld refused%s%s%s",
			                  json_integer_value(json_object_get(row, "right")),
			                  json_integer_value(json_object_get(row, "repaired")),
			                  json_integer_value(json_object_get(row, "refused")),
			                  most ? " (most often " : "", most ? most : "",
			                  most ? ")" : "");
			command_term(call, dialect, 22, span_str(text), STYLE(ROLE_TEXT));
		}
	}
}

static void stats_session(struct command_call *call, const json_t *stats)
{
	const json_t *files = json_object_get(stats, "files");
	const json_t *cached = json_object_get(stats, "cached");

	command_heading(call, "This session");
	command_term(call, "id", 22, span_str(host_facts(call->context->host).session_id),
	             STYLE(ROLE_TEXT));
	put_count(call, "lines added", files, "totalLinesAdded");
	put_count(call, "lines removed", files, "totalLinesRemoved");
	if (cached) {
		_cleanup_free_ char *share = mem_printf(
			"%.1f %%", 100 * json_number_value(json_object_get(cached, "share")));

		command_term(call, "sent unchanged", 22, span_str(share), STYLE(ROLE_TEXT));
	}
	stats_models(call, stats);
	stats_tools(call, stats);
	stats_edits(call, stats);
}

void command_stats(struct command_call *call)
{
	json_auto_t *stats = agent_stats(host_facts(call->context->host).agent);
	struct span word = command_word(&call->arguments);

	if (!word.len || command_word_is(word, "session"))
		stats_session(call, stats);
	else if (command_word_is(word, "model"))
		stats_models(call, stats);
	else {
		stats_tools(call, stats);
		stats_edits(call, stats);
	}
}

/* ---- tools, todos ---------------------------------------------------------------- */

void command_tools(struct command_call *call)
{
	const struct session *session = host_facts(call->context->host).session;
	struct span word = command_word(&call->arguments);
	const bool describe = command_word_is(word, "desc");
	const struct tool *tool;

	for (size_t i = 0; (tool = tool_set_at(session->tools, i)); i++) {
		command_term(call, tool->name, 24, span_str(tool->title ? tool->title : ""),
		             STYLE(ROLE_TEXT));
		if (describe)
			command_text(call, STYLE(ROLE_DIM), span_str(tool->description));
	}
	call->result->pager = describe;
}

static const char *todo_mark(const char *status)
{
	return !strcmp(status, "completed")   ? "[x]" :
	       !strcmp(status, "in_progress") ? "[>]" :
	       !strcmp(status, "cancelled")   ? "[-]" :
	       !strcmp(status, "blocked")     ? "[!]" : "[ ]";
}

void command_todos(struct command_call *call)
{
	const struct session *session = host_facts(call->context->host).session;
	json_auto_t *todos = services_todos(session->services);
	size_t i;
	json_t *todo;

	if (!json_array_size(todos))
		command_say(call, STYLE(ROLE_TEXT), "The model has written no list of steps.");
	json_array_foreach(todos, i, todo) {
		const char *status = row_word(todo, "status");

		command_term(call, todo_mark(status), 3,
		             json_span(json_object_get(todo, "description")),
		             STYLE(!strcmp(status, "completed") ? ROLE_DIM : ROLE_TEXT));
	}
}

/* ---- background commands --------------------------------------------------------- */

enum { TASK_LINES = 200 };

size_t command_jobs_running(struct command_call *call)
{
	struct host *host = call->context->host;
	struct job_info *infos;
	const size_t count = host ? jobs_list(host_facts(host).session->jobs, &infos) : 0;
	size_t running = 0;

	for (size_t i = 0; i < count; i++)
		running += infos[i].state != JOB_ENDED;
	if (host)
		job_infos_free(infos, count);
	return running;
}

static void tasks_list(struct command_call *call, struct jobs *jobs)
{
	struct job_info *infos;
	const size_t count = jobs_list(jobs, &infos);

	if (!count)
		command_say(call, STYLE(ROLE_TEXT), "No command is in the background.");
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *name = mem_printf("%u %s", infos[i].id,
		                                       job_state_name(infos[i].state));
		_cleanup_free_ char *line = mem_printf("/tasks %u", infos[i].id);

		command_term(call, name, 16, span_str(infos[i].command),
		             STYLE(infos[i].state == JOB_ENDED ? ROLE_DIM : ROLE_TEXT));
		command_choice(call, span_str(infos[i].command), span_str(name), mem_steal(&line),
		               false);
	}
	job_infos_free(infos, count);
	if (count && call->context->can & 1u << COMMAND_CHOOSE)
		call->result->then = COMMAND_CHOOSE;
}

static void task_show(struct command_call *call, struct job *job)
{
	struct capture_part part;
	struct err err = ERR_INIT;

	if (!job_last(job, TASK_LINES, &part, &err)) {
		command_fail(call, "%s", err.message);
		return;
	}
	command_text(call, STYLE(ROLE_TEXT), buf_view(&part.text));
	buf_release(&part.text);
	call->result->pager = true;
}

void command_tasks(struct command_call *call)
{
	struct jobs *jobs = host_facts(call->context->host).session->jobs;
	struct span word = command_word(&call->arguments);
	const bool end = command_word_is(word, "end") || command_word_is(word, "kill");
	_cleanup_free_ char *id = NULL;
	struct job *job;

	if (!word.len || command_word_is(word, "list")) {
		tasks_list(call, jobs);
		return;
	}
	if (end)
		word = command_word(&call->arguments);
	id = mem_dup(word.data, word.len);
	job = jobs_find(jobs, (unsigned)strtoul(id, NULL, 10));
	if (!job) {
		command_fail(call, "No command in the background has the number \"%s\".", id);
		return;
	}
	if (end) {
		job_kill(job);
		command_say(call, STYLE(ROLE_TEXT), "Ended %s.", id);
	} else {
		task_show(call, job);
	}
	job_release(job);
}

void command_complete_tasks(struct command_completion *completion)
{
	struct jobs *jobs = host_facts(completion->context->host).session->jobs;
	struct job_info *infos;
	const size_t count = jobs_list(jobs, &infos);

	for (size_t i = 0; i < count; i++) {
		char id[16];

		snprintf(id, sizeof(id), "%u", infos[i].id);
		completion->add(completion, id, infos[i].command);
	}
	job_infos_free(infos, count);
}
