/* SPDX-License-Identifier: Apache-2.0 */
/* The one function that runs every call: names, validation, confirmation, the run. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"
#include "data/json.h"
#include "data/schema.h"
#include "tool/builtin/builtin.h"
#include "tool/dialect.h"
#include "tool/rebase.h"
#include "tool/set.h"
#include "tool/spelling.h"
#include "tool/tool.h"

/* Confirmation: the user is asked before a tool changes something.
 *
 * An edit is planned first (a dry run with a diff), so that the question shows its actual effect.
 * The call that then runs names the state of each file in the plan.  As the same change of the same
 * bytes gives the same result, either the approved content is written or the call fails with
 * state_mismatch.  If the plan fails, that is the result, and no question is asked.
 */

/* A call on its way, after validation. */
struct pending_call {
	const struct tool *tool;
	json_t *arguments;           /* owned by the caller; perhaps replaced */
	json_t *sent;                /* likewise; names that came in place of theirs; or NULL */
	json_t *spelled;             /* borrowed: those of the model's own spelling (spelling.h);
	                              * NULL: the arguments are another's */
	enum call_decision decision; /* with `decided` */
	bool decided;                /* the session has rules; else the tool's kind decides */
	bool followed;               /* made on what an earlier edit of its reply made */
	json_t *denied;              /* owned: by the rules, before its arguments were final */
	bool modified;               /* by the user: `tool` and `arguments` need validation */
	bool again;                  /* the change needs approval itself */
};

/* ---- confirmation ------------------------------------------------------------ */

/* The sha256 of the state that a plan was made on; of nothing, when there is no file. */
static json_t *planned_base(const json_t *plan)
{
	const json_t *state = json_object_get(plan, "latest_file_state");
	json_t *sum = json_object_get(state, "sha256");
	struct sha256 nothing = sha256_of(span_of("", 0));

	return json_is_string(sum) ? json_incref(sum) : json_sha256(&nothing);
}

/* A copy of the arguments of one change that names the state it was planned on. */
static json_t *bound_change(const json_t *change, const json_t *plan)
{
	json_t *bound = json_copy((json_t *)change);
	json_t *base = json_object_get(change, "base_content_sha256");

	/* A file to create has no state, and must not exist when it is created. */
	if ((!json_string_length(base) || span_eq(json_span(base), SPAN(BASE_SEEN))) &&
	    !span_eq(json_span(json_object_get(change, "kind")), SPAN("create")))
		json_object_set_new(bound, "base_content_sha256", planned_base(plan));
	return bound;
}

json_t *tool_bind(const struct tool *tool, const json_t *arguments, const json_t *plan)
{
	const struct tool_info *info = tool->info;
	const size_t count = tool_edit_count(info, arguments);
	json_auto_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, bound_change(tool_edit_at(info, arguments, i),
		                                         tool_edit_at(info, plan, i)));
	return info && info->edit == TOOL_EDIT_MANY ? tool_edits_replaced(arguments, list) :
	                                              json_incref(json_array_get(list, 0));
}

/* Adds what the tool's failures carry, if they carry anything. */
static void explain_failure(struct session *session, const struct tool *tool,
                            const json_t *arguments, json_t *failure)
{
	json_auto_t *bytes = NULL;

	if (!tool->explain)
		return;
	bytes = alias_path_bytes(tool, arguments);
	tool->explain(session, bytes, failure);
}

json_t *tool_plan(struct session *session, const struct tool *tool, const json_t *arguments)
{
	json_auto_t *bytes = NULL, *dry = NULL;

	if (!tool->plans || json_is_true(json_object_get(arguments, "dry_run")))
		return NULL;
	bytes = alias_path_bytes(tool, arguments);
	dry = json_copy(bytes);
	json_object_set_new(dry, "dry_run", json_true());
	json_object_set_new(dry, "return_content", json_string("diff"));
	return tool->run(session, dry);
}

