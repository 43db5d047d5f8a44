/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP routes of Gemini CLI's server, which are no part of A2A: tasks before their first
 * message, what a task works with, and its commands.
 *
 *     POST /tasks {contextId?, agentSettings?}     201 "ID"
 *     GET /tasks/metadata                          200 [{id, contextId, taskState, model,
 *                                                  mcpServers, availableTools}], 204: none
 *     GET /tasks/ID/metadata                       200 {"metadata": {...}}
 *     GET /listCommands                            200 {"commands": [{name, description, arguments,
 *                                                  subCommands}]}
 *     POST /executeCommand {command, args?}        200 {"name", "data"}; init: an event stream
 *
 * What a command needs of a session it gets from one that is opened for it, on a thread of the
 * pool, in the caller's name: a caller's commands obey the rules of its tasks.  They work in the
 * first workspace that the caller may use.
 *
 * To add a command: a row below, and one in docs/a2a.md. */
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/gemini.h"
#include "a2a/serve/tasks.h"
#include "a2a/serve/wire.h"
#include "agent/checkpoint/checkpoint.h"
#include "agent/session/record.h"
#include "base/buf.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/tools.h"
#include "front/command/command.h"
#include "front/session.h"
#include "policy/policy.h"
#include "tool/set.h"
#include "tool/tool.h"

enum { TASKS_LISTED = 1000 }; /* by /tasks/metadata: the last that changed */

struct gemini_job;
/* On a thread of the pool: answers, with an open session where the row says so. */
typedef void gemini_handler(struct gemini_job *job);

struct gemini_command {
	const char *name, *about;
	gemini_handler *run;
	const char *parent;   /* listed beneath it; NULL: at the top; "": not listed */
	const char *argument, *argument_about; /* or NULL */
	bool streams;         /* its result is the prompt of a task, whose events are the answer */
	const char *stands_for; /* the command that it is the short form of; or NULL */
};

/* A request whose answer needs a session. */
struct gemini_job {
	struct a2a_held held;         /* the first member */
	struct loop_job job;
	struct a2a_server *server;
	struct a2a_caller *caller;    /* a reference */
	struct http_request *request; /* NULL: its client has left */
	const struct gemini_command *command; /* NULL: `tasks` */
	gemini_handler *run;
	char *argument;               /* owned */
	const char *folder;
	struct front_session *session; /* while `run` runs */
	json_t *tasks;                /* what is known of tasks without a session */
	bool one_task;                /* it is about one alone */
	unsigned status;
	json_t *answer;               /* the body; of a command that streams the prompt's text */
};

/* ---- answers --------------------------------------------------------------------- */

static void gemini_answer(struct http_request *request, unsigned status, json_t *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

	if (value)
		json_print(&text, value, 0);
	http_answer(request, status, value ? "application/json" : NULL, value ? &text : NULL);
	json_decref(value);
}

static void gemini_refuse(struct http_request *request, unsigned status, const char *sentence)
{
	gemini_answer(request, status, json_pack("{s:o}", "error", json_text(span_str(sentence))));
}

/* The job's answer is that it failed. */
static void gemini_job_fail(struct gemini_job *job, const char *sentence)
{
	job->status = 500;
	json_decref(job->answer);
	job->answer = json_pack("{s:o}", "error", json_text(span_str(sentence)));
}

/* A command's answer; takes `data`. */
static void gemini_job_answer(struct gemini_job *job, json_t *data)
{
	json_decref(job->answer);
	job->answer = json_pack("{s:s, s:o}", "name", job->command->stands_for ?
	                        job->command->stands_for : job->command->name, "data", data);
}

/* As Gemini CLI's server has it of /restore; takes `content`. */
static json_t *restore_message(const char *type, json_t *content)
{
	return json_pack("{s:s, s:s, s:o}", "type", "message", "messageType", type, "content",
	                 content);
}

/* ---- commands: on a thread of the pool ------------------------------------------- */

static struct host_facts gemini_job_facts(const struct gemini_job *job)
{
	return host_facts(session_host(job->session));
}

