/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a reply: each run and recorded, side by side where their order allows it. */
#include "agent/call/calls.h"

#include <stdio.h>
#include <string.h>

#include "agent/call/call.h"
#include "agent/call/gate.h"
#include "agent/call/questions.h"
#include "agent/context/context.h"
#include "agent/session/figures.h"
#include "agent/session/record.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"
#include "tool/answer.h"
#include "tool/builtin/builtin.h"
#include "tool/set.h"
#include "tool/spelling.h"
#include "tool/tool.h"

/* ---- one call ---------------------------------------------------------------- */

enum {
	TAIL_CALLS_MAX = 4, /* calls that hooks make of one call */
	FOLDERS_MAX = 10000,
};

/* call_tool is the call that it means, for everybody but the model. */
static void call_take_meant(struct call *call)
{
	const json_t *wait = json_object_get(call->args, "wait_for_previous");
	json_auto_t *arguments = NULL;
	const struct tool *meant = tool_meant(call->session.tools, call->tool, call->args,
	                                      &arguments);

	if (!meant)
		return;
	if (json_is_object(arguments) && json_is_true(wait))
		json_object_set(arguments, "wait_for_previous", (json_t *)wait);
	call->asked_args = call->args;
	call->args = json_is_object(arguments) ? json_copy(arguments) : json_incref(arguments);
	call->tool = meant;
	call->name = meant->name;
}

/* For everybody but the model, a call is what it means in hasp's words; tool_call reads it
 * itself, so that it can answer in the model's. */
static void call_take_spelling(struct call *call)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(CALL_PROBLEMS_MAX);
	struct spelled_call spelled;

	call->run_name = call->name;
	call->run_args = json_incref(call->args);
	if (!call->tool || !tool_info_of(call->tool->name))
		return;
	spelling_read(call->name, call->args, &problems, &spelled);
	call->dialect = spelled.dialect;
	if (!problems.len && tool_set_find(call->session.tools, spelled.name)) {
		if (!call->asked_args)
			call->asked_args = json_incref(call->args);
		json_decref(call->args);
		call->args = json_copy(spelled.arguments);
		call->tool = tool_set_find(call->session.tools, spelled.name);
		if (strcmp(spelled.name, tool_info_spelling(call->name)) != 0)
			call->name = call->tool->name;
	}
	spelling_release(&spelled);
}

/* `part`: of the reply, has to live as long as the call. */
static void call_init(struct call *call, struct agent *agent, const json_t *part,
                      enum call_origin origin)
{
	const json_t *asked = part_get_call(part);
	const json_t *args = json_object_get(asked, "args");

	*call = (struct call){
		.agent = agent,
		.origin = origin,
		.id = json_string_value(json_object_get(asked, "id")),
		.name = json_string_value(json_object_get(asked, "name")),
		.args = json_is_object(args) ? json_copy((json_t *)args) : json_object(),
		.session = *agent->options.session,
	};
	call->name = call->name ? call->name : "";
	call->asked_name = call->name;
	call->tool = tool_set_find(call->session.tools, call->name);
	call->repaired = json_string_value(json_object_get(part, PART_REPAIRED));
	call->unreadable = json_string_value(json_object_get(part, PART_UNREADABLE));
	call_take_meant(call);
	call_take_spelling(call);
	if (!call->unreadable)
		call_order_describe(&call->order, call->tool, call->name, call->args, agent->root);
	json_object_del(call->args, "wait_for_previous");
	call->session.shows_diffs = agent->options.interactive || agent->options.watched;
	gate_attach(call);
}