static void drop_content(json_t *result)
{
	json_t *state = json_object_get(result, "latest_file_state");

	if (state)
		json_object_set_new(state, "content", json_null());
}

/* A failed plan as the result of the call, in the form that was asked for. */
static json_t *plan_as_result(const struct session *session, const struct tool *tool,
                              const json_t *arguments, json_t *plan)
{
	const json_t *asked = json_object_get(arguments, "return_content");
	bool none = asked ? span_eq(json_span(asked), SPAN("none")) :
	                    session->return_content == RETURN_NONE;
	json_t *edit;

	if (none)
		drop_content(plan);
	for (size_t i = 0; none && (edit = tool_edit_at(tool->info, plan, i)); i++)
		drop_content(edit);
	return plan;
}

static json_t *denied_result(struct session *session, const struct tool *tool,
                             const json_t *arguments,
                             const struct err *err)
{
	json_t *result = tool_failure(err);

	explain_failure(session, tool, arguments, result);
	return result;
}

static json_t *unconfirmed_result(struct session *session, const struct pending_call *call)
{
	struct err err = ERR_INIT;

	if (tool_requires_more(call->tool, call->arguments))
		err_set(&err, ERR_DENIED_BY_USER,
		        "Denied By User: This run has no way to ask for additional permissions. "
		        "The user can grant them when starting hasp: --net, --write PATH, --read "
		        "PATH. Nothing was run.");
	else
		err_set(&err, ERR_DENIED_BY_USER,
		        "Denied By User: %s must be confirmed, but this run has no way to ask. The "
		        "user can allow it beforehand by a policy rule.",
		        call->tool->name);
	return denied_result(session, call->tool, call->arguments, &err);
}

static bool is_dry_run(const struct pending_call *call)
{
	return call->tool->plans && json_is_true(json_object_get(call->arguments, "dry_run"));
}

static bool call_is_asked_about(const struct session *session, const struct pending_call *call)
{
	if (tool_requires_more(call->tool, call->arguments))
		return true;
	if (call->tool->asks)
		return false;
	if (call->decided)
		return call->decision == CALL_ASK;
	return session->hooks.confirm && tool_kind_changes(tool_kind_of(call->tool)) &&
	       !is_dry_run(call);
}

static bool runs_again(struct session *session, const struct pending_call *call, json_t *result)
{
	const struct call_hooks *hooks = &session->hooks;

	return hooks->again && !session_cancelled(session) &&
	       hooks->again(hooks->data, call->tool, call->arguments, result);
}

/* Binds an edit to the states it is planned on, without asking; a result if it cannot be made. */
static json_t *plan_call(struct session *session, struct pending_call *call, json_t **ret_plan)
{
	json_auto_t *plan = NULL;
	json_t *bound;

	plan = tool_plan(session, call->tool, call->arguments);
	if (!plan)
		return NULL;
	while (tool_result_failed(plan) && runs_again(session, call, plan)) {
		json_decref(plan);
		plan = tool_plan(session, call->tool, call->arguments);
	}
	if (tool_result_failed(plan))
		return plan_as_result(session, call->tool, call->arguments, json_incref(plan));
	bound = tool_bind(call->tool, call->arguments, plan);
	json_decref(call->arguments);
	call->arguments = bound;
	*ret_plan = json_incref(plan);
	return NULL;
}

/* Takes over what who was asked made of the call. */
static void take_modified(struct session *session, struct pending_call *call, json_t *arguments,
                          const char *tool_name)
{
	const struct tool *tool = tool_name ? tool_set_find(session->tools, tool_name) : NULL;

	if (!arguments)
		return;
	json_decref(call->arguments);
	call->arguments = arguments;
	call->spelled = NULL;
	call->modified = true;
	if (tool)
		call->tool = tool;
}