static void run_memory_list(struct gemini_job *job)
{
	const json_t *files = gemini_job_facts(job).memory_files;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	json_t *file;
	size_t i;

	buf_printf(&out, "%zu file%s of instructions%s", json_array_size(files),
	           json_array_size(files) == 1 ? "" : "s", json_array_size(files) ? ":" : ".");
	json_array_foreach((json_t *)files, i, file)
		buf_printf(&out, "\n%s", json_string_value(file));
	gemini_job_answer(job, json_text(buf_view(&out)));
}

/* The user's own instructions are shown to those alone who answer in the user's place. */
static void run_memory_show(struct gemini_job *job)
{
	const struct host_facts facts = gemini_job_facts(job);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	if (job->caller->confirms)
		buf_span(&out, facts.memory_global);
	if (out.len && facts.memory_project.len)
		buf_str(&out, "\n");
	buf_span(&out, facts.memory_project);
	if (!out.len)
		buf_str(&out, "There are no instructions.");
	gemini_job_answer(job, json_text(buf_view(&out)));
}

/* Its own session has just read them; those of contexts read them when they are opened. */
static void run_memory_refresh(struct gemini_job *job)
{
	struct err err = ERR_INIT;

	if (host_memory_reload(session_host(job->session), &err))
		run_memory_list(job);
	else
		gemini_job_fail(job, err.message);
}

static void run_memory_add(struct gemini_job *job)
{
	json_auto_t *arguments = json_pack("{s:o}", "fact", json_text(span_str(job->argument)));
	json_auto_t *result = NULL;
	const json_t *said;

	if (!*job->argument) {
		gemini_job_answer(job, json_string("Say what to remember: {\"args\": [\"...\"]}."));
		return;
	}
	result = host_call(session_host(job->session), tool_name(TOOL_SAVE_MEMORY), arguments);
	said = json_object_get(json_object_get(result, "error"), "message");
	if (!said)
		said = json_object_get(result, "message");
	gemini_job_answer(job, json_is_string(said) ? json_incref((json_t *)said) :
	                                              json_string(""));
}

static void run_extensions(struct gemini_job *job)
{
	json_auto_t *all = host_extensions(session_host(job->session));
	json_t *list = json_array(), *one;
	size_t i;

	json_array_foreach(json_object_get(all, "extensions"), i, one)
		json_array_append_new(list, json_pack("{s:O*, s:O*, s:O*}",
		                                      "name", json_object_get(one, "name"),
		                                      "version", json_object_get(one, "version"),
		                                      "isActive", json_object_get(one, "used")));
	if (!json_array_size(list)) {
		json_decref(list);
		list = json_string("No extensions installed.");
	}
	gemini_job_answer(job, list);
}

/* ---- restore */

static struct checkpoints *gemini_job_checkpoints(struct gemini_job *job)
{
	const struct checkpoints_options options = {
		.provider = session_provider(job->session), .home = gemini_job_facts(job).home,
	};

	return checkpoints_open(&options);
}

static void run_restore_list(struct gemini_job *job)
{
	struct checkpoints *checkpoints = gemini_job_checkpoints(job);
	struct err err = ERR_INIT;
	json_auto_t *all = checkpoints_list(checkpoints, &err);
	json_auto_t *list = json_array();
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_t *one;
	size_t i;

	json_array_foreach(all, i, one)
		json_array_append_new(list, json_pack("{s:O*, s:O}", "messageId",
		                                      json_object_get(one, "callId"), "checkpoint",
		                                      json_object_get(one, "id")));
	json_print(&text, list, 0);
	gemini_job_answer(job, all ? restore_message("info", json_text(buf_view(&text))) :
	                      restore_message("error", json_text(span_str(err.message))));
	checkpoints_close(checkpoints);
}