static void call_release(struct call *call)
{
	call_order_release(&call->order);
	path_rules_release(&call->paths);
	outside_release(&call->outside);
	if (call->has_verdict)
		policy_verdict_release(&call->verdict);
	tool_change_release(&call->change);
	json_decref(call->args);
	json_decref(call->asked_args);
	json_decref(call->run_args);
	json_decref(call->ran_args);
	free(call->ran_name);
	json_decref(call->tail);
	json_decref(call->allowing);
	json_decref(call->result);
	json_decref(call->answer);
	json_decref(call->review);
	json_decref(call->review_files);
	json_decref(call->comments);
	json_decref(call->proposer);
	json_decref(call->quorum);
	json_decref(call->approved);
	free(call->vetoed_by);
	free(call->confirm_hook);
	free(call->denied_hook);
	json_decref(call->asked);
	denied_forget(call);
	free(call->ask_reason);
	free(call->taken);
	free(call->said);
	call_scope_release(call);
	free(call->context);
}

/* ---- context found just in time ---------------------------------------------------- */

static const char *touched_path(const struct tool_info *info, const json_t *result,
                                const json_t *args)
{
	const json_t *first = json_is_array(result) ? json_array_get(result, 0) : result;
	const json_t *state = json_object_get(first, "latest_file_state");
	const json_t *const places[] = {
		json_object_get(state, "file_path"), json_object_get(first, "file_path"),
		json_object_get(first, "path"), tool_first_path(info, args),
		tool_command_folder(info, args),
	};

	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (json_string_length(places[i]))
			return json_string_value(places[i]);
	return NULL;
}

/* True once for each folder. */
static bool new_folder(struct agent *agent, const char *path)
{
	_cleanup_free_ char *whole = path_join(agent->root, path), *folder = path_folder(whole);

	if (json_object_get(agent->folders, folder) ||
	    json_object_size(agent->folders) >= FOLDERS_MAX)
		return false;
	return json_object_set_new(agent->folders, folder, json_true()) == 0;
}

static char *context_found(struct call *call)
{
	struct agent *agent = call->agent;
	const struct tool_info *info = call->tool ? call->tool->info : NULL;
	const char *path = info ? touched_path(info, call->result, call->args) : NULL;
	char *text = NULL;

	if (!agent->options.context_for || !path)
		return NULL;
	pthread_mutex_lock(&agent->lock);
	if (new_folder(agent, path))
		text = agent->options.context_for(agent->options.context_data, path);
	pthread_mutex_unlock(&agent->lock);
	return text;
}

/* ---- the answer -------------------------------------------------------------------- */

/* Providers want an object. */
static json_t *as_object(const json_t *result)
{
	json_t *object;

	if (json_is_object(result))
		return json_copy((json_t *)result);
	object = json_object();
	json_object_set(object, "output", (json_t *)result);
	return object;
}

/* Moves an image, sound or PDF out of a result, into a media part that is sent next to it. */
static void move_media_out(json_t *object, json_t *media)
{
	json_t *mime = json_object_get(object, "mime_type"), *data =
		json_object_get(object, "data");
	json_t *part, *inside;

	if (!json_is_string(mime) || !json_is_string(data))
		return;
	inside = json_object();
	json_object_set(inside, "mimeType", mime);
	json_object_set(inside, "data", data);
	part = json_object();
	json_object_set_new(part, "inlineData", inside);
	json_array_append_new(media, part);
	json_object_del(object, "data");
}

/* Of the result itself, and of the elements of a list in it. */
static void take_all_media(json_t *response, const char *name, json_t *media)
{
	json_t *list = json_object_get(response, name), *own, *element;
	size_t i;

	move_media_out(response, media);
	if (!json_is_array(list))
		return;
	own = json_array();
	json_array_foreach(list, i, element) {
		json_t *copy = json_is_object(element) ? json_copy(element) : json_incref(element);

		move_media_out(copy, media);
		json_array_append_new(own, copy);
	}
	json_object_set_new(response, name, own);
}

/* What no reader sees is shown to the model as it is. Takes the reference. */
static json_t *show_unseen(json_t *response)
{
	size_t count = 0;
	json_t *shown = json_show_unseen(response, &count);

	json_decref(response);
	if (count)
		json_object_set_new(shown, TOOL_UNSEEN, tool_unseen_note(count));
	return shown;
}

