/* SPDX-License-Identifier: Apache-2.0 */
/* tools/call: runs handlers, starts edits, reports denials. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/offer/calls.h"
#include "mcp/offer/conversation.h"
#include "mcp/offer/offer.h"
#include "mcp/offer/opened.h"
#include "tool/answer.h"

/* ---- denials ----------------------------------------------------------------- */

/* What the sandbox denied, as messages of the client's log.
 *
 * The model has it in the result; the person at the client may only see the log.
 */

static void log_denial(struct mcp_call *call, const json_t *message, const json_t *denial)
{
	json_t *data = json_object();

	json_object_set(data, "message", (json_t *)message);
	if (denial)
		json_object_set(data, "denial", (json_t *)denial);
	mcp_call_log(call, MCP_WARNING, "sandbox", data);
}

static void log_denial_of_error(struct mcp_call *call, const json_t *result)
{
	const json_t *error = json_object_get(result, "error");
	const json_t *denial = json_object_get(error, "denial");

	if (denial)
		log_denial(call, json_object_get(denial, "message"), denial);
	else if (span_eq(json_span(json_object_get(error, "code")), SPAN("denied_by_sandbox")))
		log_denial(call, json_object_get(result, "message"), NULL);
}

/* Each file of several that were read, or changed together: the whole says the same as the
 * first. */
static void log_each_denial(struct mcp_call *call, const json_t *parts)
{
	size_t i;
	json_t *part;

	json_array_foreach(parts, i, part)
		log_denial_of_error(call, part);
}

/* call.c: logs what the sandbox denied to a call. */
static void denied_log(struct mcp_call *call, const json_t *result)
{
	const json_t *denials = json_object_get(result, "denials");
	const json_t *changes = json_object_get(result, "changes");
	const json_t *error = json_object_get(result, "error");
	size_t i;
	json_t *denial;

	json_array_foreach(denials, i, denial)
		log_denial(call, json_object_get(denial, "message"), denial);
	if (json_is_array(result))
		log_each_denial(call, result);
	else if (json_array_size(changes) && json_object_get(error, "denial"))
		log_each_denial(call, changes);
	else if (!json_array_size(denials))
		log_denial_of_error(call, result);
}

/* ---- edits in flight: the list ------------------------------------------------ */

enum {
	PROBLEMS_BYTES = 4096,
	STARTED_MAX = 64,  /* each is one of the worker's LIMIT_WIRE_CALLS */
	/* How often a worker that says nothing is looked after; and how long its workspace stays
	 * open for the next edit. */
	LOOK_MS = 5000,
};

/* The edits in flight of one workspace. */
struct edit_batch {
	struct edit_batch *next;
	struct started_edits *list;
	struct opened_workspace *opened;    /* reference */
	struct loop_watch *watch; /* NULL: the loop cannot watch it; then the timer has to do */
	struct loop_timer *timer;
	size_t edits;
	bool used;   /* since the timer fired */
	bool unsent;
};

struct started_edits {
	struct loop_task task; /* first: the two are cast into each other */
	struct loop *loop;
	struct edit_batch *batches;
	struct edit_in_flight *edits;
	size_t count;
	bool posted, stopped;
};

static struct provider *provider_of(const struct edit_batch *batch)
{
	return batch->opened->provider;
}

static void batch_take_answers(void *data)
{
	struct edit_batch *batch = data;

	provider_of(batch)->ops->take(provider_of(batch));
}

static void batch_close(struct edit_batch *batch)
{
	struct edit_batch **at = &batch->list->batches;

	while (*at != batch)
		at = &(*at)->next;
	*at = batch->next;
	loop_watch_stop(batch->watch);
	loop_timer_stop(batch->timer);
	opened_put(batch->opened);
	free(batch);
}

static void batch_on_timer(void *data)
{
	struct edit_batch *batch = data;

	if (batch->edits)
		batch_take_answers(batch);
	else if (!batch->used)
		batch_close(batch);
	else
		batch->used = false;
}

static void close_unused_batches(struct started_edits *list)
{
	for (struct edit_batch *batch = list->batches, *next; batch; batch = next) {
		next = batch->next;
		if (!batch->edits)
			batch_close(batch);
	}
}

static struct edit_batch *batch_of(struct started_edits *list, struct opened_workspace *opened)
{
	struct provider *provider = opened->provider;
	struct edit_batch *batch = list->batches;