static bool leaves_file(const json_t *change)
{
	const json_t *now = json_object_get(change, "latest_file_state");
	const json_t *then = json_object_get(change, "planned_state");
	const json_t *sum = json_object_get(now, "sha256");

	return json_is_string(sum) && json_equal(sum, json_object_get(then, "sha256")) &&
	       json_equal(json_object_get(now, "file_path"), json_object_get(then, "file_path"));
}

/* An edit after which every file is as it was: there is nothing to ask about, and, as it is bound
 * to these states, nothing that it could write. */
static bool plan_changes_nothing(const struct tool *tool, const json_t *plan)
{
	const json_t *edit;
	size_t count = 0;

	while ((edit = tool_edit_at(tool->info, plan, count)) && leaves_file(edit))
		count++;
	return count && !edit;
}

/* NULL: the call may run. Otherwise the result that it ends with. */
static json_t *confirm_call(struct session *session, struct pending_call *call)
{
	struct err err = ERR_INIT;
	json_auto_t *plan = NULL;
	_cleanup_free_ char *preview = NULL;
	json_t *ended, *modified = NULL;
	const char *modified_tool = NULL;
	struct tool_question question;

	call->again = false;
	if (!call_is_asked_about(session, call))
		return NULL;
	if (!session->hooks.confirm)
		return unconfirmed_result(session, call);
	ended = plan_call(session, call, &plan);
	if (ended || plan_changes_nothing(call->tool, plan))
		return ended;
	if (call->tool->preview &&
	    !(preview = call->tool->preview(session, call->tool, call->arguments, &err)))
		return tool_failure(&err);
	question = (struct tool_question){ call->tool, call->arguments, plan, &modified,
		                           &modified_tool, preview, &call->again };
	if (!session->hooks.confirm(session->hooks.data, &question, &err)) {
		json_decref(modified);
		return denied_result(session, call->tool, call->arguments, &err);
	}
	take_modified(session, call, modified, modified_tool);
	return NULL;
}

/* ---- the call ---------------------------------------------------------------- */

/* A list of problems is for one model's next try. */
enum { PROBLEMS_MAX = 16 << 10 };

static json_t *unknown_tool(const struct session *session, const char *name)
{
	const struct call_hooks *hooks = &session->hooks;
	size_t all = tool_set_count(session->tools), count = 0;
	_cleanup_free_ const char **names = mem_alloc(all + 1, sizeof(*names));
	_cleanup_buf_ struct buf list = BUF_INIT(PROBLEMS_MAX);
	struct span shown = utf8_head(span_str(name), 80);
	struct err err = ERR_INIT;
	const char *near;

	for (size_t i = 0; i < all; i++) {
		const struct tool *tool = tool_set_at(session->tools, i);
		const char *declared = dialect_name_for(session->dialect, tool->name);

		if (!declared || (hooks->offered && !hooks->offered(hooks->data, tool)))
			continue;
		buf_printf(&list, "%s%s", count ? ", " : "", declared);
		names[count++] = declared;
	}
	near = schema_nearest_name(name, names, count);
	err_set(&err, ERR_UNKNOWN_TOOL, "There is no tool \"%.*s\"%s%s. The tools are: %s.",
	        (int)shown.len, shown.data, near ? "; did you mean " : "", near ? near : "",
	        list.len ? list.data : "none");
	return tool_failure(&err);
}

static json_t *invalid_arguments(struct session *session, const struct tool *tool,
                                 const json_t *arguments, const struct buf *problems)
{
	struct err err = ERR_INIT;
	json_t *result;
	_cleanup_free_ char *message = NULL;

	err_set(&err, ERR_INVALID_ARGUMENT, "Invalid arguments.");
	result = tool_failure(&err);
	message = mem_printf("Invalid Arguments: %s.", problems->data);
	json_object_set_new(result, "message", json_cstr(message));
	if (tool_set_is_deferred(session->tools, tool))
		json_object_set_new(result, "declaration", tool_declaration(tool));
	explain_failure(session, tool, arguments, result);
	return result;
}