/* Whether the caller's rules allow each of the files to be written.  False: *ret_why. */
static bool restore_is_allowed(const struct gemini_job *job, const json_t *preview, char **ret_why)
{
	const char *const roots[] = { job->folder, NULL };
	struct policy_verdict verdict;
	json_t *file;
	size_t i;
	bool ok = true;

	json_array_foreach(json_object_get(preview, "files"), i, file) {
		json_auto_t *arguments = json_pack("{s:O, s:s}", "file_path",
		                                   json_object_get(file, "path"), "content", "");
		const struct policy_call call = {
			.tool = tool_name(TOOL_WRITE_FILE), .kind = tool_kind_name(TOOL_KIND_EDIT),
			.arguments = arguments, .roots = roots, .project = job->folder,
			.mode = session_mode(job->session), .changes = POLICY_EDITS,
		};

		policy_decide(gemini_job_facts(job).policy, &call, &verdict);
		ok = verdict.decision == POLICY_ALLOW;
		if (!ok)
			*ret_why = mem_strdup(verdict.message);
		policy_verdict_release(&verdict);
		if (!ok)
			return false;
	}
	return true;
}

static json_t *restore_run(struct gemini_job *job, struct checkpoints *checkpoints)
{
	_cleanup_free_ char *why = NULL;
	json_auto_t *preview = NULL, *result = NULL;
	struct err err = ERR_INIT;

	if (!checkpoints_preview(checkpoints, job->argument, &preview, &err))
		return restore_message("error", json_text(span_str(err.message)));
	if (!restore_is_allowed(job, preview, &why))
		return restore_message("error", json_text(span_str(why)));
	if (!checkpoints_restore(checkpoints, job->argument, false, &result, &err))
		return restore_message("error", json_text(span_str(err.message)));
	return json_pack("[o, {s:s, s:O}]", restore_message(
		json_is_true(json_object_get(result, "success")) ? "info" : "error",
		json_string(json_is_true(json_object_get(result, "success")) ?
		            "The files are as before that call." :
		            "Some files were left as they are; \"files\" says which.")),
		"type", "files", "files", json_object_get(result, "files"));
}

static void run_restore(struct gemini_job *job)
{
	struct checkpoints *checkpoints;

	if (!*job->argument) {
		gemini_job_answer(job, restore_message("error", json_string(
			"Name a checkpoint: {\"args\": [\"ID\"]}. \"restore list\" has them.")));
		return;
	}
	checkpoints = gemini_job_checkpoints(job);
	gemini_job_answer(job, restore_run(job, checkpoints));
	checkpoints_close(checkpoints);
}

/* ---- init */

/* The prompt, or what is said in place of one. */
static void run_init(struct gemini_job *job)
{
	const struct command_context context = {
		.host = session_host(job->session), .settings = session_settings(job->session),
		.can = 1u << COMMAND_SEND, .local = session_is_local(job->session),
		.embedded = true,
	};
	struct command_result result;

	command_run(&context, SPAN("/init"), &result);
	if (result.ok && result.then == COMMAND_SEND && result.text)
		job->answer = json_text(span_str(result.text));
	command_result_release(&result);
}

/* ---- the table ------------------------------------------------------------------- */

static const struct gemini_command gemini_commands[] = {
	{ "extensions", "List the extensions that are installed", run_extensions, NULL, NULL, NULL,
	  false, "extensions list" },
	{ "extensions list", "List the extensions that are installed", run_extensions, "extensions",
	  NULL, NULL, false, NULL },
	{ "restore", "Undo the edits since a checkpoint, keeping later changes by others",
	  run_restore, NULL, "checkpoint", "its ID, as restore list has it", false, NULL },
	{ "restore list", "List the checkpoints", run_restore_list, "restore", NULL, NULL, false,
	  NULL },
	{ "init", "Write a GEMINI.md for this project", run_init, "", NULL, NULL, true, NULL },
	{ "memory", "Show or change the instructions", run_memory_show, NULL, NULL, NULL, false,
	  "memory show" },
	{ "memory show", "Show the instructions", run_memory_show, "memory", NULL, NULL, false,
	  NULL },
	{ "memory refresh", "Read the files of instructions again", run_memory_refresh, "memory",
	  NULL, NULL, false, NULL },
	{ "memory list", "List the files of instructions", run_memory_list, "memory", NULL, NULL,
	  false, NULL },
	{ "memory add", "Remember something", run_memory_add, "memory", "text",
	  "what to remember", false, NULL },
};