	while (batch && batch->opened != opened)
		batch = batch->next;
	if (batch)
		return batch;
	close_unused_batches(list); /* the workspace has changed */
	batch = mem_alloc(1, sizeof(*batch));
	*batch = (struct edit_batch){ .next = list->batches, .list = list,
		                      .opened = opened_ref(opened) };
	list->batches = batch;
	batch->watch = loop_watch_start(list->loop, provider->ops->ready_fd(provider),
	                                batch_take_answers, batch);
	batch->timer = loop_timer_start(list->loop, LOOK_MS, LOOK_MS, batch_on_timer, batch);
	return batch;
}

static void send_started(struct loop_task *task)
{
	struct started_edits *list = (struct started_edits *)task;

	list->posted = false;
	for (struct edit_batch *batch = list->batches; batch; batch = batch->next) {
		if (batch->unsent)
			provider_of(batch)->ops->flush(provider_of(batch));
		batch->unsent = false;
	}
}

struct started_edits *call_started_new(struct loop *loop)
{
	struct started_edits *list = mem_alloc(1, sizeof(*list));

	list->task.run = send_started;
	list->loop = loop;
	return list;
}

void call_started_free(struct started_edits *list)
{
	free(list);
}

static void started_add(struct started_edits *list, struct opened_workspace *opened,
                      struct edit_in_flight *edit)
{
	struct edit_batch *batch = batch_of(list, opened);

	edit->batch = batch;
	batch->edits++;
	batch->used = batch->unsent = true;
	edit->next = list->edits;
	edit->at = &list->edits;
	if (edit->next)
		edit->next->at = &edit->next;
	list->edits = edit;
	list->count++;
	if (!list->posted)
		loop_post(list->loop, &list->task);
	list->posted = true;
}

static void started_ready(struct edit_in_flight *edit, bool here)
{
	if (!atomic_exchange(&edit->reported, true))
		edit->arrived(edit, here);
}

static void started_remove(struct started_edits *list, struct edit_in_flight *edit)
{
	*edit->at = edit->next;
	if (edit->next)
		edit->next->at = edit->at;
	list->count--;
	edit->batch->edits--;
	if (list->stopped)
		close_unused_batches(list);
}

void call_started_stop(struct started_edits *list)
{
	for (struct edit_in_flight *edit = list->edits, *next; edit; edit = next) {
		next = edit->next;
		started_ready(edit, /* here= */ false);
	}
	list->stopped = true;
	close_unused_batches(list);
}

/* ---- calls ------------------------------------------------------------------- */

/* tools/call.
 *
 * Handlers start on the loop's thread, in the order in which the calls arrived.  There a call waits
 * for the roots, if they are not known yet; a read is tried immediately, or started, and finished
 * when the calls that arrived with it have been started too; an edit queues behind the others of
 * its files.  An edit without one before it is started, and finished when its answer arrives.  The
 * rest runs on the pool.
 */

struct work {
	struct turn turn;       /* first: the two are cast into each other */
	struct waiting_call waiting;
	struct mcp_call *call;
	const struct offered *offered;
	struct conversation *conversation;
	struct opened_workspace *opened; /* reference */
	bool pending;          /* the client has to answer first, and to come back */
	bool hook_asks;        /* a hook requires confirmation, whatever the options say */
	bool missed;           /* it could not be answered immediately */
	struct started_call *started; /* or NULL */
	struct edit_in_flight edit;   /* of an edit in flight */
	bool here;                /* and its answer is */
	bool starting;            /* its turn is taken on the loop's thread, which goes on */
};

/* ---- the result ------------------------------------------------------------- */

/* Leaves out of an editor's result what may be large; it says so. */
static void drop_contents(json_t *result)
{
	static const char *const states[] = { "latest_file_state", "planned_state" };

	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		json_t *state = json_object_get(result, states[i]);

		if (state)
			json_object_set_new(state, "content", json_null());
	}
	json_object_del(result, "diff");
	if (json_object_get(result, "latest_file_state"))
		json_object_set_new(result, "note", json_string(
			"The content is too large to be sent; read the part that is needed."));
}

static json_t *without_contents(json_t *result)
{
	struct err err = ERR_INIT;
	size_t i;
	json_t *change;

	if (json_object_get(result, "latest_file_state") || json_object_get(result, "changes")) {
		drop_contents(result);
		json_array_foreach(json_object_get(result, "changes"), i, change)
			drop_contents(change);
		return result;
	}
	json_decref(result);
	err_set(&err, ERR_TOO_LARGE,
	        "The result is larger than a message can be (%zu bytes with both its copies).",
	        LIMIT_MESSAGE_BYTES);
	return tool_failure(&err);
}

