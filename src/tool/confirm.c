/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/confirm.h"

#include "base/mem.h"
#include "data/json.h"
#include "tool/alias.h"
#include "tool/set.h"

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

	if (!json_string_length(base))
		json_object_set_new(bound, "base_content_sha256", planned_base(plan));
	return bound;
}

static json_t *bound_arguments(const json_t *arguments, const json_t *plan)
{
	const json_t *changes = json_object_get(arguments, "changes");
	const json_t *plans = json_object_get(plan, "changes");
	json_t *all, *list;

	if (!json_is_array(changes))
		return bound_change(arguments, plan);
	all = json_copy((json_t *)arguments);
	list = json_array();
	for (size_t i = 0; i < json_array_size(changes); i++)
		json_array_append_new(list, bound_change(json_array_get(changes, i),
		                                         json_array_get(plans, i)));
	json_object_set_new(all, "changes", list);
	return all;
}

void explain_failure(struct session *session, const struct tool *tool, const json_t *arguments,
                     json_t *failure)
{
	json_auto_t *bytes = NULL;

	if (!tool->explain)
		return;
	bytes = alias_path_bytes(tool, arguments);
	tool->explain(session, bytes, failure);
}

static json_t *make_plan(struct session *session, const struct tool *tool,
                         const json_t *arguments)
{
	json_auto_t *bytes = alias_path_bytes(tool, arguments);
	json_auto_t *dry = json_copy(bytes);

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
static json_t *plan_as_result(const struct session *session, const json_t *arguments, json_t *plan)
{
	const json_t *asked = json_object_get(arguments, "return_content");
	bool none = asked ? span_eq(json_span(asked), SPAN("none")) :
	                    session->return_content == RETURN_NONE;
	size_t i;
	json_t *change;

	if (none) {
		drop_content(plan);
		json_array_foreach(json_object_get(plan, "changes"), i, change)
			drop_content(change);
	}
	return plan;
}

static json_t *denied(struct session *session, const struct tool *tool, const json_t *arguments,
                      const struct err *err)
{
	json_t *result = tool_failure(err);

	explain_failure(session, tool, arguments, result);
	return result;
}

bool tool_wants_more(const json_t *arguments)
{
	const json_t *more = json_object_get(arguments, "additional_permissions");
	const json_t *files = json_object_get(more, "fileSystem");

	return json_is_true(json_object_get(more, "network")) ||
	       json_array_size(json_object_get(files, "read")) ||
	       json_array_size(json_object_get(files, "write"));
}

static json_t *nobody_to_ask(struct session *session, const struct pending_call *call)
{
	struct err err = ERR_INIT;

	if (tool_wants_more(call->arguments))
		err_set(&err, ERR_DENIED_BY_USER,
		        "Denied By User: Nobody can be asked here about additional permissions. The "
		        "user can give them when hasp is started: --net, --write PATH, --read PATH. "
		        "Nothing was run.");
	else
		err_set(&err, ERR_DENIED_BY_USER,
		        "Denied By User: %s has to be confirmed, and nobody can be asked here. The user "
		        "can allow it beforehand by a policy rule.",
		        call->tool->name);
	return denied(session, call->tool, call->arguments, &err);
}

static bool is_dry_run(const struct pending_call *call)
{
	return call->tool->plans && json_is_true(json_object_get(call->arguments, "dry_run"));
}

static bool is_asked_about(const struct session *session, const struct pending_call *call)
{
	if (tool_wants_more(call->arguments))
		return true;
	if (call->tool->asks)
		return false;
	if (call->decided)
		return call->decision == CALL_ASK;
	return session->hooks.confirm && tool_kind_changes(call->tool->kind) && !is_dry_run(call);
}

json_t *plan_call(struct session *session, struct pending_call *call, json_t **ret_plan)
{
	json_auto_t *plan = NULL;
	json_t *bound;

	if (!call->tool->plans || is_dry_run(call))
		return NULL;
	plan = make_plan(session, call->tool, call->arguments);
	if (tool_result_failed(plan))
		return plan_as_result(session, call->arguments, json_incref(plan));
	bound = bound_arguments(call->arguments, plan);
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
	call->modified = true;
	if (tool)
		call->tool = tool;
}

json_t *confirm_call(struct session *session, struct pending_call *call)
{
	struct err err = ERR_INIT;
	json_auto_t *plan = NULL;
	_cleanup_free_ char *preview = NULL;
	json_t *ended, *modified = NULL;
	const char *modified_tool = NULL;
	struct tool_question question;

	if (!is_asked_about(session, call))
		return NULL;
	if (!session->hooks.confirm)
		return nobody_to_ask(session, call);
	ended = plan_call(session, call, &plan);
	if (ended)
		return ended;
	if (call->tool->preview &&
	    !(preview = call->tool->preview(session, call->arguments, &err)))
		return tool_failure(&err);
	question = (struct tool_question){ call->tool, call->arguments, plan, &modified,
		                           &modified_tool, preview };
	if (!session->hooks.confirm(session->hooks.data, &question, &err)) {
		json_decref(modified);
		return denied(session, call->tool, call->arguments, &err);
	}
	take_modified(session, call, modified, modified_tool);
	return NULL;
}