/* A hash that is none would never match: that is an argument to correct, not a file that changed.
 * "" stands for none given, BASE_SEEN for the session's own. */
static void check_hash(const json_t *object, const char *where, struct buf *problems)
{
	const json_t *value = json_object_get(object, "base_content_sha256");
	struct span text = json_is_string(value) ? span_trim(json_span(value)) : span_of("", 0);
	struct span shown = utf8_head(text, 80);
	struct sha256 sum;

	if (!text.len || span_eq(text, SPAN(BASE_SEEN)) || sha256_parse(text, &sum))
		return;
	buf_printf(problems,
	           "%s%sbase_content_sha256 is no SHA-256: \"%.*s\" has not 64 hexadecimal "
	           "digits; copy it whole from the latest state of the file",
	           problems->len ? "; " : "", where, (int)shown.len, shown.data);
}

static void check_hashes(const struct tool *tool, const json_t *arguments, struct buf *problems)
{
	const json_t *edit;

	for (size_t i = 0; (edit = tool_edit_at(tool->info, arguments, i)); i++) {
		_cleanup_free_ char *where = tool_edit_where(tool->info, i);

		check_hash(edit, where, problems);
	}
}

/* The names of `sent` as the model's own spelling had them; a new reference. */
static json_t *sent_names(const json_t *sent, const json_t *spelled)
{
	json_t *names = json_copy((json_t *)sent), *as;
	const char *name;

	json_object_foreach((json_t *)spelled, name, as)
		if (!json_object_get(names, name))
			json_object_set(names, name, as);
	json_object_foreach((json_t *)sent, name, as) {
		json_t *first = json_object_get(spelled, json_string_value(as));

		if (first)
			json_object_set(names, name, first);
	}
	return names;
}

/* Lines that are put in by number become a patch, for which the file is read: not before the rules
 * were asked. */
static json_t *expand_insert(struct session *session, struct pending_call *call,
                             json_t *arguments, struct buf *problems)
{
	const struct call_hooks *hooks = &session->hooks;
	json_auto_t *asked = NULL;
	struct err err = ERR_INIT;

	if (!call->tool->plans || !json_object_get(arguments, "insert_line"))
		return json_incref(arguments);
	asked = editor_insert_as_patch(arguments);
	if (hooks->denies && hooks->denies(hooks->data, call->tool, asked, &err)) {
		call->denied = denied_result(session, call->tool, asked, &err);
		return json_incref(arguments);
	}
	return editor_expand_insert(session, arguments, problems);
}

/* Canonical names, right types; what is wrong goes to `problems`. */
static json_t *normalise_call(struct session *session, struct pending_call *call,
                              const char *called, const struct schema *schema,
                              const json_t *arguments, struct buf *problems)
{
	const struct tool *tool = call->tool;
	_cleanup_buf_ struct buf more = BUF_INIT(PROBLEMS_MAX);
	json_auto_t *aliases = NULL;
	json_t *renamed, *checked, *expanded;

	if (!json_is_object(arguments))
		return schema_check(schema, (json_t *)arguments, problems);
	renamed = alias_resolve(tool, called, arguments, &aliases, problems);
	call->sent = sent_names(aliases, call->spelled);
	expanded = expand_insert(session, call, renamed, problems);
	json_decref(renamed);
	renamed = rebase_expand(session, tool, expanded, problems);
	json_decref(expanded);
	expanded = renamed;
	checked = schema_check_sent(schema, expanded, call->sent, &more);
	json_decref(expanded);
	if (problems->len && more.len)
		buf_str(problems, "; ");
	buf_span(problems, buf_view(&more));
	if (tool->plans)
		check_hashes(tool, checked, problems);
	if (problems->len || call->followed)
		return checked;
	expanded = rebase_follow(session, tool, checked, &call->followed);
	json_decref(checked);
	return expanded;
}