/* Takes the result over. */
static void work_answer(struct work *work, json_t *result, struct paper *paper)
{
	const struct offered_names *names = &work->offered->serve->names;
	const char *level = opened_level(work->opened);

	json_t *whole = result;

	denied_log(work->call, result);
	result = answer_for_model(conversation_session(work->conversation),
	                          work->offered->item->tool, mcp_call_arguments(work->call), whole,
	                          NULL);
	json_decref(whole);
	if (!result_print(result, names, level, &paper->raw, &paper->text)) {
		buf_release(&paper->raw);
		buf_release(&paper->text);
		result = without_contents(result);
		result_print(result, names, level, &paper->raw, &paper->text);
	}
	json_decref(result);
	mcp_call_result_view(work->call, buf_view(&paper->text));
}

/* With memory that is warm already. */
static void answer_on_loop(struct work *work, json_t *result)
{
	struct paper *paper = &work->offered->serve->paper;

	work_answer(work, result, paper);
	paper_clear(paper, PAPER_KEPT);
}

/* ---- the run ---------------------------------------------------------------- */

/* Whether this server asks about all calls of such tools. */
static bool server_confirms(const struct serve *serve, const struct tool *tool)
{
	return serve->options.confirm == SERVE_CONFIRM_ALL ||
	       (serve->options.confirm == SERVE_CONFIRM_COMMANDS &&
	        tool_kind_of(tool) == TOOL_KIND_EXECUTE);
}

static bool confirm(void *data, const struct tool_question *question, struct err *err)
{
	struct work *work = data;

	if (!server_confirms(work->offered->serve, question->tool) && !work->hook_asks &&
	    !tool_requires_more(question->tool, question->arguments))
		return true;
	return confirm_ask(work->call, &work->offered->serve->names, question, &work->pending, err);
}

static void report_progress(void *data, size_t done, size_t total)
{
	struct work *work = data;

	mcp_call_progress(work->call, (double)done, (double)total, NULL);
}

/* Calls that only wait hold up no others, however few processors there are. */
static void work_wait_begin(void *data)
{
	pool_wait_begin(((struct work *)data)->offered->serve->options.pool);
}

static void work_wait_end(void *data)
{
	pool_wait_end(((struct work *)data)->offered->serve->options.pool);
}

static void answer_is_ready(void *data, bool here)
{
	started_ready(&((struct work *)data)->edit, here);
}

/* Of the conversation, without what stands around its calls. */
static struct session bare_session(const struct work *work)
{
	struct session session = *conversation_session(work->conversation);

	session.provider = work->opened->provider;
	return session;
}

/* A hook may take its time: on the loop's thread the call is missed, and made on the pool. */
static json_t *work_before(void *data, const struct tool *tool, json_t **arguments, bool *ask)
{
	struct work *work = data;
	const struct serve_options *options = &work->offered->serve->options;
	struct session session = bare_session(work);
	json_t *ended = options->before(options->hooks_data, &session, tool, arguments, ask);

	work->hook_asks = *ask;
	return ended;
}

static json_t *work_missed(void *data, const struct tool *tool, json_t **arguments, bool *ask)
{
	(void)tool;
	(void)arguments;
	(void)ask;
	((struct work *)data)->missed = true;
	return json_object();
}

static void work_after(void *data, const struct tool *tool, const json_t *arguments,
                       json_t **result)
{
	struct work *work = data;
	const struct serve_options *options = &work->offered->serve->options;
	struct session session = bare_session(work);

	options->after(options->hooks_data, &session, tool, arguments, result);
}

static struct session session_of(struct work *work, bool at_once)
{
	const bool hooked = work->offered->serve->options.before != NULL;
	struct session session = bare_session(work);
	const struct tool *tool = work->offered->item->tool;
	const enum tool_kind kind = tool_kind_of(tool);

	session.hooks = (struct call_hooks){
		.before = !hooked ? NULL : at_once ? work_missed : work_before,
		.after = hooked ? work_after : NULL,
		/* An edit is planned before it is asked about: not without need. */
		.confirm = hooked || kind == TOOL_KIND_EXECUTE ||
		                   server_confirms(work->offered->serve, tool) ? confirm : NULL,
		.progress = report_progress,
		.wait_begin = at_once ? NULL : work_wait_begin,
		.wait_end = at_once ? NULL : work_wait_end,
		.cancel = mcp_call_cancel(work->call),
		.not_at_once = at_once ? &work->missed : NULL,
		.ready = at_once ? answer_is_ready : NULL,
		.data = work,
	};
	return session;
}

