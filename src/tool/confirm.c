/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/confirm.h"

#include "data/json.h"

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

static json_t *make_plan(struct session *session, const struct tool *tool,
                         const json_t *arguments)
{
	json_auto_t *dry = json_copy((json_t *)arguments);

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

	if (tool->explain)
		tool->explain(session, arguments, result);
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

static json_t *nobody_to_ask(struct session *session, const struct tool *tool,
                             const json_t *arguments)
{
	struct err err = ERR_INIT;

	if (!tool_wants_more(arguments))
		return NULL;
	err_set(&err, ERR_DENIED_BY_USER,
	        "Denied By User: Nobody can be asked here about additional permissions. The user can "
	        "give them when hasp is started: --net, --write PATH, --read PATH. Nothing was run.");
	return denied(session, tool, arguments, &err);
}

json_t *confirm_call(struct session *session, const struct tool *tool, json_t **arguments)
{
	struct tool_question question = { .tool = tool, .arguments = *arguments };
	struct err err = ERR_INIT;
	json_auto_t *plan = NULL;
	json_t *bound;

	if (!session->hooks.confirm)
		return nobody_to_ask(session, tool, *arguments);
	if (!tool_kind_changes(tool->kind) ||
	    (tool->plans && json_is_true(json_object_get(*arguments, "dry_run"))))
		return NULL;
	if (tool->plans) {
		plan = make_plan(session, tool, *arguments);
		if (tool_result_failed(plan))
			return plan_as_result(session, *arguments, json_incref(plan));
		bound = bound_arguments(*arguments, plan);
		json_decref(*arguments);
		*arguments = bound;
		question = (struct tool_question){ tool, bound, plan };
	}
	if (!session->hooks.confirm(session->hooks.data, &question, &err))
		return denied(session, tool, *arguments, &err);
	return NULL;
}