/* Brings the arguments into their canonical form; what is wrong with them goes to `problems`. */
static bool bring_into_form(struct session *session, const char *called, struct pending_call *call,
                            struct buf *problems, struct err *err)
{
	struct schema *schema;
	json_auto_t *given = call->arguments;

	call->arguments = NULL;
	json_decref(call->sent);
	call->sent = NULL;
	if (!session_schema(session, call->tool, &schema, err)) {
		call->arguments = json_incref(given);
		return false;
	}
	if (schema) {
		call->arguments = normalise_call(session, call, called, schema, given, problems);
	} else {
		call->arguments = json_incref(given);
		if (!json_is_object(given))
			buf_printf(problems, "arguments must be an object, not %s",
			           json_type_phrase(given));
	}
	return true;
}

/* The same; a result if they cannot be. */
static json_t *validate_call(struct session *session, const char *called, struct pending_call *call)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(PROBLEMS_MAX);
	struct err err = ERR_INIT;

	if (!bring_into_form(session, called, call, &problems, &err))
		return tool_failure(&err);
	if (call->denied)
		return mem_steal(&call->denied);
	return problems.len ?
	               invalid_arguments(session, call->tool, call->arguments, &problems) :
	               NULL;
}

/* Hooks may change the arguments, once; then these are validated like the model's. */
static json_t *run_before(struct session *session, const char *called, struct pending_call *call,
                          bool *ask)
{
	json_auto_t *before = json_incref(call->arguments); /* held: its address is compared */
	json_t *ended;

	if (!session->hooks.before)
		return NULL;
	ended = session->hooks.before(session->hooks.data, call->tool, &call->arguments, ask);
	if (ended || call->arguments == before)
		return ended;
	call->spelled = NULL;
	ended = validate_call(session, called, call);
	/* What is written then is not what the model sent: it has to see it. */
	if (!ended && call->tool->plans && session->return_content == RETURN_NEW &&
	    !json_object_get(call->arguments, "return_content")) {
		json_t *shown = json_copy(call->arguments);

		json_object_set_new(shown, "return_content", json_string("diff"));
		json_decref(call->arguments);
		call->arguments = shown;
	}
	return ended;
}

static json_t *call_decide(struct session *session, struct pending_call *call, bool ask)
{
	struct err err = ERR_INIT;
	json_t *result;

	call->decided = session->hooks.decide != NULL || ask;
	call->decision = ask ? CALL_ASK : CALL_ALLOW;
	if (!session->hooks.decide)
		return NULL;
	call->decision = session->hooks.decide(session->hooks.data, call->tool, call->arguments,
	                                       &err);
	if (call->decision == CALL_ALLOW && ask)
		call->decision = CALL_ASK;
	if (call->decision != CALL_DENY)
		return NULL;
	result = tool_failure(&err);
	explain_failure(session, call->tool, call->arguments, result);
	return result;
}

static json_t *call_check(struct session *session, const struct pending_call *call)
{
	struct err err = ERR_INIT;

	return !call->tool->check || call->tool->check(session, call->arguments, &err) ?
	               NULL : tool_failure(&err);
}

/* A call modified by the user is validated like the model's, and bound to the files' states; it
 * needs no second confirmation. */
static json_t *accept_modified(struct session *session, struct pending_call *call)
{
	json_auto_t *plan = NULL;
	json_t *ended;

	if (!call->modified)
		return NULL;
	if ((ended = validate_call(session, call->tool->name, call)) ||
	    (ended = call_check(session, call)))
		return ended;
	return plan_call(session, call, &plan);
}

/* Where several people must approve, they are asked again about what one of them changed. */
static json_t *settle_call(struct session *session, struct pending_call *call)
{
	json_t *ended;

	do {
		if ((ended = confirm_call(session, call)) ||
		    (ended = accept_modified(session, call)))
			return ended;
		call->modified = false;
	} while (call->again);
	return NULL;
}