static bool diff_is_requested(const struct call *call)
{
	const json_t *asked = json_object_get(call->args, "return_content");

	if (call->modified || call->ran_args)
		return true;
	return asked ? span_eq(json_span(asked), SPAN("diff")) :
	               call->session.return_content == RETURN_DIFF;
}

/* The diffs that are only for who watches do not go to the model. */
static void leave_diffs_out(json_t *response)
{
	json_t *changes = json_object_get(response, "changes"), *without, *change;
	size_t i;

	json_object_del(response, "diff");
	if (!json_is_array(changes))
		return;
	without = json_array();
	json_array_foreach(changes, i, change) {
		json_t *copy = json_copy(change);

		json_object_del(copy, "diff");
		json_array_append_new(without, copy);
	}
	json_object_set_new(response, "changes", without);
}

/* A command's output, which its tool has cut to the same length already. */
static bool was_truncated(const json_t *response, struct mask_truncated *ret)
{
	const json_t *output = json_object_get(response, "output");
	const json_int_t all = json_integer_value(json_object_get(response, "output_bytes"));

	*ret = (struct mask_truncated){ (size_t)all, json_string_length(output) };
	return json_is_true(json_object_get(response, "truncated")) && json_is_string(output) &&
	       all > 0 && ret->before > ret->after;
}

/* What is too long for the conversation goes into a file. */
static void truncate_response(struct call *call, json_t *response)
{
	const struct mask_options *mask = &call->agent->mask;
	struct mask_truncated bytes;
	json_auto_t *message = NULL;

	if (!mask_truncate_output(mask, call->tool, call->name, call->id, response, &bytes) &&
	    !was_truncated(response, &bytes))
		return;
	message = json_pack("{s:s, s:s, s:I, s:I, s:I}", "callId", call->id, "toolName", call->name,
	                    "before", (json_int_t)bytes.before, "after", (json_int_t)bytes.after,
	                    "limit", (json_int_t)mask->truncate_chars);
	agent_publish(call->agent, BUS_OUTPUT_TRUNCATED, message);
}

/* What is left of it when it has more than an answer may have. Takes the reference. */
static json_t *fit_response(struct call *call, json_t *response)
{
	_cleanup_free_ char *path = NULL;
	json_t *fit;

	/* What cannot be had by another call is kept. */
	if (answer_is_long(&call->session, response) && !(call->tool && call->tool->rest))
		path = mask_save_whole(&call->agent->mask, call->name, call->id, response);
	fit = answer_for_model(&call->session, call->tool, call->args, response, path);
	json_decref(response);
	return fit;
}

static json_t *build_answer(struct call *call)
{
	_cleanup_free_ char *found = context_found(call);
	json_t *response = as_object(call->result), *part;
	json_auto_t *media = json_array();
	const struct tool *tool = call->tool;

	if (tool && (tool_kind_of(tool) == TOOL_KIND_READ || tool->server))
		take_all_media(response, "output", media);
	if (tool && tool->info && tool->info->pictures)
		take_all_media(response, "pictures", media);
	if (tool && tool->plans && call->session.shows_diffs && !diff_is_requested(call))
		leave_diffs_out(response);
	truncate_response(call, response);
	response = fit_response(call, response);
	if (call->context)
		json_object_set_new(response, "hook_context", json_text(span_str(call->context)));
	if (found)
		json_object_set_new(response, FOUND_CONTEXT, json_text(span_str(found)));
	if (call->repaired || call->taken) {
		_cleanup_free_ char *said = mem_printf(
			"%s%s%s", call->repaired ? call->repaired : "",
			call->repaired && call->taken ? ", " : "", call->taken ? call->taken : "");

		json_object_set_new(response, "arguments_repaired", json_text(span_str(said)));
	}
	response = show_unseen(response);
	part = part_response(call->id, call->asked_name, response);
	if (json_array_size(media))
		json_object_set(json_object_get(part, "functionResponse"), "parts", media);
	return part;
}