static const struct gemini_command *gemini_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(gemini_commands); i++)
		if (!strcmp(gemini_commands[i].name, name))
			return &gemini_commands[i];
	return NULL;
}

/* Those beneath `parent` (NULL: at the top), as the client lists them; a new reference. */
static json_t *gemini_commands_of(const char *parent)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(gemini_commands); i++) {
		const struct gemini_command *row = &gemini_commands[i];
		json_t *arguments = json_array();

		if (row->argument)
			json_array_append_new(arguments, json_pack(
				"{s:s, s:s, s:b}", "name", row->argument, "description",
				row->argument_about, "isRequired", true));
		if (parent ? row->parent && !strcmp(row->parent, parent) : !row->parent)
			json_array_append_new(list, json_pack(
				"{s:s, s:s, s:O, s:o}", "name", row->name, "description",
				row->about, "arguments", arguments, "subCommands",
				parent ? json_array() : gemini_commands_of(row->name)));
		json_decref(arguments);
	}
	return list;
}

/* ---- jobs ------------------------------------------------------------------------ */

static struct gemini_job *gemini_job_of(struct loop_job *loop_job)
{
	return (struct gemini_job *)((char *)loop_job - offsetof(struct gemini_job, job));
}

static void gemini_job_free(struct gemini_job *job)
{
	json_decref(job->answer);
	json_decref(job->tasks);
	a2a_caller_unref(job->caller);
	free(job->argument);
	free(job);
}

/* As a2a_held.closed. */
static void gemini_job_closed(struct a2a_held *held)
{
	((struct gemini_job *)held)->request = NULL;
}

/* As loop_job.run: in a separate session, which is not recorded: nothing is said in it. */
static void gemini_job_run(struct loop_job *loop_job)
{
	struct gemini_job *job = gemini_job_of(loop_job);
	struct cancel cancel;
	struct session_request request = *job->server->options->request;
	struct err err = ERR_INIT;

	cancel_init_lazily(&cancel);
	request.folder = job->folder;
	request.session_id = NULL;
	request.cancel = &cancel;
	request.notices = (struct notices){ 0 };
	request.caller = job->caller->name;
	job->session = session_new(&request);
	session_set_keyless(job->session, true);
	if (session_load(job->session, &err) && session_open(job->session, NULL, &err))
		job->run(job);
	else
		gemini_job_fail(job, err.message);
	session_free(job->session);
	job->session = NULL;
	cancel_release(&cancel);
}

static void gemini_job_start(struct gemini_job *job, void (*then)(struct loop_job *job))
{
	job->held = (struct a2a_held){ gemini_job_closed, NULL };
	http_request_set_data(job->request, &job->held);
	job->job.run = gemini_job_run;
	job->job.then = then;
	loop_job_start(job->server->loop, job->server->pool, &job->job);
}

/* The first workspace that the caller may use; NULL: there is none. */
static const char *gemini_folder(const struct a2a_server *server, const struct a2a_caller *caller)
{
	const char *const *folders = server->options->folders;

	for (size_t i = 0; folders[i]; i++)
		if (!caller->workspaces || json_lists(caller->workspaces, span_str(folders[i])))
			return folders[i];
	return NULL;
}

/* As loop_job.then. */
static void gemini_job_ended(struct loop_job *loop_job)
{
	struct gemini_job *job = gemini_job_of(loop_job);

	if (job->request) {
		http_request_set_data(job->request, NULL);
		gemini_answer(job->request, job->status, job->answer);
		job->answer = NULL;
	}
	gemini_job_free(job);
}

/* ---- init: a task whose events are the answer ------------------------------------ */

struct gemini_stream {
	struct a2a_held held;         /* the first member */
	struct a2a_follower follower;
	struct a2a_task *task;        /* NULL: it is over */
	struct http_request *request;
};

static void gemini_stream_leave(struct gemini_stream *stream)
{
	a2a_task_unfollow(stream->task, &stream->follower);
	free(stream);
}