static json_t *work_run(struct work *work, bool at_once)
{
	struct session session = session_of(work, at_once);

	return tool_call(&session, work->offered->item->tool->name,
	                 mcp_call_arguments(work->call));
}

static void work_free(struct work *work)
{
	opened_put(work->opened);
	free(work);
}

static void work_run_on_pool(struct mcp_call *call, void *data)
{
	struct work *work = data;
	struct turns *turns = work->offered->serve->turns;
	struct session session = session_of(work, /* at_once= */ false);
	json_t *result;

	conversation_announce(work->conversation, call);
	result = work->started ? tool_call_end(&session, mem_steal(&work->started)) :
	                       work_run(work, /* at_once= */ false);
	/* Those behind may begin before the answer is on its way: the file is as it will be. */
	turns_done(turns, &work->turn);
	if (work->pending) {
		json_decref(result);
		mcp_call_pending(call);
	} else {
		struct paper paper = PAPER_INIT;

		work_answer(work, result, &paper);
		paper_clear(&paper, 0);
	}
	conversation_put(work->conversation, mem_steal(&work->opened));
	work_free(work);
}

/* ---- when and where --------------------------------------------------------- */

static void work_go(struct turn *turn)
{
	struct work *work = (struct work *)turn;

	if (work->starting)
		work->starting = false;
	else
		mcp_call_resume(work->call, work_run_on_pool, work);
}

/* One key for all spellings of a path that differ only in "." and slashes, and in whether they
 * begin at the first root. What links make equal is left to the store. */
static char *path_key(const struct opened_workspace *opened, const char *path)
{
	const char *root = opened->provider->ops->root(opened->provider, 0);
	char *key = path[0] == '/' || !root ? mem_printf("/%s", path) :
	                                      mem_printf("/%s/%s", root, path);
	char *out = key;

	for (const char *in = key; *in;) {
		size_t skip = strspn(in, "/");
		size_t len = strcspn(in + skip, "/");

		if (len && !(len == 1 && in[skip] == '.')) {
			*out++ = '/';
			memmove(out, in + skip, len);
			out += len;
		}
		in += skip + len;
	}
	*out = '\0';
	return key;
}

/* The files that a call names, as keys. */
struct file_keys {
	const struct opened_workspace *opened;
	char **items; /* owned, and what they point to */
	size_t count, room;
};

static void keys_release(struct file_keys *keys)
{
	for (size_t i = 0; i < keys->count; i++)
		free(keys->items[i]);
	free(keys->items);
}

static void add_keys(struct file_keys *keys, const struct work *work)
{
	const struct tool *tool = work->offered->item->tool;
	_cleanup_buf_ struct buf problems = BUF_INIT(PROBLEMS_BYTES);
	const json_t *sent = mcp_call_arguments(work->call);
	json_auto_t *arguments = json_is_object(sent) ?
		alias_resolve(tool, tool->name, sent, NULL, &problems) : NULL;
	struct tool_place place = { 0 };

	while (tool_place_next(tool->info, arguments, &place)) {
		keys->items = mem_grow(keys->items, &keys->room, keys->count + 1,
		                       sizeof(*keys->items));
		keys->items[keys->count++] = path_key(keys->opened,
		                                      json_string_value(place.path));
	}
}

static void take_turn(struct work *work, bool always)
{
	struct turns *turns = work->offered->serve->turns;
	__attribute__((cleanup(keys_release))) struct file_keys keys = { .opened = work->opened };
	bool busy = always;

	add_keys(&keys, work);
	for (size_t i = 0; i < keys.count && !busy; i++)
		busy = turns_busy(turns, keys.items[i]);
	turns_take(turns, &work->turn, (const char *const *)keys.items, busy ? keys.count : 0);
}

/* Whether a read has to wait for edits of its file that arrived before it. */
static bool has_to_wait(const struct work *work)
{
	__attribute__((cleanup(keys_release))) struct file_keys keys = { .opened = work->opened };
	bool busy = false;

	if (!turns_any(work->offered->serve->turns))
		return false;
	add_keys(&keys, work);
	for (size_t i = 0; i < keys.count && !busy; i++)
		busy = turns_busy(work->offered->serve->turns, keys.items[i]);
	return busy;
}