/* ---- reporting --------------------------------------------------------------------- */

static const char *call_status_word(const struct call *call)
{
	return call->success ? "success" : call->cancelled ? "cancelled" : "error";
}

static void publish_result(const struct call *call, const char *display, uint64_t ms)
{
	json_auto_t *message = json_object();
	json_t *error;

	json_object_set_new(message, "callId", json_string(call->id));
	json_object_set_new(message, "toolName", json_string(call->name));
	json_object_set_new(message, "status", json_string(call_status_word(call)));
	json_object_set(message, "result", call->result);
	json_object_set_new(message, "display", json_text(span_str(display)));
	json_object_set_new(message, "durationMs", json_size(ms));
	if (call->tool && call->tool->server)
		json_object_set_new(message, "serverName", json_cstr(call->tool->server));
	if (call->ran_args)
		json_object_set(message, "ranArguments", call->ran_args);
	if (call->ran_name)
		json_object_set_new(message, "ranName", json_cstr(call->ran_name));
	if (call->decision != DECISION_NONE)
		json_object_set_new(message, "decision",
		                    json_string(stats_decision_name(call->decision)));
	if (!call->success) {
		_cleanup_free_ char *text = call_error_text(call->result);

		error = json_object();
		json_object_set_new(error, "type",
		                    json_string(call_error_type(call->tool, call->result)));
		json_object_set_new(error, "message",
		                    json_text(span_str(text)));
		json_object_set_new(message, "error", error);
	}
	agent_publish(call->agent, BUS_TOOL_RESULT, message);
}

static void count_edit_of(const struct call *call)
{
	const char *what, *end = figures_edit_end(call->result, call_status_word(call), &what);

	if (call->dialect && end)
		stats_edit(call->agent->stats, model_id(call->agent->options.model), call->dialect,
		           end, what);
}

/* Reports the result of a call on the bus. */
static void call_report_end(struct call *call, uint64_t ms)
{
	struct agent *agent = call->agent;
	enum err_code code;
	_cleanup_free_ char *display = NULL;
	const struct record_took took = {
		.ms = ms, .waited_ms = call->waited_ms < ms ? call->waited_ms : ms,
		.dialect = call->dialect, .asked = call->asked, .hook = call->denied_hook,
	};
	const json_t *response;

	call->success = !tool_result_failed(call->result);
	code = call->success ? ERR_NONE : call_error_code(call->result);
	call->cancelled = code == ERR_CANCELLED || call->refused;
	call->fatal = code == ERR_DISK_FULL;
	display = display_result(call->tool, call->result);
	call->answer = build_answer(call);
	response = json_object_get(part_get_response(call->answer), "response");
	stats_call(agent->stats, call->tool ? call->tool->name : call->name,
	           call->success                 ? STATS_SUCCESS :
	           call->refused || call->said   ? STATS_DECLINED : STATS_FAILED,
	           took.ms - took.waited_ms, call->decision, call->result);
	count_edit_of(call);
	publish_result(call, display, ms);
	if (!agent->options.record || call->origin != CALL_OF_MODEL)
		return;
	pthread_mutex_lock(&agent->lock);
	record_call(agent->options.record, call->id, call->asked_name,
	            call->asked_args ? call->asked_args : call->args, response,
	            json_object_get(part_get_response(call->answer), "parts"),
	            call_status_word(call), display, &took);
	pthread_mutex_unlock(&agent->lock);
}

/* ---- running ----------------------------------------------------------------------- */

/* If a hook asks for another call instead, its result replaces this one. It goes through the same
 * checks. */