/* As a2a_held.closed. */
static void gemini_stream_closed(struct a2a_held *held)
{
	gemini_stream_leave((struct gemini_stream *)held);
}

static void gemini_stream_write(struct http_request *request, const char *id,
                                const json_t *response)
{
	json_auto_t *event = a2a_version_event(A2A_V0_3, response);
	json_auto_t *line = json_pack("{s:s, s:s, s:O}", "jsonrpc", "2.0", "id", id, "result",
	                              event);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	buf_str(&out, "data: ");
	json_print(&out, line, 0);
	buf_str(&out, "\n\n");
	http_stream_write(request, buf_view(&out));
}

/* As a2a_follower.event. */
static void gemini_stream_event(struct a2a_follower *follower, const json_t *response,
                                uint64_t number)
{
	struct gemini_stream *stream = (struct gemini_stream *)((char *)follower -
		offsetof(struct gemini_stream, follower));
	struct a2a_task *task = stream->task;
	struct http_request *request = stream->request;

	(void)number;
	gemini_stream_write(request, task->id, response);
	if (!a2a_task_state_is_over(task->state) && !a2a_task_state_asks(task->state))
		return;
	http_request_set_data(request, NULL);
	gemini_stream_leave(stream);
	http_stream_end(request);
}

/* What is said where there is nothing to do, as the one event of a task that never was. */
static void init_answer_without(struct gemini_job *job)
{
	_cleanup_free_ char *id = record_new_id(), *context = record_new_id();
	json_auto_t *response = json_pack(
		"{s:{s:s, s:s, s:{s:s, s:{s:s, s:s, s:[{s:s}], s:s, s:s}}, s:{s:{s:s}}}}",
		"statusUpdate", "taskId", id, "contextId", context, "status", "state",
		"TASK_STATE_COMPLETED", "message", "messageId", id, "role", "ROLE_AGENT", "parts",
		"text", "There is a GEMINI.md already; it stays as it is.", "taskId", id,
		"contextId", context, "metadata", "coderAgent", "kind", "text-content");

	http_stream_begin(job->request);
	gemini_stream_write(job->request, id, response);
	http_stream_end(job->request);
}

static void init_begin(struct gemini_job *job)
{
	json_auto_t *message = json_pack(
		"{s:o, s:s, s:[{s:O}], s:{s:{s:s, s:s}}}", "messageId",
		json_text(span_str("init")), "role", "ROLE_USER", "parts", "text", job->answer,
		"metadata", "coderAgent", "kind", "agent-settings", "workspacePath", job->folder);
	struct a2a_fault fault = { 0 };
	struct a2a_task *task = a2a_task_new(job->server, job->caller, message, &fault);
	struct gemini_stream *stream;

	if (!task) {
		gemini_refuse(job->request, 500, fault.sentence);
		a2a_fault_release(&fault);
		return;
	}
	stream = mem_alloc(1, sizeof(*stream));
	*stream = (struct gemini_stream){ .held = { gemini_stream_closed, NULL },
		                          .follower.event = gemini_stream_event, .task = task,
		                          .request = job->request };
	http_stream_begin(job->request);
	http_request_set_data(job->request, &stream->held);
	json_auto_t *first = json_pack("{s:o}", "task", a2a_task_value(task, -1, true));
	gemini_stream_write(job->request, task->id, first);
	a2a_task_follow(task, &stream->follower);
	a2a_queue_add(task);
	a2a_queue_next(job->server);
}

/* As loop_job.then. */
static void init_ended(struct loop_job *loop_job)
{
	struct gemini_job *job = gemini_job_of(loop_job);

	if (job->request) {
		http_request_set_data(job->request, NULL);
		if (json_is_object(job->answer)) {
			gemini_answer(job->request, job->status, job->answer);
			job->answer = NULL;
		} else if (job->answer) {
			init_begin(job);
		} else {
			init_answer_without(job);
		}
	}
	gemini_job_free(job);
}

/* ---- POST /executeCommand -------------------------------------------------------- */