/* Every result of hasp's own tools says whether it is a success; failures say it themselves. */
static json_t *with_success(json_t *result)
{
	json_t *whole;

	if (!json_is_object(result) || json_object_get(result, "success"))
		return result;
	whole = json_object();
	json_object_set_new(whole, "success", json_true());
	json_object_update_new(whole, result);
	return whole;
}

static json_t *call_run_once(struct session *session, const struct pending_call *call)
{
	json_auto_t *arguments = alias_path_bytes(call->tool, call->arguments);

	return call->tool->run_as ? call->tool->run_as(session, call->tool, arguments) :
	                            with_success(call->tool->run(session, arguments));
}

static json_t *call_run_handler(struct session *session, const struct pending_call *call)
{
	struct err err = ERR_INIT;
	json_t *result;

	if (session_cancelled(session)) {
		err_set(&err, ERR_CANCELLED, "The call was cancelled; nothing was done.");
		return tool_failure(&err);
	}
	result = call_run_once(session, call);
	while (runs_again(session, call, result)) {
		json_decref(result);
		result = call_run_once(session, call);
	}
	if (session->hooks.after)
		session->hooks.after(session->hooks.data, call->tool, call->arguments, &result);
	return result;
}

static bool has_word(struct span text, struct span word)
{
	const char *at;

	while (text.len && (at = memmem(text.data, text.len, word.data, word.len))) {
		size_t before = (size_t)(at - text.data);
		struct span after = span_skip(text, before + word.len);

		if ((!before || (!ascii_is_alnum(at[-1]) && at[-1] != '_')) &&
		    (!after.len || (!ascii_is_alnum(after.data[0]) && after.data[0] != '_')))
			return true;
		text = after;
	}
	return false;
}

/* What is added to it where it counts from 0 and the canonical name from 1. */
static int alias_offset(const struct tool *tool, const char *alias)
{
	const struct tool_alias *row = tool->parameter_aliases;

	while (row && row->alias && strcmp(row->alias, alias) != 0)
		row++;
	return row && row->alias ? row->offset_by : 0;
}

/* Handlers know the canonical names alone: where the message of a failure has one, it also gets the
 * name that the call has in its place, and of what counts otherwise the number. */
static void name_as_sent(const struct pending_call *call, json_t *result)
{
	json_t *message = json_object_get(result, "message"), *as;
	_cleanup_buf_ struct buf text = BUF_INIT(PROBLEMS_MAX + (64 << 10));
	const char *name;

	if (!json_is_string(message) || !json_object_size(call->sent) ||
	    !tool_result_failed(result))
		return;
	buf_span(&text, json_span(message));
	json_object_foreach(call->sent, name, as) {
		int offset = alias_offset(call->tool, json_string_value(as));
		json_int_t value = json_integer_value(json_object_get(call->arguments, name));

		if (!has_word(json_span(message), span_str(name)) ||
		    has_word(json_span(message), json_span(as)))
			continue;
		if (offset)
			buf_printf(&text, " (This call has %s %lld, which is %s %lld.)",
			           json_string_value(as), (long long)value - offset, name,
			           (long long)value);
		else
			buf_printf(&text, " (%s is %s in this call.)", name, json_string_value(as));
	}
	if (text.len > json_string_length(message))
		json_object_set_new(result, "message", json_text(buf_view(&text)));
}

/* The state that the call named was not on disk, but what the edits before it made of that. */
static void say_followed(const struct pending_call *call, json_t *result)
{
	_cleanup_buf_ struct buf text = BUF_INIT(PROBLEMS_MAX + (64 << 10));

	if (!call->followed || tool_result_failed(result))
		return;
	buf_span(&text, json_span(json_object_get(result, "message")));
	buf_str(&text, " It was made on top of the edits before it in the same reply, which it "
	               "does not touch.");
	json_object_set_new(result, "message", json_text(buf_view(&text)));
}