static void follow_tails(struct call *call)
{
	for (unsigned i = 0; call->tail && i < TAIL_CALLS_MAX; i++) {
		json_auto_t *tail = mem_steal(&call->tail);
		const char *name = json_string_value(json_object_get(tail, "name"));

		if (!name)
			return;
		json_decref(call->result);
		denied_forget(call);
		free(call->ran_name);
		call->ran_name = mem_strdup(name);
		call_ran_with(call, json_object_get(tail, "args"));
		call->result = tool_call(&call->session, name, json_object_get(tail, "args"));
	}
}

/* Ends it without running it: CANCELLED, INVALID_ARGUMENT, ... with a sentence. */
static void agent_call_refuse(struct call *call, enum err_code code, const char *sentence)
{
	struct err err = ERR_INIT;

	err_set(&err, code, "%s", sentence);
	call->result = tool_failure(&err);
	call_report_end(call, 0);
}

/* Runs it to its end on this thread: `answer` is there. Published on the bus, and recorded. */
static void call_run(struct call *call)
{
	uint64_t began = clock_monotonic_ms();

	if (call->unreadable) {
		agent_call_refuse(call, ERR_INVALID_ARGUMENT, call->unreadable);
		return;
	}
	call->result = tool_call(&call->session, call->run_name, call->run_args);
	follow_tails(call);
	if (call_error_code(call->result) == ERR_STATE_MISMATCH)
		votes_lapse(call);
	agent_confirm_report(call);
	call_report_end(call, clock_monotonic_ms() - began);
}

/* ---- all calls of a reply ---------------------------------------------------- */

enum { ID_MAX = 256 };

struct call_batch {
	struct agent *agent;
	struct call *calls;
	struct order_call *order; /* shallow copies: `calls` owns what they point to */
	bool *ended;
	size_t count;
	pthread_mutex_t lock;     /* of `ended`, the calls' state, and what follows */
	pthread_cond_t changed;
	size_t running;
	bool busy;                /* the thread that starts calls is running one itself */
	struct call_round round;   /* their questions */
	bool refused;             /* nothing more begins */
	bool declined;            /* the user rejected a call */
};

struct call_thread {
	struct call_batch *batch;
	struct call *call;
	pthread_t handle;
	bool started;
};

/* ---- ids --------------------------------------------------------------------------- */

/* Names the call in a part of a reply. Nothing else references the part yet, so it may be
 * changed. */
static void name_part(struct agent *agent, json_t *part)
{
	json_t *call = json_object_get(part, "functionCall");
	struct span id = json_span(json_object_get(call, "id"));
	char fresh[ID_MAX + 32];

	if (!call || (id.len && id.len <= ID_MAX && agent_reserve_call_id(agent, id.data)))
		return;
	for (size_t n = json_object_size(agent->top->ids) + 1;; n++) {
		struct span head = utf8_head(id.len ? id : SPAN("call"), ID_MAX);

		snprintf(fresh, sizeof(fresh), "%.*s_%zu", (int)head.len, head.data, n);
		if (agent_reserve_call_id(agent, fresh))
			break;
	}
	json_object_set_new(call, "id", json_string(fresh));
}

void calls_name(struct agent *agent, json_t *content)
{
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(content, "parts"), i, part)
		if (part_get_call(part))
			name_part(agent, part);
}

/* ---- reporting --------------------------------------------------------------------- */

static void publish_call(struct agent *agent, const struct call *call)
{
	_cleanup_free_ char *title = display_title(call->tool, call->name);
	_cleanup_free_ char *description = display_call(call->tool, call->args);
	json_auto_t *message = json_object();

	json_object_set_new(message, "callId", json_string(call->id));
	json_object_set_new(message, "toolName", json_string(call->name));
	json_object_set_new(message, "title", json_cstr(title));
	json_object_set(message, "arguments", call->args);
	json_object_set_new(message, "description", json_text(span_str(description)));
	if (call->tool && call->tool->server)
		json_object_set_new(message, "serverName", json_cstr(call->tool->server));
	agent_publish(agent, BUS_TOOL_CALL, message);
}