static char *arguments_text(const json_t *args)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_A2A_BODY_BYTES);
	json_t *arg;
	size_t i;

	json_array_foreach((json_t *)args, i, arg)
		if (json_is_string(arg))
			buf_printf(&out, "%s%s", out.len ? " " : "", json_string_value(arg));
	return buf_steal(&out);
}

/* The caller's reference is taken over. */
static struct gemini_job *gemini_job_new(struct a2a_server *server, struct a2a_caller *caller,
                                  struct http_request *request)
{
	struct gemini_job *job = mem_alloc(1, sizeof(*job));

	*job = (struct gemini_job){ .server = server, .caller = caller, .request = request,
		                    .folder = gemini_folder(server, caller), .status = 200 };
	return job;
}

static void gemini_take_command(struct a2a_server *server, struct a2a_caller *caller,
                         struct http_request *request, const json_t *body)
{
	const char *name = json_string_value(json_object_get(body, "command"));
	const json_t *args = json_object_get(body, "args");
	const struct gemini_command *command = name ? gemini_command(name) : NULL;
	struct gemini_job *job;

	if (!name) {
		gemini_refuse(request, 400, "\"command\" must be a string.");
	} else if (args && !json_is_null(args) && !json_is_array(args)) {
		gemini_refuse(request, 400, "\"args\" must be an array.");
	} else if (!command) {
		gemini_refuse(request, 404, "There is no such command; GET /listCommands has "
		              "them.");
	} else if (!gemini_folder(server, caller)) {
		gemini_refuse(request, 400, "This caller has no workspace.");
	} else {
		job = gemini_job_new(server, a2a_caller_ref(caller), request);
		job->command = command;
		job->run = command->run;
		job->argument = arguments_text(args);
		gemini_job_start(job, command->streams ? init_ended : gemini_job_ended);
	}
}

/* ---- GET /tasks/metadata, /tasks/ID/metadata ------------------------------------- */

/* Of the session that such a task has: its model, tools and servers. */
static void run_metadata(struct gemini_job *job)
{
	struct host *host = session_host(job->session);
	const struct host_facts facts = host_facts(host);
	json_auto_t *declared = tool_set_declare(facts.session->tools, NULL, NULL);
	json_auto_t *servers = host_servers(host), *tools = json_array(), *list = json_array();
	json_t *one;
	size_t i;

	json_array_foreach(declared, i, one)
		json_array_append_new(tools, json_pack("{s:O*, s:O*, s:O*}", "name",
		                                       json_object_get(one, "name"), "description",
		                                       json_object_get(one, "description"),
		                                       "parameterSchema",
		                                       json_object_get(one, "parameters")));
	json_array_foreach(servers, i, one)
		json_array_append_new(list, json_pack(
			"{s:O*, s:s, s:[]}", "name", json_object_get(one, "name"), "status",
			json_is_true(json_object_get(one, "connected")) ? "connected" :
			                                                  "disconnected", "tools"));
	json_array_foreach(job->tasks, i, one) {
		if (!json_string_length(json_object_get(one, "model")))
			json_object_set_new(one, "model", json_text(span_str(facts.model)));
		json_object_set(one, "mcpServers", list);
		json_object_set(one, "availableTools", tools);
	}
	job->answer = job->one_task ?
		json_pack("{s:O}", "metadata", json_array_get(job->tasks, 0)) :
		json_incref(job->tasks);
}

static json_t *task_metadata(const struct a2a_task *task)
{
	return json_pack("{s:s, s:s, s:s}", "id", task->id, "contextId", task->context, "taskState",
	                 a2a_gemini_state(task->state));
}

static void gemini_take_metadata(struct a2a_server *server, struct a2a_caller *caller,
                          struct http_request *request, const char *id)
{
	struct gemini_job *job;
	struct a2a_task *task = id ? a2a_task_find(server, caller, id) : NULL;
	json_t *tasks = json_array();