/* After the immediate attempt: answers, or moves the call to the pool. */
static void finish_at_once(struct work *work, json_t *result)
{
	if (!work->missed) {
		conversation_announce(work->conversation, work->call);
		answer_on_loop(work, result);
		work_free(work);
		return;
	}
	json_decref(result);
	mcp_call_hold(work->call);
	take_turn(work, /* always= */ false);
}

static void end_started(struct mcp_call *call, void *data)
{
	struct work *work = data;
	struct session session = session_of(work, /* at_once= */ true);

	(void)call;
	work->offered->serve->reads_started--;
	finish_at_once(work, tool_call_end(&session, mem_steal(&work->started)));
}

static void try_at_once(struct work *work)
{
	struct session session = session_of(work, /* at_once= */ true);
	struct serve *serve = work->offered->serve;

	if (mcp_call_shares_stream(work->call) && serve->reads_started < LIMIT_READS_STARTED)
		work->started = tool_call_begin(&session, work->offered->item->tool->name,
		                              mcp_call_arguments(work->call));
	if (!work->started) {
		finish_at_once(work, work_run(work, /* at_once= */ true));
		return;
	}
	serve->reads_started++;
	mcp_call_later(work->call, end_started, work);
}

/* ---- edits in flight: the call ----------------------------------------------- */

static void run_elsewhere(struct work *work)
{
	mcp_call_hold(work->call);
	mcp_call_resume(work->call, work_run_on_pool, work);
}

/* On any thread. */
static void edit_arrived(struct edit_in_flight *edit, bool here)
{
	struct work *work = (struct work *)((char *)edit - offsetof(struct work, edit));

	work->here = here;
	mcp_call_arrived(work->call);
}

static void end_edit(struct mcp_call *call, void *data)
{
	struct work *work = data;
	struct serve *serve = work->offered->serve;
	struct session session = session_of(work, /* at_once= */ true);
	json_t *result;

	if (work->started)
		started_remove(serve->edits, &work->edit);
	if (!work->here) {
		run_elsewhere(work);
		return;
	}
	result = tool_call_end(&session, mem_steal(&work->started));
	if (work->missed) {
		json_decref(result);
		run_elsewhere(work);
		return;
	}
	turns_done(serve->turns, &work->turn);
	conversation_announce(work->conversation, call);
	answer_on_loop(work, result);
	work_free(work);
}

/* No file of it is being edited. */
static void begin_edit(struct work *work)
{
	struct session session = session_of(work, /* at_once= */ true);
	struct serve *serve = work->offered->serve;

	work->starting = true;
	take_turn(work, /* always= */ true);
	work->edit.arrived = edit_arrived;
	/* First: another thread may say at any time that it has arrived. */
	mcp_call_await(work->call, end_edit, work);
	work->started = tool_call_begin(&session, work->offered->item->tool->name,
	                              mcp_call_arguments(work->call));
	if (work->started)
		started_add(serve->edits, work->opened, &work->edit);
	else
		edit_arrived(&work->edit, /* here= */ false);
}

static bool edit_may_begin(const struct work *work)
{
	return work->offered->starts_on_loop && mcp_call_shares_stream(work->call) &&
	       work->offered->serve->edits->count < STARTED_MAX && !has_to_wait(work);
}

/* With the workspace known; `held`: the call has been taken from the loop's thread before. */
static void work_start(struct work *work, bool held)
{
	const struct offered *offered = work->offered;

	work->opened = conversation_open(work->conversation, NULL);
	if (!held && offered->at_once && !has_to_wait(work)) {
		try_at_once(work);
		return;
	}
	if (!held && edit_may_begin(work)) {
		begin_edit(work);
		return;
	}
	if (!held)
		mcp_call_hold(work->call);
	take_turn(work, /* always= */ tool_kind_changes(tool_kind_of(offered->item->tool)));
}

static void work_start_late(struct waiting_call *waiting)
{
	work_start((struct work *)((char *)waiting - offsetof(struct work, waiting)),
	           /* held= */ true);
}

void call_tool(struct mcp_call *call, void *data)
{
	struct work *work = mem_alloc(1, sizeof(*work));

	*work = (struct work){
		.turn.go = work_go,
		.waiting.go = work_start_late,
		.call = call,
		.offered = data,
		.conversation = mcp_call_session(call),
	};
	if (conversation_is_settled(work->conversation, call)) {
		work_start(work, /* held= */ false);
		return;
	}
	mcp_call_hold(call);
	conversation_wait(work->conversation, &work->waiting);
}