/* ---- running ----------------------------------------------------------------------- */

static void batch_note_end(struct call_batch *batch, struct call *call)
{
	pthread_mutex_lock(&batch->lock);
	call->state = CALL_ENDED;
	batch->ended[call - batch->calls] = true;
	batch->running--;
	call_round_settle_locked(call);
	call_round_set_may_begin(&batch->round, !batch->busy);
	batch->declined = batch->declined || call->refused;
	/* What is left out in a review is no word about the other calls. */
	batch->refused = batch->refused ||
	                 (call->refused && !call->review && !call->review_files);
	pthread_cond_signal(&batch->changed);
	pthread_mutex_unlock(&batch->lock);
}

static void *call_thread_main(void *data)
{
	struct call_thread *thread = data;

	call_run(thread->call);
	batch_note_end(thread->batch, thread->call);
	return NULL;
}

/* Whether anything more is to begin. */
static bool goes_on(const struct call_batch *batch)
{
	const struct agent *agent = batch->agent;

	return !batch->refused && !cancelled(agent->options.cancel) && !agent->stop;
}

/* The first that may begin now; NULL: none. */
static struct call *next_call(struct call_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->calls[i].state == CALL_WAITING &&
		    call_order_may_begin(batch->order, i, batch->ended))
			return &batch->calls[i];
	return NULL;
}

/* Holds the lock before and after. */
static void batch_begin_call(struct call_batch *batch, struct call_thread *thread,
                             struct call *call, bool alone)
{
	call->state = CALL_RUNNING;
	batch->running++;
	call_round_begin(call);
	*thread = (struct call_thread){ .batch = batch, .call = call };
	if (!alone)
		thread->started = pthread_create(&thread->handle, NULL, call_thread_main,
		                                 thread) == 0;
	if (thread->started)
		return;
	batch->busy = true; /* no call starts before it has ended */
	call_round_set_may_begin(&batch->round, false);
	pthread_mutex_unlock(&batch->lock);
	call_thread_main(thread);
	pthread_mutex_lock(&batch->lock);
	batch->busy = false;
	call_round_set_may_begin(&batch->round, true);
}

/* A call that nothing can run in parallel with needs no thread. */
static bool batch_call_is_alone(struct call_batch *batch, struct call *call)
{
	struct call *other;

	if (batch->running)
		return false;
	call->state = CALL_RUNNING;
	other = next_call(batch);
	call->state = CALL_WAITING;
	return !other;
}

/* Calls that wait for the user do not count against the limit of parallel calls. */
static bool batch_has_place(const struct call_batch *batch)
{
	return batch->running - batch->round.open_questions < CALLS_AT_ONCE;
}

static void run_all(struct call_batch *batch, struct call_thread *threads)
{
	struct call *call;

	pthread_mutex_lock(&batch->lock);
	while (true) {
		call = goes_on(batch) && batch_has_place(batch) ? next_call(batch) : NULL;
		if (call) {
			batch_begin_call(batch, &threads[call - batch->calls], call,
			                 batch_call_is_alone(batch, call));
		} else if (batch->running) {
			batch->round.full = !batch_has_place(batch);
			call_round_set_may_begin(&batch->round, false);
			pthread_cond_wait(&batch->changed, &batch->lock);
		} else {
			break;
		}
	}
	pthread_mutex_unlock(&batch->lock);
	for (size_t i = 0; i < batch->count; i++)
		if (threads[i].started)
			pthread_join(threads[i].handle, NULL);
}

static void refuse_rest(struct call_batch *batch)
{
	const char *why = cancelled(batch->agent->options.cancel) ?
	                          "The call was cancelled; nothing was done." :
	                  batch->refused ?
	                          "Not done: the user declined a call before this one." :
	                          "Not done: a hook stopped the work.";

	for (size_t i = 0; i < batch->count; i++)
		if (batch->calls[i].state == CALL_WAITING)
			agent_call_refuse(&batch->calls[i], ERR_CANCELLED, why);
}