	if (task)
		json_array_append_new(tasks, task_metadata(task));
	for (task = id ? NULL : server->tasks->first;
	     task && json_array_size(tasks) < TASKS_LISTED; task = task->next)
		if (task->gemini && task->caller && !strcmp(task->caller->name, caller->name))
			json_array_append_new(tasks, task_metadata(task));
	if (!json_array_size(tasks)) {
		json_decref(tasks);
		if (id)
			gemini_refuse(request, 404, "Task not found");
		else
			gemini_answer(request, 204, NULL);
		return;
	}
	job = gemini_job_new(server, a2a_caller_ref(caller), request);
	job->tasks = tasks;
	job->one_task = id != NULL;
	job->run = run_metadata;
	gemini_job_start(job, gemini_job_ended);
}

/* ---- POST /tasks ----------------------------------------------------------------- */

static void gemini_take_task(struct a2a_server *server, struct a2a_caller *caller,
                      struct http_request *request, const json_t *body)
{
	const json_t *settings = json_object_get(body, "agentSettings");
	const json_t *context = json_object_get(body, "contextId");
	_cleanup_free_ char *id = record_new_id();
	json_auto_t *message = json_pack("{s:s, s:s, s:[], s:{s:O}}", "messageId", id, "role",
	                                 "ROLE_USER", "parts", "metadata", "coderAgent",
	                                 json_is_object(settings) ? settings : json_null());
	struct a2a_fault fault = { 0 };
	struct a2a_task *task;

	if (json_is_string(context))
		json_object_set(message, "contextId", (json_t *)context);
	if (!json_is_object(settings))
		json_object_set_new(json_object_get(message, "metadata"), "coderAgent",
		                    json_pack("{s:s}", "kind", "agent-settings"));
	task = a2a_task_new(server, caller, message, &fault);
	if (task)
		gemini_answer(request, 201, json_text(span_str(task->id)));
	else
		gemini_refuse(request, 500, fault.sentence);
	a2a_fault_release(&fault);
}

/* ---- paths ----------------------------------------------------------------------- */

/* "ID" of "/tasks/ID/metadata", or NULL; the caller frees. */
static char *metadata_id(const char *path)
{
	const char *id = path + strlen("/tasks/"), *end;

	if (!span_starts(span_str(path), SPAN("/tasks/")))
		return NULL;
	end = strchr(id, '/');
	return end && !strcmp(end, "/metadata") && end > id ? mem_dup(id, (size_t)(end - id)) :
	                                                      NULL;
}

const char *a2a_gemini_method(const char *path)
{
	static const struct { const char *path, *method; } paths[] = {
		{ "/tasks/metadata", "GET" }, { "/listCommands", "GET" },
		{ "/executeCommand", "POST" },
	};
	_cleanup_free_ char *id = metadata_id(path);

	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		if (!strcmp(path, paths[i].path))
			return paths[i].method;
	return id ? "GET" : NULL;
}

bool a2a_gemini_has(const char *method, const char *path)
{
	const char *own = a2a_gemini_method(path);

	return own ? !strcmp(own, method) : !strcmp(path, "/tasks") && !strcmp(method, "POST");
}

void a2a_gemini_take(struct a2a_server *server, struct a2a_caller *caller,
                     struct http_request *request, const char *path, struct span text)
{
	_cleanup_free_ char *id = metadata_id(path);
	const bool posts = !strcmp(http_request_method(request), "POST");
	struct err err = ERR_INIT;
	json_auto_t *body = NULL;

	if (posts && !json_parse_foreign(text, LIMIT_A2A_DEPTH, &body, NULL, &err))
		gemini_refuse(request, 400, err.message);
	else if (posts && !json_is_object(body))
		gemini_refuse(request, 400, "The body must be a JSON object.");
	else if (!strcmp(path, "/tasks"))
		gemini_take_task(server, caller, request, body);
	else if (!strcmp(path, "/executeCommand"))
		gemini_take_command(server, caller, request, body);
	else if (!strcmp(path, "/listCommands"))
		gemini_answer(request, 200, json_pack("{s:o}", "commands",
		                                      gemini_commands_of(NULL)));
	else
		gemini_take_metadata(server, caller, request, id);
	a2a_caller_unref(caller);
}