/* The order of every call. */
static json_t *go_through(struct session *session, const char *called, struct pending_call *call)
{
	bool ask = false;
	json_t *ended;

	if ((ended = validate_call(session, called, call)) ||
	    (ended = run_before(session, called, call, &ask)) ||
	    (ended = call_check(session, call)) ||
	    (ended = call_decide(session, call, ask)) ||
	    (ended = settle_call(session, call)))
		return ended;
	return call_run_handler(session, call);
}

/* A tool of hasp's may be called as another product's model calls its own; others' tools mean what
 * they say.  NULL: there is no such tool. */
static const struct tool *read_spelling(const struct session *session, const char *name,
                                        const json_t *arguments, struct buf *problems,
                                        struct spelled_call *ret)
{
	const struct tool *tool = tool_set_find(session->tools, name);

	if (tool && tool_info_of(tool->name))
		spelling_read(name, arguments, problems, ret);
	else
		*ret = (struct spelled_call){
			.name = name,
			.arguments = arguments ? json_incref((json_t *)arguments) : json_object(),
		};
	return tool_set_find(session->tools, ret->name);
}

json_t *tool_call(struct session *session, const char *name, const json_t *arguments)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(PROBLEMS_MAX);
	struct spelled_call spelled;
	struct pending_call call = { 0 };
	json_t *result;

	call.tool = read_spelling(session, name, arguments, &problems, &spelled);
	call.arguments = json_incref(spelled.arguments);
	call.spelled = spelled.sent;
	if (!call.tool)
		result = unknown_tool(session, name);
	else if (problems.len)
		result = invalid_arguments(session, call.tool, call.arguments, &problems);
	else
		result = go_through(session, spelled.name, &call);
	name_as_sent(&call, result);
	say_followed(&call, result);
	json_decref(call.arguments);
	json_decref(call.sent);
	spelling_release(&spelled);
	return result;
}

/* ---- calls in two steps ----------------------------------------------------- */

struct started_call {
	struct pending_call call; /* its arguments are owned */
	void *started;            /* the tool's */
};

static void started_call_free(struct started_call *started)
{
	json_decref(started->call.arguments);
	json_decref(started->call.sent);
	free(started);
}

static bool call_can_begin(const struct session *session, const struct tool *tool)
{
	const struct call_hooks *hooks = &session->hooks;

	return tool && tool->begin && !hooks->before && !hooks->decide && !hooks->after &&
	       (!tool_kind_changes(tool_kind_of(tool)) || (hooks->ready && !hooks->confirm));
}

struct started_call *tool_call_begin(struct session *session, const char *name,
                                     const json_t *arguments)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(PROBLEMS_MAX);
	struct err err = ERR_INIT;
	struct started_call *started;
	struct spelled_call spelled;
	const struct tool *tool;

	if (!arguments || !call_can_begin(session, tool_set_find(session->tools, name)))
		return NULL;
	tool = read_spelling(session, name, arguments, &problems, &spelled);
	started = mem_alloc(1, sizeof(*started));
	started->call = (struct pending_call){ .tool = tool, .spelled = spelled.sent,
		                             .arguments = json_incref(spelled.arguments) };
	/* tool_call explains the errors, which may require reading files. */
	if (!problems.len && call_can_begin(session, tool) &&
	    bring_into_form(session, spelled.name, &started->call, &problems, &err) &&
	    !problems.len && !session_cancelled(session)) {
		json_auto_t *given = started->call.arguments;

		started->call.arguments = alias_path_bytes(tool, given);
		started->started = tool->begin(session, started->call.arguments);
	}
	started->call.spelled = NULL;
	spelling_release(&spelled);
	if (started->started)
		return started;
	started_call_free(started);
	return NULL;
}

json_t *tool_call_end(struct session *session, struct started_call *started)
{
	json_t *result = with_success(started->call.tool->end(session, started->call.arguments,
	                                                      started->started));

	name_as_sent(&started->call, result);
	started_call_free(started);
	return result;
}