/* ---- a reply's calls --------------------------------------------------------------- */

static size_t calls_collect(struct agent *agent, const json_t *content, enum call_origin origin,
                            struct call *calls)
{
	size_t count = 0, i;
	json_t *part;

	json_array_foreach(json_object_get(content, "parts"), i, part)
		if (part_get_call(part))
			call_init(&calls[count++], agent, part, origin);
	return count;
}

static void too_many(struct call_batch *batch, size_t total)
{
	for (size_t i = batch->count; i < total; i++) {
		publish_call(batch->agent, &batch->calls[i]);
		agent_call_refuse(&batch->calls[i], ERR_INVALID_ARGUMENT,
		            "Not done: there are too many calls in one reply. Make 128 at most.");
	}
}

static void batch_summarize(struct call_batch *batch, size_t total, struct calls_outcome *ret)
{
	bool any_done = false;

	ret->message = content_new("user");
	ret->cancelled = cancelled(batch->agent->options.cancel);
	for (size_t i = 0; i < total; i++) {
		struct call *call = &batch->calls[i];

		any_done = any_done || !call->cancelled;
		content_add(ret->message, json_incref(call->answer));
		if (call->fatal && !ret->fatal)
			ret->fatal = call_error_text(call->result);
		missing_note(call);
		if (call->origin != CALL_OF_MODEL)
			continue;
		loop_check_call(batch->agent->loop, call->tool, call->name, call->args,
		                call->result);
	}
	ret->refused = batch->declined && !any_done;
}

/* Several edits that a reply makes of one state are made one on top of the other. */
static void calls_mark_reply(struct agent *agent, struct call *calls, size_t count)
{
	uint64_t reply = (uint64_t)atomic_fetch_add(&agent->top->edit_replies, 1) + 1;
	size_t editors = 0;

	for (size_t i = 0; i < count; i++)
		editors += calls[i].tool && calls[i].tool->plans;
	for (size_t i = 0; i < count && editors > 1; i++)
		calls[i].session.reply = reply;
}

static void run_batch(struct call_batch *batch)
{
	_cleanup_free_ struct call_thread *threads = mem_alloc(batch->count, sizeof(*threads));

	pthread_mutex_init(&batch->lock, NULL);
	pthread_cond_init(&batch->changed, NULL);
	call_round_init(&batch->round, &batch->lock, &batch->changed);
	for (size_t i = 0; i < batch->count; i++) {
		batch->calls[i].round = &batch->round;
		publish_call(batch->agent, &batch->calls[i]);
	}
	run_all(batch, threads);
	refuse_rest(batch);
	call_round_release(&batch->round);
	pthread_cond_destroy(&batch->changed);
	pthread_mutex_destroy(&batch->lock);
}

void calls_run(struct agent *agent, const json_t *content, enum call_origin origin,
               struct calls_outcome *ret)
{
	size_t total = content_call_count(content);
	_cleanup_free_ struct call *calls = mem_alloc(total, sizeof(*calls));
	_cleanup_free_ struct order_call *order = mem_alloc(total, sizeof(*order));
	_cleanup_free_ bool *done = mem_alloc(total, sizeof(*done));
	struct call_batch batch = { .agent = agent, .calls = calls, .order = order, .ended = done };

	*ret = (struct calls_outcome){ 0 };
	total = calls_collect(agent, content, origin, calls);
	batch.count = total < CALLS_MAX ? total : CALLS_MAX;
	calls_mark_reply(agent, calls, batch.count);
	for (size_t i = 0; i < batch.count; i++)
		order[i] = calls[i].order;
	run_batch(&batch);
	too_many(&batch, total);
	batch_summarize(&batch, total, ret);
	for (size_t i = 0; i < total; i++)
		call_release(&calls[i]);
}
